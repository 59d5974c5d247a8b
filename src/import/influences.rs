//! The joints that move each vertex of a mesh, as a file gives them.

use super::ImportReport;
use crate::{
    format::Diagnostic,
    model::JointIndex,
    plural::{counted, have},
};

/// The joints that move the vertices of a mesh: any number for each vertex, largest weight first.
#[derive(Debug, Default)]
pub(super) struct VertexWeights {
    /// Weights are above 0, and those of a vertex sum to one. Each joint occurs once per vertex.
    list: Vec<(JointIndex, f32)>,
    ends: Vec<usize>,
}

impl VertexWeights {
    /// Returns the joints of a vertex.
    pub(super) fn of(&self, vertex: usize) -> &[(JointIndex, f32)] {
        let start = if vertex > 0 { self.ends[vertex - 1] } else { 0 };
        &self.list[start..self.ends[vertex]]
    }

    /// Returns the number of vertices.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Reads the weights of vertices, and counts the repairs.
#[derive(Debug, Default)]
pub(super) struct WeightReader {
    vertices: usize,
    histogram: [usize; 6],
    not_positive: usize,
    sum_off: usize,
    largest_sum_error: f32,
}

/// The largest deviation of a vertex's sum of weights from one that causes no warning.
const SUM_TOLERANCE: f32 = 0.01;

impl WeightReader {
    /// Adds a vertex to `mesh`, moved by `weights`: pairs of a joint and its weight, in any number and order.
    ///
    /// Weights of the same joint are added up, weights that are not finite or not above 0 are dropped, and the rest is
    /// normalized to a sum of one. A vertex without weights follows the first joint named, or joint 0.
    pub(super) fn push(
        &mut self,
        mesh: &mut VertexWeights,
        weights: impl IntoIterator<Item = (JointIndex, f32)>,
    ) {
        self.vertices += 1;
        let start = mesh.list.len();
        let (mut sum, mut odd, mut first) = (0.0, false, None);
        for (joint, weight) in weights {
            first = first.or(Some(joint));
            if weight > 0.0 && weight.is_finite() {
                sum += weight;
                match mesh.list[start..].iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, share)) => *share += weight,
                    None => mesh.list.push((joint, weight)),
                }
            } else {
                odd |= weight != 0.0;
            }
        }
        self.finish_vertex(mesh, start, sum, odd, first);
    }

    /// Normalizes the weights of the last vertex, which begin at `start`. Apart from [`Self::push`], so that it isn't compiled
    /// for every kind of iterator.
    fn finish_vertex(
        &mut self,
        mesh: &mut VertexWeights,
        start: usize,
        sum: f32,
        odd: bool,
        first: Option<JointIndex>,
    ) {
        let own = &mut mesh.list[start..];
        self.not_positive += usize::from(odd);
        self.histogram[own.len().min(5)] += 1;
        if (sum - 1.0).abs() > SUM_TOLERANCE && !odd {
            self.sum_off += 1;
            if (sum - 1.0).abs() > (self.largest_sum_error - 1.0).abs() || self.sum_off == 1 {
                self.largest_sum_error = sum;
            }
        }

        if let [(_, weight)] = own {
            *weight = 1.0;
        } else {
            // Stable, so that equal weights keep the file's order. Most are sorted already.
            if !own.is_sorted_by(|a, b| a.1 >= b.1) {
                own.sort_by(|a, b| b.1.total_cmp(&a.1));
            }
            // Summed again, because the order of the sum matters to the last bit.
            let sum: f32 = own.iter().map(|(_, weight)| weight).sum();
            if sum > 0.0 && sum.is_finite() && sum.recip().is_finite() {
                own.iter_mut().for_each(|(_, weight)| *weight /= sum);
                let used = own.iter().take_while(|(_, weight)| *weight > 0.0).count();
                mesh.list.truncate(start + used);
            } else {
                let joint = own.first().map(|&(joint, _)| joint).or(first).unwrap_or(0);
                mesh.list.truncate(start);
                mesh.list.push((joint, 1.0));
            }
        }
        mesh.ends.push(mesh.list.len());
    }

    /// Adds this mesh's counts to the report of the whole import.
    pub(super) fn add_to(&self, report: &mut ImportReport) {
        for (total, count) in report.influences.iter_mut().zip(self.histogram) {
            *total += count;
        }
    }

    /// Returns one warning about everything unusual in the weights of `mesh`.
    pub(super) fn warning(&self, file: &str, mesh: &str) -> Option<Diagnostic> {
        let Self {
            vertices,
            histogram,
            not_positive,
            sum_off,
            largest_sum_error,
        } = *self;
        let mut said = Vec::new();
        if histogram[0] > 0 {
            said.push(format!(
                "{} {} no weight, now set to 1 for one joint",
                histogram[0],
                have(histogram[0])
            ));
        }
        if not_positive > 0 {
            said.push(format!(
                "{not_positive} {} weights that are negative or not a number, now set to 0",
                have(not_positive)
            ));
        }
        if sum_off > 0 {
            said.push(format!(
                "{sum_off} {} weights that do not sum to one (such as {largest_sum_error:.2})",
                have(sum_off)
            ));
        }
        (!said.is_empty()).then(|| {
            let message = format!(
                "`{mesh}`: of {}, {}",
                counted(vertices, "vertex"),
                said.join("; ")
            );
            Diagnostic::warning(file, message)
                .with_hint("the weights were normalized to a sum of one")
        })
    }
}

#[cfg(test)]
#[path = "tests/influences.rs"]
pub(super) mod tests;
