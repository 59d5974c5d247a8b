//! What loading costs: each format from text to numbers and from text to a finished model, beside a plain
//! reader that splits at white space and hands each word to `str::parse`, and the same model from a baked file.
//!
//! Bytes are those of the text, peak memory and allocations those of one run beyond the text itself.

use crate::counting::{self, Counts};
use bevy_marionette::{
    import::{BakedCharacter, FileKind, ImportSettings, Manifest, open_model},
    internals::{
        format::{m3d, md5},
        import::{clip_from_md5, skeleton_of_anim},
    },
};
use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// One way to read a file.
struct Cost {
    /// The fastest of many runs: what the machine does when nothing else asks for it.
    time: Duration,
    counts: Counts,
}

fn measure<T>(quick: bool, read: impl Fn() -> T) -> Cost {
    let counts = counting::of(|| drop(black_box(read())));
    let mut time = Duration::MAX;
    let (start, most) = (
        Instant::now(),
        Duration::from_millis(if quick { 1 } else { 1500 }),
    );
    while start.elapsed() < most {
        let since = Instant::now();
        let value = black_box(read());
        time = time.min(since.elapsed());
        drop(value);
    }
    Cost { time, counts }
}

/// Every word that is a number.
fn plain(text: &str) -> Vec<f32> {
    text.split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Prints the table for `named` files, or for Scout's and the Hound's.
pub(crate) fn table(quick: bool, named: &[PathBuf]) {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let own = [
        "scout/scout.m3d",
        "scout/scout.md5mesh",
        "hound/hound.md5mesh",
        "scout/point.md5anim",
        "hound/gallop.md5anim",
    ];
    let files = if named.is_empty() {
        own.map(|file| assets.join(file)).to_vec()
    } else {
        named.to_vec()
    };
    println!(
        "file, KB | reader | MB/s | to the plain one | allocations | peak memory, of the text's size"
    );
    println!(
        "-------- | ------ | ---: | ---------------: | ----------: | -------------------------------:"
    );
    for path in files {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let source = match std::fs::read(&path) {
            Ok(source) => source,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let text = String::from_utf8_lossy(&source).into_owned();
        let settings = ImportSettings::default();
        let kind = FileKind::of_name(&name);
        let reference = measure(quick, || plain(&text));
        let parsed = measure(quick, || match kind {
            Some(FileKind::M3d) => drop(black_box(m3d::parse(&name, &source))),
            Some(FileKind::Md5Anim) => drop(black_box(md5::parse_anim(&name, &source))),
            _ => drop(black_box(md5::parse_mesh(&name, &source))),
        });
        let finished = measure(quick, || match kind {
            Some(FileKind::Md5Anim) => {
                let anim = md5::parse_anim(&name, &source).expect("a sound file").value;
                let skeleton = skeleton_of_anim(&name, &anim, &settings).expect("joints");
                drop(black_box(clip_from_md5(
                    &name, "clip", &anim, &skeleton, &settings,
                )));
            }
            _ => drop(black_box(
                open_model(&name, &source, &settings).expect("a sound file"),
            )),
        });
        let baked = (kind != Some(FileKind::Md5Anim)).then(|| {
            let imported = open_model(&name, &source, &settings).expect("a sound file");
            let manifest = Manifest::of_model(&*name);
            let bytes = BakedCharacter::new(&manifest, imported).to_bytes(&name);
            let bytes = bytes.expect("a sound model");
            let read = || BakedCharacter::read(&name, &bytes, &settings.limits);
            measure(quick, || drop(black_box(read().expect("a sound file"))))
        });
        let rows = [
            ("split and parse", &reference),
            ("text to numbers", &parsed),
            ("text to model", &finished),
        ];
        let baked = baked.as_ref().map(|cost| ("baked to model", cost));
        for (what, cost) in rows.into_iter().chain(baked) {
            let size = source.len() as f64;
            let speed = size / cost.time.as_secs_f64() / 1e6;
            let ratio = reference.time.as_secs_f64() / cost.time.as_secs_f64();
            let (kilobytes, peak) = (source.len() / 1000, cost.counts.peak as f64 / size);
            println!(
                "{name}, {kilobytes} | {what} | {speed:.0} | {ratio:.1} | {} | {peak:.2}",
                cost.counts.allocations
            );
        }
    }
}
