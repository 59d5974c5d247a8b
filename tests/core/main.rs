//! Tests of the rooms that know no Bevy, through their public face.

mod compression;
mod controller_rules;
mod fuzz;
mod import_accuracy;
mod m3d_files;
mod md5_files;
mod pose_reference;
