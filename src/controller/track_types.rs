//! Tracks: each plays one clip or blend space, with a weight, a speed and a position.

use super::{
    Clips,
    compensated::CompensatedF64,
    course::Course,
    key::{self, AddedCallback, AddedKey},
    name::AnimationName,
    playhead,
    rare::Rare,
    steering::Steering,
};
use crate::model::{ClipTiming, PlaybackMode};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// Identifies a track of one controller. Not reused after the track is removed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TrackId(pub(crate) u64);

/// The group of tracks that a track is blended with first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum TrackPriority {
    /// The base of the pose.
    #[default]
    Low,
    /// Blended with the low group by the [priority blend](super::AnimationController::priority_blend).
    High,
}

/// How a track's pose joins the poses of its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum BlendMode {
    /// Averaged with the other tracks by weight.
    #[default]
    Blend,
    /// Adds the clip, which holds differences to a reference pose, times the weight, to the blended pose.
    Additive,
    /// Replaces the tracks below it, by weight and mask.
    Override,
}

/// A clip or [blend space](Self::blend_space) to play, with its weight, speed and position.
///
/// A track is built with [`new`](Self::new) and handed to
/// [`add_track`](super::AnimationController::add_track) or [`play_over`](super::AnimationController::play_over).
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, TrackPriority};
/// let mut controller = AnimationController::playing("walk");
/// let wave = controller.add_track(AnimationTrack::new("wave").priority(TrackPriority::High).mask("upper_body"));
/// controller.track_mut(wave).unwrap().speed = 1.5;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct AnimationTrack {
    /// If `false`, the track does not move, has no part in the pose and fires nothing.
    pub enabled: bool,
    /// Weight in the blend. Negative and non-finite weights count as 0. A track of weight 0 still plays and fires.
    pub weight: f32,
    /// Seconds of clip per second. Negative plays backwards; a non-finite speed counts as 0. In a blend space, 1 plays
    /// clips at their own speed.
    pub speed: f64,
    /// If `true`, the position holds while the pose stays in the blend.
    pub paused: bool,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// How it joins its group; `None` is additive for additive clips and [`BlendMode::Blend`] for all others.
    pub blend: Option<BlendMode>,
    /// Name of the mask that selects the joints it moves; `None` selects all.
    pub mask: Option<AnimationName>,
    /// Playback in place of the clip's own.
    pub playback: Option<PlaybackMode>,
    /// Tracks of one sync group stay in phase, at the same fraction of their lengths. The heaviest enabled one leads at
    /// its own speed; when another one becomes heavier it takes over the pace, and nothing jumps. Of equals, the one
    /// that leads already or else the first stays ahead. `u32::MAX` is reserved for the controller.
    pub sync: Option<u32>,

    pub(super) id: TrackId,
    pub(super) clip: AnimationName,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) position: CompensatedF64,
    /// The parameters of a blend space.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) steering: Rare<Steering>,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) start: Start,
    /// Where the next advance moves it, firing the keys on the way.
    pub(super) scrub: Option<f64>,
    /// Length and playback of the clip when it was last looked up.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) known: Option<Known>,
    /// When the track, fading out, is removed, in seconds of global time.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) leaves_at: Option<f64>,
    /// How it fades out by itself.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) overlay: Option<Box<Overlay>>,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) role: Role,
    /// Seconds by which it lags behind the phase of its sync group: whole rounds that the others had played when it
    /// joined, or have played while it waited at its end.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) phase: f64,
    /// The sync group that it leads.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) leads: Option<u32>,
    /// Set once `BlendMismatch` has been reported.
    pub(super) reported_blend: bool,
    /// Set once `TooManyCallbacks` has been reported.
    pub(super) reported_flood: bool,
    #[serde(skip)]
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) run: Transient<Run>,
}

/// Where a track begins, until it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// At its position; the keys right there fire.
    #[default]
    AtPosition,
    /// At the clip's end; the keys right there fire.
    AtEnd,
    /// Where it was placed by a seek; the keys right there do not fire.
    Placed,
    /// It has begun.
    Begun,
}

/// Who manages a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// The user.
    #[default]
    User,
    /// `play`, `cross_fade` and the queue.
    Playback,
}

