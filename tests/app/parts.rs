//! Parts of characters: hidden, with other materials, worn by others, colored by weight, mirrored, and edited in
//! place.

use super::{messages::assert_messages, support::*};
use bevy::{
    camera::primitives::Aabb,
    ecs::system::RunSystemOnce,
    mesh::{VertexAttributeValues, skinning::SkinnedMesh},
    prelude::*,
};
use bevy_marionette::{
    asset::Character,
    character::{CharacterRayCast, ModelPose, PartOverrides, PoseOverrides, WeightView, WornBy},
    internals::character::{influence_count_color, weight_color},
    model::{Influences, Joint, JointTransform, Model, Skeleton, SkinPart},
    prelude::*,
};
use glam::Affine3A;
use std::time::Duration;

fn two_parts() -> Model {
    let mut model = chain(&clips());
    model.parts.push(strip("second", 0));
    model
}

fn material(app: &mut TestApp, part: Entity) -> Handle<StandardMaterial> {
    app.world()
        .get::<MeshMaterial3d<StandardMaterial>>(part)
        .unwrap()
        .0
        .clone()
}

fn mesh(app: &mut TestApp, part: Entity) -> Handle<Mesh> {
    app.world().get::<Mesh3d>(part).unwrap().0.clone()
}

fn new_material(app: &mut TestApp) -> Handle<StandardMaterial> {
    app.world()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::default())
}

fn visibilities(app: &mut TestApp, entity: Entity) -> Vec<Visibility> {
    let parts = app.parts(entity);
    parts
        .into_iter()
        .map(|part| *app.world().get::<Visibility>(part).unwrap())
        .collect()
}

/// A mesh is shown in the frame after it is created, when it has reached the GPU.
fn show(app: &mut TestApp) {
    app.update(0.1);
    app.update(0.1);
}

#[test]
fn parts_are_hidden_and_dressed_by_name_and_index_over_reloads_and_given_back() {
    use Visibility::*;
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    let gold = new_material(&mut app);
    let entity = app.spawn(&handle, "walk");
    let changes = PartOverrides::default()
        .hide(0)
        .material("second", gold.clone());
    assert!(changes.is_hidden(0) && !changes.is_hidden("second"));
    app.world().entity_mut(entity).insert(changes);
    app.update(0.1);
    let before = app.parts(entity);
    let own = app.asset(&handle).unwrap().parts[1].material.clone();
    assert_eq!(visibilities(&mut app, entity), [Hidden, Inherited]);
    assert_eq!(material(&mut app, before[1]), gold);
    // The other instance is not affected.
    let other = app.spawn(&handle, "walk");
    app.update(0.1);
    assert_eq!(visibilities(&mut app, other), [Inherited, Inherited]);

    let character = build(app.world(), two_parts(), &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.1);
    let parts = app.parts(entity);
    assert_ne!(parts, before);
    assert_eq!(visibilities(&mut app, entity), [Hidden, Inherited]);
    assert_eq!(material(&mut app, parts[1]), gold);

    let mut changes = app.world().get_mut::<PartOverrides>(entity).unwrap();
    changes.set_hidden(0, false);
    changes.set_material("second", None);
    assert!(changes.is_empty());
    app.update(0.1);
    let own_again = app.asset(&handle).unwrap().parts[1].material.clone();
    assert_ne!(own, own_again);
    assert_eq!(visibilities(&mut app, entity), [Inherited, Inherited]);
    assert_eq!(material(&mut app, parts[1]), own_again);

    app.world()
        .entity_mut(entity)
        .insert(PartOverrides::default().hide("strip"));
    app.update(0.1);
    app.world().entity_mut(entity).remove::<PartOverrides>();
    app.update(0.1);
    assert_eq!(visibilities(&mut app, entity), [Inherited, Inherited]);
}

#[test]
fn what_somebody_did_to_a_part_by_hand_stays_while_there_are_no_overrides() {
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let (parts, by_hand) = (app.parts(entity), new_material(&mut app));
    app.world()
        .entity_mut(parts[0])
        .insert((Visibility::Hidden, MeshMaterial3d(by_hand.clone())));
    app.update(0.1);
    app.world()
        .entity_mut(entity)
        .insert(WeightView::InfluenceCount);
    app.update(0.1);
    assert_ne!(material(&mut app, parts[0]), by_hand);
    app.world().entity_mut(entity).remove::<WeightView>();
    app.update(0.1);
    assert_eq!(material(&mut app, parts[0]), by_hand);
    assert_eq!(visibilities(&mut app, entity)[0], Visibility::Hidden);
}

