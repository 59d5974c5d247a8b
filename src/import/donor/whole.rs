//! Differences between two files that are the same for all joints: the orientation of the whole
//! skeleton, and its size.
//!
//! A file's nodes may be in any pose, so they prove nothing. The transforms *above* the joints do,
//! and so do inverse bind matrices. The keys of a file apply to its nodes, below the transforms
//! above them; in the model they apply to the model's joints, below those of the model. So by
//! glTF's rules, the transforms above make no difference, and for files exported from the same
//! scene, nothing else is needed.
//!
//! In other files, an armature's turn and size were applied to its joints, which then have other
//! keys at the top, and other lengths. This shows at a time when the topmost joint is placed as in
//! the model, in the scene rather than relative to the transform above it. And in some files,
//! nothing above the joints shows that they lie on their back. These are only turned if it is by
//! right angles, all joints agree, and so do the topmost joint's own keys.

use super::{ROTATION, TRANSLATION, keys_of};
use crate::{
    import::Imported,
    model::{JointIndex, JointTransform, NodeSpace, Skeleton, signs},
};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3};

pub(super) struct Whole {
    /// Factor of the lengths between joints, in the units of the nodes.
    pub(super) length: f64,
    /// `true` if it is the same for nearly all joints.
    pub(super) alike: bool,
    /// Per joint, `true` if its bone has another length than that.
    pub(super) is_longer: Vec<bool>,
    /// Per joint that hangs from nothing that both files have: from the file's model space to the model's.
    pub(super) tops: Vec<Option<DAffine3>>,
    /// The size of the model relative to the clips, and the rotation of its space, at the first of
    /// these.
    pub(super) size: f64,
    pub(super) turn: DQuat,
}

/// The most frames of a clip, and the most clips of a file, that are examined.
const MOST_SAMPLES: usize = 32;
/// Bones that may have the same factor of lengths by chance are fewer than this.
const FEW: usize = 4;
/// The largest difference between lengths that count as the same.
const SAME_LENGTH: f64 = 0.02;

/// A skeleton in its bind pose, or in its rest pose if the former isn't known.
struct Side<'a> {
    skeleton: &'a Skeleton,
    locals: Vec<JointTransform>,
    places: Vec<DAffine3>,
    is_bound: bool,
}

impl<'a> Side<'a> {
    fn new(skeleton: &'a Skeleton, is_bound: bool) -> Self {
        let bound = skeleton.in_bind_pose();
        let places = bound
            .rest_model()
            .iter()
            .map(Affine3A::as_daffine3)
            .collect();
        Self {
            skeleton,
            locals: bound.joints().map(|joint| bound.rest_of(joint)).collect(),
            places,
            is_bound,
        }
    }

    fn node(&self, joint: usize) -> NodeSpace {
        self.skeleton.node(joint as JointIndex)
    }

    /// Returns the transform above a joint.
    fn above(&self, joint: usize) -> DAffine3 {
        match self.skeleton.parents()[joint] {
            Some(parent) => {
                let size = self.skeleton.node(parent).size;
                self.skeleton.rest_model()[usize::from(parent)].as_daffine3()
                    * DAffine3::from_scale(size)
            }
            None => self.node(joint).above(),
        }
    }

    /// The length of a joint's bone, in the units of its node.
    fn bone(&self, joint: usize) -> f64 {
        self.locals[joint].translation.as_dvec3().length() / self.node(joint).length()
    }
}

