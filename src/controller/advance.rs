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
    AnimationController, Clips, PlaybackEvent, TrackId,
    clock::Nanos,
    root_motion::RootSum,
    step::{Follows, Reach, Step},
};
use crate::{model::RootDelta, numbers::finite};
use std::mem;

/// The most work of one advance, which takes some milliseconds: a thousandth of a second of a clip, or of states that follow
/// each other, could have billions of happenings.
const MOST_WORK: u64 = 1 << 17;

/// Work for each callback up to the limit, however high the game has set that.
const WORK_OF_A_REPORT: u64 = 64;

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

/// Things that can happen at one moment, in the order in which they do.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// The track of an index passes something.
    Pass(usize),
    /// A track has faded out, or a cross-fade is complete.
    Fade,
    /// Something follows where a track has arrived.
    Follow(TrackId, Follows),
    /// States begin that follow others.
    States,
    /// A scheduled change ends or starts.
    ScheduledChange,
    /// A motion is over, and another begins.
    Bend,
    /// Another track leads its group.
    Lead,
    /// Tracks were moved into ranges, or out of them.
    Ranges,
    /// The track of an index begins.
    Start(usize),
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
    /// approximated. Where weights or speeds change, the way is that of infinitely short steps within 1e-4 of it.
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
        mut root: Option<&mut RootSum>,
    ) -> Result<(), AdvanceError> {
        if !dt.is_finite() || dt < 0.0 {
            return Err(AdvanceError { dt });
        }
        if !clips.is_ready() {
            return Ok(());
        }
        let clock = if self.paused {
            self.clock
        } else {
            self.clock.after(dt, self.scale())
        };
        if self.plays_nothing() {
            self.clock = clock;
            return Ok(());
        }
        let next = self.agenda.next.filter(|_| self.knows_clips(clips));
        // From here on, code that is there once for all kinds of clips.
        let clips: &dyn Clips = &clips;
        if let Some(next) = next.filter(|next| *next > clock.now) {
            self.go_to(clock.now, next, clips, root.as_deref_mut());
        } else {
            self.run_to(clock.now, next.is_none(), clips, out, root);
            if self.work_left() == 0 {
                return Ok(());
            }
        }
        self.write_running_values();
        self.note_range_places(clips);
        self.clock = clock;
        Ok(())
    }

    /// The time scale; 0 if it is negative or not finite.
    pub(crate) fn scale(&self) -> f64 {
        finite(self.time_scale).max(0.0)
    }

    /// Returns `true` if there is nothing that time could change.
    fn plays_nothing(&self) -> bool {
        let idle = |track: &super::AnimationTrack| {
            // One that has just been disabled has yet to come to rest.
            let rests = !track.anchor.law.moves() && track.rare.steering.way.is_none();
            !track.enabled && track.leaves_at.is_none() && rests
        };
        let extras = &self.extras;
        self.tracks.iter().all(idle)
            && extras.changes.is_empty()
            && !self.has_plans()
            && !self.has_news_of_states()
            && extras.ranges.is_empty()
            && extras.playback.switches.is_empty()
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
        let still = end == self.clock.now;
        let mut step = Step {
            clips,
            end,
            out,
            fired: 0,
            still,
            changes: 0,
            changes_at: (end, 0),
            arrived: None,
            root,
        };
        let reports = WORK_OF_A_REPORT.saturating_mul(self.callback_limit as u64);
        let (mut work, most) = (0, MOST_WORK.max(reports));
        self.tracks
            .iter_mut()
            .for_each(|track| track.run.looped = 0);
        self.count_happening();
        self.agenda.root.clear();
        if is_changed {
            self.begin(&mut step);
        }
        let mut next = loop {
            if self.work_left() == 0 {
                // It stays where it is.
                self.agenda.next = None;
                return;
            }
            match self.next_happening(&step) {
                Some((time, happening)) if time <= end => {
                    self.count_happening();
                    self.go_to(time, time, clips, step.root.as_deref_mut());
                    self.handle(happening, &mut step);
                    self.agenda.root.clear();
                    // What only waits on the timeline is no work.
                    let tracks = self.tracks.len() as u64;
                    work += 1 + tracks + tracks * tracks / 64;
                    if work > most {
                        self.stall(&mut step);
                        self.mute(&mut step);
                    }
                }
                next => break next,
            }
        };
        let stopped = self.clock.now == end;
        let happens = next.map_or(Nanos::MAX, |(time, _)| time);
        self.go_to(end, happens, clips, step.root.as_deref_mut());
        let stalled = mem::take(&mut self.agenda.stalled);
        if self.end_flood(&mut step) || stalled || stopped {
            // What is left for the next advance is due as soon as time goes on. At the end of a step, `next_happening` leaves out
            // what begins only then, so it is asked as if the step went on.
            step.end = Nanos::MAX;
            next = self.next_happening(&step);
        }
        self.agenda.next = Some(next.map_or(Nanos::MAX, |(time, _)| time));
    }

    /// Finds what happens next, and when. Of what happens at one moment, what is considered first comes first.
    fn next_happening(&self, step: &Step) -> Option<(Nanos, Happening)> {
        let now = self.clock.now;
        let goes_on = now < step.end;
        let mut first: Option<(Nanos, Happening)> = None;
        let mut consider = |time: Nanos, happening: Happening| {
            if first.is_none_or(|(earliest, _)| time < earliest) {
                first = Some((time, happening));
            }
        };
        // What has come to the end of its loop goes on when it is known what follows.
        let waits = |id: TrackId| {
            step.arrived
                .is_some_and(|(track, follows)| track == id && follows == Follows::Clip)
        };
        for (at, track) in self.tracks.iter().enumerate() {
            let next = track.run.next();
            let stays =
                |at| self.leaves_state(at) || self.agenda.stalled && self.state_waits_for_end(at);
            if let Some(next) = next.filter(|_| !waits(track.id) && !stays(at)) {
                consider(next.when.moment.max(now), Happening::Pass(at));
            }
        }
        if let Some(time) = self.next_fade() {
            consider(time.max(now), Happening::Fade);
        }
        let follows = step
            .arrived
            .or_else(|| if goes_on { self.arrived() } else { None });
        follows
            .into_iter()
            .for_each(|(track, follows)| consider(now, Happening::Follow(track, follows)));
        if self.has_due_states() {
            consider(now, Happening::States);
        }
        if let Some(time) = self.next_change() {
            consider(time.max(now), Happening::ScheduledChange);
        }
        let bends = (0..self.tracks.len()).filter_map(|at| self.next_bend(at));
        if let Some(time) = bends.chain(self.next_switch_end()).min() {
            consider(time.max(now), Happening::Bend);
        }
        if let Some(time) = self.next_lead_change() {
            consider(time, Happening::Lead);
        }
        let reach = self.agenda.ranges;
        if (reach == Reach::Unknown && step.still || reach != Reach::Known && goes_on)
            && self.has_ranges()
        {
            consider(now, Happening::Ranges);
        }
        if goes_on && let Some(at) = self.next_start() {
            consider(now, Happening::Start(at));
        }
        first
    }

    fn handle(&mut self, happening: Happening, step: &mut Step) {
        match happening {
            Happening::Pass(at) => return self.pass(at, step),
            Happening::Follow(track, follows) => {
                step.arrived = None;
                match follows {
                    Follows::Clip => {
                        self.switch_clip(step);
                        self.count_change(step);
                    }
                    Follows::FadeOut => self.fade_out_overlay(track),
                }
            }
            Happening::States => {
                self.enter_states(step);
                self.count_change(step);
            }
            Happening::ScheduledChange => {
                self.agenda.ranges = Reach::Unknown;
                self.settle_changes();
            }
            Happening::Bend => {
                self.agenda.ranges = Reach::Unknown;
                self.drop_ended_switches();
            }
            Happening::Fade => self.settle_fades(step),
            // `settle`, below, finds the leader.
            Happening::Lead => {}
            Happening::Ranges => {
                self.settle_ranges(step);
                self.agenda.ranges = if step.still {
                    Reach::Inside
                } else {
                    Reach::Known
                };
                return;
            }
            Happening::Start(at) => return self.start_track(at, step),
        }
        self.settle(step);
    }

    /// Lets time pass up to a moment before which nothing happens, given when the next thing happens.
    fn go_to(&mut self, time: Nanos, next: Nanos, clips: &dyn Clips, root: Option<&mut RootSum>) {
        if time <= self.clock.now {
            return;
        }
        if let Some(root) = root {
            let before = root.work();
            root.limit_work(self.work_left());
            let mut kept = mem::take(&mut self.agenda.root);
            self.add_root_motion([time, next], clips, &mut kept, root);
            self.agenda.root = kept;
            // The shares of the tracks are found even if they are steady: overlays look at all others.
            let tracks = self.tracks.len() as u64;
            self.count_work(tracks * tracks / 32 + root.work() - before);
        }
        self.move_to(time);
        let rare = self
            .tracks
            .iter_mut()
            .filter_map(|track| track.rare.get_mut());
        rare.for_each(|rare| rare.steering.move_to(time));
        self.clock.now = time;
    }
}
