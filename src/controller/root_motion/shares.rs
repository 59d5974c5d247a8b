//! The tracks' shares of the pose at the root joint: the rules of [`Mix`](crate::pose::Mix), for a single joint.

use super::movers::{Group, Mover, Set, Value};
use crate::controller::clock::Nanos;

/// A group with no more weight than this reaches nothing.
const REACHED: f64 = 1e-30;

/// Base clips that weigh this much together weigh a whole.
pub(super) const WHOLE: f64 = 1.0 - 1e-6;

/// Sets the movers' shares at a moment.
pub(super) fn share(movers: &mut [Mover], blend: &Value, moment: Nanos) {
    let (mut low, mut high) = (0.0, 0.0);
    for mover in &mut *movers {
        let part = mover.in_space.at(moment).clamp(0.0, 1.0);
        let weight = mover.part.weight.at(moment).max(0.0);
        mover.full = weight * part;
        (mover.weighs, mover.share) = (mover.full * mover.part.mask, 0.0);
        if mover.reaches {
            mover.share = mover.weighs;
            match mover.part.group {
                Group::Low => low += mover.share,
                Group::High => high += mover.share,
                Group::Over => mover.share = weight.min(1.0) * part * mover.part.mask,
            }
        }
    }
    let rest_takes_part = leave_to_rest(movers);
    let [low_share, high_share] = group_shares([low, high], blend.at(moment).clamp(0.0, 1.0));
    for mover in &mut *movers {
        let (total, share) = match mover.part.group {
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
}

/// Takes from what lies below each overriding track what that track replaces.
fn override_below(movers: &mut [Mover]) {
    let mut at = 0;
    while at < movers.len() {
        let (begin, Mover { part, set, .. }) = (at, movers[at]);
        // The clips of a blend space or a layer of states are next to each other, and override together.
        let is_layer = matches!(set, Set::Layer(_));
        at += movers[at..]
            .iter()
            .take_while(|mover| mover.part.track == part.track || (is_layer && mover.set == set))
            .count();
        if part.group == Group::Over {
            let ours = &mut movers[begin..at];
            let total: f64 = ours.iter().map(|mover| mover.share).sum();
            let most = total.max(1.0);
            ours.iter_mut().for_each(|mover| mover.share /= most);
            for (other, mover) in movers.iter_mut().enumerate() {
                if mover.part.group != Group::Over || other < begin {
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
        let (set, group) = (movers[at].set, movers[at].part.group);
        let is_ours = |mover: &&Mover| mover.set == set && mover.part.group == group;
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
                .filter(|mover| mover.set == set && mover.part.group == group)
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

#[cfg(test)]
#[path = "tests/shares.rs"]
mod tests;
