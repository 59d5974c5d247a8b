//! Skeletons, sockets and culling boxes drawn in the view.
//!
//! Needs nothing of the panel: add [`DrawSkeletonPlugin`] and put a [`DrawSkeleton`] on a character.

use crate::{
    asset::Character,
    character::{CharacterParts, CharacterSystems, ModelPose, SkinnedCharacter},
    model::{JointIndex, Skeleton},
};
use bevy::{
    camera::primitives::Aabb,
    gizmos::{GizmoPlugin, config::GizmoConfigGroup},
    math::bounding::Aabb3d,
    prelude::*,
};
use bevy_egui::PrimaryEguiContext;
use glam::Affine3A;

/// Put on a character: draws its skeleton as it is posed, in front of the skin.
///
/// Drawn after the pose is evaluated, so never a frame late. Needs [`DrawSkeletonPlugin`] and Bevy's
/// gizmos (features `bevy_gizmos` and `bevy_gizmos_render`).
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(ModelPose)]
pub struct DrawSkeleton {
    /// How bones are drawn.
    pub bones: BoneShape,
    /// Each joint's axes: x red, y green, z blue.
    pub axes: bool,
    /// Each joint's name beside it, facing the camera, the same size near and far. Gizmos write ASCII only;
    /// where the panel's plugin is, egui writes, in all letters that its fonts have.
    pub names: bool,
    /// A line from each joint to its parent, fading on the way.
    pub links: bool,
    /// The sockets of the character's manifest, as axes with a box.
    pub sockets: bool,
    /// The parts' culling boxes.
    pub bounds: bool,
    /// A joint that stands out.
    pub highlight: Option<JointIndex>,
}

/// How a bone is drawn: from a joint to each of its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Default, PartialEq)]
pub enum BoneShape {
    /// Not at all.
    None,
    /// A line to the parent.
    Lines,
    /// Blender's octahedra, thick at the parent's end.
    #[default]
    Octahedra,
}

impl Default for DrawSkeleton {
    /// Octahedra, and nothing else.
    fn default() -> Self {
        Self { bones: BoneShape::Octahedra, ..Self::NONE }
    }
}

impl DrawSkeleton {
    /// Nothing at all: to be filled in.
    pub const NONE: Self = Self {
        bones: BoneShape::None,
        axes: false,
        names: false,
        links: false,
        sockets: false,
        bounds: false,
        highlight: None,
    };
}

/// Gizmos of this crate, to be configured as a group; in front of everything unless told otherwise.
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct SkeletonGizmos;

/// Draws what [`DrawSkeleton`] asks for. Part of the inspector; add it alone to do without a panel.
///
/// Without Bevy's `GizmoPlugin`, which must be added before, it draws nothing.
pub struct DrawSkeletonPlugin;

impl Plugin for DrawSkeletonPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<DrawSkeleton>();
        if !app.is_plugin_added::<GizmoPlugin>() {
            return;
        }
        let line = GizmoLineConfig { width: 1.5, ..default() };
        app.insert_gizmo_config(SkeletonGizmos, GizmoConfig { line, depth_bias: -1.0, ..default() })
            .init_resource::<HoveredJoint>()
            .add_systems(
                PostUpdate,
                (
                    draw.run_if(any_with_component::<DrawSkeleton>),
                    draw_hovered.run_if(|hovered: Res<HoveredJoint>| hovered.0.is_some()),
                )
                    .after(CharacterSystems::EvaluateLate),
            );
    }
}

/// The joint that stands out while the panel is open: the one under the pointer, or else the one chosen.
#[derive(Resource, Default, PartialEq)]
pub(super) struct HoveredJoint(pub(super) Option<(Entity, JointIndex)>);

/// Names are written by egui where it has a context, not by gizmos.
#[derive(Resource)]
pub(super) struct NamesElsewhere;

const BONE: Color = Color::srgb(0.72, 0.80, 0.90);
pub(super) const HIGHLIGHT: Color = Color::srgb(1.0, 0.62, 0.16);
const LINK: Color = Color::srgb(0.55, 0.85, 0.95);
pub(super) const NAME: Color = Color::srgb(0.95, 0.95, 0.90);
const BOUNDS: Color = Color::srgb(0.36, 0.85, 0.55);
const SOCKET: Color = Color::srgb(0.95, 0.45, 0.85);

type Drawn = (&'static SkinnedCharacter, &'static ModelPose, &'static CharacterParts, &'static GlobalTransform);

