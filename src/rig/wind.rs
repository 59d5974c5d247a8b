//! Wind that comes in gusts.

#[cfg(feature = "bevy")]
use bevy::{ecs::reflect::ReflectResource, reflect::prelude::ReflectDefault};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The wind that drags springs along, in the whole world.
///
/// Gusts travel with it. They follow from the place and the time alone, so a replay gets the same ones.
///
/// ```
/// # use bevy_marionette::rig::Wind;
/// # use glam::Vec3;
/// let breeze = Wind { velocity: Vec3::X * 3.0, ..Wind::default() };
/// assert!(breeze.at(Vec3::ZERO, 0.0).x > 0.0);
/// ```
///
/// In Bevy, it is a resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "bevy",
    derive(bevy::prelude::Resource, bevy::reflect::Reflect)
)]
#[cfg_attr(feature = "bevy", reflect(Resource, Clone, Default, PartialEq))]
#[serde(default)]
pub struct Wind {
    /// The mean velocity, in world units per second. 2 m/s stirs hair, 8 m/s makes flags wave.
    pub velocity: Vec3,
    /// Strength of gusts: the share of the velocity by which the wind becomes stronger and weaker, 0..=1.
    pub gusts: f32,
    /// The distance from one gust to the next, in world units, above 0.
    pub gust_length: f32,
}

impl Default for Wind {
    /// Still air.
    fn default() -> Self {
        Self {
            velocity: Vec3::ZERO,
            gusts: 0.5,
            gust_length: 8.0,
        }
    }
}

impl Wind {
    /// Returns the wind's velocity at a place, `seconds` after the world began.
    pub fn at(&self, place: Vec3, seconds: f64) -> Vec3 {
        let speed = self.velocity.length();
        if !(speed > 0.0 && self.gusts > 0.0 && self.gust_length > 0.0) {
            return self.velocity;
        }
        // The distance along the wind, as seen by someone who drifts with it: gusts stand still there.
        let along = f64::from(place.dot(self.velocity) / speed) - seconds * f64::from(speed);
        let phase = along / f64::from(self.gust_length);
        // Two waves at the golden ratio squared, so that gusts hardly ever repeat.
        let gust = 0.6 * wave(phase) + 0.4 * wave(phase * 2.618 + 0.3);
        self.velocity * (1.0 + self.gusts.min(1.0) * gust)
    }
}

/// A smooth wave from −1 to 1 with a period of 1. Sines would differ between platforms.
fn wave(phase: f64) -> f32 {
    let t = (phase - phase.floor()) as f32;
    let bump = 4.0 * t * (1.0 - t);
    2.0 * bump * bump - 1.0
}

#[cfg(test)]
#[path = "tests/wind.rs"]
mod tests;
