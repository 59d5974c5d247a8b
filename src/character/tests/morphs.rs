use super::*;

#[test]
fn a_list_grows_at_once_and_ends_when_the_face_is_at_rest() {
    let mut list = Vec::new();
    assert!(!fill(&mut list, &[]));
    assert!(fill(&mut list, &[0.0, 1.0]));
    assert!(!fill(&mut list, &[0.5]));
    assert_eq!(list, [0.5, 0.0]);
    assert!(fill(&mut list, &[0.0, 0.0, 0.25]));
    assert!(!fill(&mut list, &[]));
    assert!(list.is_empty());
}