#[test]
fn a_part_that_is_not_there_is_said_once_with_those_there_are() {
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    for _ in 0..3 {
        let entity = app.spawn(&handle, "walk");
        app.world()
            .entity_mut(entity)
            .insert(PartOverrides::default().hide("secnod"));
        app.update(0.1);
    }
    assert_messages("a part that is not there", logged("`secnod`"));
}

// ---- the asset edited in place -------------------------------------------------------------------

#[test]
fn a_character_edited_through_its_assets_shows_at_once_and_keeps_its_place_in_the_clip() {
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    let entity = app.spawn(&handle, "idle");
    app.update(1.25);
    let gold = new_material(&mut app);
    let before = app.parts(entity);
    {
        let mut assets = app.world().resource_mut::<Assets<Character>>();
        let mut character = assets.get_mut(&handle).unwrap();
        character.parts[0].material = gold.clone();
        character.parts.truncate(1);
    }
    app.update(0.25);
    let parts = app.parts(entity);
    assert_eq!(parts.len(), 1);
    assert!(before.iter().all(|&part| !app.is_alive(part)));
    assert_eq!(material(&mut app, parts[0]), gold);
    assert!((app.clip_time(entity) - 1.5).abs() < 1e-9);
    // After that, nothing changes.
    app.update(0.25);
    app.update(0.25);
    assert_eq!(app.parts(entity), parts);
    assert_eq!(app.world().resource::<Heard>().ready, [entity, entity]);
}

// ---- mirrored ------------------------------------------------------------------------------------

fn triangles(app: &mut TestApp, mesh: &Handle<Mesh>) -> Vec<[usize; 3]> {
    let indices: Vec<usize> = app.asset(mesh).unwrap().indices().unwrap().iter().collect();
    indices.chunks(3).map(|t| [t[0], t[1], t[2]]).collect()
}

#[test]
fn a_mirrored_character_has_its_triangles_turned_round_and_back_again() {
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    let [one, two] = [-1.0, 1.0].map(|x| {
        let entity = app.spawn(&handle, "walk");
        app.world()
            .entity_mut(entity)
            .insert(Transform::from_scale(Vec3::new(x, 1.0, 1.0)));
        entity
    });
    show(&mut app);
    let own = app.asset(&handle).unwrap().parts[0].mesh.clone();
    let [mirrored, plain] = [one, two].map(|entity| app.parts(entity)[0]);
    assert_eq!(mesh(&mut app, plain), own);
    let turned = mesh(&mut app, mirrored);
    let is_turned = |a: &[usize; 3], b: &[usize; 3]| {
        (0..3).any(|k| [b[k], b[(k + 2) % 3], b[(k + 1) % 3]] == *a)
    };
    let (a, b) = (triangles(&mut app, &turned), triangles(&mut app, &own));
    assert!(
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_turned(a, b)),
        "{a:?} {b:?}"
    );
    // A second one shares it. A mirroring parent counts too, and mirroring twice is not mirroring.
    let mount = app
        .world()
        .spawn((
            Transform::from_scale(Vec3::new(1.0, 1.0, -2.0)),
            Visibility::default(),
        ))
        .id();
    app.world().entity_mut(two).insert(ChildOf(mount));
    show(&mut app);
    assert_eq!(mesh(&mut app, plain), turned);
    app.world().entity_mut(one).insert(ChildOf(mount));
    show(&mut app);
    assert_eq!(mesh(&mut app, mirrored), own);
    // Meshes that are no longer needed are dropped.
    let id = turned.id();
    drop(turned);
    app.world().entity_mut(mount).insert(Transform::IDENTITY);
    app.world().entity_mut(one).insert(Transform::IDENTITY);
    show(&mut app);
    show(&mut app);
    assert!(!app.world().resource::<Assets<Mesh>>().contains(id));
}

