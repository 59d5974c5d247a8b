//! Parts drawn with materials of the game's own type.

use super::{
    components::{CharacterParts, PartOf, SkinnedCharacter},
    own_material::{draw_with, has_own},
    part_overrides::{self, PartId, PartOverrides},
    systems::SpawnStep,
};
use crate::asset::{Character, CharacterPart};
use bevy::{
    ecs::entity::EntityHashSet,
    platform::collections::{HashMap, HashSet},
    prelude::*,
    reflect::TypePath,
};
use std::{any::type_name, sync::Arc};

/// Lets characters be drawn with a material of your own type: a toon shader, or an `ExtendedMaterial`.
///
/// Add it beside Bevy's `MaterialPlugin`, with a function that makes your material from the part's [`StandardMaterial`],
/// textures included. Characters that have a [`PartMaterial`] are then drawn with it:
///
/// ```no_run
/// # use bevy::{pbr::{ExtendedMaterial, MaterialExtension}, prelude::*, render::render_resource::AsBindGroup};
/// # use bevy_marionette::{character::{PartMaterial, PartMaterialPlugin}, prelude::*};
/// # #[derive(Asset, AsBindGroup, TypePath, Clone, Default)]
/// # struct Toon { #[uniform(100)] bands: Vec4 }
/// # impl MaterialExtension for Toon {}
/// type ToonMaterial = ExtendedMaterial<StandardMaterial, Toon>;
///
/// fn main() {
///     App::new()
///         .add_plugins((DefaultPlugins, MarionettePlugins::default()))
///         .add_plugins(MaterialPlugin::<ToonMaterial>::default())
///         .add_plugins(PartMaterialPlugin::new(|_, standard| {
///             Some(ToonMaterial { base: standard.clone(), extension: Toon::default() })
///         }))
///         .add_systems(Startup, spawn)
///         .run();
/// }
///
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn((
///         SkinnedCharacter(assets.load("scout/scout.character.ron")),
///         PartMaterial::<ToonMaterial>::default(),
///     ));
/// }
/// ```
///
/// The function is called for each part of an asset, and again when its material changes, for example because its
/// file was edited. Where it returns `None`, the part keeps its [`StandardMaterial`], and the function may be called again:
/// choose by the part's name, or by [`material_type`](CharacterPart::material_type).
///
/// # By hand
///
/// Without this plugin, replace the material in an observer of [`CharacterReady`](super::CharacterReady), which is also
/// triggered when a reload has replaced the parts:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::CharacterParts, prelude::*};
/// # #[derive(Resource)] struct Toon<M: Material>(Handle<M>);
/// fn paint<M: Material>(
///     ready: On<CharacterReady>,
///     toon: Res<Toon<M>>,
///     characters: Query<&CharacterParts>,
///     mut commands: Commands,
/// ) -> Result {
///     for &part in &characters.get(ready.entity)?.entities {
///         commands
///             .entity(part)
///             .remove::<MeshMaterial3d<StandardMaterial>>()
///             .insert(MeshMaterial3d(toon.0.clone()));
///     }
///     Ok(())
/// }
/// ```
///
/// Either way, parts are hidden, mirrored and colored by weight as usual.
pub struct PartMaterialPlugin<M: Material> {
    make: Make<M>,
}

type Make<M> = Arc<dyn Fn(&CharacterPart, &StandardMaterial) -> Option<M> + Send + Sync + 'static>;

impl<M: Material> PartMaterialPlugin<M> {
    /// Draws characters that have a [`PartMaterial`] with what `make` returns for each part and its material.
    pub fn new(
        make: impl Fn(&CharacterPart, &StandardMaterial) -> Option<M> + Send + Sync + 'static,
    ) -> Self {
        Self {
            make: Arc::new(make),
        }
    }
}

impl<M: Material> Plugin for PartMaterialPlugin<M> {
    fn build(&self, app: &mut App) {
        app.register_type::<MeshMaterial3d<M>>()
            .insert_resource(Made {
                make: self.make.clone(),
                materials: HashMap::default(),
                awaited: HashSet::default(),
            })
            .add_systems(
                PostUpdate,
                apply::<M>
                    .run_if(
                        any_with_component::<PartMaterial<M>>
                            .or_else(any_component_removed::<PartMaterial<M>>),
                    )
                    .in_set(SpawnStep::Looks)
                    .after_ignore_deferred(part_overrides::apply),
            );
    }

    fn finish(&self, app: &mut App) {
        let name = type_name::<M>();
        assert!(
            app.world().contains_resource::<Assets<M>>(),
            "`PartMaterialPlugin` needs materials of type `{name}`: add `MaterialPlugin::<{name}>::default()`"
        );
    }
}

/// Draws the parts of a character with materials of another type. See [`PartMaterialPlugin`].
///
/// An optional component of a character. Removing it restores the [`StandardMaterial`]s. It builds
/// on [`PartOverrides`]: a part with another [`StandardMaterial`] is drawn with a material made
/// from that.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::PartMaterial, prelude::*};
/// # fn spawn<Glow: Material>(mut commands: Commands, assets: Res<AssetServer>, glow: Handle<Glow>) {
/// // The blade has a material of its own, whatever the plugin makes of the other parts.
/// commands.spawn((
///     SkinnedCharacter(assets.load("knight.glb")),
///     PartMaterial::<Glow>::default().part("blade", glow),
/// ));
/// # }
/// ```
#[derive(Component, Debug, TypePath)]
pub struct PartMaterial<M: Material> {
    own: Vec<(PartId, Handle<M>)>,
}

impl<M: Material> Default for PartMaterial<M> {
    fn default() -> Self {
        Self { own: Vec::new() }
    }
}

impl<M: Material> Clone for PartMaterial<M> {
    fn clone(&self) -> Self {
        Self {
            own: self.own.clone(),
        }
    }
}

impl<M: Material> PartMaterial<M> {
    /// Draws a part with this material instead of one that is made for it.
    pub fn part(mut self, part: impl Into<PartId>, material: Handle<M>) -> Self {
        self.set_part(part, Some(material));
        self
    }

    /// Sets the material of a part; `None` leaves it to the plugin's function.
    pub fn set_part(&mut self, part: impl Into<PartId>, material: Option<Handle<M>>) {
        let part = part.into();
        self.own.retain(|(id, _)| *id != part);
        self.own.extend(material.map(|material| (part, material)));
    }

    fn of(&self, character: &Character, part: usize) -> Option<&Handle<M>> {
        let mut own = self.own.iter().rev();
        own.find(|(id, _)| id.index_in(character) == Some(part))
            .map(|(_, material)| material)
    }
}

/// The materials that were made, shared by all characters of an asset.
#[derive(Resource)]
struct Made<M: Material> {
    make: Make<M>,
    materials: HashMap<MadeFor, Option<Handle<M>>>,
    /// Materials of parts that were not there yet.
    awaited: HashSet<AssetId<StandardMaterial>>,
}

/// The part and material that another material was made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MadeFor {
    /// The asset's shape; a reload that changes a part changes it.
    shape: u64,
    part: usize,
    standard: AssetId<StandardMaterial>,
}

impl<M: Material> Made<M> {
    /// The material of a part; `None` if the function makes none, or the part's own material is not there.
    fn get(
        &mut self,
        character: &Character,
        part: usize,
        standard: AssetId<StandardMaterial>,
        standards: &Assets<StandardMaterial>,
        materials: &mut Assets<M>,
    ) -> Option<Handle<M>> {
        let key = MadeFor {
            shape: character.shape.version,
            part,
            standard,
        };
        if let Some(made) = self.materials.get(&key) {
            return made.clone();
        }
        let Some(own) = standards.get(standard) else {
            self.awaited.insert(standard);
            return None;
        };
        let made = (self.make)(&character.parts[part], own);
        let made = made.map(|material| materials.add(material));
        self.materials.insert(key, made.clone());
        made
    }

    /// Forgets the materials made from a material. Returns `true` if parts have them, or wait for
    /// them.
    fn forget(&mut self, standard: AssetId<StandardMaterial>) -> bool {
        let count = self.materials.len();
        self.materials.retain(|key, _| key.standard != standard);
        self.awaited.remove(&standard) || self.materials.len() != count
    }

    /// Forgets materials that no part shows.
    fn drop_unused(&mut self) {
        self.materials.retain(|_, made| match made {
            Some(Handle::Strong(counted)) => Arc::strong_count(counted) > 1,
            Some(Handle::Uuid(..)) | None => false,
        });
    }
}

/// Sets the materials of parts where they may have changed.
fn apply<M: Material>(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    standards: Res<Assets<StandardMaterial>>,
    mut materials: ResMut<Assets<M>>,
    mut made: ResMut<Made<M>>,
    mut events: MessageReader<AssetEvent<StandardMaterial>>,
    mut removed: (
        RemovedComponents<PartMaterial<M>>,
        RemovedComponents<PartOverrides>,
    ),
    changed: Query<
        Entity,
        (
            With<PartMaterial<M>>,
            Or<(Changed<PartMaterial<M>>, Changed<PartOverrides>)>,
        ),
    >,
    spawned: Query<&PartOf, Added<PartOf>>,
    characters: Query<(
        &SkinnedCharacter,
        &CharacterParts,
        Option<&PartOverrides>,
        Option<&PartMaterial<M>>,
    )>,
    everyone: Query<Entity, With<PartMaterial<M>>>,
) {
    let mut dirty: EntityHashSet = changed.iter().collect();
    dirty.extend(spawned.iter().map(|part| part.character));
    dirty.extend(removed.1.read());
    // Edited, loaded late, or without a texture that failed to load.
    let renewed = events.read().filter(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => made.forget(*id),
        _ => false,
    });
    if renewed.count() > 0 {
        dirty.extend(&everyone);
    }
    dirty.retain(|&entity| everyone.contains(entity));
    let restored: EntityHashSet = removed.0.read().collect();
    if dirty.is_empty() && restored.is_empty() {
        return;
    }
    made.drop_unused();
    for entity in dirty.into_iter().chain(restored) {
        let Ok((handle, list, overrides, painted)) = characters.get(entity) else {
            continue;
        };
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        if list.version != Some(character.version) {
            continue;
        }
        for (index, &part) in list.entities.iter().enumerate() {
            let standard = part_overrides::standard_of(overrides, character, index);
            let material = painted.and_then(|painted| {
                let own = painted.of(character, index).cloned();
                own.or_else(|| {
                    made.get(character, index, standard.id(), &standards, &mut materials)
                })
            });
            let draw = move |mut part: EntityWorldMut| match material {
                Some(material) => draw_with(&mut part, MeshMaterial3d(material)),
                None if has_own::<M>(&part) => draw_with(&mut part, MeshMaterial3d(standard)),
                None => {}
            };
            if let Ok(mut part) = commands.get_entity(part) {
                part.queue_silenced(draw);
            }
        }
    }
}
