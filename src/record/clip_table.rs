//! The data of a character's clips that a controller needs to advance without the character.

use super::counted;
use crate::{
    controller::Clips,
    model::{
        BlendPoint, BlendSpace, BlendSpaceError, BlendSync, BoundBlendSpace, CallbackData,
        CallbackKey, ClipTiming, JointIndex, PlaybackMode, RootPath, SkeletalClip, State,
        StateLayer, StateLayers, StateMachine, SyncMark,
    },
    pose::Mask,
    rig::Plants,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The lengths, callback keys and movements of a character's clips, and its blend spaces: all that a controller asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct ClipTable {
    clips: Vec<Row>,
    /// The first clip of each name.
    by_name: HashMap<Arc<str>, usize>,
    unbound_spaces: Vec<Arc<BlendSpace>>,
    spaces: Vec<BoundBlendSpace>,
    /// The weights of masks at the joint that root motion is taken from.
    masks: BTreeMap<String, f32>,
    states: Option<Arc<StateLayers>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    timing: ClipTiming,
    is_additive: bool,
    root_path: Option<RootPath>,
    reaches_root: bool,
    landings: Vec<SyncMark>,
}

impl ClipTable {
    /// The most callback keys of a clip in a file.
    pub const MOST_KEYS: usize = ClipTiming::MOST_CALLBACKS;
    /// The most blend spaces in a file.
    pub const MOST_SPACES: usize = 256;

