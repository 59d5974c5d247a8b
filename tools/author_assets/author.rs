//! The sample characters, generated entirely by code, byte for byte the same on every run.
//!
//! A character starts as a rig ([`rig`]) and a signed distance field around it ([`field`]). The field is meshed
//! ([`contour`]), split along the borders of its materials ([`regions`]), weighted ([`weights`]), unwrapped ([`charts`]),
//! painted ([`bake`]) and animated ([`gait`], [`motion`]). [`character`] runs these steps and writes the files.
//!
//! `README.md` beside this file explains each step, and where to start a character of your own.
//!
//! Everything is computed in `f64` without the platform's transcendental functions; see [`maths`].

// The test that includes this module uses less of it than the example does.
#![allow(dead_code)]

pub mod avatar;
pub mod bake;
pub mod character;
pub mod charts;
pub mod contour;
pub mod faces;
pub mod field;
pub mod gait;
pub mod hound;
pub mod mannequin;
pub mod maths;
pub mod motion;
pub mod regions;
pub mod rig;
pub mod scout;
pub mod solids;
pub mod strokes;
pub mod weights;

use std::path::PathBuf;

/// Returns every generated file, with its path below `assets/`.
pub fn all() -> Vec<(PathBuf, Vec<u8>)> {
    let (scout, hound) = (scout::character(), hound::character());
    // The Pup is a small Hound, in glTF.
    let pup = hound.gltf_files("pup", 0.5, |clip| ["idle", "walk"].contains(&clip));
    let moves = vec![scout::adventure::file()];
    let others = [mannequin::files(), avatar::files()].concat();
    [scout.files(), moves, hound.files(), pup, others].concat()
}
