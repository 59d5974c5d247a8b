//! Data of our own exporters for which glTF has no place: `extras` with an object `marionette`. Only the `deform` of
//! nodes is beside it, where artists can write it, too. `export/extras.rs` lists all keys.

use super::json::{Animation, Raw, Root, message};
use crate::{
    import::{ClipEntry, ClipRootMotion, EmbeddedManifest, report::Report, resample::Frames},
    model::{CallbackKey, PlaybackMode},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};
use std::collections::BTreeMap;

/// The extras of an animation.
#[derive(Default)]
pub(super) struct AnimationExtras {
    /// Seconds. The keys only have single precision.
    pub(super) duration: Option<f64>,
    /// The frames that the keys were made from.
    pub(super) frames: Option<Frames>,
    /// Names of the morph targets that the clip moves, if there are keys of others, too.
    pub(super) morphs: Option<Vec<String>>,
    /// `true` if the clip held differences, which were then added to the rest pose for glTF.
    pub(super) additive: bool,
    pub(super) callbacks: Vec<CallbackKey>,
    /// The clip's entry, as a manifest would have it.
    pub(super) entry: ClipEntry,
}

/// End of the message about extras with mistakes.
const LEFT_OUT: &str = "it was left out; correct it, or export the file again";

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
    root_motion: Option<ClipRootMotion>,
    ground_speed: Option<f32>,
    plants: BTreeMap<String, Vec<(f64, f64)>>,
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

/// Returns what the extras of a scene say in place of a manifest. What makes no sense is left out, with warnings.
pub(super) fn of_scene(root: &Root, scene: Option<usize>, report: &mut Report) -> EmbeddedManifest {
    let Some(scene) = scene else {
        return EmbeddedManifest::default();
    };
    let place = format!("scenes[{scene}]");
    let extras = &root.scenes[scene].extras;
    let Some(found) = read::<EmbeddedManifest>(extras, &place, report) else {
        return EmbeddedManifest::default();
    };
    if found.misstatements(report.file).is_empty() {
        return found;
    }
    let file = report.file;
    let states = object_of(extras).and_then(|object| object.get("states").cloned());
    let check = |piece: &Map<String, Value>| {
        let mut piece = piece.clone();
        // Layers take the names of states.
        if let Some(states) = states.as_ref().filter(|_| piece.contains_key("layers")) {
            piece.insert("states".to_owned(), states.clone());
        }
        let found: EmbeddedManifest = parse(&piece)?;
        let wrong = found.misstatements(file).into_iter().next();
        wrong.map_or(Ok(()), |wrong| Err(wrong.message))
    };
    // What can't be read has been reported, and is among what can't be checked.
    let readable = object_of(extras).unwrap_or_default();
    let readable = sound(readable, &|piece| {
        parse::<EmbeddedManifest>(piece).map(drop)
    })
    .0;
    let (kept, wrong) = sound(readable, &check);
    for (_, message) in wrong {
        report.warn(&format!("{place}.extras"), message, LEFT_OUT);
    }
    parse(&kept).unwrap_or_default()
}

/// Returns the name of the socket that a node is.
pub(super) fn socket(extras: &Raw, place: &str, report: &mut Report) -> Option<String> {
    #[derive(Deserialize)]
    struct Node {
        socket: Option<String>,
    }
    read::<Node>(extras, place, report)?.socket
}

/// Returns `true` if a node's extras say that it doesn't deform the skin: `"deform": false`. Older programs write custom
/// properties that are `false` as 0.
pub(super) fn is_control(extras: &Raw) -> bool {
    #[derive(Deserialize)]
    struct Node {
        deform: Option<Value>,
    }
    let deform = extras
        .as_ref()
        .and_then(|extras| serde_json::from_str::<Node>(extras.get()).ok()?.deform);
    deform.is_some_and(|deform| deform == false || deform.as_f64() == Some(0.0))
}

