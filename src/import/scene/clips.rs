//! Animations → clips: their names, their limits, and what is said of those that are left out.

use super::{
    clip::{FileClips, SceneClip},
    model::Bare,
    sampler::Sampler,
};
use crate::{
    format::FormatError,
    import::{
        ClipEntry, ImportLimits,
        limits::ClipTotals,
        names::{UniqueNames, listed},
        report::Report,
        resample::{Budget, Curve, SAME_TIMES},
    },
    model::{Reach, SkeletalClip, Skeleton},
};
use std::collections::BTreeSet;

/// The most names of a kind that are kept for a warning, of which only the first are shown. A file may have any number.
pub(in crate::import) const MOST_NAMES: usize = 100;

/// Makes the clips of a file, in their order.
pub(in crate::import) struct Clips<'a> {
    /// The place of clips in the file, for warnings about several.
    place: &'static str,
    limits: &'a ImportLimits,
    skeleton: &'a Skeleton,
    reach: &'a mut Reach,
    sampler: Sampler<'a>,
    pub(in crate::import) budget: Budget,
    totals: ClipTotals,
    names: UniqueNames,
    pub(in crate::import) mirrored: Mirrored,
    /// Clips that got a number, because another one has their name.
    doubled: Vec<String>,
    empty: Vec<String>,
    too_large: Vec<String>,
    out: FileClips,
}

/// Clips that mirror joints which don't mirror at rest, or the other way around.
#[derive(Default)]
pub(in crate::import) struct Mirrored {
    clips: BTreeSet<String>,
    joints: BTreeSet<String>,
}

impl Mirrored {
    pub(in crate::import) fn add(&mut self, clip: &str, joint: &str) {
        self.append(Self {
            clips: BTreeSet::from([clip.to_owned()]),
            joints: BTreeSet::from([joint.to_owned()]),
        });
    }

    pub(in crate::import) fn append(&mut self, other: Self) {
        add_names(&mut self.clips, other.clips);
        add_names(&mut self.joints, other.joints);
    }
}

/// Adds names as long as there are few.
pub(in crate::import) fn add_names(all: &mut BTreeSet<String>, names: BTreeSet<String>) {
    all.extend(names.into_iter().take(MOST_NAMES.saturating_sub(all.len())));
}

impl<'a> Clips<'a> {
    /// Makes clips for a model, whose skeleton and parts are complete.
    pub(in crate::import) fn new(
        place: &'static str,
        bare: &'a mut Bare,
        limits: &'a ImportLimits,
    ) -> Self {
        Self {
            place,
            limits,
            skeleton: &bare.model.skeleton,
            reach: &mut bare.reach,
            sampler: Sampler::new(&bare.model),
            budget: Budget::default(),
            totals: ClipTotals::default(),
            names: UniqueNames::default(),
            mirrored: Mirrored::default(),
            doubled: Vec::new(),
            empty: Vec::new(),
            too_large: Vec::new(),
            out: FileClips::default(),
        }
    }

    /// Allows for less error than usual, because the clips are for models of any size.
    #[cfg(feature = "gltf")]
    pub(in crate::import) fn are_for_any_body(&mut self) {
        self.sampler.are_for_any_body();
    }

    /// Returns the size of the model, by which errors of curves are measured.
    #[cfg(feature = "fbx")]
    pub(in crate::import) fn size(&self) -> f64 {
        self.sampler.size()
    }

    /// Takes note of a clip that moves nothing.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn leave_out_empty(&mut self, name: String) {
        self.empty.push(name);
    }

    /// Takes note of a clip that would take too much memory or time for its keys.
    #[cfg(feature = "fbx")]
    pub(in crate::import) fn leave_out_large(&mut self, name: String) {
        self.too_large.push(name);
    }

    /// Makes and adds clips. Several may be made at once.
    pub(in crate::import) fn add(
        &mut self,
        mut clips: Vec<SceneClip>,
        report: &mut Report,
    ) -> Result<(), FormatError> {
        for clip in &mut clips {
            let name = self.names.add(clip.name.clone());
            if name != clip.name {
                self.doubled.push(name.clone());
                clip.name = name;
            }
            // Copies of joints come last, follow their originals, and have no motion of their own.
            clip.curves.resize_with(self.skeleton.len(), Curve::default);
        }
        let made = self.sampler.run(&clips, &mut self.budget);
        for (clip, made) in clips.into_iter().zip(made) {
            let Some(made) = made else {
                self.too_large.push(clip.name);
                continue;
            };
            for (message, hint) in made.warnings {
                report.warn(&clip.place, message, hint);
            }
            self.admit(made.clip, clip, report)?;
        }
        Ok(())
    }

    /// Adds a clip, unless it can't be used.
    fn admit(
        &mut self,
        made: Result<SkeletalClip, String>,
        SceneClip {
            place,
            name,
            keyed,
            callbacks,
            entry,
            ..
        }: SceneClip,
        report: &mut Report,
    ) -> Result<(), FormatError> {
        let (limits, file) = (self.limits, report.file);
        // Before they are sorted in.
        limits.check_callbacks(file, &name, callbacks.len())?;
        let made = made.and_then(|mut clip| {
            clip.timing.playback = entry.playback.unwrap_or(clip.timing.playback);
            clip.timing.extend_callbacks(callbacks);
            self.reach.admit(self.skeleton, &clip).map(|()| clip)
        });
        match made {
            Ok(clip) => {
                limits.check_clip(file, &clip)?;
                self.totals.add(&clip);
                limits.check_totals(file, &self.totals)?;
                if entry != ClipEntry::default() {
                    self.out.entries.insert(name, entry);
                }
                self.out.list.push(clip);
                self.out.keyed.push(keyed);
            }
            Err(message) => {
                let message = format!("clip `{name}` is left out: {message}");
                report.warn(&place, message, "export it again");
            }
        }
        Ok(())
    }

    /// Returns the clips, and warns of those that are left out or unusual.
    pub(in crate::import) fn finish(self, report: &mut Report) -> FileClips {
        for (clips, what, hint) in [
            (
                self.too_large,
                "clips that take too much memory for the few keys of the file are left out",
                SAME_TIMES,
            ),
            (
                self.empty,
                "clips that move nothing are left out",
                "export only the character's own animations",
            ),
            (
                self.doubled,
                "clips that share a name with another got a number",
                "",
            ),
        ] {
            report.warn_of(self.place, what, clips, hint);
        }
        let Mirrored { clips, joints } = self.mirrored;
        if !joints.is_empty() {
            let [joints, clips] =
                [joints, clips].map(|names| listed(names.iter().map(String::as_str)));
            let message = format!(
                "a negative scale mirrors joints in clips but not at rest, or the other way around: {joints} (in {clips})"
            );
            report.warn(self.place, message, MIRRORS);
        }
        self.out
    }
}

/// The consequences of clips that mirror a joint which doesn't mirror at rest, or the other way around.
const MIRRORS: &str = "while these clips play, goals, look-at, springs and root motion are wrong below these joints: apply the scale, \
                       or keep its sign the same at rest and in all keys";
