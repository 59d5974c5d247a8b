//! Scout walks, jogs, turns and jumps under your control.
//!
//! Speed and turn are the parameters of one blend space, `locomotion`, which her manifest makes of seven clips: two of them
//! mirror images of others. Root motion carries her, so the example only sets the parameters. The jump, and the way back,
//! are switches: the new clip starts at once, and the offset from the old pose decays. Her cheer is borrowed from a rig with other
//! names and proportions. Hold R to go back in time, and let go to walk on from there.
//!
//! Without input, she follows a path of her own.
//!
//! ```text
//! cargo run --example locomotion
//! cargo run --example locomotion --features bevy/bevy_gilrs     # gamepads, too; needs libudev-dev on Linux
//! ```

mod stage;

use bevy::prelude::*;
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{Align2, Color32, Rect, Stroke, StrokeKind, Vec2, vec2},
};
use bevy_marionette::{
    asset::Character,
    character::CharacterSystems,
    controller::Transition,
    model::BlendPoint,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use stage::{Caption, Orbit, Overlay, OverlaySystems, PlaceCamera, StageArgs, View};
use std::time::Duration;

const HELP: &str = "W, S: faster, slower   A, D: turn   Space: jump   C: cheer   or a gamepad: left stick, South, West\n\
                    R: back in time   F1: inspector   drag, arrows: orbit   wheel: zoom";

const SPACE: &str = "locomotion";
/// Meters per second, and degrees per second, at the edge of the blend space.
const FASTEST: f32 = 2.4;
const SHARPEST: f32 = 76.0;

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(5.2, "");
    let mut app = stage::app("locomotion", &args, HELP);
    // F1 shows what is recorded. While you go back, ghosts are where the present is.
    #[cfg(feature = "inspector")]
    {
        use bevy_marionette::inspector::{Inspector, InspectorTab};
        app.add_plugins(MarionetteInspectorPlugin)
            .insert_resource(Inspector {
                tab: InspectorTab::Rewind,
                ghosts: true,
                ..default()
            });
    }
    app.add_plugins(RecorderPlugin)
        .insert_resource(View(Orbit {
            target: Vec3::Y,
            distance: 5.2,
            yaw: 0.5,
            pitch: 0.22,
        }))
        .init_resource::<Drive>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (read_input, drive, rewind, caption).chain())
        .add_systems(
            PostUpdate,
            follow
                .after(CharacterSystems::RootMotion)
                .before(PlaceCamera),
        )
        .add_systems(
            EguiPrimaryContextPass,
            paint_map.in_set(OverlaySystems::Examples),
        )
        .add_observer(land)
        .run();
}

/// What the player, or the path without one, wants.
#[derive(Resource, Default)]
struct Drive {
    speed: f32,
    /// Degrees per second to the left.
    turn: f32,
    action: Option<&'static str>,
    has_player: bool,
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        AnimationController::playing(SPACE),
        RootMotion::default(),
        Transform::from_xyz(0.0, 0.0, 0.5),
    ));
}

fn read_input(
    keys: Res<ButtonInput<KeyCode>>,
    gamepads: Query<&Gamepad>,
    time: Res<Time>,
    mut drive: ResMut<Drive>,
) {
    let held = |key| f32::from(keys.pressed(key));
    let stick = gamepads
        .iter()
        .map(Gamepad::left_stick)
        .find(|stick| stick.length() > 0.1);
    let ahead = held(KeyCode::KeyW) - held(KeyCode::KeyS);
    let aside = held(KeyCode::KeyA) - held(KeyCode::KeyD);
    let pressed = |key, button| {
        keys.just_pressed(key) || gamepads.iter().any(|gamepad| gamepad.just_pressed(button))
    };
    drive.action = match () {
        () if pressed(KeyCode::Space, GamepadButton::South) => Some("jump"),
        () if pressed(KeyCode::KeyC, GamepadButton::West) => Some("cheer"),
        () => None,
    };
    drive.has_player |= stick.is_some() || ahead != 0.0 || aside != 0.0;
    if let Some(stick) = stick {
        (drive.speed, drive.turn) = (stick.y.max(0.0) * FASTEST, -stick.x * SHARPEST);
    } else if drive.has_player {
        drive.speed = (drive.speed + ahead * 1.8 * time.delta_secs()).clamp(0.0, FASTEST);
        drive.turn = aside * SHARPEST;
    } else {
        // From standing to a jog, in curves to either side.
        let t = time.elapsed_secs();
        drive.speed = FASTEST * (0.55 - 0.55 * (0.55 * t).cos()).min(1.0);
        drive.turn = SHARPEST * (0.8 * t).sin();
    }
}

