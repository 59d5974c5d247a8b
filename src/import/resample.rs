//! Turns the keys of all joints into frames of a clip.
//!
//! Every joint has its own key times, but a frame holds all joints. So there is a frame at the time
//! of each key, and two where a joint steps from one value to another. Between keys, a file means
//! lerp for translation and scale, and slerp for rotation; between frames, a clip uses lerp and
//! nlerp. That is the only error, at most 0.005·θ³ for a rotation of θ (up to 180°), and where it
//! moves the skin too far, more frames are inserted between two keys. The same is done where a
//! spline leaves its chord too far, which is measured: a stretch that bends here more and there less is halved, and each half gets
//! the frames that it takes.
//!
//! If joints have keys at different times, that would be too many frames. Such a clip gets
//! evenly spaced ones: enough to stay within the same bound, which is measured, too, or as many as
//! the budget allows. So it does if half as many are enough.
//!
//! Frames that turn out evenly spaced need no times, which makes them faster to sample. To make
//! them so, keys are moved by no more than the rounding of their own times, or as far as the error
//! allows.

mod curve;
mod even;
#[cfg(feature = "gltf")]
mod given;
mod measure;
mod skin;
mod spans;

pub(super) use curve::Curve;
#[cfg(feature = "gltf")]
pub(super) use given::{Frames, key_times};
pub use skin::CLIP_ERROR;
pub(super) use skin::Skin;

use crate::model::{ClipFrames, ClipTiming, JointTransform, RawClip, SoaTransform};
use curve::{Moment, moments, sample};
use skin::Motion;
use spans::Spans;
use std::sync::Arc;

/// Transforms that the clips of a file may have, however few keys it has (2.6 MB).
const FEW_TRANSFORMS: usize = 1 << 16;

/// Most transforms per key: a frame has one for each joint, even if only one of them has a key. Skeletons of no more joints get a
/// frame at each key, wherever it is.
const TRANSFORMS_PER_KEY: usize = 128;

/// Most transforms of all clips together (168 MB), unless there are almost as many keys.
const MOST_TRANSFORMS: usize = 1 << 22;

/// Transforms per key that any number of keys may have.
const DENSE_TRANSFORMS_PER_KEY: usize = 8;

/// Transforms per key from which there is a warning about the memory of a large clip.
const COSTLY_TRANSFORMS_PER_KEY: usize = 8;

/// The hint for clips that are too large.
pub(super) const SAME_TIMES: &str = "put the keys of all joints at the same times";

/// Transforms that the clips of a file may have: some for each of its keys, so that a small file cannot take much memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Budget {
    keys: usize,
    spent: usize,
}

impl Budget {
    /// Adds the keys of one or more clips, before these are sampled.
    pub(super) fn add_keys(&mut self, keys: usize) {
        self.keys += keys;
    }

    /// The budget if no other clip had spent anything, which is a first guess where several are sampled at once.
    pub(super) fn unspent(&self) -> Self {
        Self { spent: 0, ..*self }
    }

    /// Spends the transforms of a clip that was sampled with [`unspent`](Self::unspent), unless it would have come out otherwise
    /// with this budget.
    pub(super) fn spend(&mut self, sampled: &Spent) -> bool {
        // It has as many frames as its keys take, and would only have fewer if there wasn't room for these. A clip without
        // duration needs room for a step.
        let is_same = !sampled.is_thinned && sampled.frames.max(2) <= self.frames(sampled.joints);
        if is_same {
            self.spent += sampled.transforms();
        }
        is_same
    }

    /// Returns the number of frames of this many joints for which the budget has room.
    pub(super) fn frames(&self, joints: usize) -> usize {
        let few = MOST_TRANSFORMS
            .min(TRANSFORMS_PER_KEY.saturating_mul(self.keys))
            .max(FEW_TRANSFORMS);
        (few.max(DENSE_TRANSFORMS_PER_KEY.saturating_mul(self.keys)) - self.spent) / joints
    }

