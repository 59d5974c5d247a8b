//! What an advance reports, in order of time.

use super::{AnimationName, PlaybackEvent, TrackId, compensated::tick, open_range::OpenRange};
use std::cell::Cell;

thread_local! {
    /// The memory of the last log: one for all controllers, of which few report anything in a frame.
    static MEMORY: Cell<Log> = const { Cell::new(Log { entries: Vec::new(), ranges: Vec::new(), passed: 0, work: 0 }) };
    /// The work of all advances so far.
    static WORK: Cell<u64> = const { Cell::new(0) };
}

/// What a thread has done in advances so far, but for those in which nothing happened: tracks moved, keys passed.
pub(crate) fn work_done() -> u64 {
    WORK.try_with(Cell::get).unwrap_or(0)
}

/// The most keys, rounds and ends of ranges that one advance goes through, whatever the limit of callbacks. A thousandth of a
/// second of a clip could have billions.
pub(super) const MOST_PASSED: usize = 1 << 20;

/// Events of one advance, with what is needed to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Each with its moment in grid steps and its place among the entries.
    entries: Vec<(f64, u32, PlaybackEvent)>,
    /// The controller's ranges, during an advance.
    pub(super) ranges: Vec<OpenRange>,
    /// How many keys, rounds and ends of ranges were passed.
    passed: usize,
    work: u64,
}

impl Log {
    /// Returns an empty log.
    pub(super) fn take() -> Self {
        // A thread that ends has none.
        MEMORY.try_with(Cell::take).unwrap_or_default()
    }

    /// Keeps the memory of a log, which is empty, for the next advance.
    pub(super) fn keep(self) {
        let Self {
            entries,
            ranges,
            passed,
            work,
        } = self;
        let work = work + passed as u64;
        let _ = WORK.try_with(|all| all.set(all.get().wrapping_add(work)));
        // If not, it is freed.
        let _ = MEMORY.try_with(|memory| {
            memory.set(Self {
                entries,
                ranges,
                passed: 0,
                work: 0,
            })
        });
    }

    /// Notes some work.
    #[inline]
    pub(super) fn count_work(&mut self, work: usize) {
        self.work += work as u64;
    }

    /// Notes that something is passed. Returns `false` if it is too much for one advance.
    #[inline]
    pub(super) fn count_passed(&mut self) -> bool {
        self.passed = self.passed.saturating_add(1);
        self.passed <= MOST_PASSED
    }

    pub(super) fn push(&mut self, event: PlaybackEvent) {
        // Moments less than about a nanosecond apart differ by rounding only: there, tracks keep their order.
        self.entries
            .push((tick(event.time()), self.entries.len() as u32, event));
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
            self.push(PlaybackEvent::UnknownClip {
                track,
                name: clip.clone(),
                time,
            });
        }
    }

    /// Takes all events out, in order of time.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PlaybackEvent> {
        self.entries
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.entries.drain(..).map(|(_, _, event)| event)
    }
}
