//! Numbers that tell one state from another.

use crate::model::CallbackKey;
use std::sync::Arc;

/// A number that changes whenever what it is made of does.
#[derive(Clone, Copy)]
pub(super) struct Stamp(pub(super) u64);

impl Stamp {
    pub(super) const NEW: Self = Self(0x243f_6a88_85a3_08d3);

    #[inline]
    pub(super) fn with(self, bits: u64) -> Self {
        Self(
            (self.0 ^ bits)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29),
        )
    }

    /// Adds the times of keys, and what `name` makes of the names of ranges.
    #[inline]
    pub(super) fn with_keys(self, keys: &[CallbackKey], name: impl Fn(&Arc<str>) -> u64) -> Self {
        keys.iter()
            .fold(self.with(keys.len() as u64), |stamp, key| {
                let stamp = stamp.with(key.time.to_bits());
                key.until.map_or(stamp, |until| {
                    stamp.with(until.to_bits()).with(name(&key.name))
                })
            })
    }
}

/// The address of a name: another one may be the same text.
pub(super) fn address(name: &Arc<str>) -> u64 {
    Arc::as_ptr(name).cast::<u8>() as u64
}

pub(super) fn text(name: &Arc<str>) -> u64 {
    name.bytes()
        .fold(Stamp::NEW, |stamp, byte| stamp.with(byte.into()))
        .0
}
