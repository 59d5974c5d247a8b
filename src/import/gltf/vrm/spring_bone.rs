//! Springs of VRM 1.0: the extension `VRMC_springBone`, with its extended colliders.

use super::super::json::loose;
use super::{
    parts::{Indices, LEFT_OUT, Link, List, Number, Part},
    read::{Reader, three},
};
use crate::import::avatar::{AvatarCollider, AvatarSpring, AvatarSpringJoint, ColliderShape};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `VRMC_springBone`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpringBone {
    #[serde(default)]
    colliders: List<Collider>,
    #[serde(default)]
    collider_groups: List<ColliderGroup>,
    #[serde(default)]
    springs: List<Spring>,
}

#[derive(Deserialize)]
struct Collider {
    #[serde(default)]
    node: Link,
    shape: Option<Part<Shape>>,
    #[serde(default, deserialize_with = "loose")]
    extensions: ColliderExtensions,
}

#[derive(Default, Deserialize)]
struct ColliderExtensions {
    #[serde(rename = "VRMC_springBone_extended_collider")]
    extended: Option<Part<Extended>>,
}

#[derive(Deserialize)]
struct Extended {
    shape: Option<Part<Shape>>,
}

#[derive(Deserialize)]
struct Shape {
    sphere: Option<Part<Round>>,
    capsule: Option<Part<Round>>,
    plane: Option<Part<Plane>>,
}

#[derive(Deserialize)]
struct Round {
    #[serde(default, deserialize_with = "loose")]
    offset: Option<Vec<Number>>,
    #[serde(default, deserialize_with = "loose")]
    tail: Option<Vec<Number>>,
    #[serde(default)]
    radius: Number,
    #[serde(default, deserialize_with = "loose")]
    inside: bool,
}

#[derive(Deserialize)]
struct Plane {
    #[serde(default, deserialize_with = "loose")]
    offset: Option<Vec<Number>>,
    #[serde(default, deserialize_with = "loose")]
    normal: Option<Vec<Number>>,
}

#[derive(Deserialize)]
struct ColliderGroup {
    #[serde(default)]
    colliders: Indices,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spring {
    #[serde(default, deserialize_with = "loose")]
    name: String,
    #[serde(default)]
    joints: List<SpringJoint>,
    #[serde(default)]
    collider_groups: Indices,
    #[serde(default)]
    center: Link,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpringJoint {
    #[serde(default)]
    node: Link,
    #[serde(default)]
    hit_radius: Number,
    #[serde(default)]
    stiffness: Number,
    #[serde(default)]
    gravity_power: Number,
    #[serde(default, deserialize_with = "loose")]
    gravity_dir: Option<Vec<Number>>,
    #[serde(default)]
    drag_force: Number,
}

impl Shape {
    fn read(&self, place: &str, reader: &mut Reader) -> Option<ColliderShape> {
        let zero = [0.0; 3];
        if let Some(sphere) = &self.sphere {
            let sphere = sphere.get(&format!("{place}.sphere"), reader.report)?;
            return Some(ColliderShape::Sphere {
                center: reader.point(three(&sphere.offset, zero)),
                radius: reader.length(sphere.radius),
                inside: sphere.inside,
            });
        }
        if let Some(capsule) = &self.capsule {
            let capsule = capsule.get(&format!("{place}.capsule"), reader.report)?;
            return Some(ColliderShape::Capsule {
                ends: [&capsule.offset, &capsule.tail].map(|end| reader.point(three(end, zero))),
                radius: reader.length(capsule.radius),
                inside: capsule.inside,
            });
        }
        if let Some(plane) = &self.plane {
            let plane = plane.get(&format!("{place}.plane"), reader.report)?;
            let normal = reader.direction(three(&plane.normal, [0.0, 0.0, 1.0]));
            return Some(ColliderShape::Plane {
                point: reader.point(three(&plane.offset, zero)),
                normal: normal.try_normalize()?,
            });
        }
        let message = "a collider has no shape";
        reader.report.warn(place, message, LEFT_OUT);
        None
    }
}

const SPRINGS: &str = "extensions.VRMC_springBone";

impl SpringBone {
    pub(super) fn read(&self, reader: &mut Reader) {
        // Indices into the file's list, in which some may be wrong.
        let place = format!("{SPRINGS}.colliders");
        let mut colliders = BTreeMap::new();
        for (at, place, one) in self.colliders.each(&place, reader.report) {
            let extended = one.extensions.extended.as_ref();
            let extended =
                extended.and_then(|part| part.get(&place, reader.report)?.shape.as_ref());
            // The plain shape is for programs that don't know the others.
            let shape = extended.or(one.shape.as_ref());
            let shape = shape.and_then(|shape| {
                let place = format!("{place}.shape");
                shape.get(&place, reader.report)?.read(&place, reader)
            });
            if let (Some(joint), Some(shape)) = (reader.node(one.node, &place), shape) {
                colliders.insert(at, reader.avatar.colliders.len());
                reader
                    .avatar
                    .colliders
                    .push(AvatarCollider { joint, shape });
            }
        }
        let place = format!("{SPRINGS}.colliderGroups");
        let mut groups = BTreeMap::new();
        for (at, _, group) in self.collider_groups.each(&place, reader.report) {
            let known = group.colliders.0.iter();
            let known = known.filter_map(|link| colliders.get(&link.0?).copied());
            groups.insert(at, known.collect::<Vec<usize>>());
        }
        let place = format!("{SPRINGS}.springs");
        for (_, place, one) in self.springs.each(&place, reader.report) {
            let joints = one.joints.each(&format!("{place}.joints"), reader.report);
            let joints = joints.into_iter().filter_map(|(_, place, joint)| {
                let power = joint.gravity_power.within(-1e6, 1e6, 0.0);
                Some(AvatarSpringJoint {
                    joint: reader.node(joint.node, &place)?,
                    stiffness: joint.stiffness.within(0.0, 1e6, 1.0),
                    gravity: power * reader.direction(three(&joint.gravity_dir, [0.0, -1.0, 0.0])),
                    drag: joint.drag_force.within(0.0, 1.0, 0.5),
                    radius: reader.length(joint.hit_radius),
                })
            });
            let joints = joints.collect();
            let mut spring = AvatarSpring {
                name: one.name.clone(),
                joints,
                center: one.center.0.filter(|node| *node < reader.root.nodes.len()),
                ..AvatarSpring::default()
            };
            let links = one.collider_groups.0.iter();
            for group in links.filter_map(|link| groups.get(&link.0?)) {
                if !reader.charge(group.len(), &place) {
                    break;
                }
                spring.colliders.extend(group);
            }
            spring.colliders.sort_unstable();
            spring.colliders.dedup();
            if !spring.joints.is_empty() {
                reader.avatar.springs.push(spring);
            }
        }
    }
}
