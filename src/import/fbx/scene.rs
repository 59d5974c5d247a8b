//! Loading a file with the library, within limits.

use crate::{
    format::{FormatError, TextKind, refuse_foreign, without_bom},
    import::{axes::Basis, nodes::Local, report::Report},
    model::JointTransform,
};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};
use std::collections::BTreeMap;
use ufbx::{
    AllocatorOpts, CoordinateAxes, CoordinateAxis, ErrorType, FileFormat, InheritModeHandling,
    LoadOpts, SceneRoot, SpaceConversion,
};

/// Bytes that any file may take in memory while it is read, and that each of its bytes may. Arrays are compressed in binary files,
/// and structs of the library are larger than what they are read from.
const FEW_BYTES: usize = 64 << 20;
const BYTES_PER_BYTE: usize = 128;

/// Allocations that any file may take, and that each of its bytes may.
const FEW_ALLOCATIONS: usize = 1 << 16;

/// Nodes above each other.
const MOST_LEVELS: u32 = 1024;

/// The first bytes of a binary file.
const BINARY: &[u8] = b"Kaydara FBX Binary";

/// Loads a file: in meters, Y up, +Z forward, right-handed.
pub(super) fn load(source: &[u8], report: &mut Report) -> Result<SceneRoot, FormatError> {
    // Text may be of another format, which deserves an error of its own.
    let mut repaired = None;
    if !source.starts_with(BINARY) {
        refuse_foreign(report.file, source, TextKind::Fbx)?;
        repaired = repair_numbers(source, report);
    }
    // The library takes a byte order mark for a part of a name.
    let source = without_bom(repaired.as_deref().unwrap_or(source));
    let memory = source
        .len()
        .saturating_mul(BYTES_PER_BYTE)
        .saturating_add(FEW_BYTES);
    let allocator = || AllocatorOpts {
        memory_limit: memory,
        allocation_limit: source.len().saturating_add(FEW_ALLOCATIONS),
        ..AllocatorOpts::default()
    };
    let options = LoadOpts {
        temp_allocator: allocator(),
        result_allocator: allocator(),
        // Nothing but FBX, whatever the file looks like, and nothing that it refers to.
        file_format: FileFormat::Fbx,
        load_external_files: false,
        node_depth_limit: MOST_LEVELS,
        generate_missing_normals: true,
        normalize_normals: true,
        use_blender_pbr_material: true,
        // The meaning of broken links could only be guessed.
        connect_broken_elements: false,
        // Nodes that don't inherit scale get helpers in between, so that plain products of transforms are
        // right.
        inherit_mode_handling: InheritModeHandling::Compensate,
        space_conversion: SpaceConversion::AdjustTransforms,
        target_axes: CoordinateAxes {
            right: CoordinateAxis::PositiveX,
            up: CoordinateAxis::PositiveY,
            front: CoordinateAxis::PositiveZ,
        },
        target_unit_meters: 1.0,
        ..LoadOpts::default()
    };
    let scene = ufbx::load_memory(source, options)
        .map_err(|error| refuse(source, &error, memory, report))?;
    // The library warns about each object by itself. Counting leaves one line of each kind.
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in &scene.metadata.warnings {
        *counts.entry(&warning.description).or_default() += warning.count.max(1);
    }
    for (message, count) in counts {
        let times = match count {
            1 => String::new(),
            count => format!(" ({count} times)"),
        };
        let message = format!("{}{times}", lower(message));
        report.warn("", message, "it was repaired as well as possible");
    }
    Ok(scene)
}

