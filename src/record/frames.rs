//! The recorded frames, and the advances of each.

use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, ops::Range};

/// The frames of a recording, numbered from the start of the app, and the advances of the controllers in each.
///
/// There is usually one advance per frame; in a fixed schedule, there may be several or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// The number of the first frame.
    first: u64,
    rows: VecDeque<Frame>,
    /// The number of the first advance in `steps`.
    first_step: u64,
    /// The length of each advance, in seconds.
    steps: VecDeque<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Frame {
    /// The app's time in seconds.
    time: f64,
    /// The number of the first advance after the frame.
    end: u64,
    /// Seconds by which what was shown lagged behind the advances.
    #[serde(default, skip_serializing_if = "is_zero")]
    lag: f64,
}

fn is_zero(lag: &f64) -> bool {
    *lag == 0.0
}

impl Frames {
    /// Makes an empty list, whose first frame will have this number.
    pub fn starting_at(frame: u64) -> Self {
        Self {
            first: frame,
            ..Self::default()
        }
    }

    /// Returns the frames that are complete.
    pub fn range(&self) -> Range<u64> {
        self.first..self.first + self.rows.len() as u64
    }

    /// Returns the app's time at a frame, in seconds.
    pub fn time(&self, frame: u64) -> Option<f64> {
        Some(self.row(frame)?.time)
    }

    /// Returns the seconds by which what was shown in a frame lagged behind the advances; 0 unless these come in fixed steps.
    pub fn lag(&self, frame: u64) -> f64 {
        self.row(frame).map_or(0.0, |row| row.lag)
    }

    /// Returns the last frame at or before a time in seconds, or the first of all.
    pub fn at(&self, time: f64) -> Option<u64> {
        let after = self.rows.partition_point(|row| row.time <= time);
        (!self.rows.is_empty()).then(|| self.first + after.saturating_sub(1) as u64)
    }

    /// Returns the numbers of the advances in a frame.
    pub fn steps(&self, frame: u64) -> Option<Range<u64>> {
        let end = self.row(frame)?.end;
        let begin = frame
            .checked_sub(1)
            .and_then(|before| self.row(before))
            .map_or(self.first_step, |row| row.end);
        Some(begin..end)
    }

    /// Returns the length of an advance, in seconds.
    pub fn dt(&self, step: u64) -> Option<f64> {
        self.steps
            .get(usize::try_from(step.checked_sub(self.first_step)?).ok()?)
            .copied()
    }

    /// Returns the number of the next advance.
    pub fn next_step(&self) -> u64 {
        self.first_step + self.steps.len() as u64
    }

    /// Returns the number of the frame that isn't complete yet.
    pub fn next_frame(&self) -> u64 {
        self.range().end
    }

    /// Adds an advance, of a length in seconds, to the frame that isn't complete yet.
    pub fn add_step(&mut self, dt: f64) {
        self.steps.push_back(dt);
    }

    /// Completes a frame. `time` is the app's time, in seconds.
    pub fn end_frame(&mut self, time: f64) {
        self.end_late_frame(time, 0.0);
    }

    /// Completes a frame that shows characters as they were `lag` seconds before its last advance.
    pub fn end_late_frame(&mut self, time: f64, lag: f64) {
        self.rows.push_back(Frame {
            time,
            end: self.next_step(),
            lag,
        });
    }

    /// Drops all frames before this one.
    pub fn drop_before(&mut self, frame: u64) {
        while self.first < frame
            && let Some(row) = self.rows.pop_front()
        {
            self.first += 1;
            self.steps.drain(..(row.end - self.first_step) as usize);
            self.first_step = row.end;
        }
    }

    /// Drops all frames after this one.
    pub fn drop_after(&mut self, frame: u64) {
        let Some(end) = self.row(frame).map(|row| row.end) else {
            return;
        };
        self.rows.truncate((frame - self.first) as usize + 1);
        self.steps.truncate((end - self.first_step) as usize);
    }

    /// Returns roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Frame>() * self.rows.len() + size_of::<f64>() * self.steps.len()
    }

    /// Returns `true` if frames that were read from a file are consistent.
    pub(super) fn is_sound(&self) -> bool {
        let ends = || self.rows.iter().map(|row| row.end);
        // Far below overflow, so that sums of numbers in the file need no checks.
        self.first < 1 << 48
            && self.first_step < 1 << 48
            && self.rows.iter().all(|row| row.time.is_finite() && (0.0..3600.0).contains(&row.lag))
            && self.rows.iter().is_sorted_by_key(|row| row.time)
            && [self.first_step].into_iter().chain(ends()).is_sorted()
            && ends().next_back().is_none_or(|end| end == self.next_step())
            // 38 hours at 60 advances per second, none of which takes an hour.
            && self.steps.len() < 1 << 23
            && self.steps.iter().all(|dt| (0.0..3600.0).contains(dt))
    }

    fn row(&self, frame: u64) -> Option<&Frame> {
        self.rows
            .get(usize::try_from(frame.checked_sub(self.first)?).ok()?)
    }
}

#[cfg(test)]
#[path = "tests/frames.rs"]
mod tests;
