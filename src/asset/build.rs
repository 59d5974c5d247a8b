//! Makes the assets of a character from an imported model.

use super::{
    Character, CharacterAssetLabel, CharacterPart, ClipAsset, Socket,
    boxes::{ClipBoxes, aabb},
    character::{Shape, next_version},
    material::standard_material,
    mesh::mesh_of,
    morphs::{by_use, most_morphs},
    textures::{TextureKey, Textures},
    tints::Tint,
};
use crate::{
    import::{Manifest, root_joint},
    model::{BoundingBox, Material, Model, MorphIndex, SkeletalClip, Skeleton, SkinPart},
    parallel::{about, in_parallel},
    pose::{BlendReach, PartBounds},
    rig::TurnSpeeds,
};
use bevy::{asset::RenderAssetUsages, camera::primitives::Aabb, prelude::*};
use glam::{Affine3A, Vec3};
use std::{collections::HashMap, sync::Arc};

/// Builds a character from a model made in code, and adds its meshes and materials to `meshes` and `materials`.
/// Blend spaces, masks, sockets, goals, looks, feet, springs and the joint for root motion come
/// from `manifest`. Its `model` is ignored, as is everything that changes the model or its clips.
/// Textures are not loaded.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::{Character, build_character}, import::Manifest, prelude::*};
/// # use bevy_marionette::model::{self, Influences, Joint, JointTransform, Model, Skeleton, SkinPart};
/// # use glam::Affine3A;
/// fn spawn(
///     mut commands: Commands,
///     mut characters: ResMut<Assets<Character>>,
///     mut meshes: ResMut<Assets<Mesh>>,
///     mut materials: ResMut<Assets<StandardMaterial>>,
/// ) -> Result {
///     let flag = Joint {
///         name: "flag".into(),
///         parent: None,
///         rest: JointTransform::IDENTITY,
///         inverse_bind: Affine3A::IDENTITY,
///     };
///     let all = Influences { palette: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] };
///     let cloth = SkinPart {
///         name: "cloth".into(),
///         positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
///         normals: vec![Vec3::Z; 3],
///         tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 3],
///         tex_coords: vec![Vec2::ZERO, Vec2::X, Vec2::Y],
///         influences: vec![all; 3],
///         triangles: vec![[0, 1, 2]],
///         palette: vec![0],
///         ..SkinPart::default()
///     };
///     let model = Model {
///         skeleton: Skeleton::new(vec![flag])?,
///         parts: vec![cloth],
///         materials: vec![model::Material::default()],
///         clips: vec![],
///     };
///     let character = build_character(model, &Manifest::of_model("flag"), &mut meshes, &mut materials);
///     commands.spawn(SkinnedCharacter(characters.add(character)));
///     Ok(())
/// }
/// ```
pub fn build_character(
    model: Model,
    manifest: &Manifest,
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> Character {
    let prepared = Prepared::new(model, RenderAssetUsages::default());
    let mut sink = AssetsSink { meshes, materials };
    assemble_character(prepared, manifest, &Textures::default(), &mut sink)
}

/// Receives sub-assets.
pub(super) trait Sink {
    /// Adds a part's mesh.
    fn mesh(&mut self, label: CharacterAssetLabel, mesh: Mesh) -> Handle<Mesh>;
    /// Adds a material.
    fn material(
        &mut self,
        label: CharacterAssetLabel,
        material: StandardMaterial,
    ) -> Handle<StandardMaterial>;
    /// Adds an asset that is only used by label. Returns a handle that keeps it alive.
    fn other<A: Asset>(&mut self, _label: CharacterAssetLabel, _asset: A) -> Option<UntypedHandle> {
        None
    }
    /// Loads a texture.
    fn texture(&mut self, _key: &TextureKey) -> Option<Handle<Image>> {
        None
    }
}

struct AssetsSink<'a> {
    meshes: &'a mut Assets<Mesh>,
    materials: &'a mut Assets<StandardMaterial>,
}

