//! What loading costs: each format from text to numbers and from text to a finished model, beside a plain
//! reader that splits at white space and hands each word to `str::parse`.
//!
//! `cargo bench --bench load` prints the table; files named after `--` are measured instead of Scout's.
//! Bytes are those of the text, peak memory and allocations those of one run beyond the text itself.

use bevy_marionette::{
    format::{m3d, md5},
    import::{FileKind, ImportSettings, clip_from_md5, open_model, skeleton_of_anim},
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    hint::black_box,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting calls and bytes.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counts are plain atomic numbers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn grow(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One way to read a file.
struct Cost {
    /// The fastest of many runs: what the machine does when nothing else asks for it.
    time: Duration,
    allocations: usize,
    peak: usize,
}

fn measure<T>(quick: bool, read: impl Fn() -> T) -> Cost {
    let (before, held) = (ALLOCATIONS.load(Relaxed), HELD.load(Relaxed));
    PEAK.store(held, Relaxed);
    drop(black_box(read()));
    let (allocations, peak) = (ALLOCATIONS.load(Relaxed) - before, PEAK.load(Relaxed) - held);
    let mut time = Duration::MAX;
    let (start, most) = (Instant::now(), Duration::from_millis(if quick { 1 } else { 1500 }));
    while start.elapsed() < most {
        let since = Instant::now();
        let value = black_box(read());
        time = time.min(since.elapsed());
        drop(value);
    }
    Cost { time, allocations, peak }
}

/// Every word that is a number.
fn plain(text: &str) -> Vec<f32> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--test");
    let named: Vec<PathBuf> = arguments.iter().filter(|a| !a.starts_with("--")).map(PathBuf::from).collect();
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scout");
    let own = ["scout.m3d", "scout.md5mesh", "point.md5anim"].map(|file| scout.join(file));
    let files = if named.is_empty() { own.to_vec() } else { named };
    println!("file, KB | reader | MB/s | to the plain one | allocations | peak memory, of the text's size");
    println!("-------- | ------ | ---: | ---------------: | ----------: | -------------------------------:");
    for path in files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
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
                drop(black_box(clip_from_md5(&name, "clip", &anim, &skeleton, &settings)));
            }
            _ => drop(black_box(open_model(&name, &source, &settings).expect("a sound file"))),
        });
        let rows = [("split and parse", &reference), ("text to numbers", &parsed), ("text to model", &finished)];
        for (what, cost) in rows {
            let size = source.len() as f64;
            let speed = size / cost.time.as_secs_f64() / 1e6;
            let ratio = reference.time.as_secs_f64() / cost.time.as_secs_f64();
            let (kilobytes, peak) = (source.len() / 1000, cost.peak as f64 / size);
            println!("{name}, {kilobytes} | {what} | {speed:.0} | {ratio:.1} | {} | {peak:.2}", cost.allocations);
        }
    }
}
