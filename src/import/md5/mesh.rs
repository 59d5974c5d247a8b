//! `.md5mesh` → model.

use super::{
    bind::{self, Bind, Weight, Weights},
    listed,
    rigid::Rigid,
};
use crate::{
    format::{
        Checked, Diagnostic, FormatError,
        md5::{Md5Mesh, Md5Submesh, Md5Weight},
    },
    hierarchy::Hierarchy,
    import::{
        Hand, ImportReport, ImportSettings, Imported, UpAxis,
        axes::Basis,
        finish::Finisher,
        influences::{VertexWeights, WeightReader},
        names::{FIRST_ANSWERS, UniqueNames, duplicates},
        normals::smooth_normals,
        winding::{outwardness, turn_over},
    },
    model::{
        Joint, JointIndex, Material, Model, Reach, Skeleton, SkeletonError, SkinPart, is_near,
    },
    plural::counted,
};
use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// Imports an `.md5mesh` file. `file` is its name in warnings and errors.
///
/// The rest pose is the file's `joints`. The skin and the inverse bind matrices are in the pose that the weights
/// were made in, which may differ. Each submesh with vertices becomes a part, or several if it uses more than 256
/// joints, named after the submesh or its shader.
///
/// # Errors
/// More joints than a [`Skeleton`] holds, numbers beyond the range of `f32` after scaling, a scale that is not
/// finite and above 0.
pub fn from_md5(
    file: &str,
    mesh: &Checked<Md5Mesh>,
    settings: &ImportSettings,
) -> Result<Imported, FormatError> {
    let right_handed = settings.hand != Hand::Left;
    let basis = Basis::new(file, settings, right_handed, UpAxis::Z)?;
    let error = |message: String| FormatError::one(Diagnostic::error(file, message));
    if mesh.joints.len() > Skeleton::MAX_JOINTS {
        return Err(error(
            SkeletonError::TooManyJoints(mesh.joints.len()).to_string(),
        ));
    }
    for (index, submesh) in mesh.meshes.iter().enumerate() {
        check_sharing(index, submesh).map_err(|message| {
            let hint = "the file is damaged: export it again";
            FormatError::one(Diagnostic::error(file, message).with_hint(hint))
        })?;
        if let Some((vertex, most)) = submesh
            .vertices
            .iter()
            .map(|v| v.weight_count)
            .enumerate()
            .max_by_key(|v| v.1)
        {
            let vertex = format!("vert {vertex} of mesh {index}");
            settings.limits.check_influences(file, most, &vertex)?;
        }
    }
    // Files may list joints in any order, but a skeleton has parents first.
    let hierarchy = Hierarchy::new(mesh.joints.iter().map(|joint| joint.parent));
    let order = &hierarchy.order;
    let joints = Joints::new(mesh, &hierarchy);

    let mut warnings = Vec::new();
    let mut report = ImportReport {
        vertices: mesh
            .meshes
            .iter()
            .map(|submesh| submesh.vertices.len())
            .sum(),
        triangles: mesh
            .meshes
            .iter()
            .map(|submesh| submesh.triangles.len())
            .sum(),
        right_handed,
        ..ImportReport::default()
    };
    if let Some(warning) = joints.warning(file, mesh) {
        warnings.push(warning);
    }

    let mut names = UniqueNames::default();
    let mut materials = Materials::default();
    let vertices = || mesh.meshes.iter().flat_map(|submesh| &submesh.vertices);
    // One list for all submeshes, because the bind pose is that of the whole file.
    let mut weights = Weights::with_capacity(
        vertices().count(),
        vertices().map(|v| v.weight_count.max(1) as usize).sum(),
    );
    let mut drafts = Vec::new();
    let mut source_vertex = 0;
    for (index, submesh) in mesh
        .meshes
        .iter()
        .enumerate()
        .filter(|(_, submesh)| !submesh.vertices.is_empty())
    {
        // One for each submesh, because its warnings name the part.
        let mut reader = WeightReader::default();
        let influences = gather(submesh, &joints, &mut weights, &mut reader);
        reader.add_to(&mut report);
        let wanted = submesh
            .name
            .as_deref()
            .filter(|n| !n.is_empty())
            .unwrap_or(stem(&submesh.shader));
        let name = if wanted.is_empty() {
            format!("mesh{index}")
        } else {
            wanted.to_owned()
        };
        let name = names.add(name);
        warnings.extend(reader.warning(file, &name));
        let count = submesh.vertices.len() as u32;
        let part = SkinPart {
            name,
            material: materials.of_shader(&submesh.shader),
            tex_coords: submesh
                .vertices
                .iter()
                .map(|v| v.tex_coord.into())
                .collect(),
            triangles: submesh.triangles.clone(),
            source_vertices: (source_vertex..source_vertex + count).collect(),
            ..SkinPart::default()
        };
        source_vertex += count;
        drafts.push((part, influences));
    }

    // The pose of the file's joints comes first: if the weights fit it, nothing is searched.
    let mut posed = weights.posed(&joints.rest);
    let mut size = diagonal(&posed.positions);
    let bind = bind::find(&weights, &joints.rest, &joints.parents, &posed, size);
    if bind.recovered {
        posed = weights.posed(&bind.pose);
        size = diagonal(&posed.positions);
    }
    warnings.extend(residual_warning(
        file,
        &bind,
        size,
        f64::from(settings.scale),
    ));
    report.bind_residual = (bind.residual * f64::from(settings.scale)) as f32;
    report.bind_residual_relative = if size > 0.0 {
        (bind.residual / size) as f32
    } else {
        0.0
    };
    report.bind_recovered = bind.recovered;

    // Parts lie one after the other in the list of all vertices.
    let mut rest = posed.positions.as_slice();
    for (part, influences) in &mut drafts {
        let (own, others) = rest.split_at(influences.len());
        rest = others;
        part.positions = own.iter().map(|p| basis.point(p.as_vec3())).collect();
        if let Some(vertex) = part.positions.iter().position(|&p| !is_near(p)) {
            let far = part.positions[vertex].as_dvec3().length();
            let message = format!(
                "vertex {vertex} of `{}` lies {far:.0e} units from the origin, too far for a model",
                part.name
            );
            let hint = "check `scale`, or apply transforms before exporting";
            return Err(FormatError::one(
                Diagnostic::error(file, message).with_hint(hint),
            ));
        }
        let SkinPart {
            positions,
            triangles,
            ..
        } = part;
        triangles.retain(|t| has_area(t, positions, influences));
    }
    // A part without an area has nothing to draw.
    drafts.retain(|(part, _)| !part.triangles.is_empty());
    face_outward(&mut drafts, basis.mirrors());

    let mut finisher = Finisher::new(settings);
    for (mut part, influences) in drafts {
        part.normals = smooth_normals(&part.positions, &part.triangles);
        for piece in finisher.split(part, &influences) {
            finisher.add(piece);
        }
    }
    let finished = finisher.finish(file, &mut report);
    warnings.extend(finished.warning);
    let skeleton = joints
        // The rest pose is the file's. Only the inverse binds are from the pose that was found.
        .skeleton(mesh, order, &bind, &basis)
        .map_err(|e| error(e.to_string()))?;
    let reach = Reach::new(&skeleton).map_err(error)?;
    let twice = duplicates(skeleton.names());
    if !twice.is_empty() {
        let message = format!("several joints share a name: {}", listed(twice));
        warnings.push(Diagnostic::warning(file, message).with_hint(FIRST_ANSWERS));
    }
    let model = Model {
        skeleton,
        parts: finished.parts,
        materials: materials.list,
        clips: Vec::new(),
    };
    Ok(Imported {
        model,
        warnings,
        report,
        reach,
        ..Imported::default()
    })
}

