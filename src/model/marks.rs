//! Marks: what a track passes in one cycle of a clip or blend space, compiled from callback keys.
//!
//! A cycle is the clip for a loop, there and back for a ping-pong clip, and the clip alone for one that plays once. Its marks are
//! sorted once, so what is next is found by bisection, and what lies at a place is a slice, in the order in which it is passed:
//!
//! ```text
//! loop of 1 s: keys `a` at 0 s and `z` at 1 s, a range from 0.2 to 0.6 s
//! offset   0               0.2      0.6
//! group    z · Loop · a    ┣ low    ┫ high
//! ```
//!
//! A key at the end of a loop lies at the start of the next cycle, before `Loop`, so no place has two groups. Places are
//! `n · period + offset`, one expression for each, which is why they are compared exactly.
//!
//! In a blend space, a place is a phase, and the keys of its clips lie at the phases at which the clips pass them, whatever they
//! weigh. So a space has one list, too. See decision 015.

mod compile;

use super::playback::PlaybackMode;
pub(crate) use compile::{ClipToCompile, Compiler, KeyToCompile};
use std::ops::Range;

/// The marks of a cycle.
#[derive(Debug)]
pub(crate) struct Marks {
    length: f64,
    playback: PlaybackMode,
    /// In order of offset, which is in `0..period`, or in `0..=length` for a clip that plays once.
    groups: Box<[Group]>,
    /// Those of all groups, each in the order in which it is passed forward.
    marks: Box<[Mark]>,
    /// In the order in which their keys are reported.
    spans: Box<[(MarkKey, Span)]>,
    /// Indices of `spans`, in order of their keys.
    by_key: Box<[u32]>,
    /// Keys of clips without length. They are passed as a track begins, and never again.
    poses: Box<[Mark]>,
    hash: u64,
}

/// The marks at one place of a cycle.
#[derive(Clone, Copy, Debug)]
struct Group {
    offset: f64,
    /// Index of its first mark.
    first: u32,
}

/// Something that a track passes at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    /// The key; for [`MarkKind::Loop`] and [`MarkKind::End`], none.
    pub(crate) key: MarkKey,
    end: LoopEnd,
}

/// The key that a mark belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MarkKey {
    /// The clip of a blend space, as an index of its members.
    pub(crate) member: Option<u32>,
    pub(crate) source: KeySource,
}

/// An index of a callback key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeySource {
    /// Of the clip's keys.
    Clip(u32),
    /// Of the keys that were added by a controller.
    Added(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkKind {
    /// A plain key.
    Key,
    /// The start of a loop. A ping-pong clip goes there and back in each.
    Loop,
    /// The end of a range that is left forward and entered backward. It comes first: what ends and begins again at one place
    /// ends before.
    High { until: bool },
    /// The end of a range that is entered forward and left backward. `until` says which end of the key it is.
    Low { until: bool },
    /// A range without length.
    Flash,
    /// The first or last place of a clip that plays once.
    End,
}

/// The end of its clip's loop that a key lies at. Passing doesn't depend on it, but a track that begins there is in one loop only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopEnd {
    Neither,
    Start,
    End,
}

/// The interval of a range in a cycle, as offsets. Infinite if the range is never left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    low: f64,
    /// Beyond the cycle's end if the cycle starts over inside.
    high: f64,
    /// For each of them, `true` if it is the end of the key, and not its beginning.
    until: [bool; 2],
}

