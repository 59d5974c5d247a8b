//! The distances by which errors in the transforms of joints move the skin, and things attached to
//! the joints.
//!
//! A joint without vertices may carry a weapon or a camera, so each counts as moving things up to a
//! [`LEVER`] away.

use super::curve::Curve;
use crate::{
    model::{BoundingBox, JointTransform, LEVER, Model, axes_apart, size_at_rest},
    numbers::worse,
};
use glam::{Affine3A, Quat, Vec3};

/// The largest distance of the skin from its place according to a clip's keys, at any time, as a
/// share of the model's size (the diagonal of its box). The same goes for entities attached to a
/// joint, up to a tenth of that size away from it. Clips get as many frames as that takes.
pub const CLIP_ERROR: f32 = 1e-4;

/// The motion of the skin from one frame to the next, in model units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    /// The largest distance of any point, halfway, between rotations by nlerp and by slerp.
    pub(super) bend: f64,
    /// The length of the longest path of any point.
    pub(super) path: f64,
    /// The largest distance of any point between splines and straight lines.
    pub(super) bulge: f64,
}

impl Motion {
    /// Returns the largest error of any point if the motion is cut into pieces. With k times
    /// smaller rotations it is k³ times less, and with splines k² times.
    pub(super) fn error(&self, cuts: usize) -> f64 {
        self.bend / (cuts as f64).powi(3) + self.bulge / (cuts as f64).powi(2)
    }

    /// Returns the number of pieces into which to cut the motion so that it is off by no more than
    /// `bound`.
    pub(super) fn cuts(&self, bound: f64) -> usize {
        let cuts = if self.bulge > 0.0 {
            ((self.bend + self.bulge) / bound).sqrt()
        } else {
            (self.bend / bound).cbrt()
        };
        // NaN becomes 0.
        (cuts.ceil() as usize).max(1)
    }
}

/// Memory that [`Skin::motion`] uses for each joint. It is kept from frame to frame, because there are thousands.
#[derive(Default)]
pub(super) struct MotionScratch {
    /// In the space of each joint: how far points of the skin below it are from it, and how they move.
    below: Vec<(f64, Motion)>,
    /// Attached things turn with their joint and those above: the largest error halfway, and the
    /// largest turn.
    turns: Vec<[f64; 2]>,
}

/// The extent of the skin around the joints.
pub(in crate::import) struct Skin {
    parents: Vec<Option<usize>>,
    /// Per joint, the distance of its farthest vertex, in joint space.
    radius: Vec<f64>,
    /// The rest pose, for joints that a clip doesn't move.
    rest: Vec<JointTransform>,
    /// Joints with vertices, and the corners of the boxes around these, in joint space.
    corners: Vec<(usize, [Vec3; 8])>,
    size: f64,
    /// The share of the usual error that is allowed.
    share: f64,
}

impl Skin {
    pub(in crate::import) fn new(model: &Model) -> Self {
        let skeleton = &model.skeleton;
        let size = size_at_rest(skeleton, &model.parts);
        let (mut radius, mut boxes) = (
            vec![0.0_f64; skeleton.len()],
            vec![None::<BoundingBox>; skeleton.len()],
        );
        for part in &model.parts {
            for (&joint, bounds) in part
                .palette
                .iter()
                .zip(part.joint_boxes(skeleton.inverse_bind()))
            {
                let farthest = bounds.map_or(0.0, |bounds| {
                    bounds.min.abs().max(bounds.max.abs()).as_dvec3().length()
                });
                radius[usize::from(joint)] = radius[usize::from(joint)].max(farthest);
                let all = &mut boxes[usize::from(joint)];
                *all = bounds
                    .map(|bounds| all.map_or(bounds, |all| all.union(bounds)))
                    .or(*all);
            }
        }
        Self {
            parents: skeleton
                .parents()
                .iter()
                .map(|parent| parent.map(usize::from))
                .collect(),
            radius,
            rest: skeleton
                .joints()
                .map(|joint| skeleton.rest_of(joint))
                .collect(),
            corners: boxes
                .iter()
                .enumerate()
                .filter_map(|(joint, all)| Some((joint, all.as_ref()?.corners())))
                .collect(),
            size: if size > 0.0 { size } else { 1.0 },
            share: 1.0,
        }
    }

    /// Asks for more exact clips, which are for other bodies, too: nobody knows how long the limbs of these are.
    #[cfg(feature = "gltf")]
    pub(in crate::import) fn of_any_body(&mut self) {
        self.share = 0.05;
    }

    /// Returns the model's size: the diagonal of the box around its vertices and joints at rest.
    pub(in crate::import) fn size(&self) -> f64 {
        self.size
    }

    /// Returns the largest distance of the skin from its place according to a clip's keys:
    /// [`CLIP_ERROR`] in model units.
    pub(super) fn bound(&self) -> f64 {
        f64::from(CLIP_ERROR) * self.share * self.size
    }

