//! The material of parts whose weights are shown.

use super::{
    components::{CharacterParts, PartOf},
    own_material::{SetAside, give_back, set_aside},
    systems::SpawnStep,
    weight_view::WeightView,
};
use bevy::prelude::*;

/// Adds what shows weights.
pub(super) fn plugin(app: &mut App) {
    app.register_type::<WeightView>().add_systems(
        PostUpdate,
        (
            hide.run_if(any_with_component::<SetAside>),
            show.run_if(any_with_component::<WeightView>),
            // They change different parts, so commands are applied only once.
        )
            .chain_ignore_deferred()
            .in_set(SpawnStep::Weights),
    );
}

/// Gives parts whose weights are no longer shown their materials back.
fn hide(
    mut commands: Commands,
    parts: Query<(Entity, &PartOf), With<SetAside>>,
    viewed: Query<(), With<WeightView>>,
) {
    for (part, of) in &parts {
        if !viewed.contains(of.character) {
            commands
                .entity(part)
                .queue_silenced(|mut part: EntityWorldMut| give_back(&mut part));
        }
    }
}

/// Sets the materials of parts aside whose weights are shown from this frame on.
fn show(
    mut commands: Commands,
    viewed: Query<&CharacterParts, With<WeightView>>,
    parts: Query<Entity, (With<PartOf>, Without<SetAside>)>,
) {
    let all = viewed.iter().flat_map(|list| &list.entities);
    for part in all.filter_map(|&part| parts.get(part).ok()) {
        // Silenced: the part may be despawned by then.
        commands
            .entity(part)
            .queue_silenced(|mut part: EntityWorldMut| {
                let material = part.world_scope(|world| {
                    let material = world.get_resource_or_init::<WeightMaterial>();
                    material.0.clone()
                });
                set_aside(&mut part, material);
            });
    }
}

/// The material below the colors: unlit, so that they look the same everywhere.
#[derive(Resource)]
struct WeightMaterial(Handle<StandardMaterial>);

impl FromWorld for WeightMaterial {
    fn from_world(world: &mut World) -> Self {
        let material = StandardMaterial {
            unlit: true,
            ..default()
        };
        Self(
            world
                .resource_mut::<Assets<StandardMaterial>>()
                .add(material),
        )
    }
}
