//! The layers that a controller wants blended.

use super::{AnimationController, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority};
use crate::{
    controller::playhead,
    model::{BoundBlendSpace, Cycle, Member, Phase, PlaybackMode},
};
use std::slice;

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
    /// The same number for all clips of a track's blend space, other than 0; 0 for a track's only clip. See
    /// [`ClipLayer::set`](crate::pose::ClipLayer::set).
    pub set: u32,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// The mask's name; `None` reaches every joint.
    pub mask: Option<&'a str>,
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
    pub fn layers<'a, C: Clips + ?Sized>(
        &'a self,
        clips: &'a C,
    ) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        self.shown(clips).map(|(_, layer)| layer)
    }

    /// Returns the [layers](Self::layers), each with its track.
    pub(crate) fn shown<'a, C: Clips + ?Sized>(
        &'a self,
        clips: &'a C,
    ) -> impl Iterator<Item = (&'a AnimationTrack, LayerInfo<'a>)> + 'a {
        Shown {
            tracks: self.tracks.iter(),
            clips,
            rest: None,
            spaces: 0,
        }
    }
}

/// Goes through the layers, track by track.
struct Shown<'a, C: ?Sized> {
    tracks: slice::Iter<'a, AnimationTrack>,
    clips: &'a C,
    /// The blend space of the present track, of which there may be more.
    rest: Option<InSpace<'a>>,
    /// Number of blend spaces so far.
    spaces: u32,
}

/// A track's blend space, and which of the clips that weigh is next.
struct InSpace<'a> {
    track: &'a AnimationTrack,
    space: &'a BoundBlendSpace,
    cycle: Cycle,
    playback: PlaybackMode,
    phase: Phase,
    next: usize,
}

impl<'a, C: Clips + ?Sized> Iterator for Shown<'a, C> {
    type Item = (&'a AnimationTrack, LayerInfo<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(rest) = &mut self.rest {
                match rest.layer(self.clips) {
                    Some(layer) => {
                        return Some((
                            rest.track,
                            LayerInfo {
                                set: self.spaces,
                                ..layer
                            },
                        ));
                    }
                    None => self.rest = None,
                }
            }
            let track = self
                .tracks
                .find(|track| track.enabled && track.share() > 0.0)?;
            match layer(track, self.clips) {
                Some(layer) => return Some((track, layer)),
                None => {
                    self.rest = InSpace::new(track, self.clips);
                    self.spaces += u32::from(self.rest.is_some());
                }
            }
        }
    }
}

impl<'a> InSpace<'a> {
    #[inline]
    fn new<C: Clips + ?Sized>(track: &'a AnimationTrack, clips: &'a C) -> Option<Self> {
        let (_, space) = (!track.clip.is_empty())
            .then_some(clips)
            .and_then(|clips| track.find_space(clips))?;
        let point = track.rare.steering.shown(space, track.begun());
        let course = track.run.course.as_ref();
        let cycle = course.map_or_else(|| space.cycle(point), |course| course.cycle(point, space));
        let playback = track.playback.unwrap_or(space.playback());
        let phase = phase_in(
            playback,
            track.placed_in(if space.has_length() { 1.0 } else { 0.0 }),
        );
        Some(Self {
            track,
            space,
            cycle,
            playback,
            phase,
            next: 0,
        })
    }

    #[inline]
    fn layer<C: Clips + ?Sized>(&mut self, clips: &C) -> Option<LayerInfo<'a>> {
        while let Some(&(index, share)) = self.cycle.weights.get(self.next) {
            self.next += 1;
            let whole = f64::from(self.track.share());
            let whole = if self.track.blend == Some(BlendMode::Override) {
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
        let (time, slope) = place_in(member, self.space, self.playback, self.phase);
        LayerInfo {
            weight,
            speed: track.speed * self.cycle.pace * slope,
            ..info(track, member.clip, time, clips)
        }
    }
}

/// The clips that weigh in a track's blend space, each with its share of the track's weight.
pub(super) fn shares_in_space<'a, C: Clips + ?Sized>(
    track: &'a AnimationTrack,
    clips: &'a C,
) -> impl Iterator<Item = LayerInfo<'a>> {
    InSpace::new(track, clips).into_iter().flat_map(move |all| {
        let weights = all.cycle.weights.into_iter();
        weights.map(move |(index, share)| all.member(index, share as f32, clips))
    })
}

/// A phase of a blend space whose cycle plays in some way.
#[inline]
fn phase_in(cycle: PlaybackMode, phase: f64) -> Phase {
    Phase::new(if cycle == PlaybackMode::Once {
        playhead::held(1.0, phase)
    } else {
        phase
    })
}

/// The place in a clip of a blend space at a phase of its cycle, and the seconds of clip per phase there.
#[inline]
fn place_in(
    member: &Member,
    space: &BoundBlendSpace,
    cycle: PlaybackMode,
    phase: Phase,
) -> (f64, f64) {
    let playback = member.playback(space, cycle);
    if playback == PlaybackMode::Loop {
        return member.place_in_loop(phase);
    }
    let (place, slope) = member.place_and_slope(playback, phase);
    (playhead::periodic(playback, member.length, place), slope)
}

impl AnimationTrack {
    /// Place in a layer's clip some seconds ago, if the track has played at its current speed since.
    // Characters will ask for it.
    #[allow(dead_code)]
    pub(crate) fn time_before<C: Clips + ?Sized>(
        &self,
        seconds: f64,
        layer: &LayerInfo,
        clips: &C,
    ) -> f64 {
        if let Some(timing) = clips
            .timing(layer.clip)
            .filter(|timing| self.clip.is(&timing.name))
        {
            let position = self.placed_in(timing.duration) - seconds * self.speed;
            return playhead::periodic(
                self.playback.unwrap_or(timing.playback),
                timing.duration,
                position,
            );
        }
        let Some((_, space)) = self.find_space(clips) else {
            return layer.time;
        };
        let Some(member) = space
            .members()
            .iter()
            .find(|member| member.clip == layer.clip)
        else {
            return layer.time;
        };
        let pace = space
            .cycle(self.rare.steering.shown(space, self.begun()))
            .pace;
        let phase = self.placed_in(if space.has_length() { 1.0 } else { 0.0 })
            - seconds * self.speed * pace;
        let cycle = self.playback.unwrap_or(space.playback());
        place_in(member, space, cycle, phase_in(cycle, phase)).0
    }
}

#[inline]
fn layer<'a, C: Clips + ?Sized>(track: &'a AnimationTrack, clips: &C) -> Option<LayerInfo<'a>> {
    if track.run.space.get().is_some() {
        return None;
    }
    let (clip, timing) = track.find(clips)?;
    let playback = track.playback.unwrap_or(timing.playback);
    let time = playhead::periodic(playback, timing.duration, track.placed_in(timing.duration));
    Some(info(track, clip, time, clips))
}

#[inline]
fn info<'a, C: Clips + ?Sized>(
    track: &'a AnimationTrack,
    clip: usize,
    time: f64,
    clips: &C,
) -> LayerInfo<'a> {
    let additive = clips.is_additive(clip);
    LayerInfo {
        track: track.id(),
        clip,
        time,
        speed: track.speed,
        weight: track.share(),
        set: 0,
        priority: track.priority,
        mask: track.mask.as_deref(),
        blend: track.blend.unwrap_or(if additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        }),
        base: track.is_base() && !additive,
    }
}