/// How a track added by `play_over` fades out when its clip ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overlay {
    pub(crate) fade_in: Duration,
    pub(crate) fade_out: Duration,
    /// Speed it was added with.
    pub(crate) speed: f64,
}

/// The length and playback of a track's clip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Seconds, finite and ≥ 0.
    pub(crate) length: f64,
    pub(crate) playback: PlaybackMode,
}

impl Known {
    /// The clip's, with the track's own playback if it has one.
    pub(crate) fn new(timing: &ClipTiming, playback: Option<PlaybackMode>) -> Self {
        let length = if timing.duration.is_finite() {
            timing.duration.max(0.0)
        } else {
            0.0
        };
        Self {
            length,
            playback: playback.unwrap_or(timing.playback),
        }
    }
}

/// What each advance works out again: not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The clip's index, if the clip exists; for a blend space, the heaviest clip's.
    pub(super) index: Option<usize>,
    /// The blend space's index, if it is one.
    pub(super) space: Option<usize>,
    /// What it does in the blend space until the next cut.
    pub(super) course: Option<Box<Course>>,
    /// The controller's own keys for this clip, in order of time, and the clip and length they are for.
    pub(super) added: Rare<Vec<AddedKey>>,
    pub(super) added_for: Option<Box<(AnimationName, u64)>>,
    /// The blend mode that was checked against the clip.
    pub(super) blend: Option<BlendMode>,
    /// Callbacks fired and rounds reported in this advance.
    pub(super) fired: usize,
    pub(super) looped: usize,
    /// Position at the last cut, and where it reversed since, for tracks that follow.
    pub(super) from: f64,
    pub(super) turn: f64,
}

/// Wraps what is not part of the state: all values are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transient<T>(pub(crate) T);

impl<T> PartialEq for Transient<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Default for AnimationTrack {
    /// Returns a disabled track without a clip, with weight and speed 1: an empty track of D3DX.
    fn default() -> Self {
        Self {
            enabled: false,
            weight: 1.0,
            speed: 1.0,
            paused: false,
            priority: TrackPriority::Low,
            blend: None,
            mask: None,
            playback: None,
            sync: None,
            id: TrackId(0),
            clip: AnimationName::default(),
            position: CompensatedF64::ZERO,
            steering: Rare::default(),
            start: Start::AtPosition,
            scrub: None,
            known: None,
            leaves_at: None,
            overlay: None,
            role: Role::User,
            phase: 0.0,
            leads: None,
            reported_blend: false,
            reported_flood: false,
            run: Transient::default(),
        }
    }
}

/// # Building a track
impl AnimationTrack {
    /// Creates an enabled track that plays a clip from its start, with weight and speed 1 and low priority.
    pub fn new(clip: impl Into<Arc<str>>) -> Self {
        Self {
            enabled: true,
            clip: AnimationName::new(clip),
            ..Self::default()
        }
    }

    /// Sets [`enabled`](#structfield.enabled).
    pub fn enabled(self, enabled: bool) -> Self {
        Self { enabled, ..self }
    }

    /// Sets [`weight`](#structfield.weight).
    pub fn weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Sets [`speed`](#structfield.speed).
    pub fn speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// Sets [`priority`](#structfield.priority).
    pub fn priority(self, priority: TrackPriority) -> Self {
        Self { priority, ..self }
    }

    /// Sets [`blend`](#structfield.blend).
    pub fn blend(self, blend: BlendMode) -> Self {
        Self {
            blend: Some(blend),
            ..self
        }
    }

    /// Sets [`mask`](#structfield.mask).
    pub fn mask(self, mask: impl Into<Arc<str>>) -> Self {
        Self {
            mask: Some(AnimationName::new(mask)),
            ..self
        }
    }

    /// Sets [`playback`](#structfield.playback).
    pub fn playback(self, playback: PlaybackMode) -> Self {
        Self {
            playback: Some(playback),
            ..self
        }
    }

    /// Sets [`sync`](#structfield.sync).
    pub fn sync(self, group: u32) -> Self {
        Self {
            sync: Some(group),
            ..self
        }
    }

    /// Sets the position to begin at, in seconds of clip. The keys right there fire as it begins.
    pub fn starting_at(self, position: f64) -> Self {
        Self {
            position: CompensatedF64::new(position),
            start: Start::AtPosition,
            ..self
        }
    }

    /// Negates the speed and begins at the end, to play backwards from there.
    pub fn reversed(self) -> Self {
        Self {
            speed: -self.speed,
            start: Start::AtEnd,
            ..self
        }
    }
}

/// # Clip and position
impl AnimationTrack {
    /// Returns the track's id.
    pub fn id(&self) -> TrackId {
        self.id
    }

