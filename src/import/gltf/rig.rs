//! Nodes → joints.
//!
//! The joints are the joints of the skins, the nodes that carry a rigid mesh, what is animated above these, and all nodes
//! below them, which sockets may refer to. The transforms of the other nodes above, such as an armature's, are baked into
//! the topmost joints. A file with neither skin nor mesh only holds clips, and exporters leave out what doesn't move: there, the
//! nodes above those that move are joints, too, up to the armature.
//!
//! A joint's own space may be scaled: exporters put factors of 100 on armatures and bones. A joint *frame* takes the
//! uniform scale of the rest pose out of every space, so that joints have a scale of one, and lengths are in model units.
//! That is exact, because a uniform scale commutes with everything above it.
//!
//! So it is with reflections: exporters mirror armatures, and the bones of one side, by a scale of −1. A joint frame also takes
//! the signs of the rest pose's scales out of the space. Seen through a reflection, a rotation is another rotation, so no matrix
//! of a joint mirrors, and whatever reads rotations off these matrices gets rotations. Only a clip that mirrors a joint which
//! isn't mirrored at rest can't be seen so, and a warning says so.
//!
//! What rests at a tiny scale, and is scaled up by a clip, is hidden. Its frame is that of the scale at which it is shown.

use super::{
    accessors::Accessors,
    extras,
    json::{Channel, Index, Property, Root, Type},
    report::Report,
};
use crate::{
    format::FormatError,
    hierarchy::Hierarchy,
    import::{Limits, axes::Basis},
    model::{JointTransform, NodeSpace, Skeleton, seen_in, signs},
};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Mat4, Quat, Vec3};

/// A transform in `f64`: `T · R · S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub(super) translation: DVec3,
    pub(super) rotation: DQuat,
    pub(super) scale: DVec3,
}

impl Local {
    pub(super) const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    pub(super) fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    pub(super) fn to_transform(self) -> JointTransform {
        JointTransform {
            translation: self.translation.as_vec3(),
            rotation: self.rotation.as_quat().normalize(),
            scale: self.scale.as_vec3(),
        }
    }
}

/// Returns the length of a scale's components if it is the same for all, whatever their signs.
fn uniform(scale: DVec3) -> Option<f64> {
    let DVec3 { x, y, z } = scale.abs();
    let uniform = (x - y).abs() <= UNIFORM * x && (x - z).abs() <= UNIFORM * x;
    (uniform && (1e-6..1e6).contains(&x)).then_some(x)
}

/// A scale that hides what is at it, unless a mesh is that much larger.
const TINY: f64 = 1e-4;

/// How many times larger than at rest a clip makes what it shows.
const HIDING: f64 = 100.0;

/// How far the components of a uniform scale may differ, and a scale from one. What exporters round is less.
const UNIFORM: f64 = 4e-6;

/// How a node's transform relative to its parent becomes that of its joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// What is baked in from above.
    turn: DQuat,
    offset: DVec3,
    /// Factor of translations: what was taken out of the space above. All components are of one length.
    above: DVec3,
    /// Factor of scales.
    scale: DVec3,
    /// The scale that is taken out of the joint's space: its vectors are this much longer than the node's. Components below 0
    /// mirror.
    pub(super) size: DVec3,
}

impl Frame {
    pub(super) fn translation(&self, v: DVec3) -> DVec3 {
        self.offset + self.direction(v)
    }

    /// Converts the rate of change of a translation.
    pub(super) fn direction(&self, v: DVec3) -> DVec3 {
        self.turn * (v * self.above)
    }

    /// Converts a rotation, or its rate of change.
    pub(super) fn rotation(&self, q: DQuat) -> DQuat {
        self.turn * seen_in(signs(self.above), q)
    }

    /// Converts a scale, or its rate of change.
    pub(super) fn scale(&self, v: DVec3) -> DVec3 {
        v * self.scale
    }

    /// What a skeleton keeps of it.
    pub(super) fn node_space(&self) -> NodeSpace {
        let Self {
            turn,
            offset,
            above,
            size,
            ..
        } = *self;
        NodeSpace {
            turn,
            offset,
            above,
            size,
        }
    }

