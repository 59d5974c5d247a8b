//! Weights of controllers that do everything that controllers do: cut anyhow, and played again.

use super::{Cast, Puppet, cast};
use bevy_marionette::controller::{AnimationController, AnimationTrack, BlendMode, Transition};
use bevy_marionette::internals::record::{Frames, Replay, Tape, TapeMoment};
use fastrand::Rng;
use std::time::Duration;

/// Does what a game does. Returns `true` if it did something.
fn interfere(controller: &mut AnimationController, random: &mut Rng) -> bool {
    let clip = ["still", "smile", "talk"][random.usize(..3)];
    let time = Duration::from_millis(random.u64(..500));
    match random.u8(..40) {
        0 => drop(controller.play(clip)),
        1 | 2 => drop(controller.cross_fade(clip, time)),
        3 | 4 => drop(controller.play_with(clip, Transition::switch(time))),
        5 => {
            let modes = [BlendMode::Blend, BlendMode::Additive, BlendMode::Override];
            let track = AnimationTrack::new(clip).blend(modes[random.usize(..3)]);
            controller.play_over(track.weight(random.f32()), time, time);
        }
        6 => controller.set_speed(random.f64() * 3.0 - 1.0),
        7 => controller.time_scale = random.f64() * 2.0,
        8 => drop(controller.queue_mut().extend([clip, "talk"])),
        9 => controller.priority_blend = random.f32(),
        _ => return false,
    }
    true
}

fn bits(puppet: &mut Puppet, cast: &Cast) -> Vec<u32> {
    puppet.weights(cast).into_iter().map(f32::to_bits).collect()
}

#[test]
fn whatever_plays_weights_have_the_same_bits_however_time_was_cut() {
    let cast = cast();
    let mut moved = 0;
    for seed in 0..60 {
        let mut random = Rng::with_seed(seed);
        let mut whole = Puppet {
            controller: AnimationController::playing("talk"),
            ..Puppet::default()
        };
        let mut cut = Puppet {
            controller: whole.controller.clone(),
            ..Puppet::default()
        };
        for _ in 0..100 {
            let did = random.u64(..);
            for puppet in [&mut whole, &mut cut] {
                interfere(&mut puppet.controller, &mut Rng::with_seed(did));
            }
            // Sixty-fourths of a second are whole nanoseconds.
            let pieces: Vec<u32> = (0..1 + random.usize(..6))
                .map(|_| random.u32(..16))
                .collect();
            whole.advance(&cast, f64::from(pieces.iter().sum::<u32>()) / 64.0);
            for piece in pieces {
                cut.advance(&cast, f64::from(piece) / 64.0);
                if random.bool() {
                    cut.weights(&cast);
                }
            }
            let weights = bits(&mut whole, &cast);
            assert_eq!(weights, bits(&mut cut, &cast), "seed {seed}");
            moved += usize::from(weights[0] != 0);
        }
    }
    assert!(moved > 2000, "{moved}");
}

#[test]
fn every_frame_of_a_recording_has_the_weights_that_it_had() {
    let cast = cast();
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let mut puppet = Puppet {
            controller: AnimationController::playing("talk"),
            ..Puppet::default()
        };
        let (mut tape, mut frames) = (Tape::starting_at(0), Frames::default());
        let (mut seen, mut time) = (Vec::new(), 0.0);
        for frame in 0..400 {
            let moment = TapeMoment {
                frame,
                step: frames.next_step(),
                is_change: interfere(&mut puppet.controller, &mut random),
                is_carried: false,
            };
            if moment.is_change || frame % 150 == 0 {
                tape.note_state(moment, &puppet.controller, None);
            }
            let dt = [1.0 / 60.0, 1.0 / 144.0, 0.031][random.usize(..3)];
            frames.add_step(dt);
            puppet.advance(&cast, dt);
            time += dt;
            frames.end_frame(time);
            seen.push(bits(&mut puppet, &cast));
        }
        for _ in 0..60 {
            let frame = random.u64(..400);
            let mut replay = Replay::to(&tape, &frames, frame).unwrap();
            while replay.frame() <= frame {
                assert!(replay.play_frame(&cast, &mut Vec::new()));
            }
            let mut past = Puppet {
                controller: replay.into_controller(),
                ..Puppet::default()
            };
            assert_eq!(
                bits(&mut past, &cast),
                seen[frame as usize],
                "{seed} {frame}"
            );
        }
    }
}
