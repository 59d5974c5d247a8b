//! Finding tracks' clips and blend spaces, and telling whether these are still what they were.

use super::{
    AnimationName, AnimationTrack, Clips,
    clock::Nanos,
    course::{Change, Course},
    key,
    playhead::Known,
    run::Index,
    stamp::{Stamp, address, text},
    track_types::Start,
};
use crate::model::{BoundBlendSpace, ClipTiming, Member};
use std::{mem, sync::Arc};

/// Returns `true` if there is a blend space of this name.
pub(super) fn is_space(name: &AnimationName, clips: &dyn Clips) -> bool {
    let spaces = clips.blend_spaces();
    spaces.iter().any(|space| name.is(space.name()))
}

impl AnimationTrack {
    /// Returns `true` if its clip is the one that was looked up last. Brings its course through a blend space up to date.
    pub(super) fn is_found(&mut self, clips: &dyn Clips, now: Nanos) -> bool {
        if self.start == Start::AtEnd || !self.knows_clip(clips) {
            return false;
        }
        if let Some(space) = self.run.space_in(clips) {
            self.steer(space, now);
        }
        true
    }

    /// Looks the clip or blend space up and carries out a start at its end. Returns `false` if it does not exist.
    pub(super) fn look_up(
        &mut self,
        clips: &dyn Clips,
        now: Nanos,
        callbacks: &[key::AddedCallback],
    ) -> bool {
        let known = if let Some((index, timing)) = self.find(clips) {
            self.clip.share(&timing.name);
            let run = &mut self.run;
            (run.index, run.space, run.course) = (Some(index).into(), Index::default(), None);
            Known::new(timing, self.playback)
        } else if let Some((index, space)) = self.find_space(clips) {
            self.clip.share(space.name());
            self.run.space = Some(index).into();
            self.steer(space, now);
            Known::of_space(space, self.playback)
        } else {
            let run = &mut self.run;
            (run.index, run.space) = (Index::default(), Index::default());
            (run.course, run.planned) = (None, false);
            return false;
        };
        let quick = self.quick_stamp(clips);
        if quick.is_none() || quick != self.run.stamp || self.known != Some(known) {
            self.run.planned = false;
            self.run.stamp = quick;
            self.collect_added(callbacks, known, clips);
            self.run.ranged = None;
            if let Some(course) = &mut self.run.course {
                course.forget_ahead();
            }
            let stamp = self.stamp_of_all(clips);
            // What is new behind the track must not be passed.
            self.moved |= mem::replace(&mut self.stamp, stamp) != stamp && self.begun();
        }
        if self.start == Start::AtEnd {
            self.put(known.length);
            self.start = Start::AtPosition;
        }
        if self.known.replace(known) != Some(known) {
            // From where it is, in the clip as it is now.
            self.moved = true;
        }
        true
    }

