//! Tables of what a pose costs, of what loading costs, and of how the time of some work grows with its amount.
//!
//! `cargo bench --bench table` prints all; `-- pose`, `-- load` or `-- growth` one of them; files named behind `--` are
//! loaded instead of the two characters of `assets`. Figures are those of one thread, the fastest of many
//! runs: compare them with others of the same run only. Beside ozz-animation: `benches/ozz`.

mod counting;
mod growth;
mod load;
mod pose;

use std::path::PathBuf;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--test");
    let words: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let asks = |word: &str| words.iter().any(|asked| *asked == word);
    let files: Vec<PathBuf> = words
        .iter()
        .filter(|w| !["pose", "load", "growth"].contains(&w.as_str()))
        .map(PathBuf::from)
        .collect();
    let all = words.is_empty();
    if all || asks("pose") {
        pose::table(quick);
    }
    if all || asks("growth") {
        growth::table(quick);
    }
    if all || asks("load") || !files.is_empty() {
        load::table(quick, &files);
    }
}
