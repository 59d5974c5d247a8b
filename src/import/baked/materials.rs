//! Materials of a baked file.

use super::stream::{Damaged, Reader, Stored, stored, stored_enums};
use crate::model::{Maps, Material, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform};

stored! {
    Material {
        name, type_name, base_color, base_color_map, normal_map, normal_map_green_down, specular_map, roughness, reflectance,
        metallic, metallic_roughness_map, occlusion_map, emissive, emissive_map, alpha_cutoff, alpha_blend, double_sided,
        unlit, uv_transform, tex_coord_sets, samplers,
    }
    UvTransform { offset, rotation, scale }
    Sampler { wrap_u, wrap_v, magnify, minify, mip_levels }
}

impl<T: Stored> Stored for Maps<T> {
    fn write(&self, to: &mut Vec<u8>) {
        let Self {
            base_color,
            normal,
            metallic_roughness,
            occlusion,
            emissive,
        } = self;
        for map in [base_color, normal, metallic_roughness, occlusion, emissive] {
            map.write(to);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        Ok(Self {
            base_color: from.read()?,
            normal: from.read()?,
            metallic_roughness: from.read()?,
            occlusion: from.read()?,
            emissive: from.read()?,
        })
    }
}

stored_enums! {
    TextureWrap { Repeat = 0, Mirror = 1, Clamp = 2 }
    TextureFilter { Nearest = 0, Linear = 1 }
    MipFilter { Off = 0, Nearest = 1, Linear = 2 }
}
