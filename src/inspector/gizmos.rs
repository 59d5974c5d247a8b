//! Helpers for everything that is drawn in the view.

use crate::{asset::Character, character::ModelPose, model::Skeleton};
use bevy::{gizmos::config::GizmoConfigGroup, prelude::*};
use glam::Affine3A;

/// Gizmo group for everything that [`DrawSkeleton`](super::DrawSkeleton) draws. Drawn in front of everything else by default.
///
/// Configure it through Bevy's [`GizmoConfigStore`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::inspector::SkeletonGizmos;
/// /// Draws thick bones, and hides those that are behind something.
/// fn set_up(mut store: ResMut<GizmoConfigStore>) {
///     let (config, _) = store.config_mut::<SkeletonGizmos>();
///     config.line.width = 4.0;
///     config.depth_bias = 0.0;
/// }
/// ```
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct SkeletonGizmos;

/// Color of the selected joint and of the clicked vertex.
pub(super) const HIGHLIGHT: Color = Color::srgb(1.0, 0.62, 0.16);

/// Returns the joints' world transforms, or `None` before the first pose.
pub(super) fn in_world(
    character: &Character,
    pose: &ModelPose,
    world: &GlobalTransform,
) -> Option<Vec<Affine3A>> {
    let world = world.affine();
    let complete = pose.joints.len() == character.skeleton.len();
    complete.then(|| pose.joints.iter().map(|joint| world * *joint).collect())
}

/// Returns the mean bone length, which scales the markers.
pub(super) fn bone_size(skeleton: &Skeleton, joints: &[Affine3A]) -> f32 {
    let bones = skeleton
        .parents()
        .iter()
        .enumerate()
        .filter_map(|(joint, parent)| Some((joint, (*parent)?)));
    let lengths = bones.map(|(joint, parent)| {
        (joints[joint].translation - joints[usize::from(parent)].translation).length()
    });
    let (sum, count) = lengths.fold((0.0, 0), |(sum, count), length| (sum + length, count + 1));
    if count > 0 && sum > 0.0 {
        sum / count as f32
    } else {
        0.1
    }
}

/// Draws the axes of a place: x red, y green, z blue.
pub(super) fn axes(gizmos: &mut Gizmos<SkeletonGizmos>, place: &Affine3A, length: f32) {
    let from = Vec3::from(place.translation);
    let columns = [
        place.matrix3.x_axis,
        place.matrix3.y_axis,
        place.matrix3.z_axis,
    ];
    let colors = [
        Color::srgb(0.95, 0.28, 0.30),
        Color::srgb(0.45, 0.82, 0.25),
        Color::srgb(0.30, 0.55, 1.0),
    ];
    for (column, color) in columns.into_iter().zip(colors) {
        gizmos.ray(from, Vec3::from(column.normalize_or_zero()) * length, color);
    }
}
