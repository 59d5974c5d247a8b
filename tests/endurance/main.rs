//! A long session of an app at high speed: characters are spawned, despawned, swapped, faded, sought and reloaded at
//! random, some from damaged files. Nothing may panic, leak or miss a callback.
//!
//! To run the long version, 500 characters for 30 simulated minutes:
//!
//! ```sh
//! cargo test --test endurance -- --ignored --nocapture
//! ```

#[allow(dead_code)]
#[path = "../app/support.rs"]
mod support;

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_marionette::{
    asset::{Character, CharacterLoaderSettings},
    character::PartOf,
    controller::{AnimationTrack, BlendMode, TrackId},
    internals::{
        format::{m3d, md5},
        import::{to_m3d, to_md5_anim, to_md5_mesh},
    },
    prelude::*,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    fs,
    path::Path,
    sync::atomic::{AtomicIsize, Ordering::Relaxed},
    time::{Duration, Instant},
};
use support::*;
use tempfile::TempDir;

/// The system's allocator, counting the bytes in use.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MANIFEST: &str = r#"(
    model: "chain.md5mesh",
    clips: {
        "walk": (file: "walk.md5anim", playback: PingPong, callbacks: [(time: 0.25, name: "footstep", data: "left")]),
        "idle": (file: "idle.md5anim"),
    },
    masks: { "arm": (roots: ["elbow"]) },
)"#;

fn write(folder: &Path, file: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(file), bytes).unwrap();
}

/// Writes the chain in both formats, two clips and a manifest.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = chain(&clips());
    write(folder.path(), "chain.m3d", m3d::write(&to_m3d(&model)));
    write(
        folder.path(),
        "chain.md5mesh",
        md5::write_mesh(&to_md5_mesh(&model)),
    );
    for clip in model
        .clips
        .iter()
        .filter(|clip| ["walk", "idle"].contains(&&*clip.timing.name))
    {
        let anim = to_md5_anim(clip, &model.skeleton);
        write(
            folder.path(),
            &format!("{}.md5anim", clip.timing.name),
            md5::write_anim(&anim),
        );
    }
    write(folder.path(), "one.character.ron", MANIFEST);
    folder
}

/// Callbacks received, by track.
#[derive(Resource, Default)]
struct Tally(HashMap<(Entity, TrackId), u64>);

/// A character whose callbacks are predictable, whatever happens to it: its `walk` fires at 0.25 s and 0.75 s of each
/// second, forward and backward.
struct Witness {
    entity: Entity,
    track: TrackId,
    /// Its unwrapped position when something last happened to it; `at` is when that was.
    position: f64,
    at: f64,
    speed: f64,
    /// Callbacks expected until then.
    due: u64,
}

impl Witness {
    /// Counts the callbacks expected until `now`.
    fn follow(&mut self, now: f64) {
        let before = |position: f64| (position - 0.25).floor() + (position - 0.75).floor();
        let position = self.position + self.speed * (now - self.at);
        self.due += (before(position) - before(self.position)).abs() as u64;
        (self.position, self.at) = (position, now);
    }
}

struct Run {
    app: TestApp,
    folder: TempDir,
    random: fastrand::Rng,
    /// Loaded from files, and built in code.
    handles: [Handle<Character>; 3],
    /// Two characters with the same clips, for the witnesses.
    in_code: [Handle<Character>; 2],
    actors: Vec<Entity>,
    witnesses: Vec<Witness>,
    now: f64,
    reloads: usize,
    broken: usize,
    heard: u64,
    /// Callbacks of witnesses that were expected and received.
    expected: u64,
}

const NAMES: [&str; 6] = ["walk", "jump", "swing", "pose", "idle", "no such clip"];

