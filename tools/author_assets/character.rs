//! Runs the pipeline for a character, and writes its files.

use super::{
    bake::{Maps, Paint, Surface, bake, halve, png, sky, up_in_texture},
    charts::{Chart, unwrap},
    contour::{Lattice, Mesh},
    faces::{Face, Moves},
    field::Field,
    motion::Motion,
    regions::Regions,
    rig::{Rig, round},
    weights::{Bend, Shares, weights},
};
use bevy_marionette::{
    import::{
        BlendSpaceEntry, CallbackEntry, ClipEntry, ClipRootMotion, ColliderEntry, FeetEntry,
        GoalEntry, LookAtEntry, Manifest, MaskEntry, RetargetEntry, SocketEntry, SpringEntry,
    },
    internals::{
        format::{m3d, md5},
        import::{GlbTexture, TextureMap, to_glb, to_m3d, to_md5_anim, to_md5_mesh},
    },
    model::{Influences, Material, Model, SkeletalClip, Skeleton, SkinPart},
    rig::Limb,
};
use glam::{DVec3, Vec2, Vec3, Vec4};
use std::{collections::BTreeMap, path::PathBuf};

/// A material to create.
pub struct MaterialPlan {
    pub name: &'static str,
    /// Width and height of its textures in texels.
    pub size: usize,
    pub roughness: f32,
    pub reflectance: f32,
}

