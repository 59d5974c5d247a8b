//! The scene's nodes, for [`Rig`].

use super::{
    moves::{Moves, moves},
    scene::local,
};
use crate::{
    format::FormatError,
    hierarchy::Hierarchy,
    import::{
        ImportLimits,
        axes::Basis,
        lods,
        nodes::{Local, Node, Rig, may_be_hidden, shown_at},
        report::Report,
    },
    model::is_near,
};
use glam::DVec3;
use ufbx::{ElementType, Mesh, Scene, SkinDeformer};

/// A mesh in the scene.
pub(super) struct NodeMesh<'a> {
    /// The index of its node.
    pub(super) node: usize,
    pub(super) mesh: &'a Mesh,
    /// The skin that deforms it; `None` if it only moves with its node.
    pub(super) skin: Option<&'a SkinDeformer>,
    /// `true` if a vertex has no weight, and follows its node.
    pub(super) has_loose_vertices: bool,
}

/// Returns the meshes of the scene, except for coarser levels of detail, and for hidden ones if there are others.
/// With `all_lods`, all levels are.
pub(super) fn meshes<'a>(
    scene: &'a Scene,
    all_lods: bool,
    report: &mut Report,
) -> Vec<NodeMesh<'a>> {
    let (mut meshes, mut skins) = (Vec::new(), Vec::new());
    for (at, node) in scene.nodes.into_iter().enumerate() {
        let Some(mesh) = node.mesh.as_ref() else {
            continue;
        };
        // A skin without bones moves nothing.
        let bound = |skin: &&SkinDeformer| skin.clusters.into_iter().any(|c| c.bone_node.is_some());
        let mut deformers = mesh.skin_deformers.into_iter().filter(bound);
        let skin = deformers.next();
        if deformers.next().is_some() {
            skins.push(&*node.element.name);
        }
        let mesh = NodeMesh {
            node: at,
            mesh,
            skin,
            has_loose_vertices: skin.is_some_and(|skin| has_loose_vertices(mesh, skin)),
        };
        meshes.push((mesh, node.visible));
    }
    if !all_lods {
        leave_out_levels(scene, &mut meshes, report);
    }
    let name = |(mesh, _): &(NodeMesh, bool)| scene.nodes[mesh.node].element.name.to_string();
    lods::leave_out_hidden("", &mut meshes, |(_, is_visible)| *is_visible, name, report);
    let hint = "the first one moves them";
    report.warn_of("", "meshes have more than one skin", skins, hint);
    meshes.into_iter().map(|(mesh, _)| mesh).collect()
}

/// Leaves out levels of detail but for the finest: all but the first level of each group that has a mesh, or one that is shown, and
/// those whose names say that they are coarser.
fn leave_out_levels(scene: &Scene, meshes: &mut Vec<(NodeMesh, bool)>, report: &mut Report) {
    let hierarchy = hierarchy(scene);
    let mut coarse = coarser_in_groups(scene, &hierarchy, meshes);
    let nodes: Vec<usize> = meshes.iter().map(|(mesh, _)| mesh.node).collect();
    let name = |node: usize| &*scene.nodes[node].element.name;
    coarse = lods::coarser(&nodes, name, coarse, &hierarchy);
    let mut left_out = Vec::new();
    if nodes.iter().any(|&node| !coarse[node]) {
        meshes.retain(|(mesh, _)| {
            if coarse[mesh.node] {
                left_out.push(name(mesh.node));
            }
            !coarse[mesh.node]
        });
    }
    lods::warn("", left_out, report);
}

/// Returns, per node, `true` if it is a level of a group of levels of detail, but not the first that has a mesh, or one that is
/// shown.
fn coarser_in_groups(
    scene: &Scene,
    hierarchy: &Hierarchy,
    meshes: &[(NodeMesh, bool)],
) -> Vec<bool> {
    let mut coarse = vec![false; scene.nodes.count];
    // Per node with meshes at or below it, `false` if one of them is shown.
    let mut is_hidden: Vec<Option<bool>> = vec![None; scene.nodes.count];
    for (mesh, is_visible) in meshes {
        let own = is_hidden[mesh.node].get_or_insert(true);
        *own &= !is_visible;
    }
    for &node in hierarchy.order.iter().rev() {
        if let (Some(own), Some(parent)) = (is_hidden[node], hierarchy.parents[node]) {
            *is_hidden[parent].get_or_insert(true) &= own;
        }
    }
    let groups = scene.nodes.into_iter();
    for group in groups.filter(|node| node.attrib_type == ElementType::LodGroup) {
        // Each level is a child of the group's node, in order.
        let helper = group.scale_helper.as_deref();
        let levels = helper.map_or(&group.children, |helper| &helper.children);
        let levels = levels.into_iter().map(index);
        let levels: Vec<usize> = levels.filter(|&level| is_hidden[level].is_some()).collect();
        let first = levels.iter().min_by_key(|&&level| is_hidden[level]);
        for &level in levels.iter().filter(|&level| Some(level) != first) {
            coarse[level] = true;
        }
    }
    coarse
}

/// The index of a node.
fn index(node: &ufbx::Node) -> usize {
    node.element.typed_id as usize
}

