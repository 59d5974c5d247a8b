//! The sample characters, made from nothing but this code: the same bytes on every run.
//!
//! A character is a rig ([`rig`]), an implicit surface over it ([`field`]) that is cut into
//! triangles ([`contour`]) along the borders of its materials ([`regions`]), weighted
//! ([`weights`]), unfolded ([`charts`]), painted ([`bake`]) and moved ([`gait`], [`motion`]).
//! [`character`] puts these together and writes the files.
//!
//! All of it is `f64` arithmetic without the platform's transcendental functions; see [`maths`].

// A test includes this module, too, and uses less of it than the example.
#![allow(dead_code)]

pub mod bake;
pub mod character;
pub mod charts;
pub mod contour;
pub mod field;
pub mod gait;
pub mod hound;
pub mod maths;
pub mod motion;
pub mod regions;
pub mod rig;
pub mod scout;
pub mod solids;
pub mod strokes;
pub mod weights;

use std::path::PathBuf;

/// Every file of `assets/` that is generated, with its path below `assets/`.
pub fn all() -> Vec<(PathBuf, Vec<u8>)> {
    let characters = [scout::character(), hound::character()];
    characters.iter().flat_map(|character| character.files()).collect()
}
