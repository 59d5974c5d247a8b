//! Vertices with more than four joints, which share combined joints.

use super::*;
use crate::{
    drawn::drawn,
    messages::{assert_messages, is_like},
};
use bevy_marionette::internals::import::to_m3d;
use glam::Affine3A;

/// The warning about vertices that follow more than four joints, and not all of them.
const INEXACT: &str = "md5: vertices of more than four joints";

/// The joints of each vertex of a file, with weights.
fn weights(mesh: &Md5Mesh) -> Vec<Vec<(u16, f64)>> {
    let of_vertex = |submesh: &Md5Submesh, v: &Md5Vertex| {
        let weights = &submesh.weights[v.first_weight as usize..][..v.weight_count as usize];
        let sum: f64 = weights.iter().map(|w| f64::from(w.bias)).sum();
        weights
            .iter()
            .map(|w| (w.joint as u16, f64::from(w.bias) / sum))
            .collect()
    };
    mesh.meshes
        .iter()
        .flat_map(|s| s.vertices.iter().map(move |v| of_vertex(s, v)))
        .collect()
}

/// The share of each vertex's weight that follows other joints than in the file: source vertex and share.
/// The joints of the file are in order, parents first.
fn wrong_shares(model: &Model, mesh: &Md5Mesh) -> Vec<(usize, f64)> {
    let weights = weights(mesh);
    let mut out = Vec::new();
    for part in &model.parts {
        for (vertex, &source) in part.source_vertices.iter().enumerate() {
            let mut difference = vec![0.0; mesh.joints.len()];
            weights[source as usize]
                .iter()
                .for_each(|&(joint, weight)| difference[usize::from(joint)] += weight);
            for (slot, weight) in part.joint_weights(vertex) {
                difference[usize::from(part.palette[slot])] -= f64::from(weight);
            }
            out.push((
                source as usize,
                difference.iter().map(|d| d.abs()).sum::<f64>() / 2.0,
            ));
        }
    }
    out
}

fn import_with(mesh: &Md5Mesh, skin_error: f32, max_palette: u16) -> Imported {
    let settings = ImportSettings {
        skin_error,
        max_palette,
        ..ImportSettings::default()
    };
    let imported = from_md5("a.md5mesh", &checked(mesh), &settings).unwrap();
    for part in &imported.model.parts {
        assert!(part.palette_len() <= usize::from(max_palette));
    }
    imported
}

/// A mesh of 14 joints, each the child of the one before.
fn chain(seed: u64) -> (Md5Mesh, Chance) {
    let mut chance = Chance(fastrand::Rng::with_seed(seed));
    let mut mesh = chance.mesh(14, 0.0);
    for (joint, parent) in mesh.joints.iter_mut().skip(1).zip(0..) {
        joint.parent = Some(parent);
    }
    (mesh, chance)
}

#[test]
fn fourteen_joints_move_a_vertex_on_the_gpu_as_in_double_precision() {
    let (mesh, mut chance) = chain(1);
    let anim = chance.anim(&mesh, 1);
    let imported = import(&mesh);
    let model = &imported.model;
    assert_eq!(imported.warnings, []);
    assert!(
        imported.report.combined_joints > 100 && imported.report.skin_error < 1e-6,
        "{:?}",
        imported.report
    );
    let clip = clip_from_md5(
        "a",
        "a",
        &checked(&anim),
        &model.skeleton,
        &ImportSettings::default(),
    )
    .unwrap()
    .value;
    let pose: Vec<Affine3A> = pose_of_clip(model, Some((&clip, 0, 0.0)))
        .iter()
        .map(|m| m.as_affine3a())
        .collect();
    let truth = formula(&mesh, &pose_of_anim(&mesh, &anim, 0, 0.0));
    for part in &model.parts {
        let positions = drawn(&model.skeleton, part, &pose);
        for (position, &source) in positions.iter().zip(&part.source_vertices) {
            let expected = to_bevy(truth[source as usize]);
            assert!(
                position.as_dvec3().distance(expected) < 2e-5,
                "{source}: {position} for {expected}"
            );
        }
    }
}

