//! Characters that go where the game says, by a blend space of walks and runs.
//!
//! See decision 068.

use super::{components::SkinnedCharacter, root_motion::RootMotion};
use crate::{asset::Character, controller::AnimationController, model::BlendPoint};
use bevy::prelude::*;
use std::f32::consts::{PI, TAU};

/// Steers a character over the ground: it speeds up, turns to where it goes, and walks or runs as fast as it moves.
///
/// An optional component of a character whose blend space has speeds for parameters: to the right and ahead, in model units per
/// second, or only ahead. `marionette import` writes such a space, called `locomotion`, for humanoids.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn((SkinnedCharacter(assets.load("hero/hero.character.ron")), Steering::default()));
/// }
///
/// fn control(keys: Res<ButtonInput<KeyCode>>, mut hero: Single<&mut Steering>) {
///     let held = |key| if keys.pressed(key) { 1.0 } else { 0.0 };
///     let aside = held(KeyCode::KeyD) - held(KeyCode::KeyA);
///     let ahead = held(KeyCode::KeyW) - held(KeyCode::KeyS);
///     hero.velocity = 4.0 * Vec3::new(aside, 0.0, -ahead).normalize_or_zero();
/// }
/// ```
///
/// While the character plays something else, such as a jump, it goes on moving. Set the velocity in `Update`, or if controllers
/// advance in `FixedUpdate`, there and before [`CharacterSystems::Advance`](super::CharacterSystems::Advance).
///
/// If something else moves the character, such as a physics engine, use [`Steering::report`]: then the velocity is the one that it
/// has, and only the parameters are set. A character with [`RootMotion`] is moved by its clips and only turned.
///
/// To roll back, keep this component as you keep the character's `Transform`.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct Steering {
    /// The velocity over the ground that the character is to reach, in world units per second. Y is ignored.
    pub velocity: Vec3,
    /// The direction to face, in world space; `None` faces where the character goes.
    pub facing: Option<Vec3>,
    /// The largest change of the velocity, in world units per second, in a second.
    pub acceleration: f32,
    /// The largest speed of a turn, in radians per second.
    pub turn_speed: f32,
    /// If `true`, the character's `Transform` moves and turns; if `false`, something else sees to that.
    pub applies: bool,
    /// The velocity that the character has by now, in world units per second.
    pub current: Vec3,
}

impl Default for Steering {
    /// Stands, with an acceleration of 12 and two turns a second.
    fn default() -> Self {
        Self {
            velocity: Vec3::ZERO,
            facing: None,
            acceleration: 12.0,
            turn_speed: 2.0 * TAU,
            applies: true,
            current: Vec3::ZERO,
        }
    }
}

/// The speed, in world units per second, below which a character doesn't turn to where it goes.
const STANDS: f32 = 0.05;

impl Steering {
    /// Creates steering of a character that something else moves and turns.
    pub fn report() -> Self {
        Self {
            applies: false,
            acceleration: f32::INFINITY,
            ..Self::default()
        }
    }

    /// Speeds up or slows down for some seconds.
    fn accelerate(&mut self, seconds: f32) {
        // A velocity that is no number doesn't stay.
        if !self.current.is_finite() {
            self.current = Vec3::ZERO;
        }
        let wanted = self.velocity.with_y(0.0);
        if wanted.is_finite() {
            // Callers make sure that time moves, so this isn't infinity times 0. `max` also drops NaN.
            let most = self.acceleration.max(0.0) * seconds;
            self.current = self.current.move_towards(wanted, most);
        }
    }

    /// Returns the angle about Y by which a character of this rotation turns in some seconds.
    fn turn(&self, rotation: Quat, seconds: f32) -> f32 {
        let direction = match self.facing {
            Some(facing) => facing,
            None if self.current.length() > STANDS => self.current,
            None => return 0.0,
        };
        let ahead = rotation * Vec3::NEG_Z;
        let angle = |v: Vec3| f32::atan2(-v.x, -v.z);
        let off = angle(direction) - angle(ahead);
        if !off.is_finite() || direction.x.hypot(direction.z) < 1e-6 {
            return 0.0;
        }
        let off = (off + PI).rem_euclid(TAU) - PI;
        let most = self.turn_speed.max(0.0) * seconds;
        off.clamp(-most, most)
    }

    /// Returns the parameters of a blend space for the velocity of a character at `transform`.
    fn parameters(&self, transform: &Transform, dimensions: usize) -> Option<BlendPoint> {
        let local = transform.rotation.inverse() * self.current / transform.scale;
        let [aside, ahead] = [local.x, -local.z].map(f64::from);
        let point = match dimensions {
            1 => BlendPoint::from(aside.hypot(ahead).copysign(ahead)),
            _ => BlendPoint::new(aside, ahead),
        };
        point.is_finite().then_some(point)
    }
}

/// Moves and turns characters, and tells their blend spaces how fast they go.
pub(super) fn steer(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    mut characters: Query<(
        &SkinnedCharacter,
        &mut Steering,
        &mut Transform,
        &mut AnimationController,
        Has<RootMotion>,
    )>,
) {
    let seconds = time.delta_secs();
    if seconds <= 0.0 {
        return;
    }
    for (handle, mut steering, mut transform, mut controller, is_carried) in &mut characters {
        // What stands still counts as unchanged.
        let mut next = *steering;
        next.accelerate(seconds);
        steering.set_if_neq(next);
        if steering.applies {
            let turn = steering.turn(transform.rotation, seconds);
            if turn != 0.0 {
                transform.rotation = (Quat::from_rotation_y(turn) * transform.rotation).normalize();
            }
            if !is_carried && steering.current != Vec3::ZERO {
                transform.translation += seconds * steering.current;
            }
        }
        let Some(track) = controller.current_track() else {
            continue;
        };
        let space = assets
            .get(handle.id())
            .and_then(|character| character.blend_space(track.clip()));
        let point = space.and_then(|space| steering.parameters(&transform, space.dimensions()));
        if let Some(point) = point.filter(|point| *point != track.parameters()) {
            controller.set_parameters(point);
        }
    }
}

#[cfg(test)]
#[path = "tests/steering.rs"]
mod tests;
