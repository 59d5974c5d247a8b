use super::*;

#[test]
fn the_last_word_that_is_known_tells_what_a_clip_does() {
    let once = |word: &str| Named::Once(word.to_owned());
    let repeated = |word: &str| Named::Repeated(word.to_owned());
    for (name, named) in [
        ("Idle", repeated("idle")),
        ("Jump_Idle", repeated("idle")),
        ("Running_Strafe_Left", repeated("strafe")),
        ("walk2", repeated("walk")),
        ("Gallop_Jump", once("jump")),
        ("Idle_HitReact_Left", once("hit")),
        ("2H_Melee_Attack_Spin", once("attack")),
        ("2H_Melee_Attack_Spinning", Named::Lasting),
        ("Spellcasting", Named::Lasting),
        ("Jump_ToIdle", once("to")),
        ("Start Walking", once("start")),
        ("Sword_Swing", once("swing")),
        ("King", Named::Nothing),
        ("Cheer", Named::Nothing),
    ] {
        assert_eq!(Named::new(name), named, "{name}");
    }
}
