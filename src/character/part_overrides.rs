//! Hiding single parts of a character, or drawing them with other materials.

use super::{
    components::{CharacterParts, PartOf, SkinnedCharacter},
    names::available,
    weight_view::{WeightMaterial, WeightView},
};
use crate::asset::Character;
use bevy::{platform::collections::HashSet, prelude::*};

/// Hides parts of a character, or draws them with other materials.
///
/// An optional component of a character. It also applies after a reload and to another asset. Removing it
/// restores what the asset says. Parts that the character lacks are logged once.
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

    /// What differs, for recordings: the part, whether it is hidden, and its material.
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

    /// What applies to a part of a character, by its index, its name or both.
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

/// On a part that shows its weights: the material to restore.
#[derive(Component)]
pub(super) struct OriginalMaterial(Handle<StandardMaterial>);

type Overridable<'w> = (
    &'w SkinnedCharacter,
    &'w CharacterParts,
    Option<&'w PartOverrides>,
    Option<&'w WeightView>,
);

/// Sets the visibility and material of parts where they may have changed.
pub(super) fn apply(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    weights: Res<WeightMaterial>,
    mut warned: Local<HashSet<(u64, PartId)>>,
    mut removed: (
        RemovedComponents<PartOverrides>,
        RemovedComponents<WeightView>,
    ),
    changed: (
        Query<Entity, Changed<PartOverrides>>,
        Query<Entity, (Changed<WeightView>, Without<PartOverrides>)>,
        Query<&PartOf, Added<PartOf>>,
    ),
    characters: Query<Overridable>,
    mut parts: Query<
        (
            &mut Visibility,
            &mut MeshMaterial3d<StandardMaterial>,
            Option<&mut OriginalMaterial>,
        ),
        With<PartOf>,
    >,
) {
    let (overridden, viewed, spawned) = (&changed.0, &changed.1, &changed.2);
    let is_special = |part: &&PartOf| {
        characters
            .get(part.character)
            .is_ok_and(|(.., overrides, view)| overrides.is_some() || view.is_some())
    };
    let restored: Vec<Entity> = removed.0.read().collect();
    let mut dirty: Vec<Entity> = overridden.iter().chain(viewed).collect();
    dirty.extend(spawned.iter().filter(is_special).map(|part| part.character));
    dirty.extend(restored.iter().copied().chain(removed.1.read()));
    dirty.sort_unstable();
    dirty.dedup();
    for entity in dirty {
        let Ok((handle, list, overrides, view)) = characters.get(entity) else {
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
        let decides = overrides.is_some() || restored.contains(&entity);
        for (index, &part) in list.entities.iter().enumerate() {
            let Ok((mut visibility, mut material, mut original)) = parts.get_mut(part) else {
                continue;
            };
            // Its material when its weights are not shown.
            let mut own = original
                .as_ref()
                .map_or_else(|| material.0.clone(), |original| original.0.clone());
            if decides {
                let PartOverride { hidden, material } = overrides
                    .map(|overrides| overrides.of(character, index))
                    .unwrap_or_default();
                visibility.set_if_neq(if hidden {
                    Visibility::Hidden
                } else {
                    Visibility::Inherited
                });
                own = material.unwrap_or_else(|| character.parts[index].material.clone());
            }
            if view.is_some() {
                match &mut original {
                    Some(original) => original.0 = own,
                    None => {
                        commands.entity(part).try_insert(OriginalMaterial(own));
                    }
                }
                material.set_if_neq(MeshMaterial3d(weights.0.clone()));
            } else {
                if original.is_some() {
                    commands.entity(part).try_remove::<OriginalMaterial>();
                }
                material.set_if_neq(MeshMaterial3d(own));
            }
        }
    }
}

fn warn_missing(character: &Character, part: &PartId) {
    let part = match part {
        PartId::Name(name) => format!("`{name}`"),
        PartId::Index(index) => format!("{index}"),
    };
    warn!(
        "cannot override part {part}: no such part {}",
        available(character.parts.iter().map(|part| &part.name))
    );
}
