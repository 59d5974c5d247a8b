//! The nodes of glTF's JSON, for [`Rig`].

use super::{
    accessors::Accessors,
    document::out_of_range,
    extras,
    json::{Channel, Index, Interpolation, Property, Root, Scene, Type},
    shown::{Shown, Switched, shown},
    vrm::Vrm,
};
use crate::{
    format::FormatError,
    hierarchy::Hierarchy,
    import::{
        ImportSettings, SceneEntry,
        axes::Basis,
        nodes::{Local, Node, Rig, may_be_hidden, shown_at},
        report::Report,
    },
    model::JointTransform,
    plural::{counted, have, there_are},
};
use glam::{Affine3A, DQuat, DVec3, Mat4, Quat, Vec3};

/// The most scenes that an error lists.
const MOST_SCENES: usize = 8;

/// Makes the joints of a scene of a file, and returns the nodes that clips show and hide. In a file with neither skin nor mesh, `is_joint` decides by its name
/// whether a node above those that move is a joint.
pub(super) fn read(
    accessors: &Accessors,
    scene: Option<usize>,
    basis: &Basis,
    settings: &ImportSettings,
    vrm: &Vrm,
    report: &mut Report,
    is_joint: Option<&dyn Fn(&str) -> bool>,
) -> Result<(Rig, Vec<Switched>), FormatError> {
    let root = accessors.root;
    let hierarchy = hierarchy(root, report)?;
    let mut locals = locals(root, basis, report)?;
    let scales = shown_scales(accessors, basis, &locals, report);
    let in_scene = in_scene(root, scene, &hierarchy);
    let mut moved = moved(root);
    let Shown {
        meshes,
        mut switched,
    } = shown(root, &in_scene, &hierarchy, settings.all_lods, report);
    for switched in &mut switched {
        let node = switched.node;
        (switched.scale, moved[node][2]) = (scales[node], true);
        if switched.is_hidden {
            locals[node].scale = DVec3::ZERO;
        }
    }
    let mut carried = carriers(root, &meshes, report)?;
    // Whether or not a skin or a clip moves them.
    for node in vrm.joints() {
        carried[node] |= in_scene[node] || vrm.is_animation;
    }
    (0..moved.len())
        .filter(|node| vrm.is_proxy(*node))
        .for_each(|node| moved[node] = [false; 3]);
    let mut is_socket = vec![false; root.nodes.len()];
    for (at, node) in root.nodes.iter().enumerate() {
        let place = format!("nodes[{at}]");
        is_socket[at] = extras::socket(&node.extras, &place, report).is_some();
    }
    let node = |(at, node): (usize, &super::json::Node)| Node {
        name: node.name.clone(),
        local: locals[at],
        shown: scales[at],
        is_animated: moved[at].contains(&true),
        // A file without animations doesn't tell which of its transforms are at rest.
        posed: if root.animations.is_empty() {
            [true; 3]
        } else {
            moved[at]
        },
        is_in_scene: in_scene[at],
        carries: carried[at],
        is_skinned: node.skin.is_some(),
        is_control: extras::is_control(&node.extras),
        is_socket: is_socket[at],
    };
    let nodes: Vec<Node> = root.nodes.iter().enumerate().map(node).collect();
    let rig = Rig::new(
        &nodes,
        &hierarchy,
        meshes,
        &settings.limits,
        report,
        is_joint,
    )?;
    Ok((rig, switched))
}

/// Returns the tree of the nodes. glTF lists children, so a node can have two parents, or be its
/// own ancestor: both are errors.
fn hierarchy(root: &Root, report: &Report) -> Result<Hierarchy, FormatError> {
    const HINT: &str = "glTF's nodes form trees; check the file with the glTF validator";
    let count = root.nodes.len();
    let mut parents: Vec<Option<u32>> = vec![None; count];
    for (node, contents) in root.nodes.iter().enumerate() {
        for (at, child) in contents.children.iter().flatten().enumerate() {
            let place = || format!("nodes[{node}].children[{at}]");
            let Some(parent) = parents.get_mut(child.value()) else {
                return Err(report.error(
                    &place(),
                    format!("node {child} is out of range: {}", there_are(count, "node")),
                    HINT,
                ));
            };
            // Whichever parent is meant, the tree is ambiguous.
            if let Some(other) = parent.replace(node as u32) {
                let message = format!("node {child} has two parents: {other} and {node}");
                return Err(report.error(&place(), message, HINT));
            }
        }
    }
    let hierarchy = Hierarchy::new(parents);
    match hierarchy.cut.first() {
        Some(node) => Err(report.error(
            &format!("nodes[{node}]"),
            "the node is among its own ancestors",
            HINT,
        )),
        None => Ok(hierarchy),
    }
}

