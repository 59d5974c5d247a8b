//! Keeping what the panel shows from run to run.

use super::{Inspector, InspectorTab, MarionetteInspectorPlugin, folds::Folds, panel::PanelState};
use crate::model::JointIndex;
use bevy::prelude::*;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf};

/// Keeps what the inspector shows in a RON file, from run to run: whether the panel is open, its tab and joint, what is
/// folded, and which events and curves the Rewind tab shows.
///
/// Without this plugin, the inspector reads and writes no files. The file is read when the plugin is added, so an
/// [`Inspector`] that you insert later wins. It is written at most once a second, after something changed, and when the
/// app exits. In browsers, the plugin does nothing.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{inspector::{InspectorMemoryPlugin, MarionetteInspectorPlugin}, prelude::*};
/// App::new()
///     .add_plugins((DefaultPlugins, MarionettePlugins::default(), MarionetteInspectorPlugin))
///     .add_plugins(InspectorMemoryPlugin::in_file("inspector.ron"))
///     .run();
/// ```
pub struct InspectorMemoryPlugin {
    /// The file. A relative path counts from the working directory.
    pub file: PathBuf,
}

impl InspectorMemoryPlugin {
    /// Keeps the state in a file.
    pub fn in_file(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }
}

impl Plugin for InspectorMemoryPlugin {
    fn build(&self, app: &mut App) {
        if cfg!(target_arch = "wasm32") {
            return;
        }
        app.init_resource::<Inspector>()
            .init_resource::<PanelState>();
        let kept = read(&self.file);
        if let Some(kept) = kept.clone() {
            let world = app.world_mut();
            world.resource_scope(|world, mut inspector: Mut<Inspector>| {
                kept.restore(&mut inspector, &mut world.resource_mut::<PanelState>());
            });
        }
        let world = app.world();
        // Without a file, this is how the app begins: nothing is written until something changes.
        let now = || Kept::new(world.resource(), world.resource());
        let memory = Memory {
            file: self.file.clone(),
            kept: kept.unwrap_or_else(now),
            next: 0.0,
        };
        app.insert_resource(memory);
        app.add_systems(Last, save);
    }

    fn finish(&self, app: &mut App) {
        // Plugins may be added in any order. Only now are all of them known.
        if !app.is_plugin_added::<MarionetteInspectorPlugin>() {
            error!(
                "`InspectorMemoryPlugin` has no panel to remember: add `MarionetteInspectorPlugin`"
            );
        }
    }
}

/// Seconds between looks at what changed.
const EVERY: f64 = 1.0;

/// The file, and what is in it.
#[derive(Resource)]
struct Memory {
    file: PathBuf,
    kept: Kept,
    /// Seconds of real time at which to look for changes again.
    next: f64,
}

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    open: bool,
    tab: String,
    joint: Option<JointIndex>,
    ghosts: bool,
    folds: Folds,
    folded_joints: BTreeSet<JointIndex>,
    hide_control_joints: bool,
    rewind_seconds: Option<f64>,
    rewind_filter: String,
    hidden_curves: BTreeSet<(String, String)>,
}

impl Kept {
    fn new(inspector: &Inspector, state: &PanelState) -> Self {
        Self {
            open: inspector.open,
            tab: inspector.tab.title().into(),
            joint: inspector.joint,
            ghosts: inspector.ghosts,
            folds: state.folds.clone(),
            folded_joints: state.joints.folded.clone(),
            hide_control_joints: state.joints.hide_control,
            rewind_seconds: state.rewind.seconds,
            rewind_filter: state.rewind.filter.clone(),
            hidden_curves: state.rewind.hidden.clone(),
        }
    }

    fn restore(self, inspector: &mut Inspector, state: &mut PanelState) {
        let tab = InspectorTab::ALL
            .into_iter()
            .find(|tab| tab.title() == self.tab)
            .unwrap_or_default();
        *inspector = Inspector {
            open: self.open,
            tab,
            joint: self.joint,
            ghosts: self.ghosts,
            ..inspector.clone()
        };
        state.folds = self.folds;
        state.joints.folded = self.folded_joints;
        state.joints.hide_control = self.hide_control_joints;
        state.rewind.seconds = self.rewind_seconds.filter(|seconds| *seconds > 0.0);
        state.rewind.filter = self.rewind_filter;
        state.rewind.hidden = self.hidden_curves;
    }
}

/// Reads the file, if there is one.
fn read(file: &PathBuf) -> Option<Kept> {
    let text = std::fs::read_to_string(file).ok()?;
    let kept = ron::from_str(&text);
    kept.inspect_err(|error| {
        warn!(
            "{}: {error}; the inspector starts with its defaults",
            file.display()
        )
    })
    .ok()
}

/// Writes the file if something changed.
fn save(
    mut memory: ResMut<Memory>,
    inspector: Res<Inspector>,
    state: Res<PanelState>,
    time: Res<Time<Real>>,
    mut exits: MessageReader<AppExit>,
) {
    let now = time.elapsed_secs_f64();
    if now < memory.next && exits.read().next().is_none() {
        return;
    }
    memory.next = now + EVERY;
    let kept = Kept::new(&inspector, &state);
    if kept == memory.kept {
        return;
    }
    memory.kept = kept;
    let pretty = ron::ser::PrettyConfig::default();
    let written = ron::ser::to_string_pretty(&memory.kept, pretty).map_err(std::io::Error::other);
    if let Err(error) = written.and_then(|text| std::fs::write(&memory.file, text)) {
        warn!(
            "{}: {error}; the inspector's state is not kept",
            memory.file.display()
        );
    }
}
