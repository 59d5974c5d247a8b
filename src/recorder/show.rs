//! Characters as they were in a frame of the past.

use super::{Recorded, Recording, Watch};
use crate::{
    asset::Character,
    character::{
        Expressions, IdleEyes, Lag, PartId, PartOverrides, PoseOverrides, RigReplay, RootMotion,
        SkinnedCharacter, TapeHead, Teleported,
    },
    controller::AnimationController,
    model::JointTransform,
    pose::JointOverride,
    record::{FaceNote, Frames, NotedPart, PartNote, Replay, Tape},
    rig::{RigAction, RigState},
};
use bevy::{platform::collections::HashMap, prelude::*, utils::Parallel};
use glam::Affine3A;
use std::mem;

/// A character in a frame of the past.
#[derive(Debug)]
pub(super) struct Shown {
    controller: AnimationController,
    transform: Option<JointTransform>,
    parent: Option<Affine3A>,
    parts: Vec<PartNote>,
    overrides: Vec<JointOverride>,
    face: FaceNote,
    /// The rig's state before the frame, and its inputs in it.
    rig: Option<Box<(RigState, RigAction)>>,
}

/// Computes the state of each character in the frame to show.
pub(super) fn look_back(
    assets: Res<Assets<Character>>,
    recording: Res<Recording>,
    mut memory: Local<Parallel<RigReplay>>,
    mut characters: Query<(&SkinnedCharacter, &mut Recorded)>,
) {
    let Some(showing) = recording
        .showing
        .as_ref()
        .filter(|showing| !showing.is_shown)
    else {
        return;
    };
    let memory = &mut *memory;
    characters.par_iter_mut().for_each_init(
        || memory.borrow_local_mut(),
        |memory, (handle, mut recorded)| {
            let shown = assets.get(handle.id()).and_then(|character| {
                let shown = state_at(
                    &recorded.tape,
                    &recording.frames,
                    showing.frame,
                    character,
                    memory,
                )?;
                Some(Box::new(shown))
            });
            recorded.shown = shown;
        },
    );
}

/// Plays a tape up to a frame.
fn state_at(
    tape: &Tape,
    frames: &Frames,
    frame: u64,
    character: &Character,
    memory: &mut RigReplay,
) -> Option<Shown> {
    let mut replay = Replay::to(tape, frames, frame)?;
    memory.start_over();
    let mut events = Vec::new();
    while replay.frame() < frame {
        let of = replay.frame();
        replay.play_frame(character, &mut events);
        events.clear();
        // Rigs are stored only from time to time. In between, they act again in each frame.
        if let Some(action) = tape.action(of)
            && let (controller, Some(rig)) = replay.parts_mut()
        {
            memory.pose(
                character,
                (controller, frames.lag(of)),
                tape.overrides(of),
                Some((rig, action)),
            );
        }
    }
    // The frame itself: its rig acts when it is shown.
    replay.play_frame(character, &mut events);
    let rig = replay
        .parts_mut()
        .1
        .zip(tape.action(frame))
        .map(|(rig, action)| Box::new((rig.clone(), action.clone())));
    Some(Shown {
        transform: tape.transform(frame),
        parent: tape.parent(frame),
        parts: tape.parts(frame).to_vec(),
        overrides: tape.overrides(frame).to_vec(),
        face: tape.face(frame).cloned().unwrap_or_default(),
        rig,
        controller: replay.into_controller(),
    })
}

