//! Reading numbers.

use super::{Lexer, Unexpected, ends_word};

impl Lexer<'_> {
    /// Takes a finite number, rounded as `str::parse` rounds it.
    ///
    /// # Errors
    /// A word that is not a number, NaN, an infinity or a number that overflows an `f32`. The lexer stays in
    /// front of it.
    // Always inlined, because a lexer that is lent to a function leaves the registers.
    #[inline(always)]
    pub(crate) fn f32(&mut self) -> Result<f32, Unexpected> {
        self.number().ok_or_else(|| self.unexpected("a number"))
    }

    /// Takes all the finite numbers that follow, and adds them to `out`.
    pub(crate) fn all_f32s(&mut self, out: &mut Vec<f32>) {
        // A lexer that nothing else can reach stays in registers.
        let mut lexer = self.clone();
        out.extend(std::iter::from_fn(|| lexer.number()));
        *self = lexer;
    }

    #[inline(always)]
    fn number(&mut self) -> Option<f32> {
        self.skip_space();
        let rest = &self.source[self.at..];
        let (value, length) = short_f32(rest).or_else(|| long_f32(rest))?;
        self.at += length;
        Some(value)
    }

    /// Takes `N` numbers in a row.
    #[inline(always)]
    pub(crate) fn f32s<const N: usize>(&mut self) -> Result<[f32; N], Unexpected> {
        let mut out = [0.0; N];
        for value in &mut out {
            *value = self.f32()?;
        }
        Ok(out)
    }

    /// Takes a whole number of 0 or more. The lexer stays in front of anything else.
    #[inline(always)]
    pub(crate) fn u32(&mut self) -> Result<u32, Unexpected> {
        self.skip_space();
        let (mut at, mut value) = (self.at, 0);
        while let Some(digit) = self.source.get(at).filter(|b| b.is_ascii_digit()) {
            // Capped, so that a number that is too large stays so, whatever its length.
            value = u64::min(value * 10 + u64::from(digit - b'0'), 1 << 32);
            at += 1;
        }
        let ends = at > self.at
            && (self.source.get(at).is_none_or(|&b| ends_word(b)) || self.starts_comment(at));
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
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Returns the number that opens `text` and its length, if it has at most 15 digits and no exponent: nearly
/// every number of a model file, read several times as fast as `str::parse` reads it.
///
/// Digits and power of ten are exact in `f64`, so their quotient is rounded once. Rounding it again
/// to `f32` can go wrong only where it is halfway between two `f32`s.
#[inline(always)]
fn short_f32(text: &[u8]) -> Option<(f32, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    // One loop for digits before and after the point, byte by byte: a processor predicts well how
    // long a number is, and starts on the next one before this one is computed.
    let (mut at, mut mantissa, mut point) = (start, 0u64, None);
    while let Some(&byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // Wraps only with more digits than are accepted below.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(at);
        } else if ends_word(byte) {
            break;
        } else {
            return None;
        }
        at += 1;
    }
    let places = point.map_or(0, |point| at - point - 1);
    let digits = at - start - usize::from(point.is_some());
    if !(1..POWERS.len()).contains(&digits) {
        return None;
    }
    // Signed, because that conversion takes one instruction.
    let value = mantissa as i64 as f64 / POWERS[places];
    // The 29 bits that `f32` lacks of an `f64`'s mantissa. It lacks more of subnormal numbers, but
    // 15 digits don't reach those.
    let halfway = value.to_bits() & 0x1fff_ffff == 0x1000_0000;
    if halfway {
        return None;
    }
    let sign = u32::from(negative) << 31;
    Some((f32::from_bits((value as f32).to_bits() | sign), at))
}

/// Returns the number that opens `text` and its length, if it is finite.
#[cold]
fn long_f32(text: &[u8]) -> Option<(f32, usize)> {
    // A comment may directly follow a number.
    let word = &text[..text
        .iter()
        .position(|&b| ends_word(b) || b == b'/')
        .unwrap_or(text.len())];
    let value = std::str::from_utf8(word).ok()?.parse::<f32>().ok()?;
    value.is_finite().then_some((value, word.len()))
}

#[cfg(test)]
#[path = "tests/number.rs"]
mod tests;
