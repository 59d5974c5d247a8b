//! What is on a track's way: the [`Marks`] of its clip or blend space, with the controller's own callbacks.

use super::{
    AnimationTrack, Clips,
    course::Course,
    key::{self, AddedCallback},
    source::Source,
    step::{Passed, What},
};
use crate::{
    controller::{KeyRef, clock::Nanos, key::KeySpan, playhead::Known},
    model::{
        BoundBlendSpace, CallbackKeys, ClipToCompile, Compiler, KeySource, KeyToCompile, Mark,
        MarkKey, Marks,
    },
};
use std::{sync::Arc, time::Duration};

/// The keys of a clip merged with those that a controller added to it, in order of time. At equal times, the clip's come first.
fn merged<'k>(
    own: &'k CallbackKeys,
    callbacks: &'k [AddedCallback],
    clip: &str,
    length: f64,
) -> Vec<KeyToCompile<'k>> {
    let own = own.to_compile(length);
    let added = callbacks.iter().enumerate();
    let added = added.filter(|(_, added)| *added.clip == *clip);
    let added = added.map(|(index, added)| {
        let KeySpan { time, until } = added.span(length);
        KeyToCompile {
            source: KeySource::Added(index as u32),
            time,
            until,
            name: &added.name,
        }
    });
    let mut keys: Vec<_> = own.chain(added).collect();
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
    keys
}

fn marks_of_clip(
    known: Known,
    name: &str,
    keys: &CallbackKeys,
    callbacks: &[AddedCallback],
) -> Option<Arc<Marks>> {
    let Known { length, playback } = known;
    if callbacks.iter().all(|added| *added.clip != *name) {
        return keys.marks(length, playback);
    }
    let clip = ClipToCompile::alone(length, playback);
    let mut compiler = Compiler::new(length, playback);
    compiler.add(&clip, merged(keys, callbacks, name, length));
    Some(Arc::new(compiler.finish()))
}

fn marks_of_space(
    known: Known,
    space: &BoundBlendSpace,
    keys: &[CallbackKeys],
    callbacks: &[AddedCallback],
) -> Arc<Marks> {
    let Known { length, playback } = known;
    let members = space.members();
    let none = CallbackKeys::default();
    let compile = || {
        let mut compiler = Compiler::new(length, playback);
        let whole = ClipToCompile::alone(length, playback);
        compiler.add(&whole, merged(&none, callbacks, space.name(), length));
        for (at, (member, keys)) in members.iter().zip(keys).enumerate() {
            let playback = member.playback(space, playback);
            let clip = ClipToCompile {
                member: Some(at as u32),
                length: member.length,
                playback,
                phase: &|time| member.phase(playback, time),
            };
            compiler.add(&clip, merged(keys, callbacks, &member.name, member.length));
        }
        compiler.finish()
    };
    let is_ours = |added: &AddedCallback| {
        *added.clip == **space.name() || members.iter().any(|member| added.clip.is(&member.name))
    };
    let mut all = members.iter().zip(keys);
    let is_as_bound = all.all(|(member, keys)| member.keys.is_same(keys));
    if is_as_bound && !callbacks.iter().any(is_ours) {
        space.marks(playback, compile)
    } else {
        Arc::new(compile())
    }
}

impl AnimationTrack {
    /// Returns its course in its blend space, if it plays one.
    pub(super) fn course(&self) -> Option<&Course> {
        let run = &self.run;
        run.course.as_deref().filter(|_| run.space.get().is_some())
    }

    /// Finds what is on its way, with keys as they are now. Its clip or blend space has been looked up.
    pub(super) fn compile(&mut self, known: Known, callbacks: &[AddedCallback], clips: &dyn Clips) {
        let run = &mut self.run;
        (run.source, run.marks) = match run.space_in(clips) {
            Some(space) => {
                let source = Source::of_space(space, clips);
                let Source::Space(found) = &source else {
                    return;
                };
                let marks = marks_of_space(known, space, &found.1, callbacks);
                (source, Some(marks))
            }
            None => match run.index.get().and_then(|index| clips.timing(index)) {
                Some(timing) => (
                    Source::Clip(timing.callbacks.clone()),
                    marks_of_clip(known, &self.clip, &timing.callbacks, callbacks),
                ),
                None => Default::default(),
            },
        };
    }

    /// Returns the next place beyond another at which it passes something.
    pub(super) fn next_on_way(&self, from: f64, forward: bool) -> Option<f64> {
        match &self.run.marks {
            Some(marks) => marks.next(from, forward, self.run.near),
            None => self.next_turn(from, forward),
        }
    }

