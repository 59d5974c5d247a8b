//! Scenes at rest: axes, units, pivots, skins, materials.

use super::{
    BOUND,
    clips::{random_rig, variants},
    file::{Cluster, File, Y_UP, Z_UP},
    import, import_with_warnings, open,
    reference::{Reference, error, size},
};
use fastrand::Rng;
use glam::{DMat4, DVec3, Vec3};

const NO_WEIGHT: &str = "fbx: vertices without weights";

/// A tetrahedron around a point.
pub fn tetrahedron([x, y, z]: [f64; 3]) -> [[f64; 3]; 4] {
    [[x, y, z], [x + 1.0, y, z], [x, y + 1.0, z], [x, y, z + 1.0]]
}

pub const FACES: [&[i32]; 4] = [&[0, 2, 1], &[0, 1, 3], &[0, 3, 2], &[1, 2, 3]];

fn at(x: f64, y: f64, z: f64) -> DMat4 {
    DMat4::from_translation(DVec3::new(x, y, z))
}

/// Two joints above each other and a mesh between them, bound as they rest.
pub fn arm(file: &mut File) -> [u64; 4] {
    let root = file.node(
        "root",
        "LimbNode",
        0,
        &[("Lcl Translation", [0.0, 2.0, 0.0])],
    );
    let tip = file.node(
        "tip",
        "LimbNode",
        root,
        &[("Lcl Translation", [0.0, 3.0, 0.0])],
    );
    let body = file.node("body", "Mesh", 0, &[]);
    let mesh = file.mesh(body, &tetrahedron([0.0; 3]), &FACES, "");
    file.skin(
        mesh,
        &[
            Cluster {
                node: root,
                weights: vec![(0, 1.0), (1, 0.5), (2, 0.25)],
                mesh: DMat4::IDENTITY,
                joint: at(0.0, 2.0, 0.0),
            },
            Cluster {
                node: tip,
                weights: vec![(1, 0.5), (2, 0.75), (3, 1.0)],
                mesh: DMat4::IDENTITY,
                joint: at(0.0, 5.0, 0.0),
            },
        ],
    );
    [root, tip, body, mesh]
}

#[test]
fn bones_alone_are_a_skeleton() {
    let mut file = File::default();
    let group = file.node("group", "Null", 0, &[("Lcl Translation", [0.0, 1.0, 0.0])]);
    let root = file.node("root", "LimbNode", group, &[]);
    file.node(
        "tip",
        "LimbNode",
        root,
        &[("Lcl Translation", [0.0, 3.0, 0.0])],
    );
    file.node("camera", "Camera", 0, &[]);
    // A stack that moves nothing, which Maya always writes.
    file.stack("Take 001", [0.0, 1.0]);
    let (imported, reference) =
        import_with_warnings(&file.text(), "fbx: a stack that moves nothing");
    let skeleton = &imported.model.skeleton;
    assert_eq!(
        skeleton
            .names()
            .iter()
            .map(|name| &**name)
            .collect::<Vec<_>>(),
        ["root", "tip"]
    );
    assert!(imported.model.parts.is_empty() && imported.model.clips.is_empty());
    let at_rest = reference.at_rest();
    assert!(error(&at_rest, size(&at_rest), &imported, None, 0.0) < BOUND);
}

fn is_as_the_library_says(file: &File, expected: &[&str]) {
    let (imported, reference) = import(&file.text(), expected);
    let at_rest = reference.at_rest();
    let off = error(&at_rest, size(&at_rest), &imported, None, 0.0);
    assert!(off < 1e-6, "{off}");
}

#[test]
fn axes_and_units_become_meters_with_y_up_and_minus_z_to_the_front() {
    for (axes, unit, expected) in [
        (Y_UP, 100.0, Vec3::new(-1.0, 2.0, -3.0)),
        (Y_UP, 1.0, Vec3::new(-0.01, 0.02, -0.03)),
        (Z_UP, 100.0, Vec3::new(-1.0, 3.0, 2.0)),
        (Z_UP, 2.54, Vec3::new(-1.0, 3.0, 2.0) * 0.0254),
    ] {
        let mut file = File::new(axes, unit);
        let node = file.node("joint", "Mesh", 0, &[("Lcl Translation", [1.0, 2.0, 3.0])]);
        file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
        let (imported, _) = import(&file.text(), &[]);
        let model = &imported.model;
        let place = Vec3::from(model.skeleton.rest_model()[0].translation);
        assert!(
            place.distance(expected) < 1e-5,
            "{place} instead of {expected}"
        );
        assert!(model.skeleton.unit_scale());
        is_as_the_library_says(&file, &[]);
    }
}

