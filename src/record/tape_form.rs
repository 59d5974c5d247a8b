//! A tape as it is stored in a file.
//!
//! A controller can be a single byte in a file, because everything has a default, and takes a
//! kilobyte in memory. So states are parsed one by one, each within limits, and their memory is
//! counted. A controller has so few parts that playing it again is quick, although the time grows
//! with their square.

use super::{
    FaceNote,
    changes::Changes,
    counted::{ReadError, read_cbor},
    tape::{PartNote, Tape, TapeState},
};
use crate::{model::JointTransform, pose::JointOverride, rig::RigAction};
use glam::Affine3A;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};
use std::{collections::VecDeque, fmt};

/// The most bytes of a state in a file.
const MOST_BYTES: usize = 1 << 18;
/// The most parts of a controller.
const MOST_PARTS: usize = 2048;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TapeForm {
    begin: u64,
    end: Option<u64>,
    states: Vec<Blob>,
    transforms: Changes<JointTransform>,
    overrides: Changes<Vec<JointOverride>>,
    actions: Changes<RigAction>,
    #[serde(default)]
    parents: Changes<Option<Affine3A>>,
    #[serde(default)]
    parts: Changes<Vec<PartNote>>,
    #[serde(default)]
    faces: Changes<FaceNote>,
}

impl TapeForm {
    pub(super) fn new(tape: &Tape) -> Result<Self, String> {
        let Tape {
            begin,
            end,
            states,
            transforms,
            overrides,
            actions,
            parents,
            parts,
            faces,
        } = tape;
        let state = |state: &TapeState| {
            let mut bytes = Vec::new();
            ciborium::into_writer(state, &mut bytes).map_err(|error| error.to_string())?;
            Ok(Blob(bytes))
        };
        Ok(Self {
            begin: *begin,
            end: *end,
            states: states.iter().map(state).collect::<Result<_, String>>()?,
            transforms: transforms.clone(),
            overrides: overrides.clone(),
            actions: actions.clone(),
            parents: parents.clone(),
            parts: parts.clone(),
            faces: faces.clone(),
        })
    }

    /// Parses the states. What they take in memory is taken from `budget`.
    pub(super) fn parse(self, budget: &mut usize) -> Result<Tape, ReadError> {
        let Self {
            begin,
            end,
            states: blobs,
            transforms,
            overrides,
            actions,
            parents,
            parts,
            faces,
        } = self;
        let mut states = VecDeque::new();
        for Blob(bytes) in blobs {
            if bytes.len() > MOST_BYTES {
                return Err(ReadError::Damaged(
                    "the state of a controller is too large".into(),
                ));
            }
            // States are paid for one by one, so that many small ones can't exceed the budget together.
            let state: TapeState = read_cbor(&bytes[..], budget)?;
            if state.parts() > MOST_PARTS {
                let what = format!(
                    "a controller has more than {MOST_PARTS} tracks, changes, callbacks and ranges"
                );
                return Err(ReadError::Damaged(what));
            }
            // Fields that the file leaves out take memory, too, which `read_cbor` doesn't count.
            *budget = budget
                .checked_sub(state.bytes())
                .ok_or(ReadError::OverBudget)?;
            states.push_back(state);
        }
        Ok(Tape {
            begin,
            end,
            states,
            transforms,
            overrides,
            actions,
            parents,
            parts,
            faces,
        })
    }
}

/// Bytes, as CBOR has them.
#[derive(Clone, Debug)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Blob, E> {
                Ok(Blob(bytes))
            }
        }

        // As a byte string. In a list, most bytes would take two.
        deserializer.deserialize_byte_buf(Bytes)
    }
}
