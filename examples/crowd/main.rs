//! Thousands of characters, and the cost of each stage of a frame, compared with `bevy_animation`.
//!
//! Press Tab to play the same crowd with `bevy_animation`: an entity per joint, and the same skeleton, clips and skin. The
//! graph shows the milliseconds that recent frames spent on animation, stage by stage, not including drawing.
//!
//! ```text
//! cargo run --example crowd -- --count 4000
//! cargo run --example crowd -- --table 200     # no window: print a table of both sides
//! cargo run --example crowd -- --table 200 --lod   # what a level of detail saves
//! cargo run --example crowd -- --costs         # no picture: print what both sides cost (works on the web, too)
//! ```

#[path = "../stage/mod.rs"]
mod stage;

mod graph;
#[cfg(not(target_arch = "wasm32"))]
mod headless;
mod joints;
mod simplify;
mod stages;
#[cfg(not(target_arch = "wasm32"))]
mod table;

use bevy::{
    camera::visibility::VisibilitySystems, ecs::system::SystemParam,
    mesh::skinning::SkinnedMeshInverseBindposes, prelude::*,
};
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, PoseSharing},
    controller::AnimationTrack,
    prelude::*,
};
use clap::Parser;
use joints::JointCharacter;
use stage::{Capture, Orbit, Stage, StageArgs, View};
use stages::{StageClockPlugin, see_everything};

const HELP: &str = "Tab: ours or bevy_animation   plus, minus: more, fewer   Space: pause   R: level of detail   \
                    S: share poses\ndrag, arrows: orbit   wheel: zoom";

/// Shows a large crowd and what it costs.
#[derive(Parser)]
struct Args {
    /// Initial number of characters [default: 2000, or 400 headless]
    #[arg(long)]
    count: Option<usize>,
    /// Measure this many frames of each side without a window, print a table, and exit
    #[arg(long, value_name = "FRAMES")]
    table: Option<usize>,
    /// With `--table`: measure what a level of detail saves at several distances instead
    #[arg(long, requires = "table")]
    lod: bool,
    /// Run without a window, but print what each side costs instead of drawing a picture
    #[arg(long)]
    costs: bool,
    /// Draw characters far from the middle with fewer triangles, for slow renderers
    #[arg(long)]
    simplify: bool,
    #[command(flatten)]
    stage: StageArgs,
}

pub fn main() {
    let args: Args = stage::arguments();
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(frames) = args.table {
        let count = args.count.unwrap_or(1000);
        return if args.lod {
            table::print_lod(count, frames)
        } else {
            table::print(count, frames)
        };
    }
    let mut stage = args
        .stage
        .clone()
        .with_headless_defaults(1.9, "Tab@0.4 Tab@0.9");
    if args.costs {
        stage.headless.get_or_insert_default();
    }
    let mut app = stage::app("crowd", &stage, HELP);
    let pictured = app.world().resource::<Stage>().headless;
    let count = args.count.unwrap_or(if pictured { 400 } else { 2000 });
    if pictured {
        // Nothing is drawn until the picture is taken, but poses must be evaluated.
        app.add_systems(
            PostUpdate,
            see_everything.in_set(VisibilitySystems::CheckVisibility),
        );
    }
    if args.costs || !stage.bare {
        app.add_plugins(graph::GraphPlugin { costs: args.costs });
    }
    app.add_plugins(StageClockPlugin { stages: true })
        .insert_resource(Crowd {
            count,
            side: Side::Ours,
            simplify: args.simplify,
            all: Vec::new(),
        })
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 0.9, 1.5),
            distance: 13.0,
            yaw: -0.32,
            pitch: 0.3,
        }))
        .add_systems(Update, (load, keys, follow).chain())
        .run();
}

/// Who plays the crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Bevys,
}

/// The desired number of characters, who plays them, and the ones that exist.
#[derive(Resource)]
pub struct Crowd {
    count: usize,
    side: Side,
    simplify: bool,
    all: Vec<Entity>,
}

/// Scout in four jackets, for each side.
#[derive(Resource, Default)]
struct Scouts {
    ours: Vec<Handle<Character>>,
    /// Ours with fewer triangles, for each of [`FAR`].
    simple: [Vec<Handle<Character>>; FAR.len()],
    bevys: Vec<JointCharacter>,
}

/// The assets needed to create a character.
#[derive(SystemParam)]
struct Workshop<'w> {
    characters: ResMut<'w, Assets<Character>>,
    materials: ResMut<'w, Assets<StandardMaterial>>,
    meshes: ResMut<'w, Assets<Mesh>>,
    clips: ResMut<'w, Assets<AnimationClip>>,
    graphs: ResMut<'w, Assets<AnimationGraph>>,
    inverse_bindposes: ResMut<'w, Assets<SkinnedMeshInverseBindposes>>,
}

/// Jacket tints. The first leaves the texture unchanged.
const JACKETS: [Color; 4] = [
    Color::WHITE,
    Color::srgb(0.95, 0.62, 0.30),
    Color::srgb(0.42, 0.62, 1.0),
    Color::srgb(0.95, 0.42, 0.42),
];

/// Meters from the middle from which on characters can be simplified, and the size of details that are left.
const FAR: [(f32, f32); 3] = [(3.5, 0.02), (8.0, 0.045), (20.0, 0.1)];

