//! The meshes that are drawn: neither hidden, nor a coarser level of detail.
//!
//! A rigid mesh that clips show and hide moves with a joint of its own, whose scale is zero while it is hidden. A skin has
//! no such joint. It is as at rest.

use super::json::{Node, Property, Root};
use crate::{
    hierarchy::Hierarchy,
    import::{lods, names::named, report::Report},
};
use glam::DVec3;
use std::collections::BTreeSet;

/// The deepest nodes whose levels of detail are read, and the most nodes above one another whose visibility counts, so that
/// no file takes time or memory that is quadratic in its size.
const MOST_DEEP: usize = 256;
const MOST_NESTED: usize = 16;

/// The meshes that are drawn, and joints that clips show and hide.
#[derive(Default)]
pub(super) struct Shown {
    /// Nodes.
    pub(super) meshes: Vec<usize>,
    pub(super) switched: Vec<Switched>,
}

/// A node that clips show and hide.
pub(super) struct Switched {
    pub(super) node: usize,
    /// The nodes whose visibility counts, itself among them: it is visible if they all are.
    pub(super) by: Vec<usize>,
    /// `true` if it is hidden at rest.
    pub(super) is_hidden: bool,
    /// Its scale while it is shown.
    pub(super) scale: DVec3,
}

/// Finds the meshes of the scene that are drawn. With `all_lods`, all levels of detail are.
pub(super) fn shown(
    root: &Root,
    in_scene: &[bool],
    hierarchy: &Hierarchy,
    all_lods: bool,
    report: &mut Report,
) -> Shown {
    let nodes = &root.nodes;
    let mut meshes: Vec<usize> = (0..nodes.len())
        .filter(|&n| in_scene[n] && nodes[n].mesh.is_some())
        .collect();
    let is_switched = switched_nodes(root);
    let has_switches = is_switched.contains(&true);
    // At rest, and always.
    let (mut hidden, mut gone) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    for &node in &hierarchy.order {
        let parent = hierarchy.parents[node];
        let is_hidden = nodes[node].is_hidden();
        hidden[node] = is_hidden || parent.is_some_and(|parent| hidden[parent]);
        gone[node] = (is_hidden && !is_switched[node]) || parent.is_some_and(|parent| gone[parent]);
    }
    // A skin that is hidden at rest stays so.
    let is_shown = |node: &usize| !(gone[*node] || nodes[*node].skin.is_some() && hidden[*node]);
    let name = |&node: &usize| name(root, node);
    let has_shown = lods::leave_out_hidden("nodes", &mut meshes, is_shown, name, report);
    if !has_shown && !meshes.is_empty() {
        hidden.fill(false);
    }
    if !all_lods {
        finest(root, hierarchy, &mut meshes, report);
    }
    let switched = if has_switches {
        switched(
            root,
            in_scene,
            hierarchy,
            &meshes,
            &is_switched,
            &hidden,
            report,
        )
    } else {
        Vec::new()
    };
    Shown { meshes, switched }
}

/// Leaves out levels of detail but for the finest: those that a node lists, and those whose names say so.
fn finest(root: &Root, hierarchy: &Hierarchy, meshes: &mut Vec<usize>, report: &mut Report) {
    let nodes = &root.nodes;
    let above = |node: usize| std::iter::successors(Some(node), |&node| hierarchy.parents[node]);
    let mut coarse = vec![false; nodes.len()];
    // Per node, the last node with a list that was found to be at or below it.
    let mut is_above = vec![usize::MAX; nodes.len()];
    for (owner, node) in nodes.iter().enumerate() {
        let is_deep = above(owner).nth(MOST_DEEP).is_some();
        // Nodes can list each other: the first one counts.
        if node.lods().is_empty() || is_deep || above(owner).any(|node| coarse[node]) {
            continue;
        }
        above(owner).for_each(|node| is_above[node] = owner);
        for other in node.lods().iter().map(|index| index.value()) {
            if is_above.get(other).is_some_and(|&below| below != owner) {
                coarse[other] = true;
            }
        }
    }
    let name = |node: usize| {
        let own = nodes[node].name.as_deref().unwrap_or_default();
        let is_unnamed = own.trim().is_empty();
        let of_mesh = is_unnamed.then(|| mesh_name(root, node)).flatten();
        of_mesh.unwrap_or(own)
    };
    let coarse = lods::coarser(meshes, name, coarse, hierarchy);
    if meshes.iter().all(|&mesh| coarse[mesh]) {
        return;
    }
    let left_out = meshes.extract_if(.., |node| coarse[*node]);
    lods::warn("nodes", left_out.map(|node| self::name(root, node)), report);
}

