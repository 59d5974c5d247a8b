//! Frank Luna's text model format, `.m3d`, in every dialect found in the wild.

mod check;
mod parse;
mod write;

pub use parse::parse;
pub use write::write;

use serde::{Deserialize, Serialize};

/// The contents of an `.m3d` file, in its own axes, handedness and order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct M3d {
    /// The exporter whose habits the file follows.
    pub dialect: Dialect,
    /// One per subset in the usual case; may be fewer or more than the subsets.
    pub materials: Vec<M3dMaterial>,
    /// Ranges of vertices and triangles; every range is inside the file's data.
    pub subsets: Vec<M3dSubset>,
    /// Vertices in file order.
    pub vertices: Vec<M3dVertex>,
    /// Triangles as indices into `vertices`, each in range.
    pub triangles: Vec<[u32; 3]>,
    /// The skeleton; empty for a static model.
    pub bones: Vec<M3dBone>,
    /// Animation clips.
    pub clips: Vec<M3dClip>,
}

/// The habits of different exporters, distinguished by their labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Luna's Direct3D 12 book: materials with `Name`, `Fresnel0`, `Roughness`.
    #[default]
    Dx12,
    /// Luna's Direct3D 11 book: `Ambient`, `Specular`, `SpecPower`, `Effect`.
    Dx11,
    /// The Direct3D 10 era: three counts, a `Subsets` section, four numbers per triangle.
    Dx10,
    /// imm_engine: dashes, counts without `#`, `P: T: N: T:`.
    Imm,
    /// Home-made exporters with labels of their own.
    Other,
}

/// A material. Fields a dialect lacks keep their `Default`.
///
/// Text that is empty, `-`, `None` or `NULL` in the file is `None` here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct M3dMaterial {
    /// Name, if the dialect has names.
    pub name: Option<String>,
    /// Linear RGB factor of the diffuse map.
    pub diffuse: [f32; 3],
    /// Reflectance at normal incidence, RGB (DX12).
    pub fresnel0: Option<[f32; 3]>,
    /// 0 (mirror) to 1 (rough) (DX12).
    pub roughness: Option<f32>,
    /// Blinn–Phong exponent (DX11, imm).
    pub specular_power: Option<f32>,
    /// Specular RGB (DX11, imm).
    pub specular: Option<[f32; 3]>,
    /// Ambient RGB (DX11, imm).
    pub ambient: Option<[f32; 3]>,
    /// Mirror reflectivity RGB (DX10, DX11, imm).
    pub reflectivity: Option<[f32; 3]>,
    /// `true` if texels of low alpha are cut out.
    pub alpha_clip: bool,
    /// `MaterialTypeName` (DX12) or `Effect` (DX11, imm), such as `Skinned`.
    pub effect: Option<String>,
    /// Diffuse map as written.
    pub diffuse_map: Option<String>,
    /// Normal map as written.
    pub normal_map: Option<String>,
    /// Specular map as written (DX10).
    pub specular_map: Option<String>,
}

impl Default for M3dMaterial {
    fn default() -> Self {
        Self {
            name: None,
            diffuse: [1.0; 3],
            fresnel0: None,
            roughness: None,
            specular_power: None,
            specular: None,
            ambient: None,
            reflectivity: None,
            alpha_clip: false,
            effect: None,
            diffuse_map: None,
            normal_map: None,
            specular_map: None,
        }
    }
}

/// A range of the model drawn with one material.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct M3dSubset {
    /// Identifier as written; usually the material's index, sometimes nonsense.
    pub id: u32,
    /// First vertex.
    pub vertex_start: u32,
    /// Number of vertices.
    pub vertex_count: u32,
    /// First triangle.
    pub face_start: u32,
    /// Number of triangles.
    pub face_count: u32,
}

/// A vertex. Static models leave the weights at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct M3dVertex {
    /// Position in model units.
    pub position: [f32; 3],
    /// Tangent and, in `w`, the bitangent's sign.
    pub tangent: [f32; 4],
    /// Normal; not always of unit length, sometimes zero.
    pub normal: [f32; 3],
    /// Texture coordinates, V down.
    pub tex_coord: [f32; 2],
    /// Weights as written: they need not sum to one and may be negative. In a file that writes
    /// three, the fourth is what they lack of one.
    pub weights: [f32; 4],
    /// Bone of each weight, in range of the file's bones if it has any.
    pub bones: [u32; 4],
}

/// A bone. Bones have no names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct M3dBone {
    /// Inverse bind matrix, row-major for row vectors: `v' = v · offset`, translation in the last row.
    pub offset: [[f32; 4]; 4],
    /// Parent, in range; parents form no cycle. `None` for a root. A parent may come after its child.
    pub parent: Option<u32>,
}

/// A clip: keys for every bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct M3dClip {
    /// Name; may hold spaces.
    pub name: String,
    /// The keys of each of [`M3d::bones`], sorted by time; a bone may have none, and keys may share a time.
    pub bones: Vec<Vec<M3dKey>>,
}

/// A bone's local transform at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct M3dKey {
    /// Seconds from the clip's start.
    pub time: f32,
    /// Translation relative to the parent.
    pub translation: [f32; 3],
    /// Scale.
    pub scale: [f32; 3],
    /// Rotation as a quaternion x, y, z, w, as written.
    pub rotation: [f32; 4],
}
