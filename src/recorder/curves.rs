//! The active tracks in each recorded frame, to be drawn as curves over time.

use super::Recorded;
use crate::{
    asset::Character,
    character::{FaceReplay, RigReplay},
    controller::{AnimationController, AnimationName, PlaybackEvent, TrackId},
    model::{BlendPoint, JointIndex, JointTransform},
    record::{FaceNote, Frames, Replay},
};
use bevy::prelude::*;
use std::collections::VecDeque;

/// The active tracks of a character, frame by frame. Follows its recording.
#[derive(Default)]
pub(crate) struct Curves {
    of: Option<Entity>,
    joint: Option<JointIndex>,
    /// The next frame to process.
    next: u64,
    rows: VecDeque<CurveRow>,
    memory: RigReplay,
    face: FaceReplay,
}

/// The active tracks of a character in a frame.
#[derive(Clone, Debug)]
pub(crate) struct CurveRow {
    pub(crate) frame: u64,
    pub(crate) time: f64,
    pub(crate) tracks: Vec<CurveTrack>,
    /// The parameters of the blend space that plays.
    pub(crate) parameters: Option<BlendPoint>,
    /// Speed at which its clips carry the character over the ground, in model units per second.
    pub(crate) ground_speed: f64,
    /// The joint, relative to its parent.
    pub(crate) joint: Option<JointTransform>,
    /// The weights of its morph targets; empty if it has none.
    pub(crate) morphs: Vec<f32>,
    /// Events that its controller reported.
    pub(crate) events: Vec<PlaybackEvent>,
}

/// A track of a [`CurveRow`].
#[derive(Clone, Debug)]
pub(crate) struct CurveTrack {
    pub(crate) id: TrackId,
    pub(crate) clip: AnimationName,
    /// Its weight.
    pub(crate) weight: f32,
}

impl Curves {
    /// Processes up to `most` new frames. Returns `true` if there are more.
    pub(crate) fn follow(
        &mut self,
        (entity, recorded): (Entity, &Recorded),
        frames: &Frames,
        character: &Character,
        joint: Option<JointIndex>,
        most: u64,
    ) -> bool {
        let range = recorded.tape().range(frames);
        // After a return to the past, later frames are recorded anew under the same numbers.
        if self.of != Some(entity) || self.joint != joint || self.next > range.end {
            self.rows.clear();
            (self.of, self.joint, self.next) = (Some(entity), joint, range.start);
        }
        while self.rows.front().is_some_and(|row| row.frame < range.start) {
            self.rows.pop_front();
        }
        let from = self.next.max(range.start);
        let to = (from + most).min(range.end);
        self.next = to;
        let Some(mut replay) = Replay::to(recorded.tape(), frames, from) else {
            return false;
        };
        let tape = recorded.tape();
        let mut events = Vec::new();
        // Played from a stored state, which may be earlier than the first new frame.
        self.memory.start_over();
        self.face.start_over();
        let (has_face, still) = (!character.skeleton.morphs().is_empty(), FaceNote::default());
        while replay.frame() < to {
            let frame = replay.frame();
            events.clear();
            replay.play_frame(character, &mut events);
            let movement = replay.movement();
            let (controller, rig) = replay.parts_mut();
            let rig = rig.zip(tape.action(frame));
            let shown = (controller, frames.lag(frame));
            // Before the first new frame, only a rig has a state that must be carried along.
            if frame < from && (rig.is_none() || joint.is_none()) {
                continue;
            }
            let pose = joint.map(|joint| {
                let pose = self
                    .memory
                    .pose(character, shown, tape.overrides(frame), rig);
                pose.joint(joint.into())
            });
            if frame < from {
                continue;
            }
            let morphs = if has_face {
                let note = tape.face(frame).unwrap_or(&still);
                self.face.weights(character, shown, note)
            } else {
                Vec::new()
            };
            let seconds: f64 = frames
                .steps(frame)
                .into_iter()
                .flatten()
                .filter_map(|step| frames.dt(step))
                .sum();
            let ground = movement.translation.x.hypot(movement.translation.z);
            self.rows.push_back(CurveRow {
                frame,
                time: frames.time(frame).unwrap_or_default(),
                tracks: tracks(controller),
                parameters: parameters(controller, character),
                ground_speed: if seconds > 0.0 { ground / seconds } else { 0.0 },
                joint: pose.flatten(),
                morphs,
                events: std::mem::take(&mut events),
            });
        }
        to < range.end
    }

    /// Returns the frames processed so far.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &CurveRow> + Clone {
        self.rows.iter()
    }
}

fn tracks(controller: &AnimationController) -> Vec<CurveTrack> {
    let shown = controller.tracks().filter(|track| track.enabled);
    shown
        .map(|track| CurveTrack {
            id: track.id(),
            clip: AnimationName::new(track.clip()),
            weight: track.weight,
        })
        .collect()
}

fn parameters(controller: &AnimationController, character: &Character) -> Option<BlendPoint> {
    let track = controller.current_track()?;
    character
        .bound_space(track.clip())
        .map(|_| track.parameters())
}
