//! Lossy clip compression with a bound on the visible error.
//!
//! A compressed clip has fewer frames, stores each changing component in as few bits as its joint needs, and leaves what stays
//! at rest to the rest pose. The error is measured where it would be seen: at the corners of the
//! boxes of skin that each joint moves, and at the joints themselves and a tenth of the model's size
//! away from them, because they may have entities attached. A vertex is a mean of points in these boxes, so its error is at
//! most that of the worst corner.
//!
//! How far a joint may be off depends on how far the skin below it reaches. All joints share one factor, and the largest that
//! keeps the error within the bound is found by measuring.

use super::{ClipLayer, Evaluate, FrameSpan, PartBounds, Scratch};
use crate::{
    model::{
        BoundingBox, ClipFrames, LEVER, MorphCurves, Quantization, SkeletalClip, Skeleton,
        SkinPart, Tolerance, attached_apart, size_at_rest,
    },
    numbers::worse,
};
use glam::Vec3A;

/// Compresses the clips of one character.
#[derive(Clone, Debug)]
pub struct Compress<'a> {
    skeleton: &'a Skeleton,
    /// The points whose error counts, per joint and in the joint's own space.
    points: Vec<Vec<Vec3A>>,
    /// The farthest that each joint moves a point when it turns by one radian or is scaled by two, about.
    reach: Vec<f32>,
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
    /// Tries to find the fewest bits for a number of frames.
    const ROUNDS: usize = 8;
    /// The part of the error to aim at.
    const AIM: f32 = 0.97;
    /// The part of the error that is left to morph weights.
    const MORPHS: f32 = 0.1;
    /// The most that a morph weight may be off.
    const LARGEST_WEIGHT_ERROR: f32 = 0.001;

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
        let points: Vec<Vec<Vec3A>> = boxes.into_iter().map(points).collect();
        Self {
            skeleton,
            reach: reach(skeleton, &points, lever),
            points,
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
        // Of a clip that holds still, every value is stored once already.
        let is_still = clip.frame(0).is_empty() && !clip.animates_morphs();
        let allows_none = self.error.is_nan() || self.error <= 0.0;
        if unfit || is_still || allows_none || clip.timing.duration <= 0.0 {
            return clip.clone();
        }
        let (weights, weight_error) = self.weights(clip);
        let most = self.error - weight_error;
        let mut best: Option<(SkeletalClip, f32)> = None;
        let (mut tried, mut misses) = (0, 0);
        for step in Self::STEPS {
            let fewer = ((clip.frame_count() - 1) as f64 / step).ceil() as usize;
            // Two reductions of a short clip may result in the same number of frames.
            if fewer == tried {
                continue;
            }
            tried = fewer;
            let Some(thin) = self.with_steps(clip, fewer) else {
                continue;
            };
            // What is missing between the frames.
            let Some(missing) = self.measure(clip, &thin, most) else {
                continue;
            };
            let least = best.as_ref().map_or(clip.bytes(), |(best, _)| best.bytes());
            match self.fit(clip, &thin, weights.as_ref(), [missing, most], least) {
                Some(smaller) => (best, misses) = (Some(smaller), 0),
                // More frames take more room, unless fewer of them leave too little of the error.
                None if best.is_some() => misses += 1,
                None => {}
            }
            if misses == 2 {
                break;
            }
        }
        let Some((small, error)) = best else {
            return clip.clone();
        };
        small.with_quantization(Quantization {
            bytes_before: clip.bytes(),
            error: error + weight_error,
        })
    }

    /// Returns the clip in as few bits as the error allows, and the error, if that takes fewer bytes than `least`.
    fn fit(
        &self,
        clip: &SkeletalClip,
        thin: &SkeletalClip,
        weights: Option<&MorphCurves>,
        [missing, most]: [f32; 2],
        least: usize,
    ) -> Option<(SkeletalClip, f32)> {
        let mut best: Option<(SkeletalClip, f32)> = None;
        // What each joint may be off by, if it were alone. Errors of many joints add up.
        let mut factor = 0.5 * (most - missing);
        let mut too_large = f32::INFINITY;
        for _ in 0..Self::ROUNDS {
            let tolerance = |reach: &f32| Tolerance {
                translation: factor,
                rotation: factor / reach,
                scale: factor / reach,
            };
            let tolerances: Vec<_> = self.reach.iter().map(tolerance).collect();
            let small = thin
                .quantized(self.skeleton, &tolerances)
                .with_curves(weights.cloned());
            let is_smaller = small.bytes() < best.as_ref().map_or(least, |(best, _)| best.bytes());
            let error = self.measure(clip, &small, f32::MAX)?;
            // The error grows about in proportion to the factor.
            let mut change =
                (Self::AIM * most - missing) / (error - missing).max(f32::MIN_POSITIVE);
            if error <= most {
                if is_smaller {
                    best = Some((small, error));
                }
                // Half way to what was too large, if the error doesn't grow as it should.
                change = change.clamp(1.0, 2.0).min((too_large / factor).sqrt());
                if change < 1.04 {
                    break;
                }
            } else {
                // A smaller factor takes even more bytes.
                if !is_smaller {
                    break;
                }
                too_large = factor;
                change = change.clamp(0.3, 0.9);
            }
            factor *= change;
        }
        best
    }

    /// Returns the clip's morph weights, quantized if that moves no vertex too far, and the
    /// farthest that it moves one.
    fn weights(&self, clip: &SkeletalClip) -> (Option<MorphCurves>, f32) {
        let Some(weights) = clip.morph_curves() else {
            return (None, 0.0);
        };
        // The worst case: all targets move the same vertex, in the same direction.
        let share = Self::MORPHS * self.error / self.morphs.len().max(1) as f32;
        // Weights count by themselves, too, where their targets hardly move anything.
        let tolerance = |reach: &f32| (share / reach).min(Self::LARGEST_WEIGHT_ERROR);
        let small = weights.quantized(&self.morphs.iter().map(tolerance).collect::<Vec<_>>());
        let errors = weights.farthest_from(&small);
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
        Some(thin.with_curves(clip.morph_curves().cloned()))
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
                let attached = attached_apart(exact, got, self.lever);
                let apart = |point: &Vec3A| {
                    exact
                        .transform_point3a(*point)
                        .distance(got.transform_point3a(*point))
                };
                for error in points.iter().map(apart).chain([attached]) {
                    worst = worse(worst, error);
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

/// Returns the farthest that a point lies from each joint at rest, among those that the joint and the joints below it move.
fn reach(skeleton: &Skeleton, points: &[Vec<Vec3A>], lever: f32) -> Vec<f32> {
    let rest = skeleton.rest_model();
    let mut reach = vec![lever; skeleton.len()];
    for (joint, points) in skeleton.joints().zip(points) {
        let place = |point: &Vec3A| rest[usize::from(joint)].transform_point3a(*point);
        let places: Vec<Vec3A> = points.iter().map(place).collect();
        for above in skeleton.ancestors(joint).chain([joint]) {
            let (reach, origin) = (
                &mut reach[usize::from(above)],
                rest[usize::from(above)].translation,
            );
            let distances = places.iter().map(|place| place.distance(origin));
            *reach = distances.fold(*reach, f32::max);
        }
    }
    reach
}
