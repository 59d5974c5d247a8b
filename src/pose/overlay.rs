//! Layers laid over a pose: differences added to it, and tracks that replace it.

use super::blend::share;
use super::product::{self, Product};
use super::row::{Row, Turns, Vectors};
use super::soa::{sqrt, toward};
use crate::model::{ClipError, ClipFrames, JointTransform, SkeletalClip, SoaQuat, SoaTransform};
use glam::Vec4;

/// Adds a pose of differences to another.
///
/// Per joint with share `w` = weight · mask: `t + w·Δt`, `r · Δrʷ`, `s · (1 + w(Δs − 1))`. The
/// difference thus turns the joint in its own space. `Δrʷ` is nlerp from the identity by the short
/// arc; past a share of 1 it goes on about the same axis, ever slower.
#[derive(Clone, Copy, Debug)]
pub struct Add<'a> {
    /// Differences, as [`difference_clip`] makes them.
    pub pose: &'a [SoaTransform],
    /// Share of the differences, 0..=[`Add::MAX_WEIGHT`]; clamped, and 0 for what is not a number.
    pub weight: f32,
    /// Share per joint in 0..=1, four joints to a row; `None` is 1 everywhere.
    pub mask: Option<&'a [Vec4]>,
}

impl Add<'_> {
    /// The largest weight: what is more counts as this, so that no pose leaves the numbers.
    pub const MAX_WEIGHT: f32 = 16.0;

    /// Adds to `pose`.
    ///
    /// # Panics
    /// If the differences or the mask are shorter than `pose`.
    pub fn run(&self, pose: &mut [SoaTransform]) {
        product::dispatch!(self.run_with(pose));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, p: P, pose: &mut [SoaTransform]) {
        let weight = Vec4::splat(additive_weight(self.weight));
        for (row, pose) in pose.iter_mut().enumerate() {
            let weight = self.mask.map_or(weight, |mask| weight * mask[row]);
            *pose = add::<P, true>(p, pose, Row::read(p, &self.pose[row]), weight);
        }
    }
}

/// Replaces a pose by another, by a share: the mean of both with weights `1 − w` and `w` = weight · mask.
#[derive(Clone, Copy, Debug)]
pub struct Override<'a> {
    /// The pose that replaces.
    pub pose: &'a [SoaTransform],
    /// Share of it, 0..=1; clamped, and 0 for what is not a number.
    pub weight: f32,
    /// Share per joint in 0..=1, four joints to a row; `None` is 1 everywhere.
    pub mask: Option<&'a [Vec4]>,
}

impl Override<'_> {
    /// Replaces `pose`.
    ///
    /// # Panics
    /// If the other pose or the mask is shorter than `pose`.
    pub fn run(&self, pose: &mut [SoaTransform]) {
        product::dispatch!(self.run_with(pose));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, p: P, pose: &mut [SoaTransform]) {
        let weight = Vec4::splat(share(self.weight));
        for (row, pose) in pose.iter_mut().enumerate() {
            let weight = self.mask.map_or(weight, |mask| weight * mask[row]);
            *pose = replace::<P, true>(p, pose, Row::read(p, &self.pose[row]), weight);
        }
    }
}

pub(crate) fn additive_weight(weight: f32) -> f32 {
    if weight > 0.0 { weight.min(Add::MAX_WEIGHT) } else { 0.0 }
}

/// `pose` with the differences `delta`, of which `weight` per joint.
#[inline(always)]
pub(crate) fn add<P: Product, const SCALE: bool>(
    p: P,
    pose: &SoaTransform,
    delta: Row<P, SCALE>,
    weight: Vec4,
) -> SoaTransform {
    let pose = Row::<P, SCALE>::read(p, pose);
    // 1 − w + w · Δr/|Δr|, times |Δr|. Never zero, for its real part is at least 1 − w and reaches 0 only
    // with x, y, z left.
    let length = sqrt(delta.rotation.dot(p, delta.rotation));
    let SoaQuat { x, y, z, w } = delta.rotation.quat(p);
    let turn = toward(weight, w);
    let turn = SoaQuat { x: x * turn, y: y * turn, z: z * turn, w: w * turn + (Vec4::ONE - weight) * length };
    let SoaQuat { x, y, z, w } = pose.rotation.quat(p).mul(turn);
    Row::<P, SCALE> {
        translation: pose.translation.plus_scaled(p, delta.translation, weight),
        rotation: Turns::read(p, &[x, y, z, w]).normalized(p),
        scale: match SCALE {
            true => pose.scale.times(p, Vectors::one(p).lerp(p, delta.scale, weight)),
            false => pose.scale,
        },
    }
    .transform(p)
}

/// `pose` replaced by `other` by the share `weight`, 0..=1 per joint.
#[inline(always)]
pub(crate) fn replace<P: Product, const SCALE: bool>(
    p: P,
    pose: &SoaTransform,
    other: Row<P, SCALE>,
    weight: Vec4,
) -> SoaTransform {
    let (mean, _) = Row::read(p, pose).mix(p, Vec4::ONE - weight, other, weight);
    // A joint that is not reached keeps its bits.
    mean.normalized(p).transform(p).or(weight.cmpgt(Vec4::ZERO), pose)
}

