//! Runs every example headless, and checks its caption and pictures.
//!
//! `cargo test` builds the examples first; to run only this file, `cargo build --examples` before it.

use bevy_marionette::{
    controller::AnimationController,
    internals::record::{ClipTable, Frames, RecordedCharacter, Tape, TapeMoment},
    record::RecordingFile,
};
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

/// Output of a headless run.
struct Run {
    /// The caption of the first picture.
    caption: String,
    /// Pose hash and clip of every character, if there is a single picture.
    poses: Vec<(String, String)>,
    pictures: Vec<RgbImage>,
}

const MANNEQUIN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/assets/mannequin/mannequin.glb"
);

/// Returns an example's executable, in `examples` next to `deps`, where tests are.
fn program(example: &str) -> PathBuf {
    let own = env::current_exe().expect("the executable has a path");
    let folder = own
        .parent()
        .and_then(Path::parent)
        .expect("tests are built in the profile's folder");
    let program = folder
        .join("examples")
        .join(format!("{example}{}", env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} does not exist; run `cargo build --examples`",
        program.display()
    );
    program
}

/// Runs an example; returns whether it succeeded, and its standard output and error.
fn execute(example: &str, arguments: &[&str]) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [out, err] = ["out", "err"].map(|name| folder.path().join(name));
    let stream = |path: &Path| Stdio::from(fs::File::create(path).unwrap());
    let mut child = Command::new(program(example))
        .args(arguments)
        .env("BEVY_ASSET_ROOT", env!("CARGO_MANIFEST_DIR"))
        // What it writes under a name alone goes with the folder.
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(stream(&out))
        .stderr(stream(&err))
        .spawn()
        .unwrap();
    // Generous, because software rendering on a busy machine is slow.
    let deadline = Instant::now() + Duration::from_secs(300);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!(
                "{example} {arguments:?} timed out:\n{}",
                fs::read_to_string(&err).unwrap()
            );
        }
        thread::sleep(Duration::from_millis(20));
    };
    (
        status.success(),
        fs::read_to_string(&out).unwrap(),
        fs::read_to_string(&err).unwrap(),
    )
}

/// Runs an example and returns its pictures, rendered small.
fn run(example: &str, arguments: &[&str]) -> Run {
    run_to(example, "picture.png", arguments)
}

fn run_to(example: &str, file: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(file);
    let all = [
        &[
            "--headless",
            file.to_str().unwrap(),
            "--size",
            "240x150",
            "--bare",
        ],
        arguments,
    ]
    .concat();
    let (fine, out, err) = execute(example, &all);
    assert!(fine, "{example} {arguments:?} failed:\n{out}\n{err}");
    let after = |start: &'static str| out.lines().filter_map(move |line| line.strip_prefix(start));
    Run {
        caption: after("| ").collect::<Vec<_>>().join("\n"),
        poses: after("pose ")
            .filter_map(|l| l.split_once("  "))
            .map(|(a, b)| (a.into(), b.into()))
            .collect(),
        pictures: load(&folder),
    }
}

/// Loads all pictures of a folder, sorted by name.
fn load(folder: &TempDir) -> Vec<RgbImage> {
    let files: BTreeSet<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files
        .iter()
        .map(|file| {
            image::open(file)
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()))
                .to_rgb8()
        })
        .collect()
}

/// Returns the fraction of pixels that differ clearly between two pictures.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let differ =
        |(a, b): &(&image::Rgb<u8>, &image::Rgb<u8>)| (0..3).any(|i| a.0[i].abs_diff(b.0[i]) > 24);
    share(a.pixels().zip(b.pixels()).filter(differ).count(), a)
}

/// Returns the fraction of pixels in warm colors, which skin, hair, leather and fur have but the stage doesn't.
fn warmth(picture: &RgbImage) -> f64 {
    share(
        picture
            .pixels()
            .filter(|p| p.0[0] > p.0[2].saturating_add(35))
            .count(),
        picture,
    )
}

fn share(count: usize, of: &RgbImage) -> f64 {
    count as f64 / f64::from(of.width() * of.height())
}

/// Asserts that a character is visible.
fn assert_character_visible(picture: &RgbImage) {
    let warmth = warmth(picture);
    assert!(
        (0.002..0.5).contains(&warmth),
        "{warmth} of the picture has a character's colors"
    );
}

