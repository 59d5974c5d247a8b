//! Meshes with any number of weights per vertex → parts that can be drawn.

use super::repairs::{Oddity, Repairs};
#[cfg(any(feature = "fbx", feature = "gltf"))]
use crate::import::{nodes::bind::cofactors, winding};
use crate::{
    format::FormatError,
    import::{
        ImportReport, ImportSettings,
        axes::Basis,
        combine::Combiner,
        influences::{VertexWeights, WeightReader},
        names::{UniqueNames, give_unique_names},
        normals::repair_normals,
        report::Report,
        split::with_palettes,
        tangents::complete_tangents,
    },
    model::{Material, SkinPart},
};
use glam::Vec2;
#[cfg(any(feature = "fbx", feature = "gltf"))]
use glam::{DAffine3, Vec4};

/// Makes the parts of a file, in the order of its meshes.
#[cfg_attr(not(any(feature = "fbx", feature = "gltf")), allow(dead_code))]
pub(in crate::import) struct Parts<'a> {
    settings: &'a ImportSettings,
    /// `true` if the file's axes are mirrored to Bevy's.
    is_mirrored: bool,
    pub(in crate::import) materials: Vec<Material>,
    material_names: UniqueNames,
    /// The material of what has none, once it is needed.
    default_material: Option<usize>,
    pub(in crate::import) figures: ImportReport,
    pub(in crate::import) reader: WeightReader,
    pub(in crate::import) repairs: Repairs,
    combiner: Combiner,
    list: Vec<SkinPart>,
    missing_tangents: usize,
    /// Vertices that morph targets move.
    moves: usize,
}

/// The parts of a file, with names that are unique, and the materials that they refer to.
pub(in crate::import) struct Finished {
    pub(in crate::import) parts: Vec<SkinPart>,
    pub(in crate::import) materials: Vec<Material>,
    pub(in crate::import) figures: ImportReport,
}

impl<'a> Parts<'a> {
    pub(in crate::import) fn new(
        settings: &'a ImportSettings,
        basis: &Basis,
        materials: Vec<Material>,
        figures: ImportReport,
    ) -> Self {
        Self {
            settings,
            is_mirrored: basis.mirrors(),
            material_names: UniqueNames::without(materials.iter().map(|material| &material.name)),
            materials,
            default_material: None,
            figures,
            reader: WeightReader::default(),
            repairs: Repairs::default(),
            combiner: Combiner::new(settings),
            list: Vec::new(),
            missing_tangents: 0,
            moves: 0,
        }
    }

    /// Counts a mesh of the file, whether or not its vertices and triangles are used. Returns the number of its first vertex.
    pub(in crate::import) fn admit(
        &mut self,
        file: &str,
        vertices: usize,
        triangles: usize,
    ) -> Result<u32, FormatError> {
        let first = self.figures.vertices as u32;
        self.figures.vertices += vertices;
        self.figures.triangles += triangles;
        let ImportReport {
            vertices,
            triangles,
            ..
        } = self.figures;
        self.settings.limits.check_mesh(file, vertices, triangles)?;
        Ok(first)
    }

