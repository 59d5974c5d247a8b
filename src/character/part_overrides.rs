//! Hiding single parts of a character, or drawing them with other materials.

use super::{
    components::{CharacterParts, PartOf, SkinnedCharacter},
    names::{available, hint},
    own_material::SetAside,
    systems::SpawnStep,
    weight_material,
};
use crate::asset::Character;
use bevy::{platform::collections::HashSet, prelude::*};

pub(super) fn plugin(app: &mut App) {
    app.register_type::<PartOverrides>()
        .register_type::<MeshMaterial3d<StandardMaterial>>()
        .add_plugins(weight_material::plugin)
        .add_systems(
            PostUpdate,
            apply
                .run_if(
                    any_match_filter::<Or<(Changed<PartOverrides>, Added<PartOf>)>>
                        .or_else(any_component_removed::<PartOverrides>),
                )
                .in_set(SpawnStep::Looks),
        );
}

/// Hides parts of a character, or draws them with other materials.
///
/// Parts that are drawn with another type of material, such as by a [`PartMaterial`](super::PartMaterial), are hidden like all
/// others.
///
/// An optional component of a character. It also applies after a reload and to another asset.
/// Removing it restores the asset's. Parts that the character lacks are logged once.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, gold: Handle<StandardMaterial>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("knight.md5mesh")),
///     PartOverrides::default().hide("helmet").material("shield", gold),
/// ));
/// # }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct PartOverrides {
    changes: Vec<(PartId, PartOverride)>,
}

/// A part of a character, by name or by index in [`Character::parts`].
///
/// ```
/// # use bevy_marionette::{character::PartId, prelude::*};
/// /// Hides what the player has unticked in a wardrobe: names, or indices of a list.
/// fn undressed(unticked: Vec<PartId>) -> PartOverrides {
///     unticked.into_iter().fold(PartOverrides::default(), PartOverrides::hide)
/// }
/// let without_helmet = undressed(vec!["helmet".into(), PartId::Index(2)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, PartialEq, Hash)]
pub enum PartId {
    /// By name.
    Name(String),
    /// By index.
    Index(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Default, PartialEq)]
struct PartOverride {
    hidden: bool,
    material: Option<Handle<StandardMaterial>>,
}

impl From<&str> for PartId {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<String> for PartId {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for PartId {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl PartId {
    /// Returns the part's index in a character, or `None` if the character has no such part.
    pub fn index_in(&self, character: &Character) -> Option<usize> {
        match self {
            Self::Index(index) => Some(*index).filter(|&index| index < character.parts.len()),
            Self::Name(name) => character.parts.iter().position(|part| part.name == *name),
        }
    }
}

impl PartOverrides {
    /// Hides a part.
    pub fn hide(mut self, part: impl Into<PartId>) -> Self {
        self.set_hidden(part, true);
        self
    }

    /// Draws a part with another material.
    pub fn material(mut self, part: impl Into<PartId>, material: Handle<StandardMaterial>) -> Self {
        self.set_material(part, Some(material));
        self
    }

    /// Sets whether a part is hidden.
    pub fn set_hidden(&mut self, part: impl Into<PartId>, hidden: bool) {
        self.entry(part.into()).hidden = hidden;
        self.drop_defaults();
    }

    /// Sets the material of a part; `None` restores its own.
    pub fn set_material(
        &mut self,
        part: impl Into<PartId>,
        material: Option<Handle<StandardMaterial>>,
    ) {
        self.entry(part.into()).material = material;
        self.drop_defaults();
    }

    /// Returns `true` if a part was hidden by this name or index.
    pub fn is_hidden(&self, part: impl Into<PartId>) -> bool {
        let part = part.into();
        self.changes
            .iter()
            .any(|(id, change)| *id == part && change.hidden)
    }

    /// Returns `true` if a part of a character is hidden, by its name or its index.
    pub fn hides(&self, character: &Character, part: usize) -> bool {
        self.of(character, part).hidden
    }

    /// Returns `true` if nothing is hidden or replaced.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the overrides, for recordings: each part, `true` if it is hidden, and its material.
    pub(crate) fn changes(
        &self,
    ) -> impl Iterator<Item = (&PartId, bool, Option<&Handle<StandardMaterial>>)> {
        self.changes
            .iter()
            .map(|(id, change)| (id, change.hidden, change.material.as_ref()))
    }

