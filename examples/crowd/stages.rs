//! Measures how long each stage of a frame takes, with markers between the stages.
//!
//! A marker is an exclusive system, so stages can't overlap. Without markers they may.

// The example and the benchmark each use only part of this module.
#![allow(dead_code)]

use bevy::{
    app::{AnimationSystems, MainScheduleOrder},
    asset::AssetEventSystems,
    camera::visibility::{SetViewVisibility, ViewVisibility, VisibilitySystems},
    ecs::schedule::{InternedSystemSet, ScheduleLabel, SingleThreadedExecutor},
    pbr::{
        MaterialExtractionSystems, MeshExtractionSystems, check_entities_needing_specialization,
        extract_morphs, extract_skins,
    },
    platform::time::Instant,
    prelude::*,
    render::{ExtractSchedule, RenderApp},
    tasks::ComputeTaskPool,
};
use bevy_marionette::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// The animation stages of a frame, and the rest of `PostUpdate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Ours: parts, time, events, bounds.
    Advance,
    /// Ours: clips to joint matrices, for characters that store their pose; and the list of palettes to write.
    Pose,
    /// Bevy's `AnimationSystems`: clips to the transforms of joint entities.
    Animate,
    /// Transform propagation.
    Propagate,
    /// Bevy's `extract_skins`.
    Skins,
    /// Ours: clips or stored joint matrices to skin matrices, written to Bevy's buffer.
    Palettes,
    /// Ours: morph weights of clips, to the parts.
    Faces,
    /// Bevy's `extract_morphs`, and what we add to it.
    Morphs,
    /// Everything else in `PostUpdate`.
    Other,
}

impl Stage {
    /// All stages, in frame order.
    pub const ALL: [Self; 9] = [
        Self::Advance,
        Self::Animate,
        Self::Pose,
        Self::Propagate,
        Self::Skins,
        Self::Palettes,
        Self::Faces,
        Self::Morphs,
        Self::Other,
    ];
    /// The animation stages.
    pub const WORK: [Self; 8] = [
        Self::Advance,
        Self::Animate,
        Self::Pose,
        Self::Propagate,
        Self::Skins,
        Self::Palettes,
        Self::Faces,
        Self::Morphs,
    ];

    /// Returns the name shown in tables and legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Advance => "advance",
            Self::Pose => "pose",
            Self::Animate => "animate",
            Self::Propagate => "propagate",
            Self::Skins => "extract skins",
            Self::Palettes => "palettes",
            Self::Faces => "faces",
            Self::Morphs => "extract morphs",
            Self::Other => "other",
        }
    }
}

/// Milliseconds spent in each stage of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame([f64; Stage::ALL.len()]);

impl Frame {
    /// Creates a frame from the milliseconds of each stage, in the order of the enum.
    pub fn new(times: [f64; Stage::ALL.len()]) -> Self {
        Self(times)
    }

    /// Returns the milliseconds of each stage, in the order of the enum.
    pub fn times(&self) -> [f64; Stage::ALL.len()] {
        self.0
    }

