//! Blend shapes → morph targets: names, weights at rest and in stacks, and how far vertices move.
//!
//! A channel has one weight and one or more shapes, each of which shows at a weight of its own: those on the way to the last one
//! are in between. Every shape becomes a morph target, and its weight follows from that of the channel, evenly from one shape to
//! the next.
//!
//! Normals are those of the mesh that a shape makes, as the library has them: exporters write none, zeros, or what they please.

use super::{
    nodes::{NodeMesh, joint_nodes},
    property::Property,
    scene::point,
    shape_curves::{Between, read},
    times::{Moved, most_points},
};
use crate::{
    format::FormatError,
    import::{
        ImportLimits,
        axes::Basis,
        morph_normals::SmoothNormals,
        names::named,
        nodes::Rig,
        report::Report,
        scene::{Oddity, Parts, Repairs},
        shared_morphs::{Given, SharedMorphs},
        weights::WeightCurve,
    },
    model::{MorphDelta, MorphIndex, MorphTarget, Morphs, SkinPart},
};
use glam::{DMat3, DVec3};
use std::collections::{BTreeMap, HashMap, HashSet};
use ufbx::{BlendChannel, BlendDeformer, BlendShape, Mesh, RotationOrder, Scene};

/// Vertices and triangles that are looked at in any file, and for each of its bytes.
const FEW_WORK: u64 = 1 << 24;
const WORK_PER_BYTE: u64 = 16;

/// The blend shapes of a file.
pub(super) struct FileShapes<'a> {
    pub(super) morphs: Morphs,
    /// Per stack, how it moves morph targets.
    curves: Vec<BTreeMap<MorphIndex, WeightCurve>>,
    /// Per mesh, its shapes and their morph targets.
    of_mesh: HashMap<u32, Vec<(&'a BlendShape, MorphIndex)>>,
    channels: Vec<&'a BlendChannel>,
}

/// The work that reading shapes has taken, and the most that it may take.
pub(super) struct ShapeWork {
    /// Vertices and triangles that may still be looked at.
    left: u64,
}

impl ShapeWork {
    pub(super) fn new(file_bytes: usize) -> Self {
        let bytes = WORK_PER_BYTE.saturating_mul(file_bytes as u64);
        Self {
            left: FEW_WORK.saturating_add(bytes),
        }
    }

    /// Takes vertices from what may still be looked at. Instances of a mesh cost as much as others.
    fn charge(&mut self, vertices: usize, report: &Report) -> Result<(), FormatError> {
        self.left = self.left.checked_sub(vertices as u64).ok_or_else(|| {
            report.error(
                "",
                "blend shapes of meshes in many places move too much for the size of the file",
                "remove instances of the mesh, or apply its shapes",
            )
        })?;
        Ok(())
    }
}

