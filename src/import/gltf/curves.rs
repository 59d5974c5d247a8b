//! Channels: how a joint moves according to the file, by the formulas of the glTF specification.

use super::rig::Local;
use crate::{import::m3d::resample::Keyed, model::JointTransform};
use glam::{DQuat, DVec4};

/// What happens between two keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Between {
    /// A straight line, or the shorter arc between rotations.
    Linear,
    /// The value of the earlier key.
    Step,
    /// A cubic Hermite spline through three values per key: tangent in, value, tangent out.
    Cubic,
    /// A straight line, also between rotations: what the frames of a clip make of a step.
    Chord,
}

/// Values over time. Vectors have a `w` of 0.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// At least one, strictly increasing.
    pub(super) times: Vec<f64>,
    /// One per time, or three for splines.
    pub(super) values: Vec<DVec4>,
    pub(super) between: Between,
    pub(super) is_rotation: bool,
}

impl Channel {
    /// The value at a time. Before the first key and after the last it is theirs.
    pub(super) fn sample(&self, time: f64) -> DVec4 {
        let spline = self.between == Between::Cubic;
        let value = |key: usize| if spline { self.values[key * 3 + 1] } else { self.values[key] };
        let next = self.times.partition_point(|&key| key <= time);
        let out = if next == 0 || next == self.times.len() || self.between == Between::Step {
            value(next.saturating_sub(1))
        } else {
            let (from, to) = (value(next - 1), value(next));
            let length = self.times[next] - self.times[next - 1];
            let t = (time - self.times[next - 1]) / length;
            match self.between {
                Between::Cubic => {
                    let (leaving, arriving) = (self.values[next * 3 - 1] * length, self.values[next * 3] * length);
                    let (t2, t3) = (t * t, t * t * t);
                    from * (2.0 * t3 - 3.0 * t2 + 1.0)
                        + leaving * (t3 - 2.0 * t2 + t)
                        + to * (3.0 * t2 - 2.0 * t3)
                        + arriving * (t3 - t2)
                }
                Between::Linear if self.is_rotation => {
                    return DVec4::from(DQuat::from_vec4(from).slerp(DQuat::from_vec4(to), t));
                }
                Between::Chord if self.is_rotation && from.dot(to) < 0.0 => from * (1.0 - t) - to * t,
                _ => from + (to - from) * t,
            }
        };
        if self.is_rotation { out.try_normalize().unwrap_or(DVec4::W) } else { out }
    }

    /// The same with the times of steps moved to the next frame, and each step spread over the frame before it.
    ///
    /// Clips cannot jump: this is the one place that decides what becomes of a jump.
    fn with_steps_on_frames(&self, frame: f64) -> Self {
        if self.between != Between::Step {
            return self.clone();
        }
        let mut out =
            Self { times: Vec::new(), values: Vec::new(), between: Between::Chord, is_rotation: self.is_rotation };
        for (&time, &value) in self.times.iter().zip(&self.values) {
            // A hair before a frame is on it.
            let time = ((time / frame - 1e-4).ceil() * frame).max(0.0);
            match (out.times.last().copied(), out.values.last().copied()) {
                // Of several steps in one frame, the last counts.
                (Some(last), _) if last >= time => _ = out.values.pop(),
                (Some(last), Some(before)) => {
                    if last < time - 1.5 * frame {
                        out.times.push(time - frame);
                        out.values.push(before);
                    }
                    out.times.push(time);
                }
                _ => out.times.push(time),
            }
            out.values.push(value);
        }
        out
    }
}

/// How a joint moves relative to its parent. What has no channel is at rest.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) rest: Local,
    pub(super) translation: Option<Channel>,
    pub(super) rotation: Option<Channel>,
    pub(super) scale: Option<Channel>,
}

