//! What a track does with a blend space.

use super::support::*;
use bevy_marionette::model::{BlendPoint, BlendSpace, ClipTiming, PlaybackMode};
use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, BlendMode, CallbackTime, PlaybackEvent,
        TransitionCurve,
    },
    internals::controller::KeyRef,
};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn with(track: AnimationTrack) -> (AnimationController, bevy_marionette::controller::TrackId) {
    let mut controller = AnimationController::default();
    let id = controller.add_track(track);
    (controller, id)
}

#[test]
fn there_is_a_layer_for_each_clip_that_weighs_at_the_common_phase() {
    let cast = locomotion();
    let (mut controller, id) = with(
        AnimationTrack::blend_space("locomotion")
            .at(1.5)
            .weight(0.5),
    );
    cast.advance(&mut controller, 0.0);
    assert_eq!(cast.layers(&controller), [("walk".into(), 0.0, 0.5)]);
    controller.track_mut(id).unwrap().set_parameters(2.25);
    cast.advance(&mut controller, 0.0);
    let layers = cast.layers(&controller);
    assert_eq!(
        layers
            .iter()
            .map(|layer| (&*layer.0, layer.2))
            .collect::<Vec<_>>(),
        [("walk", 0.25), ("jog", 0.25)]
    );
    // Both are where the left foot lands, at the phase of the walk.
    controller.track_mut(id).unwrap().seek(0.2);
    cast.advance(&mut controller, 0.0);
    let layers = cast.layers(&controller);
    assert_near(layers[0].1, 0.2, 1e-12);
    assert_near(layers[1].1, 0.4, 1e-12);
}

#[test]
fn a_clip_alone_in_its_space_plays_as_it_does_by_itself() {
    let cast = locomotion();
    for speed in [1.0, -0.7, 2.3] {
        let (mut space, _) = with(
            AnimationTrack::blend_space("locomotion")
                .at(1.5)
                .speed(speed),
        );
        let (mut clip, _) = with(AnimationTrack::new("walk").speed(speed));
        for step in 0..500 {
            let dt = f64::from(step % 7) * 0.01;
            let [ours, theirs] =
                [&mut space, &mut clip].map(|controller| cast.advance(controller, dt));
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(&theirs) {
                assert_near(a.time(), b.time(), 1e-9);
            }
            let [a, b] = [&space, &clip].map(|controller| cast.layers(controller)[0].clone());
            assert_near((a.1 - b.1 + 0.5).rem_euclid(1.0), 0.5, 1e-9);
        }
    }
}

#[test]
fn at_the_end_of_a_cycle_the_order_is_that_of_a_clip() {
    let mut walk = ClipTiming::new("walk", 0.5);
    for (time, name) in [(0.0, "start"), (0.5, "end"), (0.25, "middle")] {
        walk.add_callback(time, name, ());
    }
    for (begin, end, name) in [
        (0.0, 0.25, "first"),
        (0.25, 0.5, "second"),
        (0.4, 0.6, "over"),
    ] {
        walk.add_range(begin, end, name, ());
    }
    let space = BlendSpace::line("s", [("walk", 0.0)]).unwrap();
    let cast = Cast::new(vec![walk], vec![space]);
    // What happens, but for the phase that spaces count in.
    let happens = |event: &PlaybackEvent| {
        let callback = callbacks(std::slice::from_ref(event)).next();
        let named = callback.map(|callback| (callback.name.clone(), callback.kind));
        let nanos = (event.time() * 1e9).round() as u64;
        (nanos, std::mem::discriminant(event), named)
    };
    for speed in [1.0, -1.0, 4.0] {
        let tracks = [
            AnimationTrack::blend_space("s"),
            AnimationTrack::new("walk"),
        ];
        for dt in [0.05, 0.125, 0.5, 3.0] {
            let [ours, theirs] = tracks.clone().map(|track| {
                let (mut controller, _) = with(track.speed(speed));
                let advances =
                    (0..(3.0 / dt) as usize).flat_map(|_| cast.advance(&mut controller, dt));
                advances.map(|event| happens(&event)).collect::<Vec<_>>()
            });
            assert_eq!(ours, theirs, "at {speed} in steps of {dt}");
        }
    }
}

