//! Numbers from bytes, eight digits at a time.

use super::{Lexer, TokenKind, Unexpected, ends_word};

impl Lexer<'_> {
    /// Takes a finite number.
    ///
    /// Correctly rounded, as `str::parse` would. A word that is no number, NaN and infinities, and
    /// numbers that overflow an `f32` are refused, and the lexer stays before them.
    #[inline(always)]
    pub fn f32(&mut self) -> Result<f32, Unexpected> {
        self.skip_space();
        let (value, length) = plain_f32_or_nothing(&self.source[self.at..]);
        if length > 0 {
            self.at += length;
            return Ok(value);
        }
        let (at, result) = self.clone().slow_f32();
        self.at = at;
        result
    }

    /// Takes a number if it is one of the usual kind, such as `-0.9983482` or `1.25E-07`.
    ///
    /// `None` says nothing about the number: [`Lexer::f32`] may still read it. The lexer then
    /// stands at the next word.
    #[inline]
    pub fn plain_f32(&mut self) -> Option<f32> {
        self.skip_space();
        let (value, length) = plain_f32(&self.source[self.at..])?;
        self.at += length;
        Some(value)
    }

    /// `N` numbers in a row.
    #[inline]
    pub fn f32s<const N: usize>(&mut self) -> Result<[f32; N], Unexpected> {
        let mut out = [0.0; N];
        for value in &mut out {
            *value = self.f32()?;
        }
        Ok(out)
    }

    /// Adds the numbers of the usual kind that follow in a row to `out`, up to `most` of them.
    pub fn plain_f32s(&mut self, most: usize, out: &mut Vec<f32>) {
        // A lexer of its own, for the compiler to keep in registers.
        let mut lexer = self.clone();
        out.extend((0..most).map_while(|_| lexer.plain_f32()));
        *self = lexer;
    }

    #[cold]
    fn slow_f32(self) -> (usize, Result<f32, Unexpected>) {
        let token = self.peek();
        if let TokenKind::Word(word) = token.kind
            && let Ok(text) = std::str::from_utf8(word)
            && let Ok(value) = text.parse::<f32>()
            && value.is_finite()
        {
            return (token.offset + word.len(), Ok(value));
        }
        (self.at, Err(self.unexpected("a number")))
    }

    /// Takes a whole number of 0 or more.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Unexpected> {
        match self.plain_u32() {
            Some(value) => Ok(value),
            None => {
                let (at, result) = self.clone().slow_u32();
                self.at = at;
                result
            }
        }
    }

    /// Takes a whole number of up to eight digits. `None` says nothing about longer ones; the lexer
    /// then stands at the next word.
    #[inline(always)]
    pub fn plain_u32(&mut self) -> Option<u32> {
        self.skip_space();
        let (value, count) = leading_digits(self.source[self.at..].first_chunk()?);
        let whole = count > 0 && self.source.get(self.at + count).is_some_and(|&b| ends_word(b));
        if !whole {
            return None;
        }
        self.at += count;
        Some(value as u32)
    }

    #[cold]
    fn slow_u32(mut self) -> (usize, Result<u32, Unexpected>) {
        self.skip_space();
        let (start, mut value) = (self.at, 0u64);
        let mut at = start;
        while let Some(digit) = self.source.get(at).filter(|b| b.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            at += 1;
        }
        if at == start || self.source.get(at).is_some_and(|&b| !ends_word(b)) || value > u64::from(u32::MAX) {
            return (self.at, Err(self.unexpected("a whole number")));
        }
        (at, Ok(value as u32))
    }

    /// Takes a whole number.
    pub fn i32(&mut self) -> Result<i32, Unexpected> {
        self.skip_space();
        let start = self.at;
        let negative = self.source.get(start) == Some(&b'-');
        self.at += usize::from(negative);
        // The sign belongs to the digit after it: `- 1` is two words.
        let touching = !negative || self.source.get(self.at).is_some_and(u8::is_ascii_digit);
        let value = if touching { self.u32().ok() } else { None };
        let value = value.map(i64::from).map(|v| if negative { -v } else { v });
        match value.and_then(|v| i32::try_from(v).ok()) {
            Some(value) => Ok(value),
            None => {
                self.at = start;
                Err(self.unexpected("a whole number"))
            }
        }
    }
}

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
pub(super) const SHIFTS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Eight digits that are zero.
pub(super) const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// The number written by the digits at the start of eight bytes, and how many they are, found
/// without a branch per digit.
#[inline(always)]
pub(super) fn leading_digits(text: &[u8; 8]) -> (u64, usize) {
    let word = u64::from_le_bytes(*text);
    // A byte is no digit when taking '0' away or adding 0x80 - ('9' + 1) sets its top bit. Attachments
    // spoil only bytes after the first that is no digit, and only that one is asked for.
    let others = (word.wrapping_sub(ZEROS) | word.wrapping_add(0x4646_4646_4646_4646)) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    // Digits to the high end, zeros before them, then 8 × 1 digit → 4 × 2 → 2 × 4 → 1 × 8.
    // Two shifts, since all 64 places at once (no digit at all) is one too many.
    let digits = (word ^ ZEROS) << (32 - 4 * count) << (32 - 4 * count);
    (eight_digits(digits), count)
}

