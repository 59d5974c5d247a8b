//! Turns the keys of all joints into frames of a clip.
//!
//! Every joint has keys at times of its own; a frame holds all joints. So there is a frame at the time of each key,
//! and two where a joint steps from one value to another. Between keys, a file means lerp for translation and scale,
//! and slerp for rotation; between frames, a clip uses lerp and nlerp. That is the only error, at most 0.005·θ³ for a
//! rotation of θ (up to 180°), and where it moves the skin too far, more frames are put between two keys.
//!
//! Frames that turn out evenly spaced need no times, which makes them faster to sample. Keys are moved to make them
//! so only by less than the rounding of their own times, or as far as the error allows.

use crate::model::{BoundingBox, JointTransform, Model};
use glam::{Quat, Vec3};

/// The keys of one joint, in order of time. Two at one time are a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    times: Vec<f64>,
    keys: Vec<JointTransform>,
    steps: Vec<f64>,
}

impl Curve {
    pub(super) fn with_capacity(keys: usize) -> Self {
        Self { times: Vec::with_capacity(keys), keys: Vec::with_capacity(keys), steps: Vec::new() }
    }

    /// Adds a key, not earlier than those before it. Of several keys at one time, the first and the last count.
    pub(super) fn push(&mut self, time: f64, key: JointTransform) {
        if self.times.last() == Some(&time) {
            if self.steps.last() == Some(&time) {
                self.times.pop();
                self.keys.pop();
            } else if self.keys.last() == Some(&key) {
                return;
            } else {
                self.steps.push(time);
            }
        }
        self.times.push(time);
        self.keys.push(key);
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the transform at a moment. `at` is the key to start from, 0 at first and left where the next call, for
    /// a later moment, can start.
    fn sample(&self, Moment { time, after_step }: Moment, at: &mut usize) -> JointTransform {
        while self.times.get(*at + 1).is_some_and(|&next| next < time || (after_step && next == time)) {
            *at += 1;
        }
        match self.times.get(*at + 1) {
            Some(&next) if self.times[*at] < time && time < next => {
                let share = (time - self.times[*at]) / (next - self.times[*at]);
                self.keys[*at].between(&self.keys[*at + 1], share as f32)
            }
            Some(&next) if self.times[*at] < time && time == next => self.keys[*at + 1],
            _ => self.keys[*at],
        }
    }
}

/// A time of a clip, before or after a step at this time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment {
    time: f64,
    after_step: bool,
}

/// Frames made from curves.
#[derive(Debug)]
pub(super) struct Sampled {
    /// Frame by frame, one transform per curve; identity for empty curves.
    pub(super) transforms: Vec<JointTransform>,
    /// Seconds of each frame; empty if they are evenly spaced.
    pub(super) times: Vec<f64>,
    /// Seconds from the first frame to the last.
    pub(super) duration: f64,
    /// A bound on the distance of the skin from its place according to the keys, in model units.
    pub(super) error: f64,
}

