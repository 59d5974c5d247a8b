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

/// Builds the kinds that these characters need. Character `i` is of kind `i` modulo their number, so that neighbors differ.
fn kinds(world: &mut World, args: &Args, characters: &Range<usize>) -> Vec<Character> {
    let needed = args.kinds.min(characters.end);
    (0..needed)
        .map(|kind| character(world, args, kind))
        .collect()
}

fn character(world: &mut World, args: &Args, kind: usize) -> Character {
    world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        build_character(
            model(args, kind),
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
    let kinds = kinds(world, args, &characters);
    // All kinds have the same names of clips.
    let clips: Vec<_> = kinds[0].clip_names().cloned().collect();
    let mut assets = world.resource_mut::<Assets<Character>>();
    let handles: Vec<_> = kinds.into_iter().map(|kind| assets.add(kind)).collect();
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
        let handle = handles[i % handles.len()].clone();
        let mut entity = world.spawn((SkinnedCharacter(handle), controller, place_of(i)));
        if args.lod.is_some() {
            // All side by side, so that all are as large.
            entity.insert((AnimationLod::default(), Transform::default()));
        }
    }
}

pub fn spawn_bevys(world: &mut World, args: &Args, characters: Range<usize>) {
    let kinds = kinds(world, args, &characters);
    let clips: Vec<String> = kinds[0].clip_names().map(|name| name.to_string()).collect();
    let shared: Vec<JointCharacter> =
        world.resource_scope(|world, mut clips: Mut<Assets<AnimationClip>>| {
            world.resource_scope(|world, mut graphs: Mut<Assets<AnimationGraph>>| {
                let mut inverse_bindposes =
                    world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
                let shared = kinds.iter().map(|kind| {
                    JointCharacter::new(kind, &mut clips, &mut graphs, &mut inverse_bindposes)
                });
                shared.collect()
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
        shared[i % shared.len()].spawn(&mut commands, place_of(i), &plays);
    }
    queue.apply(world);
}
