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
        Some((rate, _)) if rate != 0.0 => rate,
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
mod tests {
    use super::{super::reports, *};
    use crate::messages::{assert_message, assert_messages};

    const NOD: &str = r#"MD5Version 10
commandline ""
numFrames 2
numJoints 2
frameRate 24
numAnimatedComponents 7
hierarchy {
	"root"	-1 63 0	//  ( Tx Ty Tz Qx Qy Qz )
	"head"	0 32 6	// root ( Qz )
}
bounds {
	( -1 -1 -1 ) ( 1 1 1 )
	( -1 -1 -1 ) ( 1 1 2 )
}
baseframe {
	( 0 0 0 ) ( 0 0 0 )
	( 0 0 3 ) ( 0.1 0.2 0.3 )
}
frame 0 {
	0 0 0 0 0 0 0.25
}
frame 1 {
	1 2 3
	-0.5 0.5 -0.5
	0.75
}
"#;

    fn errors(source: &str) -> Vec<String> {
        reports::errors(parse_anim("a.md5anim", source.as_bytes()))
    }

    fn warnings(source: &str) -> Vec<String> {
        reports::warnings(parse_anim("a.md5anim", source.as_bytes()))
    }

    #[test]
    fn numbers_may_stand_on_any_number_of_lines() {
        let parsed = parse_anim("a", NOD.as_bytes()).unwrap();
        assert_eq!(parsed.warnings, []);
        let anim = &parsed.value;
        assert_eq!(
            (anim.frame_count(), anim.frame_rate, anim.components),
            (2, 24.0, 7)
        );
        assert_eq!(anim.joint_at(0, 1), [[1.0, 2.0, 3.0], [-0.5, 0.5, -0.5]]);
        assert_eq!(anim.joint_at(1, 1), [[0.0, 0.0, 3.0], [0.1, 0.2, 0.75]]);
        let one_line = NOD
            .lines()
            .map(|l| l.split("//").next().unwrap_or(l))
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(parse_anim("a", one_line.as_bytes()).unwrap(), parsed);
        assert_eq!(
            parse_anim("a", NOD.replace('\n', "\r\n").as_bytes()).unwrap(),
            parsed
        );
    }

    #[test]
    fn frames_in_another_order_are_sorted() {
        let swapped = NOD
            .replace("frame 0", "frame x")
            .replace("frame 1", "frame 0")
            .replace("frame x", "frame 1");
        let anim = parse_anim("a", swapped.as_bytes()).unwrap().value;
        assert_eq!(anim.joint_at(0, 0)[0], [1.0, 2.0, 3.0]);
        let twice = NOD.replace("frame 1", "frame 0");
        assert_messages("md5anim: a frame twice", warnings(&twice));
        let gap = NOD.replace("frame 1", "frame 4294967295");
        assert_messages("md5anim: a frame far away", errors(&gap));
    }

    #[test]
    fn counts_that_lie_are_warnings() {
        let source = NOD
            .replace("numFrames 2", "numFrames 4294967295")
            .replace("Components 7", "Components 4294967295");
        assert_messages("md5anim: counts that lie", warnings(&source));
        assert_eq!(
            parse_anim("a", source.as_bytes()).unwrap().value,
            parse_anim("a", NOD.as_bytes()).unwrap().value
        );
    }

    #[test]
    fn a_rate_of_0_and_bounds_that_do_not_parse_are_warnings() {
        let source = NOD
            .replace("frameRate 24", "frameRate 0")
            .replace("( 1 1 2 )", "( 1 inf 2 )");
        assert_messages("md5anim: a rate of 0 and odd bounds", warnings(&source));
    }

    #[test]
    fn a_negative_rate_is_kept() {
        let parsed =
            parse_anim("a", NOD.replace("frameRate 24", "frameRate -30").as_bytes()).unwrap();
        assert_eq!((parsed.value.frame_rate, parsed.warnings), (-30.0, vec![]));
    }

