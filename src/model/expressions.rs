//! Names of facial expressions: what a game asks for, in terms of the morph targets that a model has.
//!
//! ARKit's 52 blend shapes, VRM's presets and Oculus' visemes name the same faces differently. A model has one of these sets, or
//! some of its own; a game or a stream of face tracking has another. So a name is looked for as it is, then as the same shape
//! in another set, then as a mix of shapes.

mod mouths;

use super::{
    Expression, ExpressionOverride, MorphFrames, MorphIndex, Morphs, morph::expression::OthersLeft,
};
use mouths::{mouth, tell_rhubarb};
use std::{borrow::Cow, collections::HashMap};

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
    /// Expressions that the model's file defines go before all others, whatever its morph targets are called: see
    /// [`own_expressions`](Self::own_expressions).
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

    /// Returns the index of the expression of the model's file that a name stands for, among
    /// [`own_expressions`](Self::own_expressions).
    #[cfg(feature = "bevy")]
    pub(crate) fn own_expression(&self, name: &str) -> Option<usize> {
        self.find_own(&Own::new(self), name)
    }

    fn find_own(&self, own: &Own, name: &str) -> Option<usize> {
        let exact = own.exact.get(name).copied();
        // A target's exact name stands for the target.
        let is_free = || !own.all.is_empty() && self.morph(name).is_none();
        exact.or_else(|| is_free().then(|| own.find(&reduced(name)))?)
    }

    /// Returns the weights of the morph targets that show expressions, which `frames` have by name. As the specification of
    /// VRM says, some are shown in full or not at all, and some are shown less while others are.
    ///
    /// What changes at once does so between two frames at one time, unless there would be more than `most` weights.
    pub(crate) fn of_expressions(
        &self,
        frames: &MorphFrames,
        duration: f64,
        most: usize,
    ) -> MorphFrames {
        let names: Vec<&str> = frames.names.iter().map(|name| &**name).collect();
        let own = Own::new(self);
        let of_file: Vec<Option<&Expression>> = names
            .iter()
            .map(|name| Some(&own.all[self.find_own(&own, name)?]))
            .collect();
        let shapes = self.expressions(&names);
        let (times, weights) = match steps(frames, &of_file, duration, most) {
            Some((times, weights)) if times.len().saturating_mul(self.len()) <= most => {
                (times, Cow::Owned(weights))
            }
            _ => (frames.times.clone(), Cow::Borrowed(&frames.weights)),
        };
        let mut out = MorphFrames {
            names: self.names().into(),
            animated: vec![false; self.len()],
            weights: Vec::with_capacity(times.len() * self.len()),
            times,
        };
        let is_moved = |at: usize| frames.animated.get(at).is_none_or(|moved| *moved);
        for frame in weights.chunks_exact(names.len().max(1)) {
            let first = out.weights.len();
            out.weights.resize(first + self.len(), 0.0);
            let set = of_file.iter().zip(frame);
            let set = set.filter_map(|(one, weight)| Some(((*one)?, *weight)));
            let left = OthersLeft::beside(set);
            for (at, weight) in frame.iter().enumerate().filter(|(at, _)| is_moved(*at)) {
                let shown = match of_file[at] {
                    Some(one) => left.shown(one, *weight),
                    None => weight.clamp(0.0, 1.0),
                };
                for &(morph, share) in shapes[at].iter().flatten() {
                    let morph = usize::from(morph);
                    out.weights[first + morph] += shown * share;
                    out.animated[morph] = true;
                }
            }
        }
        out
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
            // A letter of Rhubarb's is none of the file's.
            let of_file = own.own.exact.get(name).filter(|_| reduced(name) == *asked);
            match (of_file, exact) {
                (Some(&at), _) => return Some(own.own.all[at].morphs.clone()),
                (None, Some(morph)) => return Some(vec![(morph, 1.0)]),
                (None, None) => {}
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

/// Adds frames to weights of expressions where one begins or ceases to be shown at once, and where one takes more and more from
/// another. Returns times and weights; `None` if there is no such place, or if there would be more than `most` weights.
fn steps(
    frames: &MorphFrames,
    of_file: &[Option<&Expression>],
    duration: f64,
    most: usize,
) -> Option<(Vec<f64>, Vec<f32>)> {
    let rows: Vec<&[f32]> = frames.weights.chunks_exact(of_file.len().max(1)).collect();
    let time = |at: usize| match frames.times.get(at) {
        Some(time) => *time,
        None => duration * at as f64 / (rows.len().max(2) - 1) as f64,
    };
    // The weights beyond which each is shown, and blocks others.
    let bound = |one: &Expression| match one.is_binary {
        true => Some(0.5),
        false => one.overrides(ExpressionOverride::Block).then_some(0.0),
    };
    let known = || {
        of_file
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((at, (*one)?)))
    };
    let bounds: Vec<(usize, f32)> = known()
        .filter_map(|(at, one)| Some((at, bound(one)?)))
        .collect();
    let blending: Vec<usize> = known()
        .filter_map(|(at, one)| one.overrides(ExpressionOverride::Blend).then_some(at))
        .collect();
    let procedural: Vec<usize> = known()
        .filter_map(|(at, one)| one.procedural().map(|_| at))
        .collect();
    let (mut times, mut weights) = (vec![time(0)], rows.first()?.to_vec());
    for (at, pair) in rows.windows(2).enumerate() {
        let (from, to) = (time(at), time(at + 1));
        let change = |some: &[usize]| {
            let changes = some
                .iter()
                .map(|&one| (pair[1][one] - pair[0][one]).abs().min(1.0));
            changes.fold(0.0, f32::max)
        };
        // The product of two lines is a parabola.
        let cuts = (CUTS * (change(&blending) * change(&procedural)).sqrt()).ceil();
        let cuts = (1..cuts as usize).map(|cut| (cut as f32 / cuts, None));
        let crossings = bounds.iter().filter_map(|&(one, bound)| {
            let (before, after) = (pair[0][one], pair[1][one]);
            let crosses = (before > bound) != (after > bound);
            let share = ((bound - before) / (after - before)).clamp(0.0, 1.0);
            crosses.then_some((share, Some((one, bound))))
        });
        let mut places: Vec<(f32, Option<(usize, f32)>)> = cuts.chain(crossings).collect();
        places.retain(|_| to > from);
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (share, crossed) in places {
            let mut row: Vec<f32> = (pair[0].iter().zip(pair[1]))
                .map(|(a, b)| a + (b - a) * share)
                .collect();
            let mut push = |row: &[f32]| {
                times.push(from + (to - from) * f64::from(share));
                weights.extend_from_slice(row);
            };
            match crossed {
                None => push(&row),
                Some((one, bound)) => {
                    let mut ends = [bound, bound.next_up()];
                    if pair[1][one] <= bound {
                        ends.reverse();
                    }
                    for end in ends {
                        row[one] = end;
                        push(&row);
                    }
                }
            }
            if weights.len() > most {
                return None;
            }
        }
        times.push(to);
        weights.extend_from_slice(pair[1]);
    }
    (times.len() > rows.len()).then_some((times, weights))
}

/// Pieces into which the longest changes of two expressions are cut.
const CUTS: f32 = 16.0;

/// The expressions that a model's file defines, by their names.
struct Own<'a> {
    all: &'a [Expression],
    /// The first of each name as it is written; names go before aliases.
    exact: HashMap<&'a str, usize>,
    /// The first of each reduced name, and of each shape.
    by_name: HashMap<String, usize>,
    by_shape: HashMap<String, usize>,
}

