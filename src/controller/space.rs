//! Tracks that play a blend space.
//!
//! Such a track's position is a phase: it rises by 1 per cycle, at a pace that depends on the parameters. Parameters that
//! are smoothed go straight to what they were set to, at a steady speed. Time is cut where their way crosses an edge of
//! the space's triangulation, so that between two cuts all weights, and with them the pace, change evenly:
//!
//! ```text
//! parameter   ●━━━━━━━━━━┿━━━━━━━━━━━┿━━━━━●────────
//! walk        ╲__________╱───────────╲______________   weights, straight between cuts
//! cuts        ├──────────┼───────────┼─────┼────────
//! ```
//!
//! The phase is the integral of a polynomial, so it doesn't depend on where else time is cut, and a callback key of a clip
//! is a fixed set of phases.

use super::{
    AnimationController, AnimationTrack, Clips,
    compensated::CompensatedF64,
    key::{self, AddedCallback},
    track::{Known, Start},
};
use crate::model::{BlendPoint, BoundBlendSpace, Phase, PlaybackMode};
use std::sync::Arc;

/// # Blend spaces
impl AnimationController {
    /// Sets the parameters of the current blend space, and of those that `play`, `cross_fade` and the queue start from now
    /// on. Numbers that are not finite are ignored.
    ///
    /// They take effect with the next advance, or over the space's [smoothing](crate::model::BlendSpace::smoothed). For the
    /// track of a blend space that you added, see [`AnimationTrack::set_parameters`].
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::BlendPoint};
    /// let mut controller = AnimationController::playing("locomotion");
    /// let (speed, turn) = (1.4, -20.0);
    /// controller.set_parameters((speed, turn));
    /// ```
    pub fn set_parameters(&mut self, point: impl Into<BlendPoint>) {
        let point = point.into();
        if point.is_finite() {
            self.playback.parameters = point;
            if let Some(track) = self
                .playback
                .current
                .and_then(|current| self.track_mut(current))
            {
                track.set_parameters(point);
            }
        }
    }

    /// Sets off to new parameters at the present time, in tracks whose blend space was looked up.
    pub(super) fn steer<C: Clips + ?Sized>(&mut self, clips: &C) {
        let time = self.time;
        for track in &mut self.tracks {
            if let Some(space) = track
                .run
                .0
                .space
                .and_then(|space| clips.blend_spaces().get(space))
            {
                track
                    .steering
                    .settle(time, space, track.start == Start::Begun);
            }
        }
    }

    /// Works out what the tracks of blend spaces do between two moments, between which no weight changes its slope.
    pub(super) fn settle_courses<C: Clips + ?Sized>(
        &mut self,
        span: [CompensatedF64; 2],
        clips: &C,
    ) {
        for track in &mut self.tracks {
            if let Some(space) = track
                .run
                .0
                .space
                .and_then(|space| clips.blend_spaces().get(space))
            {
                let ends = span.map(|time| track.steering.at(time));
                track
                    .run
                    .0
                    .course
                    .get_or_insert_default()
                    .settle(span, ends, space);
            }
        }
    }

    /// Moves the clips of blend spaces as far as the phases have moved since the last cut.
    pub(super) fn move_members<C: Clips + ?Sized>(&mut self, clips: &C) {
        for track in &mut self.tracks {
            let goal = track.held().value();
            let run = &mut track.run.0;
            let space = run.space.and_then(|space| clips.blend_spaces().get(space));
            let (Some(space), Some(course), Some(known)) = (space, &mut run.course, track.known)
            else {
                continue;
            };
            let phases = [Phase::new(run.from), Phase::new(goal)];
            for weighing in course.weighing_mut() {
                let Some(member) = space.members().get(weighing.member) else {
                    continue;
                };
                weighing.move_along(member, member.playback(space, known.playback), phases);
            }
        }
    }

    /// Notes the clips that stand for blend spaces at the present time: the heaviest ones.
    pub(super) fn note_heaviest<C: Clips + ?Sized>(&mut self, clips: &C) {
        for track in &mut self.tracks {
            if let Some(space) = track
                .run
                .0
                .space
                .and_then(|space| clips.blend_spaces().get(space))
            {
                let heaviest = track
                    .run
                    .0
                    .course
                    .as_ref()
                    .and_then(|course| course.heaviest(self.time));
                track.run.0.index = heaviest
                    .map(|member| space.members()[member].clip)
                    .or(track.run.0.index);
            }
        }
    }

    /// Returns the first moment until `until` at which the weights of a blend space change their slope.
    pub(super) fn next_bend<C: Clips + ?Sized>(
        &self,
        until: CompensatedF64,
        clips: &C,
    ) -> Option<CompensatedF64> {
        let mut first: Option<CompensatedF64> = None;
        for track in &self.tracks {
            let (Some(space), Some(way)) = (track.run.0.space, &track.steering.way) else {
                continue;
            };
            let Some(space) = clips.blend_spaces().get(space) else {
                continue;
            };
            if let Some(bend) = way.next_bend(self.time, space)
                && bend.is_before(first.unwrap_or(until))
            {
                first = Some(bend);
            }
        }
        first
    }

    /// Notes where parameters are at the present time.
    #[inline]
    pub(super) fn write_parameters(&mut self) {
        for track in &mut self.tracks {
            track.steering.arrive(self.time);
        }
    }

    /// Moves the ways of parameters in time.
    pub(super) fn shift_ways(&mut self, by: CompensatedF64) {
        let steering = self
            .tracks
            .iter_mut()
            .filter_map(|track| track.steering.get_mut());
        for way in steering.filter_map(|steering| steering.way.as_mut()) {
            way.since = (CompensatedF64::new(way.since) + by).value();
        }
    }
}

