//! A file's report as text.

use crate::{
    open::Opened,
    report::{
        AnimationReport, ClipReport, FileReport, JointReport, ManifestReport, MaterialReport,
        ModelReport, MorphReport,
    },
    term::{
        BOLD, CYAN, DIM, GREEN, YELLOW, count, counted, decimal, diagnostic, length, printable,
        seconds, size,
    },
    textures::TextureUse,
};
use bevy_marionette::{
    import::{FileKind, LookAtEntry, SpringEntry},
    internals::format::m3d::Dialect,
    rig::ConstraintKind,
};
use std::io::{self, Write};

/// Writes a file's contents and diagnostics.
pub fn write(out: &mut impl Write, file: &Opened, report: &FileReport) -> io::Result<()> {
    let mut title = vec![format!("{BOLD}{}{BOLD:#}", printable(&file.name))];
    let dialect = report.model.as_ref().and_then(|model| model.import.dialect);
    title.extend(file.kind.map(|kind| kind_of(kind, dialect).to_owned()));
    if file.bytes > 0 {
        title.push(size(file.bytes));
    }
    writeln!(out, "{}", title.join(" · "))?;
    if let Some(report) = &report.model {
        write_model(out, report)?;
    }
    if let Some(report) = &report.animation {
        write_animation(out, report)?;
    }
    if !file.diagnostics.is_empty() {
        writeln!(out)?;
    }
    for line in file.diagnostics.iter().map(diagnostic) {
        writeln!(out, "  {}", line.replace('\n', "\n  "))?;
    }
    Ok(())
}

fn kind_of(kind: FileKind, dialect: Option<Dialect>) -> &'static str {
    match (kind, dialect) {
        (FileKind::Manifest, _) => "character manifest",
        (FileKind::Baked, _) => "baked character",
        (FileKind::Md5Mesh, _) => "MD5 mesh, version 10",
        (FileKind::Md5Anim, _) => "MD5 animation, version 10",
        (FileKind::Gltf, _) => "glTF 2.0",
        (FileKind::Fbx, _) => "FBX",
        (FileKind::M3d, Some(Dialect::Dx12)) => "Luna .m3d, Direct3D 12 book",
        (FileKind::M3d, Some(Dialect::Dx11)) => "Luna .m3d, Direct3D 11 book",
        (FileKind::M3d, Some(Dialect::Dx10)) => "Luna .m3d, Direct3D 10 era",
        (FileKind::M3d, Some(Dialect::Imm)) => "Luna .m3d, imm_engine",
        (FileKind::M3d, Some(Dialect::Other)) => "Luna .m3d, custom exporter",
        (FileKind::M3d, None) => "Luna .m3d",
    }
}

/// The lowest point of a model. Most stand at 0, but for rounding.
fn lowest(y: f32, size: f32) -> String {
    let is_rounding = y.abs() < 1e-5 * size;
    length(if is_rounding { 0.0 } else { y })
}

