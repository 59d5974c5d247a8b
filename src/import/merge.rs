//! Parts that a manifest merges, so that they have one entity, one palette, and one draw call.

mod materials;

pub use materials::alike_but_for_color;

use super::{
    ImportSettings, Imported, Manifest,
    combine::Combiner,
    control::is_meant,
    influences::{VertexWeights, WeightReader},
    names::UniqueNames,
    split::with_palettes,
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{MorphTarget, SkinPart},
    spelling::nearest,
};
use glam::{Vec2, Vec3, Vec4};
use std::{
    collections::{HashMap, HashSet},
    mem,
    ops::Range,
};

/// Merges the parts that [`Manifest::merge`] lists. `file` is the manifest's name.
pub(super) fn merge_parts(
    file: &str,
    manifest: &Manifest,
    settings: &ImportSettings,
    imported: &mut Imported,
) {
    if manifest.merge.is_empty() {
        return;
    }
    let groups = groups(file, manifest, imported);
    let model = &mut imported.model;
    let names: Vec<&String> = manifest.merge.keys().collect();
    let used = materials::used(model);
    let alike = alike_but_for_color(&model.materials);
    // Per group and kind of material, its place in the list: parts of different kinds can't be drawn at once.
    let mut places: HashMap<(usize, usize), usize> = HashMap::new();
    let mut drafts: Vec<ListedPart> = Vec::new();
    for (part, group) in mem::take(&mut model.parts).into_iter().zip(groups) {
        let (Some(group), Some(&kind)) = (group, alike.get(part.material)) else {
            drafts.push(ListedPart::Kept(part));
            continue;
        };
        let place = *places.entry((group, kind)).or_insert(drafts.len());
        if place == drafts.len() {
            drafts.push(ListedPart::Merged(Merged::new(names[group], part.material)));
        }
        if let ListedPart::Merged(merged) = &mut drafts[place] {
            merged.append(part);
        }
    }
    let mut kinds = vec![0; names.len()];
    places.keys().for_each(|&(group, _)| kinds[group] += 1);
    for (&(group, _), &place) in places.iter().filter(|((group, _), _)| kinds[*group] > 1) {
        if let ListedPart::Merged(Merged { part, .. }) = &mut drafts[place] {
            part.name = format!("{}.{}", names[group], model.materials[part.material].name);
        }
    }
    // A game knows the parts that are kept by their names, so merged ones get others.
    let mut part_names = UniqueNames::without(drafts.iter().filter_map(|draft| match draft {
        ListedPart::Kept(part) => Some(&part.name),
        ListedPart::Merged(_) => None,
    }));
    let materials = model.materials.iter();
    let mut material_names = UniqueNames::without(materials.map(|material| &material.name));
    let mut combiner = Combiner::new(settings);
    for draft in drafts {
        match draft {
            ListedPart::Kept(part) => model.parts.push(part),
            ListedPart::Merged(Merged {
                mut part,
                materials: of,
                weights,
                reader: _,
            }) => {
                part.material = materials::with_colors_at_vertices(
                    &part.name,
                    &of,
                    &mut part.colors,
                    &mut model.materials,
                    &mut material_names,
                );
                for mut part in with_palettes(part, &weights, &mut combiner) {
                    part.name = part_names.add(part.name);
                    model.parts.push(part);
                }
            }
        }
    }
    materials::drop_unused(model, &used);
    imported.report.count_combined_joints(&model.parts);
    imported.warnings.extend(combiner.warning(file));
}

/// Returns for each part the group that it is merged into, as an index into [`Manifest::merge`]: the first that lists it. Warns of
/// entries that list no part, and of groups that get none.
fn groups(file: &str, manifest: &Manifest, imported: &mut Imported) -> Vec<Option<usize>> {
    let parts = &imported.model.parts;
    let names: HashSet<&str> = parts.iter().map(|part| &*part.name).collect();
    let is_static = parts.iter().all(|part| part.influences.is_empty());
    let mut groups = vec![None; parts.len()];
    for (at, (name, entries)) in manifest.merge.iter().enumerate() {
        let (mut found, mut taken) = (0, 0);
        for entry in entries {
            let mut is_known = false;
            for (part, group) in parts.iter().zip(&mut groups) {
                // A name with a `*` in it means its own part, or there would be no way to list only that.
                let is_meant = if names.contains(&**entry) {
                    *entry == part.name
                } else {
                    is_meant(entry, &part.name)
                };
                // Only static models have parts that nothing moves.
                if is_meant && !part.influences.is_empty() {
                    is_known = true;
                    found += 1;
                    taken += usize::from(*group.get_or_insert(at) != at);
                }
            }
            // Finding the place of each takes time, and a hostile manifest has many.
            if !is_known && imported.warnings.len() < FormatError::MAX_WARNINGS {
                let warning = if is_static {
                    let message = "`merge`: the model is static, and its parts stay apart";
                    Diagnostic::warning(file, message).with_hint("leave out `merge`")
                } else {
                    let message = format!("`merge`: the model has no part `{entry}`");
                    let warning = Diagnostic::warning(file, message);
                    match nearest(entry, parts.iter().map(|part| &*part.name)) {
                        Some(near) => warning.with_hint(format!("did you mean `{near}`?")),
                        None => {
                            warning.with_hint("`marionette inspect` lists the parts of a model")
                        }
                    }
                };
                manifest.warn(&mut imported.warnings, &["merge", name, entry], warning);
            }
        }
        if found > 0 && found == taken && imported.warnings.len() < FormatError::MAX_WARNINGS {
            let message = format!("`merge`: `{name}` gets no part: others have all that it lists");
            let warning = Diagnostic::warning(file, message).with_hint(
                "of several entries that list a part, the first in the alphabet gets it",
            );
            manifest.warn(&mut imported.warnings, &["merge", name], warning);
        }
    }
    groups
}

