//! The character asset: everything that instances share.

use crate::{
    controller::Clips,
    model::{ClipTiming, JointIndex, SkeletalClip, Skeleton},
    pose::{Mask, PartBounds},
};
use bevy::{camera::primitives::Aabb, prelude::*};
use glam::Affine3A;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// A character: skeleton, skin, clips, masks and sockets, shared by all its instances.
///
/// Loaded from `.m3d`, `.md5mesh` or `.character.ron`, or made in code by
/// [`build_character`](super::build_character).
#[derive(Asset, TypePath, Clone, Debug)]
pub struct Character {
    /// The joints.
    pub skeleton: Arc<Skeleton>,
    /// The skin's parts, in file order.
    pub parts: Vec<CharacterPart>,
    /// The clips, in the skeleton's joint order.
    pub clips: Vec<Arc<SkeletalClip>>,
    /// Per-joint masks by name.
    pub masks: HashMap<String, Arc<Mask>>,
    /// Places where things are carried, by name.
    pub sockets: BTreeMap<String, Socket>,
    /// Sub-asset handles, kept so that the sub-assets live as long as the character.
    pub sub_assets: Vec<UntypedHandle>,
    /// Identifies this state of the character: changes when it is reloaded, or changed in place.
    pub(crate) version: u64,
}

/// A part of a character's skin, drawn with one material. By label also an asset of its own.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct CharacterPart {
    /// Name, unique within the character.
    pub name: String,
    /// The mesh, with joint indices into [`Self::palette`].
    pub mesh: Handle<Mesh>,
    /// The material.
    pub material: Handle<StandardMaterial>,
    /// The joints this part uses: palette index → joint. Empty for a static part.
    pub palette: Arc<[JointIndex]>,
    /// Computes how far the part reaches in a pose.
    pub(crate) bounds: Arc<PartBounds>,
    /// The part's box in model space at rest.
    pub rest_bounds: Aabb,
    /// Per clip, the part's box in model space over the whole clip.
    pub clip_bounds: Arc<[Aabb]>,
    /// The part's box in model space in any blend of the clips.
    pub blend_bounds: Aabb,
}

/// A place on a joint where something is carried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Socket {
    /// The joint that carries.
    pub joint: JointIndex,
    /// From the socket's space to the joint's.
    pub offset: Affine3A,
}

/// A clip as an asset of its own: the content of an `.md5anim`, or a clip of a character by label.
///
/// [`SkeletalClip::bind`] makes it fit any skeleton by joint names.
#[derive(Asset, TypePath, Clone, Debug, Deref)]
pub struct ClipAsset(pub Arc<SkeletalClip>);

/// A character's skeleton, by label.
#[derive(Asset, TypePath, Clone, Debug, Deref)]
pub struct SkeletonAsset(pub Arc<Skeleton>);

impl Character {
    /// The clip called `name`.
    pub fn clip(&self, name: &str) -> Option<&Arc<SkeletalClip>> {
        self.clips.iter().find(|clip| &*clip.timing.name == name)
    }

    /// The names of the clips, in order.
    pub fn clip_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.clips.iter().map(|clip| &clip.timing.name)
    }

    /// The joint called `name`.
    pub fn joint(&self, name: &str) -> Option<JointIndex> {
        self.skeleton.joint(name)
    }

    /// The socket called `name`, or else the joint of that name without an offset.
    pub fn socket(&self, name: &str) -> Option<Socket> {
        let joint = || Some(Socket { joint: self.skeleton.joint(name)?, offset: Affine3A::IDENTITY });
        self.sockets.get(name).copied().or_else(joint)
    }

    /// The box around all parts at rest, in model space.
    pub fn rest_bounds(&self) -> Option<Aabb> {
        let corners = self.parts.iter().flat_map(|part| [part.rest_bounds.min(), part.rest_bounds.max()]);
        Aabb::enclosing(corners.map(Vec3::from))
    }
}

impl Clips for Character {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index).map(|clip| &clip.timing)
    }
}
