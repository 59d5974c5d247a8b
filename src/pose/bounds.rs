//! How far a part of the skin reaches: boxes for culling, without posing a vertex.

use super::{ClipLayer, Evaluate, Scratch};
use crate::model::{JointIndex, SkeletalClip, Skeleton, SkinPart};
use glam::{Affine3A, Vec3, Vec3A};

/// The boxes of the vertices each joint moves, in the joint's bind space.
///
/// A vertex is a mean of points that lie in its joints' boxes, so the hull of the boxes moved by their
/// joints holds the part in any pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartBounds {
    boxes: Vec<(JointIndex, Vec3A, Vec3A)>,
}

impl PartBounds {
    /// The boxes of a part's joints.
    pub fn new(skeleton: &Skeleton, part: &SkinPart) -> Self {
        let boxes = part.joint_boxes(skeleton.inverse_bind());
        let named = part.palette.iter().zip(boxes);
        let boxes = named.filter_map(|(&joint, b)| {
            let (low, high) = b?;
            Some((joint, ((low + high) / 2.0).into(), ((high - low) / 2.0).into()))
        });
        Self { boxes: boxes.collect() }
    }

    /// The box of the part in a pose given as joint → model matrices; `None` for a part without joints.
    pub fn posed(&self, model: &[Affine3A]) -> Option<(Vec3, Vec3)> {
        let mut low = Vec3A::INFINITY;
        let mut high = Vec3A::NEG_INFINITY;
        for &(joint, center, half) in &self.boxes {
            let Some(matrix) = model.get(usize::from(joint)) else { continue };
            let center = matrix.transform_point3a(center);
            let m = matrix.matrix3;
            let half = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
            low = low.min(center - half);
            high = high.max(center + half);
        }
        (low.is_finite() && high.is_finite()).then(|| (low.into(), high.into()))
    }

    /// The box of the part over a whole clip, bound to the skeleton: the union over its frames, a little
    /// enlarged for what happens between them.
    pub fn over_clip(&self, skeleton: &Skeleton, clip: &SkeletalClip) -> Option<(Vec3, Vec3)> {
        let mut scratch = Scratch::default();
        let frames = clip.frame_count();
        let step = clip.timing.duration / (frames.max(2) - 1) as f64;
        let mut all: Option<(Vec3, Vec3)> = None;
        let mut most_moved = 0.0_f32;
        let mut before: Option<(Vec3, Vec3)> = None;
        for frame in 0..frames {
            Evaluate::new(skeleton, &[ClipLayer::new(clip, frame as f64 * step)]).run(&mut scratch);
            let now = self.posed(scratch.model())?;
            if let Some((low, high)) = before {
                most_moved = most_moved.max((now.0 - low).abs().max_element()).max((now.1 - high).abs().max_element());
            }
            before = Some(now);
            let (low, high) = all.unwrap_or(now);
            all = Some((low.min(now.0), high.max(now.1)));
        }
        // Between two frames a box may bulge past both by less than half of what it moved.
        all.map(|(low, high)| (low - most_moved / 2.0, high + most_moved / 2.0))
    }
}
