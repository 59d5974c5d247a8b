//! Writing MD5, version 10.

use super::{Md5Anim, Md5Mesh};

/// The mesh as text; [`parse_mesh`](super::parse_mesh) reads it back as it was.
pub fn write_mesh(_mesh: &Md5Mesh) -> String {
    todo!()
}

/// The animation as text; [`parse_anim`](super::parse_anim) reads it back as it was.
pub fn write_anim(_anim: &Md5Anim) -> String {
    todo!()
}
