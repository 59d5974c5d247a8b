//! What is broken is mended, or left out.

use super::*;

#[test]
fn a_broken_subset_table_is_mended() {
    let table = "SubsetID: 0 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1";
    let (m, warnings) = repaired(&edited(
        DX12,
        table,
        &table.replace("ID: 0", "ID: 4294967295"),
    ));
    assert_eq!(m.subsets[0].id, u32::MAX);
    assert_messages("m3d: a subset of no material", &warnings);

    let (m, warnings) = repaired(&edited(
        DX12,
        table,
        &table.replace("VertexCount: 3", "VertexCount: 0"),
    ));
    assert_eq!(m.subsets, sound(DX12).subsets);
    assert_messages("m3d: a subset without vertices", &warnings);

    let (m, warnings) = repaired(&edited(
        DX12,
        table,
        &table.replace("FaceCount: 1", "FaceCount: 99"),
    ));
    assert_eq!((m.subsets[0].face_start, m.subsets[0].face_count), (0, 2));
    assert_messages("m3d: a subset of too many triangles", &warnings);

    let thrice = DX12
        .replace("FaceCount: 1", "FaceCount: 3")
        .replace("FaceStart: 1", "FaceStart: 3");
    let (m, warnings) = repaired(&thrice);
    assert_eq!(m.subsets, sound(DX12).subsets);
    assert_messages("m3d: subsets that count indices", &warnings);

    let (from, to) = (
        DX12.find("***************SubsetTable").unwrap(),
        DX12.find("***************Vertices").unwrap(),
    );
    let (m, warnings) = repaired(&format!("{}{}", &DX12[..from], &DX12[to..]));
    assert_eq!(
        m.subsets,
        [M3dSubset {
            vertex_count: 4,
            face_count: 2,
            ..Default::default()
        }]
    );
    assert_messages("m3d: no subset table", &warnings);
}

#[test]
fn a_skeleton_that_is_only_promised_makes_a_static_model() {
    let cut = &DX12[..DX12.find("***************BoneOffsets").unwrap()];
    let (m, warnings) = repaired(cut);
    assert_eq!(
        (m.bones.len(), m.vertices[0].weights, m.clips.len()),
        (0, [0.0; 4], 0)
    );
    assert_messages("m3d: a skeleton that is only promised", &warnings);
}

#[test]
fn counts_that_lie_are_corrected_and_cost_nothing() {
    let text = DX12
        .replace("#Vertices 4", "#Vertices 4294967295")
        .replace("#Triangles 2", "#Triangles 4000000000");
    let (m, warnings) = repaired(&text.replace("#Keyframes: 2", "#Keyframes: 4294967295"));
    assert_eq!(m, sound(DX12));
    assert_messages("m3d: counts that lie", &warnings);
    assert!(m.vertices.capacity() < 100 && m.triangles.capacity() < 1000);
}

#[test]
fn weights_of_bones_that_do_not_exist_are_taken_away() {
    let text = edited(DX12, "BlendIndices: 0 1 0 0", "BlendIndices: 0 7 9 9");
    let (m, warnings) = repaired(&edited(
        &text,
        "BlendIndices: 1 0 0 0",
        "BlendIndices: -1 0 0 0",
    ));
    assert_eq!(
        (m.vertices[0].weights, m.vertices[0].bones),
        ([0.75, 0.0, 0.0, 0.0], [0; 4])
    );
    assert_eq!(
        (m.vertices[1].weights, m.vertices[1].bones),
        ([0.0; 4], [0; 4])
    );
    assert_messages("m3d: weights of bones that do not exist", &warnings);
}

