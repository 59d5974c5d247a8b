//! Snapshots of characters: all that one plays and does at a moment. See decision 063.

mod changes;

use super::{
    FaceNote,
    counted::{ReadError, read_cbor},
};
use crate::{
    controller::{AnimationController, Clips},
    model::RootDelta,
    rig::RigState,
    stamp::Stamp,
};
use changes::Change;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use glam::DVec3;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

/// The most bytes that a snapshot from elsewhere takes in memory.
const MOST_BYTES: usize = 1 << 20;
/// The most parts of a controller in one.
const MOST_PARTS: usize = 2048;

/// All that a character plays and does at a moment, to return to it or to send it: for rollback, saved games, and networks.
///
/// Holds the controller, and as far as the character has them the state of its root motion, its rig, its expressions, and eyes
/// that move by themselves. Where the character stands is up to the game: keep the `Transform` beside it.
///
/// In Bevy, `WholeCharacter` takes and restores it.
///
/// # Networks
/// The same snapshot, advanced by the same steps, becomes the same on every machine. So a peer that has a snapshot needs only what
/// the game has changed since then, right before a step: nothing at all in most steps, and a few bytes for a new state.
///
/// ```
/// # use bevy_marionette::{controller::AnimationController, model::ClipTiming, record::CharacterSnapshot};
/// # use std::time::Duration;
/// # let clips = [ClipTiming::new("walk", 1.0), ClipTiming::new("run", 0.6)];
/// // Both peers have this.
/// let before = CharacterSnapshot::new(AnimationController::playing("walk"));
/// let mut now = before.clone();
/// assert!(now.changes_since(&before).is_empty());
///
/// now.controller.time_scale = 0.5;
/// let sent = now.changes_since(&before);
/// assert!(sent.len() <= 16);
/// let received = before.with_changes(&sent, &clips)?;
/// assert_eq!(received, now);
/// # Ok::<(), bevy_marionette::record::SnapshotError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CharacterSnapshot {
    /// What it plays.
    pub controller: AnimationController,
    #[serde(default)]
    pub(crate) root_motion: Option<RootMotionNote>,
    #[serde(default)]
    pub(crate) rig: Option<Box<RigState>>,
    #[serde(default)]
    pub(crate) face: FaceNote,
}

/// What a character that is carried by its clips keeps from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RootMotionNote {
    pub(crate) applies: bool,
    pub(crate) delta: RootDelta,
    pub(crate) untaken: RootDelta,
    pub(crate) rest: DVec3,
}

/// Bytes that aren't a snapshot, or not the changes of this one.
///
/// ```
/// # use bevy_marionette::{model::ClipTiming, record::{CharacterSnapshot, SnapshotError}};
/// # let clips = [ClipTiming::new("walk", 1.0)];
/// let error = CharacterSnapshot::from_bytes(b"not a snapshot", &clips).unwrap_err();
/// assert!(matches!(error, SnapshotError::Damaged(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It would take more memory than a character may.
    #[error("a snapshot takes more than {} KiB: ask its sender for a new one", MOST_BYTES >> 10)]
    TooLarge,
    /// The bytes say something else, or nothing.
    #[error("a snapshot is damaged ({0}): ask its sender for a new one")]
    Damaged(String),
}

/// The parts of a snapshot that changes replace, as bits.
mod part {
    pub(super) const CALLS: u8 = 1;
    pub(super) const CONTROLLER: u8 = 2;
    pub(super) const ROOT_MOTION: u8 = 4;
    pub(super) const RIG: u8 = 8;
    pub(super) const FACE: u8 = 16;
    pub(super) const ALL: u8 = CALLS | CONTROLLER | ROOT_MOTION | RIG | FACE;
}

impl CharacterSnapshot {
    /// Creates the snapshot of a character that has nothing but a controller.
    pub fn new(controller: AnimationController) -> Self {
        Self {
            controller,
            ..Self::default()
        }
    }

    /// Returns a number that is the same for the same snapshot, on every machine, and with near certainty differs for another: to
    /// find out whether peers have the same.
    pub fn hash(&self) -> u64 {
        let mut hash = Hash(Stamp::NEW);
        // Writing to a hash doesn't fail, and a snapshot has nothing that CBOR lacks.
        let _ = ciborium::into_writer(self, &mut hash);
        hash.0.0
    }

    /// Returns the whole snapshot as bytes, a few hundred for an ordinary character.
    pub fn to_bytes(&self) -> Vec<u8> {
        pack(self)
    }

    /// Reads a snapshot of a character that has these clips, such as an asset `Character`.
    ///
    /// # Errors
    /// If the bytes are not a snapshot, or one that is too large. They may come from anyone.
    pub fn from_bytes<C: Clips + ?Sized>(bytes: &[u8], clips: &C) -> Result<Self, SnapshotError> {
        let mut snapshot: Self = unpack(bytes)?;
        // Bytes have the names of states only.
        snapshot.controller.follow_states(clips.states());
        snapshot.check()?;
        Ok(snapshot)
    }

