//! A skeleton as files keep it: without what follows from the rest.

use super::{BindPose, Joint, JointIndex, JointTransform, NodeSpace, Skeleton};
use crate::model::Morphs;
use std::sync::Arc;

/// The contents of a [`Skeleton`].
#[derive(Clone, Debug)]
pub(crate) struct SkeletonParts {
    pub(crate) joints: Vec<Joint>,
    pub(crate) control: Vec<JointIndex>,
    pub(crate) sides: Vec<(JointIndex, JointIndex)>,
    /// One for each joint, or none.
    pub(crate) nodes: Vec<NodeSpace>,
    pub(crate) bind_pose: BindPose,
    pub(crate) bind_pose_is_adrift: bool,
    pub(crate) morphs: Morphs,
    pub(crate) roles: Vec<(Arc<str>, JointIndex)>,
}

impl Skeleton {
    pub(crate) fn parts(&self) -> SkeletonParts {
        let joint = |joint: JointIndex| Joint {
            name: self.name(joint).clone(),
            parent: self.parents[usize::from(joint)],
            rest: self.rest_of(joint),
            inverse_bind: self.inverse_bind[usize::from(joint)],
        };
        SkeletonParts {
            joints: self.joints().map(joint).collect(),
            control: self.control_joints().collect(),
            sides: self.sides.iter().map(|(&a, &b)| (a, b)).collect(),
            nodes: self
                .nodes
                .iter()
                .flat_map(|nodes| &nodes[..])
                .copied()
                .collect(),
            bind_pose: self.bind_pose.clone(),
            bind_pose_is_adrift: self.bind_pose_is_adrift,
            morphs: self.morphs().clone(),
            roles: self.roles.clone(),
        }
    }

    /// # Errors
    /// Something is out of range, or doesn't fit together.
    pub(crate) fn from_parts(parts: SkeletonParts) -> Result<Self, String> {
        let count = parts.joints.len();
        let exists = |joint: JointIndex| usize::from(joint) < count;
        let mut named = (parts.control.iter().copied())
            .chain(parts.sides.iter().flat_map(|&(a, b)| [a, b]))
            .chain(parts.roles.iter().map(|(_, joint)| *joint));
        if !named.all(exists) {
            return Err("it names a joint that isn't there".to_owned());
        }
        let bound = match &parts.bind_pose {
            BindPose::Other(pose) => Some(&pose[..]),
            BindPose::Rest | BindPose::Unknown => None,
        };
        let fits = |length: usize| length == count;
        if !(parts.nodes.is_empty() || fits(parts.nodes.len()))
            || bound.is_some_and(|pose| !fits(pose.len()))
        {
            return Err("it has not as many transforms as joints".to_owned());
        }
        let is_turned = |transform: &JointTransform| transform.rotation.is_normalized();
        let at_rest = parts.joints.iter().map(|joint| &joint.rest);
        if !at_rest.chain(bound.unwrap_or_default()).all(is_turned) {
            return Err("a rotation is not of unit length".to_owned());
        }
        let skeleton = Self::new(parts.joints).map_err(|error| error.to_string())?;
        let skeleton = Self {
            control: parts.control.into_iter().collect(),
            sides: parts.sides.into_iter().collect(),
            nodes: (!parts.nodes.is_empty()).then(|| parts.nodes.into()),
            bind_pose: parts.bind_pose,
            bind_pose_is_adrift: parts.bind_pose_is_adrift,
            ..skeleton
        };
        Ok(skeleton.with_morphs(parts.morphs).with_roles(parts.roles))
    }
}
