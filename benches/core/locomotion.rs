//! Scout on her way over a hill: her blend space with parameters that keep moving, root motion, feet, look-at and springs.

use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Clips, PlaybackEvent},
    import::Manifest,
    internals::{
        model::{BoundBlendSpace, RootPath},
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{
            Feet, FootPlan, LookAction, LookChain, Plants, RigAction, RigJoints, RigScratch,
            SpringAction, Springs, TurnSpeeds,
        },
    },
    model::{ClipTiming, Model},
    rig::{GroundHit, RigState},
};
use glam::{Affine3A, Vec3, Vec3A};
use std::{hint::black_box, time::Duration};

const FRAME: Duration = Duration::from_nanos(16_666_667);

/// A turn in five seconds.
fn angles() -> impl Iterator<Item = f64> {
    (0..300).map(|frame| f64::from(frame) * std::f64::consts::TAU / 300.0)
}

/// What she looks at.
fn target(angle: f32) -> Vec3 {
    Vec3::new(1.0, 1.5, -2.0) + Vec3::new(0.2, 0.1, 0.3) * angle.sin()
}

/// What a frame contains: each with all before it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub enum Part {
    /// The controller alone, with layers.
    Controller,
    RootMotion,
    Pose,
    Rig,
}

/// Her clips and her blend space.
pub struct Cast {
    model: Model,
    spaces: Vec<BoundBlendSpace>,
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.model
            .clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.model.clips.get(index).map(|clip| &clip.timing)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.model.clips.get(index)?.root_path().map(|path| &**path)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// A character on its way.
pub struct Walker {
    cast: Cast,
    plants: Vec<Plants>,
    speeds: TurnSpeeds,
    feet: Feet,
    look: LookChain,
    springs: Springs,
    controller: AnimationController,
    /// The parameters of each frame, if they change, and what she looks at. Both repeat after five seconds.
    ///
    /// Computed beforehand: sines and remainders are not what is measured.
    steered: Option<Vec<(f64, f64)>>,
    targets: Vec<Vec3>,
    frame: usize,
    events: Vec<PlaybackEvent>,
    layers: Vec<(usize, f64, f32)>,
    /// With her place in the world.
    action: RigAction,
    state: RigState,
    memory: RigScratch,
}

impl Walker {
    /// Plays some clips or blend spaces, and steers if they are to be steered.
    pub fn new(mut model: Model, manifest: &Manifest, plays: &[&str], steers: bool) -> Self {
        let feet = manifest
            .feet
            .as_ref()
            .and_then(|feet| feet.resolve(&model.skeleton, &model.parts))
            .expect("feet");
        model.clips = model
            .clips
            .iter()
            .map(|clip| clip.bind(&model.skeleton))
            .collect();
        let plants: Vec<Plants> = model
            .clips
            .iter()
            .map(|clip| manifest.plants(&feet, &model.skeleton, clip))
            .collect();
        let speeds = TurnSpeeds::new(&model.skeleton, &model.clips);
        let spaces = manifest.resolve_blend_spaces().map(|space| {
            let landings = |clip: usize| plants[clip].landings().collect();
            space
                .bind(model.clips.iter().map(|clip| &clip.timing), landings)
                .expect("all clips are there")
        });
        let spaces = spaces.collect();
        let look = manifest
            .look_at
            .as_ref()
            .expect("a chain")
            .resolve(&model.skeleton)
            .expect("a chain");
        let springs = manifest.resolve_springs(&model.skeleton);
        let mut controller = AnimationController::default();
        for name in plays {
            controller.add_track(AnimationTrack::blend_space(*name).at((20.0, 1.5)));
        }
        Self {
            cast: Cast { model, spaces },
            plants,
            speeds,
            feet,
            look,
            springs,
            controller,
            steered: steers.then(|| {
                angles()
                    .map(|angle| (40.0 * angle.cos(), 1.6 + 0.7 * angle.sin()))
                    .collect()
            }),
            targets: angles().map(|angle| target(angle as f32)).collect(),
            frame: 0,
            events: Vec::new(),
            layers: Vec::new(),
            action: RigAction {
                dt: FRAME,
                ..RigAction::default()
            },
            state: RigState::default(),
            memory: RigScratch::default(),
        }
    }

