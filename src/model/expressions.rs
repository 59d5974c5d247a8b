//! Names of facial expressions: what a game asks for, in terms of the morph targets that a model has.
//!
//! ARKit's 52 blend shapes, VRM's presets and Oculus' visemes name the same faces differently. A model has one of these sets, or
//! some of its own; a game or a stream of face tracking has another. So a name is looked for as it is, then as the same shape
//! in another set, then as a mix of shapes.

mod mouths;

use super::{MorphIndex, Morphs};
use mouths::{mouth, tell_rhubarb};
use std::collections::HashMap;

/// A shape, and what else it is called. Names are [reduced](reduced).
const SAME: &[(&str, &[&str])] = &[
    (
        "blink",
        &["eyeblink", "eyesclosed", "eyeclose", "fcleyeclose"],
    ),
    (
        "blinkleft",
        &[
            "eyeblinkleft",
            "eyecloseleft",
            "winkleft",
            "fcleyecloseleft",
        ],
    ),
    (
        "blinkright",
        &[
            "eyeblinkright",
            "eyecloseright",
            "winkright",
            "fcleyecloseright",
        ],
    ),
    ("lookup", &["eyeslookup"]),
    ("lookdown", &["eyeslookdown"]),
    ("lookleft", &["eyeslookleft"]),
    ("lookright", &["eyeslookright"]),
    ("happy", &["joy", "smile", "mouthsmile", "fclalljoy"]),
    ("angry", &["anger", "fclallangry"]),
    ("sad", &["sorrow", "fclallsorrow"]),
    ("relaxed", &["fun", "fclallfun"]),
    ("surprised", &["surprise", "fclallsurprised"]),
];

/// A shape as a mix of others, tried in order for models that lack it.
const MIXES: &[(&str, &[(&str, f32)])] = &[
    ("blink", &[("blinkleft", 1.0), ("blinkright", 1.0)]),
    ("lookup", &[("eyelookupleft", 1.0), ("eyelookupright", 1.0)]),
    (
        "lookdown",
        &[("eyelookdownleft", 1.0), ("eyelookdownright", 1.0)],
    ),
    (
        "lookleft",
        &[("eyelookoutleft", 1.0), ("eyelookinright", 1.0)],
    ),
    (
        "lookright",
        &[("eyelookinleft", 1.0), ("eyelookoutright", 1.0)],
    ),
    // The model has both eyes in one shape, which each of two halves moves halfway.
    ("eyelookupleft", &[("lookup", 0.5)]),
    ("eyelookupright", &[("lookup", 0.5)]),
    ("eyelookdownleft", &[("lookdown", 0.5)]),
    ("eyelookdownright", &[("lookdown", 0.5)]),
    ("eyelookoutleft", &[("lookleft", 0.5)]),
    ("eyelookinright", &[("lookleft", 0.5)]),
    ("eyelookinleft", &[("lookright", 0.5)]),
    ("eyelookoutright", &[("lookright", 0.5)]),
    (
        "happy",
        &[
            ("mouthsmileleft", 0.8),
            ("mouthsmileright", 0.8),
            ("cheeksquintleft", 0.5),
            ("cheeksquintright", 0.5),
        ],
    ),
    (
        "angry",
        &[
            ("browdownleft", 1.0),
            ("browdownright", 1.0),
            ("nosesneerleft", 0.3),
            ("nosesneerright", 0.3),
            ("mouthfrownleft", 0.4),
            ("mouthfrownright", 0.4),
        ],
    ),
    (
        "sad",
        &[
            ("browinnerup", 0.7),
            ("mouthfrownleft", 0.7),
            ("mouthfrownright", 0.7),
        ],
    ),
    (
        "relaxed",
        &[
            ("mouthsmileleft", 0.4),
            ("mouthsmileright", 0.4),
            ("eyesquintleft", 0.3),
            ("eyesquintright", 0.3),
        ],
    ),
    ("relaxed", &[("happy", 0.5)]),
    (
        "surprised",
        &[
            ("browinnerup", 1.0),
            ("browouterupleft", 1.0),
            ("browouterupright", 1.0),
            ("eyewideleft", 0.7),
            ("eyewideright", 0.7),
            ("jawopen", 0.35),
        ],
    ),
    ("mouthsmileleft", &[("happy", 0.5)]),
    ("mouthsmileright", &[("happy", 0.5)]),
    ("browinnerup", &[("surprised", 0.5)]),
    ("aa", &[("jawopen", 0.7)]),
    (
        "ih",
        &[
            ("jawopen", 0.2),
            ("mouthstretchleft", 0.4),
            ("mouthstretchright", 0.4),
        ],
    ),
    ("ou", &[("mouthpucker", 0.9), ("jawopen", 0.15)]),
    (
        "ee",
        &[
            ("jawopen", 0.25),
            ("mouthsmileleft", 0.4),
            ("mouthsmileright", 0.4),
        ],
    ),
    ("oh", &[("mouthfunnel", 0.8), ("jawopen", 0.4)]),
    ("jawopen", &[("aa", 1.0)]),
    ("mouthfunnel", &[("oh", 1.0)]),
    ("mouthpucker", &[("ou", 1.0)]),
    ("pp", &[("mouthpressleft", 0.6), ("mouthpressright", 0.6)]),
    (
        "ff",
        &[
            ("mouthrolllower", 0.6),
            ("mouthupperupleft", 0.3),
            ("mouthupperupright", 0.3),
        ],
    ),
    ("ff", &[("ou", 0.3)]),
    ("th", &[("tongueout", 0.4), ("jawopen", 0.2)]),
    ("th", &[("ih", 0.5)]),
    ("dd", &[("ih", 0.6)]),
    ("kk", &[("ih", 0.5)]),
    ("ch", &[("ou", 0.5)]),
    ("ss", &[("ee", 0.5)]),
    ("nn", &[("ih", 0.4)]),
    ("rr", &[("oh", 0.4)]),
];