fn draw(
    mut gizmos: Gizmos<SkeletonGizmos>,
    assets: Res<Assets<Character>>,
    characters: Query<(Drawn, &DrawSkeleton)>,
    boxes: Query<(&Aabb, &GlobalTransform)>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera3d>>,
    names_elsewhere: Option<Res<NamesElsewhere>>,
    egui: Query<(), With<PrimaryEguiContext>>,
) {
    // Names can face one camera only: the first that draws.
    let camera = cameras.iter().filter(|(camera, _)| camera.is_active).min_by_key(|(camera, _)| camera.order);
    for ((handle, pose, parts, world), what) in &characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        let Some(joints) = in_world(character, pose, world) else { continue };
        let size = bone_size(&character.skeleton, &joints);
        draw_bones(&mut gizmos, &character.skeleton, &joints, what);
        if what.links {
            for (joint, parent) in character.skeleton.parents().iter().enumerate() {
                let &Some(parent) = parent else { continue };
                let [from, to] = [usize::from(parent), joint].map(|joint| Vec3::from(joints[joint].translation));
                gizmos.line_gradient(to, from, LINK, LINK.with_alpha(0.15));
            }
        }
        if what.names
            && (names_elsewhere.is_none() || egui.is_empty())
            && let Some(camera) = camera
        {
            write_names(&mut gizmos, &character.skeleton, &joints, what.highlight, camera);
        }
        if what.axes {
            for joint in &joints {
                axes(&mut gizmos, joint, 0.3 * size);
            }
        }
        if what.sockets {
            for socket in character.sockets.values() {
                let Some(joint) = joints.get(usize::from(socket.joint)) else { continue };
                let place = *joint * socket.offset;
                axes(&mut gizmos, &place, 0.5 * size);
                let (_, rotation, at) = place.to_scale_rotation_translation();
                let marker =
                    Transform::from_translation(at).with_rotation(rotation).with_scale(Vec3::splat(0.2 * size));
                gizmos.cube(marker, SOCKET);
            }
        }
        if what.bounds {
            for (aabb, transform) in boxes.iter_many(&parts.entities) {
                gizmos.aabb_3d(Aabb3d::new(aabb.center, aabb.half_extents), *transform, BOUNDS);
            }
        }
        if let Some(at) = what.highlight {
            mark(&mut gizmos, &joints, at, size);
        }
    }
}

fn draw_hovered(
    mut gizmos: Gizmos<SkeletonGizmos>,
    hovered: Res<HoveredJoint>,
    assets: Res<Assets<Character>>,
    characters: Query<Drawn>,
) {
    let Some((entity, joint)) = hovered.0 else { return };
    let Ok((handle, pose, _, world)) = characters.get(entity) else { return };
    let Some(character) = assets.get(handle.id()) else { return };
    let Some(joints) = in_world(character, pose, world) else { return };
    let bones = DrawSkeleton { highlight: Some(joint), ..DrawSkeleton::NONE };
    draw_bones(&mut gizmos, &character.skeleton, &joints, &bones);
    let size = bone_size(&character.skeleton, &joints);
    mark(&mut gizmos, &joints, joint, size);
}

/// Joint → world, once the pose is there.
pub(super) fn in_world(character: &Character, pose: &ModelPose, world: &GlobalTransform) -> Option<Vec<Affine3A>> {
    let world = world.affine();
    let complete = pose.joints.len() == character.skeleton.len();
    complete.then(|| pose.joints.iter().map(|joint| world * *joint).collect())
}

/// A length to draw marks by: the mean bone.
fn bone_size(skeleton: &Skeleton, joints: &[Affine3A]) -> f32 {
    let bones = skeleton.parents().iter().enumerate().filter_map(|(joint, parent)| Some((joint, (*parent)?)));
    let lengths =
        bones.map(|(joint, parent)| (joints[joint].translation - joints[usize::from(parent)].translation).length());
    let (sum, count) = lengths.fold((0.0, 0), |(sum, count), length| (sum + length, count + 1));
    if count > 0 && sum > 0.0 { sum / count as f32 } else { 0.1 }
}

