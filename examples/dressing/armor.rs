//! Plate armor made from a body's skin: cut out by joint weights, pushed outward and smoothed.

use bevy::{
    mesh::{Mesh, VertexAttributeValues},
    platform::collections::HashMap,
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterPart},
    model::{Influences, Joint, JointTransform, Material, Model, Skeleton, SkinPart},
};

/// A plate of the armor.
struct Plate {
    name: &'static str,
    /// It covers body parts whose names contain one of these words.
    over: &'static [&'static str],
    /// It covers skin that is mostly weighted to these joints, at most four.
    joints: &'static [&'static str],
    /// Distance from the skin in meters.
    off: f32,
    /// Limits along the first joint's bone, as fractions of its length. The bone ends at the named joint.
    along: Option<(&'static str, f32, f32)>,
    /// Height of the ridge in front, in meters.
    keel: f32,
}

const JACKET: &[&str] = &["jacket", "leather"];
const TROUSERS: &[&str] = &["trousers", "leather"];
const BOOTS: &[&str] = &["leather", "trousers"];

const fn limb(
    name: &'static str,
    over: &'static [&'static str],
    joints: &'static [&'static str],
    off: f32,
) -> Plate {
    Plate {
        name,
        over,
        joints,
        off,
        along: None,
        keel: 0.0,
    }
}

const PLATES: [Plate; 11] = [
    Plate {
        name: "breastplate",
        over: JACKET,
        joints: &["spine", "chest", "upper_chest"],
        off: 0.03,
        along: None,
        keel: 0.035,
    },
    Plate {
        along: Some(("forearm.L", -0.4, 0.6)),
        ..limb("pauldron.L", JACKET, &["upper_arm.L", "clavicle.L"], 0.036)
    },
    Plate {
        along: Some(("forearm.R", -0.4, 0.6)),
        ..limb("pauldron.R", JACKET, &["upper_arm.R", "clavicle.R"], 0.036)
    },
    limb(
        "vambrace.L",
        JACKET,
        &["forearm.L", "forearm_twist.L"],
        0.016,
    ),
    limb(
        "vambrace.R",
        JACKET,
        &["forearm.R", "forearm_twist.R"],
        0.016,
    ),
    Plate {
        along: Some(("shin.L", 0.3, 0.86)),
        ..limb("cuisse.L", TROUSERS, &["thigh.L"], 0.02)
    },
    Plate {
        along: Some(("shin.R", 0.3, 0.86)),
        ..limb("cuisse.R", TROUSERS, &["thigh.R"], 0.02)
    },
    Plate {
        along: Some(("foot.L", 0.12, 0.9)),
        ..limb("greave.L", BOOTS, &["shin.L"], 0.018)
    },
    Plate {
        along: Some(("foot.R", 0.12, 0.9)),
        ..limb("greave.R", BOOTS, &["shin.R"], 0.018)
    },
    limb("sabaton.L", BOOTS, &["foot.L", "toes.L"], 0.012),
    limb("sabaton.R", BOOTS, &["foot.R", "toes.R"], 0.012),
];

