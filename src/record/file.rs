//! Recordings in files.

use super::{
    ClipTable, Frames, Replay, Tape,
    counted::{ReadError, read_cbor},
    tape::EVENT,
    tape_form::TapeForm,
};
use crate::controller::PlaybackEvent;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, BufWriter, Read, Write};

/// A recording as it is in a `.rec` file: a line of text, followed by CBOR compressed by zlib.
///
/// ```no_run
/// # use bevy_marionette::record::RecordingFile;
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let file = RecordingFile::read(std::fs::File::open("bug.rec")?)?;
/// for character in file.check() {
///     match character.difference {
///         None => println!("{} plays as it did", character.name),
///         Some(difference) => println!("{} differs from frame {} on", character.name, difference.frame()),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingFile {
    /// The frames and their advances.
    #[doc(hidden)]
    pub frames: Frames,
    /// The clips of each kind of character.
    #[doc(hidden)]
    pub clips: Vec<ClipTable>,
    /// The characters.
    #[doc(hidden)]
    pub characters: Vec<RecordedCharacter>,
}

/// A character of a [`RecordingFile`].
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCharacter {
    /// Its name, for display.
    pub name: String,
    /// The path of its asset, if it has one.
    pub asset: Option<String>,
    /// Its clips: an index into [`RecordingFile::clips`].
    pub clips: usize,
    /// The tape of the character.
    pub tape: Tape,
    /// Events that its controller reported, each with its frame: see [`Tape::events`].
    pub events: Vec<(u64, PlaybackEvent)>,
}

/// The file, before states are parsed.
#[derive(Serialize, Deserialize)]
struct Form {
    frames: Frames,
    clips: Vec<ClipTable>,
    characters: Vec<CharacterForm>,
}

#[derive(Serialize, Deserialize)]
struct CharacterForm {
    name: String,
    asset: Option<String>,
    clips: usize,
    tape: TapeForm,
    events: Vec<(u64, PlaybackEvent)>,
}

/// An error in reading a recording.
///
/// ```no_run
/// # use bevy_marionette::record::{RecordingError, RecordingFile};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// match RecordingFile::read(std::fs::File::open("bug.rec")?) {
///     Err(RecordingError::Version(version)) => println!("recorded by another release, in version {version}"),
///     file => println!("{} characters", file?.check().count()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It could not be read or decompressed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is not a recording: its first line should be `{expected}`", expected = RecordingFile::HEADER.trim_end())]
    Header,
    /// It was written by another version.
    #[error("it is a recording of version {0}, expected {version}; use the version of bevy_marionette that wrote it", version = RecordingFile::VERSION)]
    Version(String),
    /// It takes too much memory.
    #[error("it takes more than {0} MB in memory; record fewer characters or a shorter time")]
    TooLarge(u64),
    /// It is damaged.
    #[error("it is damaged: {0}; save it again")]
    Damaged(String),
}

impl RecordingFile {
    /// The version of the format.
    pub const VERSION: u32 = 4;
    const HEADER: &'static str = "bevy_marionette recording 4\n";
    const MAGIC: &'static str = "bevy_marionette recording ";
    /// The most bytes that [`read`](Self::read) takes. A small file may take fewer: 4 MB, and 160 times its size.
    pub const MOST_BYTES: u64 = 1 << 29;

