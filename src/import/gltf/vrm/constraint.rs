//! Constraints of joints in VRM 1.0: the extension `VRMC_node_constraint`.

use super::super::json::{Raw, loose};
use super::{
    parts::{LEFT_OUT, Link, Number, Part, extension},
    read::Reader,
};
use crate::{import::avatar::AvatarConstraint, rig::ConstraintKind};
use glam::Vec3;
use serde::Deserialize;

/// `VRMC_node_constraint`.
#[derive(Deserialize)]
struct NodeConstraint {
    constraint: Option<Part<Constraint>>,
}

#[derive(Deserialize)]
struct Constraint {
    roll: Option<Part<OneConstraint>>,
    aim: Option<Part<OneConstraint>>,
    rotation: Option<Part<OneConstraint>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneConstraint {
    #[serde(default)]
    source: Link,
    #[serde(default, deserialize_with = "loose")]
    roll_axis: String,
    #[serde(default, deserialize_with = "loose")]
    aim_axis: String,
    #[serde(default)]
    weight: Number,
}

/// Reads the constraint of a node, if it has one.
pub(super) fn read(node: usize, raw: &Raw, reader: &mut Reader) {
    let place = format!("nodes[{node}].extensions.VRMC_node_constraint");
    let Some(found) = extension::<NodeConstraint>(raw, &place, reader.report) else {
        return;
    };
    let Some(found) = (found.constraint.as_ref()).and_then(|one| one.get(&place, reader.report))
    else {
        return;
    };
    let kinds = [&found.roll, &found.aim, &found.rotation];
    for (kind, one) in kinds.into_iter().enumerate() {
        let Some(one) = one.as_ref().and_then(|one| one.get(&place, reader.report)) else {
            continue;
        };
        let Some(source) = reader.node(one.source, &place) else {
            return;
        };
        let axis = match (kind, &*one.roll_axis, &*one.aim_axis) {
            (0, "X", _) | (1, _, "PositiveX") => Vec3::X,
            (0, "Y", _) | (1, _, "PositiveY") => Vec3::Y,
            (0, "Z", _) | (1, _, "PositiveZ") => Vec3::Z,
            (1, _, "NegativeX") => Vec3::NEG_X,
            (1, _, "NegativeY") => Vec3::NEG_Y,
            (1, _, "NegativeZ") => Vec3::NEG_Z,
            (2, ..) => Vec3::ZERO,
            _ => {
                let message = "the constraint has an unknown axis";
                reader.report.warn(&place, message, LEFT_OUT);
                return;
            }
        };
        let axis = reader.direction(axis.to_array());
        let constraint = AvatarConstraint {
            joint: node,
            source,
            kind: match kind {
                0 => ConstraintKind::Roll(axis),
                1 => ConstraintKind::Aim(axis),
                _ => ConstraintKind::Rotation,
            },
            weight: one.weight.within(0.0, 1.0, 1.0),
        };
        reader.avatar.constraints.push(constraint);
        return;
    }
}
