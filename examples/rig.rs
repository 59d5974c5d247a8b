//! An arm and a leg that reach for goals, with poles for elbow and knee.
//!
//! [`IkGoal`] makes a limb reach for an entity. Which joints are a limb is in the manifest, so the example only places
//! what they reach for: a ball for the hand, a crate for the foot. Each goal's [`IkWeight`] fades between the clips and
//! the goal. [`LookAt`] turns the head.
//!
//! ```text
//! cargo run --example rig
//! ```

mod stage;

use bevy::{light::NotShadowCaster, prelude::*};
use bevy_marionette::{
    character::{IkLimb, IkWeight, LookAt, LookTarget},
    prelude::*,
    rig::RigState,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "space: goals on, off   M: other side   L: look at the ball   P: poles\n\
                    drag, arrows: orbit   wheel: zoom";

const FADE: Duration = Duration::from_millis(500);

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(4.3, "");
    stage::app("rig", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.95,
            distance: 3.6,
            yaw: -0.65,
            pitch: 0.12,
        }))
        .init_resource::<Lesson>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, fade, swing, lines, caption).chain())
        .run();
}

/// What the keys have chosen.
#[derive(Resource)]
struct Lesson {
    /// Whether the limbs reach for their goals.
    reaches: bool,
    /// Whether the limbs of the left side do.
    left: bool,
    /// Whether elbow and knee face their poles.
    poles: bool,
}

impl Default for Lesson {
    fn default() -> Self {
        Self {
            reaches: true,
            left: true,
            poles: true,
        }
    }
}

/// What a limb reaches for.
#[derive(Component, Clone, Copy)]
struct Goal {
    part: Part,
    /// 1 on the left, −1 on the right: the character faces −Z, so its left is −X.
    side: f32,
    pole: Entity,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Hand,
    Foot,
}

impl Goal {
    /// The limb's name in the manifest.
    fn limb(self) -> &'static str {
        match (self.part, self.side > 0.0) {
            (Part::Hand, true) => "left_hand",
            (Part::Hand, false) => "right_hand",
            (Part::Foot, true) => "left_foot",
            (Part::Foot, false) => "right_foot",
        }
    }
}

/// The ball that the hands reach for.
#[derive(Component)]
struct Ball;

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let ball = materials.add(StandardMaterial {
        base_color: Color::srgb(0.90, 0.34, 0.18),
        ..default()
    });
    let ball = commands
        .spawn((
            Ball,
            Mesh3d(meshes.add(Sphere::new(0.05))),
            MeshMaterial3d(ball),
            Transform::default(),
        ))
        .id();
    let scout = commands
        .spawn((
            SkinnedCharacter(assets.load("scout/scout.character.ron")),
            AnimationController::playing("idle"),
            LookAt::entity(ball),
        ))
        .id();
    let wood = materials.add(StandardMaterial {
        base_color: Color::srgb(0.42, 0.29, 0.17),
        ..default()
    });
    let crate_mesh = meshes.add(Cuboid::new(0.30, CRATE, 0.30));
    let marker = meshes.add(Sphere::new(0.022));
    let blue = materials.add(StandardMaterial {
        base_color: Color::srgb(0.25, 0.62, 0.95),
        unlit: true,
        ..default()
    });
    for side in [1.0, -1.0] {
        let at = Vec3::new(-0.20 * side, 0.5 * CRATE, -0.34);
        commands.spawn((
            Mesh3d(crate_mesh.clone()),
            MeshMaterial3d(wood.clone()),
            Transform::from_translation(at),
        ));
        for (part, pole) in [
            (Part::Hand, Vec3::new(-0.75 * side, 0.85, 0.25)),
            (Part::Foot, Vec3::new(-0.35 * side, 0.75, -1.1)),
        ] {
            let look = (
                Mesh3d(marker.clone()),
                MeshMaterial3d(blue.clone()),
                NotShadowCaster,
            );
            let pole = commands
                .spawn((look, Transform::from_translation(pole)))
                .id();
            let goal = Goal { part, side, pole };
            let weight = if side > 0.0 { 1.0 } else { 0.0 };
            let limb = IkLimb::named(goal.limb()).pole(goal.pole);
            commands.spawn((
                goal,
                IkGoal(scout),
                limb,
                IkWeight::new(weight),
                Transform::default(),
            ));
        }
    }
}

