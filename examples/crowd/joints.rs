//! A character played by `bevy_animation`, with an entity per joint.
//!
//! Built from the same skeleton, clips and skin, so that the two can be compared.

use bevy::{
    animation::{
        AnimatedBy, AnimationTargetId, animated_field, animation_curves::AnimatableKeyframeCurve,
        gltf_curves::WideLinearKeyframeCurve, graph::AnimationNodeIndex, prelude::WeightsCurve,
    },
    mesh::{
        morph::{MeshMorphWeights, MorphWeights},
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterPart},
    model::{JointTransform, SkeletalClip},
};

/// Data shared by all instances.
#[derive(Clone)]
pub struct JointCharacter {
    joints: Vec<(Name, Transform, Option<usize>)>,
    parts: Vec<(CharacterPart, Handle<SkinnedMeshInverseBindposes>)>,
    /// Weights of morph targets at rest, by the model's index.
    weights: Vec<f32>,
    graph: Handle<AnimationGraph>,
    clips: Vec<(String, AnimationNodeIndex)>,
}

impl JointCharacter {
    /// Converts the clips to curves, and creates a graph that can play any of them.
    pub fn new(
        character: &Character,
        clips: &mut Assets<AnimationClip>,
        graphs: &mut Assets<AnimationGraph>,
        inverse_bindposes: &mut Assets<SkinnedMeshInverseBindposes>,
    ) -> Self {
        let skeleton = &character.skeleton;
        let joints = (0..skeleton.len()).map(|joint| {
            // Targets are identified by name, and two joints may have the same name.
            let name = Name::new(format!("{joint} {}", skeleton.names()[joint]));
            (
                name,
                transform(skeleton.rest_of(joint as u16)),
                skeleton.parents()[joint].map(usize::from),
            )
        });
        let joints: Vec<_> = joints.collect();
        let handles = character.clips.iter().map(|clip| {
            let mut curves = curves(clip, &joints);
            for (at, part) in character.parts.iter().enumerate() {
                if let Some(curve) = weights_curve(clip, part) {
                    curves.add_curve_to_target(face_id(at), WeightsCurve(curve));
                }
            }
            clips.add(curves)
        });
        let (graph, nodes) = AnimationGraph::from_clips(handles.collect::<Vec<_>>());
        let names = character.clip_names().map(|name| name.to_string());
        let parts = character.parts.iter().map(|part| {
            let inverse_bind =
                |&joint: &u16| Mat4::from(skeleton.inverse_bind()[usize::from(joint)]);
            assert!(
                part.combined_joints.is_empty(),
                "joint entities move at most four joints per vertex"
            );
            let matrices: Vec<Mat4> = part.palette.iter().map(inverse_bind).collect();
            (
                part.clone(),
                inverse_bindposes.add(SkinnedMeshInverseBindposes::from(matrices)),
            )
        });
        let parts = parts.collect();
        Self {
            joints,
            parts,
            weights: skeleton.morphs().rest().to_vec(),
            graph: graphs.add(graph),
            clips: names.zip(nodes).collect(),
        }
    }

    /// Spawns a character that plays clips: name, weight, start time and speed of each.
    pub fn spawn(
        &self,
        commands: &mut Commands,
        place: Transform,
        plays: &[(&str, f32, f64, f64)],
    ) -> Entity {
        let mut player = AnimationPlayer::default();
        for &(clip, weight, start, speed) in plays {
            if let Some((_, node)) = self.clips.iter().find(|(name, _)| name == clip) {
                player
                    .play(*node)
                    .repeat()
                    .set_weight(weight)
                    .seek_to(start as f32)
                    .set_speed(speed as f32);
            }
        }
        let root = commands
            .spawn((
                place,
                Visibility::default(),
                player,
                AnimationGraphHandle(self.graph.clone()),
            ))
            .id();
        let mut joints: Vec<Entity> = Vec::with_capacity(self.joints.len());
        for (name, rest, parent) in &self.joints {
            let parent = parent.map_or(root, |parent| joints[parent]);
            joints.push(
                commands
                    .spawn((
                        *rest,
                        AnimationTargetId::from_name(name),
                        AnimatedBy(root),
                        ChildOf(parent),
                    ))
                    .id(),
            );
        }
        for (at, (part, inverse_bindposes)) in self.parts.iter().enumerate() {
            let joints = part
                .palette
                .iter()
                .map(|&joint| joints[usize::from(joint)])
                .collect();
            let mut entity = commands.spawn((
                Mesh3d(part.mesh.clone()),
                MeshMaterial3d(part.material.clone()),
                // Culled by a precomputed box, like our parts.
                part.blend_bounds,
                bevy::camera::visibility::NoAutoAabb,
                SkinnedMesh {
                    inverse_bindposes: inverse_bindposes.clone(),
                    joints,
                },
                ChildOf(root),
            ));
            let rest = part
                .morphs
                .iter()
                .map(|&morph| self.weights[usize::from(morph)]);
            if part.morphs.is_empty() {
                continue;
            }
            if let Ok(weights) = MorphWeights::new(rest.collect(), None) {
                let face = entity.id();
                entity.insert((
                    weights,
                    MeshMorphWeights::Reference(face),
                    face_id(at),
                    AnimatedBy(root),
                ));
            }
        }
        root
    }
}