    /// Returns the name of the clip or blend space; empty if there is none.
    pub fn clip(&self) -> &str {
        &self.clip
    }

    /// Plays another clip or blend space from its start. To play the same clip again, use [`restart`](Self::restart).
    pub fn set_clip(&mut self, clip: impl Into<Arc<str>>) {
        self.clip = AnimationName::new(clip);
        self.reported_blend = false;
        self.known = None;
        (self.run.0.index, self.run.0.space) = (None, None);
        self.restart();
    }

    /// Returns the place in the clip in seconds, `0..=duration`; 0 until the clip is known.
    ///
    /// For a blend space, all positions are phases: a cycle goes from 0 to 1, however long it takes.
    pub fn position(&self) -> f64 {
        self.known.map_or(0.0, |known| {
            playhead::periodic(known.playback, known.length, self.placed())
        })
    }

    /// Returns the position in seconds of clip without wrapping it: a clip of 1 s is at 2 to 3 in its third round.
    ///
    /// A clip that plays once stays within its ends.
    pub fn unwrapped_position(&self) -> f64 {
        self.held().value()
    }

    /// Moves to a position without firing callbacks; keys right there do not fire either.
    ///
    /// Nothing is reported: moved to its end, a clip that plays once [is finished](Self::is_finished) without a
    /// `Finished` event. The position may be [unwrapped](Self::unwrapped_position); a non-finite one counts as 0.
    pub fn seek(&mut self, position: f64) {
        self.position = CompensatedF64::new(position);
        self.start = if self.start == Start::Begun {
            Start::Begun
        } else {
            Start::Placed
        };
        self.scrub = None;
    }

    /// Moves to an [unwrapped](Self::unwrapped_position) position at the next advance and fires the keys on the way,
    /// even while paused. To stay within the present round, use [`scrub_to`](Self::scrub_to).
    ///
    /// A non-finite position counts as 0.
    pub fn scrub(&mut self, position: f64) {
        self.scrub = Some(if position.is_finite() { position } else { 0.0 });
    }

    /// Moves to a place in the clip at the next advance and fires the keys on the way, even while paused. Stays
    /// within the present round of a loop, or on the present way of a ping-pong clip.
    ///
    /// Tracks of the same [sync](Self::sync) group move along and fire their keys.
    pub fn scrub_to(&mut self, place: f64) {
        let known = self.known.unwrap_or(Known {
            length: 0.0,
            playback: PlaybackMode::Once,
        });
        let Known { length, playback } = known;
        let within = playhead::in_same_round(playback, length, self.placed(), place);
        self.scrub(if self.known.is_some() { within } else { place });
    }

    /// Starts the clip over, from its end if the speed is negative.
    pub fn restart(&mut self) {
        self.position = CompensatedF64::ZERO;
        self.start = if self.speed < 0.0 {
            Start::AtEnd
        } else {
            Start::AtPosition
        };
        self.scrub = None;
    }

    /// Returns the length of the clip in seconds, once the clip is known. For a blend space, that is 1: see
    /// [`BoundBlendSpace::cycle_length`](crate::model::BoundBlendSpace::cycle_length).
    pub fn duration(&self) -> Option<f64> {
        self.known.map(|known| known.length)
    }

    /// Returns `true` if a [`PlaybackMode::Once`] clip is at its end (at its start, if the speed is negative).
    pub fn is_finished(&self) -> bool {
        self.known.is_some_and(|Known { length, playback }| {
            let position = self.placed();
            let at_end = if self.speed < 0.0 {
                position <= 0.0
            } else {
                position >= length
            };
            playback == PlaybackMode::Once && at_end
        })
    }

    /// The position, even before a start at the clip's end has been carried out.
    pub(super) fn placed(&self) -> f64 {
        self.known
            .map_or(self.position.value(), |known| self.placed_in(known.length))
    }

