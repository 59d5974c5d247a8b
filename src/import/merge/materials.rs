//! Materials of parts that are merged.

use crate::import::names::UniqueNames;
use crate::model::{Material, Model};
use glam::Vec4;
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

/// Returns for each material the first one that parts can be merged with: it differs in nothing but name and color.
pub fn alike_but_for_color(materials: &[Material]) -> Vec<usize> {
    let mut firsts: HashMap<String, usize> = HashMap::new();
    let first_of = |(index, material): (usize, &Material)| {
        let [r, g, b, alpha] = material.base_color;
        let is_color = |number: f32| (0.0..=1.0).contains(&number);
        let base_color = if ![r, g, b].into_iter().all(is_color) {
            // Files have no such colors at vertices.
            material.base_color
        } else if material.alpha_blend || material.alpha_cutoff.is_some() {
            // Bevy's shadows ask the material for its alpha, and not the vertices.
            [1.0, 1.0, 1.0, alpha]
        } else {
            [1.0; 4]
        };
        let rest = Material {
            name: String::new(),
            base_color,
            ..material.clone()
        };
        // Numbers can't be hashed, and a file may have too many materials to compare each with each.
        *firsts.entry(format!("{rest:?}")).or_insert(index)
    };
    materials.iter().enumerate().map(first_of).collect()
}

/// Returns the material of a merged part called `name`, given the materials of its vertices, which are alike. If they have several
/// colors, multiplies `colors` by these, and adds a white material.
pub(super) fn with_colors_at_vertices(
    name: &str,
    of: &[(usize, Range<usize>)],
    colors: &mut Vec<Vec4>,
    materials: &mut Vec<Material>,
    names: &mut UniqueNames,
) -> usize {
    let [(first, _), others @ ..] = of else {
        return 0;
    };
    let color = |material: usize| Vec4::from(materials[material].base_color).with_w(1.0);
    // As bits, because what isn't a number is alike as well.
    let bits = |material: usize| color(material).to_array().map(f32::to_bits);
    if others.iter().all(|(other, _)| bits(*other) == bits(*first)) {
        return *first;
    }
    let count = of.iter().map(|(_, vertices)| vertices.len()).sum();
    colors.resize(count, Vec4::ONE);
    for (material, vertices) in of {
        let color = color(*material);
        for vertex in &mut colors[vertices.clone()] {
            *vertex *= color;
        }
    }
    let first = materials[*first].clone();
    let [.., alpha] = first.base_color;
    materials.push(Material {
        name: names.add(name.to_owned()),
        base_color: [1.0, 1.0, 1.0, alpha],
        ..first
    });
    materials.len() - 1
}

/// Returns the materials that parts have.
pub(super) fn used(model: &Model) -> HashSet<usize> {
    model.parts.iter().map(|part| part.material).collect()
}

/// Drops the materials that a part had `before` and none has anymore.
pub(super) fn drop_unused(model: &mut Model, before: &HashSet<usize>) {
    let now = used(model);
    let mut kept = 0;
    let mut places = Vec::with_capacity(model.materials.len());
    model.materials.retain(|_| {
        let index = places.len();
        let keeps = now.contains(&index) || !before.contains(&index);
        places.push(kept);
        kept += usize::from(keeps);
        keeps
    });
    for part in &mut model.parts {
        // Parts may name a material that doesn't exist.
        part.material = places.get(part.material).copied().unwrap_or(kept);
    }
}
