//! Reading `.md5anim`.

mod frames;

use self::frames::{Frame, Header, arrange_frames, block_ended, frame};
use super::{
    Md5Anim, Md5AnimJoint,
    mesh::resolve_parents,
    reader::{Kind, Reader, Stop, vectors},
};
use crate::format::{
    Checked, FormatError, Lexer, Parsed, TokenKind, Unexpected,
    reader::CUT_OFF,
    sniff::{TextKind, refuse_foreign},
};
use crate::plural::counted;

/// Frames per second if a file has no usable rate: Doom 3's own.
const DEFAULT_RATE: f32 = 24.0;

/// Reads an `.md5anim` file of version 10. `file` is its name for reports.
///
/// Bounds, which nothing relies on, are dropped with a warning if they do not parse. Whatever else was
/// repaired is a warning too.
///
/// # Errors
/// If the file is not an MD5 animation of version 10, is cut off, or has lines that do not parse, or frames
/// that are missing or of unequal length. Up to [`FormatError::MAX_ERRORS`] are listed, each with its place.
pub fn parse_anim(file: &str, source: &[u8]) -> Result<Parsed<Checked<Md5Anim>>, FormatError> {
    refuse_foreign(file, source, TextKind::Md5)?;
    let mut reader = Reader::of(file, source, Kind::Anim);
    let mut anim = Md5Anim::default();
    // `Stop` means that the reason is already reported.
    let _: Result<(), Stop> = read(&mut reader, &mut anim);
    reader.check_comments();
    reader.report.finish(anim).map(Parsed::checked)
}

fn read(reader: &mut Reader, anim: &mut Md5Anim) -> Result<(), Stop> {
    reader.version()?;
    let mut header = Header::default();
    let mut hierarchy_at = None;
    let mut base_frame_at = None;
    let mut joint_places = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    // An editor that overwrites a longer file leaves its tail after everything that is declared.
    let is_complete = |header: &Header, anim: &Md5Anim, frames: &[Frame]| {
        let all_frames = header
            .frames
            .is_some_and(|(count, _)| frames.len() as u64 >= u64::from(count.max(1)));
        all_frames && !anim.joints.is_empty() && anim.base_frame.len() == anim.joints.len()
    };
    loop {
        let token = reader.lexer.next_token();
        let word = match token.kind {
            TokenKind::End => break,
            TokenKind::Word(word) => word,
            _ if is_complete(&header, anim, &frames) => {
                reader.rest_ignored(token.offset, "frame");
                break;
            }
            other => {
                reader.unknown_at_top(token.offset, other)?;
                continue;
            }
        };
        match word.to_ascii_lowercase().as_slice() {
            b"frame" => frames.push(frame(reader, &mut anim.frames, &header)?),
            b"commandline" => anim.command_line = reader.command_line()?,
            b"numframes" => header.frames = reader.count("numFrames")?.map(|n| (n, token.offset)),
            b"numjoints" => header.joints = reader.count("numJoints")?.map(|n| (n, token.offset)),
            b"numanimatedcomponents" => {
                header.components = reader
                    .count("numAnimatedComponents")?
                    .map(|n| (n, token.offset));
            }
            b"framerate" => {
                header.rate = reader
                    .take(Lexer::f32, || "frameRate".into())?
                    .map(|r| (r, token.offset));
            }
            b"hierarchy" if hierarchy_at.is_some() => {
                reader.error(token.offset, "a second `hierarchy` block", "", "")?;
                reader.lexer.skip_line();
            }
            b"hierarchy" => {
                hierarchy_at = Some(token.offset);
                joint_places = hierarchy(reader, anim, header.joints.map(|(n, _)| n))?;
            }
            b"bounds" => bounds(reader, anim)?,
            b"baseframe" => {
                base_frame_at = Some(token.offset);
                base_frame(reader, anim)?;
            }
            _ if reader.second_document(token.offset, word) => break,
            _ if is_complete(&header, anim, &frames) => {
                reader.rest_ignored(token.offset, "frame");
                break;
            }
            _ => reader.unknown_at_top(token.offset, token.kind)?,
        }
    }
    // The checks below would report consequences of these errors.
    if reader.report.failed() {
        return Err(Stop);
    }
    let end = reader.lexer.source().len();
    let (Some(_), Some(base_frame_at)) = (hierarchy_at, base_frame_at) else {
        let missing = if hierarchy_at.is_none() {
            "hierarchy"
        } else {
            "baseframe"
        };
        return Err(reader.fatal(end, format!("the file has no `{missing}` block"), CUT_OFF));
    };
    let (joints, bases) = (anim.joints.len(), anim.base_frame.len());
    if bases != joints {
        let message = format!(
            "`baseframe` has {}, expected {joints}, as in `hierarchy`",
            counted(bases, "joint")
        );
        return Err(reader.fatal(base_frame_at, message, ""));
    }
    if let Some((count, at)) = header.joints.filter(|&(n, _)| n as usize != joints) {
        reader.warn(
            at,
            format!("`numJoints` is {count}, but {joints} follow"),
            "",
        );
    }
    anim.frame_rate = match header.rate {
        Some((rate, at)) if rate != 0.0 => {
            if rate < 0.0 {
                let message = format!("`frameRate` is {rate}: the frames are played backward");
                reader.warn(at, message, "to play them forward, remove its minus sign");
            }
            rate
        }
        other => {
            let message = if other.is_some() {
                "`frameRate` is 0"
            } else {
                "there is no `frameRate`"
            };
            let at = other.map_or(0, |(_, at)| at);
            reader.warn(
                at,
                format!("{message}; {DEFAULT_RATE} frames per second are assumed"),
                "",
            );
            DEFAULT_RATE
        }
    };
    arrange_frames(reader, anim, &mut frames, &header)?;
    check_components(reader, anim, &joint_places)
}

