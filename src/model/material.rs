//! Materials, before their textures are loaded.

use glam::Vec2;
use serde::Serialize;

/// A material for a metallic–roughness renderer.
///
/// Maps are file names as the model contains them.
///
/// ```
/// # use bevy_marionette::model::Material;
/// let gold = Material {
///     name: "gold".into(),
///     base_color: [1.0, 0.77, 0.34, 1.0],
///     metallic: 1.0,
///     roughness: 0.3,
///     ..Material::default()
/// };
/// ```
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
    /// `true` if green points down in the normal map (Direct3D's convention).
    pub normal_map_green_down: bool,
    /// Specular map; listed, but not rendered.
    pub specular_map: Option<String>,
    /// Perceptual roughness, 0..=1.
    pub roughness: f32,
    /// Reflectance in Bevy's sense: F0 = 0.16 · reflectance².
    pub reflectance: f32,
    /// Metallic factor, 0..=1.
    pub metallic: f32,
    /// Factors of the roughness, in green, and of [`Self::metallic`], in blue; linear.
    pub metallic_roughness_map: Option<String>,
    /// The share of ambient light that arrives, in red; linear.
    pub occlusion_map: Option<String>,
    /// Linear RGB of the light that the material emits; can be above 1.
    pub emissive: [f32; 3],
    /// Factor of [`Self::emissive`], sRGB.
    pub emissive_map: Option<String>,
    /// Texels with less alpha than this are not drawn.
    pub alpha_cutoff: Option<f32>,
    /// `true` if the material is blended with the image behind it, by its alpha.
    pub alpha_blend: bool,
    /// `true` if back faces are drawn.
    pub double_sided: bool,
    /// `true` if the base color is shown as it is, without light.
    pub unlit: bool,
    /// The transform of all maps' texture coordinates.
    #[doc(hidden)]
    pub uv_transform: UvTransform,
    /// The set of texture coordinates that each map uses: 0 for [`SkinPart::tex_coords`], or 1 for
    /// [`SkinPart::second_tex_coords`].
    ///
    /// [`SkinPart::tex_coords`]: super::SkinPart::tex_coords
    /// [`SkinPart::second_tex_coords`]: super::SkinPart::second_tex_coords
    #[doc(hidden)]
    pub tex_coord_sets: Maps<u8>,
    /// The sampler of each map.
    #[doc(hidden)]
    pub samplers: Maps<Sampler>,
}

/// A value for each map of a [`Material`] that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Maps<T> {
    /// For the base color map.
    pub base_color: T,
    /// For the normal map.
    pub normal: T,
    /// For the map of metallic and roughness.
    pub metallic_roughness: T,
    /// For the occlusion map.
    pub occlusion: T,
    /// For the emissive map.
    pub emissive: T,
}

impl<T> Maps<T> {
    /// Creates the same value for all maps.
    pub fn all(value: T) -> Self
    where
        T: Copy,
    {
        Self {
            base_color: value,
            normal: value,
            metallic_roughness: value,
            occlusion: value,
            emissive: value,
        }
    }
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
            metallic: 0.0,
            metallic_roughness_map: None,
            occlusion_map: None,
            emissive: [0.0; 3],
            emissive_map: None,
            alpha_cutoff: None,
            alpha_blend: false,
            double_sided: false,
            unlit: false,
            uv_transform: UvTransform::default(),
            tex_coord_sets: Maps::default(),
            samplers: Maps::default(),
        }
    }
}

/// A transform of texture coordinates: they are scaled, rotated, and then moved, as by glTF's `KHR_texture_transform`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UvTransform {
    /// The offset, which is added last.
    pub offset: [f32; 2],
    /// Counterclockwise, in radians.
    pub rotation: f32,
    /// Factors of U and V.
    pub scale: [f32; 2],
}

impl UvTransform {
    /// Transforms texture coordinates; exactly the same ones if it is the default.
    pub fn apply(&self, uv: Vec2) -> Vec2 {
        if *self == Self::default() {
            return uv;
        }
        let (sin, cos) = crate::trig::sin_cos_f32(self.rotation);
        let scaled = uv * Vec2::from(self.scale);
        let turned = Vec2::new(
            cos * scaled.x + sin * scaled.y,
            cos * scaled.y - sin * scaled.x,
        );
        turned + Vec2::from(self.offset)
    }
}

impl Default for UvTransform {
    fn default() -> Self {
        Self {
            offset: [0.0; 2],
            rotation: 0.0,
            scale: [1.0; 2],
        }
    }
}

/// The sampling of a texture. The default is to repeat it, with trilinear filtering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Sampler {
    /// The wrapping outside 0..=1 along U.
    pub wrap_u: TextureWrap,
    /// The wrapping outside 0..=1 along V.
    pub wrap_v: TextureWrap,
    /// The filter between texels that are larger than a pixel.
    pub magnify: TextureFilter,
    /// The filter between texels that are smaller than a pixel.
    pub minify: TextureFilter,
    /// The filter between mip levels.
    pub mip_levels: MipFilter,
}

/// The wrapping outside of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TextureWrap {
    /// The texture again.
    #[default]
    Repeat,
    /// The texture again, mirrored every other time.
    Mirror,
    /// The texels at its edge.
    Clamp,
}

/// The filter between texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TextureFilter {
    /// The nearest texel, as for pixel art.
    Nearest,
    /// A mean of the texels around.
    #[default]
    Linear,
}

/// The filter between mip levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum MipFilter {
    /// Only the full size is used.
    Off,
    /// The nearest level.
    Nearest,
    /// A mean of two levels.
    #[default]
    Linear,
}
