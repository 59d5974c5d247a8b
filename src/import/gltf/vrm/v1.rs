//! VRM 1.0: the extensions `VRMC_vrm`, `VRMC_springBone`, and `VRMC_node_constraint`.

use super::super::json::{Raw, loose};
use super::{
    bones,
    parts::{Indices, LEFT_OUT, Link, List, Map, Number, Part},
    read::{FileExpression, Reader, numbers, override_of, three},
};
use crate::{
    import::avatar::{
        AvatarCollider, AvatarConstraint, AvatarLookAt, AvatarMeta, AvatarSpring,
        AvatarSpringJoint, ColliderShape, ConstraintKind, RangeMap,
    },
    model::Expression,
};
use glam::{Vec2, Vec3};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Vrm {
    #[serde(default, deserialize_with = "loose")]
    spec_version: String,
    meta: Option<Part<Meta>>,
    humanoid: Option<Part<Humanoid>>,
    first_person: Option<Part<FirstPerson>>,
    look_at: Option<Part<LookAt>>,
    expressions: Option<Part<Expressions>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Humanoid {
    #[serde(default, deserialize_with = "loose")]
    pub(super) human_bones: Map<NodeLink>,
}

/// An object that names a node.
#[derive(Deserialize)]
pub(super) struct NodeLink {
    #[serde(default)]
    pub(super) node: Link,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    #[serde(default, deserialize_with = "loose")]
    name: String,
    #[serde(default, deserialize_with = "loose")]
    version: String,
    #[serde(default, deserialize_with = "loose")]
    authors: Vec<String>,
    #[serde(default, deserialize_with = "loose")]
    copyright_information: String,
    #[serde(default, deserialize_with = "loose")]
    contact_information: String,
    #[serde(default, deserialize_with = "loose")]
    references: Vec<String>,
    #[serde(default, deserialize_with = "loose")]
    license_url: String,
    #[serde(default, deserialize_with = "loose")]
    other_license_url: String,
    #[serde(default, deserialize_with = "loose")]
    avatar_permission: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    commercial_usage: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    credit_notation: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    modification: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    allow_redistribution: bool,
    #[serde(default, deserialize_with = "loose")]
    allow_excessively_violent_usage: bool,
    #[serde(default, deserialize_with = "loose")]
    allow_excessively_sexual_usage: bool,
    #[serde(default, deserialize_with = "loose")]
    allow_political_or_religious_usage: bool,
    #[serde(default, deserialize_with = "loose")]
    allow_antisocial_or_hate_usage: bool,
}

impl Meta {
    fn read(&self) -> AvatarMeta {
        // Where the file says nothing, the specification says the strictest.
        let word = |given: &Option<String>, usual: &str| given.as_deref().unwrap_or(usual).into();
        let flag = |given: bool| if given { "yes" } else { "no" }.to_owned();
        AvatarMeta {
            name: self.name.clone(),
            version: self.version.clone(),
            authors: self.authors.clone(),
            copyright: self.copyright_information.clone(),
            contact: self.contact_information.clone(),
            references: self.references.clone(),
            license: self.license_url.clone(),
            other_license: self.other_license_url.clone(),
            terms: vec![
                (
                    "avatarPermission",
                    word(&self.avatar_permission, "onlyAuthor"),
                ),
                (
                    "commercialUsage",
                    word(&self.commercial_usage, "personalNonProfit"),
                ),
                ("creditNotation", word(&self.credit_notation, "required")),
                ("modification", word(&self.modification, "prohibited")),
                ("allowRedistribution", flag(self.allow_redistribution)),
                (
                    "allowExcessivelyViolentUsage",
                    flag(self.allow_excessively_violent_usage),
                ),
                (
                    "allowExcessivelySexualUsage",
                    flag(self.allow_excessively_sexual_usage),
                ),
                (
                    "allowPoliticalOrReligiousUsage",
                    flag(self.allow_political_or_religious_usage),
                ),
                (
                    "allowAntisocialOrHateUsage",
                    flag(self.allow_antisocial_or_hate_usage),
                ),
            ],
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstPerson {
    #[serde(default)]
    mesh_annotations: List<MeshAnnotation>,
}

#[derive(Deserialize)]
struct MeshAnnotation {
    #[serde(default)]
    node: Link,
    #[serde(default, rename = "type", deserialize_with = "loose")]
    kind: String,
}

/// The views in which a mesh can be seen.
pub(super) const VIEWS: [&str; 4] = ["auto", "both", "thirdPersonOnly", "firstPersonOnly"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LookAt {
    offset_from_head_bone: Option<Vec<Number>>,
    #[serde(default, rename = "type", deserialize_with = "loose")]
    kind: String,
    range_map_horizontal_inner: Option<Part<Range>>,
    range_map_horizontal_outer: Option<Part<Range>>,
    range_map_vertical_down: Option<Part<Range>>,
    range_map_vertical_up: Option<Part<Range>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    #[serde(default)]
    input_max_value: Number,
    #[serde(default)]
    output_scale: Number,
}

#[derive(Deserialize)]
struct Expressions {
    #[serde(default, deserialize_with = "loose")]
    preset: Map<OneExpression>,
    #[serde(default, deserialize_with = "loose")]
    custom: Map<OneExpression>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneExpression {
    #[serde(default, deserialize_with = "loose")]
    is_binary: bool,
    #[serde(default)]
    morph_target_binds: List<MorphTargetBind>,
    #[serde(default)]
    material_color_binds: List<MaterialColorBind>,
    #[serde(default)]
    texture_transform_binds: List<TextureTransformBind>,
    #[serde(default, deserialize_with = "loose")]
    override_blink: String,
    #[serde(default, deserialize_with = "loose")]
    override_look_at: String,
    #[serde(default, deserialize_with = "loose")]
    override_mouth: String,
}

#[derive(Deserialize)]
struct MorphTargetBind {
    #[serde(default)]
    node: Link,
    #[serde(default)]
    index: Link,
    #[serde(default)]
    weight: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MaterialColorBind {
    #[serde(default)]
    material: Link,
    #[serde(default, rename = "type", deserialize_with = "loose")]
    kind: String,
    #[serde(default, deserialize_with = "loose")]
    target_value: Vec<Number>,
}

#[derive(Deserialize)]
struct TextureTransformBind {
    #[serde(default)]
    material: Link,
    #[serde(default, deserialize_with = "loose")]
    scale: Vec<Number>,
    #[serde(default, deserialize_with = "loose")]
    offset: Vec<Number>,
}

const PLACE: &str = "extensions.VRMC_vrm";

impl Vrm {
    pub(super) fn read(&self, reader: &mut Reader) {
        reader.avatar.version = self.spec_version.clone();
        let place = |part: &str| format!("{PLACE}.{part}");
        if let Some(meta) = &self.meta
            && let Some(meta) = meta.get(&place("meta"), reader.report)
        {
            reader.avatar.meta = meta.read();
        }
        if let Some(humanoid) = &self.humanoid
            && let Some(humanoid) = humanoid.get(&place("humanoid"), reader.report)
        {
            humanoid.read(&place("humanoid"), reader);
        }
        if let Some(first_person) = &self.first_person
            && let Some(found) = first_person.get(&place("firstPerson"), reader.report)
        {
            let place = place("firstPerson.meshAnnotations");
            for (_, place, one) in found.mesh_annotations.each(&place, reader.report) {
                let node = reader.node(one.node, &place);
                let kind = VIEWS.iter().find(|kind| **kind == one.kind);
                if let (Some(node), Some(kind)) = (node, kind) {
                    let name = reader.root.nodes[node].name.clone();
                    let name = name.unwrap_or_else(|| format!("node{node}"));
                    reader.avatar.first_person.push((name, kind));
                }
            }
        }
        if let Some(look_at) = &self.look_at
            && let Some(look_at) = look_at.get(&place("lookAt"), reader.report)
        {
            look_at.read(&place("lookAt"), reader);
        }
        if let Some(expressions) = &self.expressions
            && let Some(Expressions { preset, custom }) =
                expressions.get(&place("expressions"), reader.report)
        {
            for (list, all) in [("preset", preset), ("custom", custom)] {
                for (name, part) in all {
                    let place = place(&format!("expressions.{list}.{name}"));
                    if let Some(one) = part.get(&place, reader.report) {
                        one.read(name, &place, reader);
                    }
                }
            }
        }
    }
}

impl Humanoid {
    pub(super) fn read(&self, place: &str, reader: &mut Reader) {
        for (name, part) in &self.human_bones {
            let place = format!("{place}.humanBones.{name}");
            let Some(NodeLink { node }) = part.get(&place, reader.report) else {
                continue;
            };
            match bones::bone(name) {
                Some(bone) => reader.bone(bone, *node, &place),
                None => {
                    let message = format!("no bone is called `{name}`");
                    reader.report.warn(&place, message, LEFT_OUT);
                }
            }
        }
    }
}

impl LookAt {
    fn read(&self, place: &str, reader: &mut Reader) {
        let by_expressions = self.kind == "expression";
        let usual = RangeMap {
            output: if by_expressions { 1.0 } else { 10.0 },
            ..RangeMap::default()
        };
        let ranges = [
            ("rangeMapHorizontalInner", &self.range_map_horizontal_inner),
            ("rangeMapHorizontalOuter", &self.range_map_horizontal_outer),
            ("rangeMapVerticalDown", &self.range_map_vertical_down),
            ("rangeMapVerticalUp", &self.range_map_vertical_up),
        ];
        let ranges = ranges.map(|(name, range)| {
            let place = format!("{place}.{name}");
            let range = range.as_ref()?.get(&place, reader.report)?;
            Some(RangeMap {
                input: range.input_max_value.within(0.0, 180.0, usual.input),
                output: range.output_scale.within(0.0, 180.0, usual.output),
            })
        });
        reader.avatar.look_at = Some(AvatarLookAt {
            offset: reader.point(three(&self.offset_from_head_bone, [0.0, 0.06, 0.0])),
            by_expressions,
            ranges: ranges.map(|range| range.unwrap_or(usual)),
        });
    }
}

impl OneExpression {
    fn read(&self, name: &str, place: &str, reader: &mut Reader) {
        let mut found = FileExpression {
            expression: Expression {
                is_binary: self.is_binary,
                blink: override_of(&self.override_blink),
                look_at: override_of(&self.override_look_at),
                mouth: override_of(&self.override_mouth),
                ..Expression::new(name)
            },
            ..FileExpression::default()
        };
        let at = format!("{place}.morphTargetBinds");
        for (_, place, bind) in self.morph_target_binds.each(&at, reader.report) {
            let Some(node) = reader.node(bind.node, &place) else {
                continue;
            };
            let bind = reader.bind(node, bind.index, bind.weight, &place);
            found.binds.extend(bind);
        }
        let count = reader.materials.len();
        let at = format!("{place}.materialColorBinds");
        for (_, place, bind) in self.material_color_binds.each(&at, reader.report) {
            if let Some(material) = reader.index(bind.material, count, "material", &place) {
                let color = reader.color(material, &bind.kind, &bind.target_value);
                found.expression.colors.extend(color);
            }
        }
        let at = format!("{place}.textureTransformBinds");
        for (_, place, bind) in self.texture_transform_binds.each(&at, reader.report) {
            let material = reader.index(bind.material, count, "material", &place);
            let scale = numbers(&bind.scale, [1.0; 2]);
            let offset = numbers(&bind.offset, [0.0; 2]);
            if let (Some(material), Some(scale), Some(offset)) = (material, scale, offset) {
                let [scale, offset] = [scale, offset].map(Vec2::from);
                let bind = reader.texture(material, scale, offset);
                found.expression.textures.push(bind);
            }
        }
        reader.expression(found, place);
    }
}

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
        let mut colliders = std::collections::BTreeMap::new();
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
        let mut groups = std::collections::BTreeMap::new();
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

/// Reads the constraint of a node.
pub(super) fn constraint(node: usize, raw: &Raw, reader: &mut Reader) {
    let place = format!("nodes[{node}].extensions.VRMC_node_constraint");
    let Some(found) = super::parts::extension::<NodeConstraint>(raw, &place, reader.report) else {
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
