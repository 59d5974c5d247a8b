//! The layers that a character plays: its controller's, looked up in the asset once per frame.

use crate::{
    asset::Character,
    controller::{
        AnimationController, AnimationName, BlendMode, Clips, PlayedClip, SwitchLayer, TrackId,
    },
    pose::{
        ClipLayer, Evaluate, Inertia, InertiaAt, InertiaScratch, JointOverride, Mask,
        MorphOverride, MorphScratch, PoseBatch, PoseMut, Scratch,
    },
};
use bevy::{platform::hash::FixedHasher, prelude::*};
use glam::Affine3A;
use smallvec::SmallVec;
use std::{
    cell::RefCell,
    hash::{BuildHasher, Hash, Hasher},
    sync::Arc,
};

/// The clips that currently shape a character's pose.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct ActiveLayers {
    /// Two fit into the component itself: most characters have no more, and these are read every frame.
    layers: SmallVec<[ActiveLayer; 2]>,
    priority_blend: f32,
    /// Version of the asset they were looked up in.
    version: u64,
    /// Incremented whenever the pose changes; 0 before the first look-up.
    revision: u64,
    /// Identifies which clips play and which of them are masked; never 0 after the first look-up.
    clip_set: u64,
    /// The clip set that the culling boxes enclose; 0 for none.
    enclosed: u64,
    /// The decaying offsets of clips that were switched from. The memory stays for the next switch.
    inertia: Option<Arc<Inertia>>,
    /// The controller's time, as long as offsets decay.
    time: f64,
    /// Seconds of the app by which what is shown lags behind the controller.
    lag: f64,
}

thread_local! {
    static INERTIA_SCRATCH: RefCell<InertiaScratch> = RefCell::default();
}

/// A layer with its clip's index, its mask's name, and the mask if there is one by that name. Each frame goes through the
/// layers of all characters three times, so it is small.
type ActiveLayer = PlayedClip<u32, Arc<(AnimationName, Option<Arc<Mask>>)>>;

/// The layers' times when a callback key was passed, and the controller's.
#[derive(Clone, Debug)]
pub(super) struct LayerTimes {
    layers: SmallVec<[f64; 4]>,
    controller: f64,
}

/// Layers that fit on the stack; more of them are allocated.
const FEW: usize = 8;

impl ActiveLayers {
    /// Looks up the controller's layers again if it was changed, as an observer may do after the
    /// first look-up.
    pub(super) fn catch_up(
        &mut self,
        character: &Character,
        controller: &Ref<AnimationController>,
    ) {
        if controller.is_changed() {
            self.look_up(character, controller);
        }
    }

    /// Looks up the controller's layers as they were some seconds of the app ago, and keeps that distance.
    pub(super) fn show(
        &mut self,
        lag: f64,
        character: &Character,
        controller: &AnimationController,
    ) {
        self.lag = lag;
        self.look_up(character, controller);
    }

    /// Looks up the controller's layers.
    pub(super) fn look_up(&mut self, character: &Character, controller: &AnimationController) {
        let mut same = self.version == character.version
            && self.revision != 0
            && self.priority_blend.to_bits() == controller.priority_blend.to_bits();
        if self.version != character.version {
            // Masks of the old version no longer apply.
            self.layers.clear();
            self.inertia = None;
            self.version = character.version;
        }
        self.priority_blend = controller.priority_blend;
        let (mut count, mut clips) = (0, 1_u64);
        let ago = match self.lag {
            // While time stands still, nothing was elsewhere.
            lag if lag > 0.0 && !controller.paused => lag * controller.scale(),
            _ => 0.0,
        };
        for layer in controller.layers_ago(ago, character) {
            if count == self.layers.len() {
                self.layers.push(layer.with(u32::MAX, None));
            }
            let active = &mut self.layers[count];
            same &= update(active, &layer, character);
            // A cheap hash, which decides when culling boxes are computed again and which
            // characters are posed together.
            let kind = u64::from(layer.mask.is_some()) << 2 | layer.mode as u64;
            let additive = additive_weight(active, character).map_or(0, f32::to_bits);
            let additive = u64::from(additive) << 32;
            clips = clips
                .wrapping_mul(31)
                .wrapping_add(((layer.clip as u64) << 3 | kind) ^ additive)
                .wrapping_add(1);
            count += 1;
        }
        same &= count == self.layers.len();
        self.layers.truncate(count);
        same &= !self.follow_switches(character, controller, ago);
        // Culling boxes depend on these, too.
        self.clip_set = (clips
            ^ u64::from(self.is_switching()) << 63
            ^ u64::from(self.shows_rest_pose()) << 62)
            .max(1);
        if !same {
            // 0 is left for layers that were never looked up.
            self.revision = self.revision.wrapping_add(1).max(1);
        }
    }

