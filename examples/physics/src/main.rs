//! Scout in the world of a physics engine, [avian](https://github.com/avianphysics/avian).
//!
//! Her clips say how far she wants to go, and avian how far she can. A capsule slides along what is in her way, a ball that is
//! cast downward finds the ground, and rays find it again for each foot. She pushes what she walks into, and a kick hits
//! what her foot meets while the clip's hit window is open.
//!
//! ```text
//! cargo run --manifest-path examples/physics/Cargo.toml
//! ```

mod demo;
#[path = "../../stage/mod.rs"]
mod stage;
#[cfg(test)]
mod tests;
mod yard;

use avian3d::prelude::*;
use bevy::{
    asset::io::{AssetSourceBuilder, AssetSourceId},
    prelude::*,
};
use bevy_marionette::{
    character::{GroundProbe, StateEntered},
    prelude::*,
    rig::GroundHit,
};
use stage::{Caption, Orbit, PlaceCamera, StageArgs, View};
use std::f32::consts::PI;

const HELP: &str =
    "WASD: walk   Shift: run   Space: jump   F: kick   R: again   drag, arrows: look around";

/// Meters per second.
const WALK: f32 = 1.3;
const RUN: f32 = 3.8;
const JUMP: f32 = 4.6;
/// Meters per second squared.
const ACCELERATION: f32 = 7.0;
const GRAVITY: f32 = 9.81;
/// A fall that ends faster than this ends in a crouch, in meters per second.
const HARD_LANDING: f32 = 4.0;

/// Meters: her size, and how high a step she takes without jumping.
const HEIGHT: f32 = 1.7;
const RADIUS: f32 = 0.26;
const STEP: f32 = 0.32;
/// Meters: the radii of what stands on the ground, and of the foot that kicks.
const SOLE: f32 = 0.8 * RADIUS;
const FOOT: f32 = 0.16;

fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(7.6, "");
    let mut app = App::new();
    // The sample characters are in the repository's folder, and this crate is in one of its own.
    app.register_asset_source(
        AssetSourceId::Default,
        AssetSourceBuilder::platform_default("../../assets", None),
    );
    stage::set_up(&mut app, "physics", &args, HELP);
    app.insert_resource(View(Orbit {
        target: Vec3::new(0.0, 1.0, 1.0),
        distance: 5.6,
        yaw: 2.5,
        pitch: 0.2,
    }))
    .add_plugins(game)
    .add_systems(Startup, yard::paint.after(yard::build))
    .add_systems(Update, (read_input.before(demo::play), caption))
    .add_systems(PostUpdate, follow.after(travel).before(PlaceCamera))
    .run();
}

/// All that decides what happens, without anything that is only there to be seen.
fn game(app: &mut App) {
    app.add_plugins(PhysicsPlugins::default())
        .insert_resource(Gravity(Vec3::NEG_Y * GRAVITY))
        .init_resource::<Controls>()
        .add_systems(Startup, (yard::build, spawn))
        .add_systems(Update, (demo::play, decide).chain())
        .add_systems(
            PostUpdate,
            (
                // Her clips have advanced, and nothing has been posed yet.
                travel
                    .after(CharacterSystems::Callbacks)
                    .before(CharacterSystems::EvaluateEarly),
                feel_ground.in_set(CharacterSystems::ProbeGround),
                // In the pose of this frame.
                kick.after(TransformSystems::Propagate),
            ),
        )
        .add_observer(enter);
}

/// What the player wants in this frame.
#[derive(Resource, Default)]
struct Controls {
    /// Direction over the ground, and speed in meters per second.
    walk: Vec3,
    action: Option<&'static str>,
    /// `true` once somebody plays.
    has_player: bool,
}

#[derive(Component)]
struct Scout {
    /// Meters per second: what her clips are asked for, and how she moves.
    pace: f32,
    velocity: Vec3,
    /// `false` in the air.
    stands: bool,
    /// What bumps into walls: a capsule from the height of a step to her head, so that steps don't stop her.
    body: Collider,
    /// What stands on the ground.
    sole: Collider,
    /// What kicks, and whom it has hit.
    foot: Collider,
    kicked: Vec<Entity>,
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let (low, high) = (STEP + RADIUS, HEIGHT - RADIUS);
    commands.spawn((
        Scout {
            pace: 0.0,
            velocity: Vec3::ZERO,
            stands: true,
            body: Collider::capsule_endpoints(RADIUS, Vec3::Y * low, Vec3::Y * high),
            sole: Collider::sphere(SOLE),
            foot: Collider::sphere(FOOT),
            kicked: vec![],
        },
        SkinnedCharacter(assets.load("adventure/scout_adventure.character.ron")),
        // Reported to `travel`, and not applied.
        RootMotion::report(),
        FootPlacement::default(),
        // What other bodies bump into. It goes where `travel` puts it.
        RigidBody::Kinematic,
        Collider::capsule_endpoints(RADIUS, Vec3::Y * RADIUS, Vec3::Y * high),
        Transform::from_translation(yard::START),
    ));
}

