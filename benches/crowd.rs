//! Measures whole frames of a crowd, and their stages: this crate and `bevy_animation`, in one program.
//!
//! ```text
//! cargo bench --bench crowd
//! ```
//!
//! Everything is built as in a game's release, so Bevy is built once more. Both sides play the same two clips, blended
//! equally, on the same skeleton of 58 joints with one mesh each. There is no camera; every mesh counts as visible.
//!
//! Each measurement runs in its own process, so that neither side inherits the other's heap. The sides alternate, three
//! times each, and the fastest counts: on a shared machine, slower runs measure other programs.
//!
//! *Frame* is `PostUpdate` plus skin extraction, as in an app. The first two rows are apps without characters: one without
//! this crate's plugins, and one with them. *Work* is the part of a frame that is animation, measured stage by stage in the
//! same way on both sides: each side's own systems, transform propagation, `extract_skins` and our palettes, minus what the
//! same stages take in an app without characters. *Bytes each* is the heap memory that stays allocated, per character after
//! the first. *Share of the limit* is how much of a stage's time writing its bytes would take on this machine. With several
//! threads, a last table says what to expect of 8 and 16.
//!
//! Options (after `--`): `--threads N` sets the compute threads of both sides (default: first 1, then all),
//! `--counts 100,1000`, `--runs N`, `--turns N`, `--frames N`, `--only ours|bevy`, `--fast` for a quick look.
//! `--model FILE` plays the first two clips of a file instead, such as `hero.glb` or a manifest, on both sides. `--clip-error E`
//! compresses the clips.
//! `--kinds 100` mixes a hundred different skeletons of 40 to 76 joints with clips of their own; what they share counts among
//! the bytes, too.
//! `--recorded` records ours, as `RecorderPlugin` does. `--lod METERS` gives ours a level of detail, `--share N` lets
//! them share poses at N steps per second.
//!
//! `--frame` measures whole frames of a crowd that is drawn, including Bevy's render world and the GPU.
//!
//! `--faces 52` measures faces: characters of one joint with 52 morph targets, and a clip that moves all of them. With
//! `--at-rest`, they play a clip that moves none.

use bevy::{
    app::{TaskPoolOptions, TaskPoolPlugin, TaskPoolThreadAssignmentPolicy},
    pbr::{MorphUniforms, SkinUniforms},
    prelude::*,
    render::{RenderApp, render_resource::PollType, renderer::RenderDevice},
};
use bevy_marionette::{
    controller::{AnimationController as Controller, AnimationTrack},
    model::{Model, SkinPart},
    recorder::RecorderPlugin,
};
use clap::Parser;
use content::{FEWEST_JOINTS, JOINTS, model};
use memory::KEPT;
use spawn::{spawn_bevys, spawn_ours};
use stages::{Frame, Stage, StageClock};
use std::{
    hint::black_box,
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::Ordering::Relaxed,
    time::Instant,
};

#[path = "crowd/content.rs"]
mod content;
#[path = "../examples/crowd/headless.rs"]
mod headless;
#[path = "../examples/crowd/joints.rs"]
mod joints;
mod memory;
#[path = "crowd/spawn.rs"]
mod spawn;
#[path = "../examples/crowd/stages.rs"]
mod stages;
#[path = "crowd/whole.rs"]
mod whole;

/// With this many characters, the memory that they share barely counts.
const ENOUGH: usize = 100;