    /// Makes the table of a character's clips. `plants` has the foot contacts of each; `root` is
    /// the joint that root motion is taken from.
    #[doc(hidden)]
    pub fn new<'m>(
        clips: &[Arc<SkeletalClip>],
        plants: &[Arc<Plants>],
        spaces: &[Arc<BlendSpace>],
        masks: impl IntoIterator<Item = (&'m String, &'m Arc<Mask>)>,
        root: JointIndex,
    ) -> Self {
        let row = |(index, clip): (usize, &Arc<SkeletalClip>)| Row {
            timing: clip.timing.clone(),
            is_additive: clip.additive,
            root_path: clip.root_path().map(|path| (**path).clone()),
            // A clip whose movement was extracted counts, too, although it no longer moves the joint
            // itself.
            reaches_root: clip.animates(root.into()) || clip.root_path().is_some(),
            landings: plants
                .get(index)
                .map_or_else(Vec::new, |plants| plants.landings().collect()),
        };
        let masks = masks
            .into_iter()
            .map(|(name, mask)| (name.clone(), mask.get(root.into())))
            .collect();
        Self::bound(
            clips.iter().enumerate().map(row).collect(),
            spaces.to_vec(),
            masks,
        )
    }

    fn bound(
        clips: Vec<Row>,
        unbound_spaces: Vec<Arc<BlendSpace>>,
        masks: BTreeMap<String, f32>,
    ) -> Self {
        let by_name = by_name(&clips);
        let bind = |space: &Arc<BlendSpace>| {
            let find = |name: &str| by_name.get(name).copied();
            space
                .bind_by(
                    find,
                    |clip| &clips[clip].timing,
                    |clip| clips[clip].landings.clone(),
                )
                .ok()
        };
        // Spaces whose clips are missing can't be played, but are kept unbound, to be written again.
        let spaces = unbound_spaces.iter().filter_map(bind).collect();
        Self {
            clips,
            by_name,
            unbound_spaces,
            spaces,
            masks,
            states: None,
        }
    }

    /// Adds the character's states.
    #[doc(hidden)]
    pub fn with_states(self, states: Option<Arc<StateLayers>>) -> Self {
        Self { states, ..self }
    }

    /// Subtracts the work of binding the spaces of a file from the budget of the file.
    fn pay_for_spaces(clips: &[Row], spaces: &[Arc<BlendSpace>]) -> Result<(), &'static str> {
        let by_name = by_name(clips);
        for space in spaces {
            let rows = space
                .points()
                .iter()
                .filter_map(|(clip, _)| by_name.get(clip).map(|index| &clips[*index]));
            for Row {
                timing, landings, ..
            } in rows
            {
                let marks = landings.len();
                counted::spend(match space.sync() {
                    BlendSync::Fraction => 256,
                    BlendSync::Keys(names) => 256 + timing.callbacks.len() * (names.len() + 64),
                    BlendSync::Feet => {
                        256 + marks * 64 + marks.min(BlendSpace::MOST_LANDINGS).pow(2)
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Pays for machines of states, before they are made: ways lead from any state to any other, and a layer in step with others
/// has the states of the one that it follows.
fn pay_for_states(
    body: &BTreeMap<String, State>,
    layers: &BTreeMap<String, StateLayer>,
) -> Result<(), &'static str> {
    /// Bytes of a way, and what finding it takes.
    const WAY: usize = 64;
    fn count(states: &BTreeMap<String, State>) -> usize {
        states.values().map(|state| 1 + count(&state.states)).sum()
    }
    let own = layers.values().map(|layer| count(&layer.states));
    let most = own.fold(count(body), usize::max);
    let most = most.min(StateMachine::MOST_STATES);
    let machines = 1 + layers.len().min(StateLayers::MOST_LAYERS);
    counted::spend(machines * most * most * WAY)
}

/// The first clip of each name.
fn by_name(clips: &[Row]) -> HashMap<Arc<str>, usize> {
    // The first of a name is the last to be noted.
    clips
        .iter()
        .enumerate()
        .rev()
        .map(|(index, row)| (row.timing.name.clone(), index))
        .collect()
}

impl Clips for ClipTable {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index).map(|row| &row.timing)
    }

    fn is_additive(&self, index: usize) -> bool {
        self.clips.get(index).is_some_and(|row| row.is_additive)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.clips.get(index)?.root_path.as_ref()
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.clips.get(index).is_some_and(|row| row.reaches_root)
    }

    fn root_mask(&self, mask: &str) -> f32 {
        self.masks.get(mask).copied().unwrap_or(0.0)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }

    fn states(&self) -> Option<&Arc<StateLayers>> {
        self.states.as_ref()
    }
}

/// A [`ClipTable`] in a file.
#[derive(Serialize, Deserialize)]
struct Form {
    clips: Vec<RowForm>,
    spaces: Vec<SpaceForm>,
    masks: BTreeMap<String, f32>,
    #[serde(default)]
    states: BTreeMap<String, State>,
    #[serde(default)]
    layers: BTreeMap<String, StateLayer>,
}

#[derive(Serialize, Deserialize)]
struct RowForm {
    name: String,
    duration: f64,
    playback: PlaybackMode,
    keys: Vec<(f64, Option<f64>, String, CallbackData)>,
    is_additive: bool,
    root_path: Option<RootPath>,
    reaches_root: bool,
    landings: Vec<(f64, usize)>,
}

#[derive(Serialize, Deserialize)]
struct SpaceForm {
    name: String,
    points: Vec<(String, BlendPoint)>,
    is_plane: bool,
    smoothing: f64,
    sync: BlendSync,
}

impl From<ClipTable> for Form {
    fn from(table: ClipTable) -> Self {
        let row = |Row {
                       timing,
                       is_additive,
                       root_path,
                       reaches_root,
                       landings,
                   }: Row| RowForm {
            name: timing.name.to_string(),
            duration: timing.duration,
            playback: timing.playback,
            keys: timing
                .callbacks
                .iter()
                .map(|key| (key.time, key.until, key.name.to_string(), key.data.clone()))
                .collect(),
            is_additive,
            root_path,
            reaches_root,
            landings: landings
                .into_iter()
                .map(|mark| (mark.time, mark.foot))
                .collect(),
        };
        let space = |space: Arc<BlendSpace>| SpaceForm {
            name: space.name().to_string(),
            points: space
                .points()
                .iter()
                .map(|(clip, at)| (clip.to_string(), *at))
                .collect(),
            is_plane: space.dimensions() == 2,
            smoothing: space.smoothing(),
            sync: space.sync().clone(),
        };
        let (states, layers) = table
            .states
            .as_deref()
            .map_or_else(Default::default, |states| {
                // As they were written down: machines can't be turned back into entries.
                let (states, layers) = states.written();
                (states.clone(), layers.clone())
            });
        Self {
            clips: table.clips.into_iter().map(row).collect(),
            spaces: table.unbound_spaces.into_iter().map(space).collect(),
            masks: table.masks,
            states,
            layers,
        }
    }
}

impl TryFrom<Form> for ClipTable {
    type Error = String;

    fn try_from(
        Form {
            clips,
            spaces,
            masks,
            states,
            layers,
        }: Form,
    ) -> Result<Self, String> {
        if spaces.len() > ClipTable::MOST_SPACES {
            return Err(format!(
                "{} blend spaces, expected at most {}",
                spaces.len(),
                ClipTable::MOST_SPACES
            ));
        }
        let row = |form: RowForm| {
            if !(form.duration.is_finite() && form.duration >= 0.0) {
                return Err(format!("clip `{}` has no length", form.name));
            }
            if form.keys.len() > ClipTable::MOST_KEYS {
                let (keys, most) = (form.keys.len(), ClipTable::MOST_KEYS);
                return Err(format!(
                    "clip `{}` has {keys} callback keys, expected at most {most}",
                    form.name
                ));
            }
            let mut timing = ClipTiming::new(form.name, form.duration);
            timing.playback = form.playback;
            let key = |(time, until, name, data): (_, _, String, _)| CallbackKey {
                time,
                until,
                name: name.into(),
                data,
            };
            timing.extend_callbacks(form.keys.into_iter().map(key));
            Ok(Row {
                timing,
                is_additive: form.is_additive,
                root_path: form.root_path,
                reaches_root: form.reaches_root,
                landings: form
                    .landings
                    .into_iter()
                    .map(|(time, foot)| SyncMark { time, foot })
                    .collect(),
            })
        };
        let space = |form: SpaceForm| {
            let space = match form.is_plane {
                // The points don't tell the dimension: those of a plane may all have y = 0.
                true => BlendSpace::plane(form.name.as_str(), form.points),
                false => BlendSpace::line(
                    form.name.as_str(),
                    form.points.into_iter().map(|(clip, at)| (clip, at.x)),
                ),
            };
            // Nobody edits a recording, so what follows the last semicolon, what to do about it, is left out.
            let named = |error: BlendSpaceError| {
                let error = error.to_string();
                let what = error.rsplit_once(';').map_or(&*error, |(what, _)| what);
                format!("blend space `{}`: {what}", form.name)
            };
            Ok(Arc::new(
                space
                    .and_then(|space| space.smoothed(form.smoothing))
                    .map_err(named)?
                    .synced(form.sync),
            ))
        };
        let clips = clips
            .into_iter()
            .map(row)
            .collect::<Result<Vec<_>, String>>()?;
        let spaces = spaces
            .into_iter()
            .map(space)
            .collect::<Result<Vec<_>, String>>()?;
        // Before they are bound, which is the work that is paid for.
        Self::pay_for_spaces(&clips, &spaces)?;
        pay_for_states(&states, &layers)?;
        let has_states = !states.is_empty() || !layers.is_empty();
        let states = has_states.then(|| StateLayers::new(&states, &layers));
        let states = states.transpose().map_err(|wrong| {
            wrong
                .first()
                .map_or_else(|| "states".to_owned(), ToString::to_string)
        })?;
        Ok(Self::bound(clips, spaces, masks).with_states(states.map(Arc::new)))
    }
}
