//! The frames of an `.md5anim`: in order, without gaps, and all of one length.

use crate::format::{
    Lexer, TokenKind,
    md5::{
        Md5Anim,
        reader::{Reader, Stop},
    },
    reader::CUT_OFF,
};
use crate::plural::counted;

/// A count in the header: its value and place.
#[derive(Default)]
pub(super) struct Header {
    pub(super) frames: Option<(u32, usize)>,
    pub(super) joints: Option<(u32, usize)>,
    pub(super) components: Option<(u32, usize)>,
    pub(super) rate: Option<(f32, usize)>,
}

/// A frame's number, its place in the file, and the range of its numbers in [`Md5Anim::frames`].
#[derive(Clone, Copy)]
pub(super) struct Frame {
    number: u32,
    at: usize,
    start: usize,
    end: usize,
}

/// Reads a frame and adds its numbers to `numbers`.
pub(super) fn frame(
    reader: &mut Reader,
    numbers: &mut Vec<f32>,
    header: &Header,
) -> Result<Frame, Stop> {
    let start = numbers.len();
    let at = reader.lexer.peek().offset;
    let opening = |lexer: &mut Lexer| {
        lexer
            .u32()
            .and_then(|number| lexer.expect(b'{').map(|()| number))
    };
    let Some(number) = reader.take(opening, || "frame".into())? else {
        return Ok(Frame {
            number: 0,
            at,
            start,
            end: start,
        });
    };
    let context = || match header.frames {
        Some((count, _)) => format!("frame {number} of {count}"),
        None => format!("frame {number}"),
    };
    // Each number takes at least two bytes of the file, so that counts that lie take no memory.
    let declared = |field: Option<(u32, usize)>| field.map_or(0, |(count, _)| count as usize);
    if numbers.is_empty() {
        let all = declared(header.frames).saturating_mul(declared(header.components));
        numbers.reserve(all.min(reader.lexer.remaining() / 2));
    }
    loop {
        reader.lexer.all_f32s(numbers);
        if reader.lexer.eat(b'}') || block_ended(reader, &context())? {
            break;
        }
        let item = format!("number {} of {}", numbers.len() - start, context());
        reader.unexpected_here("a number or `}`", item);
        reader.stop_if_full()?;
        if reader.lexer.at_end() {
            break;
        }
    }
    Ok(Frame {
        number,
        at,
        start,
        end: numbers.len(),
    })
}

/// Sorts the frames and decides how many numbers each has.
pub(super) fn arrange_frames(
    reader: &mut Reader,
    anim: &mut Md5Anim,
    frames: &mut Vec<Frame>,
    header: &Header,
) -> Result<(), Stop> {
    if frames
        .iter()
        .enumerate()
        .any(|(n, f)| f.number as usize != n)
    {
        frames.sort_by_key(|f| f.number);
        frames.dedup_by(|again, first| {
            let same = again.number == first.number;
            if same {
                reader.warn(
                    again.at,
                    format!("frame {} is given twice; the first is used", again.number),
                    "",
                );
            }
            same
        });
        hold_first(reader, frames);
        if let Some((missing, frame)) = frames
            .iter()
            .enumerate()
            .find(|(n, f)| f.number as usize != *n)
        {
            let message = format!(
                "frame {} is given, but frame {missing} is missing",
                frame.number
            );
            return Err(reader.fatal(frame.at, message, ""));
        }
        let sorted = frames
            .iter()
            .flat_map(|f| &anim.frames[f.start..f.end])
            .copied()
            .collect();
        anim.frames = sorted;
    }
    if let Some((count, at)) = header.frames.filter(|&(n, _)| n as usize != frames.len()) {
        reader.warn(
            at,
            format!("`numFrames` is {count}, but {} follow", frames.len()),
            "",
        );
    }
    let length = |f: &Frame| f.end - f.start;
    let declared = header.components.map(|(n, _)| n as usize);
    let first = frames.first().map(length);
    // If all frames have the same length, it is the header that is wrong.
    let alike = frames.iter().all(|f| Some(length(f)) == first);
    let components = match (first, declared) {
        (Some(first), Some(declared)) if alike && first != declared => {
            let at = header.components.map_or(0, |(_, at)| at);
            let message = format!(
                "`numAnimatedComponents` is {declared}, but each frame has {first} numbers"
            );
            reader.warn(at, message, "");
            first
        }
        (Some(first), None) => first,
        (_, Some(declared)) => declared,
        (None, None) => 0,
    };
    if frames.is_empty() && components > 0 {
        let end = reader.lexer.source().len();
        return Err(reader.fatal(end, "the file has no frame", CUT_OFF));
    }
    for frame in frames.iter().filter(|f| length(f) != components) {
        let message = format!(
            "the frame has {}, expected {components}",
            counted(length(frame), "number")
        );
        reader.error(
            frame.at,
            message,
            format!("frame {} of {}", frame.number, frames.len()),
            "",
        )?;
    }
    anim.components = components as u32;
    // Without numbers, the boxes count the frames.
    if components == 0 && anim.bounds.len().max(1) != frames.len().max(1) {
        anim.bounds.resize(frames.len().max(1), Default::default());
    } else if !anim.bounds.is_empty() && anim.bounds.len() != frames.len().max(1) {
        reader.warn(
            0,
            format!(
                "there are {} bounds, expected {}: one for each frame",
                anim.bounds.len(),
                frames.len()
            ),
            "bounds",
        );
    }
    Ok(())
}

/// Replaces those missing before the first of the sorted frames by copies of it, unless more than
/// half of the animation is missing.
fn hold_first(reader: &mut Reader, frames: &mut Vec<Frame>) {
    let Some(&first) = frames.first() else { return };
    let missing = first.number;
    if missing == 0 || missing as usize > frames.len() {
        return;
    }
    let message = match missing {
        1 => "frame 0 is missing; frame 1 is held in its place".to_owned(),
        _ => format!(
            "frames 0 to {} are missing; frame {missing} is held in their place",
            missing - 1
        ),
    };
    reader.warn(first.at, message, "");
    frames.splice(..0, (0..missing).map(|number| Frame { number, ..first }));
}

/// Returns `true`, with an error, if another block opens here although this one was never closed.
pub(super) fn block_ended(reader: &mut Reader, block: &str) -> Result<bool, Stop> {
    const OPENERS: [&[u8]; 4] = [b"hierarchy", b"bounds", b"baseframe", b"frame"];
    let token = reader.lexer.peek();
    let ended = matches!(token.kind, TokenKind::Word(w) if OPENERS.iter().any(|o| w.eq_ignore_ascii_case(o)));
    if ended {
        let unexpected = reader.lexer.unexpected("`}`");
        reader.error(token.offset, unexpected.to_string(), block, "")?;
    }
    Ok(ended)
}