    pub(super) fn local(&self, local: Local) -> Local {
        let scale = self.scale(local.scale);
        let near_one = (scale - 1.0).abs().max_element() <= UNIFORM;
        Local {
            translation: self.translation(local.translation),
            rotation: self.rotation(local.rotation),
            scale: if near_one { DVec3::ONE } else { scale },
        }
    }
}

/// A node that is a joint.
pub(super) struct RigJoint {
    pub(super) parent: Option<usize>,
    pub(super) name: String,
    pub(super) frame: Frame,
    /// The rest transform relative to the parent joint.
    pub(super) rest: Local,
    /// The rest transform in model space.
    pub(super) rest_model: DAffine3,
    /// The same with what is hidden at a tiny scale as large as when it is shown.
    pub(super) shown_model: DAffine3,
    /// The file says that it doesn't deform the skin.
    pub(super) is_control: bool,
    /// The node.
    pub(super) node: usize,
    /// Whether its translation, rotation and scale may be posed rather than at rest.
    pub(super) posed: [bool; 3],
}

/// The joints of a file, parents first.
pub(super) struct Rig {
    pub(super) joints: Vec<RigJoint>,
    /// Per node, its joint.
    pub(super) of_node: Vec<Option<usize>>,
    /// The nodes of the scene that carry a mesh.
    pub(super) meshes: Vec<usize>,
    /// Per node, its transform relative to its parent, in Bevy's axes.
    pub(super) locals: Vec<Local>,
    /// Per node, where it is in the scene.
    pub(super) places: Vec<DAffine3>,
}

impl Rig {
    /// `is_joint` tells by its name whether a node above what moves is a joint, in a file with neither skin nor mesh.
    pub(super) fn new(
        accessors: &Accessors,
        basis: &Basis,
        limits: &Limits,
        report: &mut Report,
        is_joint: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<Self, FormatError> {
        let root = accessors.root;
        let hierarchy = hierarchy(root, report)?;
        let locals = locals(root, basis, report)?;
        let shown = shown_scales(accessors, basis, &locals, report);
        let parents = &hierarchy.parents;
        let in_scene = in_scene(root, &hierarchy, report)?;
        let animated = animated(root);

        let meshes: Vec<usize> = (0..root.nodes.len())
            .filter(|&n| in_scene[n] && root.nodes[n].mesh.is_some())
            .collect();
        let mut carried = carriers(root, &meshes, report)?;
        if !carried.contains(&true) {
            carried = movers(root, &hierarchy, &in_scene, &animated, is_joint);
        }
        // From the leaves: whether there is something to move here or below.
        let mut carries = carried.clone();
        for &node in hierarchy.order.iter().rev() {
            if let Some(parent) = parents[node].filter(|_| carries[node]) {
                carries[parent] = true;
            }
        }
        let mut is_joint = vec![false; root.nodes.len()];
        for &node in &hierarchy.order {
            let is_below = parents[node].is_some_and(|parent| is_joint[parent]);
            let is_mere_skin = root.nodes[node].skin.is_some() && !carries[node];
            let is_needed = carries[node] && (animated[node] || uniform(shown[node]).is_none());
            is_joint[node] = carried[node] || is_needed || (is_below && !is_mere_skin);
        }
        let count = is_joint.iter().filter(|is_joint| **is_joint).count();
        limits.check_joints(report.file, count)?;
        if count > Skeleton::MAX_JOINTS {
            let message = format!(
                "{count} joints, but a skeleton holds at most {}",
                Skeleton::MAX_JOINTS
            );
            return Err(report.error("nodes", message, "merge or remove nodes"));
        }
        let mut has_children = vec![false; root.nodes.len()];
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|_| is_joint[node]) {
                has_children[parent] = true;
            }
        }

