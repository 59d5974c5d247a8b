//! The past is shown to the bit as it was, whatever happened in it.

use super::support::*;
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{
        CharacterParts, CharacterPoses, Expressions, GroundProbe, IdleEyes, IkLimb, LookAt,
        MorphPose, PartOverrides, SpringBones, SpringGravity, Teleported,
    },
    controller::{AnimationTrack, PlaybackEvent, Transition},
    import::LookAtEntry,
    model::JointTransform,
    pose::{JointOverride, JointSpace},
    prelude::*,
    record::RecordingFile,
    recorder::{Recorded, RecorderPlugin, Recording},
    rig::{GroundHit, RigState, Wind},
};
use fastrand::Rng;
use std::{
    collections::HashMap,
    path::Path,
    time::{Duration, Instant},
};

const CLIPS: [&str; 5] = ["idle", "walk", "jog", "wave", "locomotion"];

/// Hashes of each character's skinning matrices, of how its parts look, and of its face.
type Seen = HashMap<String, [u64; 3]>;

/// Expressions, some of which are the same targets by other names.
const FACES: [&str; 5] = ["happy", "blink", "surprised", "aa", "jawOpen"];

/// Scouts and hounds with everything that a character can have, on hills, in the wind.
struct Play {
    app: TestApp,
    random: Rng,
    assets: Vec<Handle<Character>>,
    characters: Vec<Entity>,
    lantern: Entity,
    /// What some characters stand on.
    raft: Entity,
    /// A material made in code, and one from a file.
    paints: [Handle<StandardMaterial>; 2],
    born: usize,
    /// The skinning matrices of each character, by name, in each frame.
    seen: Vec<Seen>,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut app = TestApp::with_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets"));
        app.app.add_plugins(RecorderPlugin);
        let assets: Vec<Handle<Character>> =
            ["scout/scout.character.ron", "hound/hound.character.ron"]
                .map(|path| app.server().load(path))
                .into();
        assets.iter().for_each(|asset| app.wait_for(asset));
        app.app
            .add_systems(PostUpdate, hills.in_set(CharacterSystems::ProbeGround));
        // Listeners that change what plays.
        app.app.add_observer(
            |step: On<AnimationCallback>, mut controllers: Query<&mut AnimationController>| {
                if step.name == "footstep"
                    && step.time.fract() < 0.1
                    && let Ok(mut controller) = controllers.get_mut(step.entity)
                {
                    controller.set_speed(0.8 + step.time.fract());
                }
            },
        );
        *app.world().resource_mut::<SpringGravity>() = SpringGravity(Vec3::new(0.3, -8.0, 0.0));
        app.world().resource_mut::<Wind>().velocity = Vec3::new(4.0, 0.0, 1.0);
        let lantern = app.world().spawn(Transform::from_xyz(0.0, 1.5, 3.0)).id();
        let raft = Self::launch(&mut app);
        let made = app
            .world()
            .resource_mut::<Assets<StandardMaterial>>()
            .add(StandardMaterial::default());
        let loaded = app
            .world()
            .resource::<Assets<Character>>()
            .get(&assets[0])
            .unwrap()
            .parts[0]
            .material
            .clone();
        let paints = [made, loaded];
        let random = Rng::with_seed(seed);
        Self {
            app,
            random,
            assets,
            characters: vec![],
            lantern,
            raft,
            paints,
            born: 0,
            seen: vec![],
        }
    }

    /// A raft on something that turns.
    fn launch(app: &mut TestApp) -> Entity {
        let whirl = app
            .world()
            .spawn((Transform::from_xyz(1.0, 0.0, -2.0), Visibility::default()))
            .id();
        let place = Transform::from_xyz(0.5, 0.1, 0.3).with_rotation(Quat::from_rotation_y(0.3));
        app.world()
            .spawn((place, Visibility::default(), ChildOf(whirl)))
            .id()
    }

    fn place(&mut self) -> Transform {
        let mut within = |most: f32| (self.random.f32() * 2.0 - 1.0) * most;
        Transform::from_xyz(within(9.0), 0.0, within(9.0))
            .with_rotation(Quat::from_rotation_y(within(3.0)))
    }

    fn spawn(&mut self) {
        let (place, random) = (self.place(), &mut self.random);
        let asset = self.assets[random.usize(..self.assets.len())].clone();
        self.born += 1;
        let name = Name::new(format!("character {}", self.born));
        let controller = AnimationController::playing(CLIPS[random.usize(..CLIPS.len())]);
        let [carried, feet, looks] = [(); 3].map(|()| random.bool());
        let lantern = self.lantern;
        let mut entity = self
            .app
            .world()
            .spawn((SkinnedCharacter(asset), controller, place, name));
        if carried {
            entity.insert(RootMotion::default());
        }
        if feet {
            entity.insert(FootPlacement::default());
        }
        if looks {
            entity.insert(LookAt::entity(lantern));
        }
        if looks {
            let mut face = Expressions::default();
            face.set("happy", 0.25);
            entity.insert((face, IdleEyes::new(self.born as u64)));
        }
        let entity = entity.id();
        self.characters.push(entity);
        if self.random.bool() {
            let offset = Vec3::new(self.random.f32() - 0.5, self.random.f32(), -0.3);
            self.app.world().spawn((
                IkGoal(entity),
                IkLimb::named("left_foot").rotate_tip(true),
                Transform::from_translation(offset),
                ChildOf(entity),
            ));
        }
    }

    /// Does what games do.
    fn act(&mut self) {
        let Some(&one) = self.random.choice(&self.characters) else {
            return self.spawn();
        };
        let random = &mut self.random;
        let clip = CLIPS[random.usize(..CLIPS.len())];
        let [a, b, c] = [(); 3].map(|()| random.f32());
        let what = random.u32(..48);
        let transform = self.place();
        let world = self.app.world();
        match what {
            0 if self.characters.len() < 5 => self.spawn(),
            1 if self.characters.len() > 1 => {
                self.characters.retain(|&other| other != one);
                world.despawn(one);
            }
            2 => {
                world
                    .get_mut::<AnimationController>(one)
                    .unwrap()
                    .cross_fade(clip, Duration::from_millis(200));
            }
            3 => {
                world
                    .get_mut::<AnimationController>(one)
                    .unwrap()
                    .play_with(clip, Transition::switch(Duration::from_millis(250)));
            }
            4 => {
                world
                    .get_mut::<AnimationController>(one)
                    .unwrap()
                    .play_over(
                        AnimationTrack::new("wave"),
                        Duration::from_millis(100),
                        Duration::from_millis(150),
                    );
            }
            5..12 => {
                let mut controller = world.get_mut::<AnimationController>(one).unwrap();
                controller.set_parameters((f64::from(a - 0.5) * 90.0, f64::from(b) * 3.0));
            }
            12..20 => {
                world.get_mut::<Transform>(one).unwrap().translation +=
                    Vec3::new(a - 0.5, 0.0, b - 0.5) * 0.1
            }
            20 => {
                world.entity_mut(one).insert((transform, Teleported));
            }
            21 => {
                let turn = JointTransform::new(Vec3::ZERO, Quat::from_rotation_y(a));
                let nod = JointOverride {
                    space: JointSpace::Joint,
                    ..JointOverride::local((b * 20.0) as u16, turn)
                };
                world
                    .entity_mut(one)
                    .insert(PoseOverrides(vec![JointOverride { weight: c, ..nod }]));
            }
            22 => {
                world.entity_mut(one).remove::<PoseOverrides>();
            }
            23..30 => {
                world
                    .get_mut::<Transform>(self.lantern)
                    .unwrap()
                    .translation = Vec3::new(a * 6.0 - 3.0, 1.0 + b, c * 4.0);
            }
            30 => world.resource_mut::<Wind>().velocity = Vec3::new(a * 9.0, 0.0, b * 9.0 - 4.0),
            31 => {
                if let Some(mut look) = world.get_mut::<LookAt>(one) {
                    look.weight = a;
                    look.joints = (b < 0.5).then(|| LookAtEntry::new([("neck", 0.5), ("head", c)]));
                }
            }
            32 => {
                world.entity_mut(one).remove::<RootMotion>();
            }
            33 => {
                world.entity_mut(one).insert(RootMotion::default());
            }
            34 => {
                world
                    .get_mut::<AnimationController>(one)
                    .unwrap()
                    .time_scale = f64::from(0.5 + a)
            }
            35 => {
                world.entity_mut(one).insert(RigState::default());
            }
            36..40 => {
                world.get_mut::<Transform>(self.raft).unwrap().rotate_y(a);
                let whirl = world.get::<ChildOf>(self.raft).unwrap().parent();
                world.get_mut::<Transform>(whirl).unwrap().translation.z += b - 0.5;
            }
            40 => {
                world.entity_mut(one).insert(ChildOf(self.raft));
            }
            41 => {
                world.entity_mut(one).remove::<ChildOf>();
            }
            42 => {
                let hair = PartOverrides::default()
                    .hide("hair")
                    .hide((b * 3.0) as usize);
                world.entity_mut(one).insert(hair.material(
                    (c * 3.0) as usize,
                    self.paints[usize::from(a < 0.5)].clone(),
                ));
            }
            43 => {
                world.entity_mut(one).remove::<PartOverrides>();
            }
            44 if a < 0.2 => {
                // Whoever is on it goes with it.
                world.despawn(self.raft);
                self.raft = Self::launch(&mut self.app);
                self.characters
                    .retain(|&other| self.app.world().get_entity(other).is_ok());
            }
            45 | 46 => {
                let mut one = world.entity_mut(one);
                if !one.contains::<Expressions>() {
                    one.insert(Expressions::default());
                }
                let mut face = one.get_mut::<Expressions>().unwrap();
                let name = FACES[(a * 5.0) as usize];
                let time = Duration::from_secs_f32(if b < 0.3 { 0.0 } else { b * 0.5 });
                if c < 0.7 {
                    face.fade_to(name, c, time);
                } else {
                    face.release(name, time);
                }
            }
            47 if a < 0.3 => {
                world.entity_mut(one).remove::<IdleEyes>();
            }
            47 if a < 0.5 => {
                world.entity_mut(one).remove::<Expressions>();
            }
            47 => {
                world
                    .entity_mut(one)
                    .insert(IdleEyes::new((b * 100.0) as u64));
            }
            _ => {}
        }
    }

    fn live(&mut self, frames: usize) {
        for _ in 0..frames {
            self.act();
            let dt = [1.0 / 60.0, 1.0 / 144.0, 0.031][self.random.usize(..3)];
            self.app.update(dt);
            let seen = self.palettes();
            self.seen.push(seen);
        }
    }

    /// A hash of the bits of all skinning matrices of each character that is to be seen, of how its parts look, and of its morph
    /// weights, which are up to date if the game sets some of them.
    fn palettes(&mut self) -> Seen {
        let look = |poses: CharacterPoses,
                    characters: Query<(
            Entity,
            &Name,
            &SkinnedCharacter,
            &Visibility,
            &CharacterParts,
            (Option<&MorphPose>, Option<&Expressions>),
        )>,
                    looks: Query<(&Visibility, &MeshMaterial3d<StandardMaterial>)>,
                    assets: Res<Assets<Character>>| {
            let mut hashes = HashMap::new();
            for (entity, name, handle, visibility, entities, (morphs, face)) in &characters {
                let parts = assets
                    .get(handle.id())
                    .map_or(0, |character| character.parts.len());
                let palettes =
                    (0..parts).flat_map(|part| poses.palette(entity, part).unwrap_or_default());
                let bits = palettes
                    .flat_map(|matrix| matrix.to_cols_array())
                    .map(f32::to_bits);
                if *visibility != Visibility::Hidden {
                    let looks = entities
                        .entities
                        .iter()
                        .filter_map(|&part| looks.get(part).ok());
                    let looks = looks.map(|(part, material)| {
                        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
                        let path = material
                            .0
                            .path()
                            .map(ToString::to_string)
                            .ok_or(material.id());
                        let look = (*part == Visibility::Hidden, path);
                        BuildHasherDefault::<DefaultHasher>::default().hash_one(look) as u32
                    });
                    let mix = |hash: u64, bits: u32| {
                        (hash ^ u64::from(bits)).wrapping_mul(0x0100_0000_01b3)
                    };
                    let is_set = face.is_some_and(|face| face.iter().count() > 0);
                    let weights = morphs.filter(|_| is_set).map(|morphs| &morphs.weights);
                    let weights = weights.into_iter().flatten().map(|weight| weight.to_bits());
                    let [body, parts] = [bits.fold(17, mix), looks.fold(17, mix)];
                    hashes.insert(name.to_string(), [body, parts, weights.fold(17, mix)]);
                }
            }
            hashes
        };
        self.app.world().run_system_once(look).unwrap()
    }

    /// What a character has, for messages.
    fn about(&mut self, name: &str) -> String {
        let world = self.app.world();
        let mut characters = world.query::<(
            &Name,
            Has<FootPlacement>,
            Has<LookAt>,
            Has<RootMotion>,
            Option<&RigState>,
        )>();
        let of = characters.iter(world).find(|(of, ..)| of.as_str() == name);
        format!("feet, look, carried, rig: {of:?}")
    }

    fn range(&mut self) -> std::ops::Range<u64> {
        self.app.world().resource::<Recording>().frames()
    }

    fn show(&mut self, frame: u64) -> Seen {
        self.app.world().resource_mut::<Recording>().show(frame);
        self.app.update(1.0 / 60.0);
        self.palettes()
    }
}

