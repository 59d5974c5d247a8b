//! Spawning parts when an asset has loaded, replacing them when it changes, despawning them when it goes.

use super::{
    CharacterSystems,
    components::{
        CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter, Teleported, say_lost,
    },
    dirty_palettes::PaletteRange,
    events::{CharacterFailed, CharacterReady, send},
    layers::ActiveLayers,
    morph_pose::MorphPose,
    morphs,
    names::name_of,
    pose_state::PoseState,
    systems::SpawnStep,
};
use crate::{
    asset::{Character, textures_of},
    controller::AnimationController,
};
use bevy::{
    asset::{AssetLoadError, AssetLoadFailedEvent, LoadState},
    camera::visibility::NoAutoAabb,
    ecs::{entity_disabling::Disabled, name::NameOrEntity, query::Allow},
    mesh::{morph::MeshMorphWeights, skinning::SkinnedMesh},
    platform::collections::HashMap,
    prelude::*,
};
use std::sync::Arc;

/// Adds what spawns and despawns parts.
pub(super) fn plugin(app: &mut App) {
    app.register_type::<SkinnedCharacter>()
        .register_type::<AnimationController>()
        .register_type::<CharacterParts>()
        .register_type::<PartOf>()
        .register_type::<ModelPose>()
        .register_type::<PoseOverrides>()
        .register_type::<Teleported>()
        .register_type::<CharacterReady>()
        .register_type::<CharacterFailed>()
        .add_systems(
            PostUpdate,
            (
                (
                    warn_of_stripped_parts.run_if(any_with_component::<PartOf>),
                    follow_lists.run_if(
                        any_component_removed::<CharacterParts>
                            .or_else(any_match_filter::<Added<PartOf>>),
                    ),
                    renew_versions.run_if(on_message::<AssetEvent<Character>>),
                    (
                        follow_handles,
                        follow_assets,
                        report_failures.in_set(SpawnStep::Report),
                    )
                        .chain_ignore_deferred()
                        .run_if(
                            any_match_filter::<Changed<SkinnedCharacter>>
                                .or_else(any_component_removed::<SkinnedCharacter>)
                                .or_else(on_message::<AssetEvent<Character>>)
                                .or_else(on_message::<AssetLoadFailedEvent<Character>>),
                        ),
                )
                    .chain_ignore_deferred()
                    .in_set(SpawnStep::Parts),
                drop_failed_textures
                    .run_if(
                        on_message::<AssetLoadFailedEvent<Image>>
                            .or_else(on_message::<AssetEvent<Character>>),
                    )
                    .in_set(SpawnStep::Looks),
                clear_teleported
                    .run_if(any_with_component::<Teleported>)
                    .in_set(CharacterSystems::ClearTeleported),
            ),
        );
}

/// Despawns the parts of characters whose handle changed or was removed.
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

/// Despawns parts that no character has listed: those of characters whose [`CharacterParts`] was removed, and
/// those that were loaded from a scene.
///
/// Only runs in frames in which there may be any.
pub(super) fn follow_lists(
    mut commands: Commands,
    // A disabled character keeps what it has.
    lists: Query<&CharacterParts, Allow<Disabled>>,
    spawned: Query<(Entity, &PartOf)>,
) {
    for (part, PartOf { character, .. }) in &spawned {
        if !lists
            .get(*character)
            .is_ok_and(|list| list.entities.contains(&part))
        {
            commands.entity(part).try_despawn();
        }
    }
}

fn clear(commands: &mut Commands, parts: &mut CharacterParts) {
    parts.version = None;
    for part in parts.entities.drain(..) {
        // It may have been despawned already, with a parent of its own.
        if let Ok(mut entity) = commands.get_entity(part) {
            entity.try_despawn();
        }
    }
}

/// Warns about parts that lost their mesh.
pub(super) fn warn_of_stripped_parts(
    mut removed: RemovedComponents<Mesh3d>,
    parts: Query<(&PartOf, NameOrEntity), Without<Mesh3d>>,
    names: Query<NameOrEntity>,
) {
    for stripped in removed.read() {
        let Ok((of, part)) = parts.get(stripped) else {
            continue;
        };
        say_lost(part.to_string(), name_of(&names, of.character));
    }
}

