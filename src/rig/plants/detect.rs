//! Detects foot contacts in clips: the times at which feet are low and stand still.

use super::{PlantRange, Plants, RAMP};
use crate::{
    model::{PlaybackMode, SkeletalClip, Skeleton},
    pose::{ClipLayer, Evaluate, Scratch},
    rig::feet::{Feet, LegPose},
};
use glam::Vec3;

/// Contacts shorter than this, in seconds, are left out, and gaps shorter than this are closed.
const SHORTEST: f64 = 0.05;

/// Samples per second, at least, and altogether, at most.
const SAMPLE_RATE: f64 = 120.0;
const MOST_SAMPLES: usize = 4000;
/// Height up to which a foot may stand, in leg lengths.
const LOW: f32 = 0.03;
/// Speed at which a standing foot may slide, in leg lengths per second, and as a share of the ground's speed.
const SLIDE: [f32; 2] = [0.25, 0.2];

impl Plants {
    /// Finds the foot contacts in `clip`, which must be bound to `skeleton`.
    pub fn detect(feet: &Feet, skeleton: &Skeleton, clip: &SkeletalClip) -> Self {
        let sampled = Samples::new(feet, skeleton, clip);
        let legs = (0..feet.len()).map(|leg| sampled.ranges(leg)).collect();
        Self::new(clip, legs, &sampled)
    }

    /// Takes the ranges of the legs for which `keys` has some, and finds those of the other legs.
    ///
    /// Ranges whose end is not after their start, or that are not finite, are left out.
    pub fn keyed(
        feet: &Feet,
        skeleton: &Skeleton,
        clip: &SkeletalClip,
        keys: &[Option<Vec<PlantRange>>],
    ) -> Self {
        let sampled = Samples::new(feet, skeleton, clip);
        let valid =
            |range: &&PlantRange| range.start < range.end && (range.end - range.start).is_finite();
        let legs = (0..feet.len()).map(|leg| match keys.get(leg) {
            Some(Some(keys)) => keys.iter().filter(valid).copied().collect(),
            _ => sampled.ranges(leg),
        });
        Self::new(clip, legs.collect(), &sampled)
    }

    fn new(clip: &SkeletalClip, legs: Vec<Vec<PlantRange>>, sampled: &Samples) -> Self {
        if clip.additive {
            // An additive clip has no feet on the ground by itself.
            return Self::default();
        }
        let period = if clip.timing.playback == PlaybackMode::Loop {
            clip.timing.duration
        } else {
            0.0
        };
        let places = legs.iter().enumerate().map(|(leg, ranges)| {
            ranges
                .iter()
                .map(|range| sampled.places(leg, range.start))
                .collect()
        });
        Self {
            ground_velocity: sampled.ground,
            places: places.collect(),
            legs,
            period,
        }
    }
}

/// A clip's legs, sampled.
struct Samples {
    step: f64,
    duration: f64,
    loops: bool,
    /// For each leg and sample, heights of heel and ball, and velocities from this sample to the next.
    legs: Vec<Vec<[(f32, Vec3); 2]>>,
    /// For each leg and sample, heel and ball.
    contacts: Vec<Vec<[Vec3; 2]>>,
    ground: Vec3,
    floor: f32,
    size: f32,
}

impl Samples {
    fn new(feet: &Feet, skeleton: &Skeleton, clip: &SkeletalClip) -> Self {
        let duration = clip.timing.duration;
        let wanted = (duration * SAMPLE_RATE)
            .ceil()
            .max(clip.frame_count() as f64 - 1.0);
        let count = if wanted.is_finite() {
            (wanted as usize).clamp(1, MOST_SAMPLES)
        } else {
            1
        };
        let step = duration / count as f64;
        let mut scratch = Scratch::default();
        let mut at = |time: f64| -> Vec<LegPose> {
            Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
            feet.legs_of(scratch.model()).collect()
        };
        let size = feet.size();
        let mut legs = vec![Vec::with_capacity(count); feet.len()];
        let mut contacts = vec![Vec::with_capacity(count); feet.len()];
        let mut before = at(0.0);
        for sample in 1..=count {
            let now = at(sample as f64 * step);
            let per_second = if step > 0.0 { (1.0 / step) as f32 } else { 0.0 };
            for (leg, (from, to)) in before.iter().zip(&now).enumerate() {
                contacts[leg].push(from.contacts.map(|(place, _)| place.into()));
                legs[leg].push([0, 1].map(|contact| {
                    let [(a, height), (b, _)] = [from, to].map(|pose| pose.contacts[contact]);
                    let velocity = (b - a) * per_second;
                    (
                        height,
                        Vec3::from(velocity - feet.up() * velocity.dot(feet.up())),
                    )
                }));
            }
            before = now;
        }
        let loops = clip.timing.playback == PlaybackMode::Loop;
        // The clip's floor is its lowest contact point, if that is within 5 % of a leg's length of
        // the model's origin.
        let heights = legs.iter().flatten().flatten().map(|(height, _)| *height);
        let lowest = heights.fold(f32::INFINITY, f32::min);
        let floor = if lowest.is_finite() {
            lowest.clamp(-0.05 * size, 0.05 * size)
        } else {
            0.0
        };
        let mut samples = Self {
            step,
            duration,
            loops,
            legs,
            contacts,
            ground: Vec3::ZERO,
            floor,
            size,
        };
        samples.ground = samples.ground_velocity();
        samples
    }

