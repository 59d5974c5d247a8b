//! Ranges of callback keys that have begun and not ended yet, and how the game sees them.

use super::{AnimationController, AnimationName, KeyRef, TrackId, playhead::Known};
use crate::model::{CallbackData, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
#[cfg(feature = "bevy")]
use std::sync::OnceLock;

/// A range that has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenRange {
    pub(crate) track: TrackId,
    pub(crate) key: KeyRef,
    /// Name of the clip or blend space that the track plays.
    pub(crate) clip: AnimationName,
    /// The clip of the blend space that has the range, if it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) member: Option<InSpace>,
    /// The clip's index when it was last seen.
    pub(crate) index: usize,
    pub(crate) name: AnimationName,
    pub(crate) data: CallbackData,
    pub(crate) time: f64,
    pub(crate) until: f64,
    /// `true` if it began without a report: below the threshold of weights, or beyond a limit.
    pub(crate) silent: bool,
}

/// The names of ranges that the game has asked for while no track was in them, each once. Noted through a shared reference:
/// asking changes nothing. Whoever knows all clips can say which of them don't exist.
#[cfg(feature = "bevy")]
#[derive(Clone, Debug, Default)]
pub(super) struct AskedRanges(OnceLock<Box<(AnimationName, Self)>>);

#[cfg(feature = "bevy")]
impl AskedRanges {
    /// The most names that are noted.
    const MOST: usize = 16;

    fn note(&self, name: &str) {
        let mut at = self;
        for _ in 0..Self::MOST {
            let new = || Box::new((AnimationName::new(name), Self::default()));
            let (known, next) = &**at.0.get_or_init(new);
            if *known == *name {
                return;
            }
            at = next;
        }
    }

    fn names(&self) -> impl Iterator<Item = &AnimationName> {
        std::iter::successors(self.0.get(), |at| at.1.0.get()).map(|at| &at.0)
    }
}

/// A clip of a blend space that has a range, and where it was when it was last seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InSpace {
    pub(crate) clip: AnimationName,
    pub(crate) known: Known,
    /// Unwrapped.
    pub(crate) position: f64,
}

impl OpenRange {
    /// The name of the clip that has it; of a blend space, if it was added to that.
    pub(crate) fn clip(&self) -> &AnimationName {
        let member = self.member.as_ref();
        member.map_or(&self.clip, |member| &member.clip)
    }

    pub(crate) fn member_name(&self) -> Option<&str> {
        self.member.as_ref().map(|member| &*member.clip)
    }

    pub(crate) fn is(&self, track: TrackId, member: Option<&Arc<str>>, key: KeyRef) -> bool {
        self.track == track && self.key == key && self.is_of(member)
    }

    /// Returns `true` if it goes on at a position, for a track that goes one way.
    ///
    /// At either end of the range, it leaves when it goes on. At the end of a clip that plays once it doesn't, so there the
    /// range is over.
    fn holds(&self, known: Known, position: f64, forward: bool) -> bool {
        let is_over = known.plays_once() && known.is_at_end(position, forward);
        let Known { length, playback } = known;
        let spans = Span::of(length, playback, self.time, self.until);
        let spans = || spans.into_iter().flatten();
        let contains =
            |direction| Span::any_contains(spans(), length, playback, position, direction);
        contains(None) != Some(false) && (!is_over || contains(Some(forward)) == Some(true))
    }

    fn is_of(&self, member: Option<&Arc<str>>) -> bool {
        match (&self.member, member) {
            (Some(ours), Some(other)) => ours.clip.is(other),
            (ours, other) => ours.is_none() && other.is_none(),
        }
    }
}

