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
    let plain = plain(String::new());
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

/// Returns the material of a subset without one.
pub(super) fn plain(name: String) -> Material {
    Material {
        name,
        normal_map_green_down: true,
        ..Material::default()
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
mod tests {
    use super::*;

    fn import_one(material: M3dMaterial) -> Material {
        import(&M3d {
            materials: vec![material],
            ..M3d::default()
        })
        .remove(0)
    }

    #[test]
    fn fresnel_and_roughness_of_the_dx12_dialect_are_converted() {
        let m = import_one(M3dMaterial {
            name: Some("jacket".into()),
            diffuse: [0.8, 0.7, 0.6],
            // Not the default of 0.04, which is a reflectance of 0.5.
            fresnel0: Some([0.11, 0.09, 0.07]),
            roughness: Some(0.4),
            alpha_clip: true,
            diffuse_map: Some("jacket.dds".into()),
            normal_map: Some(" ".into()),
            ..M3dMaterial::default()
        });
        assert_eq!(
            (&*m.name, m.base_color, m.roughness),
            ("jacket", [0.8, 0.7, 0.6, 1.0], 0.4)
        );
        assert!((m.reflectance - 0.75).abs() < 1e-6);
        assert_eq!(
            (m.alpha_cutoff, m.double_sided, m.normal_map_green_down),
            (Some(0.1), true, true)
        );
        assert_eq!(
            (m.base_color_map.as_deref(), m.normal_map),
            (Some("jacket.dds"), None)
        );
    }

    #[test]
    fn an_exponent_becomes_roughness_and_nameless_materials_are_numbered() {
        let of = |power| M3dMaterial {
            specular_power: Some(power),
            ..M3dMaterial::default()
        };
        let materials = import(&M3d {
            materials: vec![of(0.0), of(30.0)],
            ..M3d::default()
        });
        assert_eq!(materials[0].roughness, 1.0);
        assert!((materials[1].roughness - 0.5).abs() < 1e-6);
        assert_eq!(
            (&*materials[0].name, &*materials[1].name),
            ("material0", "material1")
        );
    }

    #[test]
    fn numbers_that_are_not_finite_are_replaced() {
        let m = import_one(M3dMaterial {
            diffuse: [f32::NAN, -1.0, f32::INFINITY],
            fresnel0: Some([f32::NAN; 3]),
            roughness: Some(f32::INFINITY),
            ..M3dMaterial::default()
        });
        assert_eq!(m.base_color, [1.0, 0.0, 1.0, 1.0]);
        assert!((0.0..=1.0).contains(&m.roughness) && (0.0..=1.0).contains(&m.reflectance));
    }

    #[test]
    fn exported_materials_round_trip() {
        let material = Material {
            name: "skin".into(),
            type_name: Some("Hair".into()),
            base_color: [0.25, 0.5, 0.75, 1.0],
            base_color_map: Some("skin.png".into()),
            normal_map: Some("skin_n.png".into()),
            roughness: 0.3,
            reflectance: 0.75,
            alpha_cutoff: Some(ALPHA_CUTOFF),
            double_sided: true,
            ..plain(String::new())
        };
        assert_eq!(import_one(export(&material, true)), material);
    }
}
