//! Joints that only some of the clips move: nothing jumps while clips come and go.
//!
//! The clips hold still, so that whatever moves is a fade.

mod oracle;

use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, BlendMode, Clips, QueueFallback, TrackPriority,
        Transition,
    },
    internals::controller::{LayerInfo, SwitchLayer},
};
use bevy_marionette::{
    internals::model::BoundBlendSpace,
    model::{
        BlendSpace, ClipFrames, ClipTiming, Joint, JointTransform, PlaybackMode, SkeletalClip,
        Skeleton,
    },
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Inertia, InertiaScratch, PoseBatch, Scratch},
    pose::Mask,
};
use fastrand::Rng;
use glam::{Affine3A, Mat4, Quat, Vec3};
use std::{sync::Arc, time::Duration};

const JOINTS: usize = 6;

fn skeleton() -> Skeleton {
    let joint = |i: usize| Joint {
        name: format!("j{i}").into(),
        parent: i.checked_sub(1).map(|p| p as u16),
        rest: JointTransform::new(Vec3::Y * 0.2, Quat::from_rotation_x(0.1 * i as f32)),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..JOINTS).map(joint).collect()).unwrap()
}

/// A clip that holds joints at angles about z from their rest pose; `None` doesn't move the joint.
fn still(name: &str, skeleton: &Skeleton, degrees: [Option<f32>; JOINTS]) -> SkeletalClip {
    let transform = |joint: usize| {
        let rest = skeleton.rest_of(joint as u16);
        let turn = Quat::from_rotation_z(degrees[joint].unwrap_or(170.0).to_radians());
        JointTransform {
            rotation: rest.rotation * turn,
            ..rest
        }
    };
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: degrees.map(|angle| angle.is_some()).to_vec(),
        transforms: (0..JOINTS).map(transform).collect(),
    };
    SkeletalClip::new(
        ClipTiming {
            playback: PlaybackMode::Loop,
            ..ClipTiming::new(name, 1.0)
        },
        &frames,
    )
    .unwrap()
}

struct Cast {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    spaces: Vec<BoundBlendSpace>,
    masks: Vec<(&'static str, Mask)>,
}

impl Cast {
    fn new(clips: &[(&str, [Option<f32>; JOINTS])], spaces: Vec<BlendSpace>) -> Self {
        let skeleton = skeleton();
        let clips: Vec<_> = clips
            .iter()
            .map(|(name, degrees)| still(name, &skeleton, *degrees))
            .collect();
        let bind = |space: BlendSpace| {
            Arc::new(space)
                .bind(
                    clips.iter().map(|clip: &SkeletalClip| &clip.timing),
                    |_| vec![],
                )
                .unwrap()
        };
        let spaces = spaces.into_iter().map(bind).collect();
        let masks = vec![("half", Mask::from_weights([1.0, 0.5, 1.0, 0.0, 0.5, 1.0]))];
        Self {
            skeleton,
            clips,
            spaces,
            masks,
        }
    }

    fn mask(&self, name: Option<&str>) -> Option<&Mask> {
        name.map(|name| &self.masks.iter().find(|(of, _)| *of == name).unwrap().1)
    }

    fn layer(&self, layer: &LayerInfo) -> ClipLayer<'_> {
        let mask = self.mask(layer.mask.map(|name| &**name));
        layer.with(&self.clips[layer.clip], mask)
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

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

#[derive(Default)]
struct Puppet {
    controller: AnimationController,
    inertia: Inertia,
    memory: InertiaScratch,
    scratch: Scratch,
    poses: usize,
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