    /// Follows the controller's switches, as they were some seconds ago. Returns `true` if that changed the pose.
    fn follow_switches(
        &mut self,
        character: &Character,
        controller: &AnimationController,
        ago: f64,
    ) -> bool {
        // Usually there is neither a switch nor an offset, and nothing is allocated.
        if !self.is_switching() && controller.switches().next().is_none() {
            return false;
        }
        let inertia = Arc::make_mut(self.inertia.get_or_insert_default());
        let changed = INERTIA_SCRATCH.with_borrow_mut(|scratch| {
            let layer = |layer: &SwitchLayer| switched(layer, character);
            inertia.follow(controller.switches(), &character.skeleton, layer, scratch)
        });
        let time = std::mem::replace(&mut self.time, controller.time() - ago);
        changed || time.to_bits() != self.time.to_bits()
    }

    /// Returns `true` if offsets of clips that were switched from still decay.
    pub(super) fn is_switching(&self) -> bool {
        self.inertia
            .as_ref()
            .is_some_and(|inertia| !inertia.is_empty())
    }

    /// Returns `true` if a clip that plays moves morph weights, or an offset that decays.
    pub(super) fn move_morphs(&self, character: &Character) -> bool {
        let moves = |active: &ActiveLayer| {
            let clip = character.clips.get(active.clip as usize);
            clip.is_some_and(|clip| clip.animates_morphs())
        };
        self.is_switching() || self.layers.iter().any(moves)
    }

