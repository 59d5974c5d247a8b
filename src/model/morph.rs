//! Morph targets: their names and weights at rest, and how far they move vertices.

pub(super) mod expression;

use super::side_names::mirrored_names;
use expression::Expression;
use glam::{Vec3, Vec4};
use std::{collections::HashMap, sync::Arc};

/// Index of a morph target's name in a model's [`Morphs`].
///
/// ```
/// # use bevy_marionette::model::{MorphIndex, Morphs};
/// /// Returns the weight of a morph target in a pose.
/// fn weight(morphs: &Morphs, pose: &[f32], name: &str) -> Option<f32> {
///     let morph: MorphIndex = morphs.morph(name)?;
///     pose.get(usize::from(morph)).copied()
/// }
/// ```
pub type MorphIndex = u16;

/// The morph targets of a model, by name, with their weights at rest.
///
/// Parts share them: one name moves the mouth in the face, the teeth and the tongue. Weights of a pose are in this order.
/// Part of the [`Skeleton`](super::Skeleton::morphs), because clips are bound to both, by name.
///
/// ```
/// # use bevy_marionette::model::Morphs;
/// let face = Morphs::new([("jawOpen".into(), 0.0), ("smile".into(), 0.25)]);
/// let at_rest: Vec<_> = face.names().iter().zip(face.rest()).collect();
/// assert_eq!(at_rest[1], (&"smile".into(), &0.25));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Morphs {
    names: Vec<Arc<str>>,
    /// In rows of four; lanes past the last are 0.
    rest: Vec<Vec4>,
    /// The expressions that the file defines.
    expressions: Vec<Expression>,
}

impl Morphs {
    /// The maximum number of names.
    pub const MAX: usize = MorphIndex::MAX as usize;

    /// The largest weight in a baked file: with it, the farthest vertex that there can be still has a place.
    pub(crate) const MOST_WEIGHT: f32 = 1e12;

    /// No morph targets.
    pub const NONE: &Self = &Self {
        names: Vec::new(),
        rest: Vec::new(),
        expressions: Vec::new(),
    };

    /// Creates a list of names with their weights at rest. A weight that is not finite counts as 0, and names beyond
    /// [`Self::MAX`] are left out.
    pub fn new(morphs: impl IntoIterator<Item = (Arc<str>, f32)>) -> Self {
        let mut out = Self::default();
        for (at, (name, weight)) in morphs.into_iter().take(Self::MAX).enumerate() {
            if at % 4 == 0 {
                out.rest.push(Vec4::ZERO);
            }
            out.names.push(name);
            out.rest[at / 4][at % 4] = if weight.is_finite() { weight } else { 0.0 };
        }
        out
    }

    /// Returns the expressions that the model's file defines, as VRM files do. Empty for others, where names of morph targets
    /// tell what they show: see [`expression`](Self::expression).
    pub fn own_expressions(&self) -> &[Expression] {
        &self.expressions
    }

    /// Returns the list with expressions that are made of its morph targets. Shares of targets that it lacks are left out.
    pub fn with_expressions(self, expressions: impl IntoIterator<Item = Expression>) -> Self {
        let count = self.len();
        let mut expressions: Vec<Expression> = expressions.into_iter().collect();
        for one in &mut expressions {
            one.morphs
                .retain(|(morph, share)| usize::from(*morph) < count && share.is_finite());
        }
        Self {
            expressions,
            ..self
        }
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns `true` if the model has no morph targets.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the number of rows, of four weights each.
    pub fn rows(&self) -> usize {
        self.rest.len()
    }

    /// Returns the names, in the order of the weights.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Returns the morph target called `name`; the first one if several share the name.
    pub fn morph(&self, name: &str) -> Option<MorphIndex> {
        let at = self.names.iter().position(|n| &**n == name)?;
        Some(at as MorphIndex)
    }

    /// Weights at rest, in rows of four.
    pub fn rest_rows(&self) -> &[Vec4] {
        &self.rest
    }

    /// Weights at rest, one for each name.
    pub fn rest(&self) -> &[f32] {
        weights_of(&self.rest, self.len())
    }

    /// For each morph target the one on the other side of the face, told by their names; itself if there is none.
    pub(crate) fn other_sides(&self) -> Vec<MorphIndex> {
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (at, name) in self.names.iter().enumerate() {
            by_name.entry(name).or_insert(at);
        }
        let other = |(at, name): (usize, &Arc<str>)| {
            let found = mirrored_names(name)
                .iter()
                .find_map(|name| by_name.get(&**name).copied());
            found.unwrap_or(at)
        };
        let found: Vec<usize> = self.names.iter().enumerate().map(other).collect();
        // Only pairs that are mutual: mirrored twice is the same.
        let mutual = |(at, &other): (usize, &usize)| if found[other] == at { other } else { at };
        let mutual = found.iter().enumerate().map(mutual);
        mutual.map(|at| at as MorphIndex).collect()
    }
}

/// The first `count` weights in rows of four.
pub(crate) fn weights_of(rows: &[Vec4], count: usize) -> &[f32] {
    &bytemuck::cast_slice(rows)[..count]
}

/// A morph target of a part: how far it moves the part's vertices at weight 1.
///
/// Only vertices that it moves are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Index into the model's [`Morphs`].
    pub morph: MorphIndex,
    /// The vertices that it moves, in ascending order.
    pub vertices: Vec<u32>,
    /// For each of [`Self::vertices`], the change of its position, in model space.
    pub positions: Vec<Vec3>,
    /// The change of its normal; empty if normals stay as they are.
    pub normals: Vec<Vec3>,
    /// The change of its tangent's direction; empty if tangents stay as they are.
    pub tangents: Vec<Vec3>,
}

