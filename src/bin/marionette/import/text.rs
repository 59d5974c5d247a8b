//! A manifest as a person would write it: short, and with reasons in comments.

use super::parts::Mergeable;
use bevy_marionette::{
    import::{ClipEntry, Hand, Manifest, MaskEntry, SocketEntry, UpAxis},
    ron,
};
use glam::Vec3;
use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

/// Returns the text of a manifest without callback keys, joint names and tables of roles. `notes` are comments on clips, by name.
/// `mergeable` are parts that a comment proposes to merge.
pub fn of_manifest(
    manifest: &Manifest,
    notes: &BTreeMap<&str, &str>,
    mergeable: Option<&Mergeable>,
) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, manifest, notes, mergeable);
    out
}

fn write(
    out: &mut String,
    manifest: &Manifest,
    notes: &BTreeMap<&str, &str>,
    mergeable: Option<&Mergeable>,
) -> fmt::Result {
    let Manifest {
        model,
        scale,
        hand,
        up,
        all_lods,
        flip_v,
        skin_error,
        max_palette,
        clips,
        masks,
        sockets,
        ..
    } = manifest;
    writeln!(
        out,
        "// Written by `marionette import`. Change anything you like.\n("
    )?;
    writeln!(out, "    model: {},", quoted(model))?;
    if *scale != 1.0 {
        writeln!(out, "    scale: {scale:?},")?;
    }
    if *hand != Hand::Auto {
        writeln!(out, "    hand: {hand:?},")?;
    }
    if *up != UpAxis::Auto {
        writeln!(out, "    up: {up:?},")?;
    }
    if *all_lods {
        writeln!(out, "    all_lods: true,")?;
    }
    if *flip_v {
        writeln!(out, "    flip_v: true,")?;
    }
    let of_model = Manifest::of_model(model);
    if *skin_error != of_model.skin_error {
        writeln!(out, "    skin_error: {skin_error:?},")?;
    }
    if *max_palette != of_model.max_palette {
        writeln!(out, "    max_palette: {max_palette},")?;
    }
    if let Some(Mergeable { names, group, .. }) = mergeable {
        // Only the game knows which parts it addresses.
        writeln!(
            out,
            "    // Each of these parts costs a draw call, and time to animate. To merge them, uncomment this list,\n    \
             // without the parts that the game hides, repaints, or picks by name.\n    \
             // merge: {{\n    \
             //     {}: [",
            quoted(group)
        )?;
        for part in names {
            writeln!(out, "    //         {},", quoted(part))?;
        }
        writeln!(out, "    //     ],\n    // }},")?;
    }
    entries(out, "clips", clips, |name, clip| {
        // A line break in the note would end the comment.
        let note = notes
            .get(name)
            .map(|note| format!("        // It {}.\n", one_line(note)))
            .unwrap_or_default();
        let ClipEntry {
            file,
            clip,
            retarget,
            as_is,
            playback,
            additive,
            ..
        } = clip;
        let text = |key: &str, value: &Option<String>| {
            value
                .as_ref()
                .map(|value| format!("{key}: {}", quoted(value)))
        };
        let fields = [
            text("file", file),
            text("clip", clip),
            retarget.as_ref().map(|_| "retarget: true".to_owned()),
            as_is.then(|| "as_is: true".to_owned()),
            playback.map(|playback| format!("playback: {playback:?}")),
            additive.map(|additive| format!("additive: {additive}")),
        ];
        (note, fields.into_iter().flatten().collect())
    })?;
    entries(out, "masks", masks, |_, mask| {
        let MaskEntry {
            roots,
            joints,
            falloff,
            morphs,
        } = mask;
        let list = |name: &str, names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            (!names.is_empty()).then(|| format!("{name}: [{}]", names.join(", ")))
        };
        let mut fields: Vec<String> = list("roots", roots).into_iter().collect();
        fields.extend(list("joints", joints));
        fields.extend((*falloff > 0).then(|| format!("falloff: {falloff}")));
        fields.extend(list("morphs", morphs));
        (String::new(), fields)
    })?;
    entries(
        out,
        "sockets",
        sockets,
        |_,
         SocketEntry {
             joint,
             translation,
             euler_degrees,
             scale,
         }| {
            let vector = |name: &str, v: &Vec3| {
                (*v != Vec3::ZERO).then(|| format!("{name}: ({:?}, {:?}, {:?})", v.x, v.y, v.z))
            };
            let scale = (*scale != 1.0).then(|| format!("scale: {scale:?}"));
            let offset = [
                vector("translation", translation),
                vector("euler_degrees", euler_degrees),
                scale,
            ];
            let joint = format!("joint: {}", quoted(joint));
            (
                String::new(),
                [Some(joint)].into_iter().chain(offset).flatten().collect(),
            )
        },
    )?;
    out.write_str(")\n")
}

fn entries<T>(
    out: &mut String,
    name: &str,
    map: &BTreeMap<String, T>,
    fields: impl Fn(&str, &T) -> (String, Vec<String>),
) -> fmt::Result {
    if map.is_empty() {
        return Ok(());
    }
    writeln!(out, "    {name}: {{")?;
    for (key, value) in map {
        let (note, fields) = fields(key, value);
        writeln!(
            out,
            "{note}        {}: ({}),",
            quoted(key),
            fields.join(", ")
        )?;
    }
    writeln!(out, "    }},")
}

fn quoted(text: &str) -> String {
    ron::to_string(text).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
#[path = "tests/text.rs"]
mod tests;
