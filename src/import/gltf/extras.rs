//! The data that our own exporter writes where glTF has no place for it: `extras` with an object
//! `marionette`. Only the `deform` of nodes is outside of it, so that artists can write it, too.

use super::{
    document::Document,
    json::{Animation, Raw, Scene},
    report::Report,
};
use crate::{
    import::{MaskEntry, SocketEntry},
    model::{CallbackKey, PlaybackMode},
};
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// The extras of an animation.
#[derive(Default)]
pub(super) struct AnimationExtras {
    /// Seconds. The keys only have single precision.
    pub(super) duration: Option<f64>,
    /// The frames that the keys were made from.
    pub(super) frames: Option<Frames>,
    pub(super) playback: Option<PlaybackMode>,
    /// Names of the morph targets that the clip moves, if there are keys of others, too.
    pub(super) morphs: Option<Vec<String>>,
    /// `true` if the clip held differences, which were then added to the rest pose for glTF.
    pub(super) additive: bool,
    pub(super) callbacks: Vec<CallbackKey>,
}

/// The frames of a clip.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Frames {
    /// This many, evenly spaced.
    Even(usize),
    /// At these times, in seconds.
    At(Vec<f64>),
}

/// Returns the times of keys made of frames at these times, which must be in order. They also
/// increase in single precision: a step takes the smallest possible time.
pub(super) fn key_times(frames: impl Iterator<Item = f64>) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::with_capacity(frames.size_hint().0);
    for time in frames {
        let earliest = times.last().map_or(0.0, |before| before.next_up());
        times.push((time as f32).max(earliest));
    }
    times
}

#[derive(Deserialize)]
struct Marionette<T> {
    marionette: T,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Clip {
    duration: Option<f64>,
    frames: Option<Frames>,
    morphs: Option<Vec<String>>,
    playback: Option<PlaybackMode>,
    additive: bool,
    callbacks: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    time: f64,
    until: Option<f64>,
    name: String,
    data: Option<ron::Value>,
    /// Data that JSON cannot hold.
    ron: Option<String>,
}

/// The extras of a material.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MaterialExtras {
    pub(super) type_name: Option<String>,
    pub(super) specular_map: Option<String>,
    /// Maps that had no file.
    pub(super) base_color_map: Option<String>,
    pub(super) normal_map: Option<String>,
    pub(super) normal_map_green_down: bool,
    pub(super) metallic_roughness_map: Option<String>,
    pub(super) occlusion_map: Option<String>,
    pub(super) emissive_map: Option<String>,
}

/// The extras that [`to_glb`](super::to_glb) writes to a scene.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SceneExtras {
    /// A manifest's masks.
    pub masks: BTreeMap<String, MaskEntry>,
    /// A manifest's sockets.
    pub sockets: BTreeMap<String, SocketEntry>,
    /// `true` if [`to_glb`](super::to_glb) wrote the file, so that the playback of its clips is
    /// what their author chose.
    #[serde(skip)]
    pub is_ours: bool,
}

/// Returns the extras that [`to_glb`](super::to_glb) wrote to the scene of a file; empty ones for
/// other files.
pub fn scene_extras(source: &[u8]) -> SceneExtras {
    let Ok(document) = Document::read(&Report::new(""), source) else {
        return SceneExtras::default();
    };
    let scene = document.root.scene.map_or(0, |scene| scene.value());
    let scene: Option<&Scene> = document.root.scenes.get(scene);
    let extras = scene
        .and_then(|scene| read(&scene.extras))
        .unwrap_or_default();
    let generator = document.root.asset.generator.as_deref();
    SceneExtras {
        is_ours: generator.is_some_and(|name| name.starts_with("bevy_marionette ")),
        ..extras
    }
}

/// Returns `true` if a node's extras say that it doesn't deform the skin: `"deform": false`. Older programs write custom
/// properties that are `false` as 0.
pub(super) fn is_control(extras: &Raw) -> bool {
    #[derive(Deserialize)]
    struct Node {
        deform: Option<serde_json::Value>,
    }
    let deform = extras
        .as_ref()
        .and_then(|extras| serde_json::from_str::<Node>(extras.get()).ok()?.deform);
    deform.is_some_and(|deform| deform == false || deform.as_f64() == Some(0.0))
}

/// Returns the extras of an animation. Those of other programs have no effect.
pub(super) fn of_animation(animation: &Animation) -> AnimationExtras {
    let Some(Clip {
        duration,
        frames,
        morphs,
        playback,
        additive,
        callbacks,
    }) = read(&animation.extras)
    else {
        return AnimationExtras::default();
    };
    let key = |Key {
                   time,
                   until,
                   name,
                   data,
                   ron,
               }: Key| {
        let data = data
            .or_else(|| ron::from_str(&ron?).ok())
            .unwrap_or(ron::Value::Unit);
        CallbackKey {
            time,
            until,
            name: name.into(),
            data: data.into(),
        }
    };
    let callbacks = callbacks.into_iter().map(key).collect();
    AnimationExtras {
        duration: duration.filter(|duration| duration.is_finite()),
        frames,
        morphs,
        playback,
        additive,
        callbacks,
    }
}

/// Returns the extras of a material.
pub(super) fn of_material(extras: &Raw) -> MaterialExtras {
    read(extras).unwrap_or_default()
}

fn read<T: DeserializeOwned>(extras: &Raw) -> Option<T> {
    let extras: Marionette<T> = serde_json::from_str(extras.as_ref()?.get()).ok()?;
    Some(extras.marionette)
}
