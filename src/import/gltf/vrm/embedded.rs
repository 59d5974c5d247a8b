//! Springs, constraints, and what looks of an avatar, as a manifest has them.

use crate::{
    import::{
        ColliderEntry, ConstraintEntry, EmbeddedManifest, GazeEntry, LookAtEntry, SpringEntry,
        avatar::{Avatar, AvatarLookAt, AvatarSpring, AvatarSpringJoint, ColliderShape},
        report::Report,
    },
    model::{JointIndex, Skeleton},
    rig::ColliderKind,
};
use glam::Vec3;
use std::{
    collections::{BTreeMap, BTreeSet},
    f32::consts::TAU,
};

/// Steps per second of VRM's simulation, whose numbers are for a step.
const STEPS: f32 = 60.0;
const GRAVITY: f32 = 9.81;

/// The most names of colliders in all entries together.
const MOST_NAMES: usize = 1 << 16;

/// Adds an avatar's springs and eyes to what a file says in place of a manifest, unless it says something of these itself.
/// `length` is that of a meter in model units.
pub(super) fn add(
    avatar: &Avatar,
    skeleton: &Skeleton,
    length: f32,
    embedded: &mut EmbeddedManifest,
    report: &mut Report,
) {
    let mut unused: Vec<&str> = Vec::new();
    if embedded.springs.is_empty() && embedded.colliders.is_empty() {
        add_springs(avatar, skeleton, length, embedded, &mut unused);
    }
    if let Some(look_at) = &avatar.look_at
        && embedded.look_at.is_none()
    {
        embedded.look_at = eyes(avatar, look_at, skeleton);
    }
    if embedded.constraints.is_empty() {
        let entries = avatar.constraints.iter().filter_map(|one| {
            Some(ConstraintEntry {
                joint: name(skeleton, one.joint)?,
                source: name(skeleton, one.source)?,
                kind: one.kind,
                weight: one.weight,
            })
        });
        embedded.constraints = entries.collect();
    }
    let mut expressions = skeleton.morphs().own_expressions().iter();
    let is_unknown = |property: &str| !["color", "emissionColor"].contains(&property);
    if expressions.any(|one| one.colors.iter().any(|color| is_unknown(&color.property))) {
        unused.push("colors of shades, rims, and outlines in expressions");
    }
    if !unused.is_empty() {
        let message = format!("parts of the avatar have no effect: {}", unused.join(", "));
        report.warn("extensions", message, "");
    }
}

/// The name of a joint, if it is the joint's alone.
fn name(skeleton: &Skeleton, joint: usize) -> Option<String> {
    let joint = JointIndex::try_from(joint).ok()?;
    let name = skeleton.names().get(usize::from(joint))?;
    (skeleton.joint(name) == Some(joint)).then(|| name.to_string())
}

fn add_springs(
    avatar: &Avatar,
    skeleton: &Skeleton,
    length: f32,
    embedded: &mut EmbeddedManifest,
    unused: &mut Vec<&str>,
) {
    let used: BTreeSet<usize> = avatar
        .springs
        .iter()
        .flat_map(|spring| spring.colliders.iter().copied())
        .collect();
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for at in used {
        let Some(collider) = avatar.colliders.get(at) else {
            continue;
        };
        let kind = |inside: bool| match inside {
            true => ColliderKind::Inside,
            false => ColliderKind::Outside,
        };
        let (kind, center, end, radius) = match collider.shape {
            ColliderShape::Sphere {
                center,
                radius,
                inside,
            } => (kind(inside), center, None, radius),
            ColliderShape::Capsule {
                ends: [center, end],
                radius,
                inside,
            } => (kind(inside), center, Some(end), radius),
            ColliderShape::Plane { point, normal } => {
                (ColliderKind::Plane, point, Some(point + normal), 0.0)
            }
        };
        let is_there = kind == ColliderKind::Plane || radius > 0.0;
        let Some(joint) = name(skeleton, collider.joint).filter(|_| is_there) else {
            continue;
        };
        let entry = ColliderEntry {
            kind,
            joint,
            center,
            end,
            radius,
        };
        let name = format!("{}.{at}", entry.joint);
        embedded.colliders.insert(name.clone(), entry);
        names.insert(at, name);
    }
    let lengths = lengths(skeleton);
    let (mut taken, mut count) = (vec![false; skeleton.len()], 0_usize);
    let (mut has_center, mut is_sideways) = (false, false);
    for spring in &avatar.springs {
        let colliders: Vec<String> = spring
            .colliders
            .iter()
            .filter_map(|at| names.get(at).cloned())
            .collect();
        has_center |= spring.center.is_some();
        // The first spring that a joint is in counts.
        for (joint, settings) in swinging(spring, skeleton, &taken) {
            if std::mem::replace(&mut taken[joint], true) {
                continue;
            }
            let bone = (lengths[joint] / length).max(1e-4);
            let Some(entry) = entry(skeleton, joint, settings, bone) else {
                continue;
            };
            is_sideways |= settings.is_some_and(|settings| {
                settings.gravity.with_y(0.0).length() > 0.1 * settings.gravity.length()
            });
            count = count.saturating_add(colliders.len());
            let colliders = match count <= MOST_NAMES && settings.is_some() {
                true => colliders.clone(),
                false => Vec::new(),
            };
            embedded.springs.push(SpringEntry { colliders, ..entry });
        }
    }
    if has_center {
        unused.push("centers of springs");
    }
    if is_sideways {
        unused.push("gravity that isn't up or down");
    }
}

