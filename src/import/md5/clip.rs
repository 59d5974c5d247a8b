//! `.md5anim` → clip.

use super::{
    from_md5, listed,
    rigid::{Rigid, affine},
};
use crate::{
    format::{
        Checked, Diagnostic, FormatError, Parsed,
        md5::{Md5Anim, Md5AnimJoint, Md5Joint, Md5Mesh},
    },
    hierarchy::Hierarchy,
    import::{
        Hand, ImportSettings, UpAxis,
        axes::Basis,
        matching::{NamedJoints, find_sources},
        report::Report,
        subframes,
    },
    model::{ClipFrames, ClipTiming, JointIndex, JointTransform, Reach, SkeletalClip, Skeleton},
    spelling::nearest,
};
use glam::{DAffine3, Vec3};
use std::collections::HashSet;

/// Most transforms of a clip: about 800 joints for 20,000 frames.
const MOST_TRANSFORMS: usize = 1 << 24;

/// Transforms that any clip may have, and how many more for each number in the file. Frames and joints without
/// numbers take hardly any room in a file, so they must not take much memory either.
const FEW_TRANSFORMS: usize = 1 << 16;
const TRANSFORMS_PER_NUMBER: usize = 64;

/// Imports an `.md5anim` file as a clip called `name`, in the joint order of `skeleton`.
///
/// Joints are matched by name, and by where they are in the hierarchy if a name is not unique. Joints that the animation
/// lacks are not animated, and joints that the skeleton lacks are dropped. A joint with a different parent than in
/// the skeleton keeps its place in the model: its transforms are made relative to the skeleton's parent. The clip
/// takes `(frames − 1) / |rate|` seconds; a negative rate plays the frames backward. If joints turn by more than 13°
/// between frames, frames are added along the arcs.
///
/// A file or clip whose name ends in `_delta` becomes an additive clip. Its frames are differences from the first:
/// translation `t − t₀`, rotation `q₀⁻¹ · q` (applied as `pose · difference`), and a scale of one.
///
/// `settings` must be those that the skeleton was imported with. MD5 has no scale, so joints keep the skeleton's.
///
/// # Errors
/// No joint name in common, more transforms than a clip may have, or numbers beyond the range of `f32`.
pub fn clip_from_md5(
    file: &str,
    name: &str,
    anim: &Checked<Md5Anim>,
    skeleton: &Skeleton,
    settings: &ImportSettings,
) -> Result<Parsed<SkeletalClip>, FormatError> {
    let basis = Basis::new(file, settings, settings.hand != Hand::Left, UpAxis::Z)?;
    let mut report = Report::new(file);
    let anim = &*anim.forward();
    let frame_count = anim.frame_count();
    let joints = skeleton.len().max(anim.joints.len());
    let most = MOST_TRANSFORMS.min(
        FEW_TRANSFORMS.saturating_add(TRANSFORMS_PER_NUMBER.saturating_mul(anim.frames.len())),
    );
    if frame_count.saturating_mul(joints) > most {
        let message = format!(
            "the clip's {frame_count} frames × {joints} joints need {} transforms; {} numbers in the file allow {most}",
            frame_count.saturating_mul(joints),
            anim.frames.len()
        );
        return Err(report.error("", message, "the file is damaged: export it again"));
    }
    let matching = Matching::new(name, anim, skeleton, &mut report)?;
    let duration = (frame_count - 1) as f64 / f64::from(anim.frame_rate);
    let timing = ClipTiming::new(name, duration);
    let additive = is_delta(file) || is_delta(name);
    let mut frames = matching.frames(anim, skeleton, &basis, frame_count);
    if additive {
        frames.subtract_first();
    }
    let steps = subframes::steps(&frames);
    let mut clip = SkeletalClip::subdivided(timing, &frames, steps)
        .map_err(|e| report.error("", e.to_string(), ""))?;
    clip.additive = additive;
    Reach::new(skeleton)
        .and_then(|mut reach| reach.admit(skeleton, &clip))
        .map_err(|message| report.error("", format!("clip `{name}`: {message}"), ""))?;
    Ok(Parsed {
        value: clip,
        warnings: report.finish(),
    })
}

