//! Handles in the view: dragging one moves a goal, a pole, a collider, or what the character looks at.
//!
//! Handles are egui areas, so egui has the pointer while it is over one: a drag selects no character and does not turn
//! the app's camera.

use super::{
    super::{area::PanelArea, gizmos::in_world, style::ACCENT},
    ShownRig, set_rig,
};
use crate::{
    asset::Character,
    character::{AtSocket, IkGoals, IkLimb, LookAt, LookTarget, ModelPose, SkinnedCharacter},
    import::RigEntries,
};
use bevy::prelude::*;
use bevy_egui::{
    EguiContexts, PrimaryEguiContext,
    egui::{self, Pos2},
};
use glam::Affine3A;

/// The thing that a handle moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Handle {
    Entity(Entity),
    /// The point that the character looks at.
    LookPoint,
    /// A collider by its place among all, and whether it is the other end of a capsule.
    Collider(usize, bool),
}

/// Distance from a handle's center at which it is grabbed, in points.
const RADIUS: f32 = 12.0;

/// Shows the handles of the shown character and moves what is dragged.
pub(in super::super) fn drag(
    mut contexts: EguiContexts,
    panel: Res<PanelArea>,
    shown: Res<ShownRig>,
    cameras: Query<(&Camera, &GlobalTransform), With<PrimaryEguiContext>>,
    assets: Res<Assets<Character>>,
    mut characters: Query<(
        &SkinnedCharacter,
        Option<&ModelPose>,
        &GlobalTransform,
        Option<&IkGoals>,
        Option<&mut LookAt>,
    )>,
    goals: Query<&IkLimb>,
    places: Query<&GlobalTransform>,
    mut movable: Query<(&mut Transform, Option<&ChildOf>, Option<&mut AtSocket>)>,
    mut commands: Commands,
) {
    let Some((asset, pose, world, own, mut look)) = shown
        .0
        .and_then(|character| characters.get_mut(character).ok())
    else {
        return;
    };
    let (Ok(ctx), Ok((camera, from))) = (contexts.ctx_mut(), cameras.single()) else {
        return;
    };
    let ctx = ctx.clone();
    let panel = panel.in_points(&ctx);
    let mut handles: Vec<Handle> = Vec::new();
    for goal in own.into_iter().flat_map(|goals| goals.iter()) {
        let pole = goals.get(goal).ok().and_then(|goal| goal.pole);
        handles.extend([Some(goal), pole].into_iter().flatten().map(Handle::Entity));
    }
    let target = look.as_ref().map(|look| look.target);
    match target {
        Some(LookTarget::Entity(entity)) => handles.push(Handle::Entity(entity)),
        Some(LookTarget::Point(_)) => handles.push(Handle::LookPoint),
        Some(LookTarget::Nothing) | None => {}
    }
    // Two limbs may share a pole.
    handles.sort_unstable_by_key(|handle| match handle {
        Handle::Entity(entity) => Some(*entity),
        Handle::LookPoint | Handle::Collider(..) => None,
    });
    handles.dedup();
    for handle in handles {
        let at = match (handle, target) {
            (Handle::Entity(entity), _) => {
                places.get(entity).ok().map(GlobalTransform::translation)
            }
            (Handle::LookPoint, Some(LookTarget::Point(point))) => Some(point),
            (Handle::LookPoint | Handle::Collider(..), _) => None,
        };
        let Some(to) = at.and_then(|at| show(&ctx, panel, handle, at, (camera, from))) else {
            continue;
        };
        match handle {
            Handle::LookPoint => {
                if let Some(look) = &mut look {
                    look.target = LookTarget::Point(to);
                }
            }
            Handle::Entity(entity) => move_entity(entity, to, &places, &mut movable),
            Handle::Collider(..) => {}
        }
    }
    let Some(character) = assets.get(asset.id()) else {
        return;
    };
    let Some(joints) = pose.and_then(|pose| in_world(character, pose, world)) else {
        return;
    };
    let joint = |name: &str| {
        character
            .joint(name)
            .and_then(|joint| joints.get(usize::from(joint)))
    };
    for (index, (name, collider)) in character.rig().colliders.iter().enumerate() {
        let Some(joint) = joint(&collider.joint) else {
            continue;
        };
        for (is_end, point) in [(false, Some(collider.center)), (true, collider.end)] {
            let Some(at) = point.map(|point| joint.transform_point3(point)) else {
                continue;
            };
            let handle = Handle::Collider(index, is_end);
            let Some(to) = show(&ctx, panel, handle, at, (camera, from)) else {
                continue;
            };
            let to = joint.inverse().transform_point3(to);
            if to.is_finite() {
                set_rig(
                    asset.id(),
                    moved(character.rig(), name, is_end, to),
                    &mut commands,
                );
            }
        }
    }
}