impl Marks {
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// A number that changes with what lies in the cycle: places, keys, and the names of ranges.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn has_ranges(&self) -> bool {
        !self.spans.is_empty() || self.poses.iter().any(|mark| mark.kind == MarkKind::Flash)
    }

    /// The number of intervals of ranges in a cycle.
    pub(crate) fn spans(&self) -> usize {
        self.spans.len()
    }

    /// Calls `sink` with the ranges that a place is inside of, each as the index of its interval and its key, in the order in
    /// which keys are reported.
    pub(crate) fn inside(
        &self,
        place: f64,
        direction: Option<bool>,
        mut sink: impl FnMut(usize, MarkKey),
    ) {
        for (index, (key, span)) in self.spans.iter().enumerate() {
            if span.contains(self.length, self.playback, place, direction) == Some(true) {
                sink(index, *key);
            }
        }
    }

    /// Returns `true` if a place is in the range of a key; `None` if it is right at one of its ends. What moves is inside at the
    /// end that it comes to first.
    pub(crate) fn contains(
        &self,
        key: MarkKey,
        place: f64,
        direction: Option<bool>,
    ) -> Option<bool> {
        let spans = self.spans_of(key).map(|index| self.spans[index].1);
        Span::any_contains(spans, self.length, self.playback, place, direction)
    }

    /// The indices of a key's intervals: two if a ping-pong clip passes it on either way.
    pub(crate) fn spans_of(&self, key: MarkKey) -> impl Iterator<Item = usize> + '_ {
        let of = |index: &u32| self.spans[*index as usize].0;
        let first = self.by_key.partition_point(|index| of(index) < key);
        let ours = self.by_key[first..]
            .iter()
            .take_while(move |index| of(index) == key);
        ours.map(|index| *index as usize)
    }

    /// Returns the next place beyond another at which anything lies. The search begins `near` a group, that of the last place.
    pub(crate) fn next(&self, from: f64, forward: bool, near: usize) -> Option<f64> {
        let cycle = self.playback.cycle_of(self.length, from)?;
        if forward {
            let at = self.groups_until(cycle, near, |place| place <= from);
            return match self.groups.get(at) {
                Some(group) => Some(cycle.place(group.offset)),
                // The next cycle starts with its `Loop`.
                None => cycle.next.is_finite().then_some(cycle.next),
            };
        }
        let before = |cycle: Cycle| {
            let at = self.groups_until(cycle, near, |place| place < from);
            Some(cycle.place(self.groups[at.checked_sub(1)?].offset))
        };
        before(cycle).or_else(|| before(self.playback.cycle(self.length, cycle.n - 1.0)?))
    }

    /// Calls `sink` with everything that lies at a place, in the order in which it is passed, and returns its first group. The
    /// search begins `near` a group, that of the last place.
    pub(crate) fn at(
        &self,
        place: f64,
        forward: bool,
        near: usize,
        mut sink: impl FnMut(Mark),
    ) -> usize {
        let groups = self.groups_at(place, near);
        let first = groups[1].start;
        let groups = groups.into_iter().flatten();
        if forward {
            groups
                .flat_map(|group| self.group(group))
                .for_each(|mark| sink(*mark));
            return first;
        }
        // Backward: keys, then ranges, and the end of the clip last.
        let all = || {
            groups
                .clone()
                .rev()
                .flat_map(|group| self.group(group).iter().rev())
        };
        for rank in [MarkKind::is_key, MarkKind::is_range, MarkKind::is_end] {
            all()
                .filter(|mark| rank(mark.kind))
                .for_each(|mark| sink(*mark));
        }
        first
    }

    /// Calls `sink` with the keys and ranges that a track passes as it begins at a place, in the loop that it enters. A range
    /// that it begins inside of comes as a [`Low`](MarkKind::Low) if it goes forward, and else as a [`High`](MarkKind::High).
    pub(crate) fn at_start(&self, place: f64, forward: bool, mut sink: impl FnMut(Mark, bool)) {
        let n = self
            .playback
            .cycle_of(self.length, place)
            .map_or(0.0, |cycle| cycle.n);
        let enters = |end: LoopEnd| match end {
            LoopEnd::Neither => true,
            LoopEnd::Start => forward,
            LoopEnd::End => !forward,
        };
        let groups = self.groups_at(place, 0).into_iter().flatten();
        let here = || groups.clone().flat_map(|group| self.group(group));
        let keys = || here().filter(|mark| mark.kind == MarkKind::Key);
        if forward {
            keys()
                .filter(|mark| enters(mark.end))
                .for_each(|mark| sink(*mark, false));
        } else {
            // What begins at its start fires the keys there, in whichever direction it leaves.
            let is_first = n == 0.0 || self.playback == PlaybackMode::PingPong;
            let first = keys().filter(|mark| is_first && mark.end == LoopEnd::Start);
            first.for_each(|mark| sink(*mark, false));
            let reverse = groups
                .clone()
                .rev()
                .flat_map(|group| self.group(group).iter().rev());
            let entered = reverse.filter(|mark| mark.kind == MarkKind::Key && enters(mark.end));
            entered.for_each(|mark| sink(*mark, false));
        }
        self.poses
            .iter()
            .filter(|mark| mark.kind == MarkKind::Key)
            .for_each(|mark| sink(*mark, false));
        for (key, span) in &self.spans {
            if span.low == span.high {
                let flash = here().find(|mark| mark.kind == MarkKind::Flash && mark.key == *key);
                if let Some(mark) = flash.filter(|mark| enters(mark.end)) {
                    sink(*mark, false);
                }
            } else if span.contains(self.length, self.playback, place, Some(forward)) == Some(true)
            {
                let kind = if forward {
                    MarkKind::Low { until: false }
                } else {
                    MarkKind::High { until: true }
                };
                sink(
                    Mark {
                        kind,
                        key: *key,
                        end: LoopEnd::Neither,
                    },
                    true,
                );
            }
        }
        self.poses
            .iter()
            .filter(|mark| mark.kind == MarkKind::Flash)
            .for_each(|mark| sink(*mark, false));
    }

    fn group(&self, at: usize) -> &[Mark] {
        let end = self
            .groups
            .get(at + 1)
            .map_or(self.marks.len(), |next| next.first as usize);
        &self.marks[self.groups[at].first as usize..end]
    }

    /// The number of groups of a cycle up to some place. Nearly always, that is the number of a group that is known, or one more:
    /// what is passed next is next to what was passed last.
    fn groups_until(&self, cycle: Cycle, near: usize, is_before: impl Fn(f64) -> bool) -> usize {
        let is_before = |group: &Group| is_before(cycle.place(group.offset));
        let is_number = |count: &usize| {
            let last = count.checked_sub(1).map(|last| self.groups.get(last));
            last.is_none_or(|last| last.is_some_and(is_before))
                && self.groups.get(*count).is_none_or(|next| !is_before(next))
        };
        let guess = [near, near + 1].into_iter().find(is_number);
        guess.unwrap_or_else(|| self.groups.partition_point(is_before))
    }

    /// The groups at a place: at the end of the cycle before it, where so large a number can't tell them from its start, and in
    /// its own.
    fn groups_at(&self, place: f64, near: usize) -> [Range<usize>; 2] {
        let in_cycle = |cycle: Option<Cycle>| {
            let Some(cycle) = cycle else { return 0..0 };
            let first = self.groups_until(cycle, near, |at| at < place);
            // Groups lie at one place only by rounding.
            let here = |group: &&Group| cycle.place(group.offset) <= place;
            first..first + self.groups[first..].iter().take_while(here).count()
        };
        let own = self.playback.cycle_of(self.length, place);
        let before = own
            .filter(|own| own.base == place)
            .and_then(|own| self.playback.cycle(self.length, own.n - 1.0));
        [in_cycle(before), in_cycle(own)]
    }
}

