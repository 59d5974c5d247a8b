//! How long each stage of a frame takes: marks between the stages, and a clock that reads them.
//!
//! A mark is an exclusive system, so nothing of one stage runs into the next; that also keeps stages from
//! overlapping, which in a frame without marks they may.

// The example and the benchmark each use their own share.
#![allow(dead_code)]

use bevy::{
    app::{AnimationSystems, MainScheduleOrder},
    asset::AssetEventSystems,
    camera::visibility::VisibilitySystems,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    pbr::extract_skins,
    prelude::*,
    render::{ExtractSchedule, RenderApp},
};
use bevy_marionette::{
    prelude::*,
    render::{ExtractPalettes, WritePalettes},
};
use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

/// The stages of a frame that have to do with animation, and the rest of `PostUpdate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Ours: parts, clocks, events, boxes.
    Advance,
    /// Ours: from clips to joint matrices, where a character keeps them; and what is to be drawn.
    Pose,
    /// Bevy's `AnimationSystems`: from clips to the joint entities' transforms.
    Animate,
    /// Transforms down the hierarchies.
    Propagate,
    /// Bevy's `extract_skins`.
    Skins,
    /// Ours: from clips, or joint matrices that are kept, to skin matrices; handed to Bevy's buffer.
    Palettes,
    /// What else runs in `PostUpdate`.
    Other,
}

impl Stage {
    /// All stages, in the order of a frame.
    pub const ALL: [Self; 7] =
        [Self::Advance, Self::Animate, Self::Pose, Self::Propagate, Self::Skins, Self::Palettes, Self::Other];
    /// Those that are work on animation.
    pub const WORK: [Self; 6] =
        [Self::Advance, Self::Animate, Self::Pose, Self::Propagate, Self::Skins, Self::Palettes];

    /// What a table or a legend calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Advance => "advance",
            Self::Pose => "pose",
            Self::Animate => "animate",
            Self::Propagate => "propagate",
            Self::Skins => "extract skins",
            Self::Palettes => "palettes",
            Self::Other => "other",
        }
    }
}

/// Milliseconds of each stage of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame([f64; Stage::ALL.len()]);

impl Frame {
    /// Of the milliseconds of each stage, in the order of the enum.
    pub fn new(times: [f64; Stage::ALL.len()]) -> Self {
        Self(times)
    }

    /// Milliseconds of each stage, in the order of the enum.
    pub fn times(&self) -> [f64; Stage::ALL.len()] {
        self.0
    }

    /// Milliseconds of a stage.
    pub fn of(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Milliseconds of all work on animation.
    pub fn work(&self) -> f64 {
        Stage::WORK.iter().map(|&stage| self.of(stage)).sum()
    }

    /// Milliseconds of all stages.
    pub fn whole(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Stage by stage the median of some frames.
    pub fn median(frames: &[Self]) -> Self {
        let median = |stage: usize| {
            let mut times: Vec<f64> = frames.iter().map(|frame| frame.0[stage]).collect();
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        Self(std::array::from_fn(median))
    }

    /// This frame without what another one has already.
    pub fn beyond(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|stage| (self.0[stage] - other.0[stage]).max(0.0)))
    }
}

/// The clock, and the frames it has measured.
#[derive(Resource, Clone, Default)]
pub struct StageClock(Arc<Mutex<Times>>);

#[derive(Default)]
struct Times {
    since: Option<Instant>,
    current: Frame,
    frames: Vec<Frame>,
}

impl StageClock {
    /// The frames measured since the last call.
    pub fn take(&self) -> Vec<Frame> {
        std::mem::take(&mut self.times().frames)
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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

/// Measures `PostUpdate` and the extraction of skins; with `stages` each stage by itself, else all of
/// `PostUpdate` as [`Stage::Other`] and both extractions as [`Stage::Skins`].
pub struct StageClockPlugin {
    pub stages: bool,
}

/// Schedules around `PostUpdate`, so that nothing of it is left out.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct BeforePostUpdate;
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct AfterPostUpdate;

/// The end of a stage.
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
        app.add_systems(BeforePostUpdate, begin).add_systems(AfterPostUpdate, end(Stage::Other));
        if self.stages {
            // In one order and none beside another, so that what else falls into a stage is always the same.
            app.edit_schedule(PostUpdate, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
            use CharacterSystems::{Attach, Bounds, EvaluateEarly, EvaluateLate, Spawn};
            let culled = VisibilitySystems::MarkNewlyHiddenEntitiesInvisible;
            app.add_systems(
                PostUpdate,
                (
                    end(Stage::Other).before(AnimationSystems),
                    end(Stage::Animate).after(AnimationSystems).before(AssetEventSystems),
                    end(Stage::Other).after(AssetEventSystems).before(Spawn),
                    end(Stage::Advance).after(Bounds).before(EvaluateEarly),
                    end(Stage::Pose).after(Attach).before(TransformSystems::Propagate),
                    end(Stage::Propagate).after(TransformSystems::Propagate).before(culled.clone()),
                    end(Stage::Other).after(culled).before(EvaluateLate),
                    end(Stage::Pose).after(EvaluateLate).before(WritePalettes),
                    end(Stage::Palettes).after(WritePalettes),
                ),
            );
        }
        let stages = self.stages;
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        render_app.insert_resource(clock).add_systems(
            ExtractSchedule,
            (
                begin.before(extract_skins),
                (|world: &mut World| {
                    let clock = world.resource::<StageClock>();
                    clock.lap(Stage::Palettes);
                    clock.end_frame();
                })
                .after(extract_skins)
                .after(ExtractPalettes),
            ),
        );
        if stages {
            render_app.edit_schedule(ExtractSchedule, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
            render_app.add_systems(ExtractSchedule, end(Stage::Skins).after(extract_skins).before(ExtractPalettes));
        }
    }
}