impl Sink for AssetsSink<'_> {
    fn mesh(&mut self, _label: CharacterAssetLabel, mesh: Mesh) -> Handle<Mesh> {
        self.meshes.add(mesh)
    }

    fn material(
        &mut self,
        _label: CharacterAssetLabel,
        material: StandardMaterial,
    ) -> Handle<StandardMaterial> {
        self.materials.add(material)
    }
}

/// A model, and all of its assets that are made without textures.
pub(super) struct Prepared {
    skeleton: Arc<Skeleton>,
    skin: Vec<SkinPart>,
    materials: Vec<Material>,
    clips: Vec<Arc<SkeletalClip>>,
    /// Per part, its mesh and the morph targets of this.
    meshes: Vec<(Mesh, Arc<[MorphIndex]>)>,
    /// Per part, also its box at rest.
    bounds: Vec<(Arc<PartBounds>, Aabb)>,
    clip_boxes: ClipBoxes,
    reach: BlendReach,
    turn_speeds: TurnSpeeds,
}

/// Nanoseconds that finding the reach and speed of a joint takes in a frame, and making a vertex of a mesh.
const JOINT: u64 = 8;
const VERTEX: u64 = 30;

impl Prepared {
    pub(super) fn new(model: Model, usages: RenderAssetUsages) -> Self {
        let Model {
            skeleton,
            parts: skin,
            materials,
            clips,
        } = model;
        let clips: Vec<Arc<SkeletalClip>> = clips.into_iter().map(Arc::new).collect();
        let skeleton = Arc::new(skeleton);
        let bounds: Vec<(Arc<PartBounds>, Aabb)> = skin
            .iter()
            .map(|part| {
                let bounds = PartBounds::new(&skeleton, part);
                let at_rest = bounds.with_weights(skeleton.morphs().rest());
                let at_rest = at_rest.posed(skeleton.rest_model());
                let at_rest = at_rest.unwrap_or_else(|| enclose(&part.positions));
                (Arc::new(bounds), aabb(at_rest))
            })
            .collect();
        let clip_boxes = ClipBoxes::new(&skeleton, bounds.iter().cloned(), &clips);
        let mut meshes = vec![None; skin.len()];
        let (mut reach, mut turn_speeds) = (None, None);
        let all = || clips.iter().map(|clip| &**clip);
        // None of them needs another.
        let mut work: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        let (long, boxes_take) = clip_boxes.long();
        for boxes in long {
            work.push(Box::new(boxes));
        }
        for (made, part) in meshes.iter_mut().zip(&skin) {
            work.push(Box::new(|| {
                let morphs = by_use(part, &skeleton, &clips, most_morphs());
                *made = Some((mesh_of(part, &morphs, usages), morphs));
            }));
        }
        work.push(Box::new(|| reach = Some(BlendReach::new(&skeleton, all()))));
        work.push(Box::new(|| {
            turn_speeds = Some(TurnSpeeds::new(&skeleton, all()))
        }));
        let posed: usize = clips.iter().map(|clip| clip.frame_count()).sum();
        let vertices: usize = skin.iter().map(|part| part.positions.len()).sum();
        let reach_takes = about(posed.saturating_mul(skeleton.len()), JOINT);
        let estimate = boxes_take + reach_takes + about(vertices, VERTEX);
        in_parallel(work, estimate, |one| one());
        let done = "all work is done";
        Self {
            meshes: meshes.into_iter().map(|mesh| mesh.expect(done)).collect(),
            bounds,
            clip_boxes,
            reach: reach.expect(done),
            turn_speeds: turn_speeds.expect(done),
            skeleton,
            skin,
            materials,
            clips,
        }
    }
}