impl Run {
    fn new(characters: usize) -> Self {
        let folder = folder();
        let mut app = TestApp::with_files(folder.path());
        app.world().init_resource::<Tally>();
        app.app
            .add_observer(|e: On<AnimationCallback>, mut tally: ResMut<Tally>| {
                *tally.0.entry((e.entity, e.track)).or_default() += 1;
            });
        let from_file: Handle<Character> = app.server().load("one.character.ron");
        let settings = |settings: &mut CharacterLoaderSettings| settings.import.scale = 2.0;
        let scaled: Handle<Character> = app
            .server()
            .load_builder()
            .with_settings(settings)
            .load("chain.m3d");
        let in_code = [(); 2].map(|()| app.add(chain(&clips()), &manifest()));
        app.wait_for(&from_file);
        app.wait_for(&scaled);
        let mut run = Self {
            app,
            folder,
            random: fastrand::Rng::with_seed(6),
            handles: [in_code[0].clone(), from_file, scaled],
            in_code,
            actors: Vec::new(),
            witnesses: Vec::new(),
            now: 0.0,
            reloads: 0,
            broken: 0,
            heard: 0,
            expected: 0,
        };
        // Load a broken file before measuring: the standard library keeps the symbols that it looks up for the
        // error's backtrace.
        (0..2).for_each(|_| run.reload());
        run.app
            .wait("the error", |_| !logged("one.character.ron").is_empty());
        // Anything may happen to every second character; the callbacks of the others are predictable.
        for _ in 0..characters / 2 {
            run.spawn();
            let witness = run.witness();
            run.witnesses.push(witness);
        }
        run
    }

    fn witness(&mut self) -> Witness {
        let controller = AnimationController::playing("walk");
        let track = controller.current_track().unwrap().id();
        let entity = self.app.spawn_with(&self.in_code[0].clone(), controller);
        Witness {
            entity,
            track,
            position: 0.0,
            at: self.now,
            speed: 1.0,
            due: 0,
        }
    }

    fn spawn(&mut self) {
        let handle = self.random.choice(&self.handles).unwrap().clone();
        let clip = *self.random.choice(&NAMES).unwrap();
        let entity = self.app.spawn(&handle, clip);
        self.actors.push(entity);
    }

    /// Runs a frame in which a few things happen to random characters.
    fn frame(&mut self) {
        for _ in 0..1 + self.actors.len() / 100 {
            self.happen();
            self.happen_to_a_witness();
        }
        let dt = if self.random.u32(..300) == 0 {
            2.0
        } else {
            0.01 + 0.05 * self.random.f64()
        };
        // Whole nanoseconds, like Bevy's time.
        let dt = (dt * 1e9).round() * 1e-9;
        self.now += dt;
        self.app.update(dt);
        let mut heard = self.app.world().resource_mut::<Heard>();
        self.heard += heard.observed.len() as u64;
        heard.observed.clear();
        heard.messages.clear();
        heard.ready.clear();
    }

