//! Entering states: what tracks pass takes a machine further, and what plays follows.

use super::{
    run::{Enter, StateRun},
    runs::{Entered, StateRuns},
};
use crate::{
    controller::{
        AnimationName, AnimationTrack, Clips, KeyRef, PlaybackEvent, TrackId, Transition,
        TransitionCurve,
        clock::Nanos,
        director::{Director, Pending},
        step::{Passed, Step, What},
        tracks::Tracks,
        transition::Kind,
    },
    model::{BoundBlendSpace, ClipTiming, Entry, MachineLayer, Opening, TransitionKind},
};
use std::{mem, sync::Arc};

/// # What tracks pass
impl StateRuns {
    /// Notes what a track passes, if it plays a state. What follows is played when the track has passed all that is at its
    /// place. `name` gives the names of keys.
    pub(in crate::controller) fn note<'n>(
        &mut self,
        track: TrackId,
        passed: &Passed,
        now: Nanos,
        name: impl Fn(KeyRef) -> Option<&'n Arc<str>>,
    ) {
        let Some(layer) = self.layer_of(track) else {
            return;
        };
        let MachineLayer { machine, sync, .. } = &self.layers.layers()[layer];
        // One that follows another has no life of its own, and a state that was entered at this place begins with what it plays.
        if sync.is_some() || self.is_due(layer) {
            return;
        }
        let run = &mut self.runs[layer];
        let Some(state) = machine.states().get(run.state) else {
            return;
        };
        if let What::Loop | What::End = passed.what {
            let enter = run.note_end(machine, passed.what == What::End, now);
            return self.due.extend(enter.map(|enter| (layer, enter)));
        }
        if let Opening::Key(exit) = &state.exit
            && passed.share > 0.0
            && name(passed.key) == Some(exit)
        {
            let enter = run.note_key(machine, passed.what != What::Leaves, now);
            self.due.extend(enter.map(|enter| (layer, enter)));
        }
    }

    /// Notes whether anything that a layer's state plays has the callback key of its exit. If not, no wish waits for it.
    fn note_exit_key(&mut self, layer: usize, tracks: &Tracks, clips: &dyn Clips) {
        let MachineLayer { machine, sync, .. } = &self.layers.layers()[layer];
        let run = &mut self.runs[layer];
        let (Some(state), None) = (machine.states().get(run.state), sync) else {
            return;
        };
        let Opening::Key(exit) = &state.exit else {
            return;
        };
        let is_added = |clip: &str| {
            let mut added = tracks.callbacks.iter();
            added.any(|added| added.name == **exit && added.clip == *clip)
        };
        let has_key = |timing: &ClipTiming| {
            is_added(&timing.name) || timing.callbacks.iter().any(|key| key.name == *exit)
        };
        let of_clip = |clip: usize| clips.timing(clip).is_some_and(has_key);
        let of_space = |space: &BoundBlendSpace| {
            is_added(space.name()) || space.members().iter().any(|member| of_clip(member.clip))
        };
        let opens = |name: &Arc<str>| match clips.index_of(name) {
            Some(clip) => of_clip(clip),
            None => {
                let mut spaces = clips.blend_spaces().iter();
                spaces.any(|space| space.name() == name && of_space(space))
            }
        };
        run.barred = !state.plays.iter().any(opens);
        run.drop_vain_wish(machine);
    }

    /// Notes which exits can't open, after clips were looked up anew.
    pub(in crate::controller) fn note_exit_keys(&mut self, tracks: &Tracks, clips: &dyn Clips) {
        (0..self.runs.len()).for_each(|layer| self.note_exit_key(layer, tracks, clips));
    }

    /// Returns `true` if the end of a track's clip takes a machine further, whether or not it is reported.
    pub(in crate::controller) fn waits_for_end(&self, track: TrackId) -> bool {
        self.state_of(track).is_some_and(|(layer, state)| {
            let run = &self.runs[layer];
            let is_exit = run.replaced || state.exit == Opening::End;
            let exits = run.destination.is_some() && is_exit;
            state.then.is_some() || state.plays.len() > 1 || exits
        })
    }

    /// Closes the exit of a state that was open inside a range, because its track has left the range other than by playing.
    pub(in crate::controller) fn close_exit(&mut self, track: TrackId, range: &str) {
        if let Some((layer, state)) = self.state_of(track)
            && matches!(&state.exit, Opening::Key(exit) if **exit == *range)
        {
            self.runs[layer].opened = false;
        }
    }

    /// Returns `true` if states have been entered of which nothing plays yet.
    pub(in crate::controller) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    fn is_due(&self, layer: usize) -> bool {
        self.due.iter().any(|(due, _)| *due == layer)
    }

    /// Returns `true` if a track plays a state that has been left at this place.
    pub(in crate::controller) fn leaves(&self, track: TrackId) -> bool {
        let plays = |(layer, _): &(usize, Enter)| self.runs[*layer].track == Some(track);
        self.due.iter().any(plays)
    }
}

