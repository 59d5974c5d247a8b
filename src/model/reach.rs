//! The distances to which joints can carry the skin.
//!
//! Lengths and scales multiply along a chain of joints, until single precision cannot hold the
//! result. That is checked while loading, so that posing never has to check for infinities.

use super::{JointTransform, SkeletalClip, Skeleton, SoaVec3, clip::ChannelSlot};
use glam::{Affine3A, Vec3, Vec4};

/// The farthest, in model units after scaling, that a joint may carry a point one unit away from its bind
/// pose, and that a vertex may lie from the origin. Far beyond any model, yet the product of the two, with a
/// world matrix on top, is still finite.
const FARTHEST: f64 = 1e18;

/// The largest distance of a joint from its parent, and its largest scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointReach {
    pub(crate) distance: f64,
    pub(crate) scale: f64,
}

/// The reach of each joint at rest and in the clips included, whatever blend of them plays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reach {
    pub(crate) joints: Vec<JointReach>,
    /// What additive clips add to these distances, and the factors of these scales. Apart, because they come on top of clips that
    /// are included later, too.
    differences: Vec<JointReach>,
}

impl Reach {
    /// The reach of the rest pose.
    pub(crate) fn of_rest(skeleton: &Skeleton) -> Self {
        let measure = |transform: JointTransform| JointReach {
            distance: length(transform.translation),
            scale: transform.scale.abs().max_element().into(),
        };
        let none = JointReach {
            distance: 0.0,
            scale: 1.0,
        };
        Self {
            joints: skeleton
                .joints()
                .map(|joint| measure(skeleton.rest_of(joint)))
                .collect(),
            differences: vec![none; skeleton.len()],
        }
    }

    /// The reach of the rest pose, or an error message if it goes too far.
    pub(crate) fn new(skeleton: &Skeleton) -> Result<Self, String> {
        let reach = Self::of_rest(skeleton);
        reach
            .check(skeleton)
            .map_err(|message| format!("at rest {message}"))?;
        Ok(reach)
    }

    /// Includes a clip bound to the skeleton. An additive one comes on top of all others, at full weight.
    pub(crate) fn include(&mut self, clip: &SkeletalClip) {
        let of_clip = clip.largest(|_, translation| translation, |_, scale| scale);
        let joints = self.joints.iter_mut().zip(&mut self.differences);
        for (joint, ((most, added), of_clip)) in joints.zip(of_clip).enumerate() {
            if !clip.animates(joint) {
                continue;
            }
            if clip.additive {
                added.distance += of_clip.distance;
                added.scale *= of_clip.scale.max(1.0);
            } else {
                most.distance = most.distance.max(of_clip.distance);
                most.scale = most.scale.max(of_clip.scale);
            }
        }
    }

    /// Includes a clip unless it goes too far. In that case, nothing changes, and the error message
    /// says why.
    pub(crate) fn admit(&mut self, skeleton: &Skeleton, clip: &SkeletalClip) -> Result<(), String> {
        let mut reach = self.clone();
        reach.include(clip);
        reach.check(skeleton)?;
        *self = reach;
        Ok(())
    }

    /// Goes down the chains and refuses the first joint that can carry the skin too far.
    fn check(&self, skeleton: &Skeleton) -> Result<(), String> {
        // Per joint, its largest distance from the origin, and the largest scale of everything below
        // it.
        let mut placed: Vec<(f64, f64)> = Vec::with_capacity(self.joints.len());
        for (joint, (most, added)) in self.joints.iter().zip(&self.differences).enumerate() {
            let parent =
                skeleton.parents()[joint].map_or((0.0, 1.0), |parent| placed[usize::from(parent)]);
            let far = parent.0 + parent.1 * (most.distance + added.distance);
            let large = parent.1 * most.scale * added.scale;
            placed.push((far, large));
            let Affine3A {
                matrix3,
                translation,
            } = skeleton.inverse_bind()[joint];
            let columns = [matrix3.x_axis, matrix3.y_axis, matrix3.z_axis, translation]
                .map(|v| length(v.into()));
            let carried = far + large * (1.0 + columns.iter().sum::<f64>());
            if carried.is_nan() || carried > FARTHEST {
                let name = &skeleton.names()[joint];
                return Err(format!(
                    "joint `{name}` and its ancestors carry the skin {carried:.0e} units away: a length or a scale is implausibly large"
                ));
            }
        }
        Ok(())
    }
}

impl SkeletalClip {
    /// Per joint that the clip moves, the longest translation and the largest scale, by amount, of any frame. The functions may
    /// change them first: they get the index of a row of four joints, and their vectors.
    pub(crate) fn largest(
        &self,
        translation: impl Fn(usize, [Vec4; 3]) -> [Vec4; 3],
        scale: impl Fn(usize, [Vec4; 3]) -> [Vec4; 3],
    ) -> Vec<JointReach> {
        let mut largest = vec![JointReach::default(); self.joints().len()];
        for (at, (row, lanes)) in self.rows().iter().zip(largest.chunks_mut(4)).enumerate() {
            // The frames in which a channel has different values.
            let frames = |slot: ChannelSlot| match slot {
                ChannelSlot::Constant(_) | ChannelSlot::Rest => 0..1,
                ChannelSlot::Sampled(_) | ChannelSlot::Packed(_) => 0..self.frame_count(),
            };
            for frame in frames(row.translation) {
                let SoaVec3 { x, y, z } = self.translations_at(at, frame);
                // In f64: squares of what f32 holds can be beyond it.
                let [x, y, z] = translation(at, [x, y, z]).map(|v| v.as_dvec4());
                let squares = (x * x + y * y + z * z).to_array();
                lanes
                    .iter_mut()
                    .zip(squares)
                    .for_each(|(lane, square)| lane.distance = lane.distance.max(square));
            }
            lanes
                .iter_mut()
                .for_each(|lane| lane.distance = lane.distance.sqrt());
            for frame in frames(row.scale) {
                let SoaVec3 { x, y, z } = self.scales_at(at, frame);
                let [x, y, z] = scale(at, [x, y, z]).map(Vec4::abs);
                let scales = x.max(y).max(z).as_dvec4().to_array();
                lanes
                    .iter_mut()
                    .zip(scales)
                    .for_each(|(lane, scale)| lane.scale = lane.scale.max(scale));
            }
            let still = (0..lanes.len()).filter(|lane| row.moved >> lane & 1 == 0);
            still.for_each(|lane| lanes[lane] = JointReach::default());
        }
        largest
    }
}

/// In f64: squares of what f32 can hold are beyond it.
fn length(v: Vec3) -> f64 {
    v.as_dvec3().length()
}

/// Returns `true` if a vertex is close enough to the origin to compute with.
pub(crate) fn is_near(position: Vec3) -> bool {
    position.as_dvec3().length_squared() <= FARTHEST * FARTHEST
}

#[cfg(test)]
#[path = "tests/reach.rs"]
mod tests;