    fn entry(&mut self, part: PartId) -> &mut PartOverride {
        let at = self
            .changes
            .iter()
            .position(|(id, _)| *id == part)
            .unwrap_or_else(|| {
                self.changes.push((part, PartOverride::default()));
                self.changes.len() - 1
            });
        &mut self.changes[at].1
    }

    fn drop_defaults(&mut self) {
        self.changes
            .retain(|(_, change)| *change != PartOverride::default());
    }

    /// Returns the override of a part of a character, by its index, its name or both.
    fn of(&self, character: &Character, part: usize) -> PartOverride {
        let mut all = PartOverride::default();
        for (_, change) in self
            .changes
            .iter()
            .filter(|(id, _)| id.index_in(character) == Some(part))
        {
            all.hidden |= change.hidden;
            all.material = change.material.clone().or(all.material);
        }
        all
    }
}

type Overridable<'w> = (
    &'w SkinnedCharacter,
    &'w CharacterParts,
    Option<&'w PartOverrides>,
);

/// The [`StandardMaterial`] of a part: its own, or the one that replaces it.
pub(super) fn standard_of(
    overrides: Option<&PartOverrides>,
    character: &Character,
    part: usize,
) -> Handle<StandardMaterial> {
    overrides
        .and_then(|overrides| overrides.of(character, part).material)
        .unwrap_or_else(|| character.parts[part].material.clone())
}

/// Sets the visibility and material of parts where they may have changed.
pub(super) fn apply(
    assets: Res<Assets<Character>>,
    mut warned: Local<HashSet<(u64, PartId)>>,
    mut removed: RemovedComponents<PartOverrides>,
    changed: Query<Entity, Changed<PartOverrides>>,
    spawned: Query<&PartOf, Added<PartOf>>,
    characters: Query<Overridable>,
    mut parts: Query<
        (
            &mut Visibility,
            // None for a part that is drawn with another type of material.
            Option<&mut MeshMaterial3d<StandardMaterial>>,
            Option<&mut SetAside>,
        ),
        With<PartOf>,
    >,
) {
    let is_overridden = |part: &&PartOf| {
        characters
            .get(part.character)
            .is_ok_and(|(.., overrides)| overrides.is_some())
    };
    let mut dirty: Vec<Entity> = changed.iter().chain(removed.read()).collect();
    dirty.extend(
        spawned
            .iter()
            .filter(is_overridden)
            .map(|part| part.character),
    );
    dirty.sort_unstable();
    dirty.dedup();
    for entity in dirty {
        let Ok((handle, list, overrides)) = characters.get(entity) else {
            continue;
        };
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        if list.version != Some(character.version) {
            continue;
        }
        for (id, _) in overrides.iter().flat_map(|overrides| &overrides.changes) {
            if id.index_in(character).is_none() && warned.insert((character.version, id.clone())) {
                warn_missing(character, id);
            }
        }
        for (index, &part) in list.entities.iter().enumerate() {
            let Ok((mut visibility, shown, mut aside)) = parts.get_mut(part) else {
                continue;
            };
            let is_hidden = overrides.is_some_and(|overrides| overrides.hides(character, index));
            visibility.set_if_neq(if is_hidden {
                Visibility::Hidden
            } else {
                Visibility::Inherited
            });
            let own = MeshMaterial3d(standard_of(overrides, character, index));
            match (&mut aside, shown) {
                (Some(aside), _) => {
                    if let Some(material) = aside.get_mut() {
                        *material = own;
                    }
                }
                (None, Some(mut material)) => {
                    material.set_if_neq(own);
                }
                (None, None) => {}
            }
        }
    }
}

fn warn_missing(character: &Character, part: &PartId) {
    let known = character.parts.iter().map(|part| &*part.name);
    match part {
        PartId::Name(name) => {
            let hint = hint(name, known);
            warn!("cannot override part `{name}`: no such part{hint}");
        }
        PartId::Index(index) => {
            let known = available(known);
            warn!("cannot override part {index}: no such part {known}");
        }
    }
}
