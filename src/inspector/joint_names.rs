//! Joint names in the view, drawn by egui: gizmo text is limited to ASCII.

use super::{DrawSkeleton, draw_skeleton::NAME_PIXELS, gizmos::in_world};
use crate::{
    asset::Character,
    character::{ModelPose, SkinnedCharacter},
};
use bevy::prelude::*;
use bevy_egui::{
    EguiContexts, PrimaryEguiContext,
    egui::{self, Align2, Color32, FontId},
};

/// Draws each joint's name to its right, behind all other egui content.
pub(super) fn draw(
    mut contexts: EguiContexts,
    assets: Res<Assets<Character>>,
    characters: Query<(
        &SkinnedCharacter,
        &ModelPose,
        &GlobalTransform,
        &DrawSkeleton,
    )>,
    cameras: Query<(&Camera, &GlobalTransform), With<PrimaryEguiContext>>,
) {
    let (Ok(ctx), Ok((camera, from))) = (contexts.ctx_mut(), cameras.single()) else {
        return;
    };
    let painter = ctx.layer_painter(egui::LayerId::background());
    let font = FontId::proportional(NAME_PIXELS + 1.0);
    for (handle, pose, world, what) in characters.iter().filter(|(.., what)| what.names) {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let Some(joints) = in_world(character, pose, world) else {
            continue;
        };
        let skeleton = &character.skeleton;
        for joint in skeleton
            .joints()
            .filter(|&joint| what.shows(skeleton, joint))
        {
            // Joints behind the camera have no viewport position.
            let place = joints[usize::from(joint)].translation.into();
            let Ok(at) = camera.world_to_viewport(from, place) else {
                continue;
            };
            let at = egui::pos2(at.x + 6.0, at.y);
            let [red, green, blue] = what
                .name_color(skeleton, joint)
                .to_srgba()
                .to_u8_array_no_alpha();
            // A drop shadow keeps the text readable on light surfaces.
            for (at, color) in [
                (at + egui::Vec2::splat(1.0), Color32::from_black_alpha(190)),
                (at, Color32::from_rgb(red, green, blue)),
            ] {
                painter.text(
                    at,
                    Align2::LEFT_CENTER,
                    skeleton.name(joint),
                    font.clone(),
                    color,
                );
            }
        }
    }
}
