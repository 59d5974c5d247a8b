//! The recording of one character.

use super::{FaceNote, Frames, changes::Changes};
use crate::{
    controller::{AnimationController, Clips, PlaybackEvent},
    model::{JointTransform, RootDelta},
    pose::JointOverride,
    rig::{RigAction, RigState},
};
use glam::Affine3A;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, ops::Range};

/// The recording of one character: its state at certain times, and every input since then.
///
/// Frames and advances are those of [`Frames`]. All lists are in order of frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// The first frame from which the character can be played again.
    pub(super) begin: u64,
    /// The first frame in which it no longer existed; `None` if it still exists.
    pub(super) end: Option<u64>,
    pub(super) states: VecDeque<TapeState>,
    /// The character's local transform.
    pub(super) transforms: Changes<JointTransform>,
    /// The overrides of its pose.
    pub(super) overrides: Changes<Vec<JointOverride>>,
    /// Inputs of its rig in a frame, and only in that frame.
    pub(super) actions: Changes<RigAction>,
    /// The world transform of what the character is a child of; `None` if it has no parent.
    pub(super) parents: Changes<Option<Affine3A>>,
    /// The parts that don't look as in the asset.
    pub(super) parts: Changes<Vec<PartNote>>,
    /// The game's inputs to its face.
    pub(super) faces: Changes<FaceNote>,
}

/// The differences of a part of a character from its asset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartNote {
    /// The part.
    pub part: NotedPart,
    /// `true` if it is hidden.
    pub hidden: bool,
    /// The path of its material if it isn't that of the asset. A text that starts with `#` is not a
    /// path: only the app that recorded it knows the material.
    pub material: Option<String>,
}

/// A part of a character, as the game named it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NotedPart {
    /// By name.
    Name(String),
    /// By index.
    Index(usize),
}

/// The time of a stored state, and the reason for storing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapeMoment {
    /// The frame from which the state applies.
    pub frame: u64,
    /// The number of the next advance.
    pub step: u64,
    /// `true` if the controller was changed, rather than stored to start from.
    pub is_change: bool,
    /// `true` if its clips carry the character: it advances
    /// [with root motion](AnimationController::advance_with_root_motion).
    pub is_carried: bool,
}

/// The state of a controller, and of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TapeState {
    moment: TapeMoment,
    controller: AnimationController,
    /// Stored from time to time if there is a rig.
    rig: Option<Box<RigState>>,
}

/// For recorders.
#[doc(hidden)]
impl Tape {
    /// Makes an empty tape of a character that exists from this frame on.
    pub fn starting_at(frame: u64) -> Self {
        Self {
            begin: frame,
            ..Self::default()
        }
    }

    /// Stores the state of a controller, and of a rig: whenever the game changed it, when it begins
    /// or ceases to carry its character, and from time to time, so that frames don't have to be
    /// played from the start.
    ///
    /// A rig's state is that at the start of the frame. States must be added in order of frames and
    /// advances.
    pub fn note_state(
        &mut self,
        moment: TapeMoment,
        controller: &AnimationController,
        rig: Option<&RigState>,
    ) {
        self.states.push_back(TapeState {
            moment,
            controller: controller.clone(),
            rig: rig.cloned().map(Box::new),
        });
    }

    /// Stores the character's local transform from a frame on.
    pub fn note_transform(&mut self, frame: u64, transform: JointTransform) {
        self.transforms.push(frame, transform);
    }

    /// Stores the overrides of the character's pose from a frame on.
    pub fn note_overrides(&mut self, frame: u64, overrides: &[JointOverride]) {
        self.overrides.push(frame, overrides.to_vec());
    }

    /// Stores the inputs of the rig in a frame.
    pub fn note_action(&mut self, frame: u64, action: RigAction) {
        self.actions.push(frame, action);
    }

    /// Stores the world transform of the character's parent from a frame on.
    pub fn note_parent(&mut self, frame: u64, parent: Option<Affine3A>) {
        self.parents.push(frame, parent);
    }

    /// Stores the parts whose look differs from the asset's, from a frame on.
    pub fn note_parts(&mut self, frame: u64, parts: Vec<PartNote>) {
        self.parts.push(frame, parts);
    }

