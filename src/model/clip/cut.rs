//! Parts of clips.

use super::{ClipError, MorphFrames, RawClip, frame_time};

/// The largest distance between a time and a frame, in frames, at which the time means that frame.
const ON_FRAME: f64 = 1e-4;

impl RawClip {
    /// Leaves the part from one time to another, in seconds within the clip, with its callback keys. It starts at 0.
    ///
    /// Frames in between stay as they are. Where the part doesn't begin or end on a frame, one is added.
    ///
    /// # Errors
    /// [`ClipError::BadDuration`] if `to` is before `from`, or a time is outside the clip.
    pub(crate) fn cut(&mut self, from: f64, to: f64) -> Result<(), ClipError> {
        let duration = self.timing.duration;
        if !(0.0 <= from && from <= to && to <= duration) {
            return Err(ClipError::BadDuration {
                clip: self.timing.name.clone(),
                duration: to - from,
            });
        }
        let last = self.frame_count() - 1;
        let rate = if duration > 0.0 {
            last as f64 / duration
        } else {
            0.0
        };
        let whole = |time: f64| {
            let at = time * rate;
            ((at - at.round()).abs() < ON_FRAME).then(|| at.round() as usize)
        };
        // Evenly spaced frames stay so if both ends are frames; otherwise they need times.
        let even = whole(from).zip(whole(to)).filter(|_| self.times.is_empty());
        let (part, times) = match even {
            Some((from, to)) => ((from..=to.min(last)).map(on).collect(), Vec::new()),
            None => cut(last, |frame| self.frame_time(frame), from, to),
        };
        let joints = self.frames.joints.len();
        let row = |frame: usize| &self.frames.transforms[frame * joints..][..joints];
        let at = |&(frames, share): &Moment| {
            let [a, b] = frames.map(row);
            a.iter().zip(b).map(move |(a, b)| a.between(b, share))
        };
        self.frames.transforms = part.iter().flat_map(at).collect();
        self.times = times;

        let timing = &mut self.timing;
        timing.duration = to - from;
        timing
            .callbacks
            .retain(|key| key.time <= to && key.until.unwrap_or(key.time) >= from);
        for key in timing.callbacks.iter_mut() {
            key.time = (key.time - from).max(0.0);
            key.until = key.until.map(|until| until.min(to) - from);
        }
        self.root_path = None;
        self.morphs.cut(from, to, duration);
        Ok(())
    }
}

impl MorphFrames {
    /// Leaves the weights between two times of a clip that lasts `duration`.
    fn cut(&mut self, from: f64, to: f64, duration: f64) {
        let width = self.names.len();
        if width == 0 {
            return;
        }
        let count = self.weights.len() / width;
        let time = |frame: usize| frame_time(&self.times, count, duration, frame);
        let (part, times) = cut(count - 1, time, from, to);
        let row = |frame: usize| &self.weights[frame * width..][..width];
        let at = |&(frames, share): &Moment| {
            let [a, b] = frames.map(row);
            a.iter().zip(b).map(move |(a, b)| a + (b - a) * share)
        };
        self.weights = part.iter().flat_map(at).collect();
        self.times = times;
    }
}

/// A share of the way from one frame to another.
type Moment = ([usize; 2], f32);

/// The moment of a frame.
fn on(frame: usize) -> Moment {
    ([frame; 2], 0.0)
}

/// Returns the frames of a part, and their times within it: those of the whole, and one at each end. Of two frames at one time,
/// which are a step, a part begins with the later one and ends with the earlier one.
fn cut(last: usize, time: impl Fn(usize) -> f64, from: f64, to: f64) -> (Vec<Moment>, Vec<f64>) {
    let between = |frame: usize, at: f64| {
        let frames = [frame, (frame + 1).min(last)];
        let [start, end] = frames.map(&time);
        let share = if end > start {
            ((at - start) / (end - start)).clamp(0.0, 1.0) as f32
        } else {
            1.0
        };
        (frames, share)
    };
    let first = (0..=last).rev().find(|&frame| time(frame) <= from);
    let (mut part, mut times) = (vec![between(first.unwrap_or(0), from)], vec![0.0]);
    for frame in (0..=last).filter(|&frame| from < time(frame) && time(frame) < to) {
        part.push(on(frame));
        times.push(time(frame) - from);
    }
    if to > from {
        let end = (0..=last).find(|&frame| time(frame) >= to).unwrap_or(last);
        part.push(between(end.saturating_sub(1), to));
        times.push(to - from);
    }
    (part, times)
}

#[cfg(test)]
#[path = "tests/cut.rs"]
mod tests;
