//! Resamples keys at arbitrary times to frames at equal distances.
//!
//! Between keys, a file means lerp for translation and scale, and slerp for rotation. Between frames, a clip uses
//! lerp and nlerp. If every key lies on a frame, the only error is that of nlerp, which is at most 0.005·θ³ for a
//! rotation of θ (below 180°), so a few more frames make it as small as needed. If keys lie between frames, the error is
//! measured.
//!
//! Errors are in model units, at the skin. The first kind is bounded: a joint's error is its angle times its lever, the
//! distance to the farthest vertex below it, and errors add up along the chain of joints. The second kind is
//! measured at the boxes of skin around the joints.

use super::{CLIP_ERROR, CLIP_ERROR_AT_ODD_KEYS};
use crate::model::{BoundingBox, JointTransform, Model};
use glam::{Affine3A, Quat, Vec3, Vec3A};

/// The keys of one joint, at increasing times.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    times: Vec<f64>,
    keys: Vec<JointTransform>,
}

impl Curve {
    pub(super) fn with_capacity(keys: usize) -> Self {
        Self { times: Vec::with_capacity(keys), keys: Vec::with_capacity(keys) }
    }

    /// Adds a key. Ignores it if it is not later than the last.
    pub(super) fn push(&mut self, time: f64, key: JointTransform) {
        if self.times.last().is_none_or(|&last| time > last) {
            self.times.push(time);
            self.keys.push(key);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the transform at `time`, and the index to pass to the next call. `index` is that of a key at or
    /// before `time`, or 0.
    fn sample(&self, time: f64, mut at: usize) -> (JointTransform, usize) {
        while self.times.get(at + 1).is_some_and(|&next| next <= time) {
            at += 1;
        }
        let (from, to) = (&self.keys[at], self.keys.get(at + 1));
        let Some(to) = to.filter(|_| time > self.times[at]) else { return (*from, at) };
        let share = ((time - self.times[at]) / (self.times[at + 1] - self.times[at])) as f32;
        let transform = JointTransform {
            translation: from.translation.lerp(to.translation, share),
            rotation: from.rotation.slerp(to.rotation, share),
            scale: from.scale.lerp(to.scale, share),
        };
        (transform, at)
    }
}

/// How a joint moves according to a file.
pub(in crate::import) trait Keyed {
    /// Returns `true` if the joint doesn't move.
    fn is_empty(&self) -> bool;

    /// Returns the transform at `time`, and a place to pass to the next call, which is for a later time. The first is 0.
    fn sample(&self, time: f64, at: usize) -> (JointTransform, usize);
}

impl Keyed for Curve {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn sample(&self, time: f64, at: usize) -> (JointTransform, usize) {
        self.sample(time, at)
    }
}

/// Curves, resampled to frames.
pub(in crate::import) struct Sampled {
    /// Frame by frame, one transform per curve; identity for empty curves.
    pub(in crate::import) transforms: Vec<JointTransform>,
    /// Seconds from the first frame to the last.
    pub(in crate::import) duration: f64,
    /// Largest distance of a skin vertex from its place according to the keys, in model units.
    pub(in crate::import) error: f32,
    /// Whether the error is within the one asked for.
    pub(in crate::import) within_bound: bool,
}

/// Most transforms that a clip gets to reach the requested error (42 MB). It gets more only if its keys lie on more
/// frames than that.
pub(in crate::import) const MAX_TRANSFORMS: usize = 1 << 20;

/// Transforms that all clips of a file together are given to meet the error bound (168 MB).
pub(in crate::import) const FILE_BUDGET: usize = 1 << 22;

/// Most transforms per key of the file, so that a small file cannot request a lot of memory.
pub(in crate::import) const MAX_TRANSFORMS_PER_KEY: usize = 512;

/// Resamples `curves`, in the order of the skeleton's joints, with an error of at most [`CLIP_ERROR`] or
/// [`CLIP_ERROR_AT_ODD_KEYS`] times the model's size, if memory allows.
pub(super) fn resample(curves: &[Curve], levers: &Levers, budget: usize) -> Sampled {
    let times = distinct_times(curves);
    let duration = times.last().map_or(0.0, |last| last.max(0.0));
    let keys: usize = curves.iter().map(|curve| curve.keys.len()).sum();
    let transforms = MAX_TRANSFORMS.min(MAX_TRANSFORMS_PER_KEY * keys).min(budget);
    let most = (transforms / curves.len().max(1)).max(times.len() * 2);
    if times.len() < 2 || duration <= 0.0 {
        let transforms = frames(curves, 1, |_| 0.0);
        return Sampled { transforms, duration: 0.0, error: 0.0, within_bound: true };
    }
    if let Some(steps) = grid(&times, duration, most) {
        let bound = CLIP_ERROR * levers.size;
        let per_step = steps as f64 / duration;
        // In units of steps, every key is now at a whole number.
        let snapped: Vec<Curve> = curves.iter().map(|curve| snap(curve, per_step)).collect();
        let transforms = frames(&snapped, steps + 1, |frame| frame as f64);
        let error = levers.nlerp_error(&transforms);
        // Rotations that are k times smaller have errors that are k³ times smaller.
        let wanted = (error / bound).cbrt().ceil();
        let cuts = if wanted.is_finite() { (wanted as usize).clamp(1, (most / steps).max(1)) } else { 1 };
        if cuts == 1 {
            return Sampled { transforms, duration, error, within_bound: error <= bound };
        }
        let transforms = frames(&snapped, steps * cuts + 1, |frame| frame as f64 / cuts as f64);
        let error = levers.nlerp_error(&transforms);
        return Sampled { transforms, duration, error, within_bound: error <= bound };
    }
    let mut steps = ((duration * 60.0).ceil() as usize).clamp(1, most);
    let mut before = f32::INFINITY;
    let bound = CLIP_ERROR_AT_ODD_KEYS * levers.size;
    loop {
        let transforms = frames(curves, steps + 1, |frame| duration * frame as f64 / steps as f64);
        let error = levers.measured_error(curves, &transforms, &times, duration);
        // More frames don't help if keys jump.
        let helps = error < 0.8 * before;
        if error <= bound || steps >= most || !helps {
            return Sampled { transforms, duration, error, within_bound: error <= bound };
        }
        before = error;
        // The error decreases with the step or faster. It is often larger than estimated, so take smaller steps.
        let factor = (error / bound * 1.1).clamp(1.5, 8.0);
        steps = ((steps as f32 * factor) as usize).min(most);
    }
}

fn frames(curves: &[Curve], count: usize, time: impl Fn(usize) -> f64) -> Vec<JointTransform> {
    let mut out = vec![JointTransform::IDENTITY; count * curves.len()];
    for (joint, curve) in curves.iter().enumerate().filter(|(_, curve)| !curve.is_empty()) {
        let mut at = 0;
        for frame in 0..count {
            (out[frame * curves.len() + joint], at) = curve.sample(time(frame), at);
        }
    }
    out
}

/// Returns the times of all keys, in increasing order.
fn distinct_times(curves: &[Curve]) -> Vec<f64> {
    let longest = curves.iter().max_by_key(|curve| curve.times.len());
    let mut times = longest.map(|curve| curve.times.clone()).unwrap_or_default();
    let base = times.len();
    for curve in curves {
        // Usually a joint has keys at the same times as the others, or lacks the last ones.
        if !times[..base].starts_with(&curve.times) {
            times.extend(&curve.times);
        }
    }
    if times.len() > base {
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
    }
    times
}

/// Returns a curve with its times converted to steps of a grid that its keys lie on.
fn snap(curve: &Curve, per_step: f64) -> Curve {
    let mut out = Curve::with_capacity(curve.times.len());
    for (time, key) in curve.times.iter().zip(&curve.keys) {
        out.push((time * per_step).round(), *key);
    }
    out
}

/// Returns the number of equal steps from 0 to `duration` on whose ends all times lie, if there is one.
///
/// Times are assumed to be printed in single precision, with six or seven digits. If there is one key per step, or
/// keys come at one of the usual rates, they may be rounded more: a 60th of a second is written `0.017`. In that case,
/// the frames are more accurate than the times.
pub(in crate::import) fn grid(times: &[f64], duration: f64, most: usize) -> Option<usize> {
    const RATES: [f64; 12] = [10.0, 12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0, 240.0];
    let rounding = 2e-6 * duration.max(1.0);
    let fits = |steps: usize, tolerance: f64| {
        let step = duration / steps as f64;
        times.iter().all(|time| (time - (time / step).round() * step).abs() <= tolerance)
    };
    let smallest_gap =
        times.windows(2).map(|pair| pair[1] - pair[0]).filter(|&gap| gap > rounding).fold(duration, f64::min);
    let one_each = times.iter().filter(|time| **time >= 0.0).count() - 1;
    let usual = RATES.map(|rate| (duration * rate).round() as usize);
    let multiples = (1..=8).map(|m| (duration * f64::from(m) / smallest_gap).round() as usize);

    let mut candidates: Vec<usize> = usual.into_iter().chain(multiples).chain([one_each]).collect();
    candidates.retain(|&steps| steps >= 1 && steps < most);
    candidates.sort_unstable();
    candidates.dedup();
    let exact = candidates.iter().find(|&&steps| {
        // Beyond this, any time would fit.
        duration / steps as f64 > 50.0 * rounding && fits(steps, rounding)
    });
    let loose = || {
        let enough = |steps: usize| steps <= times.len() * 2 && times.len() >= 8;
        let loosely = |steps: usize| fits(steps, 0.04 * duration / steps as f64);
        usual.into_iter().chain([one_each]).find(|&steps| steps >= 1 && steps < most && enough(steps) && loosely(steps))
    };
    exact.copied().or_else(loose)
}

/// How far an error in a joint's rotation or translation moves the skin.
pub(in crate::import) struct Levers {
    parents: Vec<Option<usize>>,
    /// Per joint, the distance of the farthest vertex or joint below it, in model units at rest.
    lever: Vec<f32>,
    /// Per joint, the corners of the box around its skin, in joint space.
    corners: Vec<Option<[Vec3A; 8]>>,
    /// The rest pose, for joints that a clip doesn't move.
    rest: Vec<JointTransform>,
    size: f32,
}

impl Levers {
    pub(in crate::import) fn new(model: &Model) -> Self {
        let skeleton = &model.skeleton;
        let parents: Vec<Option<usize>> = skeleton.parents().iter().map(|p| p.map(usize::from)).collect();
        let rest = skeleton.rest_model();
        let origin = |joint: usize| Vec3::from(rest[joint].translation);
        let mut lever = vec![0f32; skeleton.len()];
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for part in &model.parts {
            for (&position, influences) in part.positions.iter().zip(&part.influences) {
                (low, high) = (low.min(position), high.max(position));
                for (&slot, &weight) in influences.palette.iter().zip(&influences.weights) {
                    if weight > 0.0 {
                        let joint = usize::from(part.palette[usize::from(slot)]);
                        lever[joint] = lever[joint].max(position.distance(origin(joint)));
                    }
                }
            }
        }
        for joint in (0..skeleton.len()).rev() {
            (low, high) = (low.min(origin(joint)), high.max(origin(joint)));
            if let Some(parent) = parents[joint] {
                lever[parent] = lever[parent].max(lever[joint] + origin(joint).distance(origin(parent)));
            }
        }
        let mut corners: Vec<Option<BoundingBox>> = vec![None; skeleton.len()];
        for part in &model.parts {
            for (&joint, bounds) in part.palette.iter().zip(part.joint_boxes(skeleton.inverse_bind())) {
                let all = &mut corners[usize::from(joint)];
                *all = match (*all, bounds) {
                    (Some(all), Some(bounds)) => Some(all.union(bounds)),
                    (all, bounds) => all.or(bounds),
                };
            }
        }
        let corners =
            corners.into_iter().map(|bounds| bounds.map(|bounds| bounds.corners().map(Vec3A::from))).collect();
        let size = (high - low).length();
        let size = if size.is_finite() && size > 0.0 { size } else { 1.0 };
        Self { parents, lever, corners, rest: skeleton.joints().map(|j| skeleton.rest_of(j)).collect(), size }
    }

    /// Returns the model's size: the diagonal of the box around its vertices and joints at rest.
    pub(in crate::import) fn size(&self) -> f32 {
        self.size
    }

    /// Returns a bound on the error of nlerp against slerp between any two adjacent frames.
    pub(in crate::import) fn nlerp_error(&self, transforms: &[JointTransform]) -> f32 {
        let joints = self.parents.len();
        let mut chain = vec![0f32; joints];
        let mut worst = 0f32;
        for pair in transforms.windows(2 * joints).step_by(joints) {
            for joint in 0..joints {
                let turn = angle(pair[joint].rotation, pair[joints + joint].rotation);
                let above = self.parents[joint].map_or(0.0, |parent| chain[parent]);
                chain[joint] = above + 0.005 * turn * turn * turn * self.lever[joint];
                worst = worst.max(chain[joint]);
            }
        }
        worst
    }

    /// Returns the error of frames against the curves: the largest distance between the corners of each joint's box of
    /// skin, at all keys and where nlerp is worst. Vertices are means of points in these boxes.
    pub(in crate::import) fn measured_error(
        &self,
        curves: &[impl Keyed],
        transforms: &[JointTransform],
        times: &[f64],
        duration: f64,
    ) -> f32 {
        let joints = self.parents.len();
        let steps = transforms.len() / joints - 1;
        let per_step = steps as f64 / duration;
        // The extremes of t·(1 − t)·(1 − 2t), the shape of nlerp's error, and the middle.
        let within = (0..steps).flat_map(|step| [0.2113, 0.5, 0.7887].map(|part| (step as f64 + part) / per_step));
        // All keys of any realistic clip; every n-th key of longer ones.
        let stride = (times.len() * joints).div_ceil(MAX_TRANSFORMS).max(1);
        let at_keys = times.iter().copied().filter(|time| *time >= 0.0).step_by(stride);
        let mut moments: Vec<f64> = within.chain(at_keys).collect();
        moments.sort_unstable_by(f64::total_cmp);

        let mut at = vec![0; joints];
        let mut poses = vec![[Affine3A::IDENTITY; 2]; joints];
        let mut worst = 0f32;
        for time in moments {
            let step = ((time * per_step) as usize).min(steps - 1);
            let share = (time * per_step - step as f64) as f32;
            for joint in 0..joints {
                let mut locals = [self.rest[joint]; 2];
                if !curves[joint].is_empty() {
                    let (from, to) = (&transforms[step * joints + joint], &transforms[(step + 1) * joints + joint]);
                    (locals[0], at[joint]) = curves[joint].sample(time, at[joint]);
                    locals[1] = JointTransform {
                        translation: from.translation.lerp(to.translation, share),
                        rotation: from.rotation.lerp(to.rotation, share),
                        scale: from.scale.lerp(to.scale, share),
                    };
                }
                let above = self.parents[joint].map_or([Affine3A::IDENTITY; 2], |parent| poses[parent]);
                poses[joint] = [above[0] * locals[0].to_affine(), above[1] * locals[1].to_affine()];
                let [exact, got] = poses[joint];
                for corner in self.corners[joint].iter().flatten() {
                    let apart = exact.transform_point3a(*corner) - got.transform_point3a(*corner);
                    // Not `max`, which ignores NaN.
                    worst = if apart.length() <= worst { worst } else { apart.length() };
                }
            }
        }
        worst
    }
}

/// Returns the smaller angle between two unit rotations.
fn angle(a: Quat, b: Quat) -> f32 {
    // Computed from the chord, which is accurate for small angles, unlike the cosine.
    let chord = (a - b).length_squared().min((a + b).length_squared()).sqrt();
    4.0 * (chord * 0.5).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(times: &[f64]) -> Option<usize> {
        grid(times, times[times.len() - 1], 10_000)
    }

    #[test]
    fn keys_at_even_steps_are_found_however_they_were_printed() {
        let printed =
            |digits: f64| -> Vec<f64> { (0..76).map(|k| (f64::from(k) / 60.0 * digits).trunc() / digits).collect() };
        assert_eq!(times(&printed(1e7)), Some(75));
        assert_eq!(times(&printed(1e4)), Some(75));
        let to_milliseconds: Vec<f64> = (0..76).map(|k| (f64::from(k) / 60.0 * 1e3).round() / 1e3).collect();
        assert_eq!(times(&to_milliseconds), Some(75));
        assert_eq!(times(&[0.0, 0.5, 1.0]), Some(2));
        assert_eq!(times(&[0.0, 1.0 / 30.0, 0.1, 1.0]), Some(30));
        // Two of three keys are missing, and there is none at 0.
        assert_eq!(times(&[0.25, 1.0, 1.25]), Some(5));
        let long: Vec<f64> = (0..4000).map(|k| f64::from((f64::from(k) / 60.0) as f32)).collect();
        assert_eq!(times(&long), Some(3999));
    }

    #[test]
    fn keys_at_odd_times_are_on_no_grid() {
        assert_eq!(times(&[0.0, 0.1234, 0.2718, 0.577, 1.0]), None);
        assert_eq!(times(&[0.0, 0.618_034, 1.0]), None);
    }

    #[test]
    fn the_bound_on_nlerp_holds_for_every_turn() {
        for degrees in [5.0f32, 30.0, 90.0, 150.0, 179.0] {
            let turn = degrees.to_radians();
            let (from, to) = (Quat::IDENTITY, Quat::from_rotation_y(turn));
            let error = (0..=100).map(|i| angle(from.lerp(to, i as f32 / 100.0), from.slerp(to, i as f32 / 100.0)));
            let worst = error.fold(0.0, f32::max);
            let bound = 0.005 * turn.powi(3);
            assert!(worst <= bound + 1e-6, "{degrees}°: {worst} > {bound}");
            assert!(degrees < 30.0 || worst > 0.5 * bound, "{degrees}°: {bound} is far above {worst}");
        }
    }
}
