//! The size of a controller, and the work of its advances.

use super::{AnimationController, AnimationTrack, Clips, ScheduledChange, Switch};

impl AnimationController {
    /// Returns the number of tracks, scheduled changes, callbacks, ranges, and clips to play or to fade from.
    pub(crate) fn parts(&self) -> usize {
        let (tracks, director) = (&self.tracks, &self.director);
        let states = self.states.as_ref().map_or(0, |states| states.parts());
        let switches: usize = director.switches.iter().map(Switch::parts).sum();
        let playback = director.pending.len() + switches + director.queue.len();
        let added = tracks.changes.len() + tracks.callbacks.len() + self.ranges.len();
        tracks.len() + added + tracks.unknown.len() + playback + states
    }

    /// About how many bytes it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        let Self { tracks, states, .. } = self;
        size_of_val(&tracks.list[..])
            + size_of_val(&tracks.callbacks[..])
            + size_of_val(&self.ranges[..])
            + tracks.changes.len() * size_of::<ScheduledChange>()
            + size_of_val(&self.director.switches[..])
            + states.as_ref().map_or(0, |states| states.bytes())
    }

    /// The work of an advance in which nothing happens: one for a controller, and for each of its tracks; more where clips
    /// have many keys, which each advance compares with those that it has planned for.
    pub(crate) fn load<C: Clips + ?Sized>(&self, clips: &C) -> u64 {
        let timing = |clip: usize| clips.timing(clip);
        let keys = |clip: usize| timing(clip).map_or(0, |timing| timing.callbacks.len());
        let of_track = |track: &AnimationTrack| match (track.run.space_in(clips), track.run.index) {
            (Some(space), _) => space.clips().map(keys).sum(),
            // It looks for its name among all spaces.
            (None, index) => index.get().map_or(clips.blend_spaces().len(), keys),
        };
        let work = |track: &AnimationTrack| 1 + of_track(track) as u64 / 32;
        1 + self.tracks.iter().map(work).sum::<u64>()
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
}
