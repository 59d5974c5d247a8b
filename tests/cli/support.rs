//! Running the program, in a folder of files written for it.

use super::{
    arm::{md5_anim, md5_mesh},
    bar::bar_m3d,
};
use std::{fs, process::Command};
use tempfile::TempDir;

pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn marionette(folder: &TempDir, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_marionette"))
        .current_dir(folder.path())
        .args(args)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
    assert!(
        !run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'),
        "no color where there is no terminal"
    );
    run
}

pub fn folder(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The file of a picture, as PNG: others are not copied.
pub fn picture(shade: u8) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(2, 2, image::Rgb([shade; 3]));
    pixels.write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

/// A character of each format, a clip, a manifest, a texture, and a broken file.
pub fn characters() -> TempDir {
    folder(&[
        ("bar.m3d", bar_m3d()),
        ("arm.md5mesh", md5_mesh()),
        ("reach.md5anim", md5_anim()),
        ("textures/upper.DDS", "DDS |\0\0\0".to_owned()),
        (
            "arm.character.ron",
            "(model: \"arm.md5mesh\", scale: 0.5, clips: {\"stretch\": (file: \"reach.md5anim\", playback: Once, \
             callbacks: [(time: 0.1, name: \"grip\", data: \"firm\")])}, masks: {\"all\": (roots: [\"root\"])}, \
             sockets: {\"palm\": (joint: \"hand\")})"
                .to_owned(),
        ),
        ("broken/bad.md5mesh", md5_mesh().replace("numverts 4", "numverts many")),
    ])
}
