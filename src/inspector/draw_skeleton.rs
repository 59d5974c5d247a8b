//! Skeletons, sockets and culling boxes drawn as gizmos.
//!
//! Works without the panel: add [`DrawSkeletonPlugin`](super::DrawSkeletonPlugin) and put a [`DrawSkeleton`] on a character.

use super::gizmos::{HIGHLIGHT, SkeletonGizmos, axes, bone_size, in_world};
use crate::{
    asset::Character,
    character::{CharacterParts, ModelPose, SkinnedCharacter},
    model::{JointIndex, Skeleton},
};
use bevy::{camera::primitives::Aabb, prelude::*};
use bevy_egui::PrimaryEguiContext;
use glam::Affine3A;

/// Draws a character's posed skeleton on top of its skin.
///
/// Uses the pose of the current frame. Requires [`DrawSkeletonPlugin`](super::DrawSkeletonPlugin) and Bevy's gizmos (the features `bevy_gizmos`
/// and `bevy_gizmos_render`).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{inspector::{BoneShape, DrawSkeleton, DrawSkeletonPlugin}, prelude::*};
/// # fn show(mut commands: Commands, hero: Entity) {
/// App::new().add_plugins((DefaultPlugins, MarionettePlugins::default(), DrawSkeletonPlugin));
///
/// commands.entity(hero).insert(DrawSkeleton {
///     bones: BoneShape::Lines,
///     names: true,
///     ..default()
/// });
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(ModelPose)]
pub struct DrawSkeleton {
    /// Shape of bones.
    pub bones: BoneShape,
    /// Draws each joint's axes: x red, y green, z blue.
    pub axes: bool,
    /// Draws each joint's name beside it, at a constant size on screen.
    ///
    /// Gizmo text is limited to ASCII. With [`MarionetteInspectorPlugin`](super::MarionetteInspectorPlugin), egui draws
    /// the names in any script its fonts cover.
    pub names: bool,
    /// Draws a line from each joint to its parent, fading toward the parent.
    pub links: bool,
    /// Draws the manifest's sockets as axes with a box.
    pub sockets: bool,
    /// Draws the culling box of each part.
    pub bounds: bool,
    /// Draws what acts on the pose: goals and their poles, what the character looks at with the limits of the turn, the
    /// colliders of its springs, and the ground under its feet.
    pub rig: bool,
    /// Leaves out control joints ([`Skeleton::is_control`]), which are drawn in a color of their own: the bones that begin
    /// or end at them, their axes, names and links.
    pub hide_control_joints: bool,
    /// Highlights this joint.
    pub highlight: Option<JointIndex>,
}

impl DrawSkeleton {
    /// Returns `true` if a joint is drawn.
    pub(super) fn shows(&self, skeleton: &Skeleton, joint: JointIndex) -> bool {
        !(self.hide_control_joints && skeleton.is_control(joint)) || self.highlight == Some(joint)
    }

    /// Returns the color of a joint's name.
    pub(super) fn name_color(&self, skeleton: &Skeleton, joint: JointIndex) -> Color {
        match self.highlight == Some(joint) {
            true => HIGHLIGHT,
            false if skeleton.is_control(joint) => CONTROL_NAME,
            false => NAME,
        }
    }
}

/// Shape of a bone, which reaches from a joint to each of its children.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::inspector::{BoneShape, DrawSkeleton};
/// /// Shows and hides the bones, but not what else is drawn.
/// fn toggle(keys: Res<ButtonInput<KeyCode>>, mut drawn: Query<&mut DrawSkeleton>) {
///     for mut drawn in drawn.iter_mut().filter(|_| keys.just_pressed(KeyCode::KeyB)) {
///         drawn.bones = if drawn.bones == BoneShape::None { BoneShape::Lines } else { BoneShape::None };
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Default, PartialEq)]
pub enum BoneShape {
    /// No bones.
    None,
    /// Plain lines.
    Lines,
    /// Octahedra as in Blender, thick at the parent's end.
    #[default]
    Octahedra,
}

impl Default for DrawSkeleton {
    /// Draws bones as octahedra, and nothing else.
    fn default() -> Self {
        Self {
            bones: BoneShape::Octahedra,
            ..Self::NONE
        }
    }
}

