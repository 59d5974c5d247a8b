//! Every dialect is read.

use super::*;

#[test]
fn dx12_is_read_to_the_last_field() {
    let m = sound(DX12);
    assert_eq!(m.dialect, Dialect::Dx12);
    let cloth = M3dMaterial {
        name: Some("cloth".into()),
        diffuse: [0.5, 0.25, 1.0],
        fresnel0: Some([0.05, 0.06, 0.07]),
        roughness: Some(0.75),
        alpha_clip: true,
        effect: Some("Skinned".into()),
        diffuse_map: Some("cloth color.dds".into()),
        normal_map: Some("cloth_n.dds".into()),
        ..Default::default()
    };
    assert_eq!(m.materials[0], cloth);
    assert_eq!((m.materials.len(), &m.materials[1].normal_map), (2, &None));
    let second = M3dSubset {
        id: 1,
        vertex_start: 1,
        vertex_count: 3,
        face_start: 1,
        face_count: 1,
    };
    assert_eq!((m.subsets.len(), &m.subsets[1]), (2, &second));
    let last = M3dVertex {
        position: [2.0, 2.0, -0.5e-17],
        tangent: [1.0, 0.0, 0.0, 1.0],
        normal: [0.0, 0.0, -1.0],
        tex_coord: [1.0, 0.0],
        weights: [0.5, 0.5, -0.01, 0.01],
        bones: [1, 0, 1, 1],
    };
    assert_eq!((m.vertices.len(), m.vertices[3]), (4, last));
    assert_eq!(m.triangles, [[0, 1, 2], [1, 3, 2]]);
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!(m.bones[1].offset[3], [0.0, -1.0, 0.0, 1.0]);
    let clip = &m.clips[0];
    assert_eq!(
        (clip.name.as_str(), clip.bones[0].len(), clip.bones[1].len()),
        ("Wave", 1, 2)
    );
    let key = M3dKey {
        time: 0.5,
        translation: [0.0, 1.0, 0.0],
        scale: [1.0; 3],
        rotation: [0.0, 0.0, 0.6, 0.8],
    };
    assert_eq!(clip.bones[1][1], key);
}

#[test]
fn dx11_is_read_static() {
    let m = sound(DX11);
    let stone = M3dMaterial {
        ambient: Some([0.5; 3]),
        diffuse: [0.9, 0.8, 0.7],
        specular: Some([0.4; 3]),
        specular_power: Some(8.0),
        reflectivity: Some([0.0, 0.0, 0.1]),
        effect: Some("Normal".into()),
        diffuse_map: Some("stone.dds".into()),
        normal_map: Some("stone_n.dds".into()),
        ..Default::default()
    };
    assert_eq!((m.dialect, m.materials), (Dialect::Dx11, vec![stone]));
    assert_eq!((m.vertices.len(), m.bones.len(), m.clips.len()), (3, 0, 0));
}

