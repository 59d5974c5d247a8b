//! The clips of a baked file, as they are in memory. Frames that clips share are stored once.

use super::stream::{Damaged, Plain, Reader, Stored, stored, stored_enums, write_list, write_text};
use crate::model::{
    CallbackData, CallbackKey, ChannelSlot, ClipParts, ClipTiming, ClipTransforms, Knot,
    MorphCurves, NumberFormat, PackedNumbers, PlaybackMode, Quantization, RootDelta, RootPath,
    RowTracks, SkeletalClip, Skeleton, Twist, WeightTracks,
};
use std::{collections::HashMap, iter, sync::Arc};

/// A clip, with what others may share as indices into lists of it.
struct Entry {
    timing: ClipTiming,
    additive: bool,
    root_path: Option<RootPath>,
    rate: Option<f64>,
    quantization: Option<Quantization>,
    transforms: usize,
    morphs: Option<usize>,
}

pub(super) fn write(clips: &[SkeletalClip], to: &mut Vec<u8>) {
    let (mut transforms, mut curves) = (Vec::new(), Vec::new());
    // Shared data is known by its address, which all of `parts` keeps valid.
    let parts: Vec<ClipParts> = clips.iter().map(SkeletalClip::parts).collect();
    let mut places: [HashMap<usize, usize>; 2] = Default::default();
    let entry = |(clip, parts): (&SkeletalClip, &ClipParts)| Entry {
        timing: parts.timing.clone(),
        additive: parts.additive,
        root_path: parts.root_path.as_deref().cloned(),
        rate: parts.rate,
        quantization: parts.quantization,
        transforms: *places[0].entry(clip.frames_key()).or_insert_with(|| {
            transforms.push(parts.transforms.clone());
            transforms.len() - 1
        }),
        morphs: parts.morphs.as_ref().map(|of_clip| {
            let place = places[1].entry(Arc::as_ptr(of_clip).addr());
            *place.or_insert_with(|| {
                curves.push(Curves::new(of_clip));
                curves.len() - 1
            })
        }),
    };
    let entries: Vec<Entry> = clips.iter().zip(&parts).map(entry).collect();
    transforms.write(to);
    curves.write(to);
    entries.write(to);
}

pub(super) fn read(from: &mut Reader, skeleton: &Skeleton) -> Result<Vec<SkeletalClip>, Damaged> {
    let (transforms, curves): (Vec<ClipTransforms>, Vec<Curves>) = from.read()?;
    let names: Arc<[Arc<str>]> = skeleton.morphs().names().into();
    let curves: Vec<Arc<MorphCurves>> = curves
        .into_iter()
        .map(|curves| Arc::new(curves.with_names(names.clone())))
        .collect();
    let entries: Vec<Entry> = from.read()?;
    let clip = |entry: Entry| {
        let name = entry.timing.name.clone();
        let parts = ClipParts {
            timing: entry.timing,
            additive: entry.additive,
            root_path: entry.root_path.map(Arc::new),
            rate: entry.rate,
            quantization: entry.quantization,
            transforms: (transforms.get(entry.transforms).cloned()).ok_or(NOT_THERE)?,
            morphs: (entry.morphs)
                .map(|at| curves.get(at).cloned().ok_or(NOT_THERE))
                .transpose()?,
        };
        SkeletalClip::from_parts(parts, skeleton)
            .map_err(|what| Damaged::from(what).within(&format!("clip `{name}`")))
    };
    entries.into_iter().map(clip).collect()
}

const NOT_THERE: &str = "a clip has frames that aren't there";

stored! {
    Entry { timing, additive, root_path, rate, quantization, transforms, morphs }
    CallbackKey { time, until, name, data }
    RootDelta { translation, turn }
    Twist { ahead, turn }
    Knot { time, place, rate }
    Quantization { bytes_before, error }
    PackedNumbers { vectors, quats, weights, frames, stride }
    RowTracks { moved, translation, rotation, scale }
    WeightTracks { moved, weights }
}

stored_enums! {
    PlaybackMode { Loop = 0, Once = 1, PingPong = 2 }
}