fn read_input(
    keys: Res<ButtonInput<KeyCode>>,
    camera: Single<&Orbit>,
    mut controls: ResMut<Controls>,
) {
    let held = |key| f32::from(keys.pressed(key));
    let wish = Vec3::new(
        held(KeyCode::KeyD) - held(KeyCode::KeyA),
        0.0,
        held(KeyCode::KeyS) - held(KeyCode::KeyW),
    );
    let runs = keys.pressed(KeyCode::ShiftLeft);
    // Ahead is where the camera looks.
    let ahead = Quat::from_rotation_y(camera.yaw + PI);
    controls.walk = ahead * wish.normalize_or_zero() * if runs { RUN } else { WALK };
    controls.action = match () {
        () if keys.just_pressed(KeyCode::Space) => Some("jump"),
        () if keys.just_pressed(KeyCode::KeyF) => Some("kick"),
        () => None,
    };
    controls.has_player |= wish != Vec3::ZERO || controls.action.is_some();
}

/// Decides what Scout does next: the states are in her manifest.
fn decide(
    time: Res<Time>,
    controls: Res<Controls>,
    scout: Single<(&mut Scout, &mut AnimationController, &mut Transform)>,
) -> Result {
    let (mut scout, mut controller, mut transform) = scout.into_inner();
    let dt = time.delta_secs();
    let Some(state) = controller.state().map(str::to_owned) else {
        return Ok(()); // still loading
    };
    if let Some(action) = controls.action
        && scout.stands
    {
        controller.go(action)?;
    }
    scout.pace = if state == "ground" {
        let change = ACCELERATION * dt;
        scout.pace + (controls.walk.length() - scout.pace).clamp(-change, change)
    } else {
        0.0
    };
    // The blend space `locomotion` takes a speed.
    controller.set_parameters(f64::from(scout.pace));
    if controls.walk.length() > 0.1 && state == "ground" {
        let to = Quat::from_rotation_y((-controls.walk.x).atan2(-controls.walk.z));
        transform.rotation.smooth_nudge(&to, 9.0, dt);
    }
    Ok(())
}

/// A state begins: now, or some moments after it was asked for.
fn enter(entered: On<StateEntered>, mut scouts: Query<&mut Scout>) {
    let Ok(mut scout) = scouts.get_mut(entered.entity) else {
        return;
    };
    match &*entered.state {
        "jump" => {
            scout.velocity.y = JUMP;
            scout.stands = false;
        }
        "kick" => scout.kicked.clear(),
        _ => {}
    }
}