impl DrawSkeleton {
    /// Draws nothing; a starting point for struct update syntax.
    pub const NONE: Self = Self {
        bones: BoneShape::None,
        axes: false,
        names: false,
        links: false,
        sockets: false,
        bounds: false,
        rig: false,
        hide_control_joints: false,
        highlight: None,
    };
}

/// The joint highlighted while the panel is open: the hovered one, or else the selected one.
#[derive(Resource, Default, PartialEq)]
pub(super) struct HighlightedJoint(pub(super) Option<(Entity, JointIndex)>);

/// Present if egui draws the joint names, wherever it has a context.
#[derive(Resource)]
pub(super) struct EguiDrawsNames;

const BONE: Color = Color::srgb(0.72, 0.80, 0.90);
const CONTROL: Color = Color::srgb(0.66, 0.48, 0.90);
const LINK: Color = Color::srgb(0.55, 0.85, 0.95);
const NAME: Color = Color::srgb(0.95, 0.95, 0.90);
const CONTROL_NAME: Color = Color::srgb(0.80, 0.70, 0.95);
const BOUNDS: Color = Color::srgb(0.36, 0.85, 0.55);
const SOCKET: Color = Color::srgb(0.95, 0.45, 0.85);

type Drawn = (
    &'static SkinnedCharacter,
    &'static ModelPose,
    &'static CharacterParts,
    &'static GlobalTransform,
);

pub(super) fn draw(
    mut gizmos: Gizmos<SkeletonGizmos>,
    assets: Res<Assets<Character>>,
    characters: Query<(Drawn, &DrawSkeleton)>,
    boxes: Query<(&Aabb, &GlobalTransform)>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera3d>>,
    egui_draws_names: Option<Res<EguiDrawsNames>>,
    egui: Query<(), With<PrimaryEguiContext>>,
) {
    // Names can only face one camera: the first active one.
    let camera = cameras
        .iter()
        .filter(|(camera, _)| camera.is_active)
        .min_by_key(|(camera, _)| camera.order);
    for ((handle, pose, parts, world), what) in &characters {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let Some(joints) = in_world(character, pose, world) else {
            continue;
        };
        let size = bone_size(&character.skeleton, &joints);
        draw_bones(&mut gizmos, &character.skeleton, &joints, what);
        if what.links {
            for (parent, joint) in bones(&character.skeleton, what) {
                let [from, to] =
                    [parent, joint].map(|joint| Vec3::from(joints[usize::from(joint)].translation));
                gizmos.line_gradient(to, from, LINK, LINK.with_alpha(0.15));
            }
        }
        if what.names
            // egui draws names in any script. Gizmos stand in where it has no context.
            && (egui_draws_names.is_none() || egui.is_empty())
            && let Some(camera) = camera
        {
            draw_names(&mut gizmos, &character.skeleton, &joints, what, camera);
        }
        if what.axes {
            let shown = character
                .skeleton
                .joints()
                .filter(|&joint| what.shows(&character.skeleton, joint));
            for joint in shown {
                axes(&mut gizmos, &joints[usize::from(joint)], 0.3 * size);
            }
        }
        if what.sockets {
            for socket in character.sockets.values() {
                let Some(joint) = joints.get(usize::from(socket.joint)) else {
                    continue;
                };
                let place = *joint * socket.offset;
                axes(&mut gizmos, &place, 0.5 * size);
                let (_, rotation, at) = place.to_scale_rotation_translation();
                let marker = Transform::from_translation(at)
                    .with_rotation(rotation)
                    .with_scale(Vec3::splat(0.2 * size));
                gizmos.cube(marker, SOCKET);
            }
        }
        if what.bounds {
            for (aabb, transform) in parts
                .entities
                .iter()
                .filter_map(|&part| boxes.get(part).ok())
            {
                // A gizmo's cube has sides of length 1.
                let unit_cube = Transform::from_translation(aabb.center.into());
                let place = *transform * unit_cube.with_scale((2.0 * aabb.half_extents).into());
                gizmos.cube(place, BOUNDS);
            }
        }
        if let Some(at) = what.highlight {
            draw_highlight(&mut gizmos, &joints, at, size);
        }
    }
}