    /// Returns the next place beyond another at which a loop of it starts, or its clip, which plays once, ends.
    pub(super) fn next_turn(&self, from: f64, forward: bool) -> Option<f64> {
        let known = self.known?;
        known.playback.next_turn(known.length, from, forward)
    }

    /// Calls `sink` with what lies at a place, in the order in which it is passed.
    pub(super) fn marks_at(&self, place: f64, forward: bool, mut sink: impl FnMut(Mark)) -> usize {
        let Some(marks) = &self.run.marks else {
            let loops = self.known.filter(|known| !known.plays_once());
            let cycle = loops.and_then(|known| known.playback.cycle_of(known.length, place));
            if cycle.is_some_and(|cycle| cycle.base == place) {
                sink(Mark::LOOP);
            }
            return 0;
        };
        marks.at(place, forward, self.run.near, sink)
    }

    /// Returns the weight in the blend space of the clip that has a key; `None` if it has none.
    pub(super) fn share_of(&self, key: MarkKey, moment: Nanos) -> Option<f64> {
        let Some(member) = key.member else {
            return Some(1.0);
        };
        let course = self.course()?;
        let mut all = course.weighing().iter();
        let weighing = all.find(|of| of.member == member as usize)?;
        Some(course.share(weighing.weights, moment))
    }

    /// Finds a key on its way. `None` if the key's clip has no weight in the blend space.
    pub(super) fn key_on_way(
        &self,
        key: MarkKey,
        moment: Nanos,
        callbacks: &[AddedCallback],
        clips: &dyn Clips,
    ) -> Option<Passed> {
        let share = self.share_of(key, moment)?;
        let member = match key.member {
            Some(at) => Some(self.run.space_in(clips)?.members().get(at as usize)?),
            None => None,
        };
        let clip = member.map_or(self.run.index.get(), |member| Some(member.clip))?;
        let length = member.map_or(self.known?.length, |member| member.length);
        let (key_ref, span) = match key.source {
            KeySource::Clip(index) => {
                let index = index as usize;
                let (time, until) = clips.timing(clip)?.callbacks.get(index)?.span(length);
                (KeyRef::Clip(index), KeySpan { time, until })
            }
            KeySource::Added(index) => {
                let added = callbacks.get(index as usize)?;
                (KeyRef::Added(added.id), added.span(length))
            }
        };
        Some(Passed {
            what: What::Key,
            clip,
            member: key.member,
            share,
            key: key_ref,
            span,
            clip_time: span.time,
        })
    }

    /// The place in its clip at which the track is, for a key's clip.
    pub(super) fn clip_time(&self, key: MarkKey, clips: &dyn Clips) -> f64 {
        let (Some(own), position) = (self.known, self.held()) else {
            return 0.0;
        };
        let space = self.run.space_in(clips);
        let member = key
            .member
            .and_then(|at| Some((space?.members().get(at as usize)?, space?)));
        match member {
            Some((member, space)) => {
                let known = Known::of_member(member, space, own.playback);
                known.place(member.place(known.playback, position))
            }
            None => own.place(position),
        }
    }

    /// The key of a mark, given how events name it.
    pub(super) fn mark_key(
        &self,
        member: Option<&str>,
        key: KeyRef,
        callbacks: &[AddedCallback],
        clips: &dyn Clips,
    ) -> Option<MarkKey> {
        let member = match member {
            Some(name) => {
                let mut members = self.run.space_in(clips)?.members().iter();
                Some(members.position(|member| *member.name == *name)? as u32)
            }
            None => None,
        };
        let source = match key {
            KeyRef::Clip(index) => KeySource::Clip(index as u32),
            KeyRef::Added(id) => KeySource::Added(key::index_of(callbacks, id)? as u32),
        };
        Some(MarkKey { member, source })
    }

    /// Returns the position at which it begins to fade out, if it is an overlay that leaves by itself.
    pub(super) fn fade_place(&self, forward: bool) -> Option<f64> {
        let overlay = self.rare.overlay.filter(|_| self.leaves_at.is_none())?;
        let Known { length, .. } = self.once()?;
        let pace = self.course().map_or(1.0, |course| course.pace().pace);
        let place = |fade: Duration| fade.as_secs_f64() * overlay.speed.abs() * pace;
        let (fade_in, fade_out) = (place(overlay.fade_in), place(overlay.fade_out));
        let lead = if fade_in + fade_out <= length {
            fade_out
        } else {
            0.0
        };
        Some(if forward { length - lead } else { lead })
    }
}
