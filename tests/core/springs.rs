//! Springs: the same path at any frame rate, and what they do to a pose.

mod capsules;
mod rates;
mod scout;

use bevy_marionette::{
    internals::{
        model::SoaTransform,
        pose::{LocalToModel, PoseMut},
        rig::{
            Collider, SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState, Springs,
        },
    },
    model::{Joint, JointIndex, JointTransform, Skeleton},
};
use fastrand::Rng;
use glam::{Affine3A, EulerRot, Quat, Vec3};
use std::f32::consts::{PI, TAU};

/// Joints 0 to 2 are a body; 3 to 7 a tail of 0.1 m bones; 8 and 9 branch off joint 4.
fn skeleton() -> Skeleton {
    let parents = [
        None,
        Some(0),
        Some(1),
        Some(1),
        Some(3),
        Some(4),
        Some(5),
        Some(6),
        Some(4),
        Some(8),
    ];
    let joint = |(i, parent): (usize, Option<JointIndex>)| Joint {
        name: format!("{i}").into(),
        parent,
        rest: JointTransform::new(
            match i {
                0 => Vec3::Y,
                1 | 2 => Vec3::Y * 0.3,
                8 => Vec3::new(0.1, 0.0, 0.05),
                _ => Vec3::Z * 0.1,
            },
            Quat::from_rotation_x(if i < 3 { 0.1 } else { 0.15 }),
        ),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(parents.into_iter().enumerate().map(joint).collect()).unwrap()
}

const TIP: usize = 7;

struct Stage {
    skeleton: Skeleton,
    springs: Springs,
    state: SpringState,
    scratch: SpringScratch,
    local: Vec<SoaTransform>,
    model: Vec<Affine3A>,
}

impl Stage {
    fn new(settings: SpringSettings, colliders: &[Collider]) -> Self {
        let used = (0..colliders.len() as u16).collect();
        Self::of(
            &[SpringChain {
                root: 3,
                settings,
                colliders: used,
            }],
            colliders,
        )
    }

    fn of(chains: &[SpringChain], colliders: &[Collider]) -> Self {
        let skeleton = skeleton();
        let springs = Springs::new(&skeleton, chains, colliders);
        let (local, model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        Self {
            skeleton,
            springs,
            state: SpringState::default(),
            scratch: SpringScratch::default(),
            local,
            model,
        }
    }

    /// A frame on top of the rest pose with other rotations.
    fn frame(&mut self, frame: SpringFrame, rotations: &[(usize, Quat)]) {
        self.local.copy_from_slice(self.skeleton.rest());
        for &(joint, rotation) in rotations {
            self.local[joint / 4].rotation.set(joint % 4, rotation);
        }
        LocalToModel {
            parents: self.skeleton.parents(),
            local: &self.local,
            root: None,
            unit_scale: true,
        }
        .run(&mut self.model);
        let Self {
            skeleton,
            springs,
            state,
            scratch,
            local,
            model,
        } = self;
        springs.run(
            &frame,
            state,
            scratch,
            &mut PoseMut::new(skeleton, local, model),
        );
    }

    fn rest(&mut self, frame: SpringFrame) {
        self.frame(frame, &[]);
    }

    fn at(&self, joint: usize) -> Vec3 {
        self.model[joint].translation.into()
    }
}

fn soft() -> SpringSettings {
    SpringSettings {
        frequency: 1.5,
        damping: 0.2,
        gravity: 0.5,
        drag: 0.5,
        ..SpringSettings::default()
    }
}

fn world(at: Vec3, yaw: f32) -> Affine3A {
    Affine3A::from_rotation_translation(Quat::from_rotation_y(yaw), at)
}

/// A character that runs about and swings its body.
fn run_about(t: f64) -> (SpringFrame, [(usize, Quat); 2]) {
    let wave = |rate: f64, phase: f64| ((t * rate + phase).sin()) as f32;
    let at = Vec3::new(
        wave(3.1, 0.0) * 0.4,
        wave(6.2, 1.0) * 0.05,
        wave(2.3, 2.0) * 0.6,
    );
    let wind = Vec3::new(2.0 + wave(1.7, 0.0), 0.0, wave(2.9, 0.5));
    let frame = SpringFrame {
        world: world(at, wave(2.1, 0.3) * 0.7),
        wind,
        ..SpringFrame::default()
    };
    (
        frame,
        [
            (0, Quat::from_rotation_z(wave(4.0, 0.0) * 0.3)),
            (1, Quat::from_rotation_x(wave(5.0, 0.7) * 0.3)),
        ],
    )
}

/// Where the tail's end is every half second, given the frames of half a second, and how far it swings from its
/// animation.
fn path(settings: SpringSettings, mut frames: impl FnMut() -> Vec<f64>) -> (Vec<Vec3>, f32) {
    let mut stage = Stage::new(settings, &[]);
    let mut still = Stage::new(SpringSettings::default(), &[]);
    let (mut places, mut swing) = (Vec::new(), 0.0_f32);
    stage.frame(run_about(0.0).0, &run_about(0.0).1);
    for half in 0..40 {
        let frames = frames();
        let (sum, mut t) = (frames.iter().sum::<f64>(), 0.0);
        for frame in frames {
            t += 0.5 * frame / sum;
            let (about, rotations) = run_about(f64::from(half) * 0.5 + t);
            stage.frame(
                SpringFrame {
                    dt: 0.5 * frame / sum,
                    ..about
                },
                &rotations,
            );
        }
        // Every rate begins to move in a frame of its own length; that is forgotten after a while.
        if half >= 8 {
            let (about, rotations) = run_about(f64::from(half + 1) * 0.5);
            still.state.reset();
            still.frame(about, &rotations);
            swing = swing.max(stage.at(TIP).distance(still.at(TIP)));
            places.push(stage.at(TIP));
        }
    }
    (places, swing)
}

#[test]
fn springs_follow_the_same_path_within_one_percent_at_any_frame_rate() {
    let mut over = Vec::new();
    for (name, settings) in [
        ("soft", soft()),
        (
            "hair",
            SpringSettings {
                frequency: 2.5,
                damping: 0.3,
                drag: 2.0,
                ..soft()
            },
        ),
        (
            "ears",
            SpringSettings {
                frequency: 4.0,
                damping: 0.15,
                ..soft()
            },
        ),
        (
            "hanging",
            SpringSettings {
                frequency: 0.0,
                gravity: 1.0,
                drag: 4.0,
                ..soft()
            },
        ),
    ] {
        let (reference, swing) = path(settings, || vec![1.0; 480]);
        assert!(swing > 0.1, "{name}: the test swings something: {swing}");
        let mut random = Rng::with_seed(3);
        for rate in ["30", "60", "144", "irregular", "uneven"] {
            let mut frames = || match rate {
                "irregular" => (0..30).map(|_| 0.004 + 0.026 * random.f64()).collect(),
                "uneven" => (0..37)
                    .map(|i| if i % 7 == 0 { 2.0 } else { 1.0 })
                    .collect(),
                even => vec![1.0; even.parse::<usize>().unwrap() / 2],
            };
            let (places, _) = path(settings, &mut frames);
            let off = places
                .iter()
                .zip(&reference)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f32::max);
            println!(
                "{name} at {rate}: off by {:.2} % of {swing:.2} m",
                off / swing * 100.0
            );
            if off > 0.01 * swing {
                over.push((name, rate, off / swing));
            }
        }
    }
    assert!(over.is_empty(), "{over:?}");
}

#[test]
fn a_character_at_rest_keeps_its_pose() {
    let mut stage = Stage::new(
        SpringSettings {
            gravity: 0.0,
            ..soft()
        },
        &[],
    );
    let rest = stage.skeleton.rest_model().to_vec();
    for _ in 0..100 {
        stage.rest(SpringFrame {
            dt: 0.0123,
            world: world(Vec3::X * 9.0, 0.6),
            ..SpringFrame::default()
        });
        assert!(
            stage
                .model
                .iter()
                .zip(&rest)
                .all(|(a, b)| a.abs_diff_eq(*b, 2e-6))
        );
    }
}

#[test]
fn springs_come_to_rest_where_they_begin() {
    let wind = Vec3::new(1.0, 0.0, 0.5);
    let mut stage = Stage::new(soft(), &[]);
    let settled = SpringFrame {
        wind,
        ..SpringFrame::default()
    };
    stage.rest(settled);
    let begin = stage.at(TIP);
    let pose = stage.skeleton.rest_model()[TIP]
        .translation
        .distance(begin.into());
    assert!(pose > 0.02, "gravity and wind bend the tail: {pose}");
    for i in 0..600 {
        let t = i as f32 / 60.0;
        let swing = if t < 2.0 {
            world(Vec3::X * (t * PI).sin(), t)
        } else {
            world(Vec3::ZERO, TAU)
        };
        let swing = if t < 2.0 {
            swing
        } else {
            world(Vec3::ZERO, 0.0)
        };
        stage.rest(SpringFrame {
            dt: 1.0 / 60.0,
            world: swing,
            ..settled
        });
        if i == 60 {
            assert!(stage.at(TIP).distance(begin) > 0.02, "it swings");
        }
    }
    assert!(
        stage.at(TIP).distance(begin) < 1e-3,
        "{} {begin}",
        stage.at(TIP)
    );
}

#[test]
fn bones_keep_their_length_and_others_their_place() {
    let chain = SpringChain {
        root: 4,
        settings: soft(),
        colliders: vec![],
    };
    let mut stage = Stage::of(&[chain], &[]);
    let mut random = Rng::with_seed(1);
    for _ in 0..500 {
        let at = Vec3::from_array([0; 3].map(|_| random.f32()));
        stage.rest(SpringFrame {
            dt: 0.02,
            world: world(at, random.f32() * 6.0),
            ..SpringFrame::default()
        });
        for joint in 0..10 {
            let transform = stage.local[joint / 4].get(joint % 4);
            let rest = stage.skeleton.rest_of(joint as u16);
            assert_eq!(
                (transform.translation, transform.scale),
                (rest.translation, rest.scale)
            );
            assert!((transform.rotation.length() - 1.0).abs() < 1e-5);
            assert!(
                joint >= 4 || transform == rest,
                "joint {joint} is above the chain"
            );
        }
    }
    assert!(
        stage.local[2].get(1) != stage.skeleton.rest_of(9),
        "the branch swings"
    );
}

#[test]
fn a_bone_swings_at_its_frequency_whatever_its_size() {
    for scale in [0.01, 1.0, 100.0] {
        let settings = SpringSettings {
            frequency: 2.0,
            damping: 0.0,
            gravity: 0.0,
            drag: 0.0,
            ..soft()
        };
        let mut stage = Stage::of(
            &[SpringChain {
                root: 7,
                settings,
                colliders: vec![],
            }],
            &[],
        );
        let world = |x: f32| {
            Affine3A::from_scale_rotation_translation(
                Vec3::splat(scale),
                Quat::IDENTITY,
                Vec3::X * x,
            )
        };
        stage.rest(SpringFrame {
            world: world(0.0),
            ..SpringFrame::default()
        });
        let mut side = Vec::new();
        for i in 0..600 {
            // A small push, and then nothing.
            let x = if i == 0 { 0.0 } else { 0.01 * scale };
            stage.rest(SpringFrame {
                dt: 1.0 / 100.0,
                world: world(x),
                ..SpringFrame::default()
            });
            side.push(stage.model[7].matrix3.z_axis.x);
        }
        assert!(side.iter().all(|x| x.abs() < 0.2) && side.iter().any(|x| x.abs() > 0.05));
        let crossings = side
            .windows(2)
            .filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0))
            .count();
        assert!((23..=25).contains(&crossings), "{crossings} in 6 s at 2 Hz");
    }
}

