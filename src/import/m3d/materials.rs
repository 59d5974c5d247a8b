//! Converts the materials of an `.m3d` to metallic–roughness, and back.

use crate::{
    format::m3d::{M3d, M3dMaterial},
    import::names::UniqueNames,
    model::Material,
};

/// Texels below this alpha are discarded, as in Luna's shaders: `clip(alpha − 0.1)`.
const ALPHA_CUTOFF: f32 = 0.1;

/// Converts the file's materials in order. Unnamed ones are called `material0` and so on.
pub(super) fn import(m3d: &M3d) -> Vec<Material> {
    let mut names = UniqueNames::default();
    let unique = |(at, material): (usize, &M3dMaterial)| {
        let material = convert(at, material);
        Material {
            name: names.add(material.name),
            ..material
        }
    };
    m3d.materials.iter().enumerate().map(unique).collect()
}

fn convert(at: usize, m3d: &M3dMaterial) -> Material {
    let plain = Material {
        normal_map_green_down: true,
        ..Material::default()
    };
    let finite = |v: f32, otherwise: f32| if v.is_finite() { v.max(0.0) } else { otherwise };
    let [red, green, blue] = m3d.diffuse.map(|c| finite(c, 1.0));
    let text = |text: &Option<String>| text.clone().filter(|t| !t.trim().is_empty());
    Material {
        name: text(&m3d.name).unwrap_or_else(|| format!("material{at}")),
        type_name: text(&m3d.effect),
        base_color: [red, green, blue, 1.0],
        base_color_map: text(&m3d.diffuse_map),
        normal_map: text(&m3d.normal_map),
        specular_map: text(&m3d.specular_map),
        roughness: match (m3d.roughness, m3d.specular_power) {
            (Some(roughness), _) => finite(roughness, plain.roughness).min(1.0),
            (None, Some(power)) => roughness_of_power(finite(power, 0.0)),
            (None, None) => plain.roughness,
        },
        reflectance: match m3d.fresnel0 {
            // F0 = 0.16 · reflectance², so a reflectance of 1 is an F0 of 0.16, the maximum of a dielectric.
            Some(f0) => (finite(f0.iter().sum::<f32>() / 3.0, 0.04) / 0.16)
                .sqrt()
                .min(1.0),
            None => plain.reflectance,
        },
        alpha_cutoff: m3d.alpha_clip.then_some(ALPHA_CUTOFF),
        double_sided: m3d.alpha_clip,
        ..plain
    }
}

/// Returns the perceptual roughness whose highlight matches a Blinn–Phong exponent: α² = 2 / (power + 2), and
/// perceptual roughness is √α.
fn roughness_of_power(power: f32) -> f32 {
    (2.0 / (power + 2.0)).sqrt().sqrt()
}

/// Converts a material back. What `.m3d` cannot store is lost: double sides without a cutoff, a cutoff other than
/// [`ALPHA_CUTOFF`], a normal map with green up, alpha, and the specular map.
pub(super) fn export(material: &Material, skinned: bool) -> M3dMaterial {
    let [red, green, blue, _] = material.base_color;
    let effect = match (skinned, material.alpha_cutoff) {
        (true, _) => "Skinned",
        (false, Some(_)) => "AlphaTested",
        (false, None) => "Opaque",
    };
    M3dMaterial {
        name: Some(material.name.clone()),
        diffuse: [red, green, blue],
        fresnel0: Some([0.16 * material.reflectance * material.reflectance; 3]),
        roughness: Some(material.roughness),
        alpha_clip: material.alpha_cutoff.is_some(),
        effect: material.type_name.clone().or(Some(effect.into())),
        diffuse_map: material.base_color_map.clone(),
        normal_map: material.normal_map.clone(),
        ..M3dMaterial::default()
    }
}

#[cfg(test)]
#[path = "tests/materials.rs"]
mod tests;
