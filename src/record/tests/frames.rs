use super::*;

/// Frames of 1/10 s with 0, 1 and 2 advances in turn.
fn frames() -> Frames {
    let mut frames = Frames::starting_at(5);
    for frame in 0..9 {
        (0..frame % 3).for_each(|_| frames.add_step(0.1));
        frames.end_frame(f64::from(frame) * 0.1);
    }
    frames
}

#[test]
fn frames_know_their_advances() {
    let frames = frames();
    assert_eq!((frames.range(), frames.next_step()), (5..14, 9));
    let steps: Vec<_> = frames
        .range()
        .map(|frame| frames.steps(frame).unwrap())
        .collect();
    assert_eq!(steps[..4], [0..0, 0..1, 1..3, 3..3]);
    assert_eq!(
        (frames.at(-1.0), frames.at(0.25), frames.at(9.0)),
        (Some(5), Some(7), Some(13))
    );
    assert_eq!(
        (frames.steps(4), frames.steps(14), frames.dt(9)),
        (None, None, None)
    );
    assert!(frames.is_sound());
}

#[test]
fn what_is_dropped_takes_its_advances_along() {
    let mut frames = frames();
    frames.drop_before(8);
    assert_eq!(
        (frames.range(), frames.steps(8), frames.dt(2)),
        (8..14, Some(3..3), None)
    );
    frames.drop_after(9);
    assert_eq!(
        (frames.range(), frames.next_step(), frames.steps(9)),
        (8..10, 4, Some(3..4))
    );
    assert!(frames.is_sound());
    frames.drop_before(99);
    assert_eq!((frames.range(), frames.next_step()), (10..10, 4));
}
