use super::*;
use crate::format::line_and_column;

const TEXT: &str = r##"#![enable(implicit_some)]
// states: {"no": ()}
Manifest(
    model: "states", /* "jump": /* nested */ */
    clips: {"jump": (file: "a, (b", letter: ','), "fall": (file: r#"x" ) "#)},
    states: {
        "jump": (plays: "jump", from: ["ground", "fal"], speed: -1.5e3),
        "combat": (states: {"aim": (from: {"x": (fade: 1)})}),
    },
    layers: {"arms": (mask: "upper", sync: Body, states: {"combat/aim": (plays: ["a", "b"])})},
)"##;

#[test]
fn what_is_at_the_end_of_a_path_is_found_at_its_place_and_not_where_it_stands_elsewhere() {
    let cases: [(&[&str], (u32, u32)); 9] = [
        (&["states"], (6, 5)),
        (&["states", "jump"], (7, 9)),
        (&["states", "jump", "from", "fal"], (7, 50)),
        (&["states", "jump", "speed"], (7, 58)),
        (&["states", "combat", "states", "aim", "from", "x"], (8, 44)),
        (&["clips", "fall", "file"], (5, 60)),
        (&["layers", "arms", "mask"], (10, 23)),
        (
            &[
                "layers", "arms", "states", "combat", "states", "aim", "plays", "b",
            ],
            (10, 87),
        ),
        // As far as it is there.
        (&["states", "jump", "then", "fall"], (7, 9)),
    ];
    for (path, place) in cases {
        let at = find(TEXT.as_bytes(), path).unwrap();
        assert_eq!(line_and_column(TEXT.as_bytes(), at), place, "{path:?}");
    }
    assert_eq!(find(TEXT.as_bytes(), &["masks"]), None);
    // A text anywhere in a value, but keys first, and all elements of a list.
    let text = br#"(a: (x: "y", y: "z"), b: [(c: ["d"]), (c: ["e"])])"#;
    for (path, place) in [
        (&["a", "z"][..], 16),
        (&["a", "y"], 13),
        (&["b", "c", "e"], 43),
    ] {
        assert_eq!(find(text, path), Some(place), "{path:?}");
    }
}

#[test]
fn any_text_has_an_end() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let mut text = TEXT.as_bytes().to_vec();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(..text.len());
            match random.u32(..3) {
                0 => text[at] = *random.choice(b"\"'\\(){}[]/*r#,:x ").unwrap(),
                1 => text.truncate(at.max(1)),
                _ => {
                    text.remove(at);
                    text.push(b'(');
                }
            }
        }
        find(&text, &["states", "jump", "from", "fal"]);
    }
}