#[test]
fn dx10_triangles_are_gathered_by_their_subset() {
    let m = sound(DX10);
    assert_eq!(m.dialect, Dialect::Dx10);
    assert_eq!(
        m.materials[0].diffuse_map.as_deref(),
        Some(r"..\\art\\wall d.dds")
    );
    assert_eq!(
        m.materials[0].specular_map.as_deref(),
        Some(r"..\\art\\wall_s.dds")
    );
    assert_eq!(m.materials[1].normal_map.as_deref(), Some("floor_n.dds"));
    assert_eq!(m.materials[1].reflectivity, Some([0.5; 3]));
    assert_eq!(m.triangles, [[0, 1, 2], [1, 3, 2], [2, 3, 1]]);
    let of = |s: &M3dSubset| {
        (
            s.id,
            s.vertex_start,
            s.vertex_count,
            s.face_start,
            s.face_count,
        )
    };
    assert_eq!(
        m.subsets.iter().map(of).collect::<Vec<_>>(),
        [(0, 0, 3, 0, 1), (1, 1, 3, 1, 2)]
    );
    assert_eq!(m.vertices[0].tangent, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn imm_tells_its_two_ts_apart() {
    let m = sound(IMM);
    assert_eq!(m.dialect, Dialect::Imm);
    assert_eq!(m.vertices[0].tangent, [0.5, 0.25, 5.5e-7, 1.0]);
    assert_eq!(m.vertices[0].tex_coord, [0.875, 0.125]);
    assert_eq!(m.materials[0].specular_power, Some(12.5));
    assert_eq!(m.subsets[0].vertex_count, 3);
}

#[test]
fn imm_tells_its_two_ts_apart_without_tangents_too() {
    let text = IMM
        .lines()
        .filter(|l| !(l.starts_with("T: ") && l.split(' ').count() == 5));
    let m = sound(&text.collect::<Vec<_>>().join("\n"));
    assert_eq!(
        (m.vertices[0].tangent, m.vertices[0].tex_coord),
        ([0.0, 0.0, 0.0, 1.0], [0.875, 0.125])
    );
}

#[test]
fn home_made_labels_are_understood() {
    let m = sound(HOME_MADE);
    assert_eq!(m.dialect, Dialect::Other);
    assert_eq!(m.materials[0].diffuse_map, None);
    assert_eq!(
        m.materials[0].normal_map.as_deref(),
        Some("face normals.png")
    );
    assert_eq!(m.materials[0].diffuse, [0.5; 3]);
    assert_eq!(m.subsets[0].vertex_count, 3);
    assert_eq!(
        m.vertices[0].weights,
        [0.5, 0.25, 0.125, 0.125],
        "what is missing to one is the fourth's"
    );
    assert_eq!(
        (m.vertices[0].bones, m.vertices[2].tex_coord),
        ([0, 1, 0, 1], [1.0, 0.0])
    );
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!(m.clips[0].name, "Take 001 of 2");
    assert_eq!(
        (m.clips[0].bones[0].len(), m.clips[0].bones[1].len()),
        (1, 0)
    );
}

#[test]
fn line_ends_do_not_matter() {
    for text in SAMPLES {
        let unix = text.replace("\r\n", "\n");
        assert_eq!(sound(&unix), sound(&unix.replace('\n', "\r\n")));
        assert_eq!(sound(&unix), sound(&format!("\u{feff}{}", unix.trim_end())));
    }
}

#[test]
fn sections_may_stand_in_any_order() {
    let (head, rest) = DX12.split_at(DX12.find("***************Materials").unwrap());
    let mut sections: Vec<String> = rest
        .split("***************")
        .map(|s| format!("***************{s}"))
        .collect();
    // Each title and its tail of stars are two pieces.
    let mut pairs: Vec<String> = sections
        .drain(1..)
        .collect::<Vec<_>>()
        .chunks(2)
        .map(|c| c.concat())
        .collect();
    pairs.reverse();
    assert_eq!(pairs.len(), 7);
    assert_eq!(sound(&format!("{head}{}", pairs.concat())), sound(DX12));
}

#[test]
fn a_model_without_triangles_section_is_a_triangle_list() {
    let text = "***m3d-File-Header***\n#Materials 1\n#Vertices 6\n#Bones 0\n***Materials***\nDiffuseMap: a.dds\n\
        ***SubsetTable***\nSubsetID: 0 VertexStart: 0 VertexCount: 3\nSubsetID: 0 VertexStart: 3 VertexCount: 3\n\
        ***Vertices***\n";
    let vertices: String = (0..6)
        .map(|i| format!("Pos: {i} 0 0\nNormal: 0 1 0\nTex: 0 0\n\n"))
        .collect();
    let (m, warnings) = repaired(&(text.to_owned() + &vertices));
    assert_eq!(m.triangles, [[0, 1, 2], [3, 4, 5]]);
    assert_eq!((m.subsets[1].face_start, m.subsets[1].face_count), (1, 1));
    assert_messages("m3d: no triangles section", &warnings);
}