/// What a file of the recording holds.
fn write(
    recording: Res<Recording>,
    assets: Res<Assets<Character>>,
    characters: Query<(Option<&Name>, &SkinnedCharacter, &Recorded)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording
        .file(&assets, characters.iter())
        .write(&mut bytes)
        .unwrap();
    bytes
}

/// Ground that goes up and down.
fn hills(mut probes: Query<&mut GroundProbe>) {
    let height = |at: Vec3| 0.1 * (at.x * 1.3).sin() + 0.08 * (at.z * 1.7).cos();
    for mut probe in &mut probes {
        probe.answer(|ray| {
            Some(GroundHit {
                point: ray.origin.with_y(height(ray.origin)),
                normal: Vec3::Y,
            })
        });
    }
}

/// How many frames are played. Ten minutes are 36000.
fn frames_or(few: usize) -> usize {
    std::env::var("MARIONETTE_RECORDED_FRAMES")
        .ok()
        .and_then(|frames| frames.parse().ok())
        .unwrap_or(few)
}

#[test]
fn every_frame_of_the_past_is_shown_to_the_bit() {
    for seed in 0..3 {
        let mut play = Play::new(seed);
        let mut random = Rng::with_seed(seed);
        let mut present = HashMap::new();
        for _ in 0..frames_or(1500).div_ceil(500) {
            let before = play.range().end;
            play.live(500);
            // A frame in which no time passes, like the one in which the present is shown again.
            play.app.update(0.0);
            let seen = play.palettes();
            play.seen.push(seen);
            let last = play.range().end;
            assert_eq!(last - before, 501);
            // The number of the frame that is seen first.
            let first = last - play.seen.len() as u64;
            let range = play.range();
            present.clone_from(&play.seen[play.seen.len() - 1]);
            let (mut compared, mut faces) = (0, 0);
            for _ in 0..25 {
                let frame = random.u64(range.clone()).max(first);
                let shown = play.show(frame);
                let then = &play.seen[(frame - first) as usize];
                for (name, hash) in then {
                    // Characters can be played again from the next note after what was dropped.
                    let Some(shown) = shown.get(name) else {
                        assert!(
                            frame < range.start + 400,
                            "seed {seed}, frame {frame} of {range:?}: `{name}` is missing"
                        );
                        continue;
                    };
                    assert!(
                        shown == hash,
                        "seed {seed}, frame {frame} of {range:?}: `{name}` is another"
                    );
                    compared += 1;
                    faces += usize::from(hash[2] != 17);
                }
                assert!(
                    shown.keys().all(|name| then.contains_key(name)),
                    "frame {frame}: {:?}",
                    shown.keys()
                );
            }
            assert!(compared > 25 && faces > 0, "{compared} {faces}");
            // Back as if nothing had been shown.
            play.app.world().resource_mut::<Recording>().show_present();
            play.app.update(0.0);
            let now = play.palettes();
            for (name, hash) in &present {
                assert!(
                    now.get(name) == Some(hash),
                    "seed {seed}, frame {last}: the present of `{name}` is another: {}",
                    play.about(name)
                );
            }
            assert_eq!(now.len(), present.len());
            // That frame was recorded, too.
            play.seen.push(present.clone());
        }
    }
}

