//! Morph weights of the past.

use super::{
    expressions::{self, Expressions},
    idle_eyes::IdleEyes,
    layers::ActiveLayers,
};
use crate::{
    asset::Character,
    controller::AnimationController,
    pose::{MorphOverride, MorphScratch},
    record::FaceNote,
};

/// Blends the morph weights of one recorded frame after the other.
#[derive(Default)]
pub(crate) struct FaceReplay {
    layers: ActiveLayers,
    scratch: MorphScratch,
    /// Inputs of the face and version of the asset that `overrides` was made from.
    note: FaceNote,
    version: u64,
    overrides: Vec<MorphOverride>,
}

impl FaceReplay {
    /// Forgets the last character.
    pub(crate) fn start_over(&mut self) {
        self.layers = ActiveLayers::default();
        self.version = 0;
    }

    /// Returns the weights of all morph targets.
    pub(crate) fn weights(
        &mut self,
        character: &Character,
        (controller, lag): (&AnimationController, f64),
        note: &FaceNote,
    ) -> Vec<f32> {
        let (morphs, version) = (character.skeleton.morphs(), character.version);
        if self.version != version || self.note != *note {
            self.overrides.clear();
            let mut eyes = note.eyes.as_ref().map(IdleEyes::of_note);
            if let Some(eyes) = &mut eyes {
                eyes.look_up(version, morphs);
            }
            let mut face = Expressions::of_note(&note.expressions);
            face.look_up(version, morphs, |_| ());
            expressions::overrides(
                morphs,
                eyes.as_ref(),
                None,
                Some(&face),
                &mut self.overrides,
            );
            (self.note, self.version) = (note.clone(), version);
        }
        self.layers.show(lag, character, controller);
        let mut out = Vec::new();
        self.layers
            .evaluate_morphs(character, &self.overrides, &mut self.scratch, |weights| {
                out = weights.unwrap_or(morphs.rest()).to_vec();
            });
        out
    }
}
