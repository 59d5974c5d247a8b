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
mod tests {
    use super::*;
    use crate::import::{influences::tests::mesh, split::with_palettes};
    use crate::messages::assert_message;
    use glam::Vec3;

    type Joints<'a> = &'a [(JointIndex, f32)];

    fn combine(vertices: &[Joints], settings: &ImportSettings) -> (SkinPart, Combiner) {
        let mut combiner = Combiner::new(settings);
        let part = SkinPart {
            name: "skin".into(),
            positions: vec![Vec3::ZERO; vertices.len()],
            ..SkinPart::default()
        };
        let mut parts = with_palettes(part, &mesh(vertices), &mut combiner);
        assert_eq!(parts.len(), 1);
        (parts.remove(0), combiner)
    }

    /// The joints of a vertex as they come out, by joint.
    fn joints(part: &SkinPart, vertex: usize) -> Vec<(JointIndex, f32)> {
        let mut out: Vec<_> = part
            .joint_weights(vertex)
            .map(|(slot, weight)| (part.palette[slot], weight))
            .collect();
        out.sort_by_key(|(joint, _)| *joint);
        out
    }

    fn are_close(a: Joints, b: Joints) -> bool {
        a.len() == b.len()
            && a.iter()
                .zip(b)
                .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6)
    }

    #[test]
    fn three_joints_stay_and_the_others_are_combined() {
        let five = [(2, 0.3), (4, 0.25), (5, 0.2), (7, 0.15), (9, 0.1)];
        let (part, combiner) = combine(&[&five, &five[..1]], &ImportSettings::default());
        assert_eq!(part.palette, [2, 4, 5, 7, 9]);
        assert_eq!(part.combined_joints.get(0), Some(&[(3, 0.6), (4, 0.4)][..]));
        // Largest first, and the combined joint is second.
        assert_eq!(part.influences[0].palette, [0, 1, 5, 2]);
        assert!(part.influences[0].weights.is_sorted_by(|a, b| a >= b));
        assert!(are_close(&joints(&part, 0), &five) && are_close(&joints(&part, 1), &[(2, 1.0)]));
        assert_eq!(
            (
                combiner.entries,
                combiner.largest_error,
                combiner.warning("f")
            ),
            (1, 0.0, None)
        );
    }

    #[test]
    fn vertices_share_an_entry_where_the_ratio_of_their_other_joints_is_the_same() {
        let [a, b] = [
            [(0, 0.3), (1, 0.2), (2, 0.2), (3, 0.2), (4, 0.1)],
            // The same two to one, but less of it.
            [(5, 0.5), (6, 0.2), (7, 0.15), (3, 0.1), (4, 0.05)],
        ];
        let (part, combiner) = combine(&[&a, &b, &a], &ImportSettings::default());
        assert_eq!(part.combined_joints.len(), 1);
        assert!(are_close(&joints(&part, 0), &a) && are_close(&joints(&part, 2), &a));
        assert!(combiner.largest_error < 1e-7);
        let off = [(0, 0.3), (1, 0.2), (2, 0.2), (3, 0.17), (4, 0.13)];
        for (skin_error, entries) in [(0.02, 2), (0.04, 1), (0.2, 0)] {
            let settings = ImportSettings {
                skin_error,
                ..ImportSettings::default()
            };
            let (part, combiner) = combine(&[&a, &off], &settings);
            assert_eq!(part.combined_joints.len(), entries);
            assert!(combiner.largest_error <= skin_error && combiner.warning("f").is_none());
        }
    }

    #[test]
    fn the_largest_errors_come_first_where_there_is_no_room_for_all() {
        // Each vertex loses its fifth joint, a larger one every time.
        let vertex = |v: u16| {
            let fifth = 0.01 * f32::from(v + 1);
            [
                (0, 0.3),
                (1, 0.25),
                (2, 0.25),
                (2 * v + 3, 0.2 - fifth),
                (2 * v + 4, fifth),
            ]
        };
        let vertices: Vec<_> = [3, 0, 7, 5, 1, 6, 2, 4].map(vertex).to_vec();
        let vertices: Vec<Joints> = vertices.iter().map(|vertex| &vertex[..]).collect();
        let settings = ImportSettings {
            max_palette: 19 + 3,
            ..ImportSettings::default()
        };
        let (part, combiner) = combine(&vertices, &settings);
        let has_entry = |vertex: usize| {
            part.influences[vertex]
                .palette
                .iter()
                .any(|&slot| slot >= 19)
        };
        assert_eq!(
            (0..8)
                .filter(|&vertex| has_entry(vertex))
                .collect::<Vec<_>>(),
            [2, 3, 5]
        );
        assert_eq!((part.palette_len(), combiner.inexact), (22, 5));
        assert!(
            (combiner.largest_error - 0.05).abs() < 1e-6,
            "{}",
            combiner.largest_error
        );
        let warning = combiner.warning("f").unwrap();
        assert_message("weights: more than four joints", warning);
    }

    #[test]
    fn settings_beyond_reason_are_harmless() {
        let five = [(2, 0.3), (4, 0.25), (5, 0.2), (7, 0.15), (9, 0.1)];
        for (skin_error, max_palette) in [
            (f32::NAN, 0),
            (-1.0, 1),
            (f32::INFINITY, u16::MAX),
            (0.0, 13),
        ] {
            let settings = ImportSettings {
                skin_error,
                max_palette,
                ..ImportSettings::default()
            };
            let (part, _) = combine(&[&five], &settings);
            assert!((part.influences[0].weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            assert!(
                part.influences[0]
                    .palette
                    .iter()
                    .all(|&slot| usize::from(slot) < part.palette_len())
            );
        }
    }
}