#[track_caller]
fn assert_caption(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(
            run.caption.contains(part),
            "`{part}` is missing in:\n{}",
            run.caption
        );
    }
}

#[test]
fn every_example_is_run_here() {
    let source =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples.rs"))
            .unwrap();
    // However rustfmt breaks the lines.
    let source: String = source.split_whitespace().collect();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_example =
            path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        if is_example {
            assert!(
                source.contains(&format!("(\"{name}\"")),
                "no test runs {name}"
            );
        }
    }
}

/// A process that ends with the test.
#[cfg(target_os = "linux")]
struct Running(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a virtual display, if there is no other. Returns it with its name.
#[cfg(target_os = "linux")]
fn display() -> Option<(Running, String)> {
    use std::io::{BufRead, BufReader};
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        return None;
    }
    let mut server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "640x400x24"])
        .args(["-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("there is neither a display nor Xvfb; run `sh .ci/setup`");
    // It writes its number when it is ready.
    let mut number = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut number)
        .unwrap();
    Some((Running(server), format!(":{}", number.trim())))
}

/// The one example that opens a window of its own, as an app of a reader does.
#[cfg(target_os = "linux")]
#[test]
fn minimal_plays_the_first_clip_in_a_window() {
    let display = display();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let file = fs::File::create(&log).unwrap();
    let mut command = Command::new(program("minimal"));
    command
        .env("BEVY_ASSET_ROOT", env!("CARGO_MANIFEST_DIR"))
        .env_remove("RUST_LOG")
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::from(file.try_clone().unwrap()))
        .stderr(Stdio::from(file));
    if let Some((_, name)) = &display {
        command.env("DISPLAY", name);
    }
    let mut app = Running(command.spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(300);
    let read = || fs::read_to_string(&log).unwrap();
    while !read().contains("clips: [\"idle\", \"walk\"]") {
        assert!(Instant::now() < deadline, "timed out:\n{}", read());
        let ended = app.0.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}:\n{}", read());
        thread::sleep(Duration::from_millis(100));
    }
    // It draws frames with the camera in its place, and nobody complains.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(app.0.try_wait().unwrap(), None, "{}", read());
    let log = read();
    assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
}

/// Both peers end with the same character, and have heard the same, though one had to go back.
#[test]
fn rollback_ends_with_the_same_character_at_both_peers() {
    let (fine, out, err) = execute("rollback", &[]);
    assert!(fine, "{out}\n{err}");
    let line = |begin: &str| {
        let mut lines = out.lines();
        let found = lines.find(|line| line.contains(begin));
        found.unwrap_or_else(|| panic!("no `{begin}`: {out}"))
    };
    line("both peers have the same character");
    let words: Vec<&str> = line("went back").split_whitespace().collect();
    assert!(words[5].parse::<usize>().unwrap() > 3, "{out}");
    let heard = line("footsteps:");
    assert!(
        !heard.contains(" 0 here") && !heard.contains(" 0 more"),
        "{out}"
    );
    for sent in out.lines().filter(|line| line.starts_with("step ")) {
        let bytes: usize = sent.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert!(bytes <= 16, "{sent}");
    }
}

/// Runs to its end without a renderer, twice, with the same lines.
#[test]
fn headless_server_reports_the_same_footsteps_on_each_run() {
    let [one, two] = [0, 1].map(|_| execute("headless_server", &[]));
    let (fine, out, err) = &one;
    assert!(fine, "{out}\n{err}");
    assert!(two.0 && two.1 == *out, "{out}\n{}", two.1);
    let steps: Vec<(f64, &str, [f64; 2])> = out
        .lines()
        .filter(|line| line.contains(" foot at "))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<f64>().unwrap();
            (number(0), words[2], [number(5), number(6)])
        })
        .collect();
    assert_eq!(steps.len(), 24, "{out}");
    for pair in steps.windows(2) {
        let [(before, foot, from), (after, other, to)] = pair else {
            unreachable!()
        };
        // Half a loop of the clip apart, which no step of the server divides.
        assert!((after - before - 0.3667).abs() < 2e-3, "{out}");
        assert_ne!(foot, other, "{out}");
        let stride = (to[0] - from[0]).hypot(to[1] - from[1]);
        assert!((0.4..1.6).contains(&stride), "{stride}: {out}");
    }
}