    /// Writes the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let mut to = BufWriter::new(to);
        to.write_all(Self::HEADER.as_bytes())?;
        let mut to = ZlibEncoder::new(to, Compression::fast());
        let character = |of: &RecordedCharacter| {
            let RecordedCharacter {
                name,
                asset,
                clips,
                tape,
                events,
            } = of.clone();
            Ok(CharacterForm {
                name,
                asset,
                clips,
                tape: TapeForm::new(&tape)?,
                events,
            })
        };
        let characters = self
            .characters
            .iter()
            .map(character)
            .collect::<Result<_, String>>();
        let characters = characters.map_err(io::Error::other)?;
        let form = Form {
            frames: self.frames.clone(),
            clips: self.clips.clone(),
            characters,
        };
        ciborium::into_writer(&form, &mut to).map_err(|error| match error {
            ciborium::ser::Error::Io(error) => error,
            ciborium::ser::Error::Value(what) => io::Error::other(what),
        })?;
        to.finish()?.flush()
    }

    /// Reads a file of up to [`MOST_BYTES`](Self::MOST_BYTES).
    ///
    /// # Errors
    /// If it cannot be read, is not a recording, takes too much memory, or is damaged.
    pub fn read(from: impl Read) -> Result<Self, RecordingError> {
        let mut bytes = Vec::new();
        from.take(Self::MOST_BYTES).read_to_end(&mut bytes)?;
        // What a game recorded isn't compressed as well as what was made to be large.
        let most = (4 << 20) + 160 * bytes.len() as u64;
        Self::read_within(&bytes[..], most.min(Self::MOST_BYTES))
    }

    /// Reads a file of up to `most` bytes when it is decompressed, and roughly as many in memory.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_within(from: impl Read, most: u64) -> Result<Self, RecordingError> {
        let mut from = BufReader::new(from);
        let mut header = [0; Self::HEADER.len()];
        // The header has a fixed length, so other files are recognized before anything is decompressed.
        from.read_exact(&mut header)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => RecordingError::Header,
                _ => error.into(),
            })?;
        if header != Self::HEADER.as_bytes() {
            let version = header
                .strip_prefix(Self::MAGIC.as_bytes())
                .ok_or(RecordingError::Header)?;
            return Err(RecordingError::Version(
                String::from_utf8_lossy(version).trim_end().into(),
            ));
        }
        let too_large = || RecordingError::TooLarge(most >> 20);
        let damaged = |error: ReadError| match error {
            ReadError::OverBudget => too_large(),
            ReadError::Damaged(what) => RecordingError::Damaged(what),
        };
        let mut limited = BufReader::new(ZlibDecoder::new(from).take(most));
        let mut budget = usize::try_from(most).unwrap_or(usize::MAX);
        let form = read_cbor(&mut limited, &mut budget);
        // At the limit, the decoder looks as if the file ended, so this comes before other errors.
        if limited.get_ref().limit() == 0 {
            return Err(too_large());
        }
        let form: Form = form.map_err(damaged)?;
        let mut characters = Vec::new();
        for CharacterForm {
            name,
            asset,
            clips,
            tape,
            events,
        } in form.characters
        {
            let tape = tape.parse(&mut budget).map_err(damaged)?;
            characters.push(RecordedCharacter {
                name,
                asset,
                clips,
                tape,
                events,
            });
        }
        Self {
            frames: form.frames,
            clips: form.clips,
            characters,
        }
        .validate()
    }

    fn validate(self) -> Result<Self, RecordingError> {
        let damaged = |what: String| Err(RecordingError::Damaged(what));
        if !self.frames.is_sound() {
            return damaged("its frames are not in order".into());
        }
        for RecordedCharacter {
            name, clips, tape, ..
        } in &self.characters
        {
            // Checked once, here, so that nothing after this has to.
            if *clips >= self.clips.len() {
                return damaged(format!("`{name}` has no clips"));
            }
            if !tape.is_sound() {
                return damaged(format!("the tape of `{name}` is not in order"));
            }
        }
        Ok(self)
    }

    /// The most work that [`check`](Self::check) does for all characters of a small file together. A file may take one
    /// more for each byte of its tapes in memory, and what its recorded events take.
    pub const MOST_WORK: u64 = Replay::MOST_WORK;

    /// Plays everything again, and compares it with the recorded events and states.
    ///
    /// What takes more than [`MOST_WORK`](Self::MOST_WORK) is not compared: see [`Difference::TooLong`].
    pub fn check(&self) -> impl Iterator<Item = CheckedCharacter<'_>> {
        self.check_within(Self::MOST_WORK + self.expected_work())
    }

    /// The work that a file of this size may take on top of [`MOST_WORK`](Self::MOST_WORK).
    fn expected_work(&self) -> u64 {
        let of_character = |character: &RecordedCharacter| {
            character.tape.bytes() as u64 + EVENT * character.events.len() as u64
        };
        self.frames.bytes() as u64 + self.characters.iter().map(of_character).sum::<u64>()
    }

    /// Does the same as [`check`](Self::check), with at most this much work.
    pub fn check_within(&self, mut work: u64) -> impl Iterator<Item = CheckedCharacter<'_>> {
        self.characters
            .iter()
            .map(move |character| self.check_one(character, &mut work))
    }

    fn check_one<'f>(
        &'f self,
        character: &'f RecordedCharacter,
        work: &mut u64,
    ) -> CheckedCharacter<'f> {
        let (tape, clips) = (&character.tape, &self.clips[character.clips]);
        let mut checked = CheckedCharacter {
            name: &character.name,
            character,
            clips,
            events: Vec::new(),
            difference: None,
        };
        // Without a stored state, there is nothing to play, and so nothing to compare.
        let Some(replay) = Replay::from_start(tape, &self.frames) else {
            return checked;
        };
        let mut replay = replay.within(*work);
        let first = replay.frame();
        let mut recorded = character
            .events
            .iter()
            // Events before the first stored state can't be played again.
            .filter(|(frame, _)| *frame >= first)
            .peekable();
        let mut events = Vec::new();
        while replay.play_frame(clips, &mut events) {
            let frame = replay.frame() - 1;
            let mut expected = std::iter::from_fn(|| recorded.next_if(|(of, _)| *of == frame))
                .map(|(_, event)| event);
            for event in events.drain(..) {
                let then = expected.next();
                // Only the first difference is kept, because all others may follow from it.
                if checked.difference.is_none() && then != Some(&event) {
                    let (recorded, replayed) =
                        (then.cloned().map(Box::new), Some(Box::new(event.clone())));
                    checked.difference = Some(Difference::Event {
                        frame,
                        recorded,
                        replayed,
                    });
                }
                checked.events.push((frame, event));
            }
            if let Some(missing) = expected.next()
                && checked.difference.is_none()
            {
                let recorded = Some(Box::new(missing.clone()));
                checked.difference = Some(Difference::Event {
                    frame,
                    recorded,
                    replayed: None,
                });
            }
            // The rest of this frame's events must not be compared with those of the next frame.
            expected.for_each(drop);
            if let Some(frame) = replay.differs()
                && checked.difference.is_none()
            {
                checked.difference = Some(Difference::State { frame });
            }
        }
        if replay.work_left() == 0 {
            checked.difference.get_or_insert(Difference::TooLong {
                frame: replay.frame(),
            });
        }
        // One budget for all characters: a file may have as many slow ones as it likes.
        *work = replay.work_left();
        checked
    }
}