pub(super) fn draw_highlighted(
    mut gizmos: Gizmos<SkeletonGizmos>,
    highlighted: Res<HighlightedJoint>,
    assets: Res<Assets<Character>>,
    characters: Query<Drawn>,
) {
    let Some((entity, joint)) = highlighted.0 else {
        return;
    };
    let Ok((handle, pose, _, world)) = characters.get(entity) else {
        return;
    };
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    let Some(joints) = in_world(character, pose, world) else {
        return;
    };
    // The bones of this joint alone, whatever the character's own `DrawSkeleton` shows.
    let bones = DrawSkeleton {
        highlight: Some(joint),
        ..DrawSkeleton::NONE
    };
    draw_bones(&mut gizmos, &character.skeleton, &joints, &bones);
    let size = bone_size(&character.skeleton, &joints);
    draw_highlight(&mut gizmos, &joints, joint, size);
}

/// Returns the pairs of a parent and a child that are both shown.
fn bones<'a>(
    skeleton: &'a Skeleton,
    what: &'a DrawSkeleton,
) -> impl Iterator<Item = (JointIndex, JointIndex)> + 'a {
    let pairs = skeleton
        .parents()
        .iter()
        .zip(skeleton.joints())
        .filter_map(|(parent, joint)| Some(((*parent)?, joint)));
    pairs.filter(|&(parent, joint)| what.shows(skeleton, parent) && what.shows(skeleton, joint))
}

fn draw_bones(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    skeleton: &Skeleton,
    joints: &[Affine3A],
    what: &DrawSkeleton,
) {
    for (parent, joint) in bones(skeleton, what) {
        let highlighted = what.highlight == Some(parent);
        let shape = match what.bones {
            // Highlighted bones are always drawn.
            BoneShape::None if highlighted => BoneShape::Octahedra,
            shape => shape,
        };
        let is_control = skeleton.is_control(parent) || skeleton.is_control(joint);
        let color = match highlighted {
            true => HIGHLIGHT,
            false if is_control => CONTROL,
            false => BONE,
        };
        let [from, to] =
            [parent, joint].map(|joint| Vec3::from(joints[usize::from(joint)].translation));
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

/// Returns the twelve edges of a bone. They collapse to a point if the bone has no length.
fn octahedron(from: Vec3, to: Vec3) -> [[Vec3; 2]; 12] {
    let along = to - from;
    let length = along.length();
    let (right, up) = along
        .try_normalize()
        .map_or((Vec3::ZERO, Vec3::ZERO), Vec3::any_orthonormal_pair);
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

/// Draws each joint's name to its right.
fn draw_names(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    skeleton: &Skeleton,
    joints: &[Affine3A],
    what: &DrawSkeleton,
    (camera, from): (&Camera, &GlobalTransform),
) {
    let Some(size) = camera.logical_viewport_size() else {
        return;
    };
    let (projection, view) = (camera.clip_from_view(), from.affine().inverse());
    let facing = from.rotation();
    for index in skeleton
        .joints()
        .filter(|&joint| what.shows(skeleton, joint))
    {
        let at = Vec3::from(joints[usize::from(index)].translation);
        let depth = (projection * view.transform_point3(at).extend(1.0)).w;
        // World size of a pixel at that depth; not positive behind the camera.
        let pixel = 2.0 * depth / (projection.y_axis.y * size.y);
        if !(pixel > 0.0 && pixel.is_finite()) {
            continue;
        }
        let color = what.name_color(skeleton, index);
        let place = Isometry3d::new(at + facing * Vec3::X * (6.0 * pixel), facing);
        gizmos.text(
            place,
            skeleton.name(index),
            NAME_PIXELS * pixel,
            Vec2::new(-0.5, 0.0),
            color,
        );
    }
}

/// Height of joint names in pixels.
pub(super) const NAME_PIXELS: f32 = 11.0;

/// Draws the highlighted joint's axes, and a small box around it.
fn draw_highlight(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    joints: &[Affine3A],
    joint: JointIndex,
    size: f32,
) {
    let Some(place) = joints.get(usize::from(joint)) else {
        return;
    };
    axes(gizmos, place, 0.6 * size);
    let at =
        Transform::from_translation(place.translation.into()).with_scale(Vec3::splat(0.16 * size));
    gizmos.cube(at, HIGHLIGHT);
}

#[cfg(test)]
#[path = "tests/draw_skeleton.rs"]
mod tests;