#[test]
fn loading_screen_ends_when_everything_is_there() {
    let run = run("loading_screen", &[]);
    assert_caption(&run, &["loaded", "3 of 3 characters"]);
    assert_eq!(run.poses.len(), 3, "{:?}", run.poses);
    assert_character_visible(&run.pictures[0]);
}

#[test]
fn hit_window_opens_once_and_the_foot_hits_the_ball() {
    let before = run("hit_window", &["--time", "0.2"]);
    assert_caption(&before, &["window: closed", "hits: 0"]);
    let during = run("hit_window", &[]);
    assert_caption(&during, &["window: open", "hits: 1"]);
    assert_character_visible(&during.pictures[0]);
    let after = run("hit_window", &["--time", "0.9"]);
    assert_caption(&after, &["window: closed", "hits: 1"]);
}

#[test]
fn picking_sticks_darts_into_the_skin() {
    let run = run("picking", &["--press", "Space@0.1", "--time", "0.5"]);
    assert_caption(&run, &["darts: 1", "joint "]);
    assert!(!run.caption.contains("missed"), "{}", run.caption);
    let cleared = self::run(
        "picking",
        &["--press", "Space@0.1", "--press", "C@0.3", "--time", "0.5"],
    );
    assert_caption(&cleared, &["darts: 0"]);
}

#[test]
fn skinned_mesh_moves_and_is_reproducible() {
    let film = run(
        "skinned_mesh",
        &["--time", "0.2", "--frames", "3", "--fps", "4"],
    );
    let [first, second, third] = &film.pictures[..] else {
        panic!("{} pictures", film.pictures.len())
    };
    film.pictures.iter().for_each(assert_character_visible);
    for (a, b) in [(first, second), (second, third), (first, third)] {
        let difference = difference(a, b);
        assert!(
            (0.002..0.3).contains(&difference),
            "{difference} of the picture moved"
        );
    }
    let [one, two] = [0, 1].map(|_| run("skinned_mesh", &["--time", "0.2"]));
    assert_caption(&one, &["walk   0.20 s"]);
    assert!(
        one.poses.len() == 1 && one.poses == two.poses,
        "{:?} {:?}",
        one.poses,
        two.poses
    );
    assert!(difference(&one.pictures[0], &two.pictures[0]) < 1e-3);
    assert!(
        difference(first, &one.pictures[0]) < 1e-3,
        "the first frame of a film is the picture at its time"
    );
}

#[test]
fn multi_animation_cross_fades_on_a_key() {
    let fading = run("multi_animation", &["--press", "N@0.3", "--time", "0.42"]);
    // Halfway through the fade, both clips have weight.
    let weights: Vec<f32> = fading
        .caption
        .lines()
        .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
        .collect();
    assert_eq!(weights.len(), 2, "{}", fading.caption);
    assert!(
        (weights.iter().sum::<f32>() - 1.0).abs() < 0.02 && weights.iter().all(|&w| w > 0.2),
        "{weights:?}"
    );
    assert_caption(&fading, &["walk [", "wave ["]);
    let over = run("multi_animation", &["--press", "N@0.3", "--time", "0.8"]);
    assert_caption(&over, &["wave [####################] 1.00"]);
    assert!(!over.caption.contains("walk"), "{}", over.caption);
}

#[test]
fn blend_animations_changes_pairs_and_priorities_on_keys() {
    let run = run(
        "blend_animations",
        &[
            "--press", "2@0.1", "--press", "N@0.15", "--press", "F@0.2", "--time", "0.5",
        ],
    );
    assert_caption(
        &run,
        &[
            "jog [########------------] 0.40  Low",
            "wave [############--------] 0.60  High",
        ],
    );
    // Each clip alone, and a blend that equals neither.
    let distinct: BTreeSet<_> = run.poses.iter().map(|(hash, _)| hash).collect();
    assert_eq!((run.poses.len(), distinct.len()), (3, 3), "{:?}", run.poses);
    assert_character_visible(&run.pictures[0]);
}

