//! Feet: the legs that adapt to uneven ground, by name.

use crate::{
    model::{JointIndex, Skeleton, SkinPart},
    rig::{Feet, FeetLimits, LegJoints},
};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The legs of a [`Manifest`](super::Manifest) that adapt to uneven ground.
///
/// ```ron
/// feet: (
///     hips: "hips",
///     legs: [
///         (root: "thigh.L", tip: "foot.L", toe: "toes.L"),
///         (root: "thigh.R", tip: "foot.R", toe: "toes.R"),
///     ],
/// )
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeetEntry {
    /// The joint that is raised and lowered, above all legs.
    pub hips: String,
    /// The legs, at most 8.
    pub legs: Vec<LegEntry>,
    /// Limits of how far, how steeply, and how fast feet adapt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: FeetLimits,
    /// The direction up at rest: Y.
    #[serde(default = "up", skip_serializing_if = "is_up")]
    pub up: Vec3,
}

/// A leg of [`FeetEntry`].
///
/// ```ron
/// feet: (
///     hips: "pelvis",
///     legs: [
///         // A robot whose shin is in two pieces, and whose heel is a rubber pad behind its foot.
///         (root: "thigh.L", mid: "shin_upper.L", tip: "foot.L", heel: (-0.1, 0, 0.12)),
///         (root: "thigh.R", mid: "shin_upper.R", tip: "foot.R", heel: (0.1, 0, 0.12)),
///     ],
/// )
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegEntry {
    /// The first joint of the leg, such as the thigh.
    pub root: String,
    /// The joint that bends; `None` takes the one in the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mid: Option<String>,
    /// The joint of the foot: ankle, hock or wrist.
    pub tip: String,
    /// The joint of the toes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toe: Option<String>,
    /// Point at which the heel touches the ground at rest, in model units after scaling; `None` finds it in the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heel: Option<Vec3>,
}

impl LegEntry {
    /// Creates a leg from its first joint to its foot.
    pub fn new(root: impl Into<String>, tip: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            tip: tip.into(),
            ..Self::default()
        }
    }

    /// Sets the joint of the toes.
    pub fn toe(self, toe: impl Into<String>) -> Self {
        Self {
            toe: Some(toe.into()),
            ..self
        }
    }
}

impl FeetEntry {
    /// Legs below `hips`, with default limits.
    pub fn new(hips: impl Into<String>, legs: impl IntoIterator<Item = LegEntry>) -> Self {
        Self {
            hips: hips.into(),
            legs: legs.into_iter().collect(),
            limits: FeetLimits::default(),
            up: up(),
        }
    }

    /// Looks up the joints, and the heels in the skin. `None` if a joint is missing, or the legs are not below the hips
    /// or have no length.
    #[doc(hidden)]
    pub fn resolve(&self, skeleton: &Skeleton, skin: &[SkinPart]) -> Option<Feet> {
        let joint = |name: &str| skeleton.joint(name);
        let optional = |name: &Option<String>| {
            // A joint that is left out is fine, but one that doesn't exist isn't.
            name.as_ref()
                .map_or(Some(None), |name| joint(name).map(Some))
        };
        let legs = self.legs.iter().map(|leg| {
            let (tip, toe) = (joint(&leg.tip)?, optional(&leg.toe)?);
            let heel = leg
                .heel
                .or_else(|| heel(skeleton, skin, tip, toe?, self.up));
            Some(LegJoints {
                root: joint(&leg.root)?,
                mid: optional(&leg.mid)?,
                tip,
                toe,
                heel,
            })
        });
        let legs: Vec<LegJoints> = legs.collect::<Option<_>>()?;
        let mut feet = Feet::new(skeleton, joint(&self.hips)?, &legs, self.up)?;
        feet.limits = self.limits;
        Some(feet)
    }

    /// The names of all joints.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let legs = self.legs.iter().flat_map(|leg| {
            [
                Some(&leg.root),
                leg.mid.as_ref(),
                Some(&leg.tip),
                leg.toe.as_ref(),
            ]
            .into_iter()
            .flatten()
        });
        std::iter::once(self.hips.as_str()).chain(legs.map(String::as_str))
    }

    /// Returns the index of the leg with a foot of this name.
    pub fn leg(&self, tip: &str) -> Option<usize> {
        self.legs.iter().position(|leg| leg.tip == tip)
    }

    /// Returns the first mistake in the numbers.
    pub(super) fn misstatement(&self) -> Option<String> {
        let FeetLimits {
            height,
            slope,
            stride,
            turn,
        } = self.limits;
        let limits = [
            ("height", height, 0.0),
            ("slope", slope, 0.0),
            ("stride", stride, 0.0),
            ("turn", turn, 1.0),
        ];
        if let Some((name, limit, least)) = limits
            .iter()
            .find(|(_, limit, least)| !(*limit >= *least && limit.is_finite()))
        {
            return Some(format!(
                "the {name} limit of feet is {limit}, expected {least} or more"
            ));
        }
        let heels = self.legs.iter().filter_map(|leg| leg.heel);
        heels
            .chain([self.up])
            .any(|v| !v.is_finite())
            .then(|| "feet contain a number that is not finite".to_owned())
    }
}

/// Finds the point at which the heel touches the ground: the lowest skin of the foot, as far from the toes as it goes.
fn heel(
    skeleton: &Skeleton,
    skin: &[SkinPart],
    tip: JointIndex,
    toe: JointIndex,
    up: Vec3,
) -> Option<Vec3> {
    let at = |joint: JointIndex| Vec3::from(skeleton.rest_model()[usize::from(joint)].translation);
    let ankle = at(tip);
    let forward = at(toe) - ankle;
    // Along the ground, since ankles are higher than toes.
    let forward = (forward - up * up.dot(forward)).try_normalize()?;
    // The skin is stored as it was bound, and the ankle is where it is at rest.
    let to_rest =
        skeleton.rest_model()[usize::from(tip)] * skeleton.inverse_bind()[usize::from(tip)];
    let places = || {
        skin.iter().flat_map(|part| {
            let moves = move |influences: &crate::model::Influences| {
                let lanes = influences.palette.iter().zip(influences.weights);
                let of_tip =
                    lanes.filter(|(lane, _)| part.palette.get(usize::from(**lane)) == Some(&tip));
                // Most of the weight must be the ankle's, or the calf would count.
                of_tip.map(|(_, weight)| weight).sum::<f32>() > 0.5
            };
            let vertices = part.positions.iter().zip(&part.influences);
            vertices
                .filter(move |(_, influences)| moves(influences))
                .map(|(place, _)| to_rest.transform_point3(*place))
        })
    };
    let lowest = places().map(|place| up.dot(place)).reduce(f32::min)?;
    // A heel is round. Its lowest part is what touches the ground.
    let low = lowest + 0.15 * (up.dot(ankle) - lowest).max(0.0);
    let behind = places()
        .filter(|place| up.dot(*place) <= low)
        .map(|place| forward.dot(place - ankle));
    let behind = behind.reduce(f32::min)?.min(0.0);
    // Straight under the ankle, and back as far as the skin goes.
    let heel = ankle - up * up.dot(ankle) + forward * behind;
    heel.is_finite().then_some(heel)
}

fn is_default(limits: &FeetLimits) -> bool {
    *limits == FeetLimits::default()
}

fn up() -> Vec3 {
    Vec3::Y
}

fn is_up(axis: &Vec3) -> bool {
    *axis == up()
}
