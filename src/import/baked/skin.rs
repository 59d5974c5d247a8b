//! The skin of a baked file.

use super::stream::{Damaged, Plain, Reader, Stored, stored};
use crate::model::{CombinedJoints, Influences, MorphTarget, Skeleton, SkinPart, is_near};

stored! {
    SkinPart {
        name, material, positions, normals, tangents, tex_coords, second_tex_coords, colors, influences, triangles, palette,
        combined_joints, morphs, source_vertices,
    }
    MorphTarget { morph, vertices, positions, normals, tangents }
}

impl Plain for Influences {
    const SIZE: usize = <[u16; 4]>::SIZE + <[f32; 4]>::SIZE;

    fn put(self, to: &mut [u8]) {
        let (palette, weights) = to.split_at_mut(<[u16; 4]>::SIZE);
        self.palette.put(palette);
        self.weights.put(weights);
    }

    fn get(from: &[u8]) -> Self {
        let (palette, weights) = from.split_at(<[u16; 4]>::SIZE);
        Self {
            palette: Plain::get(palette),
            weights: Plain::get(weights),
        }
    }

    fn is_finite(self) -> bool {
        Plain::is_finite(self.weights)
    }
}

impl Stored for CombinedJoints {
    fn write(&self, to: &mut Vec<u8>) {
        let entries: Vec<Vec<(u16, f32)>> = self.iter().map(<[_]>::to_vec).collect();
        entries.write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let mut all = Self::new();
        let entries: Vec<Vec<(u16, f32)>> = from.read()?;
        entries.into_iter().for_each(|entry| all.push(entry));
        Ok(all)
    }
}

/// The largest deviation from one of a sum of weights.
const SUM_ERROR: f32 = 1e-5;

/// Returns an error if something that is drawn with the part, or asks for it, would be out of range.
pub(super) fn check(part: &SkinPart, skeleton: &Skeleton, materials: usize) -> Result<(), Damaged> {
    let vertices = part.positions.len();
    let one_each = |count: usize| count == vertices;
    let one_each_or_none = |count: usize| count == vertices || count == 0;
    let sound = one_each(part.normals.len())
        && one_each(part.tex_coords.len())
        && one_each_or_none(part.tangents.len())
        && one_each_or_none(part.second_tex_coords.len())
        && one_each_or_none(part.colors.len())
        && one_each_or_none(part.influences.len())
        && one_each_or_none(part.source_vertices.len());
    if !sound {
        return Err("it has not as many values as vertices".into());
    }
    if part.material >= materials {
        return Err("its material isn't there".into());
    }
    let corners = part.triangles.as_flattened().iter();
    if corners.fold(false, |any, &corner| any | (corner as usize >= vertices)) {
        return Err("a triangle has a corner that isn't there".into());
    }
    if !part
        .positions
        .iter()
        .fold(true, |all, &at| all & is_near(at))
    {
        return Err("a vertex is implausibly far away".into());
    }
    let normals = part.normals.iter();
    let tangents = part.tangents.iter();
    if !normals.fold(true, |all, n| all & n.is_normalized())
        || !tangents.fold(true, |all, t| {
            all & t.truncate().is_normalized() & (t.w.abs() == 1.0)
        })
    {
        return Err("a normal or tangent is not of unit length".into());
    }
    check_weights(part, skeleton)?;
    check_morphs(part, skeleton)
}

fn check_weights(part: &SkinPart, skeleton: &Skeleton) -> Result<(), Damaged> {
    let joints = skeleton.len();
    if part
        .palette
        .iter()
        .any(|&joint| usize::from(joint) >= joints)
    {
        return Err("it follows a joint that isn't there".into());
    }
    let is_whole = |sum: f32| (sum - 1.0).abs() < SUM_ERROR;
    let entries = part.palette_len();
    let is_sound = |influences: &Influences| {
        let in_range = influences.palette.map(|slot| usize::from(slot) < entries);
        let [a, b, c, d] = influences.weights;
        (in_range == [true; 4]) & is_whole(a + b + c + d) & (a.min(b).min(c).min(d) >= 0.0)
    };
    let influences = part.influences.iter();
    if !influences.fold(true, |all, influences| all & is_sound(influences)) {
        return Err(
            "a vertex follows joints that aren't there, or by weights without a sum of one".into(),
        );
    }
    for shares in part.combined_joints.iter() {
        let in_range =
            |&(slot, share): &(u16, f32)| usize::from(slot) < part.palette.len() && share > 0.0;
        if !shares.iter().all(in_range) || !is_whole(shares.iter().map(|(_, share)| share).sum()) {
            return Err("a combined joint has shares of joints that aren't there".into());
        }
    }
    Ok(())
}

fn check_morphs(part: &SkinPart, skeleton: &Skeleton) -> Result<(), Damaged> {
    let known = skeleton.morphs().len();
    if !part.morphs.is_sorted_by(|a, b| a.morph < b.morph) {
        return Err("its morph targets are not in order".into());
    }
    for target in &part.morphs {
        let moved = target.vertices.len();
        let in_range = |&last: &u32| (last as usize) < part.positions.len();
        let sound = usize::from(target.morph) < known
            && target.vertices.is_sorted_by(|a, b| a < b)
            && target.vertices.last().is_some_and(in_range)
            && target.positions.len() == moved
            && [target.normals.len(), target.tangents.len()]
                .iter()
                .all(|&count| count == moved || count == 0);
        let mut moves = [&target.positions, &target.normals, &target.tangents]
            .into_iter()
            .flatten();
        if !moves.all(|&by| is_near(by)) {
            return Err("a morph target moves a vertex implausibly far".into());
        }
        if !sound {
            return Err("a morph target moves vertices that aren't there".into());
        }
    }
    Ok(())
}