#[test]
fn triangles_are_counterclockwise_from_outside_whatever_the_axes_and_mirrors() {
    for (axes, scale) in [(Y_UP, 1.0), (Z_UP, 1.0), (Y_UP, -1.0), (Z_UP, -2.0)] {
        let mut file = File::new(axes, 100.0);
        let above = file.node("above", "Null", 0, &[("Lcl Scaling", [scale, 1.0, 1.0])]);
        let node = file.node("joint", "Mesh", above, &[]);
        file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
        let (imported, _) = import(&file.text(), &[]);
        let part = &imported.model.parts[0];
        let center = part.positions.iter().sum::<Vec3>() / part.positions.len() as f32;
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(|vertex| part.positions[vertex as usize]);
            let normal = (b - a).cross(c - a);
            assert!(normal.dot(a - center) > 0.0, "{axes:?} {scale}");
            for vertex in triangle {
                assert!(part.normals[*vertex as usize].dot(normal) > 0.0);
            }
        }
        is_as_the_library_says(&file, &[]);
    }
}

#[test]
fn a_skin_follows_its_joints_and_vertices_without_weight_follow_the_node() {
    let mut file = File::default();
    arm(&mut file);
    let (imported, _) = import(&file.text(), &[]);
    assert_eq!(imported.model.skeleton.len(), 2);
    // Vertices of one joint and of two, at each of three corners.
    assert_eq!(imported.report.influences[1..3], [6, 6]);
    is_as_the_library_says(&file, &[]);

    let mut file = File::default();
    let root = file.node("root", "LimbNode", 0, &[]);
    let body = file.node("body", "Mesh", 0, &[("Lcl Translation", [5.0, 0.0, 0.0])]);
    let mesh = file.mesh(body, &tetrahedron([0.0; 3]), &FACES, "");
    let cluster = Cluster {
        node: root,
        weights: vec![(0, 1.0), (1, 1.0)],
        mesh: at(5.0, 0.0, 0.0),
        joint: at(0.0, 1.0, 0.0),
    };
    file.skin(mesh, &[cluster]);
    let (imported, _) = import_with_warnings(&file.text(), NO_WEIGHT);
    is_as_the_library_says(&file, &[NO_WEIGHT]);
    assert_eq!(
        imported
            .model
            .skeleton
            .names()
            .iter()
            .map(|name| &**name)
            .collect::<Vec<_>>(),
        ["root", "body"]
    );
}

#[test]
fn skins_that_were_bound_apart_share_their_joints() {
    let mut file = File::default();
    let [root, tip, ..] = arm(&mut file);
    let hat = file.node("hat", "Mesh", 0, &[("Lcl Scaling", [0.5, 0.5, 0.5])]);
    let mesh = file.mesh(hat, &tetrahedron([0.0, 4.0, 0.0]), &FACES, "");
    let of = |node, joint: DMat4, weight: f64| Cluster {
        node,
        weights: (0..4).map(|vertex| (vertex, weight)).collect(),
        mesh: DMat4::from_scale(DVec3::splat(0.5)),
        joint,
    };
    let turned = DMat4::from_rotation_y(0.4) * at(0.0, 2.0, 0.0);
    file.skin(
        mesh,
        &[
            of(root, turned, 0.3),
            of(tip, turned * at(0.0, 3.0, 0.0), 0.7),
        ],
    );
    is_as_the_library_says(&file, &[]);
}

#[test]
fn pivots_and_geometric_transforms_are_where_the_library_puts_them() {
    let mut file = File::new(Z_UP, 1.0);
    let root = file.node(
        "root",
        "LimbNode",
        0,
        &[
            ("Lcl Translation", [10.0, 20.0, 30.0]),
            ("Lcl Rotation", [10.0, 40.0, -70.0]),
            ("PreRotation", [90.0, 0.0, 30.0]),
            ("PostRotation", [0.0, 45.0, 0.0]),
            ("RotationOrder", [3.0, 0.0, 0.0]),
            ("RotationPivot", [1.0, 2.0, 3.0]),
            ("RotationOffset", [0.5, 0.0, 0.0]),
            ("ScalingPivot", [0.0, 3.0, 0.0]),
            ("ScalingOffset", [0.0, 0.0, 4.0]),
            ("Lcl Scaling", [1.5, 1.5, 1.5]),
        ],
    );
    let body = file.node(
        "body",
        "Mesh",
        root,
        &[
            ("Lcl Rotation", [0.0, 0.0, 30.0]),
            ("GeometricTranslation", [0.0, 5.0, 0.0]),
            ("GeometricRotation", [0.0, 60.0, 0.0]),
            ("GeometricScaling", [1.0, 2.0, 3.0]),
        ],
    );
    file.mesh(body, &tetrahedron([1.0, 2.0, 3.0]), &FACES, "");
    file.node(
        "below",
        "LimbNode",
        body,
        &[("Lcl Translation", [0.0, 1.0, 0.0])],
    );
    is_as_the_library_says(&file, &[]);
}