/// Shapes that a face can lack: then it stays as it is.
const NOTHING: &[&str] = &["sil", "neutral", "pp", "mouthclose"];

impl Morphs {
    /// Returns the morph targets that show an expression, each with its share of the expression's weight. Empty if the
    /// model has nothing like it.
    ///
    /// Takes the name of a morph target, one of ARKit's 52 blend shapes, one of VRM's presets (also as in version 0), or a mouth
    /// shape of Oculus, VRChat, MMD, Rhubarb, or Microsoft (a number), whichever set the model has: `blink` closes both of
    /// ARKit's eyes, and `jawOpen` is VRM's `aa`. Case, separators and prefixes such as `viseme_` make no difference.
    ///
    /// `A` and `E` are vowels. For Rhubarb's shapes of these names, write `rhubarb_A` and `rhubarb_E`.
    pub fn expression(&self, name: &str) -> Vec<(MorphIndex, f32)> {
        self.expressions(&[name])
            .pop()
            .flatten()
            .unwrap_or_default()
    }

    /// Returns `true` if an expression's name is known, although the model may have nothing to show for it.
    pub fn is_known_expression(&self, name: &str) -> bool {
        self.expressions(&[name]).iter().all(Option::is_some)
    }

    /// Returns what [`expression`](Self::expression) does, for names that are used together, such as in a speech: `A` is a vowel
    /// beside `I`, and a closed mouth beside `X`. `None` for names that are unknown.
    pub(crate) fn expressions(&self, names: &[&str]) -> Vec<Option<Vec<(MorphIndex, f32)>>> {
        let own = Targets::new(self);
        let mut asked: Vec<String> = names.iter().map(|name| reduced(name)).collect();
        tell_rhubarb(&mut asked);
        let shown = |(&name, asked): (&&str, &String)| {
            // The exact name goes first: other targets of the model may reduce to the same letters.
            let exact = self.morph(name);
            let exact = exact.filter(|&morph| own.reduced[usize::from(morph)] == *asked);
            if let Some(morph) = exact {
                return Some(vec![(morph, 1.0)]);
            }
            let mut out: Vec<(MorphIndex, f32)> = Vec::new();
            let mut add = |morph: usize, share: f32| {
                let morph = morph as MorphIndex;
                // A target may stand in for both halves of a mix.
                match out.iter_mut().find(|(of, _)| *of == morph) {
                    Some((_, sum)) => *sum += share,
                    None => out.push((morph, share)),
                }
            };
            let is_shown = own.find(asked, 1.0, 2, &mut add);
            (is_shown || NOTHING.contains(&shape(asked))).then_some(out)
        };
        names.iter().zip(&asked).map(shown).collect()
    }
}