impl Stored for ClipTiming {
    fn write(&self, to: &mut Vec<u8>) {
        write_text(&self.name, to);
        self.duration.write(to);
        self.playback.write(to);
        write_list(&self.callbacks, to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let (name, duration): (Arc<str>, f64) = from.read()?;
        let playback = from.read()?;
        let callbacks: Vec<CallbackKey> = from.read()?;
        let mut timing = Self {
            playback,
            ..Self::new(name, duration)
        };
        if !callbacks.is_empty() {
            *timing.callbacks = callbacks;
        }
        Ok(timing)
    }
}

impl Stored for CallbackData {
    fn write(&self, to: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        // Most callbacks have none.
        if *self != Self::default() && ciborium::into_writer(self, &mut bytes).is_err() {
            // It will be refused, rather than be lost in silence.
            bytes = vec![u8::MAX];
        }
        bytes.write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let bytes: Vec<u8> = from.read()?;
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        ciborium::from_reader(&bytes[..])
            .map_err(|_| "the data of a callback cannot be read".into())
    }
}

impl Stored for RootPath {
    fn write(&self, to: &mut Vec<u8>) {
        Vec::<Knot>::from(self.clone()).write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let knots: Vec<Knot> = from.read()?;
        Ok(Self::try_from(knots)?)
    }
}

impl Plain for ChannelSlot {
    const SIZE: usize = 4;

    // Places are counted in vectors, of which no clip has a quarter of what 32 bits can count.
    fn put(self, to: &mut [u8]) {
        let (kind, at) = match self {
            Self::Constant(at) => (0, at),
            Self::Sampled(at) => (1, at),
            Self::Packed(at) => (2, at),
            Self::Rest => (3, 0),
        };
        (at << 2 | kind).put(to);
    }

    fn get(from: &[u8]) -> Self {
        let bits = u32::get(from);
        let at = bits >> 2;
        match bits & 3 {
            0 => Self::Constant(at),
            1 => Self::Sampled(at),
            2 => Self::Packed(at),
            _ => Self::Rest,
        }
    }
}

impl<const N: usize> Stored for NumberFormat<N> {
    fn write(&self, to: &mut Vec<u8>) {
        self.start.write(to);
        self.ends.write(to);
        self.steps.write(to);
        self.lows.write(to);
        self.unit.write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        Ok(Self {
            start: from.read()?,
            ends: from.read()?,
            steps: from.read()?,
            lows: from.read()?,
            unit: from.read()?,
        })
    }
}

/// The number of frames. Where nothing else takes a byte for each of them, zeros do, so that no file has more frames than bytes.
fn write_frame_count(count: usize, has_frames: bool, to: &mut Vec<u8>) {
    count.write(to);
    if !has_frames {
        to.extend(iter::repeat_n(0, count));
    }
}

fn pay_for_frames(count: usize, has_frames: bool, from: &mut Reader) -> Result<(), Damaged> {
    if !has_frames {
        from.take(count)?;
    }
    Ok(())
}

impl Stored for ClipTransforms {
    fn write(&self, to: &mut Vec<u8>) {
        self.times.write(to);
        self.rows.write(to);
        self.constants.write(to);
        self.samples.write(to);
        self.stride.write(to);
        self.numbers.write(to);
        write_frame_count(self.frame_count, self.has_frames(), to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let transforms = Self {
            times: from.read()?,
            rows: from.read()?,
            constants: from.read()?,
            samples: from.read()?,
            stride: from.read()?,
            numbers: Arc::new(from.read()?),
            frame_count: from.read()?,
        };
        pay_for_frames(transforms.frame_count, transforms.has_frames(), from)?;
        Ok(transforms)
    }
}

/// Curves of weights, whose targets are the skeleton's.
struct Curves(MorphCurves);

impl Curves {
    fn new(curves: &MorphCurves) -> Self {
        Self(MorphCurves {
            names: Arc::default(),
            ..curves.clone()
        })
    }

    fn with_names(self, names: Arc<[Arc<str>]>) -> MorphCurves {
        let rows = &self.0.rows;
        let moves = |at: usize| {
            rows.get(at / 4)
                .is_some_and(|row| row.moved >> (at % 4) & 1 == 1)
        };
        MorphCurves {
            animates_all: (0..names.len()).all(moves),
            names,
            ..self.0
        }
    }
}

impl Stored for Curves {
    fn write(&self, to: &mut Vec<u8>) {
        let curves = &self.0;
        curves.times.write(to);
        curves.rows.write(to);
        curves.constants.write(to);
        curves.samples.write(to);
        curves.stride.write(to);
        curves.numbers.write(to);
        write_frame_count(curves.frame_count, curves.has_frames(), to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let curves = MorphCurves {
            names: Arc::default(),
            animates_all: false,
            times: from.read()?,
            rows: from.read()?,
            constants: from.read()?,
            samples: from.read()?,
            stride: from.read()?,
            numbers: Arc::new(from.read()?),
            frame_count: from.read()?,
        };
        pay_for_frames(curves.frame_count, curves.has_frames(), from)?;
        Ok(Self(curves))
    }
}