/// The number of vertices that may share a weight on average, and the number of weights that they
/// may use in any case. Vertices that all refer to the same weights would take much more memory
/// than the file.
const SHARED: usize = 4;
const FEW_WEIGHTS: usize = 1 << 16;

/// Rejects vertices that use far more weights than there are.
fn check_sharing(index: usize, submesh: &Md5Submesh) -> Result<(), String> {
    let weights = submesh.weights.len();
    let used: usize = submesh
        .vertices
        .iter()
        .map(|v| v.weight_count as usize)
        .fold(0, usize::saturating_add);
    if used > weights.saturating_mul(SHARED).max(FEW_WEIGHTS) {
        return Err(format!(
            "the vertices of mesh {index} use {used} weights in all, but there are only {weights}"
        ));
    }
    Ok(())
}

/// The file's joints, parents first, in model space.
struct Joints {
    rest: Vec<Rigid>,
    parents: Vec<Option<usize>>,
    /// Maps indices in the file to indices here.
    index: Vec<usize>,
}

impl Joints {
    fn new(mesh: &Md5Mesh, hierarchy: &Hierarchy) -> Self {
        let (order, index) = (&hierarchy.order, hierarchy.places());
        let rest = order
            .iter()
            .map(|&old| Rigid::from_md5(mesh.joints[old].position, mesh.joints[old].orientation));
        let parents = order
            .iter()
            .map(|&old| hierarchy.parents[old].map(|p| index[p]));
        Self {
            rest: rest.collect(),
            parents: parents.collect(),
            index,
        }
    }