#[test]
fn animation_callbacks_counts_steps_and_turns_and_leaves_marks() {
    // At half speed, a cycle takes 2.13 s. Footsteps are at 0.53 and 1.60 s, turns at 1.07 and 2.13 s.
    let early = run("animation_callbacks", &["--time", "0.2"]);
    assert_caption(&early, &["steps: 0 left, 0 right", "camera turns: 0"]);
    let late = run("animation_callbacks", &["--time", "10.2"]);
    assert_caption(&late, &["steps: 5 left, 5 right", "camera turns: 9"]);
    // Only the marks of the right foot are blue.
    let blue = |run: &Run| {
        share(
            run.pictures[0]
                .pixels()
                .filter(|p| p.0[2] > p.0[0].saturating_add(60))
                .count(),
            &run.pictures[0],
        )
    };
    assert!(
        blue(&early) < 1e-3 && blue(&late) > 1.5e-3,
        "{} {}",
        blue(&early),
        blue(&late)
    );
    let off = run(
        "animation_callbacks",
        &["--press", "T@0.1", "--time", "10.2"],
    );
    assert_caption(&off, &["steps: 5 left, 5 right", "camera turns: 0  (off)"]);
}

#[test]
fn clip_queue_plays_in_order_and_returns_to_idle() {
    // Two jog cycles of 0.73 s each, then a jump.
    let jumping = run("clip_queue", &["--time", "1.9"]);
    assert_caption(
        &jumping,
        &["played  jog, jog", "now  jump", "next  wave, point"],
    );
    assert_character_visible(&jumping.pictures[0]);
    let cleared = run("clip_queue", &["--press", "C@0.1", "--time", "1.2"]);
    assert_caption(&cleared, &["played  jog", "now  idle", "next  -"]);
}

#[test]
fn faces_speaks_and_reacts_to_keys() {
    let speaking = run("faces", &["--time", "0.4"]);
    assert!(speaking.caption.contains("Hello!"), "{}", speaking.caption);
    assert!(speaking.caption.contains(" oh "), "{}", speaking.caption);
    let smiling = run("faces", &["--press", "1@3.5", "--time", "4"]);
    assert!(!smiling.caption.contains("Hello!"), "{}", smiling.caption);
    assert!(smiling.caption.contains("smile"), "{}", smiling.caption);
}

#[test]
fn avatar_has_what_its_file_says() {
    let happy = run("avatar", &["--press", "1@0.1", "--time", "0.6"]);
    assert_caption(&happy, &["plays greet, knows 11 expressions", "happy"]);
    assert_character_visible(&happy.pictures[0]);
}

#[test]
fn adventure_goes_over_the_course_state_by_state() {
    // By itself, she goes around: over the stairs and the gap to the post, which hits back.
    for (time, state) in [
        ("1.2", "ground\narms: wave"),
        ("4.5", "jump\n"),
        ("5.75", "kick\n"),
        ("6.75", "hurt\n"),
    ] {
        let run = run("adventure", &["--time", time]);
        assert_caption(&run, &[state]);
        assert_character_visible(&run.pictures[0]);
    }
    // By key: what is asked for while she kicks waits for the end of the kick.
    let jumping = run("adventure", &["--press", "Space@0.5", "--time", "0.7"]);
    assert_caption(&jumping, &["jump\n"]);
    let waiting = run(
        "adventure",
        &["--press", "F@0.5", "--press", "Space@0.6", "--time", "0.8"],
    );
    assert_caption(&waiting, &["kick, then jump\n"]);
    let hurt = run(
        "adventure",
        &["--press", "F@0.5", "--press", "H@0.6", "--time", "0.8"],
    );
    assert_caption(&hurt, &["hurt\n"]);
}

#[test]
fn partial_body_leaves_the_legs_alone() {
    let on = run("partial_body", &["--time", "0.6"]);
    assert_caption(&on, &["overlay  wave", "mask  upper_body", "base  jog"]);
    let off = run("partial_body", &["--press", "Space@0.1", "--time", "0.6"]);
    assert_caption(&off, &["overlay  wave  (off)"]);
    assert_ne!(on.poses, off.poses);
    let difference = difference(&on.pictures[0], &off.pictures[0]);
    assert!(
        (0.002..0.2).contains(&difference),
        "{difference} of the picture waves"
    );
    // Compare the legs, in an area below the hands and without shadows.
    let legs = |run: &Run| image::imageops::crop_imm(&run.pictures[0], 130, 125, 60, 35).to_image();
    let difference = self::difference(&legs(&on), &legs(&off));
    assert!(difference < 0.02, "{difference} of the legs differs");
}

