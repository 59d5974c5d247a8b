//! The tracks' shares of the pose at the root joint: the rules of [`Mix`](crate::pose::Mix), for a single joint.

use super::movers::{Group, Mover};
use crate::controller::{compensated::CompensatedF64, motion::Ramp};

/// A group with no more weight than this reaches nothing.
pub(crate) const REACHED: f64 = 1e-30;

/// The priority blend.
#[derive(Clone, Copy)]
pub(crate) struct Blend {
    pub(crate) value: f64,
    pub(crate) ramp: Option<Ramp>,
}

impl Blend {
    /// Sets the movers' shares at a moment, some seconds after the first cut.
    pub(crate) fn share(&self, movers: &mut [Mover], time: CompensatedF64, seconds: f64) {
        let (mut low, mut high) = (0.0, 0.0);
        for mover in &mut *movers {
            let [part, change] = mover.part;
            let mask = mover.mask * (part + change * seconds).clamp(0.0, 1.0);
            let weight = mover.ramp.map_or(mover.weight, |ramp| ramp.at(time)).max(0.0);
            mover.share = weight * mask;
            match mover.group {
                Group::Low => low += mover.share,
                Group::High => high += mover.share,
                Group::Over => mover.share = weight.min(1.0) * mask,
            }
        }
        let blend = self.ramp.map_or(self.value, |ramp| ramp.at(time)).clamp(0.0, 1.0);
        let [low_share, high_share] = group_shares([low, high], blend);
        for mover in &mut *movers {
            let (total, share) = match mover.group {
                Group::Low => (low, low_share),
                Group::High => (high, high_share),
                Group::Over => continue,
            };
            // One that is alone has all of it, without rounding.
            mover.share = match mover.share == total {
                true if total > REACHED => share,
                _ if total > REACHED => mover.share / total * share,
                _ => 0.0,
            };
        }
        for over in 0..movers.len() {
            if movers[over].group != Group::Over {
                continue;
            }
            // The clips of a blend space override together: each leaves room for those after it.
            let ours = |mover: &&Mover| mover.group == Group::Over && mover.track == movers[over].track;
            let above: f64 = movers[over + 1..].iter().filter(ours).map(|mover| mover.share).sum();
            let weight = (movers[over].share / (1.0 - above).max(f64::MIN_POSITIVE)).min(1.0);
            movers[over].share = weight;
            for (at, mover) in movers.iter_mut().enumerate() {
                if mover.group != Group::Over || at < over {
                    mover.share *= 1.0 - weight;
                }
            }
        }
    }
}

/// The shares of the groups with low and with high priority, given their total weights.
#[inline]
pub(crate) fn group_shares([low, high]: [f64; 2], blend: f64) -> [f64; 2] {
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
