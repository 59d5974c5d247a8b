//! The entries that a model's file holds in place of a manifest.

use super::{
    BlendSpaceEntry, ClipEntry, ColliderEntry, ConstraintEntry, FeetEntry, GoalEntry, LookAtEntry,
    Manifest, MaskEntry, RootMotionEntry, SocketEntry, SpringEntry,
};
use crate::model::{State, StateLayer};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::BTreeMap};

/// The fields of a [`Manifest`] that a model's own file can hold, so that it needs none beside it.
///
/// A glTF file has them in its `extras`, where [`to_glb`](crate::import::to_glb) and the add-on for Blender put them. A
/// manifest that names the file goes before them: see [`Manifest::with_embedded`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmbeddedManifest {
    /// See [`Manifest::root_motion`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_motion: Option<RootMotionEntry>,
    /// See [`Manifest::sides`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<(String, String)>,
    /// See [`Manifest::blend_spaces`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub blend_spaces: BTreeMap<String, BlendSpaceEntry>,
    /// See [`Manifest::states`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, State>,
    /// See [`Manifest::layers`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub layers: BTreeMap<String, StateLayer>,
    /// See [`Manifest::masks`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub masks: BTreeMap<String, MaskEntry>,
    /// See [`Manifest::sockets`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sockets: BTreeMap<String, SocketEntry>,
    /// See [`Manifest::goals`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub goals: BTreeMap<String, GoalEntry>,
    /// See [`Manifest::look_at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_at: Option<LookAtEntry>,
    /// See [`Manifest::constraints`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintEntry>,
    /// See [`Manifest::springs`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<SpringEntry>,
    /// See [`Manifest::colliders`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub colliders: BTreeMap<String, ColliderEntry>,
    /// See [`Manifest::feet`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feet: Option<FeetEntry>,
    /// Entries of the clips that have a `playback`, `root_motion`, `ground_speed` or `plants`, by name; nothing else is set.
    /// Files store these with each clip.
    #[serde(skip)]
    pub clips: BTreeMap<String, ClipEntry>,
}

impl EmbeddedManifest {
    /// Returns what a file can hold of a manifest, except for its clips, which are in place.
    pub fn of(manifest: &Manifest) -> Self {
        Self {
            // Clips are written in place.
            root_motion: manifest.root_motion.as_ref().and_then(|entry| {
                entry.joint.as_ref()?;
                Some(RootMotionEntry {
                    ground: false,
                    height: false,
                    turn: false,
                    ..entry.clone()
                })
            }),
            sides: manifest.sides.clone(),
            blend_spaces: manifest.blend_spaces.clone(),
            states: manifest.states.clone(),
            layers: manifest.layers.clone(),
            masks: manifest.masks.clone(),
            sockets: manifest.sockets.clone(),
            goals: manifest.goals.clone(),
            look_at: manifest.look_at.clone(),
            constraints: manifest.constraints.clone(),
            springs: manifest.springs.clone(),
            colliders: manifest.colliders.clone(),
            feet: manifest.feet.clone(),
            clips: BTreeMap::new(),
        }
    }

    /// Returns `true` if a manifest without entries of its own is the same with it.
    pub fn is_empty(&self) -> bool {
        *self
            == Self {
                clips: self.clips.clone(),
                ..Self::default()
            }
            && !self.clips.values().any(carries)
    }

    /// Returns what contradicts itself or has no meaning. Only glTF files hold such entries.
    #[cfg(feature = "gltf")]
    pub(in crate::import) fn misstatements(&self, file: &str) -> Vec<crate::format::Diagnostic> {
        Manifest::of_model("")
            .with_embedded(self)
            .misstatements(file)
    }
}

impl Manifest {
    /// Returns the manifest with what the model's file says where the manifest says nothing: entries that it lacks, or has no
    /// list of. [`open_manifest`](crate::import::open_manifest) does so.
    #[doc(hidden)]
    pub fn with_embedded(&self, embedded: &EmbeddedManifest) -> Cow<'_, Self> {
        if embedded.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        let theirs = embedded.clone();
        fill(&mut all.blend_spaces, theirs.blend_spaces);
        fill(&mut all.masks, theirs.masks);
        fill(&mut all.sockets, theirs.sockets);
        fill(&mut all.goals, theirs.goals);
        fill(&mut all.colliders, theirs.colliders);
        // These only make sense together.
        if all.states.is_empty() {
            all.states = theirs.states;
        }
        if all.layers.is_empty() {
            all.layers = theirs.layers;
        }
        if all.sides.is_empty() {
            all.sides = theirs.sides;
        }
        if all.constraints.is_empty() {
            all.constraints = theirs.constraints;
        }
        if all.springs.is_empty() {
            all.springs = theirs.springs;
        }
        all.root_motion = match (all.root_motion, theirs.root_motion) {
            (Some(own), Some(theirs)) => Some(RootMotionEntry {
                joint: own.joint.or(theirs.joint),
                ..own
            }),
            (own, theirs) => own.or(theirs),
        };
        all.look_at = all.look_at.or(theirs.look_at);
        all.feet = all.feet.or(theirs.feet);
        fill_clips(&mut all.clips, theirs.clips);
        Cow::Owned(all)
    }
}

/// Returns `true` if an entry has root motion, ground speed, or foot contacts. The clip itself stores everything else already.
fn carries(entry: &ClipEntry) -> bool {
    entry.root_motion.is_some() || entry.ground_speed.is_some() || !entry.plants.is_empty()
}

fn fill<V>(own: &mut BTreeMap<String, V>, theirs: BTreeMap<String, V>) {
    for (name, value) in theirs {
        own.entry(name).or_insert(value);
    }
}

/// Entries for clips of the model itself get what the file says of these, and those without an entry get one.
fn fill_clips(own: &mut BTreeMap<String, ClipEntry>, theirs: BTreeMap<String, ClipEntry>) {
    let mut rest = theirs;
    rest.retain(|_, entry| carries(entry));
    let mut used = Vec::new();
    let of_model = |entry: &ClipEntry| {
        entry.file.is_none() && entry.mirror.is_none() && entry.speech.is_none()
    };
    for (name, entry) in own.iter_mut().filter(|(_, entry)| of_model(entry)) {
        let wanted = entry.clip.as_ref().unwrap_or(name);
        // As clips are found: `Armature|walk` is `walk`, too.
        let short = |(found, _): &(&String, &ClipEntry)| {
            found
                .rsplit_once('|')
                .is_some_and(|(_, short)| short == wanted)
        };
        let found = rest
            .get_key_value(wanted)
            .or_else(|| rest.iter().find(short));
        let Some((found, theirs)) = found else {
            continue;
        };
        used.push(found.clone());
        entry.root_motion = entry.root_motion.or(theirs.root_motion);
        entry.ground_speed = entry.ground_speed.or(theirs.ground_speed);
        // The times in a part of a clip are others.
        if entry.plants.is_empty() && entry.frames.is_none() && entry.seconds.is_none() {
            entry.plants = theirs.plants.clone();
        }
    }
    used.iter().for_each(|name| drop(rest.remove(name)));
    // A clip that is another's mirror image or comes from a file takes the place of the model's own.
    fill(own, rest);
}

#[cfg(test)]
#[path = "tests/embedded.rs"]
mod tests;
