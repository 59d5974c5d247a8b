//! Names of mouth shapes, as lip-sync tools and makers of faces call them.
//!
//! Oculus and VRChat, VRM, MMD, Microsoft's speech services, and Rhubarb each have a set. A name such as `A` is another shape in
//! another set, so names are read together with those that they come with.

/// A mouth shape, and what else it is called. Names are [reduced](super::reduced).
const MOUTHS: &[(&str, &[&str])] = &[
    (
        "aa",
        &[
            "a", "ah", "ae", "aeaxah", "aw", "ay", "あ", "ア", "rhubarbd",
        ],
    ),
    ("ih", &["i", "yiyihix", "い", "イ"]),
    ("ou", &["u", "oo", "wuw", "woo", "う", "ウ", "rhubarbf"]),
    ("ee", &["e", "eyehuh", "え", "エ", "rhubarbc"]),
    ("oh", &["o", "ao", "ow", "oy", "お", "オ", "rhubarbe"]),
    ("pp", &["mm", "mbp", "bmp", "pbm", "ん", "ン", "rhubarba"]),
    ("ff", &["fv", "rhubarbg"]),
    ("th", &["thdh"]),
    ("dd", &["dtn", "tldn"]),
    ("kk", &["kgng", "kghng"]),
    ("ch", &["shchjhzh", "chj"]),
    ("ss", &["sz", "rhubarbb"]),
    ("nn", &["rhubarbh"]),
    ("rr", &["er"]),
    ("sil", &["rhubarbx"]),
];

/// The shapes of Microsoft's viseme ids, of SAPI and of Azure.
const MICROSOFT: [&str; 22] = [
    "sil", "aa", "aa", "oh", "ee", "rr", "ih", "ou", "oh", "aa", "oh", "aa", "kk", "rr", "nn",
    "ss", "ch", "th", "ff", "dd", "kk", "pp",
];

/// Beginnings of names of mouth shapes. The first two go before ids, too.
const PREFIXES: [&str; 8] = [
    "visemeid", "viseme", "spviseme", "vrcv", "v", "fclmth", "mth", "mouth",
];

/// Letters that are shapes of Rhubarb alone, as bits, and those that are vowels alone. `A` and `E` are both.
const RHUBARB: u32 = letters(b"bcdfghx");
const VOWELS: u32 = letters(b"iou");

const fn letters(all: &[u8]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < all.len() {
        bits |= 1 << (all[at] - b'a');
        at += 1;
    }
    bits
}

/// Renames Rhubarb's shapes, `A` to `H` and `X`, to `rhubarba` and so on, if these names are a set of them.
pub(super) fn tell_rhubarb(names: &mut [String]) {
    // By prefix: a face may have other vowels beside them.
    let mut sets = [0; PREFIXES.len() + 1];
    for (prefix, letter) in names.iter().filter_map(|name| letter(name)) {
        sets[prefix] |= letters(&[letter]);
    }
    let is_rhubarb = |set: u32| set & RHUBARB != 0 && set & VOWELS == 0;
    for name in names {
        if let Some((prefix, letter)) = letter(name)
            && is_rhubarb(sets[prefix])
        {
            *name = format!("rhubarb{}", char::from(letter));
        }
    }
}

/// The letter that is all of a name after a prefix, and the prefix's index.
fn letter(name: &str) -> Option<(usize, u8)> {
    let prefixes = PREFIXES.iter().copied().chain([""]);
    let found = prefixes.enumerate().find_map(|(at, prefix)| {
        let &[letter] = name.strip_prefix(prefix)?.as_bytes() else {
            return None;
        };
        Some((at, letter))
    });
    found.filter(|(_, letter)| letter.is_ascii_lowercase())
}

/// The mouth shape that a name stands for, in whichever set.
pub(super) fn mouth(name: &str) -> Option<&'static str> {
    let prefixes = PREFIXES.iter().copied().chain([""]);
    prefixes
        .filter_map(|prefix| name.strip_prefix(prefix))
        .find_map(|bare| {
            let is = |(shape, names): &&(&str, &[&str])| *shape == bare || names.contains(&bare);
            MOUTHS.iter().find(is).map(|(shape, _)| *shape)
        })
        .or_else(|| {
            let ids = ["visemeid", "spviseme", "viseme", ""];
            let id = ids.iter().find_map(|prefix| {
                let id = name.strip_prefix(prefix)?;
                id.parse::<usize>().ok()
            })?;
            MICROSOFT.get(id).copied()
        })
}