    /// Returns the number of frames that a clip with this many keys may have, so that others get
    /// their share, too.
    fn share(&self, keys: usize, joints: usize) -> usize {
        let own = TRANSFORMS_PER_KEY.saturating_mul(keys).max(FEW_TRANSFORMS);
        self.frames(joints).min(own / joints)
    }
}

/// What a clip takes of a [`Budget`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    frames: usize,
    joints: usize,
    is_thinned: bool,
}

impl Spent {
    pub(super) fn transforms(&self) -> usize {
        self.frames * self.joints
    }
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
    /// Set if there is no frame at each key.
    pub(super) thinned: Option<Thinned>,
}

/// Details of a clip that lost the times of its keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thinned {
    /// Different times of keys.
    pub(super) moments: usize,
    /// Seconds that steps take.
    pub(super) ramp: f64,
}

impl Sampled {
    /// What it took of a budget, with this many joints.
    pub(super) fn spent(&self, joints: usize) -> Spent {
        Spent {
            frames: self.transforms.len() / joints,
            joints,
            is_thinned: self.thinned.is_some(),
        }
    }

    /// Returns a message and a hint if the clip is less exact than it should be, or takes far more memory than its keys.
    pub(super) fn doubts(
        &self,
        name: &str,
        curves: &[Curve],
        skin: &Skin,
    ) -> Option<(String, &'static str)> {
        let share = self.error / skin.size() * 100.0;
        if let Some(Thinned { moments, ramp }) = self.thinned
            && (self.error > skin.bound() || ramp > 0.0)
        {
            let frames = self.transforms.len() / curves.len();
            let mut message = format!(
                "clip `{name}` has keys at {moments} different times, which became {frames} frames: the skin is off by up to \
                 {share:.2} % of the model's size"
            );
            if ramp > 0.0 {
                message += &format!(", and steps take {:.1} ms", ramp * 1e3);
            }
            return Some((message, SAME_TIMES));
        }
        if self.error > skin.bound() {
            let message = format!(
                "clip `{name}` turns so far between keys that the skin is off by up to {share:.2} % of the model's size"
            );
            return Some((message, "add keys within the turns"));
        }
        let (keys, transforms) = (
            curves.iter().map(Curve::len).sum::<usize>(),
            self.transforms.len(),
        );
        if transforms < FEW_TRANSFORMS || transforms < COSTLY_TRANSFORMS_PER_KEY * keys {
            return None;
        }
        let megabytes = (transforms * size_of::<SoaTransform>() / 4) as f64 / 1e6;
        let message = format!(
            "clip `{name}` takes about {megabytes:.0} MB: its {keys} keys become {} frames of all {} joints",
            transforms / curves.len(),
            curves.len()
        );
        Some((message, SAME_TIMES))
    }

    /// Sets the clip's length, which is hardly different, and moves steps a hair ahead, so that at their very time the later
    /// frame counts, as in glTF.
    pub(super) fn finish(&mut self, duration: f64) {
        let end = self.duration.min(duration);
        self.times
            .iter_mut()
            .filter(|time| **time >= end)
            .for_each(|time| *time = duration);
        self.duration = duration;
        for at in 1..self.times.len() {
            let time = self.times[at];
            if time == self.times[at - 1] && 0.0 < time && time < self.duration {
                self.times[at - 1..=at].fill(time.next_down());
            }
        }
    }

    /// Makes a clip for joints with these names.
    pub(super) fn into_clip(
        self,
        name: String,
        joints: &Arc<[Arc<str>]>,
        curves: &[Curve],
    ) -> RawClip {
        let frames = ClipFrames {
            joints: joints.clone(),
            animated: curves.iter().map(|curve| !curve.is_empty()).collect(),
            transforms: self.transforms,
        };
        let mut raw = RawClip::new(ClipTiming::new(name, self.duration), frames, self.times);
        // An artist doesn't count in frames that were chosen here.
        raw.rate = raw.rate.filter(|_| self.thinned.is_none());
        raw
    }
}

