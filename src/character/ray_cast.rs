//! Ray casts against posed characters.

use super::{
    components::{CharacterParts, PartOf, SkinnedCharacter},
    hierarchy::upward,
    poses::Poses,
};
use crate::{
    asset::CharacterPart,
    model::{BoundingBox, JointIndex},
    pose::{Palette, PickSkin, Scratch, SkinHit, TriangleIndices, ray_enters_box},
};
use bevy::{
    camera::primitives::Aabb,
    ecs::system::SystemParam,
    mesh::{Indices, VertexAttributeValues, morph::MeshMorphWeights},
    prelude::*,
    utils::Parallel,
};
use glam::Affine3A;
use std::{mem, sync::Arc};

/// System parameter that casts rays against characters as they are posed.
///
/// Hits are exact, to the triangle, for the pose that [`CharacterPoses`](super::CharacterPoses)
/// returns.
/// Rays pass through hidden parts and characters, and through parts whose mesh is only on the GPU
/// ([`CharacterLoaderSettings::meshes`](crate::asset::CharacterLoaderSettings::meshes)). A ray cast does not
/// allocate.
///
/// For clicks and other pointer events, see [`CharacterPickingPlugin`](super::CharacterPickingPlugin).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::CharacterRayCast, prelude::*};
/// fn shoot(ray_cast: CharacterRayCast, camera: Single<(&Camera, &GlobalTransform)>, window: Single<&Window>) {
///     let (camera, from) = *camera;
///     let Some(cursor) = window.cursor_position() else { return };
///     let Ok(ray) = camera.viewport_to_world(from, cursor) else { return };
///     if let Some(hit) = ray_cast.pick(ray) {
///         info!("{} hit at {:?}, {} m away", hit.character, hit.joint_name, hit.distance);
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct CharacterRayCast<'w, 's> {
    meshes: Res<'w, Assets<Mesh>>,
    characters: Query<'w, 's, (Entity, &'static CharacterParts), With<SkinnedCharacter>>,
    boxes: Query<'w, 's, &'static Aabb, With<PartOf>>,
    morphs: Query<'w, 's, &'static MeshMorphWeights, With<PartOf>>,
    poses: Poses<'w, 's>,
    shown: Query<'w, 's, (Option<&'static Visibility>, Option<&'static ChildOf>)>,
    scratch: Local<'s, Parallel<RayScratch>>,
}

#[derive(Default)]
struct RayScratch {
    /// Characters that the ray may hit, and from which distance on.
    candidates: Vec<(f32, Entity)>,
    pose: Scratch,
    vertices: Vec<Vec3>,
    morphed: Vec<[f32; 3]>,
    palette: Vec<Mat4>,
}

/// The point where a ray hits a character.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::CharacterRayHit, prelude::*};
/// /// Leaves an arrow in what it hit.
/// fn stick(mut arrow: EntityCommands, at: &GlobalTransform, hit: &CharacterRayHit, poses: &CharacterPoses) -> Option<()> {
///     let joint = hit.joint_name.as_deref()?;
///     let offset = at.reparented_to(&poses.joint_transform(hit.character, joint)?);
///     arrow.insert((AttachedTo(hit.character), AtSocket::new(joint).offset(offset)));
///     Some(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterRayHit {
    /// The character.
    pub character: Entity,
    /// The entity of the part that was hit.
    pub entity: Entity,
    /// Index of the part in [`Character::parts`](crate::asset::Character::parts).
    pub part: usize,
    /// The joint with the largest weight at the point; `None` on a part that is not skinned.
    pub joint: Option<JointIndex>,
    /// The joint's name.
    pub joint_name: Option<Arc<str>>,
    /// Distance along the ray, in world units.
    pub distance: f32,
    /// The point in the world.
    pub point: Vec3,
    /// The triangle of the part's mesh.
    pub triangle: usize,
    /// Barycentric coordinates of the point in the triangle.
    pub barycentrics: [f32; 3],
}

