//! The mannequin: a skeleton with other names, proportions and rest pose than Scout's, and a clip for her to borrow.

use super::{
    maths::{turn, wave},
    motion::{Motion, RATE},
    rig::{Pose, Rig},
};
use bevy_marionette::{
    internals::import::to_glb,
    model::{Model, PlaybackMode},
};
use glam::{DQuat, DVec3};
use std::path::PathBuf;

/// Returns its file, with the path below `assets/`.
pub fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let rig = rig();
    let mut clip = cheer(&rig)
        .clip(&rig)
        .expect("poses are complete and finite");
    clip.timing.playback = PlaybackMode::Loop;
    let skeleton = rig
        .skeleton()
        .expect("joints are finite, and parents come first");
    let model = Model {
        skeleton,
        clips: vec![clip],
        ..Model::default()
    };
    let glb = to_glb("mannequin.glb", &model, None, |_, _| None)
        .expect("the clip is finite")
        .value;
    vec![(PathBuf::from("mannequin/mannequin.glb"), glb)]
}

/// A tall figure with short arms, which rests with its arms spread, named as Mixamo does.
fn rig() -> Rig {
    let mut rig = Rig::default();
    let v = DVec3::new;
    let name = |n: &str| format!("mixamorig:{n}");
    let hips = rig.add(&name("Hips"), None, v(0.0, 1.06, 0.0), v(0.0, 1.16, 0.0));
    let spine = rig.add(
        &name("Spine"),
        Some(hips),
        v(0.0, 1.17, 0.0),
        v(0.0, 1.30, 0.0),
    );
    let chest = rig.add(
        &name("Spine1"),
        Some(spine),
        v(0.0, 1.30, 0.0),
        v(0.0, 1.44, 0.0),
    );
    let upper = rig.add(
        &name("Spine2"),
        Some(chest),
        v(0.0, 1.44, 0.0),
        v(0.0, 1.62, 0.0),
    );
    let neck = rig.add(
        &name("Neck"),
        Some(upper),
        v(0.0, 1.64, 0.0),
        v(0.0, 1.73, 0.0),
    );
    rig.add(
        &name("Head"),
        Some(neck),
        v(0.0, 1.73, 0.0),
        v(0.0, 1.96, 0.0),
    );
    for (side, s) in [("Left", -1.0), ("Right", 1.0)] {
        let name = |n: &str| name(&format!("{side}{n}"));
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let (shoulder, elbow, wrist) = (
            m(0.19, 1.585, 0.0),
            m(0.43, 1.585, 0.01),
            m(0.65, 1.585, 0.0),
        );
        let clavicle = rig.add(
            &name("Shoulder"),
            Some(upper),
            m(0.04, 1.585, 0.0),
            shoulder,
        );
        let arm = rig.add(&name("Arm"), Some(clavicle), shoulder, elbow);
        let forearm = rig.add(&name("ForeArm"), Some(arm), elbow, wrist);
        rig.add(&name("Hand"), Some(forearm), wrist, m(0.73, 1.585, 0.0));
        let (hip, knee, ankle) = (
            m(0.10, 1.02, 0.0),
            m(0.10, 0.56, -0.01),
            m(0.10, 0.09, 0.01),
        );
        let thigh = rig.add(&name("UpLeg"), Some(hips), hip, knee);
        let shin = rig.add(&name("Leg"), Some(thigh), knee, ankle);
        let foot = rig.add(&name("Foot"), Some(shin), ankle, m(0.10, 0.02, -0.13));
        rig.add(
            &name("ToeBase"),
            Some(foot),
            m(0.10, 0.02, -0.13),
            m(0.10, 0.02, -0.21),
        );
    }
    rig
}

/// Raises its fists in turn and bounces in the knees.
fn cheer(rig: &Rig) -> Motion {
    let steps = 36;
    let joint = |name: &str| rig.find(&format!("mixamorig:{name}"));
    Motion::new("cheer", steps, PlaybackMode::Loop, |time| {
        let t = time * RATE / steps as f64;
        let mut pose: Pose = rig.rest();
        let sway = wave(t);
        pose.shift = DVec3::new(0.035 * sway, -0.05 + 0.03 * wave(2.0 * t), 0.0);
        pose.turns[0] = turn(DVec3::Y, 6.0 * sway) * turn(DVec3::Z, 2.5 * sway);
        for (name, share) in [("Spine", 0.3), ("Spine1", 0.3), ("Spine2", 0.4)] {
            pose.turns[joint(name)] = turn(DVec3::Y, 10.0 * share * sway)
                * turn(DVec3::Z, -7.0 * share * sway)
                * turn(DVec3::X, 8.0 * share);
        }
        pose.turns[joint("Neck")] = turn(DVec3::X, 6.0);
        pose.turns[joint("Head")] =
            turn(DVec3::Y, -8.0 * sway) * turn(DVec3::X, 6.0 + 4.0 * wave(2.0 * t + 0.2));
        for (side, s) in [("Left", -1.0), ("Right", 1.0)] {
            // 1 while this fist is up.
            let up = 0.5 + 0.5 * wave(t + 0.25 - 0.25 * s);
            let joint = |name: &str| joint(&format!("{side}{name}"));
            pose.turns[joint("Shoulder")] = turn(DVec3::Z, s * (6.0 + 10.0 * up));
            pose.turns[joint("Arm")] =
                turn(DVec3::Y, s * 14.0) * turn(DVec3::Z, s * (12.0 + 52.0 * up));
            pose.turns[joint("ForeArm")] = turn(DVec3::Z, s * (78.0 - 66.0 * up));
            let legs = ["UpLeg", "Leg", "Foot"].map(joint);
            let heading = DVec3::NEG_Z + DVec3::X * (0.25 * s);
            rig.reach(
                &mut pose,
                legs,
                rig.joints[legs[2]].position,
                heading,
                DQuat::IDENTITY,
            );
        }
        pose
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_cheers_smoothly_and_its_feet_stay_where_they_are() {
        let rig = rig();
        let motion = cheer(&rig);
        motion.assert_smooth(&rig, 4.0);
        for name in ["mixamorig:LeftFoot", "mixamorig:RightFoot"] {
            let foot = rig.find(name);
            let slid = motion
                .frames
                .iter()
                .map(|pose| rig.model(pose)[foot].0.distance(rig.at(name)));
            assert!(slid.fold(0.0, f64::max) < 1e-9, "{name}");
        }
    }
}
