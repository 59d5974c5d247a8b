//! Drives a real window with xdotool.

use super::painted::Painted;
use bevy::{
    diagnostic::FrameCount,
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
    window::PrimaryWindow,
};
use bevy_egui::egui::{self, Rect};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

type Job = Box<dyn FnOnce(&mut World) + Send>;

/// Requests to the app from the test's thread, one per frame.
#[derive(Resource)]
struct Jobs(Mutex<Receiver<Job>>);

/// Test-side handle to the app: reads its world, and moves the pointer over its window.
pub struct Desk {
    jobs: Sender<Job>,
    window: String,
    /// Pixels per point.
    scale: f32,
    folder: PathBuf,
}

/// Longest a frame may take: software rendering is slow in large windows.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the app on this thread, as windowing requires, and `script` on another until it ends.
///
/// Screenshots go to `folder`.
///
/// # Panics
/// Resumes any panic of the script.
pub fn run(mut app: App, folder: &Path, script: impl FnOnce(&mut Desk) + Send + 'static) {
    let (jobs, receiver) = channel();
    let mut desk = Desk {
        jobs,
        window: String::new(),
        scale: 1.0,
        folder: folder.to_owned(),
    };
    app.insert_resource(Jobs(Mutex::new(receiver)))
        .add_systems(Last, work);
    let actor = thread::spawn(move || {
        let begin = Instant::now();
        let end = catch_unwind(AssertUnwindSafe(|| script(&mut desk)));
        if end.is_ok() {
            let frames = desk.ask(|world| world.resource::<FrameCount>().0);
            println!("{frames} frames in {:.0} s", begin.elapsed().as_secs_f32());
        }
        let exit: Job = Box::new(|world| {
            world.write_message(AppExit::Success);
        });
        // The app may have ended already and reported why.
        let _ = desk.jobs.send(exit);
        end
    });
    app.run();
    if let Err(panic) = actor.join().expect("panics of the script are caught") {
        resume_unwind(panic);
    }
}

fn work(world: &mut World) {
    let job = world
        .resource::<Jobs>()
        .0
        .lock()
        .expect("no holder panics")
        .try_recv();
    if let Ok(job) = job {
        job(world);
    }
}

impl Desk {
    /// Runs a closure at the end of the next frame and returns its result.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> T {
        let (answer, answered) = channel();
        let job: Job = Box::new(move |world| {
            let _ = answer.send(question(world));
        });
        self.jobs.send(job).expect("the app runs");
        answered.recv_timeout(PATIENCE).expect("the app answers")
    }

    pub fn frames(&self, count: usize) {
        for _ in 0..count {
            self.ask(|_| ());
        }
    }

    /// Waits until a condition holds.
    #[track_caller]
    pub fn until(
        &self,
        what: &str,
        mut done: impl FnMut(&mut World) -> bool + Clone + Send + 'static,
    ) {
        for _ in 0..2000 {
            let mut is_done = done.clone();
            if self.ask(move |world| is_done(world)) {
                return;
            }
        }
        let _ = &mut done;
        panic!("timed out waiting for {what}");
    }

    /// Finds the window and focuses it.
    pub fn focus_window(&mut self, title: &str) {
        let found = self.xdotool(&["search", "--sync", "--onlyvisible", "--name", title]);
        self.window = found
            .lines()
            .next()
            .expect("the window is there")
            .to_owned();
        let window = self.window.clone();
        self.xdotool(&["windowfocus", "--sync", &window]);
    }

    fn xdotool(&self, arguments: &[&str]) -> String {
        let output = Command::new("xdotool")
            .args(arguments)
            .output()
            .expect("xdotool is installed");
        assert!(
            output.status.success(),
            "xdotool {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Sets the window's size in pixels, and its scale factor.
    pub fn resize(&mut self, width: u32, height: u32, scale: f32) {
        self.scale = scale;
        self.ask(move |world| {
            let mut window = world.query_filtered::<&mut Window, With<PrimaryWindow>>();
            let mut window = window.single_mut(world).expect("one window");
            window.resolution.set_scale_factor_override(Some(scale));
            window.resolution.set_physical_resolution(width, height);
        });
        self.until("the window's size", move |world| {
            let mut window = world.query_filtered::<&Window, With<PrimaryWindow>>();
            let window = &window.single(world).expect("one window").resolution;
            (
                window.physical_width(),
                window.physical_height(),
                window.scale_factor(),
            ) == (width, height, scale)
        });
        // Panels are laid out in one frame, lists in the next.
        self.frames(4);
    }

    fn painted<T: Send + 'static>(&self, look: impl FnOnce(&Painted) -> T + Send + 'static) -> T {
        self.ask(move |world| look(world.resource()))
    }

    pub fn shows(&self, text: &'static str) -> bool {
        self.painted(move |painted| painted.shows(text))
    }

    pub fn cut(&self) -> Vec<String> {
        self.painted(|painted| painted.cut.clone())
    }

    pub fn copied(&self) -> Option<String> {
        self.painted(|painted| painted.copied.clone())
    }

    /// Returns where a text is, in points.
    pub fn find(&self, text: &str) -> Rect {
        let text = text.to_owned();
        self.painted(move |painted| painted.find(&text))
    }

    pub fn find_beside(&self, label: &'static str, part: &'static str) -> Rect {
        self.painted(move |painted| painted.find_beside(label, part))
    }

    /// Moves the pointer to a position in the window.
    pub fn point(&self, at: egui::Pos2) {
        let [x, y] = [at.x, at.y].map(|points| format!("{:.0}", points * self.scale));
        self.xdotool(&["mousemove", "--window", &self.window, &x, &y]);
        self.frames(2);
    }

    pub fn click(&self, text: &str) {
        self.drag(self.find(text).center(), egui::Vec2::ZERO);
    }

    /// Presses at `from`, moves by `by` in steps, and releases.
    pub fn drag(&self, from: egui::Pos2, by: egui::Vec2) {
        self.point(from);
        self.xdotool(&["mousedown", "1"]);
        self.frames(2);
        if by != egui::Vec2::ZERO {
            for step in 1..=3 {
                self.point(from + by * (step as f32 / 3.0));
            }
        }
        self.xdotool(&["mouseup", "1"]);
        self.frames(2);
    }

    pub fn key(&self, key: &str) {
        self.xdotool(&["key", key]);
        self.frames(3);
    }

    /// Presses a key while another one is held, for as long as people hold one.
    pub fn key_with(&self, held: &str, key: &str) {
        self.xdotool(&["keydown", held]);
        self.frames(2);
        self.key(key);
        self.xdotool(&["keyup", held]);
        self.frames(2);
    }

    pub fn type_text(&self, text: &str) {
        self.xdotool(&["type", "--delay", "30", text]);
        self.frames(3);
    }

    /// Saves a screenshot of the window to the folder.
    pub fn picture(&self, name: &str) {
        let (sender, picture) = channel();
        let sender = Mutex::new(sender);
        self.ask(move |world| {
            world.spawn(Screenshot::primary_window()).observe(
                move |captured: On<ScreenshotCaptured>| {
                    let picture = captured
                        .image
                        .clone()
                        .try_into_dynamic()
                        .expect("a known image format")
                        .to_rgb8();
                    let _ = sender.lock().expect("no holder panics").send(picture);
                },
            );
        });
        // The screenshot is of the next frame, and arrives from the GPU a frame later.
        let picture = picture.recv_timeout(PATIENCE).expect("a picture");
        let file = self.folder.join(name).with_extension("png");
        picture
            .save(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        println!("picture: {}", file.display());
    }
}