    /// Each joint's rotation from its rest pose.
    fn turns(&mut self, cast: &Cast) -> [Quat; JOINTS] {
        let Self {
            controller,
            inertia,
            memory,
            scratch,
            ..
        } = self;
        let layers: Vec<_> = controller
            .layers(cast)
            .map(|layer| cast.layer(&layer))
            .collect();
        let find = |layer: &SwitchLayer| {
            let clip = &cast.clips[cast.index_of(&layer.clip)?];
            let mask = cast.mask(layer.mask.as_deref());
            Some(ClipLayer {
                weight: layer.weight,
                mask,
                ..ClipLayer::new(clip, layer.time)
            })
        };
        inertia.follow(controller.switches(), &cast.skeleton, find, memory);
        let inertia = (!inertia.is_empty()).then(|| inertia.at(controller.time()));
        let priority_blend = controller.priority_blend;
        let pose = Evaluate {
            priority_blend,
            inertia,
            ..Evaluate::new(&cast.skeleton, &layers)
        };
        pose.run(scratch);
        self.poses += 1;
        if !self.poses.is_multiple_of(16) {
            return turns(cast, scratch);
        }
        // A crowd's pose is the same.
        let mut batch = PoseBatch::default();
        (0..6).for_each(|_| batch.add(&pose, &Affine3A::IDENTITY));
        let (mut matrices, remap) = ([[Mat4::ZERO; JOINTS]; PoseBatch::MOST], [0, 1, 2, 3, 4, 5]);
        let mut out = matrices.each_mut().map(|matrices| &mut matrices[..]);
        batch.write(&cast.skeleton, &remap, &Default::default(), &mut out);
        for (model, matrix) in scratch.model().iter().zip(matrices[5]) {
            assert!(
                matrix.abs_diff_eq(Mat4::from(*model), 1e-6),
                "{matrix} {model}"
            );
        }
        turns(cast, scratch)
    }

    fn degrees(&mut self, cast: &Cast) -> [f32; JOINTS] {
        self.turns(cast)
            .map(|turn| 2.0 * turn.z.atan2(turn.w).to_degrees())
    }

