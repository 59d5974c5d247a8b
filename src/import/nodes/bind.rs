//! Skins → inverse bind matrices.
//!
//! A [`Skeleton`] has one inverse bind matrix per joint, and stores the skin in model space. Each
//! skin of a file has matrices and a space of its own. If a joint is in two skins that were bound
//! apart, the difference is baked into the vertices of the second skin, if it is the same for all
//! its joints. Other joints get a copy that stays with them.

use super::{
    Rig, RigJoint,
    bind_pose::{BoundSkin, bind_pose, usable},
};
use crate::model::{
    BoundingBox, Joint, JointIndex, JointTransform, NodeSpace, Skeleton, SkeletonError,
};
use glam::{DAffine3, DMat3, DVec3, Vec3};

/// The conversion of a mesh to a part of the skeleton's skin.
#[derive(Clone, Debug)]
pub(in crate::import) struct Binding {
    /// From the mesh's space, in Bevy's axes, to the space that the skin is stored in.
    pub(in crate::import) to_skin: DAffine3,
    /// The joint of each of the skin's joints.
    pub(in crate::import) joints: Vec<JointIndex>,
}

/// The inverse bind matrices so far.
pub(in crate::import) struct Binder<'a> {
    rig: &'a Rig,
    inverse_bind: Vec<Option<DAffine3>>,
    copies: Vec<(JointIndex, DAffine3)>,
    skins: Vec<BoundSkin>,
}

/// The largest distance to which two inverse bind matrices may carry a vertex apart, as a share of
/// its distance from the origin, to count as the same. Exporters' rounding errors are smaller.
const SAME: f64 = 2e-5;

impl<'a> Binder<'a> {
    pub(in crate::import) fn new(rig: &'a Rig) -> Self {
        Self {
            rig,
            inverse_bind: vec![None; rig.joints.len()],
            copies: Vec::new(),
            skins: Vec::new(),
        }
    }

    /// Binds a skin of `joints`, which are indices into the rig and at least one, with their inverse bind matrices in
    /// Bevy's axes. `corners` are those of the box around its vertices.
    pub(in crate::import) fn skin(
        &mut self,
        joints: &[usize],
        inverse_binds: &[DAffine3],
        corners: &[DVec3],
    ) -> Binding {
        let rig = &self.rig.joints;
        // In the joints' frames.
        let own: Vec<DAffine3> = joints
            .iter()
            .zip(inverse_binds)
            .map(|(&j, m)| sized(rig[j].frame.size) * *m)
            .collect();
        // The place of the mesh at rest according to the topmost joint. If the mesh was bound in
        // that pose, all joints agree.
        let top = (0..joints.len())
            .min_by_key(|&at| joints[at])
            .unwrap_or_default();
        let at_rest = place(&rig[joints[top]], own[top], corners);
        let mut to_skin = at_rest.map_or(DAffine3::IDENTITY, |at_rest| at_rest * own[top]);
        let inverse = |to_skin: &DAffine3| {
            own.iter()
                .map(|m| *m * to_skin.inverse())
                .collect::<Vec<_>>()
        };
        let mut wanted = inverse(&to_skin);
        let known = joints
            .iter()
            .zip(&wanted)
            .find_map(|(&joint, wanted)| Some((self.inverse_bind[joint]?, *wanted)));
        if let Some((known, wanted_there)) = known
            && let Some(apart) = usable(known.inverse() * wanted_there)
        {
            to_skin = apart * to_skin;
            wanted = inverse(&to_skin);
        }
        let radius = corners
            .iter()
            .map(|corner| to_skin.transform_point3(*corner).length())
            .fold(0.0, f64::max);
        let joints = joints
            .iter()
            .zip(wanted)
            .map(|(&joint, wanted)| self.entry(joint, wanted, radius));
        Binding {
            to_skin,
            joints: joints.collect(),
        }
    }

    /// Records a skin's matrices, in Bevy's axes, and a node that wears it, from which the bind
    /// pose is found later.
    pub(in crate::import) fn note(
        &mut self,
        joints: &[usize],
        inverse_binds: &[DAffine3],
        worn_by: Option<usize>,
    ) {
        let inverse_binds = inverse_binds.to_vec();
        self.skins.push(BoundSkin {
            joints: joints.to_vec(),
            inverse_binds,
            worn_by,
        });
    }

    /// Binds a mesh without a skin to the joint of its node. `corners` are those of the box around its vertices.
    pub(in crate::import) fn rigid(&mut self, joint: usize, corners: &[DVec3]) -> Binding {
        let contents = &self.rig.joints[joint];
        let own = sized(contents.frame.size);
        let (to_skin, joint) = match self.inverse_bind[joint].and_then(usable) {
            Some(known) => (known.inverse(), joint as JointIndex),
            None => {
                let at_rest = place(contents, own, corners).unwrap_or(DAffine3::IDENTITY);
                (at_rest, self.entry(joint, at_rest.inverse(), 0.0))
            }
        };
        Binding {
            to_skin: to_skin * own,
            joints: vec![joint],
        }
    }

    /// Returns the joint, or a copy of it, that has this inverse bind matrix.
    fn entry(&mut self, joint: usize, wanted: DAffine3, radius: f64) -> JointIndex {
        let index = joint as JointIndex;
        let known = *self.inverse_bind[joint].get_or_insert(wanted);
        if alike(&known, &wanted, radius) {
            return index;
        }
        let copy = self
            .copies
            .iter()
            .position(|(of, known)| *of == index && alike(known, &wanted, radius));
        let copy = copy.unwrap_or_else(|| {
            self.copies.push((index, wanted));
            self.copies.len() - 1
        });
        // `finish` returns an error if there are too many.
        (self.rig.joints.len() + copy) as JointIndex
    }

