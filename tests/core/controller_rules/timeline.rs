//! Rules 4 and 5: scheduled changes and the reset of time.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, ChangeHandle, ChangeTarget, ScheduledChange, TrackId,
    TransitionCurve,
};
use bevy_marionette::model::ClipTiming;

const EASE: TransitionCurve = TransitionCurve::EaseInEaseOut;
const LINEAR: TransitionCurve = TransitionCurve::Linear;

fn idle() -> (AnimationController, TrackId, Vec<ClipTiming>) {
    let (controller, track) = with_track(AnimationTrack::new("idle"));
    (controller, track, clips())
}

#[test]
fn rule_4_an_ease_from_0_to_1_is_0_15625_after_a_quarter() {
    let (mut controller, track, clips) = idle();
    controller.track_mut(track).unwrap().weight = 0.0;
    controller
        .timeline_mut()
        .key_weight(track, 1.0, 1.0, secs(4.0), EASE);
    let mut weights = Vec::new();
    for _ in 0..6 {
        advance(&mut controller, &clips, 1.0);
        weights.push(weight(&controller, track));
    }
    assert_eq!(weights, [0.0, 0.15625, 0.5, 0.84375, 1.0, 1.0]);
}

#[test]
fn rule_4_a_linear_weight_goes_from_the_value_found_at_the_start() {
    let (mut controller, track, clips) = idle();
    controller
        .timeline_mut()
        .key_weight(track, 0.0, 1.0, secs(1.0), LINEAR);
    controller.track_mut(track).unwrap().weight = 0.5;
    advance(&mut controller, &clips, 1.25);
    assert_eq!(weight(&controller, track), 0.375);
    advance(&mut controller, &clips, 10.0);
    assert_eq!(weight(&controller, track), 0.0);
}

#[test]
fn rule_4_speed_is_integrated_exactly() {
    for (transition, distance) in [(LINEAR, 1.5), (EASE, 1.5)] {
        let run = |steps: u32| {
            let (mut controller, track, clips) = idle();
            controller
                .timeline_mut()
                .key_speed(track, 2.0, 0.0, secs(1.0), transition);
            (0..steps).for_each(|_| drop(advance(&mut controller, &clips, 1.0 / f64::from(steps))));
            assert_eq!(controller.track(track).unwrap().speed, 2.0);
            position(&controller, track)
        };
        assert_eq!(run(1), distance);
        assert_eq!([run(240), run(7)], [distance; 2]);
    }
}

#[test]
fn rule_4_an_ease_of_speed_covers_its_analytic_integral() {
    let (mut controller, track, clips) = idle();
    controller.track_mut(track).unwrap().speed = 0.0;
    controller
        .timeline_mut()
        .key_speed(track, 1.0, 0.0, secs(2.0), EASE);
    advance(&mut controller, &clips, 0.5);
    // ∫ 3t² − 2t³ from 0 to ¼, over two seconds.
    assert_close(
        position(&controller, track),
        2.0 * (0.25_f64.powi(3) - 0.5 * 0.25_f64.powi(4)),
    );
}

#[test]
fn rule_4_one_second_is_240_times_its_240th() {
    let run = |steps: u32| {
        let (mut controller, track, clips) = idle();
        controller
            .timeline_mut()
            .key_speed(track, 3.0, 0.3, secs(0.1), LINEAR);
        controller
            .timeline_mut()
            .key_speed(track, -1.0, 0.6, secs(0.0), LINEAR);
        controller.timeline_mut().key_enabled(track, false, 0.9);
        (0..steps).for_each(|_| drop(advance(&mut controller, &clips, 1.0 / f64::from(steps))));
        (controller.time(), position(&controller, track))
    };
    let (whole, parts) = (run(1), run(240));
    assert_eq!(whole, parts);
    assert_close(whole.1, 0.3 + 0.2 + 0.6 - 0.3);
}

