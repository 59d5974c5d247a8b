//! Tracks: each plays one clip or blend space, with a weight, a speed and a position.

use super::{
    AnimationName, BlendMode, TrackId, TrackPriority, anchor::Anchor, clock::Nanos, rare::Rare,
    run::Run,
};
use crate::{
    controller::{
        playhead::Known,
        track_types::{Role, Start, Transient},
    },
    model::{BlendPoint, PlaybackMode},
    numbers::finite,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// The way in which it joins its group; `None` is additive for additive clips and [`BlendMode::Blend`] for all others, or on a
    /// layer of states, [`BlendMode::Override`].
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
    /// Its position at the controller's present time, unwrapped.
    pub(super) position: f64,
    /// The anchor that its position is computed from.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) anchor: Anchor,
    /// Set when it was put somewhere else since.
    pub(super) moved: bool,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) start: Start,
    /// Length and playback of the clip when it was last looked up.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) known: Option<Known>,
    /// Tells what lies in the clip, or in those of a blend space, from what a reload brings.
    pub(super) keys_hash: u64,
    /// Moment at which the track, fading out, is removed.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) leaves_at: Option<Nanos>,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) role: Role,
    /// State that few tracks have.
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) rare: Rare,
    /// Set once `BlendMismatch` has been reported.
    pub(super) reported_blend: bool,
    /// Set once `TooManyCallbacks` has been reported.
    pub(super) reported_flood: bool,
    #[serde(skip)]
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) run: Transient<Run>,
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
            id: TrackId::default(),
            clip: AnimationName::default(),
            position: 0.0,
            anchor: Anchor::default(),
            moved: false,
            start: Start::AtPosition,
            known: None,
            keys_hash: 0,
            leaves_at: None,
            role: Role::User,
            rare: Rare::default(),
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

    /// Creates an enabled track that plays a [blend space](crate::model::BlendSpace) from the start of its cycle, with
    /// weight and speed 1 and low priority.
    ///
    /// A name may mean a clip or a blend space, so this is the same as [`new`](Self::new), and `play`, `cross_fade` and
    /// the queue take the names of blend spaces, too. If there is a clip of this name, it plays.
    pub fn blend_space(name: impl Into<Arc<str>>) -> Self {
        Self::new(name)
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
            position: finite(position),
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

    /// Sets the parameters of the blend space to begin with: a number, or a pair of numbers.
    pub fn at(mut self, point: impl Into<BlendPoint>) -> Self {
        self.set_parameters(point);
        self
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
        self.run = Transient::default();
        self.restart();
    }

    /// Returns the place in the clip in seconds, `0..=duration`; 0 until the clip is known.
    ///
    /// For a blend space, all positions are phases: a cycle goes from 0 to 1, however long it takes.
    pub fn position(&self) -> f64 {
        self.known.map_or(0.0, |known| known.place(self.placed()))
    }

    /// Returns the position in seconds of clip without wrapping it: a clip of 1 s is at 2 to 3 in its third loop.
    ///
    /// A clip that plays once stays within its ends.
    pub fn unwrapped_position(&self) -> f64 {
        self.held()
    }

    /// Moves to a position without firing callbacks; keys right there do not fire either.
    ///
    /// Nothing is reported: moved to its end, a clip that plays once [is finished](Self::is_finished) without a
    /// `Finished` event. The position may be [unwrapped](Self::unwrapped_position); a non-finite one counts as 0.
    pub fn seek(&mut self, position: f64) {
        self.put(finite(position));
        if self.start != Start::Begun {
            self.start = Start::Placed;
        }
        self.forget_scrub();
    }

    /// Moves to an [unwrapped](Self::unwrapped_position) position at the next advance and fires the keys on the way,
    /// even while paused. To stay within the present loop, use [`scrub_to`](Self::scrub_to).
    ///
    /// A non-finite position counts as 0.
    pub fn scrub(&mut self, position: f64) {
        self.rare.scrub = Some(finite(position));
    }

    /// Moves to a place in the clip at the next advance and fires the keys on the way, even while paused. Stays
    /// within the present loop, or on the present way of a ping-pong clip.
    ///
    /// Tracks of the same [sync](Self::sync) group move along and fire their keys.
    pub fn scrub_to(&mut self, place: f64) {
        let within = (self.known).map(|known| known.in_same_loop(self.placed(), place));
        self.scrub(within.unwrap_or(place));
    }

    /// Starts the clip over, from its end if the speed is negative.
    pub fn restart(&mut self) {
        self.put(0.0);
        self.start = if self.speed < 0.0 {
            Start::AtEnd
        } else {
            Start::AtPosition
        };
        self.forget_scrub();
    }

    /// Returns the length of the clip in seconds, once the clip is known. For a blend space, that is 1, a loop of
    /// its clips.
    pub fn duration(&self) -> Option<f64> {
        self.known.map(|known| known.length)
    }

    /// Returns `true` if a [`PlaybackMode::Once`] clip is at its end (at its start, if the speed is negative).
    pub fn is_finished(&self) -> bool {
        // A speed that is no number counts as forward.
        let backward = self.speed < 0.0;
        let is_at_end = |known: Known| known.is_at_end(self.placed(), !backward);
        self.once().is_some_and(is_at_end)
    }

    /// Sets the parameters of the blend space. Numbers that are not finite are ignored.
    ///
    /// They take effect with the next advance, or over the space's [smoothing](crate::model::BlendSpace::smoothed). A clip
    /// ignores them.
    pub fn set_parameters(&mut self, point: impl Into<BlendPoint>) {
        let point = point.into();
        if point.is_finite() && point != self.rare.steering.target {
            self.rare.steering.target = point;
        }
    }

    /// Returns what the parameters of the blend space were set to.
    pub fn parameters(&self) -> BlendPoint {
        self.rare.steering.target
    }

    /// Returns where smoothed parameters are at present, within the space.
    pub fn smoothed_parameters(&self) -> BlendPoint {
        self.rare.steering.now
    }
}

