//! Skinned characters for Bevy: load glTF, `.m3d` and MD5 files, blend and queue their clips with an animation controller
//! modeled on D3DX, and draw them with Bevy's GPU skinning, without an entity per joint.
// docs.rs says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    feature = "bevy",
    doc = r#"
# Getting started

Add [`MarionettePlugins`] beside Bevy's plugins, then spawn a [`SkinnedCharacter`](character::SkinnedCharacter) with an
[`AnimationController`](controller::AnimationController):

```no_run
use bevy::prelude::*;
use bevy_marionette::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, MarionettePlugins::default()))
        .add_systems(Startup, spawn)
        .run();
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        AnimationController::playing("walk"),
    ));
    commands.spawn((Camera3d::default(), Transform::from_xyz(1.5, 1.5, -4.0).looking_at(Vec3::Y, Vec3::Y)));
    commands.spawn((DirectionalLight::default(), Transform::from_xyz(-2.0, 4.0, -3.0).looking_at(Vec3::ZERO, Vec3::Y)));
}
```

# Table of contents

Loading

* [Load `.glb` and other files beside Bevy's own loader](asset::Character#files)
* [Spawn a character](character::SkinnedCharacter), and react when it is [ready](character::CharacterReady) or has
  [failed to load](character::CharacterFailed)
* [Show a loading bar](asset::LoadProgress)
* [Add clips, masks, sockets and callback keys with a manifest](import::Manifest)
* [Play clips of other humanoids](import::RetargetEntry), and [mirror clips](import::ClipEntry::mirror)
* [Change scale, axes and limits](import::ImportSettings), or [skip textures](asset::TextureMode)
* [Address meshes, materials and clips by label](asset::CharacterAssetLabel)
* [Build a character from code](asset::build_character)
* [Add clips](asset::Character::add_clip) and [remove them](asset::Character::remove_clip) while characters play

Playing

* [Play, cross-fade, queue and reverse clips](controller#everyday-use)
* [Layer tracks with priorities, weights and masks](controller#tracks-priority-and-the-blend)
* [Choose a blend for an overlay](controller#which-blend-for-an-overlay)
* [Let clips carry their characters](character::RootMotion), or [know how fast they
  are](asset::Character::ground_speed)
* [Schedule changes](controller#scheduled-changes)
* [Save and restore what plays](controller::AnimationController::restore)
* Switch from [D3DX](controller#coming-from-d3dx) or [`bevy_animation`](controller#coming-from-bevy_animation)

Reacting

* [Listen to callbacks](character::AnimationCallback), and to clips that [start](character::AnimationStarted),
  [loop](character::AnimationLooped) or [finish](character::AnimationFinished)
* [Add callback keys in code](controller::AnimationController::add_callback)

Joints and parts

* [Attach entities to joints](character::AttachedTo), and [drop them](character::DetachExt)
* [Ask where a joint is](character::CharacterPoses), or [keep all joints readable](character::ModelPose)
* [Pose joints by hand](character::PoseOverrides)
* [Show expressions](character::Expressions), [blink and look around](character::IdleEyes), [speak](asset::Character::add_speech)
* [Let limbs reach for goals](character::IkGoal), [look at things](character::LookAt), [stand on uneven
  ground](character::FootPlacement)
* [Let hair, ears and tails swing](character::SpringBones), [in the wind](rig::Wind)
* [Dress a character](character::WornBy), [hide parts or change their materials](character::PartOverrides),
  [draw them with a shader of your own](character::PartMaterialPlugin)
* [Find the character and joint that a ray hits](character::CharacterRayCast), or
  [use Bevy's pointer events](character::CharacterPickingPlugin)

Performance

* [Share poses in crowds](character::PoseSharing), [leave out what is too small to be seen](character::AnimationLod)
* [See where the time goes](character::PoseCounts)
* [Order your systems relative to ours](character::CharacterSystems), or [advance clocks in another
  schedule](MarionettePlugins::new), or [do without what an app doesn't need](MarionettePlugins)
"#
)]
#![cfg_attr(
    feature = "inspector",
    doc = "
Debugging

* [Open the inspector](inspector::MarionetteInspectorPlugin)
* [Go back in time](recorder::RecorderPlugin), [save what happened](recorder::Recording::file), and
  [play it again in a test](record::RecordingFile::check)
* [Draw skeletons](inspector::DrawSkeleton), [show weights on the skin](character::WeightView)
"
)]
#![cfg_attr(
    feature = "bevy",
    doc = r#"
# Why is nothing happening?

**The character doesn't appear.** Make sure you have added [`MarionettePlugins`], and look for errors in the log: they
name the file, line and column. The camera may also be inside the character or far too close: set the manifest's
[`scale`](import::Manifest::scale), for example 0.0254 for a model in inches.

**The character doesn't move.** Controllers start with no track playing. Spawn
[`AnimationController::playing`](controller::AnimationController::playing) or call
[`play`](controller::AnimationController::play). If a clip's name is unknown, the log says so once, with the names that
exist.

**The character is white or black.** A texture is missing, or Bevy's feature for its format (`png`, `tga`, `dds`, `jpeg`)
is disabled.

**Callbacks never arrive.** Most files have no callback keys: add them
[in the manifest](import::ClipEntry::callbacks) or [in code](controller::AnimationController::add_callback). Paused
and disabled tracks don't fire.

**A mask, a range, or a joint has no effect.** If code names one that the character doesn't have, the log says so once, with
the nearest name. So it does if a callback is added to an unknown clip, if a clip gets parameters, or if a character with
[`RootMotion`](character::RootMotion) has clips without any. Masks and root motion are defined in the manifest.

**The pose I read is old.** Poses are updated in `PostUpdate`. Run your system after
[`CharacterSystems::SharePoses`](character::CharacterSystems::SharePoses), and see [`ModelPose`](character::ModelPose) for characters out of view.

# Feature flags

| feature | default | adds |
| --- | --- | --- |
| `bevy` | yes | the Bevy plugins. Without it, the crate contains only the modules that know no ECS and builds in seconds |
| `picking` | yes | `CharacterPickingPlugin`: Bevy's pointer events on posed characters |
| `inspector` | yes | the egui [inspector](inspector), and drawing skeletons with gizmos |
| `gltf` | yes | loading `.glb` and `.gltf` |
| `fbx` | no | loading `.fbx`, by a library in C; not on the web |
| `cli` | no | the `marionette` command-line tool, which needs no Bevy |
| `dynamic_linking` | no | Bevy as a dynamic library, for shorter waits while you develop; not for releases |

Image formats are Bevy's features, for textures inside `.glb` files, too: enable `png`, `tga`, `dds` or `jpeg` there.
"#
)]
//!
//! # Modules
//!
//! | module | contains | depends on |
//! | --- | --- | --- |
//! | [`format`](mod@format) | diagnostics: what is wrong with a file, and where | |
//! | [`model`] | skeletons, clips and skins, independent of any file format | |
//! | [`controller`] | the animation state of one character: tracks, priorities, scheduled changes, queue, cross-fades | `model` |
//! | [`pose`] | joint overrides, masks, and the pose of a clip | `model`, `controller` |
//! | [`rig`] | what acts on a pose after its clips: limbs, ground, wind, and the state of a rig | `model`, `pose` |
//! | [`import`] | manifests, import settings, and opening files as models | `format`, `model`, `pose`, `rig` |
//! | [`record`] | what happened to a controller and its rig, its replay, and files of it | `model`, `controller`, `pose`, `rig` |
#![cfg_attr(
    feature = "bevy",
    doc = "\
| [`asset`] | the `Character` asset, its loaders and labeled sub-assets | all of the above |
| [`character`] | components, systems and events of playing characters | `asset` |
| [`recorder`] | recording the characters of an app, and showing the past | `record`, `character` |"
)]
#![cfg_attr(
    feature = "inspector",
    doc = "\
| [`inspector`] | the egui panel, drawn skeletons | `character`, `recorder` |"
)]
//!
//! A module depends only on modules above it in this table. The first seven build without Bevy. What the `marionette`
//! command-line tool uses besides is in a hidden module, `internals`, which may change in any release.
#![warn(missing_docs)]
#![deny(unsafe_code)]