#[test]
fn rule_4_no_duration_is_a_step_at_its_very_moment() {
    let (mut controller, track, clips) = idle();
    controller
        .timeline_mut()
        .key_speed(track, 4.0, 0.5, secs(0.0), EASE);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(controller.track(track).unwrap().speed, 1.0);
    advance(&mut controller, &clips, 0.5);
    assert_eq!(position(&controller, track), 0.5 + 4.0 * 0.25);
    assert_eq!(controller.scheduled_changes().count(), 0);
}

#[test]
fn rule_4_a_position_event_seeks_and_fires_nothing() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    controller.timeline_mut().key_position(track, 3.75, 0.25);
    assert_eq!(fired(&mut controller, &clips, 0.375), ["0"]);
    assert_eq!(position(&controller, track), 3.875);
    assert_eq!(fired(&mut controller, &clips, 0.25), ["0"]);
}

#[test]
fn rule_4_enabling_and_disabling_cut_the_way_where_they_happen() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step").enabled(false));
    controller.timeline_mut().key_enabled(track, true, 1.0);
    controller.timeline_mut().key_enabled(track, false, 1.5);
    // The key passed at the very moment of the end still counts.
    assert_eq!(fired(&mut controller, &clips, 4.0), ["0", "half"]);
    assert_eq!(position(&controller, track), 0.5);
    assert!(!controller.track(track).unwrap().enabled);
}

#[test]
fn rule_4_the_priority_blend_has_events_of_its_own() {
    let (mut controller, track, clips) = idle();
    assert_eq!(controller.priority_blend, 0.5);
    let first = controller
        .timeline_mut()
        .key_priority_blend(1.0, 0.0, secs(1.0), LINEAR)
        .unwrap();
    let second = controller
        .timeline_mut()
        .key_priority_blend(0.0, 2.0, secs(1.0), LINEAR)
        .unwrap();
    controller
        .timeline_mut()
        .key_weight(track, 0.0, 5.0, secs(1.0), LINEAR);
    let blends = |event: &&ScheduledChange| event.target() == ChangeTarget::PriorityBlend;
    let upcoming: Vec<_> = controller
        .scheduled_changes()
        .filter(|change| !change.is_running())
        .filter(blends)
        .map(ScheduledChange::handle)
        .collect();
    assert_eq!(upcoming, [first, second]);
    advance(&mut controller, &clips, 0.5);
    assert_eq!(controller.priority_blend, 0.75);
    assert_eq!(
        controller
            .scheduled_changes()
            .find(|change| change.is_running() && change.target() == ChangeTarget::PriorityBlend)
            .map(ScheduledChange::handle),
        Some(first)
    );
    controller
        .timeline_mut()
        .unkey_target(ChangeTarget::PriorityBlend);
    advance(&mut controller, &clips, 9.0);
    assert_eq!(
        (controller.priority_blend, weight(&controller, track)),
        (0.75, 0.0)
    );
}

#[test]
fn rule_4_a_handle_is_valid_while_the_event_waits_or_runs_and_never_after() {
    let (mut controller, track, clips) = idle();
    let handle = controller
        .timeline_mut()
        .key_weight(track, 0.0, 1.0, secs(1.0), LINEAR)
        .unwrap();
    let mut seen = Vec::new();
    for _ in 0..4 {
        let event = controller.scheduled_change(handle);
        seen.push((
            controller.scheduled_change(handle).is_some(),
            event.is_some_and(|event| event.is_running()),
        ));
        advance(&mut controller, &clips, 0.75);
    }
    assert_eq!(
        seen,
        [(true, false), (true, false), (true, true), (false, false)]
    );
    let other = controller
        .timeline_mut()
        .key_weight(track, 0.0, 1.0, secs(1.0), LINEAR)
        .unwrap();
    assert_ne!(handle, other);
    assert!(
        controller.scheduled_change(handle).is_none()
            && controller.scheduled_change(other).is_some()
    );
}

