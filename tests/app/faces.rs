//! Morph targets: clips, expressions and idle eyes down to the parts' lists of weights.

use super::{
    messages::assert_messages,
    support::{TestApp, chain, logged, manifest, timing},
};
use bevy::{camera::visibility::ViewVisibility, mesh::morph::MeshMorphWeights, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{CharacterParts, Expressions, IdleEyes, MorphPose, WornBy},
    internals::model::{MorphDelta, MorphFrames, MorphTarget},
    model::{Model, Morphs, PlaybackMode, Viseme},
    prelude::*,
};
use std::{sync::Arc, time::Duration};

const NAMES: [&str; 4] = ["happy", "blinkLeft", "blinkRight", "aa"];

/// The chain with a face: `talk` moves `aa` from 0 to 1 in a second, and nothing moves the others.
fn face() -> Model {
    let names: Arc<[Arc<str>]> = NAMES.map(Arc::from).into();
    let mut model = chain(&[timing("talk", 1.0, PlaybackMode::Once, &[])]);
    let morphs = Morphs::new(names.iter().map(|name| (name.clone(), 0.0)));
    model.skeleton = model.skeleton.with_morphs(morphs);
    let vertices = model.parts[0].positions.len();
    model.parts[0].morphs = (0..4)
        .map(|morph| {
            let moved = MorphDelta {
                position: Vec3::Z * f32::from(morph + 1),
                ..MorphDelta::default()
            };
            MorphTarget::new(morph, vec![moved; vertices])
        })
        .collect();
    let talk = MorphFrames {
        names,
        animated: vec![false, false, false, true],
        weights: vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        times: vec![],
    };
    for clip in &mut model.clips {
        *clip = clip.clone().with_morphs(&talk).unwrap();
    }
    model
}

fn talking() -> (TestApp, Entity) {
    let mut app = TestApp::new();
    let handle = app.add(face(), &manifest());
    let entity = app.spawn(&handle, "talk");
    app.update(0.0);
    (app, entity)
}

fn list(app: &mut TestApp, entity: Entity) -> Vec<f32> {
    let part = app.world().get::<CharacterParts>(entity).unwrap().entities[0];
    match app.world().get::<MeshMorphWeights>(part) {
        Some(MeshMorphWeights::Value { weights }) => weights.clone(),
        other => panic!("{other:?}"),
    }
}

fn weights(app: &mut TestApp, entity: Entity) -> Vec<f32> {
    app.world()
        .get::<MorphPose>(entity)
        .unwrap()
        .weights
        .clone()
}

#[test]
fn meshes_have_their_targets_in_the_order_of_use() {
    let (mut app, entity) = talking();
    let handle = app
        .world()
        .get::<SkinnedCharacter>(entity)
        .unwrap()
        .0
        .clone();
    let part = app.asset(&handle).unwrap().parts[0].clone();
    assert_eq!(*part.morphs, [3, 0, 1, 2]);
    let mesh = app.asset(&part.mesh).unwrap();
    let targets = mesh.morph_targets().unwrap();
    assert_eq!(targets.len(), 4 * mesh.count_vertices());
    assert_eq!(targets[0].position, Vec3::Z * 4.0);
    assert_eq!(targets[mesh.count_vertices()].position, Vec3::Z);
}

#[test]
fn a_face_at_rest_has_no_weights_and_is_not_written_again() {
    let (mut app, entity) = talking();
    assert!(list(&mut app, entity).is_empty());
    // Nothing is in view without a renderer, so this is what a game that reads weights on a server adds.
    app.world()
        .entity_mut(entity)
        .insert(Expressions::default());
    app.controller(entity).set_speed(0.0);
    app.update(0.1);
    app.update(0.1);
    let before = app
        .world()
        .get_entity(entity)
        .unwrap()
        .get_ref::<MorphPose>()
        .unwrap()
        .last_changed();
    for _ in 0..5 {
        app.update(0.1);
    }
    let after = app
        .world()
        .get_entity(entity)
        .unwrap()
        .get_ref::<MorphPose>()
        .unwrap()
        .last_changed();
    assert_eq!(before, after);
    assert!(list(&mut app, entity).is_empty());
}

#[test]
fn clips_move_weights_and_expressions_take_their_place() {
    let (mut app, entity) = talking();
    app.world()
        .entity_mut(entity)
        .insert((Expressions::default(), Name::new("Scout")));
    app.update(0.25);
    let spoken = weights(&mut app, entity);
    assert!((spoken[3] - 0.25).abs() < 1e-6, "{spoken:?}");
    assert_eq!(list(&mut app, entity), [spoken[3]]);
    let change = |app: &mut TestApp, by: &dyn Fn(&mut Expressions)| {
        by(&mut app.world().get_mut::<Expressions>(entity).unwrap());
    };
    // Both of its names, and one that the model doesn't have.
    change(&mut app, &|face| {
        face.set("jawOpen", 0.75);
        face.set("blink", 1.0);
        face.set("purr", 1.0);
    });
    app.update(0.0);
    assert_eq!(weights(&mut app, entity), [0.0, 1.0, 1.0, 0.75]);
    assert_eq!(list(&mut app, entity), [0.75, 0.0, 1.0, 1.0]);
    assert_messages("an expression that is not there", logged("`purr`"));
    change(&mut app, &|face| face.release_all(Duration::ZERO));
    app.update(0.0);
    assert_eq!(weights(&mut app, entity), spoken);
    // As long as the face moves, the list keeps its length.
    assert_eq!(list(&mut app, entity), [spoken[3], 0.0, 0.0, 0.0]);
    // Without the component, what it did ends, too.
    change(&mut app, &|face| face.set("happy", 1.0));
    app.update(0.0);
    assert_eq!(weights(&mut app, entity)[0], 1.0);
}

