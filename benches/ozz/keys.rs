//! A skeleton and a clip in the files that ozz-animation's tools write: skeletons of version 2, animations of 7.
//!
//! A file is the only way in. Tracks are padded to fours. A channel's keys lie in the order in which playing
//! forward needs them: by the time of the key before, then by track; the first two of every track come first.

use bevy_marionette::model::{JointTransform, SkeletalClip, Skeleton};
use glam::{Quat, Vec3};
use ozz_animation_rs::{Animation, Archive, Skeleton as OzzSkeleton};
use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Which keys are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Keys {
    /// One at every frame.
    Dense,
    /// Those that ozz's optimizer would keep, by its defaults: what is left out is off by a millimeter at most,
    /// at the farthest joint below or a tenth of a meter away. A constant channel keeps its ends.
    Optimized,
    /// The ends of every channel: another motion, of which next to nothing has to be read.
    Ends,
}

/// The same joints, parents and rest pose.
pub(crate) fn skeleton(ours: &Skeleton) -> OzzSkeleton {
    let mut file = File::new("ozz-skeleton", 2);
    file.number(ours.len() as u32);
    let names: Vec<u8> = ours
        .names()
        .iter()
        .flat_map(|name| [name.as_bytes(), b"\0"].concat())
        .collect();
    file.number(names.len() as u32);
    file.0.extend(names);
    for parent in ours.parents() {
        file.0
            .extend(parent.map_or(-1, |parent| parent as i16).to_le_bytes());
    }
    for row in ours.rest() {
        let (t, r, s) = (&row.translation, &row.rotation, &row.scale);
        for lanes in [t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z] {
            file.floats(&lanes.to_array());
        }
    }
    OzzSkeleton::from_archive(&mut file.open()).expect("a skeleton as ozz writes it")
}

/// The same motion, bound to [`skeleton`], and the number of its keys.
pub(crate) fn animation(
    skeleton: &Skeleton,
    clip: &SkeletalClip,
    keys: Keys,
) -> (Animation, usize) {
    let (frames, reaches) = (clip.to_frames().transforms, reaches(skeleton));
    let last = clip.frame_count() - 1;
    let (mut translations, mut rotations, mut scales) = (vec![], vec![], vec![]);
    for (joint, &reach) in reaches.iter().enumerate() {
        let frames: Vec<JointTransform> = frames
            .iter()
            .copied()
            .skip(joint)
            .step_by(skeleton.len())
            .collect();
        let vectors = |of: fn(&JointTransform) -> Vec3| {
            let values: Vec<Vec3> = frames.iter().map(of).collect();
            let kept = kept(&values, keys, |a, b, t, value| {
                a.lerp(b, t).distance(value) <= TOLERANCE
            });
            kept.into_iter()
                .map(|frame| (frame, values[frame].to_array().map(half)))
                .collect::<Vec<_>>()
        };
        translations.push(vectors(|frame| frame.translation));
        scales.push(vectors(|frame| frame.scale));
        // Neighbors in one hemisphere: ozz looks at no sign when it interpolates.
        let mut turns: Vec<Quat> = frames.iter().map(|frame| frame.rotation).collect();
        for i in 1..turns.len() {
            turns[i] = if turns[i - 1].dot(turns[i]) < 0.0 {
                -turns[i]
            } else {
                turns[i]
            };
        }
        let near = |a: Quat, b: Quat, t: f32, value: Quat| {
            // Twice the chord is the angle, as near as it matters.
            let line: Quat = a * (1.0 - t) + b * t;
            2.0 * (line.normalize() - value).length() * reach <= TOLERANCE
        };
        rotations.push(
            kept(&turns, keys, near)
                .into_iter()
                .map(|frame| (frame, packed(turns[frame])))
                .collect(),
        );
    }
    let padding = |value: [u16; 3]| vec![(0, value), (last, value)];
    let tracks = skeleton.len().next_multiple_of(4);
    translations.resize(tracks, padding([0; 3]));
    rotations.resize(tracks, padding(packed(Quat::IDENTITY)));
    scales.resize(tracks, padding([half(1.0); 3]));
    let channels = [translations, rotations, scales].map(in_order);

    let mut file = File::new("ozz-animation", 7);
    file.floats(&[clip.timing.duration as f32]);
    file.number(skeleton.len() as u32);
    file.number(0);
    file.number(clip.frame_count() as u32);
    channels
        .iter()
        .for_each(|channel| file.number(channel.len() as u32));
    // No keys of the whole pose in between: they only serve jumps, and a jump back to the start needs none.
    (0..6).for_each(|_| file.number(0));
    file.floats(
        &(0..=last)
            .map(|frame| frame as f32 / last as f32)
            .collect::<Vec<_>>(),
    );
    assert!(clip.frame_count() <= 255, "times are numbered in a byte");
    for channel in &channels {
        file.0.extend(channel.iter().map(|key| key.frame as u8));
        channel
            .iter()
            .for_each(|key| file.words(&[key.since as u16]));
        file.floats(&[0.0]);
        channel.iter().for_each(|key| file.words(&key.value));
    }
    let animation =
        Animation::from_archive(&mut file.open()).expect("an animation as ozz writes it");
    (animation, channels.iter().map(Vec::len).sum())
}