/// Height of the crates.
const CRATE: f32 = 0.26;
/// Height of the ankle above the sole.
const ANKLE: f32 = 0.09;

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut lesson: ResMut<Lesson>,
    mut look: Single<&mut LookAt>,
    ball: Single<Entity, With<Ball>>,
) {
    if keys.just_pressed(KeyCode::Space) {
        lesson.reaches = !lesson.reaches;
    }
    if keys.just_pressed(KeyCode::KeyM) {
        lesson.left = !lesson.left;
    }
    if keys.just_pressed(KeyCode::KeyP) {
        lesson.poles = !lesson.poles;
    }
    if keys.just_pressed(KeyCode::KeyL) {
        look.target = match look.target {
            LookTarget::Nothing => LookTarget::Entity(*ball),
            _ => LookTarget::Nothing,
        };
    }
}

/// Fades the goals in and out, and tells them about their poles.
fn fade(
    lesson: Res<Lesson>,
    mut had_poles: Local<Option<bool>>,
    mut goals: Query<(&Goal, &mut IkLimb, &mut IkWeight)>,
) {
    if !lesson.is_changed() || lesson.is_added() {
        return;
    }
    let poles_changed = had_poles.replace(lesson.poles) != Some(lesson.poles);
    for (goal, mut limb, mut weight) in &mut goals {
        let is_on = lesson.reaches && lesson.left == (goal.side > 0.0);
        weight.fade_to(if is_on { 1.0 } else { 0.0 }, FADE);
        if poles_changed {
            limb.pole = lesson.poles.then_some(goal.pole);
        }
    }
}

/// Moves the ball, and the goals with it. Any system that moves entities will do.
fn swing(
    time: Res<Time>,
    lesson: Res<Lesson>,
    mut side: Local<Option<f32>>,
    mut ball: Single<&mut Transform, With<Ball>>,
    mut goals: Query<(&Goal, &mut Transform), Without<Ball>>,
) {
    let (wanted, angle) = (
        if lesson.left { 1.0 } else { -1.0 },
        1.7 * time.elapsed_secs(),
    );
    let side = side.get_or_insert(wanted);
    side.smooth_nudge(&wanted, 4.0, time.delta_secs());
    let path = |side: f32| {
        let (sin, cos) = angle.sin_cos();
        Vec3::new(
            -side * (0.26 + 0.16 * cos),
            1.32 + 0.20 * sin,
            -0.40 + 0.06 * cos,
        )
    };
    ball.translation = path(*side);
    for (goal, mut transform) in &mut goals {
        transform.translation = match goal.part {
            // The wrist stays a hand's length below the ball.
            Part::Hand => path(goal.side) - Vec3::new(0.0, 0.08, -0.06),
            Part::Foot => {
                let tap = (0.5 * angle).sin().max(0.0) * 0.12;
                Vec3::new(-0.18 * goal.side, CRATE + ANKLE + tap, -0.30)
            }
        };
    }
}

/// Draws lines from elbow and knee to their poles.
fn lines(
    lesson: Res<Lesson>,
    goals: Query<(&Goal, &IkGoal, &IkWeight)>,
    places: Query<&GlobalTransform>,
    poses: CharacterPoses,
    mut gizmos: Gizmos,
) {
    for (goal, reach, weight) in goals.iter().filter(|_| lesson.poles) {
        let side = if goal.side > 0.0 { "L" } else { "R" };
        let joint = match goal.part {
            Part::Hand => format!("forearm.{side}"),
            Part::Foot => format!("shin.{side}"),
        };
        let (Some(joint), Ok(pole)) = (
            poses.joint_transform(reach.0, &joint),
            places.get(goal.pole),
        ) else {
            continue;
        };
        let color = Color::srgba(0.25, 0.62, 0.95, weight.weight);
        gizmos.line(joint.translation(), pole.translation(), color);
    }
}

fn caption(
    lesson: Res<Lesson>,
    goals: Query<(&Goal, &IkWeight)>,
    look: Single<(&LookAt, &RigState)>,
    mut caption: ResMut<Caption>,
) {
    let weight = |part, left: bool| {
        let mut of = goals
            .iter()
            .filter(|(goal, _)| goal.part == part && left == (goal.side > 0.0));
        of.next().map_or(0.0, |(_, weight)| weight.weight)
    };
    let side = if lesson.left { "left" } else { "right" };
    let [hand, foot] = [Part::Hand, Part::Foot].map(|part| stage::bar(weight(part, lesson.left)));
    let (look, state) = *look;
    let turn = match look.target {
        LookTarget::Nothing => "looks ahead".to_owned(),
        _ => {
            // Adding 0 turns -0 into 0.
            let [aside, up] = (state.look_turn() * Vec2::new(-1.0, 1.0))
                .to_array()
                .map(|turn| turn.to_degrees().round() + 0.0);
            format!("looks {aside:+.0} degrees aside, {up:+.0} up")
        }
    };
    let poles = if lesson.poles {
        "facing their poles"
    } else {
        "without poles"
    };
    caption.set(format!(
        "{side} hand  {hand}\n{side} foot  {foot}  {poles}\nhead  {turn}"
    ));
}