impl Motion {
    pub(super) fn still(rest: Local) -> Self {
        Self { rest, translation: None, rotation: None, scale: None }
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = &Channel> {
        [&self.translation, &self.rotation, &self.scale].into_iter().flatten()
    }

    pub(super) fn at(&self, time: f64) -> JointTransform {
        let vector = |channel: &Option<Channel>, rest| channel.as_ref().map_or(rest, |c| c.sample(time).truncate());
        let rotation = self.rotation.as_ref().map(|channel| DQuat::from_vec4(channel.sample(time)));
        let local = Local {
            translation: vector(&self.translation, self.rest.translation),
            rotation: rotation.unwrap_or(self.rest.rotation),
            scale: vector(&self.scale, self.rest.scale),
        };
        local.to_transform()
    }

    /// The same with its times converted by `time`.
    pub(super) fn retimed(&self, time: impl Fn(f64) -> f64) -> Self {
        self.map(|channel| {
            let mut out = channel.clone();
            // Tangents are per unit of time.
            let mut rates = Vec::new();
            for (at, new) in out.times.iter_mut().enumerate() {
                let old = std::mem::replace(new, time(channel.times[at]));
                rates.push((old, *new));
            }
            if channel.between == Between::Cubic {
                for at in 0..rates.len() {
                    let rate = |a: usize, b: usize| (rates[b].0 - rates[a].0) / (rates[b].1 - rates[a].1);
                    if at > 0 {
                        out.values[at * 3] *= rate(at - 1, at);
                    }
                    if at + 1 < rates.len() {
                        out.values[at * 3 + 2] *= rate(at, at + 1);
                    }
                }
            }
            out
        })
    }

    pub(super) fn with_steps_on_frames(&self, frame: f64) -> Self {
        self.map(|channel| channel.with_steps_on_frames(frame))
    }

    fn map(&self, f: impl Fn(&Channel) -> Channel) -> Self {
        let [translation, rotation, scale] =
            [&self.translation, &self.rotation, &self.scale].map(|c| c.as_ref().map(&f));
        Self { rest: self.rest, translation, rotation, scale }
    }
}

impl Keyed for Motion {
    fn is_empty(&self) -> bool {
        self.channels().next().is_none()
    }

    fn sample(&self, time: f64, _: usize) -> (JointTransform, usize) {
        (self.at(time), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(between: Between, keys: &[(f64, f64)]) -> Channel {
        Channel {
            times: keys.iter().map(|key| key.0).collect(),
            values: keys.iter().map(|key| DVec4::X * key.1).collect(),
            between,
            is_rotation: false,
        }
    }

    #[test]
    fn steps_move_to_the_next_frame_and_take_the_one_before_it() {
        let steps = channel(Between::Step, &[(0.0, 1.0), (0.95, 2.0), (2.0, 3.0), (5.2, 4.0), (5.4, 5.0)]);
        assert_eq!([0.94, 0.95, 7.0].map(|time| steps.sample(time).x), [1.0, 2.0, 5.0]);
        let frames = steps.with_steps_on_frames(1.0);
        assert_eq!(frames.times, [0.0, 1.0, 2.0, 5.0, 6.0]);
        assert_eq!([0.0, 1.0, 2.0, 5.0, 5.5, 6.0].map(|time| frames.sample(time).x), [1.0, 2.0, 3.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn a_spline_keeps_its_shape_at_another_pace() {
        let mut spline = channel(Between::Cubic, &[(0.5, 0.0), (1.0, 0.0), (2.5, 0.0)]);
        spline.values = [0.0, 1.0, 4.0, -3.0, 2.0, 1.0, 0.5, -1.0, 0.0].map(|x| DVec4::X * x).to_vec();
        let rest = Local { translation: Default::default(), rotation: DQuat::IDENTITY, scale: glam::DVec3::ONE };
        let motion = Motion { translation: Some(spline), ..Motion::still(rest) };
        let faster = motion.retimed(|time| time * 30.0);
        for at in 0..=40 {
            let time = f64::from(at) * 0.08;
            let apart = motion.at(time).translation - faster.at(time * 30.0).translation;
            assert!(apart.length() < 1e-6, "{time}: {apart}");
        }
        assert!((motion.at(0.75).translation.x - 1.9375).abs() < 1e-6);
    }
}