/// Sets the parameters, and switches to what else she does.
fn drive(mut drive: ResMut<Drive>, mut scout: Single<&mut AnimationController>) {
    if let Some(action) = drive.action.take() {
        scout.play_with(action, Transition::switch(Duration::from_millis(150)));
    }
    scout.set_parameters((drive.turn, drive.speed));
    // Whoever moves on stops cheering.
    if scout.is_playing("cheer") && drive.has_player && drive.speed > 0.3 {
        scout.play_with(SPACE, Transition::switch(Duration::from_millis(300)));
    }
}

/// Goes back in time at twice the speed while R is held. Virtual time stands still meanwhile.
fn rewind(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    mut recording: ResMut<Recording>,
    mut back: Local<f32>,
) {
    if keys.pressed(KeyCode::KeyR) {
        // Frames, of which some remain for the next time.
        *back += 2.0 * 60.0 * time.delta_secs();
        let shown = recording.shown().unwrap_or(recording.frames().end);
        recording.show(shown.saturating_sub(*back as u64));
        *back = back.fract();
    } else if keys.just_released(KeyCode::KeyR) {
        recording.continue_here();
    }
}

/// Goes on after a jump.
fn land(finished: On<AnimationFinished>, mut controllers: Query<&mut AnimationController>) {
    if let Ok(mut controller) = controllers.get_mut(finished.entity)
        && &*finished.clip == "jump"
    {
        controller.play_with(SPACE, Transition::switch(Duration::from_millis(300)));
    }
}

fn follow(
    scout: Single<&Transform, (With<SkinnedCharacter>, Without<Orbit>)>,
    mut cameras: Query<&mut Orbit>,
) {
    for mut camera in &mut cameras {
        camera.target = scout.translation + Vec3::Y * 0.95;
    }
}

/// Paints the clips of the blend space as a map, and where its parameters are.
fn paint_map(
    mut overlay: Overlay,
    characters: Res<Assets<Character>>,
    scout: Single<(&SkinnedCharacter, &AnimationController)>,
) {
    const SIZE: f32 = 210.0;
    const BORDER: f32 = 36.0;
    let (handle, controller) = *scout;
    let space = characters
        .get(handle.id())
        .and_then(|character| character.blend_space(SPACE));
    let (Some(painter), Some(space)) = (overlay.painter(), space) else {
        return;
    };
    let corner = painter.clip_rect().max - vec2(18.0, 64.0);
    let map = Rect::from_min_max(corner - Vec2::splat(SIZE), corner);
    let line = Stroke::new(1.0, Color32::from_white_alpha(64));
    painter.rect(
        map,
        6.0,
        Color32::from_black_alpha(140),
        line,
        StrokeKind::Inside,
    );
    let on_map = |point: BlendPoint| {
        let share = vec2(
            0.5 - 0.5 * point.x as f32 / SHARPEST,
            1.0 - point.y as f32 / FASTEST,
        );
        map.min + Vec2::splat(BORDER) + share * (SIZE - 2.0 * BORDER)
    };
    for (clip, at) in space.points() {
        let at = on_map(*at);
        painter.rect_filled(
            Rect::from_center_size(at, Vec2::splat(5.0)),
            0.0,
            Color32::WHITE,
        );
        stage::text(
            &painter,
            at + vec2(0.0, 3.0),
            Align2::CENTER_TOP,
            clip,
            10.0,
            f32::INFINITY,
        );
    }
    let Some(track) = controller.current_track() else {
        return;
    };
    let orange = Color32::from_rgb(255, 199, 77);
    painter.circle_filled(
        on_map(space.nearest(track.parameters())),
        6.0,
        orange.gamma_multiply(0.55),
    );
    painter.circle_filled(on_map(track.smoothed_parameters()), 4.5, orange);
}

fn caption(
    scout: Single<(&SkinnedCharacter, &AnimationController)>,
    characters: Res<Assets<Character>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller) = *scout;
    let Some(character) = characters.get(handle.id()) else {
        return;
    };
    let mut text = format!("plays {}\n", controller.current().unwrap_or("nothing"));
    for layer in controller.layers(character) {
        let Some(clip) = character.clips.get(layer.clip) else {
            continue;
        };
        text += &format!(
            "{:>11} {} {:.2}\n",
            clip.timing.name,
            stage::bar(layer.weight),
            layer.weight
        );
    }
    caption.set(text);
}
