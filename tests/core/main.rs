//! Tests of the modules that build without Bevy, through their public API.

mod blend_spaces;
mod compression;
mod controller_rules;
mod culling_boxes;
mod feet;
mod fuzz;
#[cfg(feature = "gltf")]
mod gltf_files;
#[cfg(feature = "gltf")]
mod gltf_written;
mod goals;
mod import_accuracy;
mod m3d_files;
mod md5_files;
mod pose_reference;
mod record;
mod retarget;
mod rig;
mod root_motion;
mod springs;
mod switches;