#[derive(Parser, Clone)]
struct Args {
    /// Compute threads of both sides
    #[arg(long)]
    threads: Option<usize>,
    /// Characters
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 1000, 10_000])]
    counts: Vec<usize>,
    /// How often to repeat everything
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Processes per side in a run; the fastest counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    turns: u16,
    /// Frames per measurement; the median counts
    #[arg(long, default_value_t = 60)]
    frames: usize,
    /// One side only
    #[arg(long, value_enum)]
    only: Option<Side>,
    /// Give ours a level of detail, seen from this distance in meters
    #[arg(long)]
    lod: Option<f32>,
    /// Steps per second at which ours share poses; 0 shares only equal poses
    #[arg(long)]
    share: Option<f64>,
    /// Compress the clips, as `clip_error` does in a manifest, by at most this error
    #[arg(long)]
    clip_error: Option<f32>,
    /// Different characters, each with a skeleton and clips of its own
    #[arg(long, default_value_t = 1, value_parser = kinds, conflicts_with_all = ["model", "faces"])]
    kinds: usize,
    /// Measure faces with so many morph targets instead
    #[arg(long, conflicts_with_all = ["model", "clip_error"])]
    faces: Option<u16>,
    /// Faces don't move
    #[arg(long, requires = "faces")]
    at_rest: bool,
    /// Record ours
    #[arg(long)]
    recorded: bool,
    /// Measure an app without this crate's plugins
    #[arg(long, hide = true)]
    plain: bool,
    /// A model with at least two clips, in place of the built-in one
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure one side, or an empty app, with the first count, and print only the numbers
    #[arg(long, hide = true)]
    measure: Option<Option<Side>>,
    /// Measure whole frames that are drawn, including the render world and the GPU
    #[arg(long, conflicts_with_all = ["lod", "faces", "recorded"])]
    frame: bool,
    /// Pause ours
    #[arg(long, hide = true)]
    paused: bool,
    /// One run and fewer frames
    #[arg(long)]
    fast: bool,
    // Cargo passes these.
    #[arg(long, hide = true)]
    bench: bool,
    #[arg(long, hide = true)]
    test: bool,
}

fn kinds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(kinds @ 1..) => Ok(kinds),
        _ => Err("at least one".into()),
    }
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Side {
    Bevy,
    Ours,
}

impl Side {
    const NAMES: [&str; 2] = ["bevy_animation", "bevy_marionette"];
}

fn main() {
    let mut args = Args::parse();
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    if args.test || !args.bench && args.threads.is_none() {
        // `cargo test` runs benchmarks too, to check that they work.
        args = Args {
            threads: Some(all),
            counts: vec![1, 10],
            runs: 1,
            turns: 1,
            frames: 3,
            ..args
        };
    } else if args.fast {
        args = Args {
            runs: 1,
            turns: 1,
            frames: args.frames.min(20),
            ..args
        };
    }
    let Some(threads) = args.threads else {
        // Bevy creates its thread pools once per process.
        let mut counts = vec![1, all];
        counts.dedup();
        for threads in counts {
            let program = std::env::current_exe().expect("this program has a path");
            let given = std::env::args().skip(1);
            let status = Command::new(program)
                .args(given)
                .arg("--threads")
                .arg(threads.to_string())
                .status();
            assert!(
                status.is_ok_and(|status| status.success()),
                "a run with {threads} threads failed"
            );
        }
        return;
    };
    if args.frame {
        return whole::run(&args, threads);
    }
    if let Some(side) = args.measure {
        return measure(&args, side, args.counts[0], threads).print();
    }
    for run in 1..=args.runs {
        let Args { frames, turns, .. } = args;
        let Model {
            skeleton, clips, ..
        } = model(&args, 0);
        let (joints, clips) = (skeleton.len(), clips.len());
        let kinds = match args.kinds {
            1 => String::new(),
            kinds => format!(" in the mean of {kinds} kinds"),
        };
        let faces = match (args.faces, args.at_rest) {
            (None, _) => String::new(),
            (Some(targets), false) => format!(", {targets} morph targets"),
            (Some(targets), true) => format!(", {targets} morph targets at rest"),
        };
        println!(
            "\n## joints: {joints}{kinds}, clips: {clips}{faces}; {threads} compute threads, {all} cores; run {run}\n"
        );
        println!("Milliseconds, medians of {frames} frames; the fastest of {turns} processes.\n");
        let empty = fastest_of_turns(&args, None, 0, threads);
        let plain = fastest_of_turns(
            &Args {
                plain: true,
                ..args.clone()
            },
            None,
            0,
            threads,
        )
        .frame;
        let titles = Stage::WORK.map(Stage::name).join(" | ");
        println!("characters | side | frame | work | {titles} | us per character | bytes each");
        println!(
            "---------: | ---- | ----: | ---: {}| ---: | ---:",
            "| ---: ".repeat(Stage::WORK.len())
        );
        println!("0 | app without the plugins | {plain:.3} |");
        print_row(0, "empty app", &empty, &empty.stages);
        let (mut ratios, mut growth, mut limits) = (Vec::new(), Vec::new(), Vec::new());
        for &count in &args.counts {
            let mut costs: [Option<Cost>; 2] = [None, None];
            for _ in 0..turns {
                for side in [Side::Bevy, Side::Ours]
                    .into_iter()
                    .filter(|side| args.only.is_none_or(|only| only == *side))
                {
                    let cost = measure_apart(&args, Some(side), count, threads);
                    let best = &mut costs[side as usize];
                    *best = Some(best.take().map_or(cost, |best| best.quicker(cost)));
                }
            }
            let [bevy, ours] = [Side::Bevy, Side::Ours].map(|side| {
                let cost = costs[side as usize]?;
                let work = cost.stages.beyond(&empty.stages);
                let name = Side::NAMES[side as usize];
                print_row(count, name, &cost, &work);
                growth.push((name, count, work.work() * 1e3 / count as f64, cost.bytes));
                Some((cost, work))
            });
            limits.extend(ours.map(|(_, work)| (count, work)));
            if let (Some((bevy, their_work)), Some((ours, our_work))) = (bevy, ours) {
                let frame = bevy.frame / ours.frame;
                let beyond = (bevy.frame - empty.frame) / (ours.frame - empty.frame);
                ratios.push((count, their_work.work() / our_work.work(), frame, beyond));
            }
        }
        if !ratios.is_empty() {
            println!(
                "\ncharacters | work: times faster | frame: times faster | frame less an empty app's"
            );
            println!("---------: | ---: | ---: | ---:");
        }
        for (count, work, frame, beyond) in ratios {
            println!("{count} | {work:.1} | {frame:.1} | {beyond:.1}");
        }
        print_growth(&growth);
        print_limit(&args, &limits);
        if threads > 1 && args.only != Some(Side::Bevy) {
            print_threads(&args, threads, &limits);
        }
    }
}

