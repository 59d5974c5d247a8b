//! Callbacks of one controller, in addition to those of the clips.

use super::{AnimationController, AnimationName, CallbackId, CallbackTime};
use crate::{controller::key::AddedCallback, model::CallbackData};
use std::sync::Arc;

/// # Callbacks
impl AnimationController {
    /// Returns the callback keys of this controller alone, which it has in addition to those of its clips.
    ///
    /// To learn which callbacks lie ahead, [advance](Self::advance) a clone.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, CallbackTime}, model::CallbackData};
    /// let mut controller = AnimationController::playing("walk");
    /// controller.callbacks_mut().add("walk", 0.3, "footstep", "left");
    /// controller.callbacks_mut().add("walk", 0.8, "footstep", CallbackData::new(&("right", 0.5))?);
    /// let turn = controller.callbacks_mut().add("walk", CallbackTime::End, "turn", ());
    /// controller.callbacks_mut().set_every_nth(turn, 4);
    /// # Ok::<(), ron::Error>(())
    /// ```
    pub fn callbacks_mut(&mut self) -> CallbacksMut<'_> {
        CallbacksMut(self)
    }
}

/// The callback keys of one controller, mutably. See [`AnimationController::callbacks_mut`].
#[derive(Debug)]
pub struct CallbacksMut<'a>(&'a mut AnimationController);

impl CallbacksMut<'_> {
    /// Fires a callback whenever a track passes a place in a clip, and returns the callback's id.
    pub fn add(
        &mut self,
        clip: impl Into<Arc<str>>,
        time: impl Into<CallbackTime>,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> CallbackId {
        let id = CallbackId(self.0.next_id());
        let (clip, name) = (AnimationName::new(clip), AnimationName::new(name));
        self.0.extras.callbacks.push(AddedCallback {
            id,
            clip,
            time: time.into().sound(),
            until: None,
            every: 1,
            passed: 0,
            name,
            data: data.into(),
        });
        self.0.forget_added_keys();
        id
    }

    /// Reports whenever a track enters or leaves a part of a clip, and returns the callback's id. See
    /// [`ranges`](AnimationController::ranges).
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, CallbackTime};
    /// let mut controller = AnimationController::playing("slash");
    /// controller.callbacks_mut().add_range("slash", 0.25, 0.5, "hit_window", ());
    /// controller.callbacks_mut().add_range("slash", CallbackTime::Fraction(0.8), CallbackTime::End, "may_chain", ());
    /// ```
    pub fn add_range(
        &mut self,
        clip: impl Into<Arc<str>>,
        begin: impl Into<CallbackTime>,
        end: impl Into<CallbackTime>,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> CallbackId {
        let id = self.add(clip, begin, name, data);
        if let Some(added) = self.0.extras.callbacks.last_mut() {
            added.until = Some(end.into().sound());
        }
        id
    }

    /// Makes a callback fire only every n-th time it is passed, counted from now over all tracks. 0 counts as 1.
    pub fn set_every_nth(&mut self, callback: CallbackId, n: u32) {
        if let Some(callback) = self.0.callback_mut(callback) {
            (callback.every, callback.passed) = (n.max(1), 0);
        }
    }

    /// Removes a callback. Returns `false` if it did not exist.
    pub fn remove(&mut self, callback: CallbackId) -> bool {
        let callbacks = &mut self.0.extras.callbacks;
        let Some(at) = callbacks.iter().position(|added| added.id == callback) else {
            return false;
        };
        callbacks.remove(at);
        self.0.forget_added_keys();
        true
    }
}

impl AnimationController {
    pub(super) fn callback_mut(&mut self, callback: CallbackId) -> Option<&mut AddedCallback> {
        self.extras
            .callbacks
            .iter_mut()
            .find(|added| added.id == callback)
    }

    fn forget_added_keys(&mut self) {
        self.change();
        for track in &mut self.tracks {
            track.run.stamp = None;
        }
    }
}
