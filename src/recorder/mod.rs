//! The recorder: keeps the last minutes of all characters, and shows them again.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_marionette::{prelude::*, recorder::{RecorderPlugin, Recording}};
//! App::new()
//!     .add_plugins((DefaultPlugins, MarionettePlugins::default(), RecorderPlugin))
//!     .add_systems(Update, look_back)
//!     .run();
//!
//! fn look_back(keys: Res<ButtonInput<KeyCode>>, mut recording: ResMut<Recording>) {
//!     if keys.just_pressed(KeyCode::KeyR) {
//!         // A second ago. Time stands still until the present is shown again.
//!         let now = recording.frames().end;
//!         recording.show(now.saturating_sub(60));
//!     }
//!     if keys.just_released(KeyCode::KeyR) {
//!         recording.show_present();
//!     }
//! }
//! ```
//!
//! Every [`SkinnedCharacter`] is recorded: its controller, its transform and that of its parent,
//! its [`PoseOverrides`](crate::character::PoseOverrides) and
//! [`PartOverrides`](crate::character::PartOverrides), its
//! [`Expressions`](crate::character::Expressions) and [`IdleEyes`](crate::character::IdleEyes), and
//! the targets and the ground of its rig.
//! Since these are inputs ([`record`](crate::record)), the past is shown exactly as it was, bit for
//! bit, and anything that doesn't change takes no memory. The inspector's Rewind tab shows the
//! recording, and [`Recording::file`] makes a file of it.
//!
//! Only characters are shown in the past. The rest of the game stays as it is, and time stands
//! still (`Time<Virtual>` is paused). Characters that no longer exist are shown by stand-ins; those
//! that didn't exist yet are hidden. Children of other entities are shown where they were, even if
//! the parent has moved since or no longer exists.

mod capture;
#[cfg(feature = "inspector")]
mod curves;
mod rewind;
mod show;

#[cfg(feature = "inspector")]
pub(crate) use curves::{CurveRow, Curves};

use crate::{
    asset::Character,
    character::{CharacterPlugin, CharacterSystems, SkinnedCharacter, TapeHead},
    record::{ClipTable, Frames, RecordedCharacter, RecordingFile, Tape},
};
use bevy::{
    camera::visibility::VisibilitySystems, ecs::change_detection::Tick,
    platform::collections::HashMap, prelude::*, time::TimeSystems, transform::TransformSystems,
};
use glam::Affine3A;
use rewind::Showing;
use show::Shown;
use std::ops::Range;

/// Records characters. Add it beside [`MarionettePlugins`](crate::MarionettePlugins), in any order.
///
/// It costs a few percent of the time of the characters' animation. Without it, recording costs
/// nothing.
///
/// The assets of characters that no longer exist stay loaded as long as the characters are in the
/// recording: see [`Recording::seconds`] and [`Recording::clear`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{prelude::*, recorder::RecorderPlugin};
/// App::new().add_plugins((DefaultPlugins, MarionettePlugins::default(), RecorderPlugin));
/// ```
#[derive(Default)]
pub struct RecorderPlugin;

/// Exists once the plugin is set up.
#[derive(Resource)]
struct IsSetUp;

impl Plugin for RecorderPlugin {
    fn build(&self, app: &mut App) {
        Self::set_up(app);
    }

    fn finish(&self, app: &mut App) {
        // The plugins may have been added in the other order.
        if !app.world().contains_resource::<IsSetUp>() && !Self::set_up(app) {
            error!("`RecorderPlugin` records nothing: add `MarionettePlugins`");
        }
    }
}

impl RecorderPlugin {
    /// Returns `false` if there is no plugin that plays characters.
    fn set_up(app: &mut App) -> bool {
        let Some(schedule) = CharacterPlugin::schedule_in(app) else {
            return false;
        };
        use CharacterSystems::*;
        app.insert_resource(IsSetUp)
            .init_resource::<Recording>()
            .register_required_components::<SkinnedCharacter, Recorded>()
            .configure_sets(
                schedule,
                (Advance, CharacterSystems::RootMotion, Callbacks).run_if(not(showing)),
            )
            .add_systems(First, rewind::answer.before(TimeSystems))
            .add_systems(
                schedule,
                capture::begin_step
                    .run_if(recording)
                    .after(Spawn)
                    .before(Advance),
            )
            .add_systems(
                PostUpdate,
                (
                    (show::look_back, show::apply)
                        .chain()
                        .run_if(showing)
                        .before(Spawn)
                        .before(Advance),
                    show::place
                        .run_if(showing)
                        .after(TransformSystems::Propagate)
                        .after(VisibilitySystems::MarkNewlyHiddenEntitiesInvisible)
                        .before(ChooseDetail),
                    (
                        capture::note_parents.run_if(recording),
                        capture::end_frame.run_if(not(showing)),
                    )
                        .chain()
                        .after(PosePalettes)
                        .after(PoseMorphs),
                ),
            );
        true
    }
}

