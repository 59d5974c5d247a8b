//! Limbs by the names of their joints.

use crate::model::{JointIndex, Skeleton};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Joints that reach for a goal, by name.
///
/// ```ron
/// goals: {
///     // The knee of a dog's hind leg, which also bends at the hock.
///     "paw": (limb: TwoBone(root: "thigh.L", mid: "shin.L", tip: "paw.L")),
///     "tail": (limb: Chain(root: "tail.1", tip: "tail.5")),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(deny_unknown_fields)]
pub enum Limb {
    /// A limb of two bones, such as an arm or a leg.
    TwoBone {
        /// The first joint: shoulder or hip.
        root: String,
        /// The joint that bends: elbow or knee. Can be left out: it is then the joint between the two at which the
        /// limb is bent most at rest, or the one nearest to the middle of a straight limb.
        #[serde(default)]
        mid: Option<String>,
        /// The joint that reaches the goal: hand or foot.
        tip: String,
    },
    /// A chain of any number of bones, such as a tail.
    Chain {
        /// The first joint that rotates.
        root: String,
        /// The joint that reaches the goal.
        tip: String,
    },
}

/// The joints of a [`Limb`] in a skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimbJoints {
    /// Root, middle and tip.
    TwoBone([JointIndex; 3]),
    /// The last joint of a chain, and the number of joints above it that rotate.
    Chain {
        /// The last joint.
        tip: JointIndex,
        /// The number of joints above it that rotate.
        bones: u16,
    },
}

/// An error in resolving a [`Limb`]: it does not fit the skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimbError {
    /// The skeleton has no joint of this name.
    #[error("the model has no joint `{name}`{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownJoint {
        /// The name.
        name: String,
        /// The name most like it.
        near: Option<String>,
    },
    /// A joint is not below the one before it.
    #[error(
        "joint `{joint}` does not hang from `{above}`; name the joints of a limb from its root to its tip"
    )]
    NotAChain {
        /// The joint.
        joint: String,
        /// The joint it should hang from.
        above: String,
    },
    /// There is no joint between root and tip that could bend.
    #[error(
        "there is no joint between `{root}` and `{tip}` to bend; use `Chain` for a limb of one bone"
    )]
    NothingBends {
        /// The first joint.
        root: String,
        /// The last joint.
        tip: String,
    },
}

impl Limb {
    /// Creates a limb of two bones, from shoulder to hand or from hip to foot.
    pub fn two_bone(root: impl Into<String>, tip: impl Into<String>) -> Self {
        Self::TwoBone {
            root: root.into(),
            mid: None,
            tip: tip.into(),
        }
    }

    /// Creates a chain of any number of bones.
    pub fn chain(root: impl Into<String>, tip: impl Into<String>) -> Self {
        Self::Chain {
            root: root.into(),
            tip: tip.into(),
        }
    }

    /// Returns the names of its joints.
    pub fn joints(&self) -> impl Iterator<Item = &str> {
        let (root, mid, tip) = match self {
            Self::TwoBone { root, mid, tip } => (root, mid.as_ref(), tip),
            Self::Chain { root, tip } => (root, None, tip),
        };
        [Some(root), mid, Some(tip)]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Looks up the joints.
    ///
    /// # Errors
    /// There is no such joint, or the joints do not hang from each other.
    #[doc(hidden)]
    pub fn resolve(&self, skeleton: &Skeleton) -> Result<LimbJoints, LimbError> {
        // Most mistakes are misspelled names, so the error suggests the nearest one.
        let find = |name: &String| {
            skeleton.joint(name).ok_or_else(|| LimbError::UnknownJoint {
                name: name.clone(),
                near: skeleton.nearest_name(name).map(str::to_owned),
            })
        };
        let steps = |joint: JointIndex, above: JointIndex, names: [&String; 2]| {
            let below = skeleton.ancestors(joint).position(|joint| joint == above);
            below
                .map(|below| below + 1)
                .ok_or_else(|| LimbError::NotAChain {
                    joint: names[0].clone(),
                    above: names[1].clone(),
                })
        };
        match self {
            Self::Chain { root, tip } => {
                let (first, last) = (find(root)?, find(tip)?);
                Ok(LimbJoints::Chain {
                    tip: last,
                    bones: steps(last, first, [tip, root])? as u16,
                })
            }
            Self::TwoBone {
                root,
                mid: Some(mid),
                tip,
            } => {
                let [first, middle, last] = [find(root)?, find(mid)?, find(tip)?];
                steps(middle, first, [mid, root])?;
                steps(last, middle, [tip, mid])?;
                Ok(LimbJoints::TwoBone([first, middle, last]))
            }
            Self::TwoBone {
                root,
                mid: None,
                tip,
            } => {
                let (first, last) = (find(root)?, find(tip)?);
                steps(last, first, [tip, root])?;
                let middle = bend_of(skeleton, first, last);
                let middle = middle.ok_or_else(|| LimbError::NothingBends {
                    root: root.clone(),
                    tip: tip.clone(),
                })?;
                Ok(LimbJoints::TwoBone([first, middle, last]))
            }
        }
    }
}

/// The joint between two others that is farthest from the line through them, or nearest to its middle.
fn bend_of(skeleton: &Skeleton, first: JointIndex, last: JointIndex) -> Option<JointIndex> {
    let place =
        |joint: JointIndex| Vec3::from(skeleton.rest_model()[usize::from(joint)].translation);
    let (start, end) = (place(first), place(last));
    let between = || skeleton.ancestors(last).take_while(|&joint| joint != first);
    let length = start.distance(end);
    let bend = |joint: JointIndex| (place(joint) - start).reject_from(end - start).length();
    let most = between().max_by(|&a, &b| bend(a).total_cmp(&bend(b)))?;
    // If straight to within a hundredth of its length, a limb has no bend that gives a direction.
    if length > 0.0 && bend(most) > 0.01 * length {
        return Some(most);
    }
    // There, both bones are about equally long, so the limb can fold almost completely.
    let middle = 0.5 * (start + end);
    between().min_by(|&a, &b| {
        place(a)
            .distance(middle)
            .total_cmp(&place(b).distance(middle))
    })
}

#[cfg(test)]
#[path = "tests/limb.rs"]
mod tests;
