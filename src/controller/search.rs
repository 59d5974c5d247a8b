//! The search for the next mark on a track's way.

use super::{key::AddedKey, marks::Line};
use crate::model::PlaybackMode;

impl Line<'_> {
    /// The next position beyond another at which anything is passed.
    pub(super) fn next(&self, from: f64, forward: bool) -> Option<f64> {
        let length = self.known.length;
        if length <= 0.0 {
            return None;
        }
        let place = self.place(from);
        let n = self.round(place)?;
        let mut search = Search {
            line: self,
            forward,
            from,
            behind: place,
            near: self.near_to(place),
            found: None,
        };
        if self.member.is_none() {
            match self.known.playback {
                PlaybackMode::Once => search.consider(if forward { length } else { 0.0 }),
                _ if forward => search.consider((n + 1.0) * self.period()),
                _ => [n - 1.0, n]
                    .into_iter()
                    .for_each(|n| search.consider(n * self.period())),
            }
        }
        if self.own.is_empty() && self.added.is_empty() {
            return search.position();
        }
        // A place is known from a phase only up to rounding, and a range of a ping-pong clip reaches into the next round.
        let (first, last) = match (self.member, self.known.playback) {
            (Some(_), _) => (-1, 2),
            (None, PlaybackMode::PingPong) => (-1, 1),
            _ => (0, 1),
        };
        let rounds = if self.period() > 0.0 {
            first..=last
        } else {
            0..=0
        };
        for step in rounds {
            let n = n + f64::from(if forward { step } else { -step });
            let own = self.own.iter().map(|key| key.span(length));
            for (time, until) in own.chain(self.added.iter().map(AddedKey::span)) {
                match until {
                    None => self
                        .places(n, time)
                        .into_iter()
                        .flatten()
                        .for_each(|place| search.consider(place)),
                    Some(until) => {
                        self.intervals(n, time, until)
                            .into_iter()
                            .flatten()
                            .flatten()
                            .for_each(|place| search.consider(place));
                    }
                }
            }
            // The rounds after this one begin where it ends, but for the ranges of a ping-pong clip.
            let end = if forward { n + 1.0 } else { n } * self.period();
            if self.known.playback != PlaybackMode::PingPong && search.is_before(end) {
                break;
            }
        }
        search.position()
    }
}

/// A search for what is nearest beyond a position.
struct Search<'l, 'a> {
    line: &'l Line<'a>,
    forward: bool,
    from: f64,
    /// The place of that position.
    behind: f64,
    near: f64,
    /// The nearest so far: its place, and its position.
    found: Option<[f64; 2]>,
}

impl Search<'_, '_> {
    /// Considers a place. In a blend space, its position takes a while to find, so those that are behind, or farther than
    /// another, are told by their places.
    #[inline]
    fn consider(&mut self, place: f64) {
        let ahead = |of: f64| {
            if self.forward { place - of } else { of - place }
        };
        let is_farther = |[found, _]: [f64; 2]| ahead(found) > self.near;
        if ahead(self.behind) < -self.near || self.found.is_some_and(is_farther) {
            return;
        }
        let at = self.line.coordinate(place);
        let is_beyond = |at: f64, of: f64| if self.forward { at > of } else { at < of };
        let is_nearer = self.found.is_none_or(|[_, found]| is_beyond(found, at));
        if is_beyond(at, self.from) && is_nearer && at.is_finite() {
            self.found = Some([place, at]);
        }
    }

    /// Returns `true` if something was found before a place.
    fn is_before(&self, place: f64) -> bool {
        self.found.is_some_and(|[found, _]| {
            let before = if self.forward {
                place - found
            } else {
                found - place
            };
            before > self.near
        })
    }

    fn position(&self) -> Option<f64> {
        self.found.map(|[_, position]| position)
    }
}
