//! What our own exporter writes where glTF has no place for it: `extras` with an object `marionette`.

use crate::model::{CallbackKey, PlaybackMode};
use gltf::json::{Animation, Extras, deserialize};
use serde::{Deserialize, de::DeserializeOwned};

/// The extras of an animation.
#[derive(Default)]
pub(super) struct AnimationExtras {
    /// Seconds, which the keys only give in single precision.
    pub(super) duration: Option<f64>,
    pub(super) playback: Option<PlaybackMode>,
    /// Whether the clip was one of differences, which are now added to the rest pose.
    pub(super) additive: bool,
    pub(super) callbacks: Vec<CallbackKey>,
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
    playback: Option<PlaybackMode>,
    additive: bool,
    callbacks: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    time: f64,
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
}

/// Returns the extras of an animation. Those of other programs have no effect.
pub(super) fn of_animation(animation: &Animation) -> AnimationExtras {
    let Some(Clip { duration, playback, additive, callbacks }) = read(&animation.extras) else {
        return AnimationExtras::default();
    };
    let key = |Key { time, name, data, ron }: Key| {
        let data = data.or_else(|| ron::from_str(&ron?).ok()).unwrap_or(ron::Value::Unit);
        CallbackKey { time, name: name.into(), data: data.into() }
    };
    let callbacks = callbacks.into_iter().map(key).collect();
    AnimationExtras { duration: duration.filter(|duration| duration.is_finite()), playback, additive, callbacks }
}

/// Returns the extras of a material.
pub(super) fn of_material(extras: &Extras) -> MaterialExtras {
    read(extras).unwrap_or_default()
}

fn read<T: DeserializeOwned>(extras: &Extras) -> Option<T> {
    let extras: Marionette<T> = deserialize::from_str(extras.as_ref()?.get()).ok()?;
    Some(extras.marionette)
}
