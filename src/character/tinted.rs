//! Materials whose colors and texture coordinates expressions change, as VRM files say.
//!
//! A character gets materials of its own for the parts that an expression colors, as long as it does. A part that the game gave
//! another material keeps that.

use super::{
    components::{CharacterParts, SkinnedCharacter},
    expressions::Expressions,
};
use crate::asset::Character;
use bevy::prelude::*;

/// The materials of a character's own, by parts.
#[derive(Component, Default)]
pub(super) struct Tinted {
    own: Vec<(Entity, Handle<StandardMaterial>)>,
}

/// Colors what expressions that changed color.
pub(super) fn tint(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut faces: Query<(
        Entity,
        &SkinnedCharacter,
        Ref<Expressions>,
        Ref<CharacterParts>,
        Option<&mut Tinted>,
    )>,
    mut shown: Query<&mut MeshMaterial3d<StandardMaterial>>,
) {
    for (entity, handle, face, parts, tinted) in &mut faces {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let is_new = tinted.as_ref().is_some_and(|tinted| tinted.is_added());
        if character.tints.is_empty() || !(face.is_changed() || parts.is_changed() || is_new) {
            continue;
        }
        let Some(mut tinted) = tinted else {
            // Its own materials are made when it is there.
            if face.iter().next().is_some() {
                commands.entity(entity).try_insert(Tinted::default());
            }
            continue;
        };
        tinted.own.retain(|(part, _)| parts.entities.contains(part));
        let morphs = character.skeleton.morphs();
        for tints in character.tints.chunk_by(|a, b| a.part == b.part) {
            let at = tints[0].part;
            let (Some(&part), Some(of)) = (parts.entities.get(at), character.parts.get(at)) else {
                continue;
            };
            let known = tinted.own.iter().position(|(other, _)| *other == part);
            let weight = |expression| face.weight_of(expression, morphs);
            if tints.iter().all(|tint| weight(tint.expression) == 0.0) {
                if let Some(known) = known {
                    let (_, own) = tinted.own.swap_remove(known);
                    replace(&mut shown, part, &own, &of.material);
                }
                continue;
            }
            let Some(base) = materials.get(&of.material).cloned() else {
                continue;
            };
            let mut colored = base.clone();
            tints
                .iter()
                .for_each(|tint| tint.add(weight(tint.expression), &base, &mut colored));
            let own = match known {
                Some(known) => tinted.own[known].1.clone(),
                None => {
                    let own = materials.reserve_handle();
                    tinted.own.push((part, own.clone()));
                    own
                }
            };
            if let Err(error) = materials.insert(own.id(), colored) {
                debug!("{error}");
            }
            replace(&mut shown, part, &of.material, &own);
        }
    }
}

/// Gives a part another material, if it has this one.
fn replace(
    shown: &mut Query<&mut MeshMaterial3d<StandardMaterial>>,
    part: Entity,
    from: &Handle<StandardMaterial>,
    to: &Handle<StandardMaterial>,
) {
    if let Ok(mut shown) = shown.get_mut(part)
        && shown.0 == *from
    {
        shown.0 = to.clone();
    }
}
