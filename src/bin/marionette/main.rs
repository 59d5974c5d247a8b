//! `marionette`: a look into skinned characters from the command line.
//!
//! A face on the crate's core rooms: no engine, no window, no GPU. One file per verb; what they share is
//! in [`open`] (files → models), [`report`] (models → figures) and [`term`] (figures → eyes).

mod inspect;
mod listing;
mod obj;
mod open;
mod pose;
mod report;
mod term;
mod textures;
mod validate;

use clap::{Parser, Subcommand};
use std::{io, process::ExitCode};

/// Looks into skinned characters: Luna's .m3d, id's .md5mesh and .md5anim, and .character.ron manifests.
#[derive(Parser)]
#[command(name = "marionette", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Inspect(inspect::Inspect),
    Validate(validate::Validate),
    Pose(pose::Pose),
}

const AFTER_HELP: &str = "\
Examples:
  marionette inspect hero.md5mesh walk.md5anim
  marionette validate assets/
  marionette pose hero.md5mesh walk.md5anim --time 0.5 -o hero.obj

Exit codes: 0 all is well (there may be warnings), 1 a file has errors or cannot be read or written,
2 the command line is wrong.

Colour is used on terminals only; NO_COLOR turns it off.";

/// Whether all is well; `Err` is trouble with writing the answer.
type Outcome = io::Result<bool>;

fn main() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::Inspect(verb) => verb.run(),
        Verb::Validate(verb) => verb.run(),
        Verb::Pose(verb) => verb.run(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            term::note(&format!("marionette: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        <super::Cli as clap::CommandFactory>::command().debug_assert();
    }
}