impl Whole {
    pub(super) fn new(
        donor: &Imported,
        skeleton: &Skeleton,
        source: &[Option<usize>],
        owners: &[Option<usize>],
        as_is: bool,
    ) -> Self {
        let their_skeleton = &donor.model.skeleton;
        let ours = Side::new(skeleton, skeleton.is_bound());
        let theirs = Side::new(their_skeleton, their_skeleton.is_bound());
        let tops: Vec<(usize, usize)> = (0..skeleton.len())
            .filter_map(|joint| {
                let found = source[joint]?;
                above(their_skeleton, owners, joint, found)
                    .0
                    .is_none()
                    .then_some((joint, found))
            })
            .collect();
        let mut whole = Self {
            length: 1.0,
            alike: true,
            is_longer: vec![false; skeleton.len()],
            tops: vec![None; skeleton.len()],
            size: 1.0,
            turn: DQuat::IDENTITY,
        };
        let Some(&first) = tops.first() else {
            return whole;
        };
        let evidence = Evidence::new(donor, &ours, &theirs, first, owners);
        if !as_is {
            whole.measure(&ours, &theirs, source, &evidence);
        }
        let own_space = if as_is {
            None
        } else {
            evidence.own_space(whole.length, source)
        };
        for &top in &tops {
            whole.tops[top.0] =
                Some(own_space.unwrap_or_else(|| below(&ours, &theirs, top, whole.length)));
        }
        let (size, turn, _) = whole.tops[first.0]
            .unwrap_or_default()
            .to_scale_rotation_translation();
        let turn = turn.normalize();
        // Of a quaternion and its negative, the one with an angle of at most 180°, for the warning.
        (whole.size, whole.turn) = (size.x, if turn.w < 0.0 { -turn } else { turn });
        whole
    }

    /// Finds the factor of lengths.
    fn measure(
        &mut self,
        ours: &Side,
        theirs: &Side,
        source: &[Option<usize>],
        evidence: &Evidence,
    ) {
        let longest = |side: &Side| {
            side.skeleton
                .joints()
                .map(|joint| side.bone(joint.into()))
                .fold(0.0, f64::max)
        };
        // The ratio of bones that are this short is mostly rounding.
        let (our_least, their_least) = (longest(ours) * 1e-3, longest(theirs) * 1e-3);
        let bones = (0..source.len()).filter_map(|joint| {
            let found = source[joint]?;
            // Roots may be anywhere.
            let (parent, above) = (
                ours.skeleton.parents()[joint]?,
                theirs.skeleton.parents()[found]?,
            );
            let (own, other) = (ours.bone(joint), theirs.bone(found));
            let is_bone = source[usize::from(parent)] == Some(above.into())
                && own > our_least
                && other > their_least;
            is_bone.then_some((joint, own / other))
        });
        let bones: Vec<(usize, f64)> = bones.collect();
        if bones.is_empty() {
            return;
        }
        // The median, because some bones may differ for reasons of their own.
        let mut sorted: Vec<f64> = bones.iter().map(|(_, ratio)| *ratio).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let near = |ratio: f64, length: f64| (ratio / length - 1.0).abs() < SAME_LENGTH;
        let share = |of: usize| {
            sorted.iter().filter(|ratio| near(**ratio, median)).count() * 5 >= sorted.len() * of
        };
        self.alike = share(4);
        // The unit of the file, by the transforms above the joints.
        let unit = evidence.unit;
        // By a factor of about 1.5.
        let far = |ratio: f64| ratio.ln().abs() > 0.4;
        self.length = if (median - 1.0).abs() < 0.01 {
            1.0
        } else if near(median, unit) || (far(median) && !far(median / unit)) {
            unit
        } else if ours.is_bound && theirs.is_bound {
            let is_of_it = self.alike
                && (bones.len() >= FEW || evidence.is_bound())
                && evidence.agrees(median);
            if is_of_it || far(median) { median } else { 1.0 }
        } else {
            // Without bind poses, all have to agree: on the length itself, or at least on another unit.
            let is_unit = median.log10().abs() > 1.0
                && sorted.iter().all(|ratio| (ratio / median).ln().abs() < 1.5);
            let all = (share(5) && bones.len() >= FEW) || is_unit;
            if all && evidence.agrees(median) {
                median
            } else {
                1.0
            }
        };
        if !near(median, self.length) {
            self.alike = false;
        }
        for (joint, ratio) in bones {
            self.is_longer[joint] = !near(ratio, self.length);
        }
    }

    /// Factor of a joint's scales, apart from that of the whole.
    pub(super) fn scale(&self, own: &NodeSpace, other: &NodeSpace) -> DVec3 {
        other.size / own.size / self.length
    }

