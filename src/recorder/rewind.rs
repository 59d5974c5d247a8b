//! Going back to the past and returning from it: time stops, and stand-ins replace characters that
//! no longer exist.

use super::{Departed, Recorded, Recording, Request, StandIn, Watch};
use crate::{
    asset::Character,
    character::{
        CharacterPoses, Expressions, IdleEyes, PartOverrides, PoseOverrides, SkinnedCharacter,
        TapeHead, Teleported,
    },
    controller::AnimationController,
    record::{Frames, RecordedCharacter, RecordingFile, Tape},
    rig::RigState,
};
use bevy::{
    ecs::{entity::EntityHashMap, system::RunSystemOnce},
    prelude::*,
};
use glam::Affine3A;
use std::mem;

/// The frame that is shown, and the state to return to.
#[derive(Debug)]
pub(super) struct Showing {
    pub(super) frame: u64,
    /// `true` if characters show it already.
    pub(super) is_shown: bool,
    /// `true` if assets of stand-ins have yet to be loaded.
    pub(super) is_waiting: bool,
    /// `true` if time stood still before.
    was_paused: bool,
    pub(super) present: EntityHashMap<Present>,
}

/// A character in the present.
#[derive(Debug)]
pub(super) struct Present {
    /// In the world.
    pub(super) joints: Vec<Affine3A>,
    controller: AnimationController,
    transform: Transform,
    overrides: Option<PoseOverrides>,
    parts: Option<PartOverrides>,
    expressions: Option<Expressions>,
    eyes: Option<IdleEyes>,
    rig: Option<RigState>,
    pub(super) visibility: Visibility,
}

/// Carries out a request: begins to show the past, shows another frame of it, or returns.
pub(super) fn answer(world: &mut World) {
    if let Some(file) = world.resource_mut::<Recording>().opening.take() {
        open(world, *file);
    }
    let mut recording = world.resource_mut::<Recording>();
    let request = recording.request.take();
    match (request, &mut recording.showing) {
        (Some(Request::Show(frame)), Some(showing)) => {
            showing.is_shown &= showing.frame == frame;
            showing.frame = frame;
        }
        (Some(Request::Show(frame)), None) => {
            let present = world.run_system_once(present).unwrap_or_default();
            let mut time = world.resource_mut::<Time<Virtual>>();
            let was_paused = time.is_paused();
            time.pause();
            let showing = Showing {
                frame,
                is_shown: false,
                is_waiting: false,
                was_paused,
                present,
            };
            world.resource_mut::<Recording>().showing = Some(showing);
        }
        (Some(Request::ContinueHere), _) => leave(world, continue_here),
        (Some(_), _) => leave(world, return_to_present),
        (None, _) => {}
    }
    if request == Some(Request::Clear) {
        clear(world);
    }
    if world
        .resource::<Recording>()
        .showing
        .as_ref()
        .is_some_and(|showing| !showing.is_shown || showing.is_waiting)
    {
        exchange_stand_ins(world);
    }
}

/// Ends showing the past, if it is shown, and lets time go on as it did before.
fn leave(world: &mut World, to: impl FnOnce(&mut World, Showing)) {
    let Some(showing) = world.resource_mut::<Recording>().showing.take() else {
        return;
    };
    if !showing.was_paused {
        world.resource_mut::<Time<Virtual>>().unpause();
    }
    to(world, showing);
}

/// Shows a file instead of the app's own recording.
fn open(world: &mut World, file: RecordingFile) {
    leave(world, return_to_present);
    let mut characters = world.query::<&mut Recorded>();
    for mut recorded in characters.iter_mut(world) {
        // They didn't exist in any of its frames.
        *recorded = Recorded {
            since: Some(u64::MAX),
            ..Recorded::default()
        };
    }
    let assets = world.resource::<AssetServer>().clone();
    let departed = file.characters.into_iter().filter_map(|character| {
        let RecordedCharacter {
            name, asset, tape, ..
        } = character;
        Some(Departed {
            name,
            handle: assets.load(asset?),
            version: None,
            since: None,
            tape,
            stand_in: None,
        })
    });
    let mut recording = world.resource_mut::<Recording>();
    recording.departed = departed.collect();
    recording.frames = file.frames;
    // Frames of this app must not be added to those of the file.
    recording.enabled = false;
    let last = recording.frames.range().end;
    recording.show(last);
}