impl<'a> Own<'a> {
    fn new(morphs: &'a Morphs) -> Self {
        let all = morphs.own_expressions();
        let names: [fn(&Expression) -> &str; 2] = [|one| &one.name, |one| &one.alias];
        let mut exact = HashMap::new();
        for name in names {
            let named = all.iter().map(name).enumerate();
            for (at, name) in named.filter(|(_, name)| !name.is_empty()) {
                exact.entry(name).or_insert(at);
            }
        }
        let (mut by_name, mut by_shape) = (HashMap::new(), HashMap::new());
        for (at, one) in all.iter().enumerate() {
            let names = [&one.name, &one.alias].map(|name| reduced(name));
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                // Numbers count something else.
                if name.parse::<u64>().is_err() {
                    by_shape.entry(shape(&name).to_owned()).or_insert(at);
                }
                by_name.entry(name).or_insert(at);
            }
        }
        Self {
            all,
            exact,
            by_name,
            by_shape,
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = self.by_name.get(name);
        found.or_else(|| self.by_shape.get(shape(name))).copied()
    }
}

/// The names of a model's morph targets.
struct Targets<'a> {
    own: Own<'a>,
    reduced: Vec<String>,
    /// The first target of each reduced name, and of each shape.
    by_name: HashMap<String, usize>,
    by_shape: HashMap<String, usize>,
}

impl<'a> Targets<'a> {
    fn new(morphs: &'a Morphs) -> Self {
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
            own: Own::new(morphs),
            reduced,
            by_name,
            by_shape,
        }
    }

    /// Adds what shows a shape. Returns `true` if there is something.
    fn find(&self, name: &str, share: f32, depth: usize, add: &mut impl FnMut(usize, f32)) -> bool {
        let wanted = shape(name);
        if let Some(of_file) = self.own.find(name) {
            let shown = &self.own.all[of_file].morphs;
            (shown.iter()).for_each(|&(morph, of)| add(usize::from(morph), share * of));
            return true;
        }
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