/// Builds a skeleton from a clip's own joints, at rest in the first frame, for a clip that is loaded without a model.
pub fn skeleton_of_anim(
    file: &str,
    anim: &Checked<Md5Anim>,
    settings: &ImportSettings,
) -> Result<Skeleton, FormatError> {
    let hierarchy = Hierarchy::new(anim.joints.iter().map(|joint| joint.parent));
    let mut places = vec![Rigid::IDENTITY; anim.joints.len()];
    for &joint in &hierarchy.order {
        let [position, orientation] = anim.joint_at(joint, 0);
        let own = Rigid::from_md5(position, orientation);
        places[joint] = hierarchy.parents[joint].map_or(own, |parent| places[parent].after(&own));
    }
    let joint = |(joint, place): (&Md5AnimJoint, Rigid)| {
        let [position, orientation] = place.to_md5();
        Md5Joint {
            name: joint.name.clone(),
            parent: joint.parent,
            position,
            orientation,
        }
    };
    let mesh = Checked::new(Md5Mesh {
        joints: anim.joints.iter().zip(places).map(joint).collect(),
        ..Md5Mesh::default()
    })
    .map_err(|error| FormatError::one(Diagnostic::error(file, error.to_string())))?;
    Ok(from_md5(file, &mesh, settings)?.model.skeleton)
}

/// Returns `true` if a name marks an additive clip.
fn is_delta(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".md5anim")
        .unwrap_or(&name)
        .ends_with("_delta")
}

/// The joint of an animation for each joint of a skeleton.
struct Matching {
    /// Per joint of the skeleton.
    source: Vec<Option<usize>>,
    /// Per joint of the skeleton, `true` if it has another parent in the animation.
    moved: Vec<bool>,
    /// The animation's joints; empty if no joint is moved.
    hierarchy: Hierarchy,
}

impl Matching {
    fn new(
        clip: &str,
        anim: &Md5Anim,
        skeleton: &Skeleton,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        let names = skeleton.names();
        let (source, extra, doubles) = sources(anim, skeleton);
        let missing: Vec<&str> = names
            .iter()
            .zip(&source)
            .filter(|(_, s)| s.is_none())
            .map(|(n, _)| &**n)
            .collect();
        if source.iter().all(Option::is_none) {
            let message = format!(
                "no joint of the clip `{clip}` is in the model: the clip moves {}; the model has {}",
                listed(anim.joints.iter().map(|j| &*j.name)),
                listed(names.iter().map(|n| &**n))
            );
            let hint = "the clip belongs to another model, or its joints were renamed";
            return Err(report.error("", message, hint));
        }

        let differs = |(joint, found): (usize, &Option<usize>)| {
            found.is_some_and(|found| {
                let theirs = anim.joints[found].parent.map(|parent| parent as usize);
                let ours = skeleton.parents()[joint].map(usize::from);
                let is_same = match (ours, theirs) {
                    (Some(ours), Some(theirs)) => source[ours] == Some(theirs),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                };
                !is_same
            })
        };
        let moved: Vec<bool> = source.iter().enumerate().map(differs).collect();
        let parents = anim
            .joints
            .iter()
            .filter(|_| moved.contains(&true))
            .map(|joint| joint.parent);
        let hierarchy = Hierarchy::new(parents);

        let guess = missing.iter().find_map(|ours| {
            let theirs = nearest(ours, extra.iter().copied())?;
            Some(format!(
                "is the clip's `{theirs}` the model's `{ours}`? joints are matched by name"
            ))
        });
        let moved_names = names.iter().zip(&moved).filter(|(_, moved)| **moved);
        for (what, names, hint) in [
            (
                "joints of the model that the clip lacks keep their rest pose",
                missing,
                "",
            ),
            (
                "joints of the clip that the model lacks are left out",
                extra,
                guess.as_deref().unwrap_or_default(),
            ),
            (
                "joints are left out, because the clip has more of their name than the model",
                doubles,
                "",
            ),
            (
                "joints keep their place in model space, because their parent in the model is another",
                moved_names.map(|(name, _)| &**name).collect(),
                "",
            ),
        ] {
            report.warn_of("", &format!("clip `{clip}`: {what}"), names, hint);
        }
        Ok(Self {
            source,
            moved,
            hierarchy,
        })
    }