#[test]
fn many_instances_share_one_asset_and_have_their_own_times() {
    let run = run("many_instances", &["--count", "12", "--time", "0.5"]);
    assert_caption(&run, &["12 characters, 1 asset"]);
    let distinct: BTreeSet<_> = run.poses.iter().map(|(hash, _)| hash).collect();
    assert_eq!(
        (run.poses.len(), distinct.len()),
        (12, 12),
        "{:?}",
        run.poses
    );
    assert_character_visible(&run.pictures[0]);
}

#[test]
fn hot_reload_follows_good_edits_and_survives_bad_ones() {
    let edited = run("hot_reload", &["--press", "E@0.3", "--time", "0.6"]);
    assert_caption(&edited, &["RELOADED 1x", "walk at 0.60 s"]);
    let broken = run("hot_reload", &["--press", "B@0.3", "--time", "0.6"]);
    assert_caption(
        &broken,
        &[
            "RELOAD FAILED, keeping the last good version",
            "scael",
            "walk at 0.60 s",
        ],
    );
    // The second character is never edited.
    assert_ne!(
        edited.poses[0], edited.poses[1],
        "the edited walk is the jog"
    );
    assert_eq!(broken.poses[0], broken.poses[1]);
    assert!(
        difference(&edited.pictures[0], &broken.pictures[0]) > 0.01,
        "the edited one is smaller"
    );
}

#[test]
fn attachments_move_between_sockets() {
    let [drawn, sheathed] = ["0.1", "9"].map(|at| {
        run(
            "attachments",
            &["--press", &format!("X@{at}"), "--time", "0.4"],
        )
    });
    assert_caption(&drawn, &["sockets in use"]);
    assert_eq!(drawn.poses, sheathed.poses);
    assert!(
        difference(&drawn.pictures[0], &sheathed.pictures[0]) > 1e-3,
        "the sword has moved"
    );
}

#[test]
fn rig_reaches_for_its_goals_lets_go_and_changes_sides() {
    let [on, off, other] =
        ["Space@9", "Space@0.1", "M@0.1"].map(|key| run("rig", &["--press", key, "--time", "1"]));
    assert_caption(
        &on,
        &["left hand  [####################]", "facing their poles"],
    );
    assert_caption(&off, &["left hand  [--------------------]"]);
    assert_caption(&other, &["right hand  [####################]"]);
    let distinct: BTreeSet<_> = [&on, &off, &other]
        .iter()
        .flat_map(|run| &run.poses)
        .map(|(hash, _)| hash)
        .collect();
    assert_eq!(distinct.len(), 3, "three different poses");
    assert_character_visible(&on.pictures[0]);
}

#[test]
fn terrain_carries_its_walkers_up_the_stairs() {
    let [early, late] = ["0.2", "3.4"].map(|time| run("terrain", &["--time", time]));
    assert_caption(
        &early,
        &["Scout  walk  0.32 m up", "Hound  walk  0.00 m up"],
    );
    assert_caption(&late, &["Scout  walk  1.28 m up"]);
    assert_character_visible(&late.pictures[0]);
}

#[test]
fn hero_goes_where_it_is_steered_and_jumps() {
    let going = run("hero", &["--time", "4.2"]);
    assert_caption(&going, &["ground", "m/s", "footsteps"]);
    assert!(
        !going.caption.contains("\n0 footsteps"),
        "{}",
        going.caption
    );
    assert_character_visible(&going.pictures[0]);
    let jumping = run("hero", &["--press", "Space@2", "--time", "2.4"]);
    assert_caption(&jumping, &["jump"]);
    let attacking = run("hero", &["--press", "E@2", "--time", "2.4"]);
    assert_caption(&attacking, &["attack"]);
}

#[test]
fn locomotion_follows_its_parameters_jumps_and_borrows_a_clip() {
    let going = run("locomotion", &["--time", "5.2"]);
    assert_caption(&going, &["plays locomotion", "jog"]);
    assert_character_visible(&going.pictures[0]);
    let jumping = run("locomotion", &["--press", "Space@2", "--time", "2.3"]);
    assert_caption(&jumping, &["plays jump"]);
    let cheering = run("locomotion", &["--press", "C@1", "--time", "1.8"]);
    assert_caption(&cheering, &["plays cheer"]);
    let after = run("locomotion", &["--press", "Space@1", "--time", "4.5"]);
    assert_caption(&after, &["plays locomotion"]);
}

