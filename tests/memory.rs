//! Measures the memory that loading takes: a bounded multiple of the file's size, whatever the file claims. A
//! separate binary, because it replaces the global allocator.

#[path = "memory/baked.rs"]
mod baked;
#[path = "memory/recordings.rs"]
mod recordings;
// It reads an FBX file, and glTF.
#[cfg(all(feature = "fbx", feature = "gltf"))]
#[path = "memory/growth.rs"]
mod growth;

use bevy_marionette::{
    import::{ImportSettings, Manifest},
    internals::{
        format::{
            m3d::{self, M3d, M3dBone, M3dClip, M3dKey, M3dMaterial, M3dSubset, M3dVertex},
            md5,
        },
        import::{clip_from_md5, from_m3d, from_md5, skeleton_of_anim},
    },
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    fmt::Write,
};

thread_local! {
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static ASKED_FOR: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting the bytes that each thread has in use.
struct Counting;

// SAFETY: every call is forwarded to the system's allocator unchanged. The counts are plain thread-local
// numbers without destructors, so counting never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.get() + layout.size() as isize;
        IN_USE.set(now);
        PEAK.set(PEAK.get().max(now));
        ASKED_FOR.set(ASKED_FOR.get() + layout.size() as u64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - layout.size() as isize);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the most bytes that `work` has in use at a time.
fn peak(work: impl FnOnce()) -> usize {
    let before = IN_USE.get();
    PEAK.set(before);
    work();
    (PEAK.get() - before) as usize
}

/// Returns the bytes that `work` allocates in all.
#[cfg(all(feature = "fbx", feature = "gltf"))]
fn asked_for(work: impl FnOnce()) -> u64 {
    let before = ASKED_FOR.get();
    work();
    ASKED_FOR.get() - before
}

/// Returns `true` if the file loaded.
type Load = fn(&[u8]) -> bool;

fn load_m3d(source: &[u8]) -> bool {
    let parsed = m3d::parse("f.m3d", source);
    parsed.is_ok_and(|parsed| from_m3d("f.m3d", &parsed.value, &ImportSettings::default()).is_ok())
}

fn load_mesh(source: &[u8]) -> bool {
    let parsed = md5::parse_mesh("f.md5mesh", source);
    parsed.is_ok_and(|parsed| {
        from_md5("f.md5mesh", &parsed.value, &ImportSettings::default()).is_ok()
    })
}

fn load_anim(source: &[u8]) -> bool {
    let settings = ImportSettings::default();
    let Ok(parsed) = md5::parse_anim("f.md5anim", source) else {
        return false;
    };
    let Ok(skeleton) = skeleton_of_anim("f.md5anim", &parsed.value, &settings) else {
        return false;
    };
    clip_from_md5("f.md5anim", "f", &parsed.value, &skeleton, &settings).is_ok()
}

fn load_manifest(source: &[u8]) -> bool {
    Manifest::parse("f.character.ron", source).is_ok()
}

/// A valid model: a sheet of vertices on a chain of bones, with a clip.
fn sheet(bytes: usize) -> String {
    let vertices = (bytes / 330).max(4) as u32;
    let keys = vertices / 8;
    let mut m3d = M3d {
        materials: vec![M3dMaterial::default()],
        ..M3d::default()
    };
    m3d.vertices = (0..vertices)
        .map(|i| M3dVertex {
            position: [(i % 64) as f32 * 0.173, (i / 64) as f32 * 0.291, 0.125],
            normal: [0.0, 0.0, -1.0],
            tangent: [1.0, 0.0, 0.0, 1.0],
            tex_coord: [0.5, 0.25],
            weights: [0.5, 0.25, 0.125, 0.125],
            bones: [0, 1, 2, 3].map(|b| (i + b) % 32),
        })
        .collect();
    m3d.triangles = (0..vertices - 65.min(vertices - 1))
        .map(|i| [i, (i + 1) % vertices, (i + 64) % vertices])
        .collect();
    let (vertex_count, face_count) = (vertices, m3d.triangles.len() as u32);
    m3d.subsets = vec![M3dSubset {
        vertex_count,
        face_count,
        ..M3dSubset::default()
    }];
    let offset = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0, 1.0],
    ];
    m3d.bones = (0..32)
        .map(|i: u32| M3dBone {
            offset,
            parent: i.checked_sub(1),
        })
        .collect();
    let key = |i: u32| M3dKey {
        time: i as f32 / 30.0,
        translation: [0.1, 0.2, 0.001 * i as f32],
        scale: [1.0; 3],
        rotation: [0.0, (0.01 * i as f32).sin(), 0.0, (0.01 * i as f32).cos()],
    };
    m3d.clips = vec![M3dClip {
        name: "move".into(),
        bones: vec![(0..keys / 32).map(key).collect(); 32],
    }];
    m3d::write(&m3d)
}