/// Difference that a [`MorphTarget`] adds to a vertex at weight 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MorphDelta {
    /// Change of the position.
    pub position: Vec3,
    /// Change of the normal. The sum of all is normalized.
    pub normal: Vec3,
    /// Change of the tangent's direction.
    pub tangent: Vec3,
}

impl MorphTarget {
    /// Creates a target from the changes of all vertices of a part; those that are 0 are left out.
    pub fn new(morph: MorphIndex, deltas: impl IntoIterator<Item = MorphDelta>) -> Self {
        let moved = (0..).zip(deltas);
        Self::of_vertices(
            morph,
            moved.filter(|(_, delta)| *delta != MorphDelta::default()),
        )
    }

    /// Creates a target from the changes of some vertices, in ascending order.
    pub(crate) fn of_vertices(
        morph: MorphIndex,
        deltas: impl IntoIterator<Item = (u32, MorphDelta)>,
    ) -> Self {
        let moved: Vec<(u32, MorphDelta)> = deltas.into_iter().collect();
        let list = |of: fn(&MorphDelta) -> Vec3| -> Vec<Vec3> {
            if moved.iter().all(|(_, delta)| of(delta) == Vec3::ZERO) {
                return Vec::new();
            }
            moved.iter().map(|(_, delta)| of(delta)).collect()
        };
        Self {
            morph,
            vertices: moved.iter().map(|(vertex, _)| *vertex).collect(),
            positions: moved.iter().map(|(_, delta)| delta.position).collect(),
            normals: list(|delta| delta.normal),
            tangents: list(|delta| delta.tangent),
        }
    }

    /// Returns the vertices that the target moves, and how far.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, MorphDelta)> + '_ {
        let at = |list: &[Vec3], at: usize| list.get(at).copied().unwrap_or_default();
        self.vertices.iter().enumerate().map(move |(i, &vertex)| {
            let delta = MorphDelta {
                position: at(&self.positions, i),
                normal: at(&self.normals, i),
                tangent: at(&self.tangents, i),
            };
            (vertex as usize, delta)
        })
    }

    /// Returns the change of a vertex; 0 for one that the target doesn't move.
    pub fn delta(&self, vertex: usize) -> MorphDelta {
        let at = |list: &[Vec3], at: usize| list.get(at).copied().unwrap_or_default();
        let Ok(i) = self.vertices.binary_search(&(vertex as u32)) else {
            return MorphDelta::default();
        };
        MorphDelta {
            position: at(&self.positions, i),
            normal: at(&self.normals, i),
            tangent: at(&self.tangents, i),
        }
    }

    /// The target for those vertices that have a new index, which must be in the same order.
    pub(crate) fn kept(&self, new: impl Fn(u32) -> Option<u32>) -> Self {
        let kept: Vec<(usize, u32)> = self
            .vertices
            .iter()
            .enumerate()
            .filter_map(|(at, &vertex)| Some((at, new(vertex)?)))
            .collect();
        let pick = |list: &[Vec3]| -> Vec<Vec3> {
            kept.iter()
                .filter_map(|(at, _)| list.get(*at).copied())
                .collect()
        };
        Self {
            morph: self.morph,
            vertices: kept.iter().map(|(_, vertex)| *vertex).collect(),
            positions: pick(&self.positions),
            normals: pick(&self.normals),
            tangents: pick(&self.tangents),
        }
    }

    /// Returns the bytes that the target's numbers take.
    pub fn bytes(&self) -> usize {
        let vectors = self.positions.len() + self.normals.len() + self.tangents.len();
        size_of_val(&self.vertices[..]) + vectors * size_of::<Vec3>()
    }
}

#[cfg(test)]
#[path = "tests/morph.rs"]
mod tests;
