//! Names of clips, as one would type them.

/// Names that exporters give to every clip.
const GENERIC: [&str; 12] = [
    "action",
    "anim",
    "animation",
    "armature_action",
    "base_layer",
    "default",
    "layer0",
    "mixamo_com",
    "scene",
    "take",
    "take1",
    "unnamed",
];

/// Returns a clip's name in `snake_case`, without the armature that Blender and FBX put before it and without the
/// model's own name; `None` if nothing is left that tells clips apart.
///
/// `CharacterArmature|Run_Left` becomes `run_left`, and `heroWalk` of `hero.md5mesh` becomes `walk`.
pub fn tidy(name: &str, model: &str) -> Option<String> {
    let mut pieces = name.split('|').map(snake);
    let telling = |piece: &String| !piece.is_empty() && !piece.ends_with("armature") && !is_generic(piece);
    let name = pieces.rfind(telling)?;
    let rest = name.strip_prefix(&snake(model)).map(|rest| rest.trim_start_matches('_'));
    Some(rest.filter(|rest| !rest.is_empty()).map_or(name.clone(), str::to_owned))
}

fn is_generic(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    GENERIC.contains(&name) || GENERIC.contains(&bare)
}

/// Returns words in lower case with underscores between them: `RunLeft (1)` becomes `run_left_1`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let in_front_of_lower = after.is_some_and(|c| c.is_lowercase());
        // `runLeft`, `Walk2Idle`, and the last letter of `FBXRun`, but not `1H`.
        let starts = before.is_some_and(char::is_lowercase)
            || (before.is_some_and(|c| c.is_uppercase() || c.is_numeric()) && in_front_of_lower);
        if letter.is_uppercase() && starts && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out.trim_end_matches('_').to_owned()
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
            ("1H_Melee_Attack_Chop", "knight", Some("1h_melee_attack_chop")),
            ("blaster_delta", "body", Some("blaster_delta")),
            ("FBXRun (1)", "x", Some("fbx_run_1")),
            ("Walking2Idle", "x", Some("walking2_idle")),
            ("ÜberSprung", "x", Some("über_sprung")),
            ("|||", "x", None),
        ] {
            assert_eq!(tidy(name, model).as_deref(), tidied, "{name}");
        }
    }
}
