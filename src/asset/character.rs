//! The character asset: everything that instances share.

use super::{boxes::ClipBoxes, tints::Tint};
use crate::{
    controller::Clips,
    import::{Avatar, RigEntries, bind_blend_space},
    model::{
        BlendSpace, BlendSpaceError, BoundBlendSpace, ClipTiming, CombinedJoints, Influences,
        JointIndex, MorphIndex, RootPath, SkeletalClip, Skeleton, StateLayers,
    },
    pose::{BlendReach, Mask, PartBounds},
    rig::{Constraints, Feet, LookChain, Plants, RigJoints, Springs, TurnSpeeds},
};
use bevy::{camera::primitives::Aabb, prelude::*};
use glam::Affine3A;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A character's skeleton, skin, clips, masks and sockets, shared by all its instances.
///
/// Load one from a `.glb`, `.gltf`, `.fbx`, `.m3d`, `.md5mesh` or `.character.ron` file, or build one from code with
/// [`build_character`](super::build_character).
///
/// | to | use |
/// | --- | --- |
/// | look up a joint | [`joint`](Self::joint), or [`skeleton`](Self::skeleton) for names, parents and the rest pose |
/// | look up a clip, its length or its callback keys | [`clip`](Self::clip) and its `timing` |
/// | list the clips | [`clip_names`](Self::clip_names) |
/// | add and remove clips at run time | [`add_clip`](Self::add_clip), [`remove_clip`](Self::remove_clip) |
/// | blend clips by speed and turn | [`add_blend_space`](Self::add_blend_space), [`blend_space`](Self::blend_space) |
/// | know how fast a clip carries a character | [`ground_speed`](Self::ground_speed) |
/// | attach things to a named place | [`socket`](Self::socket) |
/// | tune springs, limits and colliders | [`rig`](Self::rig) and [`set_rig`](Self::set_rig) |
/// | limit a track to some of the joints | [`masks`](Self::masks) |
/// | pose it at a time of a clip | [`SkeletalClip::pose_at`] |
/// | frame the character with a camera | [`rest_bounds`](Self::rest_bounds) |
/// | change meshes or materials | [`parts`](Self::parts) |
///
/// # Files
///
/// Characters are loaded from `.glb`, `.gltf`, `.vrm`, `.vrma`, `.fbx`, `.m3d`, `.md5mesh` and `.character.ron` files, with
/// [`CharacterLoaderSettings`](super::CharacterLoaderSettings).
///
/// Bevy's own glTF loader stays the one for everything else in `.glb` and `.gltf` files: a file can be loaded both as a
/// `Character` and as a `Gltf` or a scene. Bevy finds a loader by the type of asset, and only for a path with a label, such as
/// `knight.glb#Scene0`, or without a type by the extension. So in `.glb` and `.gltf` files, labels are those of Bevy's loader;
/// [`CharacterAssetLabel`](super::CharacterAssetLabel)s work once the character is loaded, or in a manifest.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct Character {
    /// The joints.
    pub skeleton: Arc<Skeleton>,
    /// The parts of the skin, in file order.
    pub parts: Vec<CharacterPart>,
    /// The clips, with joints in the order of the skeleton.
    pub clips: Vec<Arc<SkeletalClip>>,
    /// The blend spaces that can be played: those whose clips are all there.
    pub(super) blend_spaces: Vec<BoundBlendSpace>,
    /// All blend spaces, by clip names.
    pub(super) unbound_spaces: Vec<Arc<BlendSpace>>,
    /// The character's states, by name. A character starts in the first state if nothing plays when
    /// it is ready.
    #[doc(hidden)]
    pub states: Option<Arc<StateLayers>>,
    /// Masks by name.
    pub masks: HashMap<String, Arc<Mask>>,
    /// Sockets by name.
    pub sockets: BTreeMap<String, Socket>,
    /// What a VRM file says beyond its model: who made it, what may be done with it, and in which views its parts are seen.
    pub avatar: Option<Arc<Avatar>>,
    /// The rig as the manifest has it, by names.
    pub(crate) rig: RigEntries,
    /// The rig as it was loaded, once it has been changed.
    pub(super) loaded_rig: Option<Box<RigEntries>>,
    /// The joints that turn toward what the character looks at.
    pub(crate) look_at: Option<Arc<LookChain>>,
    /// The joint that root motion is taken from.
    pub(crate) root: JointIndex,
    /// The joints that follow others.
    pub(crate) constraints: Option<Arc<Constraints>>,
    /// The joints that swing.
    pub(crate) springs: Option<Arc<Springs>>,
    /// The legs that adapt to uneven ground.
    pub(crate) feet: Option<Arc<Feet>>,
    /// What expressions change of the parts' materials, in the order of the parts.
    pub(crate) tints: Arc<[Tint]>,
    /// For each clip, its foot contacts. Empty without [`feet`](Self::feet).
    pub(crate) plants: Vec<Arc<Plants>>,
    /// The speeds at which the clips turn the joints.
    pub(crate) turn_speeds: Arc<TurnSpeeds>,
    /// The reach of the joints in blends of the clips, which gives bounding boxes under additive
    /// tracks.
    pub(crate) reach: Arc<BlendReach>,
    /// The boxes of the parts over each clip.
    pub(super) clip_boxes: ClipBoxes,
    /// Keeps the sub-assets alive as long as the character.
    pub(super) _sub_assets: Vec<UntypedHandle>,
    /// Identifies this state of the character: changes whenever the asset is reloaded or modified.
    pub(crate) version: u64,
    /// The version of the assets that the entities of its parts are made from.
    pub(crate) shape: Shape,
}

