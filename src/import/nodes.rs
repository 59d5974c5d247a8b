//! The nodes of a file → joints.
//!
//! The joints are the joints of the skins, the nodes that carry a rigid mesh, animated nodes above
//! these, and all nodes below them, which sockets may refer to. The transforms of the other nodes
//! above, such as an armature's, are baked into the topmost joints. A file with neither skin nor
//! mesh only holds clips, and exporters leave out nodes that don't move. In such a file, the nodes
//! above those that move are joints, too, up to the armature.
//!
//! A joint's own space may be scaled: exporters put factors of 100 on armatures and bones. A joint *frame* takes the
//! uniform scale of the rest pose out of every space, so that joints have a scale of one, and lengths are in model units.
//! That is exact, because a uniform scale commutes with everything above it.
//!
//! The same goes for reflections: exporters mirror armatures, and the bones of one side, by a scale
//! of −1. A joint frame also takes the signs of the rest pose's scales out of the space. Seen
//! through a reflection, a rotation is another rotation, so no matrix of a joint mirrors, and code
//! that reads rotations off these matrices gets rotations. Only a clip that mirrors a joint which
//! isn't mirrored at rest can't be expressed this way, and causes a warning.
//!
//! Nodes at a tiny scale at rest that a clip scales up are hidden. Their frame is that of the scale
//! at which they are shown.

pub(super) mod bind;
mod bind_pose;

use super::{ImportLimits, names::named, report::Report};
use crate::{
    format::FormatError,
    hierarchy::Hierarchy,
    model::{JointTransform, NodeSpace, Skeleton, seen_in, signs},
};
use glam::{DAffine3, DQuat, DVec3};

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

/// The scale up to which a node counts as hidden, unless a mesh is that much larger.
const TINY: f64 = 1e-4;

/// The smallest factor by which a clip enlarges a node that counts as hidden at rest: files hide
/// things by scaling them to almost nothing.
const HIDING: f64 = 100.0;

/// Returns `true` if a node is so small at rest that a clip may show it.
pub(super) fn may_be_hidden(rest: DVec3) -> bool {
    rest.abs().min_element() < 2.0 / HIDING
}

/// Returns the scale at which a node is shown: `shown` so far, or that of a clip's `key` where it is much larger than at
/// rest, because the node is hidden there.
pub(super) fn shown_at(rest: DVec3, shown: DVec3, key: DVec3) -> DVec3 {
    let most = (rest.abs() * HIDING).max(shown.abs());
    if key.is_finite() {
        DVec3::select(key.abs().cmpgt(most), key, shown)
    } else {
        shown
    }
}

/// The largest difference between the components of a uniform scale, and of a scale from one.
/// Exporters' rounding errors are smaller.
const UNIFORM: f64 = 4e-6;

/// The conversion of a node's transform relative to its parent to that of its joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The rotation that is baked in from above.
    turn: DQuat,
    offset: DVec3,
    /// Factor of translations: the scale that was taken out of the space above. All components have
    /// the same size.
    above: DVec3,
    /// Factor of scales.
    scale: DVec3,
    /// The scale that is taken out of the joint's space: its vectors are longer than the node's by
    /// this factor. Components below 0 mirror.
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

    /// Returns the part that a skeleton keeps.
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

/// A node of a file.
pub(super) struct Node {
    pub(super) name: Option<String>,
    /// The transform relative to its parent, in Bevy's axes.
    pub(super) local: Local,
    /// The scale at which it is shown: its own, or that of a clip if this is much larger.
    pub(super) shown: DVec3,
    /// `true` if a clip moves it.
    pub(super) is_animated: bool,
    /// `true` for each of translation, rotation and scale that may be posed rather than at rest:
    /// those that a clip moves or, without clips, all.
    pub(super) posed: [bool; 3],
    pub(super) is_in_scene: bool,
    /// `true` if it is a joint of a skin in use, or carries a rigid mesh.
    pub(super) carries: bool,
    /// `true` if it wears a skin, so its own transform has no effect.
    pub(super) is_skinned: bool,
    /// `true` if the file says that it doesn't deform the skin.
    pub(super) is_control: bool,
    /// The file says that it is a socket, which is no joint unless it must be one.
    pub(super) is_socket: bool,
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
    /// The same, with hidden joints as large as when they are shown.
    pub(super) shown_model: DAffine3,
    /// `true` if the file says that it doesn't deform the skin.
    pub(super) is_control: bool,
    /// The node.
    pub(super) node: usize,
    /// `true` for each of translation, rotation and scale that may be posed rather than at rest.
    pub(super) posed: [bool; 3],
}

