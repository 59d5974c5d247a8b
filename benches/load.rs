//! Measures loading glTF characters: this crate and Bevy's own loader, from the request until every asset is there.
//!
//! ```text
//! cargo bench --bench load -- FILE.glb ...
//! ```
//!
//! Without files, the sample characters are measured. Each measurement runs in its own process, because a second load finds
//! the file in memory and the heap warm. The sides alternate, `--turns` times each (default 5), and the fastest counts.
//!
//! *Kept* is the heap memory that stays allocated once everything is loaded, and *peak* the most at any time before that.
//! Both sides decode all textures. Ours also makes their mip levels, welds and splits meshes, completes tangents, and
//! resamples clips; Bevy's makes an entity per node later, when a scene is spawned, which is not measured.

use bevy::{
    app::PluginsState,
    asset::LoadState,
    gltf::Gltf,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        settings::{RenderCreation, WgpuSettings},
    },
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::{asset::Character, prelude::*};
use clap::Parser;
use memory::{KEPT, PEAK};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::Ordering::Relaxed,
    time::Instant,
};

mod memory;

#[derive(Parser)]
struct Args {
    /// Files to load
    files: Vec<PathBuf>,
    /// Processes per side and file; the fastest counts
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Measure one side with the first file, and print only the numbers
    #[arg(long, hide = true)]
    measure: Option<Side>,
    // Cargo passes these.
    #[arg(long, hide = true)]
    bench: bool,
    #[arg(long, hide = true)]
    test: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Side {
    Bevy,
    Ours,
}

/// What loading took: milliseconds, and bytes.
#[derive(Clone, Copy)]
struct Cost {
    time: f64,
    kept: isize,
    peak: isize,
}

fn main() {
    let mut args = Args::parse();
    if args.files.is_empty() {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        args.files = [assets.join("scout/scout.glb")].into();
    }
    if args.test || !args.bench && args.measure.is_none() {
        // `cargo test` runs benchmarks too, to check that they work.
        args.turns = 1;
    }
    if let Some(side) = args.measure {
        let Cost { time, kept, peak } = measure(&args.files[0], side);
        println!("{time} {kept} {peak}");
        return;
    }
    println!("file | side | ms | MB kept | MB peak");
    println!("--- | --- | ---: | ---: | ---:");
    for file in &args.files {
        let mut best: [Option<Cost>; 2] = [None, None];
        for _ in 0..args.turns.max(1) {
            for side in [Side::Bevy, Side::Ours] {
                let cost = measure_apart(file, side);
                let best = &mut best[side as usize];
                *best =
                    Some(best.map_or(cost, |best| if cost.time < best.time { cost } else { best }));
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (side, cost) in [Side::Bevy, Side::Ours]
            .into_iter()
            .zip(best.into_iter().flatten())
        {
            let mb = |bytes: isize| bytes as f64 / 1e6;
            println!(
                "{name} | {side:?} | {:.1} | {:.2} | {:.2}",
                cost.time,
                mb(cost.kept),
                mb(cost.peak)
            );
        }
        if let [Some(bevy), Some(ours)] = best {
            println!("{name} | | {:.1} times faster | | ", bevy.time / ours.time);
        }
    }
}

/// Runs [`measure`] in its own process.
fn measure_apart(file: &Path, side: Side) -> Cost {
    let program = std::env::current_exe().expect("this program has a path");
    let side = if side == Side::Bevy { "bevy" } else { "ours" };
    let output = Command::new(program)
        .arg(file)
        .args(["--measure", side])
        .stderr(Stdio::inherit())
        .output();
    let output = output.expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "a measurement failed: {text}");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|number| number.parse().ok())
        .collect();
    let [time, kept, peak] = numbers[..] else {
        panic!("a measurement prints three numbers: {text}")
    };
    Cost {
        time,
        kept: kept as isize,
        peak: peak as isize,
    }
}

fn measure(file: &Path, side: Side) -> Cost {
    let file = file
        .canonicalize()
        .unwrap_or_else(|error| panic!("cannot open {}: {error}", file.display()));
    let folder = file
        .parent()
        .expect("a file is in a folder")
        .to_string_lossy()
        .into_owned();
    let name = file
        .file_name()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    let mut app = app(folder);
    (0..4).for_each(|_| app.update());
    let before = KEPT.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Instant::now();
    let server = app.world().resource::<AssetServer>().clone();
    let handle = match side {
        Side::Bevy => server.load::<Gltf>(name).untyped(),
        Side::Ours => server.load::<Character>(name).untyped(),
    };
    while !server.is_loaded_with_dependencies(&handle) {
        if let Some(LoadState::Failed(error)) = server.get_load_state(&handle) {
            panic!("{error}");
        }
        app.update();
    }
    let time = start.elapsed().as_secs_f64() * 1e3;
    Cost {
        time,
        kept: KEPT.load(Relaxed) - before,
        peak: PEAK.load(Relaxed) - before,
    }
}

/// An app that loads but neither opens a window nor draws.
fn app(file_path: String) -> App {
    let without_gpu = RenderCreation::Automatic(Box::new(WgpuSettings {
        backends: None,
        ..default()
    }));
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(AssetPlugin {
                file_path,
                watch_for_changes_override: Some(false),
                ..default()
            })
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                render_creation: without_gpu,
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    );
    app.add_plugins(MarionettePlugins::default());
    while app.plugins_state() == PluginsState::Adding {
        std::thread::yield_now();
    }
    app.finish();
    app.cleanup();
    app
}
