//! Lossy clip compression with a bound on the visible error.
//!
//! A compressed clip has fewer frames, and stores each changing value as a 16-bit number between the
//! value's minimum and maximum. The error is measured where it would be seen: at the corners of the
//! boxes of skin that each joint moves, and at the joints themselves and a tenth of the model's size
//! away from them, because they may have entities attached. A vertex is a mean of points in these boxes, so its error is at most that of the worst
//! corner.

use super::{ClipLayer, Evaluate, FrameSpan, PartBounds, Scratch};
use crate::model::{
    BoundingBox, ClipFrames, LEVER, MorphCurves, Quantization, SkeletalClip, Skeleton, SkinPart,
    axes_apart, size_at_rest,
};
use glam::Vec3A;

/// Compresses the clips of one character.
#[derive(Clone, Debug)]
pub struct Compress<'a> {
    skeleton: &'a Skeleton,
    /// The points whose error counts, per joint and in the joint's own space.
    points: Vec<Vec<Vec3A>>,
    /// The farthest that each morph target moves a vertex at weight 1.
    morphs: Vec<f32>,
    /// The distance from a joint at which something may be attached.
    lever: f32,
    error: f32,
}

impl<'a> Compress<'a> {
    /// Frame reductions to try, strongest first: 8 keeps one frame in eight.
    const STEPS: [f64; 9] = [8.0, 6.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0];
    /// Times per frame at which the error is measured.
    const MOMENTS: usize = 4;

    /// Prepares to compress clips of a character with this skin. `error` is the largest distance,
    /// in model units, by which the skin and entities attached to joints may be off.
    pub fn new(skeleton: &'a Skeleton, parts: &[SkinPart], error: f32) -> Self {
        let mut boxes: Vec<Option<BoundingBox>> = vec![None; skeleton.len()];
        for part in parts {
            for (joint, bounds) in PartBounds::new(skeleton, part).joints() {
                boxes[joint] = Some(boxes[joint].map_or(bounds, |all| all.union(bounds)));
            }
        }
        let points = |bounds: Option<BoundingBox>| {
            let corners = bounds
                .into_iter()
                .flat_map(|bounds| bounds.corners().map(Vec3A::from));
            corners.chain([Vec3A::ZERO]).collect()
        };
        let mut morphs = vec![0.0_f32; skeleton.morphs().len()];
        for target in parts.iter().flat_map(|part| &part.morphs) {
            let farthest = target.positions.iter().map(|delta| delta.length());
            if let Some(reach) = morphs.get_mut(usize::from(target.morph)) {
                *reach = farthest.fold(*reach, f32::max);
            }
        }
        let lever = (LEVER * size_at_rest(skeleton, parts)) as f32;
        Self {
            skeleton,
            points: boxes.into_iter().map(points).collect(),
            morphs,
            lever,
            error,
        }
    }

    /// Returns the smallest clip that keeps the skin within the allowed error when it plays alone at full
    /// weight (an additive clip on top of the rest pose). [`SkeletalClip::quantization`] reports the
    /// error and the size before.
    ///
    /// The error is measured at four times per frame. Returns a copy of `clip` if nothing smaller
    /// suffices, if it is not bound to the skeleton, or if it is already compressed.
    pub fn run(&self, clip: &SkeletalClip) -> SkeletalClip {
        let unfit = clip.rows().len() != self.skeleton.rows() || clip.quantization().is_some();
        if unfit || clip.frame_count() < 2 || clip.timing.duration <= 0.0 {
            return clip.clone();
        }
        let (weights, weight_error) = self.weights(clip);
        let steps = clip.frame_count() - 1;
        // Frames at individual times are where they are needed, so none is left out.
        let reductions = if clip.frame_times().is_some() {
            &[1.0][..]
        } else {
            &Self::STEPS
        };
        let mut tried = 0;
        for step in reductions {
            let fewer = (steps as f64 / step).ceil() as usize;
            // Two reductions of a short clip may result in the same number of frames.
            if fewer == tried {
                continue;
            }
            tried = fewer;
            let Some(thin) = self.with_steps(clip, fewer) else {
                continue;
            };
            let small = thin
                .quantized(Quantization::default())
                .with_curves(weights.clone());
            if small.bytes() >= clip.bytes() {
                continue;
            }
            if let Some(error) = self.measure(clip, &small, self.error - weight_error) {
                // Quantized once more, now with the measured error on record.
                let small = thin.quantized(Quantization {
                    bytes_before: clip.bytes(),
                    error: error + weight_error,
                });
                return small.with_curves(weights);
            }
        }
        clip.clone()
    }

    /// Returns the clip's morph weights, quantized if that moves no vertex too far, and the
    /// farthest that it moves one.
    fn weights(&self, clip: &SkeletalClip) -> (Option<MorphCurves>, f32) {
        let Some(weights) = clip.morph_curves() else {
            return (None, 0.0);
        };
        let (small, errors) = weights.quantized();
        // The worst case: all targets move the same vertex, in the same direction.
        let error: f32 = errors
            .iter()
            .zip(&self.morphs)
            .map(|(error, reach)| error * reach)
            .sum();
        // At least half of the error is left for the joints.
        if error <= 0.5 * self.error {
            (Some(small), error)
        } else {
            (Some(weights.clone()), 0.0)
        }
    }

    /// The clip resampled to `steps` equal steps of time.
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
        let frames = ClipFrames {
            joints: clip.joints().clone(),
            animated,
            transforms,
        };
        let mut thin = SkeletalClip::new(clip.timing.clone(), &frames).ok()?;
        thin.additive = clip.additive;
        thin.set_root_path(clip.root_path().cloned());
        Some(thin.with_morphs_of(clip, self.skeleton))
    }

    /// The largest error of `small` against `clip`; `None` if it is larger than allowed.
    fn measure(&self, clip: &SkeletalClip, small: &SkeletalClip, most: f32) -> Option<f32> {
        let mut poses = [Scratch::default(), Scratch::default()];
        let mut worst = 0.0_f32;
        // Moments between frames count, too: that is where fewer frames show most.
        for moment in 0..=(clip.frame_count() - 1) * Self::MOMENTS {
            let (frame, part) = (moment / Self::MOMENTS, moment % Self::MOMENTS);
            let (from, to) = (
                clip.time_showing(frame),
                clip.frame_time(frame + usize::from(part > 0)),
            );
            let time = from + (to - from) * part as f64 / Self::MOMENTS as f64;
            for (clip, pose) in [clip, small].into_iter().zip(&mut poses) {
                Evaluate::new(self.skeleton, &[ClipLayer::new(clip, time)]).run_clips(None, pose);
            }
            for ((points, exact), got) in self
                .points
                .iter()
                .zip(poses[0].model())
                .zip(poses[1].model())
            {
                // The far end of a lever moves by the turn of the joint's axes, times the lever's length.
                let attached = self.lever * axes_apart(exact, got);
                let apart = |point: &Vec3A| {
                    exact
                        .transform_point3a(*point)
                        .distance(got.transform_point3a(*point))
                };
                for error in points.iter().map(apart).chain([attached]) {
                    // Not `max`, which would ignore NaN.
                    worst = if error <= worst { worst } else { error };
                }
            }
            let within = worst <= most;
            if !within {
                return None;
            }
        }
        Some(worst)
    }
}