    /// Returns the place of a joint of the model that hangs from another joint than in the file: as
    /// far from the nearest joint above that both files have.
    pub(super) fn place(
        &self,
        skeleton: &Skeleton,
        their_skeleton: &Skeleton,
        [joint, found]: [usize; 2],
        above: Option<[usize; 2]>,
        theirs: &[DAffine3],
        ours: &[DAffine3],
    ) -> DAffine3 {
        let node = |skeleton: &Skeleton, joint: usize| skeleton.node(joint as JointIndex);
        let scale = self.scale(&node(skeleton, joint), &node(their_skeleton, found));
        match above {
            Some([above, from]) => {
                let between = theirs[from].inverse() * theirs[found];
                let larger =
                    node(skeleton, above).size / node(their_skeleton, from).size * self.length;
                let wanted = DAffine3::from_scale(larger) * between * DAffine3::from_scale(scale);
                ours[above] * wanted
            }
            None => {
                let whole = self.tops[joint].unwrap_or_default();
                whole * theirs[found] * DAffine3::from_scale(scale)
            }
        }
    }
}

/// The joint of the model that each joint of the file is the source of.
pub(super) fn owners(source: &[Option<usize>], theirs: usize) -> Vec<Option<usize>> {
    let mut owners = vec![None; theirs];
    for (joint, found) in source
        .iter()
        .enumerate()
        .filter_map(|(joint, found)| Some((joint, (*found)?)))
    {
        owners[found] = Some(joint);
    }
    owners
}

/// Returns the nearest joint above a joint of the file that the model has, too, by its index in
/// both, and the joints in between, the nearest first.
pub(super) fn above(
    theirs: &Skeleton,
    owners: &[Option<usize>],
    joint: usize,
    found: usize,
) -> (Option<[usize; 2]>, Vec<usize>) {
    let mut between = Vec::new();
    for above in theirs.ancestors(found as JointIndex).map(usize::from) {
        match owners[above].filter(|owner| *owner < joint) {
            Some(owner) => return (Some([owner, above]), between),
            None => between.push(above),
        }
    }
    (None, between)
}

/// Returns the transform from the file's model space to the model's, for keys relative to the
/// transforms above in either.
fn below(ours: &Side, theirs: &Side, (joint, found): (usize, usize), length: f64) -> DAffine3 {
    let above = theirs.above(found);
    let inverse = if above.matrix3.determinant().abs() > 1e-30 {
        above.inverse()
    } else {
        DAffine3::IDENTITY
    };
    ours.above(joint) * DAffine3::from_scale(DVec3::splat(length)) * inverse
}

/// The evidence of how the topmost joint is placed in both files.
struct Evidence<'a> {
    ours: &'a Side<'a>,
    theirs: &'a Side<'a>,
    top: (usize, usize),
    /// The unit of the file's lengths in those of the model, according to the transforms above the
    /// joints.
    unit: f64,
    /// The size of the model.
    size: f64,
    /// The places of the joint in those clips that have keys for it.
    keys: Vec<Key>,
    /// `true` if the clips move a node above the joint, like an armature that travels. Its
    /// transform then says nothing about the rest pose.
    is_carried: bool,
}

/// A moment of a clip.
struct Key {
    translation: Option<DVec3>,
    rotation: Option<DQuat>,
}