    fn inertia(&self, character: &Character) -> Option<InertiaAt<'_>> {
        let inertia = self
            .inertia
            .as_ref()
            .filter(|_| self.version == character.version && self.is_switching())?;
        Some(inertia.at(self.time))
    }

    /// Goes back in time, at the tracks' current speeds, to the moment at which the clip of one of
    /// them was at `clip_time`. Returns where the layers were then.
    ///
    /// Right after [`Self::look_up`].
    pub(super) fn times_ago(
        &self,
        seconds: f64,
        controller: &AnimationController,
        character: &Character,
        (of, clip, clip_time): (TrackId, usize, f64),
    ) -> LayerTimes {
        let mut before = controller.layers_ago(seconds, character).peekable();
        let time = |layer: &ActiveLayer| {
            // A clip of a blend space may have begun to weigh since.
            let then = before.next_if(|then| then.clip == layer.clip as usize);
            let is_own = |track: TrackId| track == of && layer.clip as usize == clip;
            match then {
                Some(then) if is_own(then.track) => clip_time,
                then => then.map_or(layer.time, |then| then.time),
            }
        };
        LayerTimes {
            layers: self.layers.iter().map(time).collect(),
            controller: self.time - seconds,
        }
    }

    /// Returns a copy at an earlier moment, if it still plays as many clips.
    pub(super) fn at(&self, times: &LayerTimes) -> Self {
        let mut then = self.clone();
        if times.layers.len() == then.layers.len() {
            for (layer, time) in then.layers.iter_mut().zip(&times.layers) {
                layer.time = *time;
            }
            then.time = times.controller;
        }
        then
    }

    /// Returns a number that changes whenever anything changes that shapes the pose.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns a number that changes when other clips play, or the same in another mode, with and
    /// without a mask, or, if additive, with a much larger or smaller weight.
    pub(super) fn clip_set(&self) -> u64 {
        self.clip_set
    }

    /// Returns `true` if the culling boxes were made for other clips.
    pub(super) fn has_outgrown_boxes(&self) -> bool {
        self.enclosed != self.clip_set
    }

    /// Records that the culling boxes enclose these clips.
    pub(super) fn enclose(&mut self) {
        self.enclosed = self.clip_set;
    }

    /// Records that the culling boxes enclose something else.
    pub(super) fn forget_boxes(&mut self) {
        self.enclosed = 0;
    }

    /// Returns `true` if there is only one clip, and the rest pose stands in for what it lacks of a whole weight.
    fn shows_rest_pose(&self) -> bool {
        matches!(&self.layers[..], [only] if only.base && only.weight < 1.0)
    }

    /// The number of layers, and the clip of the last one if it is blended without a mask and nothing else shows.
    pub(super) fn count(&self) -> (usize, Option<usize>) {
        let whole =
            |active: &&ActiveLayer| active.mask.is_none() && active.mode == BlendMode::Blend;
        let alone = self
            .layers
            .last()
            .filter(whole)
            .filter(|_| !self.is_switching() && !self.shows_rest_pose());
        let alone = alone.map(|active| active.clip as usize);
        (self.layers.len(), alone)
    }

    pub(super) fn has_additive(&self, character: &Character) -> bool {
        self.additive_weights(character).next().is_some()
    }

    /// The clips of additive layers, each with a weight that is at least the layer's.
    pub(super) fn additive_weights(
        &self,
        character: &Character,
    ) -> impl Iterator<Item = (usize, f32)> {
        let layers = self.layers.iter();
        layers.filter_map(|layer| Some((layer.clip as usize, additive_weight(layer, character)?)))
    }

    /// A hash of the pose: equal for all characters that play the same clips of the same asset at the same
    /// times, rounded to `steps` per second.
    pub(super) fn sharing_key(&self, asset: &Handle<Character>, steps: Option<f64>) -> u64 {
        let mut hasher = FixedHasher.build_hasher();
        asset.id().hash(&mut hasher);
        hasher.write_u64(self.version);
        hasher.write_u32(self.priority_blend.to_bits());
        for active in &self.layers {
            hasher.write_u64(rounded(active.time, steps).to_bits());
            hasher.write_u64(active.clip as u64 | u64::from(active.weight.to_bits()) << 32);
            // All characters of an asset share its masks, so an address identifies one.
            let mask = active.mask.as_deref().map_or(0, |(_, mask)| {
                mask.as_ref().map_or(1, |m| Arc::as_ptr(m).addr())
            });
            hasher
                .write_u64((mask as u64) << 3 | (active.priority as u64) << 2 | active.mode as u64);
            hasher.write_u32(active.set << 1 | u32::from(active.base));
        }
        hasher.finish()
    }

    /// Evaluates the clips into `scratch`, at times rounded to `steps` per second and with the skeleton's roots
    /// attached to `root`.
    pub(super) fn evaluate_clips(
        &self,
        character: &Character,
        steps: Option<f64>,
        root: Option<&Affine3A>,
        scratch: &mut Scratch,
    ) {
        self.with_job(character, steps, |job| job.run_clips(root, scratch));
    }

    /// Adds the pose of the clips to a batch, with its skeleton's roots attached to `world`.
    pub(super) fn add_to<'a>(
        &'a self,
        character: &'a Character,
        steps: Option<f64>,
        world: &Affine3A,
        batch: &mut PoseBatch<'a>,
    ) {
        self.with_job(character, steps, |job| batch.add(&job, world));
    }

    /// Evaluates the clips into `scratch` and applies `overrides`.
    pub(super) fn evaluate(
        &self,
        character: &Character,
        overrides: &[JointOverride],
        scratch: &mut Scratch,
    ) {
        self.evaluate_local(character, overrides, scratch, |mut pose| pose.update());
    }

    /// Evaluates the clips into `scratch`, applies `overrides`, and calls `work` with the pose, whose matrices are not up to
    /// date.
    pub(super) fn evaluate_local(
        &self,
        character: &Character,
        overrides: &[JointOverride],
        scratch: &mut Scratch,
        work: impl FnOnce(PoseMut),
    ) {
        self.with_job(character, None, |job| {
            work(Evaluate { overrides, ..job }.run_local(scratch))
        });
    }

    /// Evaluates the clips, applies `overrides`, and writes the joints to `joints`.
    pub(super) fn evaluate_to(
        &self,
        character: &Character,
        steps: Option<f64>,
        overrides: &[JointOverride],
        scratch: &mut Scratch,
        joints: &mut Vec<Affine3A>,
    ) {
        self.with_job(character, steps, |job| {
            Evaluate { overrides, ..job }.run_to(scratch, joints)
        });
    }

    /// Calls `work` with the clips' morph weights, with `overrides` applied; `None` if nothing moves them from rest.
    pub(super) fn evaluate_morphs(
        &self,
        character: &Character,
        morph_overrides: &[MorphOverride],
        scratch: &mut MorphScratch,
        work: impl FnOnce(Option<&[f32]>),
    ) {
        self.with_job(character, None, |job| {
            let job = Evaluate {
                morph_overrides,
                ..job
            };
            work(job.run_morphs(scratch));
        });
    }

    /// Calls `work` with the clips to evaluate, without overrides.
    fn with_job<'a>(
        &'a self,
        character: &'a Character,
        steps: Option<f64>,
        work: impl FnOnce(Evaluate<'_, 'a>),
    ) {
        let (priority_blend, inertia) = (self.priority_blend, self.inertia(character));
        self.with_layers(character, steps, |layers| {
            work(Evaluate {
                priority_blend,
                inertia,
                ..Evaluate::new(&character.skeleton, layers)
            });
        });
    }

    /// Calls `work` with the layers to mix.
    fn with_layers<'a>(
        &'a self,
        character: &'a Character,
        steps: Option<f64>,
        work: impl FnOnce(&[ClipLayer<'a>]),
    ) {
        // Indices looked up in another version mean nothing in this one.
        let layers = if self.version == character.version {
            &self.layers[..]
        } else {
            &[]
        };
        let mut layers = layers.iter().filter_map(|active| {
            let layer = found(active, character)?;
            Some(ClipLayer {
                time: rounded(layer.time, steps),
                ..layer
            })
        });
        // This runs for every character in every frame. Most have one or two layers, for which no
        // longer list is filled.
        let Some(first) = layers.next() else {
            return work(&[]);
        };
        let Some(second) = layers.next() else {
            return work(&[first]);
        };
        let Some(third) = layers.next() else {
            return work(&[first, second]);
        };
        let mut few = [first; FEW];
        (few[1], few[2]) = (second, third);
        let mut count = 3;
        for (slot, layer) in few[count..].iter_mut().zip(&mut layers) {
            *slot = layer;
            count += 1;
        }
        match layers.next() {
            None => work(&few[..count]),
            Some(more) => work(
                &few.into_iter()
                    .chain([more])
                    .chain(layers)
                    .collect::<Vec<_>>(),
            ),
        }
    }
}

