//! Warnings about names in controllers that mean nothing to the character: masks, clips with callbacks, ranges, and parameters of
//! what takes none.

use super::{
    components::{CharacterParts, SkinnedCharacter},
    names::{SaidNames, available, hint},
};
use crate::{
    asset::Character,
    controller::{AnimationController, AnimationTrack, Clips},
    model::BlendPoint,
};
use bevy::{ecs::name::NameOrEntity, prelude::*};

/// Warns once about each unknown name, for each version of an asset.
///
/// Only checks controllers that changed and characters whose parts were spawned.
pub(super) fn warn_of_unknown(
    assets: Res<Assets<Character>>,
    said: Res<SaidNames>,
    characters: Query<
        (NameOrEntity, &SkinnedCharacter, &AnimationController),
        Or<(Changed<AnimationController>, Changed<CharacterParts>)>,
    >,
) {
    for (who, handle, controller) in &characters {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        for track in controller.tracks() {
            if let Some(mask) = track.mask.as_deref()
                && !character.masks.contains_key(mask)
                && said.is_new(character, "mask", mask)
            {
                let mut names: Vec<&str> = character.masks.keys().map(String::as_str).collect();
                names.sort_unstable();
                let hint = hint(mask, names);
                warn!("unknown mask `{mask}` on {who}; the track has no effect{hint}");
            }
            if track.parameters() != BlendPoint::default() {
                check_parameters(track, character, &said, &who);
            }
        }
        for clip in controller.clips_of_callbacks() {
            let is_known = character.clip(clip).is_some() || character.bound_space(clip).is_some();
            if !is_known && said.is_new(character, "callback", clip) {
                let hint = hint(clip, clips_and_spaces(character));
                warn!("a callback of {who} never fires: no clip or blend space `{clip}`{hint}");
            }
        }
    }
}

/// Returns the names that a track can play.
pub(super) fn clips_and_spaces(character: &Character) -> impl Iterator<Item = &str> + Clone {
    let spaces = character.blend_spaces().iter();
    let clips = character.clips.iter().map(|clip| &*clip.timing.name);
    clips.chain(spaces.map(|space| &**space.name()))
}

/// Warns of parameters that a clip ignores: of a track that the game has added, or of all tracks if there is nothing to steer.
fn check_parameters(
    track: &AnimationTrack,
    character: &Character,
    said: &SaidNames,
    who: &impl std::fmt::Display,
) {
    let (clip, spaces) = (track.clip(), character.blend_spaces());
    // A game may set those of `play` in every frame, for the blend space to come.
    let is_vain = spaces.is_empty() || !track.is_playback();
    if is_vain && character.clip(clip).is_some() && said.is_new(character, "parameters", clip) {
        let spaces = available(spaces.iter().map(|space| space.name()));
        warn!(
            "parameters have no effect on `{clip}` of {who}: it is a clip, not a blend space {spaces}"
        );
    }
}

/// Warns of a range that the game has asked for, if nothing that a character plays has it.
pub(super) fn check_range(
    name: &str,
    character: &Character,
    controller: &AnimationController,
    said: &SaidNames,
    who: impl FnOnce() -> String,
) {
    let keys = || (character.clips.iter()).flat_map(|clip| clip.timing.callbacks.iter());
    let ranges = keys().filter(|key| key.until.is_some());
    let ranges = ranges
        .map(|key| &*key.name)
        .chain(controller.added_ranges());
    if ranges.clone().any(|known| known == name) || !said.is_new(character, "range", name) {
        return;
    }
    let who = who();
    if keys().any(|key| *key.name == *name) {
        warn!(
            "{who} is never in a range `{name}`: that is a callback key without an end; give it `until` or `duration`"
        );
        return;
    }
    let mut ranges: Vec<&str> = ranges.collect();
    ranges.sort_unstable();
    ranges.dedup();
    let hint = hint(name, ranges);
    warn!("{who} is never in a range `{name}`: no clip has one of that name{hint}");
}
