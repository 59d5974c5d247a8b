//! An orbit camera, controlled by dragging, the wheel and the arrow keys, or by one finger and two.

use super::{Covered, Ground, Stage, around, sky::Sky};
use bevy::{
    input::{
        mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll, MouseScrollUnit},
        touch::Touch,
    },
    light::CascadeShadowConfigBuilder,
    math::Affine2,
    prelude::*,
};
use std::f32::consts::{FRAC_PI_2, PI};

/// In `PostUpdate`, places the camera where its [`Orbit`] says. Systems that follow a character come before, and after what
/// moves the character, or the camera is a frame late.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaceCamera;

/// A camera position around a target.
#[derive(Component, Clone, Copy, Debug)]
pub struct Orbit {
    /// The point it looks at.
    pub target: Vec3,
    /// Distance to the target.
    pub distance: f32,
    /// Angle around the up axis in radians. At 0 it looks along +Z, into the face of a character facing −Z.
    pub yaw: f32,
    /// Angle above the horizon in radians.
    pub pitch: f32,
}

/// Vertical field of view in radians: a long lens, which suits characters.
pub const FIELD_OF_VIEW: f32 = 0.62;

/// Fraction of the free width or height that a framed character fills.
const FILLED: f32 = 0.90;

/// Initial camera position. Insert another one to start elsewhere.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct View(pub Orbit);

impl Default for Orbit {
    fn default() -> Self {
        Self {
            target: Vec3::Y,
            distance: 4.0,
            yaw: -0.45,
            pitch: 0.16,
        }
    }
}

impl Orbit {
    /// Moves the camera so that all points are visible in the part of the picture that isn't `covered`, with some margin,
    /// throughout a turn by `turn` radians.
    pub fn frame(&mut self, points: &[Vec3], aspect: f32, turn: f32, covered: &Covered) {
        const SIDES: u16 = 24;
        let (low, high) = around(points);
        self.target = (low + high) / 2.0;
        let half = (FIELD_OF_VIEW / 2.0).tan() * Vec2::new(aspect, 1.0);
        let (room, aside) = (FILLED * half * covered.room(), half * covered.middle());
        let sides = if turn == 0.0 { 1 } else { SIDES };
        let eyes: Vec<Quat> = (0..sides)
            .map(|side| {
                rotation(
                    self.yaw + turn * f32::from(side) / f32::from(SIDES),
                    self.pitch,
                )
            })
            .collect();
        // Perspective shifts the center of the points on screen depending on the distance, so iterate.
        for _ in 0..4 {
            let target = self.target;
            let seen = || {
                eyes.iter().flat_map(|eye| {
                    let inverse = eye.inverse();
                    let seen = move |point: &Vec3| inverse * (*point - target);
                    // Account for the camera offset that [`place`] adds.
                    points
                        .iter()
                        .map(seen)
                        .map(|at| at + (aside * at.z).extend(0.0))
                })
            };
            let away = |at: Vec3| at.z + (at.xy().abs() / room).max_element();
            self.distance = seen().map(away).fold(1e-3, f32::max);
            let flat = || seen().map(|at| at.xy() / (self.distance - at.z));
            let middle = (flat().reduce(Vec2::min).unwrap_or_default()
                + flat().reduce(Vec2::max).unwrap_or_default())
                / 2.0
                * self.distance;
            self.target.y += middle.y;
            if turn == 0.0 {
                self.target += eyes[0] * Vec3::X * middle.x;
            }
        }
    }
}

/// Keeps a camera framed on a character as the free part of the picture changes, preserving zoom.
#[derive(Component)]
pub struct Framing {
    points: Vec<Vec3>,
    /// Distance at which it fits, once computed.
    fit: Option<f32>,
    /// [`Covered::middle`].
    middle: Vec2,
}

impl Framing {
    pub fn of(points: Vec<Vec3>) -> Self {
        Self {
            points,
            fit: None,
            middle: Vec2::ZERO,
        }
    }
}

pub(super) fn keep_framed(
    mut cameras: Query<(&mut Orbit, &mut Framing, &Projection)>,
    covered: Res<Covered>,
    stage: Res<Stage>,
) {
    for (mut orbit, mut framing, projection) in &mut cameras {
        let Projection::Perspective(perspective) = projection else {
            continue;
        };
        if framing.fit.is_some() && !covered.is_changed() {
            continue;
        }
        let zoom = framing.fit.map_or(1.0, |fit| orbit.distance / fit);
        orbit.frame(
            &framing.points,
            perspective.aspect_ratio,
            stage.turn,
            &covered,
        );
        (framing.fit, framing.middle) = (Some(orbit.distance), covered.middle());
        orbit.distance *= zoom;
    }
}

/// Returns the camera's rotation.
fn rotation(yaw: f32, pitch: f32) -> Quat {
    Quat::from_euler(EulerRot::YXZ, yaw + PI, -pitch, 0.0)
}

