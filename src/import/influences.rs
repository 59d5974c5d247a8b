//! Reduces a vertex's weights in the file to the four that a skin keeps.

use super::ImportReport;
use crate::{format::Diagnostic, model::JointIndex};

/// Up to four joints that move a vertex, as indices into the skeleton.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct JointInfluences {
    /// Joints; unused slots are 0.
    pub(super) joints: [JointIndex; 4],
    /// Weights, largest first, ≥ 0, with a sum of one; unused slots are 0.
    pub(super) weights: [f32; 4],
}

/// Reduces the weights of one mesh's vertices to four each, and counts what it changed.
#[derive(Debug, Default)]
pub(super) struct InfluenceReducer {
    merged: Vec<(JointIndex, f32)>,
    vertices: usize,
    histogram: [usize; 6],
    largest_dropped: f32,
    not_positive: usize,
    sum_off: usize,
    largest_sum_error: f32,
}

/// How far the sum of a vertex's weights may be from one without a warning.
const SUM_TOLERANCE: f32 = 0.01;

/// Share of a vertex's weight that may be dropped without a warning. Less than this moves a vertex by at most a
/// twentieth of the distance between its joints' results. The report counts the vertices in any case.
const LOSS_TOLERANCE: f32 = 0.05;

impl InfluenceReducer {
    /// Returns the four largest of `weights`, which are pairs of a joint and its weight.
    ///
    /// Weights of the same joint are added up, weights that are not finite or not above 0 are dropped, and the rest is
    /// normalized to a sum of one. A vertex without weights follows the first joint named, or joint 0.
    pub(super) fn reduce(&mut self, weights: impl IntoIterator<Item = (JointIndex, f32)>) -> JointInfluences {
        self.vertices += 1;
        self.merged.clear();
        let (mut sum, mut odd, mut first) = (0.0, false, None);
        for (joint, weight) in weights {
            first = first.or(Some(joint));
            if weight > 0.0 && weight.is_finite() {
                sum += weight;
                match self.merged.iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, share)) => *share += weight,
                    None => self.merged.push((joint, weight)),
                }
            } else {
                odd |= weight != 0.0;
            }
        }
        self.not_positive += usize::from(odd);
        self.histogram[self.merged.len().min(5)] += 1;
        if (sum - 1.0).abs() > SUM_TOLERANCE && !odd {
            self.sum_off += 1;
            if (sum - 1.0).abs() > (self.largest_sum_error - 1.0).abs() || self.sum_off == 1 {
                self.largest_sum_error = sum;
            }
        }

        if let [(joint, _)] = self.merged[..] {
            return JointInfluences { joints: [joint, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] };
        }
        // There are few, and most are sorted already. Stable, so that equal weights keep the file's order.
        self.merged.sort_by(|a, b| b.1.total_cmp(&a.1));
        let kept: f32 = self.merged.iter().take(4).map(|(_, weight)| weight).sum();
        if !(kept > 0.0 && kept.is_finite() && kept.recip().is_finite()) {
            let joint = self.merged.first().map(|&(j, _)| j).or(first).unwrap_or(0);
            return JointInfluences { joints: [joint, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] };
        }
        self.largest_dropped = self.largest_dropped.max(1.0 - (kept / sum).min(1.0));
        let mut out = JointInfluences::default();
        for (slot, &(joint, weight)) in self.merged.iter().take(4).enumerate() {
            (out.joints[slot], out.weights[slot]) = (joint, weight / kept);
        }
        out
    }

    /// Adds this mesh's counts to the report of the whole import.
    pub(super) fn add_to(&self, report: &mut ImportReport) {
        for (total, count) in report.influences.iter_mut().zip(self.histogram) {
            *total += count;
        }
        report.largest_weight_dropped = report.largest_weight_dropped.max(self.largest_dropped);
    }

    /// Returns one warning about everything unusual in the weights of `mesh`.
    pub(super) fn warning(&self, file: &str, mesh: &str) -> Option<Diagnostic> {
        let Self { vertices, histogram, not_positive, sum_off, largest_sum_error, .. } = *self;
        let mut said = Vec::new();
        if histogram[5] > 0 && self.largest_dropped > LOSS_TOLERANCE {
            let share = self.largest_dropped * 100.0;
            said.push(format!(
                "{} have more than four joints and lose up to {share:.1} % of their weight",
                histogram[5]
            ));
        }
        if histogram[0] > 0 {
            said.push(format!("{} have no weight and follow one joint", histogram[0]));
        }
        if not_positive > 0 {
            said.push(format!("{not_positive} have weights that are negative or not a number, now set to 0"));
        }
        if sum_off > 0 {
            said.push(format!("{sum_off} have weights that do not sum to one (such as {largest_sum_error:.2})"));
        }
        (!said.is_empty()).then(|| {
            let message = format!("`{mesh}`: of {vertices} vertices, {}", said.join("; "));
            Diagnostic::warning(file, message).with_hint("the weights were normalized to a sum of one")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduce(weights: &[(JointIndex, f32)]) -> (JointInfluences, InfluenceReducer) {
        let mut reducer = InfluenceReducer::default();
        (reducer.reduce(weights.iter().copied()), reducer)
    }

    #[test]
    fn the_four_largest_stay_largest_first_and_sum_to_one() {
        let (out, reducer) = reduce(&[(1, 0.1), (2, 0.4), (3, 0.08), (4, 0.22), (5, 0.2)]);
        assert_eq!(out.joints, [2, 4, 5, 1]);
        assert!((out.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((out.weights[0] - 0.4 / 0.92).abs() < 1e-6);
        assert!((reducer.largest_dropped - 0.08).abs() < 1e-6);
        assert_eq!(reducer.histogram, [0, 0, 0, 0, 0, 1]);
        assert!(reducer.warning("f", "m").unwrap().message.contains("8.0 %"));
    }

    #[test]
    fn a_small_loss_is_counted_but_no_warning() {
        let (out, reducer) = reduce(&[(1, 0.12), (2, 0.4), (3, 0.03), (4, 0.25), (5, 0.2)]);
        assert_eq!(out.joints, [2, 4, 5, 1]);
        assert_eq!(reducer.histogram, [0, 0, 0, 0, 0, 1]);
        assert_eq!(reducer.warning("f", "m"), None);
    }

    #[test]
    fn weights_of_one_joint_are_added_up() {
        let (out, reducer) = reduce(&[(7, 0.3), (2, 0.4), (7, 0.3)]);
        assert_eq!(out, JointInfluences { joints: [7, 2, 0, 0], weights: [0.6, 0.4, 0.0, 0.0] });
        assert_eq!(reducer.histogram, [0, 0, 1, 0, 0, 0]);
        assert_eq!(reducer.warning("f", "m"), None);
    }

    #[test]
    fn negative_and_broken_weights_are_left_out_with_one_warning() {
        let (out, reducer) = reduce(&[(1, 1.0), (2, -0.01), (3, f32::NAN), (4, f32::INFINITY)]);
        assert_eq!(out, JointInfluences { joints: [1, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] });
        assert!(reducer.warning("f", "m").is_some());
    }

    #[test]
    fn a_vertex_without_weight_follows_the_first_joint_named() {
        for weights in [&[(9, 0.0), (2, -1.0)][..], &[(9, 1e-42)][..]] {
            let (out, _) = reduce(weights);
            assert_eq!(out, JointInfluences { joints: [9, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] });
        }
        assert_eq!(reduce(&[]).0.weights[0], 1.0);
        assert_eq!(reduce(&[(3, f32::MAX), (4, f32::MAX)]).0.weights[0], 1.0);
    }

    #[test]
    fn sums_that_are_off_are_normalized_and_told() {
        let (out, reducer) = reduce(&[(1, 0.21), (2, 0.21)]);
        assert_eq!(out.weights, [0.5, 0.5, 0.0, 0.0]);
        assert!(reducer.warning("f", "m").unwrap().message.contains("0.42"));
    }
}
