use super::*;

#[test]
fn words_agree_with_their_number() {
    assert_eq!(
        [0, 1, 2].map(|number| counted(number, "vertex")),
        ["0 vertices", "1 vertex", "2 vertices"]
    );
    assert_eq!(counted(2, "mesh"), "2 meshes");
    assert_eq!(counted(3, "inverse bind matrix"), "3 inverse bind matrices");
    assert_eq!(there_are(1, "joint"), "there is 1 joint");
    assert_eq!(there_are(2, "joint"), "there are 2 joints");
    assert_eq!([0, 1, 2].map(have), ["have", "has", "have"]);
}