/// # What follows
impl StateRuns {
    /// Plays the states that have been entered by themselves.
    pub(in crate::controller) fn enter_due(
        &mut self,
        tracks: &mut Tracks,
        director: &mut Director,
        step: &mut Step,
    ) {
        for (layer, enter) in mem::take(&mut self.due) {
            if let Some((from, to)) = enter.change {
                self.report(Entered { layer, from, to }, tracks.clock.now, step);
            }
            self.play(layer, enter, tracks, director, Some(step));
        }
    }

    /// Plays a state that the game has entered. The next advance reports it.
    pub(super) fn ask_for(
        &mut self,
        layer: usize,
        enter: Enter,
        tracks: &mut Tracks,
        director: &mut Director,
    ) {
        if let Some((from, to)) = enter.change {
            // By layers, as they are saved, so that a saved controller reports them in the same order.
            let at = self.asked.partition_point(|asked| asked.layer <= layer);
            self.asked.insert(at, Entered { layer, from, to });
        }
        self.due.retain(|(due, _)| *due != layer);
        self.play(layer, enter, tracks, director, None);
    }

    /// Returns `true` if states are yet to be reported, played, or ended.
    pub(in crate::controller) fn has_news(&self, tracks: &Tracks) -> bool {
        let is_lost = |layer| self.is_lost(layer, tracks);
        !self.asked.is_empty() || !self.due.is_empty() || (0..self.runs.len()).any(is_lost)
    }

    /// Reports the states that the game has entered since the last advance.
    pub(in crate::controller) fn report_asked(&mut self, now: Nanos, step: &mut Step) {
        for entered in mem::take(&mut self.asked) {
            self.report(entered, now, step);
        }
    }

    fn report(&self, Entered { layer, from, to }: Entered, now: Nanos, step: &mut Step) {
        let Some(layer) = self.layers.layers().get(layer) else {
            return;
        };
        let name = |state: usize| {
            let state = layer.machine.states().get(state)?;
            Some(AnimationName::new(state.name.clone()))
        };
        let Some(state) = name(to) else { return };
        step.out.push(PlaybackEvent::StateEntered {
            layer: (!layer.name.is_empty()).then(|| AnimationName::new(layer.name.clone())),
            state,
            from: from.and_then(name),
            time: now.secs(),
        });
    }

    /// Plays what a state plays, on the track of its layer, and what layers play that follow it. `step` is that of the
    /// advance, which a call of the game doesn't have.
    fn play(
        &mut self,
        layer: usize,
        enter: Enter,
        tracks: &mut Tracks,
        director: &mut Director,
        mut step: Option<&mut Step>,
    ) {
        let layers = self.layers.clone();
        let entry = enter.entry;
        if layers.layers()[layer].mask.is_none() {
            self.play_on_body(layer, enter, tracks, director, step.as_deref_mut());
        } else {
            let speed = self.speed_of(layer);
            self.play_on_layer(layer, enter, speed, tracks, step.as_deref_mut());
        }
        for (at, other) in layers.layers().iter().enumerate() {
            if other.sync == Some(layer) {
                self.play_following(at, layer, entry, tracks, step.as_deref_mut());
            }
        }
    }

    /// Plays what a layer plays while the one that it follows is in its present state.
    pub(super) fn play_following(
        &mut self,
        layer: usize,
        leader: usize,
        entry: Entry,
        tracks: &mut Tracks,
        step: Option<&mut Step>,
    ) {
        let (lead, old) = (&self.runs[leader], self.runs[layer].track);
        let (choice, led_by) = (lead.choice(), lead.track);
        self.runs[layer] = StateRun::following(lead, old);
        let machine = &self.layers.layers()[layer].machine;
        let plays = (machine.states().get(self.runs[layer].state)).map(|state| &state.plays);
        let plays = plays.filter(|plays| !plays.is_empty());
        let enter = Enter {
            plays: plays.map(|plays| plays[choice % plays.len()].clone()),
            entry: Entry { at: 0.0, ..entry },
            change: None,
        };
        let track = self.play_on_layer(layer, enter, 1.0, tracks, step);
        if let Some(led_by) = led_by
            && let Some(track) = track.and_then(|track| tracks.of_mut(track))
        {
            track.rare.led_by = Some(led_by);
        }
    }

    fn play_on_body(
        &mut self,
        layer: usize,
        enter: Enter,
        tracks: &mut Tracks,
        director: &mut Director,
        step: Option<&mut Step>,
    ) {
        director.leave_queue();
        let Some(clip) = enter.plays else {
            director.fade_to_rest(enter.entry.duration, tracks);
            self.runs[layer].track = None;
            return;
        };
        // Where a state shows the rest pose, there is something to fade from.
        let state = |at: usize| self.layers.layers()[layer].machine.states().get(at);
        let left = enter.change.and_then(|(from, _)| state(from?));
        let from_rest = left.is_some_and(|left| left.plays.is_empty());
        let transition = enter.entry.transition();
        let from = director.drop_superseded(transition.is_cut(), tracks);
        let id = director.add_track(AnimationName::new(clip), tracks);
        if let Some(track) = tracks.of_mut(id) {
            track.speed *= self.speed_of(layer);
            track.enter_at(enter.entry.at);
        }
        director.current = Some(id);
        self.runs[layer].track = Some(id);
        director.await_clip(Pending {
            track: id,
            from,
            new: true,
            from_rest,
            transition,
        });
        if let (Some(step), Some(at)) = (step, tracks.index_of(id)) {
            tracks.prepare(at, step);
            self.note_exit_key(layer, tracks, step.clips);
            director.begin_pending(tracks, step);
            // That is the state's own clip.
            *director.became_current = None;
        }
    }

