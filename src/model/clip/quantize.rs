//! Clips whose changing values are stored as numbers of a few bits.

use super::{
    ChannelSlot, PackedNumbers, Quantization, RowTracks, SkeletalClip,
    numbers::{Fitted, NumberFormat, NumberWriter},
};
use crate::model::{Skeleton, SoaQuat, SoaVec3};
use glam::Vec4;
use std::sync::Arc;

/// The largest error of each component of a joint, about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) translation: f32,
    /// As an angle, in radians.
    pub(crate) rotation: f32,
    pub(crate) scale: f32,
}

impl SkeletalClip {
    /// The same frames with as few bits as the tolerances of the joints allow. Channels that stay as close to the rest pose are
    /// left to it.
    pub(crate) fn quantized(&self, skeleton: &Skeleton, tolerances: &[Tolerance]) -> Self {
        let mut quantizer = Quantizer {
            numbers: PackedNumbers::NONE,
            writer: NumberWriter::default(),
            constants: Vec::new(),
            kept: Vec::new(),
        };
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut unit_scale = true;
        for (index, (row, rest)) in self.rows.iter().zip(skeleton.rest()).enumerate() {
            let of_joints = |tolerance: fn(&Tolerance) -> f32| {
                Vec4::from_array(std::array::from_fn(|lane| {
                    let joint = tolerances.get(index * 4 + lane);
                    // Joints that the clip doesn't move are at the identity, exactly.
                    let moves = row.moved >> lane & 1 == 1;
                    joint.filter(|_| moves).map_or(0.0, tolerance)
                }))
            };
            let vectors = |v: SoaVec3| [v.x, v.y, v.z];
            let quats = |q: SoaQuat| [q.x, q.y, q.z, q.w];
            let scale = quantizer.vectors(
                row.scale,
                self.extremes(row.scale, |frame| vectors(self.scales_at(index, frame))),
                of_joints(|joint| joint.scale),
                vectors(rest.scale),
            );
            unit_scale &= match scale {
                ChannelSlot::Constant(at) => {
                    quantizer.constants[at as usize..][..3] == [Vec4::ONE; 3]
                }
                ChannelSlot::Rest => vectors(rest.scale) == [Vec4::ONE; 3],
                _ => false,
            };
            rows.push(RowTracks {
                moved: row.moved,
                translation: quantizer.vectors(
                    row.translation,
                    self.extremes(row.translation, |frame| {
                        vectors(self.translations_at(index, frame))
                    }),
                    of_joints(|joint| joint.translation),
                    vectors(rest.translation),
                ),
                rotation: quantizer.quats(
                    row.rotation,
                    self.extremes(row.rotation, |frame| quats(self.rotations_at(index, frame))),
                    // A quaternion turns by half as much as what it rotates.
                    0.5 * of_joints(|joint| joint.rotation),
                    quats(rest.rotation),
                ),
                scale,
            });
        }
        let Quantizer {
            numbers,
            writer,
            constants,
            kept,
            ..
        } = quantizer;
        let frames = || (0..self.frame_count).map(|frame| self.frame(frame));
        let samples = frames().flat_map(|frame| kept.iter().map(|&at| frame[at]));
        let is_at_rest = |row: &RowTracks| {
            [row.translation, row.rotation, row.scale].contains(&ChannelSlot::Rest)
        };
        Self {
            rest: if rows.iter().any(is_at_rest) {
                skeleton.shared_rest().clone()
            } else {
                Arc::default()
            },
            quantization: Some(Quantization::default()),
            rows: rows.into(),
            constants: constants.into(),
            samples: samples.collect(),
            stride: kept.len(),
            numbers: Arc::new(PackedNumbers {
                vectors: numbers.vectors,
                quats: numbers.quats,
                ..writer.finish(frames())
            }),
            unit_scale,
            ..self.clone()
        }
    }

    /// Says what compressing the clip has done.
    pub(crate) fn with_quantization(self, quantization: Quantization) -> Self {
        Self {
            quantization: Some(quantization),
            ..self
        }
    }

