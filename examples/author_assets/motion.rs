//! A clip in the making.

use super::rig::{Pose, Rig};
use bevy_marionette::model::{ClipError, ClipFrames, ClipTiming, PlaybackMode, SkeletalClip};

/// Frames a second of clips that do not say otherwise.
pub const RATE: f64 = 30.0;

/// A clip as poses at equal steps of time, first and last included.
pub struct Motion {
    pub name: &'static str,
    pub playback: PlaybackMode,
    pub frames: Vec<Pose>,
    /// Frames a second.
    pub rate: f64,
    /// Seconds, name and datum of the callback keys.
    pub callbacks: Vec<(f64, &'static str, Option<&'static str>)>,
}

impl Motion {
    /// A clip of `steps` frames after the first; `pose` is asked for seconds from the start.
    ///
    /// A loop's last frame is its first, to the bit.
    pub fn new(name: &'static str, steps: usize, playback: PlaybackMode, pose: impl FnMut(f64) -> Pose) -> Self {
        Self::at_rate(name, RATE, steps, playback, pose)
    }

    /// The same with `rate` frames a second.
    pub fn at_rate(
        name: &'static str,
        rate: f64,
        steps: usize,
        playback: PlaybackMode,
        mut pose: impl FnMut(f64) -> Pose,
    ) -> Self {
        let mut frames: Vec<Pose> = (0..=steps).map(|i| pose(i as f64 / rate)).collect();
        if playback == PlaybackMode::Loop {
            frames[steps] = frames[0].clone();
        }
        Self { name, playback, frames, rate, callbacks: vec![] }
    }

    /// Adds a callback key.
    pub fn calling(mut self, time: f64, name: &'static str, datum: Option<&'static str>) -> Self {
        self.callbacks.push(((time * 1e4).round() / 1e4, name, datum));
        self
    }

    /// Adds a callback key for every step: when a foot comes down, and which.
    pub fn stepping(self, steps: impl IntoIterator<Item = (f64, &'static str)>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        steps.into_iter().fold(self, |motion, (time, foot)| motion.calling(time, "footstep", Some(foot)))
    }

    /// Seconds.
    pub fn seconds(&self) -> f64 {
        (self.frames.len() - 1) as f64 / self.rate
    }

    /// The clip for the library.
    pub fn clip(&self, rig: &Rig) -> Result<SkeletalClip, ClipError> {
        let mut timing = ClipTiming::new(self.name, self.seconds());
        timing.playback = self.playback;
        for (time, name, datum) in &self.callbacks {
            let data = datum.map_or(ron::Value::Unit, |d| ron::Value::String(d.into()));
            timing.add_callback(*time, *name, data);
        }
        let frames = ClipFrames {
            joints: rig.joints.iter().map(|j| j.name.as_str().into()).collect(),
            animated: vec![],
            transforms: self.frames.iter().flat_map(|pose| rig.local(pose)).collect(),
        };
        SkeletalClip::new(timing, &frames)
    }

    /// A loop ends as it begins, no joint goes faster than `limit`, in metres a second, or flips.
    #[cfg(test)]
    pub fn assert_smooth(&self, rig: &Rig, limit: f64) {
        let (first, last) = (&self.frames[0], &self.frames[self.frames.len() - 1]);
        if self.playback == PlaybackMode::Loop {
            assert_eq!(first.turns, last.turns, "{}", self.name);
        }
        for (frame, pair) in self.frames.windows(2).enumerate() {
            let [before, after] = [&pair[0], &pair[1]].map(|pose| rig.model(pose));
            for (joint, (a, b)) in rig.joints.iter().zip(before.iter().zip(&after)) {
                let speed = a.0.distance(b.0) * self.rate;
                assert!(speed < limit, "{} frame {frame}, {}: {speed} m/s", self.name, joint.name);
            }
            // What a joint's place does not show: a limb that flips about its own length.
            for (joint, (a, b)) in rig.joints.iter().zip(pair[0].turns.iter().zip(&pair[1].turns)) {
                let turned = a.angle_between(*b).to_degrees();
                assert!(turned < 60.0, "{} frame {frame}, {}: turns by {turned}°", self.name, joint.name);
            }
        }
    }
}
