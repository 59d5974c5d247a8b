//! Tests of the modules that build without Bevy, through their public API.
//!
//! They belong to two packages: this crate, whose `cargo test` runs them with everything else, and `tests/core/Cargo.toml`,
//! which builds in two minutes because it leaves Bevy out.

#[cfg(feature = "gltf")]
mod baked;
mod blend_spaces;
mod book;
mod callback_data;
mod chains;
mod compression;
mod controller_rules;
mod culling_boxes;
mod drawn;
mod exact;
mod fades;
#[cfg(all(feature = "fbx", feature = "gltf"))]
mod fbx_files;
mod feet;
mod frame_rate;
mod fuzz;
#[cfg(feature = "gltf")]
mod gltf_files;
#[cfg(feature = "gltf")]
mod gltf_written;
mod goals;
mod import_accuracy;
mod joint_orders;
mod joint_paths;
mod m3d_files;
mod manifest_edits;
mod md5_files;
#[path = "../../src/tests/messages.rs"]
mod messages;
mod morphs;
mod pose_reference;
mod promises;
mod record;
mod retarget;
mod rig;
mod role_names;
mod rooms;
mod root_motion;
mod snapshots;
mod springs;
mod states;
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
