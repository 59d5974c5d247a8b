//! The layers that a controller wants blended.

use super::{
    AnimationController, AnimationName, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority,
    playhead::{Known, held_phase},
    tracks::Tracks,
};
use crate::model::{BoundBlendSpace, Cycle, Phase, PlaybackMode};
use std::{iter::Enumerate, mem, ops::Deref, slice};

/// A clip that plays: where it is, and how it joins the pose. One layer of a [`Mix`](crate::pose::Mix).
///
/// `C` and `M` say which clip and which mask. A controller knows an index and a name, and a pose borrows
/// [both](crate::pose::ClipLayer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedClip<C, M> {
    /// The clip. The layer does not reach joints that the clip does not animate.
    pub clip: C,
    /// Seconds into the clip, clamped to `0..=duration`; NaN counts as 0.
    pub time: f64,
    /// Weight, ≥ 0 and finite. Relative to the others of the same priority for blended layers, up to
    /// [`MAX_ADDITIVE_WEIGHT`](Self::MAX_ADDITIVE_WEIGHT) for additive ones and up to 1 for overriding ones. The layer is
    /// left out if the weight is 0 or NaN.
    pub weight: f32,
    /// Adjacent layers with the same number form a set, like the clips of a blend space, or those that fade into each other
    /// on a layer of states; a layer with 0 is a set of its own.
    ///
    /// At a joint that only some of their clips move, the rest pose stands in for the other clips
    /// of a set of blended layers, and the pose below for those of overriding ones. So a layer
    /// whose weight goes to 0 takes its pose along bit by bit. Layers of the [base](Self::base) act
    /// as one, whatever their number. Additive layers of a set are added after the others.
    pub set: u32,
    /// Weight per joint; `None` is 1 everywhere. The layer does not reach joints missing from the mask.
    pub mask: Option<M>,
    /// The group a blended layer is averaged in. Additive and overriding layers ignore it.
    pub priority: TrackPriority,
    /// The way the layer is combined with the others. An additive clip is added whatever the mode,
    /// since differences aren't a pose that could be blended. [`BlendMode::Additive`] adds any
    /// other clip by its difference to the rest pose.
    ///
    /// An additive layer with weight `w` changes each joint to `t + w·Δt`, `r · Δrʷ`, `s · (1 + w(Δs − 1))`,
    /// so its difference turns the joint in the joint's own space. `Δrʷ` is nlerp from the identity along
    /// the shorter arc; beyond `w` = 1 it continues about the same axis, ever more slowly.
    /// An overriding layer replaces the pose below it by its weight.
    pub mode: BlendMode,
    /// `true` if the layer belongs to the base, the pose that is carried over [switches](super::Transition::switch): one of
    /// the clips of `play`, blended with low priority.
    ///
    /// Where blended layers of the base weigh less than 1 together, masks included, the rest pose
    /// has the rest of the weight.
    pub base: bool,
}

impl<C, M> PlayedClip<C, M> {
    /// The largest weight of an additive layer; larger ones are clamped to it, so that poses stay finite.
    pub const MAX_ADDITIVE_WEIGHT: f32 = 16.0;

    /// Returns the same layer, with its clip and its mask as they were looked up.
    #[inline]
    pub fn with<D, N>(&self, clip: D, mask: Option<N>) -> PlayedClip<D, N> {
        let Self {
            time,
            weight,
            set,
            priority,
            mode,
            base,
            ..
        } = *self;
        PlayedClip {
            clip,
            time,
            weight,
            set,
            mask,
            priority,
            mode,
            base,
        }
    }
}

/// A clip to blend, as a controller knows it. Its weight is above 0, and its time in `0..=duration`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerInfo<'a> {
    /// The track that plays it.
    pub track: TrackId,
    /// Seconds of clip per second at which it plays by itself; negative backwards.
    pub speed: f64,
    /// The clip by its index in the [`Clips`], and the mask by its name. A clip of a blend space has its share of the track's
    /// weight.
    pub played: PlayedClip<usize, &'a AnimationName>,
}

impl<'a> Deref for LayerInfo<'a> {
    type Target = PlayedClip<usize, &'a AnimationName>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.played
    }
}

impl AnimationController {
    /// Returns the layers to blend now, in the order of the tracks: one for every enabled track with a weight
    /// above 0 and a known clip, and for a blend space one for each clip that weighs, at most three. Without any layer,
    /// the pose is the rest pose.
    #[doc(hidden)]
    pub fn layers<'a, C: Clips + ?Sized>(
        &'a self,
        clips: &'a C,
    ) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        self.layers_ago(0.0, clips)
    }

    /// Returns the [layers](Self::layers), with their times and weights as they were some seconds ago; see
    /// [`Tracks::place_ago`]. A layer may weigh nothing.
    pub(crate) fn layers_ago<'a, C: Clips + ?Sized>(
        &'a self,
        seconds: f64,
        clips: &'a C,
    ) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        Layers {
            tracks: &self.tracks,
            next: self.tracks.iter().enumerate(),
            clips,
            ago: seconds,
            fades: seconds != 0.0 && !self.tracks.changes.running.is_empty(),
            rest: None,
            layer: None,
            sets: 0,
        }
    }
}

/// Goes through the layers, track by track.
struct Layers<'a, C: ?Sized> {
    tracks: &'a Tracks,
    /// Those that are left.
    next: Enumerate<slice::Iter<'a, AnimationTrack>>,
    clips: &'a C,
    /// Seconds by which the times are earlier.
    ago: f64,
    /// `true` if the weights are earlier, too.
    fades: bool,
    /// The blend space of the present track, of which there may be more.
    rest: Option<InSpace<'a>>,
    /// The layer of states that the present track is on.
    layer: Option<&'a AnimationName>,
    /// Number of sets so far.
    sets: u32,
}

