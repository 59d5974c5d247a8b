//! The callback keys of a clip.

use super::{
    CallbackData,
    marks::{ClipToCompile, Compiler, KeySource, KeyToCompile, Marks},
    playback::PlaybackMode,
};
use crate::numbers::finite;
use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::{Arc, OnceLock},
};

/// A moment in a clip that triggers a callback, or a range whose beginning and end do.
///
/// ```
/// # use bevy_marionette::model::ClipTiming;
/// /// Returns the seconds during which an attack can hit, for an AI that chooses one.
/// fn hit_time(attack: &ClipTiming) -> Option<f64> {
///     let hit = attack.callbacks.iter().find(|key| &*key.name == "hit_window")?;
///     Some(hit.until? - hit.time)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackKey {
    /// Seconds from the clip's start, in `0..=duration`.
    pub time: f64,
    /// The end of a range: seconds from the clip's start, at or after `time`. `None` for a moment.
    pub until: Option<f64>,
    /// Name, such as `footstep`.
    pub name: Arc<str>,
    /// Data for the observer; `()` if there is none.
    pub data: CallbackData,
}

/// The callback keys of a clip: a `Vec` that clones share until one of them is changed.
///
/// ```
/// # use bevy_marionette::model::ClipTiming;
/// let mut walk = ClipTiming::new("walk", 1.0);
/// walk.add_callback(0.3, "footstep", "left");
/// walk.callbacks.retain(|key| &*key.name != "footstep");
/// assert!(walk.callbacks.is_empty());
/// ```
#[derive(Clone, Default)]
pub struct CallbackKeys(Option<Arc<Keys>>);

/// Keys, and what is compiled from them when they are first played.
#[derive(Default)]
struct Keys {
    keys: Vec<CallbackKey>,
    marks: PlayedMarks,
}

/// Marks for each [`PlaybackMode`], compiled when they are first asked for.
#[derive(Default)]
pub(in crate::model) struct PlayedMarks([OnceLock<Arc<Marks>>; 3]);

impl PlayedMarks {
    pub(in crate::model) fn get(
        &self,
        playback: PlaybackMode,
        compile: impl FnOnce() -> Marks,
    ) -> &Arc<Marks> {
        self.0[playback as usize].get_or_init(|| Arc::new(compile()))
    }
}

impl CallbackKeys {
    /// Returns `true` if nothing was changed since one was cloned from the other.
    #[inline]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        }
    }

    /// Returns what a track passes that plays them alone in a clip of some length. `None` if there are no keys.
    pub(crate) fn marks(&self, length: f64, playback: PlaybackMode) -> Option<Arc<Marks>> {
        let inner = self.0.as_ref().filter(|inner| !inner.keys.is_empty())?;
        let clip = ClipToCompile::alone(length, playback);
        let compile = || {
            let mut compiler = Compiler::new(length, playback);
            compiler.add(&clip, self.to_compile(length));
            compiler.finish()
        };
        let marks = inner.marks.get(playback, compile);
        // The length is the clip's to change.
        Some(if marks.length() == length {
            marks.clone()
        } else {
            Arc::new(compile())
        })
    }
}

impl CallbackKeys {
    /// Describes the keys in a clip of some length.
    pub(crate) fn to_compile(&self, length: f64) -> impl Iterator<Item = KeyToCompile<'_>> {
        self.iter().enumerate().map(move |(index, key)| {
            let (time, until) = key.span(length);
            KeyToCompile {
                source: KeySource::Clip(index as u32),
                time,
                until,
                name: &key.name,
            }
        })
    }
}

impl Deref for CallbackKeys {
    type Target = Vec<CallbackKey>;

    fn deref(&self) -> &Vec<CallbackKey> {
        static NONE: Vec<CallbackKey> = Vec::new();
        self.0.as_ref().map_or(&NONE, |inner| &inner.keys)
    }
}

impl DerefMut for CallbackKeys {
    fn deref_mut(&mut self) -> &mut Vec<CallbackKey> {
        // What plays the keys as they were has a clone. So these are no longer the same.
        if self
            .0
            .as_mut()
            .is_none_or(|inner| Arc::get_mut(inner).is_none())
        {
            let keys = self.to_vec();
            let marks = PlayedMarks::default();
            self.0 = Some(Arc::new(Keys { keys, marks }));
        }
        let inner = self.0.as_mut().and_then(Arc::get_mut);
        let inner = inner.expect("these keys are new, or nobody else has them");
        inner.marks = PlayedMarks::default();
        &mut inner.keys
    }
}

impl PartialEq for CallbackKeys {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl fmt::Debug for CallbackKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl FromIterator<CallbackKey> for CallbackKeys {
    fn from_iter<I: IntoIterator<Item = CallbackKey>>(keys: I) -> Self {
        let (keys, marks) = (keys.into_iter().collect(), PlayedMarks::default());
        Self(Some(Arc::new(Keys { keys, marks })))
    }
}

impl<'k> IntoIterator for &'k CallbackKeys {
    type Item = &'k CallbackKey;
    type IntoIter = std::slice::Iter<'k, CallbackKey>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl CallbackKey {
    /// Returns its beginning in a clip of some length, and its end if it is a range.
    #[inline]
    pub(crate) fn span(&self, length: f64) -> (f64, Option<f64>) {
        let time = clamped(self.time, length);
        let until = self.until.map(|until| clamped(until, length).max(time));
        (time, until)
    }
}

/// Clamps a time to a clip of some length.
#[inline]
pub(crate) fn clamped(time: f64, length: f64) -> f64 {
    finite(time).clamp(0.0, length)
}