    /// Returns bounds on the motion from one frame to the next, both in `pair`.
    pub(super) fn motion(
        &self,
        curves: &[Curve],
        pair: &[JointTransform],
        MotionScratch { below, turns }: &mut MotionScratch,
    ) -> Motion {
        let joints = self.parents.len();
        below.clear();
        below.extend(
            self.radius
                .iter()
                .map(|&radius| (radius, Motion::default())),
        );
        let mut model = Motion::default();
        turns.clear();
        turns.resize(joints, [0.0; 2]);
        // Children come first, so that everything below a joint is known.
        for joint in (0..joints).rev() {
            let (reach, Motion { bend, path, .. }) = below[joint];
            let [from, to] = if curves[joint].is_empty() {
                [&self.rest[joint]; 2]
            } else {
                [&pair[joint], &pair[joints + joint]]
            };
            let length = |v: Vec3| v.as_dvec3().length();
            let (mut far, mut scale) = (length(from.translation), from.scale.abs());
            let moves = from != to;
            if moves {
                far = far.max(length(to.translation));
                scale = scale.max(to.scale.abs());
            }
            let scale = f64::from(scale.max_element());
            let all = match self.parents[joint] {
                Some(parent) => {
                    let (above, motion) = &mut below[parent];
                    *above = above.max(far + scale * reach);
                    motion
                }
                None => &mut model,
            };
            // From one frame to the next, most joints of most clips stand still.
            if !moves && bend == 0.0 && path == 0.0 {
                continue;
            }
            let turn = angle(from.rotation, to.rotation);
            let shift = (from.translation.as_dvec3() - to.translation.as_dvec3()).length();
            let stretch = f64::from((from.scale - to.scale).abs().max_element());
            let moved = Motion {
                bend: scale * (bend + 0.005 * turn * turn * turn * reach),
                path: scale * (path + turn * reach) + stretch * reach + shift,
                bulge: 0.0,
            };
            *all = Motion {
                bend: all.bend.max(moved.bend),
                path: all.path.max(moved.path),
                bulge: 0.0,
            };
            turns[joint] = [0.005 * turn * turn * turn, turn];
        }
        let lever = LEVER * self.size;
        for joint in 0..joints {
            let above = self.parents[joint].map_or([0.0; 2], |parent| turns[parent]);
            let [bend, path] = [0, 1].map(|i| above[i] + turns[joint][i]);
            turns[joint] = [bend, path];
            model.bend = model.bend.max(lever * bend);
            model.path = model.path.max(lever * path);
        }
        model
    }

    /// Returns a pose that `local` gives, by index, for the joints that `curves` move.
    pub(super) fn pose(
        &self,
        curves: &[Curve],
        mut local: impl FnMut(usize) -> JointTransform,
    ) -> Vec<JointTransform> {
        let still = |joint: usize| curves[joint].is_empty();
        (0..curves.len())
            .map(|joint| {
                if still(joint) {
                    self.rest[joint]
                } else {
                    local(joint)
                }
            })
            .collect()
    }

    /// Returns the largest distance between the places of a joint, of something attached to one, or
    /// of a point of the skin in two poses. Vertices are means of points in the joints' boxes.
    pub(super) fn apart(&self, one: &[JointTransform], other: &[JointTransform]) -> f64 {
        let mut poses: Vec<[Affine3A; 2]> = Vec::with_capacity(one.len());
        for (joint, (one, other)) in one.iter().zip(other).enumerate() {
            let [one, other] = [one, other].map(|transform| transform.to_affine());
            let above = self.parents[joint].map(|parent| poses[parent]);
            poses.push(above.map_or([one, other], |[a, b]| [a * one, b * other]));
        }
        let joints = poses
            .iter()
            .map(|[one, other]| (one.translation - other.translation).length());
        let lever = (LEVER * self.size) as f32;
        let attached = poses
            .iter()
            .map(|[one, other]| lever * axes_apart(one, other));
        let corner = |(joint, corners): &(usize, [Vec3; 8])| {
            let [one, other] = poses[*joint];
            corners.map(|corner| {
                (one.transform_point3(corner) - other.transform_point3(corner)).length()
            })
        };
        let all = joints
            .chain(attached)
            .chain(self.corners.iter().flat_map(corner));
        all.fold(0.0, worse).into()
    }
}

/// Returns the smaller angle between two unit rotations.
fn angle(a: Quat, b: Quat) -> f64 {
    // Computed from the chord, which is accurate for small angles, unlike the cosine.
    let chord = (a - b)
        .length_squared()
        .min((a + b).length_squared())
        .sqrt();
    if chord == 0.0 {
        return 0.0;
    }
    4.0 * f64::from(chord * 0.5).min(1.0).asin()
}

#[cfg(test)]
#[path = "tests/skin.rs"]
mod tests;
