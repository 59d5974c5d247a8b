//! Reading `.md5mesh`.

use super::{
    Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight,
    check::Fault,
    reader::{Kind, Reader, Stop, vector},
    run::Run,
};
use crate::format::{
    Checked, FormatError, Lexer, Parsed, TokenKind, Unexpected,
    checked::cycles,
    reader::CUT_OFF,
    sniff::{TextKind, refuse_foreign},
};
use crate::plural::there_are;

/// Reads an `.md5mesh` file of version 10. `file` is its name for reports.
///
/// Counts in headers are only compared with what follows. Of two documents in one file the first is read.
/// Repairs are reported as warnings.
///
/// # Errors
/// If the file is not an MD5 mesh of version 10, is cut off, or has lines that do not parse or indices out of
/// range. Up to [`FormatError::MAX_ERRORS`] are listed, each with its place.
pub fn parse_mesh(file: &str, source: &[u8]) -> Result<Parsed<Checked<Md5Mesh>>, FormatError> {
    refuse_foreign(file, source, TextKind::Md5)?;
    let mut reader = Reader::of(file, source, Kind::Mesh);
    let mut mesh = Md5Mesh::default();
    // `Stop` means that the reason is already reported.
    let _: Result<(), Stop> = read(&mut reader, &mut mesh);
    reader.check_comments();
    reader.report.finish(mesh).map(Parsed::checked)
}

fn read(reader: &mut Reader, mesh: &mut Md5Mesh) -> Result<(), Stop> {
    reader.version()?;
    let (mut joint_count, mut mesh_count) = (None, None);
    let mut joints_at = None;
    let mut sources = Vec::new();
    // An editor that overwrites a longer file leaves its tail after everything that is declared.
    let is_complete = |count: Option<(u32, usize)>, joints_at: Option<usize>, mesh: &Md5Mesh| {
        joints_at.is_some()
            && count.is_some_and(|(count, _)| mesh.meshes.len() as u64 >= u64::from(count.max(1)))
    };
    loop {
        let token = reader.lexer.next_token();
        let word = match token.kind {
            TokenKind::End => break,
            TokenKind::Word(word) => word,
            _ if is_complete(mesh_count, joints_at, mesh) => {
                reader.rest_ignored(token.offset, "mesh");
                break;
            }
            other => {
                reader.unknown_at_top(token.offset, other)?;
                continue;
            }
        };
        match word.to_ascii_lowercase().as_slice() {
            b"commandline" => mesh.command_line = reader.command_line()?,
            b"numjoints" => joint_count = reader.count("numJoints")?.map(|n| (n, token.offset)),
            b"nummeshes" => mesh_count = reader.count("numMeshes")?.map(|n| (n, token.offset)),
            b"joints" if joints_at.is_some() => {
                reader.error(token.offset, "a second `joints` block", "", "")?;
                reader.lexer.skip_line();
            }
            b"joints" => {
                joints_at = Some(token.offset);
                mesh.joints = joints(reader, joint_count.map(|(n, _)| n))?;
            }
            b"mesh" => {
                let index = mesh.meshes.len();
                let (submesh, source) = submesh(reader, index)?;
                mesh.meshes.push(submesh);
                sources.push(source);
            }
            _ if reader.second_document(token.offset, word) => break,
            _ if is_complete(mesh_count, joints_at, mesh) => {
                reader.rest_ignored(token.offset, "mesh");
                break;
            }
            _ => reader.unknown_at_top(token.offset, token.kind)?,
        }
    }
    // The checks below would report consequences of these errors.
    if reader.report.failed() {
        return Err(Stop);
    }
    let end = reader.lexer.source().len();
    if joints_at.is_none() {
        return Err(reader.fatal(end, "the file has no `joints` block", CUT_OFF));
    }
    if let Some((count, at)) = joint_count.filter(|&(n, _)| n as usize != mesh.joints.len()) {
        reader.warn(
            at,
            format!("`numJoints` is {count}, but {} follow", mesh.joints.len()),
            "",
        );
    }
    if let Some((count, at)) = mesh_count.filter(|&(n, _)| n as usize != mesh.meshes.len()) {
        let message = format!("`numMeshes` is {count}, but {} follow", mesh.meshes.len());
        if mesh.meshes.is_empty() {
            return Err(reader.fatal(at, message, CUT_OFF));
        }
        reader.warn(at, message, "");
    }
    if mesh.joints.is_empty() {
        return Err(reader.fatal(joints_at.unwrap_or(end), "the file has no joints", ""));
    }
    for (index, (submesh, starts)) in mesh.meshes.iter().zip(&sources).enumerate() {
        for fault in submesh.faults(mesh.joints.len()) {
            let at = place(reader, starts, &fault);
            reader.error(at, &fault.message, fault.item(&submesh.label(index)), "")?;
        }
    }
    Ok(())
}