    /// Counts vertices that a morph target moves.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn admit_moves(
        &mut self,
        file: &str,
        vertices: usize,
    ) -> Result<(), FormatError> {
        self.moves += vertices;
        self.settings.limits.check_morph_vertices(file, self.moves)
    }

    /// Returns the material of what has none.
    pub(in crate::import) fn default_material(&mut self) -> usize {
        if let Some(known) = self.default_material {
            return known;
        }
        let added = self.add_material(default_material());
        self.default_material = Some(added);
        added
    }

    /// Adds a material, with a number if another one has its name.
    pub(in crate::import) fn add_material(&mut self, mut material: Material) -> usize {
        material.name = self.material_names.add(material.name);
        self.materials.push(material);
        self.materials.len() - 1
    }

    /// Moves a part from the space of its mesh, in Bevy's axes, to that in which the skin is stored.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn place(&mut self, part: &mut SkinPart, to_skin: &DAffine3) {
        for (position, &vertex) in part.positions.iter_mut().zip(&part.source_vertices) {
            // In double precision: far from the origin, a product in single precision would round the skin.
            let placed = to_skin.transform_point3(position.as_dvec3()).as_vec3();
            *position = self.repairs.position(placed, vertex);
        }
        let matrix = &to_skin.matrix3;
        // Two mirrors cancel each other out.
        let turns_over = (matrix.determinant() < 0.0) != self.is_mirrored;
        if turns_over {
            winding::turn_over(&mut part.triangles);
        }
        let turned = cofactors(matrix);
        for normal in &mut part.normals {
            *normal = (turned * normal.as_dvec3()).normalize_or_zero().as_vec3();
        }
        self.repair_normals(part);
        // A mirroring turns bitangents around, which are stored as a sign.
        let sign = if turns_over { -1.0 } else { 1.0 };
        for tangent in &mut part.tangents {
            let along = *matrix * tangent.truncate().as_dvec3();
            let along = along.normalize_or_zero().as_vec3();
            *tangent = along.extend(tangent.w * sign);
        }
    }

    /// Normalizes a part's normals, if it has any, and computes those that can't be used.
    pub(in crate::import) fn repair_normals(&mut self, part: &mut SkinPart) {
        let (missing, long) = repair_normals(&part.positions, &part.triangles, &mut part.normals);
        let missing = missing.iter().map(|&vertex| part.source_vertices[vertex]);
        self.repairs.vertices(Oddity::NoNormal, missing);
        self.repairs.count(Oddity::LongNormal, long);
    }

    /// Gives a part its palette. Returns several pieces if one palette has no room for its joints.
    pub(in crate::import) fn split(
        &mut self,
        part: SkinPart,
        weights: &VertexWeights,
    ) -> Vec<SkinPart> {
        with_palettes(part, weights, &mut self.combiner)
    }

    /// Adds a piece, or a part that no joint moves. Its positions, normals, and triangles must be final, because tangents are
    /// computed from them.
    pub(in crate::import) fn add(&mut self, mut piece: SkinPart) {
        self.missing_tangents += complete_tangents(&mut piece);
        self.list.push(piece);
    }

    /// Takes note of tangents that were missing, in a format whose meshes should have them.
    pub(in crate::import) fn note_missing_tangents(&mut self) {
        let missing = self.missing_tangents;
        self.repairs.count(Oddity::NoTangent, missing);
    }

    /// Returns the parts that were added, and warns of everything that was repaired.
    pub(in crate::import) fn finish(mut self, report: &mut Report) -> Finished {
        self.reader.add_to(&mut self.figures);
        report.extend(self.reader.warning(report.file, "skin"));
        if self.settings.flip_v {
            // Last, because tangents follow the texture as the file has it.
            flip_tex_coords(&mut self.list);
        }
        give_unique_names(&mut self.list);
        self.combiner.add_to(&mut self.figures);
        report.extend(self.combiner.warning(report.file));
        self.repairs.tell(&self.figures, report);
        Finished {
            parts: self.list,
            materials: self.materials,
            figures: self.figures,
        }
    }
}

/// Returns a material of which the file says nothing: rough, because files that care about gloss say so.
pub(in crate::import) fn default_material() -> Material {
    Material {
        name: "default".into(),
        roughness: 1.0,
        ..Material::default()
    }
}

/// Returns texture coordinates, or zeros if they are not finite.
pub(in crate::import) fn sound_tex_coord(tex_coord: Vec2) -> Vec2 {
    if tex_coord.is_finite() {
        tex_coord
    } else {
        Vec2::ZERO
    }
}

/// Returns a color within 0 to 1, or white if it is not finite.
#[cfg(any(feature = "fbx", feature = "gltf"))]
pub(in crate::import) fn sound_color(color: Vec4) -> Vec4 {
    if color.is_finite() {
        color.clamp(Vec4::ZERO, Vec4::ONE)
    } else {
        Vec4::ONE
    }
}

/// Flips texture coordinates vertically. Bitangents keep pointing along V.
fn flip_tex_coords(parts: &mut [SkinPart]) {
    for part in parts {
        let all = part
            .tex_coords
            .iter_mut()
            .chain(&mut part.second_tex_coords);
        all.for_each(|tex_coord| tex_coord.y = 1.0 - tex_coord.y);
        part.tangents
            .iter_mut()
            .for_each(|tangent| tangent.w = -tangent.w);
    }
}
