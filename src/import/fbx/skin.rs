//! Meshes and their skins → parts.

use super::{
    materials::FileMaterials,
    mesh,
    nodes::{NodeMesh, weights},
    scene::affine,
    shapes::{FileShapes, ShapeWork},
};
use crate::{
    format::FormatError,
    import::{
        ImportLimits,
        axes::Basis,
        influences::VertexWeights,
        names::{named, part_name},
        nodes::{
            Rig,
            bind::{Binder, Binding, box_corners},
        },
        report::Report,
        scene::{Oddity, Parts},
    },
    model::{JointIndex, SkinPart, is_near},
};
use glam::{DAffine3, DMat3};
use ufbx::Scene;

/// Joints of skins and parts of meshes that are bound at most, instances included.
const MOST_BOUND: usize = 1 << 19;

/// Reads the meshes of a file.
pub(super) struct MeshReader<'a> {
    pub(super) scene: &'a Scene,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) shapes: &'a FileShapes<'a>,
    pub(super) materials: &'a FileMaterials,
    pub(super) limits: &'a ImportLimits,
}

/// The joints of a mesh: those of its clusters, and that of its node for vertices without weight.
#[derive(Default)]
struct MeshJoints {
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

impl MeshReader<'_> {
    /// Adds the parts in the order of their nodes, having bound their skins.
    pub(super) fn run(
        &self,
        meshes: &[NodeMesh],
        binder: &mut Binder,
        parts: &mut Parts,
        file_bytes: usize,
        report: &mut Report,
    ) -> Result<(), FormatError> {
        // Instances of a mesh take memory and time that the file doesn't.
        let (mut bound, mut first_vertices) = (0, Vec::with_capacity(meshes.len()));
        for NodeMesh { mesh, skin, .. } in meshes {
            bound += mesh.material_parts.len() + skin.map_or(0, |skin| skin.clusters.count);
            if bound > MOST_BOUND {
                let message =
                    format!("skins and meshes have more than {MOST_BOUND} joints and parts");
                return Err(report.error("", message, "join meshes that share a skin"));
            }
            let (vertices, triangles) = (mesh.num_vertices, mesh.num_triangles);
            first_vertices.push(parts.admit(report.file, vertices, triangles)?);
        }
        let mut work = ShapeWork::new(file_bytes);
        for (mesh, first_vertex) in meshes.iter().zip(first_vertices) {
            self.mesh(mesh, first_vertex, binder, parts, &mut work, report)?;
        }
        Ok(())
    }

