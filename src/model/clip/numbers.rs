//! Numbers of a few bits each: the frames of compressed clips.
//!
//! A frame is a string of bits without gaps. Each component of each joint has a width of its own, 0 if it never changes.

use glam::Vec4;

/// The largest width of a number, in bits.
pub(super) const MOST_BITS: u32 = 16;

/// The bits from which eight numbers are read.
pub(super) const WINDOW_BITS: u32 = 128;

/// The bytes behind the last frame: a channel's sixteen numbers are read from 32 bytes, and each of them from four.
pub(super) const BEHIND: usize = 2 * WINDOW_BITS as usize / 8 + 3;

/// The numbers of a clip.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PackedNumbers {
    /// The formats of translations and scales.
    pub(crate) vectors: Vec<NumberFormat<3>>,
    /// The formats of rotations.
    pub(crate) quats: Vec<NumberFormat<4>>,
    /// The formats of morph weights.
    pub(crate) weights: Vec<NumberFormat<1>>,
    /// The frames, and the bytes behind them that may be read.
    pub(crate) frames: Vec<u8>,
    pub(crate) stride: usize,
}

/// The numbers of a channel of four joints, as `N` vectors of four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberFormat<const N: usize> {
    /// The first bit of a frame that belongs to the first number. The others follow, vector by vector.
    pub(crate) start: u32,
    /// The bit after each number, counted from the byte in which the first one begins. Numbers of 16 bits have a sign, the
    /// others don't.
    pub(crate) ends: [[u8; 4]; N],
    /// The distances from one number to the next; see [`step`].
    pub(crate) steps: [[u8; 4]; N],
    /// The values of 0, in units of `unit`.
    pub(crate) lows: [[i16; 4]; N],
    pub(crate) unit: f32,
}

/// The format of a channel's numbers, in two halves of two vectors each, for reading. Places and widths of vectors that the
/// channel doesn't have are unspecified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SixteenNumbers {
    /// The first byte of each half in a frame; the second isn't below the first.
    pub(crate) bytes: [u32; 2],
    /// The first bit of each number, counted from the first byte of its half on.
    pub(crate) starts: [[u8; 8]; 2],
    /// The bits of each number.
    pub(crate) widths: [[u8; 8]; 2],
    /// The distances from one number to the next.
    pub(crate) steps: [[u8; 8]; 2],
    /// The values of 0, in units of `unit`.
    pub(crate) lows: [[i16; 8]; 2],
    pub(crate) unit: f32,
}

/// The shares of two frames in a moment between them, as parts of [`FrameShares::WHOLE`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameShares(pub(crate) [i16; 2]);

impl FrameShares {
    /// Below 0, because 16 bits hold no +32768.
    pub(crate) const WHOLE: i16 = i16::MIN;

    /// The shares at a position between two frames, 0..=1.
    #[inline(always)]
    pub(crate) fn new(fraction: f32) -> Self {
        let second = (fraction * f32::from(Self::WHOLE) - 0.5) as i32;
        Self([i32::from(Self::WHOLE) - second, second].map(|share| share as i16))
    }

    /// Both in one integer, the first in its lower half.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn joined(self) -> i32 {
        let Self([first, second]) = self;
        i32::from(first) & 0xffff | i32::from(second) << 16
    }
}

/// The bits of a distance from one number to the next: two of its significand, and six of an exponent.
///
/// Steps range from 2⁻⁴⁰ to 2²⁴: enough for models in any unit.
pub(crate) const STEP_SHIFT: u32 = 21;
/// What the exponent lacks.
pub(crate) const STEP_BASE: u32 = (127 - 40) << 23;

/// Returns a distance from one number to the next.
pub(crate) fn step(bits: u8) -> f32 {
    f32::from_bits((u32::from(bits) << STEP_SHIFT) + STEP_BASE)
}

/// Returns the bits of the smallest step that is not smaller than `least`; `None` if there is none.
fn step_bits(least: f32) -> Option<u8> {
    let up = least
        .max(step(0))
        .to_bits()
        .checked_add((1 << STEP_SHIFT) - 1)?;
    u8::try_from((up - STEP_BASE) >> STEP_SHIFT).ok()
}

/// Returns the value of some bits: those of 16 bits have a sign.
#[inline(always)]
pub(crate) fn number(bits: u32, width: u8) -> i32 {
    let mask = (1_u32 << width) - 1;
    i32::from((bits & mask) as u16 as i16)
}

impl PackedNumbers {
    pub(crate) const NONE: Self = Self {
        vectors: Vec::new(),
        quats: Vec::new(),
        weights: Vec::new(),
        frames: Vec::new(),
        stride: 0,
    };

    /// The bytes from one frame to the next.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The number of channels.
    #[inline(always)]
    pub(crate) fn channels(&self) -> usize {
        self.quats.len() + self.vectors.len() + self.weights.len()
    }