/// Shows characters as they were. Changes by the game have no effect meanwhile.
pub(super) fn apply(
    mut commands: Commands,
    (mut recording, mut lag): (ResMut<Recording>, Option<ResMut<Lag>>),
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
        (Option<&mut Expressions>, Option<&mut IdleEyes>),
        Option<&mut RootMotion>,
        Has<RigState>,
    )>,
) {
    let Recording {
        showing,
        materials,
        frames,
        ..
    } = recording.bypass_change_detection();
    let Some(showing) = showing else { return };
    let is_new = !mem::replace(&mut showing.is_shown, true);
    if let Some(lag) = &mut lag {
        lag.0 = frames.lag(showing.frame);
    }
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
            (expressions, eyes),
            motion,
            has_rig,
        ) = item;
        if recorded.since.is_some_and(|since| since > showing.frame) {
            visibility.set_if_neq(Visibility::Hidden);
            continue;
        }
        // Characters whose recording no longer reaches this frame stay in the present.
        let Some(shown) = recorded.bypass_change_detection().shown.as_deref_mut() else {
            continue;
        };
        let watch = watch.bypass_change_detection();
        // The game may change a controller even while time stands still.
        if is_new || Some(controller.last_changed()) != watch.controller {
            controller.clone_from(&shown.controller);
            watch.controller = Some(controller.last_changed());
        }
        if let Some(transform) = shown.transform {
            place.set_if_neq(transform.into());
        }
        let shows = showing
            .present
            .get(&entity)
            .map_or(Visibility::default(), |present| present.visibility);
        visibility.set_if_neq(shows);
        match overrides {
            Some(mut overrides) if overrides.0 != shown.overrides => {
                overrides.0.clone_from(&shown.overrides)
            }
            None if !shown.overrides.is_empty() => {
                commands
                    .entity(entity)
                    .insert(PoseOverrides(shown.overrides.clone()));
            }
            _ => {}
        }
        match parts {
            Some(mut parts) if is_new || parts.is_changed() => {
                parts.set_if_neq(part_overrides(&shown.parts, materials, &assets));
            }
            None if !shown.parts.is_empty() => {
                commands
                    .entity(entity)
                    .insert(part_overrides(&shown.parts, materials, &assets));
            }
            _ => {}
        }
        let face = &shown.face;
        match expressions {
            Some(mut now) if (is_new || now.is_changed()) && now.note() != face.expressions => {
                *now = Expressions::of_note(&face.expressions);
            }
            None if !face.expressions.is_empty() => {
                commands
                    .entity(entity)
                    .insert(Expressions::of_note(&face.expressions));
            }
            _ => {}
        }
        match (eyes, &face.eyes) {
            (Some(mut now), Some(then)) if (is_new || now.is_changed()) && now.note() != *then => {
                *now = IdleEyes::of_note(then);
            }
            (Some(_), None) => drop(commands.entity(entity).remove::<IdleEyes>()),
            (None, Some(then)) => drop(commands.entity(entity).insert(IdleEyes::of_note(then))),
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
        // A jump in time is a jump in space, too.
        commands.entity(entity).insert(Teleported);
    }
}

/// Returns stored differences of parts as a component.
fn part_overrides(
    parts: &[PartNote],
    materials: &mut HashMap<String, Handle<StandardMaterial>>,
    assets: &AssetServer,
) -> PartOverrides {
    let mut overrides = PartOverrides::default();
    for PartNote {
        part,
        hidden,
        material,
    } in parts
    {
        let id = match part {
            NotedPart::Name(name) => PartId::from(&**name),
            NotedPart::Index(index) => PartId::from(*index),
        };
        overrides.set_hidden(id.clone(), *hidden);
        let Some(name) = material else { continue };
        // A material that the app does not know is a path from a recording file.
        if !materials.contains_key(name) && !name.starts_with('#') {
            materials.insert(name.clone(), assets.load(name));
        }
        overrides.set_material(id, materials.get(name).cloned());
    }
    overrides
}

/// Moves characters to where they were: their parents may have moved since, or no longer exist.
pub(super) fn place(
    characters: Query<(Entity, &Recorded)>,
    children: Query<&Children>,
    mut transforms: Query<(&Transform, &mut GlobalTransform)>,
    mut below: Local<Vec<(Entity, Option<GlobalTransform>)>>,
) {
    for (character, recorded) in &characters {
        // Also those without a parent, as the frame shown before may have had one.
        let Some(parent) = recorded.shown.as_ref().map(|shown| shown.parent) else {
            continue;
        };
        below.push((character, parent.map(GlobalTransform::from)));
        while let Some((entity, parent)) = below.pop() {
            let Ok((transform, mut world)) = transforms.get_mut(entity) else {
                continue;
            };
            let now = parent.map_or_else(
                || (*transform).into(),
                |parent| parent.mul_transform(*transform),
            );
            world.set_if_neq(now);
            let children = children
                .get(entity)
                .map_or(&[][..], |children| &children[..]);
            // A child has one parent, so a walk along a cycle returns to its start.
            below.extend(
                children
                    .iter()
                    .filter(|child| **child != character)
                    .map(|&child| (child, Some(now))),
            );
        }
    }
}
