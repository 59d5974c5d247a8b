//! Parts and their palettes: each part names only the joints it uses.
//!
//! A part is split if its palette has no room for its joints, or for the combined joints of its vertices.

use super::{combine::Combiner, influences::VertexWeights};
use crate::model::{JointIndex, MorphTarget, SkinPart};

/// Gives `part` its palette and influences. A part that needs more entries than a palette holds is split by triangles.
///
/// `weights` has one entry per vertex of `part`, whose own influences and palette are still
/// empty. A part that fits keeps all its vertices, used by a triangle or not. Otherwise each piece
/// keeps the vertices its triangles use, in their order; pieces are named `x`, `x.2`, `x.3` and so on.
pub(super) fn with_palettes(
    part: SkinPart,
    weights: &VertexWeights,
    combiner: &mut Combiner,
) -> Vec<SkinPart> {
    debug_assert_eq!(part.positions.len(), weights.len());
    let most = combiner.most();
    let vertices: Vec<u32> = (0..weights.len() as u32).collect();
    let all = joints_of(&vertices, weights, combiner);
    let mut pieces = Vec::new();
    let name = part.name.clone();
    if all.len <= most {
        add(
            part,
            vertices,
            &all,
            weights,
            combiner,
            HALVINGS,
            &mut pieces,
        );
    } else {
        for triangles in by_joints(&part, weights, combiner, most) {
            let (piece, kept) = subset(&part, triangles);
            let set = joints_of(&kept, weights, combiner);
            add(piece, kept, &set, weights, combiner, HALVINGS, &mut pieces);
        }
    }
    for (number, piece) in pieces.iter_mut().enumerate().skip(1) {
        piece.name = format!("{name}.{}", number + 1);
    }
    pieces
}

/// Divides the triangles of a part into pieces, each with joints for one palette.
fn by_joints(
    part: &SkinPart,
    weights: &VertexWeights,
    combiner: &Combiner,
    most: usize,
) -> Vec<Vec<[u32; 3]>> {
    // First fit: a triangle goes to the first piece that has its joints or room for them. Only the
    // last few are considered, so that a hostile file does not cost the square of its pieces.
    const OPEN: usize = 16;
    let mut sets: Vec<(JointSet, Vec<[u32; 3]>)> = Vec::new();
    for &triangle in &part.triangles {
        let joints = || {
            triangle
                .iter()
                .flat_map(|&v| combiner.considered(weights.of(v as usize)))
                .map(|(joint, _)| *joint)
        };
        let closed = sets.len().saturating_sub(OPEN);
        let found = sets[closed..]
            .iter()
            .position(|(set, _)| set.has_room_for(joints(), most));
        let at = found.map(|open| closed + open).unwrap_or_else(|| {
            sets.push(Default::default());
            sets.len() - 1
        });
        joints().for_each(|joint| sets[at].0.insert(joint));
        sets[at].1.push(triangle);
    }
    sets.into_iter().map(|(_, triangles)| triangles).collect()
}

/// The largest number of times that a part is halved until its combined joints have room.
const HALVINGS: u32 = 6;

/// Adds a piece, or its halves if its palette has no room for all combined joints. `kept` has the original index of each of its
/// vertices, and `set` their joints.
fn add(
    part: SkinPart,
    kept: Vec<u32>,
    set: &JointSet,
    weights: &VertexWeights,
    combiner: &mut Combiner,
    halvings: u32,
    pieces: &mut Vec<SkinPart>,
) {
    let mut full = SkinPart {
        palette: set.joints().collect(),
        ..part
    };
    let mut slots = vec![0u16; set.has.len()];
    for (slot, &joint) in full.palette.iter().enumerate() {
        slots[usize::from(joint)] = slot as u16;
    }
    let vertices = kept.iter().map(|&v| weights.of(v as usize));
    let fit = combiner.fill(&mut full, vertices, &slots);
    if !fit.is_crowded || halvings == 0 || full.triangles.len() < 2 {
        combiner.count(&full, fit);
        pieces.push(full);
        return;
    }
    // Halves of the list, because neighbors in it tend to be neighbors on the mesh, which share
    // joints.
    let half = full.triangles.len() / 2;
    for triangles in [&full.triangles[..half], &full.triangles[half..]] {
        let (piece, of_piece) = subset(&full, triangles.to_vec());
        let kept: Vec<u32> = of_piece.iter().map(|&v| kept[v as usize]).collect();
        let set = joints_of(&kept, weights, combiner);
        add(piece, kept, &set, weights, combiner, halvings - 1, pieces);
    }
}