#[test]
fn ends_stay_outside_of_colliders() {
    let ball = Collider {
        kind: Default::default(),
        joint: 1,
        center: Vec3::new(0.0, -0.08, 0.25),
        end: None,
        radius: 0.12,
    };
    let rod = Collider {
        kind: Default::default(),
        joint: 2,
        center: Vec3::new(-0.3, 0.1, 0.2),
        end: Some(Vec3::new(0.3, 0.1, 0.2)),
        radius: 0.1,
    };
    let mut touched = [0; 2];
    for (which, collider) in [ball, rod].into_iter().enumerate() {
        let settings = SpringSettings {
            radius: 0.03,
            frequency: 1.0,
            ..soft()
        };
        let (mut with, mut without) =
            (Stage::new(settings, &[collider]), Stage::new(settings, &[]));
        let mut random = Rng::with_seed(5);
        let depth = |stage: &Stage, joint: usize| {
            let matrix = stage.model[usize::from(collider.joint)];
            let [a, b] = [collider.center, collider.end.unwrap_or(collider.center)]
                .map(|p| matrix.transform_point3(p));
            let at = stage.at(joint);
            let along = (b - a)
                * ((at - a).dot(b - a) / (b - a).length_squared().max(1e-9)).clamp(0.0, 1.0);
            collider.radius + settings.radius - (at - a - along).length()
        };
        for i in 0..2000 {
            let (mut frame, _) = run_about(f64::from(i) / 60.0);
            frame.dt = 1.0 / 60.0;
            frame.wind =
                Vec3::new(random.f32() - 0.5, 3.0, 0.0) * 4.0 * (f64::from(i) / 200.0).sin() as f32;
            with.rest(frame);
            without.rest(frame);
            // At joint 5, the tail branches: the bone's end is between the branches.
            for joint in [4, 6, TIP] {
                touched[which] += usize::from(depth(&without, joint) > 0.01);
                assert!(
                    depth(&with, joint) < [1e-4, 1e-3][which],
                    "joint {joint} in frame {i}: {}",
                    depth(&with, joint)
                );
            }
        }
    }
    assert!(touched[0] > 500 && touched[1] > 30, "{touched:?}");
}

