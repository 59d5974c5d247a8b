//! Files as Doom 3's lexer reads them: comments of both kinds wherever white space may be, and strings in any quotes or none.

use super::{model::cube, *};
use crate::messages::assert_message;
use fastrand::Rng;

/// The words of a text without comments; a string in quotes is one, with its quotes.
fn words(text: &str) -> Vec<&str> {
    let (mut out, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let length = match rest.strip_prefix('"') {
            Some(inside) => inside.find('"').unwrap() + 2,
            None if rest.starts_with(['(', ')', '{', '}']) => 1,
            None => rest
                .find(|c: char| c.is_whitespace() || "(){}".contains(c))
                .unwrap_or(rest.len()),
        };
        out.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    out
}

const COMMENTS: [&str; 10] = [
    "/**/",
    "/* a comment */",
    "/* } ) \" joints { // */",
    "/* several\n\tlines\n*/",
    "/***/",
    "/* * / */",
    "// to the end of the line\n",
    "// \"quotes\" /* and more\n",
    "//\n",
    "//// } {\r\n",
];

fn separator(rng: &mut Rng, after_word: bool) -> String {
    let mut out = String::new();
    let spaces = [" ", "\n", "\t", "\r\n", "  \n"];
    // To Doom 3, a slash behind a letter is part of a path.
    if after_word || rng.bool() {
        out += spaces[rng.usize(..5)];
    }
    while rng.u8(..3) == 0 {
        out += COMMENTS[rng.usize(..COMMENTS.len())];
        if rng.bool() {
            out += spaces[rng.usize(..5)];
        }
    }
    if out.is_empty() { " ".to_owned() } else { out }
}

/// The same text, written in another way.
fn rewritten(text: &str, rng: &mut Rng) -> String {
    let mut out = separator(rng, false);
    let mut keyword = "";
    for word in words(text) {
        let mut after_word = word.starts_with(|c: char| c.is_alphabetic());
        let string = word
            .strip_prefix('"')
            .and_then(|inside| inside.strip_suffix('"'));
        match (string, rng.u8(..3)) {
            (Some(inside), 0) if !inside.contains('\'') => out += &format!("'{inside}'"),
            // Behind a keyword, a word on the next line would be a keyword.
            (Some(inside), 1)
                if keyword.is_empty()
                    && inside.starts_with(|c: char| c.is_ascii_alphabetic())
                    && inside
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_./".contains(c))
                    && !["mesh", "frame", "bounds", "baseframe", "hierarchy"].contains(&inside) =>
            {
                out += inside;
                after_word = true;
            }
            _ => out += word,
        }
        keyword = if ["commandline", "shader", "name"].contains(&word) {
            word
        } else {
            ""
        };
        out += &separator(rng, after_word);
    }
    out
}

/// A clip of some joints, whose numbers are written in every way.
fn random_anim(rng: &mut Rng) -> Md5Anim {
    let names = ["origin", "Bip01 L Thigh", "a.b_c", "don't", "x"];
    let number = |rng: &mut Rng| [0.0, -0.5, 12.25, 1e-7, -3e8, rng.f32()][rng.usize(..6)];
    let three = |rng: &mut Rng| std::array::from_fn(|_| number(rng));
    let joints: Vec<Md5AnimJoint> = (0..rng.u32(1..5))
        .map(|at| {
            let parent = at.checked_sub(1);
            Md5AnimJoint {
                name: names[at as usize].into(),
                parent,
                flags: 7,
                start: at * 3,
            }
        })
        .collect();
    let (count, frames) = (joints.len(), rng.usize(1..4));
    Md5Anim {
        command_line: String::new(),
        frame_rate: 24.0,
        components: count as u32 * 3,
        bounds: (0..frames).map(|_| [three(rng), three(rng)]).collect(),
        base_frame: (0..count).map(|_| [three(rng), three(rng)]).collect(),
        frames: (0..frames * count).flat_map(|_| three(rng)).collect(),
        joints,
    }
}

/// `MARIONETTE_FILES` asks for that many files in place of the usual.
fn count(usual: usize) -> usize {
    std::env::var("MARIONETTE_FILES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(usual)
}

#[test]
fn comments_and_quotes_of_every_kind_change_nothing() {
    let rng = &mut Rng::with_seed(10);
    for at in 0..count(1500) {
        let mut mesh = cube();
        mesh.command_line = ["", "mesh a.mb -dest b", "a // b /* c"][rng.usize(..3)].to_owned();
        mesh.joints[0].name =
            ["origin", "Bip01 L Thigh", "a.b_c", "don't", "1st"][rng.usize(..5)].to_owned();
        mesh.meshes[0].name = rng.bool().then(|| "body".to_owned());
        mesh.meshes[0].shader =
            ["", "models/skin.tga", "//bope.tga", "a /* b */"][rng.usize(..4)].to_owned();
        let text = rewritten(&write_mesh(&mesh), rng);
        let parsed = parse_mesh("a", text.as_bytes())
            .unwrap_or_else(|error| panic!("{at}: {error}\n{text}"));
        assert_eq!(
            (parsed.warnings, &*parsed.value),
            (vec![], &mesh),
            "{at}: {text}"
        );

        let anim = random_anim(rng);
        let text = rewritten(&write_anim(&anim), rng);
        let parsed = parse_anim("a", text.as_bytes())
            .unwrap_or_else(|error| panic!("{at}: {error}\n{text}"));
        assert_eq!(
            (parsed.warnings, &*parsed.value),
            (vec![], &anim),
            "{at}: {text}"
        );
    }
}

#[test]
fn what_is_missing_or_never_closed_is_said() {
    let text = write_mesh(&cube());
    let said = |text: &str| match parse_mesh("a", text.as_bytes()) {
        Ok(parsed) => parsed
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<String>(),
        Err(error) => error.to_string(),
    };
    assert_eq!(said(&text), "");
    let without = said(&text.replace("commandline \"\"", "commandline"));
    assert_message("md5: a keyword without its value", without);
    assert!(
        parse_mesh(
            "a",
            text.replace("commandline \"\"", "commandline").as_bytes()
        )
        .is_ok()
    );
    let shader = said(&text.replace("\"models/crate.tga\"", ""));
    assert_message("md5: a shader that is missing", shader);
    let open = said(&text.replace("numMeshes 1", "numMeshes 1 /* one"));
    assert_message("md5: a comment that is never closed", open);
    let single = said(&text.replace("\"origin\"", "'origin"));
    assert_message("md5: a single quote", single);
}