    /// Notes down what the game does to the character's face from a frame on.
    pub fn note_face(&mut self, frame: u64, face: FaceNote) {
        self.faces.push(frame, face);
    }

    /// Stores that the character no longer existed in a frame.
    pub fn end(&mut self, frame: u64) {
        self.end = Some(frame);
    }
}

impl Tape {
    /// Returns the frames in which the character existed and that can be played again.
    pub fn range(&self, frames: &Frames) -> Range<u64> {
        let Range { start, end } = frames.range();
        // A damaged file may begin beyond the last frame.
        let begin = self.states.front().map_or(end, |state| {
            state.moment.frame.max(self.begin).clamp(start, end)
        });
        begin..self.end.map_or(end, |last| last.min(end)).max(begin)
    }

    /// Returns the events that the controller reported, with their frames, by playing the whole tape again.
    pub fn events<C: Clips + ?Sized>(
        &self,
        frames: &Frames,
        clips: &C,
    ) -> Vec<(u64, PlaybackEvent)> {
        let (mut all, mut events) = (Vec::new(), Vec::new());
        // A tape doesn't have the events that a file may be checked for, so it can't tell how many to expect.
        let most = Replay::MOST_WORK << 5;
        let mut replay = Replay::from_start(self, frames).map(|replay| replay.within(most));
        while let Some(replay) = &mut replay
            && replay.play_frame(clips, &mut events)
        {
            let frame = replay.frame() - 1;
            all.extend(events.drain(..).map(|event| (frame, event)));
        }
        all
    }

    /// Returns the character's local transform in a frame.
    pub fn transform(&self, frame: u64) -> Option<JointTransform> {
        self.transforms.at(frame).copied()
    }
}

/// For recorders.
#[doc(hidden)]
impl Tape {
    /// Returns the overrides of the character's pose in a frame.
    pub fn overrides(&self, frame: u64) -> &[JointOverride] {
        self.overrides
            .at(frame)
            .map_or(&[], |overrides| &overrides[..])
    }

    /// Returns the inputs of the rig in a frame.
    pub fn action(&self, frame: u64) -> Option<&RigAction> {
        self.actions.exactly_at(frame)
    }

    /// Returns the world transform of the character's parent in a frame; `None` if it has no
    /// parent.
    pub fn parent(&self, frame: u64) -> Option<Affine3A> {
        self.parents.at(frame).copied().flatten()
    }

    /// Returns the parts whose look differs from the asset's in a frame.
    pub fn parts(&self, frame: u64) -> &[PartNote] {
        self.parts.at(frame).map_or(&[], |parts| &parts[..])
    }

    /// Returns the game's inputs to the character's face in a frame; `None` if there never were any.
    pub fn face(&self, frame: u64) -> Option<&FaceNote> {
        self.faces.at(frame)
    }

    /// Returns the materials of parts in any frame, as in [`PartNote::material`].
    pub fn materials(&self) -> impl Iterator<Item = &str> {
        self.parts
            .values()
            .flatten()
            .filter_map(|part| part.material.as_deref())
    }

    /// Drops everything before this frame, and everything up to the next state from which frames
    /// can be played again.
    pub fn drop_before(&mut self, frame: u64) {
        let is_start = |state: &TapeState| {
            // A rig's inputs in a frame can only be played on top of its state.
            state.moment.frame >= frame
                && (state.rig.is_some() || self.action(state.moment.frame).is_none())
        };
        let keep = self
            .states
            .iter()
            .position(is_start)
            .unwrap_or(self.states.len());
        self.states.drain(..keep);
        let first = self
            .states
            .front()
            .map_or(frame, |state| state.moment.frame);
        self.transforms.drop_before(first);
        self.overrides.drop_before(first);
        self.actions.drop_before(first);
        self.parents.drop_before(first);
        self.parts.drop_before(first);
        self.faces.drop_before(first);
        self.begin = self.begin.max(frame);
    }

