//! Feet stand on the ground that the game describes, in the same frame.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    character::{Ground, GroundProbe, ModelPose, Teleported},
    import::{Manifest, open_manifest},
    prelude::*,
    rig::{GroundHit, RigState},
};

/// Scout, standing idle at the origin.
fn scout() -> (TestApp, Entity) {
    let folder = format!("{}/assets/scout", env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| {
        std::fs::read(format!("{folder}/{file}"))
            .map(Into::into)
            .map_err(|e| e.to_string())
    };
    let source = std::fs::read(format!("{folder}/scout.character.ron")).unwrap();
    let manifest = Manifest::parse("scout.character.ron", &source).unwrap();
    let model = open_manifest("scout.character.ron", &manifest, &Default::default(), read)
        .unwrap()
        .model;
    let mut app = TestApp::new();
    let handle = app.add(model, &manifest);
    let scout = app.spawn(&handle, "idle");
    app.update(0.0);
    (app, scout)
}

/// The places of both ankles in the character's space.
fn ankles(app: &mut TestApp, scout: Entity) -> [Vec3; 2] {
    let handle = app
        .world()
        .get::<SkinnedCharacter>(scout)
        .unwrap()
        .0
        .clone();
    let joints = ["foot.L", "foot.R"].map(|name| app.asset(&handle).unwrap().joint(name).unwrap());
    let pose = app.world().get::<ModelPose>(scout).unwrap();
    joints.map(|joint| pose.joints[usize::from(joint)].translation.into())
}

fn is_locked(app: &mut TestApp, scout: Entity) -> bool {
    let state = app.world().get::<RigState>(scout).unwrap();
    state.feet.is_locked(0) && state.feet.is_locked(1)
}

#[test]
fn feet_stand_on_meshes_marked_as_ground() {
    let (mut app, scout) = scout();
    let before = ankles(&mut app, scout);
    app.world()
        .entity_mut(scout)
        .insert(FootPlacement::default());
    app.update(0.0);
    let bare = ankles(&mut app, scout).into_iter().zip(before);
    assert!(
        bare.into_iter()
            .all(|(now, before)| now.distance(before) < 1e-3),
        "without any ground, clips play as they are"
    );
    let mesh = app
        .world()
        .resource_mut::<Assets<Mesh>>()
        .add(Plane3d::default().mesh().size(20.0, 20.0));
    let tilt = Quat::from_rotation_z(20_f32.to_radians());
    app.world()
        .spawn((Ground, Mesh3d(mesh), Transform::from_rotation(tilt)));
    for _ in 0..120 {
        app.update(1.0 / 60.0);
    }
    assert!(is_locked(&mut app, scout));
    for (now, before) in ankles(&mut app, scout).into_iter().zip(before) {
        let slope = 20_f32.to_radians().tan() * before.x;
        assert!((now.y - before.y - slope).abs() < 0.02, "{now} {before}");
    }
    app.world().get_mut::<FootPlacement>(scout).unwrap().weight = 0.0;
    app.update(0.0);
    let off = ankles(&mut app, scout);
    assert!((off[0].y - off[1].y).abs() < 1e-3, "{off:?}");
}

#[test]
fn the_game_answers_in_the_same_frame_and_the_nearest_answer_counts() {
    let (mut app, scout) = scout();
    let flat = ankles(&mut app, scout);
    let step = |x: f32| if x < 0.0 { 0.2 } else { 0.0 };
    let answer = move |mut probes: Query<&mut GroundProbe>| {
        for mut probe in &mut probes {
            assert!(
                probe
                    .rays()
                    .all(|ray| ray.direction == Vec3::NEG_Y && ray.origin.y > 0.2)
            );
            for offset in [-0.1, 0.0, -0.3] {
                probe.answer(|ray| {
                    Some(GroundHit {
                        point: ray.origin.with_y(step(ray.origin.x) + offset),
                        normal: Vec3::Y,
                    })
                });
            }
            probe.answer(|ray| {
                Some(GroundHit {
                    point: ray.origin.with_y(-50.0),
                    normal: Vec3::Y,
                })
            });
        }
    };
    app.app
        .add_systems(PostUpdate, answer.in_set(CharacterSystems::ProbeGround));
    app.world()
        .entity_mut(scout)
        .insert(FootPlacement::default());
    // The first frame takes the feet there at once.
    app.update(0.0);
    let raised = ankles(&mut app, scout);
    assert!(
        (raised[0].y - flat[0].y - 0.2).abs() < 5e-3,
        "{raised:?} {flat:?}"
    );
    assert!(
        (raised[1].y - flat[1].y).abs() < 5e-3,
        "{raised:?} {flat:?}"
    );
    // Locked feet stay where they are in the world.
    app.update(1.0 / 60.0);
    app.world()
        .get_mut::<Transform>(scout)
        .unwrap()
        .translation
        .x += 0.05;
    app.update(1.0 / 60.0);
    let moved = ankles(&mut app, scout);
    assert!(
        (moved[1].x + 0.05 - raised[1].x).abs() < 5e-3,
        "{moved:?} {raised:?}"
    );
    app.world().entity_mut(scout).insert(Teleported);
    app.update(1.0 / 60.0);
    assert!((ankles(&mut app, scout)[1].x - raised[1].x).abs() < 5e-3);
}
