//! Recording what happens to characters.

use super::{Departed, Recorded, Recording, StandIn, Watch};
use crate::{
    asset::Character,
    character::{
        Expressions, IdleEyes, Lag, PartId, PartOverrides, PoseOverrides, RootMotion,
        SkinnedCharacter, TapeHead,
    },
    controller::AnimationController,
    record::{FaceNote, Frames, NotedPart, PartNote, Tape, TapeMoment},
    rig::RigState,
};
use bevy::{
    ecs::{entity::EntityHashSet, lifecycle::HookContext, world::DeferredWorld},
    platform::collections::{HashMap, HashSet},
    prelude::*,
};
use std::mem;

/// Frames after which the state of a character is stored again. Showing a frame plays at most this
/// many.
const NOTE_EVERY: u64 = 600;
/// Frames after which old ones are dropped.
const DROP_EVERY: u64 = 64;

/// Stores what the game changed since the last advance, right before the next one.
///
/// Per-frame checks read only change ticks, which are contiguous in memory.
pub(super) fn begin_step(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    mut recording: ResMut<Recording>,
    mut no_motion: RemovedComponents<RootMotion>,
    mut no_rig: RemovedComponents<RigState>,
    mut characters: Query<(
        Entity,
        Ref<SkinnedCharacter>,
        Ref<AnimationController>,
        Option<Ref<RootMotion>>,
        Option<Ref<RigState>>,
        &mut TapeHead,
        &mut Watch,
        &mut Recorded,
    )>,
) {
    let is_resumed = mem::take(&mut recording.was_off);
    let frames = &mut recording.frames;
    let (frame, step) = (frames.next_frame(), frames.next_step());
    let lost: EntityHashSet = no_motion.read().chain(no_rig.read()).collect();
    let assets_changed = assets.is_changed();
    for (entity, handle, controller, motion, rig, mut head, mut watch, mut recorded) in
        &mut characters
    {
        // By entity, so that not all characters store theirs in the same frame.
        let note_is_due = (frame + u64::from(entity.index_u32())).is_multiple_of(NOTE_EVERY);
        let asset_may_differ = is_resumed || assets_changed || handle.is_changed();
        let rig_changed = rig.as_ref().is_some_and(Ref::is_changed);
        let motion_changed = motion.as_ref().is_some_and(Ref::is_added)
            || (!lost.is_empty() && lost.contains(&entity));
        if !(note_is_due
            || asset_may_differ
            || rig_changed
            || motion_changed
            || controller.is_changed())
        {
            continue;
        }
        let watch = watch.bypass_change_detection();
        if asset_may_differ {
            let version = assets
                .get(handle.id())
                .map_or(0, |character| character.version);
            if is_resumed {
                // Everything that happened meanwhile counts as a change.
                *watch = Watch {
                    version: watch.version,
                    ..Watch::default()
                };
            }
            // Makes `end_frame` check everything, too.
            head.set_changed();
            if version != watch.version {
                // The past with other clips cannot be played again.
                *watch = Watch {
                    version,
                    ..Watch::default()
                };
                recorded.tape = Tape::starting_at(frame);
                recorded.since.get_or_insert(frame);
            }
        }
        if watch.version == 0 {
            continue;
        }
        let (is_carried, now) = (motion.is_some(), Some(controller.last_changed()));
        let is_change = now != watch.controller || is_carried != watch.is_carried;
        let rig_now = rig.as_ref().map(Ref::last_changed);
        // A rig's state is stored only now and then, or when the game has set it, because then its inputs don't lead there.
        let rig_is_due = note_is_due || rig_now != watch.rig;
        if is_change || rig_is_due {
            (watch.controller, watch.rig, watch.is_carried) = (now, rig_now, is_carried);
            // Rigs are large, and mostly their state follows from an earlier one.
            let rig = rig.as_deref().filter(|_| rig_is_due);
            recorded.tape.note_state(
                TapeMoment {
                    frame,
                    step,
                    is_change,
                    is_carried,
                },
                &controller,
                rig,
            );
        }
    }
    frames.add_step(time.delta_secs_f64());
}