/// The number of eight bytes of 0 to 9, the last of them its ones.
#[inline(always)]
pub(super) fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & 0xff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & 0xff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// [`plain_f32`] with a length of 0 for `None`: two numbers, which come back in registers.
///
/// Not inlined where an item has many numbers: that costs a tenth.
#[inline(never)]
fn plain_f32_or_nothing(text: &[u8]) -> (f32, usize) {
    plain_f32(text).unwrap_or_default()
}

/// The number at the start of `text` and its length, if it has at most 18 digits, no plus sign, an
/// exponent of ordinary size, and text after it: a document's last few numbers take the slow way.
///
/// Digits make an integer, one multiplication by a power of ten in `f64` scales it, one rounding
/// makes it `f32`. `None` where that could differ from the correctly rounded result.
#[inline(always)]
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
    let value = scaled(mantissa, exponent)?;
    Some((if negative { -value } else { value }, at))
}

/// `mantissa · 10^exponent` for a mantissa under 10^18; `None` where that could be rounded wrongly.
#[inline(always)]
pub(super) fn scaled(mantissa: u64, exponent: i32) -> Option<f32> {
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
    Some(scaled as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `text` both as a document's last word and as one of many: two paths.
    fn f32_of(text: &str) -> Option<f32> {
        let last = Lexer::new(text.as_bytes()).f32().ok();
        let among = format!("{text} and then some more words");
        assert_eq!(last.map(f32::to_bits), Lexer::new(among.as_bytes()).f32().ok().map(f32::to_bits), "{text}");
        last
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        let written = [
            "0",
            "-0",
            "1",
            "-1.5",
            "+2",
            ".5",
            "5.",
            "1e3",
            "1E-07",
            "-3.7e-17",
            "0.03756343",
            "37.46099",
            "1e-45",
            "3.4028235e38",
            "16777217",
            "0.1",
            "123456789012345678901234567890",
            "1.00000017881393421514957253748434595763683319091796875001",
            "9007199254740993",
            "1e22",
            "1e-22",
            "4.7019774e-38",
            "1.1754944e-38",
            "1.1754942e-38",
        ];
        for text in written {
            assert_eq!(f32_of(text).map(f32::to_bits), Some(text.parse::<f32>().unwrap().to_bits()), "{text}");
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100_000 {
            let value = f32::from_bits(random.u32(..));
            if value.is_finite() {
                for text in
                    [format!("{value}"), format!("{value:e}"), format!("{value:.6}"), format!("{:.9}", value.fract())]
                {
                    assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn numbers_next_to_the_middle_between_two_neighbours_go_the_right_way() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..100_000 {
            let below = f32::from_bits(random.u32(0x2000_0000..0x6000_0000));
            let middle = (f64::from(below) + f64::from(below.next_up())) / 2.0;
            for value in [middle.next_down(), middle, middle.next_up()] {
                for text in
                    [format!("{value}"), format!("{value:.9e}"), format!("{value:.16e}"), format!("{value:.17E}")]
                {
                    assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_finite_number_is_refused_and_left_in_place() {
        for text in ["nan", "inf", "-", "e5", "1e", "1e400", "1x", "--1", "", "{", "0x10", "1.2.3"] {
            let mut lexer = Lexer::new(text.as_bytes());
            let error = lexer.f32().expect_err(text);
            assert_eq!((error.offset, lexer.offset()), (0, 0), "{text}");
        }
    }

    #[test]
    fn whole_numbers_do_not_wrap() {
        assert_eq!(Lexer::new(b"4294967295").u32(), Ok(u32::MAX));
        assert!(Lexer::new(b"4294967296").u32().is_err());
        assert!(Lexer::new(b"99999999999999999999999").u32().is_err());
        assert_eq!(Lexer::new(b"-2147483648 ").i32(), Ok(i32::MIN));
        assert!(Lexer::new(b"- 1").i32().is_err());
    }

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
