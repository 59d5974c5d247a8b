//! Inverse bind matrices → the pose in which a skin was bound.
//!
//! Nodes need not be in that pose: many exporters leave them in the first frame of a clip. The
//! matrices show exactly how the joints were placed relative to each other. The place of the
//! topmost joint in the scene depends on the space that the skin was stored in, which the file
//! doesn't say. Mostly it is the scene's own, or that of the node that wears the skin, or that of
//! the armature.

use super::{Local, Rig};
use crate::model::{JointTransform, signs};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A skin's inverse bind matrices, in Bevy's axes.
pub(super) struct BoundSkin {
    /// Joints of the rig, at least one.
    pub(super) joints: Vec<usize>,
    pub(super) inverse_binds: Vec<DAffine3>,
    /// A node that wears the skin.
    pub(super) worn_by: Option<usize>,
}

/// The largest difference between matrices by rounding, relative to their lengths.
const SAME: f64 = 2e-3;

/// The pose in which skins were bound.
pub(super) struct Bound {
    /// For each joint of the rig, relative to its parent; `None` if it is the rest pose.
    pub(super) pose: Option<Vec<JointTransform>>,
    /// `true` if the position and rotation of the topmost joint are a guess.
    pub(super) is_adrift: bool,
}

pub(super) fn bind_pose(rig: &Rig, skins: &[BoundSkin]) -> Bound {
    let mut is_adrift = false;
    // The joints' own spaces, with their scales: in the file's pose, and in the bind pose.
    let standing: Vec<DAffine3> = rig
        .joints
        .iter()
        .map(|joint| joint.rest_model * DAffine3::from_scale(joint.frame.size))
        .collect();
    let mut bound: Vec<Option<DAffine3>> = vec![None; rig.joints.len()];
    for skin in skins {
        let binds: Vec<Option<DAffine3>> = skin
            .inverse_binds
            .iter()
            .map(|m| usable(*m).map(|m| m.inverse()))
            .collect();
        let joints = || {
            skin.joints
                .iter()
                .copied()
                .zip(&binds)
                .filter_map(|(joint, bind)| Some((joint, (*bind)?)))
        };
        let known = joints().find_map(|(joint, bind)| Some(bound[joint]? * bind.inverse()));
        let guess = || space(rig, &standing, &joints().collect::<Vec<_>>(), skin.worn_by);
        let Some((space, is_sure)) = known.map(|known| (known, true)).or_else(guess) else {
            continue;
        };
        is_adrift |= !is_sure;
        for (joint, bind) in joints() {
            bound[joint].get_or_insert(space * bind);
        }
    }
    let mut places: Vec<DAffine3> = Vec::with_capacity(rig.joints.len());
    let mut pose = Vec::with_capacity(rig.joints.len());
    let mut differs = false;
    let extent = rig
        .joints
        .iter()
        .map(|joint| rig.locals[joint.node].translation.length())
        .fold(0.0, f64::max);
    for (at, joint) in rig.joints.iter().enumerate() {
        let above = joint
            .parent
            .map_or_else(|| joint.frame.node_space().above(), |parent| places[parent]);
        let own = rig.locals[joint.node];
        let local = bound[at]
            .and_then(|bound| parts(&(usable(above)?.inverse() * bound), signs(own.scale)));
        let local = local
            .filter(|local| !is_same(local, &own, extent))
            .unwrap_or(own);
        differs |= local != own;
        places.push(above * local.to_affine());
        pose.push(
            if local == own {
                joint.rest
            } else {
                joint.frame.local(local)
            }
            .to_transform(),
        );
    }
    Bound {
        pose: differs.then_some(pose),
        is_adrift,
    }
}

