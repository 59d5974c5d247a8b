//! `marionette replay`: plays a recording again and compares what happens.

use crate::{
    Outcome, read,
    term::{self, BOLD, DIM, GREEN, RED, counted, printable},
};
use bevy_marionette::{
    controller::{Clips, FiredCallback, PlaybackEvent},
    format::Diagnostic,
    import::ImportLimits,
    internals::record::{ClipTable, Frames},
    record::{CheckedCharacter, Difference, RecordingFile},
};
use clap::Args;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Plays a recording again, without the game, and says where it first differs
///
/// Controllers get the same inputs as in the game. What they report is printed, and compared with what they
/// reported then.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Replay {
    /// The recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only characters whose name contains this
    #[arg(long, value_name = "NAME")]
    character: Option<String>,
    /// Only events whose line contains this
    #[arg(long, value_name = "TEXT")]
    event: Option<String>,
    /// Print only the summary
    #[arg(long, short)]
    quiet: bool,
}

const AFTER_HELP: &str = "\
Examples:
  marionette replay bug.rec
  marionette replay bug.rec --character Scout --event footstep

Exit codes: 0 the same happens, 1 something else happens, or the file cannot be read, 2 invalid command line.";

impl Replay {
    pub fn run(self) -> Outcome {
        let name = self.file.to_string_lossy();
        let complain = |message: String| {
            term::complain(&[Diagnostic::error(&name, message)]);
            Ok(false)
        };
        let bytes = match read::read(&self.file, &ImportLimits::default()) {
            Ok(bytes) => bytes,
            Err(diagnostic) => {
                term::complain(&[diagnostic]);
                return Ok(false);
            }
        };
        let recording = match RecordingFile::read(&bytes[..]) {
            Ok(recording) => recording,
            Err(error) => return complain(error.to_string()),
        };
        let frames = &recording.frames;
        let mut out = term::out();
        let range = frames.range();
        let times = [range.start, range.end.saturating_sub(1)]
            .map(|frame| frames.time(frame).unwrap_or_default());
        let characters = counted(recording.characters.len(), "character");
        let all = counted((range.end - range.start) as usize, "frame");
        writeln!(
            out,
            "{characters}, {all} from {:.3} s to {:.3} s",
            times[0], times[1]
        )?;
        let mut same = true;
        for checked in recording.check() {
            let name = &checked.character.name;
            if self
                .character
                .as_ref()
                .is_none_or(|wanted| name.contains(&**wanted))
            {
                same &= checked.difference.is_none();
                self.print(&mut out, &checked, frames)?;
            }
        }
        out.flush()?;
        Ok(same)
    }

    fn print(
        &self,
        out: &mut impl Write,
        checked: &CheckedCharacter,
        frames: &Frames,
    ) -> io::Result<()> {
        let name = printable(&checked.character.name);
        let asset = checked
            .character
            .asset
            .as_deref()
            .map(|path| format!(" ({})", printable(path)))
            .unwrap_or_default();
        let events = counted(checked.events.len(), "event");
        writeln!(out, "\n{BOLD}{name}{BOLD:#}{asset}: {events}")?;
        let at = |frame: u64| {
            format!(
                "{:>10.3} s  frame {frame}",
                frames.time(frame).unwrap_or_default()
            )
        };
        if !self.quiet {
            for (frame, event) in &checked.events {
                let words = words(event, checked.clips);
                if self
                    .event
                    .as_ref()
                    .is_none_or(|wanted| words.contains(&**wanted))
                {
                    writeln!(out, "  {}  {}", at(*frame), printable(&words))?;
                }
            }
        }
        match &checked.difference {
            None => writeln!(out, "  {GREEN}the same as recorded{GREEN:#}"),
            Some(Difference::TooLong { frame }) => {
                writeln!(
                    out,
                    "  {RED}not compared{RED:#} from {} on: playing it again takes too much work",
                    at(*frame)
                )?;
                writeln!(out, "    record fewer characters or a shorter time")
            }
            Some(Difference::State { frame }) => {
                writeln!(
                    out,
                    "  {RED}differs{RED:#} at {}: the controller is in another state",
                    at(*frame)
                )
            }
            Some(Difference::Event {
                frame,
                recorded,
                replayed,
            }) => {
                let words = |event: &Option<Box<PlaybackEvent>>| match event {
                    None => "nothing".into(),
                    Some(event) => printable(&words(event, checked.clips)),
                };
                writeln!(out, "  {RED}differs{RED:#} at {}", at(*frame))?;
                writeln!(out, "    {DIM}recorded{DIM:#}  {}", words(recorded))?;
                writeln!(out, "    {DIM}now{DIM:#}       {}", words(replayed))
            }
        }
    }
}

/// An event on a line.
fn words(event: &PlaybackEvent, clips: &ClipTable) -> String {
    let PlaybackEvent::Callback(FiredCallback {
        name,
        kind,
        clip,
        clip_time,
        weight,
        ..
    }) = event
    else {
        return event.describe(clips);
    };
    let clip = clips.timing(*clip).map_or("?", |timing| &timing.name);
    format!(
        "{} ({clip} at {clip_time:.3} s, weight {weight:.2})",
        kind.describe(name)
    )
}
