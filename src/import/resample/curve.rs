//! The motion of a joint: keys at its own times.

use crate::model::JointTransform;

/// The keys of one joint, in order of time. Two at one time are a step.
#[derive(Default)]
pub(in crate::import) struct Curve {
    pub(super) times: Vec<f64>,
    keys: Vec<JointTransform>,
    pub(super) steps: Vec<f64>,
    /// The joint's transform at a time between two keys, if it isn't interpolated along a line and
    /// an arc.
    pub(in crate::import) spline: Option<Box<dyn Fn(f64) -> JointTransform + Send + Sync>>,
}

impl Curve {
    pub(in crate::import) fn with_capacity(keys: usize) -> Self {
        Self {
            times: Vec::with_capacity(keys),
            keys: Vec::with_capacity(keys),
            ..Self::default()
        }
    }

    /// Adds a key, not earlier than those before it. Of several keys at one time, the first and the last count.
    pub(in crate::import) fn push(&mut self, time: f64, key: JointTransform) {
        if self.times.last() == Some(&time) {
            // The second of three keys at one time doesn't count.
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

    pub(in crate::import) fn len(&self) -> usize {
        self.times.len()
    }

    pub(in crate::import) fn keys(&self) -> &[JointTransform] {
        &self.keys
    }

    /// Returns the time of the last key, 0 if there is none.
    #[cfg(feature = "gltf")]
    pub(in crate::import) fn end(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    pub(in crate::import) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the transform at a moment. `at` is the key to start from, 0 at first and left where the next call, for
    /// a later moment, can start.
    pub(super) fn sample(
        &self,
        Moment { time, after_step }: Moment,
        at: &mut usize,
    ) -> JointTransform {
        while self
            .times
            .get(*at + 1)
            .is_some_and(|&next| next < time || (after_step && next == time))
        {
            *at += 1;
        }
        match self.times.get(*at + 1) {
            Some(&next) if self.times[*at] < time && time < next => {
                if let Some(spline) = &self.spline {
                    return spline(time);
                }
                let share = (time - self.times[*at]) / (next - self.times[*at]);
                self.keys[*at].between(&self.keys[*at + 1], share as f32)
            }
            Some(&next) if self.times[*at] < time && time == next => self.keys[*at + 1],
            _ => self.keys[*at],
        }
    }
}

/// Returns frames at some moments, in order, with a transform per curve: the identity for empty ones.
pub(super) fn sample(curves: &[Curve], moments: &[Moment]) -> Vec<JointTransform> {
    let joints = curves.len();
    let mut frames = vec![JointTransform::IDENTITY; moments.len() * joints];
    for (joint, curve) in curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| !curve.is_empty())
    {
        let mut at = 0;
        for (frame, &moment) in frames.chunks_exact_mut(joints).zip(moments) {
            frame[joint] = curve.sample(moment, &mut at);
        }
    }
    frames
}

/// A time of a clip, before or after a step at this time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) time: f64,
    pub(super) after_step: bool,
}

/// The moments at which any joint has a key, from 0 on, and the end of the clip.
pub(super) fn moments(curves: &[Curve], end: f64) -> Vec<Moment> {
    let longest = curves.iter().max_by_key(|curve| curve.times.len());
    let mut times = longest.map(|curve| curve.times.clone()).unwrap_or_default();
    let base = times.len();
    for curve in curves {
        // Usually a joint has keys at the same times as the others, or lacks the last ones.
        if !times[..base].starts_with(&curve.times) {
            times.extend(&curve.times);
        }
    }
    times.push(end);
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let at = |after_step: bool| move |time| Moment { time, after_step };
    let mut moments = vec![Moment {
        time: 0.0,
        after_step: false,
    }];
    moments.extend(times.into_iter().filter(|time| *time > 0.0).map(at(false)));
    let steps = curves
        .iter()
        .flat_map(|curve| &curve.steps)
        .filter(|time| **time >= 0.0);
    // Adding 0 takes the sign from −0.
    moments.extend(steps.map(|time| time + 0.0).map(at(true)));
    moments.sort_unstable_by(|a, b| {
        a.time
            .total_cmp(&b.time)
            .then(a.after_step.cmp(&b.after_step))
    });
    moments.dedup();
    moments
}

#[cfg(test)]
#[path = "tests/curve.rs"]
mod tests;
