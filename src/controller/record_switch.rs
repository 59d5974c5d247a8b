//! Recording what there was to see at the moment of a [switch](Switch).

use super::{
    AnimationController, AnimationName, Clips, TrackId,
    clock::Nanos,
    director::Director,
    layer::shares_in_space,
    motion::Instant,
    playhead::Known,
    run::Lead,
    switch::{Switch, SwitchLayer},
    tracks::Tracks,
};
use crate::model::PlaybackMode;
use std::time::Duration;

impl AnimationController {
    /// Returns the switches whose offset is still decaying, the oldest first.
    #[doc(hidden)]
    pub fn switches(&self) -> impl Iterator<Item = &Switch> + Clone {
        self.director.decaying(self.tracks.clock.now)
    }
}

impl Director {
    /// The switches whose offset is still decaying at a moment, the oldest first.
    pub(super) fn decaying(&self, now: Nanos) -> impl Iterator<Item = &Switch> + Clone {
        let switches = self.switches.iter();
        switches.filter(move |switch| switch.end() > now)
    }

    /// Records that a track takes the place of others, which are still there. Returns the total weight that they have.
    /// `at_once` gives the track a whole weight from the first moment on.
    pub(super) fn record_switch(
        &mut self,
        id: TrackId,
        duration: Duration,
        at_once: bool,
        tracks: &Tracks,
        clips: &dyn Clips,
    ) -> f32 {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (at, track) in tracks.iter().enumerate() {
            let is_seen = track.is_base() && track.share() > 0.0;
            if is_seen && (self.replaces(track, id) || track.id == id) {
                tracks.add_switch_layers(at, tracks.lead(at), clips, &mut from);
            }
        }
        let total: f32 = from.iter().map(|layer| layer.weight).sum();
        if let Some(at) = tracks.index_of(id) {
            // What leads it may leave.
            let lead = tracks.lead(at);
            let lead = lead.filter(|lead| !self.replaces(&tracks[lead.leader], id));
            tracks.add_switch_layers(at, lead, clips, &mut to);
        }
        // It takes the place of all that ends, and fades in to a whole weight from the one that these had.
        let whole = if at_once { 1.0 } else { total.min(1.0) };
        let sum: f32 = to.iter().map(|layer| layer.weight).sum();
        for layer in &mut to {
            let share = layer.weight / sum;
            layer.weight = whole * share;
            layer.weight_rate = (1.0 - whole) / duration.as_secs_f32() * share;
        }
        if !from.is_empty() && !to.is_empty() {
            let begin = tracks.clock.now;
            self.drop_ended_switches(begin);
            self.switches.push(Switch {
                begin,
                duration: duration.as_secs_f64(),
                from,
                to,
            });
        }
        total
    }

    /// Returns the moment at which the next offset has decayed.
    pub(super) fn next_switch_end(&self) -> Option<Nanos> {
        self.switches.iter().map(Switch::end).min()
    }

    /// Forgets the switches whose offset has decayed.
    pub(super) fn drop_ended_switches(&mut self, now: Nanos) {
        self.switches.retain(|switch| switch.end() > now);
    }
}

impl Tracks {
    /// Adds what a track plays: its clip, or those that weigh in its blend space.
    fn add_switch_layers(
        &self,
        at: usize,
        lead: Option<Lead>,
        clips: &dyn Clips,
        out: &mut Vec<SwitchLayer>,
    ) {
        let track = &self.list[at];
        let Some(known) = track.present() else {
            return;
        };
        let moves = self.is_moving(at);
        let whole = track.share();
        let whole = if whole > 0.0 { whole } else { 1.0 };
        let ramp = self.weight_ramp(at);
        let slope = ramp.map_or(0.0, |ramp| {
            ramp.slope(ramp.seconds_to(self.clock.now))[0] as f32
        });
        let mut add = |clip: AnimationName, (time, rate): (f64, f64), share: f32| {
            out.push(SwitchLayer {
                clip,
                time,
                rate,
                weight: whole * share,
                weight_rate: slope * share,
                mask: track.mask.clone(),
            });
        };
        if track.run.space.get().is_none() {
            let speed = if moves { self.speed_now(at, lead) } else { 0.0 };
            let place = place_and_rate(known, track.placed_in(known.length), speed);
            return add(track.clip.clone(), place, 1.0);
        }
        for member in shares_in_space(track, clips) {
            if let Some(timing) = clips.timing(member.clip) {
                let rate = if moves { member.speed } else { 0.0 };
                let clip = AnimationName::new(timing.name.clone());
                add(clip, (member.time, rate), member.weight);
            }
        }
    }

    /// A track's present speed, with or without a lead.
    fn speed_now(&self, at: usize, lead: Option<Lead>) -> f64 {
        let begin = Instant::at(self.clock.now);
        match lead {
            None => self.motion_from(at, begin).speed_after(0.0),
            Some(Lead { leader, .. }) if self.list[leader].paused => 0.0,
            Some(Lead { leader, ratio, .. }) => {
                self.motion_from(leader, begin).speed_after(0.0) * ratio
            }
        }
    }
}

/// The place in the clip of an unwrapped position, and how fast the place changes at a speed.
fn place_and_rate(known: Known, position: f64, speed: f64) -> (f64, f64) {
    let backward = speed < 0.0;
    let rate = match known.playback {
        PlaybackMode::Loop => speed,
        PlaybackMode::Once if known.is_at_end(position, !backward) => 0.0,
        PlaybackMode::Once => speed,
        PlaybackMode::PingPong => {
            let Known { length, .. } = known;
            let returns = length > 0.0 && position.rem_euclid(known.period()) >= length;
            if returns { -speed } else { speed }
        }
    };
    (known.place(position), rate)
}
