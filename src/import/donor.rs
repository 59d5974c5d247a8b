//! Fits the clips of one character file to the skeleton of another.
//!
//! Joints are matched by name, and by path where names are not unique. Exporters disagree about the
//! rest: some put a prefix before every name, scale the armature by 100, or leave it lying on its
//! back. Differences that are the same for all joints are corrected, with a warning; see
//! `whole.rs`.

mod whole;

use super::{Imported, matching::match_joints, names::listed};
use crate::{
    format::{Diagnostic, FormatError, Parsed},
    model::{
        ClipError, ClipFrames, JointIndex, JointTransform, MorphIndex, RawClip, SkeletalClip,
        Skeleton, seen_in, signs,
    },
};
use glam::{DAffine3, DVec3, Quat, Vec3};
use std::collections::BTreeSet;
use whole::Whole;

/// The clips of a file, to be made into those of a model.
pub(super) enum ClipFile {
    /// Joints are only matched by name.
    ByName(Vec<SkeletalClip>),
    /// They are converted.
    Fit(Box<Fit>),
}

impl ClipFile {
    /// Returns the clips for the file's own skeleton.
    pub(super) fn clips(&self) -> &[SkeletalClip] {
        match self {
            Self::ByName(clips) => clips,
            Self::Fit(fit) => &fit.donor.model.clips,
        }
    }

    /// Returns a clip if it fits the model as it is.
    pub(super) fn fitting(&self, at: usize, skeleton: &Skeleton) -> Option<&SkeletalClip> {
        match self {
            Self::ByName(clips) => Some(&clips[at]).filter(|clip| clip.fits(skeleton)),
            Self::Fit(_) => None,
        }
    }

    /// Takes a clip apart, for the model.
    pub(super) fn to_raw(&self, at: usize, skeleton: &Skeleton) -> RawClip {
        let mut raw = self.clips()[at].to_raw();
        match self {
            Self::ByName(_) => raw.bind(skeleton),
            Self::Fit(fit) => fit.run(at, &mut raw, skeleton),
        }
        raw
    }

    /// Makes all clips.
    ///
    /// # Errors
    /// A clip's frames hold numbers that are not finite.
    pub(super) fn build(
        &self,
        file: &str,
        skeleton: &Skeleton,
    ) -> Result<Vec<SkeletalClip>, FormatError> {
        let build = |at: usize| match self.fitting(at, skeleton) {
            Some(clip) => Ok(clip.clone()),
            None => self.to_raw(at, skeleton).build(),
        };
        let clips: Result<_, ClipError> = (0..self.clips().len()).map(build).collect();
        clips.map_err(|error| FormatError::one(Diagnostic::error(file, error.to_string())))
    }
}

