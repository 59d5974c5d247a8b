//! Structure-aware mutation: whole blocks of a text file doubled, removed, moved, and numbers renumbered, which
//! changes of single bytes hardly ever bring about.

use std::ops::Range;

/// Random numbers from a seed, the same in every version of every library.
pub struct Random(pub u64);

impl Random {
    /// Returns a number less than `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

/// Changes the structure of a text of at most `most` bytes, which it stays within.
pub fn mutate(text: &mut Vec<u8>, random: &mut Random, most: usize) {
    for _ in 0..1 + random.below(4) {
        let block = block(text, random);
        let piece = text[block.clone()].to_vec();
        match random.below(6) {
            // Doubled, in place or elsewhere.
            0 if text.len() + piece.len() <= most => insert(text, block.end, piece),
            1 if text.len() + piece.len() <= most => {
                let at = self::block(text, random).start;
                insert(text, at, piece);
            }
            // Moved.
            2 => {
                text.drain(block);
                let at = self::block(text, random).start;
                insert(text, at, piece);
            }
            // Removed.
            3 => drop(text.drain(block)),
            _ => renumber(text, block, random, most),
        }
    }
}

fn insert(text: &mut Vec<u8>, at: usize, piece: Vec<u8>) {
    text.splice(at..at, piece).for_each(drop);
}

/// A line, a line with the braces that it or the next one opens, or a section up to the next line of stars or dashes.
fn block(text: &[u8], random: &mut Random) -> Range<usize> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain((1..text.len()).filter(|&at| text[at - 1] == b'\n'))
        .filter(|at| *at < text.len())
        .collect();
    let Some(&start) = starts.get(random.below(starts.len())) else {
        return 0..0;
    };
    let line_end = |from: usize| {
        text[from..]
            .iter()
            .position(|&b| b == b'\n')
            .map_or(text.len(), |end| from + end + 1)
    };
    let is_section = |at: usize| text[at..].starts_with(b"***") || text[at..].starts_with(b"---");
    if is_section(start) {
        let next = starts
            .iter()
            .copied()
            .find(|&at| at > start && is_section(at));
        return start..next.unwrap_or(text.len());
    }
    let end = line_end(start);
    let opens = text[start..line_end(end)].contains(&b'{');
    if !opens || random.below(4) == 0 {
        return start..end;
    }
    let (mut depth, mut opened) = (0i32, false);
    for (at, byte) in text.iter().enumerate().skip(start) {
        depth += i32::from(*byte == b'{') - i32::from(*byte == b'}');
        opened |= *byte == b'{';
        if opened && depth <= 0 {
            return start..line_end(at);
        }
    }
    start..text.len()
}

/// Changes one whole number of a block, or the same number of each of its lines by the same amount.
fn renumber(text: &mut Vec<u8>, block: Range<usize>, random: &mut Random, most: usize) {
    const ODD: [&str; 8] = [
        "0",
        "1",
        "-1",
        "2",
        "255",
        "65536",
        "4294967295",
        "99999999999",
    ];
    let piece = text[block.clone()].to_vec();
    let whole_line = random.below(2) == 0;
    let nth = random.below(4);
    let shift = random.below(5) as i64 - 2;
    let mut changed = Vec::with_capacity(piece.len());
    let target = random.below(piece.iter().filter(|&&b| b == b'\n').count() + 1);
    for (number, line) in piece.split_inclusive(|&b| b == b'\n').enumerate() {
        let mut seen = 0;
        for word in line.split_inclusive(u8::is_ascii_whitespace) {
            let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
            let is_number = digits > 0 && word[digits..].iter().all(u8::is_ascii_whitespace);
            let is_meant = is_number && seen == nth && (whole_line || number == target);
            seen += usize::from(is_number);
            if !is_meant {
                changed.extend_from_slice(word);
                continue;
            }
            let value = std::str::from_utf8(&word[..digits])
                .ok()
                .and_then(|text| text.parse::<i64>().ok());
            match value {
                Some(value) if whole_line => {
                    changed.extend(value.wrapping_add(shift).to_string().bytes())
                }
                _ => changed.extend(ODD[random.below(ODD.len())].bytes()),
            }
            changed.extend_from_slice(&word[digits..]);
        }
    }
    if text.len() - piece.len() + changed.len() <= most {
        text.splice(block, changed).for_each(drop);
    }
}
