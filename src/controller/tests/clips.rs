use super::*;

#[test]
fn clips_not_loaded_yet_are_not_ready_and_empty() {
    let missing: Option<&[ClipTiming]> = None;
    assert!(!missing.is_ready());
    assert_eq!((missing.index_of("walk"), missing.timing(0)), (None, None));
    let loaded = Some([ClipTiming::new("walk", 1.0), ClipTiming::new("run", 1.0)]);
    assert!(loaded.is_ready());
    assert_eq!(loaded.index_of("run"), Some(1));
}