/// Makes frames of `curves`, which are in the order of the skeleton's joints, with an error of at most `bound`, in
/// model units, if `most` transforms suffice for it.
///
/// # Errors
/// Not even a frame at each key fits into `most` transforms. Returns how many frames that would be.
pub(super) fn resample(curves: &[Curve], skin: &Skin, bound: f64, most: usize) -> Result<Sampled, usize> {
    let moments = moments(curves);
    let joints = curves.len();
    let most = most / joints;
    if moments.len() > most {
        return Err(moments.len());
    }
    let duration = moments[moments.len() - 1].time;
    let mut keyed = vec![JointTransform::IDENTITY; moments.len() * joints];
    for (joint, curve) in curves.iter().enumerate().filter(|(_, curve)| !curve.is_empty()) {
        let mut at = 0;
        for (frame, &moment) in keyed.chunks_exact_mut(joints).zip(&moments) {
            frame[joint] = curve.sample(moment, &mut at);
        }
    }
    if duration == 0.0 {
        keyed.truncate(joints);
        return Ok(Sampled { transforms: keyed, times: Vec::new(), duration, error: 0.0 });
    }

    let pairs = keyed.windows(2 * joints).step_by(joints).zip(moments.windows(2));
    let motion = |(pair, ends): (&[JointTransform], &[Moment])| {
        if ends[0].time < ends[1].time { skin.motion(curves, pair) } else { Motion::default() }
    };
    let motions: Vec<Motion> = pairs.map(motion).collect();
    let mut cuts = cuts(&motions, bound, most);
    let error = |cuts: &[usize], shift: f64| {
        let of = |(motion, cuts): (&Motion, &usize)| motion.bend / (*cuts as f64).powi(3) + 2.0 * shift * motion.path;
        // Not `max`, which ignores NaN.
        motions.iter().zip(cuts).map(of).fold(0.0, |worst, error| if error <= worst { worst } else { error })
    };
    let even = vec![cuts.iter().copied().max().unwrap_or(1); cuts.len()];
    let frames = |cuts: &[usize]| cuts.iter().sum::<usize>() + 1;
    let shift = shift(&moments).filter(|&shift| error(&even, shift) <= bound.max(error(&cuts, 0.0)));
    let even_shift = shift.filter(|_| frames(&even) <= most.min(2 * frames(&cuts)));
    if even_shift.is_some() {
        cuts = even;
    }

    let error = error(&cuts, even_shift.unwrap_or(0.0));
    let mut times = Vec::with_capacity(frames(&cuts));
    for (ends, &cuts) in moments.windows(2).zip(&cuts) {
        let [from, to] = [ends[0].time, ends[1].time];
        times.extend((0..cuts).map(|cut| from + (to - from) * cut as f64 / cuts as f64));
    }
    times.push(duration);
    let transforms = if times.len() == moments.len() { keyed } else { between(&keyed, joints, &cuts) };
    if even_shift.is_some() {
        times.clear();
    }
    Ok(Sampled { transforms, times, duration, error })
}

