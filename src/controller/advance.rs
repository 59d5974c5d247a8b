//! An advance: from one happening to the next.
//!
//! ```text
//! frame      ├───────────────────────────────────────────────┤
//! agenda            ●key     ●speed starts      ●next clip
//! goes to    ───────┼────────┼──────────────────┼───────────┤
//! ```
//!
//! Between two happenings of its own, everything about a track is a function of the time since an anchor, and nothing is added
//! up from frame to frame:
//!
//! | what | is |
//! | --- | --- |
//! | position | where the track was at its anchor, plus the integral of its speed since: a polynomial, for a speed is steady, or on a ramp, times the pace of a blend space, which changes evenly. Never before what it passed last, nor at what it passes next; within its ends if it plays once |
//! | position of a follower | its leader's position, times the ratio of their lengths, plus an offset |
//! | weight, priority blend | the ramp of its scheduled change, or what it was set to |
//! | parameters of a blend space | on a straight line from where they were when they were set, at a steady speed |
//! | weights of a blend space's clips | straight from one bend of the parameters' way to the next |
//!
//! The guide lists what happens, and in which order at one moment.

use super::{
    AnimationController, AnimationTrack, ChangeTarget, Clips, PlaybackEvent, clock::Nanos,
    happenings::go_to, ranges::note_places, report::Advance, root_motion::RootSum, step::Step,
};
use crate::{model::RootDelta, numbers::finite};

/// A time step that is negative or not finite. Nothing was changed.
///
/// ```
/// # use bevy_marionette::{controller::{AdvanceError, AnimationController}, model::ClipTiming};
/// # let (clips, mut events) = ([ClipTiming::new("door", 1.0)], Vec::new());
/// let mut controller = AnimationController::playing("door");
/// let back = controller.advance(-0.5, &clips, &mut events);
/// assert_eq!(back, Err(AdvanceError { dt: -0.5 }));
/// // Time only goes forward, but the door can close:
/// controller.set_speed(-1.0);
/// controller.advance(0.5, &clips, &mut events)?;
/// # Ok::<(), AdvanceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("cannot advance an animation by {dt} s; to play backwards, use a negative speed")]
pub struct AdvanceError {
    /// The step, in seconds.
    pub dt: f64,
}

