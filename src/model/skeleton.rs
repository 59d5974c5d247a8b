//! Skeletons: joints, parents first.

mod stored;

pub(crate) use stored::SkeletonParts;

use super::{JointTransform, Morphs, SoaTransform, side_names::mirrored_names};
use crate::spelling::nearest;
use glam::{Affine3A, DAffine3, DQuat, DVec3};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

/// Index of a joint in its [`Skeleton`].
///
/// ```
/// # use bevy_marionette::model::{JointIndex, Skeleton};
/// fn height_at_rest(skeleton: &Skeleton, joint: &str) -> Option<f32> {
///     let joint: JointIndex = skeleton.joint(joint)?;
///     Some(skeleton.rest_model()[usize::from(joint)].translation.y)
/// }
/// ```
pub type JointIndex = u16;

/// One joint of a skeleton: the input of [`Skeleton::new`].
///
/// ```
/// # use bevy_marionette::model::{Joint, JointTransform};
/// # use glam::{Quat, Vec3};
/// // The arm of a lamp, half a meter above its foot, which is at the origin.
/// let rest = JointTransform::new(Vec3::Y * 0.5, Quat::IDENTITY);
/// let arm = Joint {
///     name: "arm".into(),
///     parent: Some(0),
///     rest,
///     inverse_bind: rest.to_affine().inverse(),
/// };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name. If several joints share a name, lookups find the first.
    pub name: Arc<str>,
    /// Parent, which comes before its children; `None` for a root.
    pub parent: Option<JointIndex>,
    /// Rest transform relative to the parent.
    pub rest: JointTransform,
    /// Transforms model space, with the skin as stored, to the joint's space.
    pub inverse_bind: Affine3A,
}

/// An error in making a [`Skeleton`].
///
/// ```
/// # use bevy_marionette::model::{Joint, JointTransform, Skeleton, SkeletonError};
/// # let joint = |name: &str, parent| Joint {
/// #     name: name.into(), parent, rest: JointTransform::IDENTITY, inverse_bind: glam::Affine3A::IDENTITY,
/// # };
/// let (hand, arm) = (joint("hand", Some(1)), joint("arm", None));
/// let error = Skeleton::new(vec![hand, arm]).unwrap_err();
/// // Sort the joints, parents first.
/// assert!(matches!(error, SkeletonError::ParentNotFirst { joint: 0, parent: 1, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// There are more joints than a [`JointIndex`] can address.
    #[error("{0} joints, but a skeleton holds at most {max}", max = Skeleton::MAX_JOINTS)]
    TooManyJoints(usize),
    /// A parent does not come before its child.
    #[error("joint {joint} `{name}` has parent {parent}, which does not come before it")]
    ParentNotFirst {
        /// Index of the child.
        joint: usize,
        /// Name of the joint.
        name: Arc<str>,
        /// Index of its parent as given.
        parent: usize,
    },
    /// A transform contains a number that is not finite.
    #[error("joint {joint} `{name}` has a transform that is not finite")]
    NotFinite {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: Arc<str>,
    },
}

/// The joints of a character: names, parents (before their children), rest pose, inverse binds.
///
/// A *deform joint* moves the skin. A *control joint* moves other joints, as the target or pole of a limb does, and is
/// left out of palettes by the importers. Joints are deform joints unless [`Self::with_control_joints`] says otherwise.
///
/// ```
/// # use bevy_marionette::model::Skeleton;
/// fn print_tree(skeleton: &Skeleton) {
///     for joint in skeleton.joints() {
///         let depth = skeleton.ancestors(joint).count();
///         println!("{}{}", "  ".repeat(depth), skeleton.name(joint));
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    names: Arc<[Arc<str>]>,
    parents: Vec<Option<JointIndex>>,
    /// For each joint, the last of its descendants, or itself.
    last: Vec<JointIndex>,
    /// For each of the first joints, two sets of bits: itself with all joints above it, and itself
    /// with the first joints below it.
    first: Vec<[u128; 2]>,
    rest: Arc<[SoaTransform]>,
    rest_model: Vec<Affine3A>,
    inverse_bind: Vec<Affine3A>,
    control: BTreeSet<JointIndex>,
    /// Joints and their counterparts on the other side, in both directions, for names that don't
    /// say so.
    sides: BTreeMap<JointIndex, JointIndex>,
    scaled: bool,
    /// The spaces of the joints' nodes in the file, if they differ from those of the joints.
    nodes: Option<Arc<[NodeSpace]>>,
    bind_pose: BindPose,
    /// The position and rotation of the bind pose are a guess, though not the pose itself.
    bind_pose_is_adrift: bool,
    /// The morph targets; `None` if there are none.
    morphs: Option<Arc<Morphs>>,
    /// The names of roles that the file gives to joints; empty if it gives none.
    roles: Vec<(Arc<str>, JointIndex)>,
}

