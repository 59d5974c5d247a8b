//! Whole frames of a crowd that is drawn: the main world, extraction, the render world, and the GPU.

use super::{
    Args, Side, headless, last_line_of_process,
    spawn::{ROW, spawn_bevys, spawn_ours},
    task_pools,
};
use bevy::{
    app::AppLabel,
    camera::{RenderTarget, visibility::ViewVisibility},
    prelude::*,
    render::{
        RenderApp,
        render_resource::{PollType, TextureFormat},
        renderer::{RenderAdapterInfo, RenderDevice},
    },
};
use bevy_marionette::prelude::*;
use std::time::Instant;

/// Milliseconds of the parts of a frame, in the order in which they run.
const PARTS: [&str; 4] = ["main world", "extraction", "render world", "GPU"];
type Parts = [f64; PARTS.len()];

/// Measures all sides and counts, and prints a table; or, in a process for one side, its numbers.
pub fn run(args: &Args, threads: usize) {
    if let Some(side) = args.measure {
        let numbers = measure(args, side, args.counts[0], threads).map(|ms| ms.to_string());
        return println!("{}", numbers.join(" "));
    }
    for run in 1..=args.runs {
        println!("\n## whole frames, {threads} compute threads; run {run}\n");
        println!(
            "Milliseconds, medians of {} frames. In an app, the render world and the GPU work beside the next frame's main world.\n",
            args.frames
        );
        println!("characters | side | {} | sum", PARTS.join(" | "));
        println!("---------: | ---- {}", "| ---: ".repeat(PARTS.len() + 1));
        print_row(0, "nobody", args, None, threads);
        let paused = Args {
            paused: true,
            ..args.clone()
        };
        for &count in &args.counts {
            if args.only != Some(Side::Ours) {
                print_row(count, Side::NAMES[0], args, Some(Side::Bevy), threads);
            }
            if args.only != Some(Side::Bevy) {
                print_row(count, Side::NAMES[1], args, Some(Side::Ours), threads);
                print_row(count, "paused", &paused, Some(Side::Ours), threads);
            }
        }
    }
}

fn print_row(count: usize, name: &str, args: &Args, side: Option<Side>, threads: usize) {
    let of_process = || {
        let line = last_line_of_process(args, side, count, threads);
        let numbers: Vec<f64> = line
            .split_whitespace()
            .map_while(|number| number.parse().ok())
            .collect();
        Parts::try_from(numbers).expect("a measurement prints its numbers last")
    };
    let sum = |parts: &Parts| parts.iter().sum::<f64>();
    let parts = (0..args.turns)
        .map(|_| of_process())
        .min_by(|a, b| sum(a).total_cmp(&sum(b)))
        .expect("at least one turn");
    let columns = parts.map(|ms| format!("{ms:.3}")).join(" | ");
    println!("{count} | {name} | {columns} | {:.3}", sum(&parts));
}

fn measure(args: &Args, side: Option<Side>, count: usize, threads: usize) -> Parts {
    let mut app = headless::new(task_pools(threads), side == Some(Side::Bevy));
    headless::finish(&mut app);
    let world = app.world_mut();
    match side {
        Some(Side::Bevy) => spawn_bevys(world, args, 0..count),
        Some(Side::Ours) => spawn_ours(world, args, 0..count),
        None => {}
    }
    spawn_camera(world, count);
    (0..8).for_each(|_| app.update());
    if args.paused {
        let world = app.world_mut();
        let mut controllers = world.query::<&mut AnimationController>();
        controllers
            .iter_mut(world)
            .for_each(|mut controller| controller.paused = true);
    }
    (0..8).for_each(|_| {
        frame(&mut app);
    });
    let frames: Vec<Parts> = (0..args.frames).map(|_| frame(&mut app)).collect();
    let world = app.world_mut();
    let mut meshes = world.query_filtered::<&ViewVisibility, With<Mesh3d>>();
    let drawn = meshes.iter(world).filter(|visible| visible.get()).count();
    assert!(
        drawn >= count,
        "{drawn} meshes of {count} characters are seen"
    );
    let adapter = world.resource::<RenderAdapterInfo>();
    eprintln!("{}: {drawn} meshes", adapter.name);
    std::array::from_fn(|part| {
        let mut times: Vec<f64> = frames.iter().map(|frame| frame[part]).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Runs a frame as [`App::update`] does, one part after another.
fn frame(app: &mut App) -> Parts {
    let mut last = Instant::now();
    let mut lap = || {
        let now = Instant::now();
        (now - std::mem::replace(&mut last, now)).as_secs_f64() * 1e3
    };
    app.main_mut().run_default_schedule();
    let main = lap();
    let apps = app.sub_apps_mut();
    let render = apps
        .sub_apps
        .get_mut(&RenderApp.intern())
        .expect("Bevy's renderer is enabled");
    render.extract(apps.main.world_mut());
    let extraction = lap();
    render.update();
    let rendering = lap();
    let device = apps.main.world().resource::<RenderDevice>();
    device
        .poll(PollType::wait_indefinitely())
        .expect("the device is not lost");
    let gpu = lap();
    apps.main.world_mut().clear_trackers();
    [main, extraction, rendering, gpu]
}

/// Shows the whole crowd, from above and in front of it.
fn spawn_camera(world: &mut World, count: usize) {
    let target = Image::new_target_texture(1280, 720, TextureFormat::Rgba8UnormSrgb, None);
    let target = world.resource_mut::<Assets<Image>>().add(target);
    let half = Vec2::new(ROW.min(count) as f32, count.div_ceil(ROW) as f32) / 2.0;
    let center = Vec3::new(half.x, 0.0, -half.y);
    let distance = half.length() * 2.0 + 5.0;
    let place = center + Vec3::new(0.0, distance, distance * 0.5);
    world.spawn((
        Camera3d::default(),
        RenderTarget::Image(target.into()),
        Projection::Perspective(PerspectiveProjection {
            far: 4.0 * distance,
            ..default()
        }),
        Transform::from_translation(place).looking_at(center, Vec3::Y),
    ));
    world.spawn((
        DirectionalLight::default(),
        Transform::default().looking_to(Vec3::new(-1.0, -2.0, -1.0), Vec3::Y),
    ));
}
