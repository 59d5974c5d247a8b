//! Characters that are carried by their clips.

use super::{
    CharacterSystems,
    components::{CharacterParts, SkinnedCharacter},
    names::SaidNames,
};
use crate::{
    asset::Character, controller::AnimationController, model::RootDelta, record::RootMotionNote,
};
use bevy::{
    ecs::{name::NameOrEntity, schedule::InternedScheduleLabel},
    prelude::*,
};
use glam::DVec3;

/// Moves characters that have [`RootMotion`].
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins). Without it, [`RootMotion::delta`] still reports.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::RootMotionPlugin, prelude::*};
/// // A physics engine moves all characters, as far as their clips say.
/// App::new()
///     .add_plugins((DefaultPlugins, MarionettePlugins::default().build().disable::<RootMotionPlugin>()))
///     .register_required_components_with::<SkinnedCharacter, RootMotion>(RootMotion::report);
/// ```
pub struct RootMotionPlugin {
    schedule: InternedScheduleLabel,
}

impl RootMotionPlugin {
    pub(crate) fn new(schedule: InternedScheduleLabel) -> Self {
        Self { schedule }
    }
}

impl Plugin for RootMotionPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<RootMotion>().add_systems(
            self.schedule,
            (
                apply.in_set(CharacterSystems::RootMotion),
                warn_of_none.after(CharacterSystems::Spawn),
            )
                .distributive_run_if(any_with_component::<RootMotion>),
        );
    }
}

/// Moves a character by its clips: the motion that a manifest's
/// [`root_motion`](crate::import::Manifest::root_motion) extracts from their poses moves the
/// character instead.
///
/// An optional component of a character. Without it, clips play in place, and nothing is computed. To know how fast a
/// clip is, see [`Character::ground_speed`](crate::asset::Character::ground_speed). If no clip of an asset has root motion, that
/// is logged once.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("scout/scout.character.ron")),
///     AnimationController::playing("walk"),
///     RootMotion::default(),
/// ));
/// # }
/// ```
///
/// To move a character yourself, such as by a physics engine, use [`RootMotion::report`] and read
/// [`delta`](Self::delta) after [`CharacterSystems::Advance`](super::CharacterSystems::Advance), in the schedule in which
/// controllers advance. Elsewhere, [`take`](Self::take) what has added up.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # #[derive(Component)] struct Velocity(Vec3);
/// fn drive(time: Res<Time>, mut characters: Query<(&Transform, &RootMotion, &mut Velocity)>) {
///     for (transform, motion, mut velocity) in &mut characters {
///         let ahead = transform.rotation * (transform.scale * motion.delta.translation());
///         velocity.0 = ahead / time.delta_secs().max(1e-6);
///     }
/// }
/// ```
///
/// However time is divided into frames, the movement adds up to the same. For rollback, see
/// [`WholeCharacter`](super::WholeCharacter).
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct RootMotion {
    /// If `true`, each movement is applied to the character's `Transform`; if `false`, it is only reported.
    pub applies: bool,
    /// The movement by the clips in the last advance, in the space of the character before it: −Z
    /// is ahead, and lengths are before its scale.
    #[reflect(skip_serializing, default)]
    pub delta: RootDelta,
    /// The movement since it was last taken.
    #[reflect(ignore)]
    untaken: RootDelta,
    /// The rounding error of the `Transform`, which is added the next time.
    #[reflect(ignore)]
    rest: DVec3,
}

impl Default for RootMotion {
    fn default() -> Self {
        Self {
            applies: true,
            delta: RootDelta::IDENTITY,
            untaken: RootDelta::IDENTITY,
            rest: DVec3::ZERO,
        }
    }
}

impl RootMotion {
    /// Returns root motion that is reported, but not applied.
    pub fn report() -> Self {
        Self {
            applies: false,
            ..Self::default()
        }
    }

