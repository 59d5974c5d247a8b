//! Poses over switches: nothing jumps, whatever plays, and the same bits come out of every division of time.

use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority, Transition,
    },
    internals::controller::SwitchLayer,
};
use bevy_marionette::{
    internals::model::{BoundBlendSpace, SoaTransform},
    model::{
        BlendSpace, ClipFrames, ClipTiming, Joint, JointTransform, PlaybackMode, SkeletalClip,
        Skeleton,
    },
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Inertia, InertiaScratch, Scratch},
    pose::Mask,
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};
use std::{collections::HashMap, sync::Arc, time::Duration};

const JOINTS: usize = 14;
/// Frames per second: so many that clips are as good as smooth.
const FRAMES: f64 = 480.0;

fn skeleton() -> Skeleton {
    let joint = |i: usize| Joint {
        name: format!("j{i}").into(),
        parent: i.checked_sub(1).map(|p| (p / 2) as u16),
        rest: JointTransform::new(
            Vec3::new(0.02, 0.25, 0.0),
            Quat::from_rotation_x(0.1 * i as f32),
        ),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..JOINTS).map(joint).collect()).unwrap()
}

/// A clip whose joints swing, and move if asked to, along sines; some joints are left out if it is partial.
fn clip(skeleton: &Skeleton, name: &str, seed: u64, partial: bool) -> SkeletalClip {
    let mut random = Rng::with_seed(seed);
    let mut vector = || Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0));
    let waves: Vec<_> = (0..JOINTS)
        .map(|_| [vector() * 0.7, vector() * 0.4, vector() * 0.05])
        .collect();
    let duration = [0.8, 1.2, 1.0][seed as usize % 3];
    let count = (duration * FRAMES) as usize;
    let pose = |frame: usize| {
        let phase = frame as f32 / count as f32 * std::f32::consts::TAU;
        (0..JOINTS).map(move |joint| (joint, phase))
    };
    let transform = |(joint, phase): (usize, f32)| {
        let ([still, swing, shift], rest) = (waves[joint], skeleton.rest_of(joint as u16));
        let turn = Quat::from_scaled_axis(still + swing * (phase + joint as f32).sin());
        let moves = if joint % 4 == 0 {
            shift * (phase * 2.0).cos()
        } else {
            Vec3::ZERO
        };
        JointTransform {
            translation: rest.translation + moves,
            rotation: rest.rotation * turn,
            scale: Vec3::ONE,
        }
    };
    let animated = (0..JOINTS)
        .map(|joint| !partial || !(joint as u64 + seed).is_multiple_of(3))
        .collect();
    let transforms = (0..=count).flat_map(pose).map(transform).collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated,
        transforms,
    };
    SkeletalClip::new(ClipTiming::new(name, duration), &frames).unwrap()
}

struct Cast {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    masks: HashMap<&'static str, Mask>,
    spaces: Vec<BoundBlendSpace>,
}

impl Cast {
    fn new(partial: bool) -> Self {
        let skeleton = skeleton();
        let clips: Vec<_> = (0..5)
            .map(|i| clip(&skeleton, &format!("c{i}"), i, partial))
            .collect();
        let masks = HashMap::from([
            ("upper", Mask::from_roots(&skeleton, &[1], 0)),
            ("none", Mask::empty(JOINTS)),
        ]);
        let points = (0..4).map(|i| (format!("c{i}"), f64::from(i)));
        let space = Arc::new(BlendSpace::line("space", points).unwrap());
        let spaces = vec![
            space
                .bind(clips.iter().map(|clip| &clip.timing), |_| Vec::new())
                .unwrap(),
        ];
        Self {
            skeleton,
            clips,
            masks,
            spaces,
        }
    }

