//! A manifest as a person would write it: short, and with reasons in comments.

use super::{hero, parts::Mergeable};
use bevy_marionette::{
    import::{
        BlendPlace, CallbackEntry, ClipEntry, Hand, LegEntry, Manifest, MaskEntry, RootMotionEntry,
        SocketEntry, UpAxis,
    },
    model::{BlendSync, Exit, Origins, State, Then},
    rig::Limb,
    ron::{self, Value},
};
use glam::Vec3;
use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

/// Comments in a manifest.
#[derive(Default)]
pub struct Notes<'a> {
    /// Why clips loop or don't, by their names.
    pub clips: BTreeMap<&'a str, &'a str>,
    /// What a hero's entries are for.
    pub hero: hero::Notes,
    /// Parts that a comment proposes to merge.
    pub mergeable: Option<&'a Mergeable<'a>>,
}

/// Returns the text of a manifest, as far as `marionette import` fills one in.
pub fn of_manifest(manifest: &Manifest, notes: &Notes) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, manifest, notes);
    out
}

fn write(out: &mut String, manifest: &Manifest, notes: &Notes) -> fmt::Result {
    writeln!(
        out,
        "// Written by `marionette import`. Change anything you like.\n("
    )?;
    settings(out, manifest)?;
    if let Some(mergeable) = notes.mergeable {
        merge(out, mergeable)?;
    }
    clips(out, manifest, &notes.clips)?;
    motion(out, manifest, &notes.hero)?;
    body(out, manifest)?;
    out.write_str(")\n")
}

/// The model, and how it is read.
fn settings(out: &mut String, manifest: &Manifest) -> fmt::Result {
    let Manifest {
        model,
        scale,
        hand,
        up,
        all_lods,
        flip_v,
        skin_error,
        max_palette,
        textures,
        ..
    } = manifest;
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
    if !textures.is_empty() {
        let textures = listed(textures, |name| quoted(name));
        writeln!(out, "    textures: [{textures}],")?;
    }
    Ok(())
}

/// Only the game knows which parts it addresses, so the list is a comment.
fn merge(out: &mut String, Mergeable { names, group, .. }: &Mergeable) -> fmt::Result {
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
    writeln!(out, "    //     ],\n    // }},")
}

fn clips(out: &mut String, manifest: &Manifest, notes: &BTreeMap<&str, &str>) -> fmt::Result {
    if let Some(RootMotionEntry {
        joint,
        ground,
        height,
        turn,
        steady,
    }) = &manifest.root_motion
    {
        let joint = joint
            .as_ref()
            .map(|joint| format!("joint: {}, ", quoted(joint)));
        writeln!(
            out,
            "    // Clips that travel by this joint stay in place, where their entry says so; the game moves the character.\n    \
             root_motion: ({}ground: {ground}, height: {height}, turn: {turn}, steady: {steady}),",
            joint.unwrap_or_default()
        )?;
    }
    entries(out, "clips", &manifest.clips, |name, clip| {
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
            root_motion,
            ground_speed,
            callbacks,
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
            root_motion
                .and_then(|motion| Some(format!("root_motion: (ground: {})", motion.ground?))),
            ground_speed.map(|speed| format!("ground_speed: {speed:?}")),
            (!callbacks.is_empty()).then(|| format!("callbacks: [{}]", listed(callbacks, key))),
        ];
        (note, fields.into_iter().flatten().collect())
    })
}

/// A callback key in seconds.
fn key(
    CallbackEntry {
        time, name, data, ..
    }: &CallbackEntry,
) -> String {
    let data = match data {
        Value::Unit => String::new(),
        data => format!(", data: {}", ron::to_string(data).unwrap_or_default()),
    };
    format!(
        "(time: {:?}, name: {}{data})",
        time.unwrap_or_default(),
        quoted(name)
    )
}