/// Returns a text with 0 in the place of numbers that C prints of what is not finite, such as `1.#QNAN` and `-nan(ind)`, if it has
/// any. The library would refuse some of them, and take others for names.
fn repair_numbers(source: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 9] = [
        b"nan",
        b"inf",
        b"infinity",
        b"qnan",
        b"snan",
        b"ind",
        b"nan(ind)",
        b"nan(snan)",
        b"nan(qnan)",
    ];
    let (mut repaired, mut count, mut at) = (None::<Vec<u8>>, 0_usize, 0);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:;\"{}*".contains(byte);
    while at < source.len() {
        let rest = &source[at..];
        let length = match rest[0] {
            // Texts and comments may contain anything.
            b'"' => rest[1..].iter().position(|b| *b == b'"').map(|end| end + 2),
            b';' => rest.iter().position(|b| *b == b'\n').map(|end| end + 1),
            byte if ends(&byte) => Some(1),
            _ => rest.iter().position(ends),
        };
        let length = length.unwrap_or(rest.len());
        let word = &rest[..length];
        let digits = word
            .strip_prefix(b"-")
            .or(word.strip_prefix(b"+"))
            .unwrap_or(word);
        let is_number = matches!(digits, [b'0'..=b'9', b'.', b'#', ..])
            || word.len() < 12
                && WORDS.iter().any(|odd| digits.eq_ignore_ascii_case(odd))
                && source.get(at + length) != Some(&b':');
        if is_number {
            // As long as before, so that errors are where they were.
            let repaired = repaired.get_or_insert_with(|| source.to_vec());
            repaired[at..at + length].fill(b' ');
            repaired[at] = b'0';
            count += 1;
        }
        at += length;
    }
    if count > 0 {
        let message = format!(
            "{} not finite",
            if count == 1 {
                "a number is".to_owned()
            } else {
                format!("{count} numbers are")
            }
        );
        report.warn("", message, "0 takes their place: export the file again");
    }
    repaired
}

/// Says why a file was refused, and what to do.
fn refuse(source: &[u8], error: &ufbx::Error, memory: usize, report: &Report) -> FormatError {
    const AGAIN: &str = "export it again, as FBX 2014 or later, binary";
    let (message, hint) = match error.type_ {
        // The library takes any text for the start of a file.
        ErrorType::UnrecognizedFileFormat
        | ErrorType::EmptyFile
        | ErrorType::TruncatedFile
        | ErrorType::Io
            if !looks_like_fbx(source) =>
        {
            (
                "this is not an FBX file".to_owned(),
                "export it as FBX, binary or ASCII",
            )
        }
        ErrorType::EmptyFile | ErrorType::TruncatedFile | ErrorType::Io => (
            "the file is cut off".to_owned(),
            "export or download it again",
        ),
        ErrorType::UnsupportedVersion => (
            "the file's version of FBX is not supported".to_owned(),
            AGAIN,
        ),
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => (
            format!(
                "the file takes more than {} MB to read, too much for its size",
                memory >> 20
            ),
            "the file is damaged, or made to exhaust memory; if not, export it again, or convert it to .glb",
        ),
        ErrorType::NodeDepthLimit => (
            format!("nodes are nested more than {MOST_LEVELS} deep"),
            "remove what is not part of the character",
        ),
        _ => (
            format!("the file cannot be read: {}", lower(&error.description)),
            AGAIN,
        ),
    };
    report.error("", message, hint)
}

/// Returns `true` for binary files, and for text with the words that it begins with in any exporter.
fn looks_like_fbx(source: &[u8]) -> bool {
    let start = &source[..source.len().min(4096)];
    let has = |words: &[u8]| start.windows(words.len()).any(|window| window == words);
    source.starts_with(BINARY) || has(b"; FBX") || has(b"FBXHeader")
}

/// A message of the library as our messages begin.
fn lower(message: &str) -> String {
    let mut chars = message.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}

/// A transform of the library, in Bevy's axes.
pub(super) fn local(transform: &ufbx::Transform, basis: &Basis) -> Local {
    let ufbx::Transform {
        translation: t,
        rotation: r,
        scale: s,
    } = transform;
    let transform = basis.transform(JointTransform {
        translation: Vec3::new(t.x as f32, t.y as f32, t.z as f32),
        rotation: Quat::from_xyzw(r.x as f32, r.y as f32, r.z as f32, r.w as f32),
        scale: Vec3::new(s.x as f32, s.y as f32, s.z as f32),
    });
    Local {
        translation: transform.translation.as_dvec3(),
        // An exporter's rounding would add up along chains of joints.
        rotation: transform.rotation.as_dquat().normalize(),
        scale: transform.scale.as_dvec3(),
    }
}

/// A matrix of the library, in Bevy's axes.
pub(super) fn affine(m: &ufbx::Matrix, basis: &Basis) -> DAffine3 {
    let affine = DAffine3 {
        matrix3: DMat3::from_cols(
            DVec3::new(m.m00, m.m10, m.m20),
            DVec3::new(m.m01, m.m11, m.m21),
            DVec3::new(m.m02, m.m12, m.m22),
        ),
        translation: DVec3::new(m.m03, m.m13, m.m23),
    };
    let affine = Affine3A::from_cols_array(&affine.to_cols_array().map(|x| x as f32));
    basis.affine(affine).as_daffine3()
}

pub(super) fn point(v: &ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x as f32, v.y as f32, v.z as f32)
}
