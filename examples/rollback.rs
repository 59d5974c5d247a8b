//! Two peers play the same character, and one of them hears late, or not at all, what the other does.
//!
//! The player sits at one peer and jogs, kicks, and jumps. Every step, a packet with what was changed lately goes to the other
//! peer; it takes an eighth of a second, and a third of all packets are lost. The other peer doesn't wait: it goes on as if nothing
//! had changed, and when it hears of a change, returns to the step before it and plays the steps since again. Both hear each
//! footstep once, and end with the same character, to the bit.
//!
//! ```text
//! cargo run --example rollback
//! ```

use bevy::{app::ScheduleRunnerPlugin, ecs::schedule::ScheduleLabel, log::LogPlugin, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{AnimationRevoked, CharacterFailed, RollbackEvents, WholeCharacter},
    controller::{AnimationController, PlaybackEvent},
    prelude::*,
    record::CharacterSnapshot,
};
use std::{
    collections::{BTreeMap, VecDeque},
    process::ExitCode,
    thread,
    time::Duration,
};

/// The length of a step.
const STEP: Duration = Duration::from_micros(15_625);
/// Steps that are played.
const STEPS: usize = 640;
/// Steps that a packet travels.
const DELAY: usize = 8;
/// Steps whose changes each packet repeats, because those before it may have been lost.
const REPEATED: usize = 32;

/// The schedule of a step. Characters advance in it, as often as the game asks.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct GameStep;

/// What a peer has heard, with the time of each, and how often it had to take something back.
#[derive(Resource, Default)]
struct Heard {
    footsteps: Vec<(String, f64)>,
    revoked: usize,
    failed: Option<String>,
}

/// What the game changed before each step: `CharacterSnapshot::changes_since`, where there are any.
type Changes = BTreeMap<usize, Vec<u8>>;

struct Peer {
    app: App,
    scout: Entity,
    /// What was changed before each step, as far as the peer knows.
    changes: Changes,
    /// The character before the changes of each of the last steps, and where it stood.
    past: VecDeque<(CharacterSnapshot, Transform)>,
    /// The next step.
    step: usize,
    played: usize,
}

