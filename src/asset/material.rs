//! Conversion of materials to [`StandardMaterial`].

use crate::{import::TextureMap, model::Material};
use bevy::{
    math::Affine2, mesh::UvChannel, pbr::StandardMaterial, prelude::*,
    render::render_resource::Face,
};

/// Converts a material. `texture` returns the texture of a map.
pub fn standard_material(
    material: &Material,
    mut texture: impl FnMut(TextureMap) -> Option<Handle<Image>>,
) -> StandardMaterial {
    let [r, g, b, a] = material.base_color;
    let [emitted_r, emitted_g, emitted_b] = material.emissive;
    let uv = &material.uv_transform;
    let channel = |map: TextureMap| match map.pick(&material.tex_coord_sets) {
        0 => UvChannel::Uv0,
        _ => UvChannel::Uv1,
    };
    StandardMaterial {
        base_color: Color::linear_rgba(r, g, b, a),
        base_color_texture: texture(TextureMap::BaseColor),
        base_color_channel: channel(TextureMap::BaseColor),
        normal_map_texture: texture(TextureMap::Normal),
        normal_map_channel: channel(TextureMap::Normal),
        // Bevy expects green up.
        flip_normal_map_y: material.normal_map_green_down,
        perceptual_roughness: material.roughness,
        reflectance: material.reflectance,
        metallic: material.metallic,
        metallic_roughness_texture: texture(TextureMap::MetallicRoughness),
        metallic_roughness_channel: channel(TextureMap::MetallicRoughness),
        occlusion_texture: texture(TextureMap::Occlusion),
        occlusion_channel: channel(TextureMap::Occlusion),
        emissive: LinearRgba::rgb(emitted_r, emitted_g, emitted_b),
        emissive_texture: texture(TextureMap::Emissive),
        emissive_channel: channel(TextureMap::Emissive),
        alpha_mode: match material.alpha_cutoff {
            Some(cutoff) => AlphaMode::Mask(cutoff),
            None if material.alpha_blend => AlphaMode::Blend,
            None => AlphaMode::Opaque,
        },
        double_sided: material.double_sided,
        // Bevy lights both sides of a double-sided material, but culls the back unless told otherwise.
        cull_mode: if material.double_sided {
            None
        } else {
            Some(Face::Back)
        },
        unlit: material.unlit,
        uv_transform: Affine2::from_scale_angle_translation(
            uv.scale.into(),
            // V points down, so the sense of a turn is reversed.
            -uv.rotation,
            uv.offset.into(),
        ),
        ..default()
    }
}

/// Returns the textures that [`standard_material`] sets.
pub(crate) fn textures_of(material: &mut StandardMaterial) -> [&mut Option<Handle<Image>>; 5] {
    let m = material;
    [
        &mut m.base_color_texture,
        &mut m.normal_map_texture,
        &mut m.metallic_roughness_texture,
        &mut m.occlusion_texture,
        &mut m.emissive_texture,
    ]
}
