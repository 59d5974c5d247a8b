//! Levels of detail: motion that is too small to be seen is skipped.

use super::{
    components::CharacterParts,
    detail::Detail,
    rig::{FootPlacement, IkGoals, LookAt, SpringBones},
    tape_head::TapeHead,
};
use bevy::{
    ecs::{lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
};
use glam::Vec3A;
use smallvec::SmallVec;

/// Skips the parts of a character's animation that are too small on screen to be seen.
///
/// An optional component of a character. Each number is a character's height on screen, as a fraction of the viewport's
/// height. With several cameras, the largest height counts; without a camera, nothing is left out.
///
/// Each part of the rig fades out between 1.5 times its number and the number itself; below, it costs nothing. A character
/// whose whole rig is left out is posed like one without a rig, and only in view. Hands that reach for something, and feet
/// on stairs, then are where the clips put them.
///
/// Below [`poses`](Self::poses), the character is posed less often, and in between it keeps the pose and the place in which
/// it was last drawn. That lasts at most [`most_frames`](Self::most_frames) frames, and ends as soon as the character has
/// moved by a twentieth of its size, so the skipped motion is a pixel or two. Frames in between cost nothing but the clock.
/// Characters that carry or wear something, have [`PoseOverrides`](super::PoseOverrides), or whose rig acts are posed in
/// every frame.
///
/// Clocks and events are not affected: they are exact in every frame.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::AnimationLod, prelude::*};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("scout/scout.character.ron")),
///     AnimationController::playing("walk"),
///     AnimationLod::default(),
/// ));
/// # }
/// # let mut app = App::new();
/// // For all characters:
/// app.register_required_components::<SkinnedCharacter, AnimationLod>();
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(Detail)]
#[component(on_remove = forget_detail)]
pub struct AnimationLod {
    /// Below this height, hair, ears and tails don't swing. Default: 0.12.
    pub springs: f32,
    /// Below this height, feet don't adapt to the ground. Default: 0.1.
    pub feet: f32,
    /// Below this height, heads don't turn. Default: 0.08.
    pub look_at: f32,
    /// Below this height, limbs don't reach for their goals. Default: 0.06.
    pub ik: f32,
    /// Below this height, the character is posed every second frame; below half of it, every third, and so on. Default: 0.1.
    pub poses: f32,
    /// The most frames from one pose to the next. Default: 4.
    pub most_frames: u32,
}

impl Default for AnimationLod {
    fn default() -> Self {
        Self {
            springs: 0.12,
            feet: 0.1,
            look_at: 0.08,
            ik: 0.06,
            poses: 0.1,
            most_frames: 4,
        }
    }
}

/// The size of a character, relative to a height at which something is left out, from which on that
/// shows in full.
const FADE: f32 = 1.5;

impl AnimationLod {
    /// Returns the weight, 0..=1, of a part of the rig that is left out below a height.
    fn share(height: f32, size: f32) -> f32 {
        // A height of 0 leaves out nothing, and neither does one that isn't a number.
        if height.is_nan() || height <= 0.0 {
            return 1.0;
        }
        let above = ((size / height - 1.0) / (FADE - 1.0)).clamp(0.0, 1.0);
        above * above * (3.0 - 2.0 * above)
    }

    /// Returns the number of frames from one pose to the next.
    fn every(&self, size: f32) -> u32 {
        if self.poses.is_nan() || self.poses <= 0.0 || size >= self.poses {
            return 1;
        }
        // The cast saturates, even for an infinite quotient.
        let every = (self.poses / size.max(0.0)).floor() as u32;
        every.saturating_add(1).min(self.most_frames).max(1)
    }
}

/// Without the component, everything shows again.
fn forget_detail(mut world: DeferredWorld, removed: HookContext) {
    world
        .commands()
        .entity(removed.entity)
        .try_remove::<Detail>();
}

/// Chooses the detail of each character for the next frame, from its largest size on the cameras'
/// screens.
pub(super) fn choose(
    cameras: Query<(&Camera, &GlobalTransform, &Projection)>,
    mut characters: Query<(
        &AnimationLod,
        &CharacterParts,
        &GlobalTransform,
        &mut Detail,
        (
            Has<LookAt>,
            Has<IkGoals>,
            Has<FootPlacement>,
            Has<SpringBones>,
        ),
        Option<&TapeHead>,
    )>,
) {
    let views = cameras.iter().filter(|(camera, ..)| camera.is_active);
    let views: SmallVec<[View; 4]> = views
        .map(|(_, place, lens)| View::new(place, lens))
        .collect();
    characters
        .par_iter_mut()
        .batching_strategy(super::threads::batches())
        .for_each(|(lod, parts, transform, mut detail, rig, tape)| {
            let size = size_on_screens(parts, transform, &views);
            let (looks, reaches, stands, swings) = rig;
            let before = *detail;
            // Most characters of a crowd have no rig, and pay for none.
            let share = |has: bool, height| match has {
                true => AnimationLod::share(height, size),
                false => 1.0,
            };
            let mut now = Detail {
                springs: share(swings, lod.springs),
                feet: share(stands, lod.feet),
                look_at: share(looks, lod.look_at),
                ik: share(reaches, lod.ik),
                every: lod.every(size),
                ..before
            };
            let acts = |detail: &Detail| {
                looks && detail.look_at > 0.0
                    || reaches && detail.ik > 0.0
                    || stands && detail.feet > 0.0
                    || swings && detail.springs > 0.0
            };
            // A character that shows the past acts as it did then.
            let is_past = tape.is_some_and(|tape| tape.shown.is_some());
            now.rests = !is_past && !acts(&now) && !acts(&before);
            now.returns = before.rests && !now.rests;
            detail.set_if_neq(now);
        });
}

/// A camera, as far as the size of characters on its screen depends on it.
struct View {
    place: Vec3A,
    /// The height on screen of one meter at a distance of one meter, or at any distance if it's without perspective.
    scale: f32,
    perspective: bool,
}

impl View {
    fn new(camera: &GlobalTransform, lens: &Projection) -> Self {
        let (scale, perspective) = match lens {
            Projection::Perspective(lens) => (0.5 / (0.5 * lens.fov).tan(), true),
            Projection::Orthographic(lens) => (1.0 / lens.area.height(), false),
            Projection::Custom(_) => (f32::INFINITY, false),
        };
        Self {
            place: camera.affine().translation,
            scale,
            perspective,
        }
    }
}

/// The height of a character on the screen on which it's largest, as a fraction of the viewport's. Infinite without a camera.
fn size_on_screens(parts: &CharacterParts, character: &GlobalTransform, views: &[View]) -> f32 {
    if views.is_empty() {
        return f32::INFINITY;
    }
    let affine = character.affine();
    let center = Vec3A::from(affine.transform_point3(parts.center));
    // At least so much that an infinite scale stays one.
    let height = (2.0 * parts.radius * affine.matrix3.x_axis.length()).max(f32::MIN_POSITIVE);
    let size = |view: &View| match view.perspective {
        true => height * view.scale / view.place.distance(center),
        false => height * view.scale,
    };
    views.iter().map(size).fold(0.0, f32::max)
}

#[cfg(test)]
#[path = "tests/lod.rs"]
mod tests;
