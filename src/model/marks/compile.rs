//! From callback keys to sorted marks.

use super::{Group, KeySource, LoopEnd, Mark, MarkKey, MarkKind, Marks, Span};
use crate::{model::playback::PlaybackMode, stamp::Stamp};

/// A callback key to be compiled.
pub(crate) struct KeyToCompile<'a> {
    pub(crate) source: KeySource,
    pub(crate) time: f64,
    pub(crate) until: Option<f64>,
    pub(crate) name: &'a str,
}

/// A clip whose keys are compiled.
pub(crate) struct ClipToCompile<'a> {
    /// In a blend space: its index among the members.
    pub(crate) member: Option<u32>,
    pub(crate) length: f64,
    pub(crate) playback: PlaybackMode,
    /// Returns the place in the cycle of a time of the clip.
    pub(crate) phase: &'a dyn Fn(f64) -> f64,
}

impl ClipToCompile<'_> {
    /// A clip by itself, or what was added to a blend space as a whole.
    pub(crate) fn alone(length: f64, playback: PlaybackMode) -> Self {
        Self {
            member: None,
            length,
            playback,
            phase: &|time| time,
        }
    }
}

/// Marks in the making.
pub(crate) struct Compiler {
    length: f64,
    playback: PlaybackMode,
    /// With their offsets and the order among those at one place.
    marks: Vec<(f64, Rank, Mark)>,
    spans: Vec<(MarkKey, Span)>,
    poses: Vec<Mark>,
    keys: i64,
    hash: Stamp,
}

/// The order at one place, forward. Keys of the way back of a ping-pong clip come in reverse.
type Rank = (Kind, i64, MarkKind);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    KeyOfLastLoop,
    Loop,
    Key,
    Range,
    End,
}

impl Compiler {
    /// Starts with the cycle of a clip, or with that of a blend space, whose length is 1 if any of its clips has one.
    pub(crate) fn new(length: f64, playback: PlaybackMode) -> Self {
        Self {
            length,
            playback,
            marks: Vec::new(),
            spans: Vec::new(),
            poses: Vec::new(),
            keys: 0,
            hash: Stamp::NEW,
        }
    }