/// Returns the space in which a skin was stored, from which its inverse bind matrices start, and
/// `true` if it is certain.
fn space(
    rig: &Rig,
    standing: &[DAffine3],
    binds: &[(usize, DAffine3)],
    worn_by: Option<usize>,
) -> Option<(DAffine3, bool)> {
    let &(top, bind) = binds.iter().min_by_key(|(joint, _)| *joint)?;
    // The space, if the topmost joint is in its bind pose.
    let seen = standing[top] * bind.inverse();
    let root = std::iter::successors(Some(top), |&joint| rig.joints[joint].parent)
        .last()
        .unwrap_or(top);
    let armature = rig.joints[root].frame.node_space().above();
    let worn_by = worn_by.map(|node| rig.places[node]);
    let known: Vec<DAffine3> = [Some(DAffine3::IDENTITY), worn_by, Some(armature)]
        .into_iter()
        .flatten()
        .filter_map(usable)
        .collect();
    let extent = binds
        .iter()
        .map(|(_, bind)| bind.translation.length())
        .fold(0.0, f64::max);
    let near = |a: &DAffine3, b: &DAffine3| {
        let size = b.matrix3.x_axis.length();
        (0..3).all(|i| (a.matrix3.col(i) - b.matrix3.col(i)).length() <= SAME * size)
            && (a.translation - b.translation).length() <= SAME * size * extent
    };
    if known.iter().any(|space| near(&seen, space)) || usable(seen).is_none() {
        return usable(seen).map(|seen| (seen, true));
    }
    let length = |space: &DAffine3| space.matrix3.x_axis.length();
    let (_, turn, offset) = seen.to_scale_rotation_translation();
    let is_mirrored = seen.matrix3.determinant() < 0.0;
    // The mesh lies on its back, and nothing else differs: the exporting program had another axis
    // for up.
    let all = binds
        .iter()
        .all(|(joint, bind)| near(&(standing[*joint] * bind.inverse()), &seen));
    let is_level = (turn * DVec3::Y).y > 0.99;
    let is_in_place = offset.length() <= SAME * length(&seen) * extent && extent > 0.0;
    if all && !is_mirrored && !is_level && is_right(&turn) && is_in_place {
        return Some((seen, false));
    }
    // The topmost joint is posed: of the likely spaces, take the one in which it is moved least,
    // and not in properties that no clip moves.
    let posed = rig.joints[top].posed;
    let cost = |space: &DAffine3| {
        let size = length(space);
        let away = space
            .transform_point3(bind.translation)
            .distance(standing[top].translation);
        let away = away
            / (size * extent)
                .max(standing[top].translation.length())
                .max(1e-30);
        let weight = |is_posed: bool| if is_posed { 1.0 } else { 100.0 };
        let larger = (length(&seen) / size).ln().abs();
        let between = seen * space.inverse();
        // Poses don't mirror.
        let angle = if between.matrix3.determinant() < 0.0 {
            100.0
        } else {
            between
                .to_scale_rotation_translation()
                .1
                .normalize()
                .angle_between(DQuat::IDENTITY)
        };
        away * weight(posed[0]) + angle * weight(posed[1]) + larger.min(3.0) * weight(posed[2])
    };
    let is_sure = known.iter().all(|space| near(space, &known[0]));
    let nearest = known
        .into_iter()
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let size = length(&nearest);
    // Unless scales are animated, they show the unit of the mesh.
    let larger = length(&seen) / size;
    let is_usual = posed[2] || (larger - 1.0).abs() < 0.01;
    let nearest = if is_usual {
        nearest
    } else {
        nearest * DAffine3::from_scale(DVec3::splat(larger))
    };
    Some((nearest, is_sure && is_usual))
}

/// Returns `true` if a rotation is by right angles.
fn is_right(turn: &DQuat) -> bool {
    DMat3::from_quat(*turn)
        .to_cols_array()
        .iter()
        .all(|x| (x - x.round()).abs() < SAME)
}

/// Splits a matrix into translation, rotation and a scale that mirrors the same axes as the node's
/// own. `None` if there is anything else in it, such as shear.
fn parts(m: &DAffine3, mirrors: DVec3) -> Option<Local> {
    let (scale, rotation, translation) =
        (*m * DAffine3::from_scale(mirrors)).to_scale_rotation_translation();
    let local = Local {
        translation,
        rotation: rotation.normalize(),
        scale: scale * mirrors,
    };
    let is_whole = m.is_finite()
        && scale.cmpgt(DVec3::ZERO).all()
        && local.to_affine().abs_diff_eq(
            *m,
            SAME * m.matrix3.x_axis.length().max(translation.length()),
        );
    is_whole.then_some(local)
}

/// Returns a matrix if it can be inverted without losing precision.
pub(super) fn usable(m: DAffine3) -> Option<DAffine3> {
    let DMat3 {
        x_axis,
        y_axis,
        z_axis,
    } = m.matrix3;
    let sides = x_axis.length() * y_axis.length() * z_axis.length();
    // Volume against that of a box of the same sides: independent of units.
    let is_sound = m.is_finite()
        && m.matrix3.determinant().abs() > 1e-9 * sides
        && sides > 1e-30
        && sides < 1e30;
    is_sound.then_some(m)
}

/// Returns `true` if two transforms differ by no more than the rounding in files.
fn is_same(a: &Local, b: &Local, extent: f64) -> bool {
    let length = a.translation.length().max(0.05 * extent);
    (a.translation - b.translation).length() <= SAME * length
        && a.rotation.angle_between(b.rotation) <= SAME
        && (a.scale - b.scale).abs().max_element() <= SAME * b.scale.abs().max_element()
}