impl<'a, C: Clips + ?Sized> Layers<'a, C> {
    /// The weight of a track at the time to show.
    #[inline]
    fn weight(&self, at: usize) -> f32 {
        match self.fades {
            true => self.tracks.weight_ago(at, self.ago),
            false => self.tracks[at].share(),
        }
    }
}

/// A track's blend space, and which of the clips that weigh is next.
struct InSpace<'a> {
    track: &'a AnimationTrack,
    /// The track's weight.
    weight: f32,
    space: &'a BoundBlendSpace,
    cycle: Cycle,
    playback: PlaybackMode,
    phase: Phase,
    next: usize,
}

impl<'a, C: Clips + ?Sized> Iterator for Layers<'a, C> {
    type Item = LayerInfo<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(rest) = &mut self.rest {
                match rest.layer(self.clips) {
                    Some(mut layer) => {
                        layer.played.set = self.sets;
                        return Some(layer);
                    }
                    None => self.rest = None,
                }
            }
            let (at, track) = self
                .next
                .find(|(_, track)| track.enabled && track.share() > 0.0)?;
            let (tracks, ago, weight) = (self.tracks, self.ago, self.weight(at));
            // Nearly always now, for which nothing is computed.
            let place = |length: f64| match ago {
                0.0 => track.placed_in(length),
                _ => tracks.place_ago(at, ago),
            };
            let only = layer(track, weight, place, self.clips);
            if only.is_none() {
                self.rest = InSpace::new(track, weight, place, self.clips);
                if self.rest.is_none() {
                    continue;
                }
            }
            // The tracks of a layer of states are next to each other.
            let before = mem::replace(&mut self.layer, track.rare.layer.as_ref());
            let is_set = self.rest.is_some() || self.layer.is_some();
            let goes_on = self.layer.is_some() && self.layer == before;
            self.sets += u32::from(is_set && !goes_on);
            if let Some(mut only) = only {
                only.played.set = if is_set { self.sets } else { 0 };
                return Some(only);
            }
        }
    }
}

impl<'a> InSpace<'a> {
    #[inline]
    fn new<C: Clips + ?Sized>(
        track: &'a AnimationTrack,
        weight: f32,
        place: impl Fn(f64) -> f64,
        clips: &'a C,
    ) -> Option<Self> {
        let (_, space) = track.find_space(clips)?;
        let point = track.rare.steering.shown(space, track.begun());
        let course = track.run.course.as_ref();
        let cycle = course.map_or_else(|| space.cycle(point), |course| course.cycle(point, space));
        let known = Known::of_space(space, track.playback);
        let phase = place(known.length);
        Some(Self {
            track,
            weight,
            space,
            cycle,
            playback: known.playback,
            phase: Phase::new(if known.plays_once() {
                held_phase(phase)
            } else {
                phase
            }),
            next: 0,
        })
    }

    #[inline]
    fn layer<C: Clips + ?Sized>(&mut self, clips: &C) -> Option<LayerInfo<'a>> {
        while let Some(&(index, share)) = self.cycle.weights.get(self.next) {
            self.next += 1;
            let whole = f64::from(self.weight);
            let whole = if self.track.mode(false) == BlendMode::Override {
                whole.min(1.0)
            } else {
                whole
            };
            let weight = (whole * share) as f32;
            if weight > 0.0 && weight.is_finite() {
                return Some(self.member(index, weight, clips));
            }
        }
        None
    }

    #[inline]
    fn member<C: Clips + ?Sized>(&self, index: usize, weight: f32, clips: &C) -> LayerInfo<'a> {
        let (track, member) = (self.track, &self.space.members()[index]);
        let known = Known::of_member(member, self.space, self.playback);
        let (time, slope) = if known.playback == PlaybackMode::Loop {
            member.place_in_loop(self.phase)
        } else {
            let (place, slope) = member.place_and_slope(known.playback, self.phase);
            (known.place(place), slope)
        };
        let speed = track.own_speed() * self.cycle.pace * slope;
        LayerInfo {
            speed,
            ..info(track, weight, member.clip, time, clips)
        }
    }
}

/// The clips that weigh in a track's blend space, each with its share of the track's weight.
pub(super) fn shares_in_space<'a, C: Clips + ?Sized>(
    track: &'a AnimationTrack,
    clips: &'a C,
) -> impl Iterator<Item = LayerInfo<'a>> {
    InSpace::new(track, 1.0, |length| track.placed_in(length), clips)
        .into_iter()
        .flat_map(move |all| {
            let weights = all.cycle.weights.into_iter();
            weights.map(move |(index, share)| all.member(index, share as f32, clips))
        })
}

#[inline]
fn layer<'a, C: Clips + ?Sized>(
    track: &'a AnimationTrack,
    weight: f32,
    place: impl Fn(f64) -> f64,
    clips: &C,
) -> Option<LayerInfo<'a>> {
    if track.run.space.get().is_some() {
        return None;
    }
    let (clip, timing) = track.find(clips)?;
    let known = Known::new(timing, track.playback);
    let time = known.place(place(known.length));
    Some(info(track, weight, clip, time, clips))
}

#[inline]
fn info<'a, C: Clips + ?Sized>(
    track: &'a AnimationTrack,
    weight: f32,
    clip: usize,
    time: f64,
    clips: &C,
) -> LayerInfo<'a> {
    let additive = clips.is_additive(clip);
    LayerInfo {
        track: track.id(),
        speed: track.own_speed(),
        played: PlayedClip {
            clip,
            time,
            weight,
            set: 0,
            mask: track.mask.as_ref(),
            priority: track.priority,
            mode: track.mode(additive),
            base: track.is_base() && !additive,
        },
    }
}
