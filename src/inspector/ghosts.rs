//! Skeletons of the present, drawn while the past is shown.

use super::{Inspector, gizmos::SkeletonGizmos};
use crate::{asset::Character, character::SkinnedCharacter, recorder::Recording};
use bevy::prelude::*;

/// Fainter than any bone of [`DrawSkeleton`](super::DrawSkeleton).
const GHOST: Color = Color::srgba(0.70, 0.85, 1.0, 0.35);

/// Run condition: returns `true` while ghosts are to be drawn.
pub(super) fn are_shown(
    inspector: Option<Res<Inspector>>,
    recording: Option<Res<Recording>>,
) -> bool {
    inspector.is_some_and(|inspector| inspector.ghosts)
        && recording.is_some_and(|recording| recording.shown().is_some())
}

pub(super) fn draw(
    mut gizmos: Gizmos<SkeletonGizmos>,
    recording: Res<Recording>,
    assets: Res<Assets<Character>>,
    characters: Query<&SkinnedCharacter>,
) {
    for (entity, joints) in recording.present_joints() {
        let character = characters
            .get(entity)
            .ok()
            .and_then(|handle| assets.get(handle.id()));
        let Some(skeleton) = character.map(|character| &character.skeleton) else {
            continue;
        };
        let parents = skeleton.parents().iter().zip(skeleton.joints());
        for (parent, joint) in parents.filter_map(|(parent, joint)| Some(((*parent)?, joint))) {
            let [from, to] = [parent, joint].map(|joint| joints.get(usize::from(joint)));
            if let (Some(from), Some(to)) = (from, to) {
                gizmos.line(from.translation.into(), to.translation.into(), GHOST);
            }
        }
    }
}