/// A range of callback keys that a track is in. See [`AnimationController::ranges`].
///
/// ```
/// # use bevy_marionette::{controller::AnimationController, model::ClipTiming};
/// let mut slash = ClipTiming::new("slash", 1.0);
/// slash.add_range(0.25, 0.75, "trail", "red");
/// # let mut controller = AnimationController::playing("slash");
/// # controller.advance(0.5, &[slash], &mut Vec::new())?;
/// for range in controller.ranges().filter(|range| range.name == "trail") {
///     // The trail of the sword becomes thinner toward the end.
///     let (color, width) = (range.data.to::<String>()?, 1.0 - range.progress);
///     assert_eq!((&*color, width), ("red", 0.5));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveRange<'a> {
    /// The track.
    pub track: TrackId,
    /// The name of its clip, or of the clip in its blend space.
    pub clip: &'a str,
    /// The range's key.
    #[doc(hidden)]
    pub key: KeyRef,
    /// The range's name.
    pub name: &'a str,
    /// The range's data.
    pub data: &'a CallbackData,
    /// Progress of the track from the range's start in the clip, 0, to its end, 1.
    pub progress: f64,
    /// The track's weight; of a blend space, that of the whole.
    pub weight: f32,
}

/// # Ranges
///
/// Callback keys with an [end](crate::model::CallbackKey::until), such as the part of a swing in which a sword hits.
impl AnimationController {
    /// Returns the ranges that tracks are in, in the order they began.
    ///
    /// These are the ones whose [begin](super::CallbackKind::Begin) was reported and whose end was not, so that both ways to
    /// look at them agree; only a range that its track has left since the last advance, by a seek for example, is missing
    /// already. (In a blend space, it is missing after the next advance.)
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::ClipTiming};
    /// let mut slash = ClipTiming::new("slash", 1.0);
    /// slash.add_range(0.25, 0.75, "hit_window", ());
    /// let mut controller = AnimationController::playing("slash");
    /// controller.advance(0.5, &[slash], &mut Vec::new())?;
    /// assert_eq!(controller.range("hit_window").unwrap().progress, 0.5);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    pub fn ranges(&self) -> impl Iterator<Item = ActiveRange<'_>> {
        self.ranges
            .iter()
            .filter(|range| !range.silent)
            .filter_map(|range| {
                let track = self.track(range.track)?;
                let is_there = track.enabled && track.clip == range.clip;
                let known = track.known.filter(|_| is_there)?;
                let (known, position) = match &range.member {
                    Some(member) => (member.known, member.position),
                    None => (known, track.placed()),
                };
                if !range.holds(known, position, track.speed >= 0.0) {
                    return None;
                }
                let place = known.place(position);
                let length = range.until - range.time;
                let progress = if length > 0.0 {
                    ((place - range.time) / length).clamp(0.0, 1.0)
                } else {
                    1.0
                };
                Some(ActiveRange {
                    track: range.track,
                    clip: range.clip(),
                    key: range.key,
                    name: &range.name,
                    data: &range.data,
                    progress,
                    weight: track.share(),
                })
            })
    }

    /// Returns the first range with this name that a track is in. See [`ranges`](Self::ranges).
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::ClipTiming};
    /// let mut slash = ClipTiming::new("slash", 1.0);
    /// slash.add_range(0.25, 0.5, "hit_window", ());
    /// let mut controller = AnimationController::playing("slash");
    /// controller.advance(0.3, &[slash], &mut Vec::new())?;
    /// assert!(controller.range("hit_window").is_some_and(|range| (range.progress - 0.2).abs() < 1e-6));
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    ///
    /// In Bevy, a name that no clip of the character has is logged once.
    pub fn range(&self, name: &str) -> Option<ActiveRange<'_>> {
        let found = self.ranges().find(|range| range.name == name);
        #[cfg(feature = "bevy")]
        if found.is_none() {
            self.agenda.asked.note(name);
        }
        found
    }

    /// Calls `look` with the names of ranges that the game has asked for in vain since the last call.
    #[cfg(feature = "bevy")]
    pub(crate) fn look_at_asked_ranges(&mut self, mut look: impl FnMut(&str, &Self)) {
        for name in self.agenda.asked.names().skip(self.agenda.asked_seen) {
            look(name, self);
        }
        self.agenda.asked_seen = self.agenda.asked.names().count();
    }
}
