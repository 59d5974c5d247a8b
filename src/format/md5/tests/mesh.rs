use super::{super::reports, *};
use crate::messages::{assert_message, assert_messages};

const TRIANGLE: &str = r#"MD5Version 10
commandline "make \"it" // quotes in quotes
numJoints 2
numMeshes 1
joints {
	"root"	-1 ( 0 0 0 ) ( 0 0 0 )		//
	"the arm" 0 ( 1 2 3 ) ( -0.5 0.5 -0.5 ) // root
}
mesh {
	// meshes: head
	shader "//bope.tga"
	numverts 3
	vert 0 ( 0 0 ) 0 1
	vert 1 ( 1 0 ) 1 1
	vert 2 ( 0 1.5 ) 1 2
	numtris 1
	tri 0 0 2 1
	numweights 3
	weight 0 0 1 ( 0 0 0 )
	weight 1 1 0.25 ( 1 0 0 )
	weight 2 0 0.75 ( -1e-3 0 0 )
}
"#;

fn errors(source: &str) -> Vec<String> {
    reports::errors(parse_mesh("a.md5mesh", source.as_bytes()))
}

fn warnings(source: &str) -> Vec<String> {
    reports::warnings(parse_mesh("a.md5mesh", source.as_bytes()))
}

#[test]
fn a_mesh_reads_whatever_its_line_ends_and_comments() {
    let plain = parse_mesh("a", TRIANGLE.as_bytes()).unwrap();
    assert_eq!(plain.warnings, []);
    let Md5Mesh {
        command_line,
        joints,
        meshes,
    } = &*plain.value;
    assert_eq!(command_line, "make \\'it");
    assert_eq!(
        (joints[1].name.as_str(), joints[1].parent),
        ("the arm", Some(0))
    );
    assert_eq!(meshes[0].shader, "//bope.tga");
    assert_eq!(
        meshes[0].vertices[2],
        Md5Vertex {
            tex_coord: [0.0, 1.5],
            first_weight: 1,
            weight_count: 2
        }
    );
    assert_eq!(
        meshes[0].weights[2],
        Md5Weight {
            joint: 0,
            bias: 0.75,
            position: [-0.001, 0.0, 0.0]
        }
    );
    let windows = TRIANGLE.replace('\n', " \t\r\n");
    assert_eq!(parse_mesh("a", windows.as_bytes()).unwrap(), plain);
    let no_final_newline = TRIANGLE.trim_end();
    assert_eq!(parse_mesh("a", no_final_newline.as_bytes()).unwrap(), plain);
}

#[test]
fn items_in_another_order_are_sorted() {
    let swapped = TRIANGLE.replace(
        "vert 0 ( 0 0 ) 0 1\n\tvert 1 ( 1 0 ) 1 1",
        "vert 1 ( 1 0 ) 1 1\n\tvert 0 ( 0 0 ) 0 1",
    );
    assert_ne!(swapped, TRIANGLE);
    assert_eq!(
        parse_mesh("a", swapped.as_bytes()),
        parse_mesh("a", TRIANGLE.as_bytes())
    );
}

#[test]
fn the_first_of_two_documents_is_read() {
    let twice = format!("{TRIANGLE}{TRIANGLE}");
    assert_messages("md5mesh: two documents", warnings(&twice));
}

#[test]
fn text_behind_the_last_declared_mesh_is_a_warning() {
    let whole = parse_mesh("a", TRIANGLE.as_bytes()).unwrap().value;
    for tail in [
        "weight 3 0 1 ( 0 0 0 )\n}\n",
        "0.5 )\n}\nmesh {\n\tnumverts",
        "} }\n",
    ] {
        let source = format!("{TRIANGLE}{tail}");
        assert_messages("md5mesh: text after the last mesh", warnings(&source));
        assert_eq!(parse_mesh("a", source.as_bytes()).unwrap().value, whole);
        assert!(parse_mesh("a", source.replace("numMeshes 1", "numMeshes 2").as_bytes()).is_err());
    }
}