#[test]
fn a_character_is_turned_right_side_out_in_the_frame_in_which_it_is_mirrored() {
    let mut app = TestApp::new();
    let mount = app
        .world()
        .spawn((Transform::default(), Visibility::default()))
        .id();
    // It is mirrored before its asset has loaded, and repeatedly after that.
    let handle = app.world().resource::<Assets<Character>>().reserve_handle();
    let entity = app.spawn(&handle, "walk");
    app.world().entity_mut(entity).insert((
        ChildOf(mount),
        Transform::from_scale(Vec3::new(1.0, -2.0, 1.0)),
    ));
    app.update(0.1);
    let character = build(app.world(), two_parts(), &manifest());
    let own = character.parts[1].mesh.clone();
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    for (by, scale, mirrored) in [
        (mount, Vec3::ONE, true),
        (entity, Vec3::ONE, false),
        (entity, Vec3::new(-1.0, 1.0, 1.0), true),
        (entity, Vec3::new(-1.0, -1.0, 1.0), false),
        (entity, Vec3::NEG_ONE, true),
    ] {
        app.world()
            .entity_mut(by)
            .insert(Transform::from_scale(scale));
        app.update(0.1);
        let part = app.parts(entity)[1];
        assert_eq!(mesh(&mut app, part) != own, mirrored, "{scale}");
    }
}

#[test]
fn a_mirrored_character_stays_so_when_its_asset_or_its_mesh_changes() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_scale(Vec3::NEG_ONE));
    show(&mut app);
    let character = build(app.world(), two_parts(), &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    show(&mut app);
    let own = app.asset(&handle).unwrap().parts[1].mesh.clone();
    let part = app.parts(entity)[1];
    assert_ne!(mesh(&mut app, part), own);
    let moved = VertexAttributeValues::Float32x3(vec![[5.0; 3]; 6]);
    app.world()
        .resource_mut::<Assets<Mesh>>()
        .get_mut(&own)
        .unwrap()
        .insert_attribute(Mesh::ATTRIBUTE_POSITION, moved);
    show(&mut app);
    let shown = mesh(&mut app, part);
    assert_ne!(shown, own);
    let positions = app
        .asset(&shown)
        .unwrap()
        .attribute(Mesh::ATTRIBUTE_POSITION)
        .unwrap()
        .as_float3()
        .unwrap();
    assert_eq!(positions[3], [5.0; 3]);
}

#[test]
fn zero_scales_harm_nothing() {
    let mut app = TestApp::new();
    let handle = app.add(two_parts(), &manifest());
    let mount = app
        .world()
        .spawn((Transform::from_scale(Vec3::ZERO), Visibility::default()))
        .id();
    let entity = app.spawn(&handle, "walk");
    let worn = app.spawn(&handle, "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.world()
        .entity_mut(entity)
        .insert((ChildOf(mount), WeightView::Joint(1)));
    app.world().entity_mut(worn).insert(WornBy(entity));
    for frame in 0..6 {
        app.world().get_mut::<Transform>(mount).unwrap().scale = Vec3::splat((frame % 2) as f32);
        app.world().get_mut::<Transform>(entity).unwrap().scale.x = (frame % 3) as f32 - 1.0;
        app.update(0.1);
        for entity in [entity, worn, carried] {
            assert!(
                app.world()
                    .get::<GlobalTransform>(entity)
                    .unwrap()
                    .affine()
                    .is_finite()
            );
        }
        assert!(
            app.world()
                .get::<ModelPose>(worn)
                .unwrap()
                .joints
                .iter()
                .all(|joint| joint.is_finite())
        );
    }
}

// ---- combined joints ------------------------------------------------------------------------------

/// Gives the second vertex a combined joint.
fn combine(part: &mut SkinPart) {
    part.combined_joints.push([(1, 0.5), (2, 0.5)]);
    part.influences[1] = Influences {
        palette: [0, 3, 0, 0],
        weights: [0.6, 0.4, 0.0, 0.0],
    };
}

#[test]
fn a_combined_joint_gets_the_mean_of_its_joints_matrices() {
    let mut app = TestApp::new();
    let mut model = two_parts();
    combine(&mut model.parts[1]);
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.3);
    let parts = app.parts(entity);
    let matrices = [0, 1].map(|part| {
        app.world()
            .get::<SkinnedMesh>(parts[part])
            .unwrap()
            .joints
            .len()
    });
    assert_eq!(matrices, [3, 4], "Bevy makes room for it");
    let palettes =
        move |poses: CharacterPoses| [0, 1].map(|part| poses.palette(entity, part).unwrap());
    let [plain, combined] = app.world().run_system_once(palettes).unwrap();
    assert_eq!(combined[..3], plain);
    assert_ne!(combined[1], combined[2], "the hand moves");
    assert_eq!(combined[3], combined[1] * 0.5 + combined[2] * 0.5);
}