/// Blend spaces and states.
fn motion(out: &mut String, manifest: &Manifest, notes: &hero::Notes) -> fmt::Result {
    let comment = |text: &str| format!("        // {}\n", one_line(text));
    entries(out, "blend_spaces", &manifest.blend_spaces, |_, space| {
        let points = listed(&space.points, |(clip, place)| {
            let place = match place {
                BlendPlace::Line(x) => format!("{x:?}"),
                BlendPlace::Plane(x, y) => format!("({x:?}, {y:?})"),
            };
            format!("({}, {place})", quoted(clip))
        });
        let points = format!("points: [{points}]");
        let sync = match &space.sync {
            BlendSync::Keys(keys) => {
                Some(format!("sync: Keys([{}])", listed(keys, |key| quoted(key))))
            }
            _ => None,
        };
        (
            comment(&notes.space),
            [Some(points), sync].into_iter().flatten().collect(),
        )
    })?;
    entries(
        out,
        "states",
        &manifest.states,
        |name,
         State {
             plays,
             start,
             from,
             exit,
             then,
             ..
         }| {
            let plays = match &plays[..] {
                [one] => quoted(one),
                several => format!("[{}]", listed(several, |name| quoted(name))),
            };
            let from = match from {
                Origins::None => None,
                Origins::Any => Some("from: Any".to_owned()),
                Origins::These(states) => Some(format!(
                    "from: [{}]",
                    listed(states.keys(), |name| quoted(name))
                )),
            };
            let fields = [
                Some(format!("plays: {plays}")),
                start.then(|| "start: true".to_owned()),
                from,
                (*exit == Exit::Never).then(|| "exit: Never".to_owned()),
                then.as_ref().map(|then| match then {
                    Then::State(state) => format!("then: {}", quoted(state)),
                    Then::Back => "then: Back".to_owned(),
                }),
            ];
            let note = notes.states.get(name).map(|note| comment(note));
            (
                note.unwrap_or_default(),
                fields.into_iter().flatten().collect(),
            )
        },
    )
}

/// What joints are for.
fn body(out: &mut String, manifest: &Manifest) -> fmt::Result {
    let Manifest {
        masks,
        sockets,
        goals,
        look_at,
        feet,
        ..
    } = manifest;
    entries(out, "masks", masks, |_, mask| {
        let MaskEntry {
            roots,
            joints,
            falloff,
            morphs,
        } = mask;
        let list = |name: &str, names: &[String]| {
            let names = (!names.is_empty()).then(|| listed(names, |name| quoted(name)));
            names.map(|names| format!("{name}: [{names}]"))
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
    entries(out, "goals", goals, |_, goal| {
        let limb = match &goal.limb {
            Limb::TwoBone { root, mid, tip } => {
                let mid = mid.as_ref().map(|mid| format!("mid: {}, ", quoted(mid)));
                let (root, tip) = (quoted(root), quoted(tip));
                format!(
                    "TwoBone(root: {root}, {}tip: {tip})",
                    mid.unwrap_or_default()
                )
            }
            Limb::Chain { root, tip } => {
                format!("Chain(root: {}, tip: {})", quoted(root), quoted(tip))
            }
        };
        (String::new(), vec![format!("limb: {limb}")])
    })?;
    if let Some(look_at) = look_at {
        let joints = listed(&look_at.joints, |(joint, share)| {
            format!("({}, {share:?})", quoted(joint))
        });
        writeln!(
            out,
            "    // Joints that turn toward what a `LookAt` names, and their shares.\n    look_at: (joints: [{joints}]),"
        )?;
    }
    if let Some(feet) = feet {
        let legs = listed(&feet.legs, |LegEntry { root, tip, toe, .. }| {
            let toe = toe.as_ref().map(|toe| format!(", toe: {}", quoted(toe)));
            format!(
                "(root: {}, tip: {}{})",
                quoted(root),
                quoted(tip),
                toe.unwrap_or_default()
            )
        });
        writeln!(
            out,
            "    // Legs that adapt to uneven ground.\n    feet: (hips: {}, legs: [{legs}]),",
            quoted(&feet.hips)
        )?;
    }
    Ok(())
}

fn listed<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join(", ")
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