fn hierarchy(
    reader: &mut Reader,
    anim: &mut Md5Anim,
    declared: Option<u32>,
) -> Result<Vec<usize>, Stop> {
    let context = |joint: usize| match declared {
        Some(count) => format!("joint {joint} of {count} in hierarchy"),
        None => format!("joint {joint} in hierarchy"),
    };
    let (mut parents, mut places) = (Vec::new(), Vec::new());
    if !reader.open("hierarchy")? {
        return Ok(places);
    }
    while !reader.close("hierarchy")? {
        if block_ended(reader, "hierarchy")? {
            break;
        }
        let (parent, flags_at, joint) = reader
            .take(joint, || context(anim.joints.len()))?
            .unwrap_or_default();
        parents.push(parent);
        places.push(flags_at);
        anim.joints.push(joint);
    }
    if !reader.report.failed() {
        resolve_parents(reader, &parents, |index, parent| {
            anim.joints[index].parent = parent
        })?;
    }
    Ok(places)
}

type Parent = (usize, i32);

fn joint(lexer: &mut Lexer) -> Result<(Parent, usize, Md5AnimJoint), Unexpected> {
    let name = String::from_utf8_lossy(lexer.string()?).into_owned();
    lexer.skip_space();
    let parent_at = lexer.offset();
    let parent = lexer.i32()?;
    lexer.skip_space();
    let flags_at = lexer.offset();
    let (flags, start) = (lexer.u32()?, lexer.u32()?);
    Ok((
        (parent_at, parent),
        flags_at,
        Md5AnimJoint {
            name,
            parent: None,
            flags,
            start,
        },
    ))
}

fn bounds(reader: &mut Reader, anim: &mut Md5Anim) -> Result<(), Stop> {
    anim.bounds.clear();
    if !reader.open("bounds")? {
        return Ok(());
    }
    while !reader.close("bounds")? {
        match vectors(&mut reader.lexer) {
            Ok(pair) => anim.bounds.push(pair),
            Err(unexpected) => {
                // Nothing needs them, and some exporters write infinities.
                let message = format!("{unexpected}; the bounds are ignored");
                reader.warn(
                    unexpected.offset,
                    message,
                    format!("box {} in bounds", anim.bounds.len()),
                );
                anim.bounds.clear();
                return skip_block(reader, "bounds");
            }
        }
    }
    Ok(())
}

/// Skips to behind the next closing brace, unless another block opens before it.
fn skip_block(reader: &mut Reader, block: &str) -> Result<(), Stop> {
    while !reader.close(block)? {
        if block_ended(reader, block)? {
            break;
        }
        reader.lexer.next_token();
    }
    Ok(())
}

fn base_frame(reader: &mut Reader, anim: &mut Md5Anim) -> Result<(), Stop> {
    anim.base_frame.clear();
    if !reader.open("baseframe")? {
        return Ok(());
    }
    while !reader.close("baseframe")? {
        if block_ended(reader, "baseframe")? {
            break;
        }
        let context = || {
            format!(
                "joint {} of {} in baseframe",
                anim.base_frame.len(),
                anim.joints.len()
            )
        };
        let pair = reader.take(vectors, context)?.unwrap_or_default();
        anim.base_frame.push(pair);
    }
    Ok(())
}

/// Checks that each joint's numbers lie within a frame.
fn check_components(reader: &mut Reader, anim: &mut Md5Anim, places: &[usize]) -> Result<(), Stop> {
    let (count, components) = (anim.joints.len(), u64::from(anim.components));
    for (index, (joint, &at)) in anim.joints.iter_mut().zip(places).enumerate() {
        if joint.flags > 63 {
            let context = format!("joint {index} of {count} in hierarchy");
            reader.warn(
                at,
                format!(
                    "flags {}: bits beyond the six known are ignored",
                    joint.flags
                ),
                context,
            );
            joint.flags &= 63;
        }
        let end = u64::from(joint.start) + u64::from(joint.flags.count_ones());
        if joint.flags != 0 && end > components {
            let message = format!(
                "numbers {}..{end} are out of range: a frame has {components}",
                joint.start
            );
            reader.error(
                at,
                message,
                format!("joint {index} of {count} in hierarchy"),
                "",
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/anim.rs"]
mod tests;
