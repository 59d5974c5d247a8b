//! Morph targets: overrides of their weights, and the vertices that they move.

use crate::{
    model::{MorphIndex, SkinPart},
    numbers::clamp_weight,
};
use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};

/// The effect of a [`MorphOverride`] on a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum MorphMode {
    /// Replaces the weight.
    #[default]
    Set,
    /// Is added to the weight.
    Add,
}

/// Overrides the weight of one morph target on top of the playing clips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct MorphOverride {
    /// The morph target. The override is ignored if the model has no such target.
    pub morph: MorphIndex,
    /// The new weight, or what is added to it. The override is ignored if it is not finite.
    pub value: f32,
    /// Blend from the clips' weight to the override, 0..=1.
    pub weight: f32,
    /// The way in which the value changes the weight.
    pub mode: MorphMode,
}

impl MorphOverride {
    /// Creates an override that replaces the weight of the clips completely.
    pub const fn set(morph: MorphIndex, value: f32) -> Self {
        Self {
            morph,
            value,
            weight: 1.0,
            mode: MorphMode::Set,
        }
    }

    /// Creates an override that adds to the weight of the clips.
    pub const fn add(morph: MorphIndex, value: f32) -> Self {
        Self {
            morph,
            value,
            weight: 1.0,
            mode: MorphMode::Add,
        }
    }

    pub(super) fn counts(&self, morphs: usize) -> bool {
        usize::from(self.morph) < morphs && self.value.is_finite() && self.weight > 0.0
    }

    pub(super) fn apply(&self, weights: &mut [Vec4]) {
        let (row, lane) = (usize::from(self.morph) / 4, usize::from(self.morph) % 4);
        let share = clamp_weight(self.weight);
        let now = &mut weights[row][lane];
        let to = match self.mode {
            MorphMode::Set => *now * (1.0 - share) + self.value * share,
            MorphMode::Add => *now + self.value * share,
        };
        // Two finite numbers may still overflow.
        if to.is_finite() {
            *now = to;
        }
    }
}

/// Moves a part's vertices by its morph targets, before they are skinned.
#[derive(Clone, Copy, Debug)]
pub struct MorphVertices<'a> {
    /// The part, in its bind pose.
    pub part: &'a SkinPart,
    /// The model's morph weights, from [`Evaluate::run_morphs`](super::Evaluate::run_morphs). Targets past the end have the weight 0.
    pub weights: &'a [f32],
}

impl MorphVertices<'_> {
    /// Returns `true` if a target moves a vertex.
    pub fn moves(&self) -> bool {
        self.targets().next().is_some()
    }

    /// Writes the moved positions to `out`, as many as the part has.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn positions(&self, out: &mut [Vec3]) {
        out[..self.part.positions.len()].copy_from_slice(&self.part.positions);
        for (target, weight) in self.targets() {
            add(out, &target.vertices, &target.positions, weight);
        }
    }

    /// Writes the moved unit normals to `out`, as many as the part has.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn normals(&self, out: &mut [Vec3]) {
        let normals = &self.part.normals;
        out[..normals.len()].copy_from_slice(normals);
        for (target, weight) in self.targets() {
            add(out, &target.vertices, &target.normals, weight);
        }
        for (out, normal) in out.iter_mut().zip(normals) {
            // Those that nothing moves keep their bits.
            if out != normal {
                *out = out.try_normalize().unwrap_or(*normal);
            }
        }
    }

    /// Writes the moved unit tangents to `out`, as many as the part has. The bitangent's sign stays.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn tangents(&self, out: &mut [Vec4]) {
        let tangents = &self.part.tangents;
        out[..tangents.len()].copy_from_slice(tangents);
        for (target, weight) in self.targets() {
            for (&vertex, delta) in target.vertices.iter().zip(&target.tangents) {
                if let Some(out) = out.get_mut(vertex as usize) {
                    *out += (*delta * weight).extend(0.0);
                }
            }
        }
        for (out, tangent) in out.iter_mut().zip(tangents) {
            if out != tangent {
                let unit = out.truncate().try_normalize();
                *out = unit.map_or(*tangent, |unit| unit.extend(tangent.w));
            }
        }
    }

    /// The targets that move vertices, with their weights.
    fn targets(&self) -> impl Iterator<Item = (&crate::model::MorphTarget, f32)> {
        self.part.morphs.iter().filter_map(|target| {
            let weight = *self.weights.get(usize::from(target.morph))?;
            (weight != 0.0).then_some((target, weight))
        })
    }
}

fn add(out: &mut [Vec3], vertices: &[u32], deltas: &[Vec3], weight: f32) {
    for (&vertex, delta) in vertices.iter().zip(deltas) {
        if let Some(out) = out.get_mut(vertex as usize) {
            *out += *delta * weight;
        }
    }
}