/// Moves Scout as far as avian lets her: over the ground as her clips say, and through the air as gravity does.
fn travel(
    time: Res<Time>,
    world: MoveAndSlide,
    scout: Single<(
        Entity,
        &mut Scout,
        &mut AnimationController,
        &mut Transform,
        &mut FootPlacement,
        &RootMotion,
    )>,
    mut crates: Query<(&ComputedMass, Forces), Without<Scout>>,
) -> Result {
    let (entity, mut scout, mut controller, mut transform, mut feet, motion) = scout.into_inner();
    let dt = time.delta_secs();
    let Some(state) = controller.state().map(str::to_owned) else {
        return Ok(());
    };
    if dt == 0.0 {
        return Ok(());
    }
    if scout.stands {
        scout.velocity = transform.rotation * motion.delta.translation() / dt;
        scout.velocity.y = 0.0;
    } else {
        scout.velocity.y -= GRAVITY * dt;
    }
    // Along walls, and into what gives way.
    let all_but_her = SpatialQueryFilter::from_excluded_entities([entity]);
    let mut touched = Vec::new();
    let moved = world.move_and_slide(
        &scout.body,
        transform.translation,
        Quat::IDENTITY,
        scout.velocity,
        time.delta(),
        &MoveAndSlideConfig::default(),
        &all_but_her,
        |hit| {
            touched.push((hit.entity, hit.point, **hit.normal));
            MoveAndSlideHitResponse::Accept
        },
    );
    for (body, point, normal) in touched {
        if let Ok((mass, mut forces)) = crates.get_mut(body) {
            // What she walks into gets her speed.
            let slower = (scout.velocity - forces.linear_velocity()).dot(-normal);
            let push = -normal * slower.max(0.0) * mass.value();
            forces.apply_linear_impulse_at_point(push, point);
        }
    }
    // Down to the ground, or to where the air begins. In the air, she is on the ground only once she has reached it.
    let mut at = moved.position;
    let reach = if scout.stands { STEP } else { 0.0 };
    let ground = world.spatial_query.cast_shape(
        &scout.sole,
        at + Vec3::Y * (STEP + SOLE),
        Quat::IDENTITY,
        Dir3::NEG_Y,
        &ShapeCastConfig::from_max_distance(STEP + reach),
        &all_but_her,
    );
    match ground {
        Some(ground) if scout.stands || scout.velocity.y <= 0.0 => {
            at.y += STEP - ground.distance;
            if !scout.stands {
                let is_hard = scout.velocity.y < -HARD_LANDING;
                controller.go(if is_hard { "land" } else { "ground" })?;
            }
            scout.stands = true;
        }
        _ => {
            scout.stands = false;
            // A ceiling ends a jump.
            scout.velocity.y = scout.velocity.y.min(moved.projected_velocity.y);
            if !["jump", "fall"].contains(&state.as_str()) {
                controller.go("fall")?;
            }
        }
    }
    transform.translation = at;
    let weight = if scout.stands { 1.0 } else { 0.0 };
    feet.weight.smooth_nudge(&weight, 14.0, dt);
    Ok(())
}

/// Tells the feet where the ground is.
fn feel_ground(world: SpatialQuery, mut probes: Query<(Entity, &mut GroundProbe)>) {
    for (entity, mut probe) in &mut probes {
        let all_but_her = SpatialQueryFilter::from_excluded_entities([entity]);
        probe.answer(|ray| {
            let direction = Dir3::new(ray.direction).ok()?;
            let hit = world.cast_ray(ray.origin, direction, ray.length, true, &all_but_her)?;
            Some(GroundHit {
                point: ray.origin + direction * hit.distance,
                normal: hit.normal,
            })
        });
    }
}

/// While the hit window is open, her foot sends what it meets flying, once per kick.
fn kick(
    world: SpatialQuery,
    poses: CharacterPoses,
    scout: Single<(Entity, &mut Scout, &AnimationController, &Transform)>,
    mut crates: Query<(&ComputedMass, Forces), Without<Scout>>,
) {
    let (entity, mut scout, controller, transform) = scout.into_inner();
    if controller.range("hit").is_none() {
        return;
    }
    let Some(foot) = poses.joint_transform(entity, "toes.R") else {
        return;
    };
    let at = foot.translation();
    let filter = SpatialQueryFilter::from_excluded_entities([entity]);
    for body in world.shape_intersections(&scout.foot, at, Quat::IDENTITY, &filter) {
        if let Ok((mass, mut forces)) = crates.get_mut(body)
            && !scout.kicked.contains(&body)
        {
            scout.kicked.push(body);
            let speed = transform.forward() * 5.0 + Vec3::Y * 1.5;
            forces.apply_linear_impulse_at_point(speed * mass.value(), at);
        }
    }
}

/// The camera goes after Scout.
fn follow(time: Res<Time>, scout: Single<&Transform, With<Scout>>, mut camera: Single<&mut Orbit>) {
    let target = scout.translation + Vec3::Y * 0.95;
    // Up and down more slowly, so that stairs and jumps don't shake the picture.
    let mut now = camera.target;
    now.smooth_nudge(&target, 6.0, time.delta_secs());
    camera.target = target.with_y(now.y);
}

fn caption(
    scout: Single<(&Scout, &AnimationController)>,
    crates: Query<(), (With<yard::Crate>, Without<Sleeping>)>,
    mut caption: ResMut<Caption>,
) {
    let (scout, controller) = *scout;
    let Some(state) = controller.state() else {
        return;
    };
    let speed = scout.velocity.with_y(0.0).length();
    let awake = crates.iter().count();
    caption.set(format!("{state}\n{speed:.1} m/s\ncrates awake: {awake}"));
}