/// A part of the new list.
enum ListedPart {
    Kept(SkinPart),
    Merged(Merged),
}

/// Parts with materials that are alike but for their colors, one after the other.
struct Merged {
    /// Without a palette, which is made once all of its joints are known. Its material is that of the first.
    part: SkinPart,
    /// The material of each, and its vertices.
    materials: Vec<(usize, Range<usize>)>,
    weights: VertexWeights,
    reader: WeightReader,
}

impl Merged {
    fn new(name: &str, material: usize) -> Self {
        let part = SkinPart {
            name: name.into(),
            material,
            ..SkinPart::default()
        };
        Self {
            part,
            materials: Vec::new(),
            weights: VertexWeights::default(),
            reader: WeightReader::default(),
        }
    }

    fn append(&mut self, other: SkinPart) {
        let SkinPart {
            name: _,
            material,
            positions,
            normals,
            tangents,
            tex_coords,
            second_tex_coords,
            colors,
            influences,
            triangles,
            palette,
            combined_joints,
            morphs,
            source_vertices,
        } = other;
        for influences in influences {
            let joints = combined_joints.resolve(palette.len(), influences);
            let joints = joints.map(|(slot, weight)| (palette[slot], weight));
            self.reader.push(&mut self.weights, joints);
        }
        let part = &mut self.part;
        let (before, added) = (part.positions.len(), positions.len());
        // Parts of one material nearly always have the same lists. White leaves the material's color as it is.
        let both = [before, added];
        self.materials.push((material, before..before + added));
        extend(&mut part.tex_coords, tex_coords, Vec2::ZERO, both);
        extend(
            &mut part.second_tex_coords,
            second_tex_coords,
            Vec2::ZERO,
            both,
        );
        extend(&mut part.colors, colors, Vec4::ONE, both);
        part.positions.extend(positions);
        part.normals.extend(normals);
        part.tangents.extend(tangents);
        part.source_vertices.extend(source_vertices);
        let first = before as u32;
        part.triangles.extend(
            triangles
                .iter()
                .map(|triangle| triangle.map(|vertex| first + vertex)),
        );
        for morph in morphs {
            append_morph(&mut part.morphs, morph, first);
        }
    }
}

/// Appends a list of `added` values to one of `before`. If only one of them has values, the other gets `default` for each.
fn extend<T: Copy>(list: &mut Vec<T>, more: Vec<T>, default: T, [before, added]: [usize; 2]) {
    if list.is_empty() && more.is_empty() {
        return;
    }
    list.resize(before, default);
    list.extend(more);
    list.resize(before + added, default);
}

/// Adds a target for vertices that begin at `first`, which come after all of those in `morphs`.
fn append_morph(morphs: &mut Vec<MorphTarget>, more: MorphTarget, first: u32) {
    let MorphTarget {
        morph,
        vertices,
        positions,
        normals,
        tangents,
    } = more;
    let vertices = vertices.iter().map(|vertex| first + vertex);
    let at = match morphs.binary_search_by_key(&morph, |target| target.morph) {
        Ok(at) => at,
        Err(at) => {
            morphs.insert(at, MorphTarget::new(morph, []));
            at
        }
    };
    let target = &mut morphs[at];
    let both = [target.vertices.len(), positions.len()];
    extend(&mut target.positions, positions, Vec3::ZERO, both);
    extend(&mut target.normals, normals, Vec3::ZERO, both);
    extend(&mut target.tangents, tangents, Vec3::ZERO, both);
    target.vertices.extend(vertices);
}
