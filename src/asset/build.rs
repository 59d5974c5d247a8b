//! Makes the assets of a character from an imported model.

use super::{
    Character, CharacterAssetLabel, CharacterPart, ClipAsset, SkeletonAsset, Socket,
    character::{Shape, next_version},
    material::standard_material,
    mesh::mesh_of,
    morphs::{by_use, most_morphs},
    textures::{TextureKey, Textures},
};
use crate::{
    import::{Imported, Manifest, root_joint},
    model::{BoundingBox, Model, SkeletalClip},
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
pub fn build_character(
    model: Model,
    manifest: &Manifest,
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> Character {
    let imported = Imported {
        model,
        ..Imported::default()
    };
    let mut sink = AssetsSink { meshes, materials };
    assemble_character(
        imported,
        manifest,
        &Textures::default(),
        RenderAssetUsages::default(),
        &mut sink,
    )
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

pub(super) fn assemble_character(
    imported: Imported,
    manifest: &Manifest,
    textures: &Textures,
    usages: RenderAssetUsages,
    sink: &mut impl Sink,
) -> Character {
    let Model {
        skeleton,
        parts: skin,
        materials,
        clips,
    } = imported.model;
    let mut sub_assets = Vec::new();
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
    let skeleton = Arc::new(skeleton);
    let clips: Vec<Arc<SkeletalClip>> = clips.into_iter().map(Arc::new).collect();
    let bounds: Vec<PartBounds> = skin
        .iter()
        .map(|part| PartBounds::new(&skeleton, part))
        .collect();
    let reach = BlendReach::new(&skeleton, clips.iter().map(|clip| &**clip));
    // By clip, then by part: a clip is posed once for all parts.
    let over_clips: Vec<_> = clips
        .iter()
        .map(|clip| PartBounds::each_over_clip(&bounds, &skeleton, clip))
        .collect();
    let parts: Vec<CharacterPart> = skin
        .iter()
        .zip(bounds)
        .enumerate()
        .map(|(index, (part, bounds))| {
            let morphs = by_use(part, &skeleton, &clips, most_morphs());
            let mesh = mesh_of(part, &morphs, usages);
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
                rest_bounds: aabb(
                    bounds
                        .with_weights(skeleton.morphs().rest())
                        .posed(skeleton.rest_model())
                        .unwrap_or_else(|| enclose(&part.positions)),
                ),
                clip_bounds: over_clips
                    .iter()
                    .map(|over_clip| {
                        aabb(over_clip[index].unwrap_or_else(|| enclose(&part.positions)))
                    })
                    .collect(),
                blend_bounds: aabb(
                    bounds
                        .within(&reach)
                        .unwrap_or_else(|| enclose(&part.positions)),
                ),
                bounds: Arc::new(bounds),
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
    sub_assets.extend(sink.other(
        CharacterAssetLabel::Skeleton,
        SkeletonAsset(skeleton.clone()),
    ));
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
        masks: masks.collect::<HashMap<_, _>>(),
        sockets: sockets.collect(),
        springs: Some(manifest.resolve_springs(&skeleton))
            .filter(|springs| !springs.is_empty())
            .map(Arc::new),
        look_at: manifest
            .look_at
            .as_ref()
            .and_then(|look| look.resolve(&skeleton))
            .map(Arc::new),
        rig: manifest.rig(),
        shape: Shape::new(version, &skeleton, &parts),
        root: root_joint(manifest, &skeleton),
        skeleton: skeleton.clone(),
        parts,
        turn_speeds: Arc::new(TurnSpeeds::new(&skeleton, clips.iter().map(|clip| &**clip))),
        clips,
        _sub_assets: sub_assets,
        reach: Arc::new(reach),
        version,
    };
    // Spaces refer to clips by index, so they are bound when all clips are there.
    character.bind_blend_spaces();
    character
}

pub(super) fn aabb(bounds: BoundingBox) -> Aabb {
    Aabb::from_min_max(bounds.min, bounds.max)
}

/// Returns the box around a part that no joint moves.
fn enclose(positions: &[Vec3]) -> BoundingBox {
    BoundingBox::enclosing(positions.iter().copied()).unwrap_or_default()
}