    /// How far the joint that turned farthest has turned since.
    fn farthest(&mut self, cast: &Cast, before: &mut [Quat; JOINTS]) -> f32 {
        let now = self.turns(cast);
        let most = now
            .iter()
            .zip(&*before)
            .map(|(a, b)| a.angle_between(*b).to_degrees())
            .fold(0.0, f32::max);
        *before = now;
        most
    }
}

fn turns(cast: &Cast, scratch: &Scratch) -> [Quat; JOINTS] {
    std::array::from_fn(|joint| {
        let rest = cast.skeleton.rest_of(joint as u16).rotation;
        rest.conjugate() * scratch.joint(joint).unwrap().rotation
    })
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The angle of a normalized mean of two rotations about one axis, in f64.
fn between(from: f64, to: f64, weight: f64) -> f64 {
    let [a, b] = [from, to].map(|angle| (0.5 * angle).to_radians());
    let (sin, cos) = (
        a.sin() * (1.0 - weight) + b.sin() * weight,
        a.cos() * (1.0 - weight) + b.cos() * weight,
    );
    2.0 * sin.atan2(cos).to_degrees()
}

const AIM: [Option<f32>; JOINTS] = [Some(0.0), Some(20.0), Some(80.0), Some(-50.0), None, None];
const IDLE: [Option<f32>; JOINTS] = [Some(0.0), Some(-20.0), None, None, None, Some(30.0)];

fn aim_and_idle() -> Cast {
    let space = BlendSpace::line("space", [("idle", 0.0), ("aim", 1.0)]).unwrap();
    Cast::new(&[("aim", AIM), ("idle", IDLE)], vec![space])
}

#[track_caller]
fn assert_joint(puppet: &mut Puppet, cast: &Cast, joint: usize, expected: f64) {
    let angle = f64::from(puppet.degrees(cast)[joint]);
    assert!(
        (angle - expected).abs() < 0.01,
        "joint {joint} is at {angle}, not {expected}"
    );
}

#[test]
fn a_joint_that_only_the_leaving_clip_moves_goes_to_its_rest_pose_by_weight() {
    let cast = aim_and_idle();
    for leave in [
        (|controller| {
            controller.cross_fade("idle", secs(0.5));
        }) as fn(&mut AnimationController),
        |controller| controller.fade_out(secs(0.5)),
        |controller| {
            controller
                .queue_mut()
                .set_fallback(QueueFallback::RestPose)
                .set_fade(secs(0.5))
                .push("idle");
        },
    ] {
        let mut puppet = Puppet::playing("aim");
        puppet.advance(&cast, 0.0);
        leave(&mut puppet.controller);
        // A queued clip waits for the end of the round.
        puppet.advance(
            &cast,
            if puppet.controller.queue().is_empty() {
                0.0
            } else {
                1.0
            },
        );
        for frame in 0..=32 {
            let weight = 1.0 - f64::from(frame) / 32.0;
            assert_joint(&mut puppet, &cast, 2, between(0.0, 80.0, weight));
            assert_joint(&mut puppet, &cast, 3, between(0.0, -50.0, weight));
            puppet.advance(&cast, 0.5 / 32.0);
        }
    }
}

#[test]
fn a_joint_that_only_the_new_clip_moves_comes_from_its_rest_pose_by_weight() {
    let cast = aim_and_idle();
    let mut puppet = Puppet::playing("idle");
    puppet.advance(&cast, 0.1);
    puppet.controller.cross_fade("aim", secs(0.5));
    puppet.advance(&cast, 0.0);
    for frame in 0..=32 {
        let weight = f64::from(frame) / 32.0;
        assert_joint(&mut puppet, &cast, 1, between(-20.0, 20.0, weight));
        assert_joint(&mut puppet, &cast, 2, between(0.0, 80.0, weight));
        assert_joint(&mut puppet, &cast, 5, between(30.0, 0.0, weight));
        puppet.advance(&cast, 0.5 / 32.0);
    }
}

#[test]
fn from_nothing_a_fade_is_a_cut_and_beside_other_tracks_it_comes_from_the_rest_pose() {
    let cast = aim_and_idle();
    let mut puppet = Puppet::default();
    puppet.controller.cross_fade("aim", secs(0.5));
    puppet.advance(&cast, 0.0);
    assert_joint(&mut puppet, &cast, 2, 80.0);
    // Beside a track that is there already.
    let mut puppet = Puppet::default();
    puppet.controller.add_track(
        AnimationTrack::new("idle")
            .blend(BlendMode::Override)
            .mask("half"),
    );
    puppet.advance(&cast, 0.0);
    puppet.controller.cross_fade("aim", secs(0.5));
    puppet.advance(&cast, 0.0);
    for frame in 0..=32 {
        assert_joint(
            &mut puppet,
            &cast,
            3,
            between(0.0, -50.0, f64::from(frame) / 32.0),
        );
        puppet.advance(&cast, 0.5 / 32.0);
    }
}

#[test]
fn a_point_of_a_blend_space_takes_its_joints_along_by_weight() {
    let cast = aim_and_idle();
    let mut play = Puppet::playing("space");
    let mut track = Puppet::default();
    let id = track
        .controller
        .add_track(AnimationTrack::blend_space("space"));
    let high = AnimationTrack::blend_space("space").priority(TrackPriority::High);
    let mut group = Puppet::default();
    let high = group.controller.add_track(high);
    for step in 0..=1000 {
        let share = f64::from(step) / 1000.0;
        play.controller.set_parameters(share);
        track
            .controller
            .track_mut(id)
            .unwrap()
            .set_parameters(share);
        group
            .controller
            .track_mut(high)
            .unwrap()
            .set_parameters(share);
        for puppet in [&mut play, &mut track, &mut group] {
            puppet.advance(&cast, 0.0);
            assert_joint(puppet, &cast, 1, between(-20.0, 20.0, share));
            assert_joint(puppet, &cast, 2, between(0.0, 80.0, share));
            assert_joint(puppet, &cast, 5, between(30.0, 0.0, share));
            assert_joint(puppet, &cast, 4, 0.0);
        }
    }
}

#[test]
fn tracks_of_ones_own_keep_the_rule_of_d3dx() {
    let cast = aim_and_idle();
    let mut puppet = Puppet::default();
    for (clip, weight) in [("aim", 0.25), ("idle", 0.75)] {
        puppet
            .controller
            .add_track(AnimationTrack::new(clip).weight(weight));
    }
    puppet.advance(&cast, 0.0);
    assert_joint(&mut puppet, &cast, 1, between(-20.0, 20.0, 0.25));
    assert_joint(&mut puppet, &cast, 2, 80.0);
    assert_joint(&mut puppet, &cast, 5, 30.0);
    // Beside one, the base counts for a joint by the weight of its clips that move it.
    let mut puppet = Puppet::playing("aim");
    puppet
        .controller
        .add_track(AnimationTrack::new("aim").weight(0.5));
    puppet.advance(&cast, 0.0);
    puppet.controller.cross_fade("idle", secs(0.5));
    for frame in 0..=32 {
        let weight = 1.0 - f64::from(frame) / 32.0;
        let base = between(0.0, 80.0, weight);
        let share = 0.5 / (0.5 + weight);
        let angle = f64::from(puppet.degrees(&cast)[2]);
        assert!(
            (angle - between(base, 80.0, share)).abs() < 3.0,
            "{angle} at {weight}"
        );
        puppet.advance(&cast, 0.5 / 32.0);
    }
}

#[test]
fn a_switch_in_the_middle_of_a_fade_out_goes_on_from_where_the_joints_are() {
    let cast = aim_and_idle();
    let mut puppet = Puppet::playing("aim");
    puppet.advance(&cast, 0.1);
    puppet.controller.fade_out(secs(0.5));
    puppet.advance(&cast, 0.25);
    let mut before = puppet.turns(&cast);
    for clip in ["idle", "aim", "idle"] {
        puppet
            .controller
            .play_with(clip, Transition::switch(secs(0.25)));
        puppet.advance(&cast, 0.0);
        let jump = puppet.farthest(&cast, &mut before);
        assert!(jump < 0.1, "{jump}");
        for _ in 0..24 {
            puppet.advance(&cast, 1.0 / 480.0);
            assert!(puppet.farthest(&cast, &mut before) < 2.5);
        }
    }
    puppet.advance(&cast, 0.5);
    assert_joint(&mut puppet, &cast, 1, -20.0);
    assert_joint(&mut puppet, &cast, 2, 0.0);
}

/// What an arm does when switches follow each other, some to clips that don't move it, and a track of one's own plays on
/// another joint.
fn arm(own: Option<usize>, pause: f64) -> f32 {
    let mut angles = [None; JOINTS];
    let mut clip = |joint: usize, angle: f32| {
        angles = [None; JOINTS];
        angles[joint] = Some(angle);
        angles
    };
    let mut cast = Cast::new(
        &[
            ("up", clip(1, 72.0)),
            ("down", clip(1, -40.0)),
            ("legs", clip(4, 30.0)),
            ("nod", clip(5, 20.0)),
        ],
        vec![],
    );
    if let Some(own) = own {
        cast.clips[3] = still("nod", &cast.skeleton, clip(own, 20.0));
    }
    let mut puppet = Puppet::playing("up");
    if own.is_some() {
        puppet.controller.add_track(AnimationTrack::new("nod"));
    }
    puppet.advance(&cast, 0.1);
    let mut before = puppet.turns(&cast);
    let mut most = 0.0_f32;
    for (clip, seconds) in [("down", 0.5), ("legs", 0.1), ("up", 0.5)] {
        puppet
            .controller
            .play_with(clip, Transition::switch(secs(seconds)));
        puppet.advance(&cast, 0.0);
        most = most.max(puppet.farthest(&cast, &mut before));
        for _ in 0..(pause * 960.0) as usize {
            puppet.advance(&cast, 1.0 / 960.0);
            most = most.max(puppet.farthest(&cast, &mut before));
        }
    }
    for _ in 0..960 {
        puppet.advance(&cast, 1.0 / 960.0);
        most = most.max(puppet.farthest(&cast, &mut before));
    }
    if own != Some(1) {
        assert_joint(&mut puppet, &cast, 1, 72.0);
    }
    most
}

#[test]
fn an_arm_does_not_jump_when_a_switch_that_left_it_alone_has_decayed() {
    for pause in [0.0, 0.01, 0.05, 0.09] {
        // At most 112° in 0.1 s, of which the fastest step of 1/960 s is 2.1 times the mean one.
        let alone = arm(None, pause);
        assert!(alone < 3.0, "{alone}");
        for own in [0, 1, 4, 5] {
            let most = arm(Some(own), pause);
            assert!(most < 4.0, "{own} {pause}: {most}");
        }
    }
}

/// A clip that moves some joints.
fn some(random: &mut Rng) -> [Option<f32>; JOINTS] {
    std::array::from_fn(|_| (random.u8(..5) < 3).then(|| random.f32() * 120.0 - 60.0))
}

fn random_cast(random: &mut Rng) -> Cast {
    let clips: Vec<_> = ["a", "b", "c", "d", "own"]
        .map(|name| (name, some(random)))
        .to_vec();
    let line = BlendSpace::line("space", [("a", 0.0), ("b", 1.0), ("c", 2.0)]).unwrap();
    let plane = BlendSpace::plane(
        "plane",
        [
            ("d", (0.0, 0.0)),
            ("b", (2.0, 0.0)),
            ("a", (1.0, 2.0)),
            ("c", (2.0, 2.0)),
        ],
    );
    Cast::new(
        &clips,
        vec![
            line.smoothed(0.4).unwrap(),
            plane.unwrap().smoothed(0.4).unwrap(),
        ],
    )
}

/// Long runs ask for more.
fn programs(few: usize) -> usize {
    std::env::var("MARIONETTE_PROGRAMS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(few)
}

#[test]
fn nothing_jumps_in_any_program_of_fades_switches_and_blend_spaces() {
    const STEP: f64 = 1.0 / 960.0;
    let mut random = Rng::with_seed(8);
    let (mut most, mut moved) = (0.0_f32, 0);
    for program in 0..programs(120) {
        let cast = random_cast(&mut random);
        let name = |random: &mut Rng| ["a", "b", "c", "d", "space", "plane"][random.usize(..6)];
        let mut puppet = Puppet::playing(name(&mut random));
        let overlay = random.bool().then(|| {
            let mode = [BlendMode::Override, BlendMode::Blend][random.usize(..2)];
            let track = AnimationTrack::new(["own", "space"][random.usize(..2)])
                .blend(mode)
                .weight(0.4 + 0.6 * random.f32());
            let track = if random.bool() {
                track.priority(TrackPriority::High)
            } else {
                track
            };
            puppet.controller.add_track(if random.bool() {
                track.mask("half")
            } else {
                track
            })
        });
        puppet.advance(&cast, 0.1);
        let mut before = puppet.turns(&cast);
        let mut story = Vec::new();
        for _ in 0..random.usize(2..7) {
            let seconds = secs(0.1 + 0.3 * random.f64());
            let controller = &mut puppet.controller;
            let order = random.u8(..8);
            match order {
                0 | 1 => {
                    controller.cross_fade(name(&mut random), seconds);
                }
                2 => controller.fade_out(seconds),
                3 => {
                    controller
                        .queue_mut()
                        .set_fade(seconds)
                        .push(name(&mut random));
                }
                4 | 5 => {
                    controller.play_with(name(&mut random), Transition::switch(seconds));
                }
                6 => controller.set_parameters((random.f64() * 2.0, random.f64() * 2.0)),
                _ => {
                    // D3DX's rule lets tracks of one's own jump when they leave a joint to nobody.
                    let overrides =
                        |id| controller.track(id).unwrap().blend == Some(BlendMode::Override);
                    if let Some(id) = overlay.filter(|id| overrides(*id)) {
                        controller.timeline_mut().fade(id, random.f32(), seconds);
                    }
                }
            }
            // From nothing, a fade and a switch are cuts.
            let cuts = puppet.controller.layers(&cast).all(|layer| !layer.base);
            story.push((order, seconds, puppet.controller.time()));
            for step in 0..random.usize(1..400) {
                puppet.advance(&cast, if step == 0 { 0.0 } else { STEP });
                let turned = puppet.farthest(&cast, &mut before);
                moved += usize::from(turned > 0.0);
                if !(cuts && step < 2) {
                    let shown = || puppet.controller.layers(&cast).collect::<Vec<_>>();
                    assert!(
                        turned < 5.0,
                        "program {program}, step {step}: {turned}° {story:?} {:#?}",
                        shown()
                    );
                    most = most.max(turned);
                }
            }
        }
    }
    println!("{most}° in a step of 1/960 s at most");
    assert!(moved > 10_000, "{moved}");
}