    #[test]
    fn text_behind_the_last_declared_frame_is_a_warning() {
        let whole = parse_anim("a", NOD.as_bytes()).unwrap().value;
        for tail in [
            "0.5 1 }\nframe 7 {\n\t1 2",
            "} }\n",
            "rubbish ( 1 2 ) {\n",
            "\"text\"",
        ] {
            let source = format!("{NOD}{tail}");
            assert_messages("md5anim: text after the last frame", warnings(&source));
            assert_eq!(parse_anim("a", source.as_bytes()).unwrap().value, whole);
        }
        // With a frame still to come, the same text is an error.
        let cut = format!("{NOD}0.5 1 }}\n").replace("numFrames 2", "numFrames 3");
        assert!(parse_anim("a", cut.as_bytes()).is_err());
    }

    #[test]
    fn missing_leading_frames_hold_the_first() {
        let source = NOD
            .replace("frame 1 {", "frame 2 {")
            .replace("frame 0 {", "frame 1 {");
        assert_messages("md5anim: a first frame that is missing", warnings(&source));
        let anim = parse_anim("a", source.as_bytes()).unwrap().value;
        assert_eq!(anim.frame_count(), 3);
        assert_eq!(anim.joint_at(1, 0), anim.joint_at(1, 1));
        assert_eq!(anim.joint_at(0, 2)[0], [1.0, 2.0, 3.0]);
        let far = NOD
            .replace("frame 1 {", "frame 4 {")
            .replace("frame 0 {", "frame 3 {");
        assert_messages("md5anim: many frames that are missing", errors(&far));
    }

    #[test]
    fn ranges_and_lengths_that_do_not_fit_are_errors() {
        let range = errors(&NOD.replace("0 32 6", "0 48 6"));
        assert_messages("md5anim: a joint of numbers out of range", range);
        let short = errors(&NOD.replace("\t0.75\n", ""));
        assert_messages("md5anim: a frame that is too short", short);
        let base = errors(&NOD.replace("\t( 0 0 3 ) ( 0.1 0.2 0.3 )\n", ""));
        assert_messages("md5anim: a base frame of too few joints", base);
        let parent = errors(&NOD.replace("\"head\"\t0", "\"head\"\t2"));
        assert_messages("md5anim: a parent out of range", parent);
        let number = errors(&NOD.replace("-0.5 0.5", "-0.5 nan"));
        assert_messages("md5anim: a number that is none", number);
    }

    #[test]
    fn a_pose_without_numbers_has_one_frame() {
        let still = NOD
            .replace("63 0", "0 0")
            .replace("32 6", "0 0")
            .replace("Components 7", "Components 0");
        let still = still[..still.find("frame 0").unwrap()].replace("numFrames 2", "numFrames 0");
        let anim = parse_anim("a", still.as_bytes()).unwrap().value;
        assert_eq!(anim.frame_count(), 1);
        assert_eq!(anim.joint_at(1, 0), [[0.0, 0.0, 3.0], [0.1, 0.2, 0.3]]);
    }

    #[test]
    fn a_mesh_is_named_for_what_it_is() {
        let mesh = b"MD5Version 10\nnumJoints 3\nnumMeshes 1\njoints {";
        let error = parse_anim("a", mesh).unwrap_err();
        assert_message("md5anim: an .md5mesh", error);
        let early = parse_anim("a", b"MD5Version 10\nnumchannels 222\n").unwrap_err();
        assert_message("md5anim: keywords of version 6", early);
    }

    #[test]
    fn a_file_cut_anywhere_is_read_or_refused_and_never_panics() {
        for length in 0..NOD.len() {
            if let Ok(parsed) = parse_anim("a", &NOD.as_bytes()[..length]) {
                // After a frame's closing brace, the file is complete up to there.
                let whole = NOD[..length].trim_end().ends_with('}');
                assert!(whole || !parsed.warnings.is_empty(), "{length}");
            }
        }
    }
}
