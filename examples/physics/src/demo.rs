//! Plays while nobody touches the keys: up the stairs, down the ramp, and through the crates.

use super::{Controls, RUN, Scout, WALK, yard};
use avian3d::prelude::*;
use bevy::prelude::*;
use bevy_marionette::prelude::*;

/// What she does when she has come as far as `z`.
struct Leg {
    z: f32,
    speed: f32,
    then: Option<&'static str>,
}

const fn leg(z: f32, speed: f32, then: Option<&'static str>) -> Leg {
    Leg { z, speed, then }
}

const LEGS: [Leg; 4] = [
    leg(-4.8, WALK * 1.3, None),
    leg(yard::WALL.z + 1.05, WALK * 1.3, Some("kick")),
    leg(yard::WALL.z + 0.3, WALK, None),
    leg(yard::WALL.z - 3.0, RUN * 0.6, Some("jump")),
];
/// Seconds at the end, before everything is put back.
const REST: f32 = 3.0;

pub fn play(
    time: Res<Time>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    mut controls: ResMut<Controls>,
    mut leg: Local<usize>,
    mut rested: Local<f32>,
    scout: Single<(&mut Scout, &AnimationController, &mut Transform)>,
    mut crates: Query<
        (
            &yard::Crate,
            &mut Transform,
            &mut LinearVelocity,
            &mut AngularVelocity,
        ),
        Without<Scout>,
    >,
) {
    let (mut scout, controller, mut place) = scout.into_inner();
    let again = keys.is_some_and(|keys| keys.just_pressed(KeyCode::KeyR));
    if again || *rested > REST {
        (*leg, *rested) = (0, 0.0);
        *place = Transform::from_translation(yard::START);
        scout.velocity = Vec3::ZERO;
        for (at, mut place, mut velocity, mut spin) in &mut crates {
            *place = Transform::from_translation(at.0);
            (velocity.0, spin.0) = (Vec3::ZERO, Vec3::ZERO);
        }
    }
    if controls.has_player || controller.state().is_none() {
        return;
    }
    controls.action = None;
    let Some(Leg { z, speed, then }) = LEGS.get(*leg) else {
        controls.walk = Vec3::ZERO;
        *rested += time.delta_secs();
        return;
    };
    // Along the middle of the course.
    let way = Vec3::new(-place.translation.x, 0.0, -1.0);
    let is_busy = matches!(controller.state(), Some("kick" | "land"));
    controls.walk = if is_busy {
        Vec3::ZERO
    } else {
        way.normalize() * *speed
    };
    if place.translation.z < *z && scout.stands && !is_busy {
        controls.action = *then;
        *leg += 1;
    }
}
