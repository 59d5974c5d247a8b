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
//!
//! A file that a side doesn't load, or not within [`LONGEST`], has a row that says so.

use bevy::{
    app::PluginsState,
    asset::RecursiveDependencyLoadState,
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
    time::{Duration, Instant},
};

mod memory;

/// The pause between two updates. A game waits for the display; a main loop that never waits would take a core from the threads
/// that load.
const PAUSE: Duration = Duration::from_millis(2);

/// The time that the app gets before it is measured.
const WARM_UP: Duration = Duration::from_millis(500);

/// The time after which a side is taken to wait for something that never comes.
const LONGEST: Duration = Duration::from_secs(30);

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
        match measure(&args.files[0], side) {
            Ok(Cost { time, kept, peak }) => println!("{time} {kept} {peak}"),
            Err(error) => println!("{error}"),
        }
        return;
    }
    println!("file | side | ms | MB kept | MB peak");
    println!("--- | --- | ---: | ---: | ---:");
    for file in &args.files {
        let mut best: [Option<Result<Cost, String>>; 2] = [None, None];
        for _ in 0..args.turns.max(1) {
            for side in [Side::Bevy, Side::Ours] {
                let best = &mut best[side as usize];
                // What fails once fails every time.
                if let Some(Err(_)) = best {
                    continue;
                }
                let cost = measure_apart(file, side);
                match (&cost, &best) {
                    (Ok(cost), Some(Ok(fastest))) if cost.time >= fastest.time => {}
                    _ => *best = Some(cost),
                }
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (side, cost) in [Side::Bevy, Side::Ours].into_iter().zip(&best) {
            let mb = |bytes: isize| bytes as f64 / 1e6;
            match cost {
                Some(Ok(cost)) => {
                    let [kept, peak] = [cost.kept, cost.peak].map(mb);
                    println!(
                        "{name} | {side:?} | {:.1} | {kept:.2} | {peak:.2}",
                        cost.time
                    );
                }
                Some(Err(error)) => println!("{name} | {side:?} | {error} | | "),
                None => {}
            }
        }
        if let [Some(Ok(bevy)), Some(Ok(ours))] = best {
            println!("{name} | | {:.1} times faster | | ", bevy.time / ours.time);
        }
    }
}

/// Runs [`measure`] in its own process.
fn measure_apart(file: &Path, side: Side) -> Result<Cost, String> {
    let program = std::env::current_exe().expect("this program has a path");
    let side = if side == Side::Bevy { "bevy" } else { "ours" };
    let output = Command::new(program)
        .arg(file)
        .args(["--measure", side])
        .stderr(Stdio::inherit())
        .output();
    let output = output.expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let Ok([time, kept, peak]) = numbers.as_deref() else {
        // Without a backtrace.
        return Err(text.lines().next().unwrap_or_default().to_owned());
    };
    Ok(Cost {
        time: *time,
        kept: *kept as isize,
        peak: *peak as isize,
    })
}

/// Loads a file, or says why a side doesn't.
fn measure(file: &Path, side: Side) -> Result<Cost, String> {
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
    // The app's own shaders are loaded first, on the same thread.
    let begun = Instant::now();
    while begun.elapsed() < WARM_UP {
        app.update();
    }
    let before = KEPT.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Instant::now();
    let server = app.world().resource::<AssetServer>().clone();
    let handle = match side {
        Side::Bevy => server.load::<Gltf>(name).untyped(),
        Side::Ours => server.load::<Character>(name).untyped(),
    };
    while !server.is_loaded_with_dependencies(&handle) {
        // Also that of a texture, without which a file counts as loaded but is never complete.
        if let RecursiveDependencyLoadState::Failed(error) =
            server.recursive_dependency_load_state(&handle)
        {
            return Err(format!("fails: {error}"));
        }
        if start.elapsed() > LONGEST {
            return Err(format!("not loaded after {} s", LONGEST.as_secs()));
        }
        std::thread::sleep(PAUSE);
        app.update();
    }
    let time = start.elapsed().as_secs_f64() * 1e3;
    Ok(Cost {
        time,
        kept: KEPT.load(Relaxed) - before,
        peak: PEAK.load(Relaxed) - before,
    })
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