    /// The smallest and the largest values of a channel's vectors.
    fn extremes<const N: usize>(
        &self,
        slot: ChannelSlot,
        at: impl Fn(usize) -> [Vec4; N],
    ) -> [[Vec4; N]; 2] {
        let frames = match slot {
            ChannelSlot::Sampled(_) => 1..self.frame_count,
            _ => 1..1,
        };
        frames.map(&at).fold([at(0); 2], |[low, high], frame| {
            [
                std::array::from_fn(|i| low[i].min(frame[i])),
                std::array::from_fn(|i| high[i].max(frame[i])),
            ]
        })
    }
}

/// A compressed clip in the making.
struct Quantizer {
    numbers: PackedNumbers,
    writer: NumberWriter,
    constants: Vec<Vec4>,
    /// The places of vectors that stay as they are, in the frames of the clip.
    kept: Vec<usize>,
}

impl Quantizer {
    fn vectors(
        &mut self,
        slot: ChannelSlot,
        extremes: [[Vec4; 3]; 2],
        tolerance: Vec4,
        rest: [Vec4; 3],
    ) -> ChannelSlot {
        let fitted = self.fit(slot, extremes, [tolerance; 3], rest);
        fitted.unwrap_or_else(|format| {
            self.numbers.vectors.push(format);
            ChannelSlot::Packed(self.numbers.vectors.len() as u32 - 1)
        })
    }

    fn quats(
        &mut self,
        slot: ChannelSlot,
        [lows, highs]: [[Vec4; 4]; 2],
        tolerance: Vec4,
        rest: [Vec4; 4],
    ) -> ChannelSlot {
        // A component near one turns the joint by less than the others do: only the part across the quaternion counts, which
        // is as long as the other components.
        let tolerances = std::array::from_fn(|i| {
            let (low, high): (Vec4, Vec4) = (lows[i], highs[i]);
            let nearest = low.max(-high).max(Vec4::ZERO).min(Vec4::ONE);
            let across = (Vec4::ONE - nearest * nearest).to_array().map(f32::sqrt);
            tolerance / Vec4::from_array(across).max(Vec4::splat(LEAST_ACROSS))
        });
        let fitted = self.fit(slot, [lows, highs], tolerances, rest);
        fitted.unwrap_or_else(|format| {
            self.numbers.quats.push(format);
            ChannelSlot::Packed(self.numbers.quats.len() as u32 - 1)
        })
    }

    /// Returns the new place of a channel, or its format if it has become numbers.
    fn fit<const N: usize>(
        &mut self,
        slot: ChannelSlot,
        [lows, highs]: [[Vec4; N]; 2],
        tolerances: [Vec4; N],
        rest: [Vec4; N],
    ) -> Result<ChannelSlot, NumberFormat<N>> {
        match (slot, NumberFormat::fit(lows, highs, tolerances, rest)) {
            (_, Some(Fitted::Still(values))) if values == rest => Ok(ChannelSlot::Rest),
            (_, Some(Fitted::Still(values))) => {
                let mut known = self.constants.windows(N);
                let at = known.position(|known| known == values).unwrap_or_else(|| {
                    self.constants.extend(values);
                    self.constants.len() - N
                });
                Ok(ChannelSlot::Constant(at as u32))
            }
            (ChannelSlot::Sampled(at), Some(Fitted::Numbers(mut format))) => {
                self.writer.add(&mut format, at as usize);
                Err(format)
            }
            (ChannelSlot::Sampled(at), None) => {
                self.kept.extend(at as usize..at as usize + N);
                Ok(ChannelSlot::Sampled((self.kept.len() - N) as u32))
            }
            (slot, _) => unreachable!("{slot:?} is a single value, which needs no bits"),
        }
    }
}

/// The least share of an error in a component of a quaternion that counts. Keeps the others from being stretched when the
/// quaternion is normalized.
const LEAST_ACROSS: f32 = 0.05;
