//! What an advance reports, and callback keys added to one controller.

use super::{AnimationController, AnimationName, Clips, TrackId};
use crate::model::CallbackKey;
use serde::{Deserialize, Serialize};
use std::{iter, sync::Arc};

/// Something that happened during an advance. Events come in order of time, across all tracks.
///
/// Clips are named by their index in the [`Clips`] given to the advance, times are seconds of
/// [global time](AnimationController::time).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlaybackEvent {
    /// A callback key was passed.
    Callback(Callback),
    /// A track began its clip.
    Started {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// When.
        time: f64,
    },
    /// A loop began a new round, or a ping-pong a new way there and back.
    Looped {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// When.
        time: f64,
    },
    /// A clip that plays once reached its end, or its start in reverse.
    Finished {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// When.
        time: f64,
    },
    /// A cross-fade is over: its clip plays alone.
    CrossFadeFinished {
        /// The track that was faded in.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// When.
        time: f64,
    },
    /// There is no clip of this name. Said once; the track waits in case the clip appears.
    UnknownClip {
        /// The track that was to play it, if it got one.
        track: Option<TrackId>,
        /// The name.
        name: Arc<str>,
        /// When.
        time: f64,
    },
    /// One advance passed more callbacks on a track than [the limit](AnimationController::callback_limit):
    /// the first ones were fired, the others not. Said once per track.
    TooManyCallbacks {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// The limit.
        limit: usize,
        /// When the first was dropped.
        time: f64,
    },
}

impl PlaybackEvent {
    /// Global seconds at which it happened.
    pub fn time(&self) -> f64 {
        match self {
            Self::Callback(Callback { time, .. })
            | Self::Started { time, .. }
            | Self::Looped { time, .. }
            | Self::Finished { time, .. }
            | Self::CrossFadeFinished { time, .. }
            | Self::UnknownClip { time, .. }
            | Self::TooManyCallbacks { time, .. } => *time,
        }
    }

    /// The track it is about.
    pub fn track(&self) -> Option<TrackId> {
        match self {
            Self::Callback(Callback { track, .. })
            | Self::Started { track, .. }
            | Self::Looped { track, .. }
            | Self::Finished { track, .. }
            | Self::CrossFadeFinished { track, .. }
            | Self::TooManyCallbacks { track, .. } => Some(*track),
            Self::UnknownClip { track, .. } => *track,
        }
    }
}

/// A callback key that was passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Callback {
    /// The track.
    pub track: TrackId,
    /// Its clip.
    pub clip: usize,
    /// Which key it is; [`AnimationController::callback_data`] finds its data.
    pub key: KeyRef,
    /// The key's name.
    pub name: Arc<str>,
    /// The key's place in the clip, seconds.
    pub key_time: f64,
    /// Global seconds at which it was passed.
    pub time: f64,
    /// The track's weight at that moment; may be 0.
    pub weight: f32,
}

/// Whose callback key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRef {
    /// The clip's own: index into [`ClipTiming::callbacks`](crate::model::ClipTiming::callbacks).
    Clip(usize),
    /// Added to the controller.
    Added(CallbackId),
}

/// Names a callback added to one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct CallbackId(u64);

/// Where in a clip a callback lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallbackTime {
    /// Seconds from the start, clamped to the clip.
    Seconds(f64),
    /// Fraction of the length, `0..=1`.
    Fraction(f64),
    /// The end.
    End,
}

impl From<f64> for CallbackTime {
    fn from(seconds: f64) -> Self {
        Self::Seconds(seconds)
    }
}

impl CallbackTime {
    /// Seconds from the start of a clip of a given length; 0 for what is not finite.
    fn seconds(self, length: f64) -> f64 {
        match self {
            Self::Seconds(seconds) => clamped(seconds, length),
            Self::Fraction(fraction) => clamped(fraction * length, length),
            Self::End => length,
        }
    }
}

#[inline]
fn clamped(time: f64, length: f64) -> f64 {
    if time.is_finite() { time.clamp(0.0, length) } else { 0.0 }
}

/// A callback added to a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddedCallback {
    id: CallbackId,
    clip: AnimationName,
    time: CallbackTime,
    /// Fires at every n-th passing, ≥ 1.
    every: u32,
    /// Passings so far.
    passed: u32,
    name: AnimationName,
    data: ron::Value,
}

/// An added callback as a key of a track's clip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedKey {
    time: f64,
    /// Index among the controller's callbacks.
    index: usize,
}

/// A key on the way, the clip's or the controller's, by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyIndex {
    Clip(usize),
    Added(usize),
}

/// Callback keys of this controller alone, beside those the clips bring along.
impl AnimationController {
    /// Fires a callback whenever a track passes a place in a clip.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, CallbackTime};
    /// let mut controller = AnimationController::playing("walk");
    /// let end = controller.add_callback("walk", CallbackTime::End, "turn", ron::Value::Unit);
    /// controller.add_callback("walk", 0.3, "footstep", "left".to_owned().into());
    /// controller.set_every_nth(end, 4);
    /// ```
    pub fn add_callback(
        &mut self,
        clip: impl Into<Arc<str>>,
        time: impl Into<CallbackTime>,
        name: impl Into<Arc<str>>,
        data: ron::Value,
    ) -> CallbackId {
        let id = CallbackId(self.next_id());
        let (clip, name) = (AnimationName::new(clip), AnimationName::new(name));
        self.callbacks.push(AddedCallback { id, clip, time: time.into(), every: 1, passed: 0, name, data });
        self.forget_added_keys();
        id
    }

