//! `marionette`: inspects, validates, converts and poses skinned characters from the command line.
//!
//! It uses the crate's core only: no engine, no window, no GPU. Each command has a file; they share
//! [`options`], [`read`] (paths → bytes), [`open`] (bytes → models), [`report`] (models → figures) and [`term`]
//! (figures → text).

mod bake;
mod convert;
mod images;
mod import;
mod inspect;
mod listing;
mod obj;
mod open;
mod options;
mod picture;
mod pose;
mod read;
mod replay;
mod report;
mod term;
mod textures;
mod validate;
mod write;

use clap::{Parser, Subcommand};
use std::{io, process::ExitCode};

/// Inspects, validates, poses, converts, imports and bakes skinned characters: glTF, FBX, Luna's .m3d, id's .md5mesh
/// and .md5anim, and .character.ron manifests.
#[derive(Parser)]
#[command(name = "marionette", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Inspect),
    Validate(validate::Validate),
    Pose(pose::Pose),
    Convert(convert::Convert),
    Import(import::Import),
    Bake(bake::Bake),
    Replay(replay::Replay),
}

const AFTER_HELP: &str = "\
Examples:
  marionette inspect hero.md5mesh walk.md5anim
  marionette validate assets/
  marionette pose hero.md5mesh walk.md5anim --time 0.5 -o hero.obj
  marionette convert hero.md5mesh walk.md5anim -o hero.glb
  marionette import hero.md5mesh walk.md5anim run.md5anim -o assets/hero
  marionette bake assets/hero/hero.character.ron
  marionette replay bug.rec

Exit codes: 0 success (there may be warnings), 1 a file has errors or cannot be read or written,
2 invalid command line.

Output is colored only on terminals; set NO_COLOR to turn color off.";

/// Result of a command: `Ok(false)` if a file has errors, `Err` if the output could not be written.
type Outcome = io::Result<bool>;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Inspect(command) => command.run(),
        Command::Validate(command) => command.run(),
        Command::Pose(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Bake(command) => command.run(),
        Command::Replay(command) => command.run(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // The reader of the output has closed it, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            term::note(&format!("marionette: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
#[path = "tests/main.rs"]
mod tests;
