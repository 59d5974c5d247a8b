//! Joints that swing: hair, ears, tails, scarves.
//!
//! A bone's end is a point mass in world space, which a damped spring draws to where the animated
//! pose has it: to the bone's animated direction relative to the bone above. So a bone at rest
//! follows its clips, and swings when the character moves. Bones keep their length.
//!
//! Springs take steps of 1/30 s, at the same times at any frame rate, counted from the frame before the first one. In a step,
//! targets move along a parabola. A part of a step, whose result is not kept, leads to the frame's own time. So springs see the
//! character at the same times at 30, 60, 120, and 240 frames per second, and swing alike, however it moves in between. Where a
//! step ends between two frames, the character and its animated pose are found on a cubic curve through the last four frames. For
//! the hair and scarf of a character that walks and turns, paths then stay within 1.5 % of a bone's length of each other, even
//! where colliders are touched for a third of the time. Limits and colliders slow bones down the more, the deeper they went in,
//! and so don't make paths part. Where a bone balances on a collider, it may still slip off on either side. The same inputs give
//! the same bits, as everywhere in [`pose`](crate::pose).

mod bone;
mod run;
mod state;
mod step;

pub use run::{SpringFrame, SpringScratch};
pub use state::SpringState;

use super::{Collider, ColliderKind};
use crate::{
    model::{JointIndex, Skeleton},
    trig::sin_cos_f32,
};
use glam::{DVec3, Vec3A};
use serde::{Deserialize, Serialize};
use std::f32::consts::{PI, TAU};
use step::Step;

/// Settings of swinging joints. Numbers outside their range, or not finite, take the nearest sensible value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(default)]
pub struct SpringSettings {
    /// Stiffness, as the number of times per second that a bone would swing back and forth, 0..=60 Hz. The size of the
    /// character makes no difference. About 1 for a scarf, 2 for hair, 4 for ears; 0 for a bone that only hangs.
    pub frequency: f32,
    /// Damping of the swinging, 0 or more: at 0.2 it swings a few times, at 1 not even once.
    pub damping: f32,
    /// The share of gravity that acts, usually 0..=1. At 0, a character that stands still keeps the pose its artist gave
    /// it. Gravity bends bones by about 0.25 m / `frequency`².
    pub gravity: f32,
    /// Drag of the air, per second: the share of the difference between the bones' speed and the wind's
    /// that they would lose in a second at the initial rate. 0..=1000.
    pub drag: f32,
    /// The distance that the bones' ends keep from colliders, in model units.
    pub radius: f32,
    /// The largest angle, in radians, between a bone and its animated direction; π for no limit. Colliders can bend
    /// bones further.
    pub max_angle: f32,
}

impl Default for SpringSettings {
    fn default() -> Self {
        Self {
            frequency: 2.0,
            damping: 0.3,
            gravity: 0.0,
            drag: 1.0,
            radius: 0.0,
            max_angle: PI,
        }
    }
}

/// Makes a joint and all joints below it swing.
///
/// A bone points from its joint to the joint's child, or to the middle of its children; other
/// branches move with the bone above. The last bone is as long as the one before it, and continues
/// in its direction. A chain may begin inside another, and then takes over from there. Joints in
/// the same place as their children don't swing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct SpringChain {
    /// The first joint that swings.
    pub root: JointIndex,
    /// Settings of all joints of the chain.
    pub settings: SpringSettings,
    /// Indices of the colliders on whose side the bones' ends stay.
    pub colliders: Vec<u16>,
}

/// The springs of a skeleton. Their state from frame to frame is a [`SpringState`].
///
/// ```
/// # use bevy_marionette::{internals::{pose::PoseMut, rig::*}, model::{Joint, JointTransform, Skeleton}};
/// # use glam::{Affine3A, Vec3};
/// # let joint = |parent| Joint {
/// #     name: "".into(), parent, rest: JointTransform { translation: Vec3::X * 0.1, ..JointTransform::IDENTITY },
/// #     inverse_bind: Affine3A::IDENTITY,
/// # };
/// # let skeleton = Skeleton::new([None, Some(0), Some(1)].map(joint).to_vec()).unwrap();
/// # let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
/// let settings = SpringSettings { frequency: 1.5, gravity: 1.0, ..SpringSettings::default() };
/// let tail = SpringChain { root: 1, settings, colliders: vec![] };
/// let springs = Springs::new(&skeleton, &[tail], &[]);
/// let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
///
/// // Every frame:
/// let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
/// let frame = SpringFrame { dt: 1.0 / 60.0, world: Affine3A::from_translation(Vec3::Z), ..SpringFrame::default() };
/// springs.run(&frame, &mut state, &mut scratch, &mut pose);
/// assert!(pose.position(2).y < 0.0, "the tail hangs down");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Springs {
    joints: Vec<SpringJoint>,
    /// The joints from which to update the pose: those that swing below none that does.
    roots: Vec<JointIndex>,
    chains: Vec<Chain>,
    colliders: Vec<Collider>,
    /// The length of the longest bone at rest.
    longest: f32,
}