/// A part of a character's skin, drawn with one material. Also a labeled asset.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::asset::Character;
/// /// Lets the blades of all instances glow.
/// fn enchant(character: &Character, materials: &mut Assets<StandardMaterial>) {
///     for part in character.parts.iter().filter(|part| part.name == "blade") {
///         if let Some(mut material) = materials.get_mut(&part.material) {
///             material.emissive = LinearRgba::rgb(0.0, 2.0, 8.0);
///         }
///     }
/// }
/// ```
#[derive(Asset, TypePath, Clone, Debug)]
pub struct CharacterPart {
    /// Name, unique within the character.
    pub name: String,
    /// The mesh. Its joint indices are indices into [`Self::palette`], or stand for several joints; see
    /// [`Self::joint_weights`].
    pub mesh: Handle<Mesh>,
    /// The material.
    pub material: Handle<StandardMaterial>,
    /// Name of the kind of material in the model, to choose a shader by: see [`Material`](crate::model::Material::type_name).
    pub material_type: Option<String>,
    /// The joints that move this part. Empty for a static part.
    pub palette: Arc<[JointIndex]>,
    /// Means of joints of the palette, for vertices with more than four joints. Mostly empty.
    #[doc(hidden)]
    pub combined_joints: Arc<CombinedJoints>,
    /// The morph targets of the mesh, in its order: those that the most clips move come first. Indices into the
    /// [`Morphs`](crate::model::Morphs) of the skeleton; empty for most parts.
    pub morphs: Arc<[MorphIndex]>,
    /// `true` if the mesh has all targets of the skeleton, in its order, so that weights are copied as they are.
    pub(crate) morphs_in_order: bool,
    /// Computes bounding boxes of the part in any pose.
    pub(crate) bounds: Arc<PartBounds>,
    /// Bounding box at rest, in model space.
    pub rest_bounds: Aabb,
    /// Bounding box over all blends of the clips, in model space. Additive tracks can leave it.
    pub blend_bounds: Aabb,
}

/// A place on a joint where things can be attached.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::{Character, Socket}, character::ModelPose};
/// /// Returns the place of a muzzle in the character's space.
/// fn muzzle(character: &Character, pose: &ModelPose) -> Option<Vec3> {
///     let Socket { joint, offset } = character.socket("muzzle")?;
///     Some((*pose.joint(joint)? * offset).translation.into())
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Socket {
    /// The joint.
    pub joint: JointIndex,
    /// Transform from the socket's space to the joint's.
    pub offset: Affine3A,
}

/// A clip as an asset: the contents of an `.md5anim`, loaded with [`ImportSettings`](crate::import::ImportSettings), or a clip of
/// a character by label.
///
/// Use [`SkeletalClip::bind`] to fit it to any skeleton by joint names.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::asset::{Character, ClipAsset};
/// # fn add(clips: Res<Assets<ClipAsset>>, wave: Handle<ClipAsset>, character: &mut Character) -> Result {
/// if let Some(clip) = clips.get(&wave) {
///     character.add_clip(&clip.bind(&character.skeleton))?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Asset, TypePath, Clone, Debug, Deref)]
pub struct ClipAsset(pub Arc<SkeletalClip>);