/// # Blend spaces
impl AnimationTrack {
    /// Creates an enabled track that plays a [blend space](crate::model::BlendSpace) from the start of its cycle, with
    /// weight and speed 1 and low priority.
    ///
    /// A name may mean a clip or a blend space, so this is the same as [`new`](Self::new), and `play`, `cross_fade` and
    /// the queue take the names of blend spaces, too. If there is a clip of this name, it plays.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack};
    /// let mut controller = AnimationController::default();
    /// let moves = controller.add_track(AnimationTrack::blend_space("locomotion").at((0.0, 0.0)));
    /// controller.track_mut(moves).unwrap().set_parameters((1.4, -20.0));
    /// ```
    pub fn blend_space(name: impl Into<Arc<str>>) -> Self {
        Self::new(name)
    }

    /// Sets the parameters of the blend space to begin with: a number, or a pair of numbers.
    pub fn at(mut self, point: impl Into<BlendPoint>) -> Self {
        self.set_parameters(point);
        self
    }

    /// Sets the parameters of the blend space. Numbers that are not finite are ignored.
    ///
    /// They take effect with the next advance, or over the space's [smoothing](crate::model::BlendSpace::smoothed). A clip
    /// ignores them.
    pub fn set_parameters(&mut self, point: impl Into<BlendPoint>) {
        let point = point.into();
        if point.is_finite() && point != self.steering.target {
            self.steering.target = point;
        }
    }

    /// Returns what the parameters of the blend space were set to.
    pub fn parameters(&self) -> BlendPoint {
        self.steering.target
    }

    /// Returns where smoothed parameters are at present, within the space.
    pub fn smoothed_parameters(&self) -> BlendPoint {
        self.steering.now
    }

    /// Finds the blend space: at the cached index while the name fits, else by name.
    #[inline]
    pub(super) fn find_space<'c, C: Clips + ?Sized>(
        &self,
        clips: &'c C,
    ) -> Option<(usize, &'c BoundBlendSpace)> {
        let spaces = clips.blend_spaces();
        let is_ours = |space: &BoundBlendSpace| self.clip.is(space.name());
        let cached = self
            .run
            .0
            .space
            .and_then(|index| Some((index, spaces.get(index)?)));
        cached
            .filter(|(_, space)| is_ours(space))
            .or_else(|| spaces.iter().enumerate().find(|(_, space)| is_ours(space)))
    }

    /// Looks the blend space up at a time. Returns `false` if it does not exist.
    pub(super) fn prepare_space<C: Clips + ?Sized>(
        &mut self,
        time: CompensatedF64,
        clips: &C,
    ) -> bool {
        let found = if self.clip.is_empty() {
            None
        } else {
            self.find_space(clips)
        };
        let Some((index, space)) = found else {
            (self.run.0.index, self.run.0.space) = (None, None);
            return false;
        };
        self.run.0.space = Some(index);
        self.clip.share(space.name());
        self.steering
            .settle(time, space, self.start == Start::Begun);
        let course = self.run.0.course.get_or_insert_default();
        let point = self.steering.at(time);
        course.settle([time; 2], [point; 2], space);
        let heaviest = course
            .heaviest(time)
            .and_then(|member| space.members().get(member));
        self.run.0.index = heaviest.map(|member| member.clip);
        self.begin_at(Known::of_space(space, self.playback));
        true
    }

    /// Begins an advance in which nothing may happen, at a time. Returns `false` if the blend space, if it plays one, has
    /// changed or is yet to be placed at its end.
    #[inline]
    pub(super) fn go_on_in_space<C: Clips + ?Sized>(
        &mut self,
        time: CompensatedF64,
        clips: &C,
    ) -> bool {
        let Some(index) = self.run.0.space else {
            return true;
        };
        let Some(space) = clips.blend_spaces().get(index) else {
            return false;
        };
        let is_same = Arc::ptr_eq(self.clip.as_arc(), space.name())
            && self.known == Some(Known::of_space(space, self.playback))
            && self.run.0.blend == self.blend;
        if !is_same || self.start == Start::AtEnd {
            return false;
        }
        self.steering
            .settle(time, space, self.start == Start::Begun);
        true
    }

    /// Brings the lists of added keys for the clips of a blend space up to date.
    pub(super) fn collect_members_added(
        &mut self,
        callbacks: &[AddedCallback],
        space: &BoundBlendSpace,
    ) {
        let Some(course) = &mut self.run.0.course else {
            return;
        };
        course.added.resize_with(space.members().len(), Vec::new);
        for (keys, member) in course.added.iter_mut().zip(&**space.members()) {
            key::collect_added(callbacks, &member.name.clone().into(), member.length, keys);
        }
    }
}

impl Known {
    /// A cycle of a blend space: of length 1, or 0 if all clips are poses.
    #[inline]
    pub(crate) fn of_space(space: &BoundBlendSpace, playback: Option<PlaybackMode>) -> Self {
        let length = if space.has_length() { 1.0 } else { 0.0 };
        Self {
            length,
            playback: playback.unwrap_or(space.playback()),
        }
    }
}