/// The hierarchy of the file's nodes. What is above everything is no node of the file.
fn hierarchy(scene: &Scene) -> Hierarchy {
    let root = index(&scene.root_node);
    Hierarchy::new(scene.nodes.into_iter().map(|node| {
        let parent = node.parent.as_ref().map(|parent| index(parent));
        parent
            .filter(|&parent| parent != root)
            .map(|parent| parent as u32)
    }))
}

fn has_loose_vertices(mesh: &Mesh, skin: &SkinDeformer) -> bool {
    skin.vertices.len() < mesh.num_vertices
        || (0..skin.vertices.len()).any(|vertex| weights(skin, vertex).next().is_none())
}

/// Returns the clusters that move a vertex, with their weights above 0.
pub(super) fn weights(
    skin: &SkinDeformer,
    vertex: usize,
) -> impl Iterator<Item = (usize, f32)> + '_ {
    let vertex = skin.vertices.get(vertex);
    let (begin, count) = vertex.map_or((0, 0), |v| {
        (v.weight_begin as usize, v.num_weights as usize)
    });
    let list = skin
        .weights
        .get(begin..begin.saturating_add(count))
        .unwrap_or_default();
    list.iter().filter_map(|weight| {
        let cluster = skin.clusters.as_ref().get(weight.cluster_index as usize)?;
        // A weight of 0 would only take the place of another.
        let is_bound = cluster.bone_node.is_some() && weight.weight > 0.0;
        is_bound.then_some((weight.cluster_index as usize, weight.weight as f32))
    })
}

/// Makes joints of the scene's nodes. `is_joint` tells by its name whether a node above what moves is a joint, in a file with
/// neither skin nor mesh.
pub(super) fn read(
    scene: &Scene,
    basis: &Basis,
    meshes: &[NodeMesh],
    limits: &ImportLimits,
    report: &mut Report,
    is_joint: Option<&dyn Fn(&str) -> bool>,
) -> Result<Rig, FormatError> {
    let count = scene.nodes.count;
    let (root, hierarchy) = (index(&scene.root_node), hierarchy(scene));

    let mut is_skinned = vec![false; count];
    let mut carries = vec![false; count];
    for mesh in meshes {
        is_skinned[mesh.node] |= mesh.skin.is_some();
        carries[mesh.node] |= mesh.skin.is_none() || mesh.has_loose_vertices;
        for cluster in mesh.skin.iter().flat_map(|skin| &skin.clusters) {
            // A bone that moves skin is a joint, even if no mesh hangs from it.
            if let Some(bone) = &cluster.bone_node {
                carries[index(bone)] = true;
            }
        }
    }
    let moves = moves(scene);
    // A skeleton needs neither a mesh nor a clip, as in glTF. In a file that only holds clips, what these move are the joints.
    if meshes.is_empty() && moves.of_node.as_flattened().iter().all(|moved| !moved) {
        let is_bone = scene.nodes.into_iter().map(|node| node.bone.is_some());
        carries = is_bone.collect();
    }
    let mut nodes = Vec::with_capacity(count);
    for (at, node) in scene.nodes.into_iter().enumerate() {
        let name = name(node);
        let transform = local(&node.local_transform, basis);
        let is_sound = transform.translation.is_finite()
            && transform.rotation.is_finite()
            && transform.scale.is_finite()
            && is_near(transform.translation.as_vec3());
        if !is_sound {
            let message = "the node's transform has a number that is not finite, or far too large";
            return Err(report.error(&name, message, "export the file again"));
        }
        // A file without animations doesn't tell which of its transforms are at rest.
        let posed = if scene.anim_stacks.count == 0 {
            [true; 3]
        } else {
            moves.of_node[at]
        };
        nodes.push(Node {
            name: (!name.trim().is_empty()).then_some(name),
            local: transform,
            shown: if moves.of_node[at][2] {
                shown(node, &transform, basis, &moves)
            } else {
                transform.scale
            },
            is_animated: moves.of_node[at].contains(&true),
            posed,
            is_in_scene: at != root,
            carries: carries[at],
            is_skinned: is_skinned[at],
            is_control: false,
            is_socket: false,
        });
    }
    let meshes = meshes.iter().map(|mesh| mesh.node).collect();
    Rig::new(&nodes, &hierarchy, meshes, limits, report, is_joint)
}

/// The node of each joint.
pub(super) fn joint_nodes<'a>(
    scene: &'a Scene,
    rig: &'a Rig,
) -> impl Iterator<Item = Option<&'a ufbx::Node>> {
    let nodes = scene.nodes.as_ref();
    rig.joints
        .iter()
        .map(|joint| nodes.get(joint.node).map(|node| &**node))
}

/// A node's name. One that the library put between a node and its children is named after it.
fn name(node: &ufbx::Node) -> String {
    match &node.parent {
        Some(parent) if node.is_scale_helper => format!("{}.scale", parent.element.name),
        _ => node.element.name.to_string(),
    }
}

/// The scale at which a node is shown: its own, or that of a clip where this is much larger, because the node is hidden at rest.
fn shown<'a>(node: &'a ufbx::Node, rest: &Local, basis: &Basis, moves: &Moves<'a>) -> DVec3 {
    /// Keys that are looked at.
    const KEYS: usize = 1000;
    if !may_be_hidden(rest.scale) {
        return rest.scale;
    }
    let keys = moves.at_scale_keys(node).take(KEYS);
    let scales = keys.map(|transform| local(&transform, basis).scale);
    scales.fold(rest.scale, |shown, key| shown_at(rest.scale, shown, key))
}