/// Stores the places of the parents of characters, if the parents or their own parents moved.
pub(super) fn note_parents(
    recording: Res<Recording>,
    parents: Query<&GlobalTransform>,
    mut characters: Query<(&ChildOf, Ref<GlobalTransform>, &mut Recorded, &mut Watch)>,
) {
    let frame = recording.frames.next_frame();
    for (parent, world, mut recorded, mut watch) in &mut characters {
        if (!world.is_changed() && watch.is_placed) || watch.version == 0 {
            continue;
        }
        watch.bypass_change_detection().is_placed = true;
        let parent = parents
            .get(parent.parent())
            .ok()
            .map(GlobalTransform::affine);
        // The character's own movement marks its `GlobalTransform` as changed, too.
        if recorded.tape.parent(frame) != parent {
            recorded.tape.note_parent(frame, parent);
        }
    }
}

/// Stores what happened in the frame.
pub(super) fn end_frame(
    (time, lag): (Res<Time<Virtual>>, Option<Res<Lag>>),
    mut recording: ResMut<Recording>,
    mut removed: (
        RemovedComponents<PoseOverrides>,
        RemovedComponents<PartOverrides>,
        RemovedComponents<ChildOf>,
        RemovedComponents<Expressions>,
        RemovedComponents<IdleEyes>,
    ),
    mut characters: Query<(
        Entity,
        Ref<AnimationController>,
        Ref<Transform>,
        Option<Ref<PoseOverrides>>,
        Option<Ref<PartOverrides>>,
        (Option<Ref<Expressions>>, Option<Ref<IdleEyes>>),
        Has<ChildOf>,
        &mut TapeHead,
        &mut Watch,
        &mut Recorded,
    )>,
) {
    let recording = &mut *recording;
    if !recording.enabled {
        // Marks a gap: the next frame that is recorded stores everything anew.
        recording.was_off = true;
        characters
            .iter_mut()
            .for_each(|(.., mut head, _, _)| *head.bypass_change_detection() = TapeHead::default());
        return;
    }
    let Recording {
        frames,
        departed,
        materials,
        ..
    } = recording;
    let frame = frames.next_frame();
    let lost: EntityHashSet = removed
        .0
        .read()
        .chain(removed.1.read())
        .chain(removed.2.read())
        .chain(removed.3.read())
        .chain(removed.4.read())
        .collect();
    for (
        entity,
        controller,
        transform,
        overrides,
        parts,
        (expressions, eyes),
        has_parent,
        mut head,
        mut watch,
        mut recorded,
    ) in &mut characters
    {
        let overrides_changed = overrides.as_ref().is_some_and(Ref::is_changed)
            || parts.as_ref().is_some_and(Ref::is_changed)
            || expressions.as_ref().is_some_and(Ref::is_changed)
            || eyes.as_ref().is_some_and(Ref::is_changed);
        let is_lost = !lost.is_empty() && lost.contains(&entity);
        if !(controller.is_changed()
            || transform.is_changed()
            || head.is_changed()
            || overrides_changed
            || is_lost)
        {
            continue;
        }
        let (head, watch) = (
            head.bypass_change_detection(),
            watch.bypass_change_detection(),
        );
        if watch.version == 0 {
            continue;
        }
        if watch
            .controller
            .is_some_and(|noted| noted != controller.last_changed())
        {
            // Changed after the advance, by an observer of its events, for example.
            watch.controller = Some(controller.last_changed());
            let is_carried = watch.is_carried;
            let moment = TapeMoment {
                frame,
                step: frames.next_step(),
                is_change: true,
                is_carried,
            };
            recorded.tape.note_state(moment, &controller, None);
        }
        // Without a stored transform, the tape has just begun, and everything is stored.
        let overrides_now = overrides.as_ref().map(Ref::last_changed);
        if overrides_now != watch.overrides || watch.transform.is_none() {
            watch.overrides = overrides_now;
            let overrides = overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
            if recorded.tape.overrides(frame) != overrides {
                recorded.tape.note_overrides(frame, overrides);
            }
        }
        let parts_now = parts.as_ref().map(Ref::last_changed);
        if parts_now != watch.parts || watch.transform.is_none() {
            watch.parts = parts_now;
            let parts = parts
                .as_ref()
                .map_or(vec![], |parts| noted_parts(parts, materials));
            if recorded.tape.parts(frame) != parts {
                recorded.tape.note_parts(frame, parts);
            }
        }
        let face_now = [
            expressions.as_ref().map(Ref::last_changed),
            eyes.as_ref().map(Ref::last_changed),
        ];
        if face_now != watch.face || watch.transform.is_none() {
            watch.face = face_now;
            let face = FaceNote {
                expressions: expressions.map_or(vec![], |expressions| expressions.note()),
                eyes: eyes.map(|eyes| eyes.note()),
            };
            if *recorded.tape.face(frame).unwrap_or(&FaceNote::default()) != face {
                recorded.tape.note_face(frame, face);
            }
        }
        if (is_lost || watch.transform.is_none())
            && !has_parent
            && recorded.tape.parent(frame).is_some()
        {
            recorded.tape.note_parent(frame, None);
        }
        if Some(transform.last_changed()) != watch.transform {
            watch.transform = Some(transform.last_changed());
            recorded.tape.note_transform(frame, (*transform).into());
        }
        if let Some(action) = head.action.take() {
            recorded.tape.note_action(frame, *action);
        }
    }
    let lag = lag.map_or(0.0, |lag| lag.0);
    frames.end_late_frame(time.elapsed_secs_f64(), lag);
    if !frame.is_multiple_of(DROP_EVERY) {
        return;
    }
    let tapes = characters
        .iter_mut()
        .map(|(.., recorded)| &mut recorded.into_inner().tape);
    let mut tapes: Vec<_> = tapes
        .chain(departed.iter_mut().map(|departed| &mut departed.tape))
        .collect();
    recording.bytes_used = drop_old(frames, &mut tapes, recording.seconds, recording.bytes);
    // Materials stay loaded only while a tape names them.
    if !materials.is_empty() {
        let used: HashSet<&str> = tapes.iter().flat_map(|tape| tape.materials()).collect();
        materials.retain(|material, _| used.contains(&**material));
    }
    departed.retain(|departed| !departed.tape.range(frames).is_empty());
}