    /// Lets a callback fire at every n-th passing only, counted from now, over all tracks. 0 counts as 1.
    pub fn set_every_nth(&mut self, callback: CallbackId, n: u32) {
        if let Some(callback) = self.callbacks.iter_mut().find(|added| added.id == callback) {
            (callback.every, callback.passed) = (n.max(1), 0);
        }
    }

    /// Takes a callback away. Whether there was such a callback.
    pub fn remove_callback(&mut self, callback: CallbackId) -> bool {
        let before = self.callbacks.len();
        self.callbacks.retain(|added| added.id != callback);
        self.forget_added_keys();
        self.callbacks.len() < before
    }

    /// The data of a callback that was fired, as long as its key exists.
    pub fn callback_data<'a, C: Clips + ?Sized>(&'a self, callback: &Callback, clips: &'a C) -> Option<&'a ron::Value> {
        match callback.key {
            KeyRef::Clip(key) => clips.timing(callback.clip)?.callbacks.get(key).map(|key| &key.data),
            KeyRef::Added(id) => self.callbacks.iter().find(|added| added.id == id).map(|added| &added.data),
        }
    }

    fn forget_added_keys(&mut self) {
        for track in &mut self.tracks {
            track.run.0.added_for = None;
        }
    }
}

impl AddedCallback {
    pub(crate) fn id(&self) -> CallbackId {
        self.id
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        self.name.as_arc()
    }

    /// Counts a passing. Whether it is an n-th one.
    pub(crate) fn counts(&mut self) -> bool {
        self.passed += 1;
        let fires = self.passed >= self.every;
        if fires {
            self.passed = 0;
        }
        fires
    }
}

/// Brings `keys` up to date: the added callbacks for a clip, in order of time.
pub(crate) fn collect_added(all: &[AddedCallback], clip: &AnimationName, length: f64, keys: &mut Vec<AddedKey>) {
    keys.clear();
    let ours = all.iter().enumerate().filter(|(_, added)| added.clip == *clip);
    keys.extend(ours.map(|(index, added)| AddedKey { time: added.time.seconds(length), index }));
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
}

/// The keys of a clip and those added to it, in order of time from either end; at equal times the clip's
/// own come first.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
    clip: iter::Enumerate<std::slice::Iter<'a, CallbackKey>>,
    added: std::slice::Iter<'a, AddedKey>,
    length: f64,
}

/// Keys from both lists.
pub(crate) fn keys<'a>(clip: &'a [CallbackKey], added: &'a [AddedKey], length: f64) -> Keys<'a> {
    Keys { clip: clip.iter().enumerate(), added: added.iter(), length }
}

/// The times of both lists, in no order.
#[inline]
pub(crate) fn times(clip: &[CallbackKey], added: &[AddedKey], length: f64) -> impl Iterator<Item = f64> {
    clip.iter().map(move |key| clamped(key.time, length)).chain(added.iter().map(|key| key.time))
}

impl Keys<'_> {
    fn own(&self, (index, key): (usize, &CallbackKey)) -> (f64, KeyIndex) {
        (clamped(key.time, self.length), KeyIndex::Clip(index))
    }
}

fn added_key(key: &AddedKey) -> (f64, KeyIndex) {
    (key.time, KeyIndex::Added(key.index))
}

impl Iterator for Keys<'_> {
    type Item = (f64, KeyIndex);

    fn next(&mut self) -> Option<Self::Item> {
        let own = self.clip.clone().next().map(|key| self.own(key));
        let added = self.added.clone().next().map(added_key);
        match (own, added) {
            (Some(own), Some(added)) if added.0 < own.0 => self.added.next().map(added_key),
            (None, _) => self.added.next().map(added_key),
            (Some(own), _) => {
                self.clip.next();
                Some(own)
            }
        }
    }
}

impl DoubleEndedIterator for Keys<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let own = self.clip.clone().next_back().map(|key| self.own(key));
        let added = self.added.clone().next_back().map(added_key);
        match (own, added) {
            (Some(own), Some(added)) if own.0 > added.0 => {
                self.clip.next_back();
                Some(own)
            }
            (Some(own), None) => {
                self.clip.next_back();
                Some(own)
            }
            (_, _) => self.added.next_back().map(added_key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_both_lists_come_in_order_from_either_end() {
        let own = [0.0, 0.5, 0.5, 1.0].map(|time| CallbackKey { time, name: "".into(), data: ron::Value::Unit });
        let mut added: Vec<AddedKey> = Vec::new();
        for (index, time) in [0.25, 0.5, 1.0].into_iter().enumerate() {
            added.push(AddedKey { time, index });
        }
        use KeyIndex::{Added, Clip};
        let order: Vec<_> = keys(&own, &added, 1.0).map(|(_, key)| key).collect();
        assert_eq!(order, [Clip(0), Added(0), Clip(1), Clip(2), Added(1), Clip(3), Added(2)]);
        let back: Vec<_> = keys(&own, &added, 1.0).rev().map(|(_, key)| key).collect();
        assert!(back.iter().eq(order.iter().rev()));
        assert_eq!(keys(&own, &[], 1.0).rev().count(), 4);
        assert_eq!(keys(&[], &added, 1.0).count(), 3);
    }
}