/// Returns the rig with one end of a collider at another place.
fn moved(rig: &RigEntries, collider: &str, is_end: bool, to: Vec3) -> RigEntries {
    let mut rig = rig.clone();
    if let Some(entry) = rig.colliders.get_mut(collider) {
        *if is_end {
            entry.end.get_or_insert(to)
        } else {
            &mut entry.center
        } = to;
    }
    rig
}

/// Shows a handle at a point in the world. While it is dragged, returns where to: in the plane that faces the camera.
fn show(
    ctx: &egui::Context,
    panel: egui::Rect,
    handle: Handle,
    at: Vec3,
    (camera, from): (&Camera, &GlobalTransform),
) -> Option<Vec3> {
    // Points behind the camera have no viewport position.
    let in_view = camera.world_to_viewport(from, at).ok()?;
    let rect = egui::Rect::from_center_size(
        Pos2::new(in_view.x, in_view.y),
        egui::Vec2::splat(2.0 * RADIUS),
    );
    let id = egui::Id::new(("marionette_rig_handle", handle));
    // The panel is in front, unless the handle is dragged behind it.
    if panel.intersects(rect) && ctx.dragged_id() != Some(id) {
        return None;
    }
    let area = egui::Area::new(id.with("area"))
        .fixed_pos(rect.min)
        .movable(false)
        .constrain(false)
        .fade_in(false);
    let shown = area.show(ctx, |ui| {
        ui.allocate_rect(rect, egui::Sense::hover());
        ui.interact(rect, id, egui::Sense::drag())
            .on_hover_cursor(egui::CursorIcon::Grab)
    });
    let response = shown.inner;
    if response.hovered() || response.dragged() {
        let painter = ctx.layer_painter(egui::LayerId::background());
        painter.circle_stroke(rect.center(), 0.75 * RADIUS, egui::Stroke::new(2.0, ACCENT));
    }
    let by = response.drag_delta();
    if !response.dragged() || by == egui::Vec2::ZERO {
        return None;
    }
    let ray = camera
        .viewport_to_world(from, in_view + Vec2::new(by.x, by.y))
        .ok()?;
    let distance = ray.intersect_plane(at, InfinitePlane3d::new(from.forward()))?;
    Some(ray.get_point(distance)).filter(|to| to.is_finite())
}

/// Moves an entity to a point in the world, even if it is a child or attached to something.
fn move_entity(
    entity: Entity,
    to: Vec3,
    places: &Query<&GlobalTransform>,
    movable: &mut Query<(&mut Transform, Option<&ChildOf>, Option<&mut AtSocket>)>,
) {
    let Ok((mut transform, parent, socket)) = movable.get_mut(entity) else {
        return;
    };
    let place = |entity| {
        places
            .get(entity)
            .map_or(Affine3A::IDENTITY, GlobalTransform::affine)
    };
    match socket {
        None => {
            let at = parent.map_or(to, |parent| {
                place(parent.parent()).inverse().transform_point3(to)
            });
            if at.is_finite() {
                transform.translation = at;
            }
        }
        // Its `Transform` follows the joint, so change where it is in the socket.
        Some(mut at) => {
            let socket = place(entity) * at.offset.compute_affine().inverse();
            let to = socket.inverse().transform_point3(to);
            if to.is_finite() {
                at.offset.translation = to;
            }
        }
    }
}