impl Mark {
    /// The start of a loop of a clip without keys.
    pub(crate) const LOOP: Self = Self {
        kind: MarkKind::Loop,
        key: MarkKey {
            member: None,
            source: KeySource::Clip(0),
        },
        end: LoopEnd::Neither,
    };
}

impl MarkKind {
    fn is_key(self) -> bool {
        matches!(self, Self::Key | Self::Loop)
    }

    fn is_range(self) -> bool {
        matches!(self, Self::High { .. } | Self::Low { .. } | Self::Flash)
    }

    fn is_end(self) -> bool {
        self == Self::End
    }
}

impl Span {
    /// The intervals of a range of a clip alone, of some length. Where a ping-pong clip turns around inside, it doesn't leave;
    /// one that is in the whole of it never does.
    pub(crate) fn of(
        length: f64,
        playback: PlaybackMode,
        begin: f64,
        end: f64,
    ) -> [Option<Self>; 2] {
        let span = |low: f64, high: f64, until: [bool; 2]| Some(Self { low, high, until });
        let back = |place: f64| 2.0 * length - place;
        match (playback, begin <= 0.0, end >= length) {
            (PlaybackMode::PingPong, true, true) => {
                [span(f64::NEG_INFINITY, f64::INFINITY, [false; 2]), None]
            }
            (PlaybackMode::PingPong, false, true) => [span(begin, back(begin), [false; 2]), None],
            (PlaybackMode::PingPong, true, false) => {
                [span(back(end), 2.0 * length + end, [true; 2]), None]
            }
            (PlaybackMode::PingPong, false, false) => [
                span(begin, end, [false, true]),
                span(back(end), back(begin), [true, false]),
            ],
            _ => [span(begin, end, [false, true]), None],
        }
    }

