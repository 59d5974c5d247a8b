//! Reading numbers.

use super::{Lexer, Unexpected, ends_word};

impl Lexer<'_> {
    /// Takes a finite number, rounded as `str::parse` rounds it.
    ///
    /// # Errors
    /// A word that is not a number, NaN, an infinity or a number that overflows an `f32`. The lexer stays in
    /// front of it.
    #[inline]
    pub(crate) fn f32(&mut self) -> Result<f32, Unexpected> {
        self.skip_space();
        let rest = &self.source[self.at..];
        let Some((value, length)) = short_f32(rest).or_else(|| long_f32(rest)) else {
            return Err(self.unexpected("a number"));
        };
        self.at += length;
        Ok(value)
    }

    /// Takes `N` numbers in a row.
    #[inline]
    pub(crate) fn f32s<const N: usize>(&mut self) -> Result<[f32; N], Unexpected> {
        let mut out = [0.0; N];
        for value in &mut out {
            *value = self.f32()?;
        }
        Ok(out)
    }

    /// Takes a whole number of 0 or more. The lexer stays in front of anything else.
    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Unexpected> {
        self.skip_space();
        let (start, mut value) = (self.at, 0u64);
        let mut at = start;
        while let Some(digit) = self.source.get(at).filter(|b| b.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            at += 1;
        }
        let ends = at > start && self.source.get(at).is_none_or(|&b| ends_word(b));
        match u32::try_from(value) {
            Ok(value) if ends => {
                self.at = at;
                Ok(value)
            }
            _ => Err(self.unexpected("a whole number")),
        }
    }

    /// Takes a whole number. The lexer stays in front of anything else.
    pub(crate) fn i32(&mut self) -> Result<i32, Unexpected> {
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

/// `10^i`, each exactly representable.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the number that opens `text` and its length, if it has at most 15 digits and no exponent: nearly
/// every number of a model file, read three times as fast as `str::parse` reads it.
///
/// Digits and power of ten are exact in `f64`, so their quotient is rounded once. Rounding it again to
/// `f32` can go wrong only where it lies halfway between two `f32`s, or below the normal ones.
#[inline]
fn short_f32(text: &[u8]) -> Option<(f32, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut at, mut mantissa) = (start, 0u64);
    // Digit by digit: mostly there is one.
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let whole = at - start;
    let (mut mantissa, mut places) = (mantissa as f64, 0);
    if text.get(at) == Some(&b'.') {
        at += 1;
        loop {
            let (value, count) = eight_digits(&text[at..]);
            mantissa = mantissa * POWERS[count] + f64::from(value);
            places += count;
            at += count;
            if count < 8 {
                break;
            }
        }
    }
    if text.get(at).is_some_and(|&byte| !ends_word(byte)) || !(1..POWERS.len()).contains(&(whole + places)) {
        return None;
    }
    let value = mantissa / POWERS[places];
    let halfway = value.to_bits() & 0x1fff_ffff == 0x1000_0000;
    if halfway | ((value > 0.0) & (value < f64::from(f32::MIN_POSITIVE))) {
        return None;
    }
    let sign = u32::from(negative) << 31;
    Some((f32::from_bits((value as f32).to_bits() | sign), at))
}

/// Returns the number that up to eight digits at the start of `text` make, and how many they are.
///
/// All at once, because a processor guesses wrong where a number of any length ends.
#[inline]
fn eight_digits(text: &[u8]) -> (u32, usize) {
    let mut bytes = [0; 8];
    match text.first_chunk() {
        Some(eight) => bytes = *eight,
        None => bytes[..text.len()].copy_from_slice(text),
    }
    let digits = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([b'0'; 8]);
    // Bytes above 9 have a high nibble, if not at once then when 6 is added. A carry changes only bytes behind them.
    let others = (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
    let count = others.trailing_zeros() / 8;
    // The last digit goes to the highest byte, with zeros before the first. Then neighbors are joined three times.
    let digits = digits.checked_shl(64 - 8 * count).unwrap_or(0);
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    ((fours * 10_000 + (fours >> 32)) as u32, count as usize)
}

/// Returns the number that opens `text` and its length, if it is finite.
#[cold]
fn long_f32(text: &[u8]) -> Option<(f32, usize)> {
    let word = &text[..text.iter().position(|&b| ends_word(b)).unwrap_or(text.len())];
    let value = std::str::from_utf8(word).ok()?.parse::<f32>().ok()?;
    value.is_finite().then_some((value, word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_of(text: &str) -> Option<f32> {
        Lexer::new(text.as_bytes()).f32().ok()
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
    fn numbers_next_to_the_middle_between_two_neighbors_go_the_right_way() {
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
    fn short_numbers_are_rounded_as_the_standard_library_rounds_them() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..300_000 {
            let digits = random.usize(1..16);
            let mut text = format!("{:0digits$}", random.u64(..10_u64.pow(digits as u32)));
            text.insert(random.usize(..=digits), '.');
            assert_eq!(short_f32(text.as_bytes()).map_or(f32_of(&text), |(value, _)| Some(value)), text.parse().ok());
        }
    }

    #[test]
    fn what_is_not_a_finite_number_is_refused_and_left_in_place() {
        for text in ["nan", "inf", "-", "e5", "1e", "1e400", "1x", "--1", "", "{", "0x10", "1.2.3", "."] {
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
}
