//! `marionette inspect`: what is in files.

use crate::{
    Outcome, listing,
    open::{ImportArgs, open_all},
    report,
    term::{self, Paint},
};
use clap::Args;
use std::{io::Write, path::PathBuf};

/// Shows what is in models, animations and character manifests
///
/// Dialect and counts, parts, materials and the textures found for them, the joint tree, clips, how many
/// joints move a vertex, and every warning. An .md5anim named together with models is fitted to the one it
/// shares most joints with, and its clip is listed there; alone, its own joints are shown.
#[derive(Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", report::SCHEMA), after_help = "See --help for examples and the JSON's fields.")]
pub struct Inspect {
    /// .m3d, .md5mesh, .md5anim and .character.ron files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Prints one JSON document instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  marionette inspect soldier.m3d
  marionette inspect knight.md5mesh walk.md5anim attack.md5anim
  marionette inspect --json scout.character.ron | jq '.[0].model.clips[].name'";

impl Inspect {
    pub fn run(self) -> Outcome {
        let (files, rigs) = open_all(&self.files, &self.import);
        let reports = report::reports(&files, &rigs);
        let mut out = term::out();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &reports)?;
            writeln!(out)?;
        } else {
            for (at, (file, report)) in files.iter().zip(&reports).enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                listing::write(&mut out, Paint::stdout(), file, report)?;
            }
        }
        out.flush()?;
        Ok(files.iter().all(|file| !file.failed()))
    }
}
