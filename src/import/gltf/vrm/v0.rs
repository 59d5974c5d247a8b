//! VRM 0: the extension `VRM`.

use super::super::json::loose;
use super::{
    bones,
    parts::{Indices, LEFT_OUT, Link, List, Number, Part},
    read::{EYES, FileExpression, Range, Reader, nodes_by_mesh, numbers},
    v1::VIEWS,
};
use crate::{
    import::avatar::{AvatarCollider, AvatarMeta, AvatarSpring, AvatarSpringJoint, ColliderShape},
    model::Expression,
};
use glam::Vec2;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Vrm {
    #[serde(default, deserialize_with = "loose")]
    spec_version: Option<String>,
    meta: Option<Part<Meta>>,
    humanoid: Option<Part<Humanoid>>,
    first_person: Option<Part<FirstPerson>>,
    blend_shape_master: Option<Part<BlendShapeMaster>>,
    secondary_animation: Option<Part<SecondaryAnimation>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    #[serde(default, deserialize_with = "loose")]
    title: String,
    #[serde(default, deserialize_with = "loose")]
    version: String,
    #[serde(default, deserialize_with = "loose")]
    author: String,
    #[serde(default, deserialize_with = "loose")]
    contact_information: String,
    #[serde(default, deserialize_with = "loose")]
    reference: String,
    #[serde(default, deserialize_with = "loose")]
    allowed_user_name: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    violent_ussage_name: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    sexual_ussage_name: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    commercial_ussage_name: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    other_permission_url: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    license_name: String,
    #[serde(default, deserialize_with = "loose")]
    other_license_url: String,
}