    /// The bytes of all frames, and those behind them that may be read.
    #[inline(always)]
    pub(crate) fn frames(&self) -> &[u8] {
        &self.frames
    }

    /// The vectors of a channel at a frame.
    pub(super) fn read<const N: usize>(&self, format: &NumberFormat<N>, frame: usize) -> [Vec4; N] {
        let mut bit = frame * self.stride * 8 + format.start as usize;
        let widths = format.widths();
        std::array::from_fn(|vector| {
            Vec4::from_array(std::array::from_fn(|lane| {
                let width = widths[vector][lane];
                let [a, b, c] = [0, 1, 2].map(|i| self.frames[bit / 8 + i]);
                let number = number(u32::from_le_bytes([a, b, c, 0]) >> (bit % 8), width);
                bit += usize::from(width);
                number as f32 * step(format.steps[vector][lane]) + format.low(vector, lane)
            }))
        })
    }

    /// The bytes that the numbers and their formats take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.vectors[..])
            + size_of_val(&self.quats[..])
            + size_of_val(&self.weights[..])
            + size_of_val(&self.frames[..])
    }
}

impl<const N: usize> NumberFormat<N> {
    /// The format for reading.
    #[inline(always)]
    pub(crate) fn sixteen(&self) -> SixteenNumbers {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let [first, second] = halves(&self.ends).map(u64::from_le_bytes);
        // A number starts where the one before it ends. A difference of eight bytes is eight differences, as long as none is
        // below 0. Those of missing vectors are, but they come last.
        let starts = [
            first << 8 | u64::from(self.start % 8),
            second << 8 | first >> 56,
        ];
        let widths = [
            first.wrapping_sub(starts[0]),
            second.wrapping_sub(starts[1]),
        ];
        let (byte, skipped) = (self.start / 8, first >> 59);
        let second_starts = starts[1].wrapping_sub(skipped * 8 * EACH);
        SixteenNumbers {
            bytes: [byte, byte + skipped as u32],
            starts: [starts[0], second_starts].map(u64::to_le_bytes),
            widths: widths.map(u64::to_le_bytes),
            steps: halves(&self.steps),
            lows: halves(&self.lows),
            unit: self.unit,
        }
    }

    /// The bits of each number.
    pub(super) fn widths(&self) -> [[u8; 4]; N] {
        let mut start = (self.start % 8) as u8;
        self.ends.map(|ends| {
            ends.map(|end| {
                let width = end - start;
                start = end;
                width
            })
        })
    }

    /// Places the first number, which was at 0, at a bit of the frames.
    fn place(&mut self, start: u32) {
        self.start = start;
        for end in self.ends.as_flattened_mut() {
            *end += (start % 8) as u8;
        }
    }

    /// The value of 0.
    pub(super) fn low(&self, vector: usize, lane: usize) -> f32 {
        f32::from(self.lows[vector][lane]) * self.unit
    }

    /// Returns the format of vectors whose numbers lie between `lows` and `highs`, for an error of each number that is about
    /// `tolerances` at most, or the vectors themselves if none needs any bits; `None` if a number needs too many.
    pub(super) fn fit(
        lows: [Vec4; N],
        highs: [Vec4; N],
        tolerances: [Vec4; N],
        rest: [Vec4; N],
    ) -> Option<Fitted<N>> {
        let still = |vector: usize, lane: usize| {
            let [low, high, tolerance, rest] =
                [lows, highs, tolerances, rest].map(|vectors| vectors[vector][lane]);
            if high - low > 2.0 * tolerance {
                return None;
            }
            let is_near = rest - low <= tolerance && high - rest <= tolerance;
            Some(if is_near {
                rest
            } else {
                low + 0.5 * (high - low)
            })
        };
        let mut values = [Vec4::ZERO; N];
        let mut moves = false;
        let mut farthest = 0.0_f32;
        for vector in 0..N {
            for lane in 0..4 {
                let (low, high) = (lows[vector][lane], highs[vector][lane]);
                farthest = farthest.max(low.abs()).max(high.abs());
                match still(vector, lane) {
                    Some(value) => values[vector][lane] = value,
                    None => moves = true,
                }
            }
        }
        if !moves {
            return Some(Fitted::Still(values));
        }
        let mut format = Self {
            start: 0,
            ends: [[0; 4]; N],
            steps: [[0; 4]; N],
            lows: [[0; 4]; N],
            unit: farthest / f32::from(i16::MAX),
        };
        let (mut end, mut most) = (0, 0);
        for vector in 0..N {
            // Two vectors are read from a window.
            if vector % 2 == 0 {
                most = end + WINDOW_BITS - 7;
            }
            for lane in 0..4 {
                let [low, high, tolerance] =
                    [lows, highs, tolerances].map(|vectors| vectors[vector][lane]);
                end += format.fit_number(vector, lane, [low, high], tolerance)?;
                if end > most {
                    return None;
                }
                format.ends[vector][lane] = end as u8;
            }
        }
        Some(Fitted::Numbers(format))
    }