    /// Returns a warning about orientations that are too long for a unit quaternion.
    fn warning(&self, file: &str, mesh: &Md5Mesh) -> Option<Diagnostic> {
        // A little more than 1 is rounding.
        let long = |o: [f32; 3]| o.iter().map(|x| f64::from(x * x)).sum::<f64>() > 1.01;
        let names: Vec<&str> = mesh
            .joints
            .iter()
            .filter(|j| long(j.orientation))
            .map(|j| &*j.name)
            .collect();
        (!names.is_empty()).then(|| {
            let message = format!(
                "orientations longer than one were normalized: {}",
                listed(names)
            );
            Diagnostic::warning(file, message)
        })
    }

    fn skeleton(
        &self,
        mesh: &Md5Mesh,
        order: &[usize],
        bind: &Bind,
        basis: &Basis,
    ) -> Result<Skeleton, SkeletonError> {
        let joint = |(new, &old): (usize, &usize)| {
            let local = match self.parents[new] {
                Some(parent) => self.rest[parent].inverse().after(&self.rest[new]),
                None => self.rest[new],
            };
            Joint {
                name: mesh.joints[old].name.as_str().into(),
                parent: self.parents[new].map(|p| p as JointIndex),
                rest: basis.transform(local.to_transform()),
                inverse_bind: basis.affine(bind.pose[new].inverse().to_affine()),
            }
        };
        Skeleton::new(order.iter().enumerate().map(joint).collect())
    }
}

/// Adds all weights of a submesh to those of the file, and returns the joints of its vertices.
fn gather(
    submesh: &Md5Submesh,
    joints: &Joints,
    weights: &mut Weights,
    reader: &mut WeightReader,
) -> VertexWeights {
    let mut influences = VertexWeights::default();
    for vertex in &submesh.vertices {
        let own = &submesh.weights[vertex.first_weight as usize..][..vertex.weight_count as usize];
        reader.push(
            &mut influences,
            own.iter()
                .map(|w| (joints.index[w.joint as usize] as JointIndex, w.bias)),
        );
        let weight = |w: &Md5Weight| Weight {
            joint: joints.index[w.joint as usize],
            share: f64::from(w.bias),
            position: Vec3::from(w.position).as_dvec3(),
        };
        // A vertex whose weights are all 0 follows the first joint it names. Without weights it stays at the
        // origin, the value of an empty sum.
        let nothing = || Weight {
            joint: 0,
            share: 1.0,
            position: joints.rest[0].inverse().apply(DVec3::ZERO),
        };
        weights.push(
            own.iter().map(weight),
            own.first().map_or_else(nothing, weight),
        );
    }
    influences
}

