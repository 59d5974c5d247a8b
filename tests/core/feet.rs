//! Foot placement, on the sample characters.

pub mod walk;

use crate::messages::{assert_message, assert_messages};
use bevy_marionette::internals::pose::{ClipLayer, Evaluate, Scratch};
use bevy_marionette::{
    internals::rig::{FeetFrame, FeetState, FootPlan, Landing, PlantRange, Plants},
    rig::GroundHit,
};
use glam::{Affine3A, Quat, Vec3};
use walk::{Cast, Ground, Walk, flat, slope, stairs};

/// The grounds that characters walk over, each with a name.
fn on_grounds(mut walk: impl FnMut(&str, Ground)) {
    walk("flat", &flat);
    walk("uphill", &slope(30.0, 0.0));
    walk("downhill", &slope(-30.0, 0.0));
    walk("across a hill", &slope(30.0, 90.0));
    walk("upstairs", &stairs(0.17, 0.28));
    walk("downstairs", &stairs(-0.17, 0.28));
}

#[test]
fn planted_feet_slide_by_less_than_a_millimeter() {
    for (cast, clips) in [
        (Cast::scout(), ["walk", "jog", "idle"]),
        (Cast::hound(), ["walk", "gallop", "idle"]),
    ] {
        for clip in clips {
            on_grounds(|ground, of| {
                let seen = Walk::new(&cast, clip, of).run();
                assert!(
                    seen.slide < 1e-3,
                    "{clip} {ground}: {} mm",
                    seen.slide * 1e3
                );
                let least = match (clip, ground) {
                    ("gallop", _) | ("jog", "upstairs" | "downstairs") => 0.0,
                    (_, "downstairs") => 0.5,
                    _ => 0.75,
                };
                assert!(
                    seen.locked >= least,
                    "{clip} {ground}: locked for {}",
                    seen.locked
                );
            });
        }
    }
}

#[test]
fn no_joint_turns_faster_than_one_and_a_half_times_the_fastest_in_the_clips() {
    let rough = |x: f32, z: f32| {
        // Ground that jumps between far heights and slopes.
        let random = (x * 3.0).floor() * 12.9898 + (z * 3.0).floor() * 78.233;
        let height = (random.sin() * 43758.547).fract().abs();
        (
            height * 0.5,
            Vec3::new(height - 0.5, 1.0, 0.3 - height).normalize(),
        )
    };
    for (cast, clips) in [
        (Cast::scout(), ["walk", "jog", "idle"]),
        (Cast::hound(), ["walk", "gallop", "idle"]),
    ] {
        for clip in clips {
            let check = |ground: &str, walk: Walk| {
                let seen = walk.run();
                assert!(seen.turn <= 1.5, "{clip} {ground}: {}", seen.turn);
            };
            on_grounds(|ground, of| check(ground, Walk::new(&cast, clip, of)));
            check("rough", Walk::new(&cast, clip, &rough));
            check(
                "sideways",
                Walk {
                    speed: 3.0,
                    turn: 2.0,
                    ..Walk::new(&cast, clip, &rough)
                },
            );
        }
    }
}

#[test]
fn on_flat_ground_at_the_speed_of_the_clip_poses_hardly_change() {
    for (cast, clip) in [(Cast::scout(), "walk"), (Cast::hound(), "walk")] {
        let seen = Walk::new(&cast, clip, &flat).run();
        assert!(seen.changed < 5e-3, "{clip}: {}", seen.changed);
    }
}