impl Meta {
    fn read(&self) -> AvatarMeta {
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        let terms = [
            ("avatarPermission", &self.allowed_user_name),
            ("commercialUsage", &self.commercial_ussage_name),
            ("allowExcessivelyViolentUsage", &self.violent_ussage_name),
            ("allowExcessivelySexualUsage", &self.sexual_ussage_name),
            ("otherPermissionUrl", &self.other_permission_url),
        ];
        let terms = terms.into_iter();
        AvatarMeta {
            name: self.title.clone(),
            version: self.version.clone(),
            authors: given(&self.author).into_iter().collect(),
            copyright: String::new(),
            contact: self.contact_information.clone(),
            references: given(&self.reference).into_iter().collect(),
            license: self.license_name.clone(),
            other_license: self.other_license_url.clone(),
            terms: terms
                .filter_map(|(name, term)| Some((name, given(term.as_ref()?)?)))
                .collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Humanoid {
    #[serde(default)]
    human_bones: List<Bone>,
}

#[derive(Deserialize)]
struct Bone {
    #[serde(default, deserialize_with = "loose")]
    bone: String,
    #[serde(default)]
    node: Link,
}

/// A vector by its components, as Unity has it.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Xyz {
    x: Number,
    y: Number,
    z: Number,
}

impl Xyz {
    /// In glTF's axes. Unity's are left-handed.
    fn numbers(self, usual: [f32; 3]) -> [f32; 3] {
        let Self { x, y, z } = self;
        match numbers(&[x, y, z], usual) {
            Some([x, y, z]) => [x, y, -z],
            None => usual,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstPerson {
    #[serde(default, deserialize_with = "loose")]
    first_person_bone_offset: Option<Xyz>,
    #[serde(default)]
    mesh_annotations: List<MeshAnnotation>,
    #[serde(default, deserialize_with = "loose")]
    look_at_type_name: String,
    look_at_horizontal_inner: Option<Part<Range>>,
    look_at_horizontal_outer: Option<Part<Range>>,
    look_at_vertical_down: Option<Part<Range>>,
    look_at_vertical_up: Option<Part<Range>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MeshAnnotation {
    #[serde(default)]
    mesh: Link,
    #[serde(default, deserialize_with = "loose")]
    first_person_flag: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlendShapeMaster {
    #[serde(default)]
    blend_shape_groups: List<BlendShapeGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlendShapeGroup {
    #[serde(default, deserialize_with = "loose")]
    name: String,
    #[serde(default, deserialize_with = "loose")]
    preset_name: String,
    #[serde(default)]
    binds: List<BlendShapeBind>,
    #[serde(default)]
    material_values: List<MaterialValue>,
    #[serde(default, deserialize_with = "loose")]
    is_binary: bool,
}

#[derive(Deserialize)]
struct BlendShapeBind {
    #[serde(default)]
    mesh: Link,
    #[serde(default)]
    index: Link,
    #[serde(default)]
    weight: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MaterialValue {
    #[serde(default, deserialize_with = "loose")]
    material_name: String,
    #[serde(default, deserialize_with = "loose")]
    property_name: String,
    #[serde(default, deserialize_with = "loose")]
    target_value: Vec<Number>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecondaryAnimation {
    #[serde(default)]
    bone_groups: List<BoneGroup>,
    #[serde(default)]
    collider_groups: List<ColliderGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BoneGroup {
    #[serde(default, deserialize_with = "loose")]
    comment: String,
    // The specification spells it so.
    #[serde(default, alias = "stiffness")]
    stiffiness: Number,
    #[serde(default)]
    gravity_power: Number,
    #[serde(default, deserialize_with = "loose")]
    gravity_dir: Option<Xyz>,
    #[serde(default)]
    drag_force: Number,
    #[serde(default)]
    center: Link,
    #[serde(default)]
    hit_radius: Number,
    #[serde(default)]
    bones: Indices,
    #[serde(default)]
    collider_groups: Indices,
}

#[derive(Deserialize)]
struct ColliderGroup {
    #[serde(default)]
    node: Link,
    #[serde(default)]
    colliders: List<Sphere>,
}

#[derive(Deserialize)]
struct Sphere {
    #[serde(default, deserialize_with = "loose")]
    offset: Option<Xyz>,
    #[serde(default)]
    radius: Number,
}

const PLACE: &str = "extensions.VRM";

impl Vrm {
    pub(super) fn read(&self, reader: &mut Reader) {
        let version = self.spec_version.clone();
        reader.avatar.version = version.unwrap_or_else(|| "0.0".to_owned());
        let place = |part: &str| format!("{PLACE}.{part}");
        if let Some(meta) = &self.meta
            && let Some(meta) = meta.get(&place("meta"), reader.report)
        {
            reader.avatar.meta = meta.read();
        }
        if let Some(humanoid) = &self.humanoid
            && let Some(humanoid) = humanoid.get(&place("humanoid"), reader.report)
        {
            let place = place("humanoid.humanBones");
            for (_, place, one) in humanoid.human_bones.each(&place, reader.report) {
                let bone = bones::bone_of_vrm_0(&one.bone);
                reader.bone(bone, &one.bone, one.node, &place);
            }
        }
        if let Some(first_person) = &self.first_person
            && let Some(found) = first_person.get(&place("firstPerson"), reader.report)
        {
            found.read(&place("firstPerson"), reader);
        }
        if let Some(master) = &self.blend_shape_master
            && let Some(master) = master.get(&place("blendShapeMaster"), reader.report)
        {
            let place = place("blendShapeMaster.blendShapeGroups");
            let nodes = nodes_by_mesh(reader.root);
            for (_, place, group) in master.blend_shape_groups.each(&place, reader.report) {
                group.read(&place, &nodes, reader);
            }
        }
        if let Some(springs) = &self.secondary_animation
            && let Some(springs) = springs.get(&place("secondaryAnimation"), reader.report)
        {
            springs.read(&place("secondaryAnimation"), reader);
        }
    }
}

impl FirstPerson {
    fn read(&self, place: &str, reader: &mut Reader) {
        let (meshes, nodes) = (reader.root.meshes.len(), nodes_by_mesh(reader.root));
        let annotations = format!("{place}.meshAnnotations");
        for (_, place, one) in self.mesh_annotations.each(&annotations, reader.report) {
            let mesh = reader.index(one.mesh, meshes, "mesh", &place);
            let kind = VIEWS
                .iter()
                .find(|kind| kind.eq_ignore_ascii_case(&one.first_person_flag));
            if let (Some(mesh), Some(kind)) = (mesh, kind) {
                for node in nodes.get(&mesh).into_iter().flatten() {
                    let given = reader.root.nodes[*node].name.clone();
                    let name = given.or_else(|| reader.root.meshes[mesh].name.clone());
                    let name = name.unwrap_or_else(|| format!("mesh{mesh}"));
                    reader.avatar.first_person.push((name, kind));
                }
            }
        }
        let ranges = [
            ("lookAtHorizontalInner", &self.look_at_horizontal_inner),
            ("lookAtHorizontalOuter", &self.look_at_horizontal_outer),
            ("lookAtVerticalDown", &self.look_at_vertical_down),
            ("lookAtVerticalUp", &self.look_at_vertical_up),
        ];
        let offset = self.first_person_bone_offset;
        let offset = offset.map_or(EYES, |offset| offset.numbers([0.0; 3]));
        let by_expressions = self.look_at_type_name == "BlendShape";
        reader.look_at(offset, by_expressions, ranges, place);
    }
}

/// Presets of VRM 0, and what VRM 1.0 calls them.
const PRESETS: [(&str, &str); 17] = [
    ("neutral", "neutral"),
    ("a", "aa"),
    ("i", "ih"),
    ("u", "ou"),
    ("e", "ee"),
    ("o", "oh"),
    ("blink", "blink"),
    ("blink_l", "blinkLeft"),
    ("blink_r", "blinkRight"),
    ("joy", "happy"),
    ("angry", "angry"),
    ("sorrow", "sad"),
    ("fun", "relaxed"),
    ("lookup", "lookUp"),
    ("lookdown", "lookDown"),
    ("lookleft", "lookLeft"),
    ("lookright", "lookRight"),
];

impl BlendShapeGroup {
    fn read(&self, place: &str, nodes: &BTreeMap<usize, Vec<usize>>, reader: &mut Reader) {
        let preset = self.preset_name.to_ascii_lowercase();
        let preset = PRESETS.iter().find(|(name, _)| *name == preset);
        let name = preset.map_or(&*self.name, |(_, name)| *name);
        if name.is_empty() {
            let message = "the expression has no name";
            reader.report.warn(place, message, LEFT_OUT);
            return;
        }
        let mut found = FileExpression {
            expression: Expression {
                alias: self.name.as_str().into(),
                is_binary: self.is_binary,
                ..Expression::new(name)
            },
            ..FileExpression::default()
        };
        let meshes = reader.root.meshes.len();
        let at = format!("{place}.binds");
        for (_, place, bind) in self.binds.each(&at, reader.report) {
            let Some(mesh) = reader.index(bind.mesh, meshes, "mesh", &place) else {
                continue;
            };
            let nodes = nodes.get(&mesh).map_or(&[][..], |nodes| nodes);
            if !reader.charge(nodes.len(), &place) {
                return;
            }
            // In percent.
            let share = Number(Some(bind.weight.within(-100.0, 100.0, 100.0) / 100.0));
            for &node in nodes {
                found
                    .binds
                    .extend(reader.bind(node, bind.index, share, &place));
            }
        }
        let at = format!("{place}.materialValues");
        for (_, place, bind) in self.material_values.each(&at, reader.report) {
            let material = reader.material_of.get(&bind.material_name).copied();
            let Some(material) = material else {
                let message = format!("there is no material `{}`", bind.material_name);
                reader.report.warn(&place, message, LEFT_OUT);
                continue;
            };
            let textures = ["_ST", "_ST_S", "_ST_T"];
            if textures.iter().any(|end| bind.property_name.ends_with(end)) {
                let Some([x, y, u, v]) = numbers(&bind.target_value, [1.0, 1.0, 0.0, 0.0]) else {
                    continue;
                };
                // Unity counts from the bottom.
                let offset = Vec2::new(u, 1.0 - v - y);
                let bind = reader.texture(material, Vec2::new(x, y), offset);
                found.expression.textures.push(bind);
            } else {
                let property = match &*bind.property_name {
                    "_Color" => "color",
                    "_EmissionColor" => "emissionColor",
                    "_ShadeColor" => "shadeColor",
                    "_RimColor" => "rimColor",
                    "_OutlineColor" => "outlineColor",
                    other => other,
                };
                let color = reader.color(material, property, &bind.target_value);
                found.expression.colors.extend(color);
            }
        }
        reader.expression(found, place);
    }
}

impl SecondaryAnimation {
    fn read(&self, place: &str, reader: &mut Reader) {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let at = format!("{place}.colliderGroups");
        for (at, place, group) in self.collider_groups.each(&at, reader.report) {
            let Some(joint) = reader.node(group.node, &place) else {
                continue;
            };
            let spheres = group
                .colliders
                .each(&format!("{place}.colliders"), reader.report);
            for (_, _, sphere) in spheres {
                let offset = sphere.offset.unwrap_or_default().numbers([0.0; 3]);
                let shape = ColliderShape::Sphere {
                    center: reader.point(offset),
                    radius: reader.length(sphere.radius),
                    inside: false,
                };
                groups
                    .entry(at)
                    .or_default()
                    .push(reader.avatar.colliders.len());
                reader
                    .avatar
                    .colliders
                    .push(AvatarCollider { joint, shape });
            }
        }
        let at = format!("{place}.boneGroups");
        for (_, place, one) in self.bone_groups.each(&at, reader.report) {
            let mut colliders = Vec::new();
            let links = one.collider_groups.0.iter();
            for group in links.filter_map(|link| groups.get(&link.0?)) {
                // Each of the chains refers to all.
                if !reader.charge(group.len() * one.bones.0.len().max(1), &place) {
                    return;
                }
                colliders.extend(group);
            }
            colliders.sort_unstable();
            colliders.dedup();
            let down = Xyz {
                y: Number(Some(-1.0)),
                ..Xyz::default()
            };
            let direction = one.gravity_dir.unwrap_or(down).numbers([0.0, -1.0, 0.0]);
            let gravity = one.gravity_power.within(-1e6, 1e6, 0.0) * reader.direction(direction);
            for (at, bone) in one.bones.0.iter().enumerate() {
                let place = format!("{place}.bones[{at}]");
                let Some(joint) = reader.node(*bone, &place) else {
                    continue;
                };
                let joint = AvatarSpringJoint {
                    joint,
                    stiffness: one.stiffiness.within(0.0, 1e6, 1.0),
                    gravity,
                    drag: one.drag_force.within(0.0, 1.0, 0.4),
                    radius: reader.length(one.hit_radius),
                };
                reader.avatar.springs.push(AvatarSpring {
                    name: one.comment.clone(),
                    joints: vec![joint],
                    is_whole: true,
                    center: one.center.0.filter(|node| *node < reader.root.nodes.len()),
                    colliders: colliders.clone(),
                });
            }
        }
    }
}
