//! The tests of the controller, run against the one of `agenda`.

extern crate bevy_marionette_agenda as bevy_marionette;

#[macro_use]
#[path = "agenda/programs.rs"]
mod programs;

mod blend_spaces;
mod controller_rules;
#[path = "agenda/differential.rs"]
mod differential;
#[path = "agenda/exact.rs"]
mod exact;
mod fades;
mod frame_rate;
mod root_motion;
mod switches;

use std::path::{Path, PathBuf};

/// Returns the path of a file or folder in `assets/`.
fn asset(name: &str) -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("assets"));
    folders
        .find(|assets| assets.is_dir())
        .expect("the repository has sample assets")
        .join(name)
}