/// The skeleton and the parts of a character, to distinguish a change of them from one of clips,
/// masks or sockets.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The character's version since when it has this shape.
    pub(crate) version: u64,
    skeleton: Arc<Skeleton>,
    parts: Vec<CharacterPart>,
}

impl Shape {
    pub(super) fn new(version: u64, skeleton: &Arc<Skeleton>, parts: &[CharacterPart]) -> Self {
        Self {
            version,
            skeleton: skeleton.clone(),
            parts: parts.to_vec(),
        }
    }

    fn is_of(&self, character: &Character) -> bool {
        // Handles and shared lists are compared by identity, which is enough: changing one makes a
        // new one.
        let same = |a: &CharacterPart, b: &CharacterPart| {
            a.name == b.name
                && (&a.mesh, &a.material) == (&b.mesh, &b.material)
                && (a.rest_bounds.center, a.rest_bounds.half_extents)
                    == (b.rest_bounds.center, b.rest_bounds.half_extents)
                && Arc::ptr_eq(&a.palette, &b.palette)
                && a.morphs == b.morphs
                && Arc::ptr_eq(&a.bounds, &b.bounds)
        };
        Arc::ptr_eq(&self.skeleton, &character.skeleton)
            && self.parts.len() == character.parts.len()
            && self
                .parts
                .iter()
                .zip(&character.parts)
                .all(|(a, b)| same(a, b))
    }
}

impl Character {
    /// Gives a character that was changed another version, and another shape if its skeleton or parts were changed.
    pub(crate) fn renew(&mut self) {
        self.version = next_version();
        self.bind_blend_spaces();
        if !self.shape.is_of(self) {
            self.shape = Shape::new(self.version, &self.skeleton, &self.parts);
        }
        let bounds = self.parts.iter().map(|part| &part.bounds);
        if !self.clip_boxes.are_of(&self.skeleton, bounds) {
            let parts = self.parts.iter();
            let bounds = parts.map(|part| (part.bounds.clone(), part.rest_bounds));
            self.clip_boxes = ClipBoxes::new(&self.skeleton, bounds, &[]);
        }
        self.clip_boxes.follow(&self.clips);
    }

    /// Returns the bounding box of each part over a whole clip that plays alone, in model space. `None` if there is no clip of
    /// this index.
    ///
    /// The first call for a clip poses each of its frames, which takes about as long as loading the clip did. Of clips for which
    /// that is more than a millisecond, boxes are found while loading.
    pub fn clip_bounds(&self, clip: usize) -> Option<&[Aabb]> {
        self.clip_boxes.over(clip, self.clips.get(clip)?)
    }

