//! Callback keys and ranges in manifests.

use serde::{Deserialize, Serialize};

/// A callback key of a [`ClipEntry`](super::ClipEntry), or a range with a begin and an end.
///
/// Places are seconds, or frames of the clip, which count from 0. In frames, a clip needs a
/// [`frame_rate`](super::ClipEntry::frame_rate), unless its own frames are evenly spaced.
///
/// ```ron
/// callbacks: [
///     (time: 0.3, name: "footstep", data: "left"),
///     (time: 0.4, until: 0.55, name: "hit_window"),
///     (time: 0.4, duration: 0.15, name: "trail"),
///     (frame: 12, name: "footstep", data: "right"),
///     (frames: (12, 20), name: "may_chain"),
/// ]
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackEntry {
    /// Seconds from the clip's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// End of a range, in seconds from the clip's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Length of a range, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// A frame, in place of `time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<f64>,
    /// The first and last frame of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<(f64, f64)>,
    /// Name of the callback.
    pub name: String,
    /// Any RON value.
    #[serde(default = "unit")]
    pub data: ron::Value,
}

fn unit() -> ron::Value {
    ron::Value::Unit
}

impl CallbackEntry {
    /// Creates a plain key.
    pub fn new(time: f64, name: impl Into<String>) -> Self {
        let (until, duration, frame, frames) = (None, None, None, None);
        Self {
            time: Some(time),
            until,
            duration,
            frame,
            frames,
            name: name.into(),
            data: ron::Value::Unit,
        }
    }

    /// Returns where the key is, and where it ends if it is a range, in seconds. `frame_rate` is the clip's; `None` if the
    /// key needs one and there is none, or if it has no place.
    pub fn place(&self, frame_rate: Option<f64>) -> Option<(f64, Option<f64>)> {
        let seconds = |frame: f64| Some(frame / frame_rate.filter(|rate| *rate > 0.0)?);
        if let Some((first, last)) = self.frames {
            return Some((seconds(first)?, Some(seconds(last)?)));
        }
        // `misstatement` has refused entries with both.
        let time = match (self.time, self.frame) {
            (Some(time), _) => time,
            (None, Some(frame)) => seconds(frame)?,
            (None, None) => return None,
        };
        Some((time, self.until.or_else(|| Some(time + self.duration?))))
    }

    /// Returns the first mistake in the numbers.
    pub(super) fn misstatement(&self) -> Option<String> {
        let Self {
            time,
            until,
            duration,
            frame,
            frames,
            name,
            ..
        } = self;
        let places = usize::from(time.is_some())
            + usize::from(frame.is_some())
            + usize::from(frames.is_some());
        match places {
            0 => {
                return Some(format!(
                    "callback `{name}` has no place: add `time: 0.3` or `frame: 12`"
                ));
            }
            1 => {}
            _ => {
                return Some(format!(
                    "callback `{name}` has several places: keep one of `time`, `frame` and `frames`"
                ));
            }
        }
        let ends = [
            until.map(|_| "until"),
            duration.map(|_| "duration"),
            frames.map(|_| "frames"),
        ];
        let mut ends = ends.into_iter().flatten();
        if let (Some(first), Some(second)) = (ends.next(), ends.next()) {
            return Some(format!(
                "callback `{name}` ends twice: keep `{first}` or `{second}`"
            ));
        }
        // Without the clip's frame rate, the two can't be compared.
        if frame.is_some() && until.is_some() {
            return Some(format!(
                "callback `{name}` begins at a frame and ends at a time: write `frames: (12, 20)`, or `duration` in seconds"
            ));
        }
        let odd = |number: f64| !number.is_finite() || number < 0.0;
        let seconds = [("is at", time), ("ends at", until), ("lasts", duration)];
        if let Some((what, number)) = seconds
            .iter()
            .find_map(|(what, number)| Some((what, number.filter(|n| odd(*n))?)))
        {
            return Some(format!(
                "callback `{name}` {what} {number} s, expected 0 or more"
            ));
        }
        let (first, last) = (frames.map(|frames| frames.0), frames.map(|frames| frames.1));
        if let Some(frame) = [*frame, first, last]
            .into_iter()
            .flatten()
            .find(|frame| odd(*frame))
        {
            return Some(format!(
                "callback `{name}` is at frame {frame}, expected 0 or more"
            ));
        }
        match (time, until, frames) {
            (Some(time), Some(until), _) if until < time => Some(format!(
                "callback `{name}` ends at {until} s, before it begins at {time} s"
            )),
            (.., Some((first, last))) if last < first => Some(format!(
                "callback `{name}` ends at frame {last}, before it begins at frame {first}"
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "tests/callbacks.rs"]
mod tests;
