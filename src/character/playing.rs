//! What a character plays: its controller's layers, looked up in the asset once a frame.

use crate::{
    asset::Character,
    controller::{AnimationController, AnimationName, AnimationTrack, BlendMode, LayerInfo, TrackPriority},
    pose::{ClipLayer, Evaluate, JointOverride, Mask, Scratch},
};
use bevy::{platform::hash::FixedHasher, prelude::*};
use glam::Affine3A;
use smallvec::SmallVec;
use std::{
    hash::{BuildHasher, Hash, Hasher},
    sync::Arc,
};

/// The clips that shape a character's pose now, with what they need from the asset.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct Playing {
    /// In the component itself where they are two, as they mostly are: these are read in every frame.
    layers: SmallVec<[Played; 2]>,
    priority_blend: f32,
    /// Version of the asset they were looked up in.
    version: u64,
    /// Another number whenever anything changes that shapes the pose; never 0.
    stamp: u64,
    /// Stands for which clips play and which of them are masked; never 0.
    clips: u64,
    /// Place of the pose it shares in this frame.
    pub(super) place: Option<usize>,
    /// Of the pose drawn last where no [`ModelPose`](super::ModelPose) keeps one: its stamp, or its key.
    pub(super) drawn: u64,
    /// Whether it changed in the frame before, as it was drawn.
    pub(super) changed: bool,
}

#[derive(Clone, Debug)]
struct Played {
    clip: usize,
    time: f64,
    weight: f32,
    priority: TrackPriority,
    mode: BlendMode,
    /// The mask's name; and the mask, if there is one of that name.
    mask: Option<(AnimationName, Option<Arc<Mask>>)>,
}

/// Layers that fit on the stack; a character that plays more takes them from the heap.
const FEW: usize = 8;

impl Playing {
    /// Looks up what a controller plays.
    pub(super) fn look_up(&mut self, character: &Character, controller: &AnimationController) {
        let mut same = self.version == character.version
            && self.stamp != 0
            && self.priority_blend.to_bits() == controller.priority_blend().to_bits();
        if self.version != character.version {
            // Masks of the old version are masks no more.
            self.layers.clear();
            self.version = character.version;
        }
        self.priority_blend = controller.priority_blend();
        let (mut count, mut clips) = (0, 1_u64);
        for (track, layer) in controller.shown(character) {
            clips = clips.wrapping_mul(31).wrapping_add(2 * layer.clip as u64 + u64::from(layer.mask.is_some()) + 1);
            match self.layers.get_mut(count) {
                Some(played) => same &= played.update(track, &layer, character),
                None => {
                    self.layers.push(Played::new(track, &layer, character));
                    same = false;
                }
            }
            count += 1;
        }
        same &= count == self.layers.len();
        self.layers.truncate(count);
        self.clips = clips.max(1);
        if !same {
            self.stamp = self.stamp.wrapping_add(1).max(1);
        }
    }

    pub(super) fn stamp(&self) -> u64 {
        self.stamp
    }

    pub(super) fn clips(&self) -> u64 {
        self.clips
    }

    /// How many clips play, and which one if it is one alone and without a mask.
    pub(super) fn count(&self) -> (usize, Option<usize>) {
        let alone = self.layers.last().filter(|played| played.mask.is_none()).map(|played| played.clip);
        (self.layers.len(), alone)
    }

    /// A number for the pose: equal for all who play the same of an asset, with times rounded to so many
    /// steps a second.
    pub(super) fn key(&self, asset: &Handle<Character>, steps: Option<f64>) -> u64 {
        let mut hasher = FixedHasher.build_hasher();
        asset.id().hash(&mut hasher);
        hasher.write_u64(self.version);
        hasher.write_u32(self.priority_blend.to_bits());
        for played in &self.layers {
            hasher.write_u64(rounded(played.time, steps).to_bits());
            hasher.write_u64(played.clip as u64 | u64::from(played.weight.to_bits()) << 32);
            let mask = played.mask.as_ref().map_or(0, |(_, mask)| mask.as_ref().map_or(1, |m| Arc::as_ptr(m).addr()));
            hasher.write_u64((mask as u64) << 3 | (played.priority as u64) << 2 | played.mode as u64);
        }
        // 0 is kept for a pose that was never evaluated.
        hasher.finish().max(1)
    }