/// A character whose recording was played again.
///
/// ```
/// # use bevy_marionette::{controller::PlaybackEvent, record::CheckedCharacter};
/// /// Returns the frames in which a character stepped.
/// fn steps(character: &CheckedCharacter) -> Vec<u64> {
///     let is_step = |event: &PlaybackEvent| matches!(event, PlaybackEvent::Callback(key) if key.name == "footstep");
///     character.events.iter().filter(|(_, event)| is_step(event)).map(|(frame, _)| *frame).collect()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct CheckedCharacter<'f> {
    /// Its name, or else that of its entity.
    pub name: &'f str,
    /// The character.
    #[doc(hidden)]
    pub character: &'f RecordedCharacter,
    /// Its clips.
    #[doc(hidden)]
    pub clips: &'f ClipTable,
    /// Events that its controller reported now, each with its frame.
    pub events: Vec<(u64, PlaybackEvent)>,
    /// First difference from the recording.
    pub difference: Option<Difference>,
}

/// First difference of a recording that is played again.
///
/// ```
/// # use bevy_marionette::record::Difference;
/// fn explain(difference: &Difference) -> String {
///     match difference {
///         Difference::Event { frame, recorded, replayed } => format!("frame {frame}: {recorded:?} became {replayed:?}"),
///         Difference::State { frame } => format!("frame {frame}: other clips, times, or weights"),
///         Difference::TooLong { frame } => format!("compared up to frame {frame}"),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// The controller reported something else.
    Event {
        /// The frame.
        frame: u64,
        /// The recorded event; `None` for nothing.
        recorded: Option<Box<PlaybackEvent>>,
        /// The event that is reported now; `None` for nothing.
        replayed: Option<Box<PlaybackEvent>>,
    },
    /// The controller is in another state than the recorded one.
    State {
        /// The frame.
        frame: u64,
    },
    /// Nothing from this frame on was compared: playing it again takes too much [work](RecordingFile::MOST_WORK).
    TooLong {
        /// The frame.
        frame: u64,
    },
}

impl Difference {
    /// Returns the first frame that differs, or that was not compared.
    pub fn frame(&self) -> u64 {
        match self {
            Self::Event { frame, .. } | Self::State { frame } | Self::TooLong { frame } => *frame,
        }
    }
}