/// Offsets of the first vertex, triangle and weight of a submesh.
type Starts = [usize; 3];

/// Finds the place of an index that is out of range. The run is read again, only for the report.
#[cold]
fn place(reader: &Reader, [vertices, triangles, weights]: &Starts, fault: &Fault) -> usize {
    let mut lexer = reader.lexer.clone();
    let start = match fault.keyword {
        "vert" => *vertices,
        "tri" => *triangles,
        _ => *weights,
    };
    lexer.seek(start);
    while !lexer
        .u32()
        .is_ok_and(|number| number as usize == fault.number)
    {
        // On to the number behind the next keyword.
        loop {
            match lexer.next_token().kind {
                TokenKind::End => return start,
                TokenKind::Word(word) if word.eq_ignore_ascii_case(fault.keyword.as_bytes()) => {
                    break;
                }
                _ => {}
            }
        }
    }
    for _ in 1..fault.word {
        lexer.next_token();
    }
    lexer.peek().offset
}

fn joints(reader: &mut Reader, declared: Option<u32>) -> Result<Vec<Md5Joint>, Stop> {
    let mut joints: Vec<Md5Joint> = Vec::new();
    let mut parents = Vec::new();
    let context = |joint: usize| match declared {
        Some(count) => format!("joint {joint} of {count}"),
        None => format!("joint {joint}"),
    };
    if !reader.open("joints")? {
        return Ok(joints);
    }
    while !reader.close("joints")? {
        // A block that is never closed would swallow the meshes as damaged joints.
        if matches!(reader.lexer.peek().kind, TokenKind::Word(word) if word.eq_ignore_ascii_case(b"mesh"))
        {
            let unexpected = reader.lexer.unexpected("`}` or a joint's name");
            reader.error(unexpected.offset, unexpected.to_string(), "joints", "")?;
            break;
        }
        let (at, parent, joint) = reader
            .take(joint, || context(joints.len()))?
            .unwrap_or_default();
        parents.push((at, parent));
        joints.push(joint);
    }
    if !reader.report.failed() {
        resolve_parents(reader, &parents, |index, parent| {
            joints[index].parent = parent
        })?;
    }
    Ok(joints)
}

fn joint(lexer: &mut Lexer) -> Result<(usize, i32, Md5Joint), Unexpected> {
    let name = String::from_utf8_lossy(lexer.string()?).into_owned();
    lexer.skip_space();
    let at = lexer.offset();
    let parent = lexer.i32()?;
    let position = vector(lexer)?;
    let orientation = vector(lexer)?;
    Ok((
        at,
        parent,
        Md5Joint {
            name,
            parent: None,
            position,
            orientation,
        },
    ))
}

/// Checks parents (offset in the file, index or −1) for range and cycles, and passes them on to `set`.
pub(super) fn resolve_parents(
    reader: &mut Reader,
    parents: &[(usize, i32)],
    mut set: impl FnMut(usize, Option<u32>),
) -> Result<(), Stop> {
    let count = parents.len();
    let mut sound = true;
    for (index, &(at, parent)) in parents.iter().enumerate() {
        let context = format!("joint {index} of {count}");
        if parent < -1 || parent >= count as i32 {
            sound = false;
            let hint = "a root has the parent -1";
            reader.error(
                at,
                format!(
                    "parent {parent} is out of range: {}",
                    there_are(count, "joint")
                ),
                context,
                hint,
            )?;
        } else if parent == index as i32 {
            sound = false;
            reader.error(
                at,
                "the joint is its own parent",
                context,
                "a root has the parent -1",
            )?;
        } else {
            set(index, u32::try_from(parent).ok());
        }
    }
    if sound {
        let parents_in_range: Vec<_> = parents
            .iter()
            .map(|&(_, parent)| u32::try_from(parent).ok())
            .collect();
        for joint in cycles(&parents_in_range) {
            let message = "the joint is among its own ancestors";
            reader.error(
                parents[joint].0,
                message,
                format!("joint {joint} of {count}"),
                "",
            )?;
        }
    }
    Ok(())
}

