//! How a part looks, before there are textures.

use serde::Serialize;

/// A material in the terms of a metallic–roughness renderer. Maps are file names as the model wrote
/// them; finding them on disk is the concern of whoever loads them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Name, unique within the model.
    pub name: String,
    /// Linear RGBA factor of the base colour map.
    pub base_color: [f32; 4],
    /// Base colour map, sRGB; `None` for a plain material.
    pub base_color_map: Option<String>,
    /// Tangent-space normal map, linear.
    pub normal_map: Option<String>,
    /// Whether green points down in the normal map (Direct3D's convention).
    pub normal_map_green_down: bool,
    /// Specular map as the model wrote it; shown in listings, not rendered.
    pub specular_map: Option<String>,
    /// Perceptual roughness, 0..=1.
    pub roughness: f32,
    /// Reflectance in Bevy's sense: F0 = 0.16 · reflectance².
    pub reflectance: f32,
    /// Texels below this alpha are cut out.
    pub alpha_cutoff: Option<f32>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
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
