//! The progress of loading characters.

use bevy::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// The number of files that have arrived of the characters being loaded, for a loading bar.
///
/// Characters know how many files they need only after the first of them is read, so [`files`](Self::files) grows for a
/// while. Counting starts over once everything is loaded and another character is asked for.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::asset::LoadProgress;
/// # #[derive(Component)]
/// # struct LoadingBar;
/// fn show(progress: Res<LoadProgress>, mut bar: Single<&mut Transform, With<LoadingBar>>) {
///     bar.scale.x = progress.fraction();
/// }
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct LoadProgress(Arc<Mutex<Counts>>);

/// Triggered when everything is loaded: when [`LoadProgress`] has reached 1 and the assets have
/// arrived.
///
/// A character that fails to load doesn't prevent it; see [`CharacterFailed`](crate::character::CharacterFailed). It is
/// triggered again when more characters were loaded.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::asset::CharactersLoaded;
/// # #[derive(Component)]
/// # struct LoadingScreen;
/// fn start(_: On<CharactersLoaded>, screen: Single<Entity, With<LoadingScreen>>, mut commands: Commands) {
///     commands.entity(*screen).despawn();
/// }
/// ```
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharactersLoaded;

#[derive(Debug, Default)]
struct Counts {
    /// Characters that are being loaded.
    characters: usize,
    files: usize,
    read: usize,
    /// Characters that were loaded, or failed, since the app began.
    done: u64,
}

impl LoadProgress {
    /// Returns the number of characters that are being loaded.
    pub fn characters(&self) -> usize {
        self.counts().characters
    }

    /// Returns the number of files that they are known to need so far, including those that cannot
    /// be read.
    pub fn files(&self) -> usize {
        self.counts().files
    }

    /// Returns the number of these files that have been read. Their textures may still have to be
    /// decoded.
    pub fn read(&self) -> usize {
        self.counts().read
    }

    /// Returns the share of the files that has been read, 0..=1; 1 if no character is being loaded.
    pub fn fraction(&self) -> f32 {
        let Counts {
            characters,
            files,
            read,
            ..
        } = *self.counts();
        if characters == 0 || files == 0 {
            1.0
        } else {
            read as f32 / files as f32
        }
    }

    /// Counts a character, one file of which is already read, until the guard is dropped.
    pub(super) fn begin(&self) -> Loading<'_> {
        let mut counts = self.counts();
        if counts.characters == 0 {
            (counts.files, counts.read) = (0, 0);
        }
        counts.characters += 1;
        counts.files += 1;
        counts.read += 1;
        Loading(self)
    }

    pub(super) fn add_files(&self, files: usize) {
        self.counts().files += files;
    }

    pub(super) fn add_read(&self) {
        self.counts().read += 1;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A character that is being loaded.
pub(super) struct Loading<'a>(&'a LoadProgress);

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.counts();
        counts.characters -= 1;
        counts.done += 1;
    }
}

/// State that [`announce`] keeps between frames.
#[derive(Default)]
pub(super) struct Announced {
    /// Characters that were done when loading was last announced.
    done: u64,
    /// The same for the last frame in which nothing was being loaded.
    idle: u64,
}

/// Triggers [`CharactersLoaded`] a frame after the last loader was done, when Bevy has put its asset in place.
pub(super) fn announce(
    progress: Res<LoadProgress>,
    mut before: Local<Announced>,
    mut commands: Commands,
) {
    let Counts {
        characters, done, ..
    } = *progress.counts();
    if characters > 0 {
        return;
    }
    if done > before.done && done == before.idle {
        before.done = done;
        commands.trigger(CharactersLoaded);
    }
    before.idle = done;
}

#[cfg(test)]
#[path = "tests/progress.rs"]
mod tests;
