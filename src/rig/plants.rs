//! Foot contacts of clips.

mod detect;

use super::{FootPlan, Landing};
use crate::model::SyncMark;
use glam::Vec3;

/// The foot contacts of a clip: the times at which each foot of a character is on the ground.
///
/// A foot is in contact while it is low and stands still relative to the ground. Clips that run on
/// the spot move such feet backward, at the speed that the character is meant to move. That speed
/// is estimated first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plants {
    /// Velocity of the ground in the clip, in model units per second: the opposite of the speed that the character
    /// is meant to move at. Zero for clips that stay in place, or that move the character by themselves.
    pub ground_velocity: Vec3,
    legs: Vec<Vec<PlantRange>>,
    /// Heel and ball at the start of each range.
    places: Vec<Vec<[Vec3; 2]>>,
    /// Length of the clip in seconds if it loops, 0 otherwise.
    period: f64,
}

/// A time span in which a foot is on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantRange {
    /// The time at which the foot lands, in seconds from the clip's start.
    pub start: f64,
    /// The time at which the foot lifts off, after `start`. Beyond the clip's end if the contact
    /// continues where a loop starts over.
    pub end: f64,
}

/// Seconds over which the weight of a contact rises after landing, and falls before lift-off.
const RAMP: f64 = 0.04;

impl Plants {
    /// Returns the contacts of a foot, in order of time.
    pub fn ranges(&self, leg: usize) -> &[PlantRange] {
        self.legs.get(leg).map_or(&[], |ranges| ranges)
    }

    /// Returns the landings of all feet, by which clips of a [blend
    /// space](crate::model::BlendSpace) are kept in phase. A foot that is on the ground from the
    /// clip's start, or all the time, doesn't land.
    pub fn landings(&self) -> impl Iterator<Item = SyncMark> {
        let legs = self.legs.iter().enumerate();
        let landings =
            legs.flat_map(|(foot, ranges)| ranges.iter().map(move |range| (foot, range)));
        // A foot that never lifts has no moment of landing that clips could be aligned by.
        let lands = |range: &PlantRange| {
            let stands = self.period > 0.0 && range.end - range.start >= self.period;
            !stands && (self.period > 0.0 || range.start > 0.0)
        };
        let wrapped = |time: f64| {
            if self.period > 0.0 {
                time.rem_euclid(self.period)
            } else {
                time
            }
        };
        let landings = landings.filter(move |(_, range)| lands(range));
        landings.map(move |(foot, range)| SyncMark {
            time: wrapped(range.start),
            foot,
        })
    }

    /// Returns the strength of a foot's contact at a time, in seconds from the clip's start: 0 in the air, 1 on the ground, and
    /// smooth in between.
    pub fn weight(&self, leg: usize, time: f64) -> f32 {
        let within = |range: &PlantRange, time: f64| {
            // A short contact has shorter ramps, so that it reaches 1 in its middle.
            let ramp = RAMP.min(0.5 * (range.end - range.start));
            (((time - range.start) / ramp).min((range.end - time) / ramp)).clamp(0.0, 1.0) as f32
        };
        let weights = self.ranges(leg).iter().map(|range| {
            // A contact that continues over the start of a loop ends after the period.
            let again = if self.period > 0.0 {
                within(range, time + self.period)
            } else {
                0.0
            };
            within(range, time).max(again)
        });
        weights.fold(0.0, f32::max)
    }
}

impl Plants {
    /// Returns the clip's plan for a foot at a time, in seconds from its start.
    pub fn plan(&self, leg: usize, time: f64) -> FootPlan {
        let weight = self.weight(leg, time);
        // A foot on the ground has no next place yet, so there is nothing to look up.
        if weight > 0.0 {
            return FootPlan {
                weight,
                landing: None,
            };
        }
        let places = self.places.get(leg).map_or(&[][..], |places| places);
        let landings = self
            .ranges(leg)
            .iter()
            .zip(places)
            .filter_map(|(range, &places)| {
                // In a loop, the next landing may be in the next loop. Other clips have no period, so it
                // stays in the past.
                let seconds = range.start - time;
                let seconds = if seconds < 0.0 {
                    seconds + self.period
                } else {
                    seconds
                };
                (seconds >= 0.0).then_some(Landing {
                    seconds: seconds as f32,
                    places,
                })
            });
        FootPlan {
            weight,
            landing: landings.min_by(|a, b| a.seconds.total_cmp(&b.seconds)),
        }
    }
}
