//! Recordings of characters, to be played again.
//!
//! A recording holds inputs, not poses: the state of every controller from time to time, each
//! change that the game made to one, the length of every advance, and the inputs of rigs. Since the
//! same inputs give the same bits, any frame can be played again exactly, and takes a few bytes.
//!
//! A [`RecordingFile`] can be checked without the game: [`RecordingFile::check`] plays it again and
//! compares what the controllers report with what they reported then. So does `marionette replay`
//! on the command line. [`assert_callbacks`] is for tests of games.
//!
//! A [`CharacterSnapshot`] is a single moment, for rollback, saved games, and networks.

mod assert;
mod changes;
mod clip_table;
mod counted;
mod face;
mod file;
mod frames;
mod snapshot;
mod tape;
mod tape_form;

pub use assert::assert_callbacks;
pub use file::{CheckedCharacter, Difference, RecordingError, RecordingFile};
pub(crate) use internals::*;
#[cfg(feature = "bevy")]
pub(crate) use snapshot::RootMotionNote;
pub use snapshot::{CharacterSnapshot, SnapshotError};

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    pub use crate::record::{
        clip_table::ClipTable,
        face::{ExpressionNote, EyesNote, FaceNote, FadeNote, ShownNote},
        file::RecordedCharacter,
        frames::Frames,
        tape::{NotedPart, PartNote, Replay, Tape, TapeMoment},
    };
}
