use super::*;

#[test]
fn words_of_another_type_count_as_missing() {
    struct Yes;
    impl Word for Yes {
        fn of_name(name: &str) -> Option<Self> {
            (name == "yes").then_some(Self)
        }
    }
    let is_read = |text: &str| {
        let mut source = serde_json::Deserializer::from_str(text);
        let word: Option<Yes> = word_or_none(&mut source).unwrap();
        source.end().unwrap();
        word.is_some()
    };
    assert!(is_read("\"yes\"") && is_read("\"\\u0079es\""));
    for text in [
        "\"no\"",
        "null",
        "true",
        "1",
        "-1",
        "0.5",
        "[\"yes\"]",
        "{\"yes\": [1]}",
    ] {
        assert!(!is_read(text), "{text}");
    }
}

#[test]
fn whole_numbers_may_have_a_point_but_no_fraction() {
    let whole = |text: &str| {
        serde_json::from_str::<Whole>(text)
            .ok()
            .map(|Whole(number)| number)
    };
    assert_eq!(
        [whole("24"), whole("24.0"), whole("2.4e1"), whole("0")],
        [Some(24), Some(24), Some(24), Some(0)]
    );
    assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
    for text in ["-1", "0.5", "1e300", "\"1\"", "null", "[]", "-0.5"] {
        assert_eq!(whole(text), None, "{text}");
    }
}