#[derive(Resource)]
struct InView(bool);

/// Eyes that blink out of view: some of what they do is over, and some goes on, when the character comes into view.
#[test]
fn eyes_that_moved_out_of_view_are_up_to_date_when_they_come_into_view() {
    let (mut app, entity) = talking();
    app.controller(entity).set_speed(0.0);
    let see = |in_view: Res<InView>, mut parts: Query<&mut ViewVisibility>| {
        for mut part in &mut parts {
            *part = if in_view.0 {
                ViewVisibility::VISIBLE
            } else {
                ViewVisibility::HIDDEN
            };
        }
    };
    app.app
        .insert_resource(InView(true))
        .add_systems(PostUpdate, see.before(CharacterSystems::EvaluateLate));
    app.world().entity_mut(entity).insert(IdleEyes::new(5));
    let closed = |app: &mut TestApp| app.world().get::<IdleEyes>(entity).unwrap().closed();
    app.update(0.0);
    let mut compared = [0; 2];
    for blink in 0..20 {
        for is_closed in [true, false] {
            // What happens goes unseen, apart from every third blink.
            app.world().insert_resource(InView(blink % 3 == 0));
            let mut frames = 0;
            while (closed(&mut app) > 0.5) != is_closed {
                app.update(0.02);
                frames += 1;
                assert!(frames < 2000, "they never blink");
            }
            if !is_closed {
                // Open all the way, and nothing moves any more.
                (0..15).for_each(|_| app.update(0.02));
            }
            let before = closed(&mut app);
            app.world().insert_resource(InView(true));
            app.update(0.0);
            assert_eq!(closed(&mut app), before);
            let seen = weights(&mut app, entity);
            assert_eq!(seen[1..3], [before; 2], "blink {blink}");
            assert_eq!(
                list(&mut app, entity).last().copied(),
                seen.get(2).copied().filter(|w| *w > 0.0)
            );
            compared[usize::from(before > 0.0)] += 1;
        }
    }
    assert!(compared.iter().all(|&count| count > 15), "{compared:?}");
}

#[test]
fn speech_is_a_clip() {
    let (mut app, entity) = talking();
    let handle = app
        .world()
        .get::<SkinnedCharacter>(entity)
        .unwrap()
        .0
        .clone();
    let said = [Viseme::new(0.5, "aa", 1.0), Viseme::new(1.0, "sil", 1.0)];
    {
        let mut assets = app.world().resource_mut::<Assets<Character>>();
        let mut character = assets.get_mut(&handle).unwrap();
        character.add_speech("hello", &said).unwrap();
        assert!(character.add_speech("hello", &said).is_err());
    }
    app.world()
        .entity_mut(entity)
        .insert(Expressions::default());
    app.controller(entity).play("hello");
    app.update(0.25);
    let open = weights(&mut app, entity)[3];
    assert!((open - 0.5).abs() < 1e-6, "{open}");
}

#[test]
fn a_worn_face_has_the_weights_of_whoever_wears_it() {
    let mut app = TestApp::new();
    let handle = app.add(face(), &manifest());
    let [smiling, neutral, beard] = [(); 3].map(|()| app.spawn(&handle, ""));
    let mut face = Expressions::default();
    face.set("happy", 1.0);
    app.world().entity_mut(smiling).insert(face);
    // Weights are kept without a renderer where there are expressions.
    for entity in [neutral, beard] {
        app.world()
            .entity_mut(entity)
            .insert(Expressions::default());
    }
    app.update(0.1);
    app.world().entity_mut(beard).insert(WornBy(smiling));
    app.update(0.1);
    assert_eq!(weights(&mut app, beard)[0], 1.0);
    // Another body of the same asset.
    app.world().entity_mut(beard).insert(WornBy(neutral));
    app.update(0.1);
    assert_eq!(weights(&mut app, beard)[0], 0.0);
    app.world().entity_mut(beard).insert(WornBy(smiling));
    app.update(0.1);
    assert_eq!(weights(&mut app, beard)[0], 1.0);
    // Taken off, it has its own again, and put on, those of the body.
    app.world().entity_mut(beard).remove::<(WornBy, ChildOf)>();
    app.update(0.1);
    assert_eq!(weights(&mut app, beard)[0], 0.0);
    app.world().entity_mut(beard).insert(WornBy(smiling));
    app.update(0.1);
    assert_eq!(weights(&mut app, beard)[0], 1.0);
}

#[test]
fn an_expression_that_is_set_again_and_again_is_missed_once() {
    let (mut app, entity) = talking();
    app.world()
        .entity_mut(entity)
        .insert(Expressions::default());
    for _ in 0..5 {
        let mut face = app.world().get_mut::<Expressions>(entity).unwrap();
        face.set("smirk of a typo", 1.0);
        app.update(0.1);
        let mut face = app.world().get_mut::<Expressions>(entity).unwrap();
        face.release("smirk of a typo", Duration::ZERO);
        app.update(0.1);
    }
    assert_eq!(logged("smirk of a typo").len(), 1);
}