pub(super) fn steer(
    mut orbits: Query<&mut Orbit>,
    buttons: Option<Res<ButtonInput<MouseButton>>>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    motion: Option<Res<AccumulatedMouseMotion>>,
    scroll: Option<Res<AccumulatedMouseScroll>>,
    touches: Option<Res<Touches>>,
    time: Res<Time<Real>>,
) {
    let (Some(buttons), Some(keys), Some(motion), Some(scroll)) = (buttons, keys, motion, scroll)
    else {
        return;
    };
    let axis = |minus, plus| f32::from(keys.pressed(plus)) - f32::from(keys.pressed(minus));
    let turn = 1.8 * time.delta_secs();
    let mut yaw = axis(KeyCode::ArrowLeft, KeyCode::ArrowRight) * turn;
    let mut pitch = axis(KeyCode::ArrowDown, KeyCode::ArrowUp) * turn;
    if buttons.pressed(MouseButton::Left) || buttons.pressed(MouseButton::Right) {
        yaw -= motion.delta.x * 0.008;
        pitch += motion.delta.y * 0.006;
    }
    let mut notches = scroll.delta.y
        * if scroll.unit == MouseScrollUnit::Pixel {
            0.01
        } else {
            1.0
        };
    let fingers: Vec<&Touch> = touches.iter().flat_map(|touches| touches.iter()).collect();
    match fingers[..] {
        [one] => {
            yaw -= one.delta().x * 0.008;
            pitch += one.delta().y * 0.006;
        }
        [one, other] => {
            let apart = one.position().distance(other.position());
            notches += (apart - one.previous_position().distance(other.previous_position())) * 0.02;
        }
        _ => {}
    }
    if yaw == 0.0 && pitch == 0.0 && notches == 0.0 {
        return;
    }
    for mut orbit in &mut orbits {
        orbit.yaw += yaw;
        orbit.pitch = (orbit.pitch + pitch).clamp(-FRAC_PI_2 + 0.05, FRAC_PI_2 - 0.05);
        orbit.distance *= 0.88_f32.powf(notches);
    }
}

/// Moves the camera, and scales fog, shadows and ground with the distance.
pub(super) fn place(
    mut cameras: Query<
        (
            &Orbit,
            Option<&Framing>,
            &mut Transform,
            &mut Projection,
            &mut DistanceFog,
        ),
        Changed<Orbit>,
    >,
    mut ground: Query<
        (&mut Transform, &MeshMaterial3d<StandardMaterial>),
        (With<Ground>, Without<Orbit>),
    >,
    mut materials: ResMut<Assets<StandardMaterial>>,
    stage: Res<Stage>,
    mut sky: Query<&mut Transform, (With<Sky>, Without<Orbit>, Without<Ground>)>,
    lights: Query<Entity, With<DirectionalLight>>,
    mut commands: Commands,
    mut first: Local<Option<f32>>,
) {
    for (orbit, framing, mut transform, mut projection, mut fog) in &mut cameras {
        let rotation = rotation(orbit.yaw, orbit.pitch);
        let distance = orbit.distance;
        let mut eye = Vec3::Z;
        if let (Some(framing), Projection::Perspective(perspective)) = (framing, &*projection) {
            // Offset the camera so that its target is centered in the free area.
            let half = (perspective.fov / 2.0).tan() * Vec2::new(perspective.aspect_ratio, 1.0);
            eye -= (framing.middle * half).extend(0.0);
        }
        *transform = Transform::from_translation(orbit.target + rotation * eye * distance)
            .with_rotation(rotation);
        if let Projection::Perspective(perspective) = &mut *projection {
            (perspective.near, perspective.far) = (distance * 0.02, distance * 40.0);
            // About six squares per picture height, with a power of two as their size in meters. In a film, they would jump.
            let usual = match stage.recede {
                1.0 => distance,
                recede => *first.get_or_insert(distance) * recede.sqrt(),
            };
            let height = 2.0 * usual * (perspective.fov / 2.0).tan();
            let square = (height / 6.0).log2().round().exp2();
            for (mut ground, material) in &mut ground {
                ground.scale = Vec3::splat(distance * 6.0);
                if let Some(mut material) = materials.get_mut(material) {
                    material.uv_transform =
                        Affine2::from_scale(Vec2::splat(ground.scale.x / square));
                }
            }
        }
        for mut sky in &mut sky {
            *sky = Transform::from_translation(transform.translation)
                .with_scale(Vec3::splat(distance * 20.0));
        }
        fog.falloff = FogFalloff::Linear {
            start: distance * 1.6,
            end: distance * 5.0,
        };
        let shadows = CascadeShadowConfigBuilder {
            num_cascades: stage.cascades(),
            minimum_distance: distance * 0.05,
            first_cascade_far_bound: distance * 1.4,
            maximum_distance: distance * 4.0,
            ..default()
        };
        for light in &lights {
            commands.entity(light).insert(shadows.build());
        }
    }
}
