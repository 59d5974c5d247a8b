use super::*;
use crate::messages::assert_message;

/// Joints with every choice of flags, of which some move slowly, some fast, some not although they could.
fn random_anim(random: &mut fastrand::Rng) -> Md5Anim {
    let joints = random.u32(1..14);
    let frames = random.usize(1..12);
    let speed = [0.01, 0.1, 0.4][random.usize(..3)];
    let mut anim = Md5Anim {
        frame_rate: 24.0,
        ..Md5Anim::default()
    };
    let mut moves: Vec<(f32, f32)> = Vec::new();
    for joint in 0..joints {
        let flags = if random.u8(..3) == 0 {
            0
        } else {
            random.u32(..64)
        };
        let parent = (joint > 0).then(|| random.u32(..joint));
        anim.joints.push(Md5AnimJoint {
            name: format!("j{joint}"),
            parent,
            flags,
            start: anim.components,
        });
        anim.components += flags.count_ones();
        let mut number = || random.f32() - 0.5;
        anim.base_frame.push([
            [number(), number(), number()],
            [number(), number(), number()],
        ]);
        let is_still = random.u8(..4) == 0;
        moves.extend((0..flags.count_ones()).map(|_| {
            (
                random.f32() - 0.5,
                if is_still || random.bool() {
                    0.0
                } else {
                    speed * random.f32()
                },
            )
        }));
    }
    for frame in 0..frames {
        anim.frames.extend(
            moves
                .iter()
                .map(|(start, step)| start + step * frame as f32),
        );
    }
    if anim.components == 0 {
        anim.bounds = vec![[[0.0; 3]; 2]; frames];
    }
    anim
}

#[test]
fn a_number_that_is_not_finite_names_its_joint_and_frame() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut anim = random_anim(&mut random);
    anim.joints[0].flags = 1;
    anim.joints[0].start = 0;
    (anim.components, anim.frames) = (1.max(anim.components), vec![0.5; anim.frames.len().max(1)]);
    anim.frames[0] = f32::MAX;
    let settings = ImportSettings::default();
    let still = Md5Anim {
        frames: vec![0.5; anim.frames.len()],
        ..anim.clone()
    };
    let skeleton = skeleton_of_anim("f", &Checked::new(still).unwrap(), &settings).unwrap();
    let settings = ImportSettings {
        scale: 2.0,
        ..settings
    };
    let error =
        clip_from_md5("f", "c", &Checked::new(anim).unwrap(), &skeleton, &settings).unwrap_err();
    assert_message("md5: a clip that is too large in meters", error);
}