/// Drops the recording. Characters are then recorded as if they were new.
fn clear(world: &mut World) {
    let mut characters = world.query::<(&mut Recorded, &mut Watch)>();
    for (mut recorded, mut watch) in characters.iter_mut(world) {
        (*recorded, *watch) = default();
    }
    let mut recording = world.resource_mut::<Recording>();
    recording.departed.clear();
    recording.materials.clear();
    recording.frames = Frames::starting_at(recording.frames.next_frame());
    recording.bytes_used = 0;
    recording.was_off = true;
}

fn present(
    poses: CharacterPoses,
    characters: Query<
        (
            Entity,
            &AnimationController,
            (&Transform, &GlobalTransform),
            Option<&PoseOverrides>,
            Option<&PartOverrides>,
            (Option<&Expressions>, Option<&IdleEyes>),
            Option<&RigState>,
            &Visibility,
        ),
        With<Recorded>,
    >,
) -> EntityHashMap<Present> {
    let present = characters.iter().map(
        |(
            entity,
            controller,
            (&transform, world),
            overrides,
            parts,
            (expressions, eyes),
            rig,
            &visibility,
        )| {
            let (controller, overrides, rig) =
                (controller.clone(), overrides.cloned(), rig.cloned());
            let mut joints = poses.pose(entity).unwrap_or_default();
            joints
                .iter_mut()
                .for_each(|joint| *joint = world.affine() * *joint);
            (
                entity,
                Present {
                    joints,
                    controller,
                    transform,
                    overrides,
                    parts: parts.cloned(),
                    expressions: expressions.cloned(),
                    eyes: eyes.cloned(),
                    rig,
                    visibility,
                },
            )
        },
    );
    present.collect()
}

/// Spawns stand-ins of characters that existed in the frame, and despawns the others.
fn exchange_stand_ins(world: &mut World) {
    let mut recording = world.resource_mut::<Recording>();
    let Some(frame) = recording.showing.as_ref().map(|showing| showing.frame) else {
        return;
    };
    // Taken out of the resource, because spawning needs the world.
    let mut departed = mem::take(&mut recording.departed);
    let frames = recording.frames.clone();
    let mut is_waiting = false;
    for departed in &mut departed {
        // A stand-in has the tape for as long as it exists.
        let tape = match departed.stand_in {
            None => &departed.tape,
            Some(entity) => world
                .get::<Recorded>(entity)
                .map_or(&departed.tape, |recorded| &recorded.tape),
        };
        let version = world
            .resource::<Assets<Character>>()
            .get(&departed.handle)
            .map(|asset| asset.version);
        let was_there = tape.range(&frames).contains(&frame);
        let has_failed = || {
            world
                .resource::<AssetServer>()
                .load_state(&departed.handle)
                .is_failed()
        };
        // Assets that failed to load aren't waited for.
        is_waiting |= was_there && version.is_none() && !has_failed();
        // A tape of another version of the asset can't be played.
        let was_there =
            was_there && version.is_some() && departed.version.is_none_or(|of| version == Some(of));
        match departed.stand_in {
            None if was_there => {
                let recorded = Recorded {
                    tape: mem::take(&mut departed.tape),
                    since: departed.since,
                    shown: None,
                };
                let watch = Watch {
                    version: version.unwrap_or_default(),
                    ..Watch::default()
                };
                let (name, handle) = (Name::new(departed.name.clone()), departed.handle.clone());
                departed.stand_in = Some(
                    world
                        .spawn((SkinnedCharacter(handle), recorded, watch, name, StandIn))
                        .id(),
                );
            }
            Some(entity) if !was_there => {
                departed.tape = despawn_stand_in(world, entity);
                departed.stand_in = None;
            }
            _ => {}
        }
    }
    let mut recording = world.resource_mut::<Recording>();
    recording.departed.append(&mut departed);
    if let Some(showing) = &mut recording.showing {
        showing.is_shown &= !showing.is_waiting;
        showing.is_waiting = is_waiting;
    }
}

