use super::*;
use crate::messages::assert_message;

#[test]
fn a_misspelled_keyword_is_an_error_and_another_word_is_not() {
    for (word, known) in [
        ("numvert", &["numtris", "numverts"][..]),
        ("MESH", &["mesh"]),
        ("wieght", &["vert", "weight"]),
    ] {
        let hint = hint(word.as_bytes(), known).unwrap();
        assert_message(&format!("md5: the misspelled keyword {word}"), hint);
    }
    assert_eq!(hint(b"material", &["vert", "mesh"]), None);
}