#[test]
fn an_empty_submesh_a_name_and_several_roots_are_fine() {
    let source = TRIANGLE
        .replace("numMeshes 1", "numMeshes 2")
        .replace("arm\" 0", "arm\" -1")
        + "mesh { name \"nothing\" shader \"\" numverts 0 numtris 0 numweights 0 }";
    let parsed = parse_mesh("a", source.as_bytes()).unwrap();
    assert_eq!(parsed.value.meshes[1].name.as_deref(), Some("nothing"));
    assert_eq!(parsed.value.joints[1].parent, None);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn a_child_may_come_before_its_parent_but_not_be_its_own_ancestor() {
    let source = TRIANGLE
        .replace("root\"\t-1", "root\" 1")
        .replace("arm\" 0", "arm\" -1");
    assert_eq!(
        parse_mesh("a", source.as_bytes()).unwrap().value.joints[0].parent,
        Some(1)
    );
    let ring = TRIANGLE.replace("root\"\t-1", "root\" 1");
    assert_messages("md5mesh: a ring of joints", errors(&ring));
    let own = TRIANGLE.replace("arm\" 0", "arm\" 1");
    assert_messages("md5mesh: a joint that is its own parent", errors(&own));
    let far = TRIANGLE.replace("arm\" 0", "arm\" 2");
    assert_messages("md5mesh: a parent out of range", errors(&far));
}

#[test]
fn counts_that_lie_are_warnings_and_cost_nothing() {
    let source = TRIANGLE
        .replace("numverts 3", "numverts 4294967295")
        .replace("numJoints 2", "numJoints 7");
    assert_messages("md5mesh: counts that lie", warnings(&source));
}

#[test]
fn indices_out_of_range_are_named_with_their_place() {
    let cases = [
        ("vert", "vert 0 (", "vert 4294967295 ("),
        ("weights", "1 2\n", "1 3\n"),
        ("vertex", "0 2 1", "0 2 3"),
        ("joint", "weight 2 0", "weight 2 999"),
    ];
    for (what, from, to) in cases {
        let errors = errors(&TRIANGLE.replacen(from, to, 1));
        assert_messages(&format!("md5mesh: {what} out of range"), errors);
    }
}

#[test]
fn several_faults_are_all_named() {
    let source = TRIANGLE
        .replace("( 1 0 ) 1 1", "( 1 x ) 1 1")
        .replace("tri 0 0 2 1", "tri 0 0 2")
        .replace("numweights", "numwieghts");
    let error = parse_mesh("a.md5mesh", source.as_bytes()).unwrap_err();
    assert_message("md5mesh: several faults", error);
}

#[test]
fn warnings_beyond_the_limit_are_counted() {
    let lines: String = (0..70).map(|i| format!("\todd{i} 1\n")).collect();
    let source = TRIANGLE.replace("\tnumverts", &format!("{lines}\tnumverts"));
    let warnings = warnings(&source);
    assert_eq!(warnings.len(), 50);
    assert_messages("md5mesh: warnings beyond the limit", &warnings[48..]);
}

#[test]
fn what_is_no_md5_mesh_is_named_for_what_it_is() {
    for (what, source) in [
        ("an empty file", ""),
        ("version 6", "MD5Version 6\n"),
        (
            "keywords of version 6",
            "MD5Version 10\ncommandline \"\"\nnumbones 33\n",
        ),
        ("an .md5anim", "MD5Version 10\nnumFrames 3\n"),
        ("a misspelled first word", "MD5Verson 10"),
        ("version 11", "MD5Version 11"),
        ("an .m3d", "***m3d-File-Header***"),
        ("no joints", "MD5Version 10\n"),
    ] {
        let error = parse_mesh("a", source.as_bytes()).unwrap_err();
        assert_message(&format!("md5mesh: {what}"), error);
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused_and_never_panics() {
    for length in 0..TRIANGLE.len() {
        let cut = &TRIANGLE.as_bytes()[..length];
        // Only the line end after the last brace may go missing.
        assert_eq!(
            parse_mesh("a", cut).is_ok(),
            length == TRIANGLE.len() - 1,
            "{length}"
        );
    }
}