pub(super) fn assemble_character(
    prepared: Prepared,
    manifest: &Manifest,
    textures: &Textures,
    sink: &mut impl Sink,
) -> Character {
    let Prepared {
        skeleton,
        skin,
        materials,
        clips,
        meshes,
        bounds,
        clip_boxes,
        reach,
        turn_speeds,
    } = prepared;
    let mut sub_assets = Vec::new();
    let tints = Tint::all(skeleton.morphs().own_expressions(), &skin, &materials);
    let types: Vec<Option<String>> = materials
        .iter()
        .map(|material| material.type_name.clone())
        .collect();
    let materials: Vec<Handle<StandardMaterial>> = materials
        .iter()
        .enumerate()
        .map(|(index, material)| {
            let material =
                standard_material(material, |map| sink.texture(textures.get(index, map)?));
            sink.material(CharacterAssetLabel::Material(index), material)
        })
        .collect();
    let parts: Vec<CharacterPart> = skin
        .iter()
        .zip(bounds)
        .zip(meshes)
        .enumerate()
        .map(|(index, ((part, (bounds, at_rest)), (mesh, morphs)))| {
            let mesh = sink.mesh(CharacterAssetLabel::Mesh(index), mesh);
            CharacterPart {
                name: part.name.clone(),
                mesh,
                material: materials.get(part.material).cloned().unwrap_or_default(),
                material_type: types.get(part.material).cloned().flatten(),
                palette: part.palette.as_slice().into(),
                combined_joints: Arc::new(part.combined_joints.clone()),
                morphs_in_order: morphs
                    .iter()
                    .map(|&morph| usize::from(morph))
                    .eq(0..skeleton.morphs().len()),
                morphs,
                rest_bounds: at_rest,
                blend_bounds: aabb(
                    bounds
                        .within(&reach)
                        .unwrap_or_else(|| enclose(&part.positions)),
                ),
                bounds,
            }
        })
        .collect();
    // Labels work only while something keeps their assets alive.
    for part in &parts {
        sub_assets.extend(sink.other(CharacterAssetLabel::Part(part.name.clone()), part.clone()));
    }
    for clip in &clips {
        let label = CharacterAssetLabel::Clip(clip.timing.name.to_string());
        sub_assets.extend(sink.other(label, ClipAsset(clip.clone())));
    }
    let masks = manifest
        .masks
        .iter()
        .map(|(name, mask)| (name.clone(), Arc::new(mask.mask(&skeleton))));
    let sockets = manifest.sockets.iter().filter_map(|(name, socket)| {
        let scale = Vec3::splat(socket.scale);
        let offset =
            Affine3A::from_scale_rotation_translation(scale, socket.rotation(), socket.translation);
        Some((
            name.clone(),
            Socket {
                joint: skeleton.joint(&socket.joint)?,
                offset,
            },
        ))
    });
    let feet = manifest
        .feet
        .as_ref()
        .and_then(|feet| feet.resolve(&skeleton, &skin));
    // Contacts are found by the legs, so there are none without them.
    let (feet, plants) = feet.map_or((None, Vec::new()), |feet| {
        let plants = clips
            .iter()
            .map(|clip| Arc::new(manifest.plants(&feet, &skeleton, clip)))
            .collect();
        (Some(Arc::new(feet)), plants)
    });
    let version = next_version();
    let mut character = Character {
        blend_spaces: Vec::new(),
        unbound_spaces: manifest.resolve_blend_spaces().collect(),
        states: manifest.resolve_states(),
        feet,
        plants,
        tints: tints.into(),
        avatar: None,
        masks: masks.collect::<HashMap<_, _>>(),
        sockets: sockets.collect(),
        constraints: Some(manifest.resolve_constraints(&skeleton))
            .filter(|constraints| !constraints.is_empty())
            .map(Arc::new),
        springs: Some(manifest.resolve_springs(&skeleton))
            .filter(|springs| !springs.is_empty())
            .map(Arc::new),
        look_at: manifest
            .look_at
            .as_ref()
            .and_then(|look| look.resolve(&skeleton))
            .map(Arc::new),
        rig: manifest.rig(),
        loaded_rig: None,
        shape: Shape::new(version, &skeleton, &parts),
        root: root_joint(manifest, &skeleton),
        skeleton: skeleton.clone(),
        parts,
        turn_speeds: Arc::new(turn_speeds),
        clips,
        clip_boxes,
        _sub_assets: sub_assets,
        reach: Arc::new(reach),
        version,
    };
    // Spaces refer to clips by index, so they are bound when all clips are there.
    character.bind_blend_spaces();
    character
}

/// Returns the box around a part that no joint moves.
fn enclose(positions: &[Vec3]) -> BoundingBox {
    BoundingBox::enclosing(positions.iter().copied()).unwrap_or_default()
}
