//! Blend spaces of the sample characters: poses without jumps, feet in phase.

use crate::messages::assert_messages;
use bevy_marionette::controller::{AnimationController, AnimationTrack, Clips, PlaybackEvent};
use bevy_marionette::import::{
    BlendPlace, BlendSpaceEntry, FeetEntry, LegEntry, Manifest, open_manifest,
};
use bevy_marionette::internals::pose::{ClipLayer, Evaluate, Scratch};
use bevy_marionette::internals::rig::Plants;
use bevy_marionette::{
    internals::model::{BoundBlendSpace, RootPath},
    model::{BlendSpaceError, BlendSync, ClipTiming, SkeletalClip, Skeleton},
};
use fastrand::Rng;
use glam::Quat;

/// A sample character with a blend space.
struct Actor {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    plants: Vec<Plants>,
    spaces: Vec<BoundBlendSpace>,
    warnings: Vec<String>,
}

impl Clips for Actor {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index).map(|clip| &clip.timing)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.clips.get(index)?.root_path().map(|path| &**path)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// The scout with a space called `moves`.
fn scout(points: &[(&str, BlendPlace)], sync: BlendSync, smoothing: f64) -> Actor {
    let folder = crate::asset("scout");
    let text = std::fs::read(folder.join("scout.character.ron")).unwrap();
    let mut manifest = Manifest::parse("scout.character.ron", &text).unwrap();
    let points = points
        .iter()
        .map(|(clip, place)| ((*clip).to_owned(), *place))
        .collect();
    manifest.blend_spaces.insert(
        "moves".into(),
        BlendSpaceEntry {
            points,
            smoothing,
            sync,
        },
    );
    let leg = |side: &str| {
        LegEntry::new(format!("thigh.{side}"), format!("foot.{side}")).toe(format!("toes.{side}"))
    };
    let entry = FeetEntry::new("hips", [leg("L"), leg("R")]);
    let read = |file: &str| {
        std::fs::read(folder.join(file))
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let imported = open_manifest("scout", &manifest, &Default::default(), read).unwrap();
    let skeleton = imported.model.skeleton;
    let clips: Vec<SkeletalClip> = imported
        .model
        .clips
        .iter()
        .map(|clip| clip.bind(&skeleton))
        .collect();
    let feet = entry.resolve(&skeleton, &imported.model.parts).unwrap();
    let plants: Vec<Plants> = clips
        .iter()
        .map(|clip| Plants::detect(&feet, &skeleton, clip))
        .collect();
    let landings = |clip: usize| plants[clip].landings().collect();
    let bound = manifest
        .resolve_blend_spaces()
        .map(|space| space.bind(clips.iter().map(|c| &c.timing), landings));
    let bound: Result<Vec<_>, BlendSpaceError> = bound.collect();
    let warnings = imported.warnings.iter().map(ToString::to_string).collect();
    Actor {
        spaces: bound.unwrap_or_default(),
        skeleton,
        clips,
        plants,
        warnings,
    }
}

const LINE: [(&str, BlendPlace); 3] = [
    ("idle", BlendPlace::Line(0.0)),
    ("walk", BlendPlace::Line(1.4)),
    ("jog", BlendPlace::Line(3.0)),
];

const PLANE: [(&str, BlendPlace); 6] = [
    ("idle", BlendPlace::Plane(0.0, 0.0)),
    ("walk", BlendPlace::Plane(0.0, 1.4)),
    ("jog", BlendPlace::Plane(0.0, 3.0)),
    ("turn", BlendPlace::Plane(-90.0, 0.5)),
    ("turn", BlendPlace::Plane(90.0, 0.5)),
    ("wave", BlendPlace::Plane(60.0, 3.0)),
];

impl Actor {
    fn rotations(&self, controller: &AnimationController) -> Vec<Quat> {
        let layer = |layer: bevy_marionette::internals::controller::LayerInfo| ClipLayer {
            weight: layer.weight,
            ..ClipLayer::new(&self.clips[layer.clip], layer.time)
        };
        let layers: Vec<ClipLayer> = controller.layers(self).map(layer).collect();
        let mut scratch = Scratch::default();
        Evaluate::new(&self.skeleton, &layers).run(&mut scratch);
        let local = scratch.local();
        (0..self.skeleton.len())
            .map(|joint| local[joint / 4].get(joint % 4).rotation)
            .collect()
    }
}

fn degrees(a: Quat, b: Quat) -> f32 {
    a.angle_between(b).to_degrees()
}

/// On any path, in steps of a thousandth of the space, no joint turns by more than this, in degrees, while time stands
/// still. The poses of these clips are up to 120° apart, over no less than a third of the space.
const MOST_TURN: f32 = 0.75;

#[test]
fn no_joint_jumps_on_any_path_through_the_parameters() {
    let mut random = Rng::with_seed(1);
    for points in [&LINE[..], &PLANE] {
        let actor = scout(points, BlendSync::Feet, 0.0);
        let mut most = 0.0_f32;
        for _ in 0..40 {
            let mut place = || (random.f64() * 260.0 - 130.0, random.f64() * 5.0 - 1.0);
            let (from, to) = (place(), place());
            let at = |part: f64| {
                let point = (
                    from.0 + (to.0 - from.0) * part,
                    from.1 + (to.1 - from.1) * part,
                );
                if points.len() == LINE.len() {
                    (point.1, 0.0)
                } else {
                    point
                }
            };
            let mut controller = AnimationController::default();
            let id = controller.add_track(AnimationTrack::blend_space("moves").at(at(0.0)));
            actor.advance(&mut controller, random.f64() * 3.0);
            let mut before = actor.rotations(&controller);
            for step in 1..=1500 {
                controller
                    .track_mut(id)
                    .unwrap()
                    .set_parameters(at(f64::from(step) / 1500.0));
                actor.advance(&mut controller, 0.0);
                let now = actor.rotations(&controller);
                most = before
                    .iter()
                    .zip(&now)
                    .map(|(a, b)| degrees(*a, *b))
                    .fold(most, f32::max);
                before = now;
            }
        }
        assert!(most < MOST_TURN, "{most}°");
        assert!(most > 0.01, "nothing moved");
    }
}

impl Actor {
    fn advance(&self, controller: &mut AnimationController, dt: f64) -> Vec<PlaybackEvent> {
        let mut events = Vec::new();
        controller.advance(dt, self, &mut events).unwrap();
        events
    }
}

#[test]
fn feet_land_together_in_all_clips_that_step() {
    let actor = scout(&LINE, BlendSync::Feet, 0.0);
    let [walk, jog] = ["walk", "jog"].map(|name| actor.index_of(name).unwrap());
    let landings = |clip: usize| actor.plants[clip].landings().collect::<Vec<_>>();
    assert_eq!((landings(walk).len(), landings(jog).len()), (2, 2));
    let mut controller = AnimationController::default();
    let id = controller.add_track(AnimationTrack::blend_space("moves").at(2.0));
    actor.advance(&mut controller, 0.0);
    for landing in landings(walk) {
        let phase = landing.time / actor.clips[walk].timing.duration;
        controller.track_mut(id).unwrap().seek(phase);
        actor.advance(&mut controller, 0.0);
        let time = |clip: usize| {
            controller
                .layers(&actor)
                .find(|layer| layer.clip == clip)
                .unwrap()
                .time
        };
        let other = landings(jog)
            .into_iter()
            .find(|other| other.foot == landing.foot)
            .unwrap();
        let length = actor.clips[jog].timing.duration;
        let apart = (time(jog) - other.time + 0.5 * length).rem_euclid(length) - 0.5 * length;
        assert!(
            apart.abs() < 1e-9 && (time(walk) - landing.time).abs() < 1e-9,
            "{apart}"
        );
    }
}

#[test]
fn footsteps_of_walk_and_jog_come_as_pairs_while_the_speed_changes() {
    let actor = scout(&LINE, BlendSync::Keys(vec!["footstep".into()]), 1.0);
    let mut controller = AnimationController::default();
    let id = controller.add_track(AnimationTrack::blend_space("moves").at(1.5));
    actor.advance(&mut controller, 0.01);
    let mut events = Vec::new();
    for speed in [2.9, 1.6, 2.5] {
        controller.track_mut(id).unwrap().set_parameters(speed);
        events.extend(actor.advance(&mut controller, 3.0));
    }
    let steps: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            PlaybackEvent::Callback(step) if &*step.name == "footstep" => Some(step),
            _ => None,
        })
        .collect();
    assert!(steps.len() > 20 && steps.len().is_multiple_of(2));
    for pair in steps.chunks(2) {
        assert!((pair[0].time - pair[1].time).abs() < 1e-9 && pair[0].data == pair[1].data);
        assert!((pair[0].weight + pair[1].weight - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_character_goes_as_far_as_its_feet_push_it() {
    let actor = scout(&LINE, BlendSync::Feet, 0.0);
    let jog = actor.index_of("jog").unwrap();
    let speed = actor.root_path(jog).unwrap().ground_speed();
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::blend_space("moves").at(3.0));
    let went = controller
        .advance_with_root_motion(7.0, &actor, &mut Vec::new())
        .unwrap();
    assert!(
        (went.translation.length() - 7.0 * speed).abs() < 0.02 * speed,
        "{went:?} {speed}"
    );
}

#[test]
fn a_space_without_its_clip_is_left_out_with_a_warning() {
    let actor = scout(&[("wakl", BlendPlace::Line(0.0))], BlendSync::Feet, 0.0);
    assert_messages("blend space: a clip that does not exist", &actor.warnings);
    assert!(actor.spaces.is_empty());
    let twice = scout(&[("walk", BlendPlace::Line(0.0))], BlendSync::Feet, 0.0);
    assert_eq!(twice.warnings, [""; 0]);
}