/// Prints what to expect of more threads than there are here, from what one thread and `threads` take.
///
/// What does not become shorter with more threads is the serial part (Amdahl's law). The rest takes as long as the thread
/// with the most characters, which come in up to four chunks for each thread. Threads that share a core or the memory make
/// the serial part look larger than it is.
fn print_threads(args: &Args, threads: usize, rows: &[(usize, Frame)]) {
    let empty = fastest_of_turns(args, None, 0, 1);
    println!(
        "\ncharacters | threads | chunks | longest thread | serial | ms of work | of one thread's"
    );
    println!("---------: | ---: | ---: | ---: | ---: | ---: | ---:");
    for (count, work) in rows {
        let one = fastest_of_turns(args, Some(Side::Ours), *count, 1)
            .stages
            .beyond(&empty.stages)
            .work();
        let (many, n) = (work.work(), threads as f64);
        let serial = ((n * many - one) / (n - 1.0)).clamp(0.0, one);
        println!("{count} | 1 | 1 | 100 % | {serial:.3} | {one:.3} | 100 %");
        println!(
            "{count} | {threads} | | | {serial:.3} | {many:.3} | {:.0} %",
            many / one * 100.0
        );
        for threads in [8, 16] {
            let size = count.div_ceil(threads * 4).max(16).min(*count);
            let chunks = count.div_ceil(size);
            let longest = (chunks.div_ceil(threads) * size).min(*count) as f64 / *count as f64;
            let expected = serial + (one - serial) * longest;
            let (longest, share) = (longest * 100.0, expected / one * 100.0);
            println!(
                "{count} | {threads} | {chunks} | {longest:.1} % | {serial:.3} | {expected:.3} | {share:.0} %"
            );
        }
    }
}

/// Prints what memory alone would take, beside what the stages that write the most take.
///
/// Palettes are written and not read again. `advance` reads and writes the controllers and their tracks.
fn print_limit(args: &Args, rows: &[(usize, Frame)]) {
    let parts = model(args, 0).parts;
    let palettes = parts.iter().map(SkinPart::palette_len).sum::<usize>() * size_of::<Mat4>();
    let controller = 2 * (size_of::<Controller>() + 2 * size_of::<AnimationTrack>());
    let speed = bytes_per_millisecond();
    println!(
        "\nOne core writes {:.1} GB/s to memory here. What is not in the cache takes at least as long as that.\n",
        speed / 1e6
    );
    println!("characters | stage | bytes each | ms at that speed | ms | share of the limit");
    println!("---------: | ---- | ---: | ---: | ---: | ---:");
    for (count, work) in rows {
        for (stage, bytes) in [(Stage::Palettes, palettes), (Stage::Advance, controller)] {
            let (least, taken) = ((bytes * count) as f64 / speed, work.of(stage));
            let name = stage.name();
            println!(
                "{count} | {name} | {bytes} | {least:.3} | {taken:.3} | {:.0} %",
                least / taken * 100.0
            );
        }
    }
}