#[test]
fn bones_stay_within_their_limit() {
    let settings = SpringSettings {
        max_angle: 0.3,
        frequency: 0.5,
        ..soft()
    };
    let mut stage = Stage::of(
        &[SpringChain {
            root: 7,
            settings,
            colliders: vec![],
        }],
        &[],
    );
    let mut most = 0.0_f32;
    for i in 0..600 {
        let (frame, _) = run_about(f64::from(i) / 60.0);
        stage.rest(SpringFrame {
            dt: 1.0 / 60.0,
            wind: Vec3::X * 20.0,
            ..frame
        });
        most = most.max(
            stage.local[1]
                .get(3)
                .rotation
                .angle_between(stage.skeleton.rest_of(7).rotation),
        );
    }
    assert!((most - 0.3).abs() < 1e-3, "{most}");
}

#[test]
fn a_teleport_takes_springs_along() {
    let (mut home, mut away) = (Stage::new(soft(), &[]), Stage::new(soft(), &[]));
    for i in 0..300 {
        // How far it would have moved in the frame of the teleport, nobody knows: nothing.
        let (frame, rotations) = run_about(f64::from(i - i32::from(i >= 150)) / 60.0);
        let frame = SpringFrame {
            dt: 1.0 / 60.0,
            wind: Vec3::ZERO,
            ..frame
        };
        home.frame(frame, &rotations);
        // Turned, so that gravity has to be turned, too: about the vertical.
        let put = if i >= 150 {
            world(Vec3::new(0.7, 0.3, -0.4), 2.0)
        } else {
            Affine3A::IDENTITY
        };
        away.frame(
            SpringFrame {
                world: put * frame.world,
                teleported: i == 150,
                ..frame
            },
            &rotations,
        );
        assert!(home.at(TIP).distance(away.at(TIP)) < 2e-3, "frame {i}");
    }
    // Without being told, a jump of 1000 m is one, and a step is not.
    for (far, jumps) in [(1000.0, true), (0.5, false)] {
        let mut stage = Stage::new(
            SpringSettings {
                drag: 0.0,
                ..soft()
            },
            &[],
        );
        stage.rest(SpringFrame::default());
        let before = stage.at(TIP);
        stage.rest(SpringFrame {
            dt: 1.0 / 60.0,
            world: world(Vec3::X * far, 0.0),
            ..SpringFrame::default()
        });
        assert_eq!(stage.at(TIP).distance(before) < 1e-3, jumps, "{far}");
    }
}

