//! The plugin group.

use crate::{
    asset::CharacterAssetPlugin,
    character::{
        AnimationEventPlugin, CharacterPlugin, CharacterRigPlugin, CrowdPlugin, DressingPlugin,
        InterpolationPlugin, RootMotionPlugin,
    },
    render::PalettePlugin,
};
use bevy::{
    app::{PluginGroup, PluginGroupBuilder},
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// All plugins that an app with characters needs, to be added before or after Bevy's.
///
/// They load characters, spawn their parts, advance their controllers, pose them, and draw them. What not all apps need is in
/// plugins of its own:
///
/// | plugin | what it does |
/// | --- | --- |
/// | [`AnimationEventPlugin`] | triggers callbacks and the events of clips |
/// | [`RootMotionPlugin`] | lets clips carry characters |
/// | [`InterpolationPlugin`] | shows characters that advance in fixed steps as smoothly as the display |
/// | [`DressingPlugin`] | attaches entities to joints, dresses characters in others, and hides or repaints parts |
/// | [`CharacterRigPlugin`] | IK, look-at, feet and springs |
/// | [`CrowdPlugin`] | shares poses and saves what is far away |
///
/// An app can do without these, as a server that draws nothing does without rigs:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::CharacterRigPlugin, prelude::*};
/// App::new().add_plugins((
///     MinimalPlugins,
///     AssetPlugin::default(),
///     TransformPlugin,
///     MarionettePlugins::default().build().disable::<CharacterRigPlugin>(),
/// ));
/// ```
///
/// The inspector, the recorder and picking have plugins of their own, which are added beside it.
pub struct MarionettePlugins {
    schedule: InternedScheduleLabel,
}

impl MarionettePlugins {
    /// Advances controllers, moves characters and triggers animation events in a schedule other than `PostUpdate`.
    ///
    /// In `FixedUpdate`, they do so in steps of the same length on every machine, so a server, a replay and a rollback
    /// get the same bits. What is shown lies between the last two steps, so it moves as smoothly as the display: see
    /// [`InterpolationPlugin`].
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// App::new().add_plugins((DefaultPlugins, MarionettePlugins::new(FixedUpdate)));
    /// ```
    ///
    /// # Smooth motion beside physics
    ///
    /// A game whose rules run in `FixedUpdate` doesn't need that: callbacks come at the same times of a clip however time
    /// is divided into frames. With [`MarionettePlugins::default`], poses are as smooth as the display, and the rules read
    /// callbacks as messages, each of them once:
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// App::new()
    ///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
    ///     .add_message::<AnimationCallback>()
    ///     .add_systems(FixedUpdate, |mut callbacks: MessageReader<AnimationCallback>| {
    ///         for hit in callbacks.read().filter(|callback| callback.name == "hit") {
    ///             info!("{} strikes", hit.entity);
    ///         }
    ///     });
    /// ```
    ///
    /// Let the physics engine interpolate the characters' `Transform`s, such as by Avian's `TransformInterpolation`; what
    /// is attached to them and their goals follow what is shown.
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }
}

impl Default for MarionettePlugins {
    fn default() -> Self {
        Self::new(PostUpdate)
    }
}

impl PluginGroup for MarionettePlugins {
    fn build(self) -> PluginGroupBuilder {
        let schedule = self.schedule;
        PluginGroupBuilder::start::<Self>()
            .add(CharacterAssetPlugin)
            .add(CharacterPlugin::new(schedule))
            .add(PalettePlugin)
            .add(AnimationEventPlugin::new(schedule))
            .add(RootMotionPlugin::new(schedule))
            .add(InterpolationPlugin::new(schedule))
            .add(DressingPlugin)
            .add(CharacterRigPlugin)
            .add(CrowdPlugin)
    }
}