#[test]
fn md5_character_draws_its_skeleton() {
    let [with, without] = ["9", "0.1"].map(|at| {
        run(
            "md5_character",
            &["--press", &format!("K@{at}"), "--time", "0.3"],
        )
    });
    assert_caption(&with, &["joints", "meshes", "clips"]);
    assert_eq!(with.poses, without.poses);
    assert!(
        difference(&with.pictures[0], &without.pictures[0]) > 2e-3,
        "lines are drawn"
    );
    assert_character_visible(&without.pictures[0]);
}

#[test]
fn gltf_character_plays_a_glb_alone_and_with_clips_of_another() {
    let first = run("gltf_character", &["--time", "0.3"]);
    assert_caption(
        &first,
        &[
            "pup.glb: walk of idle, walk",
            "pup.character.ron: gallop of gallop, idle, sit, walk",
        ],
    );
    let next = run("gltf_character", &["--press", "N@0.1", "--time", "0.8"]);
    assert_caption(&next, &["pup.glb: idle of", "pup.character.ron: idle of"]);
    let distinct: BTreeSet<_> = first
        .poses
        .iter()
        .chain(&next.poses)
        .map(|(hash, _)| hash)
        .collect();
    assert!(
        first.poses.len() == 2 && distinct.len() >= 3,
        "{:?} {:?}",
        first.poses,
        next.poses
    );
    assert!(difference(&first.pictures[0], &next.pictures[0]) > 0.005);
    assert_character_visible(&first.pictures[0]);
}

#[test]
fn bsn_puts_a_sword_in_a_hand_and_on_a_back() {
    let hand = run("bsn", &["--time", "0.4"]);
    let back = run("bsn", &["--time", "0.4", "--press", "S@0.2"]);
    assert_caption(&hand, &["the sword is at `right_hand`"]);
    assert_caption(&back, &["the sword is at `back`"]);
    assert_eq!(hand.poses.len(), 1);
    assert!(difference(&hand.pictures[0], &back.pictures[0]) > 1e-3);
    assert_character_visible(&hand.pictures[0]);
}

#[test]
fn custom_material_draws_one_of_two_with_a_shader_of_its_own() {
    let [toon, own, weights, bare] = ["", "T@0.1", "W@0.1", "J@0.1"].map(|press| {
        let arguments = ["--time", "0.4", "--press", press];
        run(
            "custom_material",
            &arguments[..if press.is_empty() { 2 } else { 4 }],
        )
    });
    assert_caption(&toon, &["a toon shader", "jacket: there"]);
    assert_caption(&own, &["Bevy's own material"]);
    assert_caption(&weights, &["weights"]);
    assert_caption(&bare, &["jacket: hidden"]);
    assert_eq!(toon.poses.len(), 2);
    for (what, other) in [("own", &own), ("weights", &weights), ("bare", &bare)] {
        assert_eq!(toon.poses, other.poses, "{what}");
        let difference = difference(&toon.pictures[0], &other.pictures[0]);
        assert!(difference > 2e-3, "{what}: {difference}");
    }
    assert_character_visible(&toon.pictures[0]);
}

#[test]
fn dressing_puts_armor_on_and_off() {
    let [off, on] = ["0.1", "9"].map(|at| {
        run(
            "dressing",
            &["--press", &format!("A@{at}"), "--time", "0.4"],
        )
    });
    assert_caption(&on, &["suits of armor: 1"]);
    assert_caption(&off, &["suits of armor: 0"]);
    let difference = difference(&on.pictures[0], &off.pictures[0]);
    assert!(
        (0.005..0.3).contains(&difference),
        "{difference} of the picture is armor"
    );
    assert_character_visible(&off.pictures[0]);
}

#[test]
fn crowd_looks_the_same_on_both_sides() {
    // Tab switches to bevy_animation.
    let [bevys, ours] = ["0.1", "9"].map(|at| {
        run(
            "crowd",
            &[
                "--count",
                "20",
                "--press",
                &format!("Tab@{at}"),
                "--time",
                "0.3",
            ],
        )
    });
    [&bevys, &ours]
        .into_iter()
        .for_each(|run| assert_character_visible(&run.pictures[0]));
    assert_eq!(
        (ours.poses.len(), bevys.poses.len()),
        (20, 0),
        "only our side uses this crate's characters"
    );
    let [ours, bevys] = [&ours, &bevys].map(|run| warmth(&run.pictures[0]));
    assert!(
        (ours / bevys - 1.0).abs() < 0.2,
        "{ours} of the picture is ours, {bevys} Bevy's"
    );
}