    /// Returns `true` if a place is in one of the intervals of a range. See [`Marks::contains`].
    pub(crate) fn any_contains(
        spans: impl IntoIterator<Item = Self>,
        length: f64,
        playback: PlaybackMode,
        place: f64,
        direction: Option<bool>,
    ) -> Option<bool> {
        let each = spans
            .into_iter()
            .map(|span| span.contains(length, playback, place, direction));
        let any = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, _) | (_, None) => None,
            _ => Some(false),
        };
        each.fold(Some(false), any)
    }

    fn contains(
        &self,
        length: f64,
        playback: PlaybackMode,
        place: f64,
        direction: Option<bool>,
    ) -> Option<bool> {
        if self.low == f64::NEG_INFINITY {
            return Some(true);
        }
        let Some(cycle) = playback.cycle_of(length, place) else {
            return Some(false);
        };
        // A place that was computed by way of a leader is only known up to rounding.
        let near = 64.0 * f64::EPSILON * place.abs().max(length);
        let mut at_end = false;
        // The range may have begun in the cycle before, and this cycle ends where the next one starts.
        for more in [-1.0, 0.0, 1.0] {
            let Some(cycle) = playback.cycle(length, cycle.n + more) else {
                continue;
            };
            let (low, high) = (cycle.base + self.low, cycle.base + self.high);
            let (is_low, is_high) = ((place - low).abs() <= near, (place - high).abs() <= near);
            match direction {
                _ if is_low && is_high => {}
                Some(true) if is_low => return Some(true),
                Some(false) if is_high => return Some(true),
                _ if is_low || is_high => at_end |= direction.is_none(),
                _ if low < place && place < high => return Some(true),
                _ => {}
            }
        }
        (!at_end).then_some(false)
    }
}

/// A cycle of a playback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cycle {
    pub(crate) n: f64,
    /// The place at which it starts.
    pub(crate) base: f64,
    /// The place at which the next one starts; infinite if there is none.
    pub(crate) next: f64,
}

impl Cycle {
    fn place(self, offset: f64) -> f64 {
        (self.base + offset).min(self.next)
    }
}

impl PlaybackMode {
    /// The length of a cycle; infinite for a clip that plays once.
    fn period(self, length: f64) -> f64 {
        match self {
            Self::Once => f64::INFINITY,
            Self::Loop => length,
            Self::PingPong => 2.0 * length,
        }
    }

    /// Returns the n-th cycle, if there is one.
    fn cycle(self, length: f64, n: f64) -> Option<Cycle> {
        if self == Self::Once {
            let (base, next) = (0.0, f64::INFINITY);
            return (n == 0.0).then_some(Cycle { n, base, next });
        }
        let period = self.period(length);
        let (base, next) = (n * period, (n + 1.0) * period);
        Some(Cycle { n, base, next })
    }

    /// The cycle that a place is in: the last one that starts at or before it. `None` without a length, and beyond what numbers
    /// can tell apart.
    #[inline]
    pub(crate) fn cycle_of(self, length: f64, place: f64) -> Option<Cycle> {
        if length <= 0.0 {
            return None;
        }
        if self == Self::Once {
            return self.cycle(length, 0.0);
        }
        let period = self.period(length);
        let mut n = (place / period).floor();
        if n * period > place {
            n -= 1.0;
        } else if (n + 1.0) * period <= place {
            n += 1.0;
        }
        (n.abs() < (1_u64 << 52) as f64)
            .then(|| self.cycle(length, n))
            .flatten()
    }

    /// Returns the next place beyond another at which a loop starts, or a clip that plays once ends.
    #[inline]
    pub(crate) fn next_turn(self, length: f64, from: f64, forward: bool) -> Option<f64> {
        let cycle = self.cycle_of(length, from)?;
        match (self, forward) {
            (Self::Once, true) => (from < length).then_some(length),
            (Self::Once, false) => (from > 0.0).then_some(0.0),
            (_, true) => Some(cycle.next),
            (_, false) if cycle.base < from => Some(cycle.base),
            (_, false) => self.cycle(length, cycle.n - 1.0).map(|cycle| cycle.base),
        }
    }
}

#[cfg(test)]
#[path = "tests/marks.rs"]
mod tests;
