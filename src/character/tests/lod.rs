use super::*;

#[test]
fn parts_of_the_rig_fade_and_poses_get_rarer_the_smaller_the_character_is() {
    let share = AnimationLod::share;
    assert_eq!([0.05, 0.1].map(|size| share(0.1, size)), [0.0, 0.0]);
    assert_eq!([0.15, 7.0].map(|size| share(0.1, size)), [1.0, 1.0]);
    assert!((share(0.1, 0.125) - 0.5).abs() < 1e-5);
    assert_eq!(share(0.0, 0.0), 1.0);
    let lod = AnimationLod::default();
    let sizes = [
        1.0,
        0.1,
        0.09,
        0.051,
        0.049,
        0.034,
        0.03,
        1e-9,
        0.0,
        f32::NAN,
    ];
    let every = sizes.map(|size| lod.every(size));
    assert_eq!(every, [1, 1, 2, 2, 3, 3, 4, 4, 4, 4]);
    let off = AnimationLod { poses: 0.0, ..lod };
    assert_eq!(off.every(1e-3), 1);
}
