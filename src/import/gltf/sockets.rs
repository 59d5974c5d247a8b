//! Nodes that are sockets.

use super::{
    extras,
    json::Root,
    nodes::{Local, Rig},
};
use crate::{
    import::{EmbeddedManifest, SocketEntry, report::Report},
    model::Skeleton,
};
use glam::{EulerRot, Vec3};
use std::collections::{BTreeMap, btree_map::Entry};

/// Adds the sockets of the nodes that say they are some. `skeleton` is that of the rig.
pub(super) fn read(
    root: &Root,
    rig: &Rig,
    skeleton: &Skeleton,
    embedded: &mut EmbeddedManifest,
    report: &mut Report,
) {
    // What is wrong with one was said when the joints were made.
    let silent = &mut Report::new("");
    let nodes = root.nodes.iter().enumerate();
    let named = nodes.filter_map(|(node, contents)| {
        let place = format!("nodes[{node}]");
        let name = extras::socket(&contents.extras, &place, silent)?;
        Some((node, place, name))
    });
    let named: Vec<(usize, String, String)> = named.collect();
    if named.is_empty() {
        return;
    }
    let mut parents = BTreeMap::new();
    for (node, contents) in root.nodes.iter().enumerate() {
        let children = contents.children.iter().flatten();
        parents.extend(children.map(|child| (child.value(), node)));
    }
    for (node, place, name) in named {
        let mut above = node;
        while rig.of_node[above].is_none()
            && let Some(&parent) = parents.get(&above)
        {
            above = parent;
        }
        let Some(joint) = rig.of_node[above] else {
            let message = format!("socket `{name}` is on no joint, and is left out");
            report.warn(&place, message, "make its node a child of a joint's");
            continue;
        };
        let offset = if above == node {
            Local::IDENTITY
        } else {
            rig.baked[node]
        };
        let (mut y, x, mut z) = offset.rotation.to_euler(EulerRot::YXZ);
        // An empty that Blender aligns with its bone lies here, where turns around Y and Z are the same.
        if x.cos().abs() < 1e-6 {
            (y, z) = (y - z * x.sin(), 0.0);
        }
        let entry = SocketEntry {
            joint: skeleton.name(joint as u16).to_string(),
            translation: offset.translation.as_vec3(),
            euler_degrees: Vec3::new(x as f32, y as f32, z as f32) * 1f32.to_degrees(),
            scale: offset.scale.x.abs() as f32,
        };
        let is_sound = entry.translation.is_finite()
            && entry.euler_degrees.is_finite()
            && entry.scale.is_finite();
        match embedded.sockets.entry(name) {
            Entry::Vacant(new) if is_sound => drop(new.insert(entry)),
            Entry::Vacant(odd) => {
                let message = format!("socket `{}` is out of reach, and is left out", odd.key());
                report.warn(&place, message, "check the scale of the nodes above");
            }
            Entry::Occupied(other) => {
                let message = format!("there is another socket `{}`", other.key());
                report.warn(&place, message, "it was left out: rename one of them");
            }
        }
    }
}
