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
