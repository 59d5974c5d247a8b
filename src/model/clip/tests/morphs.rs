use super::*;
use crate::model::{ClipFrames, ClipTiming, Skeleton};

fn names(names: &[&str]) -> Arc<[Arc<str>]> {
    names.iter().map(|&n| Arc::from(n)).collect()
}

fn clip(duration: f64) -> SkeletalClip {
    SkeletalClip::new(ClipTiming::new("talk", duration), &ClipFrames::default()).unwrap()
}

fn talk() -> MorphFrames {
    MorphFrames {
        names: names(&["a", "b", "c", "d", "e"]),
        animated: vec![true, false, true, true, true],
        weights: vec![
            0.0, 9.0, 1.0, 0.5, 0.25, //
            0.5, 9.0, 1.0, 0.5, 0.25, //
            1.0, 9.0, 1.0, 0.5, 0.25,
        ],
        times: vec![0.0, 0.25, 1.0],
    }
}

#[test]
fn weights_read_back_and_rows_that_stand_still_are_stored_once() {
    let clip = clip(1.0).with_morphs(&talk()).unwrap();
    assert!(clip.animates_morphs());
    assert_eq!((clip.morph_frame_count(), clip.morphs().len()), (3, 5));
    assert_eq!(
        [0, 1, 4, 5].map(|m| clip.animates_morph(m)),
        [true, false, true, false]
    );
    let curves = clip.morph_curves().unwrap();
    assert_eq!((curves.stride, curves.constants.len()), (1, 1));
    let read = clip.morph_frames();
    assert_eq!(read.times, talk().times);
    assert_eq!(read.weights[5..10], [0.5, 0.0, 1.0, 0.5, 0.25]);
}

#[test]
fn binding_follows_names_and_what_is_not_there_is_dropped() {
    let clip = clip(1.0).with_morphs(&talk()).unwrap();
    let of = |names: &[&str]| {
        Skeleton::new(vec![])
            .unwrap()
            .with_morphs(Morphs::new(names.iter().map(|&name| (name.into(), 0.0))))
    };
    let bound = clip.bind(&of(&["x", "e", "a", "b"]));
    assert_eq!(bound.morph_frames().weights[4..8], [0.0, 0.25, 0.5, 0.0]);
    assert_eq!(bound.morph_frames().animated, [false, true, true, false]);
    assert!(!clip.bind(&of(&[])).animates_morphs());
    assert!(
        !clip.bind(&of(&["b"])).animates_morphs(),
        "it doesn't move that one"
    );
    assert!(
        !clip
            .with_morphs(&MorphFrames::default())
            .unwrap()
            .animates_morphs()
    );
}

#[test]
fn frames_that_are_not_whole_finite_or_in_order_are_rejected() {
    let bad = |change: fn(&mut MorphFrames)| {
        let mut frames = talk();
        change(&mut frames);
        clip(1.0).with_morphs(&frames).unwrap_err()
    };
    assert!(matches!(
        bad(|f| {
            f.weights.pop();
        }),
        ClipError::NotWholeWeights { .. }
    ));
    assert!(matches!(
        bad(|f| f.weights.clear()),
        ClipError::NotWholeWeights { .. }
    ));
    assert!(matches!(
        bad(|f| f.weights[7] = f32::NAN),
        ClipError::WeightNotFinite { frame: 1, .. }
    ));
    assert!(matches!(
        bad(|f| f.times[1] = 2.0),
        ClipError::BadTimes { .. }
    ));
    assert!(matches!(
        bad(|f| {
            f.times.pop();
        }),
        ClipError::BadTimes { .. }
    ));
    let mut frames = talk();
    frames.weights[6] = f32::INFINITY;
    assert!(clip(1.0).with_morphs(&frames).is_ok(), "it isn't moved");
}
