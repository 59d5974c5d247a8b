use super::*;

#[test]
fn counting_starts_over_once_everything_is_loaded() {
    let progress = LoadProgress::default();
    assert_eq!((progress.characters(), progress.fraction()), (0, 1.0));
    let first = progress.begin();
    progress.add_files(3);
    progress.add_read();
    assert_eq!(
        (progress.characters(), progress.read(), progress.files()),
        (1, 2, 4)
    );
    let second = progress.begin();
    assert_eq!((progress.characters(), progress.fraction()), (2, 0.6));
    drop(first);
    assert_eq!((progress.characters(), progress.fraction()), (1, 0.6));
    drop(second);
    assert_eq!(
        (progress.characters(), progress.fraction(), progress.files()),
        (0, 1.0, 5)
    );
    let _third = progress.begin();
    assert_eq!((progress.read(), progress.files()), (1, 1));
}
