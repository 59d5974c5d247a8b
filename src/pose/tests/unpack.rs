use super::*;
use crate::model::FrameShares;
use crate::pose::simd::{Backend, with_backend};
use glam::Vec4;
use std::panic;

/// Numbers of random widths from a bit on, at most as many bits as a channel may have.
fn format<const N: usize>(random: &mut fastrand::Rng, start: u32) -> NumberFormat<N> {
    let mut format = NumberFormat {
        start,
        ends: [[0; 4]; N],
        steps: [[0; 4]; N].map(|steps| steps.map(|_: u8| random.u8(..))),
        lows: [[0; 4]; N].map(|lows| lows.map(|_: i16| random.i16(..))),
        unit: random.f32() * 1e-3,
    };
    let (mut end, mut most) = (start % 8, 0);
    for (vector, ends) in format.ends.iter_mut().enumerate() {
        if vector % 2 == 0 {
            most = end + 121;
        }
        for number in ends {
            end += random.u32(..=16).min(most - end);
            *number = end as u8;
        }
    }
    format
}

/// Two frames and a position between them.
struct Frames<'a> {
    bytes: &'a [u8],
    stride: usize,
    fraction: f32,
}

impl Frames<'_> {
    /// The value of a number, one bit after the other, and the largest rounding error.
    fn value<const N: usize>(&self, format: &NumberFormat<N>, at: usize) -> (f64, f64) {
        let ends = format.ends.as_flattened();
        let first_bit = format.start % 8;
        let before = if at == 0 {
            first_bit as u8
        } else {
            ends[at - 1]
        };
        let bit = |frame: usize, bit: u8| {
            let place = (frame + format.start as usize / 8) * 8 + usize::from(bit);
            i32::from(self.bytes[place / 8] >> (place % 8) & 1)
        };
        let value = |frame: usize| {
            let bits: i32 = (before..ends[at])
                .map(|place| bit(frame, place) << (place - before))
                .sum();
            // Those of 16 bits have a sign.
            f64::from(if bits < 1 << 15 {
                bits
            } else {
                bits - (1 << 16)
            })
        };
        let (a, b) = (value(0), value(self.stride));
        let shares = FrameShares::new(self.fraction).0;
        let [first, second] = shares.map(|share| f64::from(share) / -32768.0);
        let step = format.steps.as_flattened()[at];
        let step = 2.0_f64.powi(i32::from(step / 4) - 40) * (1.0 + f64::from(step % 4) / 4.0);
        let low = f64::from(format.lows.as_flattened()[at]) * f64::from(format.unit);
        (
            low + step * (a * first + b * second),
            1e-6 * (low.abs() + step * (a.abs() + b.abs())),
        )
    }

    /// Compares what each backend reads of a channel.
    fn check<const N: usize>(&self, format: &NumberFormat<N>, read: [&ChannelVectors; 3]) {
        let bits = |read: &ChannelVectors| {
            read.0.map(|vector| vector.to_array().map(f32::to_bits))[..N].to_vec()
        };
        let all = read.map(bits);
        assert!(all.iter().all(|bits| *bits == all[0]), "{format:?} {all:?}");
        let [portable, ..] = read;
        for at in 0..4 * N {
            let (expected, tolerance) = self.value(format, at);
            let got = f64::from(portable.0[at / 4][at % 4]);
            assert!((got - expected).abs() <= tolerance, "{got} {expected}");
        }
    }
}

/// The moments between two frames at some fractions.
fn moments<'a>(frames: &'a [u8], stride: usize, fractions: &[f32; 2]) -> Moments<'a, 2> {
    let mut moments = Moments::of_frames(frames, stride);
    for (moment, &fraction) in fractions.iter().enumerate() {
        moments.set(moment, [0, 1], fraction);
    }
    moments
}

#[test]
fn every_backend_reads_the_same_numbers_of_a_few_bits() {
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..if cfg!(miri) { 20 } else { 5000 } {
        let mut packed = PackedNumbers::default();
        // Whatever else is in the bytes before the numbers, between them, and after them.
        let mut frames = [0; 200];
        random.fill(&mut frames);
        let mut start = || random.u32(..400);
        let [a, b, c, d] = [start(), start(), start(), start()];
        packed.quats = vec![format(&mut random, a), format(&mut random, b)];
        packed.vectors = vec![format(&mut random, c)];
        packed.weights = vec![format(&mut random, d)];
        let (stride, fractions) = (random.usize(..90), [0.0, random.f32()]);
        let moments = moments(&frames, stride, &fractions);
        let read = Backend::ALL.map(|backend| {
            let mut out = [[ChannelVectors([Vec4::NAN; 4]); 2]; 4];
            with_backend(backend, || {
                Channels::all(&packed).unpack(&packed, &moments, &mut out)
            });
            out
        });
        for (moment, fraction) in fractions.into_iter().enumerate() {
            let channel = |at: usize| read.each_ref().map(|channels| &channels[at][moment]);
            let frames = Frames {
                bytes: &frames,
                stride,
                fraction,
            };
            frames.check(&packed.quats[0], channel(0));
            frames.check(&packed.quats[1], channel(1));
            frames.check(&packed.vectors[0], channel(2));
            frames.check(&packed.weights[0], channel(3));
        }
    }
}

#[test]
fn numbers_beyond_the_frames_are_not_read() {
    let mut packed = PackedNumbers::default();
    let mut random = fastrand::Rng::with_seed(5);
    packed.quats = vec![format(&mut random, 8 * 60)];
    let frames = [0; 80];
    let moments = moments(&frames, 1, &[0.0, 0.5]);
    for backend in Backend::ALL {
        let read = || {
            Channels::all(&packed).unpack(&packed, &moments, &mut [[ChannelVectors::default(); 2]])
        };
        let read = panic::catch_unwind(|| with_backend(backend, read));
        assert!(read.is_err(), "{backend:?}");
    }
}