/// Everything that describes a character.
pub struct Plan<'a> {
    pub name: &'static str,
    pub rig: &'a Rig,
    pub field: &'a Field,
    pub lattice: &'a Lattice,
    /// Desired cell size of the mesh near a point, in meters.
    pub size_at: &'a dyn Fn(DVec3) -> f64,
    /// How the skin of a joint blends with its parent's; see [`weights`].
    pub bend: &'a dyn Fn(usize) -> Option<Bend>,
    /// Number of passes that smooth weights over the surface.
    pub spread: usize,
    /// Maximum influences per vertex. The MD5 file holds them all, the model the four largest.
    pub influences: usize,
    pub materials: &'a [MaterialPlan],
    /// Material index of a part.
    pub material: &'a dyn Fn(u8) -> usize,
    /// Factor on the texel density of a part.
    pub detail: &'a dyn Fn(u8) -> f64,
    /// Parts seen mostly from one side, such as a face: no seam crosses what is visible from there.
    pub fronts: &'a [(u8, DVec3)],
    pub paint: &'a dyn Paint,
    /// What opens, closes and moves in its face.
    pub face: Option<&'a dyn Face>,
    pub motions: Vec<Motion>,
    pub masks: Vec<(&'static str, MaskEntry)>,
    pub sockets: Vec<(&'static str, SocketEntry)>,
    pub goals: Vec<(&'static str, GoalEntry)>,
    pub look_at: LookAtEntry,
    pub feet: FeetEntry,
    /// Clips that are mirror images of others: their names, and those of the others.
    pub mirrored: Vec<(&'static str, &'static str)>,
    /// Clips of other rigs: their names, and their files.
    pub borrowed: Vec<(&'static str, &'static str)>,
    pub blend_spaces: Vec<(&'static str, BlendSpaceEntry)>,
    pub springs: Vec<SpringEntry>,
    pub colliders: Vec<(&'static str, ColliderEntry)>,
    /// Also write an `.m3d`.
    pub m3d: bool,
}

/// A finished character.
pub struct Character {
    pub name: &'static str,
    pub model: Model,
    /// Textures, in the order of the model's materials.
    pub maps: Vec<Maps>,
    pub motions: Vec<Motion>,
    /// The motions without their travel.
    in_place: Vec<SkeletalClip>,
    /// All weights of every vertex, part by part.
    shares: Vec<Vec<Shares>>,
    masks: BTreeMap<String, MaskEntry>,
    sockets: BTreeMap<String, SocketEntry>,
    goals: BTreeMap<String, GoalEntry>,
    look_at: LookAtEntry,
    feet: FeetEntry,
    mirrored: Vec<(&'static str, &'static str)>,
    borrowed: Vec<(&'static str, &'static str)>,
    blend_spaces: BTreeMap<String, BlendSpaceEntry>,
    springs: Vec<SpringEntry>,
    colliders: BTreeMap<String, ColliderEntry>,
    m3d: bool,
}

impl Character {
    /// Builds a character from its description.
    pub fn build(plan: Plan) -> Self {
        let Plan {
            rig,
            field,
            materials,
            ..
        } = plan;
        let mut mesh = Mesh::contour(field, plan.lattice, plan.size_at);
        mesh.relax(field, 6);
        let mut regions = Regions::cut(field, mesh);
        if let Some(face) = plan.face {
            regions.open(|part| face.is_hole(part));
        }
        let mut normals: Vec<DVec3> = regions
            .mesh
            .positions
            .iter()
            .map(|&p| field.normal(p, 0.0025))
            .collect();
        if let Some(face) = plan.face {
            face.add(field, &mut regions, &mut normals);
        }
        let sky = sky(field, &regions.mesh, &normals);
        let shares = weights(
            field,
            &regions.mesh,
            rig,
            plan.bend,
            plan.spread,
            plan.influences,
        );
        let moves = plan
            .face
            .map_or_else(Moves::default, |face| Moves::new(face, field, &mut regions));
        let charts = unwrap(&regions, plan.material, plan.detail, plan.fronts);
        let surface = Surface {
            regions: &regions,
            normals: &normals,
            sky: &sky,
        };
        let maps = materials
            .iter()
            .enumerate()
            .map(|(m, own)| bake(&surface, &charts, m, own.size, plan.paint));
        let (parts, part_shares) = materials
            .iter()
            .enumerate()
            .map(|(m, own)| {
                let charts: Vec<&Chart> = charts.iter().filter(|c| c.material == m).collect();
                part(
                    own.name,
                    m,
                    &regions.mesh,
                    &normals,
                    &shares,
                    &charts,
                    &moves,
                )
            })
            .unzip();
        let model = Model {
            skeleton: rig
                .skeleton()
                .expect("joints are finite, and parents come first")
                .with_morphs(moves.morphs()),
            parts,
            materials: materials.iter().map(describe).collect(),
            clips: plan
                .motions
                .iter()
                .map(|m| m.clip(rig).expect("poses are complete and finite"))
                .collect(),
        };
        Self {
            name: plan.name,
            model,
            maps: maps.collect(),
            in_place: plan
                .motions
                .iter()
                .map(|m| m.clip_in_place(rig).expect("poses are finite"))
                .collect(),
            motions: plan.motions,
            shares: part_shares,
            masks: plan
                .masks
                .into_iter()
                .map(|(n, e)| (n.to_string(), e))
                .collect(),
            sockets: plan
                .sockets
                .into_iter()
                .map(|(n, e)| (n.to_string(), e))
                .collect(),
            goals: plan
                .goals
                .into_iter()
                .map(|(n, e)| (n.to_string(), e))
                .collect(),
            look_at: plan.look_at,
            feet: plan.feet,
            mirrored: plan.mirrored,
            borrowed: plan.borrowed,
            blend_spaces: plan
                .blend_spaces
                .into_iter()
                .map(|(n, e)| (n.to_string(), e))
                .collect(),
            springs: plan.springs,
            colliders: plan
                .colliders
                .into_iter()
                .map(|(n, e)| (n.to_string(), e))
                .collect(),
            m3d: plan.m3d,
        }
    }

    /// Returns all files, with paths below `assets/`.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let name = self.name;
        let mut out: Vec<(String, Vec<u8>)> = Vec::new();
        for (material, maps) in self.model.materials.iter().zip(&self.maps) {
            out.push((
                format!("{}.png", material.name),
                png(&maps.diffuse, maps.size),
            ));
            out.push((
                format!("{}_nmap.png", material.name),
                png(&maps.normal, maps.size),
            ));
        }
        if self.m3d {
            let mut whole = to_m3d(&self.model);
            tidy_m3d(&mut whole);
            out.push((format!("{name}.m3d"), m3d::write(&whole).into_bytes()));
        }
        let mut mesh = to_md5_mesh(&self.model);
        for (mesh, (part, shares)) in mesh
            .meshes
            .iter_mut()
            .zip(self.model.parts.iter().zip(&self.shares))
        {
            all_weights(mesh, &self.model.skeleton, &part.positions, shares);
        }
        tidy_md5_mesh(&mut mesh);
        out.push((
            format!("{name}.md5mesh"),
            md5::write_mesh(&mesh).into_bytes(),
        ));
        // Neither of the other formats has morph targets.
        let has_face = !self.model.skeleton.morphs().is_empty();
        if has_face {
            let file = format!("{name}.glb");
            let glb = self.glb_beside_textures(&file);
            out.push((file, glb));
        }
        for clip in &self.model.clips {
            let mut anim = to_md5_anim(clip, &self.model.skeleton);
            tidy_md5_anim(&mut anim);
            out.push((
                format!("{}.md5anim", clip.timing.name),
                md5::write_anim(&anim).into_bytes(),
            ));
        }
        let names = self
            .model
            .skeleton
            .names()
            .iter()
            .map(|n| n.to_string())
            .collect();
        let manifests = [
            (
                format!("{name}.character.ron"),
                format!("{name}.{}", if has_face { "glb" } else { "md5mesh" }),
                vec![],
                false,
            ),
            (
                format!("{name}_m3d.character.ron"),
                format!("{name}.m3d"),
                names,
                true,
            ),
        ];
        for (file, model, names, own) in manifests.into_iter().take(if self.m3d { 2 } else { 1 }) {
            let manifest = Manifest {
                joint_names: names,
                ..self.manifest(model, None, |clip| {
                    (!own).then(|| format!("{clip}.md5anim"))
                })
            };
            let text = manifest.to_ron().expect("a manifest serializes to RON");
            out.push((file, (text + "\n").into_bytes()));
        }
        out.into_iter()
            .map(|(file, bytes)| (PathBuf::from(name).join(file), bytes))
            .collect()
    }

    /// Returns the model in glTF, without clips. It refers to the textures of the other formats.
    fn glb_beside_textures(&self, file: &str) -> Vec<u8> {
        let model = Model {
            clips: Vec::new(),
            ..self.model.clone()
        };
        let textures = |material: &Material, map: TextureMap| match map {
            TextureMap::BaseColor => material.base_color_map.clone().map(GlbTexture::File),
            TextureMap::Normal => material.normal_map.clone().map(GlbTexture::File),
            _ => None,
        };
        to_glb(file, &model, None, textures)
            .expect("the model is finite and small")
            .value
    }

    /// Returns the files of a small copy in glTF, with paths below `assets/`: the model with textures of half the size and the
    /// clips that `is_within` chooses, another file with only the other clips, and a manifest. The clips are in place, and
    /// the manifest says how fast they are.
    ///
    /// The model has no tangents, as most have none: the importer makes them.
    pub fn gltf_files(
        &self,
        name: &str,
        scale: f32,
        is_within: impl Fn(&str) -> bool,
    ) -> Vec<(PathBuf, Vec<u8>)> {
        let mut model = self.model.clone();
        model
            .parts
            .iter_mut()
            .for_each(|part| part.tangents.clear());
        model.clips = self.in_place.clone();
        for (clip, motion) in model.clips.iter_mut().zip(&self.motions) {
            clip.timing.playback = motion.playback;
        }
        let (own, others) = model
            .clips
            .drain(..)
            .partition(|clip| is_within(&clip.timing.name));
        let tricks = Model {
            skeleton: model.skeleton.clone(),
            clips: others,
            ..Model::default()
        };
        model.clips = own;
        let textures = |material: &Material, map: TextureMap| {
            let at = self
                .model
                .materials
                .iter()
                .position(|other| other.name == material.name)?;
            let Maps {
                size,
                diffuse,
                normal,
            } = self.maps.get(at)?;
            let pixels = match map {
                TextureMap::BaseColor => diffuse,
                TextureMap::Normal => normal,
                _ => return None,
            };
            Some(GlbTexture::Png(png(&halve(pixels, *size), size / 2)))
        };
        let (file, tricks_file) = (format!("{name}.glb"), format!("{name}_tricks.glb"));
        let glb = to_glb(&file, &model, None, textures)
            .expect("the model is finite and small")
            .value;
        let tricks = to_glb(&tricks_file, &tricks, None, |_, _| None)
            .expect("the clips are finite")
            .value;
        let manifest = self.manifest(file.clone(), Some(scale), |clip| {
            (!is_within(clip)).then(|| tricks_file.clone())
        });
        let text = Manifest { scale, ..manifest }
            .to_ron()
            .expect("a manifest serializes to RON");
        [
            (file, glb),
            (tricks_file, tricks),
            (format!("{name}.character.ron"), (text + "\n").into_bytes()),
        ]
        .map(|(file, bytes)| (PathBuf::from(name).join(file), bytes))
        .into()
    }

    /// Returns the manifest. `file_of` returns the file of a clip, or `None` for one in the model's own file. `in_place` is
    /// the scale of clips that don't travel themselves.
    fn manifest(
        &self,
        model: String,
        in_place: Option<f32>,
        file_of: impl Fn(&str) -> Option<String>,
    ) -> Manifest {
        let clip = |m: &Motion| {
            let callbacks = m.callbacks.iter().map(|(time, name, datum)| CallbackEntry {
                data: datum.map_or(ron::Value::Unit, |d| ron::Value::String(d.into())),
                ..CallbackEntry::new(*time, *name)
            });
            let (file, playback) = (file_of(m.name), Some(m.playback));
            // The hips sway, which is to stay in the pose.
            let steady = ClipRootMotion {
                steady: Some(true),
                ..ClipRootMotion::default()
            };
            let travels = m.speed != 0.0;
            let root_motion = (travels && in_place.is_none()).then_some(steady);
            let ground_speed = in_place
                .filter(|_| travels)
                .map(|scale| m.speed as f32 * scale);
            let callbacks = callbacks.collect();
            let entry = ClipEntry {
                file,
                playback,
                root_motion,
                ground_speed,
                callbacks,
                ..ClipEntry::default()
            };
            (m.name.to_string(), entry)
        };
        let mirrored = self.mirrored.iter().map(|(name, of)| {
            (
                name.to_string(),
                ClipEntry {
                    mirror: Some(of.to_string()),
                    ..ClipEntry::default()
                },
            )
        });
        let borrowed = self.borrowed.iter().map(|(name, file)| {
            let retarget = Some(RetargetEntry::default());
            (
                name.to_string(),
                ClipEntry {
                    file: Some(file.to_string()),
                    retarget,
                    ..ClipEntry::default()
                },
            )
        });
        let textures = |m: &Material| [format!("{}.png", m.name), format!("{}_nmap.png", m.name)];
        // The small copy contains its textures.
        let materials = if in_place.is_some() {
            &[][..]
        } else {
            &self.model.materials
        };
        Manifest {
            textures: materials.iter().flat_map(textures).collect(),
            clips: self
                .motions
                .iter()
                .map(clip)
                .chain(mirrored)
                .chain(borrowed)
                .collect(),
            blend_spaces: self.blend_spaces.clone(),
            masks: self.masks.clone(),
            sockets: self.sockets.clone(),
            goals: self.goals.clone(),
            look_at: Some(self.look_at.clone()),
            feet: Some(self.feet.clone()),
            springs: self.springs.clone(),
            colliders: self.colliders.clone(),
            ..Manifest::of_model(model)
        }
    }
}

fn describe(plan: &MaterialPlan) -> Material {
    Material {
        name: plan.name.into(),
        base_color_map: Some(format!("{}.png", plan.name)),
        normal_map: Some(format!("{}_nmap.png", plan.name)),
        roughness: plan.roughness,
        reflectance: plan.reflectance,
        ..Material::default()
    }
}

/// Returns the skin of one material, and all weights of its vertices. A mesh vertex appears once per chart it is in.
fn part(
    name: &str,
    material: usize,
    mesh: &Mesh,
    normals: &[DVec3],
    shares: &[Shares],
    charts: &[&Chart],
    moves: &Moves,
) -> (SkinPart, Vec<Shares>) {
    let mut all: Vec<Shares> = Vec::new();
    let mut out = SkinPart {
        name: name.into(),
        material,
        ..SkinPart::default()
    };
    let mut palette: Vec<u16> = Vec::new();
    let mut sources: Vec<u32> = Vec::new();
    for chart in charts {
        let mut index: BTreeMap<u32, u32> = BTreeMap::new();
        for &triangle in &chart.triangles {
            let corners = mesh.triangles[triangle as usize].map(|v| {
                *index.entry(v).or_insert_with(|| {
                    let (p, n) = (mesh.positions[v as usize], normals[v as usize]);
                    let t = chart.tangent(n);
                    let up = up_in_texture(chart, n, t);
                    let sign = n.cross(t).dot(up).signum();
                    let mut influences = Influences::default();
                    let kept: f64 = shares[v as usize].iter().take(4).map(|s| s.1).sum();
                    for (i, &(joint, share)) in shares[v as usize].iter().take(4).enumerate() {
                        let slot = palette
                            .iter()
                            .position(|&j| usize::from(j) == joint)
                            .unwrap_or_else(|| {
                                palette.push(joint as u16);
                                palette.len() - 1
                            });
                        influences.palette[i] = slot as u16;
                        influences.weights[i] = (share / kept) as f32;
                    }
                    let uv = chart.tex_coord(p);
                    sources.push(v);
                    out.positions.push(round(p, 1e-4));
                    out.normals.push(n.as_vec3());
                    out.tangents.push(Vec4::from((t.as_vec3(), sign as f32)));
                    out.tex_coords.push(Vec2::new(
                        round(uv.extend(0.0), 1e-5).x,
                        round(uv.extend(0.0), 1e-5).y,
                    ));
                    out.influences.push(influences);
                    out.source_vertices.push(0);
                    all.push(shares[v as usize].clone());
                    out.positions.len() as u32 - 1
                })
            });
            out.triangles.push(corners);
        }
    }
    // Palettes in joint order, like the importers produce.
    let mut sorted = palette.clone();
    sorted.sort_unstable();
    for influences in &mut out.influences {
        for (slot, weight) in influences.palette.iter_mut().zip(influences.weights) {
            if weight > 0.0 {
                let joint = palette[usize::from(*slot)];
                *slot = sorted.partition_point(|&j| j < joint) as u16;
            }
        }
    }
    out.palette = sorted;
    out.morphs = moves.targets(&sources);
    (out, all)
}

/// Restores all weights of vertices with more than four, which MD5 supports.
fn all_weights(
    mesh: &mut md5::Md5Submesh,
    skeleton: &Skeleton,
    positions: &[Vec3],
    shares: &[Shares],
) {
    let four = std::mem::take(&mut mesh.weights);
    for (vertex, (position, shares)) in mesh.vertices.iter_mut().zip(positions.iter().zip(shares)) {
        let first = mesh.weights.len() as u32;
        if shares.len() <= 4 {
            let start = vertex.first_weight as usize;
            mesh.weights
                .extend_from_slice(&four[start..start + vertex.weight_count as usize]);
        } else {
            mesh.weights.extend(shares.iter().map(|&(joint, share)| {
                // In the bind pose, only the axes differ: MD5 has X forward and Z up.
                let p = skeleton.inverse_bind()[joint].transform_point3(*position);
                md5::Md5Weight {
                    joint: joint as u32,
                    bias: share as f32,
                    position: [-p.z, -p.x, p.y],
                }
            }));
        }
        (vertex.first_weight, vertex.weight_count) = (first, mesh.weights.len() as u32 - first);
    }
}

/// A mask of some joints and their descendants.
pub fn mask(roots: &[&str], falloff: u32) -> MaskEntry {
    MaskEntry {
        roots: roots.iter().map(|r| r.to_string()).collect(),
        joints: vec![],
        falloff,
        morphs: vec![],
    }
}

/// A socket with its joint's orientation.
pub fn socket(joint: &str, translation: Vec3) -> SocketEntry {
    SocketEntry {
        joint: joint.into(),
        translation,
        euler_degrees: Vec3::ZERO,
        scale: 1.0,
    }
}

/// A limb that reaches for a goal.
pub fn goal(limb: Limb) -> GoalEntry {
    GoalEntry::new(limb)
}

/// Rounds to multiples of 1/`steps`, and −0 to 0.
fn tidy(values: &mut [f32], steps: f64) {
    for value in values {
        *value = ((f64::from(*value) * steps).round() / steps) as f32 + 0.0;
    }
}

/// Shortens numbers, and the keys of bones that don't move to a single pair.
fn tidy_m3d(file: &mut m3d::M3d) {
    for material in &mut file.materials {
        if let Some(fresnel) = &mut material.fresnel0 {
            tidy(fresnel, 1e5);
        }
    }
    for v in &mut file.vertices {
        tidy(&mut v.position, 1e4);
        tidy(&mut v.normal, 1e3);
        tidy(&mut v.tangent, 1e3);
        tidy(&mut v.tex_coord, 1e4);
        tidy(&mut v.weights, 1e3);
    }
    for bone in &mut file.bones {
        tidy(bone.offset.as_flattened_mut(), 1e6);
    }
    for keys in file.clips.iter_mut().flat_map(|c| &mut c.bones) {
        for key in keys.iter_mut() {
            tidy(&mut key.translation, 1e5);
            tidy(&mut key.rotation, 1e5);
            tidy(&mut key.scale, 1e5);
            key.time = ((f64::from(key.time) * 1e6).round() / 1e6) as f32;
        }
        let still = keys.windows(2).all(|w| {
            (w[0].translation, w[0].rotation, w[0].scale)
                == (w[1].translation, w[1].rotation, w[1].scale)
        });
        if still && keys.len() > 2 {
            let last = keys[keys.len() - 1];
            keys.truncate(1);
            keys.push(last);
        }
    }
}

fn tidy_md5_mesh(file: &mut md5::Md5Mesh) {
    file.command_line.clear();
    for joint in &mut file.joints {
        tidy(&mut joint.position, 1e6);
        tidy(&mut joint.orientation, 1e6);
    }
    for mesh in &mut file.meshes {
        mesh.vertices
            .iter_mut()
            .for_each(|v| tidy(&mut v.tex_coord, 1e4));
        for weight in &mut mesh.weights {
            tidy(std::slice::from_mut(&mut weight.bias), 1e3);
            tidy(&mut weight.position, 1e4);
        }
    }
}

fn tidy_md5_anim(file: &mut md5::Md5Anim) {
    file.command_line.clear();
    file.bounds
        .iter_mut()
        .for_each(|b| tidy(b.as_flattened_mut(), 1e4));
    file.base_frame
        .iter_mut()
        .for_each(|b| tidy(b.as_flattened_mut(), 1e5));
    tidy(&mut file.frames, 1e5);
}

#[cfg(test)]
mod tests {
    use super::super::{hound, scout};
    use bevy_marionette::{
        import::ImportSettings,
        internals::{format::md5, import::from_md5},
        model::Model,
    };
    use glam::{Affine3A, Vec3};

    #[test]
    fn scout_is_complete_weighted_and_stands_on_the_floor() {
        let model = scout::character().model;
        let vertices: usize = model.parts.iter().map(|p| p.positions.len()).sum();
        assert!((8_000..20_000).contains(&vertices), "{vertices} vertices");
        assert_eq!((model.parts.len(), model.clips.len()), (5, 9));
        assert!((50..60).contains(&model.skeleton.len()));
        let lowest = model
            .parts
            .iter()
            .flat_map(|p| &p.positions)
            .map(|p| p.y)
            .fold(f32::MAX, f32::min);
        let highest = model
            .parts
            .iter()
            .flat_map(|p| &p.positions)
            .map(|p| p.y)
            .fold(f32::MIN, f32::max);
        assert!(
            lowest.abs() < 0.004 && (1.75..1.88).contains(&highest),
            "{lowest} to {highest}"
        );
        for influences in model.parts.iter().flat_map(|p| &p.influences) {
            assert!((influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn hound_is_complete_stands_on_the_floor_and_has_vertices_with_more_than_four_influences() {
        let character = hound::character();
        let model = &character.model;
        let vertices: usize = model.parts.iter().map(|p| p.positions.len()).sum();
        assert!((8_000..14_000).contains(&vertices), "{vertices} vertices");
        assert_eq!(
            (model.parts.len(), model.clips.len(), model.skeleton.len()),
            (5, 4, 37)
        );
        let heights = || model.parts.iter().flat_map(|p| &p.positions).map(|p| p.y);
        let (lowest, highest) = (
            heights().fold(f32::MAX, f32::min),
            heights().fold(f32::MIN, f32::max),
        );
        assert!(
            lowest.abs() < 0.004 && (0.95..1.10).contains(&highest),
            "{lowest} to {highest}"
        );

        let files = character.files();
        let size: usize = files.iter().map(|f| f.1.len()).sum();
        assert!(size <= 3_000_000, "{size} bytes");
        let text = files
            .iter()
            .find(|f| f.0.ends_with("hound.md5mesh"))
            .expect("an MD5 character has its mesh");
        let file = md5::parse_mesh("hound.md5mesh", &text.1).unwrap();
        let many = file
            .value
            .meshes
            .iter()
            .flat_map(|m| &m.vertices)
            .filter(|v| v.weight_count > 4)
            .count();
        assert!(many > 40, "{many} vertices with more than four weights");
        let read = from_md5("hound.md5mesh", &file.value, &ImportSettings::default()).unwrap();
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        assert_eq!(read.report.influences[5], many);
        assert!(
            read.report.bind_residual < 2e-4,
            "{}",
            read.report.bind_residual
        );
    }

    /// In no frame does a triangle grow more than bending explains, or do many collapse.
    #[test]
    fn no_joint_tears_or_collapses_the_skin() {
        for model in [scout::character().model, hound::character().model] {
            no_tears(&model);
        }
    }

    fn no_tears(model: &Model) {
        for clip in &model.clips {
            for frame in (0..clip.frame_count()).step_by(5) {
                let mut joints: Vec<Affine3A> = Vec::new();
                for (j, parent) in model.skeleton.parents().iter().enumerate() {
                    let local = clip.transform_at(j, frame).to_affine();
                    joints.push(parent.map_or(local, |p| joints[usize::from(p)] * local));
                }
                let (mut before, mut after) = (0.0, 0.0);
                for part in &model.parts {
                    let posed: Vec<Vec3> = (part.positions.iter().zip(&part.influences))
                        .map(|(p, i)| {
                            let moved = |k: usize| {
                                let joint = usize::from(part.palette[usize::from(i.palette[k])]);
                                (joints[joint] * model.skeleton.inverse_bind()[joint])
                                    .transform_point3(*p)
                                    * i.weights[k]
                            };
                            moved(0) + moved(1) + moved(2) + moved(3)
                        })
                        .collect();
                    for t in &part.triangles {
                        let longest = |points: &[Vec3]| {
                            let [a, b, c] = t.map(|v| points[v as usize]);
                            a.distance(b).max(b.distance(c)).max(c.distance(a))
                        };
                        let area = |points: &[Vec3]| {
                            let [a, b, c] = t.map(|v| points[v as usize]);
                            (b - a).cross(c - a).length()
                        };
                        before += area(&part.positions);
                        after += area(&posed);
                        let name = &clip.timing.name;
                        let (rest, now) = (longest(&part.positions), longest(&posed));
                        assert!(
                            now < rest * 5.0 + 0.02,
                            "{name} frame {frame}, {}: {rest} m becomes {now} m",
                            part.name
                        );
                    }
                }
                assert!(
                    (0.93..1.10).contains(&(after / before)),
                    "{} frame {frame}: {}",
                    clip.timing.name,
                    after / before
                );
            }
        }
    }
}
