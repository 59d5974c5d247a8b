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
    let rest = name
        .strip_prefix(&model)
        .map(|rest| rest.trim_start_matches('_'));
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
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_exporters_add() {
        for (name, model, tidied) in [
            ("walk", "hero", Some("walk")),
            ("CharacterArmature|Run_Left", "hero", Some("run_left")),
            ("Armature|mixamo.com|Layer0", "hero", None),
            ("mixamo.com", "hero", None),
            ("Take 001", "hero", None),
            ("Take1", "soldier", None),
            ("redPawnWalk", "redPawn", Some("walk")),
            ("characterwave", "character", Some("wave")),
            ("hero", "hero", Some("hero")),
            (
                "1H_Melee_Attack_Chop",
                "knight",
                Some("1h_melee_attack_chop"),
            ),
            ("blaster_delta", "body", Some("blaster_delta")),
            ("FBXRun (1)", "x", Some("fbx_run_1")),
            ("Walking2Idle", "x", Some("walking2_idle")),
            ("ÜberSprung", "x", Some("über_sprung")),
            ("running", "run", Some("running")),
            ("|||", "x", None),
        ] {
            assert_eq!(tidy(name, model).as_deref(), tidied, "{name}");
        }
    }

    #[test]
    fn clips_lose_the_name_of_their_model_and_armature() {
        for (clips, model, tidied) in [
            (
                ["RatArmature|Rat_Walk", "RatArmature|Rat_Run"],
                "enemy",
                ["walk", "run"],
            ),
            (
                ["Armature|TRex_Walk", "Armature|TRex_Run_Fast"],
                "quaternius_trex",
                ["walk", "run_fast"],
            ),
            (
                ["TankArmature|Tank_Forward", "TankArmature|Tank"],
                "tank_rigid",
                ["tank_forward", "tank"],
            ),
            (
                ["walk_left", "walk_right"],
                "walk_robot",
                ["walk_left", "walk_right"],
            ),
            (["rat_walk", "run"], "rat_2", ["rat_walk", "run"]),
            (
                ["dodge_left", "dodge_right"],
                "knight",
                ["dodge_left", "dodge_right"],
            ),
        ] {
            assert_eq!(
                tidy_all(&clips, model),
                tidied.map(|name| Some(name.to_owned())),
                "{clips:?}"
            );
        }
        assert_eq!(
            tidy_all(&["Rig|mixamo.com", "rat_run"], "rat_1"),
            [None, Some("rat_run".to_owned())]
        );
    }
}