/// Returns the extras of an animation. Those of other programs have no effect.
pub(super) fn of_animation(
    animation: &Animation,
    place: &str,
    report: &mut Report,
) -> AnimationExtras {
    let Some(Clip {
        duration,
        frames,
        morphs,
        playback,
        additive,
        callbacks,
        root_motion,
        ground_speed,
        plants,
    }) = read(&animation.extras, place, report)
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
        additive,
        callbacks,
        entry: ClipEntry {
            playback,
            root_motion,
            ground_speed: ground_speed.filter(|speed| speed.is_finite()),
            plants,
            ..ClipEntry::default()
        },
    }
}

/// Returns the extras of a material.
pub(super) fn of_material(extras: &Raw, place: &str, report: &mut Report) -> MaterialExtras {
    read(extras, place, report).unwrap_or_default()
}

/// Reads the object `marionette` of the extras at `place`, if there is one. What can't be read in it is left out, with
/// warnings.
fn read<T: DeserializeOwned>(extras: &Raw, place: &str, report: &mut Report) -> Option<T> {
    let text = text_of(extras)?;
    let error = match serde_json::from_str(text) {
        Ok(found) => return Some(found),
        Err(error) => message(&error),
    };
    let place = format!("{place}.extras");
    let Some(object) = object_of(extras) else {
        report.warn(
            &place,
            format!("`marionette` cannot be read: {error}"),
            LEFT_OUT,
        );
        return None;
    };
    let (kept, wrong) = sound(object, &|piece| parse::<T>(piece).map(drop));
    for (path, error) in wrong {
        let message = format!("`{path}` of `marionette` cannot be read: {error}");
        report.warn(&place, message, LEFT_OUT);
    }
    parse(&kept).ok()
}

/// Returns the text of `marionette` in extras.
fn text_of(extras: &Raw) -> Option<&str> {
    #[derive(Deserialize)]
    struct Extras<'a> {
        #[serde(borrow)]
        marionette: &'a RawValue,
    }
    // Those of other programs may be anything, and a list would be taken for the fields in order.
    let text = extras.as_ref()?.get();
    if !text.starts_with('{') {
        return None;
    }
    let extras: Extras = serde_json::from_str(text).ok()?;
    Some(extras.marionette.get())
}

fn object_of(extras: &Raw) -> Option<Map<String, Value>> {
    serde_json::from_str(text_of(extras)?).ok()
}

fn parse<T: DeserializeOwned>(object: &Map<String, Value>) -> Result<T, String> {
    T::deserialize(object).map_err(|error| message(&error))
}

/// Keeps the fields of an object that pass a check by themselves and, of those that don't, the entries that do. The second
/// list has the others, with what is wrong with them.
fn sound(
    object: Map<String, Value>,
    check: &dyn Fn(&Map<String, Value>) -> Result<(), String>,
) -> (Map<String, Value>, Vec<(String, String)>) {
    // These only make sense together.
    const WHOLE: [&str; 2] = ["states", "layers"];
    let (mut kept, mut wrong) = (Map::new(), Vec::new());
    for (key, value) in object {
        let alone = |value: Value| Map::from_iter([(key.clone(), value)]);
        let mut is_sound = |name: String, value: Value| {
            let error = check(&alone(value)).err();
            let is_sound = error.is_none();
            wrong.extend(error.map(|error| (name, error)));
            is_sound
        };
        let has_entries = |none: Value| !WHOLE.contains(&&*key) && check(&alone(none)).is_ok();
        let rest = match value {
            value if check(&alone(value.clone())).is_ok() => Some(value),
            Value::Object(mut entries) if has_entries(json!({})) => {
                entries.retain(|name, entry| {
                    is_sound(format!("{key}.{name}"), json!({ name: entry }))
                });
                Some(Value::Object(entries))
            }
            Value::Array(mut entries)
                if has_entries(json!([])) && !entries.iter().any(Value::is_number) =>
            {
                let mut at = 0..;
                entries.retain(|entry| {
                    let at = at.next().unwrap_or_default();
                    is_sound(format!("{key}[{at}]"), json!([entry]))
                });
                Some(Value::Array(entries))
            }
            value => {
                is_sound(key.clone(), value);
                None
            }
        };
        kept.extend(rest.map(|rest| (key.clone(), rest)));
    }
    (kept, wrong)
}
