//! What is to be drawn anew: from the characters in view to whoever writes palettes.
//!
//! Most poses are wanted for their skin alone. Those are not kept: [`Poses`] works them out where the skin's
//! matrices are written, and what lies between stays in the processor's cache.

use super::{ModelPose, SkinnedCharacter, playing::Playing, rate::Steps, sharing::Shared};
use crate::{asset::Character, pose::Scratch};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
    utils::Parallel,
};
use glam::{Affine3A, Mat3A, Vec3A};
use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// On each part with a skin: where its palette stands in the renderer's buffer.
///
/// Set by the renderer, which sees the world but may not change it; hence the atomic.
#[derive(Component, Debug)]
pub(crate) struct PaletteRange {
    first: AtomicU32,
    /// Matrices of the palette.
    length: u32,
}

impl PaletteRange {
    const NONE: u32 = u32::MAX;

    pub(super) fn new(length: usize) -> Self {
        Self { first: AtomicU32::new(Self::NONE), length: length as u32 }
    }

    /// Where it stands; nowhere while the part is out of view.
    pub(crate) fn get(&self) -> Option<Range<u32>> {
        let first = self.first.load(Relaxed);
        (first != Self::NONE).then(|| first..first + self.length)
    }

    pub(crate) fn set(&self, first: Option<u32>) {
        // What does not fit below the end is nowhere.
        let first = first.filter(|first| first.checked_add(self.length).is_some());
        self.first.store(first.unwrap_or(Self::NONE), Relaxed);
    }
}

/// A part in view, and its range of the renderer's buffer.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// For who writes it: its place among the others by characters.
    pub(crate) order: u32,
    pub(crate) character: Entity,
    /// Index into [`Character::parts`].
    pub(crate) part: u32,
    pub(crate) range: Range<u32>,
    /// Whether it got where it is without passing through the space between.
    pub(crate) jumped: bool,
}

/// The ranges that are to be written in this frame.
#[derive(Resource, Default)]
pub(crate) struct Redraw(pub(super) Parallel<Lists>);

#[derive(Default)]
pub(crate) struct Lists {
    /// Those whose character changed, by characters.
    pub(crate) due: Vec<Due>,
    /// Those whose character changed in the frame before and has not since. The renderer's two buffers take
    /// turns, and the other one holds what is right.
    pub(crate) kept: Vec<Range<u32>>,
}

impl Redraw {
    /// Every thread's lists, to be emptied.
    pub(crate) fn lists(&mut self) -> impl Iterator<Item = &mut Lists> {
        self.0.iter_mut()
    }
}

impl Lists {
    /// Takes in a character's parts that are in view; whether there are any.
    pub(super) fn look(
        &mut self,
        character: Entity,
        parts: &[Entity],
        seen: &Query<(&ViewVisibility, Option<&PaletteRange>)>,
    ) -> bool {
        let mut any = false;
        for (part, &entity) in parts.iter().enumerate() {
            let Ok((visibility, range)) = seen.get(entity) else { continue };
            if visibility.get() {
                any = true;
                if let Some(range) = range.and_then(PaletteRange::get) {
                    self.due.push(Due { order: 0, character, part: part as u32, range, jumped: false });
                }
            }
        }
        any
    }

    /// Decides on the parts taken in from `first` on. `again`: whether the character changed in the frame before.
    pub(super) fn settle(&mut self, first: usize, changed: bool, jumped: bool, again: &mut bool) {
        if changed {
            self.due[first..].iter_mut().for_each(|due| due.jumped = jumped);
        } else {
            let unchanged = self.due.drain(first..);
            if *again {
                self.kept.extend(unchanged.map(|due| due.range));
            }
        }
        *again = changed;
    }
}

/// Poses of characters, whether or not they keep theirs.
#[derive(SystemParam)]
pub(crate) struct Poses<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    shared: Res<'w, Shared>,
    characters: Query<'w, 's, Posed>,
}

/// What a pose is read from.
#[derive(QueryData)]
struct Posed {
    handle: &'static SkinnedCharacter,
    playing: &'static Playing,
    pose: Option<&'static ModelPose>,
    steps: Option<&'static Steps>,
    world: &'static GlobalTransform,
}

impl Poses<'_, '_> {
    /// Calls `work` with a character, its place in the world and its pose: the one it keeps, or shares, or is
    /// on its way to, or one that is worked out in `scratch`. `None` before its asset is there.
    pub(crate) fn with<R>(
        &self,
        entity: Entity,
        scratch: &mut Scratch,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        self.find(entity, scratch, false, work)
    }

    /// Like [`Self::with`], to be drawn: place and pose together lead into the world, but a pose of its own has
    /// the world's directions and scale already.
    pub(crate) fn with_drawn<R>(
        &self,
        entity: Entity,
        scratch: &mut Scratch,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        self.find(entity, scratch, true, work)
    }

    #[inline]
    fn find<R>(
        &self,
        entity: Entity,
        scratch: &mut Scratch,
        drawn: bool,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        let PosedItem { handle, playing, pose, steps, world } = self.characters.get(entity).ok()?;
        let character = self.assets.get(handle.id())?;
        let mut world = world.affine();
        let joints = match (pose, self.shared.pose_of(playing)) {
            (Some(pose), _) => &pose.joints,
            (None, Some(shared)) => shared,
            (None, None) if let Some(steps) = steps.filter(|steps| steps.is_on_its_way(self.shared.frame)) => {
                steps.write(scratch.model_mut());
                scratch.model()
            }
            (None, None) => {
                let mut root = None;
                if drawn {
                    // Not its translation: far out, joints would be rounded to what is left of the digits there.
                    root = Some(Affine3A { translation: Vec3A::ZERO, ..world });
                    world.matrix3 = Mat3A::IDENTITY;
                }
                playing.evaluate_clips(character, self.shared.steps, root.as_ref(), scratch);
                scratch.model()
            }
        };
        // A pose of another version of the asset is replaced before the next frame.
        (joints.len() == character.skeleton.len()).then(|| work(character, &world, joints))
    }
}
