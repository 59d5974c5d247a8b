//! The examples, each run without a window as anyone may run it, and held to what it says and shows.
//!
//! `cargo test` builds the examples before any test runs; by itself this file needs `cargo build --examples`.

use image::RgbImage;
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// What a run left behind.
struct Run {
    /// The text in the corner of the first picture, line by line.
    said: String,
    /// Of every character on a single picture: a number that stands for its pose, and its clip.
    poses: Vec<(String, String)>,
    pictures: Vec<RgbImage>,
}

/// An example's program. Tests lie in `deps`, beside which examples have a folder of their own.
fn program(example: &str) -> PathBuf {
    let own = env::current_exe().expect("a running program has a path");
    let folder = own.parent().and_then(Path::parent).expect("tests are built below the profile's folder");
    let program = folder.join("examples").join(format!("{example}{}", env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is not built: `cargo build --examples`", program.display());
    program
}

/// Runs an example; answers whether it ended well, and what it printed to either stream.
fn execute(example: &str, arguments: &[&str]) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [out, err] = ["out", "err"].map(|name| folder.path().join(name));
    let stream = |path: &Path| Stdio::from(fs::File::create(path).unwrap());
    let mut child = Command::new(program(example))
        .args(arguments)
        .env("BEVY_ASSET_ROOT", env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stdout(stream(&out))
        .stderr(stream(&err))
        .spawn()
        .unwrap();
    // Software rendering on a busy machine takes its time; for ever is too long.
    let deadline = Instant::now() + Duration::from_secs(300);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{example} {arguments:?} does not end:\n{}", fs::read_to_string(&err).unwrap());
        }
        thread::sleep(Duration::from_millis(20));
    };
    (status.success(), fs::read_to_string(&out).unwrap(), fs::read_to_string(&err).unwrap())
}

/// Runs an example to its pictures, small ones: what they show does not depend on their size.
fn run(example: &str, arguments: &[&str]) -> Run {
    run_to(example, "picture.png", arguments)
}

fn run_to(example: &str, file: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(file);
    let all = [&["--headless", file.to_str().unwrap(), "--size", "320x200", "--bare"], arguments].concat();
    let (fine, out, err) = execute(example, &all);
    assert!(fine, "{example} {arguments:?} failed:\n{out}\n{err}");
    let after = |start: &'static str| out.lines().filter_map(move |line| line.strip_prefix(start));
    Run {
        said: after("| ").collect::<Vec<_>>().join("\n"),
        poses: after("pose ").filter_map(|l| l.split_once("  ")).map(|(a, b)| (a.into(), b.into())).collect(),
        pictures: load(&folder),
    }
}

/// All pictures of a folder, in order of their names.
fn load(folder: &TempDir) -> Vec<RgbImage> {
    let files: BTreeSet<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    files.iter().map(|file| image::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).to_rgb8()).collect()
}

/// Share of the pixels that differ clearly between two pictures.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let differ = |(a, b): &(&image::Rgb<u8>, &image::Rgb<u8>)| (0..3).any(|i| a.0[i].abs_diff(b.0[i]) > 24);
    share(a.pixels().zip(b.pixels()).filter(differ).count(), a)
}

/// Share of the pixels that are as warm as skin, hair, leather and fur are; the stage has no such color.
fn warmth(picture: &RgbImage) -> f64 {
    share(picture.pixels().filter(|p| p.0[0] > p.0[2].saturating_add(35)).count(), picture)
}

fn share(count: usize, of: &RgbImage) -> f64 {
    count as f64 / f64::from(of.width() * of.height())
}

/// The picture has somebody on it, and is not all of one thing.
fn assert_peopled(picture: &RgbImage) {
    let warmth = warmth(picture);
    assert!((0.002..0.5).contains(&warmth), "{warmth} of the picture has a character's colors");
}

#[track_caller]
fn assert_says(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(run.said.contains(part), "`{part}` is missing in:\n{}", run.said);
    }
}

#[test]
fn every_example_is_run_here() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples.rs")).unwrap();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // Its output is compared byte for byte in a test of its own.
        let is_example = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        if is_example && name != "author_assets" {
            assert!(source.contains(&format!("(\"{name}\"")), "no test here runs {name}");
        }
    }
}

