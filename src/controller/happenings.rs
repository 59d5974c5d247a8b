//! The loop of an advance: what happens next, and doing it.

use super::{
    Clips, PlaybackEvent, TrackId,
    clock::Nanos,
    report::{Advance, Agenda, Follows},
    root_motion::RootSum,
    step::Reach,
    tracks::Tracks,
};
use std::mem;

/// Clips and states that may follow each other at one moment: a looped queue of clips without length would never end.
const MOST_AT_ONCE: usize = 1024;

/// The most work of one advance: a thousandth of a second of a clip, or of states that follow each other, could have billions of
/// happenings. Measured in a release build, each takes 100 ns, with or without layers that follow, so that a flood takes 3 ms of a
/// frame. It is enough for states of half a second each that follow each other for 40 minutes.
const MOST_WORK: u64 = 1 << 15;

/// Work for each callback up to the limit, however high the game has set that. With the default, it isn't more than
/// [`MOST_WORK`].
const WORK_OF_A_REPORT: u64 = 32;

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

impl Advance<'_> {
    /// Advances with all that happens on the way. `is_changed` says whether the game or a reload has changed anything.
    pub(super) fn run(&mut self, is_changed: bool) {
        let reports = WORK_OF_A_REPORT.saturating_mul(self.callback_limit as u64);
        let (mut work, most) = (0, MOST_WORK.max(reports));
        let tracks = self.tracks.iter_mut();
        tracks.for_each(|track| track.run.looped = 0);
        self.count_happening();
        self.agenda.root.clear();
        if is_changed {
            self.begin();
        }
        let mut next = loop {
            if self.agenda.work_left() == 0 {
                // It stays where it is.
                self.agenda.next = None;
                return;
            }
            match self.next_happening() {
                Some((time, happening)) if time <= self.end => {
                    self.count_happening();
                    self.go_to(time, time);
                    self.handle(happening);
                    self.agenda.root.clear();
                    // What only waits on the timeline is no work.
                    let tracks = self.tracks.len() as u64;
                    work += 1 + tracks + tracks * tracks / 64;
                    if work > most {
                        self.stall();
                        self.mute();
                    }
                }
                next => break next,
            }
        };
        let stopped = self.tracks.clock.now == self.end;
        self.go_to(self.end, next.map_or(Nanos::MAX, |(time, _)| time));
        let stalled = mem::take(&mut *self.director.stalled);
        if self.end_flood() || stalled || stopped {
            // What is left for the next advance is due as soon as time goes on. At the end of a step, `next_happening` leaves out
            // what begins only then, so it is asked as if the step went on.
            self.end = Nanos::MAX;
            next = self.next_happening();
        }
        self.agenda.next = Some(next.map_or(Nanos::MAX, |(time, _)| time));
    }

    /// Does what the game has asked for, with clips that have been looked up.
    fn begin(&mut self) {
        let now = self.tracks.clock.now;
        self.tracks.drop_unknown_overlays();
        if let Some(states) = &mut self.states {
            states.report_asked(now, &mut self.step);
        }
        self.director.begin_pending(self.tracks, &mut self.step);
        self.settle();
        self.scrub();
    }

    /// Finds what happens next, and when. Of what happens at one moment, what is considered first comes first.
    fn next_happening(&self) -> Option<(Nanos, Happening)> {
        let (now, tracks) = (self.tracks.clock.now, &*self.tracks);
        let goes_on = now < self.end;
        let mut first: Option<(Nanos, Happening)> = None;
        let mut consider = |time: Nanos, happening: Happening| {
            let time = time.max(now);
            if first.is_none_or(|(earliest, _)| time < earliest) {
                first = Some((time, happening));
            }
        };
        for (at, track) in tracks.iter().enumerate() {
            if let Some(next) = track.run.next().filter(|_| !self.waits(track.id)) {
                consider(next.when.moment, Happening::Pass(at));
            }
        }
        if let Some(time) = self.director.next_fade(tracks) {
            consider(time, Happening::Fade);
        }
        let follows = (self.arrived).or_else(|| goes_on.then(|| self.has_arrived()).flatten());
        if let Some((track, follows)) = follows {
            consider(now, Happening::Follow(track, follows));
        }
        if self.states.as_ref().is_some_and(|states| states.has_due()) {
            consider(now, Happening::States);
        }
        if let Some(time) = tracks.changes.next() {
            consider(time, Happening::ScheduledChange);
        }
        let bends = (0..tracks.len()).filter_map(|at| tracks.next_bend(at));
        if let Some(time) = bends.chain(self.director.next_switch_end()).min() {
            consider(time, Happening::Bend);
        }
        if let Some(time) = tracks.next_lead_change() {
            consider(time, Happening::Lead);
        }
        let reach = *tracks.reach;
        if (reach == Reach::Unknown && self.still || reach != Reach::Known && goes_on)
            && self.has_ranges()
        {
            consider(now, Happening::Ranges);
        }
        if goes_on && let Some(at) = self.next_start() {
            consider(now, Happening::Start(at));
        }
        first
    }

    /// Returns `true` if a track has to wait until what follows it, or its state, has begun.
    fn waits(&self, track: TrackId) -> bool {
        let has_arrived = self.arrived == Some((track, Follows::Clip));
        let states = self.states.as_ref();
        let is_left = states.is_some_and(|states| states.leaves(track));
        has_arrived || is_left || *self.director.stalled && self.state_waits_for_end(track)
    }

    /// A track that is already where something follows, without having passed it.
    fn has_arrived(&self) -> Option<(TrackId, Follows)> {
        let clip = self.director.arrived(self.tracks);
        let clip = clip.map(|track| (track, Follows::Clip));
        clip.or_else(|| Some((self.tracks.arrived_overlay()?, Follows::FadeOut)))
    }

    /// The next track to begin: one that leads, if there is any.
    fn next_start(&self) -> Option<usize> {
        let tracks = &*self.tracks;
        // A state whose clip has no length would be followed at once.
        let stays = |at: usize| *self.director.stalled && self.state_waits_for_end(tracks[at].id);
        let begins = |at: &usize| !tracks[*at].begun() && tracks.is_moving(*at) && !stays(*at);
        let all = || (0..tracks.len()).filter(begins);
        let leader = all().find(|at| tracks[*at].run.lead().is_none());
        leader.or_else(|| all().next())
    }

    fn handle(&mut self, happening: Happening) {
        match happening {
            Happening::Pass(at) => return self.pass(at),
            Happening::Follow(track, follows) => {
                self.arrived = None;
                match follows {
                    Follows::Clip => {
                        self.director.switch_clip(self.tracks, &mut self.step);
                        self.count_change();
                    }
                    Follows::FadeOut => self.fade_out_overlay(track),
                }
            }
            Happening::States => {
                if let Some(states) = &mut self.states {
                    states.enter_due(self.tracks, self.director, &mut self.step);
                }
                self.count_change();
            }
            Happening::ScheduledChange => {
                self.tracks.moved();
                self.tracks.settle_changes(self.priority_blend);
            }
            Happening::Bend => {
                self.tracks.moved();
                self.director.drop_ended_switches(self.tracks.clock.now);
            }
            Happening::Fade => self.director.settle_fades(self.tracks, &mut self.step),
            // `settle`, below, finds the leader.
            Happening::Lead => {}
            Happening::Ranges => {
                self.settle_ranges();
                *self.tracks.reach = match self.still {
                    true => Reach::Inside,
                    false => Reach::Known,
                };
                return;
            }
            Happening::Start(at) => return self.start_track(at),
        }
        self.settle();
    }

    /// Fades out an overlay whose clip ends now.
    fn fade_out_overlay(&mut self, id: TrackId) {
        // The weight to start from is that of this moment.
        self.tracks.write_running_values();
        let track = self.tracks.of(id);
        if let Some(overlay) = track.and_then(|track| track.rare.overlay) {
            (self.director).fade_out_track(self.tracks, id, overlay.fade_out);
        }
    }

    /// Counts a clip or a state that follows another. Too many at one moment are left for the next advance.
    fn count_change(&mut self) {
        let now = self.tracks.clock.now;
        let (moment, count) = self.changes_at;
        self.changes += 1;
        self.changes_at = (now, if moment == now { count + 1 } else { 1 });
        if self.changes_at.1 >= MOST_AT_ONCE {
            self.stall();
        }
    }

    /// Lets nothing follow any more in this advance. Reports it once, if anything has followed.
    fn stall(&mut self) {
        let was_stalled = mem::replace(&mut *self.director.stalled, true);
        if was_stalled || self.changes == 0 {
            return;
        }
        if !mem::replace(&mut self.director.reported_stall, true) {
            let (limit, time) = (self.changes, self.tracks.clock.now.secs());
            let event = PlaybackEvent::TooManyClips { limit, time };
            self.step.out.push(event);
        }
    }

    /// Lets time pass up to a moment before which nothing happens, given when the next thing happens.
    fn go_to(&mut self, time: Nanos, next: Nanos) {
        let root = self.root.as_deref_mut();
        let (clips, blend) = (self.step.clips, *self.priority_blend);
        go_to([time, next], self.tracks, blend, clips, self.agenda, root);
    }

    /// Counts the work of one happening: each track looks for its running changes, its leader and its ranges among all others.
    fn count_happening(&mut self) {
        let (tracks, ranges) = (self.tracks.len(), self.ranges.len());
        let parts = 1 + tracks + ranges + self.tracks.changes.running.len();
        // Ranges are looked at for each track.
        let work = parts + tracks * ranges / 64;
        self.agenda.count_work(work as u64);
    }
}

/// Lets time pass up to a moment before which nothing happens, given when the next thing happens.
pub(super) fn go_to(
    [time, next]: [Nanos; 2],
    tracks: &mut Tracks,
    priority_blend: f32,
    clips: &dyn Clips,
    agenda: &mut Agenda,
    root: Option<&mut RootSum>,
) {
    if time <= tracks.clock.now {
        return;
    }
    if let Some(root) = root {
        let before = root.work();
        root.limit_work(agenda.work_left());
        let kept = &mut agenda.root;
        tracks.add_root_motion([time, next], priority_blend, clips, kept, root);
        // The shares of the tracks are found even if they are steady: overlays look at all others.
        let count = tracks.len() as u64;
        agenda.count_work(count * count / 32 + root.work() - before);
    }
    tracks.move_to(time);
}
