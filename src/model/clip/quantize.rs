//! Clips whose changing values are stored as 16-bit numbers.

use super::{ChannelSlot, NumberRange, Quantization, RowTracks, SkeletalClip};
use glam::Vec4;

impl SkeletalClip {
    /// The same frames with every sampled channel in 16-bit numbers between its smallest and its largest
    /// value, joint by joint and component by component.
    pub(crate) fn quantized(&self, quantization: Quantization) -> Self {
        // Per vector of the new frames, its place in the old ones.
        let (mut kept, mut packed, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let mut slot = |slot: ChannelSlot, count: u32| {
            let ChannelSlot::Sampled(at) = slot else {
                return slot;
            };
            let of_channel: Vec<NumberRange> = (at..at + count)
                .map(|at| self.range_of(at as usize))
                .collect();
            // A range beyond f32 cannot be cut into steps.
            if of_channel.iter().all(|range| range.step.is_finite()) {
                packed.extend(at..at + count);
                ranges.extend(of_channel);
                ChannelSlot::Quantized(packed.len() as u32 - count)
            } else {
                kept.extend(at..at + count);
                ChannelSlot::Sampled(kept.len() as u32 - count)
            }
        };
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &*self.rows {
            let (translation, rotation) = (slot(row.translation, 3), slot(row.rotation, 4));
            rows.push(RowTracks {
                translation,
                rotation,
                scale: slot(row.scale, 3),
                ..*row
            });
        }
        let mut samples = Vec::with_capacity(kept.len() * self.frame_count);
        let mut numbers = Vec::with_capacity(packed.len() * self.frame_count);
        for frame in (0..self.frame_count).map(|frame| self.frame(frame)) {
            samples.extend(kept.iter().map(|&at| frame[at as usize]));
            numbers.extend(
                packed
                    .iter()
                    .zip(&ranges)
                    .map(|(&at, NumberRange { low, step })| {
                        // A value that doesn't change gives 0 / 0, which the cast turns into 0.
                        ((frame[at as usize] - *low) / *step)
                            .to_array()
                            .map(|number| number.round() as u16)
                    }),
            );
        }
        Self {
            stride: kept.len(),
            quantization: Some(quantization),
            rows: rows.into(),
            samples: samples.into(),
            numbers: numbers.into(),
            ranges: ranges.into(),
            ..self.clone()
        }
    }

    fn range_of(&self, at: usize) -> NumberRange {
        let values = || (0..self.frame_count).map(|frame| self.frame(frame)[at]);
        let low = values().fold(Vec4::MAX, Vec4::min);
        let high = values().fold(Vec4::MIN, Vec4::max);
        NumberRange {
            low,
            step: (high - low) / f32::from(u16::MAX),
        }
    }
}