#[test]
fn a_file_plays_the_events_that_observers_heard() {
    let mut play = Play::new(7);
    play.live(400);
    let bytes = play.app.world().run_system_once(write).unwrap();
    let file = RecordingFile::read(&bytes[..]).unwrap();
    assert_eq!(file.characters.len(), play.born);
    let mut events = 0;
    for checked in file.check() {
        assert_eq!(checked.difference, None, "{}", checked.name);
        let word = |event: &PlaybackEvent| match event {
            PlaybackEvent::Callback(fired) => Some(fired.name.to_string()),
            PlaybackEvent::Started { .. } => Some("started".into()),
            PlaybackEvent::Looped { .. } => Some("looped".into()),
            PlaybackEvent::Finished { .. } => Some("finished".into()),
            PlaybackEvent::CrossFadeFinished { .. } => Some("faded in".into()),
            _ => None,
        };
        let played: Vec<String> = checked
            .events
            .iter()
            .filter_map(|(_, event)| word(event))
            .collect();
        let world = play.app.world();
        let mut names = world.query::<(Entity, &Name)>();
        // Those that are gone have other entities now.
        let Some((entity, _)) = names
            .iter(world)
            .find(|(_, name)| name.as_str() == checked.name)
        else {
            continue;
        };
        let heard = world
            .resource::<Heard>()
            .observed
            .iter()
            .filter(|fact| fact.entity == entity);
        let heard: Vec<String> = heard.map(|fact| fact.word.clone()).collect();
        assert_eq!(played, heard, "{}", checked.name);
        events += played.len();
    }
    assert!(events > 20, "{events}");
}

