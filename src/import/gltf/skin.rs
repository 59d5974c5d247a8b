//! Mesh primitives → parts.

use super::{
    accessors::{Accessor, Accessors},
    document::{CHECK, out_of_range},
    json::{self, Index, Mode, Primitive, Semantic, Type},
    materials::{FileMaterial, TexCoords},
    morphs::FileMorphs,
    primitive::NodePrimitive,
};
use crate::{
    format::FormatError,
    import::{
        ImportLimits,
        axes::Basis,
        influences::{VertexWeights, WeightReader},
        morph_normals::{flat_work, shade_flat},
        names::{named, part_name},
        nodes::{
            Rig,
            bind::{Binder, Binding, box_corners},
        },
        report::Report,
        scene::{Oddity, Parts, sound_color, sound_tex_coord},
    },
    model::{SkinPart, is_near},
    plural::{counted, there_are},
};
use glam::{Affine3A, DAffine3, DVec3, Mat4, Vec2, Vec3, Vec4};
use std::collections::HashMap;

/// Reads the primitives of a file.
pub(super) struct PrimitiveReader<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) limits: &'a ImportLimits,
    /// The contents of the file about each material that the model has no place for.
    pub(super) materials: &'a [FileMaterial],
    pub(super) morphs: &'a FileMorphs,
}

