//! Reading bytes and bits.

use super::Result;

const CUT_OFF: &str = "the compressed data ends too early";

/// The rest of the data.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, bytes: u64) -> Result<&'a [u8]> {
        let bytes = usize::try_from(bytes).map_err(|_| CUT_OFF)?;
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(CUT_OFF)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (&taken, rest) = self.0.split_first_chunk().ok_or(CUT_OFF)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i8(&mut self) -> Result<i8> {
        self.array().map(i8::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// Reads a number of variable length: seven bits per byte, the lowest first.
    pub(super) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err("a number in the compressed data is too large")
    }

    /// Reads a whole number that fits in 32 bits.
    pub(super) fn number32(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| "a number in the compressed data is too large")
    }
}

/// Bits, those of each byte from the lowest to the highest.
pub(super) struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Reads a number of up to 32 bits.
    pub(super) fn read(&mut self, bits: u32) -> Result<u32> {
        let (from, to) = (self.at / 8, (self.at + bits as usize).div_ceil(8));
        let bytes = self.data.get(from..to).ok_or(CUT_OFF)?;
        let all = bytes
            .iter()
            .rev()
            .fold(0, |all, &byte| all << 8 | u64::from(byte));
        let number = all >> (self.at % 8) & ((1 << bits) - 1);
        self.at += bits as usize;
        Ok(number as u32)
    }

    /// Returns the bytes of which at least one bit was read.
    pub(super) fn bytes(&self) -> usize {
        self.at.div_ceil(8)
    }
}