// ---- weights -------------------------------------------------------------------------------------

fn colors(app: &mut TestApp, part: Entity) -> Option<Vec<Vec3>> {
    let mesh = mesh(app, part);
    match app.asset(&mesh).unwrap().attribute(Mesh::ATTRIBUTE_COLOR)? {
        VertexAttributeValues::Float32x4(colors) => Some(
            colors
                .iter()
                .map(|[r, g, b, _]| Vec3::new(*r, *g, *b))
                .collect(),
        ),
        other => panic!("{other:?}"),
    }
}

fn is_color(shown: Vec3, color: Color) -> bool {
    // The painted-on shading doesn't change the hue.
    let color = color.to_linear().to_vec3();
    shown.normalize().abs_diff_eq(color.normalize(), 1e-5) && shown.length() > 0.25 * color.length()
}

#[test]
fn weights_are_shown_on_the_moving_mesh_and_the_materials_come_back() {
    let mut app = TestApp::new();
    let mut model = two_parts();
    model.parts[1].influences[0].weights = [0.75, 0.25, 0.0, 0.0];
    model.parts[1].influences[0].palette = [1, 2, 0, 0];
    combine(&mut model.parts[1]);
    let handle = app.add(model.clone(), &manifest());
    let entity = app.spawn(&handle, "walk");
    show(&mut app);
    let parts = app.parts(entity);
    let own = (mesh(&mut app, parts[1]), material(&mut app, parts[1]));
    app.world().entity_mut(entity).insert(WeightView::Joint(2));
    show(&mut app);
    assert_eq!(app.parts(entity), parts);
    let shown = colors(&mut app, parts[1]).unwrap();
    for (vertex, weight) in [(0, 0.25), (1, 0.2), (2, 0.0), (3, 0.0), (4, 1.0), (5, 1.0)] {
        assert!(
            is_color(shown[vertex], weight_color(weight)),
            "{vertex}: {}",
            shown[vertex]
        );
    }
    let unlit = material(&mut app, parts[1]);
    assert!(app.asset(&unlit).unwrap().unlit);
    // It is skinned as before.
    let shown = mesh(&mut app, parts[1]);
    let shown = app.asset(&shown).unwrap();
    for attribute in [
        Mesh::ATTRIBUTE_JOINT_INDEX,
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        Mesh::ATTRIBUTE_POSITION,
    ] {
        let original = app
            .asset(&own.0)
            .unwrap()
            .attribute(attribute.id)
            .unwrap()
            .get_bytes();
        assert_eq!(shown.attribute(attribute.id).unwrap().get_bytes(), original);
    }

    app.world()
        .entity_mut(entity)
        .insert(WeightView::InfluenceCount);
    show(&mut app);
    let counts = colors(&mut app, parts[1]).unwrap();
    for (vertex, count) in [2, 3, 1, 1].into_iter().enumerate() {
        assert!(
            is_color(counts[vertex], influence_count_color(count)),
            "{vertex}"
        );
    }

    // After a reload, it still shows weights; then the new materials appear.
    let character = build(app.world(), model, &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    show(&mut app);
    let parts = app.parts(entity);
    assert!(colors(&mut app, parts[1]).is_some());
    assert_eq!(material(&mut app, parts[1]), unlit);
    // Material overrides wait meanwhile.
    let gold = new_material(&mut app);
    app.world()
        .entity_mut(entity)
        .insert(PartOverrides::default().material(1, gold.clone()));
    show(&mut app);
    assert_eq!(material(&mut app, parts[1]), unlit);
    app.world().entity_mut(entity).remove::<WeightView>();
    show(&mut app);
    let new = app
        .asset(&handle)
        .unwrap()
        .parts
        .iter()
        .map(|p| (p.mesh.clone(), p.material.clone()))
        .collect::<Vec<_>>();
    assert_eq!(
        (mesh(&mut app, parts[0]), material(&mut app, parts[0])),
        new[0]
    );
    assert_eq!(
        (mesh(&mut app, parts[1]), material(&mut app, parts[1])),
        (new[1].0.clone(), gold)
    );
    assert!(colors(&mut app, parts[1]).is_none());
}

#[test]
fn a_joint_that_no_part_knows_colors_everything_as_none() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.world()
        .entity_mut(entity)
        .insert(WeightView::Joint(9999));
    show(&mut app);
    let part = app.parts(entity)[0];
    assert!(
        colors(&mut app, part)
            .unwrap()
            .into_iter()
            .all(|color| is_color(color, weight_color(0.0)))
    );
}

