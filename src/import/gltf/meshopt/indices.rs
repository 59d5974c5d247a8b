//! The codecs of indices: of triangles, which share edges and vertices with those before them, and of anything else.

/// The last sixteen of something.
struct Recent<T> {
    items: [T; 16],
    next: usize,
}

impl<T: Copy> Recent<T> {
    fn new(fill: T) -> Self {
        Self {
            items: [fill; 16],
            next: 0,
        }
    }

    /// Returns the item that was pushed `ago` items before the last one.
    fn get(&self, ago: usize) -> T {
        self.items[self.next.wrapping_sub(1 + ago) % 16]
    }

    fn push(&mut self, item: T) {
        self.items[self.next % 16] = item;
        self.next = (self.next + 1) % 16;
    }
}

/// The source of indices that are not among the recent ones.
struct Reader<'a> {
    data: &'a [u8],
    /// The index after the largest so far, as long as vertices are used in their order.
    next: u32,
    /// The last index that was read.
    last: u32,
}

impl<'a> Reader<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self {
            data,
            next: 0,
            last: 0,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.data.split_first()?;
        self.data = rest;
        Some(byte)
    }

    /// Reads a number of up to five bytes, seven bits each.
    fn number(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        Some(number)
    }

    /// Reads an index as the difference from the last one that was read.
    fn index(&mut self) -> Option<u32> {
        self.last = self.last.wrapping_add(difference(self.number()?));
        Some(self.last)
    }

    /// Returns an index that no triangle has used.
    fn unused(&mut self) -> u32 {
        let index = self.next;
        self.next = index.wrapping_add(1);
        index
    }
}

/// Returns the difference that a number encodes: even numbers are positive differences, odd ones
/// negative.
fn difference(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Decodes `count` indices of triangles, of `size` bytes each.
pub(super) fn triangles(data: &[u8], count: usize, size: usize) -> Option<Vec<u8>> {
    let (&header, data) = data.split_first()?;
    // Codes from here on stand for vertices that are not among the recent ones.
    let not_recent = match header {
        0xe0 => 15,
        0xe1 => 13,
        _ => return None,
    };
    // One code per triangle, what the codes refer to, and the pairs of codes that are used most.
    let (codes, data) = data.split_at_checked(count / 3)?;
    let (data, pairs) = data.split_at_checked(data.len().checked_sub(16)?)?;
    let mut reader = Reader::new(data);
    let mut edges = Recent::new([u32::MAX; 2]);
    let mut vertices = Recent::new(u32::MAX);
    let mut out = Vec::with_capacity(count.checked_mul(size)?);
    for &code in codes {
        let corners = if code < 0xf0 {
            // A recent edge, and one vertex.
            let [a, b] = edges.get(usize::from(code >> 4));
            let third = code & 15;
            let c = match third {
                0 => reader.unused(),
                15 => reader.index()?,
                _ if third < not_recent => vertices.get(usize::from(third)),
                // One less or one more than the last index that was read.
                _ => {
                    reader.last = reader
                        .last
                        .wrapping_add(u32::from(third) * 2)
                        .wrapping_sub(27);
                    reader.last
                }
            };
            if third == 0 || third >= not_recent {
                vertices.push(c);
            }
            // The two new edges, in the direction in which a neighboring triangle uses them.
            edges.push([c, b]);
            edges.push([a, c]);
            [a, b, c]
        } else {
            // Three vertices, of which the second and third may be recent ones.
            let pair = match code {
                0xfe | 0xff => reader.byte()?,
                _ => pairs[usize::from(code & 15)],
            };
            // This is how a file starts over with the first vertex.
            if code >= 0xfe && pair == 0 {
                reader.next = 0;
            }
            let codes = [if code == 0xff { 15 } else { 0 }, pair >> 4, pair & 15];
            let mut corners = [0; 3];
            for (corner, code) in corners.iter_mut().zip(codes) {
                *corner = match code {
                    0 => reader.unused(),
                    15 => reader.index()?,
                    code => vertices.get(usize::from(code) - 1),
                };
            }
            for (&corner, code) in corners.iter().zip(codes) {
                if code == 0 || code == 15 {
                    vertices.push(corner);
                }
            }
            let [a, b, c] = corners;
            for edge in [[b, a], [c, b], [a, c]] {
                edges.push(edge);
            }
            corners
        };
        for corner in corners {
            out.extend_from_slice(&corner.to_le_bytes()[..size]);
        }
    }
    reader.data.is_empty().then_some(out)
}

/// Decodes `count` indices, of `size` bytes each. Each is the difference from the last one of two series.
pub(super) fn sequence(data: &[u8], count: usize, size: usize) -> Option<Vec<u8>> {
    let (&(0xd0 | 0xd1), data) = data.split_first()? else {
        return None;
    };
    // The last four bytes are padding.
    let data = &data[..data.len().checked_sub(4)?];
    // Each takes a byte at least.
    let mut out = Vec::with_capacity(count.min(data.len()).checked_mul(size)?);
    let (mut reader, mut last) = (Reader::new(data), [0u32; 2]);
    for _ in 0..count {
        let number = reader.number()?;
        let last = &mut last[number as usize & 1];
        *last = last.wrapping_add(difference(number >> 1));
        out.extend_from_slice(&last.to_le_bytes()[..size]);
    }
    reader.data.is_empty().then_some(out)
}