/// Finds how the clips of `donor` become clips for `skeleton`. With `as_is`, keys are taken as
/// they are: neither the nodes above the joints nor the lengths of the joints matter.
///
/// # Errors
/// No joint in common.
pub(super) fn fit(
    file: &str,
    donor: Imported,
    skeleton: &Skeleton,
    as_is: bool,
) -> Result<Parsed<ClipFile>, FormatError> {
    let theirs = &donor.model.skeleton;
    let (source, renamed) = match_joints(theirs, skeleton);
    let mut warnings = Vec::new();
    let mut warn = |message: String, hint: &str| {
        warnings.push(Diagnostic::warning(file, message).with_hint(hint))
    };
    let clips = &donor.model.clips;
    let morphs = skeleton.morphs().names();
    let moved: BTreeSet<&str> = clips.iter().flat_map(moved_morphs).collect();
    let lacking = moved
        .iter()
        .filter(|name| !morphs.iter().any(|ours| **ours == ***name));
    let lacking: Vec<&str> = lacking.copied().collect();
    if source.iter().all(Option::is_none) {
        if lacking.len() == moved.len() {
            return Err(strangers(file, theirs, skeleton));
        }
        // A face without a body.
        let value = ClipFile::ByName(donor.model.clips);
        return Ok(Parsed { value, warnings });
    }
    if !lacking.is_empty() {
        let names = listed(lacking);
        warn(
            format!("morph targets of the clips that the model lacks are left out: {names}"),
            "",
        );
    }
    if let Some((model, donor)) = renamed {
        warn(
            format!(
                "joints match without their prefixes, such as `{donor}` and the model's `{model}`"
            ),
            "",
        );
    }
    let owners = whole::owners(&source, theirs.len());
    let moves = |joint: usize| donor.model.clips.iter().any(|clip| clip.animates(joint));
    let unused = (0..theirs.len()).filter(|&joint| owners[joint].is_none() && moves(joint));
    let unused: Vec<&str> = unused.map(|joint| &*theirs.names()[joint]).collect();
    if !unused.is_empty() {
        warn(
            format!(
                "joints of the clips that the model lacks are left out: {}",
                listed(unused)
            ),
            "",
        );
    }

    let whole = Whole::new(&donor, skeleton, &source, &owners, as_is);
    let keyed = |joint: usize, property: usize| {
        source[joint].is_some_and(|found| {
            (0..donor.model.clips.len()).any(|clip| keys_of(&donor, clip, found)[property])
        })
    };
    if !whole.alike
        && (0..skeleton.len()).any(|joint| whole.is_longer[joint] && keyed(joint, TRANSLATION))
    {
        let hint = "the clips move the joints as they move their own; to keep the model's bones, say `retarget: true`";
        warn(
            "the model's joints are not as far apart as those of the clips".to_owned(),
            hint,
        );
    }
    let off = "`as_is: true` takes the keys as they are";
    if (whole.size - 1.0).abs() > 1e-3 && (0..skeleton.len()).any(|joint| keyed(joint, TRANSLATION))
    {
        let size = whole.size;
        warn(
            format!(
                "the clips are for a skeleton of another size: their lengths were multiplied by {size:.4}"
            ),
            off,
        );
    }
    let tops = || (0..skeleton.len()).filter(|joint| whole.tops[*joint].is_some());
    let (axis, angle) = whole.turn.to_axis_angle();
    if angle.to_degrees() > 0.5
        && tops().any(|joint| keyed(joint, TRANSLATION) || keyed(joint, ROTATION))
    {
        // Without the sign of what is shown as 0.
        let [x, y, z] = axis
            .to_array()
            .map(|along| (along * 100.0).round() / 100.0 + 0.0);
        let degrees = angle.to_degrees();
        warn(
            format!(
                "the clips' armature is turned: it was turned back by {degrees:.0}° around ({x:.2}, {y:.2}, {z:.2})"
            ),
            off,
        );
    }
    let value = ClipFile::Fit(Fit::new(donor, skeleton, source, &owners, whole).into());
    Ok(Parsed { value, warnings })
}

/// Names of the morph targets that a clip moves.
fn moved_morphs(clip: &SkeletalClip) -> impl Iterator<Item = &str> {
    let names = clip.morphs().iter().enumerate();
    names.filter_map(|(morph, name)| clip.animates_morph(morph as MorphIndex).then_some(&**name))
}

