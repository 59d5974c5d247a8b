//! The numbered lines of a mesh: `vert`, `tri` and `weight`, nearly all of an `.md5mesh`.
//!
//! A line as exporters write it, its words apart, is read from [`Words`]; any other, and what is wrong with
//! it, by the lexer.

use super::{
    Md5Vertex, Md5Weight,
    mesh::vector,
    reader::{Reader, Run, Stop},
};
use crate::format::{
    Lexer, Unexpected,
    lexer::{Word, Words},
};

/// What stands behind a keyword.
pub(super) trait Item: Copy + Default {
    const KEYWORD: &'static [u8];

    /// Takes the item's number, an item of the usual kind, and the keyword of the next.
    fn usual(words: &mut Words) -> Option<(u32, Self)>;

    /// Takes what stands behind the item's number.
    fn read(lexer: &mut Lexer) -> Result<Self, Unexpected>;
}

/// Reads items for as long as lines start with their keyword. The first, of whatever case, stands at `start`.
#[inline]
pub(super) fn items<T: Item>(
    reader: &mut Reader,
    start: usize,
    run: &mut Run<T>,
    context: impl Fn(&str) -> String,
) -> Result<(), Stop> {
    reader.lexer.seek(start + T::KEYWORD.len());
    run.reserve(reader.lexer.remaining() / LEAST_BYTES);
    // A lexer of its own, for the compiler to keep in registers.
    let mut lexer = reader.lexer.clone();
    let mut words = Words::new();
    loop {
        if words.go_to(&lexer) {
            usual(&mut words, run);
            lexer.seek(words.offset());
        }
        match numbered(&mut lexer) {
            Ok((number, at, item)) => run.push(number, at, item),
            Err(unexpected) => {
                let of = run.declared.map_or_else(String::new, |count| format!(" of {count}"));
                let item = format!("{} {}{of}", String::from_utf8_lossy(T::KEYWORD), run.len());
                run.push_broken();
                reader.lexer.seek(lexer.offset());
                reader.recover(&unexpected, context(&item))?;
                lexer.seek(reader.lexer.offset());
            }
        }
        if !lexer.eat_word(T::KEYWORD) {
            reader.lexer.seek(lexer.offset());
            return Ok(());
        }
    }
}

/// Fewest bytes of an item: `tri 0 0 1 2` and the end of its line.
const LEAST_BYTES: usize = 12;

/// Takes items of the usual kind, each with the keyword of the next.
fn usual<T: Item>(words: &mut Words, run: &mut Run<T>) {
    let mut at = words.offset();
    while let Some((number, item)) = T::usual(words) {
        run.push(number, at, item);
        at = words.offset();
    }
}

fn numbered<T: Item>(lexer: &mut Lexer) -> Result<(u32, usize, T), Unexpected> {
    lexer.skip_space();
    let at = lexer.offset();
    Ok((lexer.u32()?, at, T::read(lexer)?))
}

#[inline(always)]
fn taken<T>(words: &mut Words, count: usize, fits: bool, number: Word, item: T) -> Option<(u32, T)> {
    let number = words.u32(number).filter(|_| fits)?;
    words.skip(count);
    Some((number, item))
}

impl Item for Md5Vertex {
    const KEYWORD: &'static [u8] = b"vert";

    #[inline(always)]
    fn usual(words: &mut Words) -> Option<(u32, Self)> {
        let [number, open, s, t, close, first, count, next] = words.peek()?;
        let fits = words.is(open, b"(") && words.is(close, b")") && words.is(next, Self::KEYWORD);
        let tex_coord = [words.f32(s)?, words.f32(t)?];
        let item = Self { tex_coord, first_weight: words.u32(first)?, weight_count: words.u32(count)? };
        taken(words, 8, fits, number, item)
    }