/// Despawns a stand-in and returns its tape.
fn despawn_stand_in(world: &mut World, entity: Entity) -> Tape {
    let tape = world
        .get_mut::<Recorded>(entity)
        .map(|mut recorded| mem::take(&mut recorded.tape));
    if let Ok(entity) = world.get_entity_mut(entity) {
        entity.despawn();
    }
    tape.unwrap_or_default()
}

fn return_to_present(world: &mut World, showing: Showing) {
    for (entity, present) in showing.present {
        let Ok(mut entity) = world.get_entity_mut(entity) else {
            continue;
        };
        let Present {
            controller,
            transform,
            overrides,
            parts,
            expressions,
            eyes,
            rig,
            visibility,
            ..
        } = present;
        entity.insert((controller, transform, visibility));
        // Springs and feet would react to the jump otherwise.
        if rig.is_none() {
            entity.insert(Teleported);
        }
        match overrides {
            Some(overrides) => drop(entity.insert(overrides)),
            None => drop(entity.remove::<PoseOverrides>()),
        }
        match parts {
            Some(parts) => drop(entity.insert(parts)),
            None => drop(entity.remove::<PartOverrides>()),
        }
        match expressions {
            Some(expressions) => drop(entity.insert(expressions)),
            None => drop(entity.remove::<Expressions>()),
        }
        match eyes {
            Some(eyes) => drop(entity.insert(eyes)),
            None => drop(entity.remove::<IdleEyes>()),
        }
        match rig {
            Some(rig) => drop(entity.insert(rig)),
            None => drop(entity.remove::<RigState>()),
        }
        stop_showing(&mut entity);
    }
    let mut recording = world.resource_mut::<Recording>();
    let mut departed = mem::take(&mut recording.departed);
    for departed in &mut departed {
        if let Some(entity) = departed.stand_in.take() {
            departed.tape = despawn_stand_in(world, entity);
        }
    }
    world
        .resource_mut::<Recording>()
        .departed
        .append(&mut departed);
}

fn continue_here(world: &mut World, showing: Showing) {
    let mut recording = world.resource_mut::<Recording>();
    let frame = showing.frame;
    recording.frames.drop_after(frame);
    let mut departed = mem::take(&mut recording.departed);
    departed.retain_mut(|departed| {
        departed.tape.drop_after(frame);
        match departed.stand_in {
            // It is the character now.
            Some(entity) => {
                if let Ok(mut entity) = world.get_entity_mut(entity) {
                    entity.remove::<StandIn>();
                    // Its parent no longer exists, so it keeps its place in the world.
                    if let Some(place) = entity
                        .get::<GlobalTransform>()
                        .map(GlobalTransform::compute_transform)
                    {
                        entity.insert(place);
                    }
                }
                false
            }
            // Characters that were gone before this frame stay in the past. Those that came after it are
            // forgotten.
            None => {
                departed
                    .tape
                    .range(&world.resource::<Recording>().frames)
                    .end
                    <= frame
            }
        }
    });
    world.resource_mut::<Recording>().departed = departed;
    let mut characters = world.query_filtered::<Entity, With<Recorded>>();
    let characters: Vec<_> = characters.iter(world).collect();
    for entity in characters {
        let Ok(mut entity) = world.get_entity_mut(entity) else {
            continue;
        };
        let Some(mut recorded) = entity.get_mut::<Recorded>() else {
            continue;
        };
        recorded.tape.drop_after(frame);
        if recorded.since.is_some_and(|since| since > frame) {
            // It didn't exist yet, and everything recorded of it is later.
            entity.despawn();
            continue;
        }
        if let Some(present) = showing.present.get(&entity.id()) {
            entity.insert(present.visibility);
        }
        stop_showing(&mut entity);
    }
}

fn stop_showing(entity: &mut EntityWorldMut) {
    if let Some(mut head) = entity.get_mut::<TapeHead>() {
        *head = TapeHead::default();
    }
    if let Some(mut recorded) = entity.get_mut::<Recorded>() {
        recorded.shown = None;
    }
    // Makes `note_parents` store the parent's place again.
    if let Some(mut transform) = entity.get_mut::<Transform>() {
        transform.set_changed();
    }
    if let Some(mut watch) = entity.get_mut::<Watch>() {
        // Makes everything be stored again.
        *watch = Watch {
            version: watch.version,
            ..Watch::default()
        };
    }
}
