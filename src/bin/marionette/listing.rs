//! A file's report as people read it.

use crate::{
    open::Opened,
    report::{AnimationReport, ClipReport, FileReport, MaterialReport, ModelReport},
    term::{Paint, count, counted, decimal, left, length, printable, right, seconds, size},
    textures::TextureUse,
};
use bevy_marionette::import::FileKind;
use std::io::{self, Write};

/// Writes what there is to say about a file: its content, then its diagnostics.
pub fn write(out: &mut impl Write, paint: Paint, file: &Opened, report: &FileReport) -> io::Result<()> {
    let mut title = vec![paint.bold(&file.name)];
    let dialect = report.model.as_ref().and_then(|model| model.dialect);
    title.extend(file.kind.map(|kind| kind_of(kind, dialect)));
    if file.bytes > 0 {
        title.push(size(file.bytes));
    }
    writeln!(out, "{}", title.join(" · "))?;
    if let Some(report) = &report.model {
        write_model(out, paint, report)?;
    }
    if let Some(report) = &report.animation {
        write_animation(out, paint, report)?;
    }
    if !file.diagnostics.is_empty() {
        writeln!(out)?;
    }
    for diagnostic in &file.diagnostics {
        for line in paint.diagnostic(diagnostic).lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

fn kind_of(kind: FileKind, dialect: Option<&str>) -> String {
    let dialect = match dialect {
        Some("dx12") => "Luna .m3d, Direct3D 12 book",
        Some("dx11") => "Luna .m3d, Direct3D 11 book",
        Some("dx10") => "Luna .m3d, Direct3D 10 era",
        Some("imm") => "Luna .m3d, imm_engine",
        Some(_) => "Luna .m3d, home-made exporter",
        None if kind == FileKind::M3d => "Luna .m3d",
        None => "MD5 mesh, version 10",
    };
    match kind {
        FileKind::M3d | FileKind::Md5Mesh => dialect.to_owned(),
        FileKind::Md5Anim => "MD5 animation, version 10".to_owned(),
        FileKind::Manifest => "character manifest".to_owned(),
    }
}

fn write_model(out: &mut impl Write, paint: Paint, model: &ModelReport) -> io::Result<()> {
    let totals = [
        counted(model.vertices, "vertex"),
        counted(model.triangles, "triangle"),
        counted(model.joints.len(), "joint"),
        counted(model.parts.len(), "part"),
        counted(model.materials.len(), "material"),
        counted(model.clips.len(), "clip"),
    ];
    writeln!(out, "  {}", totals.join(" · "))?;
    let hand = if model.right_handed { "right-handed" } else { "left-handed" };
    if let Some(bounds) = &model.bounds {
        let [x, y, z] = (bounds.max - bounds.min).to_array().map(length);
        let low = length(bounds.min.y);
        writeln!(out, "  {x} wide × {y} tall × {z} deep, from y = {low} (Bevy's axes); read as {hand}")?;
    }
    if let Some(manifest) = &model.manifest {
        writeln!(out, "  model {} at scale {}", printable(manifest.model), manifest.scale)?;
    }
    write_parts(out, paint, model)?;
    if !model.materials.is_empty() {
        heading(out, paint, "Materials")?;
        for material in &model.materials {
            write_material(out, paint, material)?;
        }
    }
    if !model.joints.is_empty() {
        heading(out, paint, &format!("Joints {}", paint.dim("(vertices they move)")))?;
        let parents: Vec<Option<usize>> = model.joints.iter().map(|joint| joint.parent).collect();
        write_tree(out, paint, &parents, |at| {
            let joint = &model.joints[at];
            let moved = if joint.vertices == 0 { "–".to_owned() } else { count(joint.vertices) };
            format!("{} {}", printable(joint.name), paint.dim(format!("({moved})")))
        })?;
    }
    if !model.clips.is_empty() {
        heading(out, paint, "Clips")?;
        write_clips(out, paint, &model.clips, model.joints.len())?;
    }
    write_influences(out, paint, model)?;
    let Some(manifest) = &model.manifest else { return Ok(()) };
    if !manifest.masks.is_empty() {
        heading(out, paint, "Masks")?;
        for (name, mask) in manifest.masks {
            let falloff = if mask.falloff > 0 { format!(", rising over {}", mask.falloff) } else { String::new() };
            writeln!(out, "  {}: from {}{falloff}", printable(name), printable(&mask.roots.join(", ")))?;
        }
    }
    if !manifest.sockets.is_empty() {
        heading(out, paint, "Sockets")?;
        for (name, socket) in manifest.sockets {
            writeln!(out, "  {}: on {}", printable(name), printable(&socket.joint))?;
        }
    }
    Ok(())
}

fn heading(out: &mut impl Write, paint: Paint, text: &str) -> io::Result<()> {
    writeln!(out, "\n  {}", paint.bold(text))
}

fn write_parts(out: &mut impl Write, paint: Paint, model: &ModelReport) -> io::Result<()> {
    if model.parts.is_empty() {
        return Ok(());
    }
    heading(out, paint, "Parts")?;
    let rows = model.parts.iter().map(|part| {
        let material = model.materials.get(part.material).map_or("", |material| material.name);
        let joints = if part.joints == 0 { "static".to_owned() } else { counted(part.joints, "joint") };
        [
            printable(part.name),
            counted(part.vertices, "vertex"),
            counted(part.triangles, "triangle"),
            joints,
            printable(material),
        ]
    });
    write_table(out, &rows.collect::<Vec<_>>(), [false, true, true, true, false])
}

fn write_material(out: &mut impl Write, paint: Paint, material: &MaterialReport) -> io::Result<()> {
    let mut traits = vec![format!("roughness {}", decimal(material.roughness.into(), 2))];
    let [r, g, b, a] = material.base_color.map(|c| decimal(c.into(), 2));
    if material.base_color != [1.0; 4] {
        let alpha = if a == "1" { String::new() } else { format!(" {a}") };
        traits.push(format!("colour {r} {g} {b}{alpha}"));
    }
    traits.extend(material.alpha_cutoff.map(|cutoff| format!("cut out below alpha {}", decimal(cutoff.into(), 2))));
    if material.double_sided {
        traits.push("double-sided".to_owned());
    }
    writeln!(out, "  {}  {}", printable(material.name), paint.dim(traits.join(", ")))?;
    for TextureUse { role, written, found } in material.textures {
        let role = left(&role.replace("base_color", "colour"), 9);
        let mark = |found: &str| format!("{} {}", paint.green("✓"), printable(found));
        let text = match (written, found) {
            (Some(written), Some(found)) if written == found => mark(found),
            (Some(written), Some(found)) => format!("{} → {}", printable(written), mark(found)),
            (None, Some(found)) => format!("{} {}", mark(found), paint.dim("(by its name)")),
            (Some(written), None) => format!("{} {}", printable(written), paint.yellow("✗ not found")),
            (None, None) => continue,
        };
        writeln!(out, "    {}{text}", paint.dim(role))?;
    }
    Ok(())
}

fn write_clips(out: &mut impl Write, paint: Paint, clips: &[ClipReport], joints: usize) -> io::Result<()> {
    let rows = clips.iter().map(|clip| {
        let rate =
            if clip.frames > 1 { format!(" at {}/s", decimal(clip.frames_per_second, 2)) } else { String::new() };
        let mut rest = Vec::new();
        if clip.additive {
            rest.push("additive".to_owned());
        }
        if clip.joints < joints {
            rest.push(format!("moves {} of {}", count(clip.joints), counted(joints, "joint")));
        }
        if let Some(quantised) = &clip.quantised {
            rest.push(format!("quantised {:.1} : 1, off by up to {:.2e}", quantised.ratio, quantised.error));
        }
        rest.extend(clip.file.map(|file| format!("from {file}")));
        [
            printable(clip.name),
            seconds(clip.seconds),
            counted(clip.frames, "frame") + &rate,
            clip.playback.replace('_', "-"),
            size(clip.bytes as u64),
            rest.join(", "),
        ]
    });
    write_table(out, &rows.collect::<Vec<_>>(), [false, true, true, false, true, false])?;
    for (clip, key) in clips.iter().flat_map(|clip| clip.callbacks.iter().map(move |key| (clip, key))) {
        let data = if key.data == "()" { String::new() } else { format!(" {}", printable(&key.data)) };
        let when = format!("{} at {}", printable(clip.name), seconds(key.time));
        writeln!(out, "    {} {}{data}", paint.dim(format!("callback in {when}:")), printable(key.name))?;
    }
    Ok(())
}

fn write_influences(out: &mut impl Write, paint: Paint, model: &ModelReport) -> io::Result<()> {
    let total: usize = model.influences.iter().sum();
    if total == 0 || model.joints.is_empty() {
        return Ok(());
    }
    heading(out, paint, "Joints per vertex")?;
    const WIDEST: usize = 32;
    let most = model.influences.iter().copied().max().unwrap_or(1);
    for (label, number) in ["0", "1", "2", "3", "4", "more"].into_iter().zip(model.influences) {
        if number > 0 {
            let bar = "█".repeat((number * WIDEST).div_ceil(most));
            let share = decimal(number as f64 * 100.0 / total as f64, 1);
            let number = right(&count(number), count(most).len());
            writeln!(out, "  {} {number} {} {}", left(label, 4), paint.cyan(bar), paint.dim(format!("{share} %")))?;
        }
    }
    if model.influences[5] > 0 {
        let dropped = percent(model.largest_weight_dropped);
        writeln!(out, "  at most {dropped} of a vertex's weight lost by keeping four")?;
    }
    let share = percent(model.bind_residual_relative);
    writeln!(out, "  bind residual {} ({share} of the model's size)", length(model.bind_residual))
}

/// A share in percent; what is not nothing does not look like it.
fn percent(share: f32) -> String {
    let percent = f64::from(share) * 100.0;
    if percent > 0.0 && percent < 0.0001 { "under 0.0001 %".to_owned() } else { format!("{} %", decimal(percent, 4)) }
}

fn write_animation(out: &mut impl Write, paint: Paint, animation: &AnimationReport) -> io::Result<()> {
    let moving = animation.joints.iter().filter(|joint| joint.animated > 0).count();
    writeln!(
        out,
        "  {} · {} at {}/s · {}, {} moving",
        seconds(animation.seconds),
        counted(animation.frames, "frame"),
        decimal(animation.frames_per_second.into(), 2),
        counted(animation.joints.len(), "joint"),
        count(moving),
    )?;
    if let (Some(model), Some(shared), Some(clip)) = (animation.bound_to, animation.joints_shared, &animation.clip) {
        let joints = animation.joints.len();
        let bytes = size(clip.bytes as u64);
        return writeln!(
            out,
            "  clip {} of {model}, which has {} of its {}; {bytes}",
            printable(clip.name),
            count(shared),
            counted(joints, "joint")
        );
    }
    heading(out, paint, &format!("Joints {}", paint.dim("(channels that move)")))?;
    let parents: Vec<Option<usize>> = animation.joints.iter().map(|joint| joint.parent).collect();
    write_tree(out, paint, &parents, |at| {
        let joint = &animation.joints[at];
        let moves = if joint.animated == 0 { "–".to_owned() } else { joint.animated.to_string() };
        format!("{} {}", printable(joint.name), paint.dim(format!("({moves})")))
    })
}

/// Rows of cells in columns as wide as need be; `numbers` says which columns are set to the right.
fn write_table<const N: usize>(out: &mut impl Write, rows: &[[String; N]], numbers: [bool; N]) -> io::Result<()> {
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(widest);
    for row in rows {
        let cells: Vec<String> =
            (0..N)
                .filter(|&column| widths[column] > 0)
                .map(|column| {
                    if numbers[column] {
                        right(&row[column], widths[column])
                    } else {
                        left(&row[column], widths[column])
                    }
                })
                .collect();
        writeln!(out, "  {}", cells.join("   ").trim_end())?;
    }
    Ok(())
}

/// Deeper than this, lines keep the indentation and say how deep they are: chains may be thousands long.
const DEEPEST: usize = 40;

/// Draws a forest. Joints that hang from no root, which a file may have, come as roots of their own.
fn write_tree(
    out: &mut impl Write,
    paint: Paint,
    parents: &[Option<usize>],
    label: impl Fn(usize) -> String,
) -> io::Result<()> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (joint, parent) in parents.iter().enumerate() {
        if let Some(siblings) = parent.and_then(|parent| children.get_mut(parent)) {
            siblings.push(joint);
        }
    }
    let roots = (0..parents.len()).filter(|&joint| parents[joint].is_none());
    let mut drawn = vec![false; parents.len()];
    // By hand, for a chain may be longer than the call stack: joint, depth, whether it is the last child.
    let mut stack: Vec<(usize, usize, bool)> = Vec::new();
    let mut rails: Vec<bool> = Vec::new();
    for root in roots.chain(0..parents.len()) {
        stack.push((root, 0, true));
        while let Some((joint, depth, last)) = stack.pop() {
            if std::mem::replace(&mut drawn[joint], true) {
                continue;
            }
            rails.truncate(depth.saturating_sub(1));
            let mut lines: String =
                rails.iter().take(DEEPEST).map(|&goes_on| if goes_on { "│  " } else { "   " }).collect();
            if depth > 0 {
                lines += if last { "└─ " } else { "├─ " };
                rails.push(!last);
            }
            if depth > DEEPEST {
                lines += &format!("… {depth} deep: ");
            }
            writeln!(out, "  {}{}", paint.dim(lines), label(joint))?;
            let below = &children[joint];
            stack.extend(below.iter().enumerate().rev().map(|(at, &child)| (child, depth + 1, at + 1 == below.len())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(parents: &[Option<usize>]) -> String {
        let mut out = Vec::new();
        write_tree(&mut out, Paint::none(), parents, |joint| joint.to_string()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn trees_have_rails_where_a_branch_goes_on() {
        let drawn = tree(&[None, Some(0), Some(1), Some(0), Some(3), None]);
        assert_eq!(drawn, "  0\n  ├─ 1\n  │  └─ 2\n  └─ 3\n     └─ 4\n  5\n");
    }

    #[test]
    fn every_joint_is_drawn_once_even_in_circles_and_long_chains() {
        assert_eq!(tree(&[Some(1), Some(0), Some(9)]).lines().count(), 3);
        let chain: Vec<Option<usize>> = (0..20_000_usize).map(|joint| joint.checked_sub(1)).collect();
        let drawn = tree(&chain);
        assert_eq!(drawn.lines().count(), 20_000);
        assert!(drawn.len() < 8 << 20, "{}", drawn.len());
    }

    #[test]
    fn tables_align() {
        let mut out = Vec::new();
        let rows = [["a", "10", ""], ["long", "5", ""]].map(|row| row.map(str::to_owned));
        write_table(&mut out, &rows, [false, true, false]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  a      10\n  long    5\n");
    }
}