    /// Drops what happened after a frame.
    pub fn drop_after(&mut self, frame: u64) {
        self.states.truncate(
            self.states
                .partition_point(|state| state.moment.frame <= frame),
        );
        self.transforms.drop_after(frame);
        self.overrides.drop_after(frame);
        self.actions.drop_after(frame);
        self.parents.drop_after(frame);
        self.parts.drop_after(frame);
        self.faces.drop_after(frame);
        self.end = self.end.filter(|end| *end <= frame);
    }

    /// Returns roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let action = |action: &RigAction| {
            let feet = action.feet.as_ref().map_or(0, |feet| {
                size_of_val(&feet.plans[..]) + size_of_val(&feet.ground[..])
            });
            feet + size_of_val(&action.goals[..])
        };
        self.states.iter().map(TapeState::bytes).sum::<usize>()
            + self.transforms.bytes(|_| 0)
            + self
                .overrides
                .bytes(|overrides| size_of_val(&overrides[..]))
            + self.actions.bytes(action)
            + self.parents.bytes(|_| 0)
            + self.parts.bytes(|parts| size_of_val(&parts[..]))
            + self.faces.bytes(FaceNote::bytes)
    }

    /// Returns `true` if the tape that was read from a file is consistent.
    pub(super) fn is_sound(&self) -> bool {
        self.states
            .iter()
            .is_sorted_by_key(|state| (state.moment.frame, state.moment.step))
            && self.transforms.is_sound(JointTransform::is_finite)
            && self.overrides.is_sound(|_| true)
            && self.actions.is_sound(|_| true)
            && self
                .parents
                .is_sound(|parent| parent.is_none_or(|parent| parent.is_finite()))
            && self.parts.is_sound(|_| true)
            && self.faces.is_sound(FaceNote::is_sound)
    }

    /// Returns the index of the state from which to play to get to a frame.
    fn start_of(&self, frame: u64, with_rig: bool) -> usize {
        let fits =
            |state: &TapeState| state.moment.frame <= frame && (!with_rig || state.rig.is_some());
        self.states.iter().rposition(fits).unwrap_or(0)
    }
}

impl TapeState {
    /// Returns the number of parts of its controller.
    pub(super) fn parts(&self) -> usize {
        self.controller.parts()
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let rig = self.rig.as_ref().map_or(0, |rig| {
            size_of::<RigState>() + rig.springs.bytes() + rig.goals.bytes()
        });
        size_of::<Self>() + self.controller.heap_bytes() + rig
    }
}

/// The work that an event counts as, because it stays in memory.
pub(super) const EVENT: u64 = 512;

/// Plays a [`Tape`] again, frame by frame.
#[derive(Clone, Debug)]
pub struct Replay<'t> {
    tape: &'t Tape,
    frames: &'t Frames,
    /// The index of the next state.
    at: usize,
    /// The next frame.
    frame: u64,
    /// The number of the next advance.
    step: u64,
    is_carried: bool,
    movement: RootDelta,
    controller: AnimationController,
    rig: Option<Box<RigState>>,
    /// The first frame in which the controller differed from its stored state.
    differs: Option<u64>,
    /// See [`Self::within`].
    work_left: u64,
}

impl<'t> Replay<'t> {
    /// The most work that a replay does unless [limited otherwise](Self::within): roughly, the
    /// number of tracks that advance. A character with ten tracks takes about as many in three hours
    /// at 60 frames per second. Without a limit, a few bytes of a file could describe years of work.
    pub const MOST_WORK: u64 = 1 << 23;

    /// Starts from the last state from which a frame can be reached, with its rig if it has one.
    /// `None` if the frame isn't on the tape.
    pub fn to(tape: &'t Tape, frames: &'t Frames, frame: u64) -> Option<Self> {
        if !tape.range(frames).contains(&frame) {
            return None;
        }
        // If the character has a rig in this frame, an earlier stored state contains it.
        let at = tape.start_of(frame, tape.action(frame).is_some());
        Self::from_state(tape, frames, at)
    }

    /// Starts from the tape's first state.
    pub fn from_start(tape: &'t Tape, frames: &'t Frames) -> Option<Self> {
        Self::from_state(tape, frames, 0)
    }

