//! The two sides: a crowd of each, asked character by character.

use crate::keys::{self, Keys};
use bevy_marionette::{
    internals::{
        model::{CombinedJoints, SoaTransform},
        pose::{ClipLayer, Evaluate, LocalToModel, Mix, MixScratch, Palette, Scratch},
    },
    model::{SkeletalClip, Skeleton, SkinPart},
};
use glam::{Affine3A, Mat4, Vec3A};
use ozz_animation_rs::{
    BlendingJobRc, BlendingLayer, LocalToModelJobRc, SamplingContext, SamplingJobRc,
    SoaTransform as OzzTransform,
};
use std::{cell::RefCell, hint::black_box, rc::Rc};

/// Seconds of both clips.
pub(crate) const LENGTH: f64 = 2.0;
/// Seconds from one evaluation of a character to the next.
const STEP: f64 = 1.0 / 60.0;

/// What is played: the same for both sides.
pub(crate) struct Scene {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: [SkeletalClip; 2],
    pub(crate) part: SkinPart,
    /// Each character's place, and the times of its two clips when it begins.
    pub(crate) characters: Vec<(Affine3A, [f64; 2])>,
}

/// A crowd of which any character can be asked for a job. Those that sample first advance its clips.
pub(crate) trait Side {
    /// The first clip.
    fn sample(&mut self, character: usize);
    /// One pose.
    fn to_model(&mut self, character: usize);
    /// Both clips half and half, down the hierarchy.
    fn two_clips(&mut self, character: usize);
    /// That in world space, times the inverse bind matrices, to the character's share of a buffer.
    fn palette(&mut self, character: usize);

    /// The matrices of the last [`Self::two_clips`], columns first.
    fn model(&self) -> Vec<[f32; 16]>;
    /// The matrices of the last [`Self::palette`] of a character, columns first.
    fn palette_of(&self, character: usize) -> Vec<[f32; 16]>;
}

fn advance(times: &mut [f64]) {
    for time in times {
        *time += STEP;
        if *time >= LENGTH {
            *time -= LENGTH;
        }
    }
}

/// This crate, as its plugin uses it: one scratch for all.
pub(crate) struct Ours<'a> {
    scene: &'a Scene,
    times: Vec<[f64; 2]>,
    scratch: Scratch,
    mix: MixScratch,
    local: Vec<SoaTransform>,
    model: Vec<Affine3A>,
    palettes: Vec<Mat4>,
}

impl<'a> Ours<'a> {
    pub(crate) fn new(scene: &'a Scene) -> Self {
        let (rest, joints) = (scene.skeleton.rest().to_vec(), scene.skeleton.len());
        Self {
            scene,
            times: scene
                .characters
                .iter()
                .map(|character| character.1)
                .collect(),
            scratch: Scratch::default(),
            mix: MixScratch::default(),
            local: rest,
            model: vec![Affine3A::IDENTITY; joints],
            palettes: vec![Mat4::IDENTITY; joints * scene.characters.len()],
        }
    }

    fn layers(&mut self, character: usize) -> [ClipLayer<'a>; 2] {
        let (times, clips) = (&mut self.times[character], &self.scene.clips);
        advance(times);
        [0, 1].map(|i| ClipLayer {
            weight: 0.5,
            ..ClipLayer::new(&clips[i], times[i])
        })
    }
}

impl Side for Ours<'_> {
    fn sample(&mut self, character: usize) {
        let time = &mut self.times[character];
        advance(&mut time[..1]);
        let (clip, rest) = (&self.scene.clips[0], self.scene.skeleton.rest());
        Mix {
            layers: &[ClipLayer::new(clip, time[0])],
            priority_blend: 0.5,
            rest,
            unit_scale: true,
        }
        .run(&mut self.mix, black_box(&mut self.local));
    }

    fn to_model(&mut self, _: usize) {
        let (parents, local) = (self.scene.skeleton.parents(), &self.local);
        LocalToModel {
            parents,
            local,
            root: None,
            unit_scale: true,
        }
        .run(black_box(&mut self.model));
    }

    fn two_clips(&mut self, character: usize) {
        let layers = self.layers(character);
        Evaluate::new(&self.scene.skeleton, &layers).run(black_box(&mut self.scratch));
    }

    fn palette(&mut self, character: usize) {
        let (layers, scene) = (self.layers(character), self.scene);
        let (skeleton, world) = (&scene.skeleton, scene.characters[character].0);
        // As the plugin does: what turns is in the root already, and matrices then are only moved.
        let (root, moved) = (
            Affine3A {
                translation: Vec3A::ZERO,
                ..world
            },
            world.translation,
        );
        Evaluate::new(skeleton, &layers).run_clips(Some(&root), &mut self.scratch);
        let (model, inverse_bind, remap) = (
            self.scratch.model(),
            skeleton.inverse_bind(),
            &scene.part.palette[..],
        );
        let palette = &mut self.palettes[character * skeleton.len()..][..skeleton.len()];
        let world = Affine3A::from_translation(moved.into());
        Palette {
            world,
            model,
            inverse_bind,
            remap,
            combined: &CombinedJoints::new(),
        }
        .run(black_box(palette));
    }

    fn model(&self) -> Vec<[f32; 16]> {
        self.scratch
            .model()
            .iter()
            .map(|matrix| Mat4::from(*matrix).to_cols_array())
            .collect()
    }

    fn palette_of(&self, character: usize) -> Vec<[f32; 16]> {
        let joints = self.scene.skeleton.len();
        self.palettes[character * joints..][..joints]
            .iter()
            .map(Mat4::to_cols_array)
            .collect()
    }
}

type Poses = Rc<RefCell<Vec<OzzTransform>>>;

