//! All jobs in order: blend the clips, apply joint overrides, compute the matrices.

use super::{
    ClipLayer, InertiaAt, JointOverride, LocalToModel, Mix, MixScratch, MorphOverride, PoseMut,
    adjust::apply_overrides,
    inertia::BaseScratch,
    mix::{ActiveList, MixRows, Take},
};
use crate::model::{JointTransform, MorphIndex, SkeletalClip, Skeleton, SoaTransform, weights_of};
use glam::{Affine3A, Vec4};

/// Computes one character's pose: from its playing clips to a matrix per joint. The clips may outlive the list of layers.
#[derive(Clone, Copy, Debug)]
pub struct Evaluate<'a, 'c> {
    /// The character's skeleton.
    pub skeleton: &'a Skeleton,
    /// The playing clips, bound to the skeleton.
    pub layers: &'a [ClipLayer<'c>],
    /// Share of the high-priority layers where both priorities reach a joint, 0..=1.
    pub priority_blend: f32,
    /// Joint overrides, applied on top of the clips.
    pub overrides: &'a [JointOverride],
    /// The decaying difference to clips that were switched from, added to the layers of the
    /// [base](ClipLayer::base).
    #[doc(hidden)]
    pub inertia: Option<InertiaAt<'a>>,
    /// Overrides of morph weights, applied on top of the clips, in order. For [`Self::run_morphs`].
    #[doc(hidden)]
    pub morph_overrides: &'a [MorphOverride],
}

/// A pose and the memory to compute it in. One per thread serves any number of characters; it stops
/// allocating once it has held the largest of them.
#[derive(Debug, Default)]
pub struct Scratch {
    local: Vec<SoaTransform>,
    model: Vec<Affine3A>,
    mix: MixScratch,
    base: BaseScratch<SoaTransform>,
}

impl SkeletalClip {
    /// Returns the joint matrices, in model space, of a skeleton that plays this clip alone, at a time in seconds from its
    /// start. Joints that the clip doesn't have are at rest.
    ///
    /// ```
    /// # use bevy_marionette::import::{ImportSettings, open_model};
    /// # use std::fs;
    /// # fn f() -> Result<(), Box<dyn std::error::Error>> {
    /// let scout = open_model("scout.glb", &fs::read("scout.glb")?, &ImportSettings::default())?.model;
    /// let middle = scout.clips[0].timing.duration / 2.0;
    /// let pose = scout.clips[0].pose_at(&scout.skeleton, middle);
    /// let hand = scout.skeleton.joint("hand.R").map(|hand| pose[usize::from(hand)].translation);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pose_at(&self, skeleton: &Skeleton, time: f64) -> Vec<Affine3A> {
        // The clips of a character are bound to it, so that they share its names.
        let bound = (self.joints()[..] != skeleton.names()[..]).then(|| self.bind(skeleton));
        let layer = ClipLayer::new(bound.as_ref().unwrap_or(self), time);
        let mut scratch = Scratch::default();
        Evaluate::new(skeleton, &[layer]).run(&mut scratch);
        scratch.model
    }
}

impl<'a, 'c> Evaluate<'a, 'c> {
    /// Creates the evaluation of `layers` on top of the rest pose of `skeleton`, with a priority blend of one half and without
    /// overrides.
    pub fn new(skeleton: &'a Skeleton, layers: &'a [ClipLayer<'c>]) -> Self {
        Self {
            skeleton,
            layers,
            priority_blend: 0.5,
            overrides: &[],
            inertia: None,
            morph_overrides: &[],
        }
    }

    /// Computes the pose and leaves it in `scratch`.
    ///
    /// # Panics
    /// In debug builds, if a clip is not bound to the skeleton.
    pub fn run(&self, scratch: &mut Scratch) {
        self.run_local(scratch).update();
    }

    /// Computes the local pose in `scratch`, to be changed by a rig. Its matrices are out of date until
    /// [`PoseMut::update`], so none is computed twice.
    ///
    /// # Panics
    /// Like [`Self::run`].
    #[doc(hidden)]
    pub fn run_local<'p>(&self, scratch: &'p mut Scratch) -> PoseMut<'p>
    where
        'a: 'p,
    {
        let unit_scale = self.mix(scratch);
        let mut pose = PoseMut::from_local(self.skeleton, &mut scratch.local, &mut scratch.model);
        pose = pose.with_unit_scale(unit_scale);
        apply_overrides(&mut pose, self.overrides);
        pose
    }

    /// Computes the pose from the clips alone, without overrides, with `root` as the parent of
    /// the root joints. Use this for characters that are only drawn.
    ///
    /// # Panics
    /// Like [`Self::run`].
    pub fn run_clips(&self, root: Option<&Affine3A>, scratch: &mut Scratch) {
        let unit_scale = self.mix(scratch);
        let Scratch { local, model, .. } = scratch;
        LocalToModel {
            parents: self.skeleton.parents(),
            local,
            root,
            unit_scale,
        }
        .run(model);
    }

