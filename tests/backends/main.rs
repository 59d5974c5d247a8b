//! Draws one scene on any graphics API and checks the result.
//!
//! Plays characters of both formats, with blends, masks, sockets and more joints than fit in a palette, without a
//! window. The joint buffer, read back from the GPU, must equal the CPU's palettes bit for bit; the picture must
//! equal one of the same meshes skinned on the CPU; nothing may log an error; and `render_plugin()` must have
//! selected the API it promises.
//!
//! ```text
//! cargo test --test backends                              render and check
//! cargo test --test backends -- --out FOLDER              also save pictures and joints to FOLDER
//! cargo test --test backends -- --compare FOLDER FOLDER   compare two such folders, such as DX12's and Vulkan's
//! ```
//!
//! `.ci/dx12` runs this under Wine, on DX12 and on Vulkan. The unusual settings in [`stage`] are for Wine.

mod cast;
mod compare;
#[path = "../offscreen/mod.rs"]
mod offscreen;
mod snake;
mod stage;

use cast::Cast;
use stage::Stage;
use std::{path::PathBuf, process::ExitCode};

const NAME: &str = "backends_draw_what_the_cpu_says";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str, nth: usize| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        Some(PathBuf::from(
            arguments
                .get(at + nth)
                .unwrap_or_else(|| panic!("{flag} wants a folder")),
        ))
    };
    if let (Some(first), Some(second)) = (after("--compare", 1), after("--compare", 2)) {
        return finish(compare::compare(&first, &second));
    }
    let out = after("--out", 1);
    if out.is_none() && !is_asked_for(&arguments) {
        return ExitCode::SUCCESS;
    }
    finish(render(out))
}

/// Implements what cargo and nextest expect of a test harness.
fn is_asked_for(arguments: &[String]) -> bool {
    if arguments.iter().any(|argument| argument == "--list") {
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("{NAME}: test");
        }
        return false;
    }
    let filters: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    filters.is_empty() || filters.iter().any(|filter| NAME.contains(filter.as_str()))
}

/// Prints what was wrong, if anything.
fn finish(wrong: Vec<String>) -> ExitCode {
    if wrong.is_empty() {
        println!("passed");
        return ExitCode::SUCCESS;
    }
    // The first differences are as informative as all of them.
    wrong
        .iter()
        .take(12)
        .for_each(|line| println!("FAILED: {line}"));
    if wrong.len() > 12 {
        println!("FAILED: and {} more", wrong.len() - 12);
    }
    ExitCode::FAILURE
}

fn render(out: Option<PathBuf>) -> Vec<String> {
    let mut stage = Stage::new();
    let (adapter, mut wrong) = stage.adapter();
    println!("adapter: {adapter}");
    let mut cast = Cast::new(&mut stage);
    let mut joints = Vec::new();
    let mut compared = 0;
    for frame in 0..cast::FRAMES {
        cast.cue(&mut stage, frame);
        stage.update();
        // By now, everything has been in view for a few frames and plays all its tracks.
        if frame >= cast::FRAMES - 6 {
            joints = cast.check_joints(&mut stage, &mut wrong);
            compared += joints.len();
        }
    }
    println!("joint buffer: {compared} matrices in 6 frames, this frame's and the previous one's");
    cast.check_sockets(&mut stage, &mut wrong);
    stage.pause();
    let drawn = stage.picture();
    let textured = stage.strip();
    let bare = stage.picture();
    stage.dress(textured);
    let skinned = cast.replace_by_skinned(&mut stage);
    let by_cpu = stage.picture();
    stage.hide(&skinned);
    let empty = stage.picture();

    let apart = compare::pictures_apart(&drawn, &by_cpu, 2);
    println!("picture beside the CPU's skin: {apart}");
    // Edges may fall on the other side of a pixel's center: the CPU sums in a different order.
    if apart.beyond > drawn.width() * drawn.height() / 2000 {
        wrong.push(format!(
            "the picture is not that of the meshes skinned on the CPU: {apart}"
        ));
    }
    cast.check_visible(&mut stage, &drawn, &empty, &mut wrong);
    for line in stage::logged_errors() {
        wrong.push(format!("logged: {line}"));
    }
    if let Some(out) = out {
        let pictures = [
            ("drawn", &drawn),
            ("bare", &bare),
            ("cpu", &by_cpu),
            ("empty", &empty),
        ];
        compare::save(&out, &adapter, &joints, pictures);
    }
    wrong
}