fn draw_bones(gizmos: &mut Gizmos<SkeletonGizmos>, skeleton: &Skeleton, joints: &[Affine3A], what: &DrawSkeleton) {
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        let &Some(parent) = parent else { continue };
        let chosen = what.highlight == Some(parent);
        let shape = match what.bones {
            // What is chosen is seen whatever else is drawn.
            BoneShape::None if chosen => BoneShape::Octahedra,
            shape => shape,
        };
        let color = if chosen { HIGHLIGHT } else { BONE };
        let (from, to) = (Vec3::from(joints[usize::from(parent)].translation), Vec3::from(joints[joint].translation));
        match shape {
            BoneShape::None => {}
            BoneShape::Lines => gizmos.line(from, to, color),
            BoneShape::Octahedra => {
                for [a, b] in octahedron(from, to) {
                    gizmos.line(a, b, color);
                }
            }
        }
    }
}

/// The twelve edges of a bone; all in one point for a bone without length.
fn octahedron(from: Vec3, to: Vec3) -> [[Vec3; 2]; 12] {
    let along = to - from;
    let length = along.length();
    let (right, up) = along.try_normalize().map_or((Vec3::ZERO, Vec3::ZERO), Vec3::any_orthonormal_pair);
    let middle = from + along * 0.14;
    let thick = length * 0.09;
    let ring = [right, up, -right, -up].map(|side| middle + side * thick);
    std::array::from_fn(|edge| {
        let corner = ring[edge % 4];
        match edge / 4 {
            0 => [from, corner],
            1 => [corner, to],
            _ => [corner, ring[(edge + 1) % 4]],
        }
    })
}

/// Writes each joint's name to the right of it.
fn write_names(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    skeleton: &Skeleton,
    joints: &[Affine3A],
    highlight: Option<JointIndex>,
    (camera, from): (&Camera, &GlobalTransform),
) {
    let Some(size) = camera.logical_viewport_size() else { return };
    let (projection, view) = (camera.clip_from_view(), from.affine().inverse());
    let facing = from.rotation();
    for (index, (name, joint)) in skeleton.names().iter().zip(joints).enumerate() {
        let at = Vec3::from(joint.translation);
        let depth = (projection * view.transform_point3(at).extend(1.0)).w;
        // What a pixel covers there; behind the camera nothing is written.
        let pixel = 2.0 * depth / (projection.y_axis.y * size.y);
        if !(pixel > 0.0 && pixel.is_finite()) {
            continue;
        }
        let color = if highlight == Some(index as JointIndex) { HIGHLIGHT } else { NAME };
        let place = Isometry3d::new(at + facing * Vec3::X * (6.0 * pixel), facing);
        gizmos.text(place, name, NAME_PIXELS * pixel, Vec2::new(-0.5, 0.0), color);
    }
}

/// Height of the names.
pub(super) const NAME_PIXELS: f32 = 11.0;

fn axes(gizmos: &mut Gizmos<SkeletonGizmos>, place: &Affine3A, length: f32) {
    let from = Vec3::from(place.translation);
    let columns = [place.matrix3.x_axis, place.matrix3.y_axis, place.matrix3.z_axis];
    let colors = [Color::srgb(0.95, 0.28, 0.30), Color::srgb(0.45, 0.82, 0.25), Color::srgb(0.30, 0.55, 1.0)];
    for (column, color) in columns.into_iter().zip(colors) {
        gizmos.ray(from, Vec3::from(column.normalize_or_zero()) * length, color);
    }
}

/// The highlighted joint's own axes and a small box around it.
fn mark(gizmos: &mut Gizmos<SkeletonGizmos>, joints: &[Affine3A], joint: JointIndex, size: f32) {
    let Some(place) = joints.get(usize::from(joint)) else { return };
    axes(gizmos, place, 0.6 * size);
    let at = Transform::from_translation(place.translation.into()).with_scale(Vec3::splat(0.16 * size));
    gizmos.cube(at, HIGHLIGHT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bone_has_twelve_edges_between_six_corners_and_reaches_from_end_to_end() {
        let (from, to) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 2.0, 0.0));
        let edges = octahedron(from, to);
        let mut corners: Vec<Vec3> = Vec::new();
        for corner in edges.into_iter().flatten() {
            if !corners.iter().any(|c| c.abs_diff_eq(corner, 1e-6)) {
                corners.push(corner);
            }
        }
        assert_eq!(corners.len(), 6);
        assert!(corners.contains(&from) && corners.contains(&to));
        let middle = corners.iter().filter(|c| **c != from && **c != to);
        assert!(middle.clone().all(|c| (c.y - 0.28).abs() < 1e-6), "thick at the parent's end");
    }

    #[test]
    fn a_bone_without_length_stays_a_point() {
        assert!(octahedron(Vec3::ONE, Vec3::ONE).into_iter().flatten().all(|corner| corner == Vec3::ONE));
    }
}
