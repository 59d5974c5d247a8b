//! Numbers that tell one state from another.

/// A number that changes whenever what it is made of does: a hash that is the same on every machine.
#[derive(Clone, Copy)]
pub(crate) struct Stamp(pub(crate) u64);

impl Stamp {
    pub(crate) const NEW: Self = Self(0x243f_6a88_85a3_08d3);

    #[inline]
    pub(crate) fn with(self, bits: u64) -> Self {
        Self(
            (self.0 ^ bits)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29),
        )
    }

    pub(crate) fn with_text(self, text: &str) -> Self {
        text.bytes()
            .fold(self.with(text.len() as u64), |stamp, byte| {
                stamp.with(byte.into())
            })
    }
}