/// The pose in which a skin was bound, relative to the parents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum BindPose {
    /// The rest pose.
    #[default]
    Rest,
    /// The file doesn't say.
    Unknown,
    Other(Arc<[JointTransform]>),
}

/// The conversion of a node's transform, as its file has it, to that of its joint. Transforms above
/// the joints are baked into the topmost of them, and scales of the rest pose are taken out of the
/// joints' spaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeSpace {
    /// The rotation that is baked in from above.
    pub(crate) turn: DQuat,
    pub(crate) offset: DVec3,
    /// Factor of translations. All components are of one length; those below 0 mirror.
    pub(crate) above: DVec3,
    /// The scale that is taken out of the joint's space. Components below 0 mirror.
    pub(crate) size: DVec3,
}

impl NodeSpace {
    pub(crate) const IDENTITY: Self = Self {
        turn: DQuat::IDENTITY,
        offset: DVec3::ZERO,
        above: DVec3::ONE,
        size: DVec3::ONE,
    };

    /// The transform above the node.
    pub(crate) fn above(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.above, self.turn, self.offset)
    }

    /// Returns the factor from the node's translations to the joint's.
    pub(crate) fn length(&self) -> f64 {
        self.above.x.abs()
    }
}

/// Returns the signs of a scale's components: 1 or −1.
pub(crate) fn signs(scale: DVec3) -> DVec3 {
    DVec3::select(scale.cmplt(DVec3::ZERO), DVec3::NEG_ONE, DVec3::ONE)
}

/// Returns a rotation, or its rate of change, as it is seen in a space whose axes have these signs.
pub(crate) fn seen_in(signs: DVec3, q: DQuat) -> DQuat {
    // A mirror keeps the plane of rotation and reverses its sense.
    let axis = signs * q.xyz() * signs.element_product();
    DQuat::from_xyzw(axis.x, axis.y, axis.z, q.w)
}

impl Skeleton {
    /// The maximum number of joints.
    pub const MAX_JOINTS: usize = JointIndex::MAX as usize;

