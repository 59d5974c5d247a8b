//! The keys of animations → clips, several at once.

use super::clip::SceneClip;
use crate::{
    import::{
        resample::{Budget, Sampled, Skin, Spent, resample},
        weights::{MorphSizes, weight_frames},
    },
    model::{JointTransform, Model, RawClip, SkeletalClip},
    parallel::{about, in_parallel},
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nanoseconds that a key takes to become a part of frames.
const KEY: u64 = 40;

/// What became of an animation.
pub(super) struct Made {
    /// The clip, or an error message.
    pub(super) clip: Result<SkeletalClip, String>,
    /// Messages and hints.
    pub(super) warnings: Vec<(String, &'static str)>,
    spent: Spent,
}

/// Makes clips for a model.
pub(super) struct Sampler<'a> {
    model: &'a Model,
    skin: Skin,
    sizes: MorphSizes,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        Self {
            model,
            skin: Skin::new(model),
            sizes: MorphSizes::new(model),
        }
    }

    #[cfg(feature = "gltf")]
    pub(super) fn are_for_any_body(&mut self) {
        self.skin.of_any_body();
    }

    #[cfg(feature = "fbx")]
    pub(super) fn size(&self) -> f64 {
        self.skin.size()
    }

    /// Makes clips. `None` for those that the budget doesn't suffice for.
    ///
    /// They come out as if they were made one after the other.
    pub(super) fn run(&self, clips: &[SceneClip], budget: &mut Budget) -> Vec<Option<Made>> {
        if let [clip] = clips {
            budget.add_keys(clip.keys);
            return vec![self.make(clip, budget)];
        }
        // What clips may spend depends on those before them, but hardly any clip comes near. So all are made as if those before
        // had spent nothing, and the few for which that isn't true are made again.
        let mut unspent = budget.unspent();
        let jobs: Vec<(&SceneClip, Budget)> = clips
            .iter()
            .map(|clip| {
                unspent.add_keys(clip.keys);
                (clip, unspent)
            })
            .collect();
        // Together they must not take more memory than one after the other, either, nor much more time.
        let room = AtomicUsize::new(unspent.frames(1));
        let keys = clips.iter().map(|clip| clip.keys).sum();
        let ahead = in_parallel(jobs, about(keys, KEY), |(clip, mut budget)| {
            if room.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let made = self.make(clip, &mut budget)?;
            let size = made.spent.transforms();
            let take = |room: usize| room.checked_sub(size);
            if room
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_err()
            {
                room.store(0, Ordering::Relaxed);
                return None;
            }
            Some(made)
        });
        clips
            .iter()
            .zip(ahead)
            .map(|(clip, made)| {
                budget.add_keys(clip.keys);
                match made {
                    Some(made) if budget.spend(&made.spent) => Some(made),
                    _ => self.make(clip, budget),
                }
            })
            .collect()
    }

    fn make(&self, clip: &SceneClip, budget: &mut Budget) -> Option<Made> {
        let SceneClip { name, curves, .. } = clip;
        let mut sampled = self.sample(clip, budget)?;
        let spent = sampled.spent(curves.len());
        let mut warnings = Vec::from_iter(sampled.doubts(name, curves, &self.skin));
        let skeleton = &self.model.skeleton;
        if clip.is_additive {
            let rest: Vec<JointTransform> = skeleton
                .joints()
                .map(|joint| skeleton.rest_of(joint))
                .collect();
            for (transform, rest) in sampled.transforms.iter_mut().zip(rest.iter().cycle()) {
                *transform = transform.difference_to(rest);
            }
        }
        let mut raw = sampled.into_clip(name.clone(), skeleton.names(), curves);
        raw.additive = clip.is_additive;
        self.add_weights(clip, &mut raw, &mut warnings);
        Some(Made {
            clip: raw.build().map_err(|error| error.to_string()),
            warnings,
            spent,
        })
    }

    fn sample(&self, clip: &SceneClip, budget: &mut Budget) -> Option<Sampled> {
        #[cfg(feature = "gltf")]
        if let (Some(frames), Some(duration)) = (&clip.frames, clip.duration)
            && let Some(given) = frames.sample(duration, &clip.curves, &self.skin, budget)
        {
            return Some(given);
        }
        let mut sampled = resample(&clip.curves, clip.end, &self.skin, budget)?;
        if let Some(duration) = clip.duration {
            sampled.finish(duration);
        }
        Some(sampled)
    }

    /// Adds the weights of morph targets, if the animation has any.
    fn add_weights(
        &self,
        clip: &SceneClip,
        raw: &mut RawClip,
        warnings: &mut Vec<(String, &'static str)>,
    ) {
        if clip.weights.is_empty() {
            return;
        }
        let made = weight_frames(self.model, &self.sizes, &clip.weights, raw.timing.duration);
        if let Some(times) = made.thinned {
            let message = format!(
                "clip `{}` has weights of morph targets at {times} different times, which are too many: it has them at even times",
                clip.name
            );
            warnings.push((message, "put the keys of all weights at the same times"));
        }
        raw.morphs = made.frames;
        if clip.is_additive {
            raw.morphs.subtract(self.model.skeleton.morphs().rest());
        }
    }
}
