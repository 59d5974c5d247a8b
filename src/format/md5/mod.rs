//! id Software's `.md5mesh` and `.md5anim`, version 10.

mod anim;
mod check;
mod mesh;
mod reader;
mod run;
mod write;

pub use anim::parse_anim;
pub use mesh::parse_mesh;
pub use write::{write_anim, write_mesh};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The contents of an `.md5mesh`: Z up, forward +X, right-handed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Mesh {
    /// The exporter's command line, as written.
    pub command_line: String,
    /// Joints in file order, at least one; a parent may come after its child.
    pub joints: Vec<Md5Joint>,
    /// Submeshes in file order; some are empty.
    pub meshes: Vec<Md5Submesh>,
}

/// A joint with its transform in model space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Joint {
    /// Name; may hold spaces.
    pub name: String,
    /// Parent, in range; parents form no cycle. `None` for a root.
    pub parent: Option<u32>,
    /// Position in model space.
    pub position: [f32; 3],
    /// Rotation in model space: x, y, z of a unit quaternion whose w is not positive.
    pub orientation: [f32; 3],
}

/// A part of the model drawn with one shader.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Submesh {
    /// The optional `name` line.
    pub name: Option<String>,
    /// Shader: a material name or a path, with or without extension; often empty.
    pub shader: String,
    /// Vertices: ranges of `weights`, each in range.
    pub vertices: Vec<Md5Vertex>,
    /// Triangles, each index in range of `vertices`.
    pub triangles: Vec<[u32; 3]>,
    /// Weights, each joint in range.
    pub weights: Vec<Md5Weight>,
}

/// A vertex: a range of its mesh's weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Vertex {
    /// Texture coordinates, V down.
    pub tex_coord: [f32; 2],
    /// Index of its first weight.
    pub first_weight: u32,
    /// Number of its weights; may be more than four.
    pub weight_count: u32,
}

/// One joint's share of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Weight {
    /// Joint index.
    pub joint: u32,
    /// Share; the shares of a vertex should sum to one and do not always.
    pub bias: f32,
    /// Position in the joint's space.
    pub position: [f32; 3],
}

/// The contents of an `.md5anim`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5Anim {
    /// The exporter's command line, as written.
    pub command_line: String,
    /// Frames per second, not 0. A negative rate plays the frames backwards.
    pub frame_rate: f32,
    /// Numbers per frame.
    pub components: u32,
    /// Joints in file order.
    pub joints: Vec<Md5AnimJoint>,
    /// The box around the mesh in each frame, as written: minimum, maximum. Often wrong; may be empty.
    pub bounds: Vec<[[f32; 3]; 2]>,
    /// Position and x, y, z of the rotation of each joint, for what the frames do not contain.
    pub base_frame: Vec<[[f32; 3]; 2]>,
    /// The frames' numbers, `components` for each frame, one frame after the other.
    pub frames: Vec<f32>,
}

impl Md5Anim {
    /// Returns the number of frames: at least one in a checked document.
    pub fn frame_count(&self) -> usize {
        if self.components == 0 {
            self.bounds.len().max(1)
        } else {
            self.frames.len() / self.components as usize
        }
    }

    /// Returns the animation with its frames in the order they play: reversed if the frame rate is negative, which
    /// makes the rate positive.
    pub fn forward(&self) -> Cow<'_, Self> {
        if self.frame_rate > 0.0 {
            return Cow::Borrowed(self);
        }
        let mut reversed = Self {
            frame_rate: -self.frame_rate,
            ..self.clone()
        };
        reversed.frames = self
            .frames
            .rchunks(self.components.max(1) as usize)
            .flatten()
            .copied()
            .collect();
        reversed.bounds.reverse();
        Cow::Owned(reversed)
    }

    /// Returns the position and x, y, z of the rotation of a joint at a frame, relative to its parent.
    ///
    /// # Panics
    /// If `joint` or `frame` is out of range.
    pub fn joint_at(&self, joint: usize, frame: usize) -> [[f32; 3]; 2] {
        let Md5AnimJoint { flags, start, .. } = self.joints[joint];
        let numbers = &self.frames[frame * self.components as usize..][..self.components as usize];
        let mut out = self.base_frame[joint];
        let mut next = start as usize;
        for (bit, value) in out.as_flattened_mut().iter_mut().enumerate() {
            if flags & (1 << bit) != 0 {
                *value = numbers[next];
                next += 1;
            }
        }
        out
    }

    /// Returns `true` if any of a joint's numbers differs, even in the sign of a zero, from that of the frame before.
    pub(crate) fn moves(&self, joint: usize, frame: usize) -> bool {
        let Md5AnimJoint { flags, start, .. } = self.joints[joint];
        let numbers = |frame: usize| {
            let first = frame * self.components as usize + start as usize;
            self.frames[first..][..flags.count_ones() as usize]
                .iter()
                .map(|number| number.to_bits())
        };
        flags != 0 && numbers(frame - 1).ne(numbers(frame))
    }
}

/// A joint of an animation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Md5AnimJoint {
    /// Name; may hold spaces and, in some files, occur twice.
    pub name: String,
    /// Parent, in range; parents form no cycle. `None` for a root.
    pub parent: Option<u32>,
    /// Bits 0 to 5: Tx Ty Tz Qx Qy Qz come from the frame's numbers.
    pub flags: u32,
    /// Index of the joint's first number in a frame; with the flags, in range of `components`.
    pub start: u32,
}

/// Reports in short, for tests.
#[cfg(test)]
#[path = "tests/reports.rs"]
mod reports;
