//! Four palette entries for vertices with any number of joints.
//!
//! The GPU blends four matrices per vertex. Skinning is linear in the matrices, so a vertex with more joints keeps
//! its three largest, and its fourth entry is a *combined joint*: the weighted mean of all others, which is computed
//! once per part instead of once per vertex. That is exact. Vertices whose other joints agree closely enough share an
//! entry.

use super::{ImportReport, ImportSettings};
use crate::{
    format::Diagnostic,
    model::{Influences, JointIndex, SkinPart},
    plural::{counted, have},
};

/// Fits vertices with more than four joints into four palette entries, and keeps count of entries
/// and errors.
#[derive(Debug)]
pub(super) struct Combiner {
    /// Most entries that a palette may have.
    most: usize,
    /// Largest share of a vertex's weight that may go to other joints than its own.
    error: f32,
    entries: usize,
    largest_error: f32,
    /// Vertices over the error.
    inexact: usize,
    /// Names of their parts.
    parts: Vec<String>,
}

/// The result of fitting the vertices of a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    entries: usize,
    largest_error: f32,
    /// Vertices over the error.
    inexact: usize,
    /// `true` if a larger palette would make some of them exact.
    pub(super) is_crowded: bool,
}

/// A vertex with more than four joints.
struct Wide<'a> {
    vertex: usize,
    /// The considered joints after the first three.
    rest: &'a [(JointIndex, f32)],
    /// Sum of all weights after the first three.
    weight: f32,
    /// Weight of the joints that are not considered, because a palette has no room for them.
    lost: f32,
    /// Share of the vertex's weight that goes to wrong joints so far, besides the lost weight.
    error: f32,
    /// The combined joint; `None` to keep only the four largest.
    entry: Option<u16>,
}

impl Combiner {
    /// Fewer entries than this would not leave three vertices of a triangle four joints each.
    const FEWEST: usize = 12;

    pub(super) fn new(settings: &ImportSettings) -> Self {
        Self {
            most: usize::from(settings.max_palette).max(Self::FEWEST),
            error: settings.skin_error.max(0.0),
            entries: 0,
            largest_error: 0.0,
            inexact: 0,
            parts: Vec::new(),
        }
    }