#[test]
fn a_palette_without_room_gets_the_largest_errors_right_and_reports_the_rest() {
    let (mesh, _) = chain(2);
    let mut before = f32::INFINITY;
    for room in [0, 3, 10, 40, 80, 117] {
        let Imported {
            model,
            report,
            warnings,
            ..
        } = import_with(&mesh, 0.0, 14 + room);
        let wrong = wrong_shares(&model, &mesh);
        let largest = wrong.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        assert!(
            (largest - f64::from(report.skin_error)).abs() < 1e-6,
            "{largest} {}",
            report.skin_error
        );
        assert!(
            report.skin_error <= before + 1e-6,
            "{room}: {} after {before}",
            report.skin_error
        );
        before = report.skin_error;
        assert_eq!(
            report.combined_joints,
            model
                .parts
                .iter()
                .map(|part| part.combined_joints.len())
                .sum::<usize>()
        );
        if room == 0 {
            assert_messages(INEXACT, &warnings);
        }
        let warning = warnings.iter().find(|warning| is_like(INEXACT, warning));
        assert_eq!(warning.is_some(), report.skin_error > 0.0, "{warnings:?}");
        if let Some(warning) = warning {
            let inexact = wrong.iter().filter(|(_, share)| *share > 1e-6).count();
            let mut words = warning.message.split(' ');
            assert!(words.any(|word| word == inexact.to_string()), "{warning:?}");
        }
    }
    assert_eq!(before, 0.0);
}

#[test]
fn all_but_the_four_largest_are_dropped_on_request() {
    let (mesh, _) = chain(3);
    let Imported {
        model,
        report,
        warnings,
        ..
    } = import_with(&mesh, 1.0, 256);
    assert!(report.combined_joints == 0 && report.skin_error > 0.3 && warnings.is_empty());
    let weights = weights(&mesh);
    for (vertex, wrong) in wrong_shares(&model, &mesh) {
        let mut weights = weights[vertex].clone();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        let dropped: f64 = weights.iter().skip(4).map(|(_, weight)| weight).sum();
        assert!((wrong - dropped).abs() < 1e-6, "{wrong} {dropped}");
    }
}

#[test]
fn an_m3d_gets_the_four_largest_joints() {
    let (mesh, _) = chain(4);
    let model = import(&mesh).model;
    let file = to_m3d(&model);
    let mut vertices = file.vertices.iter();
    for part in &model.parts {
        for (vertex, out) in (0..part.positions.len()).zip(&mut vertices) {
            let mut joints: Vec<_> = part.joint_weights(vertex).collect();
            joints.sort_by(|a, b| b.1.total_cmp(&a.1));
            joints.truncate(4);
            let kept: f32 = joints.iter().map(|(_, weight)| weight).sum();
            for (lane, (slot, weight)) in joints.into_iter().enumerate() {
                assert_eq!(out.bones[lane], u32::from(part.palette[slot]));
                assert!((out.weights[lane] - weight / kept).abs() < 1e-6);
            }
            assert!((out.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn no_vertex_is_off_by_more_than_the_allowed_share_of_the_distance_between_the_places_where_its_joints_put_it(
        seed: u64, joints in 5usize..20, error in prop::sample::select(vec![0.0, 1e-4, 0.01, 0.1, 0.4])
    ) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, 0.0);
        let anim = chance.anim(&mesh, 1);
        let Imported { model, report, .. } = import_with(&mesh, error, 256);
        assert_sound(&model);
        prop_assert!(report.skin_error <= error + 1e-6, "{}", report.skin_error);
        let clip = clip_from_md5("a", "a", &checked(&anim), &model.skeleton, &ImportSettings::default()).unwrap().value;
        let pose = pose_of_anim(&mesh, &anim, 0, 0.0);
        let truth = formula(&mesh, &pose);
        let vertices = mesh.meshes.iter().flat_map(|s| s.vertices.iter().map(move |v| (s, v)));
        let mut places: Vec<Vec<DVec3>> = vertices
            .map(|(submesh, v)| {
                let weights = &submesh.weights[v.first_weight as usize..][..v.weight_count as usize];
                let place = |w: &Md5Weight| to_bevy(pose[w.joint as usize].transform_point3(vector(w.position)));
                weights.iter().map(place).collect()
            })
            .collect();
        // A shared entry may have joints that the vertex doesn't follow in the file.
        let posed = pose_of_clip(&model, Some((&clip, 0, 0.0)));
        let matrices = skin_matrices(&model, &posed);
        for part in &model.parts {
            for (vertex, &source) in part.source_vertices.iter().enumerate() {
                let at_rest = part.positions[vertex].as_dvec3();
                let joints = part.joint_weights(vertex).map(|(slot, _)| usize::from(part.palette[slot]));
                places[source as usize].extend(joints.map(|joint| matrices[joint].transform_point3(at_rest)));
            }
        }
        let distances = |places: &Vec<DVec3>| {
            places.iter().flat_map(|a| places.iter().map(|b| a.distance(*b))).fold(0.0, f64::max)
        };
        let spread: Vec<f64> = places.iter().map(distances).collect();
        for (source, position) in skinned(&model, &posed) {
            let off = position.distance(to_bevy(truth[source]));
            prop_assert!(off <= f64::from(error) * spread[source] + 1e-4, "{off} of {}", spread[source]);
        }
    }
}
