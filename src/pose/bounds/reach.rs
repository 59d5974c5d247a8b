//! The space that any blend of a character's clips stays in.

use super::boxes::grown;
use crate::{
    model::{BoundingBox, JointIndex, JointReach, Reach, SkeletalClip, Skeleton},
    pose::ClipLayer,
};
use glam::{Vec3, Vec4};

/// The space that a skeleton's joints can reach in any blend of its clips, whatever the weights,
/// masks and times.
///
/// Covers blended and overriding layers, and the additive ones given to [`Self::with_additive`], but
/// neither IK nor joint overrides.
#[derive(Clone, Debug)]
pub struct BlendReach {
    reach: Reach,
    parents: Vec<Option<JointIndex>>,
    /// The box of each root's positions.
    roots: Vec<Option<BoundingBox>>,
    /// The largest change that each clip makes to each joint at weight 1: a distance and a change
    /// of scale. Empty for a clip that is not bound to the skeleton.
    differences: Vec<Vec<JointReach>>,
    /// The least and the largest weight of each morph target.
    weights: Vec<[f32; 2]>,
    /// The least and the largest change that each clip makes to each weight.
    weight_changes: Vec<Vec<[f32; 2]>>,
}

impl BlendReach {
    /// Computes the reach of the rest pose and `clips`. Clips that are not bound to the skeleton are ignored.
    pub fn new<'c>(skeleton: &Skeleton, clips: impl IntoIterator<Item = &'c SkeletalClip>) -> Self {
        let parents = skeleton.parents();
        let mut reach = Reach::of_rest(skeleton);
        let mut roots: Vec<Option<BoundingBox>> = vec![None; parents.len()];
        let mut place = |joint: usize, translation: Vec3| {
            if parents[joint].is_none() {
                let at = BoundingBox::point(translation);
                roots[joint] = Some(roots[joint].map_or(at, |bounds| bounds.union(at)));
            }
        };
        skeleton
            .joints()
            .for_each(|joint| place(joint.into(), skeleton.rest_of(joint).translation));
        let rest = skeleton.morphs().rest();
        let mut weights: Vec<[f32; 2]> = rest.iter().map(|&rest| [rest; 2]).collect();
        let mut weight_changes = Vec::new();
        let (mut differences, widen) = (Vec::new(), |[least, most]: &mut [f32; 2], to: f32| {
            (*least, *most) = (least.min(to), most.max(to));
        });
        for clip in clips {
            let frames = clip.morph_frames();
            let mut changes = vec![[0.0; 2]; rest.len()];
            if frames.names.len() == rest.len() {
                for (at, &weight) in frames.weights.iter().enumerate() {
                    let morph = at % rest.len();
                    match (frames.animated[morph], clip.additive) {
                        (false, _) => {}
                        (true, true) => widen(&mut changes[morph], weight),
                        (true, false) => {
                            widen(&mut weights[morph], weight);
                            widen(&mut changes[morph], weight - rest[morph]);
                        }
                    }
                }
            }
            weight_changes.push(changes);
            let mut of_clip = Vec::new();
            if clip.rows().len() == skeleton.rows() {
                if clip.additive {
                    of_clip = clip.largest(|_, shift| shift, |_, ratio| ratio.map(|r| r - 1.0));
                } else {
                    reach.include(clip);
                    for joint in (0..parents.len())
                        .filter(|&joint| parents[joint].is_none() && clip.animates(joint))
                    {
                        (0..clip.frame_count()).for_each(|frame| {
                            place(joint, clip.transform_at(joint, frame).translation)
                        });
                    }
                    // Any clip can be added, so those that hold poses count by their difference to the rest pose, too.
                    of_clip = clip.largest(
                        |row, [x, y, z]| {
                            let rest = skeleton.rest()[row].translation;
                            [x - rest.x, y - rest.y, z - rest.z]
                        },
                        |row, [x, y, z]| {
                            let rest = skeleton.rest()[row].scale;
                            [x / rest.x, y / rest.y, z / rest.z].map(|ratio| {
                                // Where there is no ratio, nothing changes.
                                Vec4::select(ratio.is_finite_mask(), ratio, Vec4::ONE) - 1.0
                            })
                        },
                    );
                }
                of_clip.resize(parents.len(), JointReach::default());
            }
            differences.push(of_clip);
        }
        Self {
            reach,
            parents: parents.to_vec(),
            roots,
            differences,
            weights,
            weight_changes,
        }
    }

    /// Returns the reach with additive layers on top: for each layer the index of its clip, in the order given to
    /// [`Self::new`], and its largest weight. Unknown indices are ignored.
    pub fn with_additive(&self, layers: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let Self {
            mut reach,
            parents,
            mut roots,
            differences,
            mut weights,
            weight_changes,
        } = self.clone();
        for (clip, weight) in layers {
            let weight: f64 = if weight > 0.0 {
                weight.min(ClipLayer::MAX_ADDITIVE_WEIGHT).into()
            } else {
                0.0
            };
            let changes = weight_changes.get(clip).into_iter().flatten();
            for ([least, most], [less, more]) in weights.iter_mut().zip(changes) {
                *least += less * weight as f32;
                *most += more * weight as f32;
            }
            for (joint, added) in differences.get(clip).into_iter().flatten().enumerate() {
                let JointReach { distance, scale } = &mut reach.joints[joint];
                let shift: f64 = weight * added.distance;
                *distance += shift;
                *scale *= 1.0 + weight * added.scale;
                roots[joint] =
                    roots[joint].map(|root| grown(root, Vec3::splat((shift * 1.00001) as f32)));
            }
        }
        Self {
            reach,
            parents,
            roots,
            differences,
            weights,
            weight_changes,
        }
    }
    /// Returns the least and the largest weight of a morph target; 0 if there is no such target.
    pub(super) fn weights(&self, morph: usize) -> [f32; 2] {
        self.weights.get(morph).copied().unwrap_or_default()
    }

    /// Returns the box around all places of a point that is fixed to `joint`, at most `distance` from it.
    pub(super) fn around(&self, mut joint: usize, distance: f64) -> Option<BoundingBox> {
        let joints = &self.reach.joints;
        // From the point up to the root: each ancestor scales everything below it, and adds its own translation.
        let mut radius = distance;
        while let Some(parent) = self.parents[joint] {
            radius = radius * joints[joint].scale + joints[joint].distance;
            joint = usize::from(parent);
        }
        radius = radius * joints[joint].scale * 1.00001;
        Some(grown(self.roots[joint]?, Vec3::splat(radius as f32)))
    }
}
