//! Finding tracks' clips and blend spaces, and telling whether these are still what they were.

use super::{
    AnimationName, AnimationTrack, BlendMode, Clips, PlaybackEvent, TrackId,
    clock::Nanos,
    course::Course,
    key,
    playhead::Known,
    run::Index,
    source::Source,
    step::{Reach, Step},
    track_types::Start,
    tracks::Tracks,
};
use crate::model::{BoundBlendSpace, ClipTiming};
use std::{mem, sync::Arc};

/// Returns `true` if there is a blend space of this name.
pub(super) fn is_space(name: &AnimationName, clips: &dyn Clips) -> bool {
    let spaces = clips.blend_spaces();
    spaces.iter().any(|space| name.is(space.name()))
}

impl Tracks {
    /// Looks all clips up. Returns `true` if one is new, or not the one it was.
    pub(super) fn look_up_all(&mut self, step: &mut Step) -> bool {
        let mut any = false;
        for at in 0..self.list.len() {
            any |= self.prepare(at, step);
        }
        any
    }

    /// Looks a track's clip up, and reports an unknown name once. Returns `true` if it's new, or not the one it was.
    pub(super) fn prepare(&mut self, at: usize, step: &mut Step) -> bool {
        let (track, now) = (&mut self.list[at], self.clock.now);
        let is_known = track.is_found(step.clips, now);
        let found = is_known || track.look_up(step.clips, now, &self.callbacks);
        if !track.run.planned {
            *self.reach = Reach::Unknown;
        }
        if found {
            if track.run.blend != track.blend {
                report_blend_mismatch(track, now, step);
            }
            if let Ok(at) = self.unknown.binary_search(&track.clip) {
                self.unknown.remove(at);
            }
        } else {
            self.report_unknown(at, step);
        }
        found && !is_known
    }

    /// Reports, once per name, that an enabled track's clip doesn't exist.
    pub(super) fn report_unknown(&mut self, at: usize, step: &mut Step) {
        let track = &self.list[at];
        if track.enabled && track.run.index.get().is_none() && !track.clip.is_empty() {
            self.report_unknown_name(Some(track.id), track.clip.clone(), step);
        }
    }

    /// Reports, once per name, that a clip doesn't exist.
    pub(super) fn report_unknown_name(
        &mut self,
        track: Option<TrackId>,
        name: AnimationName,
        step: &mut Step,
    ) {
        if let Err(at) = self.unknown.binary_search(&name) {
            self.unknown.insert(at, name.clone());
            let time = self.clock.now.secs();
            step.out
                .push(PlaybackEvent::UnknownClip { track, name, time });
        }
    }

    /// A track with its clip and blend space for an event at the present time. In a blend space, the heaviest clip stands for
    /// all.
    pub(super) fn played(&self, at: usize) -> (TrackId, usize, Option<usize>, f64) {
        let track = &self.list[at];
        let run = &track.run;
        let clip = run.index.get().unwrap_or(usize::MAX);
        (track.id, clip, run.space.get(), self.clock.now.secs())
    }

    /// Notes the clip that stands for a blend space at the present time: the heaviest one.
    pub(super) fn note_heaviest(&mut self, at: usize, step: &Step) {
        let now = self.clock.now;
        let run = &mut self.list[at].run;
        let (Some(space), Some(course)) = (run.space_in(step.clips), &run.course) else {
            return;
        };
        let heaviest = course.heaviest(now, space);
        run.index = heaviest.or(run.index.get()).into();
    }

    /// Returns `true` if the clips are those that all is planned for.
    #[inline]
    pub(super) fn knows_clips<C: Clips + ?Sized>(&self, clips: &C) -> bool {
        let is_same = |track: &AnimationTrack| {
            track.clip.is_empty()
                || (track.run.blend == track.blend
                    && track.rare.scrub.is_none()
                    && track.knows_clip(clips))
        };
        self.list.iter().all(is_same)
    }
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
            (run.course, run.marks, run.planned) = (None, None, false);
            run.source = Source::Unknown;
            return false;
        };
        let has_same_keys = self.found(clips).is_some_and(|found| found.2);
        if !has_same_keys || self.known != Some(known) {
            self.run.planned = false;
            self.compile(known, callbacks, clips);
            let hash = self.run.marks.as_ref().map_or(0, |marks| marks.hash());
            // What is new behind the track must not be passed.
            self.moved |= mem::replace(&mut self.keys_hash, hash) != hash && self.begun();
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
        let cached = self.run.index.get().and_then(found);
        let cached = cached.filter(|(_, timing)| self.clip.is(&timing.name));
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
        let cached = self.run.space.get();
        let cached = cached.and_then(|index| Some((index, spaces.get(index)?)));
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
        let changed = course.settle(&self.rare.steering, now, space);
        let is_same = !changed && !is_new && course.end().is_none();
        if is_same && run.index.get().is_some() {
            return false;
        }
        run.index = course.heaviest(now, space).into();
        if changed || is_new {
            run.planned = false;
            // Other clips may weigh: what lies behind the track in these must not be passed.
            self.moved |= begun && (is_new || was_known);
        }
        changed || is_new
    }

    /// The name and the length of what was looked up before, as they are now, and whether its keys are still the same.
    #[inline]
    fn found<'c, C: Clips + ?Sized>(&self, clips: &'c C) -> Option<(&'c Arc<str>, Known, bool)> {
        let run = &self.run;
        if run.space.get().is_some() {
            let space = run.space_in(clips)?;
            let known = Known::of_space(space, self.playback);
            return Some((space.name(), known, run.source.is_space(space, clips)));
        }
        let timing = clips.timing(run.index.get()?)?;
        let known = Known::new(timing, self.playback);
        Some((&timing.name, known, run.source.is_clip(&timing.callbacks)))
    }

    /// Returns `true` if the track's clip or blend space is where it was, with the same timing and the same keys.
    #[inline]
    pub(super) fn knows_clip<C: Clips + ?Sized>(&self, clips: &C) -> bool {
        self.found(clips)
            .is_some_and(|(name, known, has_same_keys)| {
                has_same_keys && Arc::ptr_eq(self.clip.as_arc(), name) && self.known == Some(known)
            })
    }
}

/// Reports, once per track and clip, a blend mode that makes no sense for the clip.
fn report_blend_mismatch(track: &mut AnimationTrack, now: Nanos, step: &mut Step) {
    track.run.blend = track.blend;
    if let (Some(blend), Some(clip)) = (track.blend, track.run.index.get())
        && (blend == BlendMode::Additive) != step.clips.is_additive(clip)
        && !mem::replace(&mut track.reported_blend, true)
    {
        step.out.push(PlaybackEvent::BlendMismatch {
            track: track.id,
            clip,
            blend,
            time: now.secs(),
        });
    }
}