impl AnimationTrack {
    /// Moves without passing anything.
    pub(super) fn put(&mut self, position: f64) {
        self.position = position;
        self.moved = true;
    }

    fn forget_scrub(&mut self) {
        if let Some(rare) = self.rare.get_mut() {
            rare.scrub = None;
        }
    }

    pub(super) fn begun(&self) -> bool {
        self.start == Start::Begun
    }

    /// The length and playback of its clip, if it takes part: it is enabled, and the clip exists.
    #[inline]
    pub(super) fn present(&self) -> Option<Known> {
        let is_there = self.enabled && self.run.index.get().is_some();
        self.known.filter(|_| is_there)
    }

    /// The length and playback of its clip, if that plays once.
    pub(super) fn once(&self) -> Option<Known> {
        self.known.filter(Known::plays_once)
    }

    /// The position, even before a start at the clip's end has been carried out.
    pub(super) fn placed(&self) -> f64 {
        self.placed_in(self.known.map_or(0.0, |known| known.length))
    }

    /// The position in a clip of a given length.
    #[inline]
    pub(super) fn placed_in(&self, length: f64) -> f64 {
        if self.start == Start::AtEnd {
            length
        } else {
            self.position
        }
    }

    /// The position, within the clip if it plays once.
    #[inline]
    pub(super) fn held(&self) -> f64 {
        self.hold(self.position)
    }

    /// A position, within the clip if it plays once.
    #[inline]
    pub(super) fn hold(&self, position: f64) -> f64 {
        self.known.map_or(position, |known| known.hold(position))
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

    /// The steady speed.
    #[inline]
    pub(super) fn own_speed(&self) -> f64 {
        finite(self.speed)
    }

    /// The way in which a clip of the track joins its group.
    #[inline]
    pub(super) fn mode(&self, additive: bool) -> BlendMode {
        self.blend.unwrap_or_else(|| match additive {
            true => BlendMode::Additive,
            false if self.rare.layer.is_some() => BlendMode::Override,
            false => BlendMode::Blend,
        })
    }

    /// Returns `true` if the track plays a state of a layer, or the one before it, which fades out.
    pub(super) fn is_on_layer(&self, name: &str) -> bool {
        let layer = self.rare.layer.as_ref();
        layer.is_some_and(|layer| **layer == *name)
    }

    /// Returns `true` if `play`, `cross_fade`, the queue, or a state of the whole body has started it.
    #[cfg(feature = "bevy")]
    pub(crate) fn is_playback(&self) -> bool {
        self.role == Role::Playback
    }

    /// Returns `true` if the track belongs to the pose that switches change: one of `play`, blended with low priority.
    pub(super) fn is_base(&self) -> bool {
        let blended = matches!(self.blend, None | Some(BlendMode::Blend));
        self.role == Role::Playback && self.priority == TrackPriority::Low && blended
    }
}