#[test]
fn the_phase_goes_at_the_mean_of_the_rates() {
    let cast = locomotion();
    for (x, rate) in [
        (0.75, 0.5 * 0.25 + 0.5),
        (2.25, 0.5 + 0.5 / 0.7),
        (9.0, 1.0 / 0.7),
        (-3.0, 0.25),
    ] {
        let (mut controller, id) = with(AnimationTrack::blend_space("locomotion").at(x).speed(2.0));
        cast.advance(&mut controller, 3.0);
        assert_near(
            controller.track(id).unwrap().unwrapped_position(),
            6.0 * rate,
            1e-12,
        );
        assert_near(cast.spaces[0].cycle_length(x), rate.recip(), 1e-12);
    }
}

#[test]
fn smoothed_parameters_move_steadily_and_the_phase_is_their_integral() {
    let mut cast = locomotion();
    let space =
        BlendSpace::line("locomotion", [("idle", 0.0), ("walk", 1.5), ("jog", 3.0)]).unwrap();
    cast = Cast::new(cast.clips, vec![space.smoothed(2.0).unwrap()]);
    let (mut controller, id) = with(AnimationTrack::blend_space("locomotion").at(0.0));
    cast.advance(&mut controller, 0.5);
    controller.track_mut(id).unwrap().set_parameters(1.5);
    cast.advance(&mut controller, 0.25);
    let track = controller.track(id).unwrap();
    assert_eq!(
        (track.parameters(), track.smoothed_parameters()),
        (1.5.into(), 0.375.into())
    );
    cast.advance(&mut controller, 5.0);
    let track = controller.track(id).unwrap();
    assert_eq!(track.smoothed_parameters(), BlendPoint::from(1.5));
    // Half a second of idle, a second from one rate to the other, and the rest at a walk.
    assert_near(
        track.unwrapped_position(),
        0.5 * 0.25 + 0.5 * (0.25 + 1.0) + 4.25,
        1e-12,
    );
    // What is beyond the space takes no time to come back from.
    controller.track_mut(id).unwrap().set_parameters(1e9);
    cast.advance(&mut controller, 1.5);
    assert_eq!(controller.track(id).unwrap().smoothed_parameters().x, 3.0);
    controller.track_mut(id).unwrap().set_parameters(f64::NAN);
    assert_eq!(controller.track(id).unwrap().parameters().x, 1e9);
}

#[test]
fn smoothed_parameters_turn_back_at_the_moment_at_which_they_set_off() {
    let space =
        BlendSpace::line("locomotion", [("idle", 0.0), ("walk", 1.5), ("jog", 3.0)]).unwrap();
    let cast = Cast::new(locomotion().clips, vec![space.smoothed(2.0).unwrap()]);
    let (mut controller, id) = with(AnimationTrack::blend_space("locomotion").at(1.5));
    cast.advance(&mut controller, 0.5);
    // Both ways take a second.
    for target in [3.0, 0.0] {
        controller.track_mut(id).unwrap().set_parameters(target);
        cast.advance(&mut controller, 0.0);
    }
    cast.advance(&mut controller, 0.5);
    // Half a second of a walk, and as much on the way to the rate between it and idle.
    let position = controller.track(id).unwrap().unwrapped_position();
    assert_near(position, 0.5 + 0.5 * 0.5 * (1.0 + 0.625), 1e-12);
}

