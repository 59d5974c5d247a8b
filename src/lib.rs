//! Skinned characters for Bevy: Luna's `.m3d` and id's `.md5mesh`/`.md5anim`, a D3DX-style animation
//! controller with exact callbacks, and direct GPU skinning.
//!
//! # How a file becomes a moving character
//!
//! | room | holds | stands on |
//! | --- | --- | --- |
//! | [`format`](mod@format) | what a file says: one lexer, the file structs, their parsers and writers, diagnostics | |
//! | [`model`] | skeleton, clips and skin, wherever they came from | |
//! | [`import`] | files → models: axes, hand, winding, influences, bind recovery, normals; and back; the manifest | `format`, `model` |
//! | [`controller`] | who plays what, when: tracks, priorities, timed events, queue, cross-fades | `model` |
//! | [`pose`] | the hot jobs: sample, blend, mask, overrides, IK, local → model, palette | `model`, `controller` |
#![cfg_attr(
    feature = "bevy",
    doc = "\
| [`asset`] | the `Character` asset, its loaders and labelled parts | all above |
| [`character`] | components, systems and events of playing characters | `asset` |
| [`render`] | palettes into Bevy's skin buffer; the choice of backend | `character` |"
)]
#![cfg_attr(
    feature = "inspector",
    doc = "\
| [`inspector`] | the egui panel, drawn skeletons | `character` |"
)]
//!
//! No room knows one that stands on it. Without the feature `bevy` the first five build by themselves.
#![cfg_attr(
    feature = "bevy",
    doc = "
# Why is nothing happening?

* Nothing appears: is [`MarionettePlugins`] added, and does the log name the asset? Errors say file, line
  and column.
* It stands still: a controller plays nothing by itself; see [`AnimationController::playing`](controller::AnimationController::playing).
  An unknown clip name is logged once, with the names there are.
* Black or white: a texture is missing or its format's feature (`png`, `tga`, `dds`, `jpeg`) is off in Bevy.
* Callbacks never come: keys live in the manifest or are added in code; paused and disabled tracks fire none.
"
)]
#![warn(missing_docs)]
#![deny(unsafe_code)]

pub mod controller;
pub mod format;
pub mod import;
pub mod model;
pub mod pose;

#[cfg(feature = "bevy")]
pub mod asset;
#[cfg(feature = "bevy")]
pub mod character;
#[cfg(feature = "bevy")]
pub mod render;

#[cfg(feature = "inspector")]
pub mod inspector;

/// The values that callback keys carry are [`ron::Value`]s.
pub use ron;

#[cfg(feature = "bevy")]
mod plugins;
#[cfg(feature = "bevy")]
pub use plugins::MarionettePlugins;
#[cfg(feature = "bevy")]
pub use render::render_plugin;

/// What an app that plays characters needs.
#[cfg(feature = "bevy")]
pub mod prelude {
    pub use crate::{
        MarionettePlugins,
        asset::{Character, CharacterAssetLabel},
        character::{
            AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, AttachedTo, CharacterPoses,
            CharacterRayCast, CharacterReady, CharacterSystems, CrossFadeFinished, PartOverrides, PoseSharing,
            SkinnedCharacter, UpdateRate, WeightView, WornBy,
        },
        controller::{
            AnimationController, AnimationTrack, BlendMode, CallbackTime, TrackId, TrackPriority, TransitionCurve,
        },
        model::PlaybackMode,
        render_plugin,
    };

    #[cfg(feature = "inspector")]
    pub use crate::inspector::{DrawSkeleton, MarionetteInspectorPlugin};
}

/// The README's code is compiled as a test.
#[cfg(all(doctest, feature = "bevy"))]
#[doc = include_str!("../README.md")]
struct Readme;