/// A time rounded to a grid of `steps` per second.
fn rounded(time: f64, steps: Option<f64>) -> f64 {
    steps.map_or(time, |steps| (time * steps).round() / steps)
}

/// Follows a layer of the controller. Returns `true` if nothing changed.
#[inline]
fn update(
    active: &mut ActiveLayer,
    layer: &PlayedClip<usize, &AnimationName>,
    character: &Character,
) -> bool {
    let find =
        |name: &AnimationName| Arc::new((name.clone(), character.masks.get(&**name).cloned()));
    let mask = active.mask.take();
    let same_mask = match (mask.as_deref(), layer.mask) {
        (None, None) => true,
        (Some((old, _)), Some(new)) => old.is(new.as_arc()),
        _ => false,
    };
    let now = layer.with(layer.clip as u32, None);
    let is_same = same_mask && *active == now;
    *active = now;
    active.mask = if same_mask {
        mask
    } else {
        layer.mask.map(find)
    };
    is_same
}

/// The weight that culling boxes allow for, at least the layer's own; `None` if it isn't additive.
#[inline]
fn additive_weight(layer: &ActiveLayer, character: &Character) -> Option<f32> {
    let clip = character.clips.get(layer.clip as usize);
    let is_additive = layer.mode == BlendMode::Additive || clip.is_some_and(|clip| clip.additive);
    // In powers of two, so that a fade changes it a few times at most.
    let weight = || layer.weight.clamp(1.0, ActiveLayer::MAX_ADDITIVE_WEIGHT);
    is_additive.then(|| weight().log2().ceil().exp2())
}

/// Looks up the clip and the mask of a layer.
fn found<'a>(layer: &'a ActiveLayer, character: &'a Character) -> Option<ClipLayer<'a>> {
    let mask = match layer.mask.as_deref() {
        // An unknown mask masks everything: an arm at rest is less wrong than an arm with the
        // wrong motion.
        Some((_, found)) => Some(&**found.as_ref()?),
        None => None,
    };
    let clip = character.clips.get(layer.clip as usize)?;
    Some(layer.with(&**clip, mask))
}

/// Returns a clip at the moment of a switch.
fn switched<'a>(layer: &SwitchLayer, character: &'a Character) -> Option<ClipLayer<'a>> {
    let clip = character.clips.get(character.index_of(&layer.clip)?)?;
    let mask = match &layer.mask {
        Some(name) => Some(&**character.masks.get(&**name)?),
        None => None,
    };
    Some(ClipLayer {
        weight: layer.weight,
        mask,
        ..ClipLayer::new(clip, layer.time)
    })
}
