use super::*;
use crate::model::{State, StateLayers, Then};

fn machine(count: usize) -> StateMachine {
    // A hub with branches of three, as most games have.
    let name = |i: usize| format!("state {i}");
    let states = (0..count).map(|i| {
        let mut state = State::playing("clip");
        if i == 0 {
            state = state.start();
        } else if i % 3 == 1 {
            state = state.from([name(0).as_str()]);
        } else {
            state = state.from([name(i - 1).as_str()]);
        }
        if i > 0 {
            let next = if i % 3 == 0 || i + 1 == count {
                0
            } else {
                i + 1
            };
            state = state.then(Then::State(name(next)));
        }
        (name(i), state)
    });
    let layers = StateLayers::new(&states.collect(), &Default::default()).unwrap();
    layers.layers()[0].machine.clone()
}

#[test]
fn states_never_overlap_and_stay_within_the_panel() {
    let (width, size) = (310.0, vec2(92.0, 24.0));
    for count in 1..=15 {
        let layout = Layout::of(&machine(count));
        let (places, height) = layout.places(width, size.x / 2.0);
        let rects: Vec<Rect> = places
            .iter()
            .map(|place| Rect::from_center_size(*place, size))
            .collect();
        let all = Rect::from_min_size(Pos2::ZERO, vec2(width, height)).expand(0.01);
        for (at, rect) in rects.iter().enumerate() {
            assert!(all.contains_rect(*rect), "{count}: {rect:?}");
            for other in &rects[at + 1..] {
                assert!(!rect.intersects(*other), "{count}: {rect:?} {other:?}");
            }
        }
    }
}

#[test]
fn no_arrow_passes_behind_a_third_state() {
    let (width, size) = (360.0, vec2(80.0, 24.0));
    for count in 1..=15 {
        let machine = machine(count);
        let layout = Layout::of(&machine);
        let (places, height) = layout.places(width, size.x / 2.0);
        let rect = |state: usize| Rect::from_center_size(places[state], size);
        for arrow in &layout.arrows {
            let points = curve(
                rect(arrow.from),
                rect(arrow.to),
                pos2(width / 2.0, height / 2.0),
            );
            assert!(points.len() > 2, "{count}: {arrow:?} is too short to see");
            for other in (0..count).filter(|state| ![arrow.from, arrow.to].contains(state)) {
                let behind = points.iter().any(|point| rect(other).contains(*point));
                assert!(!behind, "{count} states: {arrow:?} passes behind {other}");
            }
        }
    }
}

#[test]
fn what_follows_is_near_and_the_start_is_on_top() {
    let machine = machine(7);
    let layout = Layout::of(&machine);
    assert_eq!(layout.order[0], machine.start());
    assert_eq!(layout, Layout::of(&machine));
    let apart = |arrow: &Arrow| {
        let at = |state| layout.order.iter().position(|of| *of == state).unwrap();
        let apart = at(arrow.from).abs_diff(at(arrow.to));
        apart.min(layout.order.len() - apart)
    };
    let follows = layout.arrows.iter().filter(|arrow| arrow.follows);
    assert!(follows.clone().count() >= 6);
    assert!(follows.map(apart).sum::<usize>() <= 8, "{layout:?}");
}