    /// Returns what the game has changed since another snapshot of the same character, at the same time: no bytes if nothing, and
    /// at most 16 for a new state, or for parameters that are `f32`s. Whatever calls can't tell is sent as a whole.
    pub fn changes_since(&self, before: &Self) -> Vec<u8> {
        let mut parts = 0;
        let mut calls = Vec::new();
        if self.controller != before.controller {
            match changes::between(&before.controller, &self.controller) {
                Some(found) => {
                    parts |= part::CALLS;
                    calls = found;
                }
                None => parts |= part::CONTROLLER,
            }
        }
        let mut differs = |part: u8, differs: bool| parts |= if differs { part } else { 0 };
        differs(part::ROOT_MOTION, self.root_motion != before.root_motion);
        differs(part::RIG, self.rig != before.rig);
        differs(part::FACE, self.face != before.face);
        if parts == 0 {
            return Vec::new();
        }
        let mut out = vec![parts];
        if parts & part::CALLS != 0 {
            out.push(calls.len() as u8);
            calls.iter().for_each(|call| call.write(&mut out));
        }
        if parts & !part::CALLS != 0 {
            out.extend(pack(&Parts {
                controller: (parts & part::CONTROLLER != 0).then(|| self.controller.clone()),
                root_motion: self.root_motion.filter(|_| parts & part::ROOT_MOTION != 0),
                rig: self.rig.clone().filter(|_| parts & part::RIG != 0),
                face: (parts & part::FACE != 0).then(|| self.face.clone()),
            }));
        }
        out
    }

    /// Returns this snapshot with what the game has [changed](Self::changes_since) since, for a character that has these clips.
    ///
    /// # Errors
    /// If the bytes are not changes of this snapshot, or too large. They may come from anyone.
    pub fn with_changes<C: Clips + ?Sized>(
        &self,
        bytes: &[u8],
        clips: &C,
    ) -> Result<Self, SnapshotError> {
        let mut after = self.clone();
        let Some((&parts, mut rest)) = bytes.split_first() else {
            return Ok(after);
        };
        if parts & !part::ALL != 0 {
            return Err(damaged("it has unknown parts"));
        }
        if parts & part::CALLS != 0 {
            let (&count, calls) = rest.split_first().ok_or_else(|| damaged("it ends early"))?;
            rest = calls;
            for _ in 0..count {
                let call = Change::read(&mut rest).ok_or_else(|| damaged("a change ends early"))?;
                call.apply(&mut after.controller)
                    .map_err(SnapshotError::Damaged)?;
            }
        }
        if parts & !part::CALLS != 0 {
            let Parts {
                controller,
                root_motion,
                rig,
                face,
            } = unpack(rest)?;
            if let Some(controller) = controller {
                after.controller = controller;
                after.controller.follow_states(clips.states());
            }
            if parts & part::ROOT_MOTION != 0 {
                after.root_motion = root_motion;
            }
            if parts & part::RIG != 0 {
                after.rig = rig;
            }
            after.face = face.unwrap_or(after.face);
        } else if !rest.is_empty() {
            return Err(damaged("it goes on after its end"));
        }
        after.check()?;
        Ok(after)
    }

    /// Checks what was read.
    fn check(&self) -> Result<(), SnapshotError> {
        if self.controller.parts() > MOST_PARTS {
            return Err(SnapshotError::TooLarge);
        }
        let moves = self.root_motion.is_none_or(|note| {
            note.delta.is_finite() && note.untaken.is_finite() && note.rest.is_finite()
        });
        // Rigs heal within a frame or two, but what they show until then isn't theirs to guess.
        let stands = self.rig.as_ref().is_none_or(|rig| {
            let value = ciborium::Value::serialized(rig);
            value.is_ok_and(|value| is_finite(&value))
        });
        if moves && stands && self.face.is_sound() {
            Ok(())
        } else {
            Err(damaged("a number is not finite"))
        }
    }
}

/// Returns `true` if all numbers are finite but limits, which may be missing.
fn is_finite(value: &ciborium::Value) -> bool {
    use ciborium::Value::{Array, Float, Map};
    match value {
        Float(number) => number.is_finite(),
        Array(values) => values.iter().all(is_finite),
        Map(fields) => fields
            .iter()
            .all(|(name, value)| name.as_text() == Some("turn_limit") || is_finite(value)),
        _ => true,
    }
}

/// The parts that are sent as a whole.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Parts {
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<AnimationController>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_motion: Option<RootMotionNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<Box<RigState>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    face: Option<FaceNote>,
}

fn damaged(what: &str) -> SnapshotError {
    SnapshotError::Damaged(what.to_owned())
}

fn pack(value: &impl Serialize) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory doesn't fail.
    let _ = ciborium::into_writer(value, &mut packed);
    packed.finish().unwrap_or_default()
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SnapshotError> {
    // Names and numbers take about as much in memory.
    let unpacked = ZlibDecoder::new(bytes).take(MOST_BYTES as u64);
    read_cbor(unpacked, &mut { MOST_BYTES }).map_err(|error| match error {
        ReadError::OverBudget => SnapshotError::TooLarge,
        ReadError::Damaged(what) => SnapshotError::Damaged(what),
    })
}

/// Writes to a hash.
struct Hash(Stamp);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // One by one, for what is written at a time must not matter.
        for byte in bytes {
            self.0 = self.0.with(u64::from(*byte));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/snapshot.rs"]
mod tests;