#[test]
fn play_cross_fade_and_the_queue_take_blend_spaces_like_clips() {
    let cast = locomotion();
    let mut controller = AnimationController::playing("wave");
    controller.set_parameters(1.5);
    cast.advance(&mut controller, 0.5);
    controller.cross_fade("locomotion", SECOND);
    let events = cast.advance(&mut controller, 0.25);
    // What it is called, and what stands for it.
    assert!(
        matches!(
            events[0],
            PlaybackEvent::Started {
                clip: 1,
                space: Some(0),
                ..
            }
        ),
        "{events:?}"
    );
    assert_eq!(controller.current(), Some("locomotion"));
    let layers = cast.layers(&controller);
    assert_eq!(
        layers
            .iter()
            .map(|layer| (&*layer.0, layer.2))
            .collect::<Vec<_>>(),
        [("wave", 0.75), ("walk", 0.25)]
    );
    // Fades do not change how fast it goes; it was started at the fade.
    assert_near(layers[1].1, 0.25, 1e-12);
    // The next clip takes over at the end of a cycle.
    controller.queue_mut().extend(["wave", "locomotion"]);
    let started = |events: &[PlaybackEvent]| {
        let started = events
            .iter()
            .filter(|event| matches!(event, PlaybackEvent::Started { .. }));
        started.map(PlaybackEvent::time).collect::<Vec<_>>()
    };
    let times = started(&cast.advance(&mut controller, 4.0));
    assert_eq!(times.len(), 2);
    assert_near(times[0], 1.5, 1e-9);
    assert_near(times[1], 3.5, 1e-9);
    assert_eq!(controller.current(), Some("locomotion"));
    controller.play("idle");
    cast.advance(&mut controller, 0.0);
    assert_eq!(cast.layers(&controller).len(), 1);
}

#[test]
fn a_space_that_is_unknown_is_reported_once_and_plays_when_it_appears() {
    let cast = locomotion();
    let bare = Cast {
        clips: cast.clips.clone(),
        paths: cast.paths.clone(),
        spaces: Vec::new(),
    };
    let mut controller = AnimationController::playing("locomotion");
    let unknown = |event: &PlaybackEvent| matches!(event, PlaybackEvent::UnknownClip { .. });
    assert!(bare.advance(&mut controller, 0.1).iter().all(unknown));
    assert!(bare.advance(&mut controller, 0.1).is_empty());
    assert!(matches!(
        cast.advance(&mut controller, 0.1)[0],
        PlaybackEvent::Started { .. }
    ));
    assert_eq!(cast.layers(&controller).len(), 1);
    // It goes on without a jump if it vanishes and comes back.
    let before = cast.layers(&controller)[0].1;
    bare.advance(&mut controller, 5.0);
    assert!(bare.layers(&controller).is_empty());
    cast.advance(&mut controller, 0.0);
    assert_near(cast.layers(&controller)[0].1, before, 1e-12);
}

#[test]
fn a_sync_group_of_a_clip_and_a_space_stays_in_phase() {
    let cast = locomotion();
    let mut controller = AnimationController::default();
    let space = controller.add_track(AnimationTrack::blend_space("locomotion").at(1.5).sync(1));
    let clip = controller.add_track(AnimationTrack::new("wave").sync(1).weight(0.5));
    for step in 0..200 {
        if step == 60 {
            controller.timeline_mut().fade(clip, 2.0, SECOND);
        }
        let position = |id| controller.track(id).unwrap().unwrapped_position();
        assert_near(position(space) * 2.0, position(clip), 1e-6);
        controller
            .track_mut(space)
            .unwrap()
            .set_parameters(f64::from(step) * 0.02);
        cast.advance(&mut controller, 0.02);
    }
    // The clip leads by now: a cycle takes its two seconds.
    let before = controller.track(space).unwrap().unwrapped_position();
    cast.advance(&mut controller, 1.0);
    assert_near(
        controller.track(space).unwrap().unwrapped_position() - before,
        0.5,
        1e-9,
    );
}