#[test]
fn frame_rates_agree() {
    let cast = Cast::scout();
    for of in [&slope(30.0, 0.0) as Ground, &stairs(0.15, 0.4), &flat] {
        let at = |rate: f64| {
            let seen = Walk {
                rate,
                ..Walk::new(&cast, "walk", of)
            }
            .run();
            let each = (rate / 6.0) as usize;
            seen.places.into_iter().step_by(each).collect::<Vec<_>>()
        };
        let [slow, usual, fast] = [30.0, 60.0, 144.0].map(at);
        let apart = |a: &[Vec<Vec3>], b: &[Vec<Vec3>]| {
            let mut far: Vec<f32> = a
                .iter()
                .flatten()
                .zip(b.iter().flatten())
                .map(|(a, b)| a.distance(*b))
                .collect();
            far.sort_by(f32::total_cmp);
            (far[far.len() * 9 / 10], far[far.len() - 1])
        };
        let (slow, fast) = (apart(&slow, &usual), apart(&fast, &usual));
        println!("{slow:?} {fast:?}");
        assert!(slow.0 < 0.02 && fast.0 < 0.02, "{slow:?} {fast:?}");
    }
}

#[test]
fn a_state_that_was_saved_goes_on_with_the_same_bits() {
    for cast in [Cast::scout(), Cast::hound()] {
        let of = stairs(0.15, 0.3);
        let walk = Walk {
            turn: 0.2,
            ..Walk::new(&cast, "walk", &of)
        };
        let whole = walk.run();
        let saved = ron::to_string(
            &Walk {
                seconds: 3.0,
                ..walk
            }
            .run()
            .state,
        )
        .unwrap();
        let again = walk.run_from(180, ron::from_str(&saved).unwrap());
        assert_eq!(again.state, whole.state);
        assert_eq!(again.places[..], whole.places[180..]);
    }
}

#[test]
fn while_time_stands_still_nothing_moves() {
    for cast in [Cast::scout(), Cast::hound()] {
        let of = slope(20.0, 30.0);
        let walk = Walk::new(&cast, "walk", &of);
        let (usual, paused) = (
            walk.run(),
            Walk {
                pause: true,
                ..walk
            }
            .run(),
        );
        assert_eq!(paused.state, usual.state);
        let apart = |(a, b): (&Vec3, &Vec3)| a.distance(*b);
        let places = paused
            .places
            .iter()
            .flatten()
            .zip(usual.places.iter().flatten());
        assert!(places.map(apart).all(|apart| apart < 1e-5));
    }
}

#[test]
fn in_the_air_feet_let_go() {
    let cast = Cast::scout();
    let fly = |now: f32| if now < 2.0 { 0.0 } else { 2.0 * (now - 2.0) };
    let of = slope(25.0, 40.0);
    let seen = Walk {
        fly: &fly,
        warm: 4.5,
        seconds: 5.0,
        ..Walk::new(&cast, "idle", &of)
    }
    .run();
    assert!(
        seen.changed < 1e-3 && seen.locked == 0.0,
        "{} {}",
        seen.changed,
        seen.locked
    );
}

#[test]
fn lifts_take_feet_along() {
    let cast = Cast::scout();
    let lift = |now: f32| if now < 1.0 { 0.0 } else { 2.0 * (now - 1.0) };
    let seen = Walk {
        lift: &lift,
        ..Walk::new(&cast, "idle", &flat)
    }
    .run();
    assert!(
        seen.changed < 2e-3 && seen.locked > 0.99,
        "{} {}",
        seen.changed,
        seen.locked
    );
}

#[test]
fn feet_that_are_turned_or_dragged_too_far_are_let_go_and_come_back() {
    let cast = Cast::scout();
    for walk in [
        Walk {
            turn: 1.5,
            ..Walk::new(&cast, "idle", &flat)
        },
        Walk {
            speed: 0.4,
            ..Walk::new(&cast, "idle", &flat)
        },
    ] {
        let seen = walk.run();
        assert!((0.2..0.95).contains(&seen.locked), "{}", seen.locked);
        assert!(seen.changed < 0.5, "{}", seen.changed);
    }
}

