//! Callbacks of one controller, in addition to those of the clips.

use super::{AnimationController, AnimationName, CallbackId, CallbackTime};
use crate::{
    controller::key::{AddedCallback, index_of},
    model::CallbackData,
};
use std::sync::Arc;

/// # Callbacks
impl AnimationController {
    /// Fires a callback whenever a track passes a place in a clip, and returns the callback's id.
    ///
    /// It is a key of this controller alone, in addition to those of its clips. To learn which callbacks lie ahead,
    /// [advance](Self::advance) a clone.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, CallbackTime}, model::CallbackData};
    /// let mut controller = AnimationController::playing("walk");
    /// controller.add_callback("walk", 0.3, "footstep", "left");
    /// controller.add_callback("walk", 0.8, "footstep", CallbackData::new(&("right", 0.5))?);
    /// let turn = controller.add_callback("walk", CallbackTime::End, "turn", ());
    /// controller.set_callback_every_nth(turn, 4);
    /// # Ok::<(), ron::Error>(())
    /// ```
    pub fn add_callback(
        &mut self,
        clip: impl Into<Arc<str>>,
        time: impl Into<CallbackTime>,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> CallbackId {
        let id = CallbackId(self.tracks.next_id());
        let (clip, name) = (AnimationName::new(clip), AnimationName::new(name));
        self.tracks.callbacks.push(AddedCallback {
            id,
            clip,
            time: time.into().sound(),
            until: None,
            every: 1,
            passed: 0,
            name,
            data: data.into(),
        });
        self.forget_added_keys();
        id
    }

    /// Reports whenever a track enters or leaves a part of a clip, and returns the callback's id. See
    /// [`ranges`](Self::ranges).
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, CallbackTime};
    /// let mut controller = AnimationController::playing("slash");
    /// controller.add_callback_range("slash", 0.25, 0.5, "hit_window", ());
    /// controller.add_callback_range("slash", CallbackTime::Fraction(0.8), CallbackTime::End, "may_chain", ());
    /// ```
    pub fn add_callback_range(
        &mut self,
        clip: impl Into<Arc<str>>,
        begin: impl Into<CallbackTime>,
        end: impl Into<CallbackTime>,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> CallbackId {
        let id = self.add_callback(clip, begin, name, data);
        if let Some(added) = self.tracks.callbacks.last_mut() {
            added.until = Some(end.into().sound());
        }
        id
    }

    /// Makes a callback fire only every n-th time it is passed, counted from now over all tracks. 0 counts as 1.
    pub fn set_callback_every_nth(&mut self, callback: CallbackId, n: u32) {
        if let Some(at) = index_of(&self.tracks.callbacks, callback) {
            let added = &mut self.tracks.callbacks[at];
            (added.every, added.passed) = (n.max(1), 0);
        }
    }

    /// Removes a callback. Returns `false` if it did not exist.
    pub fn remove_callback(&mut self, callback: CallbackId) -> bool {
        let Some(at) = index_of(&self.tracks.callbacks, callback) else {
            return false;
        };
        self.tracks.callbacks.remove(at);
        self.forget_added_keys();
        true
    }
}

impl AnimationController {
    /// Returns the names of the clips and blend spaces that have callbacks of this controller.
    #[cfg(feature = "bevy")]
    pub(crate) fn clips_of_callbacks(&self) -> impl Iterator<Item = &str> {
        self.tracks.callbacks.iter().map(|added| &*added.clip)
    }

    /// Returns the names of the ranges that were added to this controller.
    #[cfg(feature = "bevy")]
    pub(crate) fn added_ranges(&self) -> impl Iterator<Item = &str> + Clone {
        let ranges = self.tracks.callbacks.iter();
        let ranges = ranges.filter(|added| added.until.is_some());
        ranges.map(|added| &*added.name)
    }

    fn forget_added_keys(&mut self) {
        self.change();
        for track in self.tracks.iter_mut() {
            track.run.source = Default::default();
        }
    }
}
