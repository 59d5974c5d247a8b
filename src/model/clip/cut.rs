//! Parts of clips.

use super::{ClipError, ClipFrames, SkeletalClip};
use crate::model::{
    CallbackKey, JointTransform,
    transform::{arc, mean},
};

/// The largest distance between a time and a frame, in frames, at which the time means that frame.
const ON_FRAME: f64 = 1e-4;

impl SkeletalClip {
    /// Returns the part of the clip from one time to another, in seconds within the clip, with its callback keys. It
    /// starts at 0.
    ///
    /// Frames in between stay as they are. Where the part doesn't begin or end on a frame, one is added.
    ///
    /// # Errors
    /// [`ClipError::BadDuration`] if `to` is before `from`, or a time is outside the clip.
    pub fn cut(&self, from: f64, to: f64) -> Result<Self, ClipError> {
        if !(0.0 <= from && from <= to && to <= self.timing.duration) {
            return Err(ClipError::BadDuration {
                clip: self.timing.name.clone(),
                duration: to - from,
            });
        }
        let mut timing = self.timing.clone();
        timing.duration = to - from;
        timing.callbacks = std::mem::take(&mut timing.callbacks)
            .into_iter()
            .filter(|key| key.time <= to && key.until.unwrap_or(key.time) >= from)
            .map(|key| CallbackKey {
                time: (key.time - from).max(0.0),
                until: key.until.map(|until| until.min(to) - from),
                ..key
            })
            .collect();

        let mut frames = ClipFrames {
            transforms: Vec::new(),
            ..self.to_frames()
        };
        // Two frames at one time are a step: a part begins after it, and ends before it.
        let whole = |time: f64| {
            let at = time * self.frame_rate();
            ((at - at.round()).abs() < ON_FRAME).then(|| at.round() as usize)
        };
        // Evenly spaced frames stay so if both ends are frames; otherwise they need times.
        if self.frame_times().is_none()
            && let (Some(first), Some(last)) = (whole(from), whole(to))
        {
            for frame in first..=last.min(self.frame_count() - 1) {
                frames.transforms.extend(self.row(frame));
            }
            return self.finish(Self::new(timing, &frames)?, from, to);
        }
        let mut times = vec![0.0];
        let count = self.frame_count();
        let last_at_start = (0..count).rev().find(|&at| self.frame_time(at) <= from);
        let first_at_end = (0..count).find(|&at| self.frame_time(at) >= to);
        frames
            .transforms
            .extend(self.between(last_at_start.unwrap_or(0), from));
        for frame in 0..count {
            let time = self.frame_time(frame);
            if from < time && time < to {
                frames.transforms.extend(self.row(frame));
                times.push(time - from);
            }
        }
        if to > from {
            let last = first_at_end.unwrap_or(count - 1);
            frames
                .transforms
                .extend(self.between(last.saturating_sub(1), to));
            times.push(timing.duration);
        }
        self.finish(Self::at_times(timing, &frames, &times)?, from, to)
    }

    fn finish(&self, part: Self, from: f64, to: f64) -> Result<Self, ClipError> {
        let part = if self.morphs().is_empty() {
            part
        } else {
            let duration = self.timing.duration;
            part.with_morphs(&self.morph_frames().cut(from, to, duration))?
        };
        Ok(Self {
            additive: self.additive,
            ..part
        })
    }

    /// The transforms of a frame.
    fn row(&self, frame: usize) -> impl Iterator<Item = JointTransform> {
        (0..self.joints().len()).map(move |joint| self.transform_at(joint, frame))
    }

    /// The transforms at a time from a frame to the next one.
    fn between(&self, frame: usize, time: f64) -> impl Iterator<Item = JointTransform> {
        let next = (frame + 1).min(self.frame_count() - 1);
        let (start, end) = (self.frame_time(frame), self.frame_time(next));
        let t = if end > start {
            ((time - start) / (end - start)).clamp(0.0, 1.0) as f32
        } else {
            1.0
        };
        let row = self.row(frame).zip(self.row(next));
        row.map(move |(a, b)| JointTransform {
            translation: mean(a.translation, b.translation, t),
            rotation: arc(a.rotation, b.rotation, t),
            scale: mean(a.scale, b.scale, t),
        })
    }
}

#[cfg(test)]
#[path = "tests/cut.rs"]
mod tests;
