//! Inertialization: a pose that is carried over a switch from some clips to others.
//!
//! At the switch, each joint's difference between the old clips and the new ones has a size and a
//! speed. From then on it is added to the new clips, and decays along a polynomial that starts with
//! that size and speed and ends at 0 with speed, acceleration and jerk 0:
//!
//! ```text
//! x(s) = (1 − s)⁴ · (x₀ + (4·x₀ + T·v₀)·s)        s = t / T in 0..=1
//! ```
//!
//! The idea is David Bollo's ("Inertialization: High-Performance Animation Transitions in Gears of War", GDC 2018), and the
//! polynomial is his with the end's jerk set to 0, written as a product. Three things differ. Vectors decay as they are,
//! not their lengths alone, so that velocities across the difference are kept, too. A velocity away from the new clip is
//! kept as well: the difference then grows a little before it shrinks. And switches add up: each has an offset of its own,
//! made from its clips alone, so that an offset never depends on what was shown, nor on when.
//!
//! Differences of rotations are modified Rodrigues parameters, `axis · tan(angle / 4)`: regular up to a whole turn, and a
//! rotation again without trigonometry, so poses have the same bits on every processor.

mod offset;
mod sampler;

pub use sampler::InertiaScratch;

use super::{
    ClipLayer,
    mix::{ActiveList, BasePose, MixRows, Take},
    row::Row,
};
use crate::controller::{BlendMode, Switch, SwitchLayer};
use crate::model::Skeleton;
use glam::Vec4;
use offset::{Carried, Offset};
use sampler::reach;

/// The offsets of a character's switches, made from [`AnimationController::switches`] and the
/// clips.
///
/// It can be made again at any time, so it need not be saved. [`Evaluate::inertia`](super::Evaluate::inertia) adds it to
/// the layers of the [base](ClipLayer::base).
///
/// [`AnimationController::switches`]: crate::controller::AnimationController::switches
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// The offsets of the current switches, the oldest first, followed by unused ones that are kept
    /// for their memory.
    offsets: Vec<Offset>,
    count: usize,
}

/// An [`Inertia`] at a moment.
#[derive(Clone, Copy, Debug)]
pub struct InertiaAt<'a> {
    offsets: &'a [Offset],
    /// In seconds of the controller's time.
    time: f64,
}

/// Memory to add an inertia to some of a pose's layers.
#[derive(Debug)]
pub(super) struct BaseScratch<R: Row> {
    pose: Vec<R>,
    base: BasePose<R>,
}

impl<R: Row> Default for BaseScratch<R> {
    fn default() -> Self {
        Self {
            pose: Vec::new(),
            base: BasePose::default(),
        }
    }
}

impl Inertia {
    /// Creates an inertia without offsets.
    pub const fn new() -> Self {
        Self {
            offsets: Vec::new(),
            count: 0,
        }
    }

    /// Follows the switches of a controller, the oldest first: makes an offset for each that is new. Returns `true` if there
    /// is a new one, or one less.
    ///
    /// `layer` looks up a clip, bound to the skeleton, and a mask, with the weight and time of the layer it is given.
    /// After a change of the skeleton or of clips, [`clear`](Self::clear) it first. Costs four blends for each new switch,
    /// and nothing but a comparison for the others. Allocates only for the first switches of a character.
    pub fn follow<'s, 'c>(
        &mut self,
        switches: impl Iterator<Item = &'s Switch> + Clone,
        skeleton: &Skeleton,
        layer: impl Fn(&SwitchLayer) -> Option<ClipLayer<'c>>,
        scratch: &mut InertiaScratch,
    ) -> bool {
        let before = self.count;
        // Move the offsets that exist already to the front, in the order of the switches.
        let mut known = 0;
        for switch in switches.clone() {
            if let Some(at) = self.offsets[known..]
                .iter()
                .position(|offset| offset.of == *switch)
            {
                self.offsets[known..=known + at].rotate_right(1);
                known += 1;
            }
        }
        self.count = 0;
        let mut changed = false;
        for switch in switches {
            let at = self.count;
            if at >= known || self.offsets[at].of != *switch {
                // Reuse the memory of an offset that is no longer current.
                let spare = if self.offsets.len() > known {
                    self.offsets.pop()
                } else {
                    None
                };
                let mut offset = spare.unwrap_or_default();
                offset.make(switch, skeleton, &layer, scratch);
                self.offsets.insert(at, offset);
                (known, changed) = (known + 1, true);
            }
            self.count += 1;
        }
        changed || before != self.count
    }

    /// Forgets all offsets.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns `true` if there is no offset.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the offsets as they are at a moment of the controller's time.
    pub fn at(&self, time: f64) -> InertiaAt<'_> {
        InertiaAt {
            offsets: &self.offsets[..self.count],
            time,
        }
    }
}

impl InertiaAt<'_> {
    /// Returns `true` if all scales stay one if they were.
    pub(super) fn keeps_scale(&self) -> bool {
        self.offsets.iter().all(Offset::keeps_scale)
    }

    /// Returns `true` if an offset moves morph weights.
    pub(super) fn moves_morphs(&self) -> bool {
        self.offsets.iter().any(Offset::moves_morphs)
    }

    /// Mixes the layers, with the offsets added to those of the base.
    pub(super) fn run<R: Carried>(
        &self,
        mix: &MixRows<R>,
        scratch: &mut BaseScratch<R>,
        memory: &mut ActiveList<R>,
        out: &mut [R],
    ) {
        let in_base = |layer: &ClipLayer| layer.base && layer.effective_mode() == BlendMode::Blend;
        // Nothing lies on top of the base, so the offsets go straight onto the result.
        if mix.layers.iter().all(in_base) {
            mix.run(Take::All, memory, out);
            return self.add_to(out);
        }
        // Other layers lie on top of the base. So it is mixed alone first, and the result stands in
        // for its layers.
        let BaseScratch { pose, base } = scratch;
        pose.resize(mix.rest.len(), R::NEUTRAL);
        mix.run(Take::Base, memory, pose);
        self.add_to(pose);
        let counts = |layer: &&ClipLayer| {
            in_base(layer) && layer.weight > 0.0 && layer.weight < f32::INFINITY
        };
        let layers = || mix.layers.iter().filter(counts);
        // Finite weights may sum to infinity, by which nothing can be divided.
        let weight = layers()
            .map(|layer| layer.weight)
            .sum::<f32>()
            .min(f32::MAX);
        base.fill(pose, weight, |row| {
            self.reach::<R>(row, reach::<R>(layers(), weight, row))
        });
        mix.run(Take::OnBase(base), memory, out);
    }

    fn add_to<R: Carried>(&self, pose: &mut [R]) {
        // The latest first: each is a difference to a pose that has the later ones.
        for offset in self.offsets.iter().rev() {
            R::add(offset, offset.age(self.time), pose);
        }
    }

    /// Returns the part of a row's joints that the base reaches, given the part that its current
    /// clips reach.
    fn reach<R: Carried>(&self, row: usize, reach: Vec4) -> Vec4 {
        let sum = self.offsets.iter().fold(reach, |sum, offset| {
            let changes = R::reach_changes(offset);
            let found = changes.binary_search_by_key(&row, |(row, _)| *row).ok();
            found.map_or(sum, |at| {
                sum + changes[at].1 * offset.of.remaining(self.time)
            })
        });
        sum.clamp(Vec4::ZERO, Vec4::ONE)
    }
}
