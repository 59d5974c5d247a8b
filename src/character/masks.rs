//! Masks that a track names and its character lacks: the track then moves nothing, and somebody should
//! say so.

use super::{CharacterParts, SkinnedCharacter};
use crate::{asset::Character, controller::AnimationController, spelling::did_you_mean};
use bevy::{platform::collections::HashSet, prelude::*};

/// Warns of every unknown mask once for each version of an asset.
///
/// Looks only at controllers that were touched and at characters whose parts have come or changed.
pub(super) fn warn_of_unknown(
    assets: Res<Assets<Character>>,
    characters: Query<
        (Entity, &SkinnedCharacter, &AnimationController),
        Or<(Changed<AnimationController>, Changed<CharacterParts>)>,
    >,
    mut said: Local<HashSet<(u64, String)>>,
) {
    for (entity, handle, controller) in &characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        for mask in controller.tracks().filter_map(|track| track.mask.as_deref()) {
            let known = || character.masks.keys().map(String::as_str);
            if character.masks.contains_key(mask) || !said.insert((character.version, mask.to_owned())) {
                continue;
            }
            // Versions come and go; better said twice than kept for ever.
            if said.len() > 256 {
                said.clear();
            }
            let mut names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
            names.sort_unstable();
            let hint = match did_you_mean(mask, known()) {
                Some(hint) => hint,
                None if names.is_empty() => "it has none".to_owned(),
                None => format!("it has {}", names.join(", ")),
            };
            warn!("{entity} plays through the mask `{mask}`, which its character lacks, so nothing moves: {hint}");
        }
    }
}
