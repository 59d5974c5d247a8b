//! Clips under construction.

use super::{
    gait::ahead,
    rig::{Pose, Rig},
};
use bevy_marionette::model::{ClipError, ClipFrames, ClipTiming, PlaybackMode, SkeletalClip};

/// Default frame rate.
pub const RATE: f64 = 30.0;

/// A clip as evenly spaced poses, including the first and the last.
pub struct Motion {
    pub name: &'static str,
    pub playback: PlaybackMode,
    pub frames: Vec<Pose>,
    /// Frames per second.
    pub rate: f64,
    /// Meters per second at which the clip travels forward, on top of its frames.
    pub speed: f64,
    /// How much its way curves, in radians per meter; left is positive.
    pub curve: f64,
    /// Callback keys: time in seconds, name and data.
    pub callbacks: Vec<(f64, &'static str, Option<&'static str>)>,
}

impl Motion {
    /// Creates a clip with `steps` frames after the first. `pose` takes seconds from the start.
    ///
    /// The last frame of a loop is a copy of the first.
    pub fn new(
        name: &'static str,
        steps: usize,
        playback: PlaybackMode,
        pose: impl FnMut(f64) -> Pose,
    ) -> Self {
        Self::at_rate(name, RATE, steps, playback, pose)
    }

    /// Like [`new`](Self::new), at `rate` frames per second.
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
        Self {
            name,
            playback,
            frames,
            rate,
            speed: 0.0,
            curve: 0.0,
            callbacks: vec![],
        }
    }

    /// Makes the clip travel, at a speed in meters per second, along a way that [curves](Self::curve). Its frames stay in
    /// place.
    pub fn traveling(self, speed: f64, curve: f64) -> Self {
        Self {
            speed,
            curve,
            ..self
        }
    }

    /// Adds a callback key.
    pub fn calling(mut self, time: f64, name: &'static str, datum: Option<&'static str>) -> Self {
        self.callbacks
            .push(((time * 1e4).round() / 1e4, name, datum));
        self
    }

    /// Adds a `footstep` callback for each (time, foot).
    pub fn stepping(self, steps: impl IntoIterator<Item = (f64, &'static str)>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        steps.into_iter().fold(self, |motion, (time, foot)| {
            motion.calling(time, "footstep", Some(foot))
        })
    }

    /// Returns the duration in seconds.
    pub fn seconds(&self) -> f64 {
        (self.frames.len() - 1) as f64 / self.rate
    }

    /// Converts the motion to the library's clip, which travels.
    pub fn clip(&self, rig: &Rig) -> Result<SkeletalClip, ClipError> {
        self.clip_at(rig, self.speed)
    }

    /// Converts the motion to a clip in place.
    pub fn clip_in_place(&self, rig: &Rig) -> Result<SkeletalClip, ClipError> {
        self.clip_at(rig, 0.0)
    }

    fn clip_at(&self, rig: &Rig, speed: f64) -> Result<SkeletalClip, ClipError> {
        let mut timing = ClipTiming::new(self.name, self.seconds());
        timing.playback = self.playback;
        for (time, name, datum) in &self.callbacks {
            let data = datum.map_or(ron::Value::Unit, |d| ron::Value::String(d.into()));
            timing.add_callback(*time, *name, data);
        }
        let root = rig.joints[0].position;
        let ahead = |pose: &Pose, frame: usize| {
            let (rotation, shift) = ahead(self.curve, speed * frame as f64 / self.rate);
            let mut turns = pose.turns.clone();
            turns[0] = rotation * turns[0];
            Pose {
                shift: rotation * (root + pose.shift) + shift - root,
                turns,
            }
        };
        let frames = ClipFrames {
            joints: rig.joints.iter().map(|j| j.name.as_str().into()).collect(),
            animated: vec![],
            transforms: self
                .frames
                .iter()
                .enumerate()
                .flat_map(|(i, pose)| rig.local(&ahead(pose, i)))
                .collect(),
        };
        SkeletalClip::new(timing, &frames)
    }

    /// Asserts that a loop is closed, and that no joint exceeds `limit` meters per second or flips.
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
                assert!(
                    speed < limit,
                    "{} frame {frame}, {}: {speed} m/s",
                    self.name,
                    joint.name
                );
            }
            // Positions don't reveal a limb that flips about its own axis.
            for (joint, (a, b)) in rig
                .joints
                .iter()
                .zip(pair[0].turns.iter().zip(&pair[1].turns))
            {
                let turned = a.angle_between(*b).to_degrees();
                assert!(
                    turned < 60.0,
                    "{} frame {frame}, {}: turns by {turned}°",
                    self.name,
                    joint.name
                );
            }
        }
    }
}
