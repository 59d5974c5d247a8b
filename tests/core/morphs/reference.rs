//! Weights against plain arithmetic in double precision, and mirrored.

use super::{MORPHS, clip, skeleton};
use bevy_marionette::controller::{BlendMode, TrackPriority};
use bevy_marionette::{
    internals::model::MorphFrames,
    model::{ClipFrames, ClipTiming, Morphs, SkeletalClip, Skeleton},
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, MorphMode, MorphOverride, MorphScratch},
    pose::Mask,
};
use fastrand::Rng;
use std::sync::Arc;

/// The weight of a target in a clip: a straight line between the two frames around the time.
fn sample(frames: &MorphFrames, duration: f64, morph: usize, time: f64) -> f64 {
    let width = frames.names.len();
    let count = frames.weights.len() / width;
    let time_of = |frame: usize| match frames.times.get(frame) {
        Some(time) => *time,
        None if count > 1 => duration * frame as f64 / (count - 1) as f64,
        None => 0.0,
    };
    let weight = |frame: usize| f64::from(frames.weights[frame * width + morph]);
    let time = time.clamp(0.0, duration);
    let next = (0..count).find(|&frame| time_of(frame) >= time);
    let Some(next) = next.filter(|next| *next > 0) else {
        return weight(next.unwrap_or(count - 1));
    };
    let (from, to) = (time_of(next - 1), time_of(next));
    let t = (time - from) / (to - from);
    weight(next - 1) * (1.0 - t) + weight(next) * t
}

/// Blended layers are means by weight, the two priorities a mean of both by how much of them there is; then come additive and
/// overriding layers, in order.
fn blend(
    layers: &[(ClipLayer, MorphFrames, Option<&[f32]>)],
    rest: f64,
    priority_blend: f64,
    morph: usize,
) -> f64 {
    let share = |(layer, _, mask): &(ClipLayer, MorphFrames, Option<&[f32]>)| {
        let reach = f64::from(u8::from(layer.clip.animates_morph(morph as u16)));
        // Overriding layers replace no more than everything.
        let weight = match layer.effective_mode() {
            BlendMode::Override => layer.weight.min(1.0),
            _ => layer.weight,
        };
        f64::from(weight) * reach * mask.map_or(1.0, |mask| f64::from(mask[morph]))
    };
    let value = |(layer, frames, _): &(ClipLayer, MorphFrames, Option<&[f32]>)| {
        sample(frames, layer.clip.timing.duration, morph, layer.time)
    };
    let is_added = |layer: &ClipLayer| layer.effective_mode() == BlendMode::Additive;
    let group = |priority: TrackPriority| {
        let members = || {
            layers.iter().filter(move |(layer, ..)| {
                layer.effective_mode() == BlendMode::Blend && layer.priority == priority
            })
        };
        let total: f64 = members().map(&share).sum();
        let sum: f64 = members().map(|one| share(one) * value(one)).sum();
        (total > 0.0).then(|| (total.min(1.0), sum / total))
    };
    let mut weight = match (group(TrackPriority::Low), group(TrackPriority::High)) {
        (Some((l, low)), Some((h, high))) => {
            let low_part = l * (1.0 - priority_blend * h);
            let high_part = h * (1.0 - (1.0 - priority_blend) * l);
            (low * low_part + high * high_part) / (low_part + high_part)
        }
        (Some((_, only)), None) | (None, Some((_, only))) => only,
        (None, None) => rest,
    };
    for one in layers {
        let by = share(one);
        if is_added(&one.0) {
            let from = if one.0.clip.additive { 0.0 } else { rest };
            weight += by * if by > 0.0 { value(one) - from } else { 0.0 };
        } else if one.0.mode == BlendMode::Override && by > 0.0 {
            weight += (value(one) - weight) * by.min(1.0);
        }
    }
    weight
}

