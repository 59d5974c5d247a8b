//! Positions of tracks as places in clips: positions are unwrapped, so they continue through the rounds of a loop.

use super::clock::round;
use crate::model::PlaybackMode;

/// Returns a position for comparison: on the grid, unless the clip is too short for it.
#[inline]
fn place(length: f64, position: f64) -> f64 {
    if length < 1e-3 && length > 0.0 {
        position
    } else {
        tick(position)
    }
}

/// Rounds seconds to a grid of 2⁻³⁰ s (about a nanosecond) and returns the number of grid steps.
///
/// Numbers that would be equal without rounding errors, such as the end of a frame and a key right on it, are
/// compared on this grid, so it does not matter which of them was rounded up. Grid steps are whole numbers:
/// unlike a comparison with a tolerance, theirs cannot hold twice, or not at all.
#[inline]
fn tick(seconds: f64) -> f64 {
    round(seconds * (1_u64 << 30) as f64)
}

/// Clamps a position to a clip that plays once.
#[inline]
pub(crate) fn held(length: f64, position: f64) -> f64 {
    if place(length, position) <= 0.0 {
        0.0
    } else if place(length, position) >= place(length, length) {
        length
    } else {
        position
    }
}

/// Returns the place in a clip, in `0..=length`, of an unwrapped position. Equals
/// [`ClipTiming::periodic`](crate::model::ClipTiming::periodic), for any playback.
#[inline]
pub(crate) fn periodic(playback: PlaybackMode, length: f64, position: f64) -> f64 {
    let has_length = length > 0.0 && length.is_finite();
    if !has_length || !position.is_finite() {
        return 0.0;
    }
    match playback {
        PlaybackMode::Loop => remainder(position, length),
        PlaybackMode::Once => position.clamp(0.0, length),
        PlaybackMode::PingPong => {
            let turn = remainder(position, 2.0 * length);
            if turn <= length {
                turn
            } else {
                2.0 * length - turn
            }
        }
    }
}

/// Returns `position.rem_euclid(period)`, without the slow `fmod` unless there are very many rounds.
#[inline]
fn remainder(position: f64, period: f64) -> f64 {
    if 0.0 <= position && position < period {
        return position;
    }
    let rounds = position / period;
    // Few enough rounds that the products below are exact; a period large enough that nothing underflows.
    if !(1.0..1e6).contains(&rounds) || period < 1e-100 {
        return position.rem_euclid(period);
    }
    let n = rounds as u32 as f64;
    // The period's upper 26 bits and the rest: their products with n have no rounding error, and neither have
    // the differences, which are multiples of the period's last bit and hardly larger than the period.
    let high = f64::from_bits(period.to_bits() & !((1 << 27) - 1));
    let rest = (position - n * high) - n * (period - high);
    // The quotient may have been rounded up to the next whole number.
    if rest < 0.0 { rest + period } else { rest }
}

/// Returns the round of a position: the last that starts at or before it.
fn round_of(length: f64, period: f64, position: f64) -> f64 {
    let n = (position / period).floor();
    let at = place(length, position);
    // The quotient or the position may have been rounded into an adjacent round.
    if place(length, n * period) > at {
        n - 1.0
    } else if place(length, (n + 1.0) * period) <= at {
        n + 1.0
    } else {
        n
    }
}

/// Returns the position at which the present round starts; 0 for a clip that plays once. A position that differs from
/// a round's end only by rounding is in the next round.
pub(crate) fn round_start(playback: PlaybackMode, length: f64, position: f64) -> f64 {
    let period = match playback {
        PlaybackMode::Loop => length,
        PlaybackMode::PingPong => 2.0 * length,
        PlaybackMode::Once => 0.0,
    };
    if period > 0.0 {
        round_of(length, period, position) * period
    } else {
        0.0
    }
}

/// Returns the unwrapped position of a place in the clip in the same round as another position, and on the same way
/// of a ping-pong clip.
pub(crate) fn in_same_round(playback: PlaybackMode, length: f64, position: f64, place: f64) -> f64 {
    let place = place.clamp(0.0, length);
    if place.is_nan() {
        return place;
    }
    let start = round_start(playback, length, position);
    let returns = playback == PlaybackMode::PingPong && position - start > length;
    if returns {
        start + 2.0 * length - place
    } else {
        start + place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_whole_numbers_in_order() {
        let step = 1.0 / f64::from(1 << 30);
        assert_eq!(
            [0.4, -0.4, 0.6, 1.0, -7.3].map(|steps| tick(steps * step)),
            [0.0, 0.0, 1.0, 1.0, -7.0]
        );
        let rising = [
            -f64::MAX,
            -1e18,
            -2e6,
            -1.0,
            0.0,
            0.1 + 0.2,
            0.301,
            2e6,
            2.2e6,
            1e300,
            f64::MAX,
        ];
        assert!(rising.is_sorted_by(|a, b| tick(*a) <= tick(*b)));
        assert_eq!(tick(0.1 + 0.2), tick(0.3));
    }

    #[test]
    fn the_remainder_is_that_of_a_euclidean_division_to_the_bit() {
        let mut random = fastrand::Rng::with_seed(5);
        for i in 0..200_000 {
            let period = (random.f64() + 0.01) * 10.0_f64.powi(random.i32(-4..4));
            let rounds = [
                random.f64() * 3.0,
                random.f64() * 2e6,
                f64::from(random.u32(..2000)),
                -random.f64() * 9.0,
            ];
            let near = [0, 1, -1][random.usize(..3)];
            let position = rounds[random.usize(..4)] * period;
            let position = f64::from_bits((position.to_bits() as i64 + near) as u64);
            let expected = position.rem_euclid(period);
            assert_eq!(
                remainder(position, period).to_bits(),
                expected.to_bits(),
                "{i}: {position} in {period}"
            );
        }
    }
}