impl<'a> Evidence<'a> {
    fn new(
        donor: &Imported,
        ours: &'a Side<'a>,
        theirs: &'a Side<'a>,
        top: (usize, usize),
        owners: &[Option<usize>],
    ) -> Self {
        let skeleton = theirs.skeleton;
        let (joint, found) = top;
        // From the joint upward.
        let mut chain = above(skeleton, owners, joint, found).1;
        chain.insert(0, found);
        let has = |clip: usize, property: usize| {
            keys_of(donor, clip, found)[property]
                || chain[1..]
                    .iter()
                    .any(|joint| keys_of(donor, clip, *joint).contains(&true))
        };
        let ever = [TRANSLATION, ROTATION]
            .map(|property| (0..donor.model.clips.len()).any(|clip| has(clip, property)));
        let clips = 0..donor.model.clips.len();
        let is_carried = clips.clone().any(|clip| {
            chain[1..]
                .iter()
                .any(|joint| keys_of(donor, clip, *joint).contains(&true))
        });
        let mut keys = Vec::new();
        for (at, clip) in donor
            .model
            .clips
            .iter()
            .enumerate()
            .take(MOST_SAMPLES)
            .filter(|(_, clip)| !clip.additive)
        {
            // Properties that no clip moves are as in the rest pose.
            let tells = |property: usize| has(at, property) || !ever[property];
            let step = clip.frame_count().div_ceil(MOST_SAMPLES).max(1);
            for frame in (0..clip.frame_count()).step_by(step) {
                let local = |joint: usize| match clip.animates(joint) {
                    true => clip.transform_at(joint, frame),
                    false => skeleton.rest_of(joint as JointIndex),
                };
                let place = chain.iter().fold(DAffine3::IDENTITY, |below, &joint| {
                    super::wide(&local(joint)) * below
                });
                let (_, rotation, translation) = place.to_scale_rotation_translation();
                if place.is_finite() && rotation.is_finite() {
                    keys.push(Key {
                        translation: tells(TRANSLATION).then_some(translation),
                        rotation: tells(ROTATION).then_some(rotation.normalize()),
                    });
                }
            }
        }
        let scale = |m: DAffine3| m.matrix3.x_axis.length().max(1e-30);
        let from = ours.places[joint].translation;
        let size = ours
            .places
            .iter()
            .map(|place| place.translation.distance(from))
            .fold(0.0, f64::max);
        let size = size.max(from.length()).max(1e-9);
        let unit = scale(theirs.above(found)) / scale(ours.above(joint));
        Self {
            ours,
            theirs,
            top,
            unit,
            size,
            keys,
            is_carried,
        }
    }

    /// Returns the distance of the model's joint from a place, as an angle and as a share of the
    /// model's size.
    fn cost(&self, space: &DAffine3, key: &Key) -> f64 {
        let rest = &self.ours.places[self.top.0];
        // The axes of the joint that only one of the files mirrors.
        let mirrored =
            signs(self.theirs.node(self.top.1).size) * signs(self.ours.node(self.top.0).size);
        let own = DAffine3::from_scale(mirrored);
        if space.matrix3.determinant() * mirrored.element_product() < 0.0 {
            return f64::INFINITY;
        }
        let turned = |rotation: DQuat| rotation_of(&(*space * DAffine3::from_quat(rotation) * own));
        let angle = key.rotation.map_or(0.0, |rotation| {
            turned(rotation).angle_between(rotation_of(rest))
        });
        let place = key.translation.map_or(rest.translation, |translation| {
            space.transform_point3(translation)
        });
        angle + (place.distance(rest.translation) / self.size).min(3.0)
    }

    /// Returns the distance in the bind pose or, if that isn't known, the smallest at any moment.
    fn apart(&self, space: &DAffine3) -> f64 {
        if self.is_bound() {
            self.cost(space, &self.bound())
        } else {
            self.least(space)
        }
    }

    /// Returns the smallest distance in all clips; 0 without keys.
    fn least(&self, space: &DAffine3) -> f64 {
        self.keys
            .iter()
            .map(|key| self.cost(space, key))
            .min_by(f64::total_cmp)
            .unwrap_or(0.0)
    }

    /// Returns `true` if the joint's own keys support a factor of lengths, or at least don't
    /// contradict it.
    fn agrees(&self, length: f64) -> bool {
        let [with, without] = [length, 1.0]
            .map(|length| self.apart(&below(self.ours, self.theirs, self.top, length)));
        with <= without + 1e-6
    }

    /// Returns `true` if the bind poses of both skins are known, and their places, too.
    fn is_bound(&self) -> bool {
        self.ours.skeleton.is_bound_in_place() && self.theirs.skeleton.is_bound_in_place()
    }

    /// The file's joint as it was bound.
    fn bound(&self) -> Key {
        let place = &self.theirs.places[self.top.1];
        Key {
            translation: Some(place.translation),
            rotation: Some(rotation_of(place)),
        }
    }

