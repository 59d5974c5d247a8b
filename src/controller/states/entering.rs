//! Entering states: what tracks pass takes a machine further, and what plays follows.

use super::{
    Entered, StateRuns,
    run::{Enter, StateRun},
};
use crate::{
    controller::{
        AnimationController, AnimationName, AnimationTrack, BlendMode, Clips, Extras, KeyRef,
        PlaybackEvent, TrackId, Transition, TransitionCurve,
        playback_state::Pending,
        step::{Crossing, Passed, Step, What},
        transition::Kind,
    },
    model::{Entry, MachineLayer, Opening, TransitionKind},
};
use std::{mem, sync::Arc};

impl AnimationController {
    /// Notes what a track passes, if it plays a state. What follows is played when the track has passed all that is at its
    /// place.
    pub(in crate::controller) fn note_for_states(
        &mut self,
        at: usize,
        passed: &Passed,
        clips: &dyn Clips,
    ) {
        let (id, now) = (self.tracks[at].id, self.clock.now);
        let Some(Extras {
            states: Some(states),
            callbacks,
            ..
        }) = self.extras.get_mut()
        else {
            return;
        };
        let Some(layer) = states.layer_of(id) else {
            return;
        };
        let StateRuns {
            layers, runs, due, ..
        } = &mut **states;
        // One that follows another has no life of its own.
        if layers.layers()[layer].sync.is_some() {
            return;
        }
        // The state that was entered at this place begins with what it plays.
        if due.iter().any(|(entering, _)| *entering == layer) {
            return;
        }
        let (machine, run) = (&layers.layers()[layer].machine, &mut runs[layer]);
        let Some(state) = machine.states().get(run.state) else {
            return;
        };
        let enter = match passed.what {
            What::Loop => run.note_end(machine, false, now),
            What::End => run.note_end(machine, true, now),
            What::Key(..) | What::Range(_) => {
                let (key, opens) = match passed.what {
                    What::Range(range) => (range.key, range.crossing != Crossing::Leaves),
                    What::Key(key, _) => (key, true),
                    What::Loop | What::End => return,
                };
                let name = match key {
                    KeyRef::Clip(index) => clips
                        .timing(passed.clip)
                        .and_then(|timing| timing.callbacks.get(index))
                        .map(|key| &*key.name),
                    KeyRef::Added(id) => {
                        let added = callbacks.iter().find(|added| added.id == id);
                        added.map(|added| &*added.name)
                    }
                };
                let is_exit = |exit: &Arc<str>| passed.share > 0.0 && name == Some(exit);
                match &state.exit {
                    Opening::Key(exit) if is_exit(exit) => run.note_key(machine, opens, now),
                    _ => None,
                }
            }
        };
        due.extend(enter.map(|enter| (layer, enter)));
    }

    /// Returns `true` if the end of a track's clip takes a machine further, whether or not it is reported.
    pub(in crate::controller) fn state_waits_for_end(&self, at: usize) -> bool {
        let states = self.extras.states.as_deref();
        states.is_some_and(|states| {
            let state = states.state_of(self.tracks[at].id);
            state.is_some_and(|(layer, state)| {
                let exits = states.runs[layer].destination.is_some() && state.exit == Opening::End;
                state.then.is_some() || state.plays.len() > 1 || exits
            })
        })
    }

    /// Closes the exit of a state that was open inside a range, because its track has left the range other than by playing.
    pub(in crate::controller) fn close_exit(&mut self, track: TrackId, range: &str) {
        let Some(states) = self.extras.states_mut() else {
            return;
        };
        if let Some((layer, state)) = states.state_of(track)
            && matches!(&state.exit, Opening::Key(exit) if **exit == *range)
        {
            states.runs[layer].opened = false;
        }
    }

    /// Returns `true` if states have been entered of which nothing plays yet.
    pub(in crate::controller) fn has_due_states(&self) -> bool {
        let states = self.extras.states.as_ref();
        states.is_some_and(|states| !states.due.is_empty())
    }

    /// Returns `true` if a track plays a state that has been left at this place.
    pub(in crate::controller) fn leaves_state(&self, at: usize) -> bool {
        let id = self.tracks[at].id;
        self.extras.states.as_ref().is_some_and(|states| {
            let is_left = |(layer, _): &(usize, Enter)| states.runs[*layer].track == Some(id);
            states.due.iter().any(is_left)
        })
    }

    /// Plays the states that have been entered by themselves.
    pub(in crate::controller) fn enter_states(&mut self, step: &mut Step) {
        let Some(states) = self.extras.states_mut() else {
            return;
        };
        for (layer, enter) in mem::take(&mut states.due) {
            if let Some((from, to)) = enter.change {
                self.report_state(Entered { layer, from, to }, step);
            }
            self.play_state(layer, enter, Some(step));
        }
    }

    /// Plays a state that the game has entered. The next advance reports it.
    pub(super) fn ask_for(&mut self, layer: usize, enter: Enter) {
        if let Some(states) = self.extras.states_mut() {
            let entered = enter.change.map(|(from, to)| Entered { layer, from, to });
            states.asked.extend(entered);
            states.due.retain(|(due, _)| *due != layer);
        }
        self.play_state(layer, enter, None);
        self.change();
    }

    /// Returns `true` if states are yet to be reported or played.
    pub(in crate::controller) fn has_news_of_states(&self) -> bool {
        let states = self.extras.states.as_ref();
        states.is_some_and(|states| !states.asked.is_empty() || !states.due.is_empty())
    }