/// Makes frames of `curves`, which are in the order of the skeleton's joints, within [`CLIP_ERROR`] if the budget
/// suffices for it. The clip lasts until the last key, or until `end` if that is later. `None` if the budget doesn't even
/// suffice for two frames.
pub(super) fn resample(
    curves: &[Curve],
    end: f64,
    skin: &Skin,
    budget: &mut Budget,
) -> Option<Sampled> {
    let moments = moments(curves, end);
    let joints = curves.len();
    let (bound, most) = (skin.bound(), budget.frames(joints));
    if moments.len() > most {
        return even::sample_evenly(curves, &moments, skin, budget);
    }
    let duration = moments[moments.len() - 1].time;
    let mut keyed = sample(curves, &moments);
    if duration == 0.0 {
        keyed.truncate(joints);
        budget.spent += keyed.len();
        return Some(Sampled {
            transforms: keyed,
            times: Vec::new(),
            duration,
            error: 0.0,
            thinned: None,
        });
    }

    let mut spans = Spans::new(curves, skin, moments, keyed);
    let mut cuts = self::cuts(&spans.motions, bound, most);
    // With the same number of cuts everywhere, frames may come out evenly spaced.
    let even = vec![cuts.iter().copied().max().unwrap_or(1); cuts.len()];
    let shift = shift(&spans.moments)
        .filter(|&shift| spans.error(&even, shift) <= bound.max(spans.error(&cuts, 0.0)));
    let halved = (curves.iter().any(|curve| curve.spline.is_some()))
        .then(|| spans.halved(curves, skin, bound, most))
        .filter(|halved| halved.motions.len() > spans.motions.len())
        .map(|halved| (self::cuts(&halved.motions, bound, most), halved));
    let frames = |cuts: &[usize]| cuts.iter().sum::<usize>() + 1;
    let fewest = frames(halved.as_ref().map_or(&cuts, |(cuts, _)| cuts));
    // These are faster to sample, and MD5 has no others, so there may be up to twice as many: of steep splines, a third more.
    let most_even = match halved {
        Some(_) => fewest + fewest / 3,
        None => 2 * fewest,
    };
    let even_shift = shift.filter(|_| frames(&even) <= most.min(most_even));
    if even_shift.is_some() {
        cuts = even;
    } else if let Some(halved) = halved {
        (cuts, spans) = halved;
    }

    // Where joints have keys at times of their own, or splines bend here more and there less, fewer frames may be enough.
    let longest = curves.iter().map(Curve::len).max().unwrap_or(0);
    let numbers = [longest, frames(&cuts) / 2];
    if numbers[0] < numbers[1] {
        let fewer = even::sample_up_to(numbers, bound, curves, &spans.moments, skin, budget);
        if fewer.is_some() {
            return fewer;
        }
    }

    let error = spans.error(&cuts, even_shift.unwrap_or(0.0));
    let (mut times, transforms) = spans.cut(curves, &cuts);
    budget.spent += transforms.len();
    if even_shift.is_some() {
        times.clear();
    }
    Some(Sampled {
        transforms,
        times,
        duration,
        error,
        thinned: None,
    })
}

/// Returns into how many pieces to cut the motion from each frame to the next, so that none is off by more than
/// `bound`, or by as little as `most` frames allow.
fn cuts(motions: &[Motion], mut bound: f64, most: usize) -> Vec<usize> {
    // Some of it is left for moving frames.
    bound *= 0.9;
    loop {
        let cuts = |motion: &Motion| motion.cuts(bound).min(most);
        let cuts: Vec<usize> = motions.iter().map(cuts).collect();
        if cuts.iter().sum::<usize>() < most {
            return cuts;
        }
        // Errors of rotations decrease with the cube of the number of cuts, so this halves it.
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
    let off =
        |(at, moment): (usize, &Moment)| (moment.time - duration * at as f64 / last as f64).abs();
    let farthest = moments.iter().enumerate().map(off).fold(0.0, f64::max);
    let shift = (farthest - rounding).max(0.0) / step;
    // Where steps are as small as the rounding, any times would fit.
    (step > 50.0 * rounding && shift < 0.25 && !moments.iter().any(|moment| moment.after_step))
        .then_some(shift)
}

#[cfg(test)]
#[path = "tests/resample.rs"]
mod tests;
