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
        add(part, vertices, weights, combiner, HALVINGS, &mut pieces);
    } else {
        for triangles in by_joints(&part, weights, combiner, most) {
            let (piece, kept) = subset(&part, triangles);
            add(piece, kept, weights, combiner, HALVINGS, &mut pieces);
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
/// vertices.
fn add(
    part: SkinPart,
    kept: Vec<u32>,
    weights: &VertexWeights,
    combiner: &mut Combiner,
    halvings: u32,
    pieces: &mut Vec<SkinPart>,
) {
    let set = joints_of(&kept, weights, combiner);
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
        let kept = of_piece.iter().map(|&v| kept[v as usize]).collect();
        add(piece, kept, weights, combiner, halvings - 1, pieces);
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
mod tests {
    use super::*;
    use crate::{
        import::{ImportSettings, influences::tests::mesh},
        model::Influences,
    };
    use glam::{Vec2, Vec3};

    fn strip(vertices: usize) -> SkinPart {
        SkinPart {
            name: "coat".into(),
            positions: (0..vertices).map(|v| Vec3::X * v as f32).collect(),
            normals: vec![Vec3::Y; vertices],
            tex_coords: vec![Vec2::ZERO; vertices],
            triangles: (2..vertices as u32).map(|v| [v - 2, v - 1, v]).collect(),
            source_vertices: (0..vertices as u32).map(|v| v + 100).collect(),
            ..SkinPart::default()
        }
    }

    fn split(part: SkinPart, weights: &VertexWeights) -> Vec<SkinPart> {
        with_palettes(
            part,
            weights,
            &mut Combiner::new(&ImportSettings::default()),
        )
    }

    #[test]
    fn a_palette_names_only_the_joints_used() {
        let parts = split(
            strip(3),
            &mesh(&[&[(40, 0.75), (7, 0.25)], &[(7, 1.0)], &[(40, 1.0)]]),
        );
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].palette, [7, 40]);
        assert_eq!(
            parts[0].influences[0],
            Influences {
                palette: [1, 0, 0, 0],
                weights: [0.75, 0.25, 0.0, 0.0]
            }
        );
        assert_eq!(parts[0].influences[1].palette[0], 0);
    }

    #[test]
    fn a_part_of_too_many_joints_is_split_and_nothing_is_lost() {
        let part = strip(1000);
        let follow: Vec<_> = (0..1000).map(|v| [(v, 1.0)]).collect();
        let follow: Vec<&[_]> = follow.iter().map(|joints| &joints[..]).collect();
        let parts = split(part.clone(), &mesh(&follow));
        assert!(parts.len() >= 4);
        let mut triangles = Vec::new();
        for piece in &parts {
            assert!(piece.palette.len() <= SkinPart::MAX_PALETTE);
            for triangle in &piece.triangles {
                triangles.push(triangle.map(|v| piece.source_vertices[v as usize] - 100));
            }
            for (v, &source) in piece.source_vertices.iter().enumerate() {
                assert_eq!(
                    u32::from(piece.palette[usize::from(piece.influences[v].palette[0])]),
                    source - 100
                );
                assert_eq!(piece.positions[v].x, (source - 100) as f32);
            }
            assert!(piece.source_vertices.is_sorted());
        }
        triangles.sort();
        assert_eq!(triangles, part.triangles);
        assert_eq!((&*parts[0].name, &*parts[1].name), ("coat", "coat.2"));
    }

    #[test]
    fn a_part_of_too_many_combined_joints_is_split_and_no_weight_is_lost() {
        // Eight joints, and so many mixtures of them that none can be shared.
        let joints = |v: u16| {
            let share = |j: u16| 1.0 + f32::from((v * 7 + 1) * (j * 13 + 5) % 31);
            let total: f32 = (0..8).map(share).sum();
            let mut joints: Vec<_> = (0..8).map(|j| (j, share(j) / total)).collect();
            joints.sort_by(|a, b| b.1.total_cmp(&a.1));
            joints
        };
        let joints: Vec<_> = (0..60).map(joints).collect();
        let joints: Vec<&[_]> = joints.iter().map(|joints| &joints[..]).collect();
        let settings = ImportSettings {
            max_palette: 24,
            skin_error: 1e-4,
            ..ImportSettings::default()
        };
        let mut combiner = Combiner::new(&settings);
        let parts = with_palettes(strip(60), &mesh(&joints), &mut combiner);
        assert!(parts.len() > 1 && combiner.warning("f").is_none());
        let mut triangles = 0;
        for piece in &parts {
            assert!(piece.palette_len() <= 24);
            triangles += piece.triangles.len();
            for (v, &source) in piece.source_vertices.iter().enumerate() {
                let mut weights = [0.0; 8];
                for (slot, weight) in piece.joint_weights(v) {
                    weights[usize::from(piece.palette[slot])] += weight;
                }
                for &(joint, weight) in joints[source as usize - 100] {
                    assert!((weights[usize::from(joint)] - weight).abs() < 1e-3);
                }
            }
        }
        assert_eq!(triangles, 58);
        let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
        assert_eq!(names[..2], ["coat", "coat.2"]);
    }

    #[test]
    fn vertices_of_hundreds_of_joints_still_fit_into_palettes() {
        let joints = |v: u16| {
            (0..250)
                .map(move |j| (v * 200 + j, 1.0 / f32::from(j + 1)))
                .collect::<Vec<_>>()
        };
        let joints: Vec<_> = (0..6).map(joints).collect();
        let joints: Vec<&[_]> = joints.iter().map(|joints| &joints[..]).collect();
        let parts = split(strip(6), &mesh(&joints));
        assert!(
            parts.len() > 1
                && parts
                    .iter()
                    .all(|part| part.palette_len() <= SkinPart::MAX_PALETTE)
        );
        assert_eq!(
            parts.iter().map(|part| part.triangles.len()).sum::<usize>(),
            4
        );
    }
}
