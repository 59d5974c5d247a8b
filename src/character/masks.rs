//! Warnings about masks that a character does not have.

use super::{
    components::{CharacterParts, SkinnedCharacter},
    names::available,
};
use crate::{asset::Character, controller::AnimationController, spelling::did_you_mean};
use bevy::{ecs::name::NameOrEntity, platform::collections::HashSet, prelude::*};

/// Warns once about each unknown mask, for each version of an asset.
///
/// Only checks controllers that changed and characters whose parts were spawned.
pub(super) fn warn_of_unknown(
    assets: Res<Assets<Character>>,
    characters: Query<
        (NameOrEntity, &SkinnedCharacter, &AnimationController),
        Or<(Changed<AnimationController>, Changed<CharacterParts>)>,
    >,
    mut warned: Local<HashSet<(u64, String)>>,
) {
    for (who, handle, controller) in &characters {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        for mask in controller
            .tracks()
            .filter_map(|track| track.mask.as_deref())
        {
            if character.masks.contains_key(mask)
                || !warned.insert((character.version, mask.to_owned()))
            {
                continue;
            }
            // Assets get ever new versions: repeating a warning is better than a list that grows
            // forever.
            if warned.len() > 256 {
                warned.clear();
            }
            let mut names: Vec<&str> = character.masks.keys().map(String::as_str).collect();
            names.sort_unstable();
            let hint =
                did_you_mean(mask, names.iter().copied()).unwrap_or_else(|| available(names));
            warn!("unknown mask `{mask}` on {who}; the track has no effect: {hint}");
        }
    }
}