#[test]
fn a_file_is_shown_to_the_bit_without_the_game() {
    for seed in 12..15 {
        let (mut play, count) = (Play::new(seed), frames_or(400));
        // All of it, however long.
        let mut recording = play.app.world().resource_mut::<Recording>();
        (recording.seconds, recording.bytes) = (1e9, usize::MAX);
        // A material made in code is not in a file.
        play.paints[0] = play.paints[1].clone();
        play.live(count);
        let (bytes, last) = (
            play.app.world().run_system_once(write).unwrap(),
            play.range().end,
        );
        // Nothing but the assets.
        let mut viewer = Play::new(0);
        viewer
            .app
            .world()
            .resource_mut::<Recording>()
            .open(RecordingFile::read(&bytes[..]).unwrap());
        viewer.app.wait("stand-ins", |app| {
            let world = app.world();
            let (mut shown, recording) =
                (world.query::<&Recorded>(), world.resource::<Recording>());
            recording.shown().is_some() && shown.iter(world).count() > 0
        });
        viewer.app.update(0.0);
        let mut compared = 0;
        for back in (1..count).step_by(13) {
            let shown = viewer.show(last - back as u64);
            let then = &play.seen[play.seen.len() - back];
            assert!(
                shown == *then,
                "seed {seed}, {back} frames ago: {shown:?}, {then:?}"
            );
            compared += shown.len();
        }
        println!(
            "seed {seed}: {count} frames, {compared} poses compared, {} bytes",
            bytes.len()
        );
        assert!(compared > count / 13, "{compared}");
    }
}

