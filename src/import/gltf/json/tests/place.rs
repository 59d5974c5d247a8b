use super::*;

#[test]
fn a_value_is_named_by_what_it_is_in() {
    let json = r#"{"a, [\"": [1, {"b": 2}, {"c": {"d": [5, 6]}}], "e": 7}"#;
    let place = |value: &str| place_at(json, json.find(value).unwrap() + 1);
    assert_eq!(place("1"), r#"a, [\"[0]"#);
    assert_eq!(place("2"), r#"a, [\"[1].b"#);
    assert_eq!(place("6"), r#"a, [\"[2].c.d[1]"#);
    assert_eq!(place("7"), "e");
    for end in 0..json.len() + 3 {
        place_at(json, end);
    }
}