        let mut places = vec![DAffine3::IDENTITY; root.nodes.len()];
        for &node in &hierarchy.order {
            let local = locals[node].to_affine();
            places[node] = parents[node].map_or(local, |parent| places[parent] * local);
        }
        let posed = posed(root);
        let of_node = vec![None; root.nodes.len()];
        let mut rig = Self {
            joints: Vec::with_capacity(count),
            of_node,
            meshes,
            locals,
            places,
        };
        // Per node that is no joint, what its transform and those above amount to.
        let mut baked = vec![Local::IDENTITY; root.nodes.len()];
        for &node in &hierarchy.order {
            let local = rig.locals[node];
            let parent = parents[node].and_then(|parent| rig.of_node[parent]);
            let above = match (parent, parents[node]) {
                (Some(joint), _) => Local {
                    scale: rig.joints[joint].frame.size,
                    ..Local::IDENTITY
                },
                (None, Some(parent)) => baked[parent],
                (None, None) => Local::IDENTITY,
            };
            let shown = shown[node];
            if !is_joint[node] {
                baked[node] = Local {
                    translation: above.translation
                        + above.rotation * (local.translation * above.scale),
                    rotation: (above.rotation * seen_in(signs(above.scale), local.rotation))
                        .normalize(),
                    scale: above.scale * signs(shown) * uniform(shown).unwrap_or(1.0),
                };
                continue;
            }
            let size = above.scale
                * match uniform(shown) {
                    Some(scale) => signs(shown) * scale,
                    // With nothing below, any scale can be taken out.
                    None if !has_children[node] && shown.abs().cmpgt(DVec3::splat(1e-6)).all() => {
                        shown
                    }
                    None => signs(shown),
                };
            let frame = Frame {
                turn: above.rotation,
                offset: above.translation,
                above: above.scale,
                scale: above.scale / size,
                size,
            };
            let rest = frame.local(local);
            // What no clip here shows may be shown by one in another file.
            let unhidden =
                DVec3::select(shown.abs().cmplt(DVec3::splat(TINY)), signs(shown), shown);
            let shown = frame.local(Local {
                scale: unhidden,
                ..local
            });
            let above = parent.map(|parent| &rig.joints[parent]);
            let rest_model =
                above.map_or(DAffine3::IDENTITY, |above| above.rest_model) * rest.to_affine();
            let shown_model =
                above.map_or(DAffine3::IDENTITY, |above| above.shown_model) * shown.to_affine();
            let name = root.nodes[node]
                .name
                .clone()
                .filter(|name| !name.trim().is_empty());
            rig.of_node[node] = Some(rig.joints.len());
            rig.joints.push(RigJoint {
                parent,
                name: name.unwrap_or_else(|| format!("node{node}")),
                frame,
                rest,
                rest_model,
                shown_model,
                is_control: extras::is_control(&root.nodes[node].extras),
                node,
                posed: posed[node],
            });
        }
        Ok(rig)
    }
}

/// The nodes' tree. glTF lists children, so a node can have two parents, or be its own ancestor.
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
                    format!("node {child} is out of range: there are {count}"),
                    HINT,
                ));
            };
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