#[test]
fn the_game_can_go_on_from_the_past() {
    let mut play = Play::new(9);
    play.live(300);
    let range = play.range();
    let frame = range.end - 120;
    let shown = play.show(frame);
    play.app.world().resource_mut::<Recording>().continue_here();
    play.app.update(0.0);
    assert_eq!(play.palettes().keys().len(), shown.len());
    assert_eq!(
        play.range().end,
        frame + 2,
        "the frames after it are forgotten, and one is new"
    );
    let time = |play: &mut Play| {
        play.app
            .world()
            .resource::<Time<Virtual>>()
            .elapsed_secs_f64()
    };
    let before = time(&mut play);
    // Whoever was spawned later is gone.
    let world = play.app.world();
    play.characters = world
        .query_filtered::<Entity, With<Recorded>>()
        .iter(world)
        .collect();
    play.live(60);
    assert!(time(&mut play) > before);
    assert_eq!(play.range().end, frame + 62);
    let (then, now) = (play.seen[play.seen.len() - 30].clone(), play.range().end);
    assert!(
        play.show(now - 30) == then,
        "what happens from there is recorded again"
    );
}

#[test]
fn characters_that_are_each_others_parents_do_not_hang_the_past() {
    let mut play = Play::new(12);
    (0..2).for_each(|_| play.spawn());
    let [a, b] = play.characters[..] else {
        unreachable!()
    };
    play.app.update(0.1);
    play.app.world().entity_mut(a).insert(ChildOf(b));
    play.app.world().entity_mut(b).insert(ChildOf(a));
    (0..30).for_each(|_| play.app.update(1.0 / 60.0));
    let last = play.range().end - 1;
    assert_eq!(play.show(last).len(), 2);
}

