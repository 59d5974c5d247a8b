//! The keys of animations → clips, several at once.

use crate::{
    import::{
        gltf::{
            extras::{self, AnimationExtras, Frames},
            morphs::FileMorphs,
        },
        resample::{Budget, Curve, Sampled, Skin, Spent, resample, sample_at},
        weights::{MorphSizes, weight_frames},
    },
    model::{JointTransform, Model, SkeletalClip},
    parallel::{about, in_parallel},
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nanoseconds that a key takes to become a part of frames.
const KEY: u64 = 40;

/// The keys of an animation.
pub(super) struct Draft {
    /// Its index in the file.
    pub(super) animation: usize,
    pub(super) place: String,
    /// The name of the animation, and later that of the clip, which no other one has.
    pub(super) name: String,
    /// Of which properties each joint has keys.
    pub(super) keyed: Vec<[bool; 3]>,
    pub(super) extras: AnimationExtras,
    /// One per joint of the model.
    pub(super) curves: Vec<Curve>,
    /// The time of the last key.
    pub(super) end: f64,
}

impl Draft {
    pub(super) fn keys(&self) -> usize {
        self.curves.iter().map(Curve::len).sum()
    }
}

/// What became of a draft.
pub(super) struct Made {
    /// The clip, or an error message.
    pub(super) clip: Result<SkeletalClip, String>,
    /// Messages and hints.
    pub(super) warnings: Vec<(String, &'static str)>,
    spent: Spent,
}

/// Makes clips for a model.
pub(super) struct Sampler<'a> {
    morphs: &'a FileMorphs,
    model: &'a Model,
    skin: Skin,
    sizes: MorphSizes,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(model: &'a Model, morphs: &'a FileMorphs, skin: Skin) -> Self {
        Self {
            morphs,
            model,
            skin,
            sizes: MorphSizes::new(model),
        }
    }

    /// Makes clips of drafts. `None` for those that the budget doesn't suffice for.
    ///
    /// They come out as if they were made one after the other.
    pub(super) fn run(&self, drafts: &[Draft], budget: &mut Budget) -> Vec<Option<Made>> {
        // What clips may spend depends on those before them, but hardly any clip comes near. So all are made as if those before
        // had spent nothing, and the few for which that isn't true are made again.
        let mut unspent = budget.unspent();
        let jobs: Vec<(&Draft, Budget)> = drafts
            .iter()
            .map(|draft| {
                unspent.add_keys(draft.keys());
                (draft, unspent)
            })
            .collect();
        // Together they must not take more memory than one after the other, either, nor much more time.
        let room = AtomicUsize::new(unspent.frames(1));
        let keys = drafts.iter().map(Draft::keys).sum();
        let ahead = in_parallel(jobs, about(keys, KEY), |(draft, mut budget)| {
            if room.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let made = self.make(draft, &mut budget)?;
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
        drafts
            .iter()
            .zip(ahead)
            .map(|(draft, made)| {
                budget.add_keys(draft.keys());
                match made {
                    Some(made) if budget.spend(&made.spent) => Some(made),
                    _ => self.make(draft, budget),
                }
            })
            .collect()
    }

    fn make(&self, draft: &Draft, budget: &mut Budget) -> Option<Made> {
        let Draft {
            animation,
            name,
            extras,
            curves,
            end,
            ..
        } = draft;
        let (model, skin) = (self.model, &self.skin);
        // Keys are in single precision. The duration in the extras is exact, unless the keys
        // were changed since.
        let is_near = |duration: &f64| (duration - end).abs() <= 1e-6 * end.max(1.0);
        let duration = extras.duration.filter(is_near).unwrap_or(*end);
        let frames = extras
            .frames
            .as_ref()
            .and_then(|frames| given(frames, duration, curves, skin, budget));
        let mut sampled = match frames {
            Some(frames) => frames,
            None => {
                let mut sampled = resample(curves, *end, skin, budget)?;
                sampled.finish(duration);
                sampled
            }
        };
        let spent = sampled.spent(curves.len());
        let mut warnings = Vec::from_iter(sampled.doubts(name, curves, skin));
        if extras.additive {
            let rest: Vec<JointTransform> = model
                .skeleton
                .joints()
                .map(|joint| model.skeleton.rest_of(joint))
                .collect();
            for (transform, rest) in sampled.transforms.iter_mut().zip(rest.iter().cycle()) {
                *transform = transform.difference_to(rest);
            }
        }
        let mut raw = sampled.into_clip(name.clone(), model.skeleton.names(), curves);
        raw.additive = extras.additive;
        let weights = self.morphs.curves(*animation);
        if !weights.is_empty() {
            let mut weights = weights.clone();
            if let Some(moved) = &extras.morphs {
                let names = model.skeleton.morphs().names();
                weights.retain(|&morph, _| {
                    moved
                        .iter()
                        .any(|name| **name == *names[usize::from(morph)])
                });
            }
            let made = weight_frames(model, &self.sizes, &weights, raw.timing.duration);
            if let Some(times) = made.thinned {
                let message = format!(
                    "clip `{name}` has weights of morph targets at {times} different times, which are too many: it has them at even times"
                );
                warnings.push((message, "put the keys of all weights at the same times"));
            }
            let mut frames = made.frames;
            if extras.additive {
                frames.subtract(model.skeleton.morphs().rest());
            }
            raw.morphs = frames;
        }
        Some(Made {
            clip: raw.build().map_err(|error| error.to_string()),
            warnings,
            spent,
        })
    }
}

/// Returns the frames that our exporter made the keys from, if the keys still agree with them. Its
/// keys between frames are left out: they only serve programs that interpolate along arcs.
fn given(
    frames: &Frames,
    duration: f64,
    curves: &[Curve],
    skin: &Skin,
    budget: &mut Budget,
) -> Option<Sampled> {
    let (times, frame_times) = match frames {
        &Frames::Even(count) if (1..=budget.frames(curves.len())).contains(&count) => {
            let time = |frame: usize| duration * frame as f64 / (count - 1).max(1) as f64;
            (Vec::new(), extras::key_times((0..count).map(time)))
        }
        Frames::At(times)
            if times.is_sorted()
                && times.len() > 1
                && times[0] == 0.0
                && times.ends_with(&[duration]) =>
        {
            (times.clone(), extras::key_times(times.iter().copied()))
        }
        _ => return None,
    };
    let frame_times: Vec<f64> = frame_times.into_iter().map(f64::from).collect();
    let transforms = sample_at(curves, skin, &frame_times, budget)?;
    Some(Sampled {
        transforms,
        times,
        duration,
        error: 0.0,
        thinned: None,
    })
}
