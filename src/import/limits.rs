//! Limits on what is loaded, against corrupt or malicious files and for budgets of your own.

use super::Imported;
use crate::format::{Diagnostic, FormatError};
use crate::model::{ClipTiming, Model, Morphs, SkeletalClip, SkinPart};
use crate::plural::plural;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The most that a file may contain. Exceeding a limit is an error that names it.
///
/// Loading costs no more than a multiple of the file's size, even if a header claims more. These
/// limits are for files that really are large. The defaults are far above any game's character.
///
/// ```
/// # use bevy_marionette::import::ImportLimits;
/// // For characters that players upload:
/// let limits = ImportLimits { file_bytes: 20 << 20, joints: 200, triangles: 100_000, ..ImportLimits::default() };
/// assert!(limits.check_size("hero.glb", 25 << 20).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(default, deny_unknown_fields)]
pub struct ImportLimits {
    /// Bytes of one file, of all buffers of one `.gltf` together, and of all textures of a character that are read to give
    /// them mip levels; those beyond are loaded without.
    pub file_bytes: u64,
    /// Joints of the skeleton. [`Skeleton::MAX_JOINTS`](crate::model::Skeleton::MAX_JOINTS) is a
    /// limit even if this one is larger.
    pub joints: u32,
    /// Vertices of all parts together, after splitting parts by palette.
    pub vertices: u32,
    /// Triangles of all parts together.
    pub triangles: u32,
    /// Weights of one vertex in the file.
    pub influences: u32,
    /// Names of morph targets. [`Morphs::MAX`](crate::model::Morphs::MAX) is a limit even if this
    /// one is larger.
    pub morphs: u32,
    /// Vertices that morph targets move, of all targets together.
    pub morph_vertices: u32,
    /// Clips of one character.
    pub clips: u32,
    /// Length of a clip, in whole seconds.
    pub clip_seconds: u32,
    /// Callback keys and ranges of one clip.
    pub callbacks: u32,
    /// Bytes of one clip in memory.
    pub clip_bytes: u64,
    /// Bytes of all clips in memory. Clips that share their transforms count once.
    pub total_bytes: u64,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            file_bytes: 512 << 20,
            joints: 4096,
            vertices: 4_000_000,
            triangles: 8_000_000,
            influences: 256,
            morphs: 4096,
            morph_vertices: 32_000_000,
            clips: 4096,
            clip_seconds: 24 * 3600,
            callbacks: ClipTiming::MOST_CALLBACKS as u32,
            clip_bytes: 1 << 30,
            total_bytes: 2 << 30,
        }
    }
}

impl ImportLimits {
    /// No limits other than memory and the formats themselves.
    pub const NONE: Self = Self {
        file_bytes: u64::MAX,
        joints: u32::MAX,
        vertices: u32::MAX,
        triangles: u32::MAX,
        influences: u32::MAX,
        morphs: u32::MAX,
        morph_vertices: u32::MAX,
        clips: u32::MAX,
        clip_seconds: u32::MAX,
        callbacks: u32::MAX,
        clip_bytes: u64::MAX,
        total_bytes: u64::MAX,
    };

    /// The names of the limits, as used on the command line and in errors.
    pub const NAMES: [&str; 12] = [
        "file_bytes",
        "joints",
        "vertices",
        "triangles",
        "influences",
        "morphs",
        "morph_vertices",
        "clips",
        "clip_seconds",
        "callbacks",
        "clip_bytes",
        "total_bytes",
    ];

    /// Sets the limit called `name`. Returns `false` if there is no such limit or the number is too large for it.
    pub fn set(&mut self, name: &str, most: u64) -> bool {
        let wide = match name {
            "file_bytes" => Some(&mut self.file_bytes),
            "clip_bytes" => Some(&mut self.clip_bytes),
            "total_bytes" => Some(&mut self.total_bytes),
            _ => None,
        };
        if let Some(limit) = wide {
            *limit = most;
            return true;
        }
        let limit = match name {
            "joints" => &mut self.joints,
            "vertices" => &mut self.vertices,
            "triangles" => &mut self.triangles,
            "influences" => &mut self.influences,
            "morphs" => &mut self.morphs,
            "morph_vertices" => &mut self.morph_vertices,
            "clips" => &mut self.clips,
            "clip_seconds" => &mut self.clip_seconds,
            "callbacks" => &mut self.callbacks,
            _ => return false,
        };
        u32::try_from(most).map(|most| *limit = most).is_ok()
    }

    /// Rejects a file of more than [`Self::file_bytes`]. Call this before reading it.
    pub fn check_size(&self, file: &str, bytes: u64) -> Result<(), FormatError> {
        within(
            file,
            "the file has",
            bytes as f64,
            "byte",
            "file_bytes",
            self.file_bytes,
        )
    }

    /// Rejects a model with more of anything than the limits allow.
    pub fn check(&self, file: &str, imported: &Imported) -> Result<(), FormatError> {
        self.check_model(file, &imported.model)
    }

