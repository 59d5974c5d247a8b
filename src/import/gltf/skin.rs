//! Mesh primitives → parts.

use super::{
    accessors::{Accessor, Accessors},
    document::CHECK,
    draft::Draft,
    json::{Index, Mode, Primitive, Semantic, Type},
    materials::{FileMaterial, TexCoords},
    morphs::FileMorphs,
    repairs::Repairs,
    targets::{Base, Targets},
};
use crate::{
    format::FormatError,
    import::{
        ImportReport, ImportSettings, Limits,
        axes::Basis,
        finish::Finisher,
        influences::{VertexWeights, WeightReader},
        morph_normals::{flat_work, shade_flat},
        nodes::{
            Rig,
            bind::{Binder, Binding, box_corners, cofactors},
        },
        normals::repair_normals,
        report::Report,
        winding,
    },
    model::{Material, SkinPart, is_near},
    plural::{counted, there_are},
};
use glam::{Affine3A, DAffine3, DVec3, Mat4, Vec2, Vec3, Vec4};
use std::{collections::HashMap, mem};

/// Imports the parts of a file.
pub(super) struct Importer<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) settings: &'a ImportSettings,
    pub(super) limits: &'a Limits,
    /// The contents of the file about each material that the model has no place for.
    pub(super) materials: &'a [FileMaterial],
    pub(super) morphs: &'a FileMorphs,
}