#[test]
fn a_rollback_repeats_the_same_bits() {
    let ball = Collider {
        kind: Default::default(),
        joint: 1,
        center: Vec3::new(0.0, -0.1, 0.2),
        end: None,
        radius: 0.1,
    };
    let mut stage = Stage::new(soft(), &[ball]);
    let mut random = Rng::with_seed(9);
    let times: Vec<f64> = std::iter::repeat_with(|| 0.001 + 0.03 * random.f64())
        .take(200)
        .collect();
    let play = |stage: &mut Stage, range: std::ops::Range<usize>| -> Vec<Vec<SoaTransform>> {
        let frames = range.map(|i| {
            let (frame, rotations) = run_about(times[..i].iter().sum());
            stage.frame(
                SpringFrame {
                    dt: times[i],
                    ..frame
                },
                &rotations,
            );
            stage.local.clone()
        });
        frames.collect()
    };
    play(&mut stage, 0..100);
    let saved = serde_json::to_string(&stage.state).unwrap();
    let first = play(&mut stage, 100..200);
    let end = stage.state.clone();
    // Into another character, whose scratch memory has seen other things.
    let mut again = Stage::new(soft(), &[ball]);
    play(&mut again, 3..50);
    again.state = serde_json::from_str(&saved).unwrap();
    assert_eq!(play(&mut again, 100..200), first);
    assert_eq!(again.state, end);
}