    /// Number of joints, copies included.
    pub(in crate::import) fn len(&self) -> usize {
        self.rig.joints.len() + self.copies.len()
    }

    /// Makes the skeleton. Copies come after all other joints.
    pub(in crate::import) fn finish(self) -> Result<Skeleton, SkeletonError> {
        let joints = self
            .rig
            .joints
            .iter()
            .zip(&self.inverse_bind)
            .map(|(joint, inverse_bind)| {
                // A joint that moves no skin counts as bound at rest.
                let at_rest =
                    || usable(joint.rest_model).map_or(DAffine3::IDENTITY, |rest| rest.inverse());
                Joint {
                    name: joint.name.as_str().into(),
                    parent: joint.parent.map(|parent| parent as JointIndex),
                    rest: joint.rest.to_transform(),
                    inverse_bind: inverse_bind.unwrap_or_else(at_rest).as_affine3a(),
                }
            });
        let copies = self
            .copies
            .iter()
            .enumerate()
            .map(|(at, (joint, inverse_bind))| Joint {
                name: format!(
                    "{}.bind{}",
                    self.rig.joints[usize::from(*joint)].name,
                    at + 2
                )
                .into(),
                parent: Some(*joint),
                rest: JointTransform::IDENTITY,
                inverse_bind: inverse_bind.as_affine3a(),
            });
        let rig = &self.rig.joints;
        // A copy of a control joint is one, too.
        let of = self.copies.iter().map(|(joint, _)| usize::from(*joint));
        let control = (0..rig.len())
            .chain(of)
            .zip(0..)
            .filter(|(joint, _)| rig[*joint].is_control);
        let mut skeleton = Skeleton::new(joints.chain(copies).collect())?;
        let nodes = rig.iter().map(|joint| joint.frame.node_space());
        let nodes = nodes.chain(self.copies.iter().map(|_| NodeSpace::IDENTITY));
        skeleton = skeleton.with_nodes(nodes.collect());
        if self.skins.is_empty() {
            skeleton = skeleton.without_bind_pose();
        } else {
            let bound = bind_pose(self.rig, &self.skins);
            if let Some(mut pose) = bound.pose {
                pose.resize(skeleton.len(), JointTransform::IDENTITY);
                skeleton = skeleton.with_bind_pose(pose);
            }
            if bound.is_adrift {
                skeleton = skeleton.with_bind_pose_adrift();
            }
        }
        Ok(skeleton.with_control_joints(control.map(|(_, joint)| joint)))
    }
}

/// Returns the place of a joint at rest or, if a mesh would be too small there, its place when it
/// is shown. `own` is from the mesh to the joint.
fn place(joint: &RigJoint, own: DAffine3, corners: &[DVec3]) -> Option<DAffine3> {
    let usable = |model: &DAffine3| usable(*model * own).map(|to_skin| (*model, to_skin));
    let (rest, shown) = (usable(&joint.rest_model), usable(&joint.shown_model));
    let kept = rest.filter(|(_, to_skin)| keeps(to_skin, corners));
    kept.or(shown).or(rest).map(|(model, _)| model)
}

/// Returns `true` if a mesh with these corners can be put elsewhere, stored there in single precision, and put back as it was.
fn keeps(m: &DAffine3, corners: &[DVec3]) -> bool {
    // The largest factor of the rounding error, relative to that of a mesh near the origin.
    const MOST: f64 = 100.0;
    let center = corners.iter().sum::<DVec3>() / corners.len().max(1) as f64;
    let farthest = |at: &dyn Fn(&DVec3) -> f64| corners.iter().map(at).fold(0.0, f64::max);
    let radius = farthest(&|corner| corner.distance(center));
    let away = farthest(&|corner| m.transform_point3(*corner).length());
    let back = m
        .matrix3
        .inverse()
        .to_cols_array()
        .iter()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt();
    away * back <= MOST * radius || radius == 0.0
}

/// The corners of the box around some points.
pub(in crate::import) fn box_corners<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> [DVec3; 8] {
    let points = points.into_iter();
    let (min, max) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), p| {
        (min.min(*p), max.max(*p))
    });
    BoundingBox { min, max }
        .corners()
        .map(|corner| corner.as_dvec3())
}

/// Returns the matrix for normals, of any length: the inverse transpose times the determinant,
/// which exists even if the inverse doesn't. Its sign is that of a matrix that doesn't mirror.
pub(in crate::import) fn cofactors(m: &DMat3) -> DMat3 {
    let DMat3 {
        x_axis: x,
        y_axis: y,
        z_axis: z,
    } = *m;
    let sign = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    DMat3::from_cols(y.cross(z) * sign, z.cross(x) * sign, x.cross(y) * sign)
}

fn sized(size: DVec3) -> DAffine3 {
    DAffine3::from_scale(size)
}

fn alike(a: &DAffine3, b: &DAffine3, radius: f64) -> bool {
    let turned = (0..3)
        .map(|i| (a.matrix3.col(i) - b.matrix3.col(i)).length_squared())
        .sum::<f64>()
        .sqrt();
    let scale = a.matrix3.x_axis.length().max(1e-30);
    turned * radius + (a.translation - b.translation).length() <= SAME * radius.max(1e-30) * scale
        || (turned == 0.0 && a.translation == b.translation)
}