/// Meters that a joint may be off by what [`Keys::Optimized`] leaves out of one channel.
const TOLERANCE: f32 = 1e-3;

/// How far from each joint what it turns may lie.
fn reaches(skeleton: &Skeleton) -> Vec<f32> {
    let mut reaches = vec![0.1_f32; skeleton.len()];
    for joint in (0..skeleton.len()).rev() {
        if let Some(parent) = skeleton.parents()[joint] {
            let reach = skeleton.rest_of(joint as u16).translation.length() + reaches[joint];
            let parent = &mut reaches[usize::from(parent)];
            *parent = parent.max(reach);
        }
    }
    reaches
}

/// The frames of which keys are kept: from each as far as all between it and the next are near the line.
fn kept<T: Copy>(values: &[T], keys: Keys, near: impl Fn(T, T, f32, T) -> bool) -> Vec<usize> {
    let last = values.len() - 1;
    let mut kept = vec![0];
    while let Some(&from) = kept.last().filter(|&&from| from < last) {
        let skips = |to: usize| {
            let way = |frame| (frame - from) as f32 / (to - from) as f32;
            (from + 1..to).all(|frame| near(values[from], values[to], way(frame), values[frame]))
        };
        kept.push(match keys {
            Keys::Dense => from + 1,
            Keys::Optimized => (from + 2..=last)
                .take_while(|&to| skips(to))
                .last()
                .unwrap_or(from + 1),
            Keys::Ends => last,
        });
    }
    kept
}

struct Key {
    /// Of the one before in its track; −1 where there is none.
    previous: i32,
    track: usize,
    frame: usize,
    value: [u16; 3],
    /// Places since the one before.
    since: usize,
}

fn in_order(tracks: Vec<Vec<(usize, [u16; 3])>>) -> Vec<Key> {
    let mut keys = Vec::new();
    for (track, of_track) in tracks.iter().enumerate() {
        let mut previous = -1;
        for &(frame, value) in of_track {
            keys.push(Key {
                previous,
                track,
                frame,
                value,
                since: 0,
            });
            previous = frame as i32;
        }
    }
    keys.sort_by_key(|key| (key.previous, key.track));
    let mut places = vec![None; tracks.len()];
    for (place, key) in keys.iter_mut().enumerate() {
        key.since = places[key.track]
            .replace(place)
            .map_or(0, |before| place - before);
    }
    keys
}

/// As a float of 16 bits, to the nearest.
fn half(value: f32) -> u16 {
    let magnitude = value.abs() * (2.0_f32).powi(-112);
    ((value.to_bits() >> 16) & 0x8000) as u16 | ((magnitude.to_bits() + 0x1000) >> 13) as u16
}

/// In 48 bits: which element is the largest, its sign, and 15 bits for each of the others.
fn packed(turn: Quat) -> [u16; 3] {
    let elements = turn.to_array();
    let largest = (0..4).fold(0, |largest, i| {
        if elements[i].abs() > elements[largest].abs() {
            i
        } else {
            largest
        }
    });
    let mut bits = largest as u64 | u64::from(elements[largest] < 0.0) << 2;
    for (place, i) in (0..4).filter(|&i| i != largest).enumerate() {
        let number = (elements[i] + FRAC_1_SQRT_2) * (32767.0 / SQRT_2);
        bits |= (number.round().clamp(0.0, 32767.0) as u64) << (3 + place * 15);
    }
    [0, 16, 32].map(|shift| (bits >> shift) as u16)
}

/// A file's bytes, the first of them saying that numbers are little-endian.
struct File(Vec<u8>);

impl File {
    fn new(tag: &str, version: u32) -> Self {
        let mut file = Self([b"\x01", tag.as_bytes(), b"\0"].concat());
        file.number(version);
        file
    }

    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn words(&mut self, words: &[u16]) {
        words
            .iter()
            .for_each(|word| self.0.extend(word.to_le_bytes()));
    }

    fn floats(&mut self, floats: &[f32]) {
        floats
            .iter()
            .for_each(|float| self.0.extend(float.to_le_bytes()));
    }

    fn open(&self) -> Archive<std::io::Cursor<&[u8]>> {
        Archive::from_slice(&self.0).expect("a byte order")
    }
}
