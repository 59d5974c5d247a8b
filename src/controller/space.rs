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
    AnimationController, AnimationTrack, Clips, TransitionCurve,
    callback::{self, AddedCallback, AddedKey},
    compensated::{CompensatedF64, tick},
    motion::{Paced, Ramp, Speed},
    track::{Known, Start},
};
use crate::model::{BlendPoint, BoundBlendSpace, ClipTiming, Cycle, PlaybackMode};
use serde::{Deserialize, Serialize};
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
            if let Some(track) = self.playback.current.and_then(|current| self.track_mut(current)) {
                track.set_parameters(point);
            }
        }
    }

    /// Sets off to new parameters at the present time, in tracks whose blend space was looked up.
    pub(super) fn steer<C: Clips + ?Sized>(&mut self, clips: &C) {
        let time = self.time;
        for track in &mut self.tracks {
            if let Some(space) = track.run.0.space.and_then(|space| clips.blend_spaces().get(space)) {
                track.steering.settle(time, space, track.start);
            }
        }
    }

    /// Works out what the tracks of blend spaces do between two moments, between which no weight changes its slope.
    pub(super) fn settle_courses<C: Clips + ?Sized>(&mut self, span: [CompensatedF64; 2], clips: &C) {
        for track in &mut self.tracks {
            if let Some(space) = track.run.0.space.and_then(|space| clips.blend_spaces().get(space)) {
                let ends = span.map(|time| track.steering.at(time));
                track.run.0.course.get_or_insert_default().settle(span, ends, space);
            }
        }
    }

    /// Notes the clips that stand for blend spaces at the present time: the heaviest ones.
    pub(super) fn note_heaviest<C: Clips + ?Sized>(&mut self, clips: &C) {
        for track in &mut self.tracks {
            if let Some(space) = track.run.0.space.and_then(|space| clips.blend_spaces().get(space)) {
                let heaviest = track.run.0.course.as_ref().and_then(|course| course.heaviest(self.time));
                track.run.0.index = heaviest.map(|member| space.members()[member].clip).or(track.run.0.index);
            }
        }
    }

    /// Returns the first moment until `until` at which the weights of a blend space change their slope.
    pub(super) fn next_bend<C: Clips + ?Sized>(&self, until: CompensatedF64, clips: &C) -> Option<CompensatedF64> {
        let mut first: Option<CompensatedF64> = None;
        for track in &self.tracks {
            let (Some(space), Some(way)) = (track.run.0.space, track.steering.way) else { continue };
            let Some(space) = clips.blend_spaces().get(space) else { continue };
            if let Some(bend) = way.next_bend(self.time, space)
                && bend.is_before(first.unwrap_or(until))
            {
                first = Some(bend);
            }
        }
        first
    }

    /// Notes where parameters are at the present time.
    pub(super) fn write_parameters(&mut self) {
        for track in &mut self.tracks {
            if let Some(way) = track.steering.way {
                track.steering.now = way.at(self.time);
                if way.part(self.time) >= 1.0 {
                    track.steering.way = None;
                }
            }
        }
    }

    /// Moves the ways of parameters in time.
    pub(super) fn shift_ways(&mut self, by: CompensatedF64) {
        for way in self.tracks.iter_mut().filter_map(|track| track.steering.way.as_mut()) {
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
        if point.is_finite() {
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
    pub(super) fn find_space<'c, C: Clips + ?Sized>(&self, clips: &'c C) -> Option<(usize, &'c BoundBlendSpace)> {
        let spaces = clips.blend_spaces();
        let is_ours = |space: &BoundBlendSpace| self.clip.is(space.name());
        let cached = self.run.0.space.and_then(|index| Some((index, spaces.get(index)?)));
        cached
            .filter(|(_, space)| is_ours(space))
            .or_else(|| spaces.iter().enumerate().find(|(_, space)| is_ours(space)))
    }

    /// Looks the blend space up at a time. Returns `false` if it does not exist.
    pub(super) fn prepare_space<C: Clips + ?Sized>(&mut self, time: CompensatedF64, clips: &C) -> bool {
        let found = if self.clip.is_empty() { None } else { self.find_space(clips) };
        let Some((index, space)) = found else {
            (self.run.0.index, self.run.0.space) = (None, None);
            return false;
        };
        self.run.0.space = Some(index);
        self.clip.share(space.name());
        self.steering.settle(time, space, self.start);
        let course = self.run.0.course.get_or_insert_default();
        let point = self.steering.at(time);
        course.look_up(point, space);
        course.settle([time; 2], [point; 2], space);
        let heaviest = course.heaviest(time).and_then(|member| space.members().get(member));
        self.run.0.index = heaviest.map(|member| member.clip);
        self.begin_at(Known::of_space(space, self.playback));
        true
    }

    /// Begins an advance in which nothing may happen, at a time. Returns `false` if the blend space, if it plays one, has
    /// changed or is yet to be placed at its end.
    #[inline]
    pub(super) fn go_on_in_space<C: Clips + ?Sized>(&mut self, time: CompensatedF64, clips: &C) -> bool {
        let Some(index) = self.run.0.space else { return true };
        let Some(space) = clips.blend_spaces().get(index) else { return false };
        let is_same = Arc::ptr_eq(self.clip.as_arc(), space.name())
            && self.known == Some(Known::of_space(space, self.playback))
            && self.run.0.blend == self.blend;
        let Some(course) = self.run.0.course.as_mut().filter(|_| is_same && self.start != Start::AtEnd) else {
            return false;
        };
        self.steering.settle(time, space, self.start);
        course.look_up(self.steering.at(time), space);
        true
    }

    /// Brings the lists of added keys for the clips of a blend space up to date.
    pub(super) fn collect_members_added(&mut self, callbacks: &[AddedCallback], space: &BoundBlendSpace) {
        let Some(course) = &mut self.run.0.course else { return };
        course.added.resize_with(space.members().len(), Vec::new);
        for (keys, member) in course.added.iter_mut().zip(space.members()) {
            callback::collect_added(callbacks, &member.name.clone().into(), member.length, keys);
        }
    }
}

impl Known {
    /// A cycle of a blend space: of length 1, or 0 if all clips are poses.
    pub(super) fn of_space(space: &BoundBlendSpace, playback: Option<PlaybackMode>) -> Self {
        let length = if space.has_length() { 1.0 } else { 0.0 };
        Self { length, playback: playback.unwrap_or(space.playback()) }
    }
}

/// The parameters of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Steering {
    /// What they were set to.
    pub(super) target: BlendPoint,
    /// The target that the rest was made for.
    aim: BlendPoint,
    /// Where they were at the last advance, within the space.
    now: BlendPoint,
    /// How they get to the target.
    way: Option<Way>,
}