/// Returns a node's matrix as its parts, in Bevy's axes, and `true` if it has shear, which the parts don't.
fn local_of_matrix(matrix: &[f32; 16], basis: &Basis) -> (Local, bool) {
    let affine = basis
        .affine(Affine3A::from_mat4(Mat4::from_cols_array(matrix)))
        .as_daffine3();
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    let rotation = if rotation.is_finite() {
        rotation.normalize()
    } else {
        DQuat::IDENTITY
    };
    let local = Local {
        translation,
        rotation,
        scale,
    };
    let most = 1e-5 * scale.abs().max_element().max(1.0);
    let is_sheared = affine.is_finite() && !local.to_affine().abs_diff_eq(affine, most);
    (local, is_sheared)
}

/// Returns the nodes' own transforms, in Bevy's axes.
fn locals(root: &Root, basis: &Basis, report: &mut Report) -> Result<Vec<Local>, FormatError> {
    let mut locals = Vec::with_capacity(root.nodes.len());
    let (mut sheared, mut unturned) = (Vec::new(), Vec::new());
    for (at, node) in root.nodes.iter().enumerate() {
        let local = match &node.matrix {
            Some(matrix) => {
                let (local, is_sheared) = local_of_matrix(matrix, basis);
                sheared.extend(is_sheared.then_some(at));
                local
            }
            None => {
                let rotation = Quat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
                // No quaternion is all zeros, but some exporters write that for no rotation.
                let is_turn = rotation.length_squared() > 1e-12;
                unturned.extend((!is_turn).then_some(at));
                let transform = basis.transform(JointTransform {
                    translation: Vec3::from(node.translation.unwrap_or_default()),
                    rotation: if is_turn { rotation } else { Quat::IDENTITY },
                    scale: Vec3::from(node.scale.unwrap_or([1.0; 3])),
                });
                Local {
                    translation: transform.translation.as_dvec3(),
                    rotation: transform.rotation.as_dquat().normalize(),
                    scale: transform.scale.as_dvec3(),
                }
            }
        };
        if !(local.translation.is_finite() && local.rotation.is_finite() && local.scale.is_finite())
        {
            let message = "the node's transform has a number that is not finite";
            return Err(report.error(&format!("nodes[{at}]"), message, "export the file again"));
        }
        locals.push(local);
    }
    for (nodes, what, hint) in [
        (
            sheared,
            "a matrix with shear",
            "shear was left out: apply the transforms before exporting",
        ),
        (
            unturned,
            "a rotation of all zeros",
            "it was taken for no rotation",
        ),
    ] {
        if let Some(first) = nodes.first() {
            report.warn(
                &format!("nodes[{first}]"),
                format!(
                    "{} {} {what}",
                    counted(nodes.len(), "node"),
                    have(nodes.len())
                ),
                hint,
            );
        }
    }
    Ok(locals)
}

/// Returns, per node, the scale at which it is seen: its own, or that of a clip if it is much
/// larger.
fn shown_scales(
    accessors: &Accessors,
    basis: &Basis,
    locals: &[Local],
    report: &Report,
) -> Vec<DVec3> {
    let mut shown: Vec<DVec3> = locals.iter().map(|local| local.scale).collect();
    for animation in &accessors.root.animations {
        for channel in &animation.channels {
            let Some((node, Property::Scale)) = target(channel) else {
                continue;
            };
            // Few nodes are that small, and only their keys are read.
            let rest = locals.get(node).map(|local| local.scale);
            let Some(rest) = rest.filter(|&rest| may_be_hidden(rest)) else {
                continue;
            };
            let Some(sampler) = animation.samplers.get(channel.sampler.value()) else {
                continue;
            };
            // Errors are reported when the sampler is read for a clip.
            let open = |index: usize, kind| accessors.open(report, "", index, &[kind]).ok();
            let times = open(sampler.input.value(), Type::Scalar);
            let (Some(times), Some(values)) = (times, open(sampler.output.value(), Type::Vec3))
            else {
                continue;
            };
            // A cubic key has an incoming tangent, a value, and an outgoing tangent.
            let (per_key, value_at) = match sampler.interpolation {
                Some(Interpolation::CubicSpline) => (3, 1),
                _ => (1, 0),
            };
            for key in 0..times.len().min(values.len() / per_key) {
                let scale = Vec3::from(values.floats(key * per_key + value_at));
                let scale = basis.scale_of(scale).as_dvec3();
                shown[node] = shown_at(rest, shown[node], scale);
            }
        }
    }
    shown
}

