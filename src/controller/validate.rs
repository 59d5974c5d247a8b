//! Saved controllers, checked as they are read.
//!
//! A file can hold what no controller in memory ever does: a ramp without end, two tracks of one id, counters at
//! their maximum. Each would hang or overflow an advance later on, so it is an error here.

use super::{AnimationController, AnimationTrack, ScheduledChange, playhead::Known};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::collections::HashSet;

impl Serialize for AnimationController {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for AnimationController {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut controller = Self::deserialize(deserializer)?;
        controller.number_tracks();
        controller
            .check()
            .map_err(|what| D::Error::custom(format!("invalid animation controller: {what}")))?;
        Ok(controller)
    }
}

/// Ids beyond this one are not the count of anything.
const MAX_ID: u64 = u64::MAX >> 1;

impl AnimationController {
    /// Gives an id to tracks without one, as in a state written by hand.
    fn number_tracks(&mut self) {
        self.tracks.unknown.sort();
        self.tracks.callbacks.sort_by_key(|added| added.id.0);
        let used = self.tracks.iter().map(|track| track.id.0);
        self.tracks.last_id = used.fold(self.tracks.last_id, u64::max);
        for at in 0..self.tracks.len() {
            if !self.tracks[at].position.is_finite() {
                self.tracks[at].put(0.0);
            }
            if self.tracks[at].id.0 == 0 && self.tracks.last_id < MAX_ID {
                self.tracks[at].id.0 = self.tracks.next_id();
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let expect = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        expect(self.tracks.last_id <= MAX_ID, "`last_id` is out of range")?;
        self.director.check()?;
        let (mut tracks, mut handles) = (HashSet::new(), HashSet::new());
        for track in self.tracks.iter() {
            track
                .check()
                .map_err(|what| format!("track {}: {what}", track.id.0))?;
            expect(
                tracks.insert(track.id),
                &format!("two tracks have the id {}", track.id.0),
            )?;
        }
        for event in self.tracks.changes.iter() {
            let id = event.handle().id();
            event
                .check()
                .map_err(|what| format!("scheduled change {id}: {what}"))?;
            expect(
                id <= self.tracks.last_id,
                &format!("scheduled change {id} is newer than `last_id`"),
            )?;
            expect(
                handles.insert(id),
                &format!("two scheduled changes have the handle {id}"),
            )?;
        }
        for callback in self.tracks.callbacks.iter() {
            expect(
                callback.is_valid(self.tracks.last_id),
                "a callback's counters are out of range",
            )?;
        }
        Ok(())
    }
}

impl AnimationTrack {
    fn check(&self) -> Result<(), &'static str> {
        let is_length = |known: Known| known.length.is_finite() && known.length >= 0.0;
        let known = self.known.is_none_or(is_length);
        let scrub = self.rare.scrub.unwrap_or(0.0);
        let places = [scrub, self.rare.phase, self.position].map(f64::is_finite) == [true; 3];
        if known && places && self.rare.steering.is_sound() && self.anchor.is_sound() {
            Ok(())
        } else {
            Err("its clip's length or one of its times is not finite")
        }
    }
}

impl ScheduledChange {
    fn check(&self) -> Result<(), &'static str> {
        if self.value().is_finite() && self.is_sound() {
            Ok(())
        } else {
            Err("a number is not finite, or its ramp ends before it begins")
        }
    }
}
