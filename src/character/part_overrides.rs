//! Parts hidden, or drawn with other materials, one by one.

use super::{CharacterParts, PartOf, SkinnedCharacter, WeightView, weight_view::WeightMaterial};
use crate::asset::Character;
use bevy::{platform::collections::HashSet, prelude::*};

/// An optional component of a character: parts that are hidden or have a material of this instance's own.
///
/// It is kept when the asset is loaded anew, or when another one is given. A part that the character
/// lacks is said once. Taking the component away gives the parts back as the asset has them.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::PartOverrides, prelude::*};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, gold: Handle<StandardMaterial>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("knight.md5mesh")),
///     PartOverrides::default().hide("helmet").material("shield", gold),
/// ));
/// # }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct PartOverrides {
    changes: Vec<(PartId, PartOverride)>,
}

/// A part by its name, or by its index in [`Character::parts`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartId {
    /// By name.
    Name(String),
    /// By index.
    Index(usize),
}

#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Index of the part in a character.
    pub fn index_in(&self, character: &Character) -> Option<usize> {
        match self {
            Self::Index(index) => Some(*index).filter(|&index| index < character.parts.len()),
            Self::Name(name) => character.parts.iter().position(|part| part.name == *name),
        }
    }
}

impl PartOverrides {
    /// Also hides a part.
    pub fn hide(mut self, part: impl Into<PartId>) -> Self {
        self.set_hidden(part, true);
        self
    }

    /// Also draws a part with another material.
    pub fn material(mut self, part: impl Into<PartId>, material: Handle<StandardMaterial>) -> Self {
        self.set_material(part, Some(material));
        self
    }

    /// Hides a part or shows it again.
    pub fn set_hidden(&mut self, part: impl Into<PartId>, hidden: bool) {
        self.entry(part.into()).hidden = hidden;
        self.forget_nothings();
    }

    /// Draws a part with another material, or with its own again.
    pub fn set_material(&mut self, part: impl Into<PartId>, material: Option<Handle<StandardMaterial>>) {
        self.entry(part.into()).material = material;
        self.forget_nothings();
    }

    /// Whether a part is hidden, under the name or index by which it was.
    pub fn is_hidden(&self, part: impl Into<PartId>) -> bool {
        let part = part.into();
        self.changes.iter().any(|(id, change)| *id == part && change.hidden)
    }

    /// Whether a part of a character is hidden, under its name or its index.
    pub fn hides(&self, character: &Character, part: usize) -> bool {
        self.of(character, part).hidden
    }

    /// Whether nothing is hidden or replaced.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn entry(&mut self, part: PartId) -> &mut PartOverride {
        let at = self.changes.iter().position(|(id, _)| *id == part).unwrap_or_else(|| {
            self.changes.push((part, PartOverride::default()));
            self.changes.len() - 1
        });
        &mut self.changes[at].1
    }

    fn forget_nothings(&mut self) {
        self.changes.retain(|(_, change)| *change != PartOverride::default());
    }

    /// What applies to a part of a character: under its index, under its name, or both.
    fn of(&self, character: &Character, part: usize) -> PartOverride {
        let mut all = PartOverride::default();
        for (_, change) in self.changes.iter().filter(|(id, _)| id.index_in(character) == Some(part)) {
            all.hidden |= change.hidden;
            all.material = change.material.clone().or(all.material);
        }
        all
    }
}

/// On a part that shows weights: the material it had, and gets back.
#[derive(Component)]
pub(super) struct Undressed(Handle<StandardMaterial>);

type Worn<'w> = (&'w SkinnedCharacter, &'w CharacterParts, Option<&'w PartOverrides>, Option<&'w WeightView>);

/// Gives parts the visibility and the material they are to have, where that may have changed.
pub(super) fn apply(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    weights: Res<WeightMaterial>,
    mut said: Local<HashSet<(u64, PartId)>>,
    mut removed: (RemovedComponents<PartOverrides>, RemovedComponents<WeightView>),
    changed: (
        Query<Entity, Changed<PartOverrides>>,
        Query<Entity, (Changed<WeightView>, Without<PartOverrides>)>,
        Query<&PartOf, Added<PartOf>>,
    ),
    characters: Query<Worn>,
    mut parts: Query<(&mut Visibility, &mut MeshMaterial3d<StandardMaterial>, Option<&mut Undressed>), With<PartOf>>,
) {
    let (overridden, viewed, spawned) = (&changed.0, &changed.1, &changed.2);
    let is_special = |part: &&PartOf| {
        characters.get(part.character).is_ok_and(|(.., overrides, view)| overrides.is_some() || view.is_some())
    };
    let restored: Vec<Entity> = removed.0.read().collect();
    let mut dirty: Vec<Entity> = overridden.iter().chain(viewed).collect();
    dirty.extend(spawned.iter().filter(is_special).map(|part| part.character));
    dirty.extend(restored.iter().copied().chain(removed.1.read()));
    dirty.sort_unstable();
    dirty.dedup();
    for entity in dirty {
        let Ok((handle, list, overrides, view)) = characters.get(entity) else { continue };
        let Some(character) = assets.get(handle.id()) else { continue };
        if list.version != Some(character.version) {
            continue;
        }
        for (id, _) in overrides.iter().flat_map(|overrides| &overrides.changes) {
            if id.index_in(character).is_none() && said.insert((character.version, id.clone())) {
                warn_missing(character, id);
            }
        }
        let decides = overrides.is_some() || restored.contains(&entity);
        for (index, &part) in list.entities.iter().enumerate() {
            let Ok((mut visibility, mut material, mut undressed)) = parts.get_mut(part) else { continue };
            // What it wears when no weights are looked at.
            let mut own = undressed.as_ref().map_or_else(|| material.0.clone(), |undressed| undressed.0.clone());
            if decides {
                let PartOverride { hidden, material } =
                    overrides.map(|overrides| overrides.of(character, index)).unwrap_or_default();
                visibility.set_if_neq(if hidden { Visibility::Hidden } else { Visibility::Inherited });
                own = material.unwrap_or_else(|| character.parts[index].material.clone());
            }
            if view.is_some() {
                match &mut undressed {
                    Some(undressed) => undressed.0 = own,
                    None => {
                        commands.entity(part).try_insert(Undressed(own));
                    }
                }
                material.set_if_neq(MeshMaterial3d(weights.0.clone()));
            } else {
                if undressed.is_some() {
                    commands.entity(part).try_remove::<Undressed>();
                }
                material.set_if_neq(MeshMaterial3d(own));
            }
        }
    }
}

fn warn_missing(character: &Character, part: &PartId) {
    let names: Vec<_> = character.parts.iter().map(|part| format!("`{}`", part.name)).collect();
    let part = match part {
        PartId::Name(name) => format!("`{name}`"),
        PartId::Index(index) => format!("{index}"),
    };
    let has = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
    warn!("the character has no part {part}: {has}");
}