    fn places(&self, leg: usize, time: f64) -> [Vec3; 2] {
        let contacts = &self.contacts[leg];
        // The cast saturates.
        let sample = if self.step > 0.0 {
            (time / self.step).round() as usize
        } else {
            0
        };
        contacts[sample.min(contacts.len() - 1)]
    }

    /// Returns the median velocity of the lowest foot, from the samples in which it is low.
    fn ground_velocity(&self) -> Vec3 {
        let count = self.legs.first().map_or(0, Vec::len);
        let lowest = (0..count).filter_map(|sample| {
            let contacts = self.legs.iter().flat_map(|leg| leg[sample]);
            contacts
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(height, _)| height - self.floor < LOW * self.size)
        });
        let velocities: Vec<Vec3> = lowest
            .map(|(_, velocity)| velocity)
            .filter(|v| v.is_finite())
            .collect();
        let median = |axis: usize| {
            let mut all: Vec<f32> = velocities.iter().map(|v| v[axis]).collect();
            let middle = all.len() / 2;
            if all.is_empty() {
                0.0
            } else {
                *all.select_nth_unstable_by(middle, f32::total_cmp).1
            }
        };
        let ground = Vec3::new(median(0), median(1), median(2));
        // Slower than this, a foot only shifts, and the character doesn't walk. Nor does it where feet are dragged along at any speed.
        let slide = self.slide(ground);
        let near = velocities.iter().filter(|v| v.distance(ground) < slide);
        if ground.length() < 0.5 * SLIDE[0] * self.size || 2 * near.count() < velocities.len() {
            Vec3::ZERO
        } else {
            ground
        }
    }

    /// The speed over the ground up to which a foot may stand.
    fn slide(&self, ground: Vec3) -> f32 {
        SLIDE[0] * self.size + SLIDE[1] * ground.length()
    }

    fn ranges(&self, leg: usize) -> Vec<PlantRange> {
        let slide = self.slide(self.ground);
        let stands = |contacts: &[(f32, Vec3); 2]| {
            let stands = |(height, velocity): &(f32, Vec3)| {
                height - self.floor < LOW * self.size && velocity.distance(self.ground) < slide
            };
            contacts.iter().any(stands)
        };
        let mut ranges: Vec<PlantRange> = Vec::new();
        for (sample, contacts) in self.legs[leg].iter().enumerate() {
            let start = sample as f64 * self.step;
            if !stands(contacts) {
                continue;
            }
            let end = start + self.step;
            match ranges.last_mut() {
                Some(last) if start - last.end < SHORTEST => last.end = end,
                _ => ranges.push(PlantRange { start, end }),
            }
        }
        // A contact at the end of a loop and one at its start are the same.
        if let [first, .., last] = &mut ranges[..]
            && self.loops
            && first.start + self.duration - last.end < SHORTEST
        {
            last.end = first.end + self.duration;
            ranges.remove(0);
        } else if let [only] = &mut ranges[..]
            && self.loops
            && only.start + self.duration - only.end < SHORTEST
        {
            // All the time: without ramps at the ends.
            (only.start, only.end) = (-RAMP, self.duration + RAMP);
        }
        if !self.loops {
            // A clip starts and ends as it is, without ramps.
            for range in &mut ranges {
                if range.start <= 0.0 {
                    range.start = -RAMP;
                }
                if range.end >= self.duration - 0.5 * self.step {
                    range.end = self.duration + RAMP;
                }
            }
        }
        ranges.retain(|range| range.end - range.start >= SHORTEST);
        ranges
    }
}