#[test]
fn textures_are_in_the_file_or_named_and_never_read() {
    let mut file = File::default();
    let node = file.node("body", "Mesh", 0, &[]);
    let uv = "LayerElementUV: 0 {\nVersion: 101\nName: \"UVMap\"\nMappingInformationType: \"ByPolygonVertex\"\n\
        ReferenceInformationType: \"Direct\"\nUV: *24 { a: 0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1 }\n}\n\
        LayerElementMaterial: 0 {\nVersion: 101\nName: \"\"\nMappingInformationType: \"ByPolygon\"\n\
        ReferenceInformationType: \"IndexToDirect\"\nMaterials: *4 { a: 0,0,1,1 }\n}\n\
        Layer: 0 {\nVersion: 100\nLayerElement: {\nType: \"LayerElementUV\"\nTypedIndex: 0\n}\n\
        LayerElement: {\nType: \"LayerElementMaterial\"\nTypedIndex: 0\n}\n}\n";
    file.mesh(node, &tetrahedron([0.0; 3]), &FACES, uv);
    let paint = "ShadingModel: \"phong\"\nProperties70: {\nP: \"DiffuseColor\", \"Color\", \"\", \"A\",0.2,0.4,0.6\n}\n";
    for (name, video) in [("skin", "Content: ,\"iVBORw0KGgo=\"\n"), ("cloth", "")] {
        let material = file.object("Material", "Material", name, "", paint);
        file.connect(material, node);
        let path = format!(
            "FileName: \"C:\\art\\{name}.png\"\nRelativeFilename: \"..\\..\\{name}.png\"\n"
        );
        let texture = file.object("Texture", "Texture", name, "", &path);
        file.connect_to(texture, material, "DiffuseColor");
        let video = file.object("Video", "Video", name, "Clip", &format!("{path}{video}"));
        file.connect(video, texture);
    }
    let plain = file.object("Material", "Material", "plain", "", paint);
    file.connect(plain, node);
    let (imported, _) = import(&file.text(), &[]);
    let model = &imported.model;
    let [skin, cloth, plain] = &model.materials[..] else {
        panic!("{:?}", model.materials);
    };
    assert_eq!(skin.base_color_map.as_deref(), Some("skin.png"));
    assert_eq!(imported.images.len(), 1);
    assert!(imported.images["skin.png"].starts_with(b"\x89PNG"));
    assert_eq!(cloth.base_color_map.as_deref(), Some("..\\..\\cloth.png"));
    assert_eq!(
        (skin.base_color, plain.base_color),
        ([1.0; 4], [0.2, 0.4, 0.6, 1.0])
    );
    let names: Vec<&str> = model.parts.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["body.skin", "body.cloth"]);
    // V points down.
    assert!(
        model.parts[0]
            .tex_coords
            .iter()
            .all(|uv| uv.y == 1.0 || uv.y == 0.0)
    );
    assert_eq!(model.parts[0].tex_coords[0].y, 1.0);
}

#[test]
fn images_get_names_that_are_safe_with_the_extension_of_their_bytes() {
    let mut file = File::default();
    let node = file.node("body", "Mesh", 0, &[]);
    let more = "LayerElementMaterial: 0 {\nVersion: 101\nMappingInformationType: \"AllSame\"\n\
        ReferenceInformationType: \"IndexToDirect\"\nMaterials: *1 { a: 0 }\n}\n";
    file.mesh(node, &tetrahedron([0.0; 3]), &FACES, more);
    let given = [
        "..", "skin.v2", "a.psd", "b", "C:c.png", "same.png", "same.png", "d.TGA",
    ];
    for (at, name) in given.into_iter().enumerate() {
        let material = file.object("Material", "Material", name, "", "ShadingModel: \"phong\"");
        file.connect(material, node);
        // A signature of PNG, or bytes without any.
        let content = if name == "d.TGA" {
            "AAAC"
        } else {
            "iVBORw0KGgo="
        };
        let more = format!("RelativeFilename: \"art/{name}\"\n");
        let texture = file.object("Texture", "Texture", name, "", &more);
        file.connect_to(texture, material, "DiffuseColor");
        let more = format!("{more}Filename: \"{at}\"\nContent: ,\"{content}\"\n");
        let video = file.object("Video", "Video", name, "Clip", &more);
        file.connect(video, texture);
    }
    let imported = open(file.text().as_bytes()).unwrap();
    let maps = imported.model.materials.iter();
    let maps: Vec<&str> = maps.filter_map(|m| m.base_color_map.as_deref()).collect();
    let expected = [
        "image0.png",
        "skin.v2.png",
        "a.png",
        "b.png",
        "C_c.png",
        "same.png",
        "same.2.png",
        "d.TGA",
    ];
    assert_eq!(maps, expected);
    assert!(
        expected
            .iter()
            .all(|&name| imported.images.contains_key(name))
    );
}

#[test]
fn random_rigs_are_where_the_library_puts_them() {
    for seed in variants(200) {
        let text = random_rig(&mut Rng::with_seed(seed)).text();
        let imported = open(text.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let at_rest = Reference::new(text.as_bytes()).at_rest();
        let off = error(&at_rest, size(&at_rest), &imported, None, 0.0);
        assert!(off < BOUND / 10.0, "seed {seed}: {off}");
    }
}
