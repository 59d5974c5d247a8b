//! Clips that eight characters play, each at its own time and with its own weights.
//!
//! The place of each channel is looked up only once for all of them. Compressed clips are unpacked a few rows at a time.

use super::{PoseBatch, lanes::Lanes};
use crate::controller::BlendMode;
use crate::model::{ChannelSlot, PackedNumbers, RowTracks, SkeletalClip, SoaTransform};
use crate::pose::{
    ClipLayer, Evaluate, FrameSpan,
    blend::{inverse, reached},
    joint_weights::{Common, JointWeights},
    mix::{lacks_weight, share},
    sample::FramePair,
    simd::numbers::{ChannelVectors, Moments},
    unpack::Channels,
};
use glam::Vec4;
use std::{ops::Range, ptr};

/// A clip that eight characters play.
#[derive(Debug)]
pub(super) struct MeanClip<'a> {
    pub(super) rows: &'a [RowTracks],
    pub(super) constants: &'a [Vec4],
    pub(super) rest: &'a [SoaTransform],
    moves_all: bool,
    pub(super) samples: FramePair<'a, Vec4>,
    pub(super) packed: &'a PackedNumbers,
    /// The moments of all characters, if the clip is compressed.
    moments: Moments<'a, { PoseBatch::MOST }>,
    /// The frame that each character is at.
    pub(super) times: [FrameTime; PoseBatch::MOST],
    /// The place of its channels among all that are unpacked.
    pub(super) unpacked: usize,
    /// Sums to one over the clips.
    pub(super) weight: Lanes,
    /// The same at joints that only some of the clips move, for each set of clips: one bit per clip.
    pub(super) weights: [Lanes; 1 << MOST_OF_MOVING],
    /// `true` if a clip has no weight at joints that it doesn't move, rather than the rest pose in its place.
    pub(super) of_moving: bool,
}

pub(super) const NO_CLIPS: &str = "a mean has clips";

/// The most clips whose weights depend on which of them move a joint.
pub(super) const MOST_OF_MOVING: usize = 3;

/// The start of a frame in the list of samples, and the position between it and the next frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameTime {
    pub(super) sample: u32,
    pub(super) fraction: f32,
}

/// The vectors of a channel of compressed clips, for each character.
pub(super) type UnpackedChannel = [ChannelVectors; PoseBatch::MOST];

/// Returns `true` if a pose is nothing but the mean of its layers, without scales and with the same weights at all joints.
pub(super) fn is_mean(pose: &Evaluate) -> bool {
    let Evaluate {
        skeleton,
        layers,
        inertia,
        ..
    } = *pose;
    let [first, ..] = layers else { return false };
    // A single layer with a mask or a scale needs the general kernel.
    let counts = |layer: &ClipLayer| {
        layer.mask.is_none()
            && layer.priority == first.priority
            && layer.effective_mode() == BlendMode::Blend
            && layer.weight > 0.0
            && layer.weight < f32::INFINITY
            && layer.clip.unit_scale()
            && layer.clip.rows().len() == skeleton.rows()
    };
    inertia.is_none()
        && skeleton.unit_scale()
        && layers.iter().all(counts)
        && match joint_weights(layers) {
            JointWeights::Same => true,
            JointWeights::OfMoving => layers.len() <= MOST_OF_MOVING,
            JointWeights::Other => false,
        }
        && !lacks_weight(layers.iter())
}

fn joint_weights(layers: &[ClipLayer]) -> JointWeights {
    // The usual case takes no further look.
    if layers.iter().all(|layer| layer.clip.animates_all()) {
        JointWeights::Same
    } else {
        Common::of::<SoaTransform>(layers).joint_weights()
    }
}

