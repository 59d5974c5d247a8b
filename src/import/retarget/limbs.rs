//! Puts the feet and hands of a retargeted clip where they should be.

use super::{Retarget, above, body::arc, feet::Goals};
use crate::{
    model::{JointIndex, JointTransform, SoaTransform},
    pose::{LocalToModel, PoseMut},
    rig::TwoBoneIk,
};
use glam::{Affine3A, Vec3};

/// The distance of a straight leg's knee in front of it, in leg lengths, and at most the distance
/// that its foot is moved.
const STRAIGHT: f32 = 0.01;
/// Tips nearer to their goals than this, in lengths of the limb and of the way from the origin, are
/// only off by rounding.
const THERE: [f32; 2] = [1e-5, 1e-6];

/// Moves limbs in all frames: feet to their goals, and hands by their offsets from the shoulders.
pub(super) fn place(
    map: &Retarget,
    feet: Option<&[Goals]>,
    hands: &[[Option<Vec3>; 2]],
    transforms: &mut [JointTransform],
) {
    if feet.is_none() && hands.is_empty() {
        return;
    }
    let skeleton = map.target;
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    for (at, frame) in transforms.chunks_exact_mut(skeleton.len()).enumerate() {
        let mut local = SoaTransform::rows(frame);
        let job = LocalToModel {
            parents: skeleton.parents(),
            local: &local,
            root: None,
            // Clips may scale joints, so nothing is assumed of scales.
            unit_scale: false,
        };
        job.run(&mut model);
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        if let Some(goals) = feet.and_then(|feet| feet.get(at)) {
            place_feet(map, goals, &mut pose, frame);
        }
        let arms = map
            .to
            .arms
            .iter()
            .zip(hands.get(at).copied().unwrap_or_default());
        for (arm, way) in arms.filter_map(|(arm, way)| arm.zip(way)) {
            let goal = pose.position(arm.joints[0]) + way;
            reach(&mut pose, arm.joints, goal, Vec3::ZERO, frame);
        }
    }
}

fn place_feet(map: &Retarget, goals: &Goals, pose: &mut PoseMut, frame: &mut [JointTransform]) {
    let (skeleton, up, hips) = (map.target, map.to.up, map.to.hips);
    let over = above(pose.model, skeleton, usize::from(hips));
    let lowered = over
        .inverse()
        .transform_point3(pose.position(hips) - up * goals.drop);
    if goals.drop > 0.0 && lowered.is_finite() {
        pose.set_transform(
            hips,
            JointTransform {
                translation: lowered,
                ..frame[usize::from(hips)]
            },
        );
        // Feet follow the hips, and their goals are where they should be after that.
        pose.update_from(hips);
        frame[usize::from(hips)] = pose.transform(hips);
    }
    for (leg, goal) in map.to.legs.iter().flatten().zip(goals.legs) {
        let thigh = leg.joints[0];
        // A straight leg bends to where the body faces, turned along with the thigh.
        let turn = pose.model_rotation(thigh) * map.to.rotations[usize::from(thigh)].conjugate();
        reach(pose, leg.joints, goal, turn * map.to.ahead, frame);
    }
}

/// Bends a limb so that its tip reaches the goal and keeps its rotation. A straight limb bends to
/// its front, and a limb whose tip is there stays as it is.
///
/// The knee or elbow stays on its side of the limb, and that side turns with the limb. Bending
/// toward the joint's own place would not do: it may be on the other side of the way to the goal,
/// and the limb would bend backward.
fn reach(
    pose: &mut PoseMut,
    joints: [JointIndex; 3],
    goal: Vec3,
    front: Vec3,
    frame: &mut [JointTransform],
) {
    let [root, mid, tip] = joints.map(|joint| pose.position(joint));
    let (length, off) = (root.distance(mid) + mid.distance(tip), goal.distance(tip));
    let [share, place] = THERE;
    // Solving a limb that is there would only add rounding.
    if off <= share * length + place * goal.length() {
        return;
    }
    let front = front * off.min(STRAIGHT * length);
    let pole = (tip - root).try_normalize().map(|along| {
        let side = (mid - root + front).reject_from_normalized(along);
        root + arc(tip - root, goal - root) * side
    });
    // The foot keeps its angle to the ground, whatever the leg does.
    let tip_rotation = Some(pose.model_rotation(joints[2]));
    TwoBoneIk {
        pole,
        tip_rotation,
        ..TwoBoneIk::new(joints, goal)
    }
    .run(pose);
    for joint in joints {
        frame[usize::from(joint)] = pose.transform(joint);
    }
}