/// A joint that swings.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpringJoint {
    joint: JointIndex,
    /// The nearest ancestor that swings, among the springs' joints.
    parent: Option<u16>,
    /// `true` if the joint is where its parent's bone ends.
    at_end: bool,
    /// `true` if other joints begin elsewhere than where its bone ends.
    forks: bool,
    /// End of the bone in the joint's space; `None` if another joint is its end.
    end: Option<Vec3A>,
    chain: u16,
}

/// A chain's settings, limited to their ranges and converted for the simulation.
#[derive(Clone, Debug, PartialEq)]
struct Chain {
    step: Step,
    /// The angular frequency squared.
    stiffness: f32,
    gravity: f32,
    drag: f32,
    radius: f32,
    /// The cosine of the largest angle.
    limit: Option<f32>,
    colliders: Vec<u16>,
}

impl Springs {
    /// Makes the joints of `chains` swing. If several chains begin at a joint, the first counts.
    ///
    /// Chains and colliders of joints that the skeleton doesn't have are left out.
    pub fn new(skeleton: &Skeleton, chains: &[SpringChain], colliders: &[Collider]) -> Self {
        let chains = &chains[..chains.len().min(usize::from(u16::MAX))];
        let mut chain_of: Vec<Option<u16>> = vec![None; skeleton.len()];
        // In reverse, so that the first of several chains that begin at a joint wins.
        for (index, chain) in chains.iter().enumerate().rev() {
            if let Some(slot) = chain_of.get_mut(usize::from(chain.root)) {
                *slot = Some(index as u16);
            }
        }
        // Parents come first, so one pass hands chains down to all descendants.
        for joint in 0..skeleton.len() {
            let above = skeleton.parents()[joint].and_then(|parent| chain_of[usize::from(parent)]);
            chain_of[joint] = chain_of[joint].or(above);
        }
        let ends = bone_ends(skeleton);
        let mut springs = Self {
            colliders: Self::known(skeleton, colliders),
            ..Self::default()
        };
        // Each joint's place among the springs' joints.
        let mut places: Vec<Option<u16>> = vec![None; skeleton.len()];
        // A joint waits for the ones above it that swing. Those that wait for equally many don't wait for each other, so a
        // processor can work on several at a time.
        let mut depths = vec![0_u16; skeleton.len()];
        for joint in 0..skeleton.len() {
            let swings = |joint: usize| chain_of[joint].is_some() && ends[joint].is_some();
            let above = skeleton.parents()[joint].map(usize::from);
            depths[joint] = above.map_or(0, |above| depths[above] + u16::from(swings(above)));
        }
        let mut order: Vec<JointIndex> = skeleton.joints().collect();
        order.sort_by_key(|&joint| depths[usize::from(joint)]);
        for joint in order {
            let index = usize::from(joint);
            let (Some(chain), Some(end)) = (chain_of[index], ends[index]) else {
                continue;
            };
            let above = skeleton.parents()[index];
            let parent =
                std::iter::successors(above, |&above| skeleton.parents()[usize::from(above)])
                    .find_map(|above| places[usize::from(above)]);
            let only = above
                .is_some_and(|above| ends[usize::from(above)].is_some_and(|end| end.children == 1));
            let at_end = only && above.and_then(|above| places[usize::from(above)]).is_some();
            places[index] = Some(springs.joints.len() as u16);
            springs.joints.push(SpringJoint {
                joint,
                parent,
                at_end,
                forks: false,
                end: Some(end.point),
                chain,
            });
            springs.longest = springs.longest.max(end.length);
            if let Some(parent) = parent.map(|parent| &mut springs.joints[usize::from(parent)]) {
                parent.forks |= !at_end;
                // The parent's bone ends at this joint, so it is read from the animated pose
                // instead.
                parent.end = parent.end.filter(|_| !at_end);
            }
        }
        springs.roots = springs
            .joints
            .iter()
            .filter(|joint| joint.parent.is_none())
            .map(|joint| joint.joint)
            .collect();
        springs.chains = chains.iter().map(|chain| springs.prepare(chain)).collect();
        springs
    }