impl Importer<'_> {
    /// Returns the parts in the order of their nodes, having bound their skins. Adds a material if one is missing.
    pub(super) fn run(
        &self,
        binder: &mut Binder,
        materials: &mut Vec<Material>,
        report: &mut Report,
        figures: &mut ImportReport,
    ) -> Result<Vec<SkinPart>, FormatError> {
        let mut repairs = Repairs::default();
        let mut drafts = Vec::new();
        for &node in &self.rig.meshes {
            self.draft(node, &mut drafts, &mut repairs, report, figures)?;
        }
        let bindings = self.bind(&drafts, binder, report)?;
        let (given, mut default) = (materials.len(), None);
        let mut reader = WeightReader::default();
        let mut finisher = Finisher::new(self.settings);
        for draft in drafts {
            let binding = match self.accessors.root.nodes[draft.node].skin {
                Some(skin) => bindings[&skin.value()].clone(),
                None => match self.rig.of_node[draft.node] {
                    Some(joint) => binder.rigid(joint, &corners([&draft])),
                    // Nodes of rigid meshes are joints.
                    None => continue,
                },
            };
            let influences = self.influences(&draft, &binding, &mut reader, report)?;
            // Without normals, glTF asks for flat shading.
            let is_flat =
                attribute(draft.primitive(self.accessors.root), Semantic::Normals).is_none();
            if is_flat {
                repairs.without_normals.push(draft.place.clone());
            }
            let mut part = self.part(draft, &binding, &mut repairs, report)?;
            if part.material >= given {
                part.material = *default.get_or_insert_with(|| {
                    materials.push(Material {
                        name: "default".into(),
                        roughness: 1.0,
                        ..Material::default()
                    });
                    given
                });
            }
            for mut piece in finisher.split(part, &influences) {
                if is_flat {
                    self.accessors.charge(report, "meshes", flat_work(&piece))?;
                    shade_flat(&mut piece);
                }
                finisher.add(piece);
            }
        }
        reader.add_to(figures);
        report.extend(reader.warning(report.file, "skin"));
        let finished = finisher.finish(report.file, figures);
        report.extend(finished.warning);
        repairs.tell(report, figures.vertices);
        Ok(finished.parts)
    }

    /// Reads the shapes of a node's mesh.
    fn draft(
        &self,
        node: usize,
        drafts: &mut Vec<Draft>,
        repairs: &mut Repairs,
        report: &Report,
        figures: &mut ImportReport,
    ) -> Result<(), FormatError> {
        let root = self.accessors.root;
        let Some(mesh_index) = root.nodes[node].mesh.map(|mesh| mesh.value()) else {
            return Ok(());
        };
        let Some(mesh) = root.meshes.get(mesh_index) else {
            let message = format!(
                "mesh {mesh_index} is out of range: {}",
                there_are(root.meshes.len(), "mesh")
            );
            return Err(report.error(&format!("nodes[{node}].mesh"), message, CHECK));
        };
        let given = |name: &Option<String>| name.clone().filter(|name| !name.trim().is_empty());
        let name = given(&root.nodes[node].name)
            .or_else(|| given(&mesh.name))
            .unwrap_or_else(|| format!("mesh{mesh_index}"));
        for (at, primitive) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{mesh_index}].primitives[{at}]");
            let Some(positions) = attribute(primitive, Semantic::Positions) else {
                repairs.unread[0].push(place);
                continue;
            };
            let positions = self.accessors.open_of(
                report,
                &format!("{place}.attributes.POSITION"),
                (primitive, Some(Semantic::Positions)),
                positions.value(),
                &[Type::Vec3],
            )?;
            let Some(corners) = self.corners(primitive, positions.len(), &place, report)? else {
                repairs.unread[1].push(place);
                continue;
            };
            let count = positions.len();
            // Vertices that no triangle uses would enlarge boxes, and cost memory on the GPU.
            let (mut triangles, mut used) = (corners, vec![false; count]);
            // Strips are joined by triangles without an area, which would have no normal.
            triangles.retain(|[a, b, c]| a != b && b != c && c != a);
            triangles
                .as_flattened()
                .iter()
                .for_each(|&vertex| used[vertex as usize] = true);
            let vertices: Vec<u32> = (0..count as u32)
                .filter(|&vertex| used[vertex as usize])
                .collect();
            let mut renumber = vec![0; count];
            vertices
                .iter()
                .enumerate()
                .for_each(|(new, &old)| renumber[old as usize] = new as u32);
            triangles
                .as_flattened_mut()
                .iter_mut()
                .for_each(|vertex| *vertex = renumber[*vertex as usize]);
            // With the vertices that no triangle uses: `source_vertices` refers to those of the
            // file.
            let first_vertex = figures.vertices as u32;
            figures.vertices += count;
            figures.triangles += triangles.len();
            self.limits
                .check_mesh(report.file, figures.vertices, figures.triangles)?;
            if triangles.is_empty() {
                // Its vertices count all the same: `source_vertices` of later primitives go on after them.
                continue;
            }
            let point = |&vertex: &u32| {
                let point = self.basis.point(positions.floats(vertex as usize).into());
                if is_near(point) { Some(point) } else { None }
            };
            let positions: Vec<Vec3> = vertices
                .iter()
                .map(|vertex| {
                    point(vertex).unwrap_or_else(|| {
                        repairs.positions += 1;
                        Vec3::ZERO
                    })
                })
                .collect();
            let material = primitive
                .material
                .and_then(|material| self.materials.get(material.value()));
            let material = material.and_then(|material| material.name.clone());
            // Only their materials tell the primitives of a node apart.
            let name = match material.filter(|_| mesh.primitives.len() > 1) {
                Some(material) => format!("{name}.{material}"),
                None => name.clone(),
            };
            let primitive = (mesh_index, at);
            drafts.push(Draft {
                node,
                place,
                primitive,
                name,
                vertices,
                positions,
                triangles,
                first_vertex,
            });
        }
        Ok(())
    }

    /// The triangles of a primitive of `count` vertices; `None` for points and lines.
    fn corners(
        &self,
        primitive: &Primitive,
        count: usize,
        place: &str,
        report: &Report,
    ) -> Result<Option<Vec<[u32; 3]>>, FormatError> {
        let Some(mode) = primitive.mode else {
            return Err(report.error(
                &format!("{place}.mode"),
                "the primitive's mode is unknown, expected 0 to 6",
                CHECK,
            ));
        };
        if mode == Mode::PointsOrLines {
            return Ok(None);
        }
        let corners: Vec<u32> = match primitive.indices {
            Some(indices) => {
                let place = format!("{place}.indices");
                let indices = self.accessors.open_of(
                    report,
                    &place,
                    (primitive, None),
                    indices.value(),
                    &[Type::Scalar],
                )?;
                let corners: Vec<u32> = (0..indices.len())
                    .map(|at| indices.indices::<1>(at)[0])
                    .collect();
                // Checked once, here, so that everything after this can rely on indices.
                if let Some(vertex) = corners.iter().find(|&&vertex| vertex as usize >= count) {
                    let message = format!(
                        "vertex {vertex} is out of range: {}",
                        there_are(count, "vertex")
                    );
                    return Err(report.error(&place, message, CHECK));
                }
                corners
            }
            None => (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        };
        Ok(Some(match mode {
            Mode::TriangleStrip => {
                // The winding alternates along a strip.
                let strip = corners.windows(3).enumerate();
                strip
                    .map(|(at, c)| {
                        if at % 2 == 0 {
                            [c[0], c[1], c[2]]
                        } else {
                            [c[1], c[0], c[2]]
                        }
                    })
                    .collect()
            }
            Mode::TriangleFan => corners
                .windows(2)
                .skip(1)
                .map(|pair| [corners[0], pair[0], pair[1]])
                .collect(),
            _ => corners.as_chunks().0.to_vec(),
        }))
    }

    /// Binds every skin in use.
    fn bind(
        &self,
        drafts: &[Draft],
        binder: &mut Binder,
        report: &mut Report,
    ) -> Result<HashMap<usize, Binding>, FormatError> {
        let root = self.accessors.root;
        let mut bindings = HashMap::new();
        for draft in drafts {
            let Some(skin) = root.nodes[draft.node].skin.map(|skin| skin.value()) else {
                continue;
            };
            if bindings.contains_key(&skin) {
                continue;
            }
            let contents = &root.skins[skin];
            let joints: Vec<usize> = contents
                .joints
                .iter()
                .filter_map(|node| *self.rig.of_node.get(node.value())?)
                .collect();
            // `Rig` made joints of all of them.
            if joints.is_empty() || joints.len() != contents.joints.len() {
                return Err(report.error(
                    &format!("skins[{skin}]"),
                    "the skin lists no joints",
                    "list its bones in `joints`, or remove `skin` from the node",
                ));
            }
            let inverse_binds = self.inverse_binds(skin, joints.len(), report)?;
            let of_skin = |other: &&Draft| {
                root.nodes[other.node]
                    .skin
                    .is_some_and(|other| other.value() == skin)
            };
            let corners = corners(drafts.iter().filter(of_skin));
            // Without matrices, the skin says nothing of how its joints stood when it was bound.
            if contents.inverse_bind_matrices.is_some() {
                binder.note(&joints, &inverse_binds, Some(draft.node));
            }
            bindings.insert(skin, binder.skin(&joints, &inverse_binds, &corners));
            self.limits.check_joints(report.file, binder.len())?;
        }
        // A file that only holds clips may have kept its skins.
        for (skin, contents) in root
            .skins
            .iter()
            .enumerate()
            .filter(|_| bindings.is_empty())
        {
            let joints: Vec<usize> = contents
                .joints
                .iter()
                .filter_map(|node| *self.rig.of_node.get(node.value())?)
                .collect();
            let is_whole = !joints.is_empty() && joints.len() == contents.joints.len();
            if is_whole && contents.inverse_bind_matrices.is_some() {
                let inverse_binds = self.inverse_binds(skin, joints.len(), report)?;
                binder.note(&joints, &inverse_binds, None);
            }
        }
        Ok(bindings)
    }

    /// Returns a skin's inverse bind matrices in Bevy's axes; the identity for a skin without any.
    fn inverse_binds(
        &self,
        skin: usize,
        joints: usize,
        report: &mut Report,
    ) -> Result<Vec<DAffine3>, FormatError> {
        let Some(index) = self.accessors.root.skins[skin].inverse_bind_matrices else {
            return Ok(vec![DAffine3::IDENTITY; joints]);
        };
        let place = format!("skins[{skin}].inverseBindMatrices");
        let matrices = self
            .accessors
            .open(report, &place, index.value(), &[Type::Mat4])?;
        if matrices.len() < joints {
            let message = format!(
                "{}, expected {joints}: one for each joint",
                there_are(matrices.len(), "inverse bind matrix")
            );
            return Err(report.error(&place, message, CHECK));
        }
        let (mut out, mut unusable) = (Vec::with_capacity(joints), 0);
        for joint in 0..joints {
            let matrix = Mat4::from_cols_array(&matrices.floats(joint));
            let bottom = matrix.row(3);
            let affine = self.basis.affine(Affine3A::from_mat4(matrix));
            let near = |m: &Affine3A| {
                m.to_cols_array_2d()
                    .into_iter()
                    .all(|column| is_near(column.into()))
            };
            // Any other last row would be a projection, which skinning can't do.
            if near(&affine) && (bottom - Vec4::W).abs().max_element() < 1e-4 {
                out.push(affine.as_daffine3());
            } else {
                unusable += 1;
                out.push(DAffine3::IDENTITY);
            }
        }
        if unusable > 0 {
            let message = format!("{unusable} of {joints} inverse bind matrices are not affine");
            report.warn(&place, message, "the identity was used instead");
        }
        Ok(out)
    }

    /// Returns the joints that move each vertex.
    fn influences(
        &self,
        draft: &Draft,
        binding: &Binding,
        reader: &mut WeightReader,
        report: &mut Report,
    ) -> Result<VertexWeights, FormatError> {
        let primitive = draft.primitive(self.accessors.root);
        let mut sets: Vec<[Accessor; 2]> = Vec::new();
        if self.accessors.root.nodes[draft.node].skin.is_some() {
            while let (Some(joints), Some(weights)) = (
                attribute(primitive, Semantic::Joints(sets.len() as u32)),
                attribute(primitive, Semantic::Weights(sets.len() as u32)),
            ) {
                let open = |semantic: Semantic, index: Index| {
                    let place = format!("{}.attributes.{semantic}", draft.place);
                    let of = (primitive, Some(semantic));
                    let types = &[Type::Vec4];
                    let accessor =
                        self.accessors
                            .open_of(report, &place, of, index.value(), types)?;
                    draft.check_length(&accessor, &place, report)?;
                    Ok(accessor)
                };
                let set = sets.len() as u32;
                sets.push([
                    open(Semantic::Joints(set), joints)?,
                    open(Semantic::Weights(set), weights)?.into_shares(),
                ]);
                let vertex = format!("a vertex of {}", draft.place);
                self.limits
                    .check_influences(report.file, sets.len() as u32 * 4, &vertex)?;
            }
            if sets.is_empty() {
                let message = "the mesh has a skin, but its vertices have no joints";
                report.warn(&draft.place, message, "they follow the skin's first joint");
            }
        }
        let mut all = VertexWeights::default();
        if sets.is_empty() {
            let joint = binding.joints.first().copied().unwrap_or_default();
            draft
                .vertices
                .iter()
                .for_each(|_| reader.push(&mut all, [(joint, 1.0)]));
            return Ok(all);
        }
        let (mut pairs, mut outside) = (Vec::new(), None);
        for &vertex in &draft.vertices {
            pairs.clear();
            for [joints, weights] in &sets {
                let joints: [u32; 4] = joints.indices(vertex as usize);
                let weights: [f32; 4] = weights.floats(vertex as usize);
                for (joint, weight) in joints.into_iter().zip(weights) {
                    match binding.joints.get(joint as usize) {
                        Some(&joint) => pairs.push((joint, weight)),
                        // Unused slots may hold anything.
                        None if weight == 0.0 => {}
                        None => outside = outside.or(Some((vertex, joint))),
                    }
                }
            }
            reader.push(&mut all, pairs.iter().copied());
        }
        match outside {
            Some((vertex, joint)) => {
                let message = format!(
                    "vertex {vertex}: joint {joint} is out of range: the skin has {}",
                    counted(binding.joints.len(), "joint")
                );
                Err(report.error(&draft.place, message, CHECK))
            }
            None => Ok(all),
        }
    }

    /// Returns a part in the space in which the skin is stored, without its influences.
    fn part(
        &self,
        mut draft: Draft,
        binding: &Binding,
        repairs: &mut Repairs,
        report: &Report,
    ) -> Result<SkinPart, FormatError> {
        let primitive = draft.primitive(self.accessors.root);
        let read = |semantic: Semantic, types: &[Type]| {
            let Some(index) = attribute(primitive, semantic) else {
                return Ok(None);
            };
            let place = format!("{}.attributes.{}", draft.place, semantic);
            let of = (primitive, Some(semantic));
            let accessor = self
                .accessors
                .open_of(report, &place, of, index.value(), types)?;
            draft.check_length(&accessor, &place, report)?;
            Ok(Some(accessor))
        };
        let material = primitive
            .material
            .map_or(usize::MAX, |material| material.value());
        let sources = self
            .materials
            .get(material)
            .map_or([None; 2], |material| material.tex_coords);
        let [first, second] = [Some(sources[0].unwrap_or_default()), sources[1]];
        let normals = read(Semantic::Normals, &[Type::Vec3])?;
        // Without normals, tangents must be ignored: they belong to other normals than those that
        // are computed.
        let tangents = if normals.is_some() {
            read(Semantic::Tangents, &[Type::Vec4])?
        } else {
            None
        };
        let tex_coords = |source: Option<TexCoords>| {
            let Some(TexCoords { set, transform }) = source else {
                return Ok(Vec::new());
            };
            let accessor = read(Semantic::TexCoords(set), &[Type::Vec2])?;
            let transformed = |tex_coord: Vec2| {
                let tex_coord = transform.apply(tex_coord);
                if tex_coord.is_finite() {
                    tex_coord
                } else {
                    Vec2::ZERO
                }
            };
            let vertices = draft.vertices.iter();
            Ok(match accessor {
                Some(accessor) => vertices
                    .map(|&vertex| transformed(accessor.floats(vertex as usize).into()))
                    .collect(),
                None => vec![transformed(Vec2::ZERO); vertices.len()],
            })
        };
        let (first, second) = (tex_coords(first)?, tex_coords(second)?);
        let colors = read(Semantic::Colors(0), &[Type::Vec3, Type::Vec4])?;

        let Binding { to_skin, .. } = binding;
        let mirrors = to_skin.matrix3.determinant() < 0.0;
        let turned = cofactors(&to_skin.matrix3);
        let vertices: Vec<usize> = draft.vertices.iter().map(|v| *v as usize).collect();
        let vertices = || vertices.iter().copied();
        let mut part = SkinPart {
            name: mem::take(&mut draft.name),
            material,
            triangles: mem::take(&mut draft.triangles),
            ..SkinPart::default()
        };
        part.positions.reserve_exact(draft.positions.len());
        for position in mem::take(&mut draft.positions) {
            // In double precision: far from the origin, a product in single precision would round the
            // skin.
            let position = to_skin.transform_point3(position.as_dvec3()).as_vec3();
            repairs.positions += usize::from(!is_near(position));
            part.positions.push(if is_near(position) {
                position
            } else {
                Vec3::ZERO
            });
        }
        // Two mirrors cancel each other out.
        if mirrors != self.basis.mirrors() {
            winding::turn_over(&mut part.triangles);
        }
        match &normals {
            Some(normals) => {
                let of_vertex = |vertex| {
                    let normal = self.basis.direction(normals.floats(vertex).into());
                    (turned * normal.as_dvec3()).normalize_or_zero().as_vec3()
                };
                part.normals = vertices().map(of_vertex).collect();
                repairs.missing_normals +=
                    repair_normals(&part.positions, &part.triangles, &mut part.normals).0;
            }
            // Computed when the part is complete.
            None => part.normals = vec![Vec3::Y; draft.vertices.len()],
        }
        if let Some(tangents) = &tangents {
            // A mirroring turns bitangents around, which glTF stores as a sign.
            let sign = if mirrors != self.basis.mirrors() {
                -1.0
            } else {
                1.0
            };
            let of_vertex = |vertex| {
                let [x, y, z, w] = tangents.floats(vertex);
                let along = self.basis.direction(Vec3::new(x, y, z)).as_dvec3();
                (to_skin.matrix3 * along)
                    .normalize_or_zero()
                    .as_vec3()
                    .extend(w * sign)
            };
            part.tangents = vertices().map(of_vertex).collect();
        }
        (part.tex_coords, part.second_tex_coords) = (first, second);
        if let Some(colors) = &colors {
            let of_vertex = |vertex| {
                let color = Vec4::from(colors.floats::<4>(vertex));
                // Colors without alpha are opaque.
                let color = if colors.width() == 3 {
                    color.with_w(1.0)
                } else {
                    color
                };
                if color.is_finite() {
                    color.clamp(Vec4::ZERO, Vec4::ONE)
                } else {
                    Vec4::ONE
                }
            };
            part.colors = vertices().map(of_vertex).collect();
        }
        part.source_vertices = draft
            .vertices
            .iter()
            .map(|vertex| draft.first_vertex + vertex)
            .collect();
        let base = Base {
            normals: normals.as_ref(),
            tangents: tangents.as_ref(),
        };
        let targets = Targets {
            accessors: self.accessors,
            basis: self.basis,
            limits: self.limits,
            morphs: self.morphs,
        };
        targets.read(&draft, binding, &base, &mut part, repairs, report)?;
        Ok(part)
    }
}

/// The corners of the box around the vertices of some drafts.
fn corners<'a>(drafts: impl IntoIterator<Item = &'a Draft>) -> [DVec3; 8] {
    box_corners(drafts.into_iter().flat_map(|draft| &draft.positions))
}

fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<Index> {
    primitive.attributes.get(&semantic).copied()
}
