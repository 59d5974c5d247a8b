use super::*;

#[test]
fn names_of_clips_become_names_of_files() {
    for (name, file) in [
        ("walk", "walk"),
        ("Armature|mixamo.com", "Armature_mixamo.com"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("", "clip"),
        ("...", "clip"),
        ("läuft (1)", "läuft (1)"),
    ] {
        assert_eq!(file_name(name), file);
    }
    let mut taken = HashSet::from(["walk".to_owned(), "walk.2".to_owned()]);
    assert_eq!(
        unique("walk", |name| taken.insert(name.to_owned())),
        "walk.3"
    );
}
