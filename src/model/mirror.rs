//! Mirrored clips.

use super::{
    ClipError, JointIndex, JointTransform, RootPath, SkeletalClip, Skeleton,
    sides::{MirrorPlane, RestFrame, Sides, mirrored_callback},
};
use glam::Vec3;
use std::sync::Arc;

impl SkeletalClip {
    /// Returns the clip with left and right swapped: each joint moves like its
    /// [counterpart](Skeleton::other_side), as seen in a mirror between the two sides. Joints in
    /// the middle are mirrored in place.
    ///
    /// The mirror reflects a joint's difference from the rest pose, in model space, so the joints'
    /// own axes don't matter. On a skeleton whose rest pose is symmetric, the result is exact. On
    /// any other, mirroring twice gives the clip back.
    ///
    /// Morph targets are swapped with those of the other side, which are found by name.
    ///
    /// Root motion is mirrored too, and so are callback keys: sides that their name or data mentions, as a joint's name or as
    /// a word (`"left"`, `"foot.L"`, `'R'`), are swapped.
    ///
    /// # Errors
    /// The clip has no frames that fit the skeleton.
    pub fn mirrored(&self, skeleton: &Skeleton) -> Result<Self, ClipError> {
        let mut raw = self.to_raw();
        // First, so that joints have the indices of the skeleton.
        raw.bind(skeleton);
        let mirror = Mirror::new(skeleton);
        let (joints, given) = (skeleton.len().max(1), raw.frames.clone());
        for joint in skeleton.joints() {
            let (from, to) = (usize::from(joint), mirror.to(joint));
            raw.frames.animated[to] = given.animated[from];
            if !given.animated[from] {
                continue;
            }
            let frames = raw.frames.transforms.chunks_exact_mut(joints);
            for (to_frame, frame) in frames.zip(given.transforms.chunks_exact(joints)) {
                to_frame[to] = mirror.transform(joint, &frame[from], raw.additive);
            }
        }
        for key in raw.timing.callbacks.iter_mut() {
            *key = mirrored_callback(skeleton, key);
        }
        raw.morphs.mirror(skeleton.morphs());
        let mirrored = |path: Arc<RootPath>| Arc::new(path.mirrored(mirror.plane));
        raw.root_path = raw.root_path.map(mirrored);
        raw.build()
    }
}

/// Carries transforms to the other side.
struct Mirror<'a> {
    skeleton: &'a Skeleton,
    sides: Sides,
    plane: MirrorPlane,
    frames: Vec<RestFrame>,
}

impl<'a> Mirror<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let sides = Sides::new(skeleton);
        Self {
            skeleton,
            plane: sides.plane(),
            sides,
            frames: RestFrame::all(skeleton),
        }
    }

    fn to(&self, joint: JointIndex) -> usize {
        usize::from(self.sides.other(joint))
    }

    /// A joint's transform as its counterpart's. In double precision, so that mirroring twice gives
    /// the same transform.
    fn transform(
        &self,
        joint: JointIndex,
        given: &JointTransform,
        additive: bool,
    ) -> JointTransform {
        let other = self.sides.other(joint);
        let (from_rest, to_rest) = match additive {
            // Differences don't start from any pose in particular.
            true => (JointTransform::IDENTITY, JointTransform::IDENTITY),
            false => (self.skeleton.rest_of(joint), self.skeleton.rest_of(other)),
        };
        let above = |joint: JointIndex| {
            let parent = self.skeleton.parents()[usize::from(joint)];
            parent.map_or(RestFrame::IDENTITY, |parent| {
                self.frames[usize::from(parent)]
            })
        };
        let [from_own, to_own] = [joint, other].map(|joint| self.frames[usize::from(joint)]);
        let [from_above, to_above] = [joint, other].map(above);

        let rotation = given.rotation.as_dquat();
        let rotation = if additive {
            // In the joint's own axes: these are multiplied from the right.
            self.plane.carry_turn(rotation, &from_own, &to_own)
        } else {
            let turn = rotation * from_rest.rotation.as_dquat().normalize().conjugate();
            self.plane.carry_turn(turn, &from_above, &to_above)
                * to_rest.rotation.as_dquat().normalize()
        };
        let shift = (given.translation - from_rest.translation).as_dvec3();
        let translation =
            to_rest.translation.as_dvec3() + self.plane.carry_shift(shift, &from_above, &to_above);
        let ratio = given.scale.as_dvec3() / from_rest.scale.as_dvec3();
        let axes = self.plane.axes(&from_own, &to_own);
        let scale = |at: usize| {
            let scaled = f64::from(to_rest.scale[at]) * ratio[axes[at]];
            // A rest scale of 0 has no ratio.
            if scaled.is_finite() {
                scaled as f32
            } else {
                to_rest.scale[at]
            }
        };
        let mirrored = JointTransform {
            translation: translation.as_vec3(),
            rotation: rotation.normalize().as_quat(),
            scale: Vec3::new(scale(0), scale(1), scale(2)),
        };
        if mirrored.is_finite() {
            mirrored
        } else {
            to_rest
        }
    }
}

impl RootPath {
    /// Returns the path in a mirror.
    pub(crate) fn mirrored(&self, plane: MirrorPlane) -> Self {
        // A turn about an axis within the plane goes the other way.
        let turns = if plane.axis() == 1 { 1.0 } else { -1.0 };
        self.mapped(|v| plane.reflect(v), turns)
    }
}

#[cfg(test)]
#[path = "tests/mirror.rs"]
mod tests;