    fn read(lexer: &mut Lexer) -> Result<Self, Unexpected> {
        lexer.expect(b'(')?;
        let tex_coord = lexer.f32s()?;
        lexer.expect(b')')?;
        Ok(Self { tex_coord, first_weight: lexer.u32()?, weight_count: lexer.u32()? })
    }
}

/// A triangle.
impl Item for [u32; 3] {
    const KEYWORD: &'static [u8] = b"tri";

    #[inline(always)]
    fn usual(words: &mut Words) -> Option<(u32, Self)> {
        let [number, a, b, c, next] = words.peek()?;
        let fits = words.is(next, Self::KEYWORD);
        let item = [words.u32(a)?, words.u32(b)?, words.u32(c)?];
        taken(words, 5, fits, number, item)
    }

    fn read(lexer: &mut Lexer) -> Result<Self, Unexpected> {
        Ok([lexer.u32()?, lexer.u32()?, lexer.u32()?])
    }
}

impl Item for Md5Weight {
    const KEYWORD: &'static [u8] = b"weight";

    #[inline(always)]
    fn usual(words: &mut Words) -> Option<(u32, Self)> {
        let [number, joint, bias, open, x, y, z, close, next] = words.peek()?;
        let fits = words.is(open, b"(") && words.is(close, b")") && words.is(next, Self::KEYWORD);
        let position = [words.f32(x)?, words.f32(y)?, words.f32(z)?];
        let item = Self { joint: words.u32(joint)?, bias: words.f32(bias)?, position };
        taken(words, 9, fits, number, item)
    }

    fn read(lexer: &mut Lexer) -> Result<Self, Unexpected> {
        Ok(Self { joint: lexer.u32()?, bias: lexer.f32()?, position: vector(lexer)? })
    }
}

#[cfg(test)]
mod tests {
    use crate::format::md5::parse_mesh;
    use std::fmt::Write;

    /// A mesh of random items, of which some have something wrong or odd about them.
    fn mesh(random: &mut fastrand::Rng) -> String {
        let mut out = "MD5Version 10\njoints {\n\"a\" -1 ( 0 0 0 ) ( 0 0 0 )\n}\nmesh {\n".to_owned();
        let odd =
            ["x", "{", "0.5 // why", "1e3", "-7", "12345678", "\"a\"", "", "0.1234567891", "\n", "vert", "4294967295"];
        let is_sound = random.bool();
        let mut number = |kind: u8, count: u32| match random.u16(..400) {
            0 if !is_sound => odd[random.usize(..odd.len())].to_owned(),
            _ if kind == 0 => random.u32(..count).to_string(),
            _ => format!("{:.1$}", (random.f32() - 0.5) * 3.0, random.usize(..9)),
        };
        for i in 0..100 {
            let (s, t, first, count) = (number(1, 0), number(1, 0), number(0, 90), number(0, 5));
            writeln!(out, "\tvert {i} ( {s} {t} ) {first} {count}").unwrap();
        }
        for i in 0..100 {
            writeln!(out, "\ttri {i} {} {} {}", number(0, 100), number(0, 100), number(0, 100)).unwrap();
        }
        for i in 0..100 {
            let (bias, x, y, z) = (number(1, 0), number(1, 0), number(1, 0), number(1, 0));
            writeln!(out, "\tweight {i} {} {bias} ( {x} {y} {z} )", number(0, 1)).unwrap();
        }
        out + "}\n"
    }

    #[test]
    fn lines_of_the_usual_kind_are_read_as_all_others_are() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut sound = 0;
        for _ in 0..300 {
            let usual = mesh(&mut random);
            // A comment where the next keyword should be; every word stands where it stood.
            let unusual = usual.replace('\n', " //\n");
            let (usual, unusual) = (parse_mesh("m", usual.as_bytes()), parse_mesh("m", unusual.as_bytes()));
            sound += usize::from(usual.is_ok());
            let report = |parsed| format!("{parsed:?}").replace(" //", "");
            assert_eq!(report(usual), report(unusual));
        }
        assert!((140..260).contains(&sound), "{sound}");
    }
}
