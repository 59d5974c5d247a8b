//! Every input that fuzzing found worth keeping, in `corpus/`, goes through its target's checks, as it is and with
//! its blocks shuffled. The targets are in `fuzz/`.

mod blocks;
pub mod checks;
mod choices;

use std::{fs, path::Path};

/// Runs a check on every file of a target's corpus.
fn replay(target: &str, least: usize, check: fn(&[u8])) {
    on_corpus(target, least, |source, input| {
        keeps_the_promises(check, source, input)
    });
}

/// Runs a check on every file of a target's corpus with its blocks doubled, moved, removed and renumbered.
fn replay_mutated(target: &str, check: fn(&[u8])) {
    on_corpus(target, 20, |source, input| {
        for seed in 0..4 {
            let mut text = source.to_vec();
            blocks::mutate(&mut text, &mut blocks::Random(seed), 1 << 16);
            keeps_the_promises(check, &text, &format!("{input} with seed {seed}"));
        }
    });
}

fn keeps_the_promises(check: fn(&[u8]), source: &[u8], input: &str) {
    if std::panic::catch_unwind(|| check(source)).is_err() {
        panic!("{input} breaks a promise");
    }
}

fn on_corpus(target: &str, least: usize, mut each: impl FnMut(&[u8], &str)) {
    let folder = Path::new(file!())
        .with_extension("")
        .join("corpus")
        .join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    assert!(
        inputs.len() >= least,
        "{} holds {} inputs",
        folder.display(),
        inputs.len()
    );
    for input in inputs {
        each(&fs::read(&input).unwrap(), &input.display().to_string());
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

#[cfg(feature = "fbx")]
#[test]
fn every_fbx_of_the_corpus_keeps_the_promises() {
    replay("fbx", 8, checks::fbx);
}

#[cfg(feature = "gltf")]
#[test]
fn every_gltf_of_the_corpus_keeps_the_promises() {
    replay("gltf", 8, checks::gltf);
}

#[cfg(feature = "gltf")]
#[test]
fn every_compressed_stream_of_the_corpus_keeps_the_promises() {
    replay("compressed", 20, checks::compressed);
}

/// `MARIONETTE_COMPRESSED` sets how many times each stream is changed.
#[cfg(feature = "gltf")]
#[test]
fn compressed_streams_with_any_bytes_changed_keep_the_promises() {
    let rounds = std::env::var("MARIONETTE_COMPRESSED").ok();
    let rounds: u64 = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(60);
    on_corpus("compressed", 20, |source, input| {
        for round in 0..rounds {
            let mut random = blocks::Random(round);
            let mut bytes = source.to_vec();
            for _ in 0..1 + random.below(4) {
                // Half of them in front, where the numbers are that others depend on.
                let end = if random.below(2) == 0 {
                    64
                } else {
                    bytes.len()
                };
                let at = random.below(end.min(bytes.len()));
                bytes[at] = random.below(256) as u8;
            }
            if random.below(8) == 0 {
                bytes.truncate(random.below(bytes.len()));
            }
            let input = format!("{input} in round {round}");
            keeps_the_promises(checks::compressed, &bytes, &input);
        }
    });
}

#[test]
fn every_baked_file_of_the_corpus_keeps_the_promises() {
    replay("baked", 4, checks::baked);
}

#[test]
fn every_manifest_of_the_corpus_keeps_the_promises() {
    replay("manifest", 20, checks::manifest);
}

#[test]
fn every_recording_of_the_corpus_keeps_the_promises() {
    replay("recording", 5, checks::recording);
}

/// A recording of another version would be refused, and prove nothing.
#[test]
fn recordings_of_the_corpus_are_read() {
    let mut read = 0;
    on_corpus("recording", 5, |source, _| {
        read += usize::from(checks::recording_file(source).is_ok())
    });
    assert!(read >= 4, "{read}");
}

#[test]
fn recordings_with_any_bytes_changed_keep_the_promises() {
    on_corpus("recording", 5, |source, input| {
        let mut random = blocks::Random(source.len() as u64);
        for round in 0..if source.len() < 20_000 { 300 } else { 20 } {
            let mut bytes = source.to_vec();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            keeps_the_promises(
                checks::recording,
                &bytes,
                &format!("{input} in round {round}"),
            );
        }
    });
}

#[test]
fn files_with_their_blocks_doubled_moved_and_renumbered_keep_the_promises() {
    replay_mutated("m3d", checks::m3d);
    replay_mutated("md5mesh", checks::md5mesh);
    replay_mutated("md5anim", checks::md5anim);
    replay_mutated("manifest", checks::manifest);
}

#[test]
fn every_character_of_the_corpus_keeps_the_promises() {
    replay("character", 20, checks::character);
}

#[test]
fn every_controller_and_blend_space_of_the_corpus_plays() {
    replay("playing", 20, checks::playing);
}

/// `MARIONETTE_PLAYING` sets their number.
#[test]
fn whatever_is_accepted_plays() {
    let count = std::env::var("MARIONETTE_PLAYING")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(500);
    // The last one has a clip so long that two rounds of it are endless.
    for seed in (0..count).chain([1319]) {
        let mut random = blocks::Random(seed);
        let choices: Vec<u8> = (0..40 + random.below(300))
            .map(|_| random.below(256) as u8)
            .collect();
        keeps_the_promises(checks::playing, &choices, &format!("seed {seed}"));
    }
}