/// The joints of a file, parents first.
pub(super) struct Rig {
    pub(super) joints: Vec<RigJoint>,
    /// Per node, its joint.
    pub(super) of_node: Vec<Option<usize>>,
    /// The nodes of the scene that carry a mesh. In FBX, meshes are listed by themselves.
    #[cfg_attr(not(feature = "gltf"), allow(dead_code))]
    pub(super) meshes: Vec<usize>,
    /// Per node, its transform relative to its parent, in Bevy's axes.
    pub(super) locals: Vec<Local>,
    /// Per node that is no joint, its transform relative to the joint above, or to the scene.
    #[cfg_attr(not(feature = "gltf"), allow(dead_code))]
    pub(super) baked: Vec<Local>,
    /// Per node, where it is in the scene.
    pub(super) places: Vec<DAffine3>,
}

impl Rig {
    /// Makes joints of `nodes`, of which those in `meshes` carry a mesh. In a file with neither
    /// skin nor mesh, `is_joint` returns `true` for the name of a node above those that move if it
    /// is a joint.
    pub(super) fn new(
        nodes: &[Node],
        hierarchy: &Hierarchy,
        meshes: Vec<usize>,
        limits: &ImportLimits,
        report: &Report,
        is_joint: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<Self, FormatError> {
        let parents = &hierarchy.parents;
        let is_joint = joints_among(nodes, hierarchy, is_joint);
        let count = is_joint.iter().filter(|is_joint| **is_joint).count();
        limits.check_joints(report.file, count)?;
        if count > Skeleton::MAX_JOINTS {
            let message = format!(
                "{count} joints, but a skeleton holds at most {}",
                Skeleton::MAX_JOINTS
            );
            return Err(report.error("nodes", message, "merge or remove nodes"));
        }
        let mut has_children = vec![false; nodes.len()];
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|_| is_joint[node]) {
                has_children[parent] = true;
            }
        }

        let mut places = vec![DAffine3::IDENTITY; nodes.len()];
        for &node in &hierarchy.order {
            let local = nodes[node].local.to_affine();
            places[node] = parents[node].map_or(local, |parent| places[parent] * local);
        }
        let of_node = vec![None; nodes.len()];
        let mut rig = Self {
            joints: Vec::with_capacity(count),
            of_node,
            meshes,
            locals: nodes.iter().map(|node| node.local).collect(),
            baked: vec![Local::IDENTITY; nodes.len()],
            places,
        };
        for &node in &hierarchy.order {
            let above = rig.above(parents[node]);
            if is_joint[node] {
                rig.add_joint(
                    node,
                    &nodes[node],
                    parents[node],
                    &above,
                    has_children[node],
                );
            } else {
                rig.bake(node, nodes[node].shown, &above);
            }
        }
        Ok(rig)
    }

    /// Returns what is above the children of a node: the scale that is taken out of a joint's space, or all that is baked in.
    fn above(&self, parent: Option<usize>) -> Local {
        let Some(parent) = parent else {
            return Local::IDENTITY;
        };
        match self.of_node[parent] {
            Some(joint) => Local {
                scale: self.joints[joint].frame.size,
                ..Local::IDENTITY
            },
            None => self.baked[parent],
        }
    }

    /// Bakes a node that is no joint into what is below it.
    fn bake(&mut self, node: usize, shown: DVec3, above: &Local) {
        let local = self.locals[node];
        self.baked[node] = Local {
            translation: above.translation + above.rotation * (local.translation * above.scale),
            rotation: (above.rotation * seen_in(signs(above.scale), local.rotation)).normalize(),
            scale: above.scale * signs(shown) * uniform(shown).unwrap_or(1.0),
        };
    }

    fn add_joint(
        &mut self,
        index: usize,
        node: &Node,
        parent: Option<usize>,
        above: &Local,
        has_children: bool,
    ) {
        let (local, shown) = (self.locals[index], node.shown);
        let size = above.scale
            * match uniform(shown) {
                Some(scale) => signs(shown) * scale,
                // With nothing below, any scale can be taken out.
                None if !has_children && shown.abs().cmpgt(DVec3::splat(1e-6)).all() => shown,
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
        // A joint that no clip here shows may be shown by a clip in another file.
        let unhidden = DVec3::select(shown.abs().cmplt(DVec3::splat(TINY)), signs(shown), shown);
        let shown = frame.local(Local {
            scale: unhidden,
            ..local
        });
        let parent = parent.and_then(|parent| self.of_node[parent]);
        let above = parent.map(|parent| &self.joints[parent]);
        let rest_model =
            above.map_or(DAffine3::IDENTITY, |above| above.rest_model) * rest.to_affine();
        let shown_model =
            above.map_or(DAffine3::IDENTITY, |above| above.shown_model) * shown.to_affine();
        self.of_node[index] = Some(self.joints.len());
        self.joints.push(RigJoint {
            parent,
            name: named([node.name.as_deref()], "node", index),
            frame,
            rest,
            rest_model,
            shown_model,
            is_control: node.is_control,
            node: index,
            posed: node.posed,
        });
    }
}

