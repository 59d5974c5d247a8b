//! What has no effect on a character because of a name, or because of what the character lacks, is said, and once.

use super::{messages::assert_messages, support::*};
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::CharacterPoses,
    controller::AnimationTrack,
    internals::model::RootPath,
    model::{BlendSpace, Model, PlaybackMode, RootDelta},
    prelude::*,
};
use glam::DVec3;
use std::sync::Arc;

/// Two characters of one name that play a clip.
fn two(name: &str, model: Model, clip: &str) -> (TestApp, [Entity; 2]) {
    let mut app = TestApp::new();
    let handle = app.add(model, &manifest());
    let two = [(); 2].map(|()| {
        let entity = app.spawn(&handle, clip);
        app.world()
            .entity_mut(entity)
            .insert(Name::new(name.to_owned()));
        entity
    });
    (app, two)
}

fn frames(app: &mut TestApp) {
    (0..5).for_each(|_| app.update(0.1));
}

#[test]
fn a_clip_is_found_by_its_last_name_in_a_folder_to_be_suggested() {
    let clips = ["fight/hit", "idle"].map(|name| timing(name, 1.0, PlaybackMode::Loop, &[]));
    let (mut app, [one, _]) = two("Fighter", chain(&clips), "idle");
    app.controller(one).play("hit");
    frames(&mut app);
    app.controller(one).queue_mut().push("idel");
    frames(&mut app);
    assert_messages("a clip in a folder", logged("Fighter"));
}

#[test]
fn a_callback_added_to_a_clip_that_is_not_there_is_said() {
    let (mut app, two) = two("Caller", chain(&clips()), "walk");
    for entity in two {
        let mut controller = app.controller(entity);
        controller.add_callback("walk", 0.5, "step", ());
        controller.add_callback("wlak", 0.5, "step", ());
        controller.add_callback_range("jupm", 0.1, 0.2, "air", ());
    }
    frames(&mut app);
    app.controller(two[0]).set_speed(2.0);
    frames(&mut app);
    assert_messages("a callback on a clip that is not there", logged("Caller"));
}

#[test]
fn a_range_that_no_clip_has_is_said_when_it_is_asked_for() {
    let mut clips = clips();
    clips[0].add_range(0.2, 0.3, "hit_window", ());
    let (mut app, two) = two("Ranger", chain(&clips), "idle");
    app.controller(two[1])
        .add_callback_range("idle", 0.0, 0.1, "added", ());
    for _ in 0..5 {
        for entity in two {
            let controller = app.world().get::<AnimationController>(entity).unwrap();
            for name in ["hit_window", "hit_windw", "left", "dance"] {
                assert!(controller.range(name).is_none());
            }
            _ = app.controller(two[1]).range("added");
        }
        app.update(0.3);
    }
    assert_messages("ranges that no clip has", logged("Ranger"));
}

#[test]
fn a_joint_that_is_not_there_is_said_when_it_is_asked_for() {
    let (mut app, two) = two("Jointed", chain(&clips()), "idle");
    app.app.add_systems(Update, move |poses: CharacterPoses| {
        for entity in two {
            poses.joint_transform(entity, "hand");
            assert_eq!(poses.joint_transform(entity, "hadn"), None);
        }
    });
    // Before and after the asset has been looked at.
    frames(&mut app);
    assert_messages("a joint that is not there", logged("`hadn`"));
}

#[test]
fn root_motion_that_no_clip_has_is_said() {
    let (mut app, two_without) = two("Stayer", chain(&clips()), "walk");
    for entity in two_without {
        app.world().entity_mut(entity).insert(RootMotion::default());
    }
    frames(&mut app);
    assert_messages("no root motion", logged("Stayer"));
    // One clip is enough. Something without clips, such as armor, isn't expected to walk.
    let mut walking = chain(&clips());
    let path = RootPath::steady(1.0, RootDelta::new(DVec3::NEG_Z, 0.0)).unwrap();
    walking.clips[0].set_root_path(Some(Arc::new(path)));
    for model in [walking, chain(&[])] {
        let (mut app, two) = two("Goer", model, "idle");
        for entity in two {
            app.world().entity_mut(entity).insert(RootMotion::default());
        }
        frames(&mut app);
    }
    assert_eq!(logged("Goer has"), [""; 0]);
}

#[test]
fn parameters_of_what_takes_none_are_said() {
    let (mut app, two_without) = two("Steerer", chain(&clips()), "walk");
    for entity in two_without {
        app.controller(entity).set_parameters(0.5);
    }
    frames(&mut app);
    assert_messages("parameters without a blend space", logged("Steerer"));

    let (mut app, [one, other]) = two("Rider", chain(&clips()), "walk");
    let handle = app.world().get::<SkinnedCharacter>(one).unwrap().0.clone();
    let space = BlendSpace::line("walking", [("idle", 0.0), ("walk", 1.0)]).unwrap();
    (app.world().resource_mut::<Assets<Character>>())
        .get_mut(&handle)
        .unwrap()
        .add_blend_space(space)
        .unwrap();
    // A game may set them always, whatever plays.
    app.controller(one).set_parameters(0.5);
    app.controller(other)
        .add_track(AnimationTrack::blend_space("walking").at(0.5));
    frames(&mut app);
    assert_eq!(logged("Rider"), [""; 0]);
    app.controller(other)
        .add_track(AnimationTrack::new("walk").at(0.5));
    frames(&mut app);
    assert_messages("parameters of a clip", logged("Rider"));
}
