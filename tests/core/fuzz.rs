//! What fuzzing found worth keeping, read again: every input of `corpus/` goes through its target's
//! checks. The targets themselves are in `fuzz/`.

mod checks;
mod choices;

use std::{fs, path::Path};

/// Runs a check on every file of a target's corpus.
fn replay(target: &str, least: usize, check: fn(&[u8])) {
    let folder = Path::new(file!()).with_extension("").join("corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    assert!(inputs.len() >= least, "{} holds {} inputs", folder.display(), inputs.len());
    for input in inputs {
        let source = fs::read(&input).unwrap();
        if std::panic::catch_unwind(|| check(&source)).is_err() {
            panic!("{} breaks a promise", input.display());
        }
    }
}

#[test]
fn every_m3d_of_the_corpus_keeps_the_promises() {
    replay("m3d", 20, checks::m3d);
}

#[test]
fn every_md5mesh_of_the_corpus_keeps_the_promises() {
    replay("md5mesh", 20, checks::md5mesh);
}

#[test]
fn every_md5anim_of_the_corpus_keeps_the_promises() {
    replay("md5anim", 20, checks::md5anim);
}

#[test]
fn every_manifest_of_the_corpus_keeps_the_promises() {
    replay("manifest", 20, checks::manifest);
}

#[test]
fn every_character_of_the_corpus_keeps_the_promises() {
    replay("character", 20, checks::character);
}