// ---- worn by another -----------------------------------------------------------------------------

/// Armor for the chain: its joints in another order, an additional plume, different bind matrices.
fn armor() -> Model {
    let names = ["plume base", "root", "hand", "plume"];
    let parents = [None, None, Some(1), Some(2)];
    let joints = names
        .into_iter()
        .zip(parents)
        .enumerate()
        .map(|(i, (name, parent))| Joint {
            name: name.into(),
            parent,
            rest: JointTransform::new(
                Vec3::new(0.0, 0.5, 0.1 * i as f32),
                Quat::from_rotation_x(0.1 * i as f32),
            ),
            inverse_bind: Affine3A::from_translation(Vec3::NEG_Y * i as f32),
        });
    let mut part = strip("plate", 0);
    part.palette = vec![1, 2, 3];
    Model {
        skeleton: Skeleton::new(joints.collect()).unwrap(),
        parts: vec![part],
        ..chain(&[])
    }
}

fn pose(app: &mut TestApp, entity: Entity) -> Vec<Affine3A> {
    app.world().get::<ModelPose>(entity).unwrap().joints.clone()
}

fn world_of(app: &mut TestApp, entity: Entity) -> Affine3A {
    app.world().get::<GlobalTransform>(entity).unwrap().affine()
}

#[test]
fn what_is_worn_takes_the_bodys_joints_by_name_in_the_same_frame() {
    let mut app = TestApp::new();
    let (body_asset, armor_asset) = (
        app.add(chain(&clips()), &manifest()),
        app.add(armor(), &manifest()),
    );
    let body = app.spawn(&body_asset, "walk");
    let worn = app
        .world()
        .spawn((SkinnedCharacter(armor_asset.clone()), WornBy(body)))
        .id();
    let lamp = app
        .world()
        .spawn((AttachedTo(worn), AtSocket::new("plume")))
        .id();
    let skeleton = armor().skeleton;
    for frame in 0..40 {
        let place = Transform::from_xyz(frame as f32, 1.0, 0.0)
            .with_rotation(Quat::from_rotation_y(frame as f32));
        app.world()
            .entity_mut(body)
            .insert(place.with_scale(Vec3::splat(1.0 + 0.1 * frame as f32)));
        // Its own transform and clips are ignored.
        app.world().get_mut::<Transform>(worn).unwrap().translation = Vec3::splat(frame as f32);
        if frame == 20 {
            app.controller(body)
                .cross_fade("idle", Duration::from_millis(200));
        }
        if frame == 30 {
            let mut overrides = PoseOverrides::default();
            overrides.set(1, JointTransform::new(Vec3::X, Quat::from_rotation_z(1.0)));
            app.world().entity_mut(body).insert(overrides);
        }
        app.update(0.03);
        let (ours, bodys) = (pose(&mut app, worn), pose(&mut app, body));
        assert_eq!(world_of(&mut app, worn), world_of(&mut app, body));
        assert_eq!((ours[1], ours[2]), (bodys[0], bodys[2]), "frame {frame}");
        assert_eq!(ours[0], skeleton.rest_of(0).to_affine());
        assert_eq!(ours[3], bodys[2] * skeleton.rest_of(3).to_affine());
        let expected = world_of(&mut app, worn) * ours[3];
        assert!(world_of(&mut app, lamp).abs_diff_eq(expected, 1e-4));
        // Its box contains every vertex, so it is never culled while it is in view.
        let part = app.parts(worn)[0];
        let aabb = *app.world().get::<Aabb>(part).unwrap();
        for (vertex, position) in armor().parts[0].positions.iter().enumerate() {
            let joint = 1 + vertex / 2;
            let point = (ours[joint] * skeleton.inverse_bind()[joint]).transform_point3(*position);
            let out = (Vec3::from(aabb.center) - point).abs() - Vec3::from(aabb.half_extents);
            assert!(out.max_element() < 1e-4, "{out}");
        }
    }
}

