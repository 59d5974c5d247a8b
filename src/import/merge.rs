//! Parts that a manifest merges, so that they have one entity, one palette, and one draw call.

use super::{
    ImportSettings, Imported, Manifest,
    combine::Combiner,
    control::is_meant,
    influences::{VertexWeights, WeightReader},
    names::{UniqueNames, give_unique_names},
    split::with_palettes,
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{Material, Model, MorphTarget, SkinPart},
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
    let used = used_materials(model);
    let alike = alike_but_for_color(&model.materials);
    // Per group and kind of material, its place in the list: parts of different kinds can't be drawn at once.
    let mut places: HashMap<(usize, usize), usize> = HashMap::new();
    let mut drafts: Vec<Draft> = Vec::new();
    for (part, group) in mem::take(&mut model.parts).into_iter().zip(groups) {
        // Only static models have parts that nothing moves.
        let group = group.filter(|_| !part.influences.is_empty());
        let (Some(group), Some(&kind)) = (group, alike.get(part.material)) else {
            drafts.push(Draft::Kept(part));
            continue;
        };
        let place = *places.entry((group, kind)).or_insert(drafts.len());
        if place == drafts.len() {
            drafts.push(Draft::Merged(Merged::new(names[group], part.material)));
        }
        if let Draft::Merged(merged) = &mut drafts[place] {
            merged.append(part);
        }
    }
    let mut kinds = vec![0; names.len()];
    places.keys().for_each(|&(group, _)| kinds[group] += 1);
    for (&(group, _), &place) in places.iter().filter(|((group, _), _)| kinds[*group] > 1) {
        if let Draft::Merged(Merged { part, .. }) = &mut drafts[place] {
            part.name = format!("{}.{}", names[group], model.materials[part.material].name);
        }
    }
    let mut combiner = Combiner::new(settings);
    let mut material_names = UniqueNames::default();
    for material in &model.materials {
        material_names.add(material.name.clone());
    }
    for draft in drafts {
        match draft {
            Draft::Kept(part) => model.parts.push(part),
            Draft::Merged(mut merged) => {
                merged.move_colors_to_vertices(&mut model.materials, &mut material_names);
                let Merged { part, weights, .. } = merged;
                model
                    .parts
                    .append(&mut with_palettes(part, &weights, &mut combiner));
            }
        }
    }
    drop_materials(model, &used);
    give_unique_names(&mut model.parts);
    imported.report.count_combined_joints(&model.parts);
    imported.warnings.extend(combiner.warning(file));
}

/// Returns for each material the first one that differs from it in nothing but name and color.
pub fn alike_but_for_color(materials: &[Material]) -> Vec<usize> {
    let mut firsts: HashMap<String, usize> = HashMap::new();
    let first_of = |(index, material): (usize, &Material)| {
        let rest = Material {
            name: String::new(),
            base_color: [1.0; 4],
            ..material.clone()
        };
        // Numbers can't be hashed, and a file may have too many materials to compare each with each.
        *firsts.entry(format!("{rest:?}")).or_insert(index)
    };
    materials.iter().enumerate().map(first_of).collect()
}

fn used_materials(model: &Model) -> HashSet<usize> {
    model.parts.iter().map(|part| part.material).collect()
}

/// Drops the materials that were `used` by a part and no longer are.
fn drop_materials(model: &mut Model, used: &HashSet<usize>) {
    let now = used_materials(model);
    let mut kept = 0;
    let mut places = Vec::with_capacity(model.materials.len());
    model.materials.retain(|_| {
        let index = places.len();
        let keeps = now.contains(&index) || !used.contains(&index);
        places.push(kept);
        kept += usize::from(keeps);
        keeps
    });
    for part in &mut model.parts {
        // Parts may name a material that doesn't exist.
        part.material = places.get(part.material).copied().unwrap_or(kept);
    }
}

/// Returns for each part the group that it is merged into, as an index into [`Manifest::merge`]: the first that lists it. Warns of
/// entries that list no part.
fn groups(file: &str, manifest: &Manifest, imported: &mut Imported) -> Vec<Option<usize>> {
    let parts = &imported.model.parts;
    let mut groups = vec![None; parts.len()];
    for (at, (name, entries)) in manifest.merge.iter().enumerate() {
        for entry in entries {
            let mut is_known = false;
            for (part, group) in parts.iter().zip(&mut groups) {
                if is_meant(entry, &part.name) {
                    is_known = true;
                    group.get_or_insert(at);
                }
            }
            // Finding the place of each takes time, and a hostile manifest has many.
            if !is_known && imported.warnings.len() < FormatError::MAX_WARNINGS {
                let message = format!("`merge`: the model has no part `{entry}`");
                let near = nearest(entry, parts.iter().map(|part| &*part.name));
                let warning = Diagnostic::warning(file, message);
                let warning = match near {
                    Some(near) => warning.with_hint(format!("did you mean `{near}`?")),
                    None => warning.with_hint("`marionette inspect` lists the parts of a model"),
                };
                imported
                    .warnings
                    .push(manifest.place(&["merge", name, entry], warning));
            }
        }
    }
    groups
}

/// A part of the new list.
enum Draft {
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

    /// If the parts have several colors, gives these to their vertices, and the part a white material.
    fn move_colors_to_vertices(&mut self, materials: &mut Vec<Material>, names: &mut UniqueNames) {
        let first = materials[self.part.material].clone();
        let of = |material: usize| materials[material].base_color;
        if self
            .materials
            .iter()
            .all(|(material, _)| of(*material) == first.base_color)
        {
            return;
        }
        let colors = &mut self.part.colors;
        colors.resize(self.part.positions.len(), Vec4::ONE);
        for (material, vertices) in &self.materials {
            let color = Vec4::from(of(*material));
            colors[vertices.clone()]
                .iter_mut()
                .for_each(|vertex| *vertex *= color);
        }
        self.part.material = materials.len();
        materials.push(Material {
            name: names.add(self.part.name.clone()),
            base_color: [1.0; 4],
            ..first
        });
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