/// How fast one core fills memory that is in no cache.
fn bytes_per_millisecond() -> f64 {
    let mut block = vec![1_u8; 64 << 20];
    let fill = |round| {
        let start = Instant::now();
        black_box(&mut block).fill(round);
        start.elapsed().as_secs_f64() * 1e3
    };
    let fastest = (0..20).map(fill).fold(f64::INFINITY, f64::min);
    (64 << 20) as f64 / fastest
}

/// The cost of one side with a number of characters.
#[derive(Clone, Copy)]
struct Cost {
    /// Milliseconds per frame, as in an app.
    frame: f64,
    /// Milliseconds per stage.
    stages: Frame,
    /// Bytes that stay allocated per character.
    bytes: isize,
}

impl Cost {
    /// Combines the faster frame with the stages of the run that did less work.
    fn quicker(self, other: Self) -> Self {
        let stages = if other.stages.work() < self.stages.work() {
            other.stages
        } else {
            self.stages
        };
        Self {
            frame: self.frame.min(other.frame),
            stages,
            bytes: self.bytes.min(other.bytes),
        }
    }

    /// Prints the numbers in the form that [`Self::read`] parses.
    fn print(&self) {
        let numbers: Vec<_> = self
            .stages
            .times()
            .iter()
            .chain([&self.frame])
            .map(f64::to_string)
            .collect();
        println!("{} {}", numbers.join(" "), self.bytes);
    }

    fn read(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map_while(|number| number.parse().ok())
            .collect();
        let (stages, rest) = numbers.split_first_chunk()?;
        let &[frame, bytes] = rest else { return None };
        Some(Self {
            frame,
            stages: Frame::new(*stages),
            bytes: bytes as isize,
        })
    }
}

fn print_row(count: usize, side: &str, cost: &Cost, work: &Frame) {
    let stages = Stage::WORK
        .map(|stage| format!("{:.3}", work.of(stage)))
        .join(" | ");
    let each = if count > 0 {
        format!("{:.2}", work.work() * 1e3 / count as f64)
    } else {
        String::new()
    };
    println!(
        "{count} | {side} | {:.3} | {:.3} | {stages} | {each} | {}",
        cost.frame,
        work.work(),
        cost.bytes
    );
}

/// Prints the cost per character, and relative to that of a hundred characters.
fn print_growth(rows: &[(&str, usize, f64, isize)]) {
    println!("\nside | characters | us per character | of that among the fewest | bytes each");
    println!("---- | ---------: | ---: | ---: | ---:");
    for name in Side::NAMES {
        let mut first = None;
        for (_, count, each, bytes) in rows
            .iter()
            .filter(|(side, count, ..)| *side == name && *count >= ENOUGH)
        {
            let times = each / *first.get_or_insert(*each);
            println!("{name} | {count} | {each:.2} | {times:.2} | {bytes}");
        }
    }
}

/// Runs [`measure_apart`] as often as there are turns.
fn fastest_of_turns(args: &Args, side: Option<Side>, count: usize, threads: usize) -> Cost {
    let costs = (0..args.turns).map(|_| measure_apart(args, side, count, threads));
    costs.reduce(Cost::quicker).expect("at least one turn")
}

/// Runs [`measure`] in its own process.
fn measure_apart(args: &Args, side: Option<Side>, count: usize, threads: usize) -> Cost {
    let line = last_line_of_process(args, side, count, threads);
    Cost::read(&line).expect("a measurement prints its numbers last")
}

