//! The part of glTF's JSON that a character needs.
//!
//! Everything else is skipped, whatever it holds: cameras, lights, other programs' extensions.
//! These are the rules for the rest:
//!
//! - shape and motion must be of the right type, or the file is refused. What the specification doesn't require may be missing
//!   or `null`, and whole numbers may be written as `2.0`;
//! - accessors and buffer views are read in full only if something uses them;
//! - names, and everything about looks, are read one by one. What is of the wrong type counts as missing: see [`loose`] and
//!   [`Raw`].
//!
//! *Rejected: the `gltf` crate.* It refuses a file for a field that the character doesn't need, or
//! that the specification doesn't require, and the fields that it reads depend on the features that
//! other crates enable.

mod place;
mod values;

pub(super) use place::place_at;
pub(super) use values::{Index, Lazy, Raw, Whole, loose, message, present};

use super::meshopt;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, fmt};
use values::{Word, known, known_word, or_default, target_names, usual, word_or_none};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) accessors: Vec<Lazy<Accessor>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) animations: Vec<Animation>,
    #[serde(deserialize_with = "loose")]
    pub(super) asset: Asset,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) buffers: Vec<Buffer>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) buffer_views: Vec<Lazy<View>>,
    #[serde(default, rename = "extensions", deserialize_with = "loose")]
    pub(super) vrm: VrmExtensions,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) extensions_required: Vec<String>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) extensions_used: Vec<String>,
    pub(super) images: Raw,
    pub(super) materials: Raw,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) nodes: Vec<Node>,
    pub(super) samplers: Raw,
    pub(super) scene: Option<Index>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) skins: Vec<Skin>,
    pub(super) textures: Raw,
}

/// VRM's extensions of a file.
#[derive(Default, Deserialize)]
pub(super) struct VrmExtensions {
    #[serde(default, rename = "VRM", deserialize_with = "loose")]
    pub(super) vrm_0: Raw,
    #[serde(default, rename = "VRMC_vrm", deserialize_with = "loose")]
    pub(super) vrm_1: Raw,
    #[serde(default, rename = "VRMC_springBone", deserialize_with = "loose")]
    pub(super) spring_bone: Raw,
    #[serde(default, rename = "VRMC_vrm_animation", deserialize_with = "loose")]
    pub(super) animation: Raw,
}

impl VrmExtensions {
    /// Returns `true` if a file is a VRM 0 character. It faces -Z, where glTF's models face +Z.
    pub(super) fn is_vrm_0(&self) -> bool {
        self.vrm_0.is_some() && self.vrm_1.is_none()
    }

    /// Returns `true` if the file has materials of VRM's own shader, MToon.
    pub(super) fn has_toon_materials(&self, used: &[String]) -> bool {
        let is_named = |raw: &RawValue| raw.get().contains("VRM/MToon");
        self.vrm_0.as_deref().is_some_and(is_named)
            || used.iter().any(|name| name == "VRMC_materials_mtoon")
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    #[serde(default, deserialize_with = "loose")]
    pub(super) min_version: Option<Version>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) version: Option<Version>,
}

/// A version such as `2.0`, which some programs write as a number.
pub(super) enum Version {
    Text(String),
    Number(f64),
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;

        impl Visitor<'_> for TextOrNumber {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Version, E> {
                Ok(Version::Text(text.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Version, E> {
                Ok(Version::Number(number as f64))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Version, E> {
                Ok(Version::Number(number))
            }
        }

        deserializer.deserialize_any(TextOrNumber)
    }
}

impl Version {
    /// The digits before the point.
    pub(super) fn major(&self) -> Option<u32> {
        match self {
            Self::Text(text) => text.split('.').next()?.parse().ok(),
            Self::Number(number) => Some(*number as u32),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<Index>,
    pub(super) byte_offset: Option<Whole>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) component_type: Option<ComponentType>,
    pub(super) count: Whole,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) normalized: bool,
    pub(super) sparse: Option<Sparse>,
    #[serde(default, rename = "type", deserialize_with = "word_or_none")]
    pub(super) kind: Option<Type>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub(super) count: Whole,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: Index,
    pub(super) byte_offset: Option<Whole>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) component_type: Option<ComponentType>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: Index,
    pub(super) byte_offset: Option<Whole>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Whole")]
pub(super) enum ComponentType {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl TryFrom<Whole> for ComponentType {
    type Error = &'static str;

