use super::*;

#[test]
fn each_shape_has_its_weight_at_its_time_and_the_others_are_closed() {
    let morphs = Morphs::new(["blink", "aa", "oh"].map(|name| (name.into(), 0.0)));
    let visemes = [
        Viseme::new(0.4, "sil", 1.0),
        Viseme::new(0.1, "jawOpen", 0.5),
        Viseme::new(0.2, "O", 0.75),
        Viseme::new(0.2, "aa", 0.25),
        Viseme::new(f64::NAN, "aa", 1.0),
    ];
    let clip = SkeletalClip::from_visemes("hello", &visemes, &morphs).unwrap();
    assert_eq!(&*clip.timing.name, "hello");
    assert_eq!(clip.timing.duration, 0.4);
    assert_eq!(
        [0, 1, 2].map(|morph| clip.animates_morph(morph)),
        [false, true, true]
    );
    let frames = clip.morph_frames();
    assert_eq!(frames.times, [0.0, 0.1, 0.2, 0.4]);
    assert_eq!(
        frames.weights,
        [
            0.0, 0.0, 0.0, //
            0.0, 0.5, 0.0, //
            0.0, 0.25, 0.75, //
            0.0, 0.0, 0.0,
        ]
    );
}

#[test]
fn silence_and_a_weight_that_is_no_number_are_told_apart() {
    let morphs = Morphs::new([("aa".into(), 0.0)]);
    let silence = SkeletalClip::from_visemes("silence", &[], &morphs).unwrap();
    assert!(!silence.animates_morphs());
    let broken = [Viseme::new(0.0, "aa", f32::NAN)];
    assert!(SkeletalClip::from_visemes("broken", &broken, &morphs).is_err());
}