    fn happen(&mut self) {
        let index = self.random.usize(..self.actors.len());
        let entity = self.actors[index];
        let clip = *self.random.choice(&NAMES).unwrap();
        let share = self.random.f32();
        match self.random.u32(..12) {
            0 => {
                self.app.world().entity_mut(entity).despawn();
                self.actors.swap_remove(index);
                self.spawn();
            }
            1 => {
                let other = self.random.choice(&self.handles).unwrap().clone();
                self.app
                    .world()
                    .get_mut::<SkinnedCharacter>(entity)
                    .unwrap()
                    .0 = other;
            }
            2 => {
                let seconds = Duration::from_secs_f32(share);
                self.app.controller(entity).cross_fade(clip, seconds);
            }
            3 => {
                let mut controller = self.app.controller(entity);
                if let Some(track) = controller.current_track_mut() {
                    track.seek(f64::from(share) * 10.0 - 5.0);
                }
            }
            4 => {
                let mut controller = self.app.controller(entity);
                if controller.tracks().count() < 5 {
                    let mode =
                        [BlendMode::Blend, BlendMode::Additive, BlendMode::Override][index % 3];
                    let mask = ["arm", "unknown"][index % 2];
                    controller.add_track(
                        AnimationTrack::new(clip)
                            .weight(share)
                            .blend(mode)
                            .mask(mask),
                    );
                }
            }
            5 => {
                self.app.controller(entity).play(clip);
            }
            6 => {
                self.app
                    .controller(entity)
                    .queue_mut()
                    .extend([clip, "idle"]);
            }
            7 => {
                let visible = if share < 0.5 {
                    Visibility::Hidden
                } else {
                    Visibility::Inherited
                };
                self.app.world().entity_mut(entity).insert(visible);
            }
            8 => {
                let handle = self
                    .app
                    .world()
                    .get::<SkinnedCharacter>(entity)
                    .unwrap()
                    .clone();
                self.app
                    .world()
                    .entity_mut(entity)
                    .remove::<SkinnedCharacter>()
                    .insert(handle);
            }
            9 => {
                self.app
                    .world()
                    .entity_mut(entity)
                    .insert(AnimationController::playing(clip));
            }
            10 => {
                self.app
                    .world()
                    .spawn((AttachedTo(entity), AtSocket::new("hand")));
            }
            _ if self.random.u32(..20) == 0 => self.reload(),
            _ => self
                .app
                .controller(entity)
                .set_speed(f64::from(share) * 4.0 - 2.0),
        }
    }

    /// Does something that changes a witness's position, or something that must not.
    fn happen_to_a_witness(&mut self) {
        let index = self.random.usize(..self.witnesses.len());
        let witness = &mut self.witnesses[index];
        let entity = witness.entity;
        witness.follow(self.now);
        let share = self.random.f64();
        match self.random.u32(..9) {
            0 => {
                witness.position = share * 20.0 - 10.0;
                let position = witness.position;
                self.app
                    .controller(entity)
                    .current_track_mut()
                    .unwrap()
                    .seek(position);
            }
            1 | 2 => {
                witness.speed = share * 4.0 - 2.0;
                let speed = witness.speed;
                self.app.controller(entity).set_speed(speed);
            }
            3 => {
                let visible = if share < 0.5 {
                    Visibility::Hidden
                } else {
                    Visibility::Inherited
                };
                self.app.world().entity_mut(entity).insert(visible);
            }
            4 => {
                let other = self.random.choice(&self.in_code).unwrap().clone();
                self.app
                    .world()
                    .get_mut::<SkinnedCharacter>(entity)
                    .unwrap()
                    .0 = other;
            }
            5 => {
                let handle = self
                    .app
                    .world()
                    .get::<SkinnedCharacter>(entity)
                    .unwrap()
                    .clone();
                self.app
                    .world()
                    .entity_mut(entity)
                    .remove::<SkinnedCharacter>()
                    .insert(handle);
            }
            6 => {
                let mut controller = self.app.controller(entity);
                if controller.tracks().count() < 4 {
                    let mode =
                        [BlendMode::Blend, BlendMode::Additive, BlendMode::Override][index % 3];
                    controller.add_track(
                        AnimationTrack::new("swing")
                            .weight(share as f32)
                            .blend(mode)
                            .mask("arm"),
                    );
                }
            }
            7 => {
                self.app
                    .world()
                    .spawn((AttachedTo(entity), AtSocket::new("hand")));
            }
            _ => {
                self.check_witness(index);
                self.app.world().entity_mut(entity).despawn();
                self.witnesses[index] = self.witness();
            }
        }
    }

    /// Checks that a witness received as many callbacks as expected.
    fn check_witness(&mut self, index: usize) {
        let now = self.now;
        let witness = &mut self.witnesses[index];
        witness.follow(now);
        let key = (witness.entity, witness.track);
        let heard = self
            .app
            .world()
            .resource_mut::<Tally>()
            .0
            .get(&key)
            .copied()
            .unwrap_or(0);
        assert_eq!(
            heard, self.witnesses[index].due,
            "callbacks of witness {index} after {now} s"
        );
        self.expected += heard;
        // Start over, because the entity may be despawned.
        self.app.world().resource_mut::<Tally>().0.remove(&key);
        self.witnesses[index].due = 0;
    }