    /// Works out what the clips make of the pose in `scratch`, with times rounded to so many steps a second and
    /// the roots hanging from `root`.
    pub(super) fn evaluate_clips(
        &self,
        character: &Character,
        steps: Option<f64>,
        root: Option<&Affine3A>,
        scratch: &mut Scratch,
    ) {
        self.with_layers(character, steps, |layers| {
            let job = Evaluate::new(&character.skeleton, layers);
            Evaluate { priority_blend: self.priority_blend, ..job }.run_clips(root, scratch);
        });
    }

    /// Works out the pose and writes its joints to `joints`, with times rounded to so many steps a second.
    pub(super) fn evaluate_to(
        &self,
        character: &Character,
        steps: Option<f64>,
        overrides: &[JointOverride],
        scratch: &mut Scratch,
        joints: &mut Vec<Affine3A>,
    ) {
        self.with_layers(character, steps, |layers| {
            let job = Evaluate::new(&character.skeleton, layers);
            Evaluate { priority_blend: self.priority_blend, overrides, ..job }.run_to(scratch, joints);
        });
    }

    /// Calls `work` with the layers to be mixed.
    fn with_layers(&self, character: &Character, steps: Option<f64>, work: impl FnOnce(&[ClipLayer])) {
        // What was looked up in another version says nothing about this one's clips.
        let layers = if self.version == character.version { &self.layers[..] } else { &[] };
        let mut layers = layers.iter().filter_map(|played| {
            let layer = played.layer(character)?;
            Some(ClipLayer { time: rounded(layer.time, steps), ..layer })
        });
        let Some(first) = layers.next() else { return work(&[]) };
        let Some(second) = layers.next() else { return work(&[first]) };
        let Some(third) = layers.next() else { return work(&[first, second]) };
        let mut few = [first; FEW];
        (few[1], few[2]) = (second, third);
        let mut count = 3;
        for (slot, layer) in few[count..].iter_mut().zip(&mut layers) {
            *slot = layer;
            count += 1;
        }
        match layers.next() {
            None => work(&few[..count]),
            Some(more) => work(&few.into_iter().chain([more]).chain(layers).collect::<Vec<_>>()),
        }
    }
}

/// A time on a grid of so many steps a second.
fn rounded(time: f64, steps: Option<f64>) -> f64 {
    steps.map_or(time, |steps| (time * steps).round() / steps)
}

impl Played {
    fn new(track: &AnimationTrack, layer: &LayerInfo, character: &Character) -> Self {
        let LayerInfo { clip, time, weight, priority, blend, .. } = *layer;
        let found = |name: &AnimationName| (name.clone(), character.masks.get(&**name).cloned());
        Self { clip, time, weight, priority, mode: blend, mask: track.mask.as_ref().map(found) }
    }

    /// Follows a track. Whether all is as it was.
    #[inline]
    fn update(&mut self, track: &AnimationTrack, layer: &LayerInfo, character: &Character) -> bool {
        let same_mask = match (&self.mask, &track.mask) {
            (None, None) => true,
            (Some((old, _)), Some(new)) => old.is(new.as_arc()),
            _ => false,
        };
        let before = (self.clip, self.weight.to_bits(), self.priority, self.mode);
        let time = std::mem::replace(&mut self.time, layer.time);
        if same_mask && before == (layer.clip, layer.weight.to_bits(), layer.priority, layer.blend) {
            // In most frames it is the time that goes on, and nothing else.
            return time.to_bits() == layer.time.to_bits();
        }
        *self = Self::new(track, layer, character);
        false
    }

    fn layer<'a>(&'a self, character: &'a Character) -> Option<ClipLayer<'a>> {
        let mask = match &self.mask {
            // A mask by an unknown name admits nothing: better a still arm than a wrong one.
            Some((_, found)) => Some(&**found.as_ref()?),
            None => None,
        };
        let Self { clip, time, weight, priority, mode, .. } = *self;
        Some(ClipLayer { clip: character.clips.get(clip)?, time, weight, mask, priority, mode })
    }
}
