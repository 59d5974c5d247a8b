//! VRM: glTF files of characters with faces, springs, and names of bones; and `.vrma`, clips for any of them.
//!
//! Both versions are read into one description, an [`Avatar`] and [`Expression`]s. From there, everything goes where a manifest
//! or another file would put it: roles into the skeleton, expressions into its morph targets, springs and what looks into
//! the [`EmbeddedManifest`]. A mistake takes nothing else with it, and is a warning. See decision 065.
//!
//! [`EmbeddedManifest`]: crate::import::EmbeddedManifest

mod animation;
mod bones;
mod constraint;
mod embedded;
mod parts;
mod read;
mod spring_bone;
mod v0;
mod v1;

use super::json::{Root, VrmExtensions};
use crate::{
    import::{EmbeddedManifest, avatar::Avatar, axes::Basis, nodes::Rig, report::Report},
    model::{Expression, JointIndex, MorphIndex, Morphs, Skeleton},
};
use animation::VrmAnimation;
use glam::Vec3;
use parts::{Part, extension};
use read::{FileExpression, Reader};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What VRM's extensions say, by nodes.
pub(super) struct Vrm {
    avatar: Avatar,
    expressions: Vec<FileExpression>,
    /// Weights of expressions that clips move, by the nodes whose translations they are.
    pub(super) animated: BTreeMap<usize, Arc<str>>,
    /// The node whose rotation is that of the gaze.
    gaze: Option<usize>,
    is_avatar: bool,
    /// The file is a `.vrma`.
    pub(super) is_animation: bool,
}

impl Vrm {
    /// Reads the extensions of a file. Those of files that have none are empty.
    pub(super) fn read(root: &Root, basis: &Basis, report: &mut Report) -> Self {
        let VrmExtensions {
            vrm_0,
            vrm_1,
            spring_bone,
            animation,
        } = &root.vrm;
        let mut reader = Reader::new(root, basis, report);
        let at = |name: &str| format!("extensions.{name}");
        let one = extension::<v1::Vrm>(vrm_1, &at("VRMC_vrm"), reader.report);
        let zero = match one {
            Some(_) => None,
            None => extension::<v0::Vrm>(vrm_0, &at("VRM"), reader.report),
        };
        if let Some(one) = &one {
            one.read(&mut reader);
        }
        if let Some(zero) = &zero {
            zero.read(&mut reader);
        }
        let springs = extension::<spring_bone::SpringBone>(
            spring_bone,
            &at("VRMC_springBone"),
            reader.report,
        );
        if let Some(springs) = &springs {
            springs.read(&mut reader);
        }
        for (node, contents) in root.nodes.iter().enumerate() {
            if contents.constraint().is_some() {
                constraint::read(node, contents.constraint(), &mut reader);
            }
        }
        let place = at("VRMC_vrm_animation");
        let found = extension::<VrmAnimation>(animation, &place, reader.report);
        let (animated, gaze) = match &found {
            Some(found) => found.read(&place, &mut reader),
            None => Default::default(),
        };
        let Reader {
            avatar,
            expressions,
            ..
        } = reader;
        Self {
            is_avatar: one.is_some() || zero.is_some() || springs.is_some(),
            is_animation: found.is_some(),
            avatar,
            expressions,
            animated,
            gaze,
        }
    }

    /// Returns the nodes that must be joints.
    pub(super) fn joints(&self) -> BTreeSet<usize> {
        let joints: BTreeSet<usize> = self.avatar.joints().collect();
        // A skeleton has at least one joint, even that of a face's clips.
        match joints.is_empty() {
            true => self.animated.keys().take(1).copied().collect(),
            false => joints,
        }
    }

    /// Returns `true` if a node's channels move something other than the node.
    pub(super) fn is_proxy(&self, node: usize) -> bool {
        self.animated.contains_key(&node) || self.gaze == Some(node)
    }

    /// Returns the expressions that move a target of a node, by their indices, with its shares.
    pub(super) fn binds(&self) -> BTreeMap<(usize, usize), Vec<(usize, f32)>> {
        let mut binds: BTreeMap<_, Vec<(usize, f32)>> = BTreeMap::new();
        for (at, one) in self.expressions.iter().enumerate() {
            for bind in &one.binds {
                let of_target = binds.entry((bind.node, bind.target)).or_default();
                of_target.push((at, bind.share));
            }
        }
        binds
    }

    /// Adds the expressions to a file's morph targets. `of_node` returns those of a node's mesh.
    pub(super) fn with_expressions<'m>(
        &self,
        morphs: Morphs,
        of_node: impl Fn(usize) -> &'m [MorphIndex],
    ) -> Morphs {
        let complete = |one: &FileExpression| {
            let mut shares: BTreeMap<(usize, usize), f32> = BTreeMap::new();
            for bind in &one.binds {
                *shares.entry((bind.node, bind.target)).or_default() += bind.share;
            }
            // Meshes only share targets that expressions move alike.
            let shown: BTreeMap<MorphIndex, f32> = shares
                .into_iter()
                .filter_map(|((node, target), share)| Some((*of_node(node).get(target)?, share)))
                .collect();
            Expression {
                morphs: shown.into_iter().collect(),
                ..one.expression.clone()
            }
        };
        if self.expressions.is_empty() {
            return morphs;
        }
        morphs.with_expressions(self.expressions.iter().map(complete))
    }

    /// Gives roles to the joints of a file.
    pub(super) fn with_roles(&self, skeleton: Skeleton, rig: &Rig) -> Skeleton {
        let bones = self.avatar.bones.iter();
        let roles = bones.filter_map(|(bone, node)| {
            let joint = rig.of_node[*node]?;
            Some((bones::role(bone)?.into(), joint as JointIndex))
        });
        let skeleton = skeleton.with_roles(roles);
        // The nodes of an animation are in a T pose, as those of nothing else without a skin.
        match self.is_animation {
            true => skeleton.bound_at_rest(),
            false => skeleton,
        }
    }

    /// Returns the description of the character, by joints; `None` if there is none. Adds what a manifest has a place for to
    /// `embedded`.
    pub(super) fn avatar(
        self,
        rig: &Rig,
        skeleton: &Skeleton,
        basis: &Basis,
        embedded: &mut EmbeddedManifest,
        report: &mut Report,
    ) -> Option<Box<Avatar>> {
        if !self.is_avatar {
            return None;
        }
        let joint_of = |node: usize| rig.of_node[node];
        let mut avatar = self.avatar.with_joints(joint_of);
        // A joint's space may be scaled and mirrored in its node's.
        avatar.scale(|joint| rig.joints[joint].frame.size.as_vec3());
        let length = basis.point(Vec3::Y).length();
        embedded::add(&avatar, skeleton, length, embedded, report);
        Some(Box::new(avatar))
    }
}
