//! The library's own evaluation of a scene, in `f64`. It is loaded as it is: without what the importer has the library convert, apart
//! from one transform above everything.

use crate::gltf_files::formula::posed;
use bevy_marionette::{
    import::Imported,
    internals::pose::{ClipLayer, Evaluate, Scratch},
    model::SkeletalClip,
};
use glam::{DMat4, DVec3, Vec3};
use std::collections::HashMap;
use ufbx::{CoordinateAxes, CoordinateAxis, EvaluateOpts, LoadOpts, Scene, SceneRoot};

pub struct Reference {
    scene: SceneRoot,
    /// The nodes of meshes that are left out: hidden ones, if there are others.
    hidden: Vec<u32>,
}

/// A scene at one time.
pub struct Moment {
    /// All vertices of the scene, node by node.
    pub vertices: Vec<DVec3>,
    /// Per name, where nodes are; of several with one name, those are left out.
    pub nodes: HashMap<String, DVec3>,
}

impl Reference {
    pub fn new(fbx: &[u8]) -> Self {
        let options = LoadOpts {
            target_axes: CoordinateAxes {
                right: CoordinateAxis::PositiveX,
                up: CoordinateAxis::PositiveY,
                front: CoordinateAxis::PositiveZ,
            },
            target_unit_meters: 1.0,
            ..LoadOpts::default()
        };
        let scene = ufbx::load_memory(fbx, options).unwrap_or_else(|e| panic!("{}", e.description));
        let mut hidden: Vec<u32> = Vec::new();
        let meshes = || scene.nodes.into_iter().filter(|node| node.mesh.is_some());
        if meshes().any(|node| node.visible) {
            hidden.extend(
                meshes()
                    .filter(|node| !node.visible)
                    .map(|node| node.element.typed_id),
            );
        }
        Self { scene, hidden }
    }

    pub fn stacks(&self) -> usize {
        self.scene.anim_stacks.count
    }

    /// The name of a stack, and its time span.
    pub fn stack(&self, stack: usize) -> (String, [f64; 2]) {
        let stack = &self.scene.anim_stacks[stack];
        (
            stack.element.name.to_string(),
            [stack.time_begin, stack.time_end],
        )
    }

