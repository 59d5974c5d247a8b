//! Meshes and their skins → parts.

use super::{
    materials::Materials,
    mesh::Draft,
    nodes::{NodeMesh, weights},
    scene::affine,
    shapes::{FileShapes, ShapeWork},
};
use crate::{
    format::FormatError,
    import::{
        ImportReport, ImportSettings,
        axes::Basis,
        finish::Finisher,
        influences::{VertexWeights, WeightReader},
        names::listed,
        nodes::{
            Rig,
            bind::{Binder, Binding, box_corners, cofactors},
        },
        normals::repair_normals,
        report::Report,
        winding,
    },
    model::{JointIndex, Material, SkinPart, is_near},
    plural::{counted, have},
};
use glam::{DAffine3, DMat3, Vec3};
use std::collections::HashSet;
use ufbx::Scene;

/// Joints of skins and parts of meshes that are bound at most, instances included.
const MOST_BOUND: usize = 1 << 19;

/// Imports the parts of a file.
pub(super) struct Importer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) shapes: &'a FileShapes<'a>,
    pub(super) file_bytes: usize,
    pub(super) settings: &'a ImportSettings,
}

/// Repairs made to vertices and meshes.
struct Repairs {
    /// Vertices of the file, as numbered in the parts.
    misplaced: HashSet<u32>,
    /// Of all normals, which a vertex of the file can have several of.
    missing_normals: usize,
    normals: usize,
    shapes: ShapeWork,
    dual_quaternions: Vec<String>,
    /// Meshes with joints that have no bind matrices.
    unbound: Vec<String>,
    /// Vertices of the file without weight.
    loose: HashSet<u32>,
}

/// The joints of a mesh: those of its clusters, and that of its node for vertices without weight.
struct Joints {
    /// Per cluster, its place among `list`.
    of_cluster: Vec<Option<usize>>,
    /// The place of the node.
    own: Option<usize>,
    /// Indices into the rig.
    list: Vec<usize>,
    /// From the mesh to each of these.
    inverse_binds: Vec<DAffine3>,
    /// `true` if some had no bind matrices, and are bound at rest.
    are_unbound: bool,
}

