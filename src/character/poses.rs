//! Finds a character's pose, whether or not it is stored.

use super::{
    attach::socket_hint,
    components::{ModelPose, SkinnedCharacter},
    events::AnimationCallback,
    hierarchy::upward,
    layers::{ActiveLayers, LayerTimes},
    names::{SaidNames, asset_of},
    pose_state::{EventPlaces, PoseSource, PoseStamp, PoseState},
    sharing::SharedPoses,
    worn::{WornBy, WornJoints},
};
use crate::{
    asset::Character,
    pose::{Palette, PoseBatch, Scratch, split_world},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
    utils::Parallel,
};
use glam::Affine3A;
use std::mem;

/// System parameter that reads characters' poses: the transforms of joints and sockets, and
/// skinning matrices.
///
/// # Which pose
///
/// The pose is that of the character's controller at its last advance, which happens in
/// [`CharacterSystems::Advance`](super::CharacterSystems::Advance): once per frame, or in each step of the schedule given to
/// [`MarionettePlugins::new`](crate::MarionettePlugins::new).
///
/// * Before that, it is the pose of the previous frame: the one on screen.
/// * After that, observers of animation events included, it is the pose of this frame.
///
/// It makes no difference whether the character is in view or has a [`ModelPose`]. If the pose is
/// stored, it is read from there. Otherwise it is evaluated on each call, which takes about a
/// microsecond. With [`PoseSharing`](super::PoseSharing), characters in view have the shared pose
/// as soon as it has been evaluated. Changes to [`PoseOverrides`](super::PoseOverrides) count from
/// [`CharacterSystems::EvaluateEarly`](super::CharacterSystems::EvaluateEarly) on. A worn character
/// always has the pose of its body.
///
/// World transforms are relative to the character's `GlobalTransform`, which Bevy updates in
/// [`TransformSystems::Propagate`]. Observers of a character's animation events, which run before
/// that, get its place in this frame anyway.
#[derive(SystemParam)]
pub struct CharacterPoses<'w, 's> {
    poses: Poses<'w, 's>,
    said: Res<'w, SaidNames>,
    scratch: Local<'s, Parallel<Scratch>>,
}

impl CharacterPoses<'_, '_> {
    /// Returns the world transform of a socket or joint; `None` until the asset has loaded, or if it has no such socket or
    /// joint, which is logged once.
    pub fn joint_transform(
        &self,
        character: Entity,
        socket_or_joint: &str,
    ) -> Option<GlobalTransform> {
        self.with(character, |asset, world, joints| {
            let found = socket_transform(socket_or_joint, asset, world, joints);
            if found.is_none() {
                self.warn_missing(character, asset, socket_or_joint);
            }
            found
        })
    }

    /// Returns the world transform of a socket or joint at the moment a callback key was passed,
    /// [`callback.seconds_ago`](AnimationCallback::seconds_ago) before the end of the frame; `None` until the asset
    /// has loaded, or if it has no such socket or joint.
    ///
    /// The clips are those of that moment, and a character that they carry ([`RootMotion`](super::RootMotion)) is where it
    /// was then. Otherwise the character's own transform is that of this frame, and so are the weights of its tracks. Ask
    /// before the next advance, as an observer does: after it, the tracks may play other clips.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// fn leave_footprint(step: On<AnimationCallback>, poses: CharacterPoses, mut commands: Commands) {
    ///     if step.name == "footstep"
    ///         && let Some(foot) = poses.joint_transform_at(&step, "foot.L")
    ///     {
    ///         commands.spawn(Transform::from_translation(foot.translation()));
    ///     }
    /// }
    /// ```
    pub fn joint_transform_at(
        &self,
        callback: &AnimationCallback,
        socket_or_joint: &str,
    ) -> Option<GlobalTransform> {
        let entity = callback.entity;
        // Without a moment, the pose at the end of the frame has to do. The own clips of what is worn have no effect.
        let is_worn = || self.poses.worn.contains(entity);
        let Some(moment) = callback.moment.0.as_ref().filter(|_| !is_worn()) else {
            return self.joint_transform(entity, socket_or_joint);
        };
        self.with_scratch(|scratch| {
            let times = &moment.times;
            (self.poses).with_times(entity, times, scratch, |asset, world, joints| {
                // Back along the path by which the clips have carried it since.
                let back = Transform::from(moment.carried.inverse()).compute_affine();
                let found = socket_transform(socket_or_joint, asset, &(*world * back), joints);
                if found.is_none() {
                    self.warn_missing(entity, asset, socket_or_joint);
                }
                found
            })
        })
    }

    /// Returns every joint's matrix, joint space → the character's space; `None` until the asset has loaded.
    pub fn pose(&self, character: Entity) -> Option<Vec<Affine3A>> {
        self.with(character, |_, _, joints| Some(joints.to_vec()))
    }