#[test]
fn skinned_mesh_moves_and_shows_the_same_twice() {
    let film = run("skinned_mesh", &["--time", "0.2", "--frames", "3", "--fps", "4"]);
    let [first, second, third] = &film.pictures[..] else { panic!("{} pictures", film.pictures.len()) };
    film.pictures.iter().for_each(assert_peopled);
    for (a, b) in [(first, second), (second, third), (first, third)] {
        let difference = difference(a, b);
        assert!((0.002..0.3).contains(&difference), "{difference} of the picture moved");
    }
    let [one, two] = [0, 1].map(|_| run("skinned_mesh", &["--time", "0.2"]));
    assert_says(&one, &["walk   0.20 s"]);
    assert!(one.poses.len() == 1 && one.poses == two.poses, "{:?} {:?}", one.poses, two.poses);
    assert!(difference(&one.pictures[0], &two.pictures[0]) < 1e-3);
    assert!(difference(first, &one.pictures[0]) < 1e-3, "a film's first frame is the picture of its moment");
}

#[test]
fn multi_animation_fades_on_a_key() {
    let fading = run("multi_animation", &["--press", "N@0.3", "--time", "0.42"]);
    // Halfway through a quarter of a second, both clips count.
    let weights: Vec<f32> = fading.said.lines().filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
    assert_eq!(weights.len(), 2, "{}", fading.said);
    assert!((weights.iter().sum::<f32>() - 1.0).abs() < 0.02 && weights.iter().all(|&w| w > 0.2), "{weights:?}");
    assert_says(&fading, &["walk [", "wave ["]);
    let over = run("multi_animation", &["--press", "N@0.3", "--time", "0.8"]);
    assert_says(&over, &["wave [####################] 1.00"]);
    assert!(!over.said.contains("walk"), "{}", over.said);
}

#[test]
fn blend_animations_takes_pairs_weights_and_priorities_from_keys() {
    let run = run("blend_animations", &["--press", "3@0.1", "--press", "F@0.2", "--time", "0.5"]);
    assert_says(&run, &["jog [########------------] 0.40  Low", "wave [############--------] 0.60  High"]);
    // The two clips alone and, between them, neither the one nor the other.
    let distinct: BTreeSet<_> = run.poses.iter().map(|(hash, _)| hash).collect();
    assert_eq!((run.poses.len(), distinct.len()), (3, 3), "{:?}", run.poses);
    assert_peopled(&run.pictures[0]);
}

#[test]
fn animation_callbacks_counts_steps_and_turns_and_leaves_marks() {
    // Footfalls at 0.27 and 0.80 s of a cycle of 1.07 s; turns at half and at the end of every fourth.
    let early = run("animation_callbacks", &["--time", "0.2"]);
    assert_says(&early, &["steps: 0 left, 0 right", "camera turns: 0"]);
    let late = run("animation_callbacks", &["--time", "5.1"]);
    assert_says(&late, &["steps: 5 left, 5 right", "camera turns: 2"]);
    // Marks of the right foot are blue as nothing else is.
    let blue = |run: &Run| {
        share(run.pictures[0].pixels().filter(|p| p.0[2] > p.0[0].saturating_add(60)).count(), &run.pictures[0])
    };
    assert!(blue(&early) < 1e-3 && blue(&late) > 1.5e-3, "{} {}", blue(&early), blue(&late));
    let off = run("animation_callbacks", &["--press", "T@0.1", "--time", "5.1"]);
    assert_says(&off, &["steps: 5 left, 5 right", "camera turns: 0  (off)"]);
}

#[test]
fn clip_queue_plays_in_order_and_ends_standing() {
    // Two rounds of 0.73 s of jog, then a jump.
    let jumping = run("clip_queue", &["--time", "1.9"]);
    assert_says(&jumping, &["played  jog, jog", "now  jump", "next  wave, point"]);
    assert_peopled(&jumping.pictures[0]);
    let cleared = run("clip_queue", &["--press", "C@0.1", "--time", "1.2"]);
    assert_says(&cleared, &["played  jog", "now  idle", "next  -"]);
}

#[test]
fn partial_body_keeps_the_legs_going() {
    let on = run("partial_body", &["--time", "0.6"]);
    assert_says(&on, &["over  wave", "mask  upper_body", "below  jog"]);
    let off = run("partial_body", &["--press", "Space@0.1", "--time", "0.6"]);
    assert_says(&off, &["over  wave  (off)"]);
    assert_ne!(on.poses, off.poses);
    let difference = difference(&on.pictures[0], &off.pictures[0]);
    assert!((0.002..0.2).contains(&difference), "{difference} of the picture waves");
    // Below the hands, where the legs are and no shadow is, the two are the same.
    let legs = |run: &Run| image::imageops::crop_imm(&run.pictures[0], 130, 125, 60, 35).to_image();
    let difference = self::difference(&legs(&on), &legs(&off));
    assert!(difference < 0.02, "{difference} of the legs is not the jog's");
}

