//! How exact frames are: the grid that keys lie on, and the error of frames against the channels.

use super::curves::Motion;
use crate::model::{BoundingBox, JointTransform, Model};
use glam::{Affine3A, Quat, Vec3, Vec3A};

/// Returns the number of equal steps from 0 to `duration` on whose ends all times lie, if there is one.
///
/// Times are assumed to be printed in single precision, with six or seven digits. If there is one key per step, or
/// keys come at one of the usual rates, they may be rounded more: a 60th of a second is written `0.017`. In that case,
/// the frames are more accurate than the times.
pub(super) fn grid(times: &[f64], duration: f64, most: usize) -> Option<usize> {
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
pub(super) struct Levers {
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
    pub(super) fn new(model: &Model) -> Self {
        let skeleton = &model.skeleton;
        let parents: Vec<Option<usize>> = skeleton.parents().iter().map(|p| p.map(usize::from)).collect();
        let rest = skeleton.rest_model();
        let origin = |joint: usize| Vec3::from(rest[joint].translation);
        let mut lever = vec![0f32; skeleton.len()];
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for part in &model.parts {
            for (&position, influences) in part.positions.iter().zip(&part.influences) {
                (low, high) = (low.min(position), high.max(position));
                for (slot, _) in part.combined_joints.resolve(part.palette.len(), *influences) {
                    let joint = usize::from(part.palette[slot]);
                    lever[joint] = lever[joint].max(position.distance(origin(joint)));
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
    pub(super) fn size(&self) -> f32 {
        self.size
    }

    /// Returns a bound on the error of nlerp against slerp between any two adjacent frames.
    pub(super) fn nlerp_error(&self, transforms: &[JointTransform]) -> f32 {
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

    /// Returns the error of frames against the channels: the largest distance between the corners of each joint's box of
    /// skin, at all keys and where nlerp is worst. Vertices are means of points in these boxes.
    pub(super) fn measured_error(
        &self,
        motions: &[Motion],
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
        let stride = (times.len() * joints).div_ceil(super::resample::MAX_TRANSFORMS).max(1);
        let at_keys = times.iter().copied().filter(|time| *time >= 0.0).step_by(stride);
        let mut moments: Vec<f64> = within.chain(at_keys).collect();
        moments.sort_unstable_by(f64::total_cmp);

        let mut poses = vec![[Affine3A::IDENTITY; 2]; joints];
        let mut worst = 0f32;
        for time in moments {
            let step = ((time * per_step) as usize).min(steps - 1);
            let share = (time * per_step - step as f64) as f32;
            for joint in 0..joints {
                let mut locals = [self.rest[joint]; 2];
                if !motions[joint].is_still() {
                    let (from, to) = (&transforms[step * joints + joint], &transforms[(step + 1) * joints + joint]);
                    locals[0] = motions[joint].at(time);
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
