//! The events that an advance reports.

use super::{AnimationName, BlendMode, Clips, KeyRef, TrackId};
use crate::{model::CallbackData, spelling::did_you_mean};
use serde::{Deserialize, Serialize};
#[cfg(feature = "bevy")]
use std::mem;

/// Something that happened during an advance. Events come in order of time, across all tracks.
///
/// `clip` is the clip's index in the [`Clips`](super::Clips) given to the advance; `time` is in seconds of
/// [global time](super::AnimationController::time).
///
/// ```
/// # use bevy_marionette::{controller::{AnimationController, PlaybackEvent}, model::ClipTiming};
/// let mut walk = ClipTiming::new("walk", 1.0);
/// walk.add_callback(0.25, "footstep", ());
/// let (mut controller, mut events) = (AnimationController::playing("walk"), Vec::new());
/// controller.advance(0.5, &[walk], &mut events)?;
/// let callbacks = events.iter().filter_map(|event| match event {
///     PlaybackEvent::Callback(fired) => Some((&*fired.name, fired.time)),
///     _ => None,
/// });
/// assert!(callbacks.eq([("footstep", 0.25)]));
/// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[non_exhaustive]
pub enum PlaybackEvent {
    /// A track passed a callback key.
    Callback(FiredCallback),
    /// A track began its clip.
    Started {
        /// The track.
        track: TrackId,
        /// Its clip; in a blend space, the heaviest one.
        clip: usize,
        /// The index of its [blend space](super::Clips::blend_spaces), if it plays one.
        space: Option<usize>,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// A looping clip began another loop, or a ping-pong clip came back to its start.
    Looped {
        /// The track.
        track: TrackId,
        /// Its clip; in a blend space, the heaviest one.
        clip: usize,
        /// The index of its [blend space](super::Clips::blend_spaces), if it plays one.
        space: Option<usize>,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// A clip that plays once reached its end, or its start in reverse.
    Finished {
        /// The track.
        track: TrackId,
        /// Its clip; in a blend space, the heaviest one.
        clip: usize,
        /// The index of its [blend space](super::Clips::blend_spaces), if it plays one.
        space: Option<usize>,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// A cross-fade completed.
    CrossFadeFinished {
        /// The track that was faded in.
        track: TrackId,
        /// Its clip; in a blend space, the heaviest one.
        clip: usize,
        /// The index of its [blend space](super::Clips::blend_spaces), if it plays one.
        space: Option<usize>,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// The character is in another [state](super::AnimationController::state), or has entered its state again. States that
    /// it went through at the same moment are left out.
    StateEntered {
        /// The layer; `None` for the whole body.
        layer: Option<AnimationName>,
        /// The state.
        state: AnimationName,
        /// The state before it; `None` at the start.
        from: Option<AnimationName>,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// A track blends an additive clip as a pose, or adds a clip of poses: the result is not what anyone wants. Said
    /// once per track and clip.
    BlendMismatch {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// The track's blend mode. [`AnimationTrack::blend`](super::AnimationTrack::blend) is best left `None`.
        blend: BlendMode,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// More clips of the queue, or states, follow each other than one advance bears: a looping queue of clips without length
    /// never ends. The last one stays until the next advance, which goes on from it. Said once.
    TooManyClips {
        /// The number of those that did follow in this advance.
        limit: usize,
        /// Seconds of global time at which the last one did.
        time: f64,
    },
    /// A track names a clip that does not exist. Reported once per name; the track waits for it to appear.
    UnknownClip {
        /// The track, or `None` for a name in the queue.
        track: Option<TrackId>,
        /// The name.
        name: AnimationName,
        /// Seconds of global time at which it happened.
        time: f64,
    },
    /// More callbacks or loops were passed in one advance than
    /// [the limit](super::AnimationController::callback_limit). The first ones were reported, the rest were dropped.
    /// Said once per track.
    TooManyCallbacks {
        /// The track.
        track: TrackId,
        /// Its clip.
        clip: usize,
        /// The limit.
        limit: usize,
        /// Seconds of global time at which the first one was dropped.
        time: f64,
    },
}

/// Makes an event of what a track plays.
macro_rules! played {
    ($kind:ident, $tracks:expr, $at:expr) => {{
        let (track, clip, space, time) = $tracks.played($at);
        $crate::controller::PlaybackEvent::$kind {
            track,
            clip,
            space,
            time,
        }
    }};
}
pub(super) use played;

impl PlaybackEvent {
    /// Returns when it happened, in seconds of global time.
    pub fn time(&self) -> f64 {
        match self {
            Self::Callback(FiredCallback { time, .. })
            | Self::Started { time, .. }
            | Self::Looped { time, .. }
            | Self::Finished { time, .. }
            | Self::CrossFadeFinished { time, .. }
            | Self::StateEntered { time, .. }
            | Self::UnknownClip { time, .. }
            | Self::BlendMismatch { time, .. }
            | Self::TooManyClips { time, .. }
            | Self::TooManyCallbacks { time, .. } => *time,
        }
    }

    /// Returns the track it happened on.
    pub fn track(&self) -> Option<TrackId> {
        match self {
            Self::Callback(FiredCallback { track, .. })
            | Self::Started { track, .. }
            | Self::Looped { track, .. }
            | Self::Finished { track, .. }
            | Self::CrossFadeFinished { track, .. }
            | Self::BlendMismatch { track, .. }
            | Self::TooManyCallbacks { track, .. } => Some(*track),
            Self::UnknownClip { track, .. } => *track,
            Self::StateEntered { .. } | Self::TooManyClips { .. } => None,
        }
    }

    /// The clip and the blend space that a track plays, and what happens to it.
    fn played(&self) -> Option<(usize, Option<usize>, &'static str)> {
        let (Self::Started { clip, space, .. }
        | Self::Looped { clip, space, .. }
        | Self::Finished { clip, space, .. }
        | Self::CrossFadeFinished { clip, space, .. }) = self
        else {
            return None;
        };
        let what = match self {
            Self::Started { .. } => "starts",
            Self::Looped { .. } => "loops",
            Self::Finished { .. } => "finishes",
            _ => "is faded in",
        };
        Some((*clip, *space, what))
    }

    /// Returns `true` if both are the same event, though maybe heard with another weight or on a track of another number, as
    /// when the past is played again.
    #[cfg(feature = "bevy")]
    pub(crate) fn is_again(&self, other: &Self) -> bool {
        let is_same = match (self, other) {
            (Self::Callback(a), Self::Callback(b)) => {
                (a.clip, a.key, a.kind, &a.name) == (b.clip, b.key, b.kind, &b.name)
            }
            (
                Self::StateEntered {
                    layer: k, state: a, ..
                },
                Self::StateEntered {
                    layer: l, state: b, ..
                },
            ) => (k, a) == (l, b),
            _ => self.played() == other.played(),
        };
        let is_same = is_same && mem::discriminant(self) == mem::discriminant(other);
        is_same && self.time() == other.time()
    }

    /// Says what happened in a few words, such as `footstep (walk)` or `walk loops`. `clips` are those of the advance.
    pub fn describe<C: Clips + ?Sized>(&self, clips: &C) -> String {
        let clip = |index: usize| clips.timing(index).map_or("?", |timing| &*timing.name);
        if let Some((index, space, what)) = self.played() {
            let space = space.and_then(|space| clips.blend_spaces().get(space));
            let name = space.map_or(clip(index), |space| space.name());
            return format!("{name} {what}");
        }
        match self {
            Self::Callback(FiredCallback {
                name,
                kind,
                clip: of,
                ..
            }) => {
                format!("{} ({})", kind.describe(name), clip(*of))
            }
            Self::StateEntered {
                layer: Some(layer),
                state,
                ..
            } => format!("{layer}: state {state}"),
            Self::StateEntered { state, .. } => format!("state {state}"),
            Self::UnknownClip { name, .. } => {
                let timings = (0..).map_while(|index| clips.timing(index));
                let spaces = clips.blend_spaces().iter().map(|space| &**space.name());
                let known = timings.map(|timing| &*timing.name).chain(spaces);
                match did_you_mean(name, known) {
                    Some(hint) => format!("no clip `{name}`; {hint}"),
                    None => format!("no clip `{name}`"),
                }
            }
            Self::BlendMismatch {
                clip: of,
                blend: BlendMode::Additive,
                ..
            } => {
                format!("{} is added, but is not additive", clip(*of))
            }
            Self::BlendMismatch { clip: of, .. } => {
                format!("{} is additive, but is not added", clip(*of))
            }
            Self::TooManyClips { limit, .. } => {
                format!("more than {limit} changes of clip or state in one advance")
            }
            Self::TooManyCallbacks {
                clip: of, limit, ..
            } => format!(
                "more than {limit} callbacks of {} in one advance",
                clip(*of)
            ),
            Self::Started { .. }
            | Self::Looped { .. }
            | Self::Finished { .. }
            | Self::CrossFadeFinished { .. } => String::new(),
        }
    }
}

/// A callback key that a track passed, or a range among the keys that it entered or left.
///
/// ```
/// # use bevy_marionette::controller::PlaybackEvent;
/// fn footsteps(events: &[PlaybackEvent]) -> Result<(), bevy_marionette::ron::Error> {
///     for event in events {
///         if let PlaybackEvent::Callback(step) = event && step.name == "footstep" {
///             println!("{} foot, at a volume of {}", step.data.to::<String>()?, step.weight);
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct FiredCallback {
    /// The track.
    pub track: TrackId,
    /// Its clip; `usize::MAX` at the end of a range whose clip no longer exists.
    pub clip: usize,
    /// The key.
    #[doc(hidden)]
    pub key: KeyRef,
    /// A plain key, or the begin or end of a range.
    pub kind: CallbackKind,
    /// The key's name.
    pub name: AnimationName,
    /// The key's data.
    pub data: CallbackData,
    /// The key's place in the clip, in seconds; for a range, the place where it was entered or left.
    pub clip_time: f64,
    /// Seconds of global time at which it was passed.
    pub time: f64,
    /// The track's weight at that moment, times the clip's in a blend space; may be 0.
    pub weight: f32,
    /// `true` on the [current clip](super::AnimationController::current); `false` on clips that fade out and on the
    /// tracks you added.
    pub current: bool,
}

/// The kind of thing that a [`FiredCallback`] reports.
///
/// ```
/// # use bevy_marionette::controller::{CallbackKind, FiredCallback};
/// fn trail(of_sword: &FiredCallback, visible: &mut bool) {
///     match of_sword.kind {
///         CallbackKind::Begin => *visible = true,
///         CallbackKind::End => *visible = false,
///         CallbackKind::Key => {}
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum CallbackKind {
    /// A key without an end was passed.
    #[default]
    Key,
    /// A range began. Exactly one [`End`](Self::End) follows, with the same track, clip, key, name and data.
    Begin,
    /// A range ended: its track has left it in either direction, started another loop, moved elsewhere, or is gone.
    End,
}

impl CallbackKind {
    /// Says what happened to the key of this name: `swing`, `swing begins` or `swing ends`.
    pub fn describe(self, name: &str) -> String {
        match self {
            Self::Key => name.into(),
            Self::Begin => format!("{name} begins"),
            Self::End => format!("{name} ends"),
        }
    }
}
