use super::*;

fn faded(face: &mut Expressions, seconds: f64) {
    face.shown.iter_mut().for_each(|one| one.advance(seconds));
    face.drop_released();
}

#[test]
fn an_expression_fades_evenly_from_the_clips_to_its_weight_and_back() {
    let mut face = Expressions::default();
    face.fade_to("happy", 0.8, Duration::from_secs(2));
    assert_eq!(face.get("happy"), Some(0.8));
    faded(&mut face, 0.5);
    assert_eq!(
        face.shown[0].now,
        Shown {
            weight: 0.8,
            share: 0.25
        }
    );
    faded(&mut face, 1.5);
    assert_eq!(
        face.shown[0].now,
        Shown {
            weight: 0.8,
            share: 1.0
        }
    );
    assert!(!face.is_fading());
    // From one weight to another it doesn't let the clips through.
    face.fade_to("happy", 0.0, Duration::from_secs(1));
    faded(&mut face, 0.5);
    assert_eq!(
        face.shown[0].now,
        Shown {
            weight: 0.4,
            share: 1.0
        }
    );
    face.release("happy", Duration::from_secs(1));
    faded(&mut face, 0.25);
    assert_eq!(
        face.shown[0].now,
        Shown {
            weight: 0.4,
            share: 0.75
        }
    );
    faded(&mut face, 1.0);
    assert_eq!((face.get("happy"), face.iter().count()), (None, 0));
}

#[test]
fn setting_and_releasing_take_effect_at_once() {
    let mut face = Expressions::default();
    face.set("blink", f32::NAN);
    assert_eq!(face.iter().count(), 0);
    face.set("blink", 1.0);
    face.set("oh", 0.5);
    assert!(face.iter().eq([("blink", 1.0), ("oh", 0.5)]));
    face.release("blink", Duration::ZERO);
    assert!(face.iter().eq([("oh", 0.5)]));
    face.release_all(Duration::ZERO);
    assert_eq!(face.iter().count(), 0);
}

#[test]
fn expressions_that_share_a_target_add_up() {
    let mut face = Expressions::default();
    face.set("eyeLookOutLeft", 1.0);
    face.set("eyeLookInRight", 0.5);
    face.shown
        .iter_mut()
        .for_each(|one| one.morphs = SmallVec::from_slice(&[(3, 0.5)]));
    let mut out = vec![MorphOverride::set(3, 9.0)];
    face.overrides(Morphs::NONE, OthersLeft::ALL, &mut out);
    assert_eq!(out[1..], [MorphOverride::set(3, 0.75)]);
}

#[test]
fn expressions_of_the_file_leave_less_of_others() {
    let expression = |name: &str, morph| crate::model::Expression {
        morphs: vec![(morph, 1.0)],
        ..crate::model::Expression::new(name)
    };
    let happy = crate::model::Expression {
        blink: crate::model::ExpressionOverride::Block,
        mouth: crate::model::ExpressionOverride::Blend,
        ..expression("happy", 0)
    };
    let morphs = Morphs::new(["smile", "lid", "open"].map(|name| (name.into(), 0.0)));
    let morphs = morphs.with_expressions([happy, expression("blink", 1), expression("aa", 2)]);
    let mut face = Expressions::default();
    face.set("happy", 0.25);
    face.set("blink", 1.0);
    face.set("aa", 0.8);
    face.look_up(1, &morphs, |name| panic!("{name}"));
    let mut out = Vec::new();
    super::overrides(&morphs, None, None, Some(&face), &mut out);
    let mut weights = [0.5_f32; 3];
    for one in &out {
        let weight = &mut weights[usize::from(one.morph)];
        *weight += (one.value - *weight) * one.weight;
    }
    assert!(
        weights
            .iter()
            .zip([0.25, 0.0, 0.8 * 0.75])
            .all(|(a, b)| (a - b).abs() < 1e-6),
        "{weights:?}"
    );
}
