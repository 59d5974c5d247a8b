//! Bones that mirror in the bind pose.

use super::*;
use crate::messages::assert_messages;
use bevy_marionette::internals::pose::{ClipLayer, Evaluate, Scratch};

/// Makes some bones mirror, in the bind pose and in all keys, and with each all bones below it.
fn mirror(m3d: &mut M3d, mirrors: impl Fn(usize) -> bool) {
    let flip = |bone: usize| {
        affine(
            [if mirrors(bone) { -1.0 } else { 1.0 }, 1.0, 1.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0; 3],
        )
    };
    let old: Vec<Matrix> = m3d
        .bones
        .iter()
        .map(|bone| inverse(&wide(&bone.offset)))
        .collect();
    let mut binds: Vec<Matrix> = Vec::new();
    for (bone, contents) in m3d.bones.iter_mut().enumerate() {
        let bind = match contents.parent {
            Some(parent) => {
                let local = times(&old[bone], &inverse(&old[parent as usize]));
                times(&times(&flip(bone), &local), &binds[parent as usize])
            }
            None => times(&flip(bone), &old[bone]),
        };
        contents.offset = inverse(&bind).map(|row| row.map(|c| c as f32));
        binds.push(bind);
    }
    for (_, keys) in m3d.clips[0]
        .bones
        .iter_mut()
        .enumerate()
        .filter(|(bone, _)| mirrors(*bone))
    {
        keys.iter_mut().for_each(|key| key.scale[0] = -key.scale[0]);
    }
}

#[test]
fn bones_that_mirror_in_the_bind_pose_are_skinned_as_luna_does_and_no_joint_mirrors() {
    for seed in 0..30 {
        let right_handed = seed % 2 == 0;
        let mut m3d = Maker {
            bones: 12,
            right_handed,
            turn: 0.15,
            key_times: even_keys,
        }
        .make(seed);
        let rng = &mut Rng::with_seed(seed);
        let chosen: Vec<bool> = (0..12)
            .map(|bone| {
                if bone == 0 {
                    seed % 3 == 0
                } else {
                    rng.u8(..4) == 0
                }
            })
            .collect();
        mirror(&mut m3d, |bone| chosen[bone]);
        let imported = import(&m3d, &ImportSettings::default());
        assert_eq!(imported.warnings, [], "{:?}", imported.warnings);
        let z = if right_handed { 1.0 } else { -1.0 };
        let error = worst_error(&m3d, &imported, |p| [p[0], p[1], z * p[2]]);
        assert!(error < f64::from(CLIP_ERROR), "{seed}: {error}");
        let skeleton = &imported.model.skeleton;
        for time in [0.0, 0.3, 0.6] {
            let mut scratch = Scratch::default();
            Evaluate::new(skeleton, &[ClipLayer::new(&imported.model.clips[0], time)])
                .run(&mut scratch);
            assert!(
                scratch
                    .model()
                    .iter()
                    .all(|joint| joint.matrix3.determinant() > 0.0),
                "{seed}"
            );
        }
    }
}

#[test]
fn keys_that_mirror_a_bone_unlike_the_bind_pose_are_said() {
    let mut m3d = Maker {
        bones: 6,
        right_handed: true,
        turn: 0.15,
        key_times: even_keys,
    }
    .make(1);
    m3d.clips[0].bones[3][20].scale[1] = -1.0;
    let imported = import(&m3d, &ImportSettings::default());
    assert_messages("m3d: a clip that mirrors a bone", &imported.warnings);
}
