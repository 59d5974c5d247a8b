//! A steady frame allocates nothing: counted, not believed. A binary of its own, for its allocator.

use bevy_marionette::controller::{BlendMode, Priority};
use bevy_marionette::model::{ClipFrames, ClipTiming, Joint, JointTransform, SkeletalClip, Skeleton};
use bevy_marionette::pose::{
    ChainIk, ClipLayer, Evaluate, Ik, JointOverride, JointSpace, Mask, Palette, Scratch, TwoBoneIk,
};
use glam::{Affine3A, Mat4, Quat, Vec3};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what each thread asks of it.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the count is a plain thread-local
// number without a destructor, which allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn a_warm_scratch_poses_characters_without_an_allocation() {
    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.1)),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new((0..58).map(joint).collect()).unwrap();
    let pose = |angle: f32| vec![JointTransform::new(Vec3::Y, Quat::from_rotation_z(angle)); 58];
    let transforms = [pose(0.0), pose(0.3)].concat();
    let frames = ClipFrames { joints: skeleton.names().clone(), animated: vec![], transforms };
    let clip = SkeletalClip::new(ClipTiming::new("bend", 1.0), &frames).unwrap();
    let mask = Mask::from_roots(&skeleton, &[20], 3);
    let layer = |time: f64| ClipLayer::new(&clip, time);
    let overrides = [JointSpace::Parent, JointSpace::Model, JointSpace::Joint]
        .map(|space| JointOverride { space, ..JointOverride::local(7, JointTransform::IDENTITY) });
    let target = Vec3::new(3.0, 4.0, 5.0);
    let limb = Ik::TwoBone(TwoBoneIk { root: 10, mid: 11, tip: 12, target, pole: None, weight: 1.0 });
    let tail =
        Ik::Chain(ChainIk { tip: 57, bones: 20, target, pole: None, weight: 1.0, iterations: 8, tolerance: 1e-3 });
    let remap: Vec<u16> = (0..58).collect();
    let mut palette = vec![Mat4::IDENTITY; 58];
    let mut scratch = Scratch::default();

    let mut frame = |time: f64| {
        let layers = [
            layer(time),
            ClipLayer { priority: Priority::High, mask: Some(&mask), ..layer(time * 0.5) },
            ClipLayer { mode: BlendMode::Additive, ..layer(0.2) },
            ClipLayer { mode: BlendMode::Override, mask: Some(&mask), ..layer(0.7) },
        ];
        // As many layers and joints as the largest, and fewer.
        for layers in [&layers[..], &layers[..1], &[]] {
            Evaluate { overrides: &overrides, ik: &[limb, tail], ..Evaluate::new(&skeleton, layers) }.run(&mut scratch);
            let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
            Palette { world: Affine3A::IDENTITY, model, inverse_bind, remap: &remap }.run(&mut palette);
        }
    };
    assert_ne!(count(|| frame(0.0)), 0, "the counter counts");
    assert_eq!(count(|| (1..100).for_each(|step| frame(f64::from(step) * 0.01))), 0);
}
