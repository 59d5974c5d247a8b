//! The characters of these tests, in front of a small camera.

use super::offscreen::{Offscreen, character::parts};
use bevy::{
    core_pipeline::tonemapping::Tonemapping, log::LogPlugin, prelude::*, time::TimeUpdateStrategy,
};
use bevy_marionette::{model::Model, prelude::*};
use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

pub struct Harness(Offscreen);

impl Deref for Harness {
    type Target = Offscreen;

    fn deref(&self) -> &Offscreen {
        &self.0
    }
}

impl DerefMut for Harness {
    fn deref_mut(&mut self) -> &mut Offscreen {
        &mut self.0
    }
}

impl Harness {
    pub fn new() -> Self {
        let log = LogPlugin {
            filter: "error".into(),
            ..default()
        };
        let camera = (
            Camera3d::default(),
            Tonemapping::None,
            looking_at(Vec3::ZERO),
        );
        let mut harness = Self(Offscreen::new(UVec2::new(320, 240), log, camera));
        let world = harness.world();
        world.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            1.0 / 60.0,
        )));
        world.insert_resource(ClearColor(Color::BLACK));
        let sun = DirectionalLight {
            illuminance: 6000.0,
            ..default()
        };
        world.spawn((
            sun,
            Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
        ));
        harness
    }

    /// Spawns a character made of `model` that plays.
    pub fn spawn(&mut self, model: Model, clip: &str, transform: Transform) -> Entity {
        let handle = self.add(model);
        self.world()
            .spawn((
                SkinnedCharacter(handle),
                AnimationController::playing(clip),
                transform,
            ))
            .id()
    }

    /// Moves the camera to look at another place in the same direction.
    pub fn look_at(&mut self, place: Vec3) {
        let camera = self.camera;
        self.world().entity_mut(camera).insert(looking_at(place));
    }

    /// Runs a number of frames, then stops the clock.
    pub fn pause_after(&mut self, frames: usize) {
        (0..frames).for_each(|_| self.update());
        self.world().resource_mut::<Time<Virtual>>().pause();
    }

    pub fn current_palette(&mut self, entity: Entity, part: usize) -> Vec<Mat4> {
        let part = parts(self.world(), entity)[part];
        self.buffers.current(part)
    }

    pub fn previous_palette(&mut self, entity: Entity, part: usize) -> Vec<Mat4> {
        let part = parts(self.world(), entity)[part];
        self.buffers.previous(part)
    }
}

fn looking_at(place: Vec3) -> Transform {
    Transform::from_translation(place + Vec3::new(0.0, 1.2, 6.0))
        .looking_at(place + Vec3::Y, Vec3::Y)
}
