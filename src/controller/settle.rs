//! Bringing what is derived up to date: after the game has changed something, after a reload, and after happenings.

use super::{
    AnimationController, AnimationName, AnimationTrack, Clips, PlaybackEvent, TrackId,
    clock::Nanos,
    course::Course,
    motion::Instant,
    step::{Reach, Step},
};
use crate::controller::{BlendMode, track_types::Start};
use std::mem;

impl AnimationController {
    /// Begins an advance: looks up the clips, and does what the game has asked for.
    pub(super) fn begin(&mut self, step: &mut Step) {
        for at in 0..self.tracks.len() {
            self.prepare(at, step);
        }
        self.drop_unknown_overlays();
        self.follow_states(step.clips.states());
        self.report_asked_states(step);
        self.begin_pending(step);
        self.settle(step);
        self.scrub(step);
    }

    /// Looks a track's clip up, and reports an unknown name once.
    pub(super) fn prepare(&mut self, at: usize, step: &mut Step) {
        let Self {
            tracks,
            extras,
            clock,
            agenda,
            ..
        } = self;
        let track = &mut tracks[at];
        let is_known = track.is_found(step.clips, clock.now);
        let found = is_known || track.look_up(step.clips, clock.now, &extras.callbacks);
        if !track.run.planned {
            agenda.ranges = Reach::Unknown;
        }
        if found {
            if track.run.blend != track.blend {
                report_blend_mismatch(track, clock.now, step);
            }
            if !extras.unknown.is_empty() {
                extras.unknown.retain(|name| *name != track.clip);
            }
            if !is_known && extras.states.is_some() {
                let id = track.id;
                self.note_exit_key(id, step.clips);
            }
        } else {
            self.report_unknown(at, step);
        }
    }

    /// Reports, once per name, that an enabled track's clip doesn't exist.
    fn report_unknown(&mut self, at: usize, step: &mut Step) {
        let track = &self.tracks[at];
        if track.enabled && track.run.index.get().is_none() && !track.clip.is_empty() {
            self.report_unknown_name(Some(track.id), track.clip.clone(), step);
        }
    }

    /// Reports, once per name, that a clip doesn't exist.
    pub(super) fn report_unknown_name(
        &mut self,
        track: Option<TrackId>,
        name: AnimationName,
        step: &mut Step,
    ) {
        if self.extras.unknown.contains(&name) {
            return;
        }
        self.extras.unknown.push(name.clone());
        let time = self.clock.now.secs();
        step.out
            .push(PlaybackEvent::UnknownClip { track, name, time });
    }

    /// Brings leads, blend spaces, anchors and what comes next up to date at the present moment. Where nothing has changed, it
    /// changes nothing.
    pub(super) fn settle(&mut self, step: &mut Step) {
        self.end_lost_states(step);
        let now = self.clock.now;
        self.settle_leads();
        for at in 0..self.tracks.len() {
            self.report_unknown(at, step);
            let track = &mut self.tracks[at];
            let space = track.run.space_in(step.clips);
            if space.is_some_and(|space| track.steer(space, now)) {
                self.agenda.ranges = Reach::Unknown;
            }
        }
        // Leaders first: the others follow where they went.
        for follows in [false, true] {
            for at in 0..self.tracks.len() {
                let lead = self.tracks[at].run.lead();
                if lead.is_some() != follows {
                    continue;
                }
                let law = self.law(at);
                if law.moves() && follows {
                    self.align(at);
                }
                let led_anew =
                    law.moves() && lead.is_some_and(|lead| self.tracks[lead.leader].run.redone);
                let track = &self.tracks[at];
                let is_over = track.run.until().is_some_and(|until| until <= now);
                let redone = track.moved || law != track.anchor.law || is_over;
                self.tracks[at].run.redone = redone;
                if redone || led_anew {
                    self.agenda.ranges = Reach::Unknown;
                    self.anchor(at, law);
                }
            }
        }
        self.plan();
    }

    /// The next moment at which the motion or the course of a track is over.
    pub(super) fn next_bend(&self, at: usize) -> Option<Nanos> {
        let track = &self.tracks[at];
        let motion = if self.drives(at) {
            track.run.until()
        } else {
            // What rests may come to face the other way, and so be at its end.
            let now = Instant::at(self.clock.now);
            self.speed_ramp(at)
                .and_then(|_| self.motion_from(at, now).until)
        };
        let course = track.course().and_then(Course::end);
        motion.into_iter().chain(course).min()
    }