    fn try_from(Whole(number): Whole) -> Result<Self, Self::Error> {
        Ok(match number {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return Err("an unknown type of components"),
        })
    }
}

impl ComponentType {
    /// Bytes of a component.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Word for Type {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "SCALAR" => Self::Scalar,
            "VEC2" => Self::Vec2,
            "VEC3" => Self::Vec3,
            "VEC4" => Self::Vec4,
            "MAT2" => Self::Mat2,
            "MAT3" => Self::Mat3,
            "MAT4" => Self::Mat4,
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "`SCALAR`",
            Self::Vec2 => "`VEC2`",
            Self::Vec3 => "`VEC3`",
            Self::Vec4 => "`VEC4`",
            Self::Mat2 => "`MAT2`",
            Self::Mat3 => "`MAT3`",
            Self::Mat4 => "`MAT4`",
        })
    }
}

impl Type {
    /// Components of an element.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vec2 => 2,
            Self::Vec3 => 3,
            Self::Vec4 | Self::Mat2 => 4,
            Self::Mat3 => 9,
            Self::Mat4 => 16,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Animation {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) channels: Vec<Channel>,
    pub(super) extras: Raw,
    #[serde(default, deserialize_with = "loose")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub(super) sampler: Index,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) target: ChannelTarget,
}

/// The property that a channel animates, whether it is given as such or by the extension `KHR_animation_pointer`.
#[derive(Default, Deserialize)]
#[serde(from = "TargetFields")]
pub(super) struct ChannelTarget {
    /// `None` for anything but a node, such as a material or a light.
    pub(super) node: Option<Index>,
    /// The mesh whose weights are animated, for all nodes that have none of their own.
    pub(super) mesh: Option<Index>,
    /// `None` for an unknown one.
    pub(super) path: Option<Property>,
}

#[derive(Deserialize)]
struct TargetFields {
    node: Option<Index>,
    #[serde(default, deserialize_with = "word_or_none")]
    path: Option<TargetPath>,
    #[serde(default, deserialize_with = "loose")]
    extensions: TargetExtensions,
}

#[derive(Default, Deserialize)]
struct TargetExtensions {
    #[serde(default, rename = "KHR_animation_pointer", deserialize_with = "loose")]
    pointer: Pointer,
}

#[derive(Default, Deserialize)]
struct Pointer {
    #[serde(default, deserialize_with = "loose")]
    pointer: Option<String>,
}

impl From<TargetFields> for ChannelTarget {
    fn from(
        TargetFields {
            node,
            path,
            extensions,
        }: TargetFields,
    ) -> Self {
        let of_node = |property| Self {
            node,
            mesh: None,
            path: property,
        };
        match path {
            Some(TargetPath::Pointer) => {}
            Some(TargetPath::Property(property)) => return of_node(Some(property)),
            None => return of_node(None),
        }
        let found = || {
            let pointer = extensions.pointer.pointer.as_deref()?;
            let (list, path) = pointer.strip_prefix('/')?.split_once('/')?;
            let (index, path) = path.split_once('/')?;
            let index = Some(Index::from(Whole(index.parse().ok()?)));
            let property = Property::of_pointer(path)?;
            let [node, mesh] = match list {
                "nodes" => [index, None],
                "meshes" if property.is_weights() => [None, index],
                _ => return None,
            };
            let path = Some(property);
            Some(Self { node, mesh, path })
        };
        found().unwrap_or_default()
    }
}

/// The path of a channel's target.
enum TargetPath {
    Property(Property),
    /// The extension says what is animated.
    Pointer,
}

impl Word for TargetPath {
    fn of_name(name: &str) -> Option<Self> {
        match name {
            "pointer" => Some(Self::Pointer),
            name => Property::of_name(name).map(Self::Property),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    Translation,
    Rotation,
    Scale,
    MorphTargetWeights,
    /// One of the weights.
    MorphTargetWeight(u32),
    /// That of `KHR_node_visibility`.
    Visibility,
}

impl Property {
    /// The property at the end of a pointer.
    fn of_pointer(path: &str) -> Option<Self> {
        match path.split_once('/') {
            None => Self::of_name(path),
            Some(("weights", target)) => Some(Self::MorphTargetWeight(target.parse().ok()?)),
            Some(("extensions", "KHR_node_visibility/visible")) => Some(Self::Visibility),
            Some(_) => None,
        }
    }

    pub(super) fn is_weights(self) -> bool {
        matches!(self, Self::MorphTargetWeights | Self::MorphTargetWeight(_))
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "translation" => Self::Translation,
            "rotation" => Self::Rotation,
            "scale" => Self::Scale,
            "weights" => Self::MorphTargetWeights,
            _ => return None,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub(super) input: Index,
    /// `None` for an unknown one.
    #[serde(default = "usual", deserialize_with = "known_word")]
    pub(super) interpolation: Option<Interpolation>,
    pub(super) output: Index,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Interpolation {
    #[default]
    Linear,
    Step,
    CubicSpline,
}

impl Word for Interpolation {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "LINEAR" => Self::Linear,
            "STEP" => Self::Step,
            "CUBICSPLINE" => Self::CubicSpline,
            _ => return None,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) byte_length: Whole,
    #[serde(default, deserialize_with = "loose")]
    extensions: BufferExtensions,
    pub(super) uri: Option<String>,
}

#[derive(Default, Deserialize)]
struct BufferExtensions {
    #[serde(
        default,
        rename = "EXT_meshopt_compression",
        deserialize_with = "loose"
    )]
    ext: MeshoptFallback,
    #[serde(
        default,
        rename = "KHR_meshopt_compression",
        deserialize_with = "loose"
    )]
    khr: MeshoptFallback,
}

