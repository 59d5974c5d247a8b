//! Showing the past, and returning from it.

use super::{Departed, Recorded, Recording, Request, StandIn, Watch};
use crate::{
    asset::Character,
    character::{
        CharacterPoses, PartId, PartOverrides, PoseOverrides, RigReplay, RootMotion, SkinnedCharacter, TapeHead,
        Teleported,
    },
    controller::AnimationController,
    model::JointTransform,
    pose::JointOverride,
    record::{Frames, NotedPart, PartNote, RecordedCharacter, RecordingFile, Replay, Tape},
    rig::{RigAction, RigState},
};
use bevy::{
    ecs::{entity::EntityHashMap, system::RunSystemOnce},
    platform::collections::HashMap,
    prelude::*,
    utils::Parallel,
};
use glam::Affine3A;
use std::mem;

/// What is shown, and what to return to.
#[derive(Debug)]
pub(super) struct Showing {
    pub(super) frame: u64,
    /// Whether characters show it already.
    is_shown: bool,
    /// Whether assets of stand-ins are yet to be loaded.
    pub(super) is_waiting: bool,
    /// Whether time stood still before.
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
    rig: Option<RigState>,
    visibility: Visibility,
}

/// A character in a frame of the past.
#[derive(Debug)]
pub(super) struct Shown {
    controller: AnimationController,
    transform: Option<JointTransform>,
    parent: Option<Affine3A>,
    parts: Vec<PartNote>,
    overrides: Vec<JointOverride>,
    /// The rig's state before the frame, and what it acted by in it.
    rig: Option<Box<(RigState, RigAction)>>,
}

/// Begins to show the past, shows another frame of it, or returns, as asked.
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
            let showing = Showing { frame, is_shown: false, is_waiting: false, was_paused, present };
            world.resource_mut::<Recording>().showing = Some(showing);
        }
        (Some(request), Some(_)) => {
            let Some(showing) = world.resource_mut::<Recording>().showing.take() else { return };
            if !showing.was_paused {
                world.resource_mut::<Time<Virtual>>().unpause();
            }
            match request {
                Request::ContinueHere => continue_here(world, showing),
                _ => return_to_present(world, showing),
            }
        }
        _ => {}
    }
    if request == Some(Request::Clear) {
        clear(world);
    }
    if world.resource::<Recording>().showing.as_ref().is_some_and(|showing| !showing.is_shown || showing.is_waiting) {
        exchange_stand_ins(world);
    }
}

/// Shows a file in place of what happened here.
fn open(world: &mut World, file: RecordingFile) {
    if let Some(showing) = world.resource_mut::<Recording>().showing.take() {
        return_to_present(world, showing);
    }
    let mut characters = world.query::<&mut Recorded>();
    for mut recorded in characters.iter_mut(world) {
        // To be seen after all of it.
        *recorded = Recorded { since: Some(u64::MAX), ..Recorded::default() };
    }
    let assets = world.resource::<AssetServer>().clone();
    let departed = file.characters.into_iter().filter_map(|character| {
        let RecordedCharacter { name, asset, tape, .. } = character;
        Some(Departed { name, handle: assets.load(asset?), version: None, since: None, tape, stand_in: None })
    });
    let mut recording = world.resource_mut::<Recording>();
    recording.departed = departed.collect();
    recording.frames = file.frames;
    recording.enabled = false;
    let last = recording.frames.range().end;
    recording.show(last);
}

/// Drops what was recorded. Characters are recorded as if they were new.
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
            Option<&RigState>,
            &Visibility,
        ),
        With<Recorded>,
    >,
) -> EntityHashMap<Present> {
    let present =
        characters.iter().map(|(entity, controller, (&transform, world), overrides, parts, rig, &visibility)| {
            let (controller, overrides, rig) = (controller.clone(), overrides.cloned(), rig.cloned());
            let mut joints = poses.pose(entity).unwrap_or_default();
            joints.iter_mut().for_each(|joint| *joint = world.affine() * *joint);
            (entity, Present { joints, controller, transform, overrides, parts: parts.cloned(), rig, visibility })
        });
    present.collect()
}