/// Returns the index of the scene that is read: the one that the file names, or the first; `None` if
/// there is none. If that is empty, as if an artist left an empty scene open, the first scene that
/// isn't takes its place.
pub(super) fn scene(
    root: &Root,
    wanted: Option<&SceneEntry>,
    report: &mut Report,
) -> Result<Option<usize>, FormatError> {
    if let Some(wanted) = wanted {
        return chosen(root, wanted, report).map(Some);
    }
    let default = root.scene.map_or(0, Index::value);
    if let Some(index) = root
        .scene
        .filter(|index| index.value() >= root.scenes.len())
    {
        let count = root.scenes.len();
        return Err(out_of_range("scene", index, count, "scene", report));
    }
    let is_empty = |at: usize| root.scenes[at].nodes.is_empty();
    let mut others = 0..root.scenes.len();
    if others.is_empty() || !is_empty(default) {
        return Ok((!others.is_empty()).then_some(default));
    }
    let Some(other) = others.find(|&other| !is_empty(other)) else {
        return Ok(Some(default));
    };
    let name = root.scenes[other].name.as_deref();
    let message = match name.filter(|name| !name.trim().is_empty()) {
        Some(name) => format!("the default scene is empty; scene `{name}` is read"),
        None => format!("the default scene is empty; scene {other} is read"),
    };
    report.warn(
        &format!("scenes[{default}]"),
        message,
        "export the scene with the character as the active one",
    );
    Ok(Some(other))
}

/// Returns the index of a scene that a manifest asks for.
fn chosen(root: &Root, wanted: &SceneEntry, report: &Report) -> Result<usize, FormatError> {
    let found = match wanted {
        SceneEntry::Number(number) => Some(*number as usize).filter(|at| *at < root.scenes.len()),
        SceneEntry::Name(name) => {
            let mut scenes = root.scenes.iter();
            scenes.position(|scene| scene.name.as_ref() == Some(name))
        }
    };
    found.ok_or_else(|| {
        // Names first, numbers for scenes without one.
        let scene = |(at, scene): (usize, &Scene)| match &scene.name {
            Some(name) => SceneEntry::Name(name.clone()).to_string(),
            None => at.to_string(),
        };
        let some: Vec<String> = root
            .scenes
            .iter()
            .enumerate()
            .take(MOST_SCENES)
            .map(scene)
            .collect();
        let more = if root.scenes.len() > MOST_SCENES {
            ", …"
        } else {
            ""
        };
        let hint = match some.is_empty() {
            true => "the file has no scenes: remove `scene` from the manifest".to_owned(),
            false => format!("available: {}{more}", some.join(", ")),
        };
        report.error("scenes", format!("there is no scene {wanted}"), &hint)
    })
}

/// Returns, per node, `true` if it is in the scene. Every node is if there is none.
fn in_scene(root: &Root, scene: Option<usize>, hierarchy: &Hierarchy) -> Vec<bool> {
    let scene = scene.map(|scene| &root.scenes[scene]);
    let mut in_scene = vec![scene.is_none(); root.nodes.len()];
    for node in scene.iter().flat_map(|scene| &scene.nodes) {
        if let Some(is_in) = in_scene.get_mut(node.value()) {
            *is_in = true;
        }
    }
    // Parents come first in this order, so whole branches follow.
    for &node in &hierarchy.order {
        in_scene[node] |= hierarchy.parents[node].is_some_and(|parent| in_scene[parent]);
    }
    in_scene
}

/// Returns, per node, which of translation, rotation and scale an animation moves.
fn moved(root: &Root) -> Vec<[bool; 3]> {
    let mut moved = vec![[false; 3]; root.nodes.len()];
    let animations = root.animations.iter();
    for (node, property) in animations.flat_map(|a| &a.channels).filter_map(target) {
        if let Some(moved) = moved.get_mut(node) {
            match property {
                Property::Translation => moved[0] = true,
                Property::Rotation => moved[1] = true,
                Property::Scale => moved[2] = true,
                _ => {}
            }
        }
    }
    moved
}

/// The node whose property a channel animates, and the property.
fn target(channel: &Channel) -> Option<(usize, Property)> {
    Some((channel.target.node?.value(), channel.target.path?))
}

/// Returns, per node, `true` if it carries something: the joints of the skins in use, and the nodes
/// of rigid meshes.
fn carriers(root: &Root, meshes: &[usize], report: &Report) -> Result<Vec<bool>, FormatError> {
    let mut carried = vec![false; root.nodes.len()];
    let mut skins: Vec<usize> = Vec::new();
    for &node in meshes {
        match root.nodes[node].skin {
            Some(skin) if skin.value() < root.skins.len() => skins.push(skin.value()),
            Some(skin) => {
                let (place, count) = (format!("nodes[{node}].skin"), root.skins.len());
                return Err(out_of_range("skin", skin, count, &place, report));
            }
            None => carried[node] = true,
        }
    }
    // A file of clips may have kept skins that no mesh uses.
    if skins.is_empty() {
        skins = (0..root.skins.len()).collect();
    }
    skins.sort_unstable();
    skins.dedup();
    for skin in skins {
        for (at, joint) in root.skins[skin].joints.iter().enumerate() {
            let Some(is_carrier) = carried.get_mut(joint.value()) else {
                let (place, count) = (format!("skins[{skin}].joints[{at}]"), root.nodes.len());
                return Err(out_of_range("node", joint, count, &place, report));
            };
            *is_carrier = true;
        }
    }
    Ok(carried)
}
