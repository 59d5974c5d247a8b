//! The words of a stretch of text, all of them found before the first is read.
//!
//! Read one by one, no number can begin before the last has ended, and the processor waits from each to the
//! next. Here white space alone tells where words begin, sixty-four bytes at a time, and the numbers are then
//! read side by side.

use super::{
    Lexer, is_space,
    number::{SHIFTS, ZEROS, eight_digits, plain_f32, scaled},
};

/// Bytes of a stretch, and those behind it that reading its last word may touch.
const STRETCH: usize = 1024;
const BEHIND: usize = 64;

/// Numbers that are read the long way in a row.
const LONG: usize = 32;

/// Where a word begins, in bytes from the start of its stretch.
pub type Word = u32;

/// The words of a stretch of text, apart by white space.
///
/// Its methods read words of the usual kind. `None` says nothing about any other: [`Lexer`] may still read it.
/// Comments, too, are words of no usual kind.
pub struct Words<'a> {
    text: &'a [u8; STRETCH + BEHIND],
    /// Of `text` in the source.
    offset: usize,
    starts: [Word; STRETCH / 2 + 8],
    /// The words not taken yet. Behind them stands one more start, of a word that may end beyond the stretch.
    next: usize,
    end: usize,
}

impl<'a> Words<'a> {
    /// No words yet.
    pub fn new() -> Self {
        let text = &[0; STRETCH + BEHIND];
        Self { text, offset: 0, starts: [0; STRETCH / 2 + 8], next: 0, end: 0 }
    }

    /// Goes to where a lexer stands. False if no words are known from there on: the text may be at its end.
    pub fn go_to(&mut self, lexer: &Lexer<'a>) -> bool {
        let known = lexer.at.checked_sub(self.offset).filter(|at| *at < STRETCH);
        let is_behind = |at: usize| self.next == 0 || (self.starts[self.next - 1] as usize) < at;
        if let Some(at) = known.filter(|at| is_behind(*at)) {
            while self.next < self.end && (self.starts[self.next] as usize) < at {
                self.next += 1;
            }
            if self.next < self.end {
                // Where a brace ended the word before, words are not what white space tells.
                return is_space(self.text[at]) || self.starts[self.next] as usize == at;
            }
        }
        self.find(lexer).is_some()
    }