    /// Reports the states that the game has entered since the last advance.
    pub(in crate::controller) fn report_asked_states(&mut self, step: &mut Step) {
        let Some(states) = self.extras.states_mut() else {
            return;
        };
        for entered in mem::take(&mut states.asked) {
            self.report_state(entered, step);
        }
    }

    fn report_state(&self, Entered { layer, from, to }: Entered, step: &mut Step) {
        let states = self.extras.states.as_ref();
        let Some(layer) = states.and_then(|states| states.layers.layers().get(layer)) else {
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
            time: self.clock.now.secs(),
        });
    }

    /// Plays what a state plays, on the track of its layer, and what layers play that follow it. `step` is that of the
    /// advance, which a call of the game doesn't have.
    fn play_state(&mut self, layer: usize, enter: Enter, mut step: Option<&mut Step>) {
        let Some(states) = self.extras.states.as_deref() else {
            return;
        };
        let Some(machine) = states.layers.layers().get(layer) else {
            return;
        };
        let (speed, entry) = (states.speed_of(layer), enter.entry);
        let track = match machine.mask.clone() {
            None => self.play_on_body(enter, speed, step.as_deref_mut()),
            Some(mask) => {
                let old = states.runs.get(layer).and_then(|run| run.track);
                self.play_on_layer(mask, old, enter, speed, step.as_deref_mut())
            }
        };
        let Some(states) = self.extras.states_mut() else {
            return;
        };
        states.runs[layer].track = track;
        let layers = states.layers.clone();
        for (at, other) in layers.layers().iter().enumerate() {
            if other.sync == Some(layer) {
                self.play_following(at, layer, entry, step.as_deref_mut());
            }
        }
    }

    /// Plays what a layer plays while the one that it follows is in its present state.
    pub(super) fn play_following(
        &mut self,
        layer: usize,
        leader: usize,
        entry: Entry,
        step: Option<&mut Step>,
    ) {
        let Some(states) = self.extras.states_mut() else {
            return;
        };
        let (lead, old) = (&states.runs[leader], states.runs[layer].track);
        let (choice, led_by) = (lead.choice(), lead.track);
        states.runs[layer] = StateRun::following(lead, old);
        let MachineLayer { mask, machine, .. } = &states.layers.layers()[layer];
        let Some(mask) = mask.clone() else { return };
        let plays = (machine.states().get(states.runs[layer].state)).map(|state| &state.plays);
        let plays = plays.filter(|plays| !plays.is_empty());
        let enter = Enter {
            plays: plays.map(|plays| plays[choice % plays.len()].clone()),
            entry: Entry { at: 0.0, ..entry },
            change: None,
        };
        let track = self.play_on_layer(mask, old, enter, 1.0, step);
        if let Some(led_by) = led_by
            && let Some(track) = track.and_then(|track| self.track_mut(track))
        {
            track.rare.led_by = Some(led_by);
        }
        if let Some(states) = self.extras.states_mut() {
            states.runs[layer].track = track;
        }
    }

    fn play_on_body(
        &mut self,
        enter: Enter,
        speed: f64,
        step: Option<&mut Step>,
    ) -> Option<TrackId> {
        let Entry { duration, at, .. } = enter.entry;
        self.leave_queue();
        let Some(clip) = enter.plays else {
            self.fade_out(duration);
            return None;
        };
        let transition = enter.entry.transition();
        let before = self.drop_superseded(transition.is_cut());
        let from = self.current_id().or(before);
        let id = self.add_playback_track(AnimationName::new(clip));
        if let Some(track) = self.track_mut(id) {
            track.speed *= speed;
            // Backward, it begins at its end.
            track.restart();
            if at > 0.0 {
                track.seek(at);
            }
        }
        self.extras.playback.current = Some(id);
        let pending = Pending {
            track: id,
            from,
            new: true,
            transition,
        };
        match step {
            Some(step) => {
                self.prepare(self.tracks.len() - 1, step);
                self.await_clip(pending);
                self.begin_pending(step);
            }
            None => self.await_clip(pending),
        }
        Some(id)
    }

    /// Plays over the track of the state before. That one stays until the new one is faded in, so that nothing from below
    /// shows through.
    fn play_on_layer(
        &mut self,
        mask: Arc<str>,
        old: Option<TrackId>,
        enter: Enter,
        speed: f64,
        step: Option<&mut Step>,
    ) -> Option<TrackId> {
        let Entry { duration, at, .. } = enter.entry;
        let Some(clip) = enter.plays else {
            if let Some(old) = old {
                self.fade_out_track(old, duration);
            }
            return None;
        };
        let mut track = AnimationTrack::new(clip)
            .blend(BlendMode::Override)
            .mask(mask)
            .weight(if duration.is_zero() { 1.0 } else { 0.0 })
            .speed(speed);
        track.restart();
        if at > 0.0 {
            track.seek(at);
        }
        let id = self.add_track(track);
        if !duration.is_zero() {
            self.fade_weight(id, 1.0, duration, TransitionCurve::Linear);
        }
        let until = self.clock.now.plus(duration.into());
        if let Some(old) = old.and_then(|old| self.track_mut(old)) {
            old.leaves_at = Some(until);
        }
        if let Some(step) = step {
            self.prepare(self.tracks.len() - 1, step);
        }
        Some(id)
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
