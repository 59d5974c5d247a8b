use super::*;

fn clips() -> Vec<ClipTiming> {
    let steps = |name: &str, length: f64, left: f64, right: f64| {
        let mut clip = ClipTiming::new(name, length);
        clip.add_callback(left, "step", "left");
        clip.add_callback(right, "step", "right");
        clip
    };
    let pose = ClipTiming::new("pose", 0.0);
    vec![
        pose,
        ClipTiming::new("idle", 4.0),
        steps("walk", 1.0, 0.2, 0.7),
        steps("run", 0.5, 0.4, 0.15),
    ]
}

fn bind(space: BlendSpace) -> BoundBlendSpace {
    Arc::new(space).bind(&clips(), |_| Vec::new()).unwrap()
}

#[test]
fn matching_keys_are_passed_at_one_phase_and_other_clips_go_by_fractions() {
    let sync = BlendSync::Keys(vec!["step".into()]);
    let points = [("idle", 0.0), ("walk", 1.0), ("run", 2.0)];
    let space = bind(BlendSpace::line("s", points).unwrap().synced(sync));
    let times = |phase: f64| {
        space
            .members
            .iter()
            .map(|m| m.place(PlaybackMode::Loop, phase))
            .collect::<Vec<_>>()
    };
    for (phase, expected) in [(0.2, [0.8, 0.2, 0.4]), (0.7, [2.8, 0.7, 0.65])] {
        assert!(
            times(phase)
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{:?}",
            times(phase)
        );
    }
}

#[test]
fn the_cycle_goes_at_the_mean_of_the_rates_and_a_pose_at_its_neighbors() {
    let space = bind(BlendSpace::line("s", [("pose", 0.0), ("walk", 1.0), ("run", 3.0)]).unwrap());
    let lengths = [0.0, 0.5, 1.0, 2.0, 3.0, 9.0].map(|x| space.cycle_length(x));
    assert_eq!(lengths, [1.0, 1.0, 1.0, 1.0 / 1.5, 0.5, 0.5]);
    let poses = bind(BlendSpace::line("s", [("pose", 0.0)]).unwrap());
    assert_eq!((poses.cycle_length(0.0), poses.has_length()), (0.0, false));
}

#[test]
fn a_clip_at_two_places_is_one_member() {
    let points = [
        ("walk", (-1.0, 0.0)),
        ("walk", (1.0, 0.0)),
        ("run", (0.0, 1.0)),
    ];
    let space = bind(BlendSpace::plane("s", points).unwrap());
    let cycle = space.cycle(BlendPoint::new(0.0, 0.0));
    assert_eq!(cycle.weights.to_vec(), [(0, 1.0)]);
}

#[test]
fn a_clip_that_is_missing_is_named() {
    let space = Arc::new(BlendSpace::line("s", [("fly", 0.0)]).unwrap());
    assert_eq!(
        space.bind(&clips(), |_| Vec::new()),
        Err(BlendSpaceError::NoClip("fly".into()))
    );
}