#[test]
fn callbacks_carry_the_clips_share_of_the_weight_and_added_ones_fire_too() {
    let cast = locomotion();
    let (mut controller, id) = with(
        AnimationTrack::blend_space("locomotion")
            .at(2.0)
            .weight(0.5),
    );
    let on_jog = controller.add_callback("jog", 0.35, "jogging", ());
    let on_space = controller.add_callback("locomotion", CallbackTime::Fraction(0.5), "half", ());
    cast.advance(&mut controller, 0.0);
    let events = cast.advance(&mut controller, 0.99 * cast.spaces[0].cycle_length(2.0));
    let weight_of = |name: &str| {
        callbacks(&events)
            .filter(|c| &*c.name == name)
            .map(|c| c.weight)
            .sum::<f32>()
    };
    // A left and a right step of each clip, with two thirds and one third of the track's weight.
    assert_eq!(
        callbacks(&events)
            .filter(|callback| &*callback.name == "step")
            .count(),
        4
    );
    assert_near(weight_of("step").into(), 1.0, 1e-6);
    assert_near(weight_of("jogging").into(), 0.5 / 3.0, 1e-6);
    assert_near(weight_of("half").into(), 0.5, 1e-6);
    let key = |name: &str| {
        callbacks(&events)
            .find(|callback| &*callback.name == name)
            .unwrap()
            .key
    };
    assert_eq!(
        (key("jogging"), key("half")),
        (KeyRef::Added(on_jog), KeyRef::Added(on_space))
    );
    // With a threshold, only the heavier clip's.
    controller.track_mut(id).unwrap().weight = 1.0;
    controller.callback_threshold = 0.51;
    let events = cast.advance(&mut controller, cast.spaces[0].cycle_length(2.0));
    assert_eq!(
        callbacks(&events)
            .filter(|callback| &*callback.name == "step")
            .count(),
        2
    );
}

#[test]
fn steps_of_clips_that_are_matched_fire_together() {
    let cast = locomotion();
    let (mut controller, _) = with(AnimationTrack::blend_space("locomotion").at(2.5));
    let events = cast.advance(&mut controller, 20.0);
    let steps: Vec<_> = callbacks(&events).collect();
    assert!(steps.len() > 40 && steps.len().is_multiple_of(2));
    for pair in steps.chunks(2) {
        assert_near(pair[0].time, pair[1].time, 1e-9);
        assert!(pair[0].data == pair[1].data && pair[0].clip != pair[1].clip);
    }
}

#[test]
fn a_space_of_clips_that_play_once_finishes_and_its_overlay_leaves() {
    let mut cast = locomotion();
    for clip in &mut cast.clips {
        clip.playback = PlaybackMode::Once;
    }
    let space = BlendSpace::line("vault", [("walk", 0.5), ("wave", 1.5)]).unwrap();
    let cast = Cast::new(cast.clips, vec![space]);
    let (mut controller, id) = with(AnimationTrack::blend_space("vault").at(1.0));
    let events = cast.advance(&mut controller, 9.0);
    let finished = events
        .iter()
        .find(|event| matches!(event, PlaybackEvent::Finished { .. }))
        .unwrap();
    assert_near(finished.time(), cast.spaces[0].cycle_length(1.0), 1e-9);
    assert!(controller.track(id).unwrap().is_finished());
    assert_eq!(
        cast.layers(&controller)
            .iter()
            .map(|layer| layer.1)
            .collect::<Vec<_>>(),
        [1.0, 2.0]
    );
    // Keys of both clips fired once each.
    assert_eq!(callbacks(&events).count(), 3);

    let mut controller = AnimationController::playing("idle");
    let fade = Duration::from_millis(100);
    controller.play_over(
        AnimationTrack::blend_space("vault")
            .at(1.0)
            .blend(BlendMode::Override),
        fade,
        fade,
    );
    cast.advance(&mut controller, 0.5);
    assert_eq!(controller.tracks().count(), 2);
    cast.advance(&mut controller, 1.0);
    assert_eq!(controller.tracks().count(), 1);
}

