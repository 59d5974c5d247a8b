//! The tracks' shares of the pose at the root joint: the rules of [`Mix`](crate::pose::Mix), for a single joint.

use super::movers::{Group, Mover, Set, Value};

/// A group with no more weight than this reaches nothing.
const REACHED: f64 = 1e-30;

/// Base clips that weigh this much together weigh a whole.
pub(super) const WHOLE: f64 = 1.0 - 1e-6;

/// A bit more than a whole: weights that always sum to one do so up to rounding.
const FULL: f64 = 1.0 + 1e-5;

/// Sets the movers' shares at a moment, some seconds after the first happening. Returns the total weights of the groups with
/// low and with high priority.
pub(super) fn share(movers: &mut [Mover], blend: &Value, seconds: f64) -> [f64; 2] {
    let (mut low, mut high) = (0.0, 0.0);
    for mover in &mut *movers {
        let [part, change] = mover.part;
        let part = (part + change * seconds).clamp(0.0, 1.0);
        let weight = mover.weight.at(seconds).max(0.0);
        mover.full = weight * part;
        (mover.weighs, mover.share) = (mover.full * mover.mask, 0.0);
        if mover.reaches {
            mover.share = mover.weighs;
            match mover.group {
                Group::Low => low += mover.share,
                Group::High => high += mover.share,
                Group::Over => mover.share = weight.min(1.0) * part * mover.mask,
            }
        }
    }
    let rest_takes_part = leave_to_rest(movers);
    let [low_share, high_share] = group_shares([low, high], blend.at(seconds).clamp(0.0, 1.0));
    for mover in &mut *movers {
        let (total, share) = match mover.group {
            Group::Low => (low, low_share),
            Group::High => (high, high_share),
            Group::Over => continue,
        };
        // One that is alone has all of it, without rounding.
        mover.share = match mover.share == total {
            true if total > REACHED && !rest_takes_part => share,
            _ if total > REACHED => mover.share / total * share,
            _ => 0.0,
        };
    }
    override_below(movers);
    [low, high]
}

/// Takes from what lies below each overriding track what that track replaces.
fn override_below(movers: &mut [Mover]) {
    let mut at = 0;
    while at < movers.len() {
        let (
            begin,
            Mover {
                track, group, set, ..
            },
        ) = (at, movers[at]);
        // The clips of a blend space or a layer of states are next to each other, and override together.
        let is_layer = matches!(set, Set::Layer(_));
        at += movers[at..]
            .iter()
            .take_while(|mover| mover.track == track || (is_layer && mover.set == set))
            .count();
        if group == Group::Over {
            let ours = &mut movers[begin..at];
            let total: f64 = ours.iter().map(|mover| mover.share).sum();
            let most = total.max(1.0);
            ours.iter_mut().for_each(|mover| mover.share /= most);
            for (other, mover) in movers.iter_mut().enumerate() {
                if mover.group != Group::Over || other < begin {
                    mover.share *= (1.0 - total).max(0.0);
                }
            }
        }
    }
}

/// Takes from the clips of each set what the rest pose has in their place. Returns `false` if that is nothing.
fn leave_to_rest(movers: &mut [Mover]) -> bool {
    let mut takes_part = false;
    for at in 0..movers.len() {
        let (set, group) = (movers[at].set, movers[at].group);
        let is_ours = |mover: &&Mover| mover.set == set && mover.group == group;
        if set == Set::Alone
            || group == Group::Over
            || movers[..at].iter().any(|mover| is_ours(&mover))
        {
            continue;
        }
        let ours = || movers.iter().filter(is_ours);
        let moved: f64 = ours().map(|mover| mover.share).sum();
        let unmoved = match set {
            Set::Base => {
                let whole: f64 = ours().map(|mover| mover.full).sum();
                (if whole < WHOLE { 1.0 } else { whole }) - moved
            }
            _ => ours()
                .filter(|mover| !mover.reaches)
                .map(|mover| mover.weighs)
                .sum(),
        };
        // A little is rounding.
        if unmoved < 1.0 - WHOLE {
            continue;
        }
        if moved > 0.0 {
            takes_part = true;
            for mover in movers
                .iter_mut()
                .filter(|mover| mover.set == set && mover.group == group)
            {
                mover.share *= moved / (moved + unmoved);
            }
        }
    }
    takes_part
}

