use super::*;

fn after(seed: u64, seconds: f64, steps: u32) -> IdleEyes {
    let mut eyes = IdleEyes::new(seed);
    for _ in 0..steps {
        eyes.advance(seconds / f64::from(steps));
    }
    eyes
}

#[test]
fn eyes_do_the_same_at_any_frame_rate_and_differ_by_seed() {
    for seconds in [3.0, 17.25, 61.5] {
        let (fast, slow) = (after(7, seconds, 4096), after(7, seconds, 64));
        assert_eq!(fast.state.blink, slow.state.blink);
        assert_eq!((fast.closed(), fast.gaze()), (slow.closed(), slow.gaze()));
    }
    assert_ne!(
        after(7, 60.0, 64).state.blink,
        after(8, 60.0, 64).state.blink
    );
}

#[test]
fn a_minute_has_about_as_many_blinks_as_asked_for_and_eyes_open_again() {
    let eyes = after(3, 600.0, 1000);
    assert!((130..=170).contains(&eyes.state.blink.number), "{eyes:?}");
    assert!((220..=280).contains(&eyes.state.glance.number), "{eyes:?}");
    let mut eyes = IdleEyes::new(3);
    let (mut closed, mut open, mut far) = (0, 0, 0.0f32);
    for _ in 0..60 * 240 {
        eyes.advance(1.0 / 240.0);
        closed += usize::from(eyes.closed() == 1.0);
        open += usize::from(eyes.closed() == 0.0);
        far = far.max(eyes.gaze().abs().max_element());
    }
    assert!(closed > 60 && open > 60 * 200, "{closed} {open}");
    assert!(far > 0.1 && far <= 0.3, "{far}");
}

#[test]
fn without_blinks_and_glances_nothing_ever_changes() {
    let mut eyes = IdleEyes {
        blinks: 0.0,
        glances: f32::NAN,
        ..IdleEyes::new(1)
    };
    assert!((0..1000).all(|_| !eyes.advance(1.0)));
}

#[test]
fn a_blink_covers_what_clips_do_and_a_glance_adds_to_it() {
    let mut eyes = IdleEyes::new(1);
    let morphs = ["blinkLeft", "blinkRight", "lookLeft", "lookRight"];
    let morphs = Morphs::new(morphs.map(|name| (name.into(), 0.0)));
    eyes.state.shapes = Shapes::new(1, &morphs);
    (eyes.state.closed, eyes.state.gaze) = (0.5, Vec2::new(-0.25, 0.25));
    let mut out = Vec::new();
    eyes.overrides(OthersLeft::ALL, &mut out);
    let half = |morph| MorphOverride {
        weight: 0.5,
        ..MorphOverride::set(morph, 1.0)
    };
    assert_eq!(out, [half(0), half(1), MorphOverride::add(2, 0.25)]);
}

#[test]
fn eyes_that_stop_glancing_come_back_to_the_center() {
    let mut eyes = IdleEyes::new(5);
    while eyes.gaze() == Vec2::ZERO {
        eyes.advance(1.0 / 60.0);
    }
    let mut aside = eyes.clone();
    for _ in 0..30 {
        aside.advance(1.0 / 60.0);
    }
    assert_ne!(aside.gaze(), Vec2::ZERO, "it looks aside for a while");
    // In the middle of the turn, and at its end.
    for mut eyes in [eyes, aside] {
        eyes.glances = 0.0;
        let before = eyes.gaze();
        eyes.advance(1e-3);
        assert!(eyes.gaze().distance(before) < 0.1, "it doesn't jump");
        (0..60).for_each(|_| _ = eyes.advance(1.0 / 60.0));
        assert_eq!(eyes.gaze(), Vec2::ZERO);
    }
}