#[test]
fn many_instances_share_one_asset_each_at_its_own_time() {
    let run = run("many_instances", &["--count", "12", "--time", "0.5"]);
    assert_says(&run, &["12 characters, 1 asset"]);
    let distinct: BTreeSet<_> = run.poses.iter().map(|(hash, _)| hash).collect();
    assert_eq!((run.poses.len(), distinct.len()), (12, 12), "{:?}", run.poses);
    assert_peopled(&run.pictures[0]);
}

#[test]
fn hot_reload_follows_good_edits_and_survives_bad_ones() {
    let edited = run("hot_reload", &["--press", "E@0.3", "--time", "0.6"]);
    assert_says(&edited, &["RELOADED 1x", "walk at 0.60 s"]);
    let broken = run("hot_reload", &["--press", "B@0.3", "--time", "0.6"]);
    assert_says(&broken, &["NOT LOADED, the last good one stays", "scael", "walk at 0.60 s"]);
    // Beside it stands one that is not edited.
    assert_ne!(edited.poses[0], edited.poses[1], "the edited walk is the jog");
    assert_eq!(broken.poses[0], broken.poses[1]);
    assert!(difference(&edited.pictures[0], &broken.pictures[0]) > 0.01, "the edited one is a child");
}

#[test]
fn attachments_are_carried() {
    let [drawn, sheathed] =
        ["0.1", "9"].map(|at| run("attachments", &["--press", &format!("X@{at}"), "--time", "0.4"]));
    assert_says(&drawn, &["sockets that carry something"]);
    assert_eq!(drawn.poses, sheathed.poses);
    assert!(difference(&drawn.pictures[0], &sheathed.pictures[0]) > 1e-3, "the sword has moved");
}

#[test]
fn md5_character_draws_its_skeleton() {
    let [with, without] =
        ["9", "0.1"].map(|at| run("md5_character", &["--press", &format!("K@{at}"), "--time", "0.3"]));
    assert_says(&with, &["joints", "meshes", "clips"]);
    assert_eq!(with.poses, without.poses);
    assert!(difference(&with.pictures[0], &without.pictures[0]) > 2e-3, "lines are drawn");
    assert_peopled(&without.pictures[0]);
}

#[test]
fn dressing_puts_armour_on_and_off() {
    let [off, on] = ["0.1", "9"].map(|at| run("dressing", &["--press", &format!("A@{at}"), "--time", "0.4"]));
    assert_says(&on, &["suits of armour worn: 1"]);
    assert_says(&off, &["suits of armour worn: 0"]);
    let difference = difference(&on.pictures[0], &off.pictures[0]);
    assert!((0.005..0.3).contains(&difference), "{difference} of the picture is armour");
    assert_peopled(&off.pictures[0]);
}

#[test]
fn crowd_looks_alike_whoever_plays_it() {
    // Tab hands the crowd over to bevy_animation.
    let [bevys, ours] =
        ["0.1", "9"].map(|at| run("crowd", &["--count", "20", "--press", &format!("Tab@{at}"), "--time", "0.3"]));
    [&bevys, &ours].into_iter().for_each(|run| assert_peopled(&run.pictures[0]));
    assert_eq!((ours.poses.len(), bevys.poses.len()), (20, 0), "only ours are characters of this crate");
    let [ours, bevys] = [&ours, &bevys].map(|run| warmth(&run.pictures[0]));
    assert!((ours / bevys - 1.0).abs() < 0.2, "{ours} of the picture is ours, {bevys} Bevy's");
}

