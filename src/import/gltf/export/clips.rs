//! Clips → animations.

use super::{
    channels::Channels,
    extras,
    glb::Glb,
    morphs::{self, MorphNode},
};
use crate::{
    import::{ClipEntry, axes::Basis, resample::key_times},
    model::{JointTransform, SkeletalClip, Skeleton},
};
use glam::Quat;
use serde_json::{Value, json};

/// The largest error of a joint's angle between keys, in radians: glTF follows the arc (slerp), and
/// clips the chord (nlerp).
const TURN_ERROR: f32 = 4e-5;

/// Converts a clip to an animation whose nodes have the indices of the joints; `None` if it moves nothing. `entry` is the
/// manifest's.
///
/// Joints that the clip doesn't move have no channels. One that it moves has a rotation, and a translation and scale
/// where they differ from those at rest. A property that never changes has one key.
pub(super) fn export(
    clip: &SkeletalClip,
    entry: Option<&ClipEntry>,
    skeleton: &Skeleton,
    morph_nodes: &[MorphNode],
    basis: &Basis,
    glb: &mut Glb,
) -> Option<Value> {
    let clip = clip.bind(skeleton);
    let duration = clip.timing.duration;
    let times = key_times((0..clip.frame_count()).map(|frame| clip.frame_time(frame)));
    let mut out = Channels::new(glb);
    for joint in skeleton
        .joints()
        .filter(|&joint| clip.animates(usize::from(joint)))
    {
        let (node, rest) = (usize::from(joint), skeleton.rest_of(joint));
        let local = |frame: usize| {
            let transform = clip.transform_at(usize::from(joint), frame);
            basis.transform(if clip.additive {
                rest.plus(&transform)
            } else {
                transform
            })
        };
        let local: Vec<JointTransform> = (0..clip.frame_count()).map(local).collect();
        let rest = basis.transform(rest);
        let rotations: Vec<Quat> = local.iter().map(|transform| transform.rotation).collect();
        if !is_constant(&rotations) {
            let (times, rotations) = with_chords(&times, &rotations);
            out.add(
                node,
                "rotation",
                &times,
                rotations.iter().map(|q| q.to_array()),
            );
        } else if out.channels.is_empty() && duration > 0.0 {
            // An animation lasts as long as its last key, so there is one at the end.
            out.add(
                node,
                "rotation",
                &[0.0, duration as f32],
                [rotations[0].to_array(); 2],
            );
        } else {
            out.add(node, "rotation", &[0.0], [rotations[0].to_array()]);
        }
        for (path, of, rest) in [
            (
                "translation",
                (|t| t.translation) as fn(&JointTransform) -> glam::Vec3,
                rest.translation,
            ),
            ("scale", |t| t.scale, rest.scale),
        ] {
            let vectors: Vec<[f32; 3]> = local
                .iter()
                .map(|transform| of(transform).to_array())
                .collect();
            match is_constant(&vectors) {
                true if vectors[0] == rest.to_array() => {}
                true => out.add(node, path, &[0.0], [vectors[0]]),
                false => out.add(node, path, &times, vectors),
            }
        }
    }
    morphs::add_channels(&clip, skeleton, morph_nodes, &mut out);
    let Channels {
        samplers, channels, ..
    } = out;
    if channels.is_empty() {
        return None;
    }
    glb.end_view(None);
    let extras = extras::of_clip(&clip, entry);
    Some(
        json!({ "name": &*clip.timing.name, "channels": channels, "samplers": samplers, "extras": extras }),
    )
}

fn is_constant<T: PartialEq>(values: &[T]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// Adds keys on the chord between rotations that are far apart, and gives neighbors the same sign.
fn with_chords(times: &[f32], rotations: &[Quat]) -> (Vec<f32>, Vec<Quat>) {
    let (mut out_times, mut out) = (vec![times[0]], vec![rotations[0]]);
    for (at, pair) in times.windows(2).enumerate() {
        let from = out[out.len() - 1];
        let to = if from.dot(rotations[at + 1]) < 0.0 {
            -rotations[at + 1]
        } else {
            rotations[at + 1]
        };
        let pieces = pieces(from, to);
        for piece in 1..pieces {
            let share = piece as f32 / pieces as f32;
            let time = pair[0] + (pair[1] - pair[0]) * share;
            if time > out_times[out_times.len() - 1] && time < pair[1] {
                out_times.push(time);
                out.push((from * (1.0 - share) + to * share).normalize());
            }
        }
        out_times.push(pair[1]);
        out.push(to);
    }
    (out_times, out)
}

/// Into how many arcs the chord between two rotations is to be divided: a power of two, so that the keys of all joints
/// lie on one grid.
fn pieces(from: Quat, to: Quat) -> usize {
    // The chord between unit quaternions of turn θ is 2·sin(θ/4).
    let turn = 4.0 * ((to - from).length() / 2.0).min(1.0).asin();
    // One arc is off by up to 0.005·θ³, and n arcs by up to θ³ / 25n², because the speed on the chord varies.
    match turn.powi(3) {
        cube if 0.005 * cube <= TURN_ERROR => 1,
        cube => ((cube / (25.0 * TURN_ERROR)).sqrt().ceil() as usize).next_power_of_two(),
    }
}

#[cfg(test)]
#[path = "tests/clips.rs"]
mod tests;