/// Parameters on their way, straight and at a steady speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Way {
    from: BlendPoint,
    to: BlendPoint,
    /// When they set off, in seconds of global time.
    since: f64,
    /// How long they take, > 0.
    seconds: f64,
}

impl Steering {
    /// Where they are at a time up to the next cut, if they have [set off](Self::settle).
    #[inline]
    pub(super) fn at(&self, time: CompensatedF64) -> BlendPoint {
        self.way.map_or(self.now, |way| way.at(time))
    }

    /// Where they are shown: at the last advance, or at once where they are set to.
    #[inline]
    pub(super) fn shown(&self, space: &BoundBlendSpace, start: Start) -> BlendPoint {
        let jumps = space.smoothing() == 0.0 || start != Start::Begun;
        if jumps && self.target != self.aim { space.nearest(self.target) } else { self.now }
    }

    /// Sets off to a new target.
    #[inline]
    fn settle(&mut self, time: CompensatedF64, space: &BoundBlendSpace, start: Start) {
        let begun = start == Start::Begun;
        if self.target == self.aim && begun {
            return;
        }
        let (from, to) = (self.at(time), space.nearest(self.target));
        let (since, seconds) = (time.value(), if begun { space.seconds_between(from, to) } else { 0.0 });
        let takes_time = seconds.is_finite() && tick(since + seconds) > tick(since);
        self.way = takes_time.then_some(Way { from, to, since, seconds });
        self.now = if takes_time { from } else { to };
        self.aim = self.target;
    }

    pub(super) fn is_sound(&self) -> bool {
        let way = self.way.is_none_or(|Way { from, to, since, seconds }| {
            from.is_finite() && to.is_finite() && since.is_finite() && seconds.is_finite() && seconds > 0.0
        });
        way && [self.target, self.aim, self.now].iter().all(|point| point.is_finite())
    }
}

impl Way {
    fn part(&self, time: CompensatedF64) -> f64 {
        let end = self.since + self.seconds;
        if tick(time.value()) >= tick(end) {
            return 1.0;
        }
        ((time - CompensatedF64::new(self.since)).value() / self.seconds).clamp(0.0, 1.0)
    }

    fn at(&self, time: CompensatedF64) -> BlendPoint {
        let (part, Self { from, to, .. }) = (self.part(time), self);
        if part >= 1.0 {
            return *to;
        }
        BlendPoint::new(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
    }

    /// The next moment after the present at which a weight may change its slope, the arrival included.
    fn next_bend(&self, now: CompensatedF64, space: &BoundBlendSpace) -> Option<CompensatedF64> {
        let mut after = self.part(now);
        let moment = |part: f64| CompensatedF64::new(self.since) + CompensatedF64::new(self.seconds).scale(part);
        let is_later = |moment: CompensatedF64| tick(moment.value()) > tick(now.value());
        while let Some(part) = space.next_bend(self.from, self.to, after) {
            if is_later(moment(part)) {
                return Some(moment(part));
            }
            after = part;
        }
        Some(moment(1.0)).filter(|end| is_later(*end))
    }
}

/// Clips that can weigh between two cuts: those at both ends.
const MOST: usize = 6;

/// What a track does in its blend space between two cuts.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    begin: CompensatedF64,
    /// How long it is, ≥ 0.
    seconds: f64,
    /// Members, with their weights at both ends.
    members: [(usize, [f64; 2]); MOST],
    count: usize,
    /// Cycles per second at both ends.
    pace: [f64; 2],
    /// Where it ends, and what weighs there.
    end: (BlendPoint, Cycle),
    /// The controller's own keys for each member.
    pub(super) added: Vec<Vec<AddedKey>>,
}