#[test]
fn what_a_vertex_or_key_lacks_is_not_that_of_the_one_before() {
    // The second of three has it, and is read label by label because of something else.
    let weights = "BlendWeights: 1 0 0 0\nBlendIndices: 1 0 0 0\n";
    let mut text = DX12.replace(weights, "");
    for others in [
        "BlendWeights: 0.75 0.25 0 0\nBlendIndices: 0 1 0 0\n",
        "BlendWeights: 0.5 0.5 -0.01 0.01\nBlendIndices: 1 0 1 1\n",
    ] {
        text = edited(&text, others, "");
    }
    let second = "Position: 1 0 0\n";
    let text = edited(&text, second, &format!("{second}{weights}Color: 1\n"));
    let key = "Time: 0.5 Pos: 0 1 0 Scale: 1 1 1 Quat: 0 0 0.6 0.8\n";
    let text = edited(
        &text,
        &format!("Time: 0 Pos: 0 1 0 Scale: 1 1 1 Quat: 0 0 0 1\n\t\t{key}"),
        "Time: 0 Pos: 0 1 0 Quat: 0 0 0 1\n\t\t\
         Time: 0.25 Pos: 0 1 0 Scale: 2 2 2 2 Quat: 0 0 0 1\n\t\t\
         Time: 0.5 Pos: 0 1 0 Quat: 0 0 0.6 0.8\n",
    );
    let (m, _) = repaired(&text);
    assert_eq!(m.vertices[1].weights, [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(
        (m.vertices[2].weights, m.vertices[2].bones),
        ([0.0; 4], [0; 4])
    );
    let scales = m.clips[0].bones[1].iter().map(|key| key.scale[0]);
    assert_eq!(scales.collect::<Vec<_>>(), [1.0, 2.0, 1.0]);
}

#[test]
fn a_fourth_weight_is_finite_whatever_the_others_are() {
    let (m, warnings) = repaired(&edited(
        DX12,
        "BlendWeights: 0.75 0.25 0 0",
        "BlendWeights: -3e38 -3e38 0",
    ));
    assert_eq!(
        (m.vertices[0].weights, warnings.len()),
        ([-3e38, -3e38, 0.0, f32::MAX], 0)
    );
}

#[test]
fn numbers_that_are_not_finite_are_zero() {
    let mut text = DX12.to_owned();
    for (from, to) in [
        ("-1 0 1.5E-07", "-1.#IND nan 1e999"),
        ("Scale: 1 1 1", "Scale: inf -nan(ind) 1.#QNAN"),
    ] {
        text = edited(&text, from, to);
    }
    let (m, warnings) = repaired(&text);
    assert_eq!(
        (m.vertices[0].position, m.clips[0].bones[0][0].scale),
        ([0.0; 3], [0.0; 3])
    );
    assert_messages("m3d: numbers that are not finite", &warnings);
}

#[test]
fn a_hierarchy_is_made_a_forest() {
    let offset = "BoneOffset1 1 0 0 0 0 1 0 0 0 0 1 0 0 -1 0 1\n";
    let text = edited(
        DX12,
        offset,
        &format!(
            "{offset}{}{}",
            offset.replace('1', "2"),
            offset.replace('1', "3")
        ),
    )
    .replace("#Bones 2", "#Bones 4");
    let with = |parents: [i64; 4]| {
        let lines: String = (0..4)
            .map(|i| format!("ParentIndexOfBone{i}: {}\n", parents[i]))
            .collect();
        repaired(&edited(
            &text,
            "ParentIndexOfBone0: -1\nParentIndexOfBone1: 0\n",
            &lines,
        ))
    };
    let parents = |m: &M3d| m.bones.iter().map(|b| b.parent).collect::<Vec<_>>();

    let (m, warnings) = with([4294967295, 9, 2, 1]);
    assert_eq!(parents(&m), [None, None, None, Some(1)]);
    assert_messages("m3d: a parent that does not exist", &warnings);

    let (m, warnings) = with([3, 0, 1, 2]);
    assert_eq!(parents(&m).iter().filter(|p| p.is_none()).count(), 1);
    assert_messages("m3d: a ring of parents", &warnings);

    let (m, warnings) = with([-1, 0, -1, 2]);
    assert_eq!(
        (parents(&m), warnings.len()),
        (vec![None, Some(0), None, Some(2)], 0),
        "several roots are sound"
    );
}

#[test]
fn bones_are_placed_by_their_labels() {
    let text = edited(DX12, "BoneOffset0 ", "BoneOffset9 ").replace("BoneOffset1 ", "BoneOffset0 ");
    let text = text.replace("BoneOffset9 ", "BoneOffset1 ");
    let text = edited(
        &text,
        "ParentIndexOfBone0: -1\nParentIndexOfBone1: 0",
        "ParentIndexOfBone1: 0\nParentIndexOfBone0: -1",
    );
    let m = sound(&text);
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!(
        (m.bones[0].offset[3][1], m.bones[1].offset[3][1]),
        (-1.0, 0.0)
    );
}

#[test]
fn keys_are_sorted_by_time() {
    let (m, warnings) = repaired(&edited(DX12, "Time: 0 Pos: 0 1 0", "Time: 0.75 Pos: 0 1 0"));
    assert_eq!(
        m.clips[0].bones[1]
            .iter()
            .map(|k| k.time)
            .collect::<Vec<_>>(),
        [0.5, 0.75]
    );
    assert_messages("m3d: keys in disorder", &warnings);
}

#[test]
fn keys_of_bones_that_do_not_exist_are_left_out() {
    let (m, warnings) = repaired(&edited(DX12, "Bone1 #Key", "Bone4294967295 #Key"));
    assert_eq!(m.clips[0].bones[1], []);
    assert_messages("m3d: keys of a bone that does not exist", &warnings);
}

#[test]
fn a_clip_may_open_its_brace_behind_its_name() {
    let m = sound(&edited(
        DX12,
        "AnimationClip Wave\n{",
        "AnimationClip Wave at {me} {\n",
    ));
    assert_eq!(m.clips[0].name, "Wave at {me}");
    let m = sound(&edited(
        DX12,
        "AnimationClip Wave\n{",
        "AnimationClip Wave {\n{",
    ));
    assert_eq!(m.clips[0].name, "Wave {");
}

#[test]
fn labels_that_mean_nothing_are_ignored_once_each() {
    let text = DX12.replace("Normal: 0 0 -1\n", "Color: 1 0 0 1\nNormal: 0 0 -1\n");
    let (m, warnings) = repaired(&edited(
        &text,
        "Name: cloth",
        "Emissive: 0 0 0\nName: cloth",
    ));
    assert_eq!(m, sound(DX12));
    assert_messages("m3d: labels that mean nothing", &warnings);
}

#[test]
fn labels_that_only_resemble_others_are_no_misspellings() {
    let more = "Binormal: 0 1 0\nTangentV: 0 1 0\nTex-Coords2: 0 0\nNormal: 0 0 -1\n";
    let (m, warnings) = repaired(&DX12.replace("Normal: 0 0 -1\n", more));
    assert_eq!((m, warnings.len()), (sound(DX12), 3));
}

#[test]
fn a_misspelt_material_is_no_reason_to_refuse_a_model() {
    let (m, warnings) = repaired(&edited(DX12, "Diffuse: 0.5 0.25 1", "Difuse: 0.5 0.25 1"));
    assert_eq!(m.materials[0].diffuse, [1.0; 3]);
    assert_messages("m3d: a misspelled label of a material", &warnings);
}

#[test]
fn vertices_need_not_be_like_the_first() {
    let same = sound(DX12);
    let reordered = edited(
        DX12,
        "Normal: 0 0 -1\nTex-Coords: 1 1\n",
        "tex-coords 1 1\nNORMAL:0 0 -1\n",
    );
    assert_eq!(sound(&reordered), same);
    let shorter = sound(&edited(
        DX12,
        "Tangent: 1 0 0 -1\nNormal: 0 0 -1\nTex-Coords: 1 1\n",
        "",
    ));
    assert_eq!(
        (shorter.vertices[1].normal, shorter.vertices[1].tex_coord),
        ([0.0; 3], [0.0; 2])
    );
    assert_eq!(
        (shorter.vertices[1].position, &shorter.vertices[2..]),
        (same.vertices[1].position, &same.vertices[2..])
    );
    let (longer, warnings) = repaired(&edited(DX12, "Position: 1 0 0\n", "Position: 1 0 0 1 1\n"));
    assert_eq!(longer, same);
    assert_messages("m3d: more numbers than a label takes", &warnings);
}

#[test]
fn labels_need_no_colon() {
    let m = sound(
        &DX12
            .replace("DiffuseMap:", "AlbedoMap")
            .replace("Fresnel0:", "FresnelR0")
            .replace(": ", " "),
    );
    assert_eq!(
        m,
        M3d {
            dialect: Dialect::Other,
            ..sound(DX12)
        }
    );
}

#[test]
fn names_of_another_encoding_are_read_as_far_as_they_go() {
    let (from, to) = DX12.split_once("cloth color").unwrap();
    let text = [from.as_bytes(), b"\xc0\xc7\xbb", to.as_bytes()].concat();
    let parsed = parse("korean.m3d", &text).unwrap();
    assert!(
        parsed.value.materials[0]
            .diffuse_map
            .as_ref()
            .unwrap()
            .ends_with(".dds")
    );
    assert_messages("m3d: a name that is not UTF-8", parsed.warnings);
}

#[test]
fn a_second_model_in_a_file_is_ignored() {
    let (m, warnings) = repaired(&format!("{DX12}{DX11}"));
    assert_eq!(m, sound(DX12));
    assert_messages("m3d: two models", &warnings);
}

#[test]
fn of_too_many_materials_the_first_are_kept_with_one_warning() {
    let header = "***************Materials*********************\n";
    let with = |count: usize| {
        let many: String = (0..count).map(|i| format!("Name: m{i}\n")).collect();
        repaired(&edited(DX12, header, &format!("{header}{many}")))
    };
    // The sample has two of its own.
    let (model, warnings) = with(4094);
    assert_eq!(model.materials.len(), 4096);
    assert_messages("m3d: as many materials as there may be", &warnings);
    let (model, warnings) = with(5000);
    assert_eq!(model.materials.len(), 4096);
    assert_messages("m3d: too many materials", &warnings);
    let name = |material: usize| model.materials[material].name.as_deref();
    assert_eq!((name(0), name(4095)), (Some("m0"), Some("m4095")));
}

#[test]
fn a_vertex_may_have_weights_where_the_one_before_has_none() {
    let weights = "BlendWeights: 0.75 0.25 0 0\nBlendIndices: 0 1 0 0\n";
    let (m, complete) = (sound(&edited(DX12, weights, "")), sound(DX12));
    assert_eq!(m.vertices[0].weights, [0.0; 4]);
    assert_eq!(m.vertices[1..], complete.vertices[1..]);
}
