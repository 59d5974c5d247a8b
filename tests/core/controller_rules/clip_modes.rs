//! Blend modes that follow the clip.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, BlendMode, Clips, PlaybackEvent,
};
use bevy_marionette::model::ClipTiming;

/// The usual clips, of which `run` is additive.
struct WithAdditive(Vec<ClipTiming>);

impl Clips for WithAdditive {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.0.index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.0.timing(index)
    }

    fn is_additive(&self, index: usize) -> bool {
        &*self.0[index].name == "run"
    }
}

fn modes(controller: &AnimationController, clips: &WithAdditive) -> Vec<BlendMode> {
    controller.layers(clips).map(|layer| layer.mode).collect()
}

#[test]
fn a_track_without_a_mode_takes_it_from_its_clip() {
    let clips = WithAdditive(clips());
    let mut controller = AnimationController::playing("walk");
    controller.add_track(AnimationTrack::new("run"));
    controller.add_track(AnimationTrack::new("walk").blend(BlendMode::Override));
    let mut events = Vec::new();
    controller.advance(0.1, &clips, &mut events).unwrap();
    assert_eq!(
        modes(&controller, &clips),
        [BlendMode::Blend, BlendMode::Additive, BlendMode::Override]
    );
    controller.play("run");
    controller.advance(0.1, &clips, &mut events).unwrap();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, PlaybackEvent::BlendMismatch { .. }))
    );
    assert_eq!(modes(&controller, &clips)[2], BlendMode::Additive);
}

#[test]
fn a_mode_that_makes_no_sense_for_its_clip_is_reported_once() {
    let clips = WithAdditive(clips());
    for (clip, mode) in [
        ("run", BlendMode::Blend),
        ("run", BlendMode::Override),
        ("walk", BlendMode::Additive),
    ] {
        let (mut controller, track) = with_track(AnimationTrack::new(clip));
        let mut events = Vec::new();
        for _ in 0..5 {
            controller.advance(0.01, &clips, &mut events).unwrap();
        }
        controller.track_mut(track).unwrap().blend = Some(mode);
        for _ in 0..5 {
            controller.advance(0.01, &clips, &mut events).unwrap();
        }
        let said: Vec<_> = events
            .iter()
            .filter(|event| matches!(event, PlaybackEvent::BlendMismatch { .. }))
            .cloned()
            .collect();
        let [
            PlaybackEvent::BlendMismatch {
                track: of, blend, ..
            },
        ] = said[..]
        else {
            panic!("{clip}: {said:?}")
        };
        assert_eq!((of, blend), (track, mode));
    }
}