impl Importer<'_> {
    /// Returns the parts in the order of their nodes, having bound their skins. Adds a material if one is missing.
    pub(super) fn run(
        &self,
        meshes: &[NodeMesh],
        binder: &mut Binder,
        materials: &mut Materials,
        report: &mut Report,
        figures: &mut ImportReport,
    ) -> Result<Vec<SkinPart>, FormatError> {
        // Instances of a mesh take memory and time that the file doesn't.
        let mut bound = 0;
        for NodeMesh { mesh, skin, .. } in meshes {
            bound += mesh.material_parts.len() + skin.map_or(0, |skin| skin.clusters.count);
            if bound > MOST_BOUND {
                let message =
                    format!("skins and meshes have more than {MOST_BOUND} joints and parts");
                return Err(report.error("", message, "join meshes that share a skin"));
            }
            figures.vertices += mesh.num_vertices;
            figures.triangles += mesh.num_triangles;
            self.settings
                .limits
                .check_mesh(report.file, figures.vertices, figures.triangles)?;
        }
        let mut repairs = Repairs {
            misplaced: HashSet::new(),
            missing_normals: 0,
            normals: 0,
            shapes: ShapeWork::new(self.file_bytes),
            dual_quaternions: Vec::new(),
            unbound: Vec::new(),
            loose: HashSet::new(),
        };
        let mut reader = WeightReader::default();
        let mut finisher = Finisher::new(self.settings);
        let mut first_vertex = 0;
        for mesh in meshes {
            self.mesh(
                mesh,
                first_vertex,
                binder,
                materials,
                (&mut reader, &mut finisher, &mut repairs),
                report,
            )?;
            first_vertex += mesh.mesh.num_vertices as u32;
        }
        reader.add_to(figures);
        report.extend(reader.warning(report.file, "skin"));
        let finished = finisher.finish(report.file, figures);
        report.extend(finished.warning);
        repairs.tell(report, figures.vertices);
        Ok(finished.parts)
    }

    fn mesh(
        &self,
        mesh: &NodeMesh,
        first_vertex: u32,
        binder: &mut Binder,
        materials: &mut Materials,
        (reader, finisher, repairs): (&mut WeightReader, &mut Finisher, &mut Repairs),
        report: &mut Report,
    ) -> Result<(), FormatError> {
        let node = &self.scene.nodes[mesh.node];
        let given = |name: &str| (!name.trim().is_empty()).then(|| name.to_owned());
        // Artists name nodes. Meshes often keep a name that the program gave them.
        let name = given(&node.element.name)
            .or_else(|| given(&mesh.mesh.element.name))
            .unwrap_or_else(|| format!("mesh{}", mesh.node));
        // Vertices of a skin that blends both methods may all be linear.
        if let Some(skin) = mesh.skin
            && skin
                .vertices
                .into_iter()
                .any(|vertex| vertex.dq_weight > 0.0)
        {
            repairs.dual_quaternions.push(name.clone());
        }
        let drafts = self.drafts(mesh, first_vertex, materials, repairs);
        if drafts.is_empty() {
            return Ok(());
        }
        let geometry = affine(&node.geometry_to_node, self.basis);
        let joints = self.joints(mesh, geometry);
        if joints.are_unbound {
            repairs.unbound.push(name.clone());
        }
        let Some(binding) = self.bind(mesh, &drafts, &joints, geometry, binder) else {
            return Ok(());
        };
        self.settings
            .limits
            .check_joints(report.file, binder.len())?;
        // Only their materials tell the parts of a mesh apart.
        let several = mesh.mesh.material_parts.len() > 1;
        let (mut bound, mut influences) = (Vec::new(), Vec::new());
        for draft in drafts {
            let material = self.material(mesh, draft.part);
            let material = material.filter(|at| *at < materials.list.len());
            let name = match material.filter(|_| several) {
                Some(at) => format!("{name}.{}", materials.list[at].name),
                None => name.clone(),
            };
            let material = material.unwrap_or_else(|| materials.default());
            influences.push(self.influences(
                mesh,
                first_vertex,
                &draft,
                &joints,
                &binding,
                reader,
                repairs,
                report,
            )?);
            let vertices = draft.vertices.clone();
            let part = SkinPart {
                name,
                material,
                source_vertices: vertices
                    .iter()
                    .map(|vertex| first_vertex + vertex)
                    .collect(),
                ..self.part(draft, first_vertex, &binding, repairs)
            };
            bound.push((part, vertices));
        }
        self.shapes.add_targets(
            mesh.mesh,
            &mut bound,
            (&binding.to_skin.matrix3, self.basis),
            (&self.settings.limits, report),
            &mut repairs.shapes,
        )?;
        for ((part, _), influences) in bound.into_iter().zip(influences) {
            for piece in finisher.split(part, &influences) {
                finisher.add(piece);
            }
        }
        Ok(())
    }

    /// The material of a part of a mesh: the node's own, or that of the mesh.
    fn material(&self, mesh: &NodeMesh, part: usize) -> Option<usize> {
        let own = self.scene.nodes[mesh.node].materials.as_ref().get(part);
        let material = own.or_else(|| mesh.mesh.materials.as_ref().get(part))?;
        Some(material.element.typed_id as usize)
    }

    /// The parts of a mesh that have triangles, which points and lines don't.
    fn drafts(
        &self,
        mesh: &NodeMesh,
        first_vertex: u32,
        materials: &Materials,
        repairs: &mut Repairs,
    ) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (part, contents) in mesh.mesh.material_parts.iter().enumerate() {
            if contents.num_triangles == 0 {
                continue;
            }
            let uv_set = self
                .material(mesh, part)
                .and_then(|at| materials.uv_set(at));
            let draft = Draft::read(mesh.mesh, part, uv_set, self.basis);
            let misplaced = draft.misplaced.iter();
            repairs
                .misplaced
                .extend(misplaced.map(|vertex| first_vertex + vertex));
            if !draft.triangles.is_empty() {
                drafts.push(draft);
            }
        }
        drafts
    }

    /// Binds a mesh to the joints of its skin, or to that of its node. `None` if its node is no joint: those of rigid meshes are.
    fn bind(
        &self,
        mesh: &NodeMesh,
        drafts: &[Draft],
        joints: &Joints,
        geometry: DAffine3,
        binder: &mut Binder,
    ) -> Option<Binding> {
        // One box for all parts, because they share a binding.
        let corners = box_corners(drafts.iter().flat_map(|draft| &draft.positions));
        if mesh.skin.is_some() && !joints.list.is_empty() {
            self.note(mesh, binder);
            return Some(binder.skin(&joints.list, &joints.inverse_binds, &corners));
        }
        let joint = self.rig.of_node[mesh.node]?;
        let corners = corners.map(|corner| geometry.transform_point3(corner));
        let binding = binder.rigid(joint, &corners);
        // In 3ds Max, a mesh may be offset within its node.
        Some(Binding {
            to_skin: binding.to_skin * geometry,
            ..binding
        })
    }

    fn joints(&self, mesh: &NodeMesh, geometry: DAffine3) -> Joints {
        let mut out = Joints {
            of_cluster: Vec::new(),
            own: None,
            list: Vec::new(),
            inverse_binds: Vec::new(),
            are_unbound: false,
        };
        // Without bind matrices and a bind pose, the library has zeros, and everything would collapse to the joint.
        let at_rest =
            |bone: usize| self.rig.places[bone].inverse() * self.rig.places[mesh.node] * geometry;
        for cluster in mesh.skin.iter().flat_map(|skin| &skin.clusters) {
            let bone = cluster.bone_node.as_ref();
            let joint = bone.and_then(|bone| self.rig.of_node[bone.element.typed_id as usize]);
            out.of_cluster.push(joint.map(|joint| {
                let mut inverse_bind = affine(&cluster.geometry_to_bone, self.basis);
                if is_missing(&inverse_bind) {
                    inverse_bind = at_rest(self.rig.joints[joint].node);
                    out.are_unbound = true;
                }
                out.list.push(joint);
                out.inverse_binds.push(sound(inverse_bind));
                out.list.len() - 1
            }));
        }
        // Vertices without weight follow the node, which needs an entry of its own.
        if mesh.has_loose_vertices
            && let Some(joint) = self.rig.of_node[mesh.node]
        {
            out.own = Some(out.list.len());
            out.list.push(joint);
            out.inverse_binds.push(sound(geometry));
        }
        out
    }

    /// Takes note of where the skin's joints stood when it was bound, which the file says for the whole scene.
    fn note(&self, mesh: &NodeMesh, binder: &mut Binder) {
        let (mut joints, mut inverse_binds) = (Vec::new(), Vec::new());
        for cluster in mesh.skin.iter().flat_map(|skin| &skin.clusters) {
            let bone = cluster.bone_node.as_ref();
            let joint = bone.and_then(|bone| self.rig.of_node[bone.element.typed_id as usize]);
            let inverse_bind = affine(&cluster.bind_to_world, self.basis).inverse();
            if let Some(joint) = joint
                && inverse_bind.is_finite()
            {
                joints.push(joint);
                inverse_binds.push(inverse_bind);
            }
        }
        if !joints.is_empty() {
            binder.note(&joints, &inverse_binds, None);
        }
    }

    /// The joints that move each vertex.
    fn influences(
        &self,
        mesh: &NodeMesh,
        first_vertex: u32,
        draft: &Draft,
        joints: &Joints,
        binding: &Binding,
        reader: &mut WeightReader,
        repairs: &mut Repairs,
        report: &Report,
    ) -> Result<VertexWeights, FormatError> {
        let mut all = VertexWeights::default();
        let joint = |at: usize| binding.joints.get(at).copied();
        let own: JointIndex = joints.own.and_then(joint).or(joint(0)).unwrap_or_default();
        let Some(skin) = mesh.skin.filter(|_| !joints.list.is_empty()) else {
            draft
                .vertices
                .iter()
                .for_each(|_| reader.push(&mut all, [(own, 1.0)]));
            return Ok(all);
        };
        self.settings.limits.check_influences(
            report.file,
            u32::try_from(skin.max_weights_per_vertex).unwrap_or(u32::MAX),
            &format!("a vertex of `{}`", mesh.mesh.element.name),
        )?;
        for &vertex in &draft.vertices {
            let mut weights = weights(skin, vertex as usize)
                .filter_map(|(cluster, weight)| {
                    let at = (*joints.of_cluster.get(cluster)?)?;
                    Some((joint(at)?, weight))
                })
                .peekable();
            // Without any weight, the vertex would collapse to the origin.
            if weights.peek().is_none() {
                repairs.loose.insert(first_vertex + vertex);
                reader.push(&mut all, [(own, 1.0)]);
            } else {
                reader.push(&mut all, weights);
            }
        }
        Ok(all)
    }

    /// A part in the space that the skin is stored in, without its influences.
    fn part(
        &self,
        draft: Draft,
        first_vertex: u32,
        binding: &Binding,
        repairs: &mut Repairs,
    ) -> SkinPart {
        let Binding { to_skin, .. } = binding;
        let mirrors = to_skin.matrix3.determinant() < 0.0;
        let turned = cofactors(&to_skin.matrix3);
        let mut part = SkinPart {
            triangles: draft.triangles,
            tex_coords: draft.tex_coords,
            colors: draft.colors,
            ..SkinPart::default()
        };
        for (position, vertex) in draft.positions.into_iter().zip(draft.vertices) {
            let position = to_skin.transform_point3(position.as_dvec3()).as_vec3();
            let is_sound = is_near(position);
            if !is_sound {
                repairs.misplaced.insert(first_vertex + vertex);
            }
            part.positions
                .push(if is_sound { position } else { Vec3::ZERO });
        }
        // Two mirrorings cancel each other out.
        if mirrors != self.basis.mirrors() {
            winding::turn_over(&mut part.triangles);
        }
        part.normals = draft
            .normals
            .iter()
            .map(|normal| (turned * normal.as_dvec3()).normalize_or_zero().as_vec3())
            .collect();
        repairs.normals += part.normals.len();
        repairs.missing_normals +=
            repair_normals(&part.positions, &part.triangles, &mut part.normals).0;
        part
    }
}

