use super::*;
use crate::{controller::AnimationController, model::ClipTiming};

fn walked() -> Vec<(u64, PlaybackEvent)> {
    let mut clip = ClipTiming::new("walk", 1.0);
    clip.add_callback(0.25, "left", ());
    clip.add_callback(0.75, "right", ());
    let mut events = Vec::new();
    AnimationController::playing("walk")
        .advance(1.6, &[clip], &mut events)
        .unwrap();
    events.into_iter().map(|event| (0, event)).collect()
}

#[test]
fn what_fired_is_accepted() {
    assert_callbacks(
        &walked(),
        &[("left", 0.25), ("right", 0.75), ("left", 1.2504)],
    );
}

#[test]
#[should_panic(expected = ">    1  right at 0.700 s                 right at 0.750 s")]
fn another_time_is_not() {
    assert_callbacks(&walked(), &[("left", 0.25), ("right", 0.7), ("left", 1.25)]);
}

#[test]
#[should_panic(expected = ">    2  -                                left at 1.250 s")]
fn one_more_is_not() {
    assert_callbacks(&walked(), &[("left", 0.25), ("right", 0.75)]);
}