/// Returns the joints that a spring is about, with their settings; without any for one that does not swing.
fn swinging(
    spring: &AvatarSpring,
    skeleton: &Skeleton,
    taken: &[bool],
) -> Vec<(usize, Option<AvatarSpringJoint>)> {
    let Some((last, others)) = spring.joints.split_last() else {
        return Vec::new();
    };
    if spring.is_whole {
        if taken[last.joint] {
            return Vec::new();
        }
        let end = skeleton.last_descendant(last.joint as JointIndex);
        let mut below = BTreeSet::from([last.joint]);
        // Parents come first.
        for joint in last.joint + 1..=usize::from(end) {
            let parent = skeleton.parents()[joint].map(usize::from);
            if parent.is_some_and(|parent| below.contains(&parent)) {
                below.insert(joint);
            }
        }
        return below
            .into_iter()
            .map(|joint| (joint, Some(*last)))
            .collect();
    }
    let swing = others.iter().map(|one| (one.joint, Some(*one)));
    // It is only where the bone before it ends, and nothing below it swings.
    swing.chain([(last.joint, None)]).collect()
}

/// The settings of a joint, by which it swings like VRM's simulation at its usual rate.
///
/// There, a step keeps a share of the last one's way, adds one of `stiffness` in the bone's direction and one of gravity, and
/// brings the bone back to its length. Seen across the bone, `(1 + s) x″ = (2 − d) x′ − (1 − d) x`, where `s` is the way that is
/// added by the bone's length, and `d` the share that is lost. Its solutions are those of a spring, whose frequency and
/// resistance follow from the sum and the product of the equation's roots. `d` is lost of the speed in the world, and leaves a
/// bone that is carried along behind by `d / s` of its way in a step; the rest is lost of the speed relative to the character. A bone
/// that hangs ends up at the same angle in both.
fn entry(
    skeleton: &Skeleton,
    joint: usize,
    settings: Option<AvatarSpringJoint>,
    bone: f32,
) -> Option<SpringEntry> {
    let entry = SpringEntry::new([name(skeleton, joint)?]);
    let Some(settings) = settings else {
        return Some(SpringEntry {
            max_angle: 0.0,
            ..entry
        });
    };
    let added = settings.stiffness / (STEPS * bone);
    let lost = settings.drag.clamp(1e-3, 0.999);
    let (sum, product) = ((2.0 - lost) / (1.0 + added), (1.0 - lost) / (1.0 + added));
    let resistance = -STEPS * product.ln();
    // The cosine of the angle of a step, or for a bone that only creeps back, its hyperbolic cosine.
    let cosine = 0.5 * sum / product.sqrt();
    let turn = match cosine < 1.0 {
        true => cosine.acos().powi(2),
        false => -(cosine + (cosine * cosine - 1.0).sqrt()).ln().powi(2),
    };
    let square = (0.25 * resistance * resistance + STEPS * STEPS * turn).max(0.0);
    let drag = match added > 1e-6 {
        true => (square * lost / (STEPS * added)).min(resistance),
        false => resistance,
    };
    let rate = square.sqrt();
    // Relative to the stiffness.
    let force = match settings.stiffness > 1e-6 {
        true => square * bone / settings.stiffness,
        false => STEPS,
    };
    Some(SpringEntry {
        frequency: (rate / TAU).min(60.0),
        damping: ((resistance - drag) / (2.0 * rate).max(1e-3)).clamp(0.0, 100.0),
        gravity: (-force * settings.gravity.y / GRAVITY).clamp(-1e3, 1e3),
        drag: drag.clamp(0.0, 1e3),
        radius: settings.radius,
        ..entry
    })
}

/// The lengths of bones, each from a joint to the middle of its children or, without any, of the one that leads to it.
fn lengths(skeleton: &Skeleton) -> Vec<f32> {
    let place = |joint: usize| Vec3::from(skeleton.rest_model()[joint].translation);
    let mut children = vec![(Vec3::ZERO, 0.0_f32); skeleton.len()];
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        if let Some(parent) = parent {
            let (sum, count) = &mut children[usize::from(*parent)];
            *sum += place(joint);
            *count += 1.0;
        }
    }
    let length = |joint: usize| {
        let (sum, count) = children[joint];
        match skeleton.parents()[joint] {
            _ if count > 0.0 => place(joint).distance(sum / count),
            Some(parent) => place(joint).distance(place(parent.into())),
            None => 0.0,
        }
    };
    (0..skeleton.len()).map(length).collect()
}

/// The eyes of an avatar. Its head doesn't turn by itself.
fn eyes(avatar: &Avatar, look_at: &AvatarLookAt, skeleton: &Skeleton) -> Option<LookAtEntry> {
    let bone = |bone: &str| name(skeleton, *avatar.bones.get(bone)?);
    let eyes: Vec<String> = ["leftEye", "rightEye"]
        .into_iter()
        .filter(|_| !look_at.by_expressions)
        .filter_map(bone)
        .collect();
    let [inner, outer, down, up] = look_at.ranges.map(|range| (range.input, range.output));
    let entry = LookAtEntry {
        eyes,
        yaw: 0.0,
        pitch: 0.0,
        gaze: Some(GazeEntry {
            origin: look_at.offset,
            inner,
            outer,
            down,
            up,
            by_expressions: look_at.by_expressions,
        }),
        ..LookAtEntry::new([(bone("head")?, 1.0)])
    };
    let looks = look_at.by_expressions || !entry.eyes.is_empty();
    (looks && entry.resolve(skeleton).is_some()).then_some(entry)
}