impl Materials {
    /// The material of what has none.
    fn default(&mut self) -> usize {
        *self.default.get_or_insert_with(|| {
            self.list.push(Material {
                name: "default".into(),
                ..Material::default()
            });
            self.list.len() - 1
        })
    }
}

impl Repairs {
    fn tell(self, report: &mut Report, vertices: usize) {
        let list = |names: &[String]| listed(names.iter().map(String::as_str));
        if self.shapes.without_normals > 0 {
            let message = format!(
                "no normals were computed for {}, too large for the size of the file",
                counted(self.shapes.without_normals, "blend shape")
            );
            report.warn("", message, "their normals stay as they are");
        }
        if self.shapes.misplaced > 0 {
            let message = format!(
                "blend shapes move {} to no finite position",
                counted(self.shapes.misplaced, "vertex")
            );
            report.warn("", message, "these stay where they are");
        }
        if !self.dual_quaternions.is_empty() {
            let message = format!(
                "skins use dual quaternions: {}",
                list(&self.dual_quaternions)
            );
            report.warn("", message, "they are blended linearly instead");
        }
        if !self.unbound.is_empty() {
            let message = format!(
                "skins have joints without bind matrices: {}",
                list(&self.unbound)
            );
            let hint = "they are bound at rest: if the skin looks wrong, export the file again with a bind pose";
            report.warn("", message, hint);
        }
        if self.missing_normals > 0 {
            let (missing, all) = (self.missing_normals, counted(self.normals, "normal"));
            let message = format!("{missing} of {all} cannot be used");
            report.warn("", message, "smooth ones were computed in their place");
        }
        for (count, what, hint) in [
            (
                self.misplaced.len(),
                "no finite position",
                "they were put at the origin",
            ),
            (
                self.loose.len(),
                "no weight, though their mesh has a skin",
                "they follow the node of their mesh: weight them to a joint",
            ),
        ] {
            if count > 0 {
                let vertices = counted(vertices, "vertex");
                let message = format!("{count} of {vertices} {} {what}", have(count));
                report.warn("", message, hint);
            }
        }
    }
}

/// Returns `true` for a matrix that the file doesn't have, or that puts everything in one place or nowhere.
fn is_missing(m: &DAffine3) -> bool {
    m.matrix3 == DMat3::ZERO || !m.is_finite()
}

/// A matrix, or the identity if it has numbers that nothing can be computed with.
fn sound(m: DAffine3) -> DAffine3 {
    let is_sound =
        m.matrix3.to_cols_array().iter().all(|x| x.is_finite()) && is_near(m.translation.as_vec3());
    if is_sound { m } else { DAffine3::IDENTITY }
}