    /// Fades from what plays on a layer to what a state plays. All that fades is next to each other, and blended as a set, so that
    /// as much of what is below shows through as all of them together leave.
    fn play_on_layer(
        &mut self,
        layer: usize,
        enter: Enter,
        speed: f64,
        tracks: &mut Tracks,
        step: Option<&mut Step>,
    ) -> Option<TrackId> {
        let Entry { duration, at, .. } = enter.entry;
        let MachineLayer { name, mask, .. } = &self.layers.layers()[layer];
        let (name, mask) = (AnimationName::new(name.clone()), mask.clone()?);
        tracks.fade_out_layer(&name, duration);
        let Some(clip) = enter.plays else {
            self.runs[layer].track = None;
            return None;
        };
        let mut track = AnimationTrack::new(clip)
            .mask(mask)
            .weight(if duration.is_zero() { 1.0 } else { 0.0 })
            .speed(speed);
        track.enter_at(at);
        let id = tracks.add(track);
        let at = tracks.put_on_layer(Some(name));
        if !duration.is_zero() {
            tracks.fade_weight(id, 1.0, duration, TransitionCurve::Linear);
        }
        self.runs[layer].track = Some(id);
        if let Some(step) = step {
            tracks.prepare(at, step);
            self.note_exit_key(layer, tracks, step.clips);
        }
        Some(id)
    }

    /// Notes that a clip has become current, maybe one of the game's in place of that of the body's state.
    fn note_current(&mut self, director: &mut Director) {
        let current = mem::take(&mut *director.became_current);
        let mut layers = self.layers.layers().iter();
        let body = layers.position(|layer| layer.mask.is_none());
        if let (Some(current), Some(body)) = (current, body)
            && !self.is_due(body)
            && self.runs[body].track != Some(current)
        {
            let run = &mut self.runs[body];
            (run.track, run.ended, run.replaced) = (Some(current), false, true);
        }
    }

    /// Ends the states of which nothing plays: whose clip is missing, or was taken away.
    pub(in crate::controller) fn end_lost(
        &mut self,
        tracks: &mut Tracks,
        director: &mut Director,
        step: &mut Step,
    ) {
        self.note_current(director);
        for layer in 0..self.runs.len() {
            // Where all that follows is missing, too, each is tried once.
            let mut most = None;
            while self.is_lost(layer, tracks) {
                let now = tracks.clock.now;
                let Self { layers, runs, .. } = self;
                let (machine, run) = (&layers.layers()[layer].machine, &mut runs[layer]);
                let clips = machine.states().iter().map(|state| state.plays.len());
                let left = most.get_or_insert_with(|| clips.sum::<usize>());
                if *left == 0 {
                    (run.ended, run.replaced) = (true, true);
                    break;
                }
                *left -= 1;
                let Some(enter) = run.note_loss(machine, now) else {
                    break;
                };
                if let Some((from, to)) = enter.change {
                    self.report(Entered { layer, from, to }, now, step);
                }
                self.play(layer, enter, tracks, director, Some(step));
            }
        }
    }

    /// Returns `true` if nothing plays of what the present state of a layer plays.
    fn is_lost(&self, layer: usize, tracks: &Tracks) -> bool {
        let (MachineLayer { machine, sync, .. }, run) =
            (&self.layers.layers()[layer], &self.runs[layer]);
        let state = machine.states().get(run.state);
        let plays = state.is_some_and(|state| !state.plays.is_empty());
        let track = run.track.and_then(|track| tracks.of(track));
        let is_there = track.is_some_and(|track| track.run.index.get().is_some());
        plays && sync.is_none() && !run.ended && !self.is_due(layer) && !is_there
    }
}

impl AnimationTrack {
    /// Begins at a time of its clip, or at its start; backward, at its end.
    fn enter_at(&mut self, time: f64) {
        self.restart();
        if time > 0.0 {
            self.seek(time);
        }
    }
}

impl Entry {
    fn transition(self) -> Transition {
        let kind = match self.kind {
            _ if self.duration.is_zero() => Kind::Cut,
            TransitionKind::Switch => Kind::Switch,
            TransitionKind::Fade => Kind::Fade,
        };
        Transition {
            kind,
            duration: self.duration,
            in_phase: self.in_phase,
            ..Transition::CUT
        }
    }
}