/// Makes armor for a body, with a skeleton of only the joints it follows.
pub fn suit(body: &Character, meshes: &Assets<Mesh>) -> Model {
    let rest = body.skeleton.rest_model();
    let mut joints: Vec<Joint> = Vec::new();
    let mut parts = Vec::new();
    for plate in &PLATES {
        let found: Option<Vec<u16>> = plate
            .joints
            .iter()
            .map(|name| body.skeleton.joint(name))
            .collect();
        let Some(found) = found else { continue };
        let is_under =
            |part: &&CharacterPart| plate.over.iter().any(|word| part.name.contains(word));
        let skins = body
            .parts
            .iter()
            .filter(is_under)
            .filter_map(|part| Some((part, meshes.get(&part.mesh)?)));
        let mut sheet = Sheet::default();
        let mut places = HashMap::default();
        skins.for_each(|(part, mesh)| sheet.add_part(mesh, part, &found, &mut places));
        sheet.keep(|vertex| vertex.share() - 0.5);
        if let Some((end, from, to)) = plate.along
            && let Some(end) = body.skeleton.joint(end)
        {
            let [a, b] =
                [found[0], end].map(|joint| Vec3::from(rest[usize::from(joint)].translation));
            let bone = b - a;
            let place = |vertex: &Vertex| (vertex.position - a).dot(bone) / bone.length_squared();
            sheet.keep(|vertex| place(vertex) - from);
            sheet.keep(|vertex| to - place(vertex));
        }
        sheet.shape(plate.off, plate.keel);
        let palette = found.iter().map(|&joint| {
            let name = body.skeleton.name(joint);
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
    Model {
        skeleton,
        parts,
        materials: vec![Material::default()],
        clips: vec![],
    }
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    /// Weights of the plate's joints.
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
            weights: std::array::from_fn(|i| {
                self.weights[i] + (other.weights[i] - self.weights[i]) * at
            }),
        }
    }
}

/// A seamless piece of skin.
#[derive(Default)]
struct Sheet {
    vertices: Vec<Vertex>,
    triangles: Vec<[usize; 3]>,
}

impl Sheet {
    /// Adds a part with the weights of `joints`, merging vertices at the same position, which `places` keeps track of.
    fn add_part(
        &mut self,
        mesh: &Mesh,
        part: &CharacterPart,
        joints: &[u16],
        places: &mut HashMap<[i32; 3], usize>,
    ) {
        let (
            Some(VertexAttributeValues::Float32x3(positions)),
            Some(VertexAttributeValues::Float32x3(normals)),
            Some(VertexAttributeValues::Uint16x4(slots)),
            Some(VertexAttributeValues::Float32x4(weights)),
            Some(indices),
        ) = (
            mesh.attribute(Mesh::ATTRIBUTE_POSITION),
            mesh.attribute(Mesh::ATTRIBUTE_NORMAL),
            mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX),
            mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT),
            mesh.indices(),
        )
        else {
            return;
        };
        let welded: Vec<usize> = (0..positions.len())
            .map(|i| {
                let place = positions[i].map(|x| (x * 1e4).round() as i32);
                let at = *places.entry(place).or_insert_with(|| {
                    let mut shares = [0.0; 4];
                    for (slot, weight) in part.joint_weights(slots[i], weights[i]) {
                        if let Some(at) =
                            joints.iter().position(|joint| *joint == part.palette[slot])
                        {
                            shares[at] += weight;
                        }
                    }
                    let position = Vec3::from(positions[i]);
                    self.vertices.push(Vertex {
                        position,
                        weights: shares,
                        ..default()
                    });
                    self.vertices.len() - 1
                });
                self.vertices[at].normal += Vec3::from(normals[i]);
                at
            })
            .collect();
        let indices: Vec<usize> = indices.iter().collect();
        self.triangles.extend(
            indices
                .chunks_exact(3)
                .map(|t| [t[0], t[1], t[2]].map(|i| welded[i])),
        );
    }

    /// Cuts off everything for which `side` is negative, splitting triangles.
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
                    outline.push(
                        *known
                            .entry((a, a))
                            .or_insert_with(|| kept.add(self.vertices[a])),
                    );
                }
                if (sides[a] >= 0.0) != (sides[b] >= 0.0) {
                    let (a, b) = (a.min(b), a.max(b));
                    let at = sides[a] / (sides[a] - sides[b]);
                    let cut = || kept.add(self.vertices[a].between(&self.vertices[b], at));
                    outline.push(*known.entry((a, b)).or_insert_with(cut));
                }
            }
            kept.triangles
                .extend((2..outline.len()).map(|i| [outline[0], outline[i - 1], outline[i]]));
        }
        *self = kept;
    }

    fn add(&mut self, vertex: Vertex) -> usize {
        self.vertices.push(vertex);
        self.vertices.len() - 1
    }

    /// Pushes the sheet outward, smooths its folds, raises a ridge in front, and turns the rim inward.
    fn shape(&mut self, off: f32, keel: f32) {
        let mut beside = vec![Vec::new(); self.vertices.len()];
        let mut edges: HashMap<(usize, usize), i32> = HashMap::default();
        for t in &self.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                beside[a].push(b);
                beside[b].push(a);
                *edges.entry((a, b)).or_default() += 1;
                *edges.entry((b, a)).or_default() -= 1;
            }
        }
        // An edge used in one direction only is on the rim.
        let mut rim: Vec<(usize, usize)> = edges
            .iter()
            .filter(|(_, walks)| **walks > 0)
            .map(|(edge, _)| *edge)
            .collect();
        rim.sort_unstable();
        let mut along_rim = vec![Vec::new(); self.vertices.len()];
        for &(a, b) in &rim {
            along_rim[a].push(b);
            along_rim[b].push(a);
        }
        let smooth = |values: &mut Vec<Vec3>| {
            let before = values.clone();
            for (i, value) in values.iter_mut().enumerate() {
                // Smooth the rim only along itself.
                let others = if along_rim[i].is_empty() {
                    &beside[i]
                } else {
                    &along_rim[i]
                };
                if !others.is_empty() {
                    let mean = others.iter().map(|&other| before[other]).sum::<Vec3>()
                        / others.len() as f32;
                    *value = value.lerp(mean, 0.5);
                }
            }
        };
        let mut normals: Vec<Vec3> = self
            .vertices
            .iter()
            .map(|vertex| vertex.normal.normalize_or_zero())
            .collect();
        (0..12).for_each(|_| smooth(&mut normals));
        let mut places: Vec<Vec3> = self.vertices.iter().map(|vertex| vertex.position).collect();
        (0..14).for_each(|_| smooth(&mut places));
        for ((place, normal), vertex) in places.iter_mut().zip(&mut normals).zip(&self.vertices) {
            *normal = normal.normalize_or_zero();
            // Undo smoothing that moved the sheet below the skin.
            *place += *normal * (vertex.position - *place).dot(*normal).max(0.0);
            // Then add the distance from the skin.
            *place += *normal * off;
            // Characters face −Z.
            let ahead = (-normal.z).max(0.0);
            place.z -= keel * ahead * (1.0 - place.x.abs() / 0.14).max(0.0);
        }
        (0..2).for_each(|_| smooth(&mut places));
        for ((vertex, place), normal) in self.vertices.iter_mut().zip(places).zip(normals) {
            let share = vertex.share().max(1e-6);
            *vertex = Vertex {
                position: place,
                normal,
                weights: vertex.weights.map(|weight| weight / share),
            };
        }
        let mut turned: HashMap<usize, usize> = HashMap::default();
        for (a, b) in rim {
            let [inner_a, inner_b] = [a, b].map(|i| {
                *turned.entry(i).or_insert_with(|| {
                    let outer = self.vertices[i];
                    self.add(Vertex {
                        position: outer.position - outer.normal * (0.45 * off),
                        ..outer
                    })
                })
            });
            self.triangles
                .extend([[b, a, inner_a], [b, inner_a, inner_b]]);
        }
    }

    fn into_part(self, name: &str, palette: Vec<u16>) -> SkinPart {
        let count = self.vertices.len();
        let mut normals = vec![Vec3::ZERO; count];
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| self.vertices[i].position);
            t.iter().for_each(|&i| normals[i] += (b - a).cross(c - a));
        }
        let normals: Vec<Vec3> = normals
            .into_iter()
            .map(|normal| normal.normalize_or(Vec3::Y))
            .collect();
        let influences = |vertex: &Vertex| {
            let mut pulls: [(f32, u16); 4] = std::array::from_fn(|i| (vertex.weights[i], i as u16));
            pulls.sort_by(|a, b| b.0.total_cmp(&a.0));
            let palette = pulls.map(|(weight, slot)| if weight > 0.0 { slot } else { 0 });
            Influences {
                palette,
                weights: pulls.map(|(weight, _)| weight),
            }
        };
        SkinPart {
            name: name.into(),
            positions: self.vertices.iter().map(|vertex| vertex.position).collect(),
            tangents: normals
                .iter()
                .map(|normal| normal.any_orthonormal_vector().extend(1.0))
                .collect(),
            normals,
            tex_coords: vec![Vec2::ZERO; count],
            influences: self.vertices.iter().map(influences).collect(),
            triangles: self.triangles.iter().map(|t| t.map(|i| i as u32)).collect(),
            source_vertices: (0..count as u32).collect(),
            palette,
            ..SkinPart::default()
        }
    }
}