    /// Finds the clip: at the cached index while the name fits, else by name.
    #[inline]
    pub(super) fn find<'c, C: Clips + ?Sized>(
        &self,
        clips: &'c C,
    ) -> Option<(usize, &'c ClipTiming)> {
        if self.clip.is_empty() {
            return None;
        }
        let found = |index: usize| clips.timing(index).map(|timing| (index, timing));
        let cached = self
            .run
            .index
            .get()
            .and_then(found)
            .filter(|(_, timing)| self.clip.is(&timing.name));
        cached.or_else(|| clips.index_of(&self.clip).and_then(found))
    }

    /// Finds the blend space: at the cached index while the name fits, else by name.
    #[inline]
    pub(super) fn find_space<'c, C: Clips + ?Sized>(
        &self,
        clips: &'c C,
    ) -> Option<(usize, &'c BoundBlendSpace)> {
        if self.clip.is_empty() {
            return None;
        }
        let spaces = clips.blend_spaces();
        let is_ours = |space: &BoundBlendSpace| self.clip.is(space.name());
        let cached = self
            .run
            .space
            .get()
            .and_then(|index| Some((index, spaces.get(index)?)));
        cached
            .filter(|(_, space)| is_ours(space))
            .or_else(|| spaces.iter().enumerate().find(|(_, space)| is_ours(space)))
    }

    /// Brings the course through a blend space up to date. Returns `true` if it changed.
    pub(super) fn steer(&mut self, space: &BoundBlendSpace, now: Nanos) -> bool {
        let begun = self.begun();
        let is_new = self.rare.steering.settle(now, space, begun);
        let run = &mut *self.run;
        let was_known = run.course.is_some();
        let course = run.course.get_or_insert_with(Box::<Course>::default);
        let change = course.settle(&self.rare.steering, now, space);
        let changed = change != Change::None;
        let is_same = !changed && !is_new && course.end().is_none();
        if is_same && run.index.get().is_some() {
            return false;
        }
        run.index = course.heaviest(now, space).into();
        if changed || is_new {
            run.planned = false;
            if change == Change::Clips {
                run.ranged = None;
            }
            // Other clips may weigh: what lies behind the track in these must not be passed.
            self.moved |= begun && (is_new || was_known);
        }
        changed || is_new
    }

    /// Brings the lists of the controller's own keys up to date.
    fn collect_added(&mut self, callbacks: &[key::AddedCallback], known: Known, clips: &dyn Clips) {
        let run = &mut self.run;
        if !callbacks.is_empty() || !run.added().is_empty() {
            key::collect_added(callbacks, &self.clip, known.length, run.added_mut());
        }
        let space = run.space_in(clips);
        if let (Some(space), Some(course)) = (space, &mut run.course) {
            course.collect_added(callbacks, space);
        }
    }

    /// A number that changes with what lies in the clips. `None` if there are none.
    #[inline]
    fn quick_stamp<C: Clips + ?Sized>(&self, clips: &C) -> Option<u64> {
        let keys = |clip: usize| {
            let timing = clips.timing(clip);
            timing.map_or(Stamp::NEW.0, |timing| {
                Stamp::NEW.with_keys(&timing.callbacks, address).0
            })
        };
        let run = &self.run;
        if run.space.get().is_none() {
            return run.index.get().map(keys);
        }
        let members = run.space_in(clips)?.members();
        // Each clip by itself: a processor works on several at once.
        let stamp = Arc::as_ptr(members).cast::<u8>() as u64;
        let add = |stamp: u64, member: &Member| stamp.rotate_left(7) ^ keys(member.clip);
        Some(members.iter().fold(stamp, add))
    }

    /// A number that changes with what lies in the clips, and is the same for the same in another place of memory.
    fn stamp_of_all(&self, clips: &dyn Clips) -> u64 {
        let keys = |stamp: Stamp, clip: usize| {
            clips
                .timing(clip)
                .map_or(stamp, |timing| stamp.with_keys(&timing.callbacks, text))
        };
        let run = &self.run;
        let added = |stamp: Stamp, added: &[key::AddedKey]| {
            added
                .iter()
                .fold(stamp, |stamp, key| stamp.with(key.bits()))
        };
        let space = run.space_in(clips);
        let Some(space) = space else {
            return added(
                run.index
                    .get()
                    .map_or(Stamp::NEW, |index| keys(Stamp::NEW, index)),
                run.added(),
            )
            .0;
        };
        let member = |stamp: Stamp, member: &Member| {
            let playback = member.playback(space, space.playback());
            let places = [0.25, 0.5, 0.75].map(|phase| member.place(playback, phase).to_bits());
            places.into_iter().fold(
                keys(stamp.with(member.length.to_bits()), member.clip),
                Stamp::with,
            )
        };
        let stamp = added(
            space.members().iter().fold(Stamp::NEW.with(2), member),
            run.added(),
        );
        run.course
            .iter()
            .flat_map(|course| &course.added)
            .fold(stamp, |stamp, keys| added(stamp, keys))
            .0
    }

    /// Returns `true` if its clip is the one that all is planned for.
    #[inline]
    pub(super) fn knows_clip<C: Clips + ?Sized>(&self, clips: &C) -> bool {
        let run = &self.run;
        let is_known = |name: &Arc<str>, known: Known| {
            Arc::ptr_eq(self.clip.as_arc(), name)
                && self.known == Some(known)
                && run.stamp.is_some()
                && self.quick_stamp(clips) == run.stamp
        };
        if run.space.get().is_some() {
            return run.space_in(clips).is_some_and(|space| {
                is_known(space.name(), Known::of_space(space, self.playback))
            });
        }
        let timing = run.index.get().and_then(|index| clips.timing(index));
        timing.is_some_and(|timing| is_known(&timing.name, Known::new(timing, self.playback)))
    }
}
