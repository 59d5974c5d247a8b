//! Clips made smaller, as far as the skin does not show it.
//!
//! Two things are given up: frames, where those left lead the skin nearly the same way, and digits:
//! what changes is kept in 16-bit numbers between its least and its largest value. What that costs is
//! measured where it would be seen: at the corners of the boxes of skin that each joint moves, and
//! at the joints themselves, which may carry things. A vertex is a mean of points in such boxes, so it
//! is off by no more than their worst corner.

use super::{ClipLayer, Evaluate, FrameSpan, PartBounds, Scratch};
use crate::controller::BlendMode;
use crate::model::{ClipFrames, Quantisation, SkeletalClip, Skeleton, SkinPart};
use glam::Vec3A;

/// Makes clips of one character smaller.
#[derive(Clone, Debug)]
pub struct Compress<'a> {
    skeleton: &'a Skeleton,
    /// Per joint, the points whose error counts, in the joint's own space.
    points: Vec<Vec<Vec3A>>,
    error: f32,
}

impl<'a> Compress<'a> {
    /// Shares of the frames to try, fewest first.
    const STEPS: [f64; 9] = [8.0, 6.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0];
    /// Moments of each frame at which the error is measured.
    const MOMENTS: usize = 4;

    /// For a character with this skin; `error` is the largest distance, in model units, by which the skin
    /// may be elsewhere.
    pub fn new(skeleton: &'a Skeleton, parts: &[SkinPart], error: f32) -> Self {
        let mut boxes: Vec<Option<(Vec3A, Vec3A)>> = vec![None; skeleton.len()];
        for part in parts {
            for (joint, min, max) in PartBounds::new(skeleton, part).joints() {
                let (low, high) = boxes[joint].unwrap_or((min, max));
                boxes[joint] = Some((low.min(min), high.max(max)));
            }
        }
        let corner = |(low, high): (Vec3A, Vec3A), i: usize| {
            let pick = |axis: usize| if i >> axis & 1 == 0 { low[axis] } else { high[axis] };
            Vec3A::new(pick(0), pick(1), pick(2))
        };
        let points = |bounds: Option<(Vec3A, Vec3A)>| {
            let corners = bounds.into_iter().flat_map(|bounds| (0..8).map(move |i| corner(bounds, i)));
            corners.chain([Vec3A::ZERO]).collect()
        };
        Self { skeleton, points: boxes.into_iter().map(points).collect(), error }
    }

    /// The smallest clip that keeps the skin within the error of where `clip` puts it, playing alone at
    /// full weight; an additive one over the rest pose. [`SkeletalClip::quantisation`] tells what came of it.
    ///
    /// Measured at four moments of each frame. The clip itself comes back where nothing smaller will do,
    /// and where it is not bound to the skeleton or was made smaller before.
    pub fn run(&self, clip: &SkeletalClip) -> SkeletalClip {
        let unfit = clip.rows().len() != self.skeleton.rows() || clip.quantisation().is_some();
        if unfit || clip.frame_count() < 2 || clip.timing.duration <= 0.0 {
            return clip.clone();
        }
        let steps = clip.frame_count() - 1;
        let mut tried = 0;
        for step in Self::STEPS {
            let fewer = (steps as f64 / step).ceil() as usize;
            if fewer == tried {
                continue;
            }
            tried = fewer;
            let Some(thin) = self.with_steps(clip, fewer) else { continue };
            let small = thin.quantised(Quantisation::default());
            if small.bytes() >= clip.bytes() {
                continue;
            }
            if let Some(error) = self.measure(clip, &small) {
                return thin.quantised(Quantisation { bytes_before: clip.bytes(), error });
            }
        }
        clip.clone()
    }

    /// The clip in so many equal steps of time.
    fn with_steps(&self, clip: &SkeletalClip, steps: usize) -> Option<SkeletalClip> {
        if steps == clip.frame_count() - 1 {
            return Some(clip.clone());
        }
        let joints = self.skeleton.len();
        let mut transforms = Vec::with_capacity((steps + 1) * joints);
        for frame in 0..=steps {
            let span = FrameSpan::new(clip, clip.timing.duration * frame as f64 / steps as f64);
            transforms.extend((0..joints).map(|joint| span.transform(clip, joint)));
        }
        let animated = (0..joints).map(|joint| clip.animates(joint)).collect();
        let frames = ClipFrames { joints: clip.joints().clone(), animated, transforms };
        let mut thin = SkeletalClip::new(clip.timing.clone(), &frames).ok()?;
        thin.additive = clip.additive;
        Some(thin)
    }

    /// The largest error of `small` against `clip`, if it is within what is allowed.
    fn measure(&self, clip: &SkeletalClip, small: &SkeletalClip) -> Option<f32> {
        let moments = (clip.frame_count() - 1) * Self::MOMENTS;
        let mut poses = [Scratch::default(), Scratch::default()];
        let mut worst = 0.0_f32;
        for moment in 0..=moments {
            let time = clip.timing.duration * moment as f64 / moments as f64;
            for (clip, pose) in [clip, small].into_iter().zip(&mut poses) {
                let mode = if clip.additive { BlendMode::Additive } else { BlendMode::Blend };
                let layers = [ClipLayer { mode, ..ClipLayer::new(clip, time) }];
                Evaluate::new(self.skeleton, &layers).run_clips(None, pose);
            }
            for ((points, exact), got) in self.points.iter().zip(poses[0].model()).zip(poses[1].model()) {
                for point in points {
                    let error = exact.transform_point3a(*point).distance(got.transform_point3a(*point));
                    // Not `max`, which would pass over a NaN.
                    worst = if error <= worst { worst } else { error };
                }
            }
            let within = worst <= self.error;
            if !within {
                return None;
            }
        }
        Some(worst)
    }
}