    /// Mixes the clips into the local pose. Returns `true` if all its scales are known to be one.
    #[inline]
    pub(super) fn mix(&self, scratch: &mut Scratch) -> bool {
        let Scratch {
            local,
            model,
            mix,
            base,
        } = scratch;
        let Self {
            skeleton,
            layers,
            priority_blend,
            inertia,
            ..
        } = *self;
        local.resize(skeleton.rows(), SoaTransform::IDENTITY);
        model.resize(skeleton.len(), Affine3A::IDENTITY);
        // Known from the clips and the skeleton, so no pose has to be searched for scales.
        let mut unit_scale =
            skeleton.unit_scale() && layers.iter().all(|layer| layer.clip.unit_scale());
        let job = Mix {
            layers,
            priority_blend,
            rest: skeleton.rest(),
            unit_scale: skeleton.unit_scale(),
        };
        match inertia {
            None => job.run(mix, local),
            Some(inertia) => {
                inertia.run(&job.rows(), base, &mut mix.active, local);
                unit_scale &= inertia.keeps_scale();
            }
        }
        unit_scale
    }

    /// Like [`Self::run`], but writes the joint matrices to `model`, which is resized; `scratch` then
    /// holds only the local pose.
    ///
    /// # Panics
    /// Like [`Self::run`].
    pub fn run_to(&self, scratch: &mut Scratch, model: &mut Vec<Affine3A>) {
        // Swapped in and out, so that the matrices are computed in place.
        std::mem::swap(&mut scratch.model, model);
        self.run(scratch);
        std::mem::swap(&mut scratch.model, model);
    }
}

impl Scratch {
    /// Returns the local pose: joints relative to their parents.
    #[doc(hidden)]
    pub fn local(&self) -> &[SoaTransform] {
        &self.local
    }

    /// Returns the joint matrices in model space.
    pub fn model(&self) -> &[Affine3A] {
        &self.model
    }

    /// Returns the pose of the last run, to be changed. `skeleton` must be the one it was computed for.
    #[doc(hidden)]
    pub fn pose_mut<'a>(&'a mut self, skeleton: &'a Skeleton) -> PoseMut<'a> {
        PoseMut::new(skeleton, &mut self.local, &mut self.model)
    }

    /// Exchanges the local pose, and its memory, for another.
    pub(super) fn swap_local(&mut self, local: &mut Vec<SoaTransform>) {
        std::mem::swap(&mut self.local, local);
    }

    /// Takes over a pose, to be changed.
    #[cfg_attr(not(feature = "bevy"), expect(dead_code))]
    pub(crate) fn set(&mut self, local: &[SoaTransform], model: &[Affine3A]) {
        self.local.clear();
        self.local.extend_from_slice(local);
        self.model.clear();
        self.model.extend_from_slice(model);
    }

    /// Returns a joint's transform relative to its parent; `None` if there is no such joint.
    pub fn joint(&self, joint: usize) -> Option<JointTransform> {
        (joint < self.model.len()).then(|| self.local[joint / 4].get(joint % 4))
    }
}

/// A character's morph weights and the memory to compute them in. One per thread serves any number of characters.
#[derive(Debug, Default)]
pub struct MorphScratch {
    weights: Vec<Vec4>,
    active: ActiveList<Vec4>,
    base: BaseScratch<Vec4>,
}

impl<'a> Evaluate<'a, '_> {
    /// Blends the clips' morph weights as [`Self::run`] does joints, and applies [`Self::morph_overrides`].
    ///
    /// Returns one weight for each name of the skeleton's [`Morphs`](crate::model::Morphs), or `None` if nothing moves
    /// them: then they are at [rest](crate::model::Morphs::rest), and finding out costs next to nothing. Joints and
    /// weights are computed apart from each other, because a face that is far away or out of view needs no weights.
    ///
    /// # Panics
    /// In debug builds, if a clip is not bound to the skeleton.
    #[doc(hidden)]
    pub fn run_morphs<'s>(&self, scratch: &'s mut MorphScratch) -> Option<&'s [f32]> {
        let morphs = self.skeleton.morphs();
        let count = morphs.len();
        let overrides = || self.morph_overrides.iter().filter(|o| o.counts(count));
        let inertia = self.inertia.filter(InertiaAt::moves_morphs);
        let moves = |layer: &ClipLayer| layer.clip.animates_morphs() && layer.weight > 0.0;
        let is_moved = self.layers.iter().any(moves) || inertia.is_some();
        if count == 0 || (!is_moved && overrides().next().is_none()) {
            return None;
        }
        let MorphScratch {
            weights,
            active,
            base,
        } = scratch;
        if !is_moved {
            weights.clear();
            weights.extend_from_slice(morphs.rest_rows());
        } else {
            let mix = self.morph_rows();
            // It writes every row.
            weights.resize(morphs.rest_rows().len(), Vec4::ZERO);
            match inertia {
                None => mix.run(Take::All, active, weights),
                Some(inertia) => inertia.run(&mix, base, active, weights),
            }
        }
        overrides().for_each(|change| change.apply(weights));
        Some(weights_of(weights, count))
    }

    /// Returns how much each of [`Self::layers`] contributes to the weight of a morph target, in their order, as
    /// [`Mix::shares`](super::Mix::shares) does for joints. Meant for display: it allocates.
    #[doc(hidden)]
    pub fn morph_shares(&self, morph: MorphIndex) -> Vec<f32> {
        self.morph_rows().shares(usize::from(morph))
    }

    fn morph_rows(&self) -> MixRows<'_, 'a, Vec4> {
        MixRows {
            layers: self.layers,
            priority_blend: self.priority_blend,
            rest: self.skeleton.morphs().rest_rows(),
            unit_scale: true,
        }
    }
}

#[cfg(test)]
#[path = "tests/evaluate.rs"]
mod tests;