    fn clip(&mut self, index: usize) -> &mut SkeletalClip {
        &mut self.clips[index]
    }
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        Some(&self.clips.get(index)?.timing)
    }

    fn is_additive(&self, index: usize) -> bool {
        self.clips.get(index).is_some_and(|clip| clip.additive)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// A controller with what the pose keeps beside it.
#[derive(Default)]
struct Puppet {
    controller: AnimationController,
    inertia: Inertia,
    memory: InertiaScratch,
    scratch: Scratch,
}

impl Puppet {
    fn playing(clip: &str) -> Self {
        Self {
            controller: AnimationController::playing(clip),
            ..Self::default()
        }
    }

    fn advance(&mut self, cast: &Cast, dt: f64) {
        self.controller.advance(dt, cast, &mut Vec::new()).unwrap();
    }

    fn pose(&mut self, cast: &Cast) -> &Scratch {
        let Self {
            controller,
            inertia,
            memory,
            scratch,
        } = self;
        let mask = |name: Option<&str>| name.map(|name| &cast.masks[name]);
        let layers: Vec<_> = controller
            .layers(cast)
            .map(|layer| {
                let mask = mask(layer.mask.map(|name| &**name));
                layer.with(&cast.clips[layer.clip], mask)
            })
            .collect();
        let find = |layer: &SwitchLayer| {
            let clip = &cast.clips[cast.index_of(&layer.clip)?];
            Some(ClipLayer {
                weight: layer.weight,
                mask: mask(layer.mask.as_deref()),
                ..ClipLayer::new(clip, layer.time)
            })
        };
        inertia.follow(controller.switches(), &cast.skeleton, find, memory);
        let (inertia, priority_blend) = (
            Some(inertia.at(controller.time())),
            controller.priority_blend,
        );
        Evaluate {
            priority_blend,
            inertia,
            ..Evaluate::new(&cast.skeleton, &layers)
        }
        .run(scratch);
        scratch
    }

    fn joints(&mut self, cast: &Cast) -> Vec<Affine3A> {
        self.pose(cast).model().to_vec()
    }

    fn bits(&mut self, cast: &Cast) -> Vec<u32> {
        self.pose(cast)
            .model()
            .iter()
            .flat_map(|joint| joint.to_cols_array())
            .map(f32::to_bits)
            .collect()
    }

    /// The joints' places and turns now.
    fn snap(&mut self, cast: &Cast) -> Vec<(Vec3, Quat)> {
        let turned = |row: &SoaTransform| [0, 1, 2, 3].map(|lane| row.get(lane).rotation);
        let turns: Vec<Quat> = self.pose(cast).local().iter().flat_map(turned).collect();
        let places = self
            .scratch
            .model()
            .iter()
            .map(|joint| joint.translation.into());
        places.zip(turns).collect()
    }
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The farthest that any joint is from where it was, in model units and radians.
fn distance(a: &[(Vec3, Quat)], b: &[(Vec3, Quat)]) -> f32 {
    let apart = |((p, q), (r, s)): (&(Vec3, Quat), &(Vec3, Quat))| {
        let turn = (q.conjugate() * *s).xyz().length() * 2.0;
        p.distance(*r).max(turn)
    };
    a.iter().zip(b).map(apart).fold(0.0, f32::max)
}

/// The largest difference of speeds, each from one pose to the next.
fn change_of_speed([a, b, c, d]: [&[(Vec3, Quat)]; 4], dt: f32) -> f32 {
    let speed = |(p, q): (Vec3, Quat), (r, s): (Vec3, Quat)| {
        let turn = q.conjugate() * s;
        let turn = if turn.w < 0.0 { -turn } else { turn };
        ((r - p) / dt, turn.xyz() * 2.0 / dt)
    };
    let change = |i: usize| {
        let ((v, w), (v2, w2)) = (speed(a[i], b[i]), speed(c[i], d[i]));
        v.distance(v2).max(w.distance(w2))
    };
    (0..JOINTS).map(change).fold(0.0, f32::max)
}

/// Something that happens to what plays: with `fades`, a cross-fade too, in which a joint that only one clip animates jumps.
fn act(puppet: &mut Puppet, random: &mut Rng, fades: bool) {
    let clip = format!("c{}", random.usize(..5));
    let controller = &mut puppet.controller;
    match random.u8(..6) {
        0 if fades => drop(controller.cross_fade(clip, secs(0.1 + random.f64() * 0.3))),
        1 => drop(controller.play_with(
            clip,
            Transition::switch(secs(0.1 + random.f64() * 0.3)).in_phase(),
        )),
        _ => drop(controller.play_with(clip, Transition::switch(secs(0.1 + random.f64() * 0.3)))),
    }
}

/// Before and after the moment at which something happens, and half a frame on either side.
fn around(
    puppet: &mut Puppet,
    cast: &Cast,
    dt: f64,
    act: impl FnOnce(&mut Puppet) -> TrackId,
) -> [Vec<(Vec3, Quat)>; 4] {
    let before = puppet.snap(cast);
    puppet.advance(cast, dt);
    let then = puppet.snap(cast);
    act(puppet);
    puppet.advance(cast, 0.0);
    let now = puppet.snap(cast);
    puppet.advance(cast, dt);
    [before, then, now, puppet.snap(cast)]
}

#[test]
fn no_joint_jumps_or_changes_its_speed_at_a_switch_whenever_it_comes() {
    const DT: f64 = 1.0 / 4096.0;
    let cast = Cast::new(false);
    let mut random = Rng::with_seed(7);
    let (mut most, mut most_speed, mut nested, mut of_cuts) = (0.0_f32, 0.0_f32, 0, [0.0_f32; 2]);
    for _ in 0..60 {
        let mut puppet = Puppet::playing("c0");
        puppet.advance(&cast, random.f64() * 2.0);
        for _ in 0..5 {
            let clip = format!("c{}", random.usize(1..5));
            let mut cut = Puppet {
                controller: puppet.controller.clone(),
                ..Puppet::default()
            };
            let duration = secs(0.2 + random.f64() * 0.2);
            let [a, b, c, d] = around(&mut puppet, &cast, DT, |puppet| {
                puppet
                    .controller
                    .play_with(&*clip, Transition::switch(duration))
            });
            most = most.max(distance(&b, &c));
            most_speed = most_speed.max(change_of_speed([&a, &b, &c, &d], DT as f32));
            nested += usize::from(puppet.controller.switches().count() > 2);
            // What the same would be without inertia, to see that there is something to carry over.
            let [a, b, c, d] = around(&mut cut, &cast, DT, |cut| cut.controller.play(&*clip));
            of_cuts = [
                of_cuts[0].max(distance(&b, &c)),
                of_cuts[1].max(change_of_speed([&a, &b, &c, &d], DT as f32)),
            ];
            puppet.advance(&cast, random.f64() * 0.2);
        }
    }
    assert!(
        nested > 50 && of_cuts[0] > 1.0 && of_cuts[1] > 4.0,
        "{nested} {of_cuts:?}"
    );
    assert!(most < 2e-5, "a joint jumps by {most}");
    // In so short a time, an acceleration of 500 per second² makes an eighth.
    assert!(
        most_speed < 0.25,
        "a joint changes its speed by {most_speed}, at cuts by {}",
        of_cuts[1]
    );
}

#[test]
fn no_joint_jumps_at_a_switch_into_a_blend_space_or_out_of_it() {
    const DT: f64 = 1.0 / 4096.0;
    let cast = Cast::new(false);
    let mut random = Rng::with_seed(9);
    let (mut most, mut most_speed) = (0.0_f32, 0.0_f32);
    for _ in 0..40 {
        let mut puppet = Puppet::playing("c4");
        puppet.advance(&cast, random.f64() * 2.0);
        for to in ["space", "c4", "space", "c3"] {
            puppet.controller.set_parameters(random.f64() * 3.0);
            puppet.advance(&cast, random.f64() * 0.3);
            let [a, b, c, d] = around(&mut puppet, &cast, DT, |puppet| {
                puppet
                    .controller
                    .play_with(to, Transition::switch(secs(0.3)))
            });
            most = most.max(distance(&b, &c));
            most_speed = most_speed.max(change_of_speed([&a, &b, &c, &d], DT as f32));
        }
    }
    assert!(most < 2e-5, "a joint jumps by {most}");
    assert!(
        most_speed < 0.25,
        "a joint changes its speed by {most_speed}"
    );
}

#[test]
fn between_frames_no_joint_goes_farther_than_its_clips_and_what_dies_out_take_it() {
    const DT: f64 = 1.0 / 240.0;
    for partial in [false, true] {
        let cast = Cast::new(partial);
        // The fastest and the farthest apart that clips are.
        let alone = |index: usize, time: f64| {
            let mut puppet = Puppet::playing(&format!("c{index}"));
            puppet.advance(&cast, time);
            puppet.snap(&cast)
        };
        let poses: Vec<Vec<_>> = (0..5)
            .map(|index| {
                (0..120)
                    .map(|frame| alone(index, f64::from(frame) * DT))
                    .collect()
            })
            .collect();
        let speeds = poses.iter().flat_map(|clip: &Vec<Vec<_>>| {
            clip.windows(2).map(|pair| distance(&pair[0], &pair[1]))
        });
        let speed = speeds.fold(0.0, f32::max) / DT as f32;
        let all: Vec<_> = poses.iter().flatten().step_by(7).collect();
        let apart = all
            .iter()
            .flat_map(|a| all.iter().map(|b| distance(a, b)))
            .fold(0.0, f32::max);

        let mut random = Rng::with_seed(3);
        let mut puppet = Puppet::playing("c0");
        puppet.advance(&cast, 0.3);
        let (mut before, mut most) = (puppet.snap(&cast), 0.0_f32);
        for frame in 0..6000 {
            if frame % 31 == 0 || random.u8(..60) == 0 {
                act(&mut puppet, &mut random, !partial);
            }
            puppet.advance(&cast, DT);
            let now = puppet.snap(&cast);
            // A difference dies out at no more than 2.11 times its size in its duration, or at its own first speed; a
            // fade moves a pose at the pace of its weights.
            let alive = puppet.controller.switches().count() as f32
                + puppet.controller.tracks().count() as f32;
            let allowed = DT as f32 * (speed + alive * (2.11 * apart / 0.1 + 2.0 * speed));
            let gone = distance(&before, &now);
            assert!(gone <= allowed, "frame {frame}: {gone}, allowed {allowed}");
            (before, most) = (now, most.max(gone));
        }
        // Far less than a cut would make.
        assert!(most < 0.4 * apart, "{most} of {apart}");
    }
}

#[test]
fn a_pose_does_not_depend_on_how_time_was_cut() {
    let cast = Cast::new(false);
    let run = |cut: u32| {
        let (mut random, mut puppet) = (Rng::with_seed(5), Puppet::playing("c0"));
        let mut poses = Vec::new();
        for _ in 0..40 {
            act(&mut puppet, &mut random, true);
            let seconds = f64::from(random.u32(1..20)) / 64.0;
            for _ in 0..cut {
                puppet.advance(&cast, seconds / f64::from(cut));
                if cut == 4 {
                    puppet.pose(&cast);
                }
            }
            poses.push(puppet.bits(&cast));
        }
        poses
    };
    let whole = run(1);
    for cut in [2, 4, 16, 64] {
        assert!(run(cut) == whole, "{cut} steps");
    }
}

#[test]
fn a_controller_that_was_saved_and_read_poses_the_same_bits() {
    let cast = Cast::new(true);
    let (mut random, mut puppet) = (Rng::with_seed(6), Puppet::playing("c0"));
    let mut compared = 0;
    for _ in 0..30 {
        act(&mut puppet, &mut random, true);
        (0..random.u32(1..15)).for_each(|_| puppet.advance(&cast, 1.0 / 60.0));
        let text = ron::to_string(&puppet.controller).unwrap();
        let mut again = Puppet {
            controller: ron::from_str(&text).unwrap(),
            ..Puppet::default()
        };
        // Rolled back, and on another way: what it keeps must not be taken for what it is now.
        let snapshot = puppet.controller.clone();
        puppet
            .controller
            .play_with("c4", Transition::switch(secs(0.4)));
        (0..5).for_each(|_| puppet.advance(&cast, 1.0 / 60.0));
        puppet.pose(&cast);
        puppet.controller.restore(&snapshot);
        for _ in 0..5 {
            compared += usize::from(puppet.controller.switches().count() > 0);
            assert_eq!(puppet.bits(&cast), again.bits(&cast));
            puppet.advance(&cast, 1.0 / 60.0);
            again.advance(&cast, 1.0 / 60.0);
        }
    }
    assert!(compared > 80, "{compared}");
}

#[test]
fn tracks_on_top_are_not_touched_and_nothing_jumps_beneath_them() {
    const DT: f64 = 1.0 / 4096.0;
    let mut cast = Cast::new(true);
    cast.clip(4).additive = true;
    let high = AnimationTrack::new("c2")
        .priority(TrackPriority::High)
        .mask("upper");
    let over = AnimationTrack::new("c3")
        .blend(BlendMode::Override)
        .mask("upper");
    let stacks = [
        vec![over.clone()],
        vec![high.clone().weight(0.6)],
        vec![AnimationTrack::new("c1").weight(0.7)],
        vec![AnimationTrack::new("c4").weight(0.5)],
        vec![
            AnimationTrack::new("c1").weight(0.3),
            high,
            over,
            AnimationTrack::new("c4"),
        ],
    ];
    for (stack, tracks) in stacks.into_iter().enumerate() {
        let mut puppet = Puppet::default();
        for track in tracks {
            puppet.controller.add_track(track);
        }
        puppet.controller.play("c0");
        puppet.advance(&cast, 0.3);
        for (round, clip) in ["c2", "c0", "c3", "c2"].into_iter().enumerate() {
            let [a, b, c, d] = around(&mut puppet, &cast, DT, |puppet| {
                puppet
                    .controller
                    .play_with(clip, Transition::switch(secs(0.25)))
            });
            let (jump, change) = (
                distance(&b, &c),
                change_of_speed([&a, &b, &c, &d], DT as f32),
            );
            assert!(
                jump < 2e-5 && change < 0.4,
                "stack {stack}, switch {round}: {jump}, {change}"
            );
            puppet.advance(&cast, 0.06 + 0.1 * round as f64);
        }
        // At the end of the last one, too.
        puppet.advance(&cast, 0.25 - 0.06 - 0.3 - DT * 3.0 + 0.5);
    }
    // An override with full weight has the joints to itself.
    let mut alone = Puppet::default();
    alone
        .controller
        .add_track(AnimationTrack::new("c3").blend(BlendMode::Override));
    let mut over = Puppet {
        controller: alone.controller.clone(),
        ..Puppet::default()
    };
    over.controller.play("c0");
    for _ in 0..20 {
        let local = |puppet: &mut Puppet, joint: usize| puppet.pose(&cast).joint(joint).unwrap();
        // Joints that the clip animates.
        for joint in (0..JOINTS).filter(|joint| (joint + 3) % 3 != 0) {
            let (ours, theirs) = (local(&mut over, joint), local(&mut alone, joint));
            assert!(
                ours.rotation.angle_between(theirs.rotation) < 1e-3,
                "{joint}"
            );
        }
        [&mut alone, &mut over]
            .into_iter()
            .for_each(|puppet| puppet.advance(&cast, 0.01));
        over.controller
            .play_with("c1", Transition::switch(secs(0.15)));
    }
}

#[test]
fn where_only_some_clips_animate_a_joint_nothing_jumps_to_the_very_end() {
    let cast = Cast::new(true);
    for other in [false, true] {
        let mut puppet = Puppet::playing("c0");
        if other {
            puppet
                .controller
                .add_track(AnimationTrack::new("c4").weight(0.5));
        }
        puppet.advance(&cast, 0.3);
        puppet
            .controller
            .play_with("c1", Transition::switch(secs(0.25)));
        let mut before = puppet.snap(&cast);
        for frame in 0..400 {
            puppet.advance(&cast, 1.0 / 1024.0);
            let now = puppet.snap(&cast);
            assert!(
                distance(&before, &now) < 0.03,
                "frame {frame}: {}",
                distance(&before, &now)
            );
            before = now;
        }
        assert!(puppet.controller.switches().next().is_none());
    }
}

#[test]
fn a_pose_on_a_base_of_its_own_is_the_one_mixed_in_one_go() {
    let cast = Cast::new(false);
    let mut puppet = Puppet::playing("c0");
    puppet.advance(&cast, 0.3);
    puppet
        .controller
        .play_with("c1", Transition::switch(secs(0.3)));
    puppet.advance(&cast, 0.05);
    let plain = puppet.snap(&cast);
    puppet
        .controller
        .add_track(AnimationTrack::new("c2").mask("none"));
    puppet.advance(&cast, 0.0);
    assert!(distance(&plain, &puppet.snap(&cast)) < 1e-6);
    // And the base alone is where the clip is when nothing is left.
    puppet.advance(&cast, 0.3);
    let mut fresh = Puppet {
        controller: puppet.controller.clone(),
        ..Puppet::default()
    };
    assert_eq!(puppet.bits(&cast), fresh.bits(&cast));
}

#[test]
fn without_switches_an_inertia_changes_no_bit() {
    let cast = Cast::new(true);
    let (inertia, mut scratches) = (Inertia::new(), [Scratch::default(), Scratch::default()]);
    let layers = [
        ClipLayer {
            base: true,
            ..ClipLayer::new(&cast.clips[0], 0.3)
        },
        ClipLayer::new(&cast.clips[1], 0.2),
    ];
    for layers in [&layers[..1], &layers[..0]] {
        for (scratch, inertia) in scratches.iter_mut().zip([None, Some(inertia.at(1.0))]) {
            Evaluate {
                inertia,
                ..Evaluate::new(&cast.skeleton, layers)
            }
            .run(scratch);
        }
        let [plain, inert] = &scratches;
        assert_eq!(
            (plain.local(), plain.model()),
            (inert.local(), inert.model())
        );
    }
}

#[test]
fn from_one_still_pose_to_another_no_joint_overshoots() {
    let mut cast = Cast::new(false);
    for (index, angle) in [(0, 0.0), (1, 2.5)] {
        let pose = JointTransform::new(
            Vec3::new(0.0, 0.2 + angle * 0.1, 0.0),
            Quat::from_rotation_z(angle),
        );
        let transforms = vec![pose; JOINTS];
        let frames = ClipFrames {
            joints: cast.skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        *cast.clip(index) =
            SkeletalClip::new(ClipTiming::new(format!("c{index}"), 1.0), &frames).unwrap();
    }
    let mut puppet = Puppet::playing("c0");
    puppet.advance(&cast, 0.1);
    puppet
        .controller
        .play_with("c1", Transition::switch(secs(0.25)));
    let (mut angle, mut height) = (0.0, 0.2);
    for _ in 0..60 {
        puppet.advance(&cast, 1.0 / 200.0);
        let joint = puppet.pose(&cast).joint(3).unwrap();
        let now = joint.rotation.to_scaled_axis().z;
        assert!(now >= angle - 1e-5 && now <= 2.5 + 1e-5, "{angle} to {now}");
        assert!(joint.translation.y >= height - 1e-6 && joint.translation.y <= 0.45 + 1e-6);
        (angle, height) = (now, joint.translation.y);
    }
    assert!((angle - 2.5).abs() < 1e-5);
}

#[test]
fn scales_die_out_like_the_rest() {
    let mut cast = Cast::new(false);
    let pose = JointTransform {
        scale: Vec3::new(1.5, 0.5, 1.0),
        ..JointTransform::new(Vec3::Y, Quat::IDENTITY)
    };
    let frames = ClipFrames {
        joints: cast.skeleton.names().clone(),
        animated: vec![],
        transforms: vec![pose; JOINTS],
    };
    *cast.clip(0) = SkeletalClip::new(ClipTiming::new("c0", 1.0), &frames).unwrap();
    let mut puppet = Puppet::playing("c0");
    puppet.advance(&cast, 0.1);
    puppet
        .controller
        .play_with("c1", Transition::switch(secs(0.25)));
    puppet.advance(&cast, 0.0);
    assert!(
        puppet
            .pose(&cast)
            .joint(2)
            .unwrap()
            .scale
            .abs_diff_eq(pose.scale, 1e-6)
    );
    let matrix = puppet.joints(&cast)[0].matrix3;
    assert!(
        (matrix.x_axis.length() - 1.5).abs() < 1e-5,
        "matrices have the scale, too"
    );
    puppet.advance(&cast, 0.1);
    let between = puppet.pose(&cast).joint(2).unwrap().scale;
    assert!(
        between.x > 1.01 && between.x < 1.49 && between.y > 0.51 && between.y < 0.99,
        "{between}"
    );
    puppet.advance(&cast, 0.2);
    assert_eq!(puppet.pose(&cast).joint(2).unwrap().scale, Vec3::ONE);
}

#[test]
fn steps_odd_speeds_and_endless_or_tiny_durations_stay_finite_and_near() {
    let mut cast = Cast::new(false);
    let mut random = Rng::with_seed(8);
    // A clip that jumps by a whole radian in the middle, and one that is a single pose.
    let frame = |angle: f32| {
        vec![JointTransform::new(Vec3::Y * 0.25, Quat::from_rotation_x(angle)); JOINTS]
    };
    let frames = |frames: &[f32]| ClipFrames {
        joints: skeleton().names().clone(),
        animated: vec![],
        transforms: frames.iter().flat_map(|angle| frame(*angle)).collect(),
    };
    let times = [0.0, 0.5, 0.5, 1.0];
    *cast.clip(0) = SkeletalClip::at_times(
        ClipTiming::new("c0", 1.0),
        &frames(&[0.0, 0.0, 1.0, 1.0]),
        &times,
    )
    .unwrap();
    let timing = ClipTiming {
        playback: PlaybackMode::Once,
        ..ClipTiming::new("c1", 0.0)
    };
    *cast.clip(1) = SkeletalClip::new(timing, &frames(&[0.5])).unwrap();
    for _ in 0..300 {
        let mut puppet = Puppet::playing("c0");
        puppet.advance(&cast, 0.49 + random.f64() * 0.02);
        for _ in 0..4 {
            puppet
                .controller
                .set_speed([1.0, -1.0, 1e300, f64::NAN, 0.0, 7.0][random.usize(..6)]);
            let duration = [secs(1e-9), secs(0.2), secs(30.0), Duration::MAX][random.usize(..4)];
            puppet.controller.play_with(
                format!("c{}", random.usize(..2)),
                Transition::switch(duration),
            );
            puppet.advance(&cast, [0.0, 0.1, 1e-3, 3.0][random.usize(..4)]);
            for joint in 0..JOINTS {
                let JointTransform {
                    translation,
                    rotation,
                    ..
                } = puppet.pose(&cast).joint(joint).unwrap();
                assert!(
                    translation.distance(Vec3::Y * 0.25) < 2.0
                        && (rotation.length() - 1.0).abs() < 1e-5
                );
                // Four speeds, of half a radian each, and all that two poses can be apart.
                assert!(rotation.angle_between(Quat::IDENTITY) < 4.0, "{rotation}");
            }
        }
    }
}
