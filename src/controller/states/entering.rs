//! Entering states: what tracks pass takes a machine further, and what plays follows.

use super::{
    Entered, StateRuns,
    run::{Enter, StateRun},
};
use crate::{
    controller::{
        AnimationController, AnimationName, AnimationTrack, Clips, Extras, PlaybackEvent, TrackId,
        Transition, TransitionCurve,
        fade::FAINT,
        playback_state::Pending,
        step::{Crossing, Passed, Step, What},
        transition::Kind,
    },
    model::{BoundBlendSpace, ClipTiming, Entry, MachineLayer, Opening, TransitionKind},
};
use std::{mem, sync::Arc, time::Duration};

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
                let found = key.name_and_data(passed.clip, callbacks, clips);
                let name = found.map(|(name, _)| &**name);
                let is_exit = |exit: &Arc<str>| passed.share > 0.0 && name == Some(exit);
                match &state.exit {
                    Opening::Key(exit) if is_exit(exit) => run.note_key(machine, opens, now),
                    _ => None,
                }
            }
        };
        due.extend(enter.map(|enter| (layer, enter)));
    }

    /// Notes whether anything that the state of a track plays has the callback key of its exit. If not, no wish waits for it.
    pub(in crate::controller) fn note_exit_key(&mut self, track: TrackId, clips: &dyn Clips) {
        let Some(Extras {
            states: Some(states),
            callbacks,
            ..
        }) = self.extras.get_mut()
        else {
            return;
        };
        let Some((layer, state)) = states.state_of(track) else {
            return;
        };
        let Opening::Key(exit) = &state.exit else {
            return;
        };
        let is_added = |clip: &str| {
            let mut added = callbacks.iter();
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
        let barred = !state.plays.iter().any(opens);
        states.runs[layer].barred = barred;
        let machine = &states.layers.layers()[layer].machine;
        states.runs[layer].drop_vain_wish(machine);
    }

    /// Returns `true` if the end of a track's clip takes a machine further, whether or not it is reported.
    pub(in crate::controller) fn state_waits_for_end(&self, at: usize) -> bool {
        let states = self.extras.states.as_deref();
        states.is_some_and(|states| {
            let state = states.state_of(self.tracks[at].id);
            state.is_some_and(|(layer, state)| {
                let run = &states.runs[layer];
                let is_exit = run.replaced || state.exit == Opening::End;
                let exits = run.destination.is_some() && is_exit;
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

    /// Returns `true` if states are yet to be reported, played, or ended.
    pub(in crate::controller) fn has_news_of_states(&self) -> bool {
        let states = self.extras.states.as_ref();
        states.is_some_and(|states| {
            let is_lost = |layer| self.is_lost(layer);
            !states.asked.is_empty()
                || !states.due.is_empty()
                || (0..states.runs.len()).any(is_lost)
        })
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
        match machine.mask {
            None => self.play_on_body(layer, enter, speed, step.as_deref_mut()),
            Some(_) => _ = self.play_on_layer(layer, enter, speed, step.as_deref_mut()),
        }
        let Some(states) = self.extras.states.as_deref() else {
            return;
        };
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
        let machine = &states.layers.layers()[layer].machine;
        let plays = (machine.states().get(states.runs[layer].state)).map(|state| &state.plays);
        let plays = plays.filter(|plays| !plays.is_empty());
        let enter = Enter {
            plays: plays.map(|plays| plays[choice % plays.len()].clone()),
            entry: Entry { at: 0.0, ..entry },
            change: None,
        };
        let track = self.play_on_layer(layer, enter, 1.0, step);
        if let Some(led_by) = led_by
            && let Some(track) = track.and_then(|track| self.track_mut(track))
        {
            track.rare.led_by = Some(led_by);
        }
    }

    /// Notes what a layer's present state plays.
    fn set_track_of_state(&mut self, layer: usize, track: Option<TrackId>) {
        if let Some(states) = self.extras.states_mut() {
            states.runs[layer].track = track;
        }
    }

    fn play_on_body(&mut self, layer: usize, enter: Enter, speed: f64, step: Option<&mut Step>) {
        let Entry { duration, at, .. } = enter.entry;
        self.leave_queue();
        let Some(clip) = enter.plays else {
            self.fade_out(duration);
            return self.set_track_of_state(layer, None);
        };
        // Where a state shows the rest pose, there is something to fade from.
        let from_rest = self.extras.states.as_ref().is_some_and(|states| {
            let state = |at: usize| states.layers.layers()[layer].machine.states().get(at);
            let left = enter.change.and_then(|(from, _)| state(from?));
            left.is_some_and(|left| left.plays.is_empty())
        });
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
        self.set_track_of_state(layer, Some(id));
        let pending = Pending {
            track: id,
            from,
            new: true,
            from_rest,
            transition,
        };
        match step {
            Some(step) => {
                if let Some(at) = self.index_of(id) {
                    self.prepare(at, step);
                }
                self.await_clip(pending);
                self.begin_pending(step);
            }
            None => self.await_clip(pending),
        }
    }

    /// Fades from what plays on a layer to what a state plays. All that fades is next to each other, and blended as a set, so that
    /// as much of what is below shows through as all of them together leave.
    fn play_on_layer(
        &mut self,
        layer: usize,
        enter: Enter,
        speed: f64,
        step: Option<&mut Step>,
    ) -> Option<TrackId> {
        let Entry { duration, at, .. } = enter.entry;
        let MachineLayer { name, mask, .. } =
            self.extras.states.as_ref()?.layers.layers().get(layer)?;
        let (name, mask) = (AnimationName::new(name.clone()), mask.clone()?);
        self.fade_out_layer(&name, duration);
        let Some(clip) = enter.plays else {
            self.set_track_of_state(layer, None);
            return None;
        };
        let mut track = AnimationTrack::new(clip)
            .mask(mask)
            .weight(if duration.is_zero() { 1.0 } else { 0.0 })
            .speed(speed);
        track.restart();
        if at > 0.0 {
            track.seek(at);
        }
        let id = self.add_track(track);
        let at = self.put_on_layer(Some(name));
        if !duration.is_zero() {
            self.fade_weight(id, 1.0, duration, TransitionCurve::Linear);
        }
        self.set_track_of_state(layer, Some(id));
        if let Some(step) = step {
            self.prepare(at, step);
        }
        Some(id)
    }

    /// Puts the track that was added last on a layer, or on the body: next to the others there, or below the layers after it.
    /// Returns its index.
    pub(in crate::controller) fn put_on_layer(&mut self, layer: Option<AnimationName>) -> usize {
        let Some((track, others)) = self.tracks.split_last_mut() else {
            return 0;
        };
        let is_beside = |track: &AnimationTrack| layer.is_some() && track.rare.layer == layer;
        let is_above = |track: &AnimationTrack| track.rare.layer > layer;
        let at = match others.iter().rposition(is_beside) {
            Some(last) => last + 1,
            None => others.iter().position(is_above).unwrap_or(others.len()),
        };
        if layer.is_some() {
            track.rare.layer = layer;
        }
        self.tracks[at..].rotate_right(1);
        at
    }

    /// Fades out all that plays on a layer.
    pub(super) fn fade_out_layer(&mut self, name: &str, duration: Duration) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let is_seen = |track: &AnimationTrack| track.begun() || track.share() > FAINT;
        self.remove_tracks(|track| {
            track.is_on_layer(name) && (duration.is_zero() || !is_seen(track))
        });
        for at in 0..self.tracks.len() {
            if self.tracks[at].is_on_layer(name) {
                let id = self.tracks[at].id;
                self.fade_out_from_now(id, duration, TransitionCurve::Linear);
            }
        }
        self.thin_out(|track| track.is_on_layer(name));
    }

    /// Notes that a clip has become current, maybe in place of that of the body's state.
    pub(in crate::controller) fn replace_clip_of_state(&mut self, id: TrackId) {
        if self.extras.playback.current != Some(id) {
            return;
        }
        let Some(StateRuns {
            layers, runs, due, ..
        }) = self.extras.states_mut()
        else {
            return;
        };
        let body = layers
            .layers()
            .iter()
            .position(|layer| layer.mask.is_none());
        let is_due = |layer: usize| due.iter().any(|(entering, _)| *entering == layer);
        if let Some(body) = body.filter(|body| !is_due(*body))
            && runs[body].track != Some(id)
        {
            let run = &mut runs[body];
            (run.track, run.ended, run.replaced) = (Some(id), false, true);
        }
    }

    /// Ends the states of which nothing plays: whose clip is missing, or was taken away.
    pub(in crate::controller) fn end_lost_states(&mut self, step: &mut Step) {
        let count = self
            .extras
            .states
            .as_ref()
            .map_or(0, |states| states.runs.len());
        for layer in 0..count {
            // Where all that follows is missing, too, each is tried once.
            let mut most = None;
            while self.is_lost(layer) {
                let now = self.clock.now;
                let Some(StateRuns { layers, runs, .. }) = self.extras.states_mut() else {
                    return;
                };
                let (machine, run) = (&layers.layers()[layer].machine, &mut runs[layer]);
                let clips = machine.states().iter().map(|state| state.plays.len());
                let left = most.get_or_insert_with(|| clips.sum::<usize>());
                if *left == 0 {
                    (run.ended, run.replaced) = (true, true);
                    break;
                }
                *left -= 1;
                let enter = run.note_loss(machine, now);
                let Some(enter) = enter else { break };
                if let Some((from, to)) = enter.change {
                    self.report_state(Entered { layer, from, to }, step);
                }
                self.play_state(layer, enter, Some(step));
            }
        }
    }

    /// Returns `true` if nothing plays of what the present state of a layer plays.
    fn is_lost(&self, layer: usize) -> bool {
        let Some(states) = self.extras.states.as_deref() else {
            return false;
        };
        let (MachineLayer { machine, sync, .. }, run) =
            (&states.layers.layers()[layer], &states.runs[layer]);
        let state = machine.states().get(run.state);
        let plays = state.is_some_and(|state| !state.plays.is_empty());
        let is_due = states.due.iter().any(|(due, _)| *due == layer);
        let track = run.track.and_then(|track| self.track(track));
        let is_there = track.is_some_and(|track| track.run.index.get().is_some());
        plays && sync.is_none() && !run.ended && !is_due && !is_there
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
