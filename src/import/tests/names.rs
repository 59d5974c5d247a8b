use super::*;

#[test]
fn later_names_get_numbers_that_are_free() {
    let mut names = UniqueNames::default();
    let given = ["a", "a", "b", "a.3", "a", "a.3"].map(|name| names.add(name.to_owned()));
    assert_eq!(given, ["a", "a.2", "b", "a.3", "a.4", "a.3.2"]);
}

#[test]
fn names_that_are_unique_keep_them_when_others_get_numbers() {
    let names = ["bone", "bone", "bone.2", "root", "bone", "bone.2"].map(Arc::from);
    assert_eq!(
        numbered(&names),
        ["bone", "bone.3", "bone.2", "root", "bone.4", "bone.2.2"]
    );
}

#[test]
fn a_hundred_thousand_equal_names_take_no_minute() {
    let mut names = UniqueNames::default();
    let last = (0..100_000).map(|_| names.add("mesh".to_owned())).last();
    assert_eq!(last.as_deref(), Some("mesh.100000"));
}