    /// Returns `true` if the clips are those that all is planned for.
    pub(super) fn knows_clips<C: Clips + ?Sized>(&self, clips: &C) -> bool {
        let is_same = |track: &AnimationTrack| {
            track.clip.is_empty()
                || (track.run.blend == track.blend
                    && track.rare.scrub.is_none()
                    && track.knows_clip(clips))
        };
        self.tracks.iter().all(is_same)
    }

    /// The next track to begin: one that leads, if there is any.
    pub(super) fn next_start(&self) -> Option<usize> {
        // A state whose clip has no length would be followed at once.
        let stays = |at: usize| self.agenda.stalled && self.state_waits_for_end(at);
        let begins = |at: &usize| !self.tracks[*at].begun() && self.is_moving(*at) && !stays(*at);
        let all = || (0..self.tracks.len()).filter(begins);
        all()
            .find(|at| self.tracks[*at].run.lead().is_none())
            .or_else(|| all().next())
    }

    /// Lets a track begin.
    pub(super) fn start_track(&mut self, at: usize, step: &mut Step) {
        self.align(at);
        let first = self.report_start(at, step);
        self.anchor(at, self.law(at));
        self.forget_followers(at);
        self.plan();
        if first {
            self.pass_first(at, self.forward(at), step);
        }
        self.settle(step);
    }

    /// Reports that a track begins. Returns `true` if it fires the keys where it does.
    fn report_start(&mut self, at: usize, step: &mut Step) -> bool {
        let first = mem::replace(&mut self.tracks[at].start, Start::Begun) == Start::AtPosition;
        let (track, clip, space, time) = self.played(at);
        step.out.push(PlaybackEvent::Started {
            track,
            clip,
            space,
            time,
        });
        self.agenda.ranges = Reach::Unknown;
        first
    }

    /// Carries out the moves asked for by [`AnimationTrack::scrub`], at the present moment. A sync group moves as one.
    fn scrub(&mut self, step: &mut Step) {
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            let Some(target) = track.rare.scrub.filter(|_| track.run.index.get().is_some()) else {
                continue;
            };
            track.rare.scrub = None;
            if !track.enabled {
                track.seek(target);
                self.settle(step);
                continue;
            }
            let (leader, target) = match self.tracks[at].run.lead() {
                None => (at, target),
                Some(lead) => match lead.lead_to(target) {
                    Some(target) => (lead.leader, target),
                    None => continue,
                },
            };
            let forward = target >= self.tracks[leader].held();
            self.scrub_track(leader, target, forward, step);
            for follower in 0..self.tracks.len() {
                if let Some(lead) = self.tracks[follower]
                    .run
                    .lead()
                    .filter(|lead| lead.leader == leader)
                {
                    let target = lead.follow(self.tracks[leader].held());
                    self.scrub_track(follower, target, forward, step);
                }
            }
            // The queue follows what plays to its end.
            step.arrived = None;
            self.settle(step);
        }
    }

    fn scrub_track(&mut self, at: usize, target: f64, forward: bool, step: &mut Step) {
        let begun = self.tracks[at].begun();
        let first = !begun && self.report_start(at, step);
        self.anchor(at, self.law(at));
        if first {
            self.pass_first(at, forward, step);
        }
        let target = self.tracks[at].hold(target);
        let when = Instant::at(self.clock.now);
        let is_on_way = |place: &f64| {
            if forward {
                *place <= target
            } else {
                *place >= target
            }
        };
        while let Some(place) = self.next_place(at, forward).filter(is_on_way) {
            self.pass_place(at, when, place, forward, step);
            // Of what isn't reported, only the end matters.
            let track = &self.tracks[at];
            if track.run.muted && !track.known.is_some_and(|known| known.plays_once()) {
                break;
            }
        }
        self.tracks[at].put(target);
    }

    /// A track with its clip and blend space for an event at the present time. In a blend space, the heaviest clip stands for
    /// all.
    pub(super) fn played(&self, at: usize) -> (TrackId, usize, Option<usize>, f64) {
        let track = &self.tracks[at];
        let run = &track.run;
        (
            track.id,
            run.index.get().unwrap_or(usize::MAX),
            run.space.get(),
            self.clock.now.secs(),
        )
    }
}

/// Reports, once per track and clip, a blend mode that makes no sense for the clip.
fn report_blend_mismatch(track: &mut AnimationTrack, now: Nanos, step: &mut Step) {
    track.run.blend = track.blend;
    if let (Some(blend), Some(clip)) = (track.blend, track.run.index.get())
        && (blend == BlendMode::Additive) != step.clips.is_additive(clip)
        && !mem::replace(&mut track.reported_blend, true)
    {
        step.out.push(PlaybackEvent::BlendMismatch {
            track: track.id,
            clip,
            blend,
            time: now.secs(),
        });
    }
}