#[test]
fn memory_is_bounded() {
    let mut play = Play::new(4);
    play.live(200);
    {
        let mut recording = play.app.world().resource_mut::<Recording>();
        recording.bytes = recording.bytes_used() / 2;
        assert!(recording.bytes > 1000, "{}", recording.bytes);
    }
    play.live(200);
    let recording = play.app.world().resource::<Recording>();
    assert!(recording.bytes_used() <= recording.bytes);
    assert!(recording.frames().start > 100, "{:?}", recording.frames());
    play.app.world().resource_mut::<Recording>().seconds = 0.5;
    play.live(130);
    let frames = play.range();
    assert!(frames.end - frames.start < 64 + 80, "{frames:?}");
}

#[test]
fn a_thousand_characters_take_less_than_64_megabytes_a_minute() {
    let mut play = Play::new(6);
    for number in 0..100 {
        let mut controller = AnimationController::default();
        controller.add_track(
            AnimationTrack::new("walk")
                .weight(0.4)
                .starting_at(f64::from(number) * 0.1),
        );
        controller.add_track(AnimationTrack::new("jog").weight(0.6));
        // Nobody listens.
        controller.callback_threshold = 2.0;
        let scout = SkinnedCharacter(play.assets[0].clone());
        play.app
            .world()
            .spawn((scout, controller, SpringBones { weight: 0.0 }));
    }
    // Memory is counted every 64 frames.
    (0..640).for_each(|_| play.app.update(1.0 / 60.0));
    let used = play.app.world().resource::<Recording>().bytes_used();
    let a_minute = used as f64 * 10.0 * 3600.0 / 640.0 / f64::from(1 << 20);
    println!("{a_minute:.1} MB a minute for 1000 characters");
    assert!((1.0..64.0).contains(&a_minute), "{a_minute}");
}

/// Prints how long it takes to show a frame of the past: of one character with everything on, and of a crowd.
#[test]
#[ignore = "measures: run it with --ignored --nocapture"]
fn how_long_it_takes_to_restore_a_frame() {
    for count in [1, 100] {
        let mut play = Play::new(11);
        for number in 0..count {
            let (scout, lantern) = (SkinnedCharacter(play.assets[0].clone()), play.lantern);
            let all = (
                RootMotion::default(),
                FootPlacement::default(),
                LookAt::entity(lantern),
            );
            let place = Transform::from_xyz((number % 10) as f32, 0.0, (number / 10) as f32);
            let one = play
                .app
                .world()
                .spawn((
                    scout,
                    AnimationController::playing("locomotion"),
                    all,
                    place,
                ))
                .id();
            let goal = (IkGoal(one), IkLimb::named("left_foot").rotate_tip(true));
            play.app
                .world()
                .spawn((goal, Transform::from_xyz(0.1, 0.2, 0.0), ChildOf(one)));
        }
        for frame in 0..1500 {
            let world = play.app.world();
            let mut controllers = world.query::<&mut AnimationController>();
            let pace = f64::from(frame).mul_add(0.01, 0.0).sin().abs() * 3.0;
            controllers
                .iter_mut(world)
                .for_each(|mut controller| controller.set_parameters((0.0, pace)));
            play.app.update(1.0 / 60.0);
        }
        let range = play.range();
        let update = |play: &mut Play| {
            let start = Instant::now();
            play.app.update(1.0 / 60.0);
            start.elapsed().as_secs_f64() * 1e3
        };
        let mut times = Vec::new();
        for frame in range.clone().rev().step_by(7) {
            play.app.world().resource_mut::<Recording>().show(frame);
            let with = update(&mut play);
            // The same frame, which is shown already.
            let without = (0..3)
                .map(|_| update(&mut play))
                .fold(f64::INFINITY, f64::min);
            times.push((with - without, frame));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, (worst, frame)) = (times[times.len() / 2].0, times[times.len() - 1]);
        println!(
            "{count} characters: {median:.2} ms, at most {worst:.2} ms (frame {frame} of {range:?})"
        );
        let world = play.app.world();
        let bytes: usize = world
            .query::<&Recorded>()
            .iter(world)
            .map(|recorded| recorded.tape().bytes())
            .sum();
        println!(
            "{:.1} kB per character and second",
            bytes as f64 / 1024.0 / count as f64 / 25.0
        );
    }
}