#[test]
fn time_that_stands_still_changes_nothing() {
    let mut stage = Stage::new(soft(), &[]);
    let mut paused = Stage::new(soft(), &[]);
    for i in 0..100 {
        let (frame, rotations) = run_about(f64::from(i) / 50.0);
        let frame = SpringFrame {
            dt: 1.0 / 50.0,
            ..frame
        };
        stage.frame(frame, &rotations);
        paused.frame(frame, &rotations);
        for dt in [0.0, -1.0, f64::NAN] {
            let state = paused.state.clone();
            // Even if the character is moved meanwhile.
            let (elsewhere, rotations) = run_about(f64::from(i) * 7.0);
            paused.frame(SpringFrame { dt, ..elsewhere }, &rotations);
            assert_eq!(paused.state, state);
        }
        paused.frame(SpringFrame { dt: 0.0, ..frame }, &rotations);
        assert_eq!(paused.local, stage.local, "the same pose again");
    }
}

#[test]
fn far_from_the_origin_springs_swing_as_near_it() {
    let (mut near, mut far) = (Stage::new(soft(), &[]), Stage::new(soft(), &[]));
    let away = Vec3::new(65536.0, 0.0, -32768.0);
    for i in 0..300 {
        let t = i as f32 / 60.0;
        // Steps that both places can hold exactly.
        let at = Vec3::X * ((t * 4.0).sin() * 64.0).round() / 64.0;
        let frame = SpringFrame {
            dt: 1.0 / 60.0,
            world: world(at, 0.0),
            ..SpringFrame::default()
        };
        near.rest(frame);
        far.rest(SpringFrame {
            world: world(at + away, 0.0),
            ..frame
        });
        assert!(near.at(TIP).distance(far.at(TIP)) < 1e-4);
    }
}

#[test]
fn a_chain_inside_another_takes_over() {
    let loose = SpringSettings {
        frequency: 0.0,
        gravity: 1.0,
        ..soft()
    };
    let stiff = SpringSettings {
        frequency: 50.0,
        gravity: 0.0,
        drag: 0.0,
        ..soft()
    };
    let chain = |root, settings| SpringChain {
        root,
        settings,
        colliders: vec![],
    };
    let mut stage = Stage::of(&[chain(6, loose), chain(3, stiff), chain(3, loose)], &[]);
    stage.rest(SpringFrame::default());
    for joint in [3, 4, 5] {
        assert!(
            stage.model[joint].abs_diff_eq(stage.skeleton.rest_model()[joint], 1e-5),
            "{joint}"
        );
    }
    let hanging = stage.at(7) - stage.at(6);
    assert!(
        hanging.normalize().abs_diff_eq(Vec3::NEG_Y, 1e-3),
        "{hanging}"
    );
    assert_eq!(
        stage.springs.joints().collect::<Vec<_>>(),
        [3, 4, 5, 8, 6, 9, 7]
    );
}

