//! `marionette inspect`: shows the contents of files.

use crate::{Outcome, listing, open::open_all, options::ImportArgs, report, term};
use clap::Args;
use std::{io::Write, path::PathBuf};

/// Shows the contents of models, animations and character manifests
///
/// Prints the dialect, counts, parts, materials with their textures, the joint tree, clips, how many joints
/// influence each vertex, and all warnings. An .md5anim given together with models is fitted to the model
/// with which it shares the most joints, and its clip is listed there; on its own, its joints are listed.
#[derive(Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", report::SCHEMA), after_help = "See --help for examples and the JSON fields.")]
pub struct Inspect {
    /// .glb, .gltf, .fbx, .m3d, .md5mesh, .md5anim, .character.ron and .character.bin files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print a JSON document instead
    #[arg(long)]
    json: bool,
    /// Print the states of manifests only, and the ways between them
    #[arg(long, conflicts_with = "json")]
    states: bool,
    /// Print the states of manifests as graphs for Graphviz's `dot`
    #[arg(long, conflicts_with_all = ["json", "states"])]
    dot: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  marionette inspect knight.glb
  marionette inspect knight.md5mesh walk.md5anim attack.md5anim
  marionette inspect --dot scout.character.ron | dot -Tsvg > states.svg
  marionette inspect --json scout.character.ron | jq '.[0].model.clips[].name'";

impl Inspect {
    pub fn run(self) -> Outcome {
        let (files, rigs) = open_all(&self.files, &self.import);
        let reports = report::reports(&files, &rigs);
        let mut out = term::out();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &reports)?;
            writeln!(out)?;
        } else if self.states || self.dot {
            let models = reports.iter().filter_map(|report| report.model.as_ref());
            let manifests = models.filter_map(|model| model.manifest.as_ref());
            for manifest in manifests {
                if self.states {
                    listing::write_states(&mut out, manifest)?;
                    continue;
                }
                let machines = manifest.machines.iter().flat_map(|states| states.layers());
                for layer in machines {
                    write!(out, "{}", layer.machine.to_dot())?;
                }
            }
        } else {
            for (at, (file, report)) in files.iter().zip(&reports).enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                listing::write(&mut out, file, report)?;
            }
        }
        out.flush()?;
        Ok(files.iter().all(|file| !file.failed()))
    }
}