    /// Returns the milliseconds of a stage.
    pub fn of(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Returns the milliseconds of all animation stages.
    pub fn work(&self) -> f64 {
        Stage::WORK.iter().map(|&stage| self.of(stage)).sum()
    }

    /// Returns the milliseconds of all stages.
    pub fn whole(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Returns the median of each stage over some frames.
    pub fn median(frames: &[Self]) -> Self {
        let median = |stage: usize| {
            let mut times: Vec<f64> = frames.iter().map(|frame| frame.0[stage]).collect();
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        Self(std::array::from_fn(median))
    }

    /// Returns this frame minus another one, stage by stage.
    pub fn beyond(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|stage| {
            (self.0[stage] - other.0[stage]).max(0.0)
        }))
    }
}

/// The clock, with the frames measured so far.
#[derive(Resource, Clone, Default)]
pub struct StageClock(Arc<Mutex<Times>>);

#[derive(Default)]
struct Times {
    since: Option<Instant>,
    current: Frame,
    frames: Vec<Frame>,
}

impl StageClock {
    /// Returns the frames measured since the last call.
    pub fn take(&self) -> Vec<Frame> {
        std::mem::take(&mut self.times().frames)
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn start(&self) {
        self.times().since = Some(Instant::now());
    }

    fn lap(&self, stage: Stage) {
        let now = Instant::now();
        let mut times = self.times();
        if let Some(since) = times.since.replace(now) {
            times.current.0[stage as usize] += (now - since).as_secs_f64() * 1e3;
        }
    }

    fn end_frame(&self) {
        let mut times = self.times();
        let frame = std::mem::take(&mut times.current);
        times.frames.push(frame);
    }
}

/// Measures `PostUpdate` and the extraction of skins.
///
/// With `stages`, measures each stage. Otherwise all of `PostUpdate` counts as [`Stage::Other`], and extraction as
/// [`Stage::Palettes`].
pub struct StageClockPlugin {
    pub stages: bool,
}

/// Schedules around `PostUpdate`, so that the measurement covers all of it.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct BeforePostUpdate;
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct AfterPostUpdate;

/// Takes the place of `PostUpdate`, and runs it.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct PostUpdateOnComputeThread;

/// Runs `PostUpdate` on a compute thread, where an app runs its systems. Parallel loops that start on the main thread have one
/// thread more.
fn run_on_compute_thread(world: &mut World) {
    ComputeTaskPool::get().scope_with_executor(false, None, |scope| {
        scope.spawn(async move { world.run_schedule(PostUpdate) });
    });
}

/// Finds systems that are private to Bevy.
fn systems_named(name: &str, schedule: &Schedule) -> Vec<InternedSystemSet> {
    let systems = schedule
        .graph()
        .systems
        .iter()
        .filter(|(_, system, _)| system.name().contains(name));
    systems
        .flat_map(|(_, system, _)| system.default_system_sets())
        .collect()
}

/// Returns a marker that ends a stage.
fn end(stage: Stage) -> impl FnMut(&mut World) {
    move |world| world.resource::<StageClock>().lap(stage)
}

fn begin(clock: Res<StageClock>) {
    clock.start();
}

impl Plugin for StageClockPlugin {
    fn build(&self, app: &mut App) {
        let clock = StageClock::default();
        app.insert_resource(clock.clone());
        let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
        order.insert_before(PostUpdate, BeforePostUpdate);
        order.insert_after(PostUpdate, AfterPostUpdate);
        app.add_systems(BeforePostUpdate, begin)
            .add_systems(AfterPostUpdate, end(Stage::Other));
        if self.stages {
            let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
            for label in order
                .labels
                .iter_mut()
                .filter(|label| **label == PostUpdate.intern())
            {
                *label = PostUpdateOnComputeThread.intern();
            }
            app.add_systems(PostUpdateOnComputeThread, run_on_compute_thread);
            // Run systems one at a time, always in the same order, for comparable stages.
            let mut marks_meshes = vec![];
            app.edit_schedule(PostUpdate, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
                marks_meshes = systems_named("mark_meshes_as_changed", schedule);
            });
            use CharacterSystems::{
                Attach, Bounds, ChooseDetail, EvaluateEarly, PoseMorphs, PosePalettes, SharePoses,
                Spawn,
            };
            let culled = VisibilitySystems::MarkNewlyHiddenEntitiesInvisible;
            // What looks for changed meshes would otherwise run somewhere among our systems.
            let begins = end(Stage::Other)
                .after(AssetEventSystems)
                .after(check_entities_needing_specialization::<StandardMaterial>)
                .before(Spawn);
            app.add_systems(
                PostUpdate,
                (
                    end(Stage::Other).before(AnimationSystems),
                    end(Stage::Animate)
                        .after(AnimationSystems)
                        .before(AssetEventSystems),
                    marks_meshes
                        .into_iter()
                        .fold(begins, IntoScheduleConfigs::after),
                    end(Stage::Advance).after(Bounds).before(EvaluateEarly),
                    end(Stage::Pose)
                        .after(Attach)
                        .before(TransformSystems::Propagate),
                    // Culling boxes and visibility are not animation.
                    end(Stage::Propagate)
                        .after(TransformSystems::Propagate)
                        .before(VisibilitySystems::CalculateBounds)
                        .before(VisibilitySystems::VisibilityPropagate),
                    end(Stage::Other).after(culled).before(ChooseDetail),
                    end(Stage::Pose).after(SharePoses).before(PosePalettes),
                    end(Stage::Palettes).after(PosePalettes).before(PoseMorphs),
                    end(Stage::Faces).after(PoseMorphs),
                ),
            );
        }
        let stages = self.stages;
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app.insert_resource(clock).add_systems(
            ExtractSchedule,
            (
                begin.before(extract_skins).before(extract_morphs),
                (|world: &mut World| {
                    let clock = world.resource::<StageClock>();
                    clock.lap(Stage::Palettes);
                    clock.end_frame();
                })
                .after(extract_skins)
                .after(extract_morphs)
                .after(CharacterSystems::ExtractPalettes),
            ),
        );
        if stages {
            render_app.edit_schedule(ExtractSchedule, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
            render_app.add_systems(
                ExtractSchedule,
                (
                    end(Stage::Skins)
                        .after(extract_skins)
                        .before(MeshExtractionSystems),
                    // Extracting meshes and materials is not animation either.
                    end(Stage::Other)
                        .after(MeshExtractionSystems)
                        .after(MaterialExtractionSystems)
                        .before(extract_morphs),
                    end(Stage::Morphs)
                        .after(extract_morphs)
                        .before(CharacterSystems::ExtractPalettes),
                ),
            );
        }
    }
}

/// Makes all meshes visible, for apps without an active camera.
pub fn see_everything(mut meshes: Query<&mut ViewVisibility, With<Mesh3d>>) {
    meshes
        .iter_mut()
        .for_each(|mut visibility| visibility.set_visible());
}