    /// Saves a file again. One time in a hundred (and the second time, so that short runs include it), the file is
    /// truncated or corrupted.
    fn reload(&mut self) {
        self.reloads += 1;
        let mut text = MANIFEST
            .replace("0.25", &format!("{:.2}", 0.1 + 0.8 * self.random.f64()))
            .into_bytes();
        if self.random.u32(..100) == 0 || self.reloads == 2 {
            self.broken += 1;
            let at = self.random.usize(10..text.len());
            if self.random.bool() {
                text.truncate(at);
            } else {
                text[at] = b"){,\xff"[self.random.usize(..4)];
            }
        }
        write(self.folder.path(), "one.character.ron", text);
        self.app.server().reload("one.character.ron");
    }

    /// Returns the bytes in use when all pending work is done.
    fn in_use(&mut self) -> isize {
        for _ in 0..20 {
            self.app.update(0.0);
            std::thread::sleep(Duration::from_millis(2));
        }
        self.app.world().resource_mut::<Heard>().ready.clear();
        forget_log();
        IN_USE.load(Relaxed)
    }

    fn check(&mut self) {
        (0..self.witnesses.len()).for_each(|index| self.check_witness(index));
        self.app.world().resource_mut::<Tally>().0.clear();
        // Every part belongs to a character that lists it.
        let world = self.app.world();
        let parts: Vec<(Entity, Entity)> = world
            .query::<(Entity, &PartOf)>()
            .iter(world)
            .map(|(part, of)| (part, of.character))
            .collect();
        for (part, character) in &parts {
            assert!(self.app.parts(*character).contains(part));
        }
        let listed: usize = self
            .actors
            .iter()
            .map(|&entity| self.app.parts(entity).len())
            .sum();
        assert_eq!(parts.len(), listed + self.witnesses.len());
    }
}

/// Runs a session in four quarters, and prints memory and frame time after each.
fn endure(characters: usize, seconds: f64) {
    let mut run = Run::new(characters);
    let mut measured = Vec::new();
    let mut frames = 0;
    for quarter in 1..=4 {
        let mut costs = Vec::new();
        while run.now < seconds * f64::from(quarter) / 4.0 {
            let start = Instant::now();
            run.frame();
            costs.push(start.elapsed());
        }
        frames += costs.len();
        costs.sort();
        run.check();
        measured.push((run.in_use(), costs[costs.len() / 2]));
    }
    let Run {
        reloads,
        broken,
        heard,
        expected,
        now,
        ..
    } = run;
    println!(
        "{characters} characters, {now:.0} s in {frames} frames: {heard} callbacks, of which {expected} were \
         predicted, {reloads} reloads ({broken} broken)"
    );
    for (bytes, cost) in &measured {
        println!(
            "  {:.2} MiB in use, {:.0} µs per frame (median)",
            *bytes as f64 / 1048576.0,
            cost.as_secs_f64() * 1e6
        );
    }
    assert!(broken > 0 && heard > expected && expected > 0);
    // The first quarter fills pools and buffers.
    let (first, last) = (measured[0].0, measured[3].0);
    let slack = first / 10 + (1 << 20);
    assert!(
        last <= first + slack,
        "{first} bytes in use at first, {last} at last"
    );
}

#[test]
fn two_random_minutes_break_nothing_and_leak_nothing() {
    endure(40, 120.0);
}

#[test]
#[ignore = "takes several minutes"]
fn half_an_hour_of_500_characters_breaks_nothing_and_leaks_nothing() {
    endure(500, 1800.0);
}
