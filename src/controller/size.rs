//! The size of a controller, and the work of its advances.

use super::{
    AnimationController, AnimationTrack, Clips, Extras, ScheduledChange, Switch,
    playback_state::Playback,
};

impl AnimationController {
    /// Returns the number of tracks, scheduled changes, callbacks, ranges, and clips to play or to fade from.
    pub(crate) fn parts(&self) -> usize {
        let Extras {
            changes,
            callbacks,
            ranges,
            unknown,
            playback,
            states,
        } = &*self.extras;
        let states = states.as_ref().map_or(0, |states| states.parts());
        let switches: usize = playback.switches.iter().map(Switch::parts).sum();
        let playback = playback.pending.len() + switches + playback.queue.len();
        let added = changes.len() + callbacks.len() + ranges.len();
        self.tracks.len() + added + unknown.len() + playback + states
    }

    /// About how many bytes it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        let Extras {
            changes,
            callbacks,
            ranges,
            playback: Playback { switches, .. },
            states,
            ..
        } = &*self.extras;
        size_of_val(&self.tracks[..])
            + size_of::<Extras>()
            + size_of_val(&callbacks[..])
            + size_of_val(&ranges[..])
            + changes.len() * size_of::<ScheduledChange>()
            + size_of_val(&switches[..])
            + states.as_ref().map_or(0, |states| states.bytes())
    }

    /// The work of an advance in which nothing happens: one for a controller, and for each of its tracks; more where clips
    /// have many keys, which each advance compares with those that it has planned for.
    pub(crate) fn load<C: Clips + ?Sized>(&self, clips: &C) -> u64 {
        let keys = |clip: usize| {
            clips
                .timing(clip)
                .map_or(0, |timing| timing.callbacks.len())
        };
        let of_track = |track: &AnimationTrack| match (track.run.space.get(), track.run.index.get())
        {
            (Some(space), _) => clips
                .blend_spaces()
                .get(space)
                .map_or(0, |space| space.clips().map(keys).sum()),
            (None, Some(index)) => keys(index),
            // It looks for its name among all spaces.
            (None, None) => clips.blend_spaces().len(),
        };
        let tracks = self
            .tracks
            .iter()
            .map(|track| 1 + of_track(track) as u64 / 32);
        1 + tracks.sum::<u64>()
    }

    /// The work of what has happened in its advances, on top of their [load](Self::load). Counted, so that tests of how it grows
    /// don't depend on the machine.
    #[doc(hidden)]
    pub fn work_done(&self) -> u64 {
        self.agenda.work
    }

    /// Lets the next advance end early once it has done this much work. What a game plays has no such limit.
    pub(crate) fn limit_work(&mut self, most: u64) {
        self.agenda.most_work = Some(self.agenda.work.saturating_add(most));
    }

    /// The work that may still be done.
    pub(super) fn work_left(&self) -> u64 {
        let most = self.agenda.most_work.unwrap_or(u64::MAX);
        most.saturating_sub(self.agenda.work)
    }

    /// Counts the work of one happening: each track looks for its running changes, its leader and its ranges among all others.
    pub(super) fn count_happening(&mut self) {
        let Extras {
            changes, ranges, ..
        } = &*self.extras;
        let tracks = self.tracks.len() as u64;
        let parts = tracks + (changes.running.len() + ranges.len()) as u64;
        self.count_work(1 + parts + tracks * parts / 64);
    }

    pub(super) fn count_work(&mut self, work: u64) {
        self.agenda.work = self.agenda.work.saturating_add(work);
    }
}