#[test]
fn plants_start_at_the_footsteps_and_the_ground_moves_at_the_speed_of_the_gait() {
    let scout = (
        Cast::scout(),
        vec![("walk", 1.2), ("jog", 2.4)],
        ["left", "right", "", ""],
    );
    let hound = (
        Cast::hound(),
        vec![("walk", 0.95), ("gallop", 6.4)],
        ["left fore", "right fore", "left hind", "right hind"],
    );
    for (cast, gaits, names) in [scout, hound] {
        for (name, speed) in gaits {
            let (clip, plants) = (&cast.clips[cast.clip(name)], &cast.plants[cast.clip(name)]);
            let ground = plants.ground_velocity;
            assert!(
                (ground - Vec3::Z * speed).length() < 0.01 * speed,
                "{name}: {ground}"
            );
            for key in clip
                .timing
                .callbacks
                .iter()
                .filter(|key| &*key.name == "footstep")
            {
                let leg = names
                    .iter()
                    .position(|name| key.data.to::<String>().is_ok_and(|data| data == *name));
                let ranges = plants.ranges(leg.unwrap());
                assert_eq!(ranges.len(), 1, "{name}: {ranges:?}");
                assert!(
                    (ranges[0].start - key.time).abs() < 0.025,
                    "{name} {}: {ranges:?}",
                    key.time
                );
            }
        }
        let idle = &cast.plants[cast.clip("idle")];
        for leg in 0..cast.legs.len() {
            assert!((0..40).all(|i| idle.weight(leg, f64::from(i) * 0.1) == 1.0));
        }
        assert_eq!(idle.ground_velocity, Vec3::ZERO);
    }
}

#[test]
fn keys_say_when_a_foot_is_planted() {
    let cast = Cast::scout();
    let clip = &cast.clips[cast.clip("walk")];
    let range = |start, end| PlantRange { start, end };
    let keys = [
        Some(vec![
            range(0.2, 0.5),
            range(0.9, 1.2),
            range(1.0, 1.0),
            range(0.0, f64::NAN),
        ]),
        None,
    ];
    let plants = Plants::keyed(&cast.feet, &cast.skeleton, clip, &keys);
    assert_eq!(plants.ranges(0), [range(0.2, 0.5), range(0.9, 1.2)]);
    assert_eq!(plants.ranges(1), cast.plants[cast.clip("walk")].ranges(1));
    // The second lasts into the next round.
    let weights = [0.08, 0.3, 0.6, 1.0, 0.05].map(|time| plants.weight(0, time));
    assert_eq!(weights, [1.0, 1.0, 0.0, 1.0, 1.0]);
    let landing = plants.plan(0, 0.6).landing.unwrap();
    assert!((landing.seconds - 0.3).abs() < 1e-6 && landing.places[0].is_finite());
}