/// Keys of which no two are at the same time.
fn scattered_keys(bytes: usize) -> String {
    let bones = 64;
    let offset = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    let key = |i: usize| M3dKey {
        time: i as f32,
        translation: [0.001 * i as f32, 0.0, 0.0],
        scale: [1.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
    };
    let keys = |bone: usize| {
        (0..bytes / 60 / bones)
            .map(|i| key(i * bones + bone))
            .collect()
    };
    m3d::write(&M3d {
        materials: vec![M3dMaterial::default()],
        vertices: vec![M3dVertex::default(); 3],
        triangles: vec![[0, 1, 2]],
        subsets: vec![M3dSubset {
            vertex_count: 3,
            face_count: 1,
            ..M3dSubset::default()
        }],
        bones: vec![
            M3dBone {
                offset,
                parent: None
            };
            bones
        ],
        clips: vec![M3dClip {
            name: "move".into(),
            bones: (0..bones).map(keys).collect(),
        }],
        ..M3d::default()
    })
}

const MESH: &str = "MD5Version 10\ncommandline \"\"\nnumJoints 1\nnumMeshes 1\njoints {\n\"a\" -1 ( 0 0 0 ) ( 0 0 0 )\n}\nmesh {\nshader \"\"\n";

/// A valid mesh: a vertex, a weight and a triangle for each point of a sheet.
fn mesh(bytes: usize) -> String {
    let vertices = (bytes / 90).max(4);
    let mut text = MESH.to_owned();
    let _ = writeln!(text, "numverts {vertices}");
    (0..vertices).for_each(|i| writeln!(text, "vert {i} ( 0.5 0.25 ) {i} 1").unwrap());
    let _ = writeln!(text, "numtris {}", vertices - 2);
    (0..vertices - 2).for_each(|i| writeln!(text, "tri {i} {i} {} {}", i + 1, i + 2).unwrap());
    let _ = writeln!(text, "numweights {vertices}");
    (0..vertices).for_each(|i| {
        writeln!(text, "weight {i} 0 1 ( {} {} {} )", i % 64, i / 64, i % 7).unwrap()
    });
    text + "}\n"
}

/// Every vertex uses every weight.
fn shared_weights(bytes: usize) -> String {
    let many = bytes / 60;
    let mut text = MESH.to_owned();
    let _ = writeln!(text, "numverts {many}");
    (0..many).for_each(|i| writeln!(text, "vert {i} ( 0 0 ) 0 {many}").unwrap());
    let _ = writeln!(text, "numtris 1\ntri 0 0 1 2\nnumweights {many}");
    (0..many).for_each(|i| writeln!(text, "weight {i} 0 1 ( {i} 0 0 )").unwrap());
    text + "}\n"
}

/// Joints that don't move, and frames without numbers.
fn empty_frames(bytes: usize) -> String {
    let (joints, frames) = (bytes / 60, bytes / 30);
    let mut text =
        "MD5Version 10\ncommandline \"\"\nframeRate 24\nnumAnimatedComponents 0\nhierarchy {\n"
            .to_owned();
    (0..joints).for_each(|i| writeln!(text, "\"{i}\" {} 0 0", i as i64 - 1).unwrap());
    text += "}\nbaseframe {\n";
    (0..joints).for_each(|_| text += "( 0 0 1 ) ( 0 0 0 )\n");
    text += "}\n";
    (0..frames).for_each(|i| writeln!(text, "frame {i} {{ }}").unwrap());
    text
}

/// A valid animation of 32 joints, all of which rotate.
fn anim(bytes: usize) -> String {
    let frames = (bytes / (32 * 3 * 6)).max(1);
    let mut text = format!(
        "MD5Version 10\ncommandline \"\"\nnumFrames {frames}\nnumJoints 32\nframeRate 24\nnumAnimatedComponents 96\nhierarchy {{\n"
    );
    (0..32).for_each(|i| writeln!(text, "\"{i}\" {} 56 {}", i - 1, i * 3).unwrap());
    text += "}\nbaseframe {\n";
    (0..32).for_each(|_| text += "( 0 0 1 ) ( 0 0 0 )\n");
    text += "}\n";
    for frame in 0..frames {
        let _ = writeln!(text, "frame {frame} {{");
        (0..32).for_each(|i| writeln!(text, "0.{:03} 0.1 0.02", (frame + i) % 200).unwrap());
        text += "}\n";
    }
    text
}

fn repeated(head: &str, line: &str, bytes: usize) -> String {
    head.to_owned() + &line.repeat(bytes / line.len())
}

#[test]
fn memory_stays_within_a_multiple_of_the_files_size_whatever_it_contains() {
    let header = "***m3d-File-Header***\n#Materials 1\n#Vertices 4294967295\n#Triangles 4294967295\n#Bones 4294967295\n";
    let cases: [(&str, Load, Box<dyn Fn(usize) -> String>); 15] = [
        ("a valid .m3d", load_m3d, Box::new(sheet)),
        ("a valid .md5mesh", load_mesh, Box::new(mesh)),
        ("a valid .md5anim", load_anim, Box::new(anim)),
        (
            ".m3d: counts of four billion",
            load_m3d,
            Box::new(move |_| header.to_owned()),
        ),
        (
            ".m3d: materials repeated",
            load_m3d,
            Box::new(|n| repeated("***Materials***\n", "Name:\n", n)),
        ),
        (
            ".m3d: clips repeated",
            load_m3d,
            Box::new(|n| repeated("***AnimationClips***\n", "AnimationClip a\n{\n}\n", n)),
        ),
        (
            ".m3d: a count of four billion keys, again and again",
            load_m3d,
            Box::new(|n| {
                repeated(
                    "***AnimationClips***\nAnimationClip a\n{\n",
                    "Bone0 #Keyframes: 4294967295\n{\n}\n",
                    n,
                )
            }),
        ),
        (
            ".m3d: keys at scattered times",
            load_m3d,
            Box::new(scattered_keys),
        ),
        (
            ".m3d: unknown labels",
            load_m3d,
            Box::new(|n| repeated("***Vertices***\n", "Color: 1 2 3\n", n)),
        ),
        (".m3d: one line", load_m3d, Box::new(|n| "*".repeat(n))),
        (
            ".md5mesh: shared weights",
            load_mesh,
            Box::new(shared_weights),
        ),
        (
            ".md5mesh: submeshes repeated",
            load_mesh,
            Box::new(|n| repeated(MESH, "}\nmesh {\n", n) + "}\n"),
        ),
        (
            ".md5mesh: counts of four billion, again and again",
            load_mesh,
            Box::new(|n| {
                repeated(
                    MESH,
                    "}\nmesh {\nnumverts 4294967295\nvert 0 ( 0 0 ) 0 1\n",
                    n,
                ) + "}\n"
            }),
        ),
        (".md5anim: empty frames", load_anim, Box::new(empty_frames)),
        (
            "manifest: clips repeated",
            load_manifest,
            Box::new(|n| {
                let mut text = "(model: \"a.m3d\", clips: {".to_owned();
                (0..n / 20).for_each(|i| write!(text, "\"{i}\": (),").unwrap());
                text + "})"
            }),
        ),
    ];
    println!(
        "{:34} {:>10} {:>12} {:>7}",
        "file", "bytes", "peak", "times"
    );
    let mut worst: Vec<String> = Vec::new();
    for (name, load, make) in &cases {
        for size in [1 << 14, 1 << 17, 1 << 20] {
            let text = make(size);
            let mut used = false;
            let peak = peak(|| used = load(text.as_bytes()));
            assert!(used || !name.contains("valid"), "{name} was refused");
            let times = peak as f64 / text.len() as f64;
            println!("{name:34} {:>10} {peak:>12} {times:>7.1}", text.len());
            // Valid files take little more than what they contain.
            let most = if name.contains("valid") {
                8 * text.len()
            } else {
                (8 << 20).max(96 * text.len())
            };
            if peak > most {
                worst.push(format!("{name}: {peak} bytes for {}", text.len()));
            }
        }
    }
    assert!(worst.is_empty(), "{worst:#?}");
}

/// A `.glb` with a mesh compressed by Draco, of about so many bytes. `connectivity` comes after Draco's header.
#[cfg(feature = "gltf")]
fn draco(bytes: usize, connectivity: &[u8]) -> Vec<u8> {
    // Version 2.2, a mesh, by Edgebreaker.
    let mut data = b"DRACO\x02\x02\x01\x01\0\0".to_vec();
    data.extend_from_slice(connectivity);
    data.resize(bytes.next_multiple_of(4), 0);
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"extensions":
        {{"KHR_draco_mesh_compression":{{"bufferView":0,"attributes":{{"POSITION":0}}}}}}}}]}}],
        "accessors":[{{"componentType":5126,"count":3,"type":"VEC3"}},{{"componentType":5125,"count":3,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":{0}}}],"buffers":[{{"byteLength":{0}}}]}}"#,
        data.len()
    );
    let json = format!("{json:width$}", width = json.len().next_multiple_of(4));
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend(((28 + json.len() + data.len()) as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json.as_bytes()), (b"BIN\0", &data)] {
        glb.extend((chunk.len() as u32).to_le_bytes());
        glb.extend_from_slice(kind);
        glb.extend_from_slice(chunk);
    }
    glb
}

#[cfg(feature = "gltf")]
#[test]
fn compressed_meshes_that_claim_too_much_are_refused_before_memory_is_taken() {
    const SIZE: usize = 1 << 18;
    // About as many as a file of this size may have.
    let claimed = SIZE as u32 * 40;
    let number = |mut number: u32| {
        let mut out = Vec::new();
        while number > 127 {
            out.push(number as u8 | 128);
            number >>= 7;
        }
        out.push(number as u8);
        out
    };
    // The kind of symbols, vertices, triangles, attributes, symbols, splits, and splits again.
    let head = |kind: u8| {
        let claimed = number(claimed);
        [&[kind, 0], &claimed[..], &[0], &claimed[..], &[0, 0]].concat()
    };
    // Whether parts begin with a triangle that has no symbol: none does, in one byte.
    let starts = [0, 1, 0];
    let no_symbols = [&head(0), &[0][..], &starts].concat();
    // Numbers that are all the same take no bits, so this list really is as long as it claims.
    let list = [&number(claimed), &[1, 1, 1, 1, 64, 1, 0][..]].concat();
    let same_symbols = [&head(2), &starts[..], &list, &[0; 5]].concat();
    let mut settings = ImportSettings::default();
    settings.limits.triangles = 100_000;
    for (name, connectivity) in [("none", no_symbols), ("all the same", same_symbols)] {
        let glb = draco(SIZE, &connectivity);
        let peak = peak(|| {
            let opened = bevy_marionette::import::open_model("f.glb", &glb, &settings);
            assert!(opened.is_err(), "symbols: {name}");
        });
        assert!(peak < 8 << 20, "symbols: {name}: {peak} bytes");
    }
}