/// Drops the oldest frames until no more than this is left. Returns the number of bytes that
/// remain.
fn drop_old(frames: &mut Frames, tapes: &mut [&mut Tape], seconds: f64, bytes: usize) -> usize {
    let range = frames.range();
    let last = range
        .end
        .checked_sub(1)
        .and_then(|last| frames.time(last))
        .unwrap_or(0.0);
    let mut first = frames.at(last - seconds).unwrap_or(range.start);
    loop {
        frames.drop_before(first);
        tapes.iter_mut().for_each(|tape| tape.drop_before(first));
        let used = frames.bytes() + tapes.iter().map(|tape| tape.bytes()).sum::<usize>();
        let range = frames.range();
        // One frame stays, however small the budget.
        if used <= bytes || range.end - range.start < 2 {
            return used;
        }
        // An eighth at a time, because counting the bytes goes through all tapes.
        first = range.start + (range.end - range.start).div_ceil(8);
    }
}

/// Keeps the tape of a character that is despawned.
pub(super) fn keep_departed(mut world: DeferredWorld, removed: HookContext) {
    let entity = removed.entity;
    // The tape of a stand-in is taken back when it is despawned.
    if world.get::<StandIn>(entity).is_some() {
        return;
    }
    let name = world
        .get::<Name>(entity)
        .map_or_else(|| "character".into(), Name::to_string);
    let Some(handle) = world
        .get::<SkinnedCharacter>(entity)
        .map(|character| character.0.clone())
    else {
        return;
    };
    let Some(version) = world.get::<Watch>(entity).map(|watch| watch.version) else {
        return;
    };
    let Some(mut recorded) = world.get_mut::<Recorded>(entity) else {
        return;
    };
    let Recorded { tape, since, .. } = mem::take(&mut *recorded);
    let Some(mut recording) = world.get_resource_mut::<Recording>() else {
        return;
    };
    let mut departed = Departed {
        name,
        handle,
        version: Some(version),
        since,
        tape,
        stand_in: None,
    };
    departed.tape.end(recording.frames.next_frame());
    // A tape without frames has nothing to show.
    if !departed.tape.range(&recording.frames).is_empty() {
        recording.departed.push(departed);
    }
}

/// Returns the overrides of parts as tapes store them, and keeps their materials loaded.
fn noted_parts(
    overrides: &PartOverrides,
    materials: &mut HashMap<String, Handle<StandardMaterial>>,
) -> Vec<PartNote> {
    let note = |(part, hidden, material): (&PartId, bool, Option<&Handle<StandardMaterial>>)| {
        let part = match part {
            PartId::Name(name) => NotedPart::Name(name.clone()),
            PartId::Index(index) => NotedPart::Index(*index),
        };
        let material = material.map(|material| {
            let name = material
                .path()
                .map_or_else(|| format!("#{:?}", material.id()), ToString::to_string);
            materials
                .entry(name.clone())
                .or_insert_with(|| material.clone());
            name
        });
        PartNote {
            part,
            hidden,
            material,
        }
    };
    overrides.changes().map(note).collect()
}
