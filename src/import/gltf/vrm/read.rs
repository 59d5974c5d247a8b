//! What both versions of VRM have in common: checks of what they refer to.

use super::super::json::{Index, Root};
use crate::{
    import::{
        avatar::{Avatar, AvatarLookAt, RangeMap},
        axes::Basis,
        report::Report,
    },
    model::{ColorBind, Expression, ExpressionOverride, TextureBind},
    plural::there_are,
};
use glam::{Vec2, Vec3, Vec4};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::parts::{LEFT_OUT, Link, Number, Part};

/// The most that all lists of indices may come to when they are followed, however often a file refers to the same.
const MOST_LINKS: usize = 1 << 20;

/// An expression of a file, and the targets of nodes that show it.
#[derive(Default)]
pub(super) struct FileExpression {
    pub(super) expression: Expression,
    pub(super) binds: Vec<Bind>,
}

/// A morph target of a node, with its share of the expression's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bind {
    pub(super) node: usize,
    pub(super) target: usize,
    pub(super) share: f32,
}

/// Where the eyes are from the head's joint, if a file doesn't say.
pub(super) const EYES: [f32; 3] = [0.0, 0.06, 0.0];

/// A range map of a gaze, by its names in both versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Range {
    #[serde(default, alias = "xRange")]
    input_max_value: Number,
    #[serde(default, alias = "yRange")]
    output_scale: Number,
}

/// Reads what an extension says, with indices that are checked.
pub(super) struct Reader<'r, 'f> {
    pub(super) root: &'r Root,
    pub(super) basis: &'r Basis,
    pub(super) report: &'r mut Report<'f>,
    /// Of nodes.
    pub(super) avatar: Avatar,
    pub(super) expressions: Vec<FileExpression>,
    /// Names of materials.
    pub(super) materials: Vec<Option<String>>,
    /// The first material of each name.
    pub(super) material_of: HashMap<String, usize>,
    links: usize,
    /// The number of targets of each mesh.
    targets: Vec<usize>,
    bones: HashSet<usize>,
    names: HashSet<String>,
}

impl<'r, 'f> Reader<'r, 'f> {
    pub(super) fn new(root: &'r Root, basis: &'r Basis, report: &'r mut Report<'f>) -> Self {
        #[derive(Deserialize)]
        struct Named {
            name: Option<String>,
        }
        let materials = root.materials.as_ref();
        let materials: Option<Vec<Named>> =
            materials.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let materials = materials.unwrap_or_default().into_iter();
        let materials: Vec<Option<String>> = materials.map(|material| material.name).collect();
        let mut material_of = HashMap::new();
        for (at, name) in materials.iter().enumerate() {
            if let Some(name) = name {
                material_of.entry(name.clone()).or_insert(at);
            }
        }
        let targets = root.meshes.iter().map(|mesh| {
            let counts = mesh.primitives.iter().map(|one| one.targets.len());
            counts.max().unwrap_or(0)
        });
        Self {
            root,
            basis,
            report,
            avatar: Avatar::default(),
            expressions: Vec::new(),
            materials,
            material_of,
            links: 0,
            targets: targets.collect(),
            bones: HashSet::new(),
            names: HashSet::new(),
        }
    }

    /// Returns an index into a list of `count`; what is wrong with it is said.
    pub(super) fn index(
        &mut self,
        link: Link,
        count: usize,
        what: &str,
        place: &str,
    ) -> Option<usize> {
        let message = match link.0 {
            Some(at) if at < count => return Some(at),
            Some(at) => format!("{what} {at} is out of range: {}", there_are(count, what)),
            None => format!("a {what} is missing"),
        };
        self.report.warn(place, message, LEFT_OUT);
        None
    }

    pub(super) fn node(&mut self, link: Link, place: &str) -> Option<usize> {
        self.index(link, self.root.nodes.len(), "node", place)
    }

    /// Gives a bone to a node, unless either has another. `name` is what the file calls it.
    pub(super) fn bone(&mut self, bone: Option<&'static str>, name: &str, node: Link, place: &str) {
        let Some(bone) = bone else {
            let message = format!("no bone is called `{name}`");
            return self.report.warn(place, message, LEFT_OUT);
        };
        let Some(node) = self.node(node, place) else {
            return;
        };
        if self.avatar.bones.contains_key(bone) || !self.bones.insert(node) {
            let message = format!("`{bone}`, or its node {node}, is there twice");
            self.report.warn(place, message, "the first one counts");
            return;
        }
        self.avatar.bones.insert(bone, node);
    }

