//! State of foot placement between frames.

use super::{
    filters::Spring,
    space::{GroundPlane, Space},
};
use crate::{model::JointIndex, pose::PoseMut};
use glam::{Affine3A, Quat, Vec3A};
use serde::{Deserialize, Serialize};

/// All that foot placement keeps between frames: restore it to roll back.
///
/// The default is that of a character that was not there before. The first frame after it takes the feet to the ground
/// at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct FeetState {
    pub(super) body: BodyState,
    pub(super) legs: Vec<LegState>,
}

/// The state of the character as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct BodyState {
    /// The character's place in the world and one of its horizontal axes.
    pub(super) root: Vec3A,
    pub(super) heading: Vec3A,
    /// Speed of the character over the ground, in world units per second.
    pub(super) velocity: Vec3A,
    /// Speed at which the character rises, of which only the part that the hips follow counts, in
    /// model units per second.
    pub(super) root_velocity: f32,
    /// Seconds since a foot was last planted on ground in reach.
    pub(super) air: f32,
    /// Difference between the character's height and the one that its hips show, in model units.
    pub(super) step: Spring<f32>,
    /// Height of the hips above that.
    pub(super) hips: Spring<f32>,
    /// Pitch of the body with the ground, as rise over run.
    pub(super) lean: Spring<f32>,
}

/// The state of one leg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct LegState {
    pub(super) stance: Stance,
    /// `true` if the leg could reach its place in the last frame.
    pub(super) is_reached: bool,
    /// The point that carries the foot: 0 is the heel, 1 the ball.
    pub(super) contact: u8,
    /// Position at which that point is locked, in world space. The Y component is ignored.
    pub(super) anchor: Vec3A,
    /// Position of the other point.
    pub(super) other: Vec3A,
    /// Positions of heel and ball when the foot was locked.
    pub(super) spots: [Vec3A; 2],
    /// The horizontal offset from the foot's place in the clip to its actual place, in world space.
    pub(super) offset: Spring<Vec3A>,
    /// Decaying offset of jumps of the ground's height, in model units.
    pub(super) level: Spring<f32>,
    /// Rise over run of the ground that the foot is tilted to, in world space.
    pub(super) slope: Spring<Vec3A>,
    /// Turn of the foot about the up axis, in radians.
    pub(super) twist: Spring<f32>,
    /// The ground under the foot in the last frame.
    pub(super) ground: Option<GroundPlane>,
    /// Rotations of the joints in the last frame: as shown, and in the clips.
    pub(super) shown: [Quat; 3],
    pub(super) animated: [Quat; 3],
}

/// Lock of a foot to the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) enum Stance {
    /// Follows the clip.
    #[default]
    Free,
    /// Stays where it is in the world.
    Locked,
    /// Released during a contact. The foot follows the clip until it is back in its place.
    LetGo,
}

impl FeetState {
    /// Forgets everything, as after a teleport, but keeps the allocation.
    pub fn clear(&mut self) {
        self.legs.clear();
    }

    /// Returns `true` if a foot is locked in the world.
    pub fn is_locked(&self, leg: usize) -> bool {
        self.legs
            .get(leg)
            .is_some_and(|leg| leg.stance == Stance::Locked)
    }

    /// Moves the stored places in the world along with a moving platform. `motion` takes the
    /// platform from where it was in the last frame to where it is. Lifts that only go up and down
    /// don't need this.
    pub fn carry(&mut self, motion: &Affine3A) {
        let point = |point: &mut Vec3A| *point = motion.transform_point3a(*point);
        let vector = |vector: &mut Vec3A| *vector = motion.transform_vector3a(*vector);
        point(&mut self.body.root);
        vector(&mut self.body.heading);
        vector(&mut self.body.velocity);
        for leg in &mut self.legs {
            point(&mut leg.anchor);
            point(&mut leg.other);
            leg.spots.iter_mut().for_each(point);
            let LegState { offset, slope, .. } = leg;
            // These are in world space, too. Levels and twists belong to the up axis, which stays.
            let vectors = [
                &mut offset.value,
                &mut offset.velocity,
                &mut slope.value,
                &mut slope.velocity,
            ];
            vectors.into_iter().for_each(vector);
            if let Some(ground) = &mut leg.ground {
                point(&mut ground.point);
                vector(&mut ground.slope);
            }
        }
    }

    /// Returns `true` if this is the state of that many legs, and all numbers are finite.
    pub(super) fn fits(&self, legs: usize) -> bool {
        // A sum is finite only if everything in it is.
        let spring = |spring: &Spring<f32>| spring.value + spring.velocity;
        let leg_sum = |leg: &LegState| {
            let ground = leg.ground.unwrap_or_default();
            let LegState { offset, slope, .. } = leg;
            let points =
                leg.anchor + leg.other + leg.spots[0] + leg.spots[1] + ground.point + ground.slope;
            let vectors = points + offset.value + offset.velocity + slope.value + slope.velocity;
            let rotations = leg
                .shown
                .iter()
                .chain(&leg.animated)
                .fold(Quat::from_array([0.0; 4]), |sum, q| sum + *q);
            vectors.element_sum()
                + spring(&leg.level)
                + spring(&leg.twist)
                + rotations.length_squared()
        };
        let BodyState {
            root,
            heading,
            velocity,
            root_velocity,
            air,
            step,
            hips,
            lean,
        } = &self.body;
        let body = (*root + *heading + *velocity).element_sum() + root_velocity + air;
        let sum = body
            + spring(step)
            + spring(hips)
            + spring(lean)
            + self.legs.iter().map(leg_sum).sum::<f32>();
        self.legs.len() == legs && sum.is_finite()
    }

    /// Starts from the animated pose.
    pub(super) fn start(
        &mut self,
        space: &Space,
        legs: impl Iterator<Item = [JointIndex; 3]>,
        pose: &PoseMut,
    ) {
        // The list keeps its memory, so that teleports don't allocate.
        let mut kept = std::mem::take(&mut self.legs);
        kept.clear();
        kept.extend(legs.map(|joints| {
            let now = joints.map(|joint| pose.rotation(joint));
            LegState {
                is_reached: true,
                shown: now,
                animated: now,
                ..LegState::default()
            }
        }));
        let body = BodyState {
            root: space.place,
            heading: space.heading(),
            ..BodyState::default()
        };
        *self = Self { body, legs: kept };
    }
}