    /// The joints that a rig acts on.
    pub(crate) fn rig_joints(&self) -> RigJoints<'_> {
        let Self {
            look_at,
            feet,
            constraints,
            springs,
            turn_speeds,
            ..
        } = self;
        RigJoints {
            look: look_at.as_deref(),
            feet: feet.as_deref(),
            constraints: constraints.as_deref(),
            springs: springs.as_deref(),
            turn_speeds: Some(turn_speeds),
        }
    }

    /// Binds the blend spaces to the present clips.
    pub(super) fn bind_blend_spaces(&mut self) {
        let timings = || self.clips.iter().map(|clip| &clip.timing);
        let spaces = self
            .unbound_spaces
            .iter()
            .filter_map(|space| bind_blend_space(space, timings(), &self.plants).ok());
        self.blend_spaces = spaces.collect();
    }

    /// All blend spaces, by clip names.
    pub(crate) fn unbound_spaces(&self) -> &[Arc<BlendSpace>] {
        &self.unbound_spaces
    }

    /// Adds a blend space, in place of one of the same name. Tracks play it by name.
    ///
    /// # Errors
    /// If there is no clip of a point's name. Then nothing is changed.
    pub fn add_blend_space(&mut self, space: BlendSpace) -> Result<(), BlendSpaceError> {
        let space = Arc::new(space);
        bind_blend_space(
            &space,
            self.clips.iter().map(|clip| &clip.timing),
            &self.plants,
        )?;
        self.unbound_spaces
            .retain(|other| other.name() != space.name());
        self.unbound_spaces.push(space);
        self.bind_blend_spaces();
        Ok(())
    }

    /// Returns the blend space called `name`, if all its clips are there.
    pub fn blend_space(&self, name: &str) -> Option<&BlendSpace> {
        self.bound_space(name).map(|space| &**space)
    }

    pub(crate) fn bound_space(&self, name: &str) -> Option<&BoundBlendSpace> {
        self.blend_spaces
            .iter()
            .find(|space| **space.name() == *name)
    }

    /// Returns the joint called `name`.
    pub fn joint(&self, name: &str) -> Option<JointIndex> {
        self.skeleton.joint(name)
    }

    /// Returns the clip called `name`.
    pub fn clip(&self, name: &str) -> Option<&Arc<SkeletalClip>> {
        self.clips.iter().find(|clip| &*clip.timing.name == name)
    }

    /// Returns the speed at which a clip carries the character over the ground, in model units per
    /// second of the clip: that of its root motion, or the manifest's
    /// [`ground_speed`](crate::import::ClipEntry::ground_speed). `None` if there is no such clip or
    /// it stays in place.
    ///
    /// With [`RootMotion`](crate::character::RootMotion), a character of scale one moves at this
    /// speed. Without it, the game must move the character at this speed, or its feet slide:
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{asset::Character, prelude::*};
    /// fn walk(time: Res<Time>, assets: Res<Assets<Character>>, mut all: Query<(&SkinnedCharacter, &mut Transform)>) {
    ///     for (handle, mut transform) in &mut all {
    ///         let speed = assets.get(&handle.0).and_then(|character| character.ground_speed("walk")).unwrap_or(0.0);
    ///         let ahead = transform.forward() * (speed * time.delta_secs());
    ///         transform.translation += ahead;
    ///     }
    /// }
    /// ```
    pub fn ground_speed(&self, clip: &str) -> Option<f32> {
        Some(self.clip(clip)?.root_path()?.ground_speed() as f32)
    }

    /// Returns the names of all clips, in order.
    pub fn clip_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.clips.iter().map(|clip| &clip.timing.name)
    }

    /// Returns the socket called `name`, or else the joint of that name, without an offset.
    pub fn socket(&self, name: &str) -> Option<Socket> {
        let joint = || {
            Some(Socket {
                joint: self.joint(name)?,
                offset: Affine3A::IDENTITY,
            })
        };
        self.sockets.get(name).copied().or_else(joint)
    }

    /// Returns the bounding box of all parts at rest, in model space. `None` if there are no parts.
    pub fn rest_bounds(&self) -> Option<Aabb> {
        let corners = self
            .parts
            .iter()
            .flat_map(|part| [part.rest_bounds.min(), part.rest_bounds.max()]);
        Aabb::enclosing(corners.map(Vec3::from))
    }
}

impl CharacterPart {
    /// Returns the number of skinning matrices: one for each joint of the palette and each combined joint.
    pub fn palette_len(&self) -> usize {
        self.palette.len() + self.combined_joints.len()
    }

    /// Returns each joint that moves a vertex of the mesh once, as an index into [`Self::palette`], with its weight
    /// above 0. `indices` and `weights` are the vertex's attributes in the mesh.
    pub fn joint_weights(
        &self,
        indices: [u16; 4],
        weights: [f32; 4],
    ) -> impl Iterator<Item = (usize, f32)> + Clone {
        self.combined_joints.joint_weights(
            self.palette.len(),
            Influences {
                palette: indices,
                weights,
            },
        )
    }
}

impl Clips for Character {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index).map(|clip| &clip.timing)
    }

    fn is_additive(&self, index: usize) -> bool {
        self.clips.get(index).is_some_and(|clip| clip.additive)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.clips.get(index)?.root_path().map(|path| &**path)
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.clips
            .get(index)
            .is_some_and(|clip| clip.animates(self.root.into()) || clip.root_path().is_some())
    }

    fn root_mask(&self, mask: &str) -> f32 {
        self.masks
            .get(mask)
            .map_or(0.0, |mask| mask.get(self.root.into()))
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.blend_spaces
    }

    fn states(&self) -> Option<&Arc<StateLayers>> {
        self.states.as_ref()
    }
}

/// Returns a version that no character has had.
pub(crate) fn next_version() -> u64 {
    static NEXT_VERSION: AtomicU64 = AtomicU64::new(1);
    NEXT_VERSION.fetch_add(1, Ordering::Relaxed)
}
