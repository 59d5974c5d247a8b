use super::*;

#[test]
fn misspelled_words_are_recognized_and_other_words_are_not() {
    let known = ["file", "clip", "playback", "callbacks", "hand.R"];
    assert_eq!(nearest("calbacks", known), Some("callbacks"));
    assert_eq!(nearest("hnad.r", known), Some("hand.R"));
    assert_eq!(nearest("flie", known), Some("file"));
    assert_eq!(nearest("CLIP", known), Some("clip"));
    assert_eq!(nearest("weight", known), None);
    assert_eq!(nearest("x", ["y"]), None);
    assert_eq!(nearest(&"x".repeat(100_000), known), None);
    assert_eq!(
        did_you_mean("flip", known).as_deref(),
        Some("did you mean `clip`?")
    );
}

#[test]
fn a_folder_that_only_one_of_two_names_has_counts_as_one_letter() {
    let known = ["fight/hit", "walk", "Armature|jump", "moves/fight/fall"];
    assert_eq!(nearest("hit", known), Some("fight/hit"));
    assert_eq!(nearest("Jmup", known), Some("Armature|jump"));
    assert_eq!(nearest("fight/fall", known), Some("moves/fight/fall"));
    assert_eq!(nearest("Armature|walk", known), Some("walk"));
    // The whole name comes first, and a folder alone is not a name.
    assert_eq!(nearest("hit", ["fight/hit", "Hit"]), Some("Hit"));
    assert_eq!(nearest("hit", ["hat", "fight/hit"]), Some("fight/hit"));
    assert_eq!(nearest("hot", ["fight/hit"]), None);
    assert_eq!(nearest("fight", known), None);
    assert_eq!(nearest("", ["fight/"]), None);
    assert_eq!(nearest("fight/", ["fight/hit", ""]), None);
}
