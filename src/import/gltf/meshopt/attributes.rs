//! The attribute codec, versions 0 and 1.
//!
//! Elements come in blocks. In a block, the first bytes of all elements come first, then their second bytes, and so on; each as
//! the difference from the element before. Sixteen differences make a group whose numbers all take 0, 1, 2, 4 or 8 bits, and
//! those that need more are given in full after it. The stream ends with the element that the first one is a difference from.

/// Elements of a group.
const GROUP: usize = 16;
const MOST_IN_BLOCK: usize = 256;
const BYTES_OF_BLOCK: usize = 8192;

pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    let (&header, data) = data.split_first()?;
    let is_v1 = match header {
        0xa0 => false,
        0xa1 => true,
        _ => return None,
    };
    // Version 1 says how each four bytes are encoded.
    let channels = if is_v1 { stride / 4 } else { 0 };
    let tail = stride + channels;
    // Encoders pad the end of the data, so that decoders may read ahead.
    let padded = tail.max(if is_v1 { 24 } else { 32 });
    let (blocks, end) = data.split_at_checked(data.len().checked_sub(padded)?)?;
    let (base, channels) = end[padded - tail..].split_at(stride);

    let mut out = vec![0; count.checked_mul(stride)?];
    let mut block = Block {
        data: blocks,
        is_v1,
        channels,
    };
    let most = (BYTES_OF_BLOCK / stride / GROUP * GROUP).min(MOST_IN_BLOCK);
    let mut last = base.to_vec();
    for elements in out.chunks_mut(most * stride) {
        block.decode(elements, &mut last)?;
        last.copy_from_slice(&elements[elements.len() - stride..]);
    }
    block.data.is_empty().then_some(out)
}

struct Block<'a> {
    /// The rest of the stream.
    data: &'a [u8],
    is_v1: bool,
    channels: &'a [u8],
}

impl<'a> Block<'a> {
    /// Decodes a block of elements, the first of which is a difference from `last`.
    fn decode(&mut self, elements: &mut [u8], last: &mut [u8]) -> Option<()> {
        let stride = last.len();
        let count = elements.len() / stride;
        let control = self.take(if self.is_v1 { stride / 4 } else { 0 })?;
        let mut deltas = [[0; MOST_IN_BLOCK]; 4];
        for at in (0..stride).step_by(4) {
            for (byte, deltas) in deltas.iter_mut().enumerate() {
                // In version 1, two bits choose between two sets of widths, no differences at all,
                // and plain bytes.
                let control = control.get(at / 4).map(|control| control >> (byte * 2) & 3);
                match control {
                    None => self.groups(&mut deltas[..count], [0, 2, 4, 8])?,
                    Some(0) => self.groups(&mut deltas[..count], [0, 1, 2, 4])?,
                    Some(1) => self.groups(&mut deltas[..count], [1, 2, 4, 8])?,
                    Some(2) => deltas[..count].fill(0),
                    Some(_) => deltas[..count].copy_from_slice(self.take(count)?),
                }
            }
            let before = last[at..at + 4].try_into().ok()?;
            let out = elements
                .chunks_exact_mut(stride)
                .map(|element| &mut element[at..at + 4]);
            undo(self.channels.get(at / 4).copied(), &deltas, before, out)?;
        }
        Some(())
    }

    /// Decodes groups of sixteen differences; the surplus in the last one is dropped.
    fn groups(&mut self, deltas: &mut [u8], bits: [u8; 4]) -> Option<()> {
        let header = self.take(deltas.len().div_ceil(GROUP * 4))?;
        for (at, group) in deltas.chunks_mut(GROUP).enumerate() {
            let bits = bits[usize::from(header[at / 4] >> (at % 4 * 2) & 3)];
            let mut full = [0; GROUP];
            match bits {
                0 => {}
                8 => full.copy_from_slice(self.take(GROUP)?),
                bits => self.packed(&mut full, bits)?,
            }
            group.copy_from_slice(&full[..group.len()]);
        }
        Some(())
    }

    /// Decodes sixteen differences of 1, 2 or 4 bits. The largest number means that the difference
    /// follows in full.
    fn packed(&mut self, group: &mut [u8; GROUP], bits: u8) -> Option<()> {
        let packed = self.take(usize::from(bits) * 2)?;
        let most = (1 << bits) - 1;
        let per_byte = 8 / usize::from(bits);
        for (values, &byte) in group.chunks_exact_mut(per_byte).zip(packed) {
            // Single bits are in the reverse order of all others.
            let byte = if bits == 1 { byte.reverse_bits() } else { byte };
            for (at, value) in values.iter_mut().enumerate() {
                *value = byte >> (8 - (at + 1) * usize::from(bits)) & most;
            }
        }
        for value in group.iter_mut().filter(|value| **value == most) {
            let (&first, rest) = self.data.split_first()?;
            (*value, self.data) = (first, rest);
        }
        Some(())
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.data.split_at_checked(bytes)?;
        self.data = rest;
        Some(taken)
    }
}

/// Adds up the differences of four bytes of each element.
fn undo<'a>(
    channel: Option<u8>,
    deltas: &[[u8; MOST_IN_BLOCK]; 4],
    mut last: [u8; 4],
    out: impl Iterator<Item = &'a mut [u8]>,
) -> Option<()> {
    let [a, b, c, d] = deltas;
    let deltas = a.iter().zip(b).zip(c.iter().zip(d));
    let deltas = deltas.map(|((a, b), (c, d))| [*a, *b, *c, *d]);
    // The channel's kind: zigzag-coded differences of bytes, the same of 16-bit numbers, or XOR of
    // 32-bit numbers that were rotated by the upper four bits.
    match channel.map_or(0, |channel| channel & 3) {
        0 => {
            for (out, delta) in out.zip(deltas) {
                for (last, delta) in last.iter_mut().zip(delta) {
                    *last = last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg());
                }
                out.copy_from_slice(&last);
            }
        }
        1 => {
            let pair = |bytes: [u8; 4], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            for (out, delta) in out.zip(deltas) {
                for at in [0, 2] {
                    let delta = pair(delta, at);
                    let delta = delta >> 1 ^ (delta & 1).wrapping_neg();
                    let value = pair(last, at).wrapping_add(delta);
                    last[at..at + 2].copy_from_slice(&value.to_le_bytes());
                }
                out.copy_from_slice(&last);
            }
        }
        2 => {
            let turned = u32::from(channel.unwrap_or_default() >> 4);
            let mut value = u32::from_le_bytes(last);
            for (out, delta) in out.zip(deltas) {
                value ^= u32::from_le_bytes(delta).rotate_right(turned);
                out.copy_from_slice(&value.to_le_bytes());
            }
        }
        _ => return None,
    }
    Some(())
}