fn write_model(out: &mut impl Write, model: &ModelReport) -> io::Result<()> {
    let totals = [
        counted(model.import.vertices, "vertex"),
        counted(model.import.triangles, "triangle"),
        counted(model.joints.len(), "joint"),
        counted(model.parts.len(), "part"),
        counted(model.materials.len(), "material"),
        counted(model.clips.len(), "clip"),
    ];
    writeln!(out, "  {}", totals.join(" · "))?;
    let hand = if model.import.right_handed {
        "right-handed"
    } else {
        "left-handed"
    };
    if let Some(bounds) = &model.bounds {
        let [x, y, z] = (bounds.max - bounds.min).to_array().map(length);
        let low = lowest(bounds.min.y, (bounds.max - bounds.min).max_element());
        writeln!(
            out,
            "  {x} wide × {y} tall × {z} deep, from y = {low} (Bevy's axes); read as {hand}"
        )?;
    }
    if let Some(manifest) = &model.manifest {
        writeln!(
            out,
            "  model {} at scale {}",
            printable(manifest.model),
            manifest.scale
        )?;
    }
    write_parts(out, model)?;
    if !model.materials.is_empty() {
        heading(out, "Materials", "")?;
        for material in &model.materials {
            write_material(out, material)?;
        }
    }
    if !model.joints.is_empty() {
        heading(out, "Joints", " (vertices influenced)")?;
        let note = |joint: &JointReport| match (joint.control, joint.vertices) {
            (true, 0) => "control".to_owned(),
            (true, vertices) => format!("control, {}", count(vertices)),
            (false, vertices) => some(vertices),
        };
        let joints: Vec<_> = model
            .joints
            .iter()
            .map(|joint| (joint.parent, joint.name, note(joint)))
            .collect();
        write_tree(out, &joints)?;
    }
    write_morphs(out, &model.morphs)?;
    write_avatar(out, model)?;
    if !model.clips.is_empty() {
        heading(out, "Clips", "")?;
        write_clips(out, &model.clips, model.joints.len())?;
    }
    write_retargets(out, model)?;
    write_influences(out, model)?;
    let Some(manifest) = &model.manifest else {
        return Ok(());
    };
    if !manifest.masks.is_empty() {
        heading(out, "Masks", "")?;
        for (name, mask) in manifest.masks {
            let falloff = if mask.falloff > 0 {
                format!(", falloff {}", mask.falloff)
            } else {
                String::new()
            };
            let from = |what: &str, names: &[String]| {
                (!names.is_empty()).then(|| format!("{what}{}", printable(&names.join(", "))))
            };
            let parts = [
                from("from ", &mask.roots).map(|roots| roots + &falloff),
                from("joints ", &mask.joints),
                from("morph targets ", &mask.morphs),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            writeln!(out, "  {}: {}", printable(name), parts.join("; "))?;
        }
    }
    if !manifest.sockets.is_empty() {
        heading(out, "Sockets", "")?;
        for (name, socket) in manifest.sockets {
            writeln!(
                out,
                "  {}: on {}",
                printable(name),
                printable(&socket.joint)
            )?;
        }
    }
    if !manifest.blend_spaces.is_empty() {
        heading(out, "Blend spaces", "")?;
        for (name, space) in manifest.blend_spaces {
            let clips: Vec<_> = space.points.iter().map(|(clip, _)| clip.as_str()).collect();
            writeln!(
                out,
                "  {}: {}",
                printable(name),
                printable(&clips.join(", "))
            )?;
        }
    }
    write_states(out, manifest)?;
    if !manifest.goals.is_empty() {
        heading(out, "Goals", "")?;
        for (name, goal) in manifest.goals {
            let joints: Vec<_> = goal.limb.joints().collect();
            writeln!(
                out,
                "  {}: {}",
                printable(name),
                printable(&joints.join(" to "))
            )?;
        }
    }
    if let Some(look) = manifest.look_at {
        heading(out, "Looks", "")?;
        let joints: Vec<_> = look.joints.iter().map(|(name, _)| name.as_str()).collect();
        let LookAtEntry { yaw, pitch, .. } = look;
        writeln!(
            out,
            "  with {}; up to {yaw}° aside, {pitch}° up and down",
            printable(&joints.join(", "))
        )?;
    }
    if let Some(feet) = manifest.feet {
        heading(out, "Feet", "")?;
        let tips: Vec<_> = feet.legs.iter().map(|leg| leg.tip.as_str()).collect();
        writeln!(
            out,
            "  {} below {}",
            printable(&tips.join(", ")),
            printable(&feet.hips)
        )?;
    }
    if !manifest.constraints.is_empty() {
        heading(out, "Constraints", "")?;
        for one in manifest.constraints {
            let (joint, source) = (printable(&one.joint), printable(&one.source));
            let how = match one.kind {
                ConstraintKind::Roll(_) => "rolls with",
                ConstraintKind::Aim(_) => "points at",
                ConstraintKind::Rotation => "turns with",
            };
            writeln!(out, "  {joint} {how} {source}, weight {}", one.weight)?;
        }
    }
    if !manifest.springs.is_empty() {
        heading(out, "Springs", "")?;
        for spring in manifest.springs {
            let SpringEntry {
                frequency,
                damping,
                colliders,
                ..
            } = spring;
            let outside = match &**colliders {
                [] => String::new(),
                of => format!(", outside of {}", printable(&of.join(", "))),
            };
            let joints = printable(&spring.joints.join(", ")).to_string();
            writeln!(
                out,
                "  {joints}: {frequency} Hz, damping {damping}{outside}"
            )?;
        }
    }
    Ok(())
}

fn write_morphs(out: &mut impl Write, morphs: &[MorphReport]) -> io::Result<()> {
    if morphs.is_empty() {
        return Ok(());
    }
    heading(out, "Morph targets", "")?;
    let rows = morphs.iter().map(|morph| {
        let rest = match morph.rest {
            0.0 => String::new(),
            rest => format!("{} at rest", decimal(rest.into(), 3)),
        };
        [
            printable(morph.name),
            counted(morph.vertices, "vertex"),
            format!("up to {}", length(morph.farthest)),
            printable(&morph.parts.join(", ")),
            rest,
        ]
    });
    write_table(
        out,
        &rows.collect::<Vec<_>>(),
        [false, true, true, false, false],
    )
}

/// Lists what a VRM file says of its character. Springs are among those of its manifest.
fn write_avatar(out: &mut impl Write, model: &ModelReport) -> io::Result<()> {
    if let Some(avatar) = model.avatar {
        heading(
            out,
            "Avatar",
            &format!(" of VRM {}", printable(&avatar.version)),
        )?;
        let meta = &avatar.meta;
        let (authors, references) = (meta.authors.join(", "), meta.references.join(", "));
        let lines = [
            ("name", &meta.name),
            ("version", &meta.version),
            ("authors", &authors),
            ("copyright", &meta.copyright),
            ("contact", &meta.contact),
            ("references", &references),
            ("license", &meta.license),
            ("other license", &meta.other_license),
        ];
        let lines = lines.map(|(name, text)| (name, text.as_str()));
        let terms = meta.terms.iter().map(|(name, text)| (*name, text.as_str()));
        for (name, text) in lines.into_iter().chain(terms) {
            if !text.is_empty() {
                writeln!(out, "  {name}: {}", printable(text))?;
            }
        }
    }
    let views = model.avatar.iter().flat_map(|avatar| &avatar.first_person);
    for (mesh, view) in views.filter(|(_, view)| *view != "auto") {
        writeln!(out, "  first person: {} {view}", printable(mesh))?;
    }
    if !model.roles.is_empty() {
        heading(out, "Roles", "")?;
        let roles = model.roles.iter();
        let roles: Vec<String> = roles
            .map(|[role, joint]| format!("{role} {joint}"))
            .collect();
        writeln!(out, "  {}", printable(&roles.join(", ")))?;
    }
    if model.expressions.is_empty() {
        return Ok(());
    }
    heading(out, "Expressions", "")?;
    let rows = model.expressions.iter().map(|one| {
        let shown = one.morphs.iter().map(|(name, share)| match share {
            1.0 => (*name).to_owned(),
            share => format!("{} {name}", decimal((*share).into(), 3)),
        });
        let shown: Vec<String> = shown.collect();
        let mut notes: Vec<String> = Vec::new();
        if one.is_binary {
            notes.push("on or off".to_owned());
        }
        if !one.overrides.is_empty() {
            notes.push(format!("overrides {}", one.overrides.join(", ")));
        }
        [
            printable(one.name),
            printable(&shown.join(", ")),
            notes.join(", "),
        ]
    });
    write_table(out, &rows.collect::<Vec<_>>(), [false; 3])
}

fn write_retargets(out: &mut impl Write, model: &ModelReport) -> io::Result<()> {
    for (clip, retarget) in &model.import.retargets {
        heading(out, "Retargeted: ", &printable(clip))?;
        let pair = |[_, own, other]: &[String; 3]| match own == other {
            true => own.clone(),
            false => format!("{own} ← {other}"),
        };
        let mapped: Vec<String> = retarget.mapped.iter().map(pair).collect();
        writeln!(
            out,
            "  lengths times {}: {}",
            length(retarget.ratio),
            printable(&mapped.join(", "))
        )?;
        for (what, names) in [
            ("without a joint here", &retarget.lost),
            ("at rest", &retarget.at_rest),
        ] {
            if !names.is_empty() {
                writeln!(out, "  {what}: {}", printable(&names.join(", ")))?;
            }
        }
    }
    Ok(())
}

/// Lists the states of a manifest, and the transitions between them.
pub fn write_states(out: &mut impl Write, manifest: &ManifestReport) -> io::Result<()> {
    let layers = manifest
        .machines
        .as_ref()
        .map_or(&[][..], |states| states.layers());
    for layer in layers {
        let mut note = match &*layer.name {
            "" => String::new(),
            name => format!(" of layer {}", printable(name)),
        };
        note += &match layer.sync.map(|leader| &*layers[leader].name) {
            None => String::new(),
            Some("") => ", in step with the whole body".to_owned(),
            Some(leader) => format!(", in step with layer {}", printable(leader)),
        };
        heading(out, "States", &note)?;
        for line in layer.machine.to_text().lines() {
            writeln!(out, "  {}", printable(line))?;
        }
    }
    Ok(())
}

fn heading(out: &mut impl Write, text: &str, note: &str) -> io::Result<()> {
    writeln!(out, "\n  {BOLD}{text}{BOLD:#}{DIM}{note}{DIM:#}")
}

fn write_parts(out: &mut impl Write, model: &ModelReport) -> io::Result<()> {
    if model.parts.is_empty() {
        return Ok(());
    }
    heading(out, "Parts", "")?;
    let rows = model.parts.iter().map(|part| {
        let material = model
            .materials
            .get(part.material)
            .map_or("", |report| &report.material.name);
        let joints = if part.joints == 0 {
            "static".to_owned()
        } else {
            counted(part.joints, "joint")
        };
        [
            printable(part.name),
            counted(part.vertices, "vertex"),
            counted(part.triangles, "triangle"),
            joints,
            printable(material),
        ]
    });
    write_table(
        out,
        &rows.collect::<Vec<_>>(),
        [false, true, true, true, false],
    )
}

fn write_material(
    out: &mut impl Write,
    MaterialReport { material, textures }: &MaterialReport,
) -> io::Result<()> {
    let mut traits: Vec<String> = material
        .type_name
        .iter()
        .map(|name| format!("type {}", printable(name)))
        .collect();
    traits.extend([format!(
        "roughness {}",
        decimal(material.roughness.into(), 2)
    )]);
    let [r, g, b, a] = material
        .base_color
        .map(|channel| decimal(channel.into(), 2));
    if material.base_color != [1.0; 4] {
        let alpha = if a == "1" {
            String::new()
        } else {
            format!(" {a}")
        };
        traits.push(format!("color {r} {g} {b}{alpha}"));
    }
    traits.extend(
        material
            .alpha_cutoff
            .map(|cutoff| format!("cut out below alpha {}", decimal(cutoff.into(), 2))),
    );
    let metallic = decimal(material.metallic.into(), 2);
    let [r, g, b] = material.emissive.map(|channel| decimal(channel.into(), 2));
    for (has, text) in [
        (material.metallic != 0.0, format!("metallic {metallic}")),
        (material.emissive != [0.0; 3], format!("emits {r} {g} {b}")),
        (material.alpha_blend, "blended".to_owned()),
        (material.double_sided, "double-sided".to_owned()),
        (material.unlit, "unlit".to_owned()),
    ] {
        traits.extend(has.then_some(text));
    }
    writeln!(
        out,
        "  {}  {DIM}{}{DIM:#}",
        printable(&material.name),
        traits.join(", ")
    )?;
    for TextureUse {
        role,
        written,
        found,
    } in *textures
    {
        let mark = |found: &str| format!("{GREEN}✓{GREEN:#} {}", printable(found));
        let text = match (written, found) {
            (Some(written), Some(found)) if written == found => mark(found),
            (Some(written), Some(found)) => format!("{} → {}", printable(written), mark(found)),
            (None, Some(found)) => format!("{} {DIM}(found by name){DIM:#}", mark(found)),
            (Some(written), None) => {
                format!("{} {YELLOW}✗ not found{YELLOW:#}", printable(written))
            }
            (None, None) => continue,
        };
        writeln!(
            out,
            "    {DIM}{:<9}{DIM:#}{text}",
            role.replace("base_color", "color")
                .replace("metallic_roughness", "roughness")
        )?;
    }
    Ok(())
}

fn write_clips(out: &mut impl Write, clips: &[ClipReport], joints: usize) -> io::Result<()> {
    let rows = clips.iter().map(|clip| {
        let rate = match clip.frames_per_second {
            Some(rate) if clip.frames > 1 => format!(" at {}/s", decimal(rate, 2)),
            Some(_) => String::new(),
            None => ", unevenly spaced".to_owned(),
        };
        let mut rest = Vec::new();
        if clip.additive {
            rest.push("additive".to_owned());
        }
        if let Some(motion) = &clip.root_motion {
            let turns = motion.turns.abs() >= 0.1;
            let turns = if turns {
                format!(", turning {}°", decimal(motion.turns, 1))
            } else {
                String::new()
            };
            rest.push(format!(
                "travels at {}/s{turns}",
                decimal(motion.ground_speed, 3)
            ));
        }
        if clip.joints < joints {
            rest.push(format!(
                "animates {} of {}",
                count(clip.joints),
                counted(joints, "joint")
            ));
        }
        if clip.morphs > 0 {
            let keys = counted(clip.morph_frames, "frame");
            rest.push(format!("{} ({keys})", counted(clip.morphs, "morph target")));
        }
        if let Some(quantized) = &clip.quantized {
            rest.push(format!(
                "quantized {:.1} : 1, error up to {:.2e}",
                quantized.ratio, quantized.error
            ));
        }
        rest.extend(clip.file.map(|file| format!("from {}", printable(file))));
        [
            printable(clip.name),
            seconds(clip.seconds),
            counted(clip.frames, "frame") + &rate,
            clip.playback.replace('_', "-"),
            size(clip.bytes as u64),
            rest.join(", "),
        ]
    });
    write_table(
        out,
        &rows.collect::<Vec<_>>(),
        [false, true, true, false, true, false],
    )?;
    for (clip, key) in clips
        .iter()
        .flat_map(|clip| clip.callbacks.iter().map(move |key| (clip, key)))
    {
        let data = if key.data == "()" {
            String::new()
        } else {
            format!(" {}", printable(&key.data))
        };
        let clip = printable(clip.name);
        let place = match key.until {
            None => format!("callback in {clip} at {}:", seconds(key.time)),
            Some(until) => format!(
                "range in {clip} from {} to {}:",
                seconds(key.time),
                seconds(until)
            ),
        };
        writeln!(out, "    {DIM}{place}{DIM:#} {}{data}", printable(key.name))?;
    }
    Ok(())
}

fn write_influences(out: &mut impl Write, model: &ModelReport) -> io::Result<()> {
    let import = model.import;
    let total: usize = import.influences.iter().sum();
    if total == 0 || model.joints.is_empty() {
        return Ok(());
    }
    heading(out, "Joints per vertex", "")?;
    const WIDEST: usize = 32;
    let most = import.influences.iter().copied().max().unwrap_or(1);
    let width = count(most).len();
    for (label, number) in ["0", "1", "2", "3", "4", "more"]
        .into_iter()
        .zip(import.influences)
    {
        if number > 0 {
            let bar = "█".repeat((number * WIDEST).div_ceil(most));
            let share = decimal(number as f64 * 100.0 / total as f64, 1);
            writeln!(
                out,
                "  {label:<4} {:>width$} {CYAN}{bar}{CYAN:#} {DIM}{share}%{DIM:#}",
                count(number)
            )?;
        }
    }
    if import.influences[5] > 0 {
        let (combined, error) = (
            counted(import.combined_joints, "combined joint"),
            percent(import.skin_error),
        );
        writeln!(
            out,
            "  {combined} for those with more than four, with an error of {error}"
        )?;
    }
    let share = percent(import.bind_residual_relative);
    writeln!(
        out,
        "  bind residual {} ({share} of the model's size)",
        length(import.bind_residual)
    )
}

/// Formats a share as a percentage; a small one is not shown as 0.
fn percent(share: f32) -> String {
    let percent = f64::from(share) * 100.0;
    if percent > 0.0 && percent < 0.0001 {
        "under 0.0001%".to_owned()
    } else {
        format!("{}%", decimal(percent, 4))
    }
}

fn write_animation(out: &mut impl Write, animation: &AnimationReport) -> io::Result<()> {
    let joints = counted(animation.joints.len(), "joint");
    let moving = animation
        .joints
        .iter()
        .filter(|joint| joint.animated > 0)
        .count();
    let (length, frames) = (
        seconds(animation.seconds),
        counted(animation.frames, "frame"),
    );
    let rate = decimal(animation.frames_per_second.into(), 2);
    writeln!(
        out,
        "  {length} · {frames} at {rate}/s · {joints}, {} animated",
        count(moving)
    )?;
    if let (Some(model), Some(shared), Some(clip)) =
        (animation.bound_to, animation.joints_shared, &animation.clip)
    {
        let (clip, bytes) = (printable(clip.name), size(clip.bytes as u64));
        let (model, shared) = (printable(model), count(shared));
        return writeln!(
            out,
            "  clip {clip} of {model}, which has {shared} of its {joints}; {bytes}"
        );
    }
    heading(out, "Joints", " (animated channels)")?;
    let joints: Vec<_> = animation
        .joints
        .iter()
        .map(|joint| (joint.parent, joint.name, some(joint.animated as usize)))
        .collect();
    write_tree(out, &joints)
}

/// Writes rows of cells in aligned columns. `right` selects the columns that are aligned right.
fn write_table<const N: usize>(
    out: &mut impl Write,
    rows: &[[String; N]],
    right: [bool; N],
) -> io::Result<()> {
    let widest = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(widest);
    for row in rows {
        let mut line = String::new();
        for ((cell, width), right) in row
            .iter()
            .zip(widths)
            .zip(right)
            .filter(|((_, width), _)| *width > 0)
        {
            line += &if right {
                format!("  {cell:>width$} ")
            } else {
                format!("  {cell:<width$} ")
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Lines deeper than this keep their indentation and state their depth: chains can be thousands long.
const DEEPEST: usize = 40;

/// Formats a number in the tree.
fn some(number: usize) -> String {
    if number == 0 {
        "–".to_owned()
    } else {
        count(number)
    }
}

/// Draws a tree of joints, each with its parent, name and a note. Joints in a ring, which no root
/// reaches, are drawn as roots.
fn write_tree(out: &mut impl Write, joints: &[(Option<usize>, &str, String)]) -> io::Result<()> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
    for (joint, (parent, ..)) in joints.iter().enumerate() {
        if let Some(siblings) = parent.and_then(|parent| children.get_mut(parent)) {
            siblings.push(joint);
        }
    }
    let roots = (0..joints.len()).filter(|&joint| joints[joint].0.is_none());
    let mut drawn = vec![false; joints.len()];
    // Chains can be longer than the call stack, so this stack is explicit: joint, depth, whether it is the last child.
    let mut stack: Vec<(usize, usize, bool)> = Vec::new();
    let mut rails: Vec<bool> = Vec::new();
    for root in roots.chain(0..joints.len()) {
        stack.push((root, 0, true));
        while let Some((joint, depth, last)) = stack.pop() {
            if std::mem::replace(&mut drawn[joint], true) {
                continue;
            }
            rails.truncate(depth.saturating_sub(1));
            let mut lines: String = rails
                .iter()
                .take(DEEPEST)
                .map(|&rail| if rail { "│  " } else { "   " })
                .collect();
            if depth > 0 {
                lines += if last { "└─ " } else { "├─ " };
                rails.push(!last);
            }
            if depth > DEEPEST {
                lines += &format!("… depth {depth}: ");
            }
            let (_, name, note) = &joints[joint];
            writeln!(
                out,
                "  {DIM}{lines}{DIM:#}{} {DIM}({note}){DIM:#}",
                printable(name)
            )?;
            let below = &children[joint];
            stack.extend(
                below
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(at, &child)| (child, depth + 1, at + 1 == below.len())),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/listing.rs"]
mod tests;