#[test]
fn weights_are_what_plain_arithmetic_makes_of_them() {
    let mut random = Rng::with_seed(21);
    let mut scratch = MorphScratch::default();
    let mut worst = 0.0_f64;
    for _ in 0..3000 {
        let skeleton = skeleton(&mut random);
        let clips = [0; 5].map(|_| clip(&skeleton, &mut random));
        let given: Vec<f32> = (0..MORPHS)
            .map(|_| [0.0, 1.0, random.f32()][random.usize(..3)])
            .collect();
        let mask = Mask::full(MORPHS).with_morphs(given.clone());
        let layers: Vec<_> = clips[..random.usize(..=5)]
            .iter()
            .map(|clip| {
                use BlendMode::{Additive, Blend, Override};
                let masked = random.bool();
                let layer = ClipLayer {
                    weight: [1.5 * random.f32(), 1.0][random.usize(..2)],
                    mask: masked.then_some(&mask),
                    priority: [TrackPriority::Low, TrackPriority::High][random.usize(..2)],
                    mode: [Blend, Blend, Blend, Additive, Override][random.usize(..5)],
                    ..ClipLayer::new(clip, random.f64() * 1.2 - 0.1)
                };
                (layer, clip.morph_frames(), masked.then_some(&given[..]))
            })
            .collect();
        let overrides: Vec<MorphOverride> = (0..random.usize(..3))
            .map(|_| MorphOverride {
                weight: random.f32(),
                mode: [MorphMode::Set, MorphMode::Add][random.usize(..2)],
                ..MorphOverride::set(random.u16(..MORPHS as u16), random.f32())
            })
            .collect();
        let only: Vec<ClipLayer> = layers.iter().map(|(layer, ..)| *layer).collect();
        let job = Evaluate {
            priority_blend: random.f32(),
            morph_overrides: &overrides,
            ..Evaluate::new(&skeleton, &only)
        };
        let rest = skeleton.morphs().rest();
        let weights = job.run_morphs(&mut scratch).unwrap_or(rest);
        for (morph, &weight) in weights.iter().enumerate() {
            let blend_of = f64::from(job.priority_blend);
            let mut expected = blend(&layers, f64::from(rest[morph]), blend_of, morph);
            for one in overrides.iter().filter(|o| usize::from(o.morph) == morph) {
                let (value, share) = (f64::from(one.value), f64::from(one.weight));
                expected += match one.mode {
                    MorphMode::Set => (value - expected) * share,
                    MorphMode::Add => value * share,
                };
            }
            let off = (f64::from(weight) - expected).abs();
            assert!(off < 2e-6, "{morph}: {weight} {expected} {only:?}");
            worst = worst.max(off);
        }
    }
    assert!(worst > 0.0);
}

/// Names with and without another side, some of which lack it.
fn sided(random: &mut Rng) -> Vec<Arc<str>> {
    let stems = ["smile", "blink", "browUp", "cheek", "sneer"];
    let mut names: Vec<String> = ["jaw", "aa", "tongueOut"].map(Into::into).into();
    for stem in stems {
        let [left, right] = match random.u8(..3) {
            0 => [format!("{stem}Left"), format!("{stem}Right")],
            1 => [format!("{stem}_L"), format!("{stem}_R")],
            _ => [format!("{stem}.L"), format!("{stem}.R")],
        };
        names.push(left);
        if random.u8(..4) > 0 {
            names.push(right);
        }
    }
    random.shuffle(&mut names);
    names.into_iter().map(Into::into).collect()
}

#[test]
fn a_mirrored_clip_shows_the_other_side_at_every_time_and_twice_mirrored_the_same_bits() {
    let mut random = Rng::with_seed(22);
    let mut swapped = 0;
    for _ in 0..300 {
        let names = sided(&mut random);
        let rest = names.iter().map(|name| (name.clone(), random.f32()));
        let morphs = Morphs::new(rest.collect::<Vec<_>>());
        let skeleton = Skeleton::new(vec![]).unwrap().with_morphs(morphs);
        let frames = 2 + random.usize(..4);
        let weights = (0..frames * names.len()).map(|_| random.f32());
        let given = MorphFrames {
            weights: weights.collect(),
            animated: names.iter().map(|_| random.u8(..4) > 0).collect(),
            names: names.clone().into(),
            times: vec![],
        };
        let clip = SkeletalClip::new(ClipTiming::new("talk", 1.0), &ClipFrames::default());
        let clip = clip.unwrap().with_morphs(&given).unwrap();
        let mirrored = clip.mirrored(&skeleton).unwrap();
        let twice = mirrored.mirrored(&skeleton).unwrap();
        let other = |name: &str| {
            let sides = [("Left", "Right"), ("_L", "_R"), (".L", ".R")];
            let to = sides.iter().find_map(|(left, right)| {
                let to_right = name.strip_suffix(left).map(|stem| format!("{stem}{right}"));
                to_right.or_else(|| name.strip_suffix(right).map(|stem| format!("{stem}{left}")))
            });
            let find = |to: &String| names.iter().position(|name| **name == **to);
            to.as_ref().and_then(find)
        };
        for _ in 0..10 {
            let time = random.f64() * 1.2 - 0.1;
            let [seen, image, again] = [&clip, &mirrored, &twice].map(|clip| {
                let layers = [ClipLayer::new(clip, time)];
                let mut scratch = MorphScratch::default();
                let weights = Evaluate::new(&skeleton, &layers);
                let weights = weights.run_morphs(&mut scratch);
                let weights = weights.unwrap_or(skeleton.morphs().rest());
                weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>()
            });
            assert_eq!(seen, again);
            let rest = skeleton.morphs().rest();
            for (at, name) in names.iter().enumerate() {
                let from = other(name).unwrap_or(at);
                // What neither moves stays at its own rest.
                let expected = if clip.animates_morph(from as u16) {
                    seen[from]
                } else {
                    rest[at].to_bits()
                };
                assert_eq!(image[at], expected, "{name} of {names:?}");
                swapped += usize::from(from != at && seen[from] != seen[at]);
            }
        }
    }
    assert!(swapped > 1000, "{swapped}");
}
