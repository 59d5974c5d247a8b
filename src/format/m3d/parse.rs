//! Reading `.m3d`.
//!
//! One parser reads every dialect. A file is a list of sections, each opened by a line of stars or dashes around
//! its name. Sections are recognized by their labels, not their order. The sections' readers
//! ([`header`], [`material`], [`subset`], [`vertex`], [`triangle`], [`skeleton`], [`clip`]) record
//! what is written. [`assemble`] then makes a model that keeps the promises of [`M3d`], or reports
//! why it cannot.
//!
//! Vertices and keys, most of a file, are matched with the first of their kind ([`record`]). Only what does not
//! match goes through the reader that repairs and reports.

mod assemble;
mod clip;
mod header;
mod label;
mod material;
mod notes;
mod reader;
mod record;
mod skeleton;
mod state;
mod subset;
mod triangle;
mod vertex;

use super::{M3d, M3dMaterial, M3dVertex};
use crate::format::{
    Checked, FormatError, Parsed,
    sniff::{TextKind, refuse_foreign},
};
use reader::{Banner, Reader, quote};

/// Reads an `.m3d` file of any dialect. `file` is its name for reports.
///
/// Broken but usable data is repaired, with one warning for each cause. Weights, normals and
/// tangents are left as written. These need no warning: three weights in place of four (the fourth
/// is what they lack of one), a tangent of three numbers (`w` is 1), a texture called `None` or `-`
/// (there is none).
///
/// # Errors
/// If the file is something else, or unusable: malformed numbers, misspelled labels, indices out of range, missing
/// sections. Up to [`FormatError::MAX_ERRORS`] are listed.
pub fn parse(file: &str, source: &[u8]) -> Result<Parsed<Checked<M3d>>, FormatError> {
    refuse_foreign(file, source, TextKind::M3d)?;
    let mut reader = Reader::of(file, source);
    let mut raw = Raw::default();
    sections(&mut reader, &mut raw);
    let model = if reader.report.failed() {
        M3d::default()
    } else {
        assemble::assemble(&mut reader, raw)
    };
    reader.state.notes.tell(&mut reader.report);
    reader.report.finish(model).map(Parsed::checked)
}

/// The contents of the sections, as written.
#[derive(Default)]
struct Raw {
    materials: Vec<M3dMaterial>,
    subsets: Vec<subset::RawSubset>,
    vertices: Vec<M3dVertex>,
    /// Offset of the section of vertices, if there is one.
    vertices_start: Option<usize>,
    triangles: triangle::RawTriangles,
    triangles_found: bool,
    offsets: Vec<skeleton::OfBone<skeleton::Matrix>>,
    parents: Vec<skeleton::OfBone<u32>>,
    clips: Vec<clip::RawClip>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Materials,
    Subsets,
    Vertices,
    Triangles,
    BoneOffsets,
    BoneHierarchy,
    AnimationClips,
}

const SECTIONS: &[(&str, Section)] = &[
    ("Materials", Section::Materials),
    ("SubsetTable", Section::Subsets),
    ("Vertices", Section::Vertices),
    ("Triangles", Section::Triangles),
    ("BoneOffsets", Section::BoneOffsets),
    ("BoneHierarchy", Section::BoneHierarchy),
    ("AnimationClips", Section::AnimationClips),
    ("Subsets", Section::Subsets),
];

/// Reads section after section.
fn sections(reader: &mut Reader<'_>, raw: &mut Raw) {
    let mut seen = 0u8;
    let mut header = false;
    while !reader.lexer.at_end() && !reader.report.is_full() {
        let Some(banner) = reader.banner() else {
            let error = "a section line such as `***m3d-File-Header***`";
            reader.unexpected_here(error, "");
            return;
        };
        reader.state.signs.dashes |= banner.dashes;
        let Some(section) = label::find(SECTIONS, banner.name) else {
            if header || seen != 0 {
                if is_header(banner.name) {
                    reader.report.warning(
                        banner.offset,
                        "a second model begins here; only the first is read",
                    );
                    return;
                }
                unknown_section(reader, banner);
                continue;
            }
            header = true;
            reader.state.signs.home_made |= !label::same(banner.name, "m3d-File-Header");
            header::read(reader);
            continue;
        };
        // A second section of a kind would be added to the first.
        let bit = 1 << section as u8;
        if seen & bit != 0 {
            let message = format!(
                "there is a second section {}; it is ignored",
                quote(banner.name)
            );
            reader.report.warning(banner.offset, message);
            reader.skip_section();
            continue;
        }
        seen |= bit;
        match section {
            Section::Materials => material::read(reader, &mut raw.materials),
            Section::Subsets if subset::at_table(reader) => subset::read(reader, &mut raw.subsets),
            Section::Subsets => material::read_bare(reader, &mut raw.materials),
            Section::Vertices => {
                raw.vertices_start = Some(reader.lexer.offset());
                vertex::read(reader, &mut raw.vertices);
            }
            Section::Triangles => {
                raw.triangles_found = true;
                triangle::read(reader, &mut raw.triangles);
            }
            Section::BoneOffsets => skeleton::read_offsets(reader, &mut raw.offsets),
            Section::BoneHierarchy => skeleton::read_parents(reader, &mut raw.parents),
            Section::AnimationClips => clip::read(reader, &mut raw.clips),
        }
    }
}

fn is_header(name: &[u8]) -> bool {
    name.to_ascii_lowercase()
        .windows(6)
        .any(|word| word == b"header")
}

/// Skips a section of unknown name: an error if the name is probably misspelled.
fn unknown_section(reader: &mut Reader<'_>, banner: Banner<'_>) {
    let name = quote(banner.name);
    match label::nearest(banner.name, SECTIONS.iter().map(|&(name, _)| name)) {
        Some(nearest) => {
            let error = reader
                .report
                .error(banner.offset, format!("unknown section {name}"));
            error.hint = format!("did you mean `{nearest}`?");
        }
        None => {
            reader.report.warning(
                banner.offset,
                format!("unknown section {name}; it is ignored"),
            );
        }
    }
    reader.skip_section();
}
