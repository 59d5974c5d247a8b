//! What an advance reports, in order of time.

use super::{AnimationName, PlaybackEvent, TrackId, compensated::tick, open_range::OpenRange};
use std::cell::Cell;

thread_local! {
    /// The memory of the last log: one for all controllers, of which few report anything in a frame.
    static MEMORY: Cell<Log> = const { Cell::new(Log { entries: Vec::new(), ranges: Vec::new() }) };
}

/// Events of one advance, with what is needed to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Each with its moment in grid steps and its place among the entries.
    entries: Vec<(f64, u32, PlaybackEvent)>,
    /// The controller's ranges, during an advance.
    pub(super) ranges: Vec<OpenRange>,
}

impl Log {
    /// Returns an empty log.
    pub(super) fn take() -> Self {
        // A thread that ends has none.
        MEMORY.try_with(Cell::take).unwrap_or_default()
    }

    /// Keeps the memory of a log, which is empty, for the next advance.
    pub(super) fn keep(self) {
        // If not, it is freed.
        let _ = MEMORY.try_with(|memory| memory.set(self));
    }

    pub(super) fn push(&mut self, event: PlaybackEvent) {
        // Moments less than about a nanosecond apart differ by rounding only: there, tracks keep their order.
        self.entries.push((tick(event.time()), self.entries.len() as u32, event));
    }

    /// Reports that there is no such clip, unless the name is among those reported before.
    pub(super) fn push_unknown(
        &mut self,
        reported: &mut Vec<AnimationName>,
        track: Option<TrackId>,
        clip: &AnimationName,
        time: f64,
    ) {
        if !reported.contains(clip) {
            reported.push(clip.clone());
            self.push(PlaybackEvent::UnknownClip { track, name: clip.clone(), time });
        }
    }

    /// Takes all events out, in order of time.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PlaybackEvent> {
        self.entries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.entries.drain(..).map(|(_, _, event)| event)
    }
}
