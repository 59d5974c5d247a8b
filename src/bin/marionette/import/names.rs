//! Names of clips that are easy to type.

use super::{loops::is_action, words::snake};

/// Names that exporters give to every clip.
const GENERIC: [&str; 15] = [
    "action",
    "anim",
    "animation",
    "armature_action",
    "base_layer",
    "default",
    "layer0",
    "metarig",
    "mixamo_com",
    "rig",
    "scene",
    "skeleton",
    "take",
    "take1",
    "unnamed",
];

/// Returns a clip's name in `snake_case`, without the armature that Blender and FBX put before it
/// and without the model's own name; `None` if nothing is left to distinguish clips by.
///
/// `CharacterArmature|Run_Left` becomes `run_left`, and `heroWalk` of `hero.md5mesh` becomes `walk`.
pub fn tidy(name: &str, model: &str) -> Option<String> {
    let mut pieces = name.split('|').map(snake);
    // The last piece counts: the armature comes first.
    let telling =
        |piece: &String| !piece.is_empty() && !piece.ends_with("armature") && !is_generic(piece);
    let name = pieces.rfind(telling)?;
    let model = snake(model);
    // Only whole words: the `dog` in `dogged` isn't the model.
    let rest = name
        .strip_prefix(&model)
        .and_then(|rest| rest.strip_prefix('_'));
    Some(
        rest.filter(|rest| !rest.is_empty() && !is_action(&model))
            .map_or(name.clone(), str::to_owned),
    )
}

/// Returns the names of a file's clips as [`tidy`] does, and without a word that all of them begin with if it is of the
/// model's name or its armature's: `RatArmature|Rat_Walk` becomes `walk`.
pub fn tidy_all(clips: &[&str], model: &str) -> Vec<Option<String>> {
    let mut names: Vec<Option<String>> = clips.iter().map(|clip| tidy(clip, model)).collect();
    let armatures = clips
        .iter()
        .filter_map(|clip| clip.rsplit_once('|'))
        .map(|(armature, _)| snake(armature));
    let owners: Vec<String> = armatures
        .chain([snake(model)])
        .flat_map(|name| name.split('_').map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| word.chars().count() > 2 && !is_action(word))
        .collect();
    // Names get shorter each time.
    while let Some(owner) = shared_owner(&names, &owners) {
        names
            .iter_mut()
            .flatten()
            .for_each(|name| *name = name.split_off(owner.len()));
    }
    names
}

/// Returns what all of several names begin with, if it is one of `owners`.
fn shared_owner(names: &[Option<String>], owners: &[String]) -> Option<String> {
    let mut given = names.iter().flatten();
    let first = given.next()?;
    given.next()?;
    // `TRex` is two words, and `trex` in the name of the file one.
    let ends = first.match_indices('_').map(|(end, _)| end).take(3);
    let mut beginnings = ends.map(|end| &first[..=end]);
    let found = beginnings.find(|beginning| {
        owners.contains(&beginning.replace('_', ""))
            && names
                .iter()
                .flatten()
                .all(|name| name.len() > beginning.len() && name.starts_with(*beginning))
    });
    found.map(str::to_owned)
}

fn is_generic(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    GENERIC.contains(&name) || GENERIC.contains(&bare)
}

#[cfg(test)]
#[path = "tests/names.rs"]
mod tests;
