//! Smooth motion between fixed steps.
//!
//! ```text
//! fixed steps  ──●───────────────●───────────────●──
//! display      ─────▲──────▲──────▲──────▲──────▲───
//!                   └ shows the moment one step before it
//! ```
//!
//! A display shows more or fewer frames than there are fixed steps, so what has just been computed would be shown for one frame
//! at times, and for two at others. Everything is shown one step late instead, where the present lies between two steps that are
//! known. Clips are asked where they were at that moment, which is exact; transforms are interpolated. See decision 062.

use super::{
    CharacterSystems,
    bounds::OutgrownBoxes,
    components::{SkinnedCharacter, Teleported},
    layers::ActiveLayers,
    root_motion::RootMotion,
    threads::batches,
};
use crate::{asset::Character, controller::AnimationController};
use bevy::{
    app::{FixedMain, RunFixedMainLoop, RunFixedMainLoopSystems},
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// Shows characters that advance in fixed steps between their last two steps, so that they move as smoothly as the display.
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins). It does something only if controllers advance in `FixedUpdate` or
/// another schedule of Bevy's fixed main loop: poses are shown at the time of the display, one step late, and so are the
/// `Transform`s of characters that [`RootMotion`] moves. In systems of fixed steps, poses and `Transform`s are those of the step.
/// What else moves a character, such as a physics engine, interpolates its `Transform` itself.
///
/// A character that has [`Teleported`] in a step isn't seen on the way. A `Transform` that is set outside of fixed steps applies
/// at once.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::InterpolationPlugin, prelude::*};
/// // A server shows nothing.
/// App::new().add_plugins((
///     MinimalPlugins,
///     AssetPlugin::default(),
///     TransformPlugin,
///     MarionettePlugins::new(FixedUpdate).build().disable::<InterpolationPlugin>(),
/// ));
/// ```
pub struct InterpolationPlugin {
    schedule: InternedScheduleLabel,
}

impl InterpolationPlugin {
    pub(crate) fn new(schedule: InternedScheduleLabel) -> Self {
        Self { schedule }
    }

    fn is_needed(&self) -> bool {
        [
            FixedMain.intern(),
            FixedFirst.intern(),
            FixedPreUpdate.intern(),
            FixedUpdate.intern(),
            FixedPostUpdate.intern(),
            FixedLast.intern(),
        ]
        .contains(&self.schedule)
    }
}

impl Plugin for InterpolationPlugin {
    fn build(&self, app: &mut App) {
        if !self.is_needed() {
            return;
        }
        app.init_resource::<Lag>()
            .register_required_components::<RootMotion, Between>()
            .add_systems(
                FixedFirst,
                (show_present, begin_step)
                    .before(CharacterSystems::Advance)
                    .run_if(any_with_component::<SkinnedCharacter>),
            )
            .add_systems(
                FixedLast,
                end_step
                    .after(CharacterSystems::Callbacks)
                    .run_if(any_with_component::<Between>),
            )
            .add_systems(
                RunFixedMainLoop,
                (
                    find_lag,
                    show_transforms.run_if(any_with_component::<Between>),
                )
                    .chain()
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(
                PostUpdate,
                show_poses
                    .run_if(any_with_component::<SkinnedCharacter>)
                    .after(CharacterSystems::Callbacks)
                    .before(CharacterSystems::Bounds),
            );
    }
}

/// Seconds of the app by which what is shown lags behind the last step.
#[derive(Resource, Default)]
pub(crate) struct Lag(pub(crate) f64);

/// The transforms between which a character is shown that root motion moves.
#[derive(Component, Default)]
struct Between {
    /// At the begin of the last step.
    from: Transform,
    /// At its end.
    to: Transform,
    /// The one that was written last. If the character's is another, something else has moved it.
    shown: Option<Transform>,
}

impl Between {
    /// Writes a transform on the way, from 0 to 1, of the last step.
    fn show(&mut self, part: f32, mut transform: Mut<Transform>) {
        if self.shown != Some(*transform) {
            (self.from, self.to) = (*transform, *transform);
        }
        let (from, to) = (&self.from, &self.to);
        let now = if part >= 1.0 || from == to {
            *to
        } else {
            Transform {
                translation: from.translation.lerp(to.translation, part),
                rotation: from.rotation.slerp(to.rotation, part),
                scale: from.scale.lerp(to.scale, part),
            }
        };
        self.shown = Some(now);
        transform.set_if_neq(now);
    }
}

/// Returns characters from where they are shown to where they are, and notes where they set off.
fn begin_step(mut characters: Query<(&mut Transform, &mut Between, &RootMotion)>) {
    for (transform, mut between, motion) in &mut characters {
        let between = &mut *between;
        if motion.applies {
            between.show(1.0, transform);
            between.from = between.to;
        }
    }
}

/// Notes where a step has taken characters.
fn end_step(mut characters: Query<(&Transform, &mut Between, &RootMotion, Has<Teleported>)>) {
    for (transform, mut between, motion, teleported) in &mut characters {
        if motion.applies {
            (between.to, between.shown) = (*transform, Some(*transform));
            if teleported {
                between.from = *transform;
            }
        }
    }
}

/// Finds the moment to show.
fn find_lag(time: Res<Time<Fixed>>, mut lag: ResMut<Lag>) {
    lag.0 = time
        .timestep()
        .saturating_sub(time.overstep())
        .as_secs_f64();
}

/// Writes the transforms to show.
fn show_transforms(
    (time, fixed): (Res<Time<Virtual>>, Res<Time<Fixed>>),
    mut characters: Query<(&mut Transform, &mut Between, &RootMotion)>,
) {
    // A recorder that shows the past puts characters elsewhere meanwhile.
    if time.is_paused() {
        return;
    }
    let part = fixed.overstep_fraction();
    for (transform, mut between, motion) in &mut characters {
        if motion.applies {
            between.show(part, transform);
        }
    }
}

type Shown = (
    Entity,
    &'static SkinnedCharacter,
    &'static AnimationController,
    &'static mut ActiveLayers,
);

/// Looks up the clips to show.
fn show_poses(
    lag: Res<Lag>,
    assets: Res<Assets<Character>>,
    outgrown: ResMut<OutgrownBoxes>,
    characters: Query<Shown>,
) {
    look_up_all(lag.0, assets, outgrown, characters);
}

/// Looks up the clips of the last step, for systems of this one that read poses.
fn show_present(
    assets: Res<Assets<Character>>,
    outgrown: ResMut<OutgrownBoxes>,
    characters: Query<Shown>,
) {
    look_up_all(0.0, assets, outgrown, characters);
}

fn look_up_all(
    lag: f64,
    assets: Res<Assets<Character>>,
    mut outgrown: ResMut<OutgrownBoxes>,
    mut characters: Query<Shown>,
) {
    let outgrown = &mut outgrown.0;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
            || outgrown.borrow_local_mut(),
            |outgrown, (entity, handle, controller, mut layers)| {
                if let Some(character) = assets.get(handle.id()) {
                    let layers = layers.bypass_change_detection();
                    layers.show(lag, character, controller);
                    if layers.has_outgrown_boxes() {
                        outgrown.push(entity);
                    }
                }
            },
        );
}
