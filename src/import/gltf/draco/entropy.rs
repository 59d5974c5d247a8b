//! Entropy coding by rANS, the range variant of asymmetric numeral systems (Duda, 2013), which is
//! read from the end of the data.

use super::{
    Result,
    bytes::{Bits, Reader},
};

const DAMAGED: &str = "the compressed numbers are damaged";

/// A state, and the bytes in front of it that were not needed so far.
struct State<'a> {
    data: &'a [u8],
    state: u32,
    /// The smallest state after refilling.
    base: u32,
}

impl<'a> State<'a> {
    fn new(data: &'a [u8], base: u32) -> Result<Self> {
        let last = *data.last().ok_or(DAMAGED)?;
        // The encoder stored its last state in one to four bytes.
        let bytes = usize::from(last >> 6) + 1;
        let (data, end) = data
            .split_at_checked(data.len().wrapping_sub(bytes))
            .ok_or(DAMAGED)?;
        let state = end
            .iter()
            .rev()
            .fold(0, |state, &byte| state << 8 | u32::from(byte));
        // The two highest bits are the number of bytes.
        let state = (state & ((1 << (bytes * 8 - 2)) - 1)).saturating_add(base);
        if state >= base.saturating_mul(256) {
            return Err(DAMAGED);
        }
        Ok(Self { data, state, base })
    }

    fn fill(&mut self) {
        while self.state < self.base
            && let Some((&byte, rest)) = self.data.split_last()
        {
            (self.state, self.data) = (self.state << 8 | u32::from(byte), rest);
        }
    }
}

/// Booleans that share one probability.
pub(super) struct Flags<'a> {
    state: State<'a>,
    /// Probability of yes, in 256ths.
    yes: u32,
}

impl<'a> Flags<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let no = u32::from(reader.u8()?);
        let size = reader.number()?;
        Ok(Self {
            state: State::new(reader.take(size)?, 1 << 12)?,
            yes: 256 - no,
        })
    }

    pub(super) fn next(&mut self) -> bool {
        self.state.fill();
        let state = self.state.state;
        // A step of rANS with two symbols, of which yes has the lower part of the range.
        let (high, low) = (state >> 8, state & 255);
        let before = high * self.yes;
        let is_yes = low < self.yes;
        self.state.state = if is_yes {
            before + low
        } else {
            state.wrapping_sub(before).wrapping_sub(self.yes)
        };
        is_yes
    }
}

/// A number with its share of all numbers.
struct Symbol {
    value: u32,
    share: u32,
    /// The shares of all before it.
    start: u32,
}

/// Numbers and their shares of 2 to the power of `bits`.
struct Table {
    bits: u32,
    symbols: Vec<Symbol>,
    /// A table from shares to their symbols; empty if there are too few numbers to read for it to
    /// be worthwhile.
    of_share: Vec<u32>,
}

impl Table {
    /// Reads a table for `count` numbers.
    fn read(reader: &mut Reader, bits: u32, count: usize) -> Result<Self> {
        let most = reader.number32()?;
        let (mut symbols, mut value, mut start) = (Vec::new(), 0u32, 0u32);
        while value < most {
            let first = reader.u8()?;
            // The two lowest bits are the number of bytes that follow, and 3 stands for a run of
            // numbers without a share.
            let more = u32::from(first & 3);
            if more == 3 {
                // Numbers that don't occur.
                value = value.saturating_add(u32::from(first >> 2) + 1);
                continue;
            }
            let mut share = u32::from(first >> 2);
            for byte in 0..more {
                share |= u32::from(reader.u8()?) << (6 + 8 * byte);
            }
            if share > 0 {
                symbols.push(Symbol {
                    value,
                    share,
                    start,
                });
            }
            start = start.saturating_add(share);
            value += 1;
        }
        if value != most || start != 1 << bits {
            return Err(DAMAGED);
        }
        let mut of_share = Vec::new();
        if count >= 1 << bits >> 4 {
            of_share.reserve_exact(1 << bits);
            for (at, symbol) in symbols.iter().enumerate() {
                of_share.extend(std::iter::repeat_n(at as u32, symbol.share as usize));
            }
        }
        Ok(Self {
            bits,
            symbols,
            of_share,
        })
    }

    fn next(&self, state: &mut State) -> u32 {
        state.fill();
        let low = state.state & ((1 << self.bits) - 1);
        let at = match self.of_share.get(low as usize) {
            Some(&at) => at as usize,
            None => self.symbols.partition_point(|symbol| symbol.start <= low) - 1,
        };
        let symbol = &self.symbols[at];
        state.state = (state.state >> self.bits)
            .wrapping_mul(symbol.share)
            .wrapping_add(low - symbol.start);
        symbol.value
    }
}

/// Reads `count` numbers, those of an element after each other.
pub(super) fn numbers(reader: &mut Reader, count: usize, per_element: usize) -> Result<Vec<u32>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut out = Vec::with_capacity(count);
    match reader.u8()? {
        // Draco's scheme TAGGED: the number of bits of each element is entropy-coded, and its
        // numbers follow as plain bits.
        0 => {
            let table = Table::read(reader, 12, count / per_element)?;
            let size = reader.number()?;
            let mut state = State::new(reader.take(size)?, 4 << 12)?;
            let mut bits = Bits::new(reader.0);
            while out.len() < count {
                let size = table.next(&mut state);
                if size > 32 {
                    return Err(DAMAGED);
                }
                for _ in 0..per_element {
                    out.push(bits.read(size)?);
                }
            }
            let bytes = bits.bytes();
            reader.take(bytes as u64)?;
        }
        // RAW: every number is entropy-coded.
        1 => {
            let bits = u32::from(reader.u8()?);
            if !(1..=18).contains(&bits) {
                return Err(DAMAGED);
            }
            // The precision that the specification derives from the number of bits.
            let bits = (bits * 3 / 2).clamp(12, 20);
            let table = Table::read(reader, bits, count)?;
            let size = reader.number()?;
            let mut state = State::new(reader.take(size)?, 4 << bits)?;
            out.extend((0..count).map(|_| table.next(&mut state)));
        }
        _ => return Err(DAMAGED),
    }
    Ok(out)
}

/// Undoes zigzag coding: even numbers are positive, and odd ones negative.
pub(super) fn signed(number: u32) -> i32 {
    (number >> 1 ^ (number & 1).wrapping_neg()) as i32
}
