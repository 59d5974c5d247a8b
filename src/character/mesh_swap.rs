//! Showing the right variant of each mesh.

use super::{
    CharacterSystems,
    components::{CharacterParts, SkinnedCharacter},
    hierarchy::upward,
    mesh_variants::{MeshVariant, MeshVariants},
    weight_view::WeightView,
};
use crate::asset::Character;
use bevy::{asset::AssetEventSystems, prelude::*};

type Viewed<'w> = (
    Entity,
    &'w SkinnedCharacter,
    &'w GlobalTransform,
    Option<&'w WeightView>,
    &'w mut CharacterParts,
);
type MaybeChanged = Or<(
    Changed<GlobalTransform>,
    Changed<CharacterParts>,
    Changed<SkinnedCharacter>,
    Changed<WeightView>,
)>;

/// Adds what gives parts the meshes they need.
pub(super) fn plugin(app: &mut App) {
    app.init_resource::<MeshVariants>().add_systems(
        PostUpdate,
        (
            // New meshes reach the GPU in this frame if they are made before Bevy's asset events.
            prepare_mirrored_meshes
                .run_if(any_with_component::<SkinnedCharacter>)
                .before(AssetEventSystems),
            swap_meshes.in_set(CharacterSystems::SwapMeshes),
        ),
    );
}

/// Makes the meshes of characters that are mirrored from this frame on, in time for the GPU. A frame later they
/// would have been inside out once.
///
/// Only checks characters whose own transform changed, so it misses one that is mirrored by a
/// change of an ancestor.
pub(super) fn prepare_mirrored_meshes(
    assets: Res<Assets<Character>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut variants: ResMut<MeshVariants>,
    mut loading: Local<Vec<Entity>>,
    changed: Query<
        Entity,
        (
            With<CharacterParts>,
            Or<(Changed<Transform>, Changed<SkinnedCharacter>)>,
        ),
    >,
    characters: Query<(&SkinnedCharacter, &CharacterParts, Option<&WeightView>)>,
    places: Query<(&Transform, Option<&ChildOf>)>,
) {
    let still_loading = std::mem::take(&mut *loading);
    for entity in changed.iter().chain(still_loading) {
        let Ok((handle, parts, view)) = characters.get(entity) else {
            continue;
        };
        let parent_of = |entity| places.get(entity).ok()?.1.map(ChildOf::parent);
        let mirrors = |entity| {
            places
                .get(entity)
                .is_ok_and(|(place, _)| place.scale.element_product() < 0.0)
        };
        let mirrored = upward(entity, parent_of)
            .filter(|&entity| mirrors(entity))
            .count()
            % 2
            == 1;
        let variant = MeshVariant {
            mirrored,
            view: view.copied(),
        };
        if !mirrored || parts.variant == variant {
            continue;
        }
        match assets.get(handle.id()) {
            Some(character) => {
                variants.prepare(character, variant, &mut meshes);
            }
            None => loading.push(entity),
        }
    }
}

/// Sets the meshes of parts where they may have changed.
pub(super) fn swap_meshes(
    assets: Res<Assets<Character>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut variants: ResMut<MeshVariants>,
    mut mesh_events: MessageReader<AssetEvent<Mesh>>,
    mut gone: (
        RemovedComponents<WeightView>,
        RemovedComponents<CharacterParts>,
    ),
    mut waiting: Local<Vec<Entity>>,
    mut characters: ParamSet<(Query<Viewed, MaybeChanged>, Query<Viewed>)>,
    mut parts: Query<&mut Mesh3d>,
) {
    // Those that were prepared reach the GPU in time.
    variants.begin_late();
    // Variants of a mesh that changed are made again.
    let mut stale = false;
    for event in mesh_events.read() {
        if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            stale |= variants.forget(*id);
        }
    }
    let mut swapped = gone.1.read().count() > 0;
    // A mesh made now reaches the GPU in the next frame, and until then Bevy would draw nothing. So the part
    // keeps the one it has.
    let were_waiting = std::mem::take(&mut *waiting);
    let mut swap =
        |entity: Entity, list: &mut CharacterParts, variant: MeshVariant, character: &Character| {
            if !variants.prepare(character, variant, &mut meshes) {
                waiting.push(entity);
                return;
            }
            list.variant = variant;
            swapped = true;
            for (part, &entity) in character.parts.iter().zip(&list.entities) {
                if let Ok(mut mesh) = parts.get_mut(entity) {
                    mesh.set_if_neq(Mesh3d(variants.get(part, variant)));
                }
            }
        };
    let ready = |handle: &SkinnedCharacter, list: &CharacterParts| {
        assets
            .get(handle.id())
            .filter(|character| list.version == Some(character.version))
    };
    for (entity, handle, world, view, mut list) in &mut characters.p0() {
        let variant = MeshVariant::of(world, view);
        if list.variant != variant
            && let Some(character) = ready(handle, &list)
        {
            swap(entity, list.bypass_change_detection(), variant, character);
        }
    }
    let mut everyone = characters.p1();
    for entity in gone.0.read().chain(were_waiting) {
        if let Ok((_, handle, world, view, mut list)) = everyone.get_mut(entity)
            && list.variant != MeshVariant::of(world, view)
            && let Some(character) = ready(handle, &list)
        {
            swap(
                entity,
                list.bypass_change_detection(),
                MeshVariant::of(world, view),
                character,
            );
        }
    }
    if stale {
        for (entity, handle, world, view, mut list) in &mut everyone {
            if list.variant != MeshVariant::default()
                && let Some(character) = ready(handle, &list)
            {
                // So that a swap that has to wait is not mistaken for one that is done.
                list.bypass_change_detection().variant = MeshVariant::default();
                swap(
                    entity,
                    list.bypass_change_detection(),
                    MeshVariant::of(world, view),
                    character,
                );
            }
        }
    }
    // A variant that a character waits for is not shown by any part yet, and would be dropped.
    if swapped && waiting.is_empty() {
        variants.drop_unused();
    }
}