const MESH_KEYWORDS: [&str; 8] = [
    "name",
    "shader",
    "numverts",
    "vert",
    "numtris",
    "tri",
    "numweights",
    "weight",
];

fn submesh(reader: &mut Reader, index: usize) -> Result<(Md5Submesh, Starts), Stop> {
    let mut submesh = Md5Submesh::default();
    let (mut vertices, mut triangles, mut weights) = (Run::new(), Run::new(), Run::new());
    let opened = reader.open(&format!("mesh {index}"))?;
    while opened && !reader.close(&format!("mesh {}", submesh.label(index)))? {
        let token = reader.lexer.next_token();
        let word = match token.kind {
            TokenKind::Word(word) => word.to_ascii_lowercase(),
            _ => Vec::new(),
        };
        let here = |item: &str| format!("{item} in mesh {}", submesh.label(index));
        match word.as_slice() {
            b"name" => submesh.name = reader.quoted(&here("name"))?,
            b"shader" => submesh.shader = reader.quoted(&here("shader"))?.unwrap_or_default(),
            b"numverts" => vertices.declared = reader.count(&here("numverts"))?,
            b"numtris" => triangles.declared = reader.count(&here("numtris"))?,
            b"numweights" => weights.declared = reader.count(&here("numweights"))?,
            b"vert" => vertices.read(reader, "vert", vertex, here)?,
            b"tri" => triangles.read(reader, "tri", triangle, here)?,
            b"weight" => weights.read(reader, "weight", weight, here)?,
            // These words open other blocks, so this one was never closed.
            b"mesh" | b"joints" | b"md5version" => {
                reader.lexer.seek(token.offset);
                let unexpected = reader.lexer.unexpected("`}`");
                reader.error(
                    token.offset,
                    unexpected.to_string(),
                    format!("mesh {}", submesh.label(index)),
                    "",
                )?;
                break;
            }
            _ => {
                let context = format!("mesh {}", submesh.label(index));
                reader.unknown(token.offset, token.kind, &MESH_KEYWORDS, &context)?;
            }
        }
    }
    let starts = [vertices.start, triangles.start, weights.start];
    if !reader.report.failed() {
        let context = format!("mesh {}", submesh.label(index));
        submesh.vertices = vertices
            .finish(reader, "vert", "numverts", &context)?
            .unwrap_or_default();
        submesh.triangles = triangles
            .finish(reader, "tri", "numtris", &context)?
            .unwrap_or_default();
        submesh.weights = weights
            .finish(reader, "weight", "numweights", &context)?
            .unwrap_or_default();
    }
    Ok((submesh, starts))
}

/// `( s t ) first count`
#[inline]
fn vertex(lexer: &mut Lexer) -> Result<Md5Vertex, Unexpected> {
    lexer.expect(b'(')?;
    let tex_coord = lexer.f32s()?;
    lexer.expect(b')')?;
    Ok(Md5Vertex {
        tex_coord,
        first_weight: lexer.u32()?,
        weight_count: lexer.u32()?,
    })
}

/// `a b c`
#[inline]
fn triangle(lexer: &mut Lexer) -> Result<[u32; 3], Unexpected> {
    Ok([lexer.u32()?, lexer.u32()?, lexer.u32()?])
}

/// `joint bias ( x y z )`
#[inline]
fn weight(lexer: &mut Lexer) -> Result<Md5Weight, Unexpected> {
    Ok(Md5Weight {
        joint: lexer.u32()?,
        bias: lexer.f32()?,
        position: vector(lexer)?,
    })
}

#[cfg(test)]
#[path = "tests/mesh.rs"]
mod tests;