    /// Reads how a character looks: inward, outward, down, and up, each under its name in the file.
    pub(super) fn look_at(
        &mut self,
        offset: [f32; 3],
        by_expressions: bool,
        ranges: [(&str, &Option<Part<Range>>); 4],
        place: &str,
    ) {
        let usual = RangeMap {
            output: if by_expressions { 1.0 } else { 10.0 },
            ..RangeMap::default()
        };
        let ranges = ranges.map(|(name, range)| {
            let range = range
                .as_ref()?
                .get(&format!("{place}.{name}"), self.report)?;
            Some(RangeMap {
                input: range.input_max_value.within(0.0, 180.0, usual.input),
                output: range.output_scale.within(0.0, 180.0, usual.output),
            })
        });
        self.avatar.look_at = Some(AvatarLookAt {
            offset: self.point(offset),
            by_expressions,
            ranges: ranges.map(|range| range.unwrap_or(usual)),
        });
    }

    /// Counts what following links comes to. `false` for more than any avatar has.
    pub(super) fn charge(&mut self, links: usize, place: &str) -> bool {
        self.links = self.links.saturating_add(links);
        if self.links > MOST_LINKS {
            let message = "VRM's lists refer to too much";
            self.report.warn(place, message, LEFT_OUT);
        }
        self.links <= MOST_LINKS
    }

    /// Adds an expression, unless another has its name.
    pub(super) fn expression(&mut self, found: FileExpression, place: &str) {
        let name = found.expression.name.to_string();
        if !self.names.insert(name) {
            let message = format!("there is another expression `{}`", found.expression.name);
            self.report.warn(place, message, "the first one counts");
            return;
        }
        self.expressions.push(found);
    }

    /// Returns the bind of a node's target; what is wrong with it is said.
    pub(super) fn bind(
        &mut self,
        node: usize,
        target: Link,
        share: Number,
        place: &str,
    ) -> Option<Bind> {
        let mesh = self.root.nodes[node].mesh.map(Index::value);
        let count = mesh.and_then(|mesh| self.targets.get(mesh).copied());
        let Some(count) = count else {
            let message = format!("node {node} has no mesh");
            self.report.warn(place, message, LEFT_OUT);
            return None;
        };
        let target = self.index(target, count, "morph target", place)?;
        let share = share.within(-1.0, 1.0, 1.0);
        Some(Bind {
            node,
            target,
            share,
        })
    }

    /// The color of a material that an expression changes.
    pub(super) fn color(
        &self,
        material: usize,
        property: &str,
        value: &[Number],
    ) -> Option<ColorBind> {
        Some(ColorBind {
            material: self.material(material).into(),
            property: property.into(),
            value: Vec4::from_array(numbers(value, [1.0; 4])?),
        })
    }

    /// The texture coordinates of a material that an expression changes.
    pub(super) fn texture(&self, material: usize, scale: Vec2, offset: Vec2) -> TextureBind {
        TextureBind {
            material: self.material(material).into(),
            scale,
            offset,
        }
    }

    /// The name of a material, as the model has it.
    fn material(&self, at: usize) -> String {
        let given = self.materials.get(at).cloned().flatten();
        let given = given.filter(|name| !name.trim().is_empty());
        given.unwrap_or_else(|| format!("material{at}"))
    }

    /// A vector in Bevy's axes, and in model units.
    pub(super) fn point(&self, numbers: [f32; 3]) -> Vec3 {
        let point = self.basis.point(Vec3::from(numbers));
        if point.is_finite() { point } else { Vec3::ZERO }
    }

    /// A direction in Bevy's axes.
    pub(super) fn direction(&self, numbers: [f32; 3]) -> Vec3 {
        self.basis.direction(Vec3::from(numbers))
    }

    /// A length in model units.
    pub(super) fn length(&self, number: Number) -> f32 {
        let length = number.within(0.0, 1e6, 0.0);
        self.point([length; 3]).x.abs()
    }
}

/// Numbers of a list that may be shorter than it should. `None` if one is not finite.
pub(super) fn numbers<const N: usize>(given: &[Number], usual: [f32; N]) -> Option<[f32; N]> {
    let mut out = usual;
    for (out, given) in out.iter_mut().zip(given) {
        *out = given.0?;
    }
    Some(out)
}

/// Three numbers of a list, or those of a default.
pub(super) fn three(given: &Option<Vec<Number>>, usual: [f32; 3]) -> [f32; 3] {
    let given = given.as_deref().filter(|given| given.len() >= 3);
    given
        .and_then(|given| numbers(given, usual))
        .unwrap_or(usual)
}

/// Nodes by their mesh.
pub(super) fn nodes_by_mesh(root: &Root) -> BTreeMap<usize, Vec<usize>> {
    let mut nodes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, node) in root.nodes.iter().enumerate() {
        if let Some(mesh) = node.mesh {
            nodes.entry(mesh.value()).or_default().push(at);
        }
    }
    nodes
}

/// The effect of an expression on others, as VRM 1.0 names it.
pub(super) fn override_of(name: &str) -> ExpressionOverride {
    match name {
        "block" => ExpressionOverride::Block,
        "blend" => ExpressionOverride::Blend,
        _ => ExpressionOverride::None,
    }
}
