//! Hound keeps at Scout's side: it walks, gallops and leaps as her way needs it, and sits down when she stays.

use super::{Course, GRAVITY, STEP, Scout, ground, pushed_out};
use bevy::prelude::*;
use bevy_marionette::{character::Teleported, prelude::*};

/// Meters: its place beside Scout, seen from her, and how far off it may be.
const PLACE: Vec3 = Vec3::new(0.85, 0.0, -0.3);
const NEAR: f32 = 0.4;
/// Meters: when she is farther away than this, it is put at its place.
const LOST: f32 = 7.0;
/// Meters per second: how fast its clips are, and from when on it walks and gallops.
const WALK: f32 = 0.95;
const GALLOP: f32 = 6.4;
const STROLL: f32 = 0.2;
const HURRY: f32 = 2.0;
/// Meters per second: a leap is at least this fast, and takes off upward as fast as this.
const LEAP: f32 = 4.6;
const TAKEOFF: f32 = 3.6;
/// Meters: half the length of its body.
const HALF: f32 = 0.35;

#[derive(Component, Default)]
pub struct Hound {
    /// Meters per second: ahead, and up while it is in the air.
    pace: f32,
    rise: f32,
    leaps: bool,
}

/// Creates it, for a Scout at `at`.
pub fn bundle(assets: &AssetServer, at: Vec3) -> impl Bundle {
    (
        Hound::default(),
        SkinnedCharacter(assets.load("adventure/hound_adventure.character.ron")),
        RootMotion::report(),
        FootPlacement::default(),
        Transform::from_translation(at + PLACE),
    )
}

/// Decides what it does, and moves it.
pub fn accompany(
    time: Res<Time>,
    course: Res<Course>,
    scout: Single<(&Scout, &Transform)>,
    hound: Single<
        (
            Entity,
            &mut Hound,
            &mut AnimationController,
            &mut Transform,
            &mut FootPlacement,
            &RootMotion,
        ),
        Without<Scout>,
    >,
    mut commands: Commands,
) -> Result {
    let (scout, her) = *scout;
    let (entity, mut hound, mut controller, mut transform, mut feet, motion) = hound.into_inner();
    let (blocks, dt) = (&course.0, time.delta_secs());
    if controller.state().is_none() || dt == 0.0 {
        return Ok(());
    }
    let at = transform.translation;
    let way = (her.transform_point(PLACE) - at).with_y(0.0);
    if way.length() > LOST {
        *transform = her.with_translation(her.transform_point(PLACE));
        *hound = Hound::default();
        commands.entity(entity).insert(Teleported);
        return Ok(());
    }

    // As fast as she is, and faster if it is behind.
    let mut wanted = scout.velocity.with_y(0.0) + 1.5 * (way - way.clamp_length_max(NEAR));
    let mut heading = Quat::from_rotation_y((-wanted.x).atan2(-wanted.z));
    if wanted.length() < 0.3 {
        // At its place, it looks where she looks.
        (wanted, heading) = (Vec3::ZERO, her.rotation);
    }
    let ahead = at + transform.forward() * HALF;
    if !hound.leaps {
        hound.pace.smooth_nudge(&wanted.length(), 6.0, dt);
        transform.rotation.smooth_nudge(&heading, 6.0, dt);
        if hound.pace > STROLL && ground(blocks, ahead) < at.y - STEP {
            // An edge.
            hound.leaps = true;
            (hound.pace, hound.rise) = (hound.pace.max(LEAP), TAKEOFF);
        }
    }
    let pace = hound.pace;
    let is_tired = match controller.state() {
        Some("stand") => controller.states().seconds() > Some(1.0),
        now => now == Some("sit"),
    };
    let (state, speed) = match () {
        () if hound.leaps => ("leap", GALLOP),
        () if pace > HURRY => ("gallop", GALLOP),
        () if pace > STROLL => ("walk", WALK),
        () if is_tired => ("sit", WALK),
        () => ("stand", WALK),
    };
    controller.go(state)?;
    controller.set_state_speed("pace", (pace / speed).into())?;

    // Its clips carry it over the ground, like Scout.
    let step = if hound.leaps {
        hound.rise -= GRAVITY * dt;
        (transform.forward() * pace + Vec3::Y * hound.rise) * dt
    } else {
        transform.rotation * motion.delta.translation()
    };
    let to = pushed_out(blocks, at + step);
    let floor = ground(blocks, to.with_y(at.y));
    if hound.leaps && to.y > floor {
        transform.translation = to;
    } else {
        hound.leaps = false;
        transform.translation = to.with_y(floor);
    }
    let weight = if hound.leaps { 0.0 } else { 1.0 };
    feet.weight.smooth_nudge(&weight, 14.0, dt);
    Ok(())
}