#[test]
fn what_is_worn_finds_the_bodys_joints_as_clips_do_under_the_prefixes_of_exporters() {
    let prefixed = [
        (["root", "elbow", "hand"], "mixamorig:"),
        (["mixamorigroot", "mixamorigelbow", "mixamorighand"], ""),
        (["Armature|root", "Armature|elbow", "Armature|hand"], "Rig:"),
    ];
    for (names, prefix) in prefixed {
        let mut app = TestApp::new();
        let mut body = chain(&clips());
        body.skeleton = body.skeleton.with_names(names.map(Into::into));
        let mut clothes = armor();
        let names = clothes.skeleton.names().clone();
        let names = names.iter().map(|name| format!("{prefix}{name}").into());
        clothes.skeleton = clothes.skeleton.with_names(names);
        let (body, clothes) = (app.add(body, &manifest()), app.add(clothes, &manifest()));
        let body = app.spawn(&body, "walk");
        let worn = app
            .world()
            .spawn((SkinnedCharacter(clothes), WornBy(body)))
            .id();
        app.update(0.3);
        let (ours, bodys) = (pose(&mut app, worn), pose(&mut app, body));
        assert_eq!((ours[1], ours[2]), (bodys[0], bodys[2]), "{prefix}");
    }
}

#[test]
fn joints_that_the_body_lacks_are_said_once_with_close_names() {
    let mut app = TestApp::new();
    let mut model = armor();
    model.skeleton = model
        .skeleton
        .with_names(["a", "root", "hamd", "plume"].map(Into::into));
    let (body_asset, armor_asset) = (
        app.add(chain(&clips()), &manifest()),
        app.add(model, &manifest()),
    );
    let body = app.spawn(&body_asset, "walk");
    for _ in 0..3 {
        app.world()
            .spawn((SkinnedCharacter(armor_asset.clone()), WornBy(body)));
        app.update(0.1);
    }
    // No skin hangs on `a`, so it isn't missed.
    assert_messages("joints that the body lacks", logged("`hamd`"));
}

#[test]
fn what_is_worn_goes_with_the_body_or_stays_and_plays_its_own_clips_again() {
    let mut app = TestApp::new();
    let mut own_clips = chain(&clips());
    own_clips.parts[0].name = "cloak".into();
    let (body_asset, cloak_asset) = (
        app.add(chain(&clips()), &manifest()),
        app.add(own_clips, &manifest()),
    );
    let body = app.spawn(&body_asset, "walk");
    let [kept, lost] = [(); 2].map(|()| {
        let cloak = app.spawn(&cloak_asset, "idle");
        app.world()
            .entity_mut(cloak)
            .insert((WornBy(body), PoseOverrides::default()));
        cloak
    });
    app.update(0.3);
    assert_eq!(pose(&mut app, kept), pose(&mut app, body));
    app.world().entity_mut(kept).remove::<(WornBy, ChildOf)>();
    app.world().entity_mut(body).despawn();
    app.update(0.0);
    assert!(app.is_alive(kept) && !app.is_alive(lost));
    // As in `idle` at 0.3 s.
    let hand = pose(&mut app, kept)[2].translation;
    assert!(
        hand.abs_diff_eq(Vec3::new(0.3, 2.0, 0.15).into(), 1e-5),
        "{hand}"
    );
}

#[test]
fn what_is_worn_waits_for_its_body_and_follows_when_either_changes() {
    let mut app = TestApp::new();
    let armor_asset = app.add(armor(), &manifest());
    let body = app.spawn(&Handle::default(), "walk");
    let worn = app
        .world()
        .spawn((SkinnedCharacter(armor_asset.clone()), WornBy(body)))
        .id();
    app.update(0.1);
    assert_eq!(pose(&mut app, worn), armor().skeleton.rest_model());
    let body_asset = app.add(chain(&clips()), &manifest());
    app.world()
        .entity_mut(body)
        .insert(SkinnedCharacter(body_asset.clone()));
    app.update(0.1);
    assert_eq!(pose(&mut app, worn)[2], pose(&mut app, body)[2]);
    // Joint names are swapped in a new version of the body.
    let mut model = chain(&clips());
    model.skeleton = model
        .skeleton
        .with_names(["hand", "elbow", "root"].map(Into::into));
    let character = build(app.world(), model, &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&body_asset, character)
        .unwrap();
    app.update(0.1);
    assert_eq!(pose(&mut app, worn)[2], pose(&mut app, body)[0]);
    // None of this depends on time passing.
    let character = build(app.world(), armor(), &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&armor_asset, character)
        .unwrap();
    app.update(0.0);
    assert_eq!(pose(&mut app, worn)[2], pose(&mut app, body)[0]);
}