    /// Offset of the next word in the source.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset + self.starts[self.next] as usize
    }

    /// The next words, left in place.
    #[inline(always)]
    pub fn peek<const N: usize>(&self) -> Option<[Word; N]> {
        self.starts[..self.end].get(self.next..)?.first_chunk().copied()
    }

    /// Goes on behind `count` words that were peeked at.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) {
        self.next += count;
    }

    /// Whether a word is `text`.
    #[inline(always)]
    pub fn is(&self, word: Word, text: &[u8]) -> bool {
        let rest = self.from(word);
        rest.starts_with(text) && is_space(rest[text.len()])
    }

    /// A whole number of up to seven digits.
    #[inline(always)]
    pub fn u32(&self, word: Word) -> Option<u32> {
        let text = self.from(word);
        let eight = first_eight(text);
        let length = first_other(others(eight));
        if !(1..=7).contains(&length) || !is_space(text[length]) {
            return None;
        }
        let digits = (eight ^ ZEROS) << (64 - 8 * length);
        are_digits(digits).then(|| eight_digits(digits) as u32)
    }

    /// A number, as [`Lexer::f32`] reads it.
    #[inline(always)]
    pub fn f32(&self, word: Word) -> Option<f32> {
        short_f32(self.from(word)).or_else(|| self.other_f32(word))
    }

    /// Takes up to `most` numbers, as [`Self::f32`] reads them, and adds them to `out`; how many there were.
    pub fn take_f32s(&mut self, most: usize, out: &mut Vec<f32>) -> usize {
        let words = &self.starts[self.next..self.end];
        let words = &words[..words.len().min(most)];
        let (before, mut done) = (out.len(), 0);
        out.resize(before + words.len(), 0.0);
        while done < words.len() {
            done += short_f32s(self.text, &words[done..], &mut out[before + done..]);
            // Where one is long, others are.
            let long = words[done..].iter().take(LONG).map_while(|word| self.long_f32(*word));
            let met = done;
            for (out, value) in out[before + done..].iter_mut().zip(long) {
                *out = value;
                done += 1;
            }
            if done < words.len().min(met + LONG) {
                break;
            }
        }
        out.truncate(before + done);
        self.next += done;
        done
    }

    #[cold]
    fn other_f32(&self, word: Word) -> Option<f32> {
        self.long_f32(word)
    }

    #[inline(always)]
    fn long_f32(&self, word: Word) -> Option<f32> {
        let text = self.from(word);
        long_f32(text).or_else(|| plain_f32(text).filter(|(_, length)| is_space(text[*length])).map(|(value, _)| value))
    }

    #[inline(always)]
    fn from(&self, word: Word) -> &[u8] {
        from(self.text, word)
    }

    #[inline(never)]
    fn find(&mut self, lexer: &Lexer<'a>) -> Option<()> {
        (self.next, self.end) = (0, 0);
        self.text = lexer.source.get(lexer.at..)?.first_chunk()?;
        self.offset = lexer.at;
        let (mut count, mut before) = (0, 0);
        for (block, text) in self.text.as_chunks().0.iter().take(STRETCH / 64).enumerate() {
            let solid = solid(text);
            let mut starts = solid & !(solid << 1 | before);
            before = solid >> 63;
            let end = count + starts.count_ones() as usize;
            // Eight at a time, of which those past the last are written over.
            while count < end {
                for start in self.starts.get_mut(count..)?.first_chunk_mut::<8>()? {
                    *start = (block * 64) as Word + starts.trailing_zeros() as Word;
                    starts &= starts.wrapping_sub(1);
                }
                count += 8;
            }
            count = end;
        }
        self.end = count.checked_sub(1)?;
        (self.end > 0).then_some(())
    }
}

#[inline(always)]
fn from(text: &[u8; STRETCH + BEHIND], word: Word) -> &[u8] {
    &text[word as usize % STRETCH..]
}

/// Reads the short numbers before the first word that is none; how many there were.
#[inline(never)]
fn short_f32s(text: &[u8; STRETCH + BEHIND], words: &[Word], out: &mut [f32]) -> usize {
    for (at, (word, out)) in words.iter().zip(out).enumerate() {
        let Some(value) = short_f32(from(text, *word)) else { return at };
        *out = value;
    }
    words.len()
}

/// The number at the start of `text`, if it has up to seven digits, and white space behind it.
///
/// It is `m / 10^k` for whole `m < 10^7` and `k < 8`, so it keeps from the middle between two `f32`s by 2^-49 of
/// itself or more, and the few roundings in `f64` leave that to `f32` right.
#[inline(always)]
fn short_f32(text: &[u8]) -> Option<f32> {
    let negative = text[0] == b'-';
    let text = &text[usize::from(negative)..];
    let eight = first_eight(text);
    let (first, second) = ((eight ^ ZEROS) & 0xff, (eight >> 8) as u8);
    // Most by far have one digit before the point, or one digit: their shape need not be found first.
    let size = if second == b'.' {
        let end = first_other(others(eight) & !0xffff);
        let fraction = ((eight ^ ZEROS) & !0xffff) << (64 - 8 * end);
        if !is_space(text[end]) || !are_digits(fraction | first) {
            return None;
        }
        whole(first) + whole(eight_digits(fraction)) * TENTHS[(end - 2) % 8]
    } else if is_space(second) && first < 10 {
        whole(first)
    } else {
        other_short(text, eight)?
    };
    Some(f32::from_bits((size as f32).to_bits() | u32::from(negative) << 31))
}

