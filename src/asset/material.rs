//! Conversion of materials to [`StandardMaterial`].

use crate::model::Material;
use bevy::{pbr::StandardMaterial, prelude::*, render::render_resource::Face};

/// Converts a material, with the textures that were found for it.
pub fn standard_material(
    material: &Material,
    base_color_texture: Option<Handle<Image>>,
    normal_map_texture: Option<Handle<Image>>,
) -> StandardMaterial {
    let [r, g, b, a] = material.base_color;
    StandardMaterial {
        base_color: Color::linear_rgba(r, g, b, a),
        base_color_texture,
        normal_map_texture,
        flip_normal_map_y: material.normal_map_green_down,
        perceptual_roughness: material.roughness,
        reflectance: material.reflectance,
        metallic: 0.0,
        alpha_mode: material.alpha_cutoff.map_or(AlphaMode::Opaque, AlphaMode::Mask),
        double_sided: material.double_sided,
        cull_mode: if material.double_sided { None } else { Some(Face::Back) },
        ..default()
    }
}