/// Gives characters that were changed in place, through `Assets::get_mut`, a new version, so that
/// everything derived from them is updated. Parts are spawned again only if they or the skeleton
/// were changed.
pub(super) fn renew_versions(
    mut events: MessageReader<AssetEvent<Character>>,
    mut assets: ResMut<Assets<Character>>,
) {
    for event in events.read() {
        // A loaded character has a new version already; another one does no harm.
        if let AssetEvent::Modified { id } = event
            && let Some(character) = assets.get_mut_untracked(*id)
        {
            character.renew();
        }
    }
}

/// Spawns the parts of characters whose asset has loaded or changed.
///
/// Only runs in frames in which there are asset events or a handle changed.
pub(super) fn follow_assets(
    mut commands: Commands,
    mut events: MessageReader<AssetEvent<Character>>,
    assets: Res<Assets<Character>>,
    mut ready: Option<ResMut<Messages<CharacterReady>>>,
    mut characters: Query<(
        Entity,
        Ref<SkinnedCharacter>,
        &mut CharacterParts,
        Option<&mut ModelPose>,
        Has<MorphPose>,
        Option<(&mut AnimationController, &mut ActiveLayers)>,
        Option<&mut PoseState>,
    )>,
) {
    let any = events
        .read()
        .any(|event| !matches!(event, AssetEvent::Unused { .. }));
    for (entity, handle, mut parts, pose, has_morphs, playing, state) in &mut characters {
        if !any && !handle.is_changed() {
            continue;
        }
        let Some(character) = assets.get(handle.id()) else {
            // Removed from the assets. (Bevy keeps an asset that fails to reload.)
            if parts.version.is_some() {
                clear(&mut commands, &mut parts);
            }
            continue;
        };
        if parts.version == Some(character.version) {
            continue;
        }
        if let Some((mut controller, mut layers)) = playing {
            take_up_states(entity, character, &mut controller);
            // Now, because the controller may be advanced in a schedule that does not run in this frame.
            let layers = layers.bypass_change_detection();
            layers.look_up(character, &controller);
            layers.forget_boxes();
        }
        if parts.version.is_some() && parts.shape == character.shape.version {
            // Only clips, masks or sockets are different.
            parts.version = Some(character.version);
            continue;
        }
        clear(&mut commands, &mut parts);
        if let Some(mut pose) = pose {
            *pose = ModelPose {
                joints: character.skeleton.rest_model().to_vec(),
                ..default()
            };
        }
        if let Some(mut state) = state {
            state.bypass_change_detection().last_center = None;
        }
        if character.parts.iter().any(|part| !part.morphs.is_empty()) {
            // Weights of the present parts.
            commands.entity(entity).try_insert(MorphPose::default());
        } else if has_morphs {
            commands.entity(entity).try_remove::<MorphPose>();
        }
        *parts = CharacterParts {
            version: Some(character.version),
            shape: character.shape.version,
            ..default()
        };
        parts.take_size_of(character);
        parts.entities = (0..character.parts.len())
            .map(|part| spawn_part(&mut commands, entity, character, part))
            .collect();
        send(&mut commands, &mut ready, CharacterReady { entity });
    }
}

/// Starts a character in the first of its states, unless something plays already. After a reload,
/// it stays in its present state.
pub(super) fn take_up_states(
    entity: Entity,
    character: &Character,
    controller: &mut Mut<AnimationController>,
) {
    let Some(states) = &character.states else {
        return;
    };
    let present = controller.states().machines();
    let is_known = present.is_some_and(|present| Arc::ptr_eq(present, states));
    let plays_otherwise = present.is_none() && controller.tracks().next().is_some();
    if !is_known && !plays_otherwise {
        controller.set_states(states, entity.to_bits());
    }
}