pub mod controller;
pub mod format;
mod hierarchy;
pub mod import;
#[doc(hidden)]
pub mod internals;
#[cfg(test)]
#[path = "tests/messages.rs"]
mod messages;
pub mod model;
mod numbers;
mod parallel;
mod plural;
pub mod pose;
mod random;
pub mod record;
mod recycle;
pub mod rig;
mod spelling;
mod stamp;
mod trig;

#[cfg(feature = "bevy")]
pub mod asset;
#[cfg(feature = "bevy")]
pub mod character;
#[cfg(feature = "bevy")]
pub mod recorder;
#[cfg(feature = "bevy")]
mod render;

#[cfg(feature = "inspector")]
pub mod inspector;

/// [`CallbackData`](model::CallbackData) is a [`ron::Value`].
pub use ron;

#[cfg(feature = "bevy")]
mod plugins;
#[cfg(feature = "bevy")]
pub use plugins::MarionettePlugins;
#[cfg(feature = "bevy")]
pub use render::render_plugin;

/// The types that nearly every app with characters uses. Names that a game may have itself, such as `Character` or
/// `Ground`, stay in their modules.
#[cfg(feature = "bevy")]
pub mod prelude {
    pub use crate::{
        MarionettePlugins,
        character::{
            AnimationCallback, AnimationFinished, AtSocket, AttachedTo, CharacterPoses,
            CharacterReady, CharacterSystems, FootPlacement, IkGoal, PartOverrides, PoseOverrides,
            RootMotion, SkinnedCharacter, Steering,
        },
        controller::AnimationController,
    };

