//! Tracks: one clip each, with its weight, speed, position and place in the blend.

use super::{Clips, callback::AddedKey, exact::Exact, name::AnimationName, playhead};
use crate::model::{ClipTiming, PlaybackMode};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Names a track of one controller. Never used again after the track is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TrackId(pub(crate) u64);

/// The group in which a track is blended first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum TrackPriority {
    /// The base of the pose.
    #[default]
    Low,
    /// Mixed over the low group by the [priority blend](super::AnimationController::priority_blend).
    High,
}

/// How a track's pose joins those of its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum BlendMode {
    /// Weighted mean with the other tracks.
    #[default]
    Blend,
    /// Adds its difference to a reference pose, times the weight, to what the others make.
    Additive,
    /// Replaces what is below it, by its weight and mask.
    Override,
}

/// A clip that plays, with its weight, speed and position.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, TrackPriority, AnimationTrack};
/// let mut controller = AnimationController::playing("walk");
/// let wave = controller.add_track(AnimationTrack::new("wave").weight(0.6).priority(TrackPriority::High).mask("upper_body"));
/// controller.track_mut(wave).unwrap().speed = 1.5;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct AnimationTrack {
    /// Whether the track plays. A disabled track stands still, gives no pose and fires nothing.
    pub enabled: bool,
    /// Share in the blend, ≥ 0 and finite; others count as 0. A track of weight 0 still plays and fires.
    pub weight: f32,
    /// Seconds of clip per second; negative plays backwards. Not finite counts as 0.
    pub speed: f64,
    /// Whether the position stands still while the pose stays in the blend.
    pub paused: bool,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// How it joins its group.
    pub blend: BlendMode,
    /// Name of the mask that says which joints it reaches; `None` reaches all.
    pub mask: Option<AnimationName>,
    /// PlaybackMode instead of the clip's own.
    pub playback: Option<PlaybackMode>,
    /// Tracks of one group keep one phase: the first enabled one leads, the others follow at the same
    /// fraction of their own length, whatever their speed. `u32::MAX` is the controller's own group.
    pub sync: Option<u32>,

    pub(crate) id: TrackId,
    pub(crate) clip: AnimationName,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) position: Exact,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) start: Start,
    /// Where to move with the keys in between, at the next advance.
    pub(crate) scrub: Option<f64>,
    /// Length and playback of the clip when it was last looked up.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) known: Option<Known>,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) role: Role,
    /// Whether too many callbacks have been reported.
    pub(crate) reported_flood: bool,
    #[serde(skip)]
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) run: Transient<Run>,
}

/// Whether a track has begun, and where it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// Has yet to begin, at its position: the keys right there are still to fire.
    #[default]
    AtPosition,
    /// Has yet to begin, at the clip's end.
    AtEnd,
    /// Has yet to begin, where it was placed: the keys right there are passed over.
    Placed,
    /// Has begun.
    Begun,
}

/// Who a track belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Added by the user, who removes it.
    #[default]
    User,
    /// Put up by `play`, `cross_fade` or the queue.
    Stage,
    /// Of the stage, fading out; removed at this global time.
    Leaving(f64),
}

/// A clip's length and playback, as far as the track goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Seconds, finite and ≥ 0.
    pub(crate) length: f64,
    pub(crate) playback: PlaybackMode,
}

impl Known {
    /// What a clip says, and the track's own playback instead of the clip's if it has one.
    pub(crate) fn new(timing: &ClipTiming, playback: Option<PlaybackMode>) -> Self {
        let length = if timing.duration.is_finite() { timing.duration.max(0.0) } else { 0.0 };
        Self { length, playback: playback.unwrap_or(timing.playback) }
    }
}

