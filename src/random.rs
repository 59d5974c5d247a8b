//! Bits that look random: the same for the same input, everywhere.

/// Mixes the bits of a word so that every bit reaches every other: the finish of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The increment of SplitMix64 from one number of a sequence to the next: 2⁶⁴ divided by the golden ratio, made odd.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
