//! Faces that move: openings in the skin, what is behind them, and morph targets.

use super::{contour::Mesh, field::Field, regions::Regions, rig::round};
use bevy_marionette::{
    internals::model::{MorphDelta, MorphTarget},
    model::{MorphIndex, Morphs},
};
use glam::{DVec3, Vec3};

/// A face.
///
/// Points are where the field has the skin, as it was cut; [`at_rest`](Self::at_rest) closes what was opened.
pub trait Face {
    /// Returns `true` for parts that are cut out.
    fn is_hole(&self, part: u8) -> bool;

    /// Adds what is behind the holes, with normals.
    fn add(&self, field: &Field, regions: &mut Regions, normals: &mut Vec<DVec3>);

    /// Returns how far a point moves at rest.
    fn at_rest(&self, part: u8, p: DVec3) -> DVec3;

    /// Names of the morph targets.
    fn names(&self) -> &[&'static str];

    /// Returns how far a morph target moves a point, from where it is at rest.
    fn morph(&self, field: &Field, name: &str, part: u8, p: DVec3) -> DVec3;
}

/// How far each morph target moves the vertices of a mesh, and turns their normals.
#[derive(Default)]
pub struct Moves {
    names: Vec<&'static str>,
    targets: Vec<Vec<(DVec3, DVec3)>>,
}

impl Moves {
    /// Brings a face to rest, and computes its morph targets.
    pub fn new(face: &dyn Face, field: &Field, regions: &mut Regions) -> Self {
        let parts = regions.part_of_vertices();
        let cut = regions.mesh.positions.clone();
        for (p, &part) in regions.mesh.positions.iter_mut().zip(&parts) {
            *p += face.at_rest(part, *p);
        }
        let mesh = &regions.mesh;
        let rest = mesh.normals(&mesh.positions);
        let target = |name: &&str| {
            let moves: Vec<DVec3> = cut
                .iter()
                .zip(&parts)
                .map(|(&p, &part)| face.morph(field, name, part, p))
                .collect();
            turned(mesh, &rest, moves)
        };
        Self {
            names: face.names().to_vec(),
            targets: face.names().iter().map(target).collect(),
        }
    }

    /// The names, for the skeleton.
    pub fn morphs(&self) -> Morphs {
        Morphs::new(self.names.iter().map(|&name| (name.into(), 0.0)))
    }

    /// The targets that move a part, given the vertex of the mesh behind each of its own.
    pub fn targets(&self, sources: &[u32]) -> Vec<MorphTarget> {
        let delta = |&(moved, turned): &(DVec3, DVec3)| {
            // Hundredths of a millimeter, and what can be seen of a normal.
            let (position, normal) = (round(moved, 1e-5), round(turned, 1e-2));
            MorphDelta {
                position,
                normal: if position == Vec3::ZERO && normal.length() < 0.03 {
                    Vec3::ZERO
                } else {
                    normal
                },
                tangent: Vec3::ZERO,
            }
        };
        let of = |(at, target): (usize, &Vec<(DVec3, DVec3)>)| {
            let deltas = sources.iter().map(|&v| delta(&target[v as usize]));
            MorphTarget::new(at as MorphIndex, deltas)
        };
        let all = self.targets.iter().enumerate().map(of);
        all.filter(|target| !target.vertices.is_empty()).collect()
    }
}

/// How far vertices move, and how that turns their normals.
fn turned(mesh: &Mesh, rest: &[DVec3], moves: Vec<DVec3>) -> Vec<(DVec3, DVec3)> {
    let moved: Vec<DVec3> = mesh
        .positions
        .iter()
        .zip(&moves)
        .map(|(p, by)| *p + *by)
        .collect();
    let normals = mesh.normals(&moved);
    let turns = normals.iter().zip(rest).map(|(to, from)| *to - *from);
    moves.into_iter().zip(turns).collect()
}
