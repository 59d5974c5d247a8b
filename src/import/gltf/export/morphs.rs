//! Morph targets → those of a mesh, and clips' weights → channels.

use super::{channels::Channels, glb::Glb};
use crate::{
    import::{axes::Basis, resample::key_times},
    model::{MorphIndex, SkeletalClip, Skeleton, SkinPart},
};
use glam::Vec3;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A node whose mesh has targets.
pub(super) struct MorphNode {
    pub(super) node: usize,
    pub(super) morphs: Vec<MorphIndex>,
}

/// Adds the targets of a part to its mesh, whose primitive has normals and tangents, or not.
pub(super) fn add_targets(
    part: &SkinPart,
    skeleton: &Skeleton,
    basis: &Basis,
    [normals, tangents]: [bool; 2],
    mesh: &mut Value,
    glb: &mut Glb,
) -> Result<(), &'static str> {
    if part.morphs.is_empty() {
        return Ok(());
    }
    let count = part.positions.len();
    let (mut targets, mut names, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for target in &part.morphs {
        let (Some(name), Some(&weight)) = (
            skeleton.morphs().names().get(usize::from(target.morph)),
            skeleton.morphs().rest().get(usize::from(target.morph)),
        ) else {
            return Err("a morph target has no name");
        };
        if target
            .vertices
            .iter()
            .any(|&vertex| vertex as usize >= count)
            || !target.vertices.is_sorted_by(|a, b| a < b)
        {
            return Err("a morph target moves a vertex that the part lacks, or one twice");
        }
        // A target can only move attributes that the mesh has.
        let lists = [
            ("POSITION", &target.positions, true),
            (
                "NORMAL",
                &target.normals,
                normals && !target.normals.is_empty(),
            ),
            (
                "TANGENT",
                &target.tangents,
                tangents && !target.tangents.is_empty(),
            ),
        ];
        let mut attributes = json!({});
        for (attribute, list, _) in lists.into_iter().filter(|(.., is_there)| *is_there) {
            if list.len() != target.vertices.len() || !list.iter().all(|v| v.is_finite()) {
                return Err("a morph target has a number that is not finite, or too few");
            }
            let convert = |v: &Vec3| match attribute {
                "POSITION" => basis.point(*v).to_array(),
                _ => basis.direction(*v).to_array(),
            };
            let rows: Vec<[f32; 3]> = list.iter().map(convert).collect();
            attributes[attribute] = glb.sparse_accessor(count, &target.vertices, &rows).into();
        }
        targets.push(attributes);
        names.push(&**name);
        weights.push(weight);
    }
    mesh["primitives"][0]["targets"] = targets.into();
    mesh["extras"] = json!({ "targetNames": names });
    if weights.iter().any(|weight| *weight != 0.0) {
        mesh["weights"] = weights.into();
    }
    Ok(())
}

/// Adds channels for the weights that a clip moves.
///
/// A channel has all targets of its mesh. So that a target of several meshes has the same weights in all of them, those with
/// one that is written at rest have a channel, too.
pub(super) fn add_channels(
    clip: &SkeletalClip,
    skeleton: &Skeleton,
    nodes: &[MorphNode],
    out: &mut Channels,
) {
    let frames = clip.morph_frames();
    let count = frames.names.len();
    if count == 0 {
        return;
    }
    let mut written: BTreeSet<MorphIndex> = (0..count as MorphIndex)
        .filter(|&morph| clip.animates_morph(morph))
        .collect();
    let is_written = |node: &&MorphNode, written: &BTreeSet<MorphIndex>| {
        node.morphs.iter().any(|morph| written.contains(morph))
    };
    // A mesh that is written may have a target of yet another mesh, so this goes on until nothing is
    // added.
    loop {
        let before = written.len();
        for node in nodes {
            if is_written(&node, &written) {
                written.extend(&node.morphs);
            }
        }
        if written.len() == before {
            break;
        }
    }
    let duration = clip.timing.duration;
    let frame_count = clip.morph_frame_count();
    let even = |frame: usize| duration * frame as f64 / (frame_count - 1).max(1) as f64;
    let times =
        (0..frame_count).map(|frame| frames.times.get(frame).copied().unwrap_or(even(frame)));
    let times = key_times(times);
    let rest = skeleton.morphs().rest();
    let weight = |frame: usize, morph: MorphIndex| {
        let at = usize::from(morph);
        let shown = frames.weights[frame * count + at];
        match (frames.animated[at], clip.additive) {
            (false, _) => rest[at],
            (true, false) => shown,
            // glTF has no differences. They are written as they look on top of the rest weights.
            (true, true) => rest[at] + shown,
        }
    };
    for node in nodes.iter().filter(|node| is_written(node, &written)) {
        let values =
            (0..frame_count).flat_map(|frame| node.morphs.iter().map(move |&morph| (frame, morph)));
        let values: Vec<[f32; 1]> = values
            .map(|(frame, morph)| [weight(frame, morph)])
            .collect();
        out.add(node.node, "weights", &times, values);
    }
}