/// The moments at which any joint has a key, from 0 on.
fn moments(curves: &[Curve]) -> Vec<Moment> {
    let longest = curves.iter().max_by_key(|curve| curve.times.len());
    let mut times = longest.map(|curve| curve.times.clone()).unwrap_or_default();
    let base = times.len();
    for curve in curves {
        // Usually a joint has keys at the same times as the others, or lacks the last ones.
        if !times[..base].starts_with(&curve.times) {
            times.extend(&curve.times);
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let at = |after_step: bool| move |time| Moment { time, after_step };
    let mut moments = vec![Moment { time: 0.0, after_step: false }];
    moments.extend(times.into_iter().filter(|time| *time > 0.0).map(at(false)));
    let steps = curves.iter().flat_map(|curve| &curve.steps).filter(|time| **time >= 0.0);
    // Adding 0 takes the sign from −0.
    moments.extend(steps.map(|time| time + 0.0).map(at(true)));
    moments.sort_unstable_by(|a, b| a.time.total_cmp(&b.time).then(a.after_step.cmp(&b.after_step)));
    moments.dedup();
    moments
}

/// Returns into how many pieces to cut the motion from each frame to the next, so that none is off by more than
/// `bound`, or by as little as `most` frames allow.
fn cuts(motions: &[Motion], mut bound: f64, most: usize) -> Vec<usize> {
    // Some of it is left for moving frames.
    bound *= 0.9;
    loop {
        // Rotations that are k times smaller have errors that are k³ times smaller.
        let cuts = |motion: &Motion| (motion.bend / bound).cbrt().ceil().clamp(1.0, most as f64) as usize;
        // NaN becomes 0.
        let cuts: Vec<usize> = motions.iter().map(|motion| cuts(motion).max(1)).collect();
        if cuts.iter().sum::<usize>() < most {
            return cuts;
        }
        // Half as many.
        bound *= 8.0;
    }
}

/// Returns how far the moments are from evenly spaced, in units of their distance, or `None` if they cannot be made
/// so. Times are as exact as single precision, or as seven digits.
fn shift(moments: &[Moment]) -> Option<f64> {
    let last = moments.len() - 1;
    let duration = moments[last].time;
    let step = duration / last as f64;
    let rounding = f64::from(f32::EPSILON) * duration.max(1.0);
    let off = |(at, moment): (usize, &Moment)| (moment.time - duration * at as f64 / last as f64).abs();
    let farthest = moments.iter().enumerate().map(off).fold(0.0, f64::max);
    let shift = (farthest - rounding).max(0.0) / step;
    // Where steps are as small as the rounding, any times would fit.
    (step > 50.0 * rounding && shift < 0.25 && !moments.iter().any(|moment| moment.after_step)).then_some(shift)
}

/// Returns the frames with those added that cut each motion into `cuts`.
fn between(frames: &[JointTransform], joints: usize, cuts: &[usize]) -> Vec<JointTransform> {
    let mut out = Vec::with_capacity((cuts.iter().sum::<usize>() + 1) * joints);
    for (pair, &cuts) in frames.windows(2 * joints).step_by(joints).zip(cuts) {
        let (from, to) = pair.split_at(joints);
        out.extend_from_slice(from);
        for cut in 1..cuts {
            let share = (cut as f64 / cuts as f64) as f32;
            out.extend(from.iter().zip(to).map(|(from, to)| from.between(to, share)));
        }
    }
    out.extend_from_slice(&frames[frames.len() - joints..]);
    out
}

/// How the skin moves from one frame to the next, in model units.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    /// How far any point is off halfway if rotations are interpolated by nlerp instead of slerp.
    bend: f64,
    /// How long the path of any point is.
    path: f64,
}

/// How far the skin extends from the joints.
pub(super) struct Skin {
    parents: Vec<Option<usize>>,
    /// Per joint, the distance of its farthest vertex, in joint space.
    radius: Vec<f64>,
    /// The rest pose, for joints that a clip doesn't move.
    rest: Vec<JointTransform>,
    size: f64,
}

impl Skin {
    pub(super) fn new(model: &Model) -> Self {
        let skeleton = &model.skeleton;
        let mut bounds = skeleton.rest_model().iter().map(|joint| BoundingBox::point(joint.translation.into()));
        let first = bounds.next().unwrap_or(BoundingBox::point(Vec3::ZERO));
        let positions = model.parts.iter().flat_map(|part| &part.positions);
        let all = bounds.chain(positions.map(|&at| BoundingBox::point(at))).fold(first, BoundingBox::union);
        let size = (all.max.as_dvec3() - all.min.as_dvec3()).length();
        let mut radius = vec![0.0_f64; skeleton.len()];
        for part in &model.parts {
            for (&joint, bounds) in part.palette.iter().zip(part.joint_boxes(skeleton.inverse_bind())) {
                let farthest = bounds.map_or(0.0, |bounds| bounds.min.abs().max(bounds.max.abs()).as_dvec3().length());
                radius[usize::from(joint)] = radius[usize::from(joint)].max(farthest);
            }
        }
        Self {
            parents: skeleton.parents().iter().map(|parent| parent.map(usize::from)).collect(),
            radius,
            rest: skeleton.joints().map(|joint| skeleton.rest_of(joint)).collect(),
            size: if size > 0.0 { size } else { 1.0 },
        }
    }

    /// Returns the model's size: the diagonal of the box around its vertices and joints at rest.
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// Returns bounds on the motion from one frame to the next, both in `pair`.
    fn motion(&self, curves: &[Curve], pair: &[JointTransform]) -> Motion {
        let joints = self.parents.len();
        // In the space of each joint: how far points of the skin below it are from it, and how they move.
        let mut below: Vec<(f64, Motion)> = self.radius.iter().map(|&radius| (radius, Motion::default())).collect();
        let mut model = Motion::default();
        for joint in (0..joints).rev() {
            let (reach, Motion { bend, path }) = below[joint];
            let still = curves[joint].is_empty();
            let [from, to] = [0, joints].map(|frame| if still { self.rest[joint] } else { pair[frame + joint] });
            let distance = |a: Vec3, b: Vec3| (a.as_dvec3() - b.as_dvec3()).length();
            let far = distance(from.translation, Vec3::ZERO).max(distance(to.translation, Vec3::ZERO));
            let scale = f64::from(from.scale.abs().max(to.scale.abs()).max_element());
            let turn = angle(from.rotation, to.rotation);
            let moved = Motion {
                bend: scale * (bend + 0.005 * turn * turn * turn * reach),
                path: scale * (path + turn * reach)
                    + f64::from((from.scale - to.scale).abs().max_element()) * reach
                    + distance(from.translation, to.translation),
            };
            let above = self.parents[joint].map(|parent| &mut below[parent]);
            let all = above.map_or(&mut model, |(above, motion)| {
                *above = above.max(far + scale * reach);
                motion
            });
            *all = Motion { bend: all.bend.max(moved.bend), path: all.path.max(moved.path) };
        }
        model
    }
}

/// Returns the smaller angle between two unit rotations.
fn angle(a: Quat, b: Quat) -> f64 {
    // Computed from the chord, which is accurate for small angles, unlike the cosine.
    let chord = (a - b).length_squared().min((a + b).length_squared()).sqrt();
    4.0 * f64::from(chord * 0.5).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift_of(times: impl IntoIterator<Item = f64>) -> Option<f64> {
        shift(&times.into_iter().map(|time| Moment { time, after_step: false }).collect::<Vec<_>>())
    }

    #[test]
    fn evenly_spaced_times_are_recognized_up_to_rounding() {
        let printed = |digits: f64| (0..76).map(move |k| (f64::from(k) / 60.0 * digits).trunc() / digits);
        assert_eq!(shift_of(printed(1e7)), Some(0.0));
        let rounded = shift_of(printed(1e4)).unwrap();
        assert!(rounded > 0.003 && rounded < 0.005, "a ten-thousandth of a second: {rounded}");
        assert_eq!(shift_of((0..4000).map(|k| f64::from((f64::from(k) / 60.0) as f32))), Some(0.0));
        assert_eq!(shift_of([0.0, 0.1234, 0.2718, 0.577, 1.0]), None);
        assert_eq!(shift_of([0.0, 1e-8, 2e-8]), None);
    }

    #[test]
    fn of_several_keys_at_one_time_the_first_and_the_last_count() {
        let key = |x: f32| JointTransform::new(Vec3::X * x, Quat::IDENTITY);
        let mut curve = Curve::default();
        for (time, x) in [(0.0, 0.0), (1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (2.0, 4.0), (2.0, 4.0)] {
            curve.push(time, key(x));
        }
        let at = |time, after_step| curve.sample(Moment { time, after_step }, &mut 0).translation.x;
        assert_eq!([at(0.5, false), at(1.0, false), at(1.0, true), at(1.5, false)], [0.5, 1.0, 3.0, 3.5]);
        assert_eq!([at(-1.0, false), at(2.0, false), at(2.0, true), at(9.0, false)], [0.0, 4.0, 4.0, 4.0]);
        assert_eq!((curve.len(), moments(&[curve]).len()), (4, 4));
    }

    #[test]
    fn the_bound_on_nlerp_holds_for_every_turn() {
        for degrees in [5.0f32, 30.0, 90.0, 150.0, 179.0] {
            let turn = degrees.to_radians();
            let (from, to) = (Quat::IDENTITY, Quat::from_rotation_y(turn));
            let error = (0..=100).map(|i| angle(from.lerp(to, i as f32 / 100.0), from.slerp(to, i as f32 / 100.0)));
            let worst = error.fold(0.0, f64::max);
            let bound = 0.005 * f64::from(turn).powi(3);
            assert!(worst <= bound + 1e-6, "{degrees}°: {worst} > {bound}");
            assert!(degrees < 30.0 || worst > 0.5 * bound, "{degrees}°: {bound} is far above {worst}");
        }
    }
}