    /// Returns the transforms of all joints in all frames.
    fn frames(
        &self,
        anim: &Md5Anim,
        skeleton: &Skeleton,
        basis: &Basis,
        frame_count: usize,
    ) -> ClipFrames {
        let mut frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: self.source.iter().map(Option::is_some).collect(),
            transforms: Vec::with_capacity(frame_count * skeleton.len()),
        };
        let scales: Vec<Vec3> = skeleton
            .joints()
            .map(|joint| skeleton.rest_of(joint).scale)
            .collect();
        let mut pose = vec![JointTransform::IDENTITY; anim.joints.len()];
        for frame in 0..frame_count {
            for (joint, transform) in pose.iter_mut().enumerate() {
                // Most joints stand still most of the time.
                if frame == 0 || anim.moves(joint, frame) {
                    let [position, orientation] = anim.joint_at(joint, frame);
                    *transform =
                        basis.transform(Rigid::from_md5(position, orientation).to_transform());
                }
            }
            self.push_frame(&pose, &scales, skeleton, &mut frames.transforms);
        }
        frames
    }

    /// Adds a frame for the skeleton, given the animation's joints relative to their own parents.
    fn push_frame(
        &self,
        pose: &[JointTransform],
        scales: &[Vec3],
        skeleton: &Skeleton,
        out: &mut Vec<JointTransform>,
    ) {
        let local = |joint: usize, source: usize| JointTransform {
            scale: scales[joint],
            ..pose[source]
        };
        if self.hierarchy.order.is_empty() {
            let of_joint = |(joint, source): (usize, &Option<usize>)| {
                source.map_or(JointTransform::IDENTITY, |s| local(joint, s))
            };
            out.extend(self.source.iter().enumerate().map(of_joint));
            return;
        }
        // The joints in model space: the animation's, then the skeleton's.
        let mut theirs = vec![DAffine3::IDENTITY; pose.len()];
        for &joint in &self.hierarchy.order {
            let own = affine(&pose[joint]);
            theirs[joint] =
                self.hierarchy.parents[joint].map_or(own, |parent| theirs[parent] * own);
        }
        let mut ours: Vec<DAffine3> = Vec::with_capacity(self.source.len());
        for (joint, source) in self.source.iter().enumerate() {
            let parent =
                skeleton.parents()[joint].map_or(DAffine3::IDENTITY, |p| ours[usize::from(p)]);
            let transform = match *source {
                Some(source) if self.moved[joint] => {
                    let relative =
                        Rigid::of_affine(parent.inverse() * theirs[source]).to_transform();
                    JointTransform {
                        scale: scales[joint],
                        ..relative
                    }
                }
                Some(source) => local(joint, source),
                None => skeleton.rest_of(joint as JointIndex),
            };
            ours.push(parent * affine(&transform));
            out.push(if source.is_some() {
                transform
            } else {
                JointTransform::IDENTITY
            });
        }
    }
}

/// Returns the joint of an animation for each joint of a skeleton, and the names of those that are of no use: those that the
/// skeleton lacks, and those of a name that the animation has more of.
fn sources<'a>(
    anim: &'a Md5Anim,
    skeleton: &Skeleton,
) -> (Vec<Option<usize>>, Vec<&'a str>, Vec<&'a str>) {
    let names = skeleton.names();
    // Nearly always, the joints are the same in the same order, by which Doom matches them.
    let mut pairs = anim.joints.iter().zip(&**names);
    if anim.joints.len() == names.len() && pairs.all(|(joint, name)| *joint.name == **name) {
        let source = (0..names.len()).map(Some).collect();
        return (source, Vec::new(), Vec::new());
    }
    let hierarchy = Hierarchy::new(anim.joints.iter().map(|joint| joint.parent));
    let theirs = anim.joints.iter().map(|joint| &*joint.name).collect();
    let theirs = NamedJoints::new(theirs, hierarchy);
    let ours = NamedJoints::of(skeleton, |name| name);
    let mut source = vec![None; names.len()];
    find_sources(&theirs, &ours, &mut source);
    let mut is_used = vec![false; anim.joints.len()];
    source
        .iter()
        .flatten()
        .for_each(|joint: &usize| is_used[*joint] = true);
    let known: HashSet<&str> = names.iter().map(|name| &**name).collect();
    let unused = anim
        .joints
        .iter()
        .zip(is_used)
        .filter(|(_, is_used)| !is_used)
        .map(|(joint, _)| &*joint.name);
    let (doubles, extra) = unused.partition(|name| known.contains(name));
    (source, extra, doubles)
}

#[cfg(test)]
#[path = "tests/clip.rs"]
mod tests;
