//! Meshes of a file that are not drawn: hidden ones, and levels of detail, of which only one is drawn at a time.

use super::report::Report;
use crate::hierarchy::Hierarchy;
use std::collections::HashMap;

/// Returns, per node, `true` if it is a coarser level of detail of something: one of those that are known to be, one according to
/// its name, or below such a node. `meshes` are nodes.
pub(super) fn coarser<'a>(
    meshes: &[usize],
    name: impl Fn(usize) -> &'a str,
    known: Vec<bool>,
    hierarchy: &Hierarchy,
) -> Vec<bool> {
    let Hierarchy { order, parents, .. } = hierarchy;
    // Of nodes with a mesh at or below them.
    let mut names = vec![None; parents.len()];
    for &mesh in meshes {
        for node in std::iter::successors(Some(mesh), |&node| parents[node]) {
            // Those above were seen, too.
            if names[node].is_some() {
                break;
            }
            names[node] = Some(name(node));
        }
    }
    let levels: Vec<Option<(String, u32)>> =
        names.iter().map(|name| name.and_then(level)).collect();
    let mut finest: HashMap<&str, u32> = HashMap::new();
    for (of, level) in levels.iter().flatten() {
        let finest = finest.entry(of).or_insert(*level);
        *finest = (*finest).min(*level);
    }
    let mut out = known;
    for &node in order {
        let own = levels[node].as_ref();
        out[node] |= own.is_some_and(|(of, level)| *level > finest[&**of])
            || parents[node].is_some_and(|parent| out[parent]);
    }
    out
}

/// Leaves out meshes that aren't shown. Returns `false` if all are hidden, and keeps them: such a file was probably meant to be
/// loaded.
pub(super) fn leave_out_hidden<M>(
    place: &str,
    meshes: &mut Vec<M>,
    is_shown: impl Fn(&M) -> bool,
    name: impl Fn(&M) -> String,
    report: &mut Report,
) -> bool {
    if !meshes.iter().any(&is_shown) {
        return false;
    }
    let hidden = meshes.iter().filter(|mesh| !is_shown(mesh));
    let hint = "to load them, show them before exporting";
    report.warn_of(place, "hidden meshes are left out", hidden.map(name), hint);
    meshes.retain(is_shown);
    true
}

/// Warns about levels of detail that are left out.
pub(super) fn warn<N: AsRef<str>>(
    place: &str,
    left_out: impl IntoIterator<Item = N>,
    report: &mut Report,
) {
    let what = "levels of detail other than the finest are left out";
    let hint =
        "to keep them, set `all_lods: true` in a manifest, and hide parts with `PartOverrides`";
    report.warn_of(place, what, left_out, hint);
}

/// Splits a name such as `Body_LOD1`, `LOD1_Body` or `BodyLod1.001` into what it is a level of, and the level.
fn level(name: &str) -> Option<(String, u32)> {
    let lower = name.to_ascii_lowercase();
    lower.match_indices("lod").find_map(|(at, lod)| {
        let before = name[..at].chars().next_back();
        let is_word = before.is_none_or(|letter| !letter.is_alphanumeric())
            || (name[at..].starts_with('L') && before.is_some_and(|letter| !letter.is_uppercase()));
        let after = &lower[at + lod.len()..];
        let after = after.strip_prefix(['_', '-', ' ']).unwrap_or(after);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &after[digits..];
        let is_level = is_word
            && (1..=2).contains(&digits)
            && !rest.starts_with(|next: char| next.is_alphanumeric());
        let level = after[..digits].parse().ok().filter(|_| is_level)?;
        // Blender numbers copies.
        let copy = |(_, number): &(&str, &str)| {
            number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        let rest = rest
            .rsplit_once('.')
            .filter(copy)
            .map_or(rest, |(own, _)| own);
        let separators = ['_', '-', ' ', '.'];
        let [of, rest] = [&lower[..at], rest].map(|part| part.trim_matches(separators));
        Some((format!("{of}/{rest}"), level))
    })
}