    /// Returns the movement of all advances since this was last called, and begins anew. For systems that run at other times
    /// than advances, such as those of a physics engine in fixed steps, which get each movement once:
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// # #[derive(Component)] struct Velocity(Vec3);
    /// # fn build(app: &mut App) {
    /// // With `MarionettePlugins::default()`, controllers advance once a frame.
    /// app.add_systems(FixedUpdate, drive);
    /// # }
    /// fn drive(time: Res<Time>, mut characters: Query<(&Transform, &mut RootMotion, &mut Velocity)>) {
    ///     for (transform, mut motion, mut velocity) in &mut characters {
    ///         let ahead = transform.rotation * (transform.scale * motion.take().translation());
    ///         velocity.0 = ahead / time.delta_secs();
    ///     }
    /// }
    /// ```
    pub fn take(&mut self) -> RootDelta {
        std::mem::take(&mut self.untaken)
    }

    /// Notes the movement of an advance.
    pub(super) fn report_delta(mut motion: Mut<Self>, delta: RootDelta) {
        if !delta.is_identity() {
            let motion = motion.bypass_change_detection();
            motion.untaken = motion.untaken.then(delta);
        }
        // It counts as changed only if it moves otherwise.
        if motion.delta != delta {
            motion.delta = delta;
        }
    }

    /// All that it keeps from step to step.
    pub(super) fn note(&self) -> RootMotionNote {
        let Self {
            applies,
            delta,
            untaken,
            rest,
        } = *self;
        RootMotionNote {
            applies,
            delta,
            untaken,
            rest,
        }
    }

    pub(super) fn of_note(note: RootMotionNote) -> Self {
        let RootMotionNote {
            applies,
            delta,
            untaken,
            rest,
        } = note;
        Self {
            applies,
            delta,
            untaken,
            rest,
        }
    }

    /// Moves a transform by [`delta`](Self::delta).
    fn apply(&mut self, transform: &mut Transform) {
        let Transform {
            translation,
            rotation,
            scale,
        } = *transform;
        let ahead = rotation.as_dquat() * (scale.as_dvec3() * self.delta.translation);
        // In double precision, and with the last rounding error: however short the steps are, they
        // add up to the same.
        let place = translation.as_dvec3() + self.rest + ahead;
        let rounded = place.as_vec3();
        if !rounded.is_finite() {
            return;
        }
        self.rest = place - rounded.as_dvec3();
        transform.translation = rounded;
        if self.delta.turn != 0.0 {
            // A mirrored character turns the other way.
            let mirrored = scale.x * scale.z < 0.0;
            let turn = if mirrored {
                self.delta.inverse().rotation()
            } else {
                self.delta.rotation()
            };
            transform.rotation = (rotation * turn).normalize();
        }
    }
}

/// Moves the characters that are carried by their clips.
pub(super) fn apply(
    mut characters: Query<
        (&mut Transform, &mut RootMotion),
        (With<SkinnedCharacter>, With<AnimationController>),
    >,
) {
    for (mut transform, mut motion) in &mut characters {
        if motion.applies && !motion.delta.is_identity() {
            motion.bypass_change_detection().apply(&mut transform);
        }
    }
}

/// Warns once for each state of an asset that has clips, but none that carries a character.
fn warn_of_none(
    assets: Res<Assets<Character>>,
    said: Res<SaidNames>,
    characters: Query<
        (NameOrEntity, &SkinnedCharacter),
        (
            With<RootMotion>,
            Or<(Added<RootMotion>, Changed<CharacterParts>)>,
        ),
    >,
) {
    for (who, handle) in &characters {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let stays = character
            .clips
            .iter()
            .all(|clip| clip.root_path().is_none());
        if stays && !character.clips.is_empty() && said.is_new(character, "root motion", "") {
            warn!(
                "{who} has `RootMotion`, but no clip of it has root motion: add `root_motion` to its manifest, or remove the component"
            );
        }
    }
}

#[cfg(test)]
#[path = "tests/root_motion.rs"]
mod tests;