/// The names of a model's morph targets.
struct Targets {
    reduced: Vec<String>,
    /// The first target of each reduced name, and of each shape.
    by_name: HashMap<String, usize>,
    by_shape: HashMap<String, usize>,
}

impl Targets {
    fn new(morphs: &Morphs) -> Self {
        let mut reduced: Vec<String> = morphs.names().iter().map(|name| reduced(name)).collect();
        tell_rhubarb(&mut reduced);
        let (mut by_name, mut by_shape) = (HashMap::new(), HashMap::new());
        for (at, name) in reduced.iter().enumerate() {
            by_name.entry(name.clone()).or_insert(at);
            // Numbers count something else.
            if name.parse::<u64>().is_err() {
                by_shape.entry(shape(name).to_owned()).or_insert(at);
            }
        }
        Self {
            reduced,
            by_name,
            by_shape,
        }
    }

    /// Adds what shows a shape. Returns `true` if there is something.
    fn find(&self, name: &str, share: f32, depth: usize, add: &mut impl FnMut(usize, f32)) -> bool {
        let wanted = shape(name);
        let direct = self.by_name.get(name).or_else(|| self.by_shape.get(wanted));
        if let Some(&at) = direct {
            add(at, share);
            return true;
        }
        // Parts of a mix may be mixes. The limit ends circles, such as that of `jawOpen` and `aa`.
        if depth == 0 {
            return false;
        }
        // Later mixes are for models that lack all parts of the earlier ones.
        let mixes = MIXES.iter().filter(|(of, _)| *of == wanted);
        for (_, parts) in mixes {
            let mut any = false;
            for &(part, of) in *parts {
                any |= self.find(part, share * of, depth - 1, add);
            }
            if any {
                return true;
            }
        }
        false
    }
}

/// The first name of the shape, given another one.
fn shape(name: &str) -> &str {
    let same = SAME.iter().find(|(_, others)| others.contains(&name));
    same.map(|(first, _)| *first)
        .or_else(|| mouth(name))
        .unwrap_or(name)
}

/// A name in lower case without separators, with its side spelled out: `Blink_L`, `blink.L` and `blinkLeft` are one.
fn reduced(name: &str) -> String {
    let (own, side) = match name.as_bytes() {
        [.., b'_' | b'.' | b'-' | b' ', b'L' | b'l'] => (&name[..name.len() - 2], "left"),
        [.., b'_' | b'.' | b'-' | b' ', b'R' | b'r'] => (&name[..name.len() - 2], "right"),
        _ => (name, ""),
    };
    // Some exporters put the mesh's name first.
    let own = match own.rsplit_once('.') {
        Some((_, own)) if own.len() > 2 => own,
        _ => own,
    };
    let letters = own.chars().filter(|c| c.is_alphanumeric());
    let mut out: String = letters.flat_map(char::to_lowercase).collect();
    out.push_str(side);
    out
}

#[cfg(test)]
#[path = "tests/expressions.rs"]
mod tests;
