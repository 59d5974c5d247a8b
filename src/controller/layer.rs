//! The layers that a controller wants blended.

use super::{
    AnimationController, AnimationName, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority,
    playhead::{Known, held_phase},
    tracks::Tracks,
};
use crate::model::{BoundBlendSpace, Cycle, Phase, PlaybackMode};
use std::{iter::Enumerate, mem, slice};

/// One clip to blend: where it is, and how it joins the pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerInfo<'a> {
    /// The track that plays it.
    pub track: TrackId,
    /// The clip's index in the [`Clips`].
    pub clip: usize,
    /// The place in the clip, seconds in `0..=duration`.
    pub time: f64,
    /// Seconds of clip per second at which it plays by itself; negative backwards.
    pub speed: f64,
    /// The weight before normalization, > 0 and finite. A clip of a blend space has its share of the track's weight.
    pub weight: f32,
    /// The same number, other than 0, for all clips that act as one: those of a track's blend space, and those that fade into
    /// each other on a layer of states. 0 for any other track's only clip. See
    /// [`ClipLayer::set`](crate::pose::ClipLayer::set).
    pub set: u32,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// The mask's name; `None` reaches every joint.
    pub mask: Option<&'a AnimationName>,
    /// The way in which it joins its group.
    pub blend: BlendMode,
    /// `true` if it belongs to the base, the pose that [switches](super::Transition::switch) change: one of the clips of
    /// `play`, blended with low priority. See [`ClipLayer::base`](crate::pose::ClipLayer::base).
    pub base: bool,
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
        self.layers_before(0.0, clips)
    }

    /// Returns the [layers](Self::layers), with their times as they were some seconds ago; see [`Tracks::place_ago`].
    pub(crate) fn layers_before<'a, C: Clips + ?Sized>(
        &'a self,
        seconds: f64,
        clips: &'a C,
    ) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        Layers::new(&self.tracks, seconds, clips)
    }

    /// Returns the [layers](Self::layers), with their times and weights as they were some seconds ago. A layer may weigh nothing.
    #[cfg(feature = "bevy")]
    pub(crate) fn layers_shown<'a, C: Clips + ?Sized>(
        &'a self,
        seconds: f64,
        clips: &'a C,
    ) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        let fades = seconds != 0.0 && !self.tracks.changes.running.is_empty();
        Layers {
            fades,
            ..Layers::new(&self.tracks, seconds, clips)
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
    fn new(tracks: &'a Tracks, ago: f64, clips: &'a C) -> Self {
        Self {
            tracks,
            next: tracks.iter().enumerate(),
            clips,
            ago,
            fades: false,
            rest: None,
            layer: None,
            sets: 0,
        }
    }

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
                    Some(layer) => {
                        return Some(LayerInfo {
                            set: self.sets,
                            ..layer
                        });
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
            if let Some(only) = only {
                let set = if is_set { self.sets } else { 0 };
                return Some(LayerInfo { set, ..only });
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
        LayerInfo {
            speed: track.own_speed() * self.cycle.pace * slope,
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
        clip,
        time,
        speed: track.own_speed(),
        weight,
        set: 0,
        priority: track.priority,
        mask: track.mask.as_ref(),
        blend: track.mode(additive),
        base: track.is_base() && !additive,
    }
}