    #[cfg(feature = "inspector")]
    pub use crate::inspector::MarionetteInspectorPlugin;
}

/// Compiles the code of the README and the book as tests.
#[cfg(all(doctest, feature = "bevy"))]
mod pages {
    macro_rules! pages {
        ($($page:ident = $file:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../", $file))] struct $page;)*
        };
    }

    pages! {
        Readme = "README.md",
        FirstCharacter = "book/src/first-character.md",
        GettingCharacters = "book/src/getting-characters.md",
        Files = "book/src/files.md",
        Manifests = "book/src/manifests.md",
        Playing = "book/src/playing.md",
        BlendSpaces = "book/src/blend-spaces.md",
        States = "book/src/states.md",
        StatesCompared = "book/src/states-compared.md",
        Faces = "book/src/faces.md",
        Avatars = "book/src/avatars.md",
        Callbacks = "book/src/callbacks.md",
        RootMotion = "book/src/root-motion.md",
        Dressing = "book/src/dressing.md",
        Rigs = "book/src/rigs.md",
        Crowds = "book/src/crowds.md",
        Networking = "book/src/networking.md",
        Platforms = "book/src/platforms.md",
        FromD3dx = "book/src/from-d3dx.md",
        FromLuna = "book/src/from-luna.md",
        FromDoom3 = "book/src/from-doom3.md",
        FromBevyAnimation = "book/src/from-bevy-animation.md",
        FromUnity = "book/src/from-unity.md",
        FromUnreal = "book/src/from-unreal.md",
        FromGodot = "book/src/from-godot.md",
    }

    #[cfg(feature = "inspector")]
    pages! {
        Inspector = "book/src/inspector.md",
        Rewind = "book/src/rewind.md",
    }
}
