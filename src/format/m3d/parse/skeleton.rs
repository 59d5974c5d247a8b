//! Bones: offset matrices and parents.

use super::{
    label,
    notes::Cause,
    reader::{Reader, item},
    state::Counted,
};
use crate::format::{checked::cycles, m3d::M3dBone};

/// A value for a bone, with the bone's number if the label has one.
pub(super) struct OfBone<T> {
    pub(super) bone: Option<u32>,
    pub(super) offset: usize,
    pub(super) value: T,
}

/// Row-major 4×4.
pub(super) type Matrix = [[f32; 4]; 4];

const OFFSET: &str = "BoneOffset";
const PARENT: &str = "ParentIndexOfBone";

/// Reads lines of `BoneOffset0` and sixteen numbers.
pub(super) fn read_offsets(reader: &mut Reader<'_>, offsets: &mut Vec<OfBone<Matrix>>) {
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let context = item(
            "bone",
            offsets.len(),
            reader.state.header.count(Counted::Bones),
            "BoneOffsets",
        );
        let Some(rest) = label::after(reader.lexer.label(), OFFSET) else {
            reader.lexer.seek(offset);
            reader.unknown_label([OFFSET], "BoneOffsets", context);
            continue;
        };
        match reader.numbers::<16>(16) {
            Ok((m, _)) => {
                let value =
                    std::array::from_fn(|row| std::array::from_fn(|column| m[4 * row + column]));
                offsets.push(OfBone {
                    bone: label::index(rest),
                    offset,
                    value,
                });
            }
            Err(unexpected) => reader.recover(offset, &unexpected, context),
        }
    }
}

/// Reads lines of `ParentIndexOfBone0: -1`. `u32::MAX` is no parent.
pub(super) fn read_parents(reader: &mut Reader<'_>, parents: &mut Vec<OfBone<u32>>) {
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let context = item(
            "bone",
            parents.len(),
            reader.state.header.count(Counted::Bones),
            "BoneHierarchy",
        );
        // One exporter writes the bone's name instead of its number, and a name may hold anything:
        // the parent is the last word on the line.
        let line = reader.lexer.rest_of_line();
        let split = line
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map_or(line.len(), |at| at + 1);
        let (name, _) = line.split_at(split);
        let Some(rest) = label::after(name.trim_ascii(), PARENT) else {
            reader.lexer.seek(offset);
            reader.unknown_label([PARENT], "BoneHierarchy", context);
            continue;
        };
        // Only home-made exporters leave the colon out.
        let rest = rest.strip_suffix(b":").unwrap_or_else(|| {
            reader.state.signs.home_made = true;
            rest
        });
        reader.lexer.seek(offset + split);
        match reader.index() {
            Ok(value) => parents.push(OfBone {
                bone: label::index(rest),
                offset,
                value,
            }),
            Err(unexpected) => reader.recover(offset, &unexpected, context),
        }
    }
}

/// Returns the bones. Cycles are cut open.
pub(super) fn assemble(
    reader: &mut Reader<'_>,
    offsets: Vec<OfBone<Matrix>>,
    parents: Vec<OfBone<u32>>,
) -> Vec<M3dBone> {
    if offsets.len() != parents.len() {
        let place = offsets
            .last()
            .map(|o| o.offset)
            .max(parents.last().map(|p| p.offset))
            .unwrap_or(0);
        let (offsets, parents) = (offsets.len(), parents.len());
        let error = reader.report.error(
            place,
            format!("{offsets} bones have an offset, but {parents} have a parent"),
        );
        error.hint =
            "BoneOffsets and BoneHierarchy must list the same bones; the file may be cut off"
                .into();
        return Vec::new();
    }
    let offsets = in_order(offsets);
    let parents = in_order(parents);
    let count = offsets.len();
    let mut bones = Vec::with_capacity(count);
    for (index, (offset, parent)) in offsets.iter().zip(&parents).enumerate() {
        // A bone can't be its own parent.
        let place = (parent.value as usize) < count && parent.value as usize != index;
        if !place && parent.value != u32::MAX {
            reader.state.notes.add(Cause::Parent, parent.offset, || {
                format!(
                    "a bone's parent is {}, expected another of the file's {count} bones; the bone became a root",
                    parent.value
                )
            });
        }
        bones.push(M3dBone {
            offset: offset.value,
            parent: place.then_some(parent.value),
        });
    }
    // A cycle has no root. Cutting it at one bone makes that bone the root.
    for bone in cycles(&bones.iter().map(|bone| bone.parent).collect::<Vec<_>>()) {
        bones[bone].parent = None;
        reader
            .state
            .notes
            .add(Cause::Cycle, parents[bone].offset, || {
                format!("bone {bone} is its own ancestor; it became a root")
            });
    }
    bones
}

/// Sorts bones by the numbers in their labels if every bone has one of its own.
fn in_order<T>(mut bones: Vec<OfBone<T>>) -> Vec<OfBone<T>> {
    let mut seen = vec![false; bones.len()];
    let numbered = bones.iter().all(|b| {
        let slot = b.bone.and_then(|bone| seen.get_mut(bone as usize));
        slot.is_some_and(|seen| !std::mem::replace(seen, true))
    });
    if numbered {
        bones.sort_by_key(|b| b.bone);
    }
    bones
}
