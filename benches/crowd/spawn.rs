//! The same crowd, on both sides.

use super::{Args, content::model, joints::JointCharacter};
use bevy::{ecs::world::CommandQueue, mesh::skinning::SkinnedMeshInverseBindposes, prelude::*};
use bevy_marionette::{
    asset::{Character, build_character},
    character::{AnimationLod, PoseSharing},
    controller::{AnimationController as Controller, AnimationTrack},
    import::Manifest,
    prelude::*,
};
use std::ops::Range;

/// Characters side by side.
pub const ROW: usize = 250;

fn character(world: &mut World, args: &Args) -> Character {
    world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        build_character(
            model(args),
            &Manifest::of_model("crowd"),
            &mut meshes,
            &mut materials,
        )
    })
}

/// Gives every character its own start time.
fn start_of(character: usize) -> f64 {
    character as f64 * 0.37 % 1.0
}

/// Rows of [`ROW`], a meter apart.
fn place_of(character: usize) -> Transform {
    let (column, row) = (character % ROW, character / ROW);
    Transform::from_xyz(column as f32, 0.0, -(row as f32))
}

pub fn spawn_ours(world: &mut World, args: &Args, characters: Range<usize>) {
    if let Some(steps) = args.share {
        world.insert_resource(PoseSharing::Steps(steps));
    }
    let character = character(world, args);
    let clips: Vec<_> = character.clip_names().cloned().collect();
    let handle = world.resource_mut::<Assets<Character>>().add(character);
    if let Some(distance) = args.lod {
        world.spawn((
            Camera::default(),
            Projection::default(),
            Transform::from_xyz(0.0, 1.0, distance),
        ));
    }
    let weight = 1.0 / clips.len() as f32;
    for i in characters {
        let mut controller = Controller::default();
        for name in &clips {
            controller.add_track(
                AnimationTrack::new(name.clone())
                    .weight(weight)
                    .starting_at(start_of(i)),
            );
        }
        let mut entity = world.spawn((SkinnedCharacter(handle.clone()), controller, place_of(i)));
        if args.lod.is_some() {
            // All side by side, so that all are as large.
            entity.insert((AnimationLod::default(), Transform::default()));
        }
    }
}

pub fn spawn_bevys(world: &mut World, args: &Args, characters: Range<usize>) {
    let character = character(world, args);
    let clips: Vec<String> = character
        .clip_names()
        .map(|name| name.to_string())
        .collect();
    let shared = world.resource_scope(|world, mut clips: Mut<Assets<AnimationClip>>| {
        world.resource_scope(|world, mut graphs: Mut<Assets<AnimationGraph>>| {
            let mut inverse_bindposes = world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
            JointCharacter::new(&character, &mut clips, &mut graphs, &mut inverse_bindposes)
        })
    });
    let weight = 1.0 / clips.len() as f32;
    let mut queue = CommandQueue::default();
    let mut commands = Commands::new(&mut queue, world);
    for i in characters {
        let plays: Vec<_> = clips
            .iter()
            .map(|name| (name.as_str(), weight, start_of(i), 1.0))
            .collect();
        shared.spawn(&mut commands, place_of(i), &plays);
    }
    queue.apply(world);
}
