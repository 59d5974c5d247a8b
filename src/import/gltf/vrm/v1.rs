//! VRM 1.0: the extension `VRMC_vrm`. Springs and constraints are extensions of their own.

use super::super::json::loose;
use super::{
    bones,
    parts::{Link, List, Map, Number, Part},
    read::{EYES, FileExpression, Range, Reader, numbers, override_of, three},
};
use crate::{import::avatar::AvatarMeta, model::Expression};
use glam::Vec2;
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
            reader.bone(bones::bone(name), name, *node, &place);
        }
    }
}

impl LookAt {
    fn read(&self, place: &str, reader: &mut Reader) {
        let ranges = [
            ("rangeMapHorizontalInner", &self.range_map_horizontal_inner),
            ("rangeMapHorizontalOuter", &self.range_map_horizontal_outer),
            ("rangeMapVerticalDown", &self.range_map_vertical_down),
            ("rangeMapVerticalUp", &self.range_map_vertical_up),
        ];
        let offset = three(&self.offset_from_head_bone, EYES);
        reader.look_at(offset, self.kind == "expression", ranges, place);
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