fn showing(recording: Res<Recording>) -> bool {
    recording.showing.is_some()
}

fn recording(recording: Res<Recording>) -> bool {
    recording.enabled && recording.showing.is_none()
}

/// The recording of an app, and the frame of it that is shown.
#[derive(Resource, Debug)]
pub struct Recording {
    /// Records characters if `true`. If `false`, the recording so far is kept.
    pub enabled: bool,
    /// The most seconds to keep. Default: 120.
    pub seconds: f64,
    /// The most bytes to keep; beyond them, the oldest frames are dropped. Default: 256 MB.
    pub bytes: usize,
    frames: Frames,
    /// Characters that no longer exist.
    departed: Vec<Departed>,
    /// The materials of [`PartNote`](crate::record::PartNote)s.
    materials: HashMap<String, Handle<StandardMaterial>>,
    bytes_used: usize,
    request: Option<Request>,
    /// A file to show instead of the app's own recording.
    opening: Option<Box<RecordingFile>>,
    showing: Option<Showing>,
    /// `true` if characters advanced without being recorded.
    was_off: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            enabled: true,
            seconds: 120.0,
            bytes: 256 << 20,
            frames: Frames::default(),
            departed: Vec::new(),
            materials: HashMap::new(),
            bytes_used: 0,
            request: None,
            opening: None,
            showing: None,
            was_off: false,
        }
    }
}

/// A request for the start of the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Show(u64),
    ShowPresent,
    ContinueHere,
    Clear,
}

impl Recording {
    /// Returns the frames that are kept. Their numbers count from the start of the app that recorded them:
    /// after [`open`](Self::open), the one that wrote the file.
    pub fn frames(&self) -> Range<u64> {
        self.frames.range()
    }

    /// Returns the app's time at a frame, in seconds.
    pub fn time_of(&self, frame: u64) -> Option<f64> {
        self.frames.time(frame)
    }

    /// Returns the last frame at or before a time in seconds, or the first of all.
    pub fn frame_at(&self, time: f64) -> Option<u64> {
        self.frames.at(time)
    }

    #[cfg(feature = "inspector")]
    pub(crate) fn frame_list(&self) -> &Frames {
        &self.frames
    }

    /// Returns roughly how many bytes are kept. Updated about once a second.
    pub fn bytes_used(&self) -> usize {
        self.bytes_used
    }

    /// Returns the frame of the past that is shown.
    pub fn shown(&self) -> Option<u64> {
        // A request counts at once, so that a slider doesn't jump back for a frame.
        match self.request {
            Some(Request::Show(frame)) => Some(frame),
            Some(_) => None,
            None => self.showing.as_ref().map(|showing| showing.frame),
        }
    }

    /// Shows a frame of the past from the next frame on, or the recorded frame nearest to it. Time stands still meanwhile.
    pub fn show(&mut self, frame: u64) {
        let range = self.frames.range();
        if !range.is_empty() {
            self.request = Some(Request::Show(frame.clamp(range.start, range.end - 1)));
        }
    }

    /// Shows the present again, and lets time pass.
    pub fn show_present(&mut self) {
        self.request = Some(Request::ShowPresent);
    }

    /// Resumes the game from the frame that is shown: everything recorded after it is discarded, characters that were spawned
    /// after it are despawned, and the stand-ins of those that were despawned stay. The rest of the game is not turned back.
    pub fn continue_here(&mut self) {
        self.request = Some(Request::ContinueHere);
    }

    /// Shows a recording from a file, from the next frame on, instead of the app's own recording:
    /// its last frame, with stand-ins of all characters, whose assets are loaded by the paths they
    /// had. Recording is switched off.
    ///
    /// For viewers. The app's own recording is dropped, and its characters are hidden.
    pub fn open(&mut self, file: RecordingFile) {
        self.opening = Some(Box::new(file));
    }

    /// Returns `true` while characters of the frame that is shown wait for their assets.
    pub fn is_loading(&self) -> bool {
        self.opening.is_some()
            || self
                .showing
                .as_ref()
                .is_some_and(|showing| showing.is_waiting)
    }

    /// Drops everything that was recorded or opened, from the next frame on, and shows the present.
    pub fn clear(&mut self) {
        self.opening = None;
        self.request = Some(Request::Clear);
    }

    /// Returns the world transforms of the joints of all characters in the present, while the past is shown, to draw ghosts.
    pub fn present_joints(&self) -> impl Iterator<Item = (Entity, &[Affine3A])> {
        let present = self.showing.iter().flat_map(|showing| &showing.present);
        present.map(|(entity, present)| (*entity, &present.joints[..]))
    }

