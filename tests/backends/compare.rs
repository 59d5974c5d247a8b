//! Saves the results of a run, and compares two of them.

use super::offscreen::picture::differences;
use bevy::prelude::Mat4;
use image::RgbaImage;
use std::{fmt, fs, path::Path};

/// The difference between two pictures.
pub struct Apart {
    /// Largest difference of a channel, 0 to 255.
    pub most: u8,
    /// Pixels that differ at all.
    pub differ: u32,
    /// Pixels that differ by more than allowed.
    pub beyond: u32,
    allowed: u8,
    pixels: u32,
    /// Where the first few of those are.
    places: Vec<(u32, u32)>,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            most,
            differ,
            beyond,
            allowed,
            pixels,
            places,
        } = self;
        write!(
            f,
            "{beyond} of {pixels} pixels beyond {allowed}/255, {differ} differ at all, at most by {most}/255"
        )?;
        if places.is_empty() {
            Ok(())
        } else {
            write!(f, "; at {places:?}")
        }
    }
}

pub fn pictures_apart(a: &RgbaImage, b: &RgbaImage, allowed: u8) -> Apart {
    let pixels = a.width() * a.height();
    let mut apart = Apart {
        most: 0,
        differ: 0,
        beyond: 0,
        allowed,
        pixels,
        places: Vec::new(),
    };
    for (index, most) in (0..).zip(differences(a, b)) {
        apart.most = apart.most.max(most);
        apart.differ += u32::from(most > 0);
        if most > allowed {
            apart.beyond += 1;
            if apart.places.len() < 5 {
                apart.places.push((index % a.width(), index / a.width()));
            }
        }
    }
    apart
}

/// Saves a run's results for [`compare`].
pub fn save(out: &Path, adapter: &str, joints: &[Mat4], pictures: [(&str, &RgbaImage); 4]) {
    fs::create_dir_all(out).expect("the folder can be made");
    fs::write(out.join("adapter.txt"), adapter).expect("the folder can be written");
    let bytes: Vec<u8> = joints
        .iter()
        .flat_map(|m| m.to_cols_array())
        .flat_map(f32::to_le_bytes)
        .collect();
    fs::write(out.join("joints.bin"), bytes).expect("the folder can be written");
    for (name, picture) in pictures {
        picture
            .save(out.join(format!("{name}.png")))
            .expect("the folder can be written");
    }
}

/// Prints a table that compares two runs, and returns what is wrong.
pub fn compare(first: &Path, second: &Path) -> Vec<String> {
    let read = |folder: &Path, file: &str| {
        fs::read(folder.join(file))
            .unwrap_or_else(|error| panic!("{}: {error}", folder.join(file).display()))
    };
    let picture = |folder: &Path, name: &str| {
        image::load_from_memory(&read(folder, name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .to_rgba8()
    };
    let mut wrong = Vec::new();
    for (letter, folder) in [("A", first), ("B", second)] {
        println!(
            "{letter}: {}",
            String::from_utf8_lossy(&read(folder, "adapter.txt"))
        );
    }
    let adapters = [first, second].map(|folder| read(folder, "adapter.txt"));
    if adapters[0] == adapters[1] {
        wrong.push("both were drawn by the same adapter".into());
    }
    println!("| A beside B | |");
    println!("| --- | --- |");
    let joints = [first, second].map(|folder| read(folder, "joints.bin"));
    let same = joints[0]
        .chunks(4)
        .zip(joints[1].chunks(4))
        .filter(|(a, b)| a == b)
        .count();
    println!(
        "| joint buffer | {same} of {} numbers have the same bits |",
        joints[0].len() / 4
    );
    if joints[0] != joints[1] || joints[0].is_empty() {
        wrong.push("the joint buffers differ".into());
    }
    let pictures = [
        (
            "bare.png",
            "skinned on the GPU, without textures and shadows",
            0,
        ),
        ("drawn.png", "skinned on the GPU", ROUNDINGS),
        ("cpu.png", "skinned on the CPU", ROUNDINGS),
        ("empty.png", "the empty floor", 0),
    ]
    .map(|(file, name, may_be_beyond)| {
        let [a, b] = [picture(first, file), picture(second, file)];
        let apart = pictures_apart(&a, &b, 2);
        println!("| {name} | {apart} |");
        if apart.beyond > may_be_beyond {
            wrong.push(format!("{name}: {apart}"));
        }
        [a, b]
    });
    // If pixels skinned on the CPU differ in the same places, skinning isn't the cause.
    let [_, [drawn_a, drawn_b], [cpu_a, cpu_b], _] = &pictures;
    let both = differences(drawn_a, drawn_b).zip(differences(cpu_a, cpu_b));
    let only_drawn = both.filter(|&(drawn, cpu)| drawn > 2 && cpu <= 2).count();
    println!("| on the GPU and not on the CPU | {only_drawn} pixels beyond 2/255 |");
    if only_drawn > 0 {
        wrong.push(format!("skinning makes {only_drawn} pixels differ"));
    }
    wrong
}

/// Pixels that may differ by more than 2/255 in a picture with textures and shadows, wherever skinning happens: at the
/// edge of a shadow, rounding of a depth decides, and between two mip levels, rounding of a derivative. There were two
/// when this was written. Without textures and shadows, none may differ.
const ROUNDINGS: u32 = 5;
