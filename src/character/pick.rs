//! Picking: which character a ray meets, at the place where it is posed.

use super::{CharacterParts, SkinnedCharacter, redraw::Poses};
use crate::{
    asset::CharacterPart,
    model::{BoundingBox, JointIndex},
    pose::{Palette, PickSkin, Scratch, SkinHit, TriangleIndices, ray_meets_box},
};
use bevy::{
    ecs::system::SystemParam,
    mesh::{Indices, VertexAttributeValues},
    prelude::*,
};
use glam::Affine3A;

/// System parameter that casts rays on characters as they are posed.
///
/// The answer is exact, to the triangle, for the pose of the last `PostUpdate`; for a character that keeps its
/// [`ModelPose`](super::ModelPose) and is out of view, that is the last pose seen. Hidden parts and
/// characters let rays through, and so do parts whose mesh is only on the GPU
/// ([`CharacterLoaderSettings::meshes`](crate::asset::CharacterLoaderSettings::meshes)).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::CharacterRayCast;
/// fn shoot(pick: CharacterRayCast, camera: Single<(&Camera, &GlobalTransform)>, window: Single<&Window>) {
///     let (camera, from) = *camera;
///     let Some(at) = window.cursor_position() else { return };
///     let Ok(ray) = camera.viewport_to_world(from, at) else { return };
///     if let Some(hit) = pick.pick(ray) {
///         info!("{} at joint {:?}, {} m away", hit.character, hit.joint, hit.distance);
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct CharacterRayCast<'w, 's> {
    meshes: Res<'w, Assets<Mesh>>,
    characters: Query<'w, 's, (Entity, &'static CharacterParts), With<SkinnedCharacter>>,
    poses: Poses<'w, 's>,
    shown: Query<'w, 's, (Option<&'static Visibility>, Option<&'static ChildOf>)>,
}

/// What a ray met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CharacterRayHit {
    /// The character.
    pub character: Entity,
    /// The entity of the part that was hit.
    pub entity: Entity,
    /// Which part that is: index into [`Character::parts`](crate::asset::Character::parts).
    pub part: usize,
    /// The joint that moves the skin there the most; `None` on a part that no joint moves.
    pub joint: Option<JointIndex>,
    /// How far along the ray, in the world's units.
    pub distance: f32,
    /// Where, in the world.
    pub point: Vec3,
    /// The triangle of the part's mesh.
    pub triangle: usize,
    /// Shares of its three vertices in the point.
    pub barycentrics: [f32; 3],
}

impl CharacterRayCast<'_, '_> {
    /// The nearest skin that the ray meets.
    pub fn pick(&self, ray: Ray3d) -> Option<CharacterRayHit> {
        self.pick_where(ray, |_| true)
    }

    /// As [`Self::pick`], among the characters that pass a test.
    pub fn pick_where(&self, ray: Ray3d, mut test: impl FnMut(Entity) -> bool) -> Option<CharacterRayHit> {
        let mut nearest: Option<CharacterRayHit> = None;
        let mut desk = (Scratch::default(), Vec::new(), Vec::new());
        for (character, parts) in self.characters.iter().filter(|(character, _)| test(*character)) {
            let (scratch, posed, palette) = (&mut desk.0, &mut desk.1, &mut desk.2);
            self.poses.with(character, scratch, |asset, &world, joints| {
                let from_world = world.inverse();
                // Pressed flat by a scale of zero: there is nothing to be hit.
                if !from_world.is_finite() {
                    return;
                }
                let origin = from_world.transform_point3(ray.origin);
                let direction = from_world.transform_vector3(*ray.direction);
                for (index, (part, &entity)) in asset.parts.iter().zip(&parts.entities).enumerate() {
                    if !ray_meets_box(origin, direction, box_of(part, joints)) || !self.is_shown(entity) {
                        continue;
                    }
                    let Some(mesh) = self.meshes.get(&part.mesh) else { continue };
                    palette.clear();
                    palette.resize(part.palette.len(), Mat4::IDENTITY);
                    let inverse_bind = asset.skeleton.inverse_bind();
                    Palette { world, model: joints, inverse_bind, remap: &part.palette }.run(palette);
                    let hit = cast(ray, part, mesh, palette, world.into(), posed);
                    let Some(SkinHit { distance, triangle, barycentrics, joint }) = hit else { continue };
                    if nearest.is_none_or(|nearest| distance < nearest.distance) {
                        let point = ray.get_point(distance);
                        let part = index;
                        nearest = Some(CharacterRayHit {
                            character,
                            entity,
                            part,
                            joint,
                            distance,
                            point,
                            triangle,
                            barycentrics,
                        });
                    }
                }
            });
        }
        nearest
    }

    /// By the `Visibility` of the part and what is above it: known also where nothing is drawn.
    fn is_shown(&self, part: Entity) -> bool {
        let mut entity = part;
        loop {
            let Ok((visibility, parent)) = self.shown.get(entity) else { return true };
            match visibility {
                Some(Visibility::Hidden) => return false,
                Some(Visibility::Visible) => return true,
                Some(Visibility::Inherited) | None => {}
            }
            let Some(parent) = parent else { return true };
            entity = parent.parent();
        }
    }
}

fn box_of(part: &CharacterPart, joints: &[Affine3A]) -> BoundingBox {
    let rest = || BoundingBox { min: part.rest_bounds.min().into(), max: part.rest_bounds.max().into() };
    part.bounds.posed(joints).unwrap_or_else(rest)
}

fn cast(
    ray: Ray3d,
    part: &CharacterPart,
    mesh: &Mesh,
    palette: &[Mat4],
    place: Mat4,
    posed: &mut Vec<Vec3>,
) -> Option<SkinHit> {
    let Ok(VertexAttributeValues::Float32x3(positions)) = mesh.try_attribute(Mesh::ATTRIBUTE_POSITION) else {
        return None;
    };
    let joints = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX) {
        Ok(VertexAttributeValues::Uint16x4(joints)) if !part.palette.is_empty() => &joints[..],
        _ => &[],
    };
    let weights = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT) {
        Ok(VertexAttributeValues::Float32x4(weights)) => &weights[..],
        _ => &[],
    };
    let indices = match mesh.try_indices().ok()? {
        Indices::U16(list) => TriangleIndices::U16(list),
        Indices::U32(list) => TriangleIndices::U32(list),
    };
    let (origin, direction) = (ray.origin, *ray.direction);
    let remap = &part.palette;
    PickSkin { origin, direction, positions, joints, weights, indices, palette, remap, place }.run(posed)
}