    /// The position in a clip of a given length.
    #[inline]
    pub(super) fn placed_in(&self, length: f64) -> f64 {
        if self.start == Start::AtEnd {
            length
        } else {
            self.position.value()
        }
    }

    /// The position, within the clip if it plays once.
    #[inline]
    pub(super) fn held(&self) -> CompensatedF64 {
        self.hold(self.position)
    }

    /// A position, within the clip if it plays once.
    #[inline]
    pub(super) fn hold(&self, position: CompensatedF64) -> CompensatedF64 {
        let value = position.value();
        match self.known {
            Some(Known {
                length,
                playback: PlaybackMode::Once,
            }) if playhead::held(length, value) != value => {
                CompensatedF64::new(playhead::held(length, value))
            }
            _ => position,
        }
    }

    /// Moves a track that follows to its place, if it is off by more than rounding: it has just joined, or its
    /// leader was moved.
    pub(super) fn align(&mut self, position: f64) {
        if (self.position.value() - position).abs() > 1e-9 * position.abs().max(1.0) {
            self.position = CompensatedF64::new(position);
        }
    }

    /// The weight; 0 if it is negative or not finite.
    #[inline]
    pub(super) fn share(&self) -> f32 {
        if self.weight.is_finite() {
            self.weight.max(0.0)
        } else {
            0.0
        }
    }

    /// Finds the clip: at the cached index while the name fits, else by name.
    #[inline]
    pub(super) fn find<'c, C: Clips + ?Sized>(
        &self,
        clips: &'c C,
    ) -> Option<(usize, &'c ClipTiming)> {
        if self.clip.is_empty() {
            return None;
        }
        let found = |index: usize| clips.timing(index).map(|timing| (index, timing));
        let cached = self
            .run
            .0
            .index
            .and_then(found)
            .filter(|(_, timing)| self.clip.is(&timing.name));
        cached.or_else(|| clips.index_of(&self.clip).and_then(found))
    }

    /// Returns `true` if the list of added keys is for this clip at its length.
    pub(super) fn added_fit(&self) -> bool {
        let length = self.known.map_or(0.0, |known| known.length);
        let fits = |(clip, bits): &(AnimationName, u64)| {
            clip.is(self.clip.as_arc()) && *bits == length.to_bits()
        };
        self.run.0.added_for.as_deref().is_some_and(fits)
    }

    /// Brings the list of added keys up to date.
    pub(super) fn collect_added<C: Clips + ?Sized>(
        &mut self,
        callbacks: &[AddedCallback],
        clips: &C,
    ) {
        if let Some(space) = self
            .run
            .0
            .space
            .and_then(|space| clips.blend_spaces().get(space))
        {
            self.collect_members_added(callbacks, space);
        }
        if !self.added_fit() {
            let length = self.known.map_or(0.0, |known| known.length);
            key::collect_added(callbacks, &self.clip, length, &mut self.run.0.added);
            self.run.0.added_for = Some(Box::new((self.clip.clone(), length.to_bits())));
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        let known = self
            .known
            .is_none_or(|known| known.length.is_finite() && known.length >= 0.0);
        let places = [self.leaves_at, self.scrub, Some(self.phase)]
            .into_iter()
            .flatten()
            .all(f64::is_finite);
        if known && places && self.steering.is_sound() {
            Ok(())
        } else {
            Err("its clip's length or one of its times is not finite")
        }
    }

    /// Looks the clip or blend space up and carries out a start at its end. Returns `false` if it does not exist.
    pub(super) fn prepare<C: Clips + ?Sized>(&mut self, time: CompensatedF64, clips: &C) -> bool {
        let Some((index, timing)) = self.find(clips) else {
            return self.prepare_space(time, clips);
        };
        (self.run.0.index, self.run.0.space) = (Some(index), None);
        self.clip.share(&timing.name);
        self.begin_at(Known::new(timing, self.playback));
        true
    }

    /// Notes the length, and carries out a start at the end.
    pub(super) fn begin_at(&mut self, known: Known) {
        self.known = Some(known);
        if self.start == Start::AtEnd {
            self.position = CompensatedF64::new(known.length);
            self.start = Start::AtPosition;
        }
    }
}