    /// Returns `true` if no joint swings.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Returns `true` if a joint swings.
    pub fn contains(&self, joint: JointIndex) -> bool {
        self.joints.iter().any(|spring| spring.joint == joint)
    }

    /// Returns the joints that swing, parents first.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointIndex> {
        self.joints.iter().map(|joint| joint.joint)
    }

    /// Returns the colliders, as they were given; those of joints that the skeleton doesn't have are without radius.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// Keeps the indices of the colliders, which chains refer to.
    fn known(skeleton: &Skeleton, colliders: &[Collider]) -> Vec<Collider> {
        let nowhere = |collider: &Collider| Collider {
            joint: 0,
            radius: 0.0,
            kind: ColliderKind::Outside,
            ..*collider
        };
        let known = |collider: &Collider| usize::from(collider.joint) < skeleton.len();
        if skeleton.is_empty() {
            return Vec::new();
        }
        colliders
            .iter()
            .map(|collider| {
                if known(collider) {
                    *collider
                } else {
                    nowhere(collider)
                }
            })
            .collect()
    }

    fn prepare(&self, chain: &SpringChain) -> Chain {
        let SpringSettings {
            frequency,
            damping,
            gravity,
            drag,
            radius,
            max_angle,
        } = chain.settings;
        // NaN fails the comparison and becomes 0.
        let within = |value: f32, most: f32| if value > 0.0 { value.min(most) } else { 0.0 };
        let (frequency, damping, drag) = (
            within(frequency, 60.0),
            within(damping, 100.0),
            within(drag, 1000.0),
        );
        let rate = TAU * frequency;
        let touches = |&&index: &&u16| {
            self.colliders
                .get(usize::from(index))
                .is_some_and(Collider::is_there)
        };
        Chain {
            step: Step::new(frequency.into(), damping.into(), drag.into()),
            stiffness: rate * rate,
            gravity: if gravity.is_finite() {
                gravity.clamp(-1e3, 1e3)
            } else {
                0.0
            },
            drag,
            radius: within(radius, f32::MAX),
            limit: (max_angle < PI).then(|| sin_cos_f32(within(max_angle, PI)).1),
            colliders: chain.colliders.iter().filter(touches).copied().collect(),
        }
    }
}

/// End of a joint's bone at rest.
#[derive(Clone, Copy)]
struct BoneEnd {
    /// In the joint's space.
    point: Vec3A,
    length: f32,
    children: u32,
}

/// Returns where each joint's bone ends at rest; `None` for bones without length.
fn bone_ends(skeleton: &Skeleton) -> Vec<Option<BoneEnd>> {
    let (model, parents) = (skeleton.rest_model(), skeleton.parents());
    // In 64 bits, so that the order of the children makes no difference.
    let mut children = vec![(DVec3::ZERO, 0_u32); skeleton.len()];
    for (joint, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            let (sum, count) = &mut children[usize::from(*parent)];
            *sum += model[joint].translation.as_dvec3();
            *count += 1;
        }
    }
    let size = model
        .iter()
        .map(|joint| joint.translation.abs().max_element())
        .fold(0.0, f32::max);
    let end = |joint: usize| {
        let at = model[joint].translation;
        let (sum, count) = children[joint];
        let end = match parents[joint] {
            _ if count > 0 => (sum / f64::from(count)).as_vec3a(),
            Some(parent) => at + (at - model[usize::from(parent)].translation),
            None => at,
        };
        let (length, point) = (
            (end - at).length(),
            model[joint].inverse().transform_point3a(end),
        );
        (length > 1e-5 * size && point.is_finite()).then_some(BoneEnd {
            point,
            length,
            children: count,
        })
    };
    (0..skeleton.len()).map(end).collect()
}