/// Measures one side in a process of its own, and returns the last line that it prints.
fn last_line_of_process(args: &Args, side: Option<Side>, count: usize, threads: usize) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let numbers = [
        ("--threads", threads),
        ("--counts", count),
        ("--frames", args.frames),
    ];
    let mut command = Command::new(program);
    command.args(
        numbers
            .iter()
            .flat_map(|(name, number)| [name.to_string(), number.to_string()]),
    );
    command.args(args.lod.map(|distance| format!("--lod={distance}")));
    command.args(args.share.map(|steps| format!("--share={steps}")));
    command.args(
        [format!("--kinds={}", args.kinds)]
            .iter()
            .filter(|_| args.kinds > 1),
    );
    command.args(args.clip_error.map(|error| format!("--clip-error={error}")));
    command.args(args.faces.map(|targets| format!("--faces={targets}")));
    command.args(args.at_rest.then_some("--at-rest"));
    command.args(args.recorded.then_some("--recorded"));
    command.args(args.plain.then_some("--plain"));
    command.args(args.frame.then_some("--frame"));
    command.args(args.paused.then_some("--paused"));
    command
        .args(
            args.model
                .iter()
                .flat_map(|path| ["--model".as_ref(), path.as_os_str()]),
        )
        .arg("--measure");
    command.args(side.map(|side| if side == Side::Bevy { "bevy" } else { "ours" }));
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    // Some drivers crash when the process ends, after it has printed its numbers. Without them, reading the line fails.
    text.lines().last().unwrap_or_default().to_owned()
}

fn measure(args: &Args, side: Option<Side>, count: usize, threads: usize) -> Cost {
    let run = |stages: bool| {
        let mut app = headless::app(task_pools(threads), stages, args.plain);
        if args.recorded && side == Some(Side::Ours) {
            RecorderPlugin.build(&mut app);
        }
        let spawn = |app: &mut App, characters| match side {
            Some(Side::Bevy) => spawn_bevys(app.world_mut(), args, characters),
            Some(Side::Ours) => spawn_ours(app.world_mut(), args, characters),
            None => {}
        };
        // The first character makes Bevy allocate megabytes, once.
        spawn(&mut app, 0..1);
        (0..8).for_each(|_| app.update());
        let before = KEPT.load(Relaxed);
        spawn(&mut app, 1..count);
        (0..8).for_each(|_| app.update());
        let bytes = (KEPT.load(Relaxed) - before) / (count.max(2) - 1) as isize;
        let clock = app.world().resource::<StageClock>().clone();
        clock.take();
        for _ in 0..args.frames {
            app.update();
            finish_upload(app.world());
        }
        let uniforms = app.sub_app(RenderApp).world().resource::<SkinUniforms>();
        let filled = uniforms.current_buffer.size() as usize / size_of::<Mat4>();
        let each = match (&args.model, args.faces) {
            (None, None) if args.kinds == 1 => JOINTS,
            (None, None) => FEWEST_JOINTS,
            _ => 1,
        };
        assert!(
            filled >= count * each,
            "{filled} matrices for {count} characters"
        );
        if let (Some(targets), Some(_)) = (args.faces, side) {
            let uniforms = app.sub_app(RenderApp).world().resource::<MorphUniforms>();
            let filled = uniforms.current_buffer.len();
            let moving = count * usize::from(targets);
            assert!(
                args.at_rest || filled >= moving,
                "{filled} weights for {count} characters"
            );
        }
        (Frame::median(&clock.take()), bytes)
    };
    let (whole, bytes) = run(false);
    let (stages, _) = run(true);
    Cost {
        frame: whole.whole(),
        stages,
        bytes: if count >= ENOUGH { bytes } else { 0 },
    }
}

/// Waits until the matrices are in the renderer's memory. Without a GPU, a thread of the driver copies them, which takes about
/// as long as posing, and would slow down the next frame.
fn finish_upload(world: &World) {
    let device = world.resource::<RenderDevice>();
    device
        .poll(PollType::wait_indefinitely())
        .expect("the device is not lost");
}

fn task_pools(threads: usize) -> TaskPoolPlugin {
    let one = TaskPoolThreadAssignmentPolicy {
        min_threads: 1,
        max_threads: 1,
        percent: 0.0,
        on_thread_spawn: None,
        on_thread_destroy: None,
    };
    let compute = TaskPoolThreadAssignmentPolicy {
        min_threads: threads,
        max_threads: threads,
        ..one.clone()
    };
    let task_pool_options = TaskPoolOptions {
        io: one.clone(),
        async_compute: one,
        compute,
        ..default()
    };
    TaskPoolPlugin { task_pool_options }
}