/// The error for a file with clips for another skeleton.
pub(super) fn strangers(file: &str, theirs: &Skeleton, ours: &Skeleton) -> FormatError {
    let first = |s: &Skeleton| {
        s.names()
            .iter()
            .take(4)
            .map(|n| format!("`{n}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let message = format!(
        "this file has no joint in common with the model: it has {}, the model has {}",
        first(theirs),
        first(ours)
    );
    let hint = "clips of another humanoid, whose joints have other names, need `retarget: true` in the manifest";
    FormatError::one(Diagnostic::error(file, message).with_hint(hint))
}

/// The properties of which a joint has keys in a clip of a file.
fn keys_of(donor: &Imported, clip: usize, joint: usize) -> [bool; 3] {
    let given = donor
        .keyed
        .get(clip)
        .map(|keyed| keyed.get(joint).copied().unwrap_or_default());
    given.unwrap_or_else(|| [donor.model.clips[clip].animates(joint); 3])
}

const TRANSLATION: usize = 0;
const ROTATION: usize = 1;
const SCALE: usize = 2;

/// The conversion of clips from one skeleton to another.
///
/// The keys of a file are absolute, and each is for one property of one node. So a key holds for
/// the model's node as it is, and everything without keys comes from the model's node: the lengths
/// of bones and their rest pose. The file's own nodes only matter where the model has none that
/// correspond, between joints that hang from each other in one file and not in the other.
pub(super) struct Fit {
    /// The file, without its parts and images.
    donor: Imported,
    /// Per joint of the skeleton, its source.
    source: Vec<Option<usize>>,
    places: Vec<Place>,
    whole: Whole,
}

/// The source of a joint's place.
enum Place {
    /// It stays at rest.
    Rest,
    /// It hangs from the same joint as in the file.
    Same {
        /// Factors of its translation and scale.
        length: Vec3,
        scale: Vec3,
        /// The axes that only one of the files mirrors.
        mirrors: DVec3,
    },
    /// It hangs from nothing in both files.
    Top {
        offset: Vec3,
        turn: Quat,
        /// Factors of its translation and scale.
        length: f32,
        scale: Vec3,
    },
    /// The same, and the files are not mirrored alike.
    Mirrored {
        /// From the file's model space to the model's.
        to_model: DAffine3,
        /// A factor of its scale.
        scale: DVec3,
    },
    /// It hangs from another joint.
    Moved {
        /// The nearest joint above that both files have, in the skeleton and in the file.
        above: Option<[usize; 2]>,
        /// The file's joints in between.
        between: Vec<usize>,
    },
}

impl Fit {
    fn new(
        donor: Imported,
        skeleton: &Skeleton,
        source: Vec<Option<usize>>,
        owners: &[Option<usize>],
        whole: Whole,
    ) -> Self {
        let theirs = &donor.model.skeleton;
        let place = |joint: usize| {
            let Some(found) = source[joint] else {
                return Place::Rest;
            };
            let [own, other] = [
                skeleton.node(joint as JointIndex),
                theirs.node(found as JointIndex),
            ];
            let (parent, above) = (
                skeleton.parents()[joint].map(usize::from),
                theirs.parents()[found].map(usize::from),
            );
            let scale = whole.scale(&own, &other);
            match (parent, above) {
                (None, None) => {
                    let top = whole.tops[joint].unwrap_or_default();
                    if top.matrix3.determinant() < 0.0 || signs(scale) != DVec3::ONE {
                        return Place::Mirrored {
                            to_model: top,
                            scale,
                        };
                    }
                    let (size, turn, offset) = top.to_scale_rotation_translation();
                    Place::Top {
                        offset: offset.as_vec3(),
                        turn: turn.as_quat(),
                        length: size.x as f32,
                        scale: (scale * size.x).as_vec3(),
                    }
                }
                (Some(parent), Some(above)) if source[parent] == Some(above) => {
                    let larger = own.above / other.above * whole.length;
                    Place::Same {
                        length: larger.as_vec3(),
                        scale: (scale * larger).as_vec3(),
                        mirrors: signs(larger),
                    }
                }
                _ => {
                    let (above, between) = whole::above(theirs, owners, joint, found);
                    Place::Moved { above, between }
                }
            }
        };
        let places = (0..skeleton.len()).map(place).collect();
        Self {
            donor,
            source,
            places,
            whole,
        }
    }

    /// Converts a clip of the file to one for the skeleton.
    fn run(&self, at: usize, raw: &mut RawClip, skeleton: &Skeleton) {
        let joints = skeleton.len();
        let keyed: Vec<[bool; 3]> = (0..joints).map(|joint| self.keys(at, joint)).collect();
        let mut out = ClipFrames {
            joints: skeleton.names().clone(),
            animated: keyed.iter().map(|keyed| keyed.contains(&true)).collect(),
            transforms: Vec::with_capacity(raw.frame_count() * joints),
        };
        for frame in raw
            .frames
            .transforms
            .chunks(self.donor.model.skeleton.len().max(1))
        {
            self.frame(raw, frame, &keyed, skeleton, &mut out.transforms);
        }
        raw.frames = out;
        raw.morphs.bind(skeleton.morphs());
    }

    /// Returns which properties of a joint a clip moves.
    fn keys(&self, clip: usize, joint: usize) -> [bool; 3] {
        let Some(found) = self.source[joint] else {
            return [false; 3];
        };
        let own = keys_of(&self.donor, clip, found);
        match &self.places[joint] {
            Place::Moved { between, .. }
                if between
                    .iter()
                    .any(|&joint| keys_of(&self.donor, clip, joint).contains(&true)) =>
            {
                [true; 3]
            }
            _ => own,
        }
    }

    fn frame(
        &self,
        clip: &RawClip,
        frame: &[JointTransform],
        keyed: &[[bool; 3]],
        skeleton: &Skeleton,
        out: &mut Vec<JointTransform>,
    ) {
        let their_skeleton = &self.donor.model.skeleton;
        let local = |found: usize| {
            if clip.frames.animated[found] {
                frame[found]
            } else {
                their_skeleton.rest_of(found as JointIndex)
            }
        };
        // Differences have no places in model space.
        let any_moved = !clip.additive
            && self
                .places
                .iter()
                .any(|place| matches!(place, Place::Moved { .. }));
        let (mut theirs, mut ours): (Vec<DAffine3>, Vec<DAffine3>) = Default::default();
        if any_moved {
            for joint in 0..frame.len() {
                let above = their_skeleton.parents()[joint]
                    .map_or(DAffine3::IDENTITY, |parent| theirs[usize::from(parent)]);
                theirs.push(above * wide(&local(joint)));
            }
        }
        for (joint, place) in self.places.iter().enumerate() {
            let rest = skeleton.rest_of(joint as JointIndex);
            let parent = skeleton.parents()[joint].map(usize::from);
            let from = |found: usize| {
                if clip.additive {
                    frame[found]
                } else {
                    local(found)
                }
            };
            let given = match (place, self.source[joint]) {
                (Place::Rest, _) | (_, None) => rest,
                (
                    Place::Same {
                        length,
                        scale,
                        mirrors,
                    },
                    Some(found),
                ) => {
                    let theirs = from(found);
                    JointTransform {
                        translation: theirs.translation * *length,
                        // Usually it is the same, to the bit.
                        rotation: match *mirrors == DVec3::ONE {
                            true => theirs.rotation,
                            false => seen_in(*mirrors, theirs.rotation.as_dquat()).as_quat(),
                        },
                        scale: match clip.additive {
                            true => theirs.scale,
                            false => theirs.scale * *scale,
                        },
                    }
                }
                (Place::Mirrored { .. }, Some(found)) if clip.additive => frame[found],
                (Place::Mirrored { to_model, scale }, Some(found)) => {
                    let place = *to_model * wide(&local(found)) * DAffine3::from_scale(*scale);
                    let local = JointTransform::from_affine(place.as_affine3a());
                    if local.is_finite() { local } else { rest }
                }
                (
                    Place::Top {
                        offset,
                        turn,
                        length,
                        scale,
                    },
                    Some(found),
                ) => {
                    let theirs = from(found);
                    let translation = *turn * (theirs.translation * *length);
                    if clip.additive {
                        // A difference of rotations is the same in any space.
                        JointTransform {
                            translation,
                            ..theirs
                        }
                    } else {
                        JointTransform {
                            translation: *offset + translation,
                            rotation: (*turn * theirs.rotation).normalize(),
                            scale: theirs.scale * *scale,
                        }
                    }
                }
                (Place::Moved { .. }, Some(found)) if clip.additive => frame[found],
                (Place::Moved { above, .. }, Some(found)) => {
                    let place = self.whole.place(
                        skeleton,
                        their_skeleton,
                        [joint, found],
                        *above,
                        &theirs,
                        &ours,
                    );
                    let over = parent.map_or(DAffine3::IDENTITY, |parent| ours[parent]);
                    let local = JointTransform::from_affine((over.inverse() * place).as_affine3a());
                    // Nothing is anywhere below a scale of 0.
                    if local.is_finite() { local } else { rest }
                }
            };
            let transform = if clip.additive {
                given
            } else {
                JointTransform {
                    translation: if keyed[joint][TRANSLATION] {
                        given.translation
                    } else {
                        rest.translation
                    },
                    rotation: if keyed[joint][ROTATION] {
                        given.rotation
                    } else {
                        rest.rotation
                    },
                    scale: if keyed[joint][SCALE] {
                        given.scale
                    } else {
                        rest.scale
                    },
                }
            };
            if any_moved {
                let above = parent.map_or(DAffine3::IDENTITY, |parent| ours[parent]);
                ours.push(above * wide(&transform));
            }
            out.push(transform);
        }
    }
}

fn wide(transform: &JointTransform) -> DAffine3 {
    let JointTransform {
        translation,
        rotation,
        scale,
    } = transform;
    DAffine3::from_scale_rotation_translation(
        scale.as_dvec3(),
        rotation.as_dquat().normalize(),
        translation.as_dvec3(),
    )
}