/// The nodes' own transforms, in Bevy's axes.
fn locals(root: &Root, basis: &Basis, report: &mut Report) -> Result<Vec<Local>, FormatError> {
    let mut locals = Vec::with_capacity(root.nodes.len());
    let (mut sheared, mut unturned) = (Vec::new(), Vec::new());
    for (at, node) in root.nodes.iter().enumerate() {
        let local = match &node.matrix {
            Some(matrix) => {
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
                if affine.is_finite()
                    && !local
                        .to_affine()
                        .abs_diff_eq(affine, 1e-5 * scale.abs().max_element().max(1.0))
                {
                    sheared.push(at);
                }
                local
            }
            None => {
                let rotation = Quat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
                let is_turn = rotation.length_squared() > 1e-12;
                if !is_turn {
                    unturned.push(at);
                }
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
            "have a matrix with shear",
            "shear was left out: apply the transforms before exporting",
        ),
        (
            unturned,
            "have a rotation of all zeros",
            "it was taken for no rotation",
        ),
    ] {
        if let Some(first) = nodes.first() {
            report.warn(
                &format!("nodes[{first}]"),
                format!("{} nodes {what}", nodes.len()),
                hint,
            );
        }
    }
    Ok(locals)
}

/// Per node, the scale at which it is shown: its own, or that of a clip where this is much larger.
fn shown_scales(
    accessors: &Accessors,
    basis: &Basis,
    locals: &[Local],
    report: &Report,
) -> Vec<DVec3> {
    let mut shown: Vec<DVec3> = locals.iter().map(|local| local.scale).collect();
    // Few do, and only their keys are read.
    let hides = |scale: DVec3| scale.abs().min_element() < 2.0 / HIDING;
    for animation in &accessors.root.animations {
        for channel in &animation.channels {
            let Some((node, Property::Scale)) = target(channel) else {
                continue;
            };
            let Some(rest) = locals
                .get(node)
                .map(|local| local.scale)
                .filter(|scale| hides(*scale))
            else {
                continue;
            };
            let Some(sampler) = animation.samplers.get(channel.sampler.value()) else {
                continue;
            };
            // What is wrong with them is said when they are read as a clip.
            let open = |index: usize, kind| accessors.open(report, "", index, &[kind]).ok();
            let times = open(sampler.input.value(), Type::Scalar);
            let (Some(times), Some(values)) = (times, open(sampler.output.value(), Type::Vec3))
            else {
                continue;
            };
            // Splines have a tangent on either side of each value.
            let is_spline = values.len() >= 3 * times.len();
            for key in 0..times.len().min(values.len()) {
                let scale = Vec3::from(values.floats(if is_spline { 3 * key + 1 } else { key }));
                let scale = basis
                    .transform(JointTransform {
                        scale,
                        ..JointTransform::IDENTITY
                    })
                    .scale
                    .as_dvec3();
                let most = scale
                    .abs()
                    .cmpgt((rest.abs() * HIDING).max(shown[node].abs()));
                shown[node] = if scale.is_finite() {
                    DVec3::select(most, scale, shown[node])
                } else {
                    shown[node]
                };
            }
        }
    }
    shown
}

/// Which nodes are in the default scene: the one that the file names, or the first, or everything if there is none. If that is
/// empty, as where an artist left an empty scene open, the first that isn't takes its place.
fn in_scene(
    root: &Root,
    hierarchy: &Hierarchy,
    report: &mut Report,
) -> Result<Vec<bool>, FormatError> {
    let default = root.scene.map_or(0, Index::value);
    if let Some(index) = root
        .scene
        .filter(|index| index.value() >= root.scenes.len())
    {
        let message = format!(
            "scene {index} is out of range: there are {}",
            root.scenes.len()
        );
        return Err(report.error("scene", message, "check the file with the glTF validator"));
    }
    let mut scene = root.scenes.get(default);
    if scene.is_some_and(|scene| scene.nodes.is_empty())
        && let Some(other) = root.scenes.iter().position(|scene| !scene.nodes.is_empty())
    {
        scene = root.scenes.get(other);
        let name = scene.and_then(|scene| scene.name.as_deref());
        let message = match name.filter(|name| !name.trim().is_empty()) {
            Some(name) => format!("the default scene is empty; scene `{name}` is read"),
            None => format!("the default scene is empty; scene {other} is read"),
        };
        report.warn(
            &format!("scenes[{default}]"),
            message,
            "export the scene with the character as the active one",
        );
    }
    let mut in_scene = vec![scene.is_none(); root.nodes.len()];
    for node in scene.iter().flat_map(|scene| &scene.nodes) {
        if let Some(is_in) = in_scene.get_mut(node.value()) {
            *is_in = true;
        }
    }
    for &node in &hierarchy.order {
        in_scene[node] |= hierarchy.parents[node].is_some_and(|parent| in_scene[parent]);
    }
    Ok(in_scene)
}

/// Which properties of which nodes may stand otherwise than they rest: translation, rotation and scale. Those that an animation
/// moves, or without animations, any.
fn posed(root: &Root) -> Vec<[bool; 3]> {
    let mut posed = vec![[root.animations.is_empty(); 3]; root.nodes.len()];
    for channel in root
        .animations
        .iter()
        .flat_map(|animation| &animation.channels)
    {
        if let (Some(property), Some(node)) = (channel.target.path, channel.target.node)
            && let Some(posed) = posed.get_mut(node.value())
        {
            match property {
                Property::Translation => posed[0] = true,
                Property::Rotation => posed[1] = true,
                Property::Scale => posed[2] = true,
                Property::MorphTargetWeights => {}
            }
        }
    }
    posed
}

/// Which nodes an animation moves.
fn animated(root: &Root) -> Vec<bool> {
    let mut animated = vec![false; root.nodes.len()];
    for channel in root
        .animations
        .iter()
        .flat_map(|animation| &animation.channels)
    {
        if let Some((node, _)) = target(channel)
            && let Some(is_animated) = animated.get_mut(node)
        {
            *is_animated = true;
        }
    }
    animated
}

/// The node that a channel moves, and its property.
fn target(channel: &Channel) -> Option<(usize, Property)> {
    let property = channel
        .target
        .path
        .filter(|property| *property != Property::MorphTargetWeights)?;
    Some((channel.target.node?.value(), property))
}

/// Which nodes carry something: the joints of the skins in use, and the nodes of rigid meshes.
fn carriers(root: &Root, meshes: &[usize], report: &Report) -> Result<Vec<bool>, FormatError> {
    let mut carried = vec![false; root.nodes.len()];
    let mut skins: Vec<usize> = Vec::new();
    for &node in meshes {
        match root.nodes[node].skin {
            Some(skin) if skin.value() < root.skins.len() => skins.push(skin.value()),
            Some(skin) => {
                let message = format!(
                    "skin {skin} is out of range: there are {}",
                    root.skins.len()
                );
                return Err(report.error(
                    &format!("nodes[{node}].skin"),
                    message,
                    "check the file with the glTF validator",
                ));
            }
            None => carried[node] = true,
        }
    }
    if skins.is_empty() {
        skins = (0..root.skins.len()).collect();
    }
    skins.sort_unstable();
    skins.dedup();
    for skin in skins {
        for (at, joint) in root.skins[skin].joints.iter().enumerate() {
            let Some(is_carrier) = carried.get_mut(joint.value()) else {
                let message = format!(
                    "node {joint} is out of range: there are {}",
                    root.nodes.len()
                );
                let place = format!("skins[{skin}].joints[{at}]");
                return Err(report.error(
                    &place,
                    message,
                    "check the file with the glTF validator",
                ));
            };
            *is_carrier = true;
        }
    }
    Ok(carried)
}

/// In a file that only holds clips, the nodes that these move, and those above them that are joints: as `is_joint` says, or all but
/// the armature.
fn movers(
    root: &Root,
    hierarchy: &Hierarchy,
    in_scene: &[bool],
    animated: &[bool],
    is_joint: Option<&dyn Fn(&str) -> bool>,
) -> Vec<bool> {
    let moves: Vec<bool> = in_scene
        .iter()
        .zip(animated)
        .map(|(in_scene, animated)| *in_scene && *animated)
        .collect();
    let mut carries = moves.clone();
    for &node in hierarchy.order.iter().rev() {
        if let Some(parent) = hierarchy.parents[node].filter(|_| carries[node]) {
            carries[parent] = true;
        }
    }
    // From the scene down to the first node that moves or has two children are armatures and the like.
    let mut is_armature = vec![false; moves.len()];
    for &node in &hierarchy.order {
        let is_first = hierarchy.parents[node].is_none_or(|parent| is_armature[parent]);
        let children = root.nodes[node].children.as_ref().map_or(0, Vec::len);
        is_armature[node] = is_first && !moves[node] && children < 2;
    }
    let is_kept = |node: usize| match is_joint {
        Some(is_joint) => is_joint(root.nodes[node].name.as_deref().unwrap_or_default()),
        None => !is_armature[node],
    };
    (0..moves.len())
        .map(|node| moves[node] || carries[node] && is_kept(node))
        .collect()
}