#[test]
fn a_weight_fades_springs_out() {
    let settings = SpringSettings {
        frequency: 1.0,
        gravity: 1.0,
        ..soft()
    };
    let mut turn = [0.0, 0.5, 1.0].map(|weight| {
        let mut stage = Stage::of(
            &[SpringChain {
                root: 7,
                settings,
                colliders: vec![],
            }],
            &[],
        );
        stage.rest(SpringFrame {
            weight,
            ..SpringFrame::default()
        });
        stage.local[1]
            .get(3)
            .rotation
            .angle_between(stage.skeleton.rest_of(7).rotation)
    });
    turn[1] *= 2.0;
    assert!(
        turn[0] < 1e-3 && (turn[1] - turn[2]).abs() < 0.05 * turn[2] && turn[2] > 0.2,
        "{turn:?}"
    );
}

#[test]
fn nothing_makes_a_pose_that_is_not_finite() {
    let odd = [
        0.0,
        1.0,
        -1.0,
        1e-30,
        1e30,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let mut random = Rng::with_seed(11);
    for _ in 0..300 {
        let mut any = || {
            if random.u8(..3) == 0 {
                odd[random.usize(..odd.len())]
            } else {
                random.f32() * 4.0
            }
        };
        let settings = SpringSettings {
            frequency: any(),
            damping: any(),
            gravity: any(),
            drag: any(),
            radius: any(),
            max_angle: any(),
        };
        let collider = Collider {
            kind: Default::default(),
            joint: if any() > 2.0 { 1 } else { 77 },
            center: Vec3::new(any(), any(), any()),
            end: (any() > 2.0).then(|| Vec3::new(any(), any(), any())),
            radius: any(),
        };
        let chain = |root| SpringChain {
            root,
            settings,
            colliders: vec![0, 9],
        };
        let mut stage = Stage::of(&[chain(3), chain(99), chain(5)], &[collider]);
        for _ in 0..30 {
            let at = Vec3::new(any(), any(), any());
            let frame = SpringFrame {
                dt: any().into(),
                world: Affine3A::from_scale_rotation_translation(
                    Vec3::splat(any()),
                    Quat::from_euler(EulerRot::XYZ, any().min(9.0), 0.0, 0.0),
                    at,
                ),
                wind: Vec3::new(any(), any(), any()),
                gravity: Vec3::new(any(), any(), any()),
                teleported: any() > 3.5,
                weight: any(),
            };
            stage.rest(frame);
            assert!(
                stage
                    .local
                    .iter()
                    .all(|row| (0..4).all(|lane| row.get(lane).is_finite())),
                "{settings:?} {frame:?}"
            );
            // A sane frame afterwards brings a sane pose.
            stage.rest(SpringFrame {
                dt: 0.02,
                ..SpringFrame::default()
            });
            stage.rest(SpringFrame {
                dt: 0.02,
                ..SpringFrame::default()
            });
            let lengths =
                [(3, 4), (4, 5), (5, 6), (6, 7)].map(|(a, b)| stage.at(a).distance(stage.at(b)));
            assert!(
                lengths.iter().all(|length| (length - 0.1).abs() < 1e-3),
                "{lengths:?} {settings:?} {frame:?}"
            );
        }
    }
}

#[test]
fn skeletons_without_bones_to_swing_are_fine() {
    let none = Springs::new(&Skeleton::default(), &[SpringChain::default()], &[]);
    assert!(none.is_empty());
    let dot = |parent| Joint {
        name: "".into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![dot(None), dot(Some(0)), dot(Some(1))]).unwrap();
    let springs = Springs::new(&skeleton, &[SpringChain::default()], &[]);
    assert!(springs.is_empty());
    let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
    let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
    springs.run(
        &SpringFrame::default(),
        &mut SpringState::default(),
        &mut SpringScratch::default(),
        &mut pose,
    );
    assert_eq!(local, skeleton.rest());
}

#[test]
fn mistakes_about_what_has_no_name_are_errors_like_others() {
    for text in [
        r#"(model: "m.glb", springs: [(joints: [""], frequency: 100)])"#,
        r#"(model: "m.glb", colliders: { "": (joint: "head", radius: -1) })"#,
    ] {
        let parsed = bevy_marionette::import::Manifest::parse("f", text.as_bytes());
        assert!(parsed.is_err(), "{text}");
    }
}