/// The joints of some vertices.
fn joints_of(vertices: &[u32], weights: &VertexWeights, combiner: &Combiner) -> JointSet {
    let mut set = JointSet::default();
    let joints = vertices
        .iter()
        .flat_map(|&v| combiner.considered(weights.of(v as usize)));
    joints.for_each(|&(joint, _)| set.insert(joint));
    set
}

/// Returns the part of `part` that `triangles` use, and the original index of each vertex.
fn subset(part: &SkinPart, mut triangles: Vec<[u32; 3]>) -> (SkinPart, Vec<u32>) {
    let mut renumber = vec![u32::MAX; part.positions.len()];
    triangles
        .as_flattened()
        .iter()
        .for_each(|&v| renumber[v as usize] = 0);
    let kept: Vec<u32> = (0..part.positions.len() as u32)
        .filter(|&v| renumber[v as usize] == 0)
        .collect();
    for (new, &old) in kept.iter().enumerate() {
        renumber[old as usize] = new as u32;
    }
    triangles
        .as_flattened_mut()
        .iter_mut()
        .for_each(|v| *v = renumber[*v as usize]);
    // Lists that are not filled yet, such as tangents, stay empty.
    fn pick<T: Copy>(from: &[T], kept: &[u32]) -> Vec<T> {
        kept.iter()
            .filter_map(|&v| from.get(v as usize).copied())
            .collect()
    }
    // Vertices keep their order, so those of targets do.
    let moved = |target: &MorphTarget| {
        let found = target.kept(|vertex| kept.binary_search(&vertex).ok().map(|new| new as u32));
        (!found.vertices.is_empty()).then_some(found)
    };
    let out = SkinPart {
        morphs: part.morphs.iter().filter_map(moved).collect(),
        name: part.name.clone(),
        material: part.material,
        positions: pick(&part.positions, &kept),
        normals: pick(&part.normals, &kept),
        tangents: pick(&part.tangents, &kept),
        tex_coords: pick(&part.tex_coords, &kept),
        second_tex_coords: pick(&part.second_tex_coords, &kept),
        colors: pick(&part.colors, &kept),
        triangles,
        source_vertices: pick(&part.source_vertices, &kept),
        ..SkinPart::default()
    };
    (out, kept)
}

/// The joints of an unfinished palette.
#[derive(Default)]
struct JointSet {
    /// By joint, up to the largest so far: `true` for those in the set.
    has: Vec<bool>,
    len: usize,
}

impl JointSet {
    fn insert(&mut self, joint: JointIndex) {
        let joint = usize::from(joint);
        if joint >= self.has.len() {
            self.has.resize(joint + 1, false);
        }
        self.len += usize::from(!self.has[joint]);
        self.has[joint] = true;
    }

    fn joints(&self) -> impl Iterator<Item = JointIndex> {
        let has = self.has.iter().enumerate();
        has.filter(|(_, has)| **has)
            .map(|(joint, _)| joint as JointIndex)
    }

    fn has(&self, joint: JointIndex) -> bool {
        self.has.get(usize::from(joint)).is_some_and(|has| *has)
    }

    /// Joints that occur twice are counted twice: a piece may close a few joints early.
    fn has_room_for(&self, joints: impl Iterator<Item = JointIndex>, most: usize) -> bool {
        self.len + joints.filter(|&j| !self.has(j)).count() <= most
    }
}

#[cfg(test)]
#[path = "tests/split.rs"]
mod tests;
