//! Where to find a character's pose, whether or not it is stored.

use super::{
    components::{ModelPose, SkinnedCharacter},
    layers::ActiveLayers,
    pose_state::{PoseSource, PoseState},
    sharing::SharedPoses,
    update_rate::PoseInterpolation,
};
use crate::{
    asset::Character,
    pose::{Palette, Scratch},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
    utils::Parallel,
};
use glam::{Affine3A, Mat3A, Vec3A};
use std::mem;

/// System parameter that tells where a character's joints are.
///
/// # Which pose
///
/// The answer is what the character's controller has played up to its last advance, which happens once per
/// frame in [`CharacterSystems::Advance`](super::CharacterSystems::Advance):
///
/// * Before that, it is the pose of the previous frame: the one on screen.
/// * After that, observers of animation events included, it is the pose of this frame.
///
/// It makes no difference whether the character is in view or has a [`ModelPose`]. If the pose is stored
/// somewhere, it is read from there, otherwise it is evaluated on each call, which takes about a microsecond.
/// With an [`UpdateRate`](super::UpdateRate) or [`PoseSharing`](super::PoseSharing), once they were posed,
/// characters in view answer with the pose as it is drawn. Changes to
/// [`PoseOverrides`](super::PoseOverrides) count, and a worn character follows its body, from
/// [`CharacterSystems::EvaluateEarly`](super::CharacterSystems::EvaluateEarly) on.
///
/// World transforms are relative to the character's `GlobalTransform`, which Bevy updates in
/// [`TransformSystems::Propagate`].
#[derive(SystemParam)]
pub struct CharacterPoses<'w, 's> {
    poses: Poses<'w, 's>,
    scratch: Local<'s, Parallel<Scratch>>,
}

impl CharacterPoses<'_, '_> {
    /// World transform of a socket or joint. `None` until the asset has loaded, or if it has no such socket or
    /// joint.
    pub fn joint_transform(&self, character: Entity, socket_or_joint: &str) -> Option<GlobalTransform> {
        self.with(character, |asset, world, joints| {
            let socket = asset.socket(socket_or_joint)?;
            Some((*world * *joints.get(usize::from(socket.joint))? * socket.offset).into())
        })
    }

    /// Every joint's matrix, joint space → the character's space. `None` until the asset has loaded.
    pub fn pose(&self, character: Entity) -> Option<Vec<Affine3A>> {
        self.with(character, |_, _, joints| Some(joints.to_vec()))
    }

    /// The skinning matrices of a part as the GPU gets them, to skin it on the CPU. `None` until the asset has
    /// loaded, or if it has no such part.
    pub fn palette(&self, character: Entity, part: usize) -> Option<Vec<Mat4>> {
        let mut scratch = mem::take(&mut *self.scratch.borrow_local_mut());
        let palette = self.poses.with_drawn(character, &mut scratch, |character, &world, model| {
            let (remap, inverse_bind) = (&character.parts.get(part)?.palette, character.skeleton.inverse_bind());
            let mut out = vec![Mat4::IDENTITY; remap.len()];
            Palette { world, model, inverse_bind, remap }.run(&mut out);
            Some(out)
        });
        *self.scratch.borrow_local_mut() = scratch;
        palette?
    }

    fn with<R>(
        &self,
        character: Entity,
        work: impl FnOnce(&Character, &Affine3A, &[Affine3A]) -> Option<R>,
    ) -> Option<R> {
        let mut scratch = mem::take(&mut *self.scratch.borrow_local_mut());
        let result = self.poses.with(character, &mut scratch, work);
        *self.scratch.borrow_local_mut() = scratch;
        result?
    }
}

/// Read access to the pose of every character.
///
/// Most poses are only needed for their skin. Those are not stored: this evaluates them where the skinning
/// matrices are written, and everything in between stays in the processor's cache.
#[derive(SystemParam)]
pub(crate) struct Poses<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    shared: Res<'w, SharedPoses>,
    characters: Query<'w, 's, PoseOf>,
}

/// What a pose is read from.
#[derive(QueryData)]
struct PoseOf {
    handle: &'static SkinnedCharacter,
    layers: &'static ActiveLayers,
    state: &'static PoseState,
    kept: Option<&'static ModelPose>,
    interpolation: Option<&'static PoseInterpolation>,
    world: &'static GlobalTransform,
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
        self.find(entity, scratch, false, work)
    }

    /// Like [`Self::with`], but only the product of transform and pose is meaningful: the rotation and scale of
    /// the character may be in either of them.
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
        let PoseOfItem { handle, layers, state, kept, interpolation, world } = self.characters.get(entity).ok()?;
        let character = self.assets.get(handle.id())?;
        let mut world = world.affine();
        let revision = layers.revision();
        // Whether the character was posed since its controller was last advanced.
        let is_posed = state.revision == revision;
        let kept = kept.filter(|pose| pose.joints.len() == character.skeleton.len());
        let joints = match (kept, state.source) {
            (Some(pose), _) if is_posed || pose.stamp.is_current(revision) => &pose.joints,
            (None, PoseSource::Shared(index)) if is_posed && let Some(joints) = self.shared.get(index) => joints,
            (None, PoseSource::Interpolated) if is_posed && let Some(interpolation) = interpolation => {
                interpolation.write(scratch.model_mut());
                scratch.model()
            }
            (Some(pose), _) => {
                layers.evaluate(character, &pose.overrides, scratch);
                scratch.model()
            }
            (None, _) => {
                let mut root = None;
                if drawn {
                    // Without the translation: far from the origin, it would round the joints.
                    root = Some(Affine3A { translation: Vec3A::ZERO, ..world });
                    world.matrix3 = Mat3A::IDENTITY;
                }
                layers.evaluate_clips(character, self.shared.steps.filter(|_| is_posed), root.as_ref(), scratch);
                scratch.model()
            }
        };
        // Shared poses of another version of the asset are replaced before the next frame.
        (joints.len() == character.skeleton.len()).then(|| work(character, &world, joints))
    }
}