impl Course {
    /// Begins an advance at a point: what is known from before may be about other clips.
    fn look_up(&mut self, point: BlendPoint, space: &BoundBlendSpace) {
        self.end = (point, space.cycle(point));
    }

    /// Goes on from where it ended.
    fn settle(&mut self, span: [CompensatedF64; 2], ends: [BlendPoint; 2], space: &BoundBlendSpace) {
        let cycle = |known: (BlendPoint, Cycle), point| if point == known.0 { known.1 } else { space.cycle(point) };
        let first = cycle(self.end, ends[0]);
        let last = cycle((ends[0], first), ends[1]);
        (self.begin, self.seconds, self.count) = (span[0], (span[1] - span[0]).value().max(0.0), 0);
        (self.pace, self.end) = ([first.pace, last.pace], (ends[1], last));
        // Both lists are in the order of members, which doesn't depend on where time is cut.
        let (mut at_begin, mut at_end) = (&first.weights[..], &last.weights[..]);
        loop {
            let next = [at_begin, at_end].map(|weights| weights.first().map_or(usize::MAX, |first| first.0));
            let member = next[0].min(next[1]);
            if member == usize::MAX {
                return;
            }
            let take = |weights: &mut &[(usize, f64)]| match **weights {
                [(first, weight), ref rest @ ..] if first == member => {
                    *weights = rest;
                    weight
                }
                _ => 0.0,
            };
            self.members[self.count] = (member, [take(&mut at_begin), take(&mut at_end)]);
            self.count += 1;
        }
    }

    /// The members that weigh, with their weights at both ends.
    pub(super) fn members(&self) -> &[(usize, [f64; 2])] {
        &self.members[..self.count]
    }

    /// The change of a weight per second.
    pub(super) fn slope(&self, [from, to]: [f64; 2]) -> f64 {
        if from == to || self.seconds <= 0.0 { 0.0 } else { (to - from) / self.seconds }
    }

    /// A weight at a moment.
    pub(super) fn share(&self, ends: [f64; 2], moment: CompensatedF64) -> f64 {
        let share = ends[0] + self.slope(ends) * (moment - self.begin).value();
        share.clamp(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }

    /// The heaviest member at a moment; of equals, the first.
    pub(super) fn heaviest(&self, moment: CompensatedF64) -> Option<usize> {
        let mut heaviest = None;
        for &(member, ends) in self.members() {
            let share = self.share(ends, moment);
            if heaviest.is_none_or(|(_, most)| share > most) {
                heaviest = Some((member, share));
            }
        }
        heaviest.map(|(member, _)| member)
    }

    /// The pace of the cycle at the first end.
    pub(super) fn pace(&self) -> f64 {
        self.pace[0]
    }

    /// The speed of the phase, for a speed of the track.
    pub(super) fn paced(&self, speed: Speed) -> Speed {
        let change = self.slope(self.pace);
        if change == 0.0 {
            return speed.scaled(self.pace[0]);
        }
        let ramp = match speed {
            Speed::Ramp(ramp) => ramp,
            Speed::Paced(paced) => paced.ramp,
            Speed::Steady(speed) => {
                let (begin, transition) = (self.begin.value(), TransitionCurve::Linear);
                Ramp { from: speed, to: speed, begin, duration: 1.0, transition }
            }
        };
        Speed::Paced(Paced { ramp, since: self.begin, pace: self.pace[0], change })
    }
}

/// A blend space in a segment of time.
#[derive(Clone, Copy)]
pub(super) struct Blended<'a> {
    pub(super) space: &'a BoundBlendSpace,
    pub(super) course: &'a Course,
    /// The clips of the course's members.
    pub(super) timings: [Option<&'a ClipTiming>; MOST],
}

impl<'a> Blended<'a> {
    pub(super) fn new<C: Clips + ?Sized>(space: &'a BoundBlendSpace, course: &'a Course, clips: &'a C) -> Self {
        let mut timings = [None; MOST];
        for (timing, (member, _)) in timings.iter_mut().zip(course.members()) {
            *timing = space.members().get(*member).and_then(|member| clips.timing(member.clip));
        }
        Self { space, course, timings }
    }

    /// The heaviest clip at a moment.
    pub(super) fn clip(&self, moment: CompensatedF64) -> Option<usize> {
        Some(self.space.members().get(self.course.heaviest(moment)?)?.clip)
    }
}
