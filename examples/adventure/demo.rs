//! Plays the game while nobody touches the keys: over the course, and around again.

use super::{Controls, FLAG, POSTS, RUN, START, Scout, WALK};
use bevy::prelude::*;
use bevy_marionette::prelude::*;

/// What to do on the way to a place.
struct Leg {
    to: Vec3,
    speed: f32,
    /// What to do at a place on the way, where z is smaller than this.
    action: Option<(f32, &'static str)>,
}

const fn leg(to: Vec3, speed: f32, action: Option<(f32, &'static str)>) -> Leg {
    Leg { to, speed, action }
}

const LEGS: [Leg; 7] = [
    leg(Vec3::new(0.0, 0.0, -0.2), WALK, Some((1.5, "wave"))),
    leg(Vec3::new(0.0, 0.0, -3.6), WALK * 1.3, None),
    leg(Vec3::new(0.0, 0.0, -9.0), RUN, Some((-6.15, "jump"))),
    leg(KICK, WALK, Some((KICK.z + 0.25, "kick"))),
    leg(Vec3::new(-0.75, 0.0, -11.0), WALK, None),
    leg(
        Vec3::new(-0.3, 0.0, -15.6),
        RUN * 0.7,
        Some((-13.0, "jump")),
    ),
    leg(Vec3::new(0.0, 0.0, FLAG.z + 0.6), WALK, None),
];
const KICK: Vec3 = Vec3::new(POSTS[0].x, 0.0, POSTS[0].z + 1.1);

/// The leg that she is on, and whether its action is done.
#[derive(Default)]
pub struct Progress {
    leg: usize,
    done: bool,
    waited: f32,
}

pub fn play(
    time: Res<Time>,
    mut controls: ResMut<Controls>,
    mut progress: Local<Progress>,
    scout: Single<(&Scout, &AnimationController, &mut Transform)>,
) {
    let (scout, controller, mut transform) = scout.into_inner();
    if controls.has_player || controller.state().is_none() {
        return;
    }
    let at = transform.translation;
    let Some(leg) = LEGS.get(progress.leg) else {
        // Waves and cheers at the flag, and begins again.
        let before = progress.waited;
        progress.waited += time.delta_secs();
        let is_time = |at: f32| before <= at && at < progress.waited;
        controls.wave = is_time(0.0);
        if is_time(2.2) {
            controls.action = Some("cheer");
        }
        if progress.waited > 5.7 {
            *progress = Progress::default();
            *transform = Transform::from_translation(START);
        }
        return;
    };
    if let Some((z, action)) = leg.action
        && !progress.done
        && at.z < z
    {
        progress.done = true;
        match action {
            "wave" => controls.wave = true,
            action => controls.action = Some(action),
        }
    }
    let way = (leg.to - at).with_y(0.0);
    let is_busy = matches!(controller.state(), Some("kick" | "hurt" | "land"));
    if !is_busy {
        controls.walk = way.normalize_or_zero() * leg.speed;
    }
    if way.z > -0.12 && !is_busy && scout.stands {
        progress.leg += 1;
        progress.done = false;
    }
}