    /// A frame up to some part.
    pub fn frame(&mut self, scratch: &mut Scratch, part: Part) {
        self.frame = (self.frame + 1) % self.targets.len();
        if let Some(points) = &self.steered {
            // Smoothing gets there in less than a frame or two.
            let point = points[self.frame];
            self.controller
                .tracks_mut()
                .for_each(|track| track.set_parameters(point));
        }
        self.events.clear();
        let dt = FRAME.as_secs_f64();
        if part == Part::Controller {
            self.controller
                .advance(dt, &self.cast, &mut self.events)
                .expect("time goes forward");
        } else {
            let went = self
                .controller
                .advance_with_root_motion(dt, &self.cast, &mut self.events);
            let went = went.expect("time goes forward");
            let place = &mut self.action.world;
            *place *= Affine3A::from_rotation_translation(went.rotation(), went.translation());
            // Up a hill, and never far from the start.
            if place.translation.length_squared() > 2500.0 {
                place.translation = Vec3A::ZERO;
            }
            place.translation.y = -0.3 * place.translation.z;
        }
        self.layers.clear();
        self.layers.extend(
            self.controller
                .layers(&self.cast)
                .map(|layer| (layer.clip, layer.time, layer.weight)),
        );
        black_box(&self.layers);
        if part >= Part::Pose {
            self.pose(scratch, part);
        }
        black_box(scratch.model());
    }

    fn pose(&mut self, scratch: &mut Scratch, part: Part) {
        let mut layers = [const { None }; 4];
        for (place, &(clip, time, weight)) in layers.iter_mut().zip(&self.layers) {
            *place = Some(ClipLayer {
                weight,
                ..ClipLayer::new(&self.cast.model.clips[clip], time)
            });
        }
        let few = layers
            .each_ref()
            .map(|layer| layer.unwrap_or(ClipLayer::new(&self.cast.model.clips[0], 0.0)));
        let evaluate = Evaluate::new(&self.cast.model.skeleton, &few[..self.layers.len().min(4)]);
        if part < Part::Rig {
            return evaluate.run(scratch);
        }
        let mut pose = evaluate.run_local(scratch);
        let joints = RigJoints {
            look: Some(&self.look),
            feet: Some(&self.feet),
            springs: Some(&self.springs),
            turn_speeds: Some(&self.speeds),
            constraints: None,
        };
        joints.update(&mut pose);
        let mut stand = self.action.feet.take().unwrap_or_default();
        stand.weight = 1.0;
        stand.plans.clear();
        stand.plans.extend([0, 1].map(|leg| self.plan(leg)));
        stand.ground.clear();
        stand.ground.extend([0, 1].map(|leg| {
            let rays = self.feet.rays(
                leg,
                &stand.plans[leg],
                &self.action.world,
                &self.state.feet,
                pose.model,
            );
            let height = |origin: Vec3| origin.with_y(-0.3 * origin.z);
            let normal = Vec3::new(0.0, 1.0, 0.3);
            rays.map(|ray| {
                ray.map(|ray| GroundHit {
                    point: height(ray.origin),
                    normal,
                })
            })
        }));
        self.action.feet = Some(stand);
        let target = Some(self.targets[self.frame]);
        self.action.look = Some(LookAction {
            target,
            weight: 1.0,
            chain: None,
        });
        self.action.springs = Some(SpringAction {
            weight: 1.0,
            wind: Vec3::X,
            gravity: Vec3::NEG_Y * 9.81,
        });
        self.action
            .run(&joints, &mut self.state, &mut self.memory, &mut pose);
    }

    /// As the plugin does it: the plans of the clips that weigh, by their weights, and the heaviest one's landing.
    fn plan(&self, leg: usize) -> FootPlan {
        let (mut plan, mut sum, mut most) = (FootPlan::default(), 0.0, 0.0);
        for &(clip, time, weight) in &self.layers {
            let of_clip = self.plants[clip].plan(leg, time);
            plan.weight += of_clip.weight * weight;
            sum += weight;
            if weight > most {
                (plan.landing, most) = (of_clip.landing, weight);
            }
        }
        FootPlan {
            weight: plan.weight / sum,
            ..plan
        }
    }
}