#[test]
fn viewer_goes_through_clips_and_gallery() {
    let at_rest = run("viewer", &["--clip", "bind", "--time", "0.1"]);
    assert_says(&at_rest, &["Scout\nbind pose"]);
    let walking = run("viewer", &["--time", "0.5"]);
    assert_says(&walking, &["Scout\nwalk"]);
    assert!(difference(&at_rest.pictures[0], &walking.pictures[0]) > 0.01);
    let next = run("viewer", &["--press", "N@0.1", "--time", "0.5"]);
    assert_says(&next, &["Scout\nwave"]);
    // The first of the gallery is the Hound.
    let hound = run("viewer", &["--press", "1@0.1", "--time", "0.3"]);
    assert_says(&hound, &["Hound\nwalk"]);
    assert_peopled(&hound.pictures[0]);
    let (fine, _, err) = execute("viewer", &["--headless", "unused.png", "--clip", "flying"]);
    assert!(!fine && err.contains("there is no clip `flying`: it has idle, jog"), "{err}");
}

#[test]
fn viewer_opens_what_is_dropped_on_it() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let after = |drops: &[&str]| {
        let drops: Vec<String> = drops.iter().map(|drop| format!("{}/{drop}", assets.display())).collect();
        let arguments: Vec<&str> = drops.iter().flat_map(|drop| ["--drop", drop]).chain(["--time", "0.4"]).collect();
        run("viewer", &arguments)
    };
    // Scout walks there at first.
    let before = run("viewer", &["--time", "0.4"]);
    let manifest = after(&["hound/hound.character.ron@0.1"]);
    assert_says(&manifest, &["hound.character.ron\nwalk  (4 of 4)"]);
    let m3d = after(&["scout/scout.m3d@0.1"]);
    assert_says(&m3d, &["scout.m3d\nwalk", "of 7)"]);
    // A model alone has no clip, and plays the one that joins it.
    let mesh = after(&["hound/hound.md5mesh@0.1"]);
    assert_says(&mesh, &["hound.md5mesh\nbind pose  (it has no clips)"]);
    let joined = after(&["hound/hound.md5mesh@0.1", "hound/gallop.md5anim@0.2"]);
    assert_says(&joined, &["hound.md5mesh\ngallop  (1 of 1)"]);
    let runs = [&before, &manifest, &mesh, &joined];
    runs.iter().for_each(|run| assert_peopled(&run.pictures[0]));
    for (i, a) in runs.iter().enumerate() {
        for b in &runs[..i] {
            assert!(difference(&a.pictures[0], &b.pictures[0]) > 0.01, "{}\n{}", a.said, b.said);
        }
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let drop = format!("{}@0.1", readme.display());
    let (fine, _, err) = execute("viewer", &["--headless", "unused.png", "--drop", &drop]);
    assert!(!fine && err.contains("README.md"), "{err}");
}

#[test]
fn viewer_films_a_gif() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("turn.gif");
    let arguments = ["--headless", file.to_str().unwrap(), "--size", "160x120", "--bare"];
    let (fine, _, err) =
        execute("viewer", &[&arguments[..], &["--frames", "4", "--fps", "10", "--turn", "360"]].concat());
    assert!(fine, "{err}");
    let decoder = image::codecs::gif::GifDecoder::new(std::io::BufReader::new(fs::File::open(&file).unwrap())).unwrap();
    let frames = image::AnimationDecoder::into_frames(decoder).collect_frames().unwrap();
    assert_eq!(frames.len(), 4);
    for frame in &frames {
        assert_eq!(Duration::from(frame.delay()), Duration::from_millis(100));
    }
    let pictures: Vec<_> = frames.into_iter().map(|f| image::DynamicImage::from(f.into_buffer()).to_rgb8()).collect();
    pictures.iter().for_each(assert_peopled);
    assert!(difference(&pictures[0], &pictures[2]) > 0.01, "the back is not the front");
}

#[test]
fn contact_sheet_has_a_row_for_each_clip_and_side() {
    let folder = tempfile::tempdir().unwrap();
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scout/scout.character.ron");
    let to = folder.path().to_str().unwrap();
    let arguments = ["--times", "3", "--width", "480", "--clip", "idle", "--clip", "jog", "--to", to];
    let (fine, out, err) = execute("contact_sheet", &[&arguments[..], &[scout.to_str().unwrap()]].concat());
    assert!(fine, "{out}\n{err}");
    let sheet = &load(&folder)[0];
    let height = 115;
    assert_eq!(sheet.dimensions(), (480, 4 * height));
    let rows: Vec<_> =
        (0..4).map(|row| image::imageops::crop_imm(sheet, 0, row * height, 480, height).to_image()).collect();
    rows.iter().for_each(assert_peopled);
    for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        assert!(difference(&rows[a], &rows[b]) > 0.01, "rows {a} and {b} are alike");
    }
}