#[test]
fn circles_of_the_worn_and_wearers_that_are_no_characters_are_harmless() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let stone = app
        .world()
        .spawn((Transform::default(), Visibility::default()))
        .id();
    let body = app.spawn(&handle, "walk");
    let shirt = app
        .world()
        .spawn((SkinnedCharacter(handle.clone()), WornBy(body)))
        .id();
    let badge = app
        .world()
        .spawn((SkinnedCharacter(handle.clone()), WornBy(shirt)))
        .id();
    let lost = app
        .world()
        .spawn((SkinnedCharacter(handle.clone()), WornBy(stone)))
        .id();
    app.update(0.2);
    assert_eq!(
        pose(&mut app, badge),
        pose(&mut app, body),
        "the outermost body counts"
    );
    assert_eq!(app.parts(lost).len(), 1);
    app.world().entity_mut(stone).despawn();
    app.update(0.2);
    assert!(!app.is_alive(lost));
}

#[test]
fn characters_that_wear_each_other_are_refused_with_both_their_names() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    for (round, length) in [2, 3, 7].into_iter().enumerate() {
        let ring: Vec<Entity> = (0..length)
            .map(|i| {
                app.world()
                    .spawn((
                        SkinnedCharacter(handle.clone()),
                        Name::new(format!("ring {round} {i}")),
                    ))
                    .id()
            })
            .collect();
        for i in 0..length {
            app.world()
                .entity_mut(ring[i])
                .insert(WornBy(ring[(i + 1) % length]));
        }
        (0..4).for_each(|_| app.update(0.1));
        let worn = ring
            .iter()
            .filter(|&&entity| app.app.world().get::<WornBy>(entity).is_some())
            .count();
        assert_eq!(worn, length - 1, "one is refused");
        let said = logged(&format!("ring {round} "));
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(
            said[0].matches(&format!("ring {round} ")).count(),
            2,
            "both are named: {said:?}"
        );
    }
}

#[test]
fn a_ring_of_parents_does_not_hang_the_app() {
    use bevy::ecs::system::RunSystemOnce;
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let [a, b] = [(); 2].map(|()| app.spawn(&handle, "walk"));
    let stone = app
        .world()
        .spawn((Transform::default(), Visibility::default()))
        .id();
    app.update(0.1);
    for ring in [[a, b], [a, stone]] {
        app.world().entity_mut(ring[0]).insert(ChildOf(ring[1]));
        app.world().entity_mut(ring[1]).insert(ChildOf(ring[0]));
        for scale in [-1.0, 1.0] {
            app.world()
                .entity_mut(a)
                .insert(Transform::from_scale(Vec3::new(scale, 1.0, 1.0)));
            app.update(0.1);
        }
        app.world().entity_mut(a).insert(WeightView::InfluenceCount);
        let carried = app
            .world()
            .spawn((AttachedTo(a), AtSocket::new("hand")))
            .id();
        show(&mut app);
        let ray = Ray3d::new(Vec3::new(0.1, 0.5, 5.0), Dir3::NEG_Z);
        app.world()
            .run_system_once(move |ray_cast: CharacterRayCast| ray_cast.pick(ray))
            .unwrap();
        app.world().entity_mut(carried).despawn();
        for entity in ring {
            app.world()
                .entity_mut(entity)
                .remove::<(ChildOf, WeightView)>();
        }
        show(&mut app);
    }
    assert!(app.is_alive(a) && app.is_alive(b));
}

#[test]
fn a_character_without_parts_keeps_its_pose_up_to_date() {
    let mut app = TestApp::new();
    let mut model = chain(&clips());
    model.parts.clear();
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    for frame in 1..5_u8 {
        app.update(0.1);
        let hand = app.world().get::<ModelPose>(entity).unwrap().joints[2].translation;
        assert!((hand.x - 0.1 * f32::from(frame)).abs() < 1e-5, "{hand}");
    }
}
