//! Data that glTF has no place for, as `extras`.
//!
//! Everything is under the key `marionette`, except for `"deform": false` at the nodes of control
//! joints. An animation has `playback`, `duration` in seconds, the `frames` that its keys were made
//! from (their number, or their times if they are not evenly spaced), the `morphs` that it moves,
//! `additive`, and `callbacks`, a list of `{time, until, name, data}`, `until` only for ranges. It
//! may have a manifest's `ground_speed`, `plants`, and, where it isn't in place, `root_motion`. A
//! material has its `type_name`, its `specular_map`, and the maps that have no files. A scene has a
//! manifest's other entries, such as `masks`; see `EmbeddedManifest`. A node that is a socket has
//! its name as `socket`.

use crate::{
    import::{ClipEntry, EmbeddedManifest, Manifest},
    model::{CallbackKey, ClipTiming, MorphIndex, SkeletalClip},
};
use serde_json::{Value, json};

/// Returns the extras of a clip's animation.
pub(super) fn of_clip(clip: &SkeletalClip, entry: Option<&ClipEntry>) -> Value {
    let ClipTiming {
        duration,
        playback,
        callbacks,
        ..
    } = &clip.timing;
    let frames: Value = clip
        .frame_times()
        .map_or_else(|| clip.frame_count().into(), Into::into);
    let mut extras = json!({ "duration": duration, "playback": playback, "frames": frames });
    if clip.animates_morphs() {
        let moved = clip.morphs().iter().enumerate();
        let moved = moved.filter(|(morph, _)| clip.animates_morph(*morph as MorphIndex));
        extras["morphs"] = moved.map(|(_, name)| &**name).collect();
    }
    if clip.additive {
        extras["additive"] = true.into();
    }
    if !callbacks.is_empty() {
        extras["callbacks"] = callbacks.iter().map(callback).collect();
    }
    if let Some(speed) = entry.and_then(|entry| entry.ground_speed) {
        extras["ground_speed"] = speed.into();
    }
    if let Some(plants) = entry.map(|entry| &entry.plants)
        && !plants.is_empty()
    {
        extras["plants"] = json!(plants);
    }
    json!({ "marionette": extras })
}

fn callback(key: &CallbackKey) -> Value {
    let mut out = json!({ "time": key.time, "name": &*key.name });
    if let Some(until) = key.until {
        out["until"] = until.into();
    }
    let data: &ron::Value = &key.data;
    // JSON if it means the same, because other programs can read it. It has no unit, characters, or
    // numbers that are not finite.
    let same = |json: &Value| {
        serde_json::from_value::<ron::Value>(json.clone()).is_ok_and(|back| back == *data)
    };
    match serde_json::to_value(data).ok().filter(same) {
        _ if *data == ron::Value::Unit => {}
        Some(data) => out["data"] = data,
        None => out["ron"] = ron::to_string(data).unwrap_or_default().into(),
    }
    out
}

/// Returns the extras of a scene with what a file can hold of a manifest, if it has any of it.
pub(super) fn of_manifest(manifest: &Manifest) -> Option<Value> {
    let embedded = EmbeddedManifest::of(manifest);
    let extras = to_json(ciborium::Value::serialized(&embedded).ok()?);
    (!embedded.is_empty()).then(|| json!({ "marionette": extras }))
}

/// Converts a value to JSON, where infinite numbers, such as limits that aren't any, become numbers beyond single precision,
/// which come back as infinite. JSON itself has none, and `serde_json` writes `null` in their place.
fn to_json(value: ciborium::Value) -> Value {
    use ciborium::Value as Data;
    match value {
        Data::Float(number) if number.is_infinite() => 1e39_f64.copysign(number).into(),
        Data::Float(number) => number.into(),
        Data::Integer(number) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => Value::Null,
        },
        Data::Text(text) => text.into(),
        Data::Bool(is_true) => is_true.into(),
        Data::Array(list) => list.into_iter().map(to_json).collect(),
        Data::Map(entries) => {
            let entries = entries.into_iter();
            let named = entries.filter_map(|(key, value)| Some((key.into_text().ok()?, value)));
            Value::Object(named.map(|(key, value)| (key, to_json(value))).collect())
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
#[path = "tests/extras.rs"]
mod tests;
