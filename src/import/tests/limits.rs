use super::*;
use crate::messages::assert_message;

#[test]
fn every_name_sets_its_own_limit() {
    for name in ImportLimits::NAMES {
        let mut limits = ImportLimits::NONE;
        assert!(limits.set(name, 7));
        let text = ron::to_string(&limits).unwrap();
        assert!(text.contains(&format!("{name}:7")), "{text}");
        assert_eq!(
            text.matches(":7,").count() + text.matches(":7)").count(),
            1,
            "{text}"
        );
    }
    assert!(!ImportLimits::NONE.clone().set("bones", 7));
    assert!(!ImportLimits::NONE.clone().set("joints", 1 << 40));
}

#[test]
fn an_error_names_the_limit_and_both_numbers() {
    let limits = ImportLimits {
        file_bytes: 10,
        ..ImportLimits::default()
    };
    assert!(limits.check_size("a.m3d", 10).is_ok());
    let error = limits.check_size("a.m3d", 11).unwrap_err();
    assert_message("limits: a file that is too large", error);
}