impl CharacterRayCast<'_, '_> {
    /// Returns the nearest hit.
    pub fn pick(&self, ray: Ray3d) -> Option<CharacterRayHit> {
        self.pick_where(ray, |_| true)
    }

    /// Like [`Self::pick`], but only considers characters for which `filter` returns `true`.
    pub fn pick_where(
        &self,
        ray: Ray3d,
        mut filter: impl FnMut(Entity) -> bool,
    ) -> Option<CharacterRayHit> {
        // Taken out, so that `filter` may cast rays too.
        let mut scratch = mem::take(&mut *self.scratch.borrow_local_mut());
        let RayScratch {
            candidates,
            pose,
            vertices,
            morphed,
            palette,
        } = &mut scratch;
        candidates.clear();
        for (entity, parts) in self.characters.iter().filter(|(entity, _)| filter(*entity)) {
            candidates.extend(
                self.enters(ray, entity, parts)
                    .map(|distance| (distance, entity)),
            );
        }
        // The nearest first, so that characters behind it need not be posed.
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut nearest: Option<CharacterRayHit> = None;
        for &(enters, character) in &*candidates {
            let is_behind = |enters: f32| {
                nearest
                    .as_ref()
                    .is_some_and(|nearest| nearest.distance < enters)
            };
            // Sorted by where the ray enters, so nothing after this can be nearer.
            if is_behind(enters) {
                break;
            }
            let Ok((_, parts)) = self.characters.get(character) else {
                continue;
            };
            let hit = self.poses.with(character, pose, |asset, &world, joints| {
                let local = LocalRay::new(ray, &world)?;
                let mut nearest: Option<CharacterRayHit> = None;
                for (index, (part, &entity)) in asset.parts.iter().zip(&parts.entities).enumerate()
                {
                    let Some(enters) = local.enters(box_of(part, joints)) else {
                        continue;
                    };
                    if is_behind(enters) || !self.is_shown(entity) {
                        continue;
                    }
                    let Some(mesh) = self.meshes.get(&part.mesh) else {
                        continue;
                    };
                    palette.clear();
                    palette.resize(part.palette_len(), Mat4::IDENTITY);
                    let inverse_bind = asset.skeleton.inverse_bind();
                    let (remap, combined) = (&part.palette, &part.combined_joints);
                    Palette {
                        world,
                        model: joints,
                        inverse_bind,
                        remap,
                        combined,
                    }
                    .run(palette);
                    // Clicks must hit the face that is drawn, with its mouth open.
                    let moved = match self.morphs.get(entity) {
                        Ok(MeshMorphWeights::Value { weights }) => morph(mesh, weights, morphed),
                        _ => None,
                    };
                    let hit = cast(ray, part, mesh, moved, palette, world.into(), vertices);
                    let Some(SkinHit {
                        distance,
                        triangle,
                        barycentrics,
                        joint,
                    }) = hit
                    else {
                        continue;
                    };
                    if nearest
                        .as_ref()
                        .is_none_or(|nearest| distance < nearest.distance)
                    {
                        let joint_name = joint.and_then(|joint| {
                            asset.skeleton.names().get(usize::from(joint)).cloned()
                        });
                        let (part, point) = (index, ray.get_point(distance));
                        nearest = Some(CharacterRayHit {
                            character,
                            entity,
                            part,
                            joint,
                            joint_name,
                            distance,
                            point,
                            triangle,
                            barycentrics,
                        });
                    }
                }
                nearest
            });
            // Boxes overlap, so an earlier character may have been hit nearer.
            let hit = hit.flatten().filter(|hit| !is_behind(hit.distance));
            nearest = hit.or(nearest);
        }
        *self.scratch.borrow_local_mut() = scratch;
        nearest
    }