#[test]
fn a_cleared_recording_starts_anew() {
    let mut play = Play::new(10);
    play.live(200);
    let before = play.range().end;
    play.show(before - 100);
    play.app.world().resource_mut::<Recording>().clear();
    play.live(150);
    assert_eq!(play.range(), before..before + 150);
    assert!(!play.app.world().resource::<Time<Virtual>>().is_paused());
    for back in [1, 70, 149] {
        let shown = play.show(before + 150 - back);
        assert!(
            shown == play.seen[play.seen.len() - back as usize],
            "{back} frames ago"
        );
    }
}

#[test]
fn what_happens_while_recording_is_off_is_left_out() {
    let mut play = Play::new(8);
    play.live(100);
    let off = play.range().end;
    play.app.world().resource_mut::<Recording>().enabled = false;
    play.live(90);
    assert_eq!(play.range().end, off);
    play.app.world().resource_mut::<Recording>().enabled = true;
    play.live(100);
    assert_eq!(play.range().end, off + 100);
    for back in [1, 40, 99, 110, 150] {
        let seen = play.seen[play.seen.len() - back - if back > 100 { 90 } else { 0 }].clone();
        let shown = play.show(off + 100 - back as u64);
        let is_other = |name: &&String| shown.get(*name) != seen.get(*name);
        let others: Vec<_> = seen.keys().chain(shown.keys()).filter(is_other).collect();
        assert!(
            others.is_empty(),
            "{back} frames ago: {others:?} of {:?}",
            seen.keys()
        );
    }
}

#[test]
fn what_the_game_changes_while_the_past_is_shown_has_no_effect() {
    let mut play = Play::new(5);
    play.live(150);
    let frame = play.range().end - 70;
    let shown = play.show(frame);
    for _ in 0..20 {
        let one = play.characters[0];
        play.app
            .world()
            .get_mut::<AnimationController>(one)
            .unwrap()
            .play("jog");
        play.app
            .world()
            .get_mut::<Transform>(one)
            .unwrap()
            .translation
            .x += 1.0;
        play.app.update(1.0 / 60.0);
        assert!(play.palettes() == shown);
    }
    assert_eq!(
        play.app.world().resource::<Recording>().shown(),
        Some(frame)
    );
    assert_eq!(
        play.range().end,
        frame + 70,
        "nothing is recorded meanwhile"
    );
}

#[test]
fn time_goes_on_after_two_files_have_been_opened() {
    let mut play = Play::new(21);
    play.live(60);
    let bytes = play.app.world().run_system_once(write).unwrap();
    let mut viewer = Play::new(0);
    for _ in 0..2 {
        let file = RecordingFile::read(&bytes[..]).unwrap();
        viewer.app.world().resource_mut::<Recording>().open(file);
        viewer.app.update(0.0);
        assert!(viewer.app.world().resource::<Time<Virtual>>().is_paused());
    }
    viewer
        .app
        .world()
        .resource_mut::<Recording>()
        .show_present();
    viewer.app.update(0.0);
    assert!(!viewer.app.world().resource::<Time<Virtual>>().is_paused());
}