/// A short number of any shape.
#[inline(always)]
fn other_short(text: &[u8], eight: u64) -> Option<f64> {
    let others = others(eight);
    let point = first_other(others);
    let has_point = text[point] == b'.';
    let end = if has_point { first_other(others & others.wrapping_sub(1)) } else { point };
    // A number without a point has one behind its last digit.
    let length = if has_point { end } else { point + 1 };
    if !(2..=8).contains(&length) || !is_space(text[end]) {
        return None;
    }
    // The digits before the point move over it, then all to the high end, zeros before them.
    let digits = eight ^ ZEROS;
    let digits = ((digits & BEFORE[point % 8]) << 8 | digits & AFTER[point % 8]) << (64 - 8 * length);
    let size = whole(eight_digits(digits)) * TENTHS[(length - 1 - point) % 8];
    are_digits(digits).then_some(size)
}

/// The number at the start of `text`, if it has one digit before the point, from six to fourteen behind it, and
/// white space behind these.
#[inline(always)]
fn long_f32(text: &[u8]) -> Option<f32> {
    let negative = text[0] == b'-';
    let text = &text[usize::from(negative)..];
    let (eight, rest) = (first_eight(text) ^ ZEROS, first_eight(&text[8..]));
    let more = first_other(others(rest));
    if text[1] != b'.' || !is_space(text[8 + more]) {
        return None;
    }
    // Two shifts, since all 64 places at once (no digit) is one too many.
    let rest = (rest ^ ZEROS) << (32 - 4 * more) << (32 - 4 * more);
    let (first, fraction) = (eight & 0xff, eight & !0xffff);
    if !are_digits(fraction | first) || !are_digits(rest) {
        return None;
    }
    let mantissa = (first * 1_000_000 + eight_digits(fraction)) * SHIFTS[more] + eight_digits(rest);
    let size = scaled(mantissa, -6 - more as i32)?;
    Some(if negative { -size } else { size })
}

const TENTHS: [f64; 8] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// A whole number under 2^52. The conversion that the processor has would wait for the last.
#[inline(always)]
fn whole(number: u64) -> f64 {
    const ZERO: f64 = (1u64 << 52) as f64;
    f64::from_bits(ZERO.to_bits() | number) - ZERO
}

/// The bytes before the n-th of eight, and those after it.
const BEFORE: [u64; 8] = [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ffff_ffff, !0 >> 8];
const AFTER: [u64; 8] = [!0 << 8, !0 << 16, !0 << 24, !0 << 32, !0 << 40, !0 << 48, !0 << 56, 0];

const ONES: u64 = u64::from_ne_bytes([1; 8]);