impl PrimitiveReader<'_> {
    /// Adds the parts in the order of their nodes, having bound their skins.
    pub(super) fn run(
        &self,
        binder: &mut Binder,
        parts: &mut Parts,
        report: &mut Report,
    ) -> Result<(), FormatError> {
        let mut primitives = Vec::new();
        for &node in &self.rig.meshes {
            self.read_mesh(node, &mut primitives, parts, report)?;
        }
        let bindings = self.bind(&primitives, binder, report)?;
        for mut primitive in primitives {
            let binding = match self.accessors.root.nodes[primitive.node].skin {
                Some(skin) => bindings[&skin.value()].clone(),
                None => match self.rig.of_node[primitive.node] {
                    Some(joint) => binder.rigid(joint, &corners([&primitive])),
                    // Nodes of rigid meshes are joints.
                    None => continue,
                },
            };
            let weights = self.weights(&primitive, &binding, &mut parts.reader, report)?;
            let base = self.read_attributes(&mut primitive, report)?;
            // Without normals, glTF asks for flat shading.
            let is_flat = base.normals.is_none();
            let material = primitive.material;
            let part = &mut primitive.part;
            part.material = material.unwrap_or_else(|| parts.default_material());
            parts.place(part, &binding.to_skin);
            if is_flat {
                parts.repairs.mesh(Oddity::NoNormals, &part.name);
                // Computed when the part is complete.
                part.normals = vec![Vec3::Y; part.positions.len()];
            }
            self.read_targets(&mut primitive, &binding, &base, parts, report)?;
            for mut piece in parts.split(primitive.part, &weights) {
                if is_flat {
                    self.accessors.charge(report, "meshes", flat_work(&piece))?;
                    shade_flat(&mut piece);
                }
                parts.add(piece);
            }
        }
        Ok(())
    }

    /// Reads the triangles of a node's mesh, and the positions of their corners.
    fn read_mesh(
        &self,
        node: usize,
        primitives: &mut Vec<NodePrimitive>,
        parts: &mut Parts,
        report: &Report,
    ) -> Result<(), FormatError> {
        let root = self.accessors.root;
        let Some(index) = root.nodes[node].mesh.map(|mesh| mesh.value()) else {
            return Ok(());
        };
        let Some(mesh) = root.meshes.get(index) else {
            let (place, count) = (format!("nodes[{node}].mesh"), root.meshes.len());
            return Err(out_of_range("mesh", index, count, &place, report));
        };
        // Artists name nodes. Meshes often keep a name that the program gave them.
        let names = [root.nodes[node].name.as_deref(), mesh.name.as_deref()];
        let name = named(names, "mesh", index);
        for (at, contents) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{index}].primitives[{at}]");
            let material = contents.material.map(Index::value);
            let of_material = material.and_then(|at| self.materials.get(at)?.name.as_deref());
            let mut primitive = NodePrimitive {
                node,
                index: (index, at),
                place,
                first_vertex: 0,
                material: material.filter(|&at| at < self.materials.len()),
                part: SkinPart {
                    name: part_name(&name, of_material, mesh.primitives.len()),
                    ..SkinPart::default()
                },
            };
            if self.read_triangles(contents, &mut primitive, parts, report)? {
                primitives.push(primitive);
            }
        }
        Ok(())
    }

    /// Reads the triangles of a primitive, and the positions of their corners. Returns `false` if it has none.
    fn read_triangles(
        &self,
        contents: &Primitive,
        primitive: &mut NodePrimitive,
        parts: &mut Parts,
        report: &Report,
    ) -> Result<bool, FormatError> {
        let NodePrimitive { place, part, .. } = &mut *primitive;
        let Some(positions) = attribute(contents, Semantic::Positions) else {
            parts.repairs.mesh(Oddity::NoPositions, &part.name);
            return Ok(false);
        };
        let positions = self.accessors.open_of(
            report,
            &format!("{place}.attributes.POSITION"),
            (contents, Some(Semantic::Positions)),
            positions.value(),
            &[Type::Vec3],
        )?;
        let count = positions.len();
        let Some(mut triangles) = self.corners(contents, count, place, report)? else {
            parts.repairs.mesh(Oddity::NoTriangles, &part.name);
            return Ok(false);
        };
        // Strips are joined by triangles without an area, which would have no normal.
        triangles.retain(|[a, b, c]| a != b && b != c && c != a);
        // With the vertices that no triangle uses: `source_vertices` refers to those of the file.
        let first_vertex = parts.admit(report.file, count, triangles.len())?;
        // Vertices that no triangle uses would enlarge boxes, and cost memory on the GPU.
        let mut renumber = vec![u32::MAX; count];
        let corners = triangles.as_flattened_mut();
        corners
            .iter()
            .for_each(|&vertex| renumber[vertex as usize] = 0);
        let mut used = 0;
        for (vertex, new) in (first_vertex..).zip(&mut renumber) {
            if *new == 0 {
                *new = used;
                used += 1;
                part.source_vertices.push(vertex);
            }
        }
        for vertex in corners {
            *vertex = renumber[*vertex as usize];
        }
        let position = |&vertex: &u32| {
            let position = positions.floats((vertex - first_vertex) as usize);
            parts
                .repairs
                .position(self.basis.point(position.into()), vertex)
        };
        part.positions = part.source_vertices.iter().map(position).collect();
        part.triangles = triangles;
        let has_triangles = !part.triangles.is_empty();
        primitive.first_vertex = first_vertex;
        Ok(has_triangles)
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
                    return Err(out_of_range("vertex", vertex, count, &place, report));
                }
                corners
            }
            None => (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        };
        Ok(Some(triangles(mode, &corners)))
    }

    /// Returns the joints of a skin, unless some of its nodes are no joints.
    fn joints_of(&self, skin: &json::Skin) -> Option<Vec<usize>> {
        let joints = skin.joints.iter();
        let joints = joints.map(|node| *self.rig.of_node.get(node.value())?);
        let joints: Vec<usize> = joints.collect::<Option<_>>()?;
        Some(joints).filter(|joints| !joints.is_empty())
    }

    /// Binds every skin in use.
    fn bind(
        &self,
        primitives: &[NodePrimitive],
        binder: &mut Binder,
        report: &mut Report,
    ) -> Result<HashMap<usize, Binding>, FormatError> {
        let root = self.accessors.root;
        let mut bindings = HashMap::new();
        for primitive in primitives {
            let Some(skin) = root.nodes[primitive.node].skin.map(|skin| skin.value()) else {
                continue;
            };
            if bindings.contains_key(&skin) {
                continue;
            }
            let contents = &root.skins[skin];
            // `Rig` made joints of all of them.
            let joints = self.joints_of(contents).ok_or_else(|| {
                report.error(
                    &format!("skins[{skin}]"),
                    "the skin lists no joints",
                    "list its bones in `joints`, or remove `skin` from the node",
                )
            })?;
            let inverse_binds = self.inverse_binds(skin, joints.len(), report)?;
            let of_skin = |other: &&NodePrimitive| {
                root.nodes[other.node]
                    .skin
                    .is_some_and(|other| other.value() == skin)
            };
            let corners = corners(primitives.iter().filter(of_skin));
            // Without matrices, the skin says nothing of how its joints stood when it was bound.
            if contents.inverse_bind_matrices.is_some() {
                binder.note(&joints, &inverse_binds, Some(primitive.node));
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
            if let Some(joints) = self.joints_of(contents)
                && contents.inverse_bind_matrices.is_some()
            {
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
    fn weights(
        &self,
        primitive: &NodePrimitive,
        binding: &Binding,
        reader: &mut WeightReader,
        report: &mut Report,
    ) -> Result<VertexWeights, FormatError> {
        let sets = self.weight_sets(primitive, report)?;
        let mut all = VertexWeights::default();
        if sets.is_empty() {
            let joint = binding.joints.first().copied().unwrap_or_default();
            let vertices = primitive.vertices();
            vertices.for_each(|_| reader.push(&mut all, [(joint, 1.0)]));
            return Ok(all);
        }
        let (mut pairs, mut outside) = (Vec::new(), None);
        for vertex in primitive.vertices() {
            pairs.clear();
            for (joints, weights) in &sets {
                let joints: [u32; 4] = joints.indices(vertex);
                let weights: [f32; 4] = weights.floats(vertex);
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
                Err(report.error(&primitive.place, message, CHECK))
            }
            None => Ok(all),
        }
    }

    /// Opens the joints and weights of a primitive, four of each in a set. Empty if it has no skin, or no weights.
    fn weight_sets(
        &self,
        primitive: &NodePrimitive,
        report: &mut Report,
    ) -> Result<Vec<(Accessor<'_>, Accessor<'_>)>, FormatError> {
        let root = self.accessors.root;
        let mut sets = Vec::new();
        if root.nodes[primitive.node].skin.is_none() {
            return Ok(sets);
        }
        let attributes = &primitive.contents(root).attributes;
        let open = |semantic| self.open(primitive, semantic, &[Type::Vec4], report);
        let pair = |set: u32| [Semantic::Joints(set), Semantic::Weights(set)];
        while pair(sets.len() as u32)
            .iter()
            .all(|semantic| attributes.contains_key(semantic))
        {
            let [joints, weights] = pair(sets.len() as u32).map(open);
            sets.extend(joints?.zip(weights?.map(Accessor::into_shares)));
            let vertex = format!("a vertex of {}", primitive.place);
            self.limits
                .check_influences(report.file, sets.len() as u32 * 4, &vertex)?;
        }
        if sets.is_empty() {
            let message = "the mesh has a skin, but its vertices have no joints";
            report.warn(
                &primitive.place,
                message,
                "they follow the skin's first joint",
            );
        }
        Ok(sets)
    }

    /// Opens an attribute of a primitive, if it has it.
    fn open(
        &self,
        primitive: &NodePrimitive,
        semantic: Semantic,
        types: &[Type],
        report: &Report,
    ) -> Result<Option<Accessor<'_>>, FormatError> {
        let contents = primitive.contents(self.accessors.root);
        let Some(index) = attribute(contents, semantic) else {
            return Ok(None);
        };
        let place = format!("{}.attributes.{semantic}", primitive.place);
        let of = (contents, Some(semantic));
        let accessor = self
            .accessors
            .open_of(report, &place, of, index.value(), types)?;
        primitive.check_length(&accessor, &place, report)?;
        Ok(Some(accessor))
    }

    /// Reads what vertices have besides positions and weights.
    fn read_attributes(
        &self,
        primitive: &mut NodePrimitive,
        report: &Report,
    ) -> Result<Base<'_>, FormatError> {
        let material = primitive.material.map(|at| self.materials[at].tex_coords);
        let [first, second] = material.unwrap_or_default();
        let [first, second] = [Some(first.unwrap_or_default()), second]
            .map(|source| self.tex_coords(source, primitive, report));
        let open = |semantic, types: &[Type]| self.open(primitive, semantic, types, report);
        let normals = open(Semantic::Normals, &[Type::Vec3])?;
        // Without normals, tangents must be ignored: they belong to other normals than those that
        // are computed.
        let tangents = match normals {
            Some(_) => open(Semantic::Tangents, &[Type::Vec4])?,
            None => None,
        };
        let colors = open(Semantic::Colors(0), &[Type::Vec3, Type::Vec4])?;
        let direction = |v: [f32; 3]| self.basis.direction(v.into());
        let tangent = |[x, y, z, w]: [f32; 4]| direction([x, y, z]).extend(w);
        // Colors without alpha are opaque.
        let is_opaque = colors.as_ref().is_some_and(|colors| colors.width() == 3);
        let color = |color: [f32; 4]| {
            let color = Vec4::from(color);
            sound_color(if is_opaque { color.with_w(1.0) } else { color })
        };
        let all = (
            each(&normals, primitive, direction),
            each(&tangents, primitive, tangent),
            each(&colors, primitive, color),
        );
        let part = &mut primitive.part;
        (part.normals, part.tangents, part.colors) = all;
        (part.tex_coords, part.second_tex_coords) = (first?, second?);
        Ok(Base { normals, tangents })
    }

    /// Reads a set of texture coordinates, as a material transforms it.
    fn tex_coords(
        &self,
        source: Option<TexCoords>,
        primitive: &NodePrimitive,
        report: &Report,
    ) -> Result<Vec<Vec2>, FormatError> {
        let Some(TexCoords { set, transform }) = source else {
            return Ok(Vec::new());
        };
        let given = self.open(primitive, Semantic::TexCoords(set), &[Type::Vec2], report)?;
        let tex_coord = |vertex| {
            let given = given
                .as_ref()
                .map_or([0.0; 2], |given| given.floats(vertex));
            sound_tex_coord(transform.apply(given.into()))
        };
        Ok(primitive.vertices().map(tex_coord).collect())
    }
}

/// Converts an attribute of each vertex. Empty if there is none.
fn each<const N: usize, T>(
    attribute: &Option<Accessor>,
    primitive: &NodePrimitive,
    convert: impl Fn([f32; N]) -> T,
) -> Vec<T> {
    let Some(attribute) = attribute else {
        return Vec::new();
    };
    let vertices = primitive.vertices();
    vertices
        .map(|vertex| convert(attribute.floats(vertex)))
        .collect()
}

/// The base shape of a primitive in its file.
pub(super) struct Base<'a> {
    pub(super) normals: Option<Accessor<'a>>,
    pub(super) tangents: Option<Accessor<'a>>,
}

/// Returns the triangles of a primitive's corners.
fn triangles(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::TriangleStrip => {
            // The winding alternates along a strip.
            let turned = |(at, c): (usize, &[u32])| match at % 2 {
                0 => [c[0], c[1], c[2]],
                _ => [c[1], c[0], c[2]],
            };
            corners.windows(3).enumerate().map(turned).collect()
        }
        Mode::TriangleFan => corners
            .windows(2)
            .skip(1)
            .map(|pair| [corners[0], pair[0], pair[1]])
            .collect(),
        _ => corners.as_chunks().0.to_vec(),
    }
}

/// The corners of the box around the vertices of some primitives.
fn corners<'a>(primitives: impl IntoIterator<Item = &'a NodePrimitive>) -> [DVec3; 8] {
    let parts = primitives.into_iter().map(|primitive| &primitive.part);
    box_corners(parts.flat_map(|part| &part.positions))
}

fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<Index> {
    primitive.attributes.get(&semantic).copied()
}