    /// Adds the keys of a clip, in order of time.
    pub(crate) fn add<'k>(
        &mut self,
        clip: &ClipToCompile,
        keys: impl IntoIterator<Item = KeyToCompile<'k>>,
    ) {
        for key in keys {
            let source = key.source;
            let member = clip.member;
            self.hash = self.hash.with(key.time.to_bits()).with(self.keys as u64);
            if let Some(until) = key.until {
                self.hash = self.hash.with(until.to_bits()).with_text(key.name);
            }
            self.keys += 1;
            let (key, span) = (MarkKey { member, source }, (key.time, key.until));
            if clip.length <= 0.0 || self.length <= 0.0 {
                let kind = span.1.map_or(MarkKind::Key, |_| MarkKind::Flash);
                self.poses.push(Mark {
                    kind,
                    key,
                    end: LoopEnd::Neither,
                });
                continue;
            }
            match span {
                (time, None) => self.add_key(clip, key, time),
                (time, Some(until)) if time == until => self.add_flash(clip, key, time),
                (time, Some(until)) => self.add_range(clip, key, [time, until]),
            }
        }
    }

    fn add_key(&mut self, clip: &ClipToCompile, key: MarkKey, time: f64) {
        let order = self.keys;
        for place in self.places(clip, time) {
            let kind = match place.end {
                LoopEnd::End => Kind::KeyOfLastLoop,
                _ => Kind::Key,
            };
            let order = if place.back { -order } else { order };
            self.push(place, (kind, order, MarkKind::Key), key);
        }
    }

    fn add_flash(&mut self, clip: &ClipToCompile, key: MarkKey, time: f64) {
        for place in self.places(clip, time) {
            let (low, high) = (place.offset, place.offset);
            self.push(place, (Kind::Range, self.keys, MarkKind::Flash), key);
            let until = [false; 2];
            self.spans.push((key, Span { low, high, until }));
        }
    }

    fn add_range(&mut self, clip: &ClipToCompile, key: MarkKey, [begin, end]: [f64; 2]) {
        let phase = clip.phase;
        let period = self.playback.period(self.length);
        match (self.playback, clip.playback) {
            (_, PlaybackMode::PingPong) => {
                let spans = Span::of(phase(clip.length), clip.playback, phase(begin), phase(end));
                for span in spans.into_iter().flatten() {
                    if span.low == f64::NEG_INFINITY {
                        self.spans.push((key, span));
                        continue;
                    }
                    // The end of the range in the next cycle, without the rounding of the sum.
                    let high = if span.high > period {
                        phase(end)
                    } else {
                        span.high
                    };
                    self.add_span(key, span, [span.low, high]);
                }
            }
            (PlaybackMode::Loop, _) => {
                let offset =
                    |time: f64| self.wrapped(phase(if time >= clip.length { 0.0 } else { time }));
                let (low, high) = (offset(begin), offset(end));
                let more = if high <= low { period } else { 0.0 };
                let until = [false, true];
                let span = Span {
                    low,
                    high: high + more,
                    until,
                };
                self.add_span(key, span, [low, high]);
            }
            (_, within) => {
                // A clip may loop within a cycle that plays once.
                let loops = if within == PlaybackMode::Once {
                    0..=0
                } else {
                    -1..=1
                };
                for more in loops.map(f64::from) {
                    let (low, high) = (phase(begin) + more, phase(end) + more);
                    let until = [false, true];
                    if low < self.length && high > 0.0 {
                        self.add_span(key, Span { low, high, until }, [low, high]);
                    }
                }
            }
        }
    }

    /// Adds an interval, and the marks at its ends.
    fn add_span(&mut self, key: MarkKey, span: Span, [low, high]: [f64; 2]) {
        let [low_until, high_until] = span.until;
        let low = (low, MarkKind::Low { until: low_until });
        let high = (high, MarkKind::High { until: high_until });
        for (offset, kind) in [low, high] {
            if self.is_within(offset) {
                let (back, end) = (false, LoopEnd::Neither);
                self.push(
                    Place { offset, back, end },
                    (Kind::Range, self.keys, kind),
                    key,
                );
            }
        }
        self.spans.push((key, span));
    }

    fn push(&mut self, place: Place, rank: Rank, key: MarkKey) {
        let (kind, end) = (rank.2, place.end);
        self.marks
            .push((place.offset, rank, Mark { kind, key, end }));
    }

    /// The places of a time in the cycle: on the way there, and back.
    fn places(&self, clip: &ClipToCompile, time: f64) -> Vec<Place> {
        let (is_start, is_end) = (time <= 0.0, time >= clip.length);
        let place = |offset: f64, back: bool| Place {
            offset,
            back,
            end: LoopEnd::Neither,
        };
        match (self.playback, clip.playback) {
            (_, PlaybackMode::PingPong) => {
                let there = (clip.phase)(time);
                let end = if is_start {
                    LoopEnd::Start
                } else {
                    LoopEnd::Neither
                };
                let mut places = vec![Place {
                    end,
                    ..place(there, false)
                }];
                if !is_start && !is_end {
                    places.push(place(2.0 * (clip.phase)(clip.length) - there, true));
                }
                places
            }
            (PlaybackMode::Loop, _) => {
                let end = match (is_start, is_end) {
                    (_, true) => LoopEnd::End,
                    (true, _) => LoopEnd::Start,
                    _ => LoopEnd::Neither,
                };
                // The end of a loop is the start of the next one, so it is computed as that.
                let offset = self.wrapped((clip.phase)(if is_end { 0.0 } else { time }));
                let back = false;
                vec![Place { offset, back, end }]
            }
            (_, PlaybackMode::Once) => {
                let place = place((clip.phase)(time), false);
                Vec::from_iter(Some(place).filter(|place| self.is_within(place.offset)))
            }
            // A clip that loops within a cycle that plays once: a key at the end of a loop isn't in the next one.
            (_, PlaybackMode::Loop) => {
                let loops = [-1.0, 0.0, 1.0].into_iter();
                let places = loops.map(|more| place((clip.phase)(time) + more, false));
                let is_in = |place: &Place| {
                    self.is_within(place.offset)
                        && !(is_end && place.offset == 0.0)
                        && !(is_start && place.offset == self.length)
                };
                places.filter(is_in).collect()
            }
        }
    }

    fn is_within(&self, offset: f64) -> bool {
        self.playback != PlaybackMode::Once || (0.0..=self.length).contains(&offset)
    }

    fn wrapped(&self, offset: f64) -> f64 {
        let period = self.playback.period(self.length);
        if period == f64::INFINITY || (0.0 <= offset && offset < period) {
            return offset;
        }
        let within = offset - (offset / period).floor() * period;
        if (0.0..period).contains(&within) {
            within
        } else {
            0.0
        }
    }

    pub(crate) fn finish(mut self) -> Marks {
        if self.length > 0.0 {
            let key = Mark::LOOP.key;
            let (ends, kind, mark): (&[f64], _, _) = match self.playback {
                PlaybackMode::Once => (&[0.0, self.length], Kind::End, MarkKind::End),
                _ => (&[0.0], Kind::Loop, MarkKind::Loop),
            };
            for offset in ends {
                let place = Place {
                    offset: *offset,
                    back: false,
                    end: LoopEnd::Neither,
                };
                self.push(place, (kind, 0, mark), key);
            }
        }
        self.marks
            .sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut groups: Vec<Group> = Vec::new();
        for (at, (offset, ..)) in self.marks.iter().enumerate() {
            if groups.last().is_none_or(|last| last.offset != *offset) {
                groups.push(Group {
                    offset: *offset,
                    first: at as u32,
                });
            }
        }
        let hash = self
            .marks
            .iter()
            .fold(self.hash, |hash, (offset, ..)| hash.with(offset.to_bits()));
        let mut by_key: Vec<u32> = (0..self.spans.len() as u32).collect();
        by_key.sort_by_key(|index| self.spans[*index as usize].0);
        Marks {
            length: self.length,
            playback: self.playback,
            groups: groups.into(),
            marks: self.marks.into_iter().map(|(.., mark)| mark).collect(),
            spans: self.spans.into(),
            by_key: by_key.into(),
            poses: self.poses.into(),
            hash: hash.0,
        }
    }
}

/// A place of a key in a cycle.
#[derive(Clone, Copy)]
struct Place {
    offset: f64,
    /// On the way back of a ping-pong clip.
    back: bool,
    end: LoopEnd,
}