    /// Times of a stack's keys.
    pub fn key_times(&self, stack: usize) -> Vec<f64> {
        let mut times = Vec::new();
        for layer in &self.scene.anim_stacks[stack].layers {
            for prop in &layer.anim_props {
                let curves = prop.anim_value.curves.iter().flatten();
                times.extend(curves.flat_map(|curve| curve.keyframes.iter().map(|key| key.time)));
            }
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Returns `true` if something jumps between two keys. Where rotations of two layers pass half a turn apart, the library begins to mix
    /// them along the other way around.
    pub fn jumps(&self, stack: usize) -> bool {
        const PIECES: usize = 64;
        let size = size(&self.at_rest());
        let apart = |[from, to]: [f64; 2]| {
            let [from, to] = [from, to].map(|time| self.at(stack, time));
            let vertices = from.vertices.iter().zip(&to.vertices);
            let nodes = from
                .nodes
                .iter()
                .map(|(name, place)| (place, &to.nodes[name]));
            let moved = vertices.chain(nodes).map(|(from, to)| from.distance(*to));
            moved.fold(0.0, f64::max) / size
        };
        self.key_times(stack).windows(2).any(|pair| {
            // A step at a key doesn't count.
            let [begin, end] = [pair[0] + 1e-9, pair[1] - 1e-9];
            let time = |piece: usize| begin + (end - begin) * piece as f64 / PIECES as f64;
            (0..PIECES).any(|piece| {
                let mut piece = [time(piece), time(piece + 1)];
                while piece[1] - piece[0] > 1e-9 {
                    if apart(piece) < 1e-2 {
                        return false;
                    }
                    let middle = (piece[0] + piece[1]) / 2.0;
                    let halves = [[piece[0], middle], [middle, piece[1]]];
                    piece = halves[usize::from(apart(halves[0]) < apart(halves[1]))];
                }
                true
            })
        })
    }

    pub fn at_rest(&self) -> Moment {
        moment(&self.scene, &self.hidden)
    }

    pub fn at(&self, stack: usize, time: f64) -> Moment {
        let anim = &self.scene.anim_stacks[stack].anim;
        let scene = ufbx::evaluate_scene(&self.scene, anim, time, EvaluateOpts::default())
            .unwrap_or_else(|e| panic!("{}", e.description));
        moment(&scene, &self.hidden)
    }
}

fn moment(scene: &Scene, hidden: &[u32]) -> Moment {
    let mut vertices = Vec::new();
    let (mut nodes, mut twice) = (HashMap::new(), Vec::new());
    for node in &scene.nodes {
        let name = node.element.name.to_string();
        let place = matrix(&node.node_to_world).transform_point3(DVec3::ZERO);
        if nodes.insert(name.clone(), place).is_some() {
            twice.push(name);
        }
        let Some(mesh) = node
            .mesh
            .as_ref()
            .filter(|_| !hidden.contains(&node.element.typed_id))
        else {
            continue;
        };
        let skin = mesh.skin_deformers.into_iter().next();
        for (at, position) in mesh.vertices.iter().enumerate() {
            let position = DVec3::new(position.x, position.y, position.z) + offset(mesh, at);
            let (mut moved, mut total) = (DVec3::ZERO, 0.0);
            if let Some(skin) = skin
                && let Some(vertex) = skin.vertices.get(at)
            {
                for weight in &skin.weights.as_ref()[vertex.weight_begin as usize..]
                    [..vertex.num_weights as usize]
                {
                    let cluster = &skin.clusters[weight.cluster_index as usize];
                    if cluster.bone_node.is_some() && weight.weight > 0.0 {
                        let matrix = matrix(&cluster.geometry_to_world);
                        moved += matrix.transform_point3(position) * weight.weight;
                        total += weight.weight;
                    }
                }
            }
            vertices.push(if total > 0.0 {
                moved / total
            } else {
                matrix(&node.geometry_to_world).transform_point3(position)
            });
        }
    }
    twice.iter().for_each(|name| {
        nodes.remove(name);
    });
    Moment { vertices, nodes }
}

/// How far the mesh's blend shapes move a vertex.
fn offset(mesh: &ufbx::Mesh, vertex: usize) -> DVec3 {
    let channels = mesh.blend_deformers.into_iter().flat_map(|d| &d.channels);
    let shapes = channels.flat_map(|channel| channel.keyframes.iter());
    let moved = shapes.filter(|key| key.effective_weight != 0.0).map(|key| {
        let offset = key.shape.get_vertex_offset(vertex);
        DVec3::new(offset.x, offset.y, offset.z) * key.effective_weight
    });
    moved.sum()
}

fn matrix(m: &ufbx::Matrix) -> DMat4 {
    DMat4::from_cols_array(&[
        m.m00, m.m10, m.m20, 0.0, m.m01, m.m11, m.m21, 0.0, m.m02, m.m12, m.m22, 0.0, m.m03, m.m13,
        m.m23, 1.0,
    ])
}

/// The largest distance between imported vertices and joints and the library's, as a share of the diagonal of its box.
pub fn error(
    reference: &Moment,
    size: f64,
    imported: &Imported,
    clip: Option<&SkeletalClip>,
    time: f64,
) -> f64 {
    // FBX faces +Z.
    let turned = |v: DVec3| v * DVec3::new(-1.0, 1.0, -1.0);
    let mut worst = 0f64;
    for (source, got) in posed(imported, clip, time) {
        worst = worst.max(got.as_dvec3().distance(turned(reference.vertices[source])));
    }
    let layers: Vec<ClipLayer> = clip.iter().map(|clip| ClipLayer::new(clip, time)).collect();
    let mut scratch = Scratch::default();
    let skeleton = &imported.model.skeleton;
    Evaluate::new(skeleton, &layers).run(&mut scratch);
    for (name, place) in skeleton.names().iter().zip(scratch.model()) {
        if let Some(expected) = reference.nodes.get(&**name) {
            let got = place.translation.as_dvec3();
            worst = worst.max(got.distance(turned(*expected)));
        }
    }
    worst / size
}

/// The diagonal of the box around all vertices and nodes.
pub fn size(moment: &Moment) -> f64 {
    let points = || moment.vertices.iter().chain(moment.nodes.values()).copied();
    let low = points().fold(DVec3::INFINITY, DVec3::min);
    let high = points().fold(DVec3::NEG_INFINITY, DVec3::max);
    low.distance(high)
}

/// The size by which the importer measures errors: the diagonal of the box around all vertices, where the skin is bound, and joints.
/// Where a skin is bound elsewhere than it rests, [`size`] may be smaller or larger.
fn bound_size(imported: &Imported) -> f64 {
    let model = &imported.model;
    let joints = model.skeleton.rest_model().iter();
    let joints = joints.map(|joint| Vec3::from(joint.translation));
    let vertices = model.parts.iter().flat_map(|part| &part.positions);
    let points = joints
        .chain(vertices.copied())
        .map(|point| point.as_dvec3());
    let [low, high] = points.fold(
        [DVec3::INFINITY, DVec3::NEG_INFINITY],
        |[low, high], point| [low.min(point), high.max(point)],
    );
    low.distance(high)
}

/// The largest [`error`] of the clip of a stack at its keys and between them.
pub fn error_of_clip(
    reference: &Reference,
    stack: usize,
    imported: &Imported,
    clip: &SkeletalClip,
) -> f64 {
    let size = bound_size(imported);
    let (_, span) = reference.stack(stack);
    let keys = reference.key_times(stack);
    let [first, last] = [keys[0], keys[keys.len() - 1]];
    let is_sound = span[0] < span[1] && first <= span[1] && span[0] <= last;
    let span = if is_sound { span } else { [first, last] };
    let length = span[1] - span[0];
    assert!(
        (clip.timing.duration - length).abs() < 1e-5,
        "{} s, expected {length}",
        clip.timing.duration
    );
    let between = (0..=31).map(|i| span[0] + length * f64::from(i) / 31.0);
    let stride = keys.len().div_ceil(40);
    let keys = keys.iter().copied().step_by(stride);
    let times = keys.filter(|time| span[0] <= *time && *time <= span[1]);
    times
        .chain(between)
        .map(|time| {
            // At its very end, a loop starts over. At a step, what comes after it counts.
            let time = (time + 1e-6).min(span[1] - 2e-6).max(span[0]);
            error(
                &reference.at(stack, time),
                size,
                imported,
                Some(clip),
                time - span[0],
            )
        })
        .fold(0.0, f64::max)
}
