//! A character's asset, parts and palettes, and the character skinned on the CPU.

use super::skinned::skinned;
use bevy::{camera::visibility::NoFrustumCulling, ecs::system::SystemState, prelude::*};
use bevy_marionette::{asset::Character, character::CharacterParts, prelude::*};
use glam::Affine3A;

pub fn asset(world: &World, character: Entity) -> &Character {
    let handle = world
        .get::<SkinnedCharacter>(character)
        .expect("a character");
    world
        .resource::<Assets<Character>>()
        .get(handle.id())
        .expect("it is loaded")
}

pub fn parts(world: &World, character: Entity) -> Vec<Entity> {
    let parts = world
        .get::<CharacterParts>(character)
        .expect("a character")
        .entities
        .to_vec();
    assert!(!parts.is_empty(), "the parts are spawned");
    parts
}

/// Returns a character's joints in its own space.
pub fn pose(world: &mut World, character: Entity) -> Vec<Affine3A> {
    SystemState::<CharacterPoses>::new(world)
        .get(world)
        .expect("poses")
        .pose(character)
        .expect("a character")
}

/// Returns the palette of a part, computed on the CPU.
pub fn palette(world: &mut World, character: Entity, part: usize) -> Vec<Mat4> {
    SystemState::<CharacterPoses>::new(world)
        .get(world)
        .expect("poses")
        .palette(character, part)
        .expect("a part")
}

/// Replaces a character by its meshes, skinned on the CPU.
pub fn replace_by_skinned(world: &mut World, character: Entity) -> Vec<Entity> {
    let mut shown = Vec::new();
    for part in 0..parts(world, character).len() {
        let palette = palette(world, character, part);
        let part = asset(world, character).parts[part].clone();
        let mut meshes = world.resource_mut::<Assets<Mesh>>();
        let mut mesh = skinned(meshes.get(&part.mesh).expect("the mesh is kept"), &palette);
        if palette.iter().any(|matrix| matrix.determinant() < 0.0) {
            mesh.invert_winding().expect("triangles");
        }
        let mesh = meshes.add(mesh);
        shown.push(
            world
                .spawn((
                    Mesh3d(mesh),
                    MeshMaterial3d(part.material),
                    NoFrustumCulling,
                ))
                .id(),
        );
    }
    world.entity_mut(character).insert(Visibility::Hidden);
    shown
}