/// Returns, per node, `true` if it is a joint.
fn joints_among(
    nodes: &[Node],
    hierarchy: &Hierarchy,
    is_joint: Option<&dyn Fn(&str) -> bool>,
) -> Vec<bool> {
    let parents = &hierarchy.parents;
    let mut carried: Vec<bool> = nodes.iter().map(|node| node.carries).collect();
    if !carried.contains(&true) {
        carried = movers(nodes, hierarchy, is_joint);
    }
    // From the leaves up: `true` if there is something to move here or below.
    let mut carries = carried.clone();
    for &node in hierarchy.order.iter().rev() {
        if let Some(parent) = parents[node].filter(|_| carries[node]) {
            carries[parent] = true;
        }
    }
    let mut is_joint = vec![false; nodes.len()];
    for &node in &hierarchy.order {
        let is_below = parents[node].is_some_and(|parent| is_joint[parent]);
        // A mesh below a joint is drawn by its skin, so its own node would be a joint without
        // effect.
        let is_mere_skin = nodes[node].is_skinned && !carries[node];
        let is_needed =
            carries[node] && (nodes[node].is_animated || uniform(nodes[node].shown).is_none());
        let is_mere_socket = nodes[node].is_socket && !carries[node] && !nodes[node].is_animated;
        is_joint[node] =
            carried[node] || is_needed || (is_below && !is_mere_skin && !is_mere_socket);
    }
    is_joint
}

/// Returns the joints of a file that only holds clips: the nodes that these move, and those above
/// them for which `is_joint` returns `true` or, without it, all but the armature.
fn movers(
    nodes: &[Node],
    hierarchy: &Hierarchy,
    is_joint: Option<&dyn Fn(&str) -> bool>,
) -> Vec<bool> {
    let moves: Vec<bool> = nodes
        .iter()
        .map(|node| node.is_in_scene && node.is_animated)
        .collect();
    let mut carries = moves.clone();
    for &node in hierarchy.order.iter().rev() {
        if let Some(parent) = hierarchy.parents[node].filter(|_| carries[node]) {
            carries[parent] = true;
        }
    }
    // The nodes from the scene down to the first one that moves or has two children are armatures
    // and the like.
    let mut children = vec![0; nodes.len()];
    for parent in hierarchy.parents.iter().flatten() {
        children[*parent] += 1;
    }
    let mut is_armature = vec![false; moves.len()];
    for &node in &hierarchy.order {
        let is_first = hierarchy.parents[node].is_none_or(|parent| is_armature[parent]);
        is_armature[node] = is_first && !moves[node] && children[node] < 2;
    }
    let is_kept = |node: usize| match is_joint {
        Some(is_joint) => is_joint(nodes[node].name.as_deref().unwrap_or_default()),
        None => !is_armature[node],
    };
    (0..moves.len())
        .map(|node| moves[node] || carries[node] && is_kept(node))
        .collect()
}
