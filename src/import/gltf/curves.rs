//! Channels: how a joint moves according to the file, by the formulas of the glTF specification.

use crate::{
    import::{
        keys::{Between, KeyTrack},
        nodes::Local,
        resample::Curve,
    },
    model::JointTransform,
};
use glam::{DQuat, DVec4, Vec3};

/// Values over time. Vectors have a `w` of 0.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) keys: KeyTrack<DVec4>,
    pub(super) is_rotation: bool,
}

impl Channel {
    /// Returns `true` if the channel has values that it jumps from, or to.
    fn jumps(&self) -> bool {
        let times = &self.keys.times;
        let steps = self.keys.between == Between::Step && times.len() > 1;
        steps || times.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Returns the value at a time, before or after a step right there. `next` is the first key that isn't past by then.
    fn sample(&self, next: usize, time: f64, after_step: bool) -> DVec4 {
        if !self.is_rotation {
            let line = |from, to, t| from + (to - from) * t;
            return self.keys.sample(next, time, after_step, line);
        }
        let mut is_arc = false;
        let out = self.keys.sample(next, time, after_step, |from, to, t| {
            is_arc = true;
            // The shorter way around, as the specification demands.
            DVec4::from(DQuat::from_vec4(from).slerp(DQuat::from_vec4(to), t))
        });
        // Splines don't keep the length of quaternions, and can pass through zero.
        match is_arc {
            true => out,
            false => out.try_normalize().unwrap_or(DVec4::W),
        }
    }

    /// Samples at times that only increase. `next` is the first key that isn't past yet, 0 at first.
    fn sample_next(&self, time: f64, after_step: bool, next: &mut usize) -> DVec4 {
        let is_past = |&key: &f64| key < time || (after_step && key == time);
        while self.keys.times.get(*next).is_some_and(is_past) {
            *next += 1;
        }
        self.sample(*next, time, after_step)
    }
}

/// The motion of a joint relative to its parent. A property without a channel is at rest.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) rest: Local,
    pub(super) translation: Option<Channel>,
    pub(super) rotation: Option<Channel>,
    pub(super) scale: Option<Channel>,
    /// It is hidden, at a scale of zero, while any of these is zero.
    pub(super) switches: Vec<Channel>,
}

impl Motion {
    pub(super) fn still(rest: Local) -> Self {
        Self {
            rest,
            translation: None,
            rotation: None,
            scale: None,
            switches: Vec::new(),
        }
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = &Channel> {
        [&self.translation, &self.rotation, &self.scale]
            .into_iter()
            .flatten()
            .chain(&self.switches)
    }

    /// Returns `true` if the joint doesn't move.
    pub(super) fn is_still(&self) -> bool {
        self.channels().next().is_none()
    }

    /// Returns the transform at a time, before or after a step right there.
    fn at(&self, time: f64, after_step: bool) -> JointTransform {
        self.sampled(|channel, _| {
            channel.sample(channel.keys.next(time, after_step), time, after_step)
        })
    }

    /// Returns the transform of values that `sample` gives for a channel and its index.
    fn sampled(&self, mut sample: impl FnMut(&Channel, usize) -> DVec4) -> JointTransform {
        let mut value = |channel: &Option<Channel>, index| {
            channel.as_ref().map(|channel| sample(channel, index))
        };
        let local = Local {
            translation: value(&self.translation, 0).map_or(self.rest.translation, DVec4::truncate),
            rotation: value(&self.rotation, 1).map_or(self.rest.rotation, DQuat::from_vec4),
            scale: value(&self.scale, 2).map_or(self.rest.scale, DVec4::truncate),
        };
        let mut out = local.to_transform();
        for (at, switch) in self.switches.iter().enumerate() {
            if sample(switch, 3 + at).x == 0.0 {
                out.scale = Vec3::ZERO;
            }
        }
        out
    }

    /// Returns a curve with a key at the time of each key of any channel, and two where a channel steps.
    pub(super) fn into_curve(self) -> Curve {
        let mut times: Vec<f64> = Vec::new();
        for channel in self.channels() {
            // Usually they have keys at the same times.
            if times != channel.keys.times {
                times.extend(&channel.keys.times);
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        let steps = self.channels().any(Channel::jumps);
        let splines = self
            .channels()
            .any(|channel| channel.keys.between == Between::Cubic && channel.keys.times.len() > 1);
        let mut curve = Curve::with_capacity(times.len());
        let mut next = vec![0; 3 + self.switches.len()];
        let mut at = |time, after_step| {
            self.sampled(|channel, index| channel.sample_next(time, after_step, &mut next[index]))
        };
        for time in times {
            // Nothing is shown before the beginning.
            if steps && time > 0.0 {
                curve.push(time, at(time, false));
            }
            curve.push(time, at(time, true));
        }
        if splines {
            curve.spline = Some(Box::new(move |time| self.at(time, true)));
        }
        curve
    }
}

#[cfg(test)]
#[path = "tests/curves.rs"]
mod tests;