/// # Advancing
impl AnimationController {
    /// Lets `dt` seconds pass and appends what happened to `out`, in order of time.
    ///
    /// Adds `dt`, times the [time scale](#structfield.time_scale), to global time, applies scheduled changes, moves
    /// every enabled track by the integral of its speed and collects the callback keys it passes. A `dt` of 0
    /// applies what is due and moves nothing. While the controller is [paused](#structfield.paused), time stands still;
    /// while the clips are not [ready](Clips::is_ready), nothing happens at all. In Bevy, the plugin calls this.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, PlaybackEvent}, model::ClipTiming};
    /// let mut walk = ClipTiming::new("walk", 1.0);
    /// walk.add_callback(0.3, "footstep", "left");
    ///
    /// let (mut controller, mut events) = (AnimationController::playing("walk"), Vec::new());
    /// controller.advance(0.5, &[walk], &mut events)?;
    /// let PlaybackEvent::Callback(step) = &events[1] else { panic!() };
    /// assert_eq!((&*step.name, step.time), ("footstep", 0.3));
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    ///
    /// # Errors
    /// If `dt` is negative or not finite. Then nothing is changed.
    pub fn advance<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
    ) -> Result<(), AdvanceError> {
        self.advance_by(dt, clips, out, None)
    }

    /// Advances like [`advance`](Self::advance), and returns how far the clips carried their character.
    ///
    /// The tracks' movements are blended as their poses are at the root joint: by weight, priority, mask and blend mode.
    /// Additive tracks don't carry. What passes time carries; [`seek`](super::AnimationTrack::seek) and
    /// [`scrub`](super::AnimationTrack::scrub) don't. However time is divided into steps, the movements add up to the same
    /// within 1e-7 of the way; only a step of minutes in which weights change, or in which clips that turn are blended, is
    /// approximated, and one of a second with clips of milliseconds. Where weights or speeds change, the way is that of infinitely
    /// short steps within 1e-4 of it.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, Clips}, internals::model::RootPath, model::{ClipTiming, RootDelta}};
    /// # struct Walking(ClipTiming, RootPath);
    /// # impl Clips for Walking {
    /// #     fn index_of(&self, name: &str) -> Option<usize> { (name == "walk").then_some(0) }
    /// #     fn timing(&self, index: usize) -> Option<&ClipTiming> { (index == 0).then_some(&self.0) }
    /// #     fn root_path(&self, index: usize) -> Option<&RootPath> { (index == 0).then_some(&self.1) }
    /// # }
    /// // A walk of one second and 1.25 meters.
    /// let ahead = RootDelta::new(glam::DVec3::NEG_Z * 1.25, 0.0);
    /// # let clips = Walking(ClipTiming::new("walk", 1.0), RootPath::steady(1.0, ahead).unwrap());
    /// let mut controller = AnimationController::playing("walk");
    /// let moved = controller.advance_with_root_motion(60.0, &clips, &mut Vec::new())?;
    /// assert_eq!(moved.translation().z, -75.0);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn advance_with_root_motion<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
    ) -> Result<RootDelta, AdvanceError> {
        let mut root = RootSum::default();
        self.advance_by(dt, clips, out, Some(&mut root))?;
        Ok(root.movement())
    }

    #[inline]
    fn advance_by<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
        root: Option<&mut RootSum>,
    ) -> Result<(), AdvanceError> {
        if !dt.is_finite() || dt < 0.0 {
            return Err(AdvanceError { dt });
        }
        if !clips.is_ready() {
            return Ok(());
        }
        let before = self.tracks.clock;
        let clock = match self.paused {
            true => before,
            false => before.after(dt, self.scale()),
        };
        let plays = self.tracks.first().is_some_and(|track| track.enabled);
        if !plays && self.plays_nothing() {
            self.tracks.clock = clock;
            return Ok(());
        }
        let next = self.agenda.next.filter(|_| self.tracks.knows_clips(clips));
        // From here on, code that is there once for all kinds of clips.
        let clips: &dyn Clips = &clips;
        if let Some(next) = next.filter(|next| *next > clock.now) {
            let (tracks, agenda) = (&mut self.tracks, &mut self.agenda);
            let times = [clock.now, next];
            go_to(times, tracks, self.priority_blend, clips, agenda, root);
        } else {
            self.run_to(clock.now, next.is_none(), clips, out, root);
            if self.agenda.work_left() == 0 {
                return Ok(());
            }
        }
        if !self.tracks.changes.running.is_empty() {
            self.tracks.write_running_values();
            if let Some(ramp) = self.tracks.ramp_of(ChangeTarget::PriorityBlend) {
                self.priority_blend = ramp.at(clock.now) as f32;
            }
        }
        if !self.ranges.is_empty() {
            note_places(&mut self.ranges, &self.tracks, clips);
        }
        self.tracks.clock = clock;
        Ok(())
    }

    /// The time scale; 0 if it is negative or not finite.
    pub(crate) fn scale(&self) -> f64 {
        finite(self.time_scale).max(0.0)
    }

    /// Returns `true` if there is nothing that time could change.
    fn plays_nothing(&self) -> bool {
        let idle = |track: &AnimationTrack| {
            // One that has just been disabled has yet to come to rest.
            let rests = !track.anchor.law.moves() && track.rare.steering.way.is_none();
            !track.enabled && track.leaves_at.is_none() && rests
        };
        let states = self.states.as_ref();
        self.tracks.iter().all(idle)
            && self.tracks.changes.is_empty()
            && !self.director.has_plans()
            && !states.is_some_and(|states| states.has_news(&self.tracks))
            && self.ranges.is_empty()
            && self.director.switches.is_empty()
    }

    /// Advances with all that happens on the way. `is_changed` says whether the game or a reload has changed anything.
    fn run_to(
        &mut self,
        end: Nanos,
        is_changed: bool,
        clips: &dyn Clips,
        out: &mut Vec<PlaybackEvent>,
        root: Option<&mut RootSum>,
    ) {
        if is_changed {
            // Before the parts are lent: machines that were loaded anew may bring other parts.
            let is_new = self.tracks.look_up_all(&mut Step { clips, out });
            if let Some(states) = self.states.as_mut().filter(|_| is_new) {
                states.note_exit_keys(&self.tracks, clips);
            }
            self.follow_states(clips.states());
        }
        let still = end == self.tracks.clock.now;
        let mut advance = Advance {
            tracks: &mut self.tracks,
            director: &mut self.director,
            states: self.states.as_deref_mut(),
            ranges: &mut self.ranges,
            agenda: &mut self.agenda,
            priority_blend: &mut self.priority_blend,
            callback_limit: self.callback_limit,
            callback_threshold: self.callback_threshold,
            step: Step { clips, out },
            end,
            still,
            fired: 0,
            changes: 0,
            changes_at: (end, 0),
            arrived: None,
            root,
        };
        advance.run(is_changed);
    }
}
