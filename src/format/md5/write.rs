//! Writing MD5, version 10.

use super::{Md5Anim, Md5Mesh};
use std::fmt::{self, Display, Write};

/// Returns the mesh as text that [`parse_mesh`](super::parse_mesh) reads back unchanged.
///
/// MD5 strings have no escapes: a double quote inside one is written as an apostrophe, and a line end or a NUL, which
/// would make the file look binary, as a space. A number that is not finite is written as 0; a checked mesh has none.
pub fn write_mesh(mesh: &Md5Mesh) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = mesh_text(&mut out, mesh);
    out
}

/// Returns the animation as text that [`parse_anim`](super::parse_anim) reads back unchanged.
///
/// Strings and numbers are written as in [`write_mesh`].
pub fn write_anim(anim: &Md5Anim) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = anim_text(&mut out, anim);
    out
}

fn mesh_text(out: &mut String, mesh: &Md5Mesh) -> fmt::Result {
    writeln!(
        out,
        "MD5Version 10\ncommandline {}\n",
        Quoted(&mesh.command_line)
    )?;
    writeln!(
        out,
        "numJoints {}\nnumMeshes {}\n",
        mesh.joints.len(),
        mesh.meshes.len()
    )?;
    writeln!(out, "joints {{")?;
    for joint in &mesh.joints {
        let parent = Parent(joint.parent);
        let (position, orientation) = (Vector(joint.position), Vector(joint.orientation));
        writeln!(
            out,
            "\t{}\t{parent} {position} {orientation}",
            Quoted(&joint.name)
        )?;
    }
    writeln!(out, "}}")?;
    for submesh in &mesh.meshes {
        writeln!(out, "\nmesh {{")?;
        if let Some(name) = &submesh.name {
            writeln!(out, "\tname {}", Quoted(name))?;
        }
        writeln!(out, "\tshader {}\n", Quoted(&submesh.shader))?;
        writeln!(out, "\tnumverts {}", submesh.vertices.len())?;
        for (i, v) in submesh.vertices.iter().enumerate() {
            let [s, t] = v.tex_coord.map(Number);
            writeln!(
                out,
                "\tvert {i} ( {s} {t} ) {} {}",
                v.first_weight, v.weight_count
            )?;
        }
        writeln!(out, "\n\tnumtris {}", submesh.triangles.len())?;
        for (i, [a, b, c]) in submesh.triangles.iter().enumerate() {
            writeln!(out, "\ttri {i} {a} {b} {c}")?;
        }
        writeln!(out, "\n\tnumweights {}", submesh.weights.len())?;
        for (i, w) in submesh.weights.iter().enumerate() {
            writeln!(
                out,
                "\tweight {i} {} {} {}",
                w.joint,
                Number(w.bias),
                Vector(w.position)
            )?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn anim_text(out: &mut String, anim: &Md5Anim) -> fmt::Result {
    let frames = anim.frame_count();
    writeln!(
        out,
        "MD5Version 10\ncommandline {}\n",
        Quoted(&anim.command_line)
    )?;
    writeln!(
        out,
        "numFrames {frames}\nnumJoints {}\nframeRate {}",
        anim.joints.len(),
        Number(anim.frame_rate)
    )?;
    writeln!(
        out,
        "numAnimatedComponents {}\n\nhierarchy {{",
        anim.components
    )?;
    for joint in &anim.joints {
        writeln!(
            out,
            "\t{}\t{} {} {}",
            Quoted(&joint.name),
            Parent(joint.parent),
            joint.flags,
            joint.start
        )?;
    }
    for (block, pairs) in [("bounds", &anim.bounds), ("baseframe", &anim.base_frame)] {
        writeln!(out, "}}\n\n{block} {{")?;
        for &[a, b] in pairs {
            writeln!(out, "\t{} {}", Vector(a), Vector(b))?;
        }
    }
    writeln!(out, "}}")?;
    let components = anim.components as usize;
    for frame in 0..frames {
        writeln!(out, "\nframe {frame} {{")?;
        // Six to a line: a joint's position and rotation where all of it moves.
        for line in anim
            .frames
            .get(frame * components..(frame + 1) * components)
            .unwrap_or(&[])
            .chunks(6)
        {
            out.push('\t');
            for (i, &value) in line.iter().enumerate() {
                write!(out, "{}{}", if i > 0 { " " } else { "" }, Number(value))?;
            }
            out.push('\n');
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// The shortest text that reads back as the same number.
struct Number(f32);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            value if !value.is_finite() => f.write_str("0"),
            value if value == 0.0 || (1e-5..1e15).contains(&value.abs()) => write!(f, "{value}"),
            value => write!(f, "{value:e}"),
        }
    }
}

struct Vector([f32; 3]);

impl Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [x, y, z] = self.0.map(Number);
        write!(f, "( {x} {y} {z} )")
    }
}

struct Parent(Option<u32>);

impl Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Some(parent) => write!(f, "{parent}"),
            None => f.write_str("-1"),
        }
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            f.write_char(match c {
                '"' => '\'',
                '\n' | '\0' => ' ',
                c => c,
            })?;
        }
        f.write_char('"')
    }
}