    /// Returns the skinning matrices of a part as the GPU gets them, one for each joint and combined joint of its
    /// palette, to skin it on the CPU. `None` until the asset has loaded, or if it has no such part.
    pub fn palette(&self, character: Entity, part: usize) -> Option<Vec<Mat4>> {
        self.with_scratch(|scratch| {
            self.poses
                .with_drawn(character, scratch, |character, &world, model| {
                    let part = character.parts.get(part)?;
                    let (remap, combined, inverse_bind) = (
                        &part.palette,
                        &part.combined_joints,
                        character.skeleton.inverse_bind(),
                    );
                    let mut out = vec![Mat4::IDENTITY; part.palette_len()];
                    Palette {
                        world,
                        model,
                        inverse_bind,
                        remap,
                        combined,
                    }
                    .run(&mut out);
                    Some(out)
                })
        })
    }

    /// Warns once of a socket or joint that a character doesn't have.
    fn warn_missing(&self, character: Entity, asset: &Character, name: &str) {
        if asset.socket(name).is_none() && self.said.is_new(asset, "joint", name) {
            let handle = self.poses.characters.get(character).map(|pose| pose.handle);
            let who = handle.map_or_else(|_| character.to_string(), |handle| asset_of(handle));
            let hint = socket_hint(asset, name);
            warn!("cannot find `{name}` of {who}: no such socket or joint{hint}");
        }
    }

    fn with<R>(
        &self,
        character: Entity,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> Option<R>,
    ) -> Option<R> {
        self.with_scratch(|scratch| self.poses.with(character, scratch, work))
    }

    fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> Option<Option<R>>) -> Option<R> {
        // Taken out while it is used, so that a nested call on the same thread gets an empty
        // scratch, and no panic.
        let mut scratch = mem::take(&mut *self.scratch.borrow_local_mut());
        let result = work(&mut scratch);
        *self.scratch.borrow_local_mut() = scratch;
        result?
    }
}

fn socket_transform(
    name: &str,
    asset: &Character,
    world: &Affine3A,
    joints: &[Affine3A],
) -> Option<GlobalTransform> {
    let socket = asset.socket(name)?;
    Some((*world * *joints.get(usize::from(socket.joint))? * socket.offset).into())
}

/// Read access to the pose of every character.
///
/// Most poses are only needed for their skin. Those are not stored: this evaluates them where the skinning
/// matrices are written, and everything in between stays in the processor's cache.
#[derive(SystemParam)]
pub(crate) struct Poses<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    event_places: Res<'w, EventPlaces>,
    shared: Res<'w, SharedPoses>,
    characters: Query<'w, 's, PoseOf>,
    worn: Query<'w, 's, (&'static WornBy, &'static WornJoints)>,
}

/// The components that a pose is read from.
#[derive(QueryData)]
struct PoseOf {
    handle: &'static SkinnedCharacter,
    layers: &'static ActiveLayers,
    state: &'static PoseState,
    kept: Option<&'static ModelPose>,
    world: &'static GlobalTransform,
}

/// A character, and the source of its pose.
pub(crate) struct FoundPose<'a> {
    entity: Entity,
    asset: AssetId<Character>,
    pub(crate) character: &'a Character,
    world: Affine3A,
    layers: &'a ActiveLayers,
    source: Source<'a>,
    is_worn: bool,
}