#[inline(always)]
fn first_eight(text: &[u8]) -> u64 {
    text.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// A bit in each byte that can be no digit: digits have the fifth set, the point and white space have not.
#[inline(always)]
fn others(eight: u64) -> u64 {
    !eight & ONES << 4
}

#[inline(always)]
fn first_other(others: u64) -> usize {
    others.trailing_zeros() as usize / 8
}

/// Whether eight bytes are 0 to 9 each.
#[inline(always)]
fn are_digits(bytes: u64) -> bool {
    // A carry spoils only bytes behind one that is none.
    (bytes | bytes.wrapping_add(ONES * 0x76)) & ONES << 7 == 0
}

/// A bit for each byte that is no white space. Written for the compiler to use the machine's own lanes.
#[inline(never)]
fn solid(text: &[u8; 64]) -> u64 {
    let mut bits = [0; 64];
    for (i, (bit, byte)) in bits.iter_mut().zip(text).enumerate() {
        *bit = if is_space(*byte) { 0 } else { 1u8 << (i % 8) };
    }
    let mut out = [0; 8];
    for (byte, bits) in out.iter_mut().zip(bits.as_chunks::<8>().0) {
        *byte = bits.iter().fold(0, |sum: u8, bit| sum.wrapping_add(*bit));
    }
    u64::from_le_bytes(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::lexer::TokenKind;

    /// A number as files have them, or nearly one.
    fn number(random: &mut fastrand::Rng) -> String {
        let sign = ["", "-"][random.usize(..2)];
        let most = 10_u32.pow(random.u32(1..7));
        let (whole, places) = (random.u32(..most), random.usize(..16));
        match random.u8(..24) {
            0 => format!("{sign}{}", random.u32(..)),
            1..4 => format!("{sign}{}", random.u8(..12)),
            4..6 => format!("{sign}{whole}"),
            6..8 => format!("{sign}{whole}.{:0places$}", random.u32(..)),
            8 => format!("{sign}{whole}."),
            9 => format!("{sign}.{whole}"),
            10 => format!("{}", f32::from_bits(random.u32(..))),
            11 => format!("{:e}", random.f32()),
            12 => ["+1", "1.", ".", "-", "--1", "1-", "1.2.3", "/1", "1x", "\u{10}.5", "1.\u{1a}"][random.usize(..11)]
                .into(),
            _ => format!("{sign}{:.1$}", random.f32() * [1.0, 30.0][random.usize(..2)], random.usize(..12)),
        }
    }

    /// All numbers of a text and where each was found, and the places of what is none.
    fn numbers(text: &str, by_words: bool) -> (Vec<u32>, Vec<usize>) {
        let (mut words, mut lexer) = (Words::new(), Lexer::with_comments(text.as_bytes()));
        let (mut out, mut others) = (Vec::new(), Vec::new());
        loop {
            while by_words && words.go_to(&lexer) && words.take_f32s(usize::MAX, &mut out) > 0 {
                lexer.seek(words.offset());
            }
            match lexer.f32() {
                Ok(value) => out.push(value),
                Err(_) => {
                    let token = lexer.next_token();
                    others.push(token.offset);
                    if token.kind == TokenKind::End {
                        return (out.iter().map(|value| value.to_bits()).collect(), others);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_found_as_words_are_those_that_the_lexer_reads() {
        let mut random = fastrand::Rng::with_seed(1);
        let spaces = [" ", " ", " ", " ", "\n", "\t", "\r\n  ", " // 1 2\n", "\u{1}", "{", "(", " } ", "\"1 2\""];
        for _ in 0..200 {
            let varied = random.bool();
            let mut text = String::new();
            while text.len() < 4 * STRETCH {
                text += &if varied { number(&mut random) } else { format!("{:.5}", random.f32() - 0.5) };
                text += if varied { spaces[random.usize(..spaces.len())] } else { " " };
            }
            assert_eq!(numbers(&text, true), numbers(&text, false), "{text}");
        }
    }

    #[test]
    fn short_numbers_are_rounded_as_the_standard_library_rounds_them() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut read = 0;
        for _ in 0..300_000 {
            let (digits, places) = (random.usize(1..8), random.usize(..8));
            let mut text = format!("{:0digits$}", random.u32(..10_u32.pow(digits as u32)));
            text.insert(digits.saturating_sub(places), '.');
            let expected = text.parse::<f32>().unwrap();
            let among = format!("{text} and then some more words");
            for value in [short_f32(among.as_bytes()), long_f32(among.as_bytes())].into_iter().flatten() {
                assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
                read += 1;
            }
        }
        assert!(read > 300_000, "{read}");
    }

    #[test]
    fn long_numbers_are_rounded_as_the_standard_library_rounds_them() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut read = 0;
        for _ in 0..100_000 {
            let below = random.f32() * 9.0;
            let value = [f64::from(below), (f64::from(below) + f64::from(below.next_up())) / 2.0][random.usize(..2)];
            let text = format!("{value:.0$} and then some more words", random.usize(6..16));
            if let Some(value) = long_f32(text.as_bytes()) {
                let expected = text.split(' ').next().unwrap().parse::<f32>().unwrap();
                assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
                read += 1;
            }
        }
        assert!(read > 50_000, "{read}");
    }

    #[test]
    fn white_space_is_told_byte_by_byte() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..1000 {
            let text = [0; 64].map(|_| random.u8(..));
            let expected = (0..64).filter(|i| text[*i] > b' ').map(|i| 1 << i).sum::<u64>();
            assert_eq!(solid(&text), expected);
        }
    }
}
