//! `.md5mesh` → model.

use super::{
    bind::{self, Bind, Weight, Weights},
    rigid::Rigid,
};
use crate::{
    format::{
        Checked, FormatError,
        md5::{Md5Mesh, Md5Submesh, Md5Weight},
    },
    hierarchy::Hierarchy,
    import::{
        EmbeddedManifest, Hand, Images, ImportLimits, ImportReport, ImportSettings, Imported,
        UpAxis,
        axes::Basis,
        influences::{VertexWeights, WeightReader},
        names::{given, named},
        normals::smooth_normals,
        report::Report,
        scene::{Bare, FileClips, Parts, default_material},
        winding::{outwardness, turn_over},
    },
    model::{Joint, JointIndex, Material, Skeleton, SkeletonError, SkinPart, is_near},
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
    let mut report = Report::new(file);
    check(mesh, &settings.limits, &report)?;
    // Files may list joints in any order, but a skeleton has parents first.
    let hierarchy = Hierarchy::new(mesh.joints.iter().map(|joint| joint.parent));
    let joints = FileJoints::new(mesh, &hierarchy);
    joints.warn_of_orientations(mesh, &mut report);
    let figures = ImportReport {
        right_handed,
        ..ImportReport::default()
    };
    let mut parts = Parts::new(settings, &basis, Vec::new(), figures);
    let (mut drafts, weights) = unposed(mesh, &joints, &mut parts, &report)?;
    let bind = pose(
        &mut drafts,
        &weights,
        &joints,
        &basis,
        &mut parts,
        &mut report,
    )?;
    // A part without an area has nothing to draw.
    drafts.retain(|(part, _)| !part.triangles.is_empty());
    face_outward(&mut drafts, basis.mirrors());
    for (mut part, influences) in drafts {
        part.normals = smooth_normals(&part.positions, &part.triangles);
        for piece in parts.split(part, &influences) {
            parts.add(piece);
        }
    }
    let parts = parts.finish(&mut report);
    let skeleton = joints
        // The rest pose is the file's. Only the inverse binds are from the pose that was found.
        .skeleton(mesh, &hierarchy.order, &bind, &basis)
        .map_err(|e| report.error("", e.to_string(), ""))?;
    let bare = Bare::new("", skeleton, parts, settings, &mut report)?;
    let (clips, embedded) = (FileClips::default(), EmbeddedManifest::default());
    Ok(bare.finish(clips, Images::new(), embedded, report))
}

/// Rejects a file with too many joints, or weights.
fn check(mesh: &Md5Mesh, limits: &ImportLimits, report: &Report) -> Result<(), FormatError> {
    if mesh.joints.len() > Skeleton::MAX_JOINTS {
        let error = SkeletonError::TooManyJoints(mesh.joints.len());
        return Err(report.error("", error.to_string(), ""));
    }
    for (index, submesh) in mesh.meshes.iter().enumerate() {
        check_sharing(index, submesh).map_err(|message| {
            let hint = "the file is damaged: export it again";
            report.error("", message, hint)
        })?;
        let counts = submesh.vertices.iter().map(|v| v.weight_count);
        if let Some((vertex, most)) = counts.enumerate().max_by_key(|v| v.1) {
            let vertex = format!("vert {vertex} of mesh {index}");
            limits.check_influences(report.file, most, &vertex)?;
        }
    }
    Ok(())
}

/// A part without positions and normals, and what moves it.
type Unposed = (SkinPart, VertexWeights);

