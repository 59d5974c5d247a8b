//! Checks the invariants of [`Md5Mesh`] and [`Md5Anim`].

use super::{Md5Anim, Md5Mesh, Md5Submesh};
use crate::format::checked::{Document, DocumentError, ensure, ensure_finite, ensure_hierarchy};
use crate::plural::counted;

impl Document for Md5Mesh {
    fn check(&self) -> Result<(), DocumentError> {
        let joints = self.joints.len();
        ensure(joints > 0, || "there are no joints".into())?;
        ensure_hierarchy(
            &self
                .joints
                .iter()
                .map(|joint| joint.parent)
                .collect::<Vec<_>>(),
            "joint",
        )?;
        for (index, joint) in self.joints.iter().enumerate() {
            let numbers = [joint.position, joint.orientation];
            ensure_finite(numbers.as_flattened(), || {
                format!("joint {index} `{}`", joint.name)
            })?;
        }
        for (index, submesh) in self.meshes.iter().enumerate() {
            if let Some(fault) = submesh.faults(joints).next() {
                return Err(DocumentError(format!(
                    "{}: {}",
                    fault.item(&submesh.label(index)),
                    fault.message
                )));
            }
            let mesh = || format!("mesh {}", submesh.label(index));
            for vertex in &submesh.vertices {
                ensure_finite(&vertex.tex_coord, mesh)?;
            }
            for weight in &submesh.weights {
                let [x, y, z] = weight.position;
                ensure_finite(&[weight.bias, x, y, z], mesh)?;
            }
        }
        Ok(())
    }
}

/// An index of a submesh that is out of range.
pub(super) struct Fault {
    /// The word that opens the item's line.
    pub keyword: &'static str,
    /// The item's number, and how many there are.
    pub number: usize,
    pub count: usize,
    /// Position of the index among the words after the item's number, from 1; parentheses count.
    pub word: usize,
    pub message: String,
}

impl Fault {
    /// `vert 2 of 3 in mesh 0`
    pub(super) fn item(&self, mesh: &str) -> String {
        format!(
            "{} {} of {} in mesh {mesh}",
            self.keyword, self.number, self.count
        )
    }
}

impl Md5Submesh {
    /// Returns every index that is out of range, given the number of joints.
    pub(super) fn faults(&self, joints: usize) -> impl Iterator<Item = Fault> {
        let Self {
            vertices,
            triangles,
            weights,
            ..
        } = self;
        let of_vertices = vertices.iter().enumerate().filter_map(|(number, vertex)| {
            let (first, end) = (
                vertex.first_weight,
                // In 64 bits, where the sum of two 32-bit numbers can't overflow.
                u64::from(vertex.first_weight) + u64::from(vertex.weight_count),
            );
            (end > weights.len() as u64).then(|| Fault {
                keyword: "vert",
                number,
                count: vertices.len(),
                word: 5,
                message: format!(
                    "weights {first}..{end} are out of range: the mesh has {}",
                    counted(weights.len(), "weight")
                ),
            })
        });
        let of_triangles = triangles
            .iter()
            .enumerate()
            .filter_map(|(number, triangle)| {
                let corner = triangle
                    .iter()
                    .position(|&corner| corner as usize >= vertices.len())?;
                let message = format!(
                    "vertex {} is out of range: the mesh has {}",
                    triangle[corner],
                    counted(vertices.len(), "vertex")
                );
                Some(Fault {
                    keyword: "tri",
                    number,
                    count: triangles.len(),
                    word: 1 + corner,
                    message,
                })
            });
        let of_weights = weights
            .iter()
            .enumerate()
            .filter(move |(_, weight)| weight.joint as usize >= joints)
            .map(move |(number, weight)| Fault {
                keyword: "weight",
                number,
                count: weights.len(),
                word: 1,
                message: format!(
                    "joint {} is out of range: the file has {}",
                    weight.joint,
                    counted(joints, "joint")
                ),
            });
        of_vertices.chain(of_triangles).chain(of_weights)
    }

    /// The mesh's number, with its name or shader where it has one.
    pub(super) fn label(&self, index: usize) -> String {
        match self.name.as_ref().unwrap_or(&self.shader) {
            name if name.is_empty() => index.to_string(),
            name => format!("{index} \"{name}\""),
        }
    }
}

impl Document for Md5Anim {
    fn check(&self) -> Result<(), DocumentError> {
        let (joints, components) = (self.joints.len(), self.components as usize);
        let rate = self.frame_rate;
        ensure(rate.is_finite() && rate != 0.0, || {
            format!("the frame rate is {rate}")
        })?;
        ensure_hierarchy(
            &self
                .joints
                .iter()
                .map(|joint| joint.parent)
                .collect::<Vec<_>>(),
            "joint",
        )?;
        for (index, joint) in self.joints.iter().enumerate() {
            let item = || format!("joint {index} `{}`", joint.name);
            ensure(joint.flags < 64, || {
                format!("{}: flags {} have more than six bits", item(), joint.flags)
            })?;
            let end = u64::from(joint.start) + u64::from(joint.flags.count_ones());
            // A joint without flags reads no numbers, so its start means nothing.
            ensure(joint.flags == 0 || end <= components as u64, || {
                format!(
                    "{}: numbers {}..{end} are out of range: a frame has {components}",
                    item(),
                    joint.start
                )
            })?;
        }
        let bases = self.base_frame.len();
        ensure(bases == joints, || {
            format!(
                "the base frame has {}, expected {joints}, as in the hierarchy",
                counted(bases, "joint")
            )
        })?;
        ensure_finite(self.base_frame.as_flattened().as_flattened(), || {
            "the base frame".into()
        })?;
        ensure_finite(self.bounds.as_flattened().as_flattened(), || {
            "the bounds".into()
        })?;
        let numbers = self.frames.len();
        // Without components, there is nothing that could be whole.
        let whole = if components == 0 {
            numbers == 0
        } else {
            numbers > 0 && numbers.is_multiple_of(components)
        };
        ensure(whole, || {
            format!("{numbers} numbers do not make whole frames of {components}")
        })?;
        ensure_finite(&self.frames, || "the frames".into())
    }
}

#[cfg(test)]
#[path = "tests/check.rs"]
mod tests;