impl Peer {
    fn new(mut app: App) -> Self {
        app.add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_once()),
            AssetPlugin::default(),
            TransformPlugin,
            MarionettePlugins::new(GameStep),
        ))
        .init_resource::<Heard>()
        .add_observer(
            |callback: On<AnimationCallback>, mut heard: ResMut<Heard>| {
                if callback.name == "footstep" {
                    heard
                        .footsteps
                        .push((callback.clip.to_string(), callback.time));
                }
            },
        )
        .add_observer(|revoked: On<AnimationRevoked>, mut heard: ResMut<Heard>| {
            if let PlaybackEvent::Callback(callback) = &revoked.event
                && callback.name == "footstep"
            {
                heard.footsteps.retain(|(_, time)| *time != callback.time);
                heard.revoked += 1;
            }
        })
        .add_observer(|failed: On<CharacterFailed>, mut heard: ResMut<Heard>| {
            heard.failed = Some(failed.error.to_string());
        });
        app.finish();
        app.cleanup();
        let model = app
            .world()
            .resource::<AssetServer>()
            .load("adventure/scout_adventure.character.ron");
        let scout = app
            .world_mut()
            .spawn((
                SkinnedCharacter(model),
                RootMotion::default(),
                RollbackEvents::default(),
            ))
            .id();
        Self {
            app,
            scout,
            changes: Changes::new(),
            past: VecDeque::new(),
            step: 0,
            played: 0,
        }
    }

    /// Waits until the character is there.
    fn load(&mut self) -> Result<(), String> {
        while self.controller().state().is_none() {
            self.app.update();
            if let Some(error) = &self.app.world().resource::<Heard>().failed {
                return Err(error.clone());
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn controller(&mut self) -> Mut<'_, AnimationController> {
        self.app
            .world_mut()
            .get_mut(self.scout)
            .expect("Scout is never despawned")
    }

    fn snapshot(&mut self) -> CharacterSnapshot {
        let world = self.app.world_mut();
        let mut characters = world.query::<WholeCharacter>();
        let scout = characters.get(world, self.scout);
        scout.expect("Scout is never despawned").snapshot()
    }

    fn restore(&mut self, snapshot: &CharacterSnapshot, place: Transform) {
        let world = self.app.world_mut();
        let mut characters = world.query::<(WholeCharacter, &mut Transform)>();
        let scout = characters.get_mut(world, self.scout);
        let (mut scout, mut transform) = scout.expect("Scout is never despawned");
        scout.restore(snapshot);
        *transform = place;
    }

    /// Plays a step, after what is known to have been changed before it.
    fn play(&mut self) -> Result<(), String> {
        let before = self.snapshot();
        let place = *self
            .app
            .world()
            .get(self.scout)
            .expect("Scout is somewhere");
        if let Some(bytes) = self.changes.get(&self.step) {
            let world = self.app.world();
            let handle = world.get::<SkinnedCharacter>(self.scout);
            let assets = world.resource::<Assets<Character>>();
            let character = handle.and_then(|handle| assets.get(handle.id()));
            let changed = before.with_changes(bytes, &character);
            self.restore(&changed.map_err(|error| error.to_string())?, place);
        }
        self.past.push_back((before, place));
        if self.past.len() > REPEATED {
            self.past.pop_front();
        }
        let world = self.app.world_mut();
        world.resource_mut::<Time>().advance_by(STEP);
        world.run_schedule(GameStep);
        self.step += 1;
        self.played += 1;
        Ok(())
    }

    /// Hears what was changed before some steps. Returns to the first of them that is new, and plays from there again.
    fn receive(&mut self, packet: Changes) -> Result<bool, String> {
        let mut news = packet
            .into_iter()
            .filter(|(step, _)| !self.changes.contains_key(step));
        let Some(first) = news.next() else {
            return Ok(false);
        };
        let (to, back) = (self.step, first.0);
        self.changes
            .extend([first].into_iter().chain(news.collect::<Vec<_>>()));
        let first_known = self.step - self.past.len();
        let at = back.checked_sub(first_known);
        let at = at.ok_or("a change is older than all snapshots: ask for a new one")?;
        let (snapshot, place) = self.past[at].clone();
        self.past.truncate(at);
        self.restore(&snapshot, place);
        self.step = back;
        while self.step < to {
            self.play()?;
        }
        Ok(true)
    }
}

/// What the player does before a step.
fn control(step: usize, controller: &mut AnimationController) {
    match step {
        20 => controller.set_parameters(3.0_f32),
        300 => controller.set_parameters((2.0_f32, 0.4_f32)),
        560 => controller.set_parameters(0.0_f32),
        _ => {}
    }
    let state = match step {
        110 | 226 | 343 | 455 => "kick",
        400 => "hurt",
        600 => "cheer",
        _ => return,
    };
    // What can't be done now isn't.
    let _ = controller.go(state);
}

fn run() -> Result<(), String> {
    // One log for both.
    let mut app = App::new();
    app.add_plugins(LogPlugin::default());
    let (mut here, mut there) = (Peer::new(app), Peer::new(App::new()));
    here.load()?;
    there.load()?;
    // Both begin with the same character.
    let (start, place) = (here.snapshot(), Transform::default());
    there.restore(&start, place);
    let mut travelling: VecDeque<(usize, Changes)> = VecDeque::new();
    let (mut lost, mut sent, mut bytes, mut rollbacks) = (0_u32, 0, 0, 0);
    let mut luck = 1_u32;
    for step in 0..STEPS + DELAY + REPEATED {
        if step < STEPS {
            let before = here.snapshot();
            let mut now = before.clone();
            control(step, &mut now.controller);
            // The step makes them, here as there.
            let changes = now.changes_since(&before);
            if !changes.is_empty() {
                println!("step {step:3}: {} bytes", changes.len());
                bytes += changes.len();
                here.changes.insert(step, changes);
            }
            here.play()?;
            there.play()?;
        }
        let lately = here
            .changes
            .range(step.saturating_sub(REPEATED - DELAY - 4)..);
        let packet: Changes = lately.map(|(at, bytes)| (*at, bytes.clone())).collect();
        luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if (luck >> 16).is_multiple_of(3) {
            lost += 1;
        } else {
            travelling.push_back((step + DELAY, packet));
        }
        sent += 1;
        while travelling.front().is_some_and(|(at, _)| *at <= step) {
            let (_, packet) = travelling.pop_front().unwrap_or_default();
            rollbacks += usize::from(there.receive(packet)?);
        }
    }
    println!("{lost} of {sent} packets were lost; all changes were {bytes} bytes");
    println!(
        "the other peer went back {rollbacks} times, and played {} steps again",
        there.played - STEPS
    );
    let hashes = [here.snapshot().hash(), there.snapshot().hash()];
    let heard = there.app.world().resource::<Heard>();
    let own = here.app.world().resource::<Heard>();
    println!(
        "footsteps: {} here, {} there, and {} more that were taken back",
        own.footsteps.len(),
        heard.footsteps.len(),
        heard.revoked
    );
    let mut theirs = heard.footsteps.clone();
    theirs.sort_by(|a, b| a.1.total_cmp(&b.1));
    if hashes[0] != hashes[1] || theirs != own.footsteps {
        return Err("the peers differ".into());
    }
    println!("both peers have the same character: {:016x}", hashes[0]);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