/// Reports assets that failed to load to the characters that have them.
///
/// Only runs in frames in which one failed or a handle changed.
fn report_failures(
    mut commands: Commands,
    mut failures: MessageReader<AssetLoadFailedEvent<Character>>,
    server: Res<AssetServer>,
    mut messages: Option<ResMut<Messages<CharacterFailed>>>,
    characters: Query<(Entity, Ref<SkinnedCharacter>)>,
) {
    let errors: HashMap<AssetId<Character>, &AssetLoadError> = failures
        .read()
        .map(|failure| (failure.id, &failure.error))
        .collect();
    for (entity, handle) in &characters {
        let error = match errors.get(&handle.id()) {
            Some(&error) => error.clone(),
            None if handle.is_changed()
                && let LoadState::Failed(error) = server.load_state(handle.id()) =>
            {
                AssetLoadError::clone(&error)
            }
            None => continue,
        };
        send(
            &mut commands,
            &mut messages,
            CharacterFailed { entity, error },
        );
    }
}

fn spawn_part(
    commands: &mut Commands,
    entity: Entity,
    character: &Character,
    index: usize,
) -> Entity {
    let part = &character.parts[index];
    let bundle = (
        Name::new(part.name.clone()),
        PartOf {
            character: entity,
            part: index,
        },
        Mesh3d(part.mesh.clone()),
        MeshMaterial3d(part.material.clone()),
        Transform::IDENTITY,
        Visibility::Inherited,
        part.rest_bounds,
        NoAutoAabb,
        ChildOf(entity),
    );
    let skin = (!part.palette.is_empty()).then(|| {
        // These joints are not entities. Bevy allocates a range of its buffer for them and leaves it to us.
        let joints = vec![Entity::PLACEHOLDER; part.palette_len()];
        let range = PaletteRange::new(joints.len());
        (
            SkinnedMesh {
                inverse_bindposes: Handle::default(),
                joints,
            },
            range,
        )
    });
    let morphs = (!part.morphs.is_empty()).then(|| MeshMorphWeights::Value {
        weights: morphs::at_rest(part, character.skeleton.morphs().rest()),
    });
    // In a box, because Bevy never gives back the memory that a list of commands once needed.
    let all = Box::new((bundle, skin, morphs));
    let spawn = move |mut spawned: EntityWorldMut| {
        let (bundle, skin, morphs) = *all;
        match skin {
            Some(skin) => spawned.insert((bundle, skin)),
            None => spawned.insert(bundle),
        };
        if let Some(morphs) = morphs {
            spawned.insert(morphs);
        }
    };
    commands.spawn_empty().queue(spawn).id()
}

/// Removes [`Teleported`], which counts for one frame.
pub(super) fn clear_teleported(
    mut commands: Commands,
    teleported: Query<Entity, With<Teleported>>,
) {
    for entity in &teleported {
        commands.entity(entity).try_remove::<Teleported>();
    }
}

/// Removes textures that failed to load from the characters' materials, because a material that waits for a
/// texture is not drawn at all.
///
/// Either can come first: the failure or the character.
pub(super) fn drop_failed_textures(
    mut failed: MessageReader<AssetLoadFailedEvent<Image>>,
    mut arrived: MessageReader<AssetEvent<Character>>,
    server: Res<AssetServer>,
    images: Res<Assets<Image>>,
    characters: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let any_failed = failed.read().count() > 0;
    let is_arrival = |event: &AssetEvent<Character>| {
        matches!(
            event,
            AssetEvent::Added { .. } | AssetEvent::Modified { .. }
        )
    };
    let any_arrived = arrived.read().filter(|event| is_arrival(event)).count() > 0;
    if !any_failed && !any_arrived {
        return;
    }
    // A texture that failed to reload is still there as it was.
    let is_lost = |map: &Option<Handle<Image>>| {
        map.as_ref()
            .is_some_and(|map| !images.contains(map) && server.load_state(map).is_failed())
    };
    for part in characters
        .iter()
        .flat_map(|(_, character)| &character.parts)
    {
        let Some(mut material) = materials.get_mut(&part.material) else {
            continue;
        };
        let maps = textures_of(material.bypass_change_detection()).into_iter();
        let lost: Vec<_> = maps
            .filter(|map| is_lost(map))
            .filter_map(Option::take)
            .collect();
        if lost.is_empty() {
            continue;
        }
        // Marks the material as changed.
        material.into_inner();
        // One image often holds several maps.
        let mut names: Vec<String> = lost
            .iter()
            .filter_map(|map| map.path().map(|path| path.to_string()))
            .collect();
        names.dedup();
        warn!(
            "part `{}` is drawn without a texture: {} failed to load",
            part.name,
            names.join(" and ")
        );
    }
}