#[test]
fn weights_of_an_overriding_space_cover_what_is_below_by_the_tracks_weight() {
    let cast = locomotion();
    for weight in [0.3, 1.0_f32] {
        let track = AnimationTrack::blend_space("locomotion")
            .at(2.0)
            .blend(BlendMode::Override)
            .weight(weight);
        let (mut controller, _) = with(track);
        cast.advance(&mut controller, 0.0);
        let layers: Vec<_> = controller
            .layers(&cast)
            .map(|layer| (layer.weight, layer.set))
            .collect();
        assert_near(layers[0].0.into(), f64::from(weight) * 2.0 / 3.0, 1e-6);
        assert_near(layers[1].0.into(), f64::from(weight) / 3.0, 1e-6);
        assert!(layers[0].1 != 0 && layers[0].1 == layers[1].1);
    }
}

#[test]
fn a_saved_controller_goes_on_to_the_bit_in_the_middle_of_everything() {
    let mut cast = locomotion();
    let points = [
        ("idle", (0.0, 0.0)),
        ("walk", (1.0, 0.0)),
        ("jog", (2.0, 0.5)),
        ("wave", (0.0, 1.0)),
    ];
    cast = Cast::new(
        cast.clips,
        vec![
            BlendSpace::plane("s", points)
                .unwrap()
                .smoothed(1.0)
                .unwrap(),
        ],
    );
    let (mut controller, id) = with(AnimationTrack::blend_space("s").at((0.1, 0.1)));
    let speed = TransitionCurve::EaseInEaseOut;
    controller
        .timeline_mut()
        .key_speed(id, -2.0, 0.2, SECOND, speed);
    cast.advance(&mut controller, 0.3);
    controller.track_mut(id).unwrap().set_parameters((1.6, 0.4));
    cast.advance(&mut controller, 0.3);
    let text = ron::to_string(&controller).unwrap();
    let mut other = AnimationController::default();
    other.restore(&ron::from_str(&text).unwrap());
    for _ in 0..50 {
        let [a, b] = [&mut controller, &mut other].map(|controller| cast.advance(controller, 0.05));
        assert_eq!(a, b);
        assert_eq!(cast.layers(&controller), cast.layers(&other));
    }
    assert_eq!(
        controller.track(id).unwrap().smoothed_parameters(),
        BlendPoint::new(1.6, 0.4)
    );
}

#[test]
fn parameters_can_be_scheduled_and_take_effect_at_their_moment() {
    let mut cast = locomotion();
    let points = [("idle", 0.0), ("walk", 1.5), ("jog", 3.0)];
    for smoothing in [0.0, 1.0] {
        let space = BlendSpace::line("locomotion", points)
            .unwrap()
            .smoothed(smoothing)
            .unwrap();
        cast = Cast::new(cast.clips, vec![space]);
        let run = |steps: u32| {
            let (mut controller, id) = with(AnimationTrack::blend_space("locomotion").at(1.5));
            let [x, y] = controller
                .timeline_mut()
                .key_parameters(id, (3.0, 7.0), 0.3)
                .unwrap();
            assert!(
                controller.scheduled_change(x).is_some()
                    && controller.scheduled_change(y).is_some()
            );
            assert_eq!(
                controller.timeline_mut().key_parameters(id, f64::NAN, 0.3),
                None
            );
            (0..steps).for_each(|_| drop(cast.advance(&mut controller, 2.0 / f64::from(steps))));
            let track = controller.track(id).unwrap();
            assert_eq!(
                (track.parameters(), track.smoothed_parameters().x),
                (BlendPoint::new(3.0, 7.0), 3.0)
            );
            track.unwrapped_position()
        };
        // Half of the way across the space takes half of the smoothing, at the mean of both paces.
        let (jog, way) = (1.0 / 0.7, 0.5 * smoothing);
        for steps in [1, 7, 240] {
            assert_near(
                run(steps),
                0.3 + way * 0.5 * (1.0 + jog) + (1.7 - way) * jog,
                1e-9,
            );
        }
    }
}