    /// Returns the transform from the file's model space to the model's if it isn't the one by the
    /// transforms above the joints.
    fn own_space(&self, length: f64, source: &[Option<usize>]) -> Option<DAffine3> {
        let usual = below(self.ours, self.theirs, self.top, length);
        // Only one of the files is mirrored. That is above the joints, where it counts.
        if usual.matrix3.determinant() < 0.0 {
            return None;
        }
        let known = self.is_bound();
        let (joint, found) = self.top;
        let (rest, other) = (&self.ours.places[joint], &self.theirs.places[found]);
        let larger = length / self.unit;
        let scaled = |size: f64| DAffine3::from_scale(DVec3::splat(size));
        let best = [scaled(1.0), scaled(larger)]
            .into_iter()
            .min_by(|a, b| self.apart(a).total_cmp(&self.apart(b)))?;
        // A random pose may look like another turn of the armature, so without bind poses the difference has to be plain.
        let is_turned = rotation_of(&usual).angle_between(rotation_of(&best)) > 0.3;
        let margin = match (self.is_carried, known) {
            (true, _) => -1.0,
            (false, true) => 0.5,
            (false, false) if is_turned => 1.2,
            (false, false) => 0.7,
        };
        let differs = !usual.abs_diff_eq(best, 1e-6);
        let chosen = if differs
            && self.apart(&best) < 0.35
            && self.apart(&usual) > self.apart(&best) + margin
        {
            best
        } else {
            usual
        };

        // All joints lie on their back or their side, although nothing above them shows it.
        let turn = right_angles(rotation_of(rest) * rotation_of(other).inverse());
        let turned = turn.map(|turn| scaled(larger) * DAffine3::from_quat(turn));
        let turned = turned.filter(|turned| {
            let angle = rotation_of(turned).angle_between(rotation_of(&chosen));
            let height = rest.translation.length();
            let off = |space: &DAffine3| {
                space
                    .transform_point3(other.translation)
                    .distance(rest.translation)
            };
            // A joint at the origin proves nothing, and neither does one that only turned around.
            let shows = height > 0.05 * self.size
                && off(&chosen) > 0.5 * height
                && off(turned) < 0.15 * height;
            let keys = if self.keys.is_empty() {
                1.0
            } else {
                self.least(&chosen) - self.least(turned)
            };
            angle > 0.7
                && self.all_agree(source, known)
                && if known {
                    shows || keys > 0.3
                } else {
                    shows && keys > 0.3
                }
        });
        Some(turned.unwrap_or(chosen)).filter(|space| !space.abs_diff_eq(usual, 1e-6))
    }

    /// Returns `true` if all joints that hang from the same joints are turned alike, or nearly all
    /// if bind poses are known.
    fn all_agree(&self, source: &[Option<usize>], known: bool) -> bool {
        let (mut agree, mut all) = (0, 0);
        for (joint, found) in source
            .iter()
            .enumerate()
            .filter_map(|(joint, found)| Some((joint, (*found)?)))
        {
            let parents = (
                self.ours.skeleton.parents()[joint],
                self.theirs.skeleton.parents()[found],
            );
            if let (Some(parent), Some(above)) = parents
                && source[usize::from(parent)] == Some(above.into())
            {
                let [own, other] = [self.ours.locals[joint], self.theirs.locals[found]];
                all += 1;
                agree += usize::from(
                    own.rotation
                        .normalize()
                        .angle_between(other.rotation.normalize())
                        < 0.05,
                );
            }
        }
        all > 1
            && if known {
                agree * 10 >= all * 9
            } else {
                agree == all
            }
    }
}

/// Returns the nearest rotation by right angles. `None` if a rotation isn't close to one, or is no
/// turn at all.
fn right_angles(turn: DQuat) -> Option<DQuat> {
    let exact = DMat3::from_quat(turn).to_cols_array();
    let axes = DMat3::from_cols_array(&exact.map(f64::round));
    let near = exact
        .iter()
        .zip(axes.to_cols_array())
        .all(|(a, b)| (a - b).abs() < 0.05);
    let turn = DQuat::from_mat3(&axes).normalize();
    (near && (axes.determinant() - 1.0).abs() < 0.1 && turn.angle_between(DQuat::IDENTITY) > 0.1)
        .then_some(turn)
}

fn rotation_of(m: &DAffine3) -> DQuat {
    let rotation = m.to_scale_rotation_translation().1;
    if rotation.is_finite() {
        rotation.normalize()
    } else {
        DQuat::IDENTITY
    }
}