impl Workshop<'_> {
    /// Creates the variants once the model is loaded.
    fn scouts(&mut self, model: &Handle<Character>, simplify: bool) -> Option<Scouts> {
        let model = self.characters.get(model)?.clone();
        let mut scouts = Scouts::default();
        for tint in JACKETS {
            let mut character = model.clone();
            // Bevy's side has none.
            let mut rig = character.rig().clone();
            rig.springs.clear();
            character.set_rig(rig);
            for part in character
                .parts
                .iter_mut()
                .filter(|part| part.name.contains("jacket"))
            {
                let material = self.materials.get(&part.material)?.clone();
                part.material = self.materials.add(StandardMaterial {
                    base_color: tint,
                    ..material
                });
            }
            let bevys = JointCharacter::new(
                &character,
                &mut self.clips,
                &mut self.graphs,
                &mut self.inverse_bindposes,
            );
            scouts.bevys.push(bevys);
            for ((_, cell), simple) in FAR.iter().zip(&mut scouts.simple).filter(|_| simplify) {
                let mut character = character.clone();
                for part in &mut character.parts {
                    let mesh = simplify::simplified(self.meshes.get(&part.mesh)?, *cell)?;
                    part.mesh = self.meshes.add(mesh);
                    part.morphs = default();
                }
                simple.push(self.characters.add(character));
            }
            scouts.ours.push(self.characters.add(character));
        }
        Some(scouts)
    }
}

fn load(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut workshop: Workshop,
    scouts: Option<Res<Scouts>>,
    crowd: Res<Crowd>,
    mut capture: Option<ResMut<Capture>>,
    mut model: Local<Option<Handle<Character>>>,
) {
    if scouts.is_some() {
        return;
    }
    let model = model.get_or_insert_with(|| assets.load("scout/scout.character.ron"));
    let ready = assets.is_loaded_with_dependencies(&*model);
    if let Some(capture) = &mut capture {
        capture.waiting = !ready;
    }
    if ready && let Some(scouts) = workshop.scouts(model, crowd.simplify) {
        commands.insert_resource(scouts);
    }
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    mut crowd: ResMut<Crowd>,
    mut time: ResMut<Time<Virtual>>,
    mut sharing: ResMut<PoseSharing>,
    mut reduced: Local<bool>,
) {
    if keys.just_pressed(KeyCode::Tab) {
        crowd.side = if crowd.side == Side::Ours {
            Side::Bevys
        } else {
            Side::Ours
        };
        for entity in crowd.all.drain(..) {
            commands.entity(entity).despawn();
        }
    }
    if keys.just_pressed(KeyCode::Equal) {
        crowd.count = (crowd.count * 5 / 4).max(crowd.count + 1);
    }
    if keys.just_pressed(KeyCode::Minus) {
        crowd.count = crowd.count * 4 / 5;
    }
    if keys.just_pressed(KeyCode::Space) {
        if time.is_paused() {
            time.unpause()
        } else {
            time.pause()
        }
    }
    if keys.just_pressed(KeyCode::KeyS) {
        *sharing = if *sharing == PoseSharing::Off {
            PoseSharing::Steps(30.0)
        } else {
            PoseSharing::Off
        };
    }
    if keys.just_pressed(KeyCode::KeyR) {
        *reduced = !*reduced;
        for &entity in &crowd.all {
            if *reduced {
                commands.entity(entity).insert(AnimationLod::default());
            } else {
                commands.entity(entity).remove::<AnimationLod>();
            }
        }
    }
}

/// Spawns and despawns characters to match the desired number.
fn follow(mut commands: Commands, mut crowd: ResMut<Crowd>, scouts: Option<Res<Scouts>>) {
    let Some(scouts) = scouts else { return };
    while crowd.all.len() > crowd.count {
        if let Some(last) = crowd.all.pop() {
            commands.entity(last).despawn();
        }
    }
    let side = crowd.side;
    for i in crowd.all.len()..crowd.count {
        crowd.all.push(scouts.spawn(&mut commands, i, side));
    }
}

impl Scouts {
    /// Spawns the n-th character, the same on each side.
    fn spawn(&self, commands: &mut Commands, n: usize, side: Side) -> Entity {
        let mut rng = fastrand::Rng::with_seed(n as u64);
        let (pace, speed) = (rng.f32(), 0.85 + 0.3 * rng.f64());
        let plays = [
            ("walk", 1.0 - pace, 3.0 * rng.f64(), speed),
            ("jog", pace, 3.0 * rng.f64(), speed),
        ];
        let jitter = Vec3::new(rng.f32() - 0.5, 0.0, rng.f32() - 0.5) * 0.35;
        let turn = Quat::from_rotation_y((rng.f32() - 0.5) * 0.4);
        let place = Transform::from_translation(place(n) + jitter).with_rotation(turn);
        let jacket = rng.u64(..JACKETS.len() as u64) as usize;
        let far = FAR.iter().zip(&self.simple).rev();
        let mut far = far
            .filter(|((from, _), simple)| place.translation.length() > *from && !simple.is_empty());
        let ours = far.next().map_or(&self.ours, |(_, simple)| simple);
        match side {
            Side::Ours => {
                let mut controller = AnimationController::default();
                for (clip, weight, start, speed) in plays {
                    controller.add_track(
                        AnimationTrack::new(clip)
                            .weight(weight)
                            .starting_at(start)
                            .speed(speed),
                    );
                }
                commands
                    .spawn((SkinnedCharacter(ours[jacket].clone()), controller, place))
                    .id()
            }
            Side::Bevys => self.bevys[jacket].spawn(commands, place, &plays),
        }
    }
}

/// Position of the n-th character: a sunflower spiral, which is even and has no rows.
fn place(n: usize) -> Vec3 {
    let (radius, angle) = (0.62 * (n as f32).sqrt(), n as f32 * 2.399_963);
    Vec3::new(radius * angle.cos(), 0.0, radius * angle.sin())
}
