//! Materials, before their textures are loaded.

use serde::Serialize;

/// A material for a metallic–roughness renderer.
///
/// Maps are file names as the model contains them; see [`TextureFiles`](crate::import::TextureFiles) for finding them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Name, unique within the model.
    pub name: String,
    /// Name of the kind of material, by which programs choose a shader: the `MaterialTypeName` or `Effect` of an `.m3d`.
    pub type_name: Option<String>,
    /// Linear RGBA factor of the base color map.
    pub base_color: [f32; 4],
    /// Base color map, sRGB; `None` for a plain material.
    pub base_color_map: Option<String>,
    /// Tangent-space normal map, linear.
    pub normal_map: Option<String>,
    /// Whether green points down in the normal map (Direct3D's convention).
    pub normal_map_green_down: bool,
    /// Specular map; listed, but not rendered.
    pub specular_map: Option<String>,
    /// Perceptual roughness, 0..=1.
    pub roughness: f32,
    /// Reflectance in Bevy's sense: F0 = 0.16 · reflectance².
    pub reflectance: f32,
    /// Texels with less alpha than this are not drawn.
    pub alpha_cutoff: Option<f32>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            type_name: None,
            base_color: [1.0; 4],
            base_color_map: None,
            normal_map: None,
            normal_map_green_down: false,
            specular_map: None,
            roughness: 0.8,
            reflectance: 0.5,
            alpha_cutoff: None,
            double_sided: false,
        }
    }
}