    fn from_state(tape: &'t Tape, frames: &'t Frames, at: usize) -> Option<Self> {
        let TapeState {
            moment:
                TapeMoment {
                    frame,
                    step,
                    is_carried,
                    ..
                },
            controller,
            rig,
        } = tape.states.get(at)?.clone();
        // A damaged file may have states of frames that it lacks.
        frames.range().contains(&frame).then_some(())?;
        let movement = RootDelta::IDENTITY;
        let work_left = Self::MOST_WORK;
        Some(Self {
            tape,
            frames,
            at: at + 1,
            frame,
            step,
            is_carried,
            movement,
            controller,
            rig,
            differs: None,
            work_left,
        })
    }

    /// Limits the work to `work` instead of [`MOST_WORK`](Self::MOST_WORK).
    pub fn within(self, work: u64) -> Self {
        Self {
            work_left: work,
            ..self
        }
    }

    /// Returns the work that may still be done. At 0, the replay ends, even if the tape has more frames.
    pub fn work_left(&self) -> u64 {
        self.work_left
    }

    /// Returns the number of the frame that [`play_frame`](Self::play_frame) will play.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Returns the controller after the last frame that was played.
    pub fn controller(&self) -> &AnimationController {
        &self.controller
    }

    /// Returns the controller after the last frame that was played.
    pub fn into_controller(self) -> AnimationController {
        self.controller
    }

    /// Returns the controller after the last frame that was played, and the rig's state before it
    /// acted in that frame; `None` if there is no rig. Code that plays the rig's inputs changes
    /// that state.
    pub fn parts_mut(&mut self) -> (&AnimationController, Option<&mut RigState>) {
        (&self.controller, self.rig.as_deref_mut())
    }

    /// Returns the root motion of the last frame that was played.
    pub fn movement(&self) -> RootDelta {
        self.movement
    }

    /// Returns the first frame in which the controller differed from its stored state.
    pub fn differs(&self) -> Option<u64> {
        self.differs
    }

    /// Plays a frame and adds the events that the controller reports to `events`. Returns `false`
    /// if there are no more frames.
    pub fn play_frame<C: Clips + ?Sized>(
        &mut self,
        clips: &C,
        events: &mut Vec<PlaybackEvent>,
    ) -> bool {
        let Some(steps) = self
            .frames
            .steps(self.frame)
            .filter(|_| self.tape.end.is_none_or(|end| self.frame < end))
        else {
            return false;
        };
        let (mut done, mut count) = (0, events.len());
        self.movement = RootDelta::IDENTITY;
        loop {
            // States stored at this advance come before it, including those of earlier frames
            // without advances.
            while let Some(state) = self.tape.states.get(self.at)
                && state.moment.frame <= self.frame
                && state.moment.step <= self.step
            {
                self.take(state);
            }
            let Some(dt) = self.frames.dt(self.step).filter(|_| self.step < steps.end) else {
                break;
            };
            if self.work_left <= done {
                break;
            }
            done += self.controller.load(clips);
            let before = self.controller.work_done();
            self.controller
                .limit_work(self.work_left.saturating_sub(done));
            let advanced = match self.is_carried {
                true => self.controller.advance_with_root_motion(dt, clips, events),
                false => self
                    .controller
                    .advance(dt, clips, events)
                    .map(|()| RootDelta::IDENTITY),
            };
            // An advance that fails now failed when it was recorded, too, and changed nothing.
            self.movement = self.movement.then(advanced.unwrap_or_default());
            done += self.controller.work_done().saturating_sub(before);
            done += EVENT * (events.len() - count) as u64;
            count = events.len();
            self.step += 1;
        }
        // Frames without advances count, too, so that a file can't describe years of them.
        self.work_left = self.work_left.saturating_sub(1 + done);
        if self.work_left == 0 {
            return false;
        }
        self.frame += 1;
        true
    }

    fn take(&mut self, state: &TapeState) {
        self.at += 1;
        // A stored state that is no change should be reproduced exactly.
        if !state.moment.is_change && state.controller != self.controller {
            self.differs.get_or_insert(state.moment.frame);
        }
        self.is_carried = state.moment.is_carried;
        self.controller.clone_from(&state.controller);
        if state.rig.is_some() {
            self.rig.clone_from(&state.rig);
        }
    }
}
