//! Plate armour beaten over a body: rays from its bones find how far the clothes reach, and a smooth sheet of
//! metal goes around them.

use bevy::{
    mesh::{Mesh, VertexAttributeValues},
    platform::collections::HashMap,
    prelude::*,
};
use bevy_marionette::{
    asset::Character,
    model::{Influences, Joint, JointTransform, Material, Model, Skeleton, SkinPart},
};
use std::f32::consts::TAU;

/// A plate of the suit.
struct Plate {
    name: &'static str,
    /// The bone it lies around.
    bone: (&'static str, &'static str),
    /// From where to where it reaches along the bone, in the bone's lengths.
    along: (f32, f32),
    /// It ends where other joints move more of what is below it; four at most.
    joints: &'static [&'static str],
    /// How far it stands off, in metres.
    off: f32,
    /// How far a keel stands out in front, in metres.
    keel: f32,
}

/// A plate around a limb.
const fn limb(
    name: &'static str,
    bone: (&'static str, &'static str),
    along: (f32, f32),
    joints: &'static [&'static str],
    off: f32,
) -> Plate {
    Plate { name, bone, along, joints, off, keel: 0.0 }
}

const PLATES: [Plate; 11] = [
    Plate {
        name: "breastplate",
        bone: ("spine", "neck"),
        along: (-0.06, 0.97),
        joints: &["spine", "chest", "upper_chest", "hips"],
        off: 0.012,
        keel: 0.03,
    },
    limb("pauldron.L", ("upper_arm.L", "forearm.L"), (-0.35, 0.58), &["upper_arm.L", "clavicle.L"], 0.03),
    limb("pauldron.R", ("upper_arm.R", "forearm.R"), (-0.35, 0.58), &["upper_arm.R", "clavicle.R"], 0.03),
    limb("vambrace.L", ("forearm.L", "hand.L"), (0.1, 0.86), &["forearm.L", "forearm_twist.L"], 0.012),
    limb("vambrace.R", ("forearm.R", "hand.R"), (0.1, 0.86), &["forearm.R", "forearm_twist.R"], 0.012),
    limb("cuisse.L", ("thigh.L", "shin.L"), (0.3, 0.82), &["thigh.L"], 0.012),
    limb("cuisse.R", ("thigh.R", "shin.R"), (0.3, 0.82), &["thigh.R"], 0.012),
    limb("greave.L", ("shin.L", "foot.L"), (0.14, 0.86), &["shin.L"], 0.012),
    limb("greave.R", ("shin.R", "foot.R"), (0.14, 0.86), &["shin.R"], 0.012),
    limb("sabaton.L", ("foot.L", "toes.L"), (0.25, 1.15), &["foot.L", "toes.L"], 0.01),
    limb("sabaton.R", ("foot.R", "toes.R"), (0.25, 1.15), &["foot.R", "toes.R"], 0.01),
];

/// The suit for a body, on a skeleton of just the joints that it hangs on.
pub fn suit(body: &Character, meshes: &Assets<Mesh>) -> Model {
    let rest = body.skeleton.rest_model();
    let mut joints: Vec<Joint> = Vec::new();
    let mut parts = Vec::new();
    for plate in &PLATES {
        let found: Option<Vec<u16>> = plate.joints.iter().map(|name| body.skeleton.find(name)).collect();
        let ends = [plate.bone.0, plate.bone.1].map(|name| body.skeleton.find(name));
        let (Some(found), [Some(from), Some(to)]) = (found, ends) else { continue };
        let bone = [from, to].map(|joint| Vec3::from(rest[usize::from(joint)].translation));
        let clothes = Sheet::of_clothes(body, meshes, &found);
        let mut sheet = clothes.wrapped(bone, plate.along);
        sheet.keep(|vertex| vertex.share() - 0.5);
        sheet.beat(plate.off, plate.keel);
        let palette = found.iter().map(|&joint| {
            let name = &body.skeleton.names()[usize::from(joint)];
            let known = joints.iter().position(|joint| *joint.name == **name);
            known.unwrap_or_else(|| {
                joints.push(Joint {
                    name: name.clone(),
                    parent: None,
                    rest: JointTransform::from_affine(rest[usize::from(joint)]),
                    inverse_bind: body.skeleton.inverse_bind()[usize::from(joint)],
                });
                joints.len() - 1
            }) as u16
        });
        let palette = palette.collect();
        parts.push(sheet.into_part(plate.name, palette));
    }
    let skeleton = Skeleton::new(joints).expect("joints without parents are in order");
    Model { skeleton, parts, materials: vec![Material::default()], clips: vec![] }
}