    /// Chooses the step and the low of a number, and returns its width; `None` if it doesn't fit.
    fn fit_number(
        &mut self,
        vector: usize,
        lane: usize,
        [low, high]: [f32; 2],
        tolerance: f32,
    ) -> Option<u32> {
        // A value in the middle, for numbers that don't change and for those with a sign.
        let middle = 0.5 * low + 0.5 * high;
        self.lows[vector][lane] = (middle / self.unit).round() as i16;
        let nearest = self.low(vector, lane);
        let farthest = (high - nearest).max(nearest - low);
        if farthest <= tolerance || (tolerance == 0.0 && low == high) {
            return Some(0);
        }
        // Numbers without a sign begin at the last unit below the values.
        let low_units = (low / self.unit).floor();
        let range = high - low_units * self.unit;
        let steps = (range / (2.0 * tolerance)).ceil();
        let (width, step) = if steps <= f32::from(i16::MAX) {
            let width = 32 - (steps as u32).leading_zeros();
            self.lows[vector][lane] = low_units as i16;
            (width, range / ((1 << width) - 1) as f32)
        } else if farthest / tolerance <= f32::from(u16::MAX) {
            (MOST_BITS, farthest / f32::from(i16::MAX))
        } else {
            return None;
        };
        self.steps[vector][lane] = step_bits(step)?;
        Some(width)
    }
}

/// Up to four vectors of four in two halves. Missing ones are 0.
#[inline(always)]
fn halves<T: Copy + Default, const N: usize>(vectors: &[[T; 4]; N]) -> [[T; 8]; 2] {
    let mut halves = [[T::default(); 8]; 2];
    for (at, vector) in vectors.iter().enumerate() {
        halves[at / 2][at % 2 * 4..][..4].copy_from_slice(vector);
    }
    halves
}

/// How a channel fits into numbers.
pub(super) enum Fitted<const N: usize> {
    /// It doesn't move.
    Still([Vec4; N]),
    Numbers(NumberFormat<N>),
}

/// The frames of [`PackedNumbers`] in the making.
#[derive(Default)]
pub(super) struct NumberWriter {
    numbers: Vec<WrittenNumber>,
    bits: u32,
}

/// A number of each frame.
struct WrittenNumber {
    start: u32,
    width: u8,
    step: f32,
    low: f32,
    /// The vector of its values in the clip's frames, and the lane.
    from: (usize, usize),
}

impl NumberWriter {
    /// Adds a channel, whose vectors start at `from` in the frames of the clip, and places its format.
    pub(super) fn add<const N: usize>(&mut self, format: &mut NumberFormat<N>, from: usize) {
        format.place(self.bits);
        for (vector, widths) in format.widths().into_iter().enumerate() {
            for (lane, width) in widths.into_iter().enumerate() {
                self.numbers.push(WrittenNumber {
                    start: self.bits,
                    width,
                    step: step(format.steps[vector][lane]),
                    low: format.low(vector, lane),
                    from: (from + vector, lane),
                });
                self.bits += u32::from(width);
            }
        }
    }

    /// Writes the numbers of all frames.
    pub(super) fn finish<'a>(
        self,
        frames: impl ExactSizeIterator<Item = &'a [Vec4]>,
    ) -> PackedNumbers {
        let stride = self.bits.div_ceil(8) as usize;
        if stride == 0 {
            return PackedNumbers::NONE;
        }
        let mut bytes = vec![0; stride * frames.len() + BEHIND];
        for (frame, out) in frames.zip(bytes.chunks_exact_mut(stride)) {
            for number in self.numbers.iter().filter(|number| number.width > 0) {
                let value = frame[number.from.0][number.from.1];
                let (least, most) = match u32::from(number.width) {
                    MOST_BITS => (f32::from(i16::MIN), f32::from(i16::MAX)),
                    width => (0.0, ((1 << width) - 1) as f32),
                };
                let rounded = ((value - number.low) / number.step).round();
                let mask = (1_u32 << number.width) - 1;
                let bits = (rounded.clamp(least, most) as i32 as u32 & mask) << (number.start % 8);
                let out = out[number.start as usize / 8..].iter_mut();
                out.zip(bits.to_le_bytes())
                    .for_each(|(out, byte)| *out |= byte);
            }
        }
        PackedNumbers {
            frames: bytes,
            stride,
            ..PackedNumbers::NONE
        }
    }
}

#[cfg(test)]
#[path = "tests/numbers.rs"]
mod tests;