#[test]
fn rule_4_one_event_or_all_of_a_track_can_be_taken_back() {
    let (mut controller, track, clips) = idle();
    let other = controller.add_track(AnimationTrack::new("walk"));
    let running = controller
        .timeline_mut()
        .key_weight(track, 0.0, 0.0, secs(2.0), LINEAR)
        .unwrap();
    let waiting = controller
        .timeline_mut()
        .key_speed(track, 5.0, 3.0, secs(0.0), LINEAR)
        .unwrap();
    let others = controller
        .timeline_mut()
        .key_speed(other, 5.0, 3.0, secs(0.0), LINEAR)
        .unwrap();
    advance(&mut controller, &clips, 1.0);
    assert!(controller.timeline_mut().unkey(running) && !controller.timeline_mut().unkey(running));
    advance(&mut controller, &clips, 1.0);
    assert_eq!(weight(&controller, track), 0.5);
    controller.timeline_mut().unkey_track(track);
    assert!(
        controller.scheduled_change(waiting).is_none()
            && controller.scheduled_change(others).is_some()
    );
    advance(&mut controller, &clips, 5.0);
    assert_eq!(
        (
            controller.track(track).unwrap().speed,
            controller.track(other).unwrap().speed
        ),
        (1.0, 5.0)
    );
}

#[test]
fn rule_4_the_current_and_the_upcoming_events_can_be_asked_for() {
    let (mut controller, track, clips) = idle();
    let third = controller
        .timeline_mut()
        .key_enabled(track, false, 9.0)
        .unwrap();
    let first = controller
        .timeline_mut()
        .key_speed(track, 2.0, 1.0, secs(2.0), LINEAR)
        .unwrap();
    let second = controller
        .timeline_mut()
        .key_weight(track, 0.5, 4.0, secs(1.0), EASE)
        .unwrap();
    let upcoming = |controller: &AnimationController| -> Vec<ChangeHandle> {
        controller
            .scheduled_changes()
            .filter(|change| !change.is_running())
            .filter(|event| event.track() == Some(track))
            .map(|event| event.handle())
            .collect()
    };
    let current = |controller: &AnimationController, target: ChangeTarget| {
        controller
            .scheduled_changes()
            .find(|change| change.is_running() && change.target() == target)
            .map(|event| event.handle())
    };
    assert_eq!(upcoming(&controller), [first, second, third]);
    advance(&mut controller, &clips, 2.0);
    assert_eq!(
        current(&controller, ChangeTarget::Speed(track)),
        Some(first)
    );
    assert_eq!(current(&controller, ChangeTarget::Weight(track)), None);
    assert_eq!(upcoming(&controller), [second, third]);
    let event = controller.scheduled_change(second).unwrap();
    assert_eq!(
        (event.target(), event.track(), event.transition()),
        (ChangeTarget::Weight(track), Some(track), EASE)
    );
    assert_eq!(
        (event.value(), event.start(), event.duration()),
        (0.5, 4.0, secs(1.0))
    );
}

#[test]
fn rule_4_a_start_in_the_past_begins_at_the_next_advance() {
    let (mut controller, track, clips) = idle();
    advance(&mut controller, &clips, 10.0);
    controller
        .timeline_mut()
        .key_weight(track, 0.0, 2.0, secs(1.0), LINEAR);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(weight(&controller, track), 0.75);
    advance(&mut controller, &clips, 0.75);
    assert_eq!(weight(&controller, track), 0.0);
}

#[test]
fn rule_4_of_two_that_overlap_the_later_start_takes_over() {
    let (mut controller, track, clips) = idle();
    // Keyed in reverse order: it is the start that counts.
    let late = controller
        .timeline_mut()
        .key_weight(track, 1.0, 1.0, secs(1.0), LINEAR)
        .unwrap();
    let early = controller
        .timeline_mut()
        .key_weight(track, 0.0, 0.0, secs(2.0), LINEAR)
        .unwrap();
    advance(&mut controller, &clips, 1.0);
    assert_eq!(weight(&controller, track), 0.5);
    assert!(
        controller.scheduled_change(early).is_none() && controller.scheduled_change(late).is_some()
    );
    advance(&mut controller, &clips, 0.5);
    assert_eq!(weight(&controller, track), 0.75);
    advance(&mut controller, &clips, 5.0);
    assert_eq!(weight(&controller, track), 1.0);
    // In one advance over everything, the same.
    let (mut controller, track, clips) = idle();
    controller
        .timeline_mut()
        .key_speed(track, 1.0, 1.0, secs(1.0), LINEAR);
    controller
        .timeline_mut()
        .key_speed(track, 3.0, 0.0, secs(2.0), LINEAR);
    advance(&mut controller, &clips, 4.0);
    assert_close(position(&controller, track), 1.5 + 1.5 + 2.0);
}