fn transform(
    JointTransform {
        translation,
        rotation,
        scale,
    }: JointTransform,
) -> Transform {
    Transform {
        translation,
        rotation,
        scale,
    }
}

/// Identifies a part whose morph targets are animated.
fn face_id(part: usize) -> AnimationTargetId {
    AnimationTargetId::from_name(&Name::new(format!("face of part {part}")))
}

/// The weights of a part's morph targets in a clip, in the order of its mesh.
fn weights_curve(
    clip: &SkeletalClip,
    part: &CharacterPart,
) -> Option<WideLinearKeyframeCurve<f32>> {
    let frames = clip.morph_frames();
    let (count, width) = (clip.morph_frame_count(), frames.names.len());
    if part.morphs.is_empty() || count < 2 {
        return None;
    }
    let even = clip.timing.duration / (count - 1) as f64;
    let time = |frame: usize| {
        frames
            .times
            .get(frame)
            .copied()
            .unwrap_or(even * frame as f64)
    };
    // Two frames at one time are a step, but the times of a curve increase.
    let times = (0..count).scan(-1.0_f32, |before, frame| {
        *before = (time(frame) as f32).max(before.next_up());
        Some(*before)
    });
    let weights = (0..count).flat_map(|frame| {
        let row = &frames.weights[frame * width..];
        part.morphs.iter().map(|&morph| row[usize::from(morph)])
    });
    WideLinearKeyframeCurve::new(times, weights).ok()
}

/// Converts a clip to curves. Constant channels get none, as in this crate.
fn curves(clip: &SkeletalClip, joints: &[(Name, Transform, Option<usize>)]) -> AnimationClip {
    let mut out = AnimationClip::default();
    out.set_duration(clip.timing.duration as f32);
    let last = clip.frame_count().saturating_sub(1);
    if last == 0 {
        return out;
    }
    let times = || {
        // Two frames at one time are a step, but the times of a curve increase.
        (0..=last).scan(-1.0_f32, |before, frame| {
            *before = (clip.frame_time(frame) as f32).max(before.next_up());
            Some(*before)
        })
    };
    for (joint, (name, ..)) in joints
        .iter()
        .enumerate()
        .filter(|(joint, _)| clip.animates(*joint))
    {
        let target = AnimationTargetId::from_name(name);
        let at = |frame| clip.transform_at(joint, frame);
        let changes =
            |differs: &dyn Fn(JointTransform) -> bool| (1..=last).any(|frame| differs(at(frame)));
        macro_rules! channel {
            ($field:ident) => {
                let first = at(0).$field;
                if changes(&|transform| transform.$field != first)
                    || first != joints[joint].1.$field
                {
                    let keys = times().zip((0..=last).map(|frame| at(frame).$field));
                    if let Ok(curve) = AnimatableKeyframeCurve::new(keys) {
                        let curve = AnimatableCurve::new(animated_field!(Transform::$field), curve);
                        out.add_curve_to_target(target, curve);
                    }
                }
            };
        }
        channel!(translation);
        channel!(rotation);
        channel!(scale);
    }
    out
}