/// ozz-animation: a context for each clip of each character; jobs and buffers that persist.
pub(crate) struct Ozz {
    characters: Vec<OzzCharacter>,
    blend: BlendingJobRc,
    to_model: LocalToModelJobRc,
    inverse_bind: Vec<glam_of_ozz::Mat4>,
    palettes: Vec<glam_of_ozz::Mat4>,
    /// Keys of both animations.
    pub(crate) keys: usize,
}

struct OzzCharacter {
    times: [f64; 2],
    samples: [SamplingJobRc; 2],
    world: glam_of_ozz::Mat4,
}

impl Ozz {
    pub(crate) fn new(scene: &Scene, keys: Keys) -> Self {
        let matrix =
            |m: &Affine3A| glam_of_ozz::Mat4::from_cols_array(&Mat4::from(*m).to_cols_array());
        let skeleton = Rc::new(keys::skeleton(&scene.skeleton));
        let made = scene
            .clips
            .each_ref()
            .map(|clip| keys::animation(&scene.skeleton, clip, keys));
        let keys = made.iter().map(|made| made.1).sum();
        let animations = made.map(|made| Rc::new(made.0));
        let pose = || Poses::new(RefCell::new(skeleton.joint_rest_poses().to_vec()));
        let (poses, blended) = ([pose(), pose()], pose());

        let sampling = |i: usize| {
            let mut job = SamplingJobRc::default();
            job.set_animation(animations[i].clone());
            job.set_context(SamplingContext::new(animations[i].num_tracks()));
            job.set_output(poses[i].clone());
            job
        };
        let character = |(world, times): &(Affine3A, [f64; 2])| OzzCharacter {
            times: *times,
            samples: [0, 1].map(sampling),
            world: matrix(world),
        };
        let mut blend = BlendingJobRc::default();
        blend.set_skeleton(skeleton.clone());
        blend.layers_mut().extend(
            poses
                .iter()
                .map(|pose| BlendingLayer::with_weight(pose.clone(), 0.5)),
        );
        blend.set_output(blended.clone());
        let mut to_model = LocalToModelJobRc::default();
        to_model.set_skeleton(skeleton.clone());
        to_model.set_input(blended);
        to_model.set_output(Rc::new(RefCell::new(vec![
            glam_of_ozz::Mat4::IDENTITY;
            skeleton.num_joints()
        ])));
        Self {
            characters: scene.characters.iter().map(character).collect(),
            blend,
            to_model,
            inverse_bind: scene.skeleton.inverse_bind().iter().map(matrix).collect(),
            palettes: vec![
                glam_of_ozz::Mat4::IDENTITY;
                skeleton.num_joints() * scene.characters.len()
            ],
            keys,
        }
    }

    fn sample_both_and_blend(&mut self, character: usize) {
        let OzzCharacter { times, samples, .. } = &mut self.characters[character];
        advance(times);
        for (job, time) in samples.iter_mut().zip(times) {
            sample(job, *time);
        }
        self.blend.run().expect("a sound job");
    }
}

fn sample(job: &mut SamplingJobRc, time: f64) {
    job.set_ratio((time / LENGTH) as f32);
    job.run().expect("a sound job");
    let context = job.context().expect("set when made");
    // The C++ takes back its marks of outdated keys when it has decompressed them; the port forgets to, and goes on
    // decompressing all of them every time. So they are taken back here.
    const { assert!(size_of::<SamplingContext>() == size_of::<*mut u8>()) };
    for marks in [
        context.translation_outdated(),
        context.rotation_outdated(),
        context.scale_outdated(),
    ] {
        // SAFETY: a context is nothing but a pointer to the memory that it owns, in which the marks lie, and it lets
        // its owner write there. No reference to them is alive when they are written.
        unsafe {
            let memory = *std::ptr::from_ref(context).cast::<*mut u8>();
            let (offset, length) = (marks.as_ptr().addr() - memory.addr(), marks.len());
            memory.add(offset).write_bytes(0, length);
        }
    }
}

impl Side for Ozz {
    fn sample(&mut self, character: usize) {
        let OzzCharacter {
            times,
            samples: [job, _],
            ..
        } = &mut self.characters[character];
        advance(&mut times[..1]);
        sample(black_box(job), times[0]);
    }

    fn to_model(&mut self, _: usize) {
        black_box(&mut self.to_model).run().expect("a sound job");
    }

    fn two_clips(&mut self, character: usize) {
        self.sample_both_and_blend(character);
        black_box(&mut self.to_model).run().expect("a sound job");
    }

    fn palette(&mut self, character: usize) {
        self.sample_both_and_blend(character);
        self.to_model.set_root(&self.characters[character].world);
        self.to_model.run().expect("a sound job");
        self.to_model.set_root(&glam_of_ozz::Mat4::IDENTITY);
        // As in ozz's own samples: skinning is the caller's.
        let (joints, model) = (
            self.inverse_bind.len(),
            self.to_model.output().expect("set above").borrow(),
        );
        let palette = &mut self.palettes[character * joints..][..joints];
        for ((out, model), inverse_bind) in black_box(palette)
            .iter_mut()
            .zip(&model[..])
            .zip(&self.inverse_bind)
        {
            *out = *model * *inverse_bind;
        }
    }

    fn model(&self) -> Vec<[f32; 16]> {
        self.to_model
            .output()
            .expect("set")
            .borrow()
            .iter()
            .map(|matrix| matrix.to_cols_array())
            .collect()
    }

    fn palette_of(&self, character: usize) -> Vec<[f32; 16]> {
        let joints = self.inverse_bind.len();
        self.palettes[character * joints..][..joints]
            .iter()
            .map(|matrix| matrix.to_cols_array())
            .collect()
    }
}