/// Fills the list with the clips that all characters play, and makes room for unpacking them. Returns `false` if they don't play
/// the same, or no clips.
///
/// Lanes without a character repeat the first.
pub(super) fn find_clips<'a, 'l>(
    characters: usize,
    layers_of: impl Fn(usize) -> &'l [ClipLayer<'a>],
    clips: &mut Vec<MeanClip<'a>>,
    unpacked: &mut Vec<UnpackedChannel>,
) -> bool
where
    'a: 'l,
{
    clips.clear();
    let first = layers_of(0);
    let same = |lane| {
        let layers: &[ClipLayer] = layers_of(lane);
        // Clips are compared by address: equal copies are rare, and comparing contents would cost
        // more than it saves.
        layers.len() == first.len()
            && layers
                .iter()
                .zip(first)
                .all(|(a, b)| ptr::eq(a.clip, b.clip))
    };
    if first.is_empty() || !(1..characters).all(same) {
        return false;
    }
    // In double precision, no sum of weights over- or underflows.
    let mut totals = [0.0; PoseBatch::MOST];
    for (lane, total) in totals.iter_mut().enumerate() {
        let lane = if lane < characters { lane } else { 0 };
        layers_of(lane)
            .iter()
            .for_each(|layer| *total += f64::from(layer.weight));
    }
    let mut end = 0;
    for (index, layer) in first.iter().enumerate() {
        let mut clip = MeanClip::new(layer.clip);
        let channels = clip.packed.channels();
        for (lane, total) in totals.iter().enumerate() {
            let layer = &layers_of(if lane < characters { lane } else { 0 })[index];
            let span = FrameSpan::new(layer.clip, layer.time);
            clip.times[lane] = clip.time(&span);
            if channels > 0 {
                let frames = [span.first, span.second];
                clip.moments.set(lane, frames, span.fraction);
            }
            clip.weight.0[lane / 4][lane % 4] = share(layer.weight, *total);
        }
        clip.unpacked = end;
        end += channels;
        clips.push(clip);
    }
    // All is overwritten, so memory only grows.
    if unpacked.len() < end {
        unpacked.resize(end, Default::default());
    }
    if clips.iter().all(MeanClip::moves_all) {
        return true;
    }
    // The same clips can be layers of the base for one character, and tracks beside each other for the next.
    let weights = joint_weights(first);
    let same = |lane| joint_weights(layers_of(lane)) == weights;
    let found = (1..characters).all(same) && weigh_joints(clips, weights);
    if !found {
        // An empty list says so when the next part asks.
        clips.clear();
    }
    found
}

/// Finds the weights of clips at joints that only some of them move, as [`Mix`](crate::pose::Mix) does. Returns `false` if a
/// character's clips weigh so little there that the joint counts as not moved.
fn weigh_joints(clips: &mut [MeanClip], weights: JointWeights) -> bool {
    if weights == JointWeights::Same {
        for clip in clips {
            clip.weights = [clip.weight; 1 << MOST_OF_MOVING];
        }
        return true;
    }
    for moving in 1..1 << clips.len() {
        for half in 0..2 {
            let weight = |index: usize, clip: &MeanClip| {
                clip.weight.0[half] * f32::from(moving >> index & 1 == 1)
            };
            let weights = clips
                .iter()
                .enumerate()
                .map(|(index, clip)| weight(index, clip));
            let total = weights.reduce(|sum, next| sum + next).expect(NO_CLIPS);
            if !reached(total).cmpgt(Vec4::ZERO).all() {
                return false;
            }
            for (index, clip) in clips.iter_mut().enumerate() {
                clip.weights[moving].0[half] = weight(index, clip) * inverse(total);
                clip.of_moving = true;
            }
        }
    }
    true
}

/// The rows that are unpacked at a time: few enough to be still in the nearest cache when they are blended.
const ROWS_AT_ONCE: usize = 4;

/// Unpacks the next rows of compressed clips, from `first` on. Returns the first row that isn't unpacked, as far as any has to be.
#[inline(never)]
pub(super) fn unpack_rows(
    clips: &[MeanClip],
    unpacked: &mut [UnpackedChannel],
    first: usize,
) -> usize {
    let mut next = usize::MAX;
    for clip in clips {
        let count = clip.packed.channels();
        if count > 0 {
            next = first + ROWS_AT_ONCE;
            let rows = &clip.rows[first..next.min(clip.rows.len())];
            let channels = Channels {
                quats: packed_channels(rows.iter().map(|row| row.rotation)),
                vectors: packed_channels(rows.iter().map(|row| row.translation)),
                ..Channels::default()
            };
            let out = &mut unpacked[clip.unpacked..][..count];
            channels.unpack(clip.packed, &clip.moments, out);
        }
    }
    next
}

/// The range of channels that are stored as numbers of a few bits.
fn packed_channels(slots: impl Iterator<Item = ChannelSlot>) -> Range<usize> {
    let (mut start, mut end) = (usize::MAX, 0);
    for slot in slots {
        if let ChannelSlot::Packed(at) = slot {
            (start, end) = (start.min(at as usize), end.max(at as usize + 1));
        }
    }
    start.min(end)..end
}

impl<'a> MeanClip<'a> {
    // All frames, unlike in `SamplePoint`: each character is at another one.
    fn new(clip: &'a SkeletalClip) -> Self {
        let count = clip.frame_count();
        Self {
            rows: clip.rows(),
            constants: clip.constants(),
            rest: clip.rest(),
            moves_all: clip.animates_all(),
            samples: FramePair::new(clip.frames(0, count - 1), count),
            packed: clip.numbers(),
            moments: Moments::new(clip.numbers()),
            times: Default::default(),
            unpacked: 0,
            weight: Lanes::default(),
            weights: Default::default(),
            of_moving: false,
        }
    }

    /// Returns `true` if the clip moves every joint.
    pub(super) fn moves_all(&self) -> bool {
        self.moves_all
    }

    #[inline(always)]
    fn time(&self, span: &FrameSpan) -> FrameTime {
        FrameTime {
            sample: span.first as u32 * self.samples.stride(),
            fraction: span.fraction,
        }
    }
}