enum Source<'a> {
    Stored(&'a [Affine3A]),
    /// The layers with a component's overrides.
    Adjusted(&'a ModelPose),
    /// The layers alone, at times rounded to steps per second.
    Clips {
        steps: Option<f64>,
    },
}

impl<'a> FoundPose<'a> {
    /// Returns `true` if the pose is made from clips alone, and stored nowhere.
    pub(crate) fn is_streamed(&self) -> bool {
        matches!(self.source, Source::Clips { .. })
    }

    /// Returns `true` if the culling boxes of the character's parts are known to enclose the pose.
    pub(crate) fn is_in_boxes(&self) -> bool {
        self.is_streamed() && !self.layers.has_outgrown_boxes()
    }

    /// Returns a key that is equal for characters that are best posed together: those of one asset
    /// that play the same clips.
    pub(crate) fn group(&self) -> (AssetId<Character>, u64) {
        (self.asset, self.layers.clip_set())
    }

    /// Adds the pose to a batch of the same asset. Only for poses that are streamed.
    pub(crate) fn add_to(&self, batch: &mut PoseBatch<'a>) {
        let Source::Clips { steps } = self.source else {
            return;
        };
        self.layers
            .add_to(self.character, steps, &self.world, batch);
    }
}

impl Poses<'_, '_> {
    /// Calls `work` with a character's asset, its world transform and its pose. `None` until the asset has
    /// loaded.
    pub(crate) fn with<R>(
        &self,
        entity: Entity,
        scratch: &mut Scratch,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        let work =
            |asset: &_, world: &_, joints: &_| work(asset, &self.place(entity, world), joints);
        self.with_found(self.look_up(entity)?, scratch, false, work)
    }

    /// Like [`Self::with`], but only the product of transform and pose is meaningful: the rotation and scale of
    /// the character may be in either of them.
    pub(crate) fn with_drawn<R>(
        &self,
        entity: Entity,
        scratch: &mut Scratch,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        self.with_found(self.look_up(entity)?, scratch, true, work)
    }

    /// Like [`Self::with`], but with the pose of the character's layers at other times.
    fn with_times<R>(
        &self,
        entity: Entity,
        times: &LayerTimes,
        scratch: &mut Scratch,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        let PoseOfItem {
            handle,
            layers,
            kept,
            world,
            ..
        } = self.characters.get(entity).ok()?;
        let character = self.assets.get(handle.id())?;
        let overrides = kept.map_or(&[][..], |pose| &pose.overrides);
        layers.at(times).evaluate(character, overrides, scratch);
        Some(work(
            character,
            &self.place(entity, &world.affine()),
            scratch.model(),
        ))
    }

    /// The world transform of a character that was looked up.
    pub(crate) fn place_of(&self, found: &FoundPose) -> Affine3A {
        self.place(found.entity, &found.world)
    }

    /// The world transform of a character, given that of its last propagation.
    fn place(&self, entity: Entity, world: &Affine3A) -> Affine3A {
        // Empty, except while events are dispatched. In all other cases, nothing is hashed.
        let places = &self.event_places.0;
        if places.is_empty() {
            *world
        } else {
            places.get(&entity).copied().unwrap_or(*world)
        }
    }

    /// Finds the source of a character's pose. `None` until the asset has loaded.
    #[inline]
    pub(crate) fn look_up(&self, entity: Entity) -> Option<FoundPose<'_>> {
        let PoseOfItem {
            handle,
            layers,
            state,
            kept,
            world,
        } = self.characters.get(entity).ok()?;
        let asset = handle.id();
        let character = self.assets.get(asset)?;
        let revision = layers.revision();
        // Whether the character was posed since its controller was last advanced.
        let is_posed = state.revision == revision;
        let kept = kept.filter(|pose| pose.joints.len() == character.skeleton.len());
        // A copy of a body's pose counts only while the body wears the character.
        let is_worn =
            kept.is_some_and(|pose| pose.stamp == PoseStamp::Worn) && self.worn.contains(entity);
        let is_valid = |pose: &ModelPose| match pose.stamp {
            PoseStamp::Worn => is_worn,
            PoseStamp::Never => false,
            stamp => is_posed || stamp.revision() == Some(revision),
        };
        let source = match (kept, state.source) {
            (Some(pose), _) if is_valid(pose) => Source::Stored(&pose.joints),
            (Some(pose), _) => Source::Adjusted(pose),
            (None, PoseSource::Shared(index))
                if is_posed && let Some(joints) = self.shared.get(index) =>
            {
                Source::Stored(joints)
            }
            (None, _) => Source::Clips {
                steps: self.shared.steps.filter(|_| is_posed),
            },
        };
        Some(FoundPose {
            entity,
            asset,
            character,
            world: world.affine(),
            layers,
            source,
            is_worn,
        })
    }

    /// Calls `work` with a character, its world transform and its pose: like [`Self::with_drawn`] if `drawn`, else like
    /// [`Self::with`].
    #[inline]
    pub(crate) fn with_found<R>(
        &self,
        found: FoundPose,
        scratch: &mut Scratch,
        drawn: bool,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> R,
    ) -> Option<R> {
        let FoundPose {
            entity,
            character,
            mut world,
            layers,
            source,
            is_worn,
            ..
        } = found;
        if is_worn && let Some((joints, place)) = self.of_body(entity, character, scratch) {
            return Some(work(
                character,
                if drawn { &world } else { &place },
                &joints,
            ));
        }
        let joints = match source {
            Source::Stored(joints) => joints,
            Source::Adjusted(pose) => {
                layers.evaluate(character, &pose.overrides, scratch);
                scratch.model()
            }
            Source::Clips { steps } => {
                let mut root = None;
                // With rotation and scale in the roots, palettes only have a translation to add.
                if drawn {
                    let (turn, place) = split_world(&world);
                    (root, world) = (Some(turn), place);
                }
                layers.evaluate_clips(character, steps, root.as_ref(), scratch);
                scratch.model()
            }
        };
        // Shared poses of another version of the asset are replaced before the next frame.
        (joints.len() == character.skeleton.len()).then(|| work(character, &world, joints))
    }

    /// The pose of a worn character and its place, if its body has been advanced and not posed since.
    #[cold]
    fn of_body(
        &self,
        entity: Entity,
        character: &Character,
        scratch: &mut Scratch,
    ) -> Option<(Vec<Affine3A>, Affine3A)> {
        let (_, joints) = self.worn.get(entity).ok()?;
        // Clothes may be worn over clothes. The outermost body is the one that moves.
        let outermost = upward(entity, |entity| Some(self.worn.get(entity).ok()?.0.0)).last()?;
        let body = self.characters.get(outermost).ok()?;
        // The body was posed after it advanced, so the stored copy is up to date.
        if body
            .kept
            .is_some_and(|pose| pose.stamp.revision() == Some(body.layers.revision()))
        {
            return None;
        }
        self.with_found(
            self.look_up(outermost)?,
            scratch,
            false,
            |body, world, pose| {
                Some((
                    joints.follow(character, body, pose)?,
                    self.place(outermost, world),
                ))
            },
        )?
    }
}