/// The clip as differences from `base`, joint by joint: for layers that are added.
///
/// A usual base is the clip's own first frame, or a still pose of the character.
///
/// # Errors
/// Where a difference is too large for a number.
///
/// # Panics
/// If `base` is shorter than the clip's joints.
pub fn difference_clip(clip: &SkeletalClip, base: &[JointTransform]) -> Result<SkeletalClip, ClipError> {
    let joints = clip.joints().len();
    let mut frames: ClipFrames = clip.to_frames();
    for (i, transform) in frames.transforms.iter_mut().enumerate() {
        *transform = transform.difference_to(&base[i % joints]);
    }
    let mut differences = SkeletalClip::new(clip.timing.clone(), &frames)?;
    differences.additive = true;
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ClipTiming;
    use glam::{Quat, Vec3};

    fn base() -> JointTransform {
        JointTransform {
            translation: Vec3::new(1.0, 2.0, 3.0),
            rotation: Quat::from_rotation_y(0.7),
            scale: Vec3::new(1.0, 2.0, 0.5),
        }
    }

    fn pose() -> JointTransform {
        JointTransform {
            translation: Vec3::new(-1.0, 0.0, 4.0),
            rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3, -0.4, 0.9),
            scale: Vec3::new(2.0, 1.0, 1.0),
        }
    }

    fn row(transform: JointTransform) -> [SoaTransform; 1] {
        SoaTransform::rows(&[transform; 4])[..].try_into().unwrap()
    }

    fn added(weight: f32, mask: Option<&[Vec4]>) -> SoaTransform {
        let mut out = row(base());
        Add { pose: &row(pose().difference_to(&base())), weight, mask }.run(&mut out);
        out[0]
    }

    fn near(a: JointTransform, b: JointTransform) -> bool {
        (a.translation - b.translation).length() < 1e-5
            && (a.scale - b.scale).length() < 1e-5
            && a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6
    }

    #[test]
    fn a_whole_difference_takes_the_base_to_the_pose_and_none_leaves_it() {
        assert!(near(added(1.0, None).get(0), pose()));
        assert!(near(added(0.0, None).get(0), base()));
        assert!(near(added(f32::NAN, None).get(0), base()));
    }

    #[test]
    fn the_mask_says_which_joints_and_how_much() {
        let out = added(1.0, Some(&[Vec4::new(0.0, 1.0, 0.5, 0.0)]));
        assert!(near(out.get(0), base()) && near(out.get(1), pose()));
        assert_eq!(out.get(2).translation, Vec3::new(0.0, 1.0, 3.5));
        let turned = base().rotation.angle_between(out.get(2).rotation);
        let whole = base().rotation.angle_between(pose().rotation);
        assert!((turned - whole / 2.0).abs() < 1e-3, "nlerp is exact half way");
    }

    #[test]
    fn no_weight_makes_an_added_pose_leave_the_numbers() {
        let half_turn = JointTransform::new(Vec3::MAX / 64.0, Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
        for weight in [0.5, 1.0, 2.0, 1e9, f32::INFINITY] {
            let mut out = row(base());
            Add { pose: &row(half_turn), weight, mask: None }.run(&mut out);
            let out = out[0].get(0);
            assert!(out.is_finite() && (out.rotation.length() - 1.0).abs() < 1e-6, "{weight} {out:?}");
        }
    }

    #[test]
    fn an_override_replaces_what_is_below_by_its_weight() {
        for (weight, mask, like) in [(1.0, 1.0, pose()), (0.0, 1.0, base()), (1.0, 0.0, base()), (9.0, 1.0, pose())] {
            let mut out = row(base());
            Override { pose: &row(pose()), weight, mask: Some(&[Vec4::splat(mask)]) }.run(&mut out);
            assert!(near(out[0].get(3), like), "{weight} {mask}");
        }
        let mut out = row(base());
        Override { pose: &row(pose()), weight: 0.5, mask: Some(&[Vec4::splat(0.5)]) }.run(&mut out);
        assert_eq!(out[0].get(0).translation, base().translation.lerp(pose().translation, 0.25));
    }

    #[test]
    fn a_clip_less_its_first_frame_starts_with_nothing() {
        let frames =
            ClipFrames { joints: ["a".into()].into(), animated: vec![], transforms: vec![base(), pose(), base()] };
        let clip = SkeletalClip::new(ClipTiming::new("nod", 1.0), &frames).unwrap();
        let difference = difference_clip(&clip, &[clip.transform_at(0, 0)]).unwrap();
        assert!(difference.additive);
        assert!(near(difference.transform_at(0, 0), JointTransform::IDENTITY));
        let mut out = row(base());
        Add { pose: &row(difference.transform_at(0, 1)), weight: 1.0, mask: None }.run(&mut out);
        assert!(near(out[0].get(0), pose()));
    }
}