/// Spawns stand-ins of characters that were there in the frame, and despawns the others.
fn exchange_stand_ins(world: &mut World) {
    let mut recording = world.resource_mut::<Recording>();
    let Some(frame) = recording.showing.as_ref().map(|showing| showing.frame) else { return };
    let mut departed = mem::take(&mut recording.departed);
    let frames = recording.frames.clone();
    let mut is_waiting = false;
    for departed in &mut departed {
        let tape = match departed.stand_in {
            None => &departed.tape,
            Some(entity) => world.get::<Recorded>(entity).map_or(&departed.tape, |recorded| &recorded.tape),
        };
        let version = world.resource::<Assets<Character>>().get(&departed.handle).map(|asset| asset.version);
        let was_there = tape.range(&frames).contains(&frame);
        let has_failed = || world.resource::<AssetServer>().load_state(&departed.handle).is_failed();
        is_waiting |= was_there && version.is_none() && !has_failed();
        let was_there = was_there && version.is_some() && departed.version.is_none_or(|of| version == Some(of));
        match departed.stand_in {
            None if was_there => {
                let recorded = Recorded { tape: mem::take(&mut departed.tape), since: departed.since, shown: None };
                let watch = Watch { version: version.unwrap_or_default(), ..Watch::default() };
                let (name, handle) = (Name::new(departed.name.clone()), departed.handle.clone());
                departed.stand_in = Some(world.spawn((SkinnedCharacter(handle), recorded, watch, name, StandIn)).id());
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
    let tape = world.get_mut::<Recorded>(entity).map(|mut recorded| mem::take(&mut recorded.tape));
    if let Ok(entity) = world.get_entity_mut(entity) {
        entity.despawn();
    }
    tape.unwrap_or_default()
}

fn return_to_present(world: &mut World, showing: Showing) {
    for (entity, present) in showing.present {
        let Ok(mut entity) = world.get_entity_mut(entity) else { continue };
        let Present { controller, transform, overrides, parts, rig, visibility, .. } = present;
        entity.insert((controller, transform, visibility));
        // Springs and feet would take it for something that happened to the character.
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
    world.resource_mut::<Recording>().departed.append(&mut departed);
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
                    // What it was a child of is gone, too.
                    if let Some(place) = entity.get::<GlobalTransform>().map(GlobalTransform::compute_transform) {
                        entity.insert(place);
                    }
                }
                false
            }
            None => departed.tape.range(&world.resource::<Recording>().frames).end <= frame,
        }
    });
    world.resource_mut::<Recording>().departed = departed;
    let mut characters = world.query_filtered::<Entity, With<Recorded>>();
    let characters: Vec<_> = characters.iter(world).collect();
    for entity in characters {
        let Ok(mut entity) = world.get_entity_mut(entity) else { continue };
        let Some(mut recorded) = entity.get_mut::<Recorded>() else { continue };
        recorded.tape.drop_after(frame);
        if recorded.since.is_some_and(|since| since > frame) {
            // It wasn't there yet, and what was recorded of it is later, too.
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
    // Where the parent is now counts again.
    if let Some(mut transform) = entity.get_mut::<Transform>() {
        transform.set_changed();
    }
    if let Some(mut watch) = entity.get_mut::<Watch>() {
        // Everything is noted down anew.
        *watch = Watch { version: watch.version, ..Watch::default() };
    }
}

/// Finds out how characters were in the frame to show.
pub(super) fn look_back(
    assets: Res<Assets<Character>>,
    recording: Res<Recording>,
    mut memory: Local<Parallel<RigReplay>>,
    mut characters: Query<(&SkinnedCharacter, &mut Recorded)>,
) {
    let Some(showing) = recording.showing.as_ref().filter(|showing| !showing.is_shown) else { return };
    let memory = &mut *memory;
    characters.par_iter_mut().for_each_init(
        || memory.borrow_local_mut(),
        |memory, (handle, mut recorded)| {
            let shown = assets.get(handle.id()).and_then(|character| {
                let shown = state_at(&recorded.tape, &recording.frames, showing.frame, character, memory)?;
                Some(Box::new(shown))
            });
            recorded.shown = shown;
        },
    );
}

/// Plays a tape up to a frame.
fn state_at(tape: &Tape, frames: &Frames, frame: u64, character: &Character, memory: &mut RigReplay) -> Option<Shown> {
    let mut replay = Replay::to(tape, frames, frame)?;
    memory.start_over();
    let mut events = Vec::new();
    while replay.frame() < frame {
        let of = replay.frame();
        replay.play_frame(character, &mut events);
        events.clear();
        if let Some(action) = tape.action(of)
            && let (controller, Some(rig)) = replay.parts_mut()
        {
            memory.pose(character, controller, tape.overrides(of), Some((rig, action)));
        }
    }
    replay.play_frame(character, &mut events);
    let rig = replay.parts_mut().1.zip(tape.action(frame)).map(|(rig, action)| Box::new((rig.clone(), action.clone())));
    Some(Shown {
        transform: tape.transform(frame),
        parent: tape.parent(frame),
        parts: tape.parts(frame).to_vec(),
        overrides: tape.overrides(frame).to_vec(),
        rig,
        controller: replay.into_controller(),
    })
}

/// Shows characters as they were. What the game changes meanwhile has no effect.
pub(super) fn apply(
    mut commands: Commands,
    mut recording: ResMut<Recording>,
    assets: Res<AssetServer>,
    mut characters: Query<(
        Entity,
        &mut Recorded,
        &mut Watch,
        &mut TapeHead,
        &mut AnimationController,
        &mut Transform,
        &mut Visibility,
        Option<&mut PoseOverrides>,
        Option<&mut PartOverrides>,
        Option<&mut RootMotion>,
        Has<RigState>,
    )>,
) {
    let Recording { showing, materials, .. } = recording.bypass_change_detection();
    let Some(showing) = showing else { return };
    let is_new = !mem::replace(&mut showing.is_shown, true);
    for item in &mut characters {
        let (
            entity,
            mut recorded,
            mut watch,
            mut head,
            mut controller,
            mut place,
            mut visibility,
            overrides,
            parts,
            motion,
            has_rig,
        ) = item;
        if recorded.since.is_some_and(|since| since > showing.frame) {
            visibility.set_if_neq(Visibility::Hidden);
            continue;
        }
        // Whoever cannot be played again, because that much isn't kept, stays in the present.
        let Some(shown) = recorded.bypass_change_detection().shown.as_deref_mut() else { continue };
        let watch = watch.bypass_change_detection();
        if is_new || Some(controller.last_changed()) != watch.controller {
            controller.clone_from(&shown.controller);
            watch.controller = Some(controller.last_changed());
        }
        if let Some(JointTransform { translation, rotation, scale }) = shown.transform {
            place.set_if_neq(Transform { translation, rotation, scale });
        }
        let shows = showing.present.get(&entity).map_or(Visibility::default(), |present| present.visibility);
        visibility.set_if_neq(shows);
        match overrides {
            Some(mut overrides) if overrides.0 != shown.overrides => overrides.0.clone_from(&shown.overrides),
            None if !shown.overrides.is_empty() => {
                commands.entity(entity).insert(PoseOverrides(shown.overrides.clone()));
            }
            _ => {}
        }
        match parts {
            Some(mut parts) if is_new || parts.is_changed() => {
                parts.set_if_neq(part_overrides(&shown.parts, materials, &assets));
            }
            None if !shown.parts.is_empty() => {
                commands.entity(entity).insert(part_overrides(&shown.parts, materials, &assets));
            }
            _ => {}
        }
        if !is_new {
            continue;
        }
        if let Some(mut motion) = motion {
            motion.delta = default();
        }
        if shown.rig.is_some() && !has_rig {
            commands.entity(entity).insert(RigState::default());
        }
        head.bypass_change_detection().shown = shown.rig.take();
        commands.entity(entity).insert(Teleported);
    }
}

/// What was noted down of parts, as a component.
fn part_overrides(
    parts: &[PartNote],
    materials: &mut HashMap<String, Handle<StandardMaterial>>,
    assets: &AssetServer,
) -> PartOverrides {
    let mut overrides = PartOverrides::default();
    for PartNote { part, hidden, material } in parts {
        let id = match part {
            NotedPart::Name(name) => PartId::from(&**name),
            NotedPart::Index(index) => PartId::from(*index),
        };
        overrides.set_hidden(id.clone(), *hidden);
        let Some(name) = material else { continue };
        // Whatever isn't known is from a file.
        if !materials.contains_key(name) && !name.starts_with('#') {
            materials.insert(name.clone(), assets.load(name));
        }
        overrides.set_material(id, materials.get(name).cloned());
    }
    overrides
}

/// Moves characters to where they were: what they are children of may have moved since, or be gone.
pub(super) fn place(
    characters: Query<(Entity, &Recorded)>,
    children: Query<&Children>,
    mut transforms: Query<(&Transform, &mut GlobalTransform)>,
    mut below: Local<Vec<(Entity, Option<GlobalTransform>)>>,
) {
    for (character, recorded) in &characters {
        // Those without a parent, too: the frame shown before may have had one.
        let Some(parent) = recorded.shown.as_ref().map(|shown| shown.parent) else { continue };
        below.push((character, parent.map(GlobalTransform::from)));
        while let Some((entity, parent)) = below.pop() {
            let Ok((transform, mut world)) = transforms.get_mut(entity) else { continue };
            let now = parent.map_or_else(|| (*transform).into(), |parent| parent.mul_transform(*transform));
            world.set_if_neq(now);
            let children = children.get(entity).map_or(&[][..], |children| &children[..]);
            // A child has one parent, so whoever is their own ancestor gets back to where the walk began.
            below.extend(children.iter().filter(|child| **child != character).map(|&child| (child, Some(now))));
        }
    }
}