#[derive(Default, Deserialize)]
struct MeshoptFallback {
    #[serde(default, deserialize_with = "loose")]
    fallback: bool,
}

impl Buffer {
    /// Returns `true` if only programs that cannot decompress need the buffer. It may not even exist.
    pub(super) fn is_fallback(&self) -> bool {
        self.extensions.ext.fallback || self.extensions.khr.fallback
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) buffer: Index,
    pub(super) byte_length: Whole,
    pub(super) byte_offset: Option<Whole>,
    pub(super) byte_stride: Option<Index>,
    #[serde(default, deserialize_with = "loose")]
    extensions: ViewExtensions,
}

#[derive(Default, Deserialize)]
struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<Box<Lazy<Meshopt>>>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<Box<Lazy<Meshopt>>>,
}

/// The data of a view that meshoptimizer has compressed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meshopt {
    pub(super) buffer: Index,
    pub(super) byte_length: Whole,
    pub(super) byte_offset: Option<Whole>,
    pub(super) byte_stride: Whole,
    pub(super) count: Whole,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) filter: meshopt::Filter,
    pub(super) mode: meshopt::Mode,
}

impl View {
    /// Returns the parameters of the view's compression by meshoptimizer, or an error; `None` if it
    /// isn't compressed.
    pub(super) fn meshopt(&self) -> Option<Result<&Meshopt, &str>> {
        let ViewExtensions { ext, khr } = &self.extensions;
        Some(khr.as_ref().or(ext.as_ref())?.get())
    }
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    #[serde(default, deserialize_with = "loose")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) primitives: Vec<Primitive>,
    /// Names of morph targets, in the extras.
    #[serde(default, rename = "extras", deserialize_with = "target_names")]
    pub(super) target_names: Vec<Option<String>>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) weights: Option<Vec<f32>>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    #[serde(default, deserialize_with = "attributes")]
    pub(super) attributes: BTreeMap<Semantic, Index>,
    #[serde(default, deserialize_with = "loose")]
    extensions: PrimitiveExtensions,
    pub(super) indices: Option<Index>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) material: Option<Index>,
    /// `None` for an unknown one.
    #[serde(default = "usual", deserialize_with = "known")]
    pub(super) mode: Option<Mode>,
    #[serde(default, rename = "extras", deserialize_with = "target_names")]
    pub(super) target_names: Vec<Option<String>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) targets: Vec<Target>,
}

/// The attributes that a morph target changes.
#[derive(Deserialize)]
pub(super) struct Target(#[serde(deserialize_with = "attributes")] BTreeMap<Semantic, Index>);

impl Target {
    pub(super) fn get(&self, semantic: Semantic) -> Option<Index> {
        self.0.get(&semantic).copied()
    }
}

#[derive(Default, Deserialize)]
struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    draco: Option<Box<Lazy<Draco>>>,
}

/// The data of a primitive that Draco has compressed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Draco {
    /// Draco's numbers of the attributes.
    #[serde(default, deserialize_with = "attributes")]
    pub(super) attributes: BTreeMap<Semantic, Index>,
    pub(super) buffer_view: Index,
}

impl Primitive {
    /// Returns the reference to the compressed data of a primitive, which may also be there in
    /// full, or an error in it.
    pub(super) fn draco(&self) -> Option<Result<&Draco, &str>> {
        Some(self.extensions.draco.as_ref()?.get())
    }
}

/// Attributes that are read. Others are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Semantic {
    Positions,
    Normals,
    Tangents,
    Colors(u32),
    TexCoords(u32),
    Joints(u32),
    Weights(u32),
}

