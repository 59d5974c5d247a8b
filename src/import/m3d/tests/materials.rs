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
        normal_map_green_down: true,
        ..Material::default()
    };
    assert_eq!(import_one(export(&material, true)), material);
}
