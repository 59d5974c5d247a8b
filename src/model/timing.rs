//! When a clip starts, ends, repeats and calls back: all the controller needs to know of it.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What happens at a clip's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum Playback {
    /// Starts over.
    #[default]
    Loop,
    /// Holds the last frame.
    Once,
    /// Runs back to the start, and forward again.
    PingPong,
}

/// A moment of a clip that listeners hear about.
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackKey {
    /// Seconds from the clip's start, in `0..=duration`.
    pub time: f64,
    /// Name, such as `footstep`.
    pub name: Arc<str>,
    /// Any RON value for the listener; `()` when there is nothing to say.
    pub data: ron::Value,
}

/// A clip's name, length, playback and callback keys.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipTiming {
    /// Name, unique within a character.
    pub name: Arc<str>,
    /// Length in seconds, finite and ≥ 0. A clip of length 0 is a single pose.
    pub duration: f64,
    /// What happens at the end.
    pub playback: Playback,
    /// Callback keys in order of time.
    pub callbacks: Vec<CallbackKey>,
}

impl ClipTiming {
    /// A looping clip without callback keys.
    pub fn new(name: impl Into<Arc<str>>, duration: f64) -> Self {
        Self { name: name.into(), duration, playback: Playback::Loop, callbacks: Vec::new() }
    }

    /// Adds a callback key, keeping the keys in order of time (and of addition where times are equal).
    ///
    /// Times outside the clip are clamped into it; a time that is not finite becomes 0.
    pub fn add_callback(&mut self, time: f64, name: impl Into<Arc<str>>, data: ron::Value) {
        let time = if time.is_finite() { time.clamp(0.0, self.duration) } else { 0.0 };
        let at = self.callbacks.partition_point(|key| key.time <= time);
        self.callbacks.insert(at, CallbackKey { time, name: name.into(), data });
    }

    /// The place in the clip, in `0..=duration`, of an unwrapped position in seconds.
    ///
    /// Loop: `rem_euclid`; Once: clamped; PingPong: `m = rem_euclid(p, 2P)`, `m ≤ P ? m : 2P − m`.
    /// A clip of length 0, or a position that is not finite, gives 0.
    pub fn periodic(&self, position: f64) -> f64 {
        let length = self.duration;
        if length <= 0.0 || !position.is_finite() {
            return 0.0;
        }
        match self.playback {
            Playback::Loop => position.rem_euclid(length),
            Playback::Once => position.clamp(0.0, length),
            Playback::PingPong => {
                let turn = position.rem_euclid(2.0 * length);
                if turn <= length { turn } else { 2.0 * length - turn }
            }
        }
    }
}