impl Semantic {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "POSITION" => Self::Positions,
            "NORMAL" => Self::Normals,
            "TANGENT" => Self::Tangents,
            name => {
                let (kind, set) = name.rsplit_once('_')?;
                let set = set.parse().ok()?;
                match kind {
                    "COLOR" => Self::Colors(set),
                    "TEXCOORD" => Self::TexCoords(set),
                    "JOINTS" => Self::Joints(set),
                    "WEIGHTS" => Self::Weights(set),
                    _ => return None,
                }
            }
        })
    }
}

impl fmt::Display for Semantic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positions => f.write_str("POSITION"),
            Self::Normals => f.write_str("NORMAL"),
            Self::Tangents => f.write_str("TANGENT"),
            Self::Colors(set) => write!(f, "COLOR_{set}"),
            Self::TexCoords(set) => write!(f, "TEXCOORD_{set}"),
            Self::Joints(set) => write!(f, "JOINTS_{set}"),
            Self::Weights(set) => write!(f, "WEIGHTS_{set}"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Whole")]
pub(super) enum Mode {
    PointsOrLines,
    #[default]
    Triangles,
    TriangleStrip,
    TriangleFan,
}

impl TryFrom<Whole> for Mode {
    type Error = &'static str;

    fn try_from(Whole(number): Whole) -> Result<Self, Self::Error> {
        Ok(match number {
            0..4 => Self::PointsOrLines,
            4 => Self::Triangles,
            5 => Self::TriangleStrip,
            6 => Self::TriangleFan,
            _ => return Err("an unknown mode, expected 0 to 6"),
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default, deserialize_with = "present")]
    pub(super) camera: bool,
    pub(super) children: Option<Vec<Index>>,
    #[serde(default, deserialize_with = "loose")]
    extensions: NodeExtensions,
    pub(super) extras: Raw,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) mesh: Option<Index>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) name: Option<String>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) skin: Option<Index>,
    pub(super) translation: Option<[f32; 3]>,
    #[serde(default, deserialize_with = "loose")]
    pub(super) weights: Option<Vec<f32>>,
}

#[derive(Default, Deserialize)]
struct NodeExtensions {
    #[serde(
        default,
        rename = "EXT_mesh_gpu_instancing",
        deserialize_with = "present"
    )]
    instancing: bool,
    #[serde(default, rename = "KHR_lights_punctual", deserialize_with = "present")]
    light: bool,
    #[serde(default, rename = "KHR_node_visibility", deserialize_with = "loose")]
    visibility: Visibility,
    #[serde(default, rename = "MSFT_lod", deserialize_with = "loose")]
    lod: Lod,
    #[serde(default, rename = "VRMC_node_constraint")]
    constraint: Raw,
}

#[derive(Default, Deserialize)]
struct Visibility {
    #[serde(default, deserialize_with = "loose")]
    visible: Option<bool>,
}

#[derive(Default, Deserialize)]
struct Lod {
    #[serde(default, deserialize_with = "loose")]
    ids: Vec<Index>,
}

impl Node {
    /// Returns the extension that turns the node with another.
    pub(super) fn constraint(&self) -> &Raw {
        &self.extensions.constraint
    }

    /// Returns `true` if there is a light at the node.
    pub(super) fn is_light(&self) -> bool {
        self.extensions.light
    }

    /// Returns `true` if the node and all below it are hidden at rest.
    pub(super) fn is_hidden(&self) -> bool {
        self.extensions.visibility.visible == Some(false)
    }

    /// Returns the nodes that are shown in place of this one when it is small on screen.
    pub(super) fn lods(&self) -> &[Index] {
        &self.extensions.lod.ids
    }

    /// Returns `true` if the node's mesh is drawn several times.
    pub(super) fn is_instanced(&self) -> bool {
        self.extensions.instancing
    }
}

#[derive(Deserialize)]
pub(super) struct Scene {
    pub(super) extras: Raw,
    #[serde(default, deserialize_with = "loose")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) nodes: Vec<Index>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) inverse_bind_matrices: Option<Index>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) joints: Vec<Index>,
}

fn attributes<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Semantic, Index>, D::Error> {
    struct Attributes;

    impl<'de> Visitor<'de> for Attributes {
        type Value = BTreeMap<Semantic, Index>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with the accessors of attributes")
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(BTreeMap::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut attributes = BTreeMap::new();
            while let Some(name) = map.next_key::<String>()? {
                match Semantic::of_name(&name) {
                    Some(semantic) => {
                        if let Some(index) = map.next_value::<Option<Index>>()? {
                            attributes.insert(semantic, index);
                        }
                    }
                    None => {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
            }
            Ok(attributes)
        }
    }

    deserializer.deserialize_any(Attributes)
}