    /// Creates a skeleton of `joints`, each after its parent.
    ///
    /// # Errors
    /// There are too many joints, a parent does not come first, or a number is not finite.
    pub fn new(joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        if joints.len() > Self::MAX_JOINTS {
            return Err(SkeletonError::TooManyJoints(joints.len()));
        }
        for (
            joint,
            Joint {
                name,
                parent,
                rest,
                inverse_bind,
            },
        ) in joints.iter().enumerate()
        {
            if let Some(parent) = parent.map(usize::from).filter(|&p| p >= joint) {
                return Err(SkeletonError::ParentNotFirst {
                    joint,
                    name: name.clone(),
                    parent,
                });
            }
            if !rest.is_finite() || !inverse_bind.is_finite() {
                return Err(SkeletonError::NotFinite {
                    joint,
                    name: name.clone(),
                });
            }
        }
        let rest: Vec<_> = joints.iter().map(|j| j.rest).collect();
        let mut rest_model: Vec<Affine3A> = Vec::with_capacity(joints.len());
        for joint in &joints {
            let local = joint.rest.to_affine();
            rest_model.push(
                joint
                    .parent
                    .map_or(local, |parent| rest_model[usize::from(parent)] * local),
            );
        }
        // Descendants come after their ancestors, but not all directly after them, so only the last
        // one is known.
        let mut last: Vec<JointIndex> = (0..joints.len() as JointIndex).collect();
        for (joint, parent) in joints
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(i, joint)| Some((i, joint.parent?)))
        {
            let parent = usize::from(parent);
            last[parent] = last[parent].max(last[joint]);
        }
        let mut first: Vec<[u128; 2]> = (0..joints.len().min(Self::FIRST))
            .map(|joint| [1 << joint; 2])
            .collect();
        // Parents come first, so theirs is complete.
        for joint in 0..first.len() {
            if let Some(parent) = joints[joint].parent {
                first[joint][0] |= first[usize::from(parent)][0];
            }
        }
        // In reverse, so that a joint has everything below it before its parent takes that over.
        for joint in (0..first.len()).rev() {
            if let Some(parent) = joints[joint].parent {
                first[usize::from(parent)][1] |= first[joint][1];
            }
        }
        Ok(Self {
            last,
            first,
            names: joints.iter().map(|j| j.name.clone()).collect(),
            parents: joints.iter().map(|j| j.parent).collect(),
            scaled: rest
                .iter()
                .any(|transform| transform.scale != glam::Vec3::ONE),
            rest: SoaTransform::rows(&rest).into(),
            rest_model,
            inverse_bind: joints.iter().map(|j| j.inverse_bind).collect(),
            control: BTreeSet::new(),
            sides: BTreeMap::new(),
            nodes: None,
            bind_pose: BindPose::Rest,
            bind_pose_is_adrift: false,
            morphs: None,
            roles: Vec::new(),
        })
    }

    /// Returns the number of joints.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns the joints' indices, parents first.
    pub fn joints(&self) -> Range<JointIndex> {
        // At most `MAX_JOINTS`, the largest index.
        0..self.len() as JointIndex
    }

    /// Returns the joints above a joint, nearest first. Empty for a root, and if there is no such joint.
    pub fn ancestors(&self, joint: JointIndex) -> impl Iterator<Item = JointIndex> + Clone + '_ {
        let parent = |joint: JointIndex| self.parents.get(usize::from(joint)).copied().flatten();
        std::iter::successors(parent(joint), move |&joint| parent(joint))
    }

    /// Returns `true` if `joint` is a descendant of `above`.
    pub fn descends(&self, joint: JointIndex, above: JointIndex) -> bool {
        // Parents come first, so joints before `above` cannot be its descendants.
        self.ancestors(joint)
            .take_while(|&joint| joint >= above)
            .any(|joint| joint == above)
    }

    /// Returns the last of a joint's descendants, or the joint itself. All its descendants lie between the two.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn last_descendant(&self, joint: JointIndex) -> JointIndex {
        self.last[usize::from(joint)]
    }

    /// The number of joints that a set of bits holds: the first ones.
    pub(crate) const FIRST: usize = u128::BITS as usize;

    /// Returns a set of all of the first joints, a bit each.
    pub(crate) fn first_joints(&self) -> u128 {
        u128::MAX
            .checked_shr((Self::FIRST - self.first.len()) as u32)
            .unwrap_or(0)
    }

    /// Returns the set of a joint and those above it, a bit each; `None` if the joint isn't one of the first.
    pub(crate) fn first_above(&self, joint: JointIndex) -> Option<u128> {
        self.first.get(usize::from(joint)).map(|first| first[0])
    }

    /// The first joints among a joint and those below it.
    pub(crate) fn first_below(&self, joint: JointIndex) -> u128 {
        self.first
            .get(usize::from(joint))
            .map_or(0, |first| first[1])
    }

    /// Returns `true` if there are no joints.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Returns the number of rows, of four joints each, in a pose of this skeleton.
    pub fn rows(&self) -> usize {
        self.rest.len()
    }

    /// Returns the name of a joint.
    ///
    /// # Panics
    /// If `joint` is out of range.
    pub fn name(&self, joint: JointIndex) -> &Arc<str> {
        &self.names[usize::from(joint)]
    }

    /// Returns the names in joint order.
    pub fn names(&self) -> &Arc<[Arc<str>]> {
        &self.names
    }

    /// Parents in joint order.
    pub fn parents(&self) -> &[Option<JointIndex>] {
        &self.parents
    }

    /// Returns the rest pose, relative to the parents.
    #[doc(hidden)]
    pub fn rest(&self) -> &[SoaTransform] {
        &self.rest
    }

    /// The rest pose, for clips to share.
    pub(crate) fn shared_rest(&self) -> &Arc<[SoaTransform]> {
        &self.rest
    }

    /// Returns the rest transform of a joint relative to its parent.
    ///
    /// # Panics
    /// If `joint` is out of range.
    pub fn rest_of(&self, joint: JointIndex) -> JointTransform {
        let joint = usize::from(joint);
        self.rest[joint / 4].get(joint % 4)
    }

    /// Returns `true` if every scale of the rest pose is exactly one.
    pub fn unit_scale(&self) -> bool {
        !self.scaled
    }

    /// Returns the inverse bind matrices: model space, with the skin as stored, to joint space.
    pub fn inverse_bind(&self) -> &[Affine3A] {
        &self.inverse_bind
    }

    /// Returns the joint called `name`; the first one if several share the name.
    pub fn joint(&self, name: &str) -> Option<JointIndex> {
        self.names
            .iter()
            .position(|n| &**n == name)
            .map(|i| i as JointIndex)
    }

    /// Returns the rest pose in model space.
    pub fn rest_model(&self) -> &[Affine3A] {
        &self.rest_model
    }

    /// Returns the model's morph targets, which clips move beside the joints; empty for nearly all models.
    pub fn morphs(&self) -> &Morphs {
        self.morphs.as_deref().unwrap_or(Morphs::NONE)
    }

    /// Returns the skeleton with these morph targets instead of its own.
    pub fn with_morphs(self, morphs: Morphs) -> Self {
        Self {
            // Expressions need no morph targets to be known.
            morphs: (morphs != *Morphs::NONE).then(|| Arc::new(morphs)),
            ..self
        }
    }

    /// Returns the roles of joints in a humanoid body that the model's file gives: names such as `hips`, `upper_arm.L`, or
    /// `eye.L`, with their joints. Empty for files that don't say, which are nearly all but VRM's.
    pub fn roles(&self) -> &[(Arc<str>, JointIndex)] {
        &self.roles
    }

    /// Returns the skeleton with these [`roles`](Self::roles). Joints that are out of range are left out.
    #[doc(hidden)]
    pub fn with_roles(self, roles: impl IntoIterator<Item = (Arc<str>, JointIndex)>) -> Self {
        let exists = |(_, joint): &(Arc<str>, JointIndex)| usize::from(*joint) < self.len();
        let mut roles: Vec<_> = roles.into_iter().filter(exists).collect();
        roles.sort_by_key(|(_, joint)| *joint);
        Self { roles, ..self }
    }

    /// Returns the skeleton with the spaces of its nodes, one for each joint.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(crate) fn with_nodes(self, nodes: Vec<NodeSpace>) -> Self {
        // Identities aren't kept, because most skeletons have nothing else.
        let matter = nodes.iter().any(|node| *node != NodeSpace::IDENTITY);
        Self {
            nodes: (matter && nodes.len() == self.len()).then(|| nodes.into()),
            ..self
        }
    }

    /// Returns the space of a joint's node in its file.
    pub(crate) fn node(&self, joint: JointIndex) -> NodeSpace {
        self.nodes
            .as_ref()
            .map_or(NodeSpace::IDENTITY, |nodes| nodes[usize::from(joint)])
    }

    /// Returns the skeleton with the pose in which its skin was bound, one transform for each joint.
    pub(crate) fn with_bind_pose(self, pose: Vec<JointTransform>) -> Self {
        // In place of a pose that doesn't fit, the rest pose is as good a guess as any.
        let is_sound = pose.len() == self.len() && pose.iter().all(JointTransform::is_finite);
        if is_sound {
            Self {
                bind_pose: BindPose::Other(pose.into()),
                ..self
            }
        } else {
            self
        }
    }

    /// Returns the skeleton without a known bind pose: its rest pose need not be the one in which
    /// the skin was bound.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(crate) fn without_bind_pose(self) -> Self {
        Self {
            bind_pose: BindPose::Unknown,
            ..self
        }
    }

    /// Returns the skeleton with a bind pose of which only the joints below the topmost one are
    /// certain.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(crate) fn with_bind_pose_adrift(self) -> Self {
        Self {
            bind_pose_is_adrift: true,
            ..self
        }
    }

    /// Returns the skeleton with its rest pose as the pose in which its skin was bound.
    pub(crate) fn bound_at_rest(self) -> Self {
        Self {
            bind_pose: BindPose::Rest,
            bind_pose_is_adrift: false,
            ..self
        }
    }

    /// Returns `true` if the position and rotation of the bind pose are known, too.
    pub(crate) fn is_bound_in_place(&self) -> bool {
        self.is_bound() && !self.bind_pose_is_adrift
    }

    /// Returns `true` if the pose in which the skin was bound is known.
    pub(crate) fn is_bound(&self) -> bool {
        self.bind_pose != BindPose::Unknown
    }

    /// Returns the skeleton at rest in the pose in which its skin was bound. That is the rest pose
    /// of nearly every file, but glTF has no rest pose: nodes may stand anywhere, and only the
    /// inverse bind matrices show the pose.
    pub(crate) fn in_bind_pose(&self) -> Cow<'_, Self> {
        let BindPose::Other(pose) = &self.bind_pose else {
            return Cow::Borrowed(self);
        };
        let mut out = Self {
            scaled: pose.iter().any(|joint| joint.scale != glam::Vec3::ONE),
            ..self.clone()
        };
        out.rest = SoaTransform::rows(pose).into();
        for (joint, parent) in self.parents.iter().enumerate() {
            let local = pose[joint].to_affine();
            out.rest_model[joint] =
                parent.map_or(local, |parent| out.rest_model[usize::from(parent)] * local);
        }
        Cow::Owned(out)
    }

    /// Returns the skeleton with new names for its first joints; the others keep theirs.
    pub fn with_names(&self, names: impl IntoIterator<Item = Arc<str>>) -> Self {
        let mut all: Vec<Arc<str>> = self.names.to_vec();
        for (old, new) in all.iter_mut().zip(names) {
            *old = new;
        }
        Self {
            names: all.into(),
            ..self.clone()
        }
    }

    /// Returns the skeleton with these joints as control joints, besides those it has. Indices that are out of range have
    /// no effect.
    pub fn with_control_joints(&self, joints: impl IntoIterator<Item = JointIndex>) -> Self {
        let mut out = self.clone();
        out.control.extend(
            joints
                .into_iter()
                .filter(|&joint| usize::from(joint) < self.len()),
        );
        out
    }

    /// Returns `true` if a joint is a control joint, which does not move the skin.
    pub fn is_control(&self, joint: JointIndex) -> bool {
        self.control.contains(&joint)
    }

    /// Returns the control joints, in order.
    pub fn control_joints(&self) -> impl ExactSizeIterator<Item = JointIndex> + '_ {
        self.control.iter().copied()
    }

    /// Returns the skeleton with these pairs of joints as each other's mirror image, for names that
    /// don't say so. A pair of a joint and itself puts it in the middle. Pairs with an index that
    /// is out of range have no effect.
    pub fn with_sides(&self, pairs: impl IntoIterator<Item = (JointIndex, JointIndex)>) -> Self {
        let mut out = self.clone();
        let exists = |joint| usize::from(joint) < self.len();
        for (a, b) in pairs.into_iter().filter(|&(a, b)| exists(a) && exists(b)) {
            out.sides.extend([(a, b), (b, a)]);
        }
        out
    }

    /// Returns a joint's counterpart on the other side: by [`Self::with_sides`], or by name. `None`
    /// for a joint in the middle.
    ///
    /// Recognizes `L`/`R` or `l`/`r` as a word of the name, as in `hand.L`, `CC_Base_L_Hand`, `lShin` and `handL`, `Left…`/`Right…`,
    /// `左…`/`右…`, and a leading letter as in `larm`.
    pub fn other_side(&self, joint: JointIndex) -> Option<JointIndex> {
        self.other_side_with(joint, |name| self.joint(name))
    }

    /// Does the same, with joints looked up as given.
    pub(super) fn other_side_with(
        &self,
        joint: JointIndex,
        find: impl Fn(&str) -> Option<JointIndex>,
    ) -> Option<JointIndex> {
        // Pairs that were given go before names. A joint paired with itself is in the middle.
        if let Some(&other) = self.sides.get(&joint) {
            return (other != joint).then_some(other);
        }
        let name = self.names.get(usize::from(joint))?;
        // A joint with a given counterpart can't be another's by name.
        let found = mirrored_names(name).iter().find_map(|name| find(name));
        found.filter(|other| *other != joint && !self.sides.contains_key(other))
    }

    /// Returns `true` if a joint's counterpart is given by [`Self::with_sides`].
    pub(crate) fn has_side(&self, joint: JointIndex) -> bool {
        self.sides.contains_key(&joint)
    }

    /// Returns the joint name that a misspelled `name` most likely means, if any is close to it.
    pub fn nearest_name(&self, name: &str) -> Option<&str> {
        nearest(name, self.names.iter().map(|name| &**name))
    }
}

#[cfg(test)]
#[path = "tests/skeleton.rs"]
mod tests;
