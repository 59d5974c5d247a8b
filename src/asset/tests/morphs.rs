use super::*;
use crate::model::{ClipFrames, ClipTiming, MorphFrames, MorphTarget, Morphs};

#[test]
fn targets_that_most_clips_move_come_first_and_the_others_are_left_out() {
    let names: Arc<[Arc<str>]> = ["a", "b", "c", "d"].map(Arc::from).into();
    let morphs = Morphs::new(names.iter().map(|name| (name.clone(), 0.0)));
    let skeleton = Skeleton::default().with_morphs(morphs);
    let clip = |animated: [bool; 4]| {
        let frames = MorphFrames {
            names: names.clone(),
            animated: animated.into(),
            weights: vec![1.0; 4],
            times: vec![],
        };
        let clip = SkeletalClip::new(ClipTiming::new("clip", 1.0), &ClipFrames::default());
        Arc::new(clip.unwrap().with_morphs(&frames).unwrap())
    };
    let clips = [
        clip([false, false, true, false]),
        clip([false, true, true, false]),
    ];
    let part = SkinPart {
        morphs: (0..4)
            .map(|morph| MorphTarget {
                morph,
                ..MorphTarget::default()
            })
            .collect(),
        ..SkinPart::default()
    };
    assert_eq!(*by_use(&part, &skeleton, &clips, usize::MAX), [2, 1, 0, 3]);
    assert_eq!(*by_use(&part, &skeleton, &clips, 3), [2, 1, 0]);
    assert!(by_use(&SkinPart::default(), &skeleton, &clips, 3).is_empty());
}
