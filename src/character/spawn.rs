//! Parts: spawned when the asset is there, again when it changes, gone when it goes.

use super::{CharacterParts, CharacterReady, ModelPose, PartOf, SkinnedCharacter, Teleported, redraw::PaletteRange};
use crate::asset::{Character, next_version};
use bevy::{
    asset::AssetLoadFailedEvent,
    camera::visibility::NoAutoAabb,
    ecs::{entity_disabling::Disabled, query::Allow},
    mesh::skinning::SkinnedMesh,
    prelude::*,
};
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

/// Despawns parts that are on no list: those of characters whose list was taken away, with all that
/// [`SkinnedCharacter`] had brought along, and those that came out of a scene.
pub(super) fn follow_lists(
    mut commands: Commands,
    mut removed: RemovedComponents<CharacterParts>,
    // A disabled character keeps what it has.
    lists: Query<&CharacterParts, Allow<Disabled>>,
    added: Query<(), Added<PartOf>>,
    spawned: Query<(Entity, &PartOf)>,
) {
    if removed.read().count() == 0 && added.is_empty() {
        return;
    }
    for (part, PartOf { character, .. }) in &spawned {
        if !lists.get(*character).is_ok_and(|list| list.entities.contains(&part)) {
            commands.entity(part).try_despawn();
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

/// Gives characters that were changed in place, through `Assets::get_mut`, a version of their own, by which
/// all that is derived from them is made anew.
pub(super) fn renew_versions(mut events: MessageReader<AssetEvent<Character>>, mut assets: ResMut<Assets<Character>>) {
    for event in events.read() {
        // One that was loaded or built has a new version already; another does no harm.
        if let AssetEvent::Modified { id } = event
            && let Some(character) = assets.get_mut_untracked(*id)
        {
            character.version = next_version();
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
    mut characters: Query<(Entity, Ref<SkinnedCharacter>, &mut CharacterParts, Option<&mut ModelPose>)>,
) {
    let moved = events.read().any(|event| !matches!(event, AssetEvent::Unused { .. }));
    for (entity, handle, mut parts, pose) in &mut characters {
        if !moved && !handle.is_changed() {
            continue;
        }
        let Some(character) = assets.get(handle.id()) else {
            // Taken out of the assets by hand; one that fails to load again is kept by Bevy.
            if parts.version.is_some() {
                clear(&mut commands, &mut parts);
            }
            continue;
        };
        if parts.version == Some(character.version) {
            continue;
        }
        clear(&mut commands, &mut parts);
        if let Some(mut pose) = pose {
            *pose = ModelPose { joints: character.skeleton.rest_model().to_vec(), evaluated: 0 };
        }
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
        Visibility::Inherited,
        part.rest_bounds,
        NoAutoAabb,
        ChildOf(entity),
    ));
    if !part.palette.is_empty() {
        // Joints that are no entities: Bevy allocates a range of its buffer for them and leaves it to us.
        let joints = vec![Entity::PLACEHOLDER; part.palette.len()];
        let range = PaletteRange::new(joints.len());
        spawned.insert((SkinnedMesh { inverse_bindposes: Handle::default(), joints }, range));
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
///
/// A texture may fail before its character is there, and a character may be there first.
pub(super) fn plain_where_texture_failed(
    mut failed: MessageReader<AssetLoadFailedEvent<Image>>,
    mut arrived: MessageReader<AssetEvent<Character>>,
    server: Res<AssetServer>,
    images: Res<Assets<Image>>,
    characters: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let any_failed = failed.read().count() > 0;
    let is_arrival =
        |event: &AssetEvent<Character>| matches!(event, AssetEvent::Added { .. } | AssetEvent::Modified { .. });
    let any_arrived = arrived.read().filter(|event| is_arrival(event)).count() > 0;
    if !any_failed && !any_arrived {
        return;
    }
    // A texture that only failed to load again is still there as it was.
    let is_lost = |map: &Option<Handle<Image>>| {
        map.as_ref().is_some_and(|map| !images.contains(map) && server.load_state(map).is_failed())
    };
    for part in characters.iter().flat_map(|(_, character)| &character.parts) {
        let lost = |m: &StandardMaterial| is_lost(&m.base_color_texture) || is_lost(&m.normal_map_texture);
        if !materials.get(&part.material).is_some_and(lost) {
            continue;
        }
        let Some(mut material) = materials.get_mut(&part.material) else { continue };
        let StandardMaterial { base_color_texture, normal_map_texture, .. } = &mut *material;
        let names: Vec<String> = [base_color_texture, normal_map_texture]
            .into_iter()
            .filter(|map| is_lost(map))
            .filter_map(Option::take)
            .filter_map(|map| map.path().map(|path| path.to_string()))
            .collect();
        warn!("part `{}` is drawn plain: {} could not be loaded", part.name, names.join(" and "));
    }
}