/// The shares of the groups with low and with high priority, given their total weights.
#[inline]
fn group_shares([low, high]: [f64; 2], blend: f64) -> [f64; 2] {
    let high_share = match [low, high].map(|total| total > REACHED) {
        [true, true] => high_share(low.min(1.0), high.min(1.0), blend),
        [_, high_alone] => f64::from(u8::from(high_alone)),
    };
    [1.0 - high_share, high_share]
}

/// The share of the high group, given the groups' total weights up to 1.
#[inline]
fn high_share(low: f64, high: f64, blend: f64) -> f64 {
    let low_part = low * (1.0 - blend * high);
    let high_part = high * (1.0 - (1.0 - blend) * low);
    high_part / (low_part + high_part).max(f64::MIN_POSITIVE)
}

/// The first kink of a share between two times, in seconds after the first happening: where weights that change come to a
/// whole, for more than all of the pose is all of it.
pub(super) fn next_kink(movers: &[Mover], from: f64, to: f64) -> Option<f64> {
    let mut sums = [[0.0; 5]; 3];
    let mut first: Option<f64> = None;
    let mut consider = |value: &[f64; 5], level: f64| {
        let kink = crossing(value, level, from, first.unwrap_or(to));
        first = kink.or(first);
    };
    for mover in movers {
        let (full, mask) = (mover.full_value(), mover.mask);
        let mut add = |sum: usize, factor: f64| {
            let parts = sums[sum].iter_mut().zip(full);
            parts.for_each(|(sum, part)| *sum += part * factor);
        };
        match mover.group {
            Group::Low if mover.reaches => add(0, mask),
            Group::High if mover.reaches => add(1, mask),
            Group::Over if !mover.weight.is_steady() => {
                let [a, b, c, d] = mover.weight.0;
                consider(&[a, b, c, d, 0.0], FULL);
            }
            _ => {}
        }
        if mover.set == Set::Base {
            add(2, 1.0);
        }
    }
    for (sum, level) in sums.iter().zip([FULL, FULL, WHOLE]) {
        consider(sum, level);
    }
    first
}

/// The first time between two others at which a polynomial crosses a level.
fn crossing(value: &[f64; 5], level: f64, from: f64, to: f64) -> Option<f64> {
    let mut above = *value;
    above[0] -= level;
    // By far the most come nowhere near it.
    let [_, change @ ..] = above.map(f64::abs);
    let most = at(&change, to) * to - at(&change, from) * from;
    if at(&above, from).abs() > most {
        return None;
    }
    let (roots, count) = roots(&above, from, to);
    (count > 0).then_some(roots[0])
}

/// The roots of a polynomial between two times, in order, at which its sign changes.
fn roots(value: &[f64], from: f64, to: f64) -> ([f64; 4], usize) {
    let (mut roots_found, mut count) = ([0.0; 4], 0);
    let Some(degree) = value.len().checked_sub(1).filter(|degree| *degree > 0) else {
        return (roots_found, count);
    };
    // Between the roots of its slope, it only rises or only falls.
    let mut slope = [0.0; 4];
    (0..degree).for_each(|power| slope[power] = value[power + 1] * (power + 1) as f64);
    let (flat, flats) = roots(&slope[..degree], from, to);
    let mut low = from;
    for high in flat[..flats].iter().copied().chain([to]) {
        let sign = at(value, high) >= 0.0;
        if (at(value, low) >= 0.0) != sign && count < 4 {
            roots_found[count] =
                crate::controller::ramp::bisect(low, high, |time| (at(value, time) >= 0.0) == sign);
            count += 1;
        }
        low = high;
    }
    (roots_found, count)
}

/// The value of a polynomial.
#[inline]
fn at(value: &[f64], time: f64) -> f64 {
    value.iter().rev().fold(0.0, |sum, part| sum * time + part)
}

#[cfg(test)]
#[path = "tests/shares.rs"]
mod tests;