#[test]
fn rule_4_a_speed_that_turns_round_fires_the_keys_on_both_ways() {
    let clips = [clip(
        "c",
        10.0,
        bevy_marionette::model::PlaybackMode::Loop,
        &[(0.375, "k"), (0.49, "top"), (0.6, "peak")],
    )];
    for (transition, steps) in [(LINEAR, 1), (LINEAR, 37), (EASE, 1), (EASE, 64)] {
        let (mut controller, track) = with_track(AnimationTrack::new("c"));
        controller
            .timeline_mut()
            .key_speed(track, -1.0, 0.0, secs(2.0), transition);
        let mut names = Vec::new();
        for _ in 0..steps {
            names.extend(fired(&mut controller, &clips, 2.0 / f64::from(steps)));
        }
        // Forward for one second, up to 0.5 (linear) or 0.625 (ease), and back to 0.
        let expected: &[&str] = match transition {
            LINEAR => &["k", "top", "top", "k"],
            EASE => &["k", "top", "peak", "peak", "top", "k"],
        };
        assert_eq!(names, expected, "{transition:?} in {steps}");
        assert!(position(&controller, track).abs() < 1e-12);
    }
}

#[test]
fn rule_4_a_callback_carries_the_weight_of_its_moment() {
    use bevy_marionette::controller::PlaybackEvent::Callback;
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("run").weight(0.0));
    controller
        .timeline_mut()
        .key_weight(track, 1.0, 0.0, secs(1.0), LINEAR);
    let events = advance(&mut controller, &clips, 1.0);
    let weights: Vec<f32> = events
        .iter()
        .filter_map(|e| {
            if let Callback(c) = e {
                Some(c.weight)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(weights, [0.25, 0.75]);
}

#[test]
fn rule_4_events_for_no_track_or_with_no_number_are_refused() {
    let (mut controller, track, clips) = idle();
    let refused = [
        controller
            .timeline_mut()
            .key_speed(TrackId::default(), 1.0, 0.0, secs(1.0), LINEAR),
        controller
            .timeline_mut()
            .key_speed(track, f64::NAN, 0.0, secs(1.0), LINEAR),
        controller
            .timeline_mut()
            .key_weight(track, 1.0, f64::INFINITY, secs(1.0), LINEAR),
        controller
            .timeline_mut()
            .key_priority_blend(f32::NAN, 0.0, secs(1.0), LINEAR),
    ];
    assert!(refused.iter().all(Option::is_none) && controller.scheduled_changes().next().is_none());
    let gone = controller
        .timeline_mut()
        .key_weight(track, 0.5, 1.0, secs(1.0), LINEAR)
        .unwrap();
    controller.remove_track(track);
    assert!(controller.scheduled_change(gone).is_none());
    advance(&mut controller, &clips, 9.0);
}

#[test]
fn rule_5_resetting_time_keeps_the_distance_of_events() {
    let (mut controller, track, clips) = idle();
    let running = controller
        .timeline_mut()
        .key_weight(track, 0.0, 1.0, secs(2.0), LINEAR)
        .unwrap();
    let waiting = controller
        .timeline_mut()
        .key_speed(track, 0.0, 4.0, secs(0.0), LINEAR)
        .unwrap();
    advance(&mut controller, &clips, 2.0);
    controller.timeline_mut().reset_time();
    assert_eq!(controller.time(), 0.0);
    assert_eq!(controller.scheduled_change(running).unwrap().start(), -1.0);
    assert_eq!(controller.scheduled_change(waiting).unwrap().start(), 2.0);
    assert_eq!(position(&controller, track), 2.0);
    advance(&mut controller, &clips, 0.5);
    assert_eq!(weight(&controller, track), 0.25);
    advance(&mut controller, &clips, 5.0);
    assert_eq!(position(&controller, track), 4.0);
}

#[test]
fn rule_5_a_reset_during_a_fade_changes_nothing_of_it() {
    let clips = clips();
    let story = |reset: bool| {
        let mut controller = AnimationController::playing("walk");
        let mut mixes = Vec::new();
        for i in 0..8 {
            mixes.push(mix(&controller, &clips));
            if i == 2 {
                controller.cross_fade("run", std::time::Duration::from_millis(500));
            }
            if reset && i == 4 {
                controller.timeline_mut().reset_time();
            }
            mixes.push(
                words(&advance(&mut controller, &clips, 0.125), &clips)
                    .into_iter()
                    .map(|w| (w, 0.0))
                    .collect(),
            );
        }
        mixes
    };
    assert_eq!(story(true), story(false));
}

#[test]
fn rule_4_a_track_enabled_within_a_step_reports_an_unknown_clip_at_that_moment() {
    let clips = clips();
    for steps in [1, 4] {
        let (mut controller, track) = with_track(AnimationTrack::new("typo").enabled(false));
        controller.timeline_mut().key_enabled(track, true, 0.5);
        let mut events = Vec::new();
        (0..steps)
            .for_each(|_| events.extend(advance(&mut controller, &clips, 1.0 / f64::from(steps))));
        assert_eq!(
            (words(&events, &clips), events[0].time()),
            (vec!["typo unknown".to_owned()], 0.5)
        );
    }
}

#[test]
fn rule_4_events_of_many_tracks_run_side_by_side() {
    let (mut controller, _, clips) = idle();
    let tracks: Vec<_> = (0..40)
        .map(|_| controller.add_track(AnimationTrack::new("walk").weight(0.0)))
        .collect();
    // Keyed in no order of tracks or ends.
    for i in 0..40 {
        let (track, seconds) = (tracks[i * 7 % 40], 0.5 + (i * 11 % 40) as f64 * 0.05);
        controller
            .timeline_mut()
            .key_weight(track, 1.0, 0.0, secs(seconds), LINEAR)
            .unwrap();
        controller
            .timeline_mut()
            .key_speed(track, 3.0, 0.0, secs(seconds), LINEAR)
            .unwrap();
    }
    advance(&mut controller, &clips, 1.0);
    for i in 0..40 {
        let (track, seconds) = (tracks[i * 7 % 40], 0.5 + (i * 11 % 40) as f64 * 0.05);
        let share = (1.0 / seconds).min(1.0);
        assert!((f64::from(weight(&controller, track)) - share).abs() < 1e-6);
        let ramp = if seconds < 1.0 {
            2.0 * seconds + 3.0 * (1.0 - seconds)
        } else {
            1.0 + 1.0 / seconds
        };
        assert_close(position(&controller, track), ramp);
        let running = controller
            .scheduled_changes()
            .find(|change| change.is_running() && change.target() == ChangeTarget::Speed(track));
        assert_eq!(running.is_some(), seconds > 1.0 + 1e-9);
    }
}

#[test]
fn rule_4_the_work_of_many_events_in_one_step_grows_with_their_number() {
    let work = |count: u32| {
        let (mut controller, track, clips) = idle();
        for i in 0..count {
            // In no order.
            let start = f64::from(i * 7919 % count) / f64::from(count);
            controller
                .timeline_mut()
                .key_speed(track, f64::from(i % 3), start, secs(0.0), LINEAR);
        }
        controller.advance(1.0, &clips, &mut Vec::new()).unwrap();
        assert!(controller.scheduled_changes().next().is_none());
        controller.work_done()
    };
    let (few, many) = (work(1_000), work(16_000));
    assert!(few >= 1_000 && many < 17 * few, "{few} and {many}");
}
