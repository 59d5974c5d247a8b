//! Poses of clips at a switch, and the speeds that they have there.

use crate::controller::{BlendMode, Switch, SwitchLayer, TrackPriority};
use crate::model::{Skeleton, SoaTransform};
use crate::pose::{
    ClipLayer,
    mix::{ActiveList, MixRows, Take},
    row::Row,
};
use glam::Vec4;

/// Working memory of [`Inertia::follow`](super::Inertia::follow). One serves any number of characters.
#[derive(Debug, Default)]
pub struct InertiaScratch {
    pub(super) layers: Vec<ClipLayer<'static>>,
    pub(super) joints: Samples<SoaTransform>,
    pub(super) weights: Samples<Vec4>,
}

/// Poses before and after a switch, each at two times, and the memory to mix them.
#[derive(Debug)]
pub(super) struct Samples<R: Row> {
    active: ActiveList<R>,
    pub(super) poses: [Vec<R>; 4],
}

impl<R: Row> Default for Samples<R> {
    fn default() -> Self {
        Self {
            active: ActiveList::default(),
            poses: [(); 4].map(|()| Vec::new()),
        }
    }
}

/// Seconds over which velocities are measured.
pub(super) const STEP: f64 = 1.0 / 128.0;

/// Poses of the clips of a switch.
pub(super) struct Sampler<'a, 'c, L> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) layer: &'a L,
    pub(super) layers: &'a mut Vec<ClipLayer<'c>>,
}

impl<'c, L: Fn(&SwitchLayer) -> Option<ClipLayer<'c>>> Sampler<'_, 'c, L> {
    /// Returns `true` if a clip before or after the switch moves morph targets.
    pub(super) fn moves_morphs(&self, of: &Switch) -> bool {
        let mut layers = of.from().iter().chain(of.to());
        layers.any(|layer| (self.layer)(layer).is_some_and(|found| found.clip.animates_morphs()))
    }

    /// Poses the old and the new clips at the switch, each also a step away, and returns the steps
    /// in seconds. Appends the old clips' reach minus that of the new ones to `reaches`, by row.
    /// `None` if either side has no clips to pose.
    pub(super) fn sample_all<R: Row>(
        &mut self,
        of: &Switch,
        rest: &[R],
        unit_scale: bool,
        Samples { active, poses }: &mut Samples<R>,
        reaches: &mut Vec<(usize, Vec4)>,
    ) -> Option<[f64; 2]> {
        for pose in poses.iter_mut() {
            pose.resize(rest.len(), R::NEUTRAL);
        }
        let [old, old_next, new, new_next] = poses;
        let mut rows = (rest, unit_scale, active);
        let old_step = self.sample(of.from(), -STEP, &mut rows, old, old_next);
        self.reach::<R>(rest.len(), |row, reach| reaches.push((row, reach)));
        let new_step = self.sample(of.to(), STEP, &mut rows, new, new_next);
        // The old clips' rows are in the list already, in the same order.
        let mut old = reaches.iter_mut();
        self.reach::<R>(rest.len(), |_, reach| {
            if let Some((_, old)) = old.next() {
                *old -= reach;
            }
        });
        reaches.retain(|(_, difference)| *difference != Vec4::ZERO);
        Some([old_step?, new_step?])
    }

    /// Poses clips at the switch, and at a step before or after it: the one given unless a clip begins or ends there.
    /// Returns the step.
    fn sample<R: Row>(
        &mut self,
        of: &[SwitchLayer],
        step: f64,
        rows: &mut (&[R], bool, &mut ActiveList<R>),
        pose: &mut [R],
        next: &mut [R],
    ) -> Option<f64> {
        self.collect(of, 0.0);
        if self.layers.is_empty() {
            return None;
        }
        // Times are clamped to the clip, so a step beyond its end would measure too low a speed.
        let within = |step: f64| {
            of.iter()
                .filter_map(|layer| Some((layer, (self.layer)(layer)?)))
                .all(|(layer, found)| {
                    (0.0..=found.clip.timing.duration).contains(&(layer.time + layer.rate * step))
                })
        };
        let step = if within(step) || !within(-step) {
            step
        } else {
            -step
        };
        self.run(rows, pose);
        self.collect(of, step);
        self.run(rows, next);
        // `Self::reach` reads the layers, so they must be those at the switch again.
        self.collect(of, 0.0);
        Some(step)
    }

    fn collect(&mut self, of: &[SwitchLayer], step: f64) {
        self.layers.clear();
        for layer in of {
            let Some(found) = (self.layer)(layer) else {
                continue;
            };
            let (time, weight) = (
                layer.time + layer.rate * step,
                layer.weight + layer.weight_rate * step as f32,
            );
            // Differences aren't a pose that could be carried over.
            let fits = found.clip.rows().len() == self.skeleton.rows() && !found.clip.additive;
            // A fade must not make a layer vanish within the step, or the two poses would be of
            // different clips.
            let weight = weight.max(layer.weight * 1e-3);
            let layer = ClipLayer {
                time,
                weight,
                mode: BlendMode::Blend,
                priority: TrackPriority::Low,
                base: true,
                ..found
            };
            self.layers.extend(fits.then_some(layer));
        }
    }

    fn run<R: Row>(
        &self,
        (rest, unit_scale, active): &mut (&[R], bool, &mut ActiveList<R>),
        out: &mut [R],
    ) {
        MixRows {
            layers: self.layers,
            priority_blend: 0.0,
            rest,
            unit_scale: *unit_scale,
        }
        .run(Take::All, active, out);
    }

    /// Calls `each` with every row and the part of its weight that the clips reach.
    fn reach<R: Row>(&self, rows: usize, mut each: impl FnMut(usize, Vec4)) {
        let weight: f32 = self.layers.iter().map(|layer| layer.weight).sum();
        (0..rows).for_each(|row| each(row, reach::<R>(self.layers.iter(), weight, row)));
    }
}

/// The part of the layers' weight that reaches a row's joints.
pub(super) fn reach<'a, R: Row>(
    layers: impl Iterator<Item = &'a ClipLayer<'a>>,
    weight: f32,
    row: usize,
) -> Vec4 {
    layers.fold(Vec4::ZERO, |sum, layer| {
        let animated = R::reach(layer.clip, row);
        let mask = layer.mask.map_or(Vec4::ONE, |mask| {
            R::mask(mask).get(row).copied().unwrap_or(Vec4::ZERO)
        });
        sum + animated * mask * (layer.weight / weight)
    })
}
