use super::*;
use crate::model::{ClipFrames, ClipTiming, Morphs, SkeletalClip, Skeleton};
use crate::pose::{ClipLayer, Evaluate, MorphScratch};

fn model() -> Model {
    let morphs = Morphs::new([("a".into(), 0.0), ("b".into(), 0.0)]);
    Model {
        skeleton: Skeleton::new(vec![]).unwrap().with_morphs(morphs),
        ..Model::default()
    }
}

fn curve(between: Between, times: &[f64], values: &[f64]) -> WeightCurve {
    WeightCurve {
        times: times.to_vec(),
        values: values.to_vec(),
        between,
    }
}

/// Compares what a clip shows with its curves, at many times.
fn assert_shows(curves: &[(MorphIndex, WeightCurve)], duration: f64, within: f64) -> usize {
    let model = model();
    let curves: BTreeMap<_, _> = curves.iter().cloned().collect();
    let made = weight_frames(&model, &MorphSizes::new(&model), &curves, duration);
    assert_eq!(made.thinned, None);
    let clip = SkeletalClip::new(ClipTiming::new("x", duration), &ClipFrames::default());
    let clip = clip.unwrap().with_morphs(&made.frames).unwrap();
    let mut scratch = MorphScratch::default();
    let keys = curves.values().flat_map(|curve| curve.times.clone());
    for time in (0..=1000)
        .map(|i| duration * f64::from(i) / 1000.0)
        .chain(keys)
    {
        let layers = [ClipLayer::new(&clip, time)];
        let weights = Evaluate::new(&model.skeleton, &layers);
        let weights = weights.run_morphs(&mut scratch).unwrap();
        for (&morph, curve) in &curves {
            let (ours, theirs) = (weights[usize::from(morph)], curve.at(time, true));
            assert!(
                (f64::from(ours) - theirs).abs() <= within,
                "{time}: {ours} {theirs}"
            );
        }
    }
    clip.morph_frame_count()
}

#[test]
fn lines_are_exact_at_and_between_keys_of_any_times() {
    let a = curve(Between::Linear, &[0.0, 0.3, 1.0], &[0.0, 1.0, -0.5]);
    let b = curve(Between::Linear, &[0.25, 0.5], &[0.5, 0.75]);
    assert_eq!(assert_shows(&[(0, a), (1, b)], 1.5, 2e-7), 6);
}

#[test]
fn steps_show_the_later_value_at_their_time() {
    let a = curve(Between::Step, &[0.0, 0.3, 1.0], &[0.0, 1.0, -0.5]);
    let b = curve(
        Between::Linear,
        &[0.0, 0.5, 0.5, 1.0],
        &[0.0, 1.0, 2.0, 0.0],
    );
    assert_shows(&[(0, a), (1, b)], 1.0, 1e-6);
}

#[test]
fn splines_get_as_many_frames_as_it_takes() {
    let values = [0.0, 0.0, 9.0, -3.0, 1.0, 4.0, 0.0, 0.25, 0.0];
    let a = curve(Between::Cubic, &[0.0, 0.25, 1.0], &values);
    let frames = assert_shows(&[(0, a)], 1.0, 1.1e-4);
    assert!((20..300).contains(&frames), "{frames}");
}

#[test]
fn keys_of_thousands_of_times_stay_within_the_budget() {
    let model = Model {
        skeleton: Skeleton::new(vec![])
            .unwrap()
            .with_morphs(Morphs::new((0..4000).map(|i| (format!("{i}").into(), 0.0)))),
        ..Model::default()
    };
    let of = |morph: u16| {
        let times: Vec<f64> = (0..10)
            .map(|i| f64::from(i) + f64::from(morph) * 1e-4)
            .collect();
        (morph, curve(Between::Linear, &times, &[0.5; 10]))
    };
    let curves = (0..4000).map(of).collect();
    let made = weight_frames(&model, &MorphSizes::new(&model), &curves, 10.0);
    assert_eq!(made.thinned, Some(40_001 - 1 + 1));
    assert!(made.frames.weights.len() <= 4 * ROWS_PER_KEY * 40_000);
}