#[test]
fn viewer_steps_through_clips_and_gallery() {
    let at_rest = run("viewer", &["--clip", "bind", "--time", "0.1"]);
    assert_caption(&at_rest, &["Scout\nbind pose"]);
    let walking = run("viewer", &["--time", "0.5"]);
    assert_caption(&walking, &["Scout\nwalk"]);
    assert!(difference(&at_rest.pictures[0], &walking.pictures[0]) > 0.01);
    let next = run("viewer", &["--press", "N@0.1", "--time", "0.5"]);
    assert_caption(&next, &["Scout\nwalk_left"]);
    // The Hound is first in the gallery.
    let hound = run("viewer", &["--press", "1@0.1", "--time", "0.3"]);
    assert_caption(&hound, &["Hound\nwalk"]);
    assert_character_visible(&hound.pictures[0]);
    // A file without a skin is shown as a skeleton.
    let bones = run("viewer", &[MANNEQUIN, "--clip", "cheer", "--time", "0.5"]);
    assert_caption(&bones, &["mannequin.glb\ncheer"]);
    let bind = run("viewer", &[MANNEQUIN, "--clip", "bind", "--time", "0.5"]);
    assert!(
        difference(&bones.pictures[0], &bind.pictures[0]) > 1e-3,
        "the bones are drawn, and move"
    );
    let (fine, _, err) = execute("viewer", &["--headless", "unused.png", "--clip", "flying"]);
    assert!(
        !fine && err.contains("no clip named `flying` (available: cheer, idle, jog"),
        "{err}"
    );
}

#[test]
fn viewer_opens_what_is_dropped_on_it() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let after = |drops: &[&str]| {
        let drops: Vec<String> = drops
            .iter()
            .map(|drop| format!("{}/{drop}", assets.display()))
            .collect();
        let arguments: Vec<&str> = drops
            .iter()
            .flat_map(|drop| ["--drop", drop])
            .chain(["--time", "0.4"])
            .collect();
        run("viewer", &arguments)
    };
    // Initially, Scout walks.
    let before = run("viewer", &["--time", "0.4"]);
    let manifest = after(&["hound/hound.character.ron@0.1"]);
    assert_caption(&manifest, &["hound.character.ron\nwalk  (4 of 4)"]);
    let m3d = after(&["scout/scout.m3d@0.1"]);
    assert_caption(&m3d, &["scout.m3d\nwalk", "of 9)"]);
    let glb = after(&["pup/pup.glb@0.1"]);
    assert_caption(&glb, &["pup.glb\nwalk  (2 of 2)"]);
    assert_character_visible(&glb.pictures[0]);
    // An .md5mesh has no clips until an .md5anim is dropped.
    let mesh = after(&["hound/hound.md5mesh@0.1"]);
    assert_caption(&mesh, &["hound.md5mesh\nbind pose  (no clips)"]);
    let with_clip = after(&["hound/hound.md5mesh@0.1", "hound/gallop.md5anim@0.2"]);
    assert_caption(&with_clip, &["hound.md5mesh\ngallop  (1 of 1)"]);
    // A model comes with its clips and textures, in any order.
    let at_once = after(&[
        "hound/hound.md5mesh@0.1",
        "hound/gallop.md5anim@0.1",
        "hound/tack.png@0.1",
    ]);
    assert_caption(&at_once, &["hound.md5mesh\ngallop  (1 of 1)"]);
    let runs = [&before, &manifest, &mesh, &with_clip];
    runs.iter()
        .for_each(|run| assert_character_visible(&run.pictures[0]));
    for (i, a) in runs.iter().enumerate() {
        for b in &runs[..i] {
            assert!(
                difference(&a.pictures[0], &b.pictures[0]) > 0.01,
                "{}\n{}",
                a.caption,
                b.caption
            );
        }
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let drop = format!("{}@0.1", readme.display());
    let (fine, _, err) = execute("viewer", &["--headless", "unused.png", "--drop", &drop]);
    assert!(!fine && err.contains("README.md"), "{err}");
}