/// Returns, per node, `true` if a clip changes its visibility.
fn switched_nodes(root: &Root) -> Vec<bool> {
    let mut out = vec![false; root.nodes.len()];
    let channels = root.animations.iter().flat_map(|a| &a.channels);
    for target in channels.map(|channel| &channel.target) {
        if target.path == Some(Property::Visibility)
            && let Some(switched) = target.node.and_then(|node| out.get_mut(node.value()))
        {
            *switched = true;
        }
    }
    out
}

/// Returns the nodes that clips show and hide by their scale: rigid meshes, or in a file of clips, the nodes themselves.
fn switched(
    root: &Root,
    in_scene: &[bool],
    hierarchy: &Hierarchy,
    meshes: &[usize],
    is_switched: &[bool],
    hidden: &[bool],
    report: &mut Report,
) -> Vec<Switched> {
    let nodes = &root.nodes;
    let has_meshes = !meshes.is_empty();
    let mut is_mesh = vec![false; nodes.len()];
    meshes.iter().for_each(|&mesh| is_mesh[mesh] = true);
    let carries_skin = skin_carriers(root, meshes, hierarchy);
    let (mut out, mut fixed) = (Vec::new(), Vec::new());
    // Per node, the nodes at or above it whose visibility counts and that no joint above obeys, and whether one is hidden.
    let mut by: Vec<(Vec<usize>, bool)> = vec![Default::default(); nodes.len()];
    for &node in &hierarchy.order {
        let (mut own, mut is_hidden) = match hierarchy.parents[node] {
            Some(parent) => by[parent].clone(),
            None => Default::default(),
        };
        is_hidden |= nodes[node].is_hidden();
        if is_switched[node] && own.len() < MOST_NESTED {
            own.push(node);
        }
        let is_target = if has_meshes {
            is_mesh[node]
        } else {
            in_scene[node]
        };
        if is_target && !own.is_empty() {
            if nodes[node].skin.is_some() || carries_skin[node] {
                fixed.push(name(root, node));
            } else {
                out.push(Switched {
                    node,
                    is_hidden: hidden[node] && is_hidden,
                    by: std::mem::take(&mut own),
                    scale: DVec3::ONE,
                });
                is_hidden = false;
            }
        }
        by[node] = (own, is_hidden);
    }
    let what = "clips show or hide parts with a skin, which stay as they are at rest";
    let hint = "hide them at callback keys of the clips, with `PartOverrides`";
    report.warn_of("animations", what, fixed, hint);
    out
}

/// Returns, per node, `true` if a joint of a mesh's skin is at or below it. Joints of skins are not hidden by what is above them.
fn skin_carriers(root: &Root, meshes: &[usize], hierarchy: &Hierarchy) -> Vec<bool> {
    let skins = meshes.iter().filter_map(|&mesh| root.nodes[mesh].skin);
    let skins: BTreeSet<usize> = skins.map(|skin| skin.value()).collect();
    let mut carries = vec![false; root.nodes.len()];
    let joints = skins.iter().filter_map(|&skin| root.skins.get(skin));
    for joint in joints.flat_map(|skin| &skin.joints) {
        if let Some(carries) = carries.get_mut(joint.value()) {
            *carries = true;
        }
    }
    for &node in hierarchy.order.iter().rev() {
        if let Some(parent) = hierarchy.parents[node].filter(|_| carries[node]) {
            carries[parent] = true;
        }
    }
    carries
}

/// The name of a node with a mesh.
fn name(root: &Root, node: usize) -> String {
    let names = [root.nodes[node].name.as_deref(), mesh_name(root, node)];
    named(names, "node", node)
}

fn mesh_name(root: &Root, node: usize) -> Option<&str> {
    let Node { mesh, .. } = &root.nodes[node];
    root.meshes.get((*mesh)?.value())?.name.as_deref()
}