    /// Does the same for a model alone.
    pub(super) fn check_model(&self, file: &str, model: &Model) -> Result<(), FormatError> {
        let sum = |count: fn(&SkinPart) -> usize| model.parts.iter().map(count).sum::<usize>();
        self.check_joints(file, model.skeleton.len())?;
        self.check_mesh(file, sum(|p| p.positions.len()), sum(|p| p.triangles.len()))?;
        self.check_morphs(file, model.skeleton.morphs().len())?;
        let targets = model.parts.iter().flat_map(|part| &part.morphs);
        self.check_morph_vertices(file, targets.map(|target| target.vertices.len()).sum())?;
        let mut totals = ClipTotals::default();
        for clip in &model.clips {
            self.check_clip(file, clip)?;
            totals.add(clip);
        }
        self.check_totals(file, &totals)
    }

    /// Rejects more joints than the limits allow.
    pub(super) fn check_joints(&self, file: &str, joints: usize) -> Result<(), FormatError> {
        within(
            file,
            "the model has",
            joints as f64,
            "joint",
            "joints",
            self.joints.into(),
        )
    }

    /// Rejects more vertices or triangles than the limits allow.
    pub(super) fn check_mesh(
        &self,
        file: &str,
        vertices: usize,
        triangles: usize,
    ) -> Result<(), FormatError> {
        within(
            file,
            "the model has",
            vertices as f64,
            "vertex",
            "vertices",
            self.vertices.into(),
        )?;
        within(
            file,
            "the model has",
            triangles as f64,
            "triangle",
            "triangles",
            self.triangles.into(),
        )
    }

    /// Rejects more names of morph targets than the limits allow.
    pub(super) fn check_morphs(&self, file: &str, morphs: usize) -> Result<(), FormatError> {
        // A format's own limit can't be raised.
        let most = u64::from(self.morphs).min(Morphs::MAX as u64);
        within(
            file,
            "the model has",
            morphs as f64,
            "morph target",
            "morphs",
            most,
        )
    }

    /// Rejects more vertices that morph targets move than the limits allow.
    pub(super) fn check_morph_vertices(
        &self,
        file: &str,
        vertices: usize,
    ) -> Result<(), FormatError> {
        within(
            file,
            "the model's morph targets move",
            vertices as f64,
            "vertex",
            "morph_vertices",
            self.morph_vertices.into(),
        )
    }

    /// Rejects more clips than the limits allow, in number or in bytes together.
    pub(super) fn check_totals(&self, file: &str, totals: &ClipTotals) -> Result<(), FormatError> {
        within(
            file,
            "the model has",
            totals.count as f64,
            "clip",
            "clips",
            self.clips.into(),
        )?;
        within(
            file,
            "the model's clips take",
            totals.bytes as f64,
            "byte",
            "total_bytes",
            self.total_bytes,
        )
    }

    /// Rejects a clip with more callback keys and ranges than the limits allow.
    pub(super) fn check_callbacks(
        &self,
        file: &str,
        clip: &str,
        callbacks: usize,
    ) -> Result<(), FormatError> {
        within(
            file,
            &format!("clip `{clip}` has"),
            callbacks as f64,
            "callback",
            "callbacks",
            self.callbacks.into(),
        )
    }

    /// Rejects a clip that is longer or larger than the limits allow.
    pub fn check_clip(&self, file: &str, clip: &SkeletalClip) -> Result<(), FormatError> {
        let what = format!("clip `{}` lasts", clip.timing.name);
        within(
            file,
            &what,
            clip.timing.duration.ceil(),
            "second",
            "clip_seconds",
            self.clip_seconds.into(),
        )?;
        self.check_callbacks(file, &clip.timing.name, clip.timing.callbacks.len())?;
        self.check_clip_bytes(file, &clip.timing.name, clip.bytes() as u64)
    }

    /// Rejects a clip that takes more bytes in memory than the limits allow.
    pub(super) fn check_clip_bytes(
        &self,
        file: &str,
        clip: &str,
        bytes: u64,
    ) -> Result<(), FormatError> {
        within(
            file,
            &format!("clip `{clip}` takes"),
            bytes as f64,
            "byte",
            "clip_bytes",
            self.clip_bytes,
        )
    }

    /// Rejects a vertex with more weights than [`Self::influences`].
    pub(super) fn check_influences(
        &self,
        file: &str,
        most: u32,
        vertex: &str,
    ) -> Result<(), FormatError> {
        within(
            file,
            &format!("{vertex} has"),
            most.into(),
            "weight",
            "influences",
            self.influences.into(),
        )
    }
}

/// The clips of a model so far.
#[derive(Default)]
pub(super) struct ClipTotals {
    count: u64,
    bytes: u64,
    frames: HashSet<usize>,
}

impl ClipTotals {
    pub(super) fn add(&mut self, clip: &SkeletalClip) {
        self.count += 1;
        // Clips that share their transforms take their memory once.
        if self.frames.insert(clip.frames_key()) {
            self.bytes += clip.bytes() as u64;
        }
    }
}

fn within(
    file: &str,
    what: &str,
    count: f64,
    noun: &str,
    name: &str,
    most: u64,
) -> Result<(), FormatError> {
    if count <= most as f64 {
        return Ok(());
    }
    // Numbers from a damaged file may have hundreds of digits.
    let count = if count < 1e12 {
        format!("{count} {}", plural(count as usize, noun))
    } else {
        format!("{count:.2e} {noun}s")
    };
    let error = Diagnostic::error(file, format!("{what} {count}; the limit is {most}"));
    Err(FormatError::one(error.with_hint(format!(
        "if that is intended, raise the limit `{name}`"
    ))))
}

#[cfg(test)]
#[path = "tests/limits.rs"]
mod tests;