/// What is found out anew in each advance: no part of the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// The clip's index, if its name is known.
    pub(crate) index: Option<usize>,
    /// The controller's own keys for this clip, in order of time, and what they were made from.
    pub(crate) added: Vec<AddedKey>,
    pub(crate) added_for: Option<(AnimationName, u64)>,
    /// Callbacks and loops fired in this advance.
    pub(crate) fired: usize,
    pub(crate) looped: usize,
    /// Position at the last cut, and where it turned round since, for tracks that follow.
    pub(crate) from: f64,
    pub(crate) turn: f64,
}

/// Wraps what is no part of a state: all values are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transient<T>(pub(crate) T);

impl<T> PartialEq for Transient<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Default for AnimationTrack {
    /// A disabled track without a clip, of weight and speed 1: an empty track of D3DX.
    fn default() -> Self {
        Self {
            enabled: false,
            weight: 1.0,
            speed: 1.0,
            paused: false,
            priority: TrackPriority::Low,
            blend: BlendMode::Blend,
            mask: None,
            playback: None,
            sync: None,
            id: TrackId(0),
            clip: AnimationName::default(),
            position: Exact::ZERO,
            start: Start::AtPosition,
            scrub: None,
            known: None,
            role: Role::User,
            reported_flood: false,
            run: Transient::default(),
        }
    }
}

/// Building a track, to be given to [`add_track`](super::AnimationController::add_track).
impl AnimationTrack {
    /// An enabled track that plays a clip from its start, with weight and speed 1 and low priority.
    pub fn new(clip: impl Into<Arc<str>>) -> Self {
        Self { enabled: true, clip: AnimationName::new(clip), ..Self::default() }
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
        Self { blend, ..self }
    }

    /// Sets [`mask`](#structfield.mask).
    pub fn mask(self, mask: impl Into<Arc<str>>) -> Self {
        Self { mask: Some(AnimationName::new(mask)), ..self }
    }

    /// Sets [`playback`](#structfield.playback).
    pub fn playback(self, playback: PlaybackMode) -> Self {
        Self { playback: Some(playback), ..self }
    }

    /// Sets [`sync`](#structfield.sync).
    pub fn sync(self, group: u32) -> Self {
        Self { sync: Some(group), ..self }
    }

    /// Begins at a position, in seconds of clip. The keys right there fire when it begins.
    pub fn starting_at(self, position: f64) -> Self {
        Self { position: Exact::new(position), start: Start::AtPosition, ..self }
    }

    /// Begins at the clip's end and plays towards its start: turns the speed around.
    pub fn reversed(self) -> Self {
        Self { speed: -self.speed, start: Start::AtEnd, ..self }
    }
}

/// A track's clip and position.
impl AnimationTrack {
    /// The track's name within its controller.
    pub fn id(&self) -> TrackId {
        self.id
    }

    /// Name of the clip; empty if there is none.
    pub fn clip(&self) -> &str {
        &self.clip
    }

    /// Gives the track another clip, from its start. Playing the same clip again is [`restart`](Self::restart).
    pub fn set_clip(&mut self, clip: impl Into<Arc<str>>) {
        self.clip = AnimationName::new(clip);
        self.known = None;
        self.run.0.index = None;
        self.restart();
    }

    /// Position in seconds of clip, *unwrapped*: in its third round a clip of 1 s is at 2 to 3. Once
    /// stays within the clip.
    pub fn position(&self) -> f64 {
        self.held().value()
    }

    /// Goes to a position and fires nothing; the keys right there are passed over.
    ///
    /// A position that is not finite counts as 0.
    pub fn seek(&mut self, position: f64) {
        self.position = Exact::new(position);
        self.start = if self.start == Start::Begun { Start::Begun } else { Start::Placed };
        self.scrub = None;
    }

    /// Goes to a position at the next advance and fires the keys on the way, even while paused.
    ///
    /// For editors and rewinds. A position that is not finite counts as 0.
    pub fn scrub(&mut self, position: f64) {
        self.scrub = Some(if position.is_finite() { position } else { 0.0 });
    }