#[test]
fn no_input_gives_a_pose_that_is_not_finite() {
    for cast in [Cast::scout(), Cast::hound()] {
        let (clip, mut random) = (&cast.clips[cast.clip("walk")], fastrand::Rng::with_seed(3));
        let (mut scratch, mut state) = (Scratch::default(), FeetState::default());
        for step in 0..4000 {
            let odd = [
                0.0,
                -0.0,
                1e-30,
                1e30,
                f32::MAX,
                f32::INFINITY,
                f32::NAN,
                -1.0,
            ];
            let mut number = |usual: f32| {
                if random.u32(0..20) == 0 {
                    odd[random.usize(0..odd.len())]
                } else {
                    usual * (random.f32() - 0.5)
                }
            };
            let mut vector = |size: f32| Vec3::new(number(size), number(size), number(size));
            let mut world = Affine3A::from_translation(vector(4.0))
                * Affine3A::from_rotation_y(step as f32 * 0.01);
            if step % 7 == 0 {
                world.matrix3.x_axis = vector(3.0).into();
            }
            let ground: Vec<[Option<GroundHit>; 3]> = (0..4)
                .map(|_| {
                    [0; 3].map(|_| {
                        Some(GroundHit {
                            point: vector(2.0),
                            normal: vector(1.0) + Vec3::Y,
                        })
                    })
                })
                .collect();
            let plans: Vec<FootPlan> = (0..4)
                .map(|_| {
                    let seconds = vector(1.0).x;
                    let landing = Some(Landing {
                        seconds,
                        places: [vector(1.0), vector(1.0)],
                    });
                    FootPlan {
                        weight: vector(3.0).x,
                        landing: landing.filter(|_| seconds > 0.0),
                    }
                })
                .collect();
            let (dt, weight) = (vector(0.1).x.abs(), 1.0 + vector(0.5).x);
            Evaluate::new(
                &cast.skeleton,
                &[ClipLayer::new(clip, f64::from(step) * 0.016)],
            )
            .run(&mut scratch);
            let mut pose = scratch.pose_mut(&cast.skeleton);
            for leg in 0..5 {
                let plan = plans.get(leg).copied().unwrap_or_default();
                let _ = cast.feet.rays(leg, &plan, &world, &state, pose.model);
            }
            let frame = FeetFrame {
                world,
                dt,
                weight,
                plans: &plans[..step as usize % 5],
                ground: &ground,
                turn_speeds: None,
            };
            cast.feet.run(&frame, &mut state, &mut pose);
            for joint in cast.skeleton.joints() {
                let transform = pose.transform(joint);
                assert!(
                    transform.is_finite() && pose.position(joint).is_finite(),
                    "{step} {joint}: {transform:?}"
                );
                assert!(
                    (transform.rotation.length() - 1.0).abs() < 1e-4,
                    "{step} {joint}: {transform:?}"
                );
            }
            if step % 50 == 0 {
                state.carry(&Affine3A::from_rotation_translation(
                    Quat::from_rotation_y(0.3),
                    vector(1.0),
                ));
            }
        }
    }
}

#[test]
fn manifests_name_the_legs_and_the_skin_tells_where_heels_are() {
    let (manifest, model) = walk::open("scout", |_| ());
    let feet = manifest
        .feet
        .as_ref()
        .unwrap()
        .resolve(&model.0.skeleton, &model.0.parts)
        .unwrap();
    let plan = FootPlan {
        weight: 1.0,
        landing: None,
    };
    for leg in 0..2 {
        let rest = model.0.skeleton.rest_model();
        let [heel, ball, _] =
            feet.rays(leg, &plan, &Affine3A::IDENTITY, &FeetState::default(), rest);
        let (heel, ball) = (heel.unwrap().origin, ball.unwrap().origin);
        assert!(
            (heel.z - 0.088).abs() < 0.02 && (ball.z + 0.105).abs() < 1e-3,
            "{heel} {ball}"
        );
    }
    assert_eq!(model.1, Vec::<String>::new());
    let (_, (_, warnings)) = walk::open("scout", |manifest| {
        manifest.feet.as_mut().unwrap().legs[1].tip = "foot.r".into();
        manifest
            .clips
            .get_mut("walk")
            .unwrap()
            .plants
            .insert("foot.X".into(), vec![(0.1, 0.2)]);
    });
    assert_messages("feet: a joint that does not exist", &warnings);
    let (_, (_, warnings)) = walk::open("hound", |manifest| {
        let feet = manifest.feet.as_mut().unwrap();
        feet.legs[0].root = "thigh.R".into();
        manifest
            .clips
            .get_mut("walk")
            .unwrap()
            .plants
            .insert("foot.X".into(), vec![(0.1, 0.2)]);
    });
    assert_messages("feet: no legs, and a plant that does not exist", &warnings);
    for limits in ["turn: 0.5", "height: -1"] {
        let text = format!("(model: \"a.m3d\", feet: (hips: \"a\", legs: [], limits: ({limits})))");
        let error = bevy_marionette::import::Manifest::parse("a", text.as_bytes()).unwrap_err();
        assert_message(&format!("feet: limits of {limits}"), error);
    }
    let text = "(model: \"a.m3d\", clips: { \"walk\": (plants: { \"foot\": [(0.5, 0.4)] }) })";
    let error = bevy_marionette::import::Manifest::parse("a", text.as_bytes()).unwrap_err();
    assert_message("feet: a plant that ends before it starts", error);
}