impl<'a> FileShapes<'a> {
    /// Reads the shapes of meshes, and how the stacks of the scene move them.
    pub(super) fn read(
        scene: &'a Scene,
        rig: &Rig,
        meshes: &[NodeMesh<'a>],
        limits: &ImportLimits,
        file_bytes: usize,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        let mut shared = SharedMorphs::default();
        let mut seen = HashSet::new();
        let is_new = |mesh: &&NodeMesh| seen.insert(mesh.mesh.element.typed_id);
        let meshes: Vec<&'a Mesh> = meshes.iter().filter(is_new).map(|mesh| mesh.mesh).collect();
        let mut out = Self {
            morphs: Morphs::default(),
            curves: Vec::new(),
            of_mesh: HashMap::new(),
            channels: meshes
                .iter()
                .flat_map(|mesh| channels(mesh))
                .map(|(_, channel)| channel)
                .collect(),
        };
        if out.channels.is_empty() {
            out.curves = vec![BTreeMap::new(); scene.anim_stacks.count];
            return Ok(out);
        }
        let mut points = most_points(file_bytes);
        let mut curves = out.curves_of_channels(scene, rig, &mut points, report);
        for mesh in meshes {
            let (mut shapes, mut given) = (Vec::new(), Vec::new());
            for (deformer, channel) in channels(mesh) {
                let between = Between::new(channel);
                let moved = curves.remove(&channel.element.element_id);
                let moved = moved.unwrap_or_default();
                for (at, key) in channel.keyframes.iter().enumerate() {
                    let of_shape =
                        |(stack, curves): (&usize, &Vec<WeightCurve>)| (*stack, curves[at].clone());
                    let rest = between.shares(channel.weight, at) as f32;
                    given.push(Given {
                        name: name(mesh, deformer, channel, at),
                        rest: if rest.abs() <= 1e6 { rest } else { 0.0 },
                        curves: moved.iter().map(of_shape).collect(),
                        expressions: Vec::new(),
                    });
                    shapes.push(&*key.shape);
                }
            }
            let morphs = shared.add_mesh(given);
            limits.check_morphs(report.file, shared.len())?;
            out.of_mesh.insert(
                mesh.element.typed_id,
                shapes.into_iter().zip(morphs).collect(),
            );
        }
        (out.morphs, out.curves) = shared.finish(scene.anim_stacks.count, "", report);
        Ok(out)
    }

    /// The channels of all meshes.
    pub(super) fn channels(&self) -> impl Iterator<Item = &'a BlendChannel> + '_ {
        self.channels.iter().copied()
    }

    /// Returns the curves of morph targets in a stack.
    pub(super) fn curves(&self, stack: usize) -> &BTreeMap<MorphIndex, WeightCurve> {
        &self.curves[stack]
    }

    /// Reads how each stack moves the shapes of each channel, by the channel's number.
    fn curves_of_channels(
        &self,
        scene: &'a Scene,
        rig: &Rig,
        points: &mut usize,
        report: &mut Report,
    ) -> HashMap<u32, BTreeMap<usize, Vec<WeightCurve>>> {
        let mut out: HashMap<u32, BTreeMap<usize, Vec<WeightCurve>>> = HashMap::new();
        for (at, stack) in scene.anim_stacks.into_iter().enumerate() {
            let moved = Moved::new(stack);
            // Each stack is looked through for every joint and every channel.
            let cost = rig.joints.len() + self.channels.len();
            let Some(left) = points.checked_sub(cost) else {
                break;
            };
            *points = left;
            let Some(span) = moved.span(joint_nodes(scene, rig).flatten(), self.channels()) else {
                continue;
            };
            for channel in self.channels().filter(|channel| moved.moves_shape(channel)) {
                let of_channel = out.entry(channel.element.element_id).or_default();
                if of_channel.contains_key(&at) {
                    continue;
                }
                let times = moved.shape_times(channel, span, points);
                let curves = times.and_then(|times| {
                    let percent = moved.layered(&channel.element, Property::ShapeWeight);
                    let weight = |time| percent.at(time, RotationOrder::Xyz).x / 100.0;
                    read(&times, weight, &Between::new(channel), points)
                });
                let Some(curves) = curves else {
                    let message =
                        "weights of blend shapes have too many keys for the size of the file";
                    report.warn(&stack.element.name, message, "some of them were left out");
                    return out;
                };
                of_channel.insert(at, curves);
            }
        }
        out
    }

    /// Adds the targets of a mesh to its parts, whose positions, triangles and normals are complete. `matrix` leads from the mesh to
    /// the parts.
    pub(super) fn add_targets(
        &self,
        mesh: &Mesh,
        first_vertex: u32,
        own: &mut [SkinPart],
        (matrix, basis): (&DMat3, &Basis),
        parts: &mut Parts,
        work: &mut ShapeWork,
        report: &Report,
    ) -> Result<(), FormatError> {
        let shapes = self.of_mesh.get(&mesh.element.typed_id);
        let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty()) else {
            return Ok(());
        };
        // As one mesh, because normals are smooth across materials.
        let (mut positions, mut triangles, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        for part in own.iter() {
            let start = positions.len() as u32;
            starts.push(start);
            positions.extend_from_slice(&part.positions);
            let moved = part.triangles.iter();
            triangles.extend(moved.map(|triangle| triangle.map(|vertex| start + vertex)));
            for (at, &vertex) in (start..).zip(&part.source_vertices) {
                copies.entry(vertex).or_default().push(at);
            }
        }
        let mut smooth = None;
        for (shape, morph) in shapes {
            work.charge(shape.offset_vertices.len(), report)?;
            let offset = |offset: &ufbx::Vec3| *matrix * basis.point(point(offset)).as_dvec3();
            let copies = |vertex| copies.get(&(first_vertex.checked_add(vertex)?));
            let mut target = target(shape, *morph, offset, copies, &mut parts.repairs);
            if target.vertices.is_empty() {
                continue;
            }
            let smooth = smooth.get_or_insert_with(|| SmoothNormals::new(&positions, &triangles));
            match work.left.checked_sub(smooth.work(&target)) {
                Some(left) => {
                    work.left = left;
                    smooth.complete(&positions, &triangles, &mut target);
                }
                None => parts.repairs.count(Oddity::NoMorphNormals, 1),
            }
            parts.admit_moves(report.file, target.vertices.len())?;
            let mut deltas = target
                .iter()
                .map(|(at, delta)| (at as u32, delta))
                .peekable();
            for (part, start) in own.iter_mut().zip(&starts) {
                let end = start + part.positions.len() as u32;
                let own = std::iter::from_fn(|| deltas.next_if(|(at, _)| *at < end));
                let own = own.map(|(at, delta)| (at - start, delta));
                let own = MorphTarget::of_vertices(*morph, own);
                if !own.vertices.is_empty() {
                    part.morphs.push(own);
                }
            }
        }
        for part in own {
            part.morphs.sort_by_key(|target| target.morph);
        }
        Ok(())
    }
}

/// Reads a shape. `copies` are the vertices that a vertex of the mesh became.
fn target<'c>(
    shape: &BlendShape,
    morph: MorphIndex,
    offset: impl Fn(&ufbx::Vec3) -> DVec3,
    copies: impl Fn(u32) -> Option<&'c Vec<u32>>,
    repairs: &mut Repairs,
) -> MorphTarget {
    let mut moved: BTreeMap<u32, DVec3> = BTreeMap::new();
    let offsets = shape.offset_vertices.iter().zip(&*shape.position_offsets);
    for (&vertex, given) in offsets {
        let offset = offset(given);
        let is_sound = repairs.offset(offset.as_vec3()).is_some();
        if is_sound && offset != DVec3::ZERO {
            for &at in copies(vertex).into_iter().flatten() {
                *moved.entry(at).or_default() += offset;
            }
        }
    }
    let deltas = moved.into_iter().map(|(at, offset)| {
        let delta = MorphDelta {
            position: offset.as_vec3(),
            ..MorphDelta::default()
        };
        (at, delta)
    });
    MorphTarget::of_vertices(morph, deltas.collect::<Vec<_>>())
}

fn channels(mesh: &Mesh) -> impl Iterator<Item = (&BlendDeformer, &BlendChannel)> {
    let deformers = mesh.blend_deformers.into_iter();
    deformers.flat_map(|deformer| {
        let channels = deformer.channels.into_iter();
        channels.map(move |channel| (deformer, channel))
    })
}

/// The name of a channel's shape: that of the channel, with its weight in percent if it is one in between. Maya puts the deformer's
/// name in front.
fn name(mesh: &Mesh, deformer: &BlendDeformer, channel: &BlendChannel, at: usize) -> String {
    let shape = channel.target_shape.as_ref();
    let own = &*channel.element.name;
    let prefix = format!("{}.", &*deformer.element.name);
    let names = [
        Some(own.strip_prefix(&prefix).unwrap_or(own)),
        shape.map(|shape| &*shape.element.name),
    ];
    let after = format!("{}.", &*mesh.element.name);
    let name = named(names, &after, channel.element.typed_id as usize);
    let last = channel.keyframes.len() - 1;
    if at == last {
        return name;
    }
    let percent = (channel.keyframes[at].target_weight * 100.0).round();
    format!("{name}.{percent}")
}