    fn mesh(
        &self,
        mesh: &NodeMesh,
        first_vertex: u32,
        binder: &mut Binder,
        parts: &mut Parts,
        work: &mut ShapeWork,
        report: &mut Report,
    ) -> Result<(), FormatError> {
        let node = &self.scene.nodes[mesh.node];
        // Artists name nodes. Meshes often keep a name that the program gave them.
        let names = [&*node.element.name, &*mesh.mesh.element.name];
        let name = named(names.map(Some), "mesh", mesh.node);
        // Vertices of a skin that blends both methods may all be linear.
        let mut vertices = mesh.skin.iter().flat_map(|skin| &skin.vertices);
        if vertices.any(|vertex| vertex.dq_weight > 0.0) {
            parts.repairs.mesh(Oddity::DualQuaternions, &name);
        }
        let mut own = self.parts(mesh, &name, first_vertex, parts);
        if own.is_empty() {
            return Ok(());
        }
        let geometry = affine(&node.geometry_to_node, self.basis);
        let joints = self.joints(mesh, geometry);
        if joints.are_unbound {
            parts.repairs.mesh(Oddity::Unbound, &name);
        }
        let Some(binding) = self.bind(mesh, &own, &joints, geometry, binder) else {
            return Ok(());
        };
        self.limits.check_joints(report.file, binder.len())?;
        let mut weights = Vec::with_capacity(own.len());
        for part in &mut own {
            if part.material == usize::MAX {
                part.material = parts.default_material();
            }
            weights.push(self.weights(
                mesh,
                first_vertex,
                part,
                &joints,
                &binding,
                parts,
                report,
            )?);
            parts.place(part, &binding.to_skin);
        }
        let matrix = &binding.to_skin.matrix3;
        self.shapes.add_targets(
            mesh.mesh,
            first_vertex,
            &mut own,
            (matrix, self.basis),
            parts,
            work,
            report,
        )?;
        for (part, weights) in own.into_iter().zip(weights) {
            for piece in parts.split(part, &weights) {
                parts.add(piece);
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
    fn parts(
        &self,
        mesh: &NodeMesh,
        name: &str,
        first_vertex: u32,
        parts: &mut Parts,
    ) -> Vec<SkinPart> {
        let mut own = Vec::new();
        let contents = &mesh.mesh.material_parts;
        for (at, contents) in contents
            .iter()
            .enumerate()
            .filter(|(_, part)| part.num_triangles > 0)
        {
            let material = self.material(mesh, at);
            let uv_set = material.and_then(|at| self.materials.uv_set(at));
            let repairs = &mut parts.repairs;
            let part = mesh::read(
                mesh.mesh,
                contents,
                first_vertex,
                uv_set,
                self.basis,
                repairs,
            );
            if part.triangles.is_empty() {
                continue;
            }
            let material = material.and_then(|at| Some((at, parts.materials.get(at)?)));
            let of_material = material.map(|(_, material)| &*material.name);
            own.push(SkinPart {
                name: part_name(name, of_material, mesh.mesh.material_parts.len()),
                material: material.map_or(usize::MAX, |(at, _)| at),
                ..part
            });
        }
        own
    }

    /// Binds a mesh to the joints of its skin, or to that of its node. `None` if its node is no joint: those of rigid meshes are.
    fn bind(
        &self,
        mesh: &NodeMesh,
        parts: &[SkinPart],
        joints: &MeshJoints,
        geometry: DAffine3,
        binder: &mut Binder,
    ) -> Option<Binding> {
        // One box for all parts, because they share a binding.
        let corners = box_corners(parts.iter().flat_map(|part| &part.positions));
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

    fn joints(&self, mesh: &NodeMesh, geometry: DAffine3) -> MeshJoints {
        let mut out = MeshJoints::default();
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
    fn weights(
        &self,
        mesh: &NodeMesh,
        first_vertex: u32,
        part: &SkinPart,
        joints: &MeshJoints,
        binding: &Binding,
        parts: &mut Parts,
        report: &Report,
    ) -> Result<VertexWeights, FormatError> {
        let Parts {
            reader, repairs, ..
        } = parts;
        let mut all = VertexWeights::default();
        let joint = |at: usize| binding.joints.get(at).copied();
        let own: JointIndex = joints.own.and_then(joint).or(joint(0)).unwrap_or_default();
        let vertices = part.source_vertices.iter();
        let Some(skin) = mesh.skin.filter(|_| !joints.list.is_empty()) else {
            vertices.for_each(|_| reader.push(&mut all, [(own, 1.0)]));
            return Ok(all);
        };
        self.limits.check_influences(
            report.file,
            u32::try_from(skin.max_weights_per_vertex).unwrap_or(u32::MAX),
            &format!("a vertex of `{}`", mesh.mesh.element.name),
        )?;
        for &vertex in vertices {
            let mut weights = weights(skin, (vertex - first_vertex) as usize)
                .filter_map(|(cluster, weight)| {
                    let at = (*joints.of_cluster.get(cluster)?)?;
                    Some((joint(at)?, weight))
                })
                .peekable();
            // Without any weight, the vertex would collapse to the origin.
            if weights.peek().is_none() {
                repairs.vertex(Oddity::Loose, vertex);
                reader.push(&mut all, [(own, 1.0)]);
            } else {
                reader.push(&mut all, weights);
            }
        }
        Ok(all)
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