    /// Begins again at the clip's start, or at its end if the speed is negative.
    pub fn restart(&mut self) {
        self.position = Exact::ZERO;
        self.start = if self.speed < 0.0 { Start::AtEnd } else { Start::AtPosition };
        self.scrub = None;
    }

    /// The place in the clip in seconds, `0..=duration`; 0 until the clip is known.
    pub fn time(&self) -> f64 {
        self.known.map_or(0.0, |known| playhead::periodic(known.playback, known.length, self.placed()))
    }

    /// Length of the clip in seconds, once it is known.
    pub fn duration(&self) -> Option<f64> {
        self.known.map(|known| known.length)
    }

    /// Whether a [`PlaybackMode::Once`] clip has run to its end (to its start, if the speed is negative).
    pub fn is_finished(&self) -> bool {
        self.known.is_some_and(|Known { length, playback }| {
            let position = self.placed();
            let at_end = if self.speed < 0.0 { position <= 0.0 } else { position >= length };
            playback == PlaybackMode::Once && at_end
        })
    }

    /// The position, also before a start at the clip's end has been carried out.
    pub(crate) fn placed(&self) -> f64 {
        self.known.map_or(self.position.value(), |known| self.placed_in(known.length))
    }

    /// The position in a clip of a given length.
    #[inline]
    pub(crate) fn placed_in(&self, length: f64) -> f64 {
        if self.start == Start::AtEnd { length } else { self.position.value() }
    }

    /// The position, within the clip if it plays once.
    pub(crate) fn held(&self) -> Exact {
        self.hold(self.position)
    }

    /// A position, within the clip if it plays once.
    #[inline]
    pub(crate) fn hold(&self, position: Exact) -> Exact {
        let value = position.value();
        match self.known {
            Some(Known { length, playback: PlaybackMode::Once }) if playhead::held(length, value) != value => {
                Exact::new(playhead::held(length, value))
            }
            _ => position,
        }
    }

    /// Places a track that follows, if it is off by more than rounding: because it has just joined, or its
    /// leader was placed elsewhere.
    pub(crate) fn align(&mut self, position: f64) {
        if (self.position.value() - position).abs() > 1e-9 * position.abs().max(1.0) {
            self.position = Exact::new(position);
        }
    }

    /// The weight, or 0 if it is none.
    #[inline]
    pub(crate) fn share(&self) -> f32 {
        if self.weight.is_finite() { self.weight.max(0.0) } else { 0.0 }
    }

    /// The clip's index: the one found before while it fits, else looked up.
    #[inline]
    pub(crate) fn find<'c, C: Clips + ?Sized>(&self, clips: &'c C) -> Option<(usize, &'c ClipTiming)> {
        if self.clip.is_empty() {
            return None;
        }
        let found = |index: usize| clips.timing(index).map(|timing| (index, timing));
        let cached = self.run.0.index.and_then(found).filter(|(_, timing)| self.clip.is(&timing.name));
        cached.or_else(|| clips.index_of(&self.clip).and_then(found))
    }

    /// Whether the list of added keys is that of the clip at its length.
    pub(crate) fn added_fit(&self) -> bool {
        let length = self.known.map_or(0.0, |known| known.length);
        let fits = |(clip, bits): &(AnimationName, u64)| clip.is(self.clip.as_arc()) && *bits == length.to_bits();
        self.run.0.added_for.as_ref().is_some_and(fits)
    }

    /// Looks the clip up and puts the position in order. Whether there is a clip to play.
    pub(crate) fn prepare<C: Clips + ?Sized>(&mut self, clips: &C) -> bool {
        let Some((index, timing)) = self.find(clips) else {
            self.run.0.index = None;
            return false;
        };
        self.run.0.index = Some(index);
        self.clip.share(&timing.name);
        let known = Known::new(timing, self.playback);
        self.known = Some(known);
        if self.start == Start::AtEnd {
            self.position = Exact::new(known.length);
            self.start = Start::AtPosition;
        }
        true
    }
}
