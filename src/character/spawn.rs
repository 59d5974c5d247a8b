//! Parts: spawned when the asset is there, again when it changes, gone when it goes.

use super::{CharacterParts, CharacterReady, ModelPose, PartOf, SkinnedCharacter, Teleported};
use crate::asset::Character;
use bevy::{asset::AssetLoadFailedEvent, camera::visibility::NoAutoAabb, mesh::skinning::SkinnedMesh, prelude::*};
use glam::Vec3A;

/// Despawns the parts of characters that were given another handle or lost theirs.
pub(super) fn follow_handles(
    mut commands: Commands,
    mut changed: Query<&mut CharacterParts, Changed<SkinnedCharacter>>,
    mut removed: RemovedComponents<SkinnedCharacter>,
    mut orphans: Query<&mut CharacterParts, Without<SkinnedCharacter>>,
) {
    for mut parts in &mut changed {
        clear(&mut commands, &mut parts);
    }
    for entity in removed.read() {
        if let Ok(mut parts) = orphans.get_mut(entity) {
            clear(&mut commands, &mut parts);
        }
    }
}

fn clear(commands: &mut Commands, parts: &mut CharacterParts) {
    parts.version = None;
    for part in parts.entities.drain(..) {
        // The part may be gone with a parent that was despawned by hand.
        if let Ok(mut entity) = commands.get_entity(part) {
            entity.try_despawn();
        }
    }
}

/// Spawns the parts of characters whose asset arrived or was loaded anew.
///
/// Looks at every character only in frames in which an asset moved; else at those whose handle changed.
pub(super) fn follow_assets(
    mut commands: Commands,
    mut events: MessageReader<AssetEvent<Character>>,
    assets: Res<Assets<Character>>,
    mut characters: Query<(Entity, Ref<SkinnedCharacter>, &mut CharacterParts, &mut ModelPose)>,
) {
    let moved = events.read().any(|event| !matches!(event, AssetEvent::Unused { .. }));
    for (entity, handle, mut parts, mut pose) in &mut characters {
        if !moved && !handle.is_changed() {
            continue;
        }
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version == Some(character.version) {
            continue;
        }
        clear(&mut commands, &mut parts);
        *pose = ModelPose { joints: character.skeleton.rest_model(), evaluated: 0 };
        let rest = character.rest_bounds();
        *parts = CharacterParts {
            version: Some(character.version),
            center: rest.map_or(Vec3A::ZERO, |rest| rest.center),
            radius: rest.map_or(0.0, |rest| rest.half_extents.length()),
            ..default()
        };
        parts.entities =
            (0..character.parts.len()).map(|part| spawn_part(&mut commands, entity, character, part)).collect();
        commands.trigger(CharacterReady { entity });
    }
}

fn spawn_part(commands: &mut Commands, entity: Entity, character: &Character, index: usize) -> Entity {
    let part = &character.parts[index];
    let mut spawned = commands.spawn((
        Name::new(part.name.clone()),
        PartOf { character: entity, part: index },
        Mesh3d(part.mesh.clone()),
        MeshMaterial3d(part.material.clone()),
        Transform::IDENTITY,
        part.rest_bounds,
        NoAutoAabb,
        ChildOf(entity),
    ));
    if !part.palette.is_empty() {
        // Joints that are no entities: Bevy allocates a range of its buffer for them and leaves it to us.
        let joints = vec![Entity::PLACEHOLDER; part.palette.len()];
        spawned.insert(SkinnedMesh { inverse_bindposes: Handle::default(), joints });
    }
    spawned.id()
}

/// A jump is announced for one frame.
pub(super) fn forget_teleports(mut commands: Commands, teleported: Query<Entity, With<Teleported>>) {
    for entity in &teleported {
        commands.entity(entity).try_remove::<Teleported>();
    }
}

/// Takes textures that could not be loaded out of the characters' materials: a material that waits for
/// one is not drawn at all.
pub(super) fn plain_where_texture_failed(
    mut failed: MessageReader<AssetLoadFailedEvent<Image>>,
    characters: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for event in failed.read() {
        for part in characters.iter().flat_map(|(_, character)| &character.parts) {
            let has = |m: &StandardMaterial| {
                let is = |map: &Option<Handle<Image>>| map.as_ref().is_some_and(|map| map.id() == event.id);
                is(&m.base_color_texture) || is(&m.normal_map_texture)
            };
            if !materials.get(&part.material).is_some_and(has) {
                continue;
            }
            let Some(mut material) = materials.get_mut(&part.material) else { continue };
            if material.base_color_texture.as_ref().is_some_and(|map| map.id() == event.id) {
                material.base_color_texture = None;
            }
            if material.normal_map_texture.as_ref().is_some_and(|map| map.id() == event.id) {
                material.normal_map_texture = None;
            }
            warn!("part `{}` is drawn plain: {} could not be loaded", part.name, event.path);
        }
    }
}