    /// Makes a file of everything that was recorded. `characters` are those that exist now.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{asset::Character, prelude::*, recorder::{Recorded, Recording}};
    /// fn save(
    ///     recording: Res<Recording>,
    ///     assets: Res<Assets<Character>>,
    ///     characters: Query<(Option<&Name>, &SkinnedCharacter, &Recorded)>,
    /// ) -> Result {
    ///     let file = recording.file(&assets, characters.iter());
    ///     file.write(std::fs::File::create("bug.rec")?)?;
    ///     Ok(())
    /// }
    /// ```
    pub fn file<'c>(
        &self,
        assets: &Assets<Character>,
        characters: impl IntoIterator<Item = (Option<&'c Name>, &'c SkinnedCharacter, &'c Recorded)>,
    ) -> RecordingFile {
        let mut file = RecordingFile {
            frames: self.frames.clone(),
            ..RecordingFile::default()
        };
        let mut tables = HashMap::new();
        let mut add = |name: &str, handle: &Handle<Character>, tape: &Tape| {
            let Some(asset) = assets.get(handle) else {
                return;
            };
            let clips = *tables.entry(handle.id()).or_insert_with(|| {
                file.clips.push(asset.clip_table());
                file.clips.len() - 1
            });
            let path = handle.path().map(|path| path.to_string());
            let (tape, events) = (tape.clone(), tape.events(&self.frames, asset));
            file.characters.push(RecordedCharacter {
                name: name.into(),
                asset: path,
                clips,
                tape,
                events,
            });
        };
        for departed in &self.departed {
            add(&departed.name, &departed.handle, &departed.tape);
        }
        for (name, handle, recorded) in characters {
            add(
                name.map_or("character", Name::as_str),
                &handle.0,
                &recorded.tape,
            );
        }
        file
    }
}

/// A character that no longer exists.
#[derive(Debug)]
struct Departed {
    name: String,
    handle: Handle<Character>,
    /// Version of the asset; `None` if it isn't known, because the tape is from a file.
    version: Option<u64>,
    since: Option<u64>,
    tape: Tape,
    /// The entity that shows it in the past.
    stand_in: Option<Entity>,
}

/// The recording of a character, added to all of them by [`RecorderPlugin`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::Character, prelude::*, recorder::{Recorded, Recording}};
/// # #[derive(Component)]
/// # struct Hero;
/// /// Saves the hero, and none of the others who are there now.
/// fn save(
///     recording: Res<Recording>,
///     assets: Res<Assets<Character>>,
///     hero: Single<(Option<&Name>, &SkinnedCharacter, &Recorded), With<Hero>>,
/// ) -> Result {
///     recording.file(&assets, [*hero]).write(std::fs::File::create("hero.rec")?)?;
///     Ok(())
/// }
/// ```
#[derive(Component, Debug, Default)]
#[require(TapeHead, Watch)]
#[component(on_remove = capture::keep_departed)]
pub struct Recorded {
    tape: Tape,
    /// The first frame in which it existed.
    since: Option<u64>,
    /// Frame of the past that it shows.
    shown: Option<Box<Shown>>,
}

impl Recorded {
    /// Returns the character's tape.
    #[doc(hidden)]
    pub fn tape(&self) -> &Tape {
        &self.tape
    }
}

/// The change ticks of what was stored last of a character.
#[derive(Component, Debug, Default)]
struct Watch {
    controller: Option<Tick>,
    transform: Option<Tick>,
    overrides: Option<Tick>,
    parts: Option<Tick>,
    /// Of its expressions, and of its idle eyes.
    face: [Option<Tick>; 2],
    /// `true` if its parent's place was stored, if it has a parent.
    is_placed: bool,
    rig: Option<Tick>,
    is_carried: bool,
    /// Version of its asset; 0 for none.
    version: u64,
}

/// Stands in for a character that no longer exists.
#[derive(Component, Debug)]
struct StandIn;

impl RecordingFile {
    /// Replaces the recorded clips of all characters of an asset, by its path, by its present ones.
    /// [`check`](RecordingFile::check) then shows where the recording would go another way with them.
    pub fn set_clips(&mut self, asset: &str, character: &Character) {
        let of_asset = |recorded: &&RecordedCharacter| recorded.asset.as_deref() == Some(asset);
        for recorded in self.characters.iter().filter(of_asset) {
            self.clips[recorded.clips] = character.clip_table();
        }
    }
}

impl Character {
    /// Returns what controllers need to know about the character's clips, for
    /// [recordings](crate::record).
    #[doc(hidden)]
    pub fn clip_table(&self) -> ClipTable {
        ClipTable::new(
            &self.clips,
            &self.plants,
            self.unbound_spaces(),
            &self.masks,
            self.root,
        )
        .with_states(self.states.clone())
    }
}