    /// Returns the most entries that a palette may have.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the joints of a vertex that are considered: few enough that three vertices always
    /// fit into a palette.
    pub(super) fn considered<'a>(
        &self,
        joints: &'a [(JointIndex, f32)],
    ) -> &'a [(JointIndex, f32)] {
        &joints[..joints.len().min(self.most / 3)]
    }

    /// Writes the influences of `part`, whose palette has its joints, and adds combined joints to
    /// the palette. `slots` has the palette index of each joint. The result only counts once it is
    /// given to [`Self::count`], as a part may still be split.
    pub(super) fn fill<'a>(
        &self,
        part: &mut SkinPart,
        vertices: impl Iterator<Item = &'a [(JointIndex, f32)]>,
        slots: &[u16],
    ) -> Fit {
        let mut wide = Vec::new();
        part.influences = Vec::with_capacity(part.positions.len());
        for (vertex, joints) in vertices.enumerate() {
            if joints.len() > 4 {
                let considered = self.considered(joints);
                let [weight, lost, error] =
                    [&joints[3..], &joints[considered.len()..], &considered[4..]].map(sum);
                wide.push(Wide {
                    vertex,
                    rest: &considered[3..],
                    weight,
                    lost,
                    error,
                    entry: None,
                });
            }
            let mut influences = Influences::default();
            for (lane, &(joint, weight)) in joints.iter().take(4).enumerate() {
                (influences.palette[lane], influences.weights[lane]) =
                    (slots[usize::from(joint)], weight);
            }
            part.influences.push(influences);
        }
        if wide.is_empty() {
            return Fit::default();
        }
        self.combine(part, &mut wide, slots)
    }

    /// Adds the result of fitting a part that is kept to the counts.
    pub(super) fn count(&mut self, part: &SkinPart, fit: Fit) {
        self.entries += fit.entries;
        self.largest_error = self.largest_error.max(fit.largest_error);
        if fit.inexact > 0 {
            self.inexact += fit.inexact;
            let name = format!("`{}`", part.name);
            if self.parts.last() != Some(&name) {
                self.parts.push(name);
            }
        }
    }

    fn combine(&self, part: &mut SkinPart, wide: &mut [Wide], slots: &[u16]) -> Fit {
        let joints = part.palette.len();
        let room = self.most.saturating_sub(joints);
        // The shares of one entry at a time, by slot. They are set and cleared one by one, because
        // palettes are long and entries short.
        let mut shares = vec![0.0; joints];
        // Farthest first: the vertex with the largest error gets an entry of its own, and then
        // others may be close enough to share it.
        while part.combined_joints.len() < room
            && let Some(at) = (0..wide.len())
                .max_by(|&a, &b| wide[a].error.total_cmp(&wide[b].error).then(b.cmp(&a)))
            && wide[at].error > self.error
        {
            let seed = &mut wide[at];
            let number = part.combined_joints.len() as u16;
            let total = sum(seed.rest);
            let entry = seed
                .rest
                .iter()
                .map(|&(joint, weight)| (slots[usize::from(joint)], weight / total));
            entry
                .clone()
                .for_each(|(slot, share)| shares[usize::from(slot)] = share);
            part.combined_joints.push(entry.clone());
            (seed.error, seed.entry) = (0.0, Some(number));
            // A vertex may leave an earlier entry for a closer one.
            for other in wide.iter_mut() {
                let error = other.error_with(&shares, slots);
                if error < other.error {
                    (other.error, other.entry) = (error, Some(number));
                }
            }
            entry.for_each(|(slot, _)| shares[usize::from(slot)] = 0.0);
        }
        let mut fit = Fit {
            entries: part.combined_joints.len(),
            ..Fit::default()
        };
        for wide in &*wide {
            wide.write(&mut part.influences[wide.vertex], joints);
            let error = wide.error + wide.lost;
            fit.largest_error = fit.largest_error.max(error);
            fit.inexact += usize::from(error > self.error);
            // Without the lost weight: splitting the part brings none of it back.
            fit.is_crowded |= wide.error > self.error;
        }
        fit
    }

    /// Adds the counts to the report of the whole import.
    pub(super) fn add_to(&self, report: &mut ImportReport) {
        report.combined_joints = self.entries;
        report.skin_error = self.largest_error;
    }

    /// Returns a warning if vertices had to lose joints.
    pub(super) fn warning(&self, file: &str) -> Option<Diagnostic> {
        let Self { inexact, most, .. } = *self;
        (inexact > 0).then(|| {
            let message = format!(
                "{} of {} {} more than four joints, too many for a palette of {most} entries: up to {:.2} % of a vertex's \
                 weight is lost",
                counted(inexact, "vertex"),
                self.parts.join(", "),
                have(inexact),
                self.largest_error * 100.0
            );
            let hint =
                "split the mesh, raise `max_palette` (over 256 needs storage buffers), or allow a larger `skin_error`";
            Diagnostic::warning(file, message).with_hint(hint)
        })
    }
}

impl Wide<'_> {
    /// Returns the error with a combined joint that has these shares of the palette's joints.
    fn error_with(&self, shares: &[f32], slots: &[u16]) -> f32 {
        // Half the sum of all differences, because what one joint has too much, another has too
        // little. `left` becomes the share that the entry has of joints other than these. The lost
        // joints would add `lost` to the sum; of the half, `lost` is then subtracted, because
        // [`Self::error`] doesn't count it.
        let (mut difference, mut left) = (0.0, 1.0);
        for &(joint, weight) in self.rest {
            let share = shares[usize::from(slots[usize::from(joint)])];
            difference += (weight - self.weight * share).abs();
            left -= share;
        }
        ((difference + self.weight * f32::max(left, 0.0) - self.lost) / 2.0).max(0.0)
    }

    /// Changes influences that hold the four largest joints.
    fn write(&self, Influences { palette, weights }: &mut Influences, joints: usize) {
        let Some(entry) = self.entry else {
            let kept: f32 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= kept);
            return;
        };
        (palette[3], weights[3]) = ((joints + usize::from(entry)) as u16, self.weight);
        // Weights are stored largest first.
        let mut lane = 3;
        while lane > 0 && weights[lane - 1] < weights[lane] {
            palette.swap(lane - 1, lane);
            weights.swap(lane - 1, lane);
            lane -= 1;
        }
    }
}

fn sum(joints: &[(JointIndex, f32)]) -> f32 {
    joints.iter().map(|(_, weight)| weight).sum()
}

#[cfg(test)]
#[path = "tests/combine.rs"]
mod tests;
