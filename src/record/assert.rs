//! Assertions on recordings, for tests of games.

use crate::controller::PlaybackEvent;
use std::fmt::Write;

/// Largest distance of callbacks from the expected time, in seconds.
const TOLERANCE: f64 = 1e-3;

/// Asserts that the callbacks among some events are these and no others: the name of each, and when it fired, in seconds of its
/// controller's time, to a millisecond.
///
/// ```no_run
/// # use bevy_marionette::record::{RecordingFile, assert_callbacks};
/// # use std::fs::File;
/// # fn test() -> Result<(), Box<dyn std::error::Error>> {
/// let recording = RecordingFile::read(File::open("tests/jump.rec")?)?;
/// for character in recording.check() {
///     assert_eq!(character.difference, None, "{}", character.name);
///     assert_callbacks(&character.events, &[("footstep", 0.25), ("footstep", 0.75)]);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// If others fired. The message lists the callbacks that fired beside the expected ones.
#[track_caller]
pub fn assert_callbacks<'e>(events: &'e [(u64, PlaybackEvent)], expected: &[(&str, f64)]) {
    let callback = |(_, event): &'e (u64, PlaybackEvent)| match event {
        PlaybackEvent::Callback(fired) => Some((&*fired.name, fired.time)),
        _ => None,
    };
    let fired: Vec<(&str, f64)> = events.iter().filter_map(callback).collect();
    let is_same = |a: &(&str, f64), b: &(&str, f64)| a.0 == b.0 && (a.1 - b.1).abs() <= TOLERANCE;
    let same = fired
        .iter()
        .zip(expected)
        .take_while(|(a, b)| is_same(a, b))
        .count();
    if same == fired.len() && same == expected.len() {
        return;
    }
    let line = |callback: Option<&(&str, f64)>| match callback {
        Some((name, time)) => format!("{name} at {time:.3} s"),
        None => "-".into(),
    };
    let mut list = String::new();
    // The callbacks around the first difference show whether one is missing or only late.
    for at in same.saturating_sub(2)..fired.len().max(expected.len()).min(same + 5) {
        let mark = if at == same { '>' } else { ' ' };
        let _ = write!(
            list,
            "\n{mark} {at:>4}  {:<32} {}",
            line(expected.get(at)),
            line(fired.get(at))
        );
    }
    panic!(
        "other callbacks fired from number {same} on\n        {:<32} fired{list}",
        "expected"
    );
}

#[cfg(test)]
#[path = "tests/assert.rs"]
mod tests;