/// Returns the parts of a file, and the weights of all, in one list, because the bind pose is that of the whole file.
fn unposed(
    mesh: &Md5Mesh,
    joints: &FileJoints,
    parts: &mut Parts,
    report: &Report,
) -> Result<(Vec<Unposed>, Weights), FormatError> {
    let vertices = || mesh.meshes.iter().flat_map(|submesh| &submesh.vertices);
    let mut weights = Weights::with_capacity(
        vertices().count(),
        vertices().map(|v| v.weight_count.max(1) as usize).sum(),
    );
    let (mut drafts, mut materials) = (Vec::new(), HashMap::new());
    for (index, submesh) in mesh.meshes.iter().enumerate() {
        let count = submesh.vertices.len();
        let first = parts.admit(report.file, count, submesh.triangles.len())?;
        if count == 0 {
            continue;
        }
        let influences = gather(submesh, joints, &mut weights, &mut parts.reader);
        let names = [submesh.name.as_deref(), Some(stem(&submesh.shader))];
        let shader = submesh.shader.as_str();
        let material =
            *(materials.entry(shader)).or_insert_with(|| parts.add_material(material(shader)));
        let part = SkinPart {
            name: named(names, "mesh", index),
            material,
            tex_coords: submesh
                .vertices
                .iter()
                .map(|v| v.tex_coord.into())
                .collect(),
            triangles: submesh.triangles.clone(),
            source_vertices: (first..first + count as u32).collect(),
            ..SkinPart::default()
        };
        drafts.push((part, influences));
    }
    Ok((drafts, weights))
}

/// Finds the bind pose, and gives the parts their positions in it.
fn pose(
    drafts: &mut [Unposed],
    weights: &Weights,
    joints: &FileJoints,
    basis: &Basis,
    parts: &mut Parts,
    report: &mut Report,
) -> Result<Bind, FormatError> {
    // The pose of the file's joints comes first: if the weights fit it, nothing is searched.
    let mut posed = weights.posed(&joints.rest);
    let mut size = diagonal(&posed.positions);
    let bind = bind::find(weights, &joints.rest, &joints.parents, &posed, size);
    if bind.recovered {
        posed = weights.posed(&bind.pose);
        size = diagonal(&posed.positions);
    }
    let residual = bind.residual * f64::from(basis.scale());
    if bind.residual > bind::TOLERANCE * size {
        let message = format!(
            "no pose fits the weights of {}, which can be off by up to {residual:.4} in motion \
             ({:.2} % of the model's size)",
            counted(bind.off, "vertex"),
            bind.residual / size * 100.0
        );
        let hint = "export the mesh in the pose it was skinned in";
        report.warn("", message, hint);
    }
    let figures = &mut parts.figures;
    figures.bind_residual = residual as f32;
    if size > 0.0 {
        figures.bind_residual_relative = (bind.residual / size) as f32;
    }
    figures.bind_recovered = bind.recovered;

    // Parts lie one after the other in the list of all vertices.
    let mut rest = posed.positions.as_slice();
    for (part, influences) in drafts {
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
            return Err(report.error("", message, hint));
        }
        let SkinPart {
            positions,
            triangles,
            ..
        } = part;
        triangles.retain(|t| has_area(t, positions, influences));
    }
    Ok(bind)
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
struct FileJoints {
    rest: Vec<Rigid>,
    parents: Vec<Option<usize>>,
    /// Maps indices in the file to indices here.
    index: Vec<usize>,
}

impl FileJoints {
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

    /// Warns of orientations that are too long for a unit quaternion.
    fn warn_of_orientations(&self, mesh: &Md5Mesh, report: &mut Report) {
        // A little more than 1 is rounding.
        let long = |o: [f32; 3]| o.iter().map(|x| f64::from(x * x)).sum::<f64>() > 1.01;
        let names = mesh.joints.iter().filter(|j| long(j.orientation));
        let what = "orientations longer than one were normalized";
        report.warn_of("", what, names.map(|j| &*j.name), "");
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
    joints: &FileJoints,
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
fn face_outward(drafts: &mut [Unposed], mirrored: bool) {
    const CLEAR: f32 = 0.3;
    let outward: Vec<f32> = drafts
        .iter()
        .map(|(part, _)| outwardness(&part.positions, &part.triangles))
        .collect();
    let vote = |(&out, (part, _)): (&f32, &Unposed)| match out {
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

/// Returns the material of a shader.
fn material(shader: &str) -> Material {
    // Exporters write `<default>` and the like for "none".
    if shader.trim().is_empty() || (shader.starts_with('<') && shader.ends_with('>')) {
        return default_material();
    }
    Material {
        name: given(stem(shader)).unwrap_or(shader).to_owned(),
        base_color_map: Some(shader.to_owned()),
        ..Material::default()
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