#[test]
fn viewer_shows_recordings_dropped_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bug.rec");
    // Hound stands still for a second. What its clips are called doesn't matter to the viewer.
    let (mut frames, mut tape) = (Frames::default(), Tape::default());
    let moment = TapeMoment {
        frame: 0,
        step: 0,
        is_change: true,
        is_carried: false,
    };
    tape.note_state(moment, &AnimationController::playing("idle"), None);
    for frame in 0..60 {
        frames.add_step(1.0 / 60.0);
        frames.end_frame(f64::from(frame) / 60.0);
    }
    let (name, asset) = ("Hound".into(), Some("hound/hound.character.ron".into()));
    let hound = RecordedCharacter {
        name,
        asset,
        clips: 0,
        tape,
        events: vec![],
    };
    let recording = RecordingFile {
        frames,
        clips: vec![ClipTable::new(&[], &[], &[], [], 0)],
        characters: vec![hound],
    };
    recording.write(fs::File::create(&file).unwrap()).unwrap();
    let [rec, model] = [
        file.to_str().unwrap(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scout/scout.m3d"),
    ]
    .map(str::to_owned);
    let given = run("viewer", &[&rec, "--time", "0.4"]);
    let dropped = run(
        "viewer",
        &["--drop", &format!("{rec}@0.1"), "--time", "0.4"],
    );
    for run in [&given, &dropped] {
        assert_caption(run, &["bug.rec\n0.98 of 0.98 s"]);
        assert_character_visible(&run.pictures[0]);
        assert_eq!(run.poses.len(), 1, "{:?}", run.poses);
    }
    // And back to a model.
    let model = run(
        "viewer",
        &[&rec, "--drop", &format!("{model}@0.1"), "--time", "0.4"],
    );
    assert_caption(&model, &["scout.m3d\nwalk"]);
    assert_character_visible(&model.pictures[0]);
    let readme = format!("{}/README.md", env!("CARGO_MANIFEST_DIR"));
    let broken = folder.path().join("broken.rec");
    fs::copy(readme, &broken).unwrap();
    let (fine, _, err) = execute(
        "viewer",
        &[
            "--headless",
            "unused.png",
            "--drop",
            &format!("{}@0.1", broken.display()),
        ],
    );
    assert!(
        !fine && err.contains("broken.rec: it is not a recording"),
        "{err}"
    );
}

#[test]
fn viewer_films_a_gif() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("turn.gif");
    let arguments = [
        "--headless",
        file.to_str().unwrap(),
        "--size",
        "160x120",
        "--bare",
    ];
    let (fine, _, err) = execute(
        "viewer",
        &[
            &arguments[..],
            &["--frames", "4", "--fps", "10", "--turn", "360"],
        ]
        .concat(),
    );
    assert!(fine, "{err}");
    let decoder = image::codecs::gif::GifDecoder::new(std::io::BufReader::new(
        fs::File::open(&file).unwrap(),
    ))
    .unwrap();
    let frames = image::AnimationDecoder::into_frames(decoder)
        .collect_frames()
        .unwrap();
    assert_eq!(frames.len(), 4);
    for frame in &frames {
        assert_eq!(Duration::from(frame.delay()), Duration::from_millis(100));
    }
    let pictures: Vec<_> = frames
        .into_iter()
        .map(|f| image::DynamicImage::from(f.into_buffer()).to_rgb8())
        .collect();
    pictures.iter().for_each(assert_character_visible);
    assert!(
        difference(&pictures[0], &pictures[2]) > 0.01,
        "front and back look different"
    );
}

#[test]
fn contact_sheet_has_a_row_per_clip_and_side() {
    let folder = tempfile::tempdir().unwrap();
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scout/scout.character.ron");
    let to = folder.path().to_str().unwrap();
    let arguments = [
        "--times", "3", "--width", "480", "--clip", "idle", "--clip", "jog", "--to", to,
    ];
    let (fine, out, err) = execute(
        "contact_sheet",
        &[&arguments[..], &[scout.to_str().unwrap()]].concat(),
    );
    assert!(fine, "{out}\n{err}");
    let sheet = &load(&folder)[0];
    let height = 115;
    assert_eq!(sheet.dimensions(), (480, 4 * height));
    let rows: Vec<_> = (0..4)
        .map(|row| image::imageops::crop_imm(sheet, 0, row * height, 480, height).to_image())
        .collect();
    rows.iter().for_each(assert_character_visible);
    for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        assert!(
            difference(&rows[a], &rows[b]) > 0.01,
            "rows {a} and {b} look the same"
        );
    }
}