/// Rays around a bone, and rows of them along it.
const RAYS: usize = 56;
const ROWS: usize = 28;

#[derive(Clone, Copy, Default)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    /// The shares of the plate's joints.
    weights: [f32; 4],
}

impl Vertex {
    fn share(&self) -> f32 {
        self.weights.iter().sum()
    }

    fn between(&self, other: &Self, at: f32) -> Self {
        Self {
            position: self.position.lerp(other.position, at),
            normal: self.normal.lerp(other.normal, at),
            weights: std::array::from_fn(|i| self.weights[i] + (other.weights[i] - self.weights[i]) * at),
        }
    }
}

/// A surface.
#[derive(Default)]
struct Sheet {
    vertices: Vec<Vertex>,
    triangles: Vec<[usize; 3]>,
}

impl Sheet {
    /// What of the body's clothes the joints move, with their shares.
    fn of_clothes(body: &Character, meshes: &Assets<Mesh>, joints: &[u16]) -> Self {
        let mut clothes = Self::default();
        for part in body.parts.iter().filter(|part| !["skin", "hair"].iter().any(|bare| part.name.contains(bare))) {
            let Some(mesh) = meshes.get(&part.mesh) else { continue };
            let (
                Some(VertexAttributeValues::Float32x3(positions)),
                Some(VertexAttributeValues::Uint16x4(slots)),
                Some(VertexAttributeValues::Float32x4(weights)),
                Some(indices),
            ) = (
                mesh.attribute(Mesh::ATTRIBUTE_POSITION),
                mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX),
                mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT),
                mesh.indices(),
            )
            else {
                continue;
            };
            let first = clothes.vertices.len();
            for ((position, slots), weights) in positions.iter().zip(slots).zip(weights) {
                let mut shares = [0.0; 4];
                for (slot, weight) in slots.iter().zip(weights) {
                    let joint = part.palette.get(usize::from(*slot));
                    if let Some(at) = joints.iter().position(|j| Some(j) == joint) {
                        shares[at] += weight;
                    }
                }
                clothes.vertices.push(Vertex { position: Vec3::from(*position), weights: shares, ..default() });
            }
            let indices: Vec<usize> = indices.iter().map(|index| first + index).collect();
            let triangles = indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]);
            let moved = |t: &[usize; 3]| t.iter().any(|&i| clothes.vertices[i].share() > 0.0);
            clothes.triangles.extend(triangles.filter(moved));
        }
        clothes
    }

    /// A tube around a bone, as wide as this reaches, with the shares of what is below it.
    fn wrapped(&self, [a, b]: [Vec3; 2], (from, to): (f32, f32)) -> Self {
        let bone = b - a;
        let (right, up) = bone.normalize_or(Vec3::Y).any_orthonormal_pair();
        let ray = |row: usize, ray: usize| {
            let at = from + (to - from) * row as f32 / (ROWS - 1) as f32;
            let (sin, cos) = (TAU * ray as f32 / RAYS as f32).sin_cos();
            (a + bone * at, right * cos + up * sin)
        };
        let places = || (0..ROWS).flat_map(|row| (0..RAYS).map(move |ray| (row, ray)));
        let hits: Vec<Option<(f32, [f32; 4])>> = places().map(|(row, k)| self.farthest(ray(row, k))).collect();
        let mut reach: Vec<f32> = hits.iter().map(|hit| hit.map_or(0.0, |(distance, _)| distance)).collect();
        // Dents are hammered out, and where nothing was hit the sheet goes on as it came.
        for _ in 0..10 {
            let before = reach.clone();
            for (at, (row, k)) in places().enumerate() {
                let mut beside = vec![row * RAYS + (k + 1) % RAYS, row * RAYS + (k + RAYS - 1) % RAYS];
                beside.extend((row > 0).then(|| at - RAYS));
                beside.extend((row + 1 < ROWS).then(|| at + RAYS));
                beside.retain(|&other| before[other] > 0.0);
                if !beside.is_empty() {
                    let mean = beside.iter().map(|&other| before[other]).sum::<f32>() / beside.len() as f32;
                    let found = hits[at].map_or(0.0, |(distance, _)| distance);
                    reach[at] = if before[at] > 0.0 { mean.lerp(before[at], 0.3).max(found) } else { mean };
                }
            }
        }
        let vertex = |(at, (row, k)): (usize, (usize, usize))| {
            let (origin, direction) = ray(row, k);
            let weights = hits[at].map_or([0.0; 4], |(_, weights)| weights);
            Vertex { position: origin + direction * reach[at], normal: direction, weights }
        };
        let vertices = places().enumerate().map(vertex).collect();
        let quads = places().filter(|(row, _)| row + 1 < ROWS).map(|(row, k)| {
            let next = (k + 1) % RAYS;
            [row * RAYS + k, row * RAYS + next, (row + 1) * RAYS + next, (row + 1) * RAYS + k]
        });
        // The rays go round the bone's direction, so that the outside is in front.
        Self { vertices, triangles: quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect() }
    }

    /// Where a ray leaves for good, and the shares there.
    fn farthest(&self, (origin, direction): (Vec3, Vec3)) -> Option<(f32, [f32; 4])> {
        let mut farthest: Option<(f32, [f32; 4])> = None;
        for corners in &self.triangles {
            let [a, b, c] = corners.map(|i| &self.vertices[i]);
            let (ab, ac) = (b.position - a.position, c.position - a.position);
            let across = direction.cross(ac);
            let determinant = ab.dot(across);
            if determinant.abs() < 1e-12 {
                continue;
            }
            let from = origin - a.position;
            let u = from.dot(across) / determinant;
            let along = from.cross(ab);
            let v = direction.dot(along) / determinant;
            let distance = ac.dot(along) / determinant;
            if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > farthest.map_or(0.0, |(distance, _)| distance) {
                let weights =
                    std::array::from_fn(|i| a.weights[i] * (1.0 - u - v) + b.weights[i] * u + c.weights[i] * v);
                farthest = Some((distance, weights));
            }
        }
        farthest
    }

    /// Cuts off where `side` is below zero, straight through triangles.
    fn keep(&mut self, side: impl Fn(&Vertex) -> f32) {
        let sides: Vec<f32> = self.vertices.iter().map(side).collect();
        let mut kept = Self::default();
        let mut known: HashMap<(usize, usize), usize> = HashMap::default();
        let mut outline = Vec::with_capacity(4);
        for corners in std::mem::take(&mut self.triangles) {
            outline.clear();
            for (i, &a) in corners.iter().enumerate() {
                let b = corners[(i + 1) % 3];
                if sides[a] >= 0.0 {
                    outline.push(*known.entry((a, a)).or_insert_with(|| kept.add(self.vertices[a])));
                }
                if (sides[a] >= 0.0) != (sides[b] >= 0.0) {
                    let (a, b) = (a.min(b), a.max(b));
                    let at = sides[a] / (sides[a] - sides[b]);
                    let cut = || kept.add(self.vertices[a].between(&self.vertices[b], at));
                    outline.push(*known.entry((a, b)).or_insert_with(cut));
                }
            }
            kept.triangles.extend((2..outline.len()).map(|i| [outline[0], outline[i - 1], outline[i]]));
        }
        *self = kept;
    }

    fn add(&mut self, vertex: Vertex) -> usize {
        self.vertices.push(vertex);
        self.vertices.len() - 1
    }

    /// Pushes it outward, raises a keel in front, draws the rim straight and turns it inward.
    fn beat(&mut self, off: f32, keel: f32) {
        let mut edges: HashMap<(usize, usize), i32> = HashMap::default();
        for t in &self.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry((a, b)).or_default() += 1;
                *edges.entry((b, a)).or_default() -= 1;
            }
        }
        // An edge that is walked in one direction only is on the rim.
        let mut rim: Vec<(usize, usize)> =
            edges.iter().filter(|(_, walks)| **walks > 0).map(|(edge, _)| *edge).collect();
        rim.sort_unstable();
        let mut along_rim = vec![Vec::new(); self.vertices.len()];
        for &(a, b) in &rim {
            along_rim[a].push(b);
            along_rim[b].push(a);
        }
        for _ in 0..6 {
            let before: Vec<Vec3> = self.vertices.iter().map(|vertex| vertex.position).collect();
            for (vertex, others) in self.vertices.iter_mut().zip(&along_rim).filter(|(_, others)| others.len() == 2) {
                vertex.position = vertex.position.lerp(before[others[0]].midpoint(before[others[1]]), 0.5);
            }
        }
        let normals = self.normals();
        for (vertex, normal) in self.vertices.iter_mut().zip(normals) {
            // Characters look along −Z.
            let (ahead, share) = ((-normal.z).max(0.0), vertex.share().max(1e-6));
            let mut position = vertex.position + normal * off;
            position.z -= keel * ahead * (1.0 - position.x.abs() / 0.16).max(0.0);
            *vertex = Vertex { position, normal, weights: vertex.weights.map(|weight| weight / share) };
        }
        let mut turned: HashMap<usize, usize> = HashMap::default();
        for (a, b) in rim {
            let [inner_a, inner_b] = [a, b].map(|i| {
                *turned.entry(i).or_insert_with(|| {
                    let outer = self.vertices[i];
                    self.add(Vertex { position: outer.position - outer.normal * (0.45 * off), ..outer })
                })
            });
            self.triangles.extend([[b, a, inner_a], [b, inner_a, inner_b]]);
        }
    }

    fn normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.vertices.len()];
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| self.vertices[i].position);
            t.iter().for_each(|&i| normals[i] += (b - a).cross(c - a));
        }
        normals.into_iter().map(|normal| normal.normalize_or(Vec3::Y)).collect()
    }

    fn into_part(self, name: &str, palette: Vec<u16>) -> SkinPart {
        let (count, normals) = (self.vertices.len(), self.normals());
        let influences = |vertex: &Vertex| {
            let mut pulls: [(f32, u16); 4] = std::array::from_fn(|i| (vertex.weights[i], i as u16));
            pulls.sort_by(|a, b| b.0.total_cmp(&a.0));
            let palette = pulls.map(|(weight, slot)| if weight > 0.0 { slot } else { 0 });
            Influences { palette, weights: pulls.map(|(weight, _)| weight) }
        };
        SkinPart {
            name: name.into(),
            positions: self.vertices.iter().map(|vertex| vertex.position).collect(),
            tangents: normals.iter().map(|normal| normal.any_orthonormal_vector().extend(1.0)).collect(),
            normals,
            tex_coords: vec![Vec2::ZERO; count],
            influences: self.vertices.iter().map(influences).collect(),
            triangles: self.triangles.iter().map(|t| t.map(|i| i as u32)).collect(),
            source_vertices: (0..count as u32).collect(),
            palette,
            material: 0,
        }
    }
}