/// Returns `true` if a triangle has an area in any pose.
fn has_area(triangle: &[u32; 3], positions: &[Vec3], influences: &VertexWeights) -> bool {
    let [a, b, c] = triangle.map(|v| v as usize);
    let (p, q, r) = (positions[a], positions[b], positions[c]);
    // Decides nearly all cases with one branch.
    if (p != q) & (q != r) & (r != p) {
        return true;
    }
    // Corners that coincide at rest come apart in a clip if they have other weights.
    let same = |a: usize, b: usize| {
        a == b || (positions[a] == positions[b] && influences.of(a) == influences.of(b))
    };
    !same(a, b) && !same(b, c) && !same(c, a)
}

/// Makes the triangles of all parts counter-clockwise as seen from outside.
///
/// Nearly all exporters write them clockwise. A part that clearly encloses a volume shows its own winding; other
/// parts follow the clear ones of the file, or else the convention.
fn face_outward(drafts: &mut [(SkinPart, VertexWeights)], mirrored: bool) {
    const CLEAR: f32 = 0.3;
    let outward: Vec<f32> = drafts
        .iter()
        .map(|(part, _)| outwardness(&part.positions, &part.triangles))
        .collect();
    let vote = |(&out, (part, _)): (&f32, &(SkinPart, _))| match out {
        out if out.abs() >= CLEAR => out.signum() as i64 * part.triangles.len() as i64,
        _ => 0,
    };
    // Large parts count for more than small ones.
    let file: i64 = outward.iter().zip(&*drafts).map(vote).sum();
    for (&out, (part, _)) in outward.iter().zip(drafts) {
        let faces_outward = if out.abs() >= CLEAR {
            out > 0.0
        } else if file != 0 {
            file > 0
        } else {
            mirrored
        };
        if !faces_outward {
            turn_over(&mut part.triangles);
        }
    }
}

/// Returns the length of the diagonal of the bounding box.
fn diagonal(points: &[DVec3]) -> f64 {
    let Some(&first) = points.first() else {
        return 0.0;
    };
    let (low, high) = points.iter().fold((first, first), |(low, high), &point| {
        (low.min(point), high.max(point))
    });
    low.distance(high)
}

fn residual_warning(file: &str, bind: &Bind, size: f64, scale: f64) -> Option<Diagnostic> {
    (bind.residual > bind::TOLERANCE * size).then(|| {
        let (distance, share) = (bind.residual * scale, bind.residual / size * 100.0);
        let message = format!(
            "no pose fits the weights of {}, which can be off by up to {distance:.4} in motion \
             ({share:.2} % of the model's size)",
            counted(bind.off, "vertex")
        );
        Diagnostic::warning(file, message)
            .with_hint("export the mesh in the pose it was skinned in")
    })
}

/// One material for each shader, in order of appearance.
#[derive(Default)]
struct Materials<'a> {
    list: Vec<Material>,
    by_shader: HashMap<&'a str, usize>,
    names: UniqueNames,
}

impl<'a> Materials<'a> {
    fn of_shader(&mut self, shader: &'a str) -> usize {
        *self.by_shader.entry(shader).or_insert_with(|| {
            // Exporters write `<default>` and the like for "none".
            let none =
                shader.trim().is_empty() || (shader.starts_with('<') && shader.ends_with('>'));
            let name = if none { "default" } else { stem(shader) };
            let name = self
                .names
                .add(if name.is_empty() { shader } else { name }.to_owned());
            let base_color_map = (!none).then(|| shader.to_owned());
            self.list.push(Material {
                name,
                base_color_map,
                ..Material::default()
            });
            self.list.len() - 1
        })
    }
}

/// Returns the last component of a shader's path, without an image's extension; empty for `<default>`.
pub(super) fn stem(shader: &str) -> &str {
    const IMAGES: [&str; 10] = [
        "tga", "dds", "png", "jpg", "jpeg", "bmp", "pcx", "webp", "ktx2", "tif",
    ];
    let file = shader.rsplit(['/', '\\']).next().unwrap_or(shader).trim();
    match file.rsplit_once('.') {
        Some((stem, extension)) if IMAGES.iter().any(|i| i.eq_ignore_ascii_case(extension)) => stem,
        _ if file.starts_with('<') => "",
        _ => file,
    }
}
