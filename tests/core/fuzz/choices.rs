//! Bytes as choices: what a character is like, and how its file is damaged.
//!
//! A byte means the same in every version of every library, so an input that once found something
//! still does.

use bevy_marionette::internals::format::{
    m3d::{Dialect, M3d, M3dBone, M3dClip, M3dKey, M3dMaterial, M3dSubset, M3dVertex},
    md5::{Md5Anim, Md5AnimJoint, Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight},
};

/// Bytes still to be chosen from; past their end every choice is the first.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    pub fn chance(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number less than `end`, which is at most 65536.
    pub fn below(&mut self, end: usize) -> usize {
        let wide = if end > 256 {
            usize::from(self.byte()) << 8
        } else {
            0
        };
        (wide | usize::from(self.byte())) % end.max(1)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Mostly of a size that models have; now and then nothing of the kind.
    pub fn number(&mut self) -> f32 {
        const ODD: [f32; 16] = [
            1.0,
            -1.0,
            0.5,
            100.0,
            1e-3,
            1e-7,
            1e-20,
            1e-38,
            1e-44,
            1e4,
            1e9,
            1e18,
            1e30,
            -3e38,
            f32::MAX,
            f32::MIN_POSITIVE,
        ];
        match self.byte() {
            byte @ 0..=127 => f32::from(byte) / 16.0,
            byte @ 128..=239 => -f32::from(byte - 128) / 16.0,
            byte => ODD[usize::from(byte - 240)],
        }
    }

    /// As [`Self::number`], but of the sizes that 64 bits have.
    pub fn wide(&mut self) -> f64 {
        const ODD: [f64; 16] = [
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-160,
            1e-100,
            1e-9,
            0.1,
            0.30000000000000004,
            1e16,
            1e99,
            1e160,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        match self.byte() {
            byte @ 0..=127 => f64::from(byte) / 16.0,
            byte @ 128..=207 => -f64::from(byte - 128) / 16.0,
            byte @ 208..=223 => ODD[usize::from(byte - 208)],
            byte @ 224..=239 => -ODD[usize::from(byte - 224)],
            // Next to another number.
            byte => f64::from_bits(f64::from(byte - 240).to_bits() + 1),
        }
    }

    pub fn numbers<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| self.number())
    }

    fn name(&mut self, index: usize) -> String {
        match self.below(8) {
            0 => "same".to_owned(),
            1 => String::new(),
            2 => format!("hand \u{e9}{index}"),
            3 => format!("a//b{index}"),
            _ => format!("joint{index}"),
        }
    }

    /// One below the joint itself, or none.
    fn parent(&mut self, index: usize) -> Option<u32> {
        match self.below(8) {
            0 => None,
            1..=4 => index.checked_sub(1).map(|p| p as u32),
            _ => (index > 0).then(|| self.below(index) as u32),
        }
    }

    /// Vertices, triangles, bones and clips that keep the promises of the struct.
    pub fn m3d(&mut self) -> M3d {
        let bones = self.below(9);
        let vertices = 3 + self.below(9);
        let mut m3d = M3d {
            dialect: Dialect::Dx12,
            ..M3d::default()
        };
        m3d.materials = (0..1 + self.below(2))
            .map(|_| M3dMaterial {
                diffuse: self.numbers(),
                ..M3dMaterial::default()
            })
            .collect();
        m3d.vertices = (0..vertices)
            .map(|_| {
                let mut vertex = M3dVertex {
                    position: self.numbers(),
                    normal: self.numbers(),
                    ..M3dVertex::default()
                };
                vertex.tangent = self.numbers();
                vertex.tex_coord = self.numbers();
                if bones > 0 {
                    vertex.weights = self.numbers();
                    vertex.bones = std::array::from_fn(|_| self.below(bones) as u32);
                }
                vertex
            })
            .collect();
        let triangles = 1 + self.below(8);
        m3d.triangles = (0..triangles)
            .map(|_| std::array::from_fn(|_| self.below(vertices) as u32))
            .collect();
        let half = self.below(triangles + 1) as u32;
        for (id, (start, end)) in [(0, half), (half, triangles as u32)]
            .into_iter()
            .enumerate()
        {
            let (vertex_count, face_count) = (vertices as u32, end - start);
            m3d.subsets.push(M3dSubset {
                id: id as u32,
                vertex_start: 0,
                vertex_count,
                face_start: start,
                face_count,
            });
        }
        m3d.bones = (0..bones)
            .map(|index| {
                let mut offset = [
                    [1.0, 0.0, 0.0, 0.0],
                    [0.0, 1.0, 0.0, 0.0],
                    [0.0, 0.0, 1.0, 0.0],
                    [0.0, 0.0, 0.0, 1.0],
                ];
                if self.chance() {
                    for row in &mut offset[..3] {
                        row[..3].copy_from_slice(&self.numbers::<3>());
                    }
                }
                offset[3][..3].copy_from_slice(&self.numbers::<3>());
                M3dBone {
                    offset,
                    parent: self.parent(index),
                }
            })
            .collect();
        m3d.clips = (0..if bones == 0 { 0 } else { self.below(3) })
            .map(|index| M3dClip {
                name: format!("Take{index}"),
                bones: (0..bones).map(|_| self.keys()).collect(),
            })
            .collect();
        m3d
    }

    fn keys(&mut self) -> Vec<M3dKey> {
        let mut keys: Vec<M3dKey> = (0..self.below(5))
            .map(|_| M3dKey {
                time: self.number().abs(),
                translation: self.numbers(),
                scale: if self.chance() {
                    self.numbers()
                } else {
                    [1.0; 3]
                },
                rotation: self.numbers(),
            })
            .collect();
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        keys
    }

    /// A mesh and an animation of the same joints, or nearly.
    pub fn md5(&mut self) -> (Md5Mesh, Md5Anim) {
        let joints = 1 + self.below(8);
        let mut mesh = Md5Mesh::default();
        for index in 0..joints {
            let (name, parent) = (self.name(index), self.parent(index));
            let orientation = self.numbers::<3>().map(|x| x / 16.0);
            mesh.joints.push(Md5Joint {
                name,
                parent,
                position: self.numbers(),
                orientation,
            });
        }
        for _ in 0..self.below(3) {
            let weights = 1 + self.below(10);
            let vertices = 3 + self.below(6);
            let mut submesh = Md5Submesh {
                shader: self.name(0),
                ..Md5Submesh::default()
            };
            submesh.weights = (0..weights)
                .map(|_| Md5Weight {
                    joint: self.below(joints) as u32,
                    bias: self.number(),
                    position: self.numbers(),
                })
                .collect();
            submesh.vertices = (0..vertices)
                .map(|_| {
                    let first = self.below(weights);
                    let count = 1 + self.below(weights - first);
                    Md5Vertex {
                        tex_coord: self.numbers(),
                        first_weight: first as u32,
                        weight_count: count as u32,
                    }
                })
                .collect();
            submesh.triangles = (0..self.below(6))
                .map(|_| std::array::from_fn(|_| self.below(vertices) as u32))
                .collect();
            mesh.meshes.push(submesh);
        }
        let mut anim = Md5Anim {
            frame_rate: self.pick(&[24.0, 60.0, 1e-3, 1e9]),
            ..Md5Anim::default()
        };
        for joint in &mesh.joints {
            let flags = self.below(64) as u32;
            let start = anim.components;
            anim.components += flags.count_ones();
            let name = if self.below(8) == 7 {
                "other".to_owned()
            } else {
                joint.name.clone()
            };
            anim.joints.push(Md5AnimJoint {
                name,
                parent: joint.parent,
                flags,
                start,
            });
            anim.base_frame.push([joint.position, joint.orientation]);
        }
        let frames = 1 + self.below(5);
        anim.bounds = vec![Default::default(); frames];
        anim.frames = (0..frames * anim.components as usize)
            .map(|_| self.number())
            .collect();
        (mesh, anim)
    }

    /// Up to a handful of edits: bytes changed, a piece cut, repeated or moved, the end cut off.
    pub fn damage(&mut self, text: &mut Vec<u8>) {
        const WITH: [&str; 16] = [
            "-",
            "0",
            "9",
            ".",
            "e",
            " ",
            "\n",
            "\"",
            "{",
            "}",
            "(",
            "4294967295",
            "nan",
            "1e39",
            "//",
            "***Vertices***",
        ];
        for _ in 0..self.below(6) {
            let at = self.below(65536) % (text.len() + 1);
            let length = self.below(64).min(text.len() - at);
            match self.below(5) {
                0 => text
                    .splice(at..at, WITH[self.below(WITH.len())].bytes())
                    .for_each(drop),
                1 => text.drain(at..at + length).for_each(drop),
                2 => {
                    let piece = text[at..at + length].to_vec();
                    text.splice(at..at, piece).for_each(drop);
                }
                3 if length > 0 => text[at] = self.byte(),
                _ => text.truncate(text.len() - length),
            }
        }
    }
}