    /// The distance at which a ray may enter a character; 0 if that isn't known before the character is posed.
    fn enters(&self, ray: Ray3d, entity: Entity, parts: &CharacterParts) -> Option<f32> {
        let found = self.poses.look_up(entity)?;
        // Boxes that don't enclose the pose rule nothing out.
        if !found.is_in_boxes() || parts.version != Some(found.character.version) {
            return Some(0.0);
        }
        let local = LocalRay::new(ray, &self.poses.place_of(&found))?;
        let of_part = |part: &Entity| match self.boxes.get(*part) {
            Ok(aabb) => local.enters(BoundingBox {
                min: aabb.min().into(),
                max: aabb.max().into(),
            }),
            // A part without a box isn't known to be missed.
            Err(_) => Some(0.0),
        };
        parts
            .entities
            .iter()
            .filter_map(of_part)
            .min_by(f32::total_cmp)
    }

    /// Decides by the `Visibility` of the part and everything above it, which is known even where nothing is
    /// rendered.
    fn is_shown(&self, part: Entity) -> bool {
        let parent_of = |entity| self.shown.get(entity).ok()?.1.map(ChildOf::parent);
        for entity in upward(part, parent_of) {
            match self.shown.get(entity) {
                // The nearest setting counts: `Visible` shows a part of a hidden parent.
                Ok((Some(Visibility::Hidden), _)) => return false,
                Ok((Some(Visibility::Visible), _)) => return true,
                _ => {}
            }
        }
        true
    }
}

/// A ray in the space of a character. A point of it is as far along as in the world.
struct LocalRay {
    origin: Vec3,
    direction: Vec3,
}

impl LocalRay {
    /// Returns `None` if the character is scaled to zero: then there is nothing to hit.
    fn new(ray: Ray3d, world: &Affine3A) -> Option<Self> {
        let from_world = world.inverse();
        let to_local = || Self {
            origin: from_world.transform_point3(ray.origin),
            direction: from_world.transform_vector3(*ray.direction),
        };
        from_world.is_finite().then(to_local)
    }

    fn enters(&self, bounds: BoundingBox) -> Option<f32> {
        ray_enters_box(self.origin, self.direction, bounds)
    }
}

fn box_of(part: &CharacterPart, joints: &[Affine3A]) -> BoundingBox {
    // A part that no joint moves has no posed box.
    let rest = || BoundingBox {
        min: part.rest_bounds.min().into(),
        max: part.rest_bounds.max().into(),
    };
    part.bounds.posed(joints).unwrap_or_else(rest)
}

/// Returns the vertices of a part as its morph targets move them. `None` if none does, or if the
/// targets are only on the GPU.
fn morph<'a>(mesh: &Mesh, weights: &[f32], out: &'a mut Vec<[f32; 3]>) -> Option<&'a [[f32; 3]]> {
    if weights.iter().all(|weight| *weight == 0.0) {
        return None;
    }
    let targets = mesh.try_morph_targets().ok()?;
    let Ok(VertexAttributeValues::Float32x3(positions)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return None;
    };
    out.clear();
    out.extend_from_slice(positions);
    // Targets come one after the other, each with a difference for every vertex.
    for (weight, target) in weights
        .iter()
        .zip(targets.chunks_exact(positions.len().max(1)))
        .filter(|(weight, _)| **weight != 0.0)
    {
        for (out, delta) in out.iter_mut().zip(target) {
            *out = (Vec3::from(*out) + delta.position * *weight).to_array();
        }
    }
    Some(out)
}

fn cast(
    ray: Ray3d,
    part: &CharacterPart,
    mesh: &Mesh,
    morphed: Option<&[[f32; 3]]>,
    palette: &[Mat4],
    place: Mat4,
    posed: &mut Vec<Vec3>,
) -> Option<SkinHit> {
    let Ok(VertexAttributeValues::Float32x3(positions)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return None;
    };
    let positions = morphed.unwrap_or(positions);
    let joints = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX) {
        // Without a palette, the part moves with the character as a whole.
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
    let (remap, combined) = (&part.palette, &part.combined_joints);
    PickSkin {
        origin,
        direction,
        positions,
        joints,
        weights,
        indices,
        palette,
        remap,
        combined,
        place,
    }
    .run(posed)
}
