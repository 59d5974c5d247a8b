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
fn a_negative_rate_is_kept_with_a_warning() {
    let source = NOD.replace("frameRate 24", "frameRate -30");
    let parsed = parse_anim("a", source.as_bytes()).unwrap();
    assert_eq!(parsed.value.frame_rate, -30.0);
    assert_messages("md5anim: a negative rate", warnings(&source));
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
