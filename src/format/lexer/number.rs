//! Numbers from bytes, eight digits at a time.

use super::ends_word;

/// `10^(i − 56)`, correctly rounded: what scales a number by its places and exponent.
const POWERS: [f64; 95] = [
    1e-56, 1e-55, 1e-54, 1e-53, 1e-52, 1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46, 1e-45, 1e-44, 1e-43, 1e-42, 1e-41,
    1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25,
    1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,
    1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
    1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
];

/// What the digits before are worth once `i` more follow.
const SHIFTS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number written by the digits at the start of eight bytes, and how many they are, found
/// without a branch per digit.
#[inline]
pub(super) fn leading_digits(text: &[u8; 8]) -> (u64, usize) {
    const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
    let word = u64::from_le_bytes(*text);
    // A byte is no digit when taking '0' away or adding 0x80 - ('9' + 1) sets its top bit. Carries
    // spoil only bytes after the first that is no digit, and only that one is asked for.
    let others = (word.wrapping_sub(ZEROS) | word.wrapping_add(0x4646_4646_4646_4646)) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    // Digits to the high end, zeros before them, then 8 × 1 digit → 4 × 2 → 2 × 4 → 1 × 8.
    // Two shifts, since all 64 places at once (no digit at all) is one too many.
    let digits = (word ^ ZEROS) << (32 - 4 * count) << (32 - 4 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & 0xff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & 0xff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (high.wrapping_add(low) >> 32, count)
}

/// The number at the start of `text` and its length, if it has at most 18 digits, no plus sign, an
/// exponent of ordinary size, and text after it: a document's last few numbers take the slow way.
///
/// Digits make an integer, one multiplication by a power of ten in `f64` scales it, one rounding
/// makes it `f32`. `None` where that could differ from the correctly rounded result.
#[inline]
pub(super) fn plain_f32(text: &[u8]) -> Option<(f32, usize)> {
    let negative = *text.first()? == b'-';
    let first = usize::from(negative);
    let (mut at, mut mantissa) = (first, 0u64);
    loop {
        let digit = text.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let mut digits = at - first;
    let mut exponent = 0i32;
    if text[at] == b'.' {
        at += 1;
        let (value, mut places) = leading_digits(text.get(at..)?.first_chunk()?);
        mantissa = mantissa.wrapping_mul(SHIFTS[places]).wrapping_add(value);
        if places == 8 {
            let (value, more) = leading_digits(text.get(at + 8..)?.first_chunk()?);
            mantissa = mantissa.wrapping_mul(SHIFTS[more]).wrapping_add(value);
            places += more;
        }
        at += places;
        digits += places;
        exponent = -(places as i32);
    }
    if digits == 0 || digits > 18 {
        return None;
    }
    if *text.get(at)? | 0x20 == b'e' {
        let minus = *text.get(at + 1)? == b'-';
        at += 1 + usize::from(minus || text[at + 1] == b'+');
        let (power, places) = leading_digits(text.get(at..)?.first_chunk()?);
        if !(1..=3).contains(&places) {
            return None;
        }
        at += places;
        exponent += if minus { -(power as i32) } else { power as i32 };
    }
    if !ends_word(*text.get(at)?) {
        return None;
    }
    let power = *POWERS.get(usize::try_from(exponent + 56).ok()?)?;
    // Under 10^18, so the sign bit is free and the cheaper signed conversion serves.
    let scaled = mantissa as i64 as f64 * power;
    // Three roundings (integer, power, product) leave `scaled` within 3 units in its last place.
    // Rounding once more goes wrong only that near to the middle between two f32s, or among the
    // subnormals, where f32 keeps fewer bits.
    let low = scaled.to_bits() & 0x1fff_ffff;
    let certain =
        low.abs_diff(0x1000_0000) > 4 && scaled >= f64::from(f32::MIN_POSITIVE) && scaled < f64::from(f32::MAX);
    if !certain && mantissa != 0 {
        return None;
    }
    let value = scaled as f32;
    Some((if negative { -value } else { value }, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_and_summed_whatever_follows_them() {
        for digits in 0..=8usize {
            for other in (0..=255u8).filter(|b| !b.is_ascii_digit()) {
                for tail in [b'0', b'9', 0, 0xff, other] {
                    let mut text = [tail; 8];
                    text[..digits].copy_from_slice(&b"90817263"[..digits]);
                    if digits < 8 {
                        text[digits] = other;
                    }
                    let value = std::str::from_utf8(&text[..digits]).unwrap().parse().unwrap_or(0);
                    assert_eq!(leading_digits(&text), (value, digits), "{text:?}");
                }
            }
        }
    }
}
