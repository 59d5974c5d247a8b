//! The steps of a frame, and their order.

use bevy::{
    asset::AssetEventSystems, camera::visibility::VisibilitySystems,
    ecs::schedule::InternedScheduleLabel, prelude::*, transform::TransformSystems,
};

#[cfg(doc)]
use super::*;

/// The steps of a frame, in this order.
///
/// [`Advance`](Self::Advance), [`RootMotion`](Self::RootMotion) and [`Callbacks`](Self::Callbacks) run in the schedule
/// given to [`MarionettePlugins::new`](crate::MarionettePlugins::new), `PostUpdate` by default.
/// [`ExtractPalettes`](Self::ExtractPalettes) and [`UploadPalettes`](Self::UploadPalettes) run in the render app, and everything
/// else in `PostUpdate`.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn read_poses() {}
/// # let mut app = App::new();
/// app.add_systems(PostUpdate, read_poses.after(CharacterSystems::SharePoses));
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// After Bevy's asset events. Spawns, replaces and despawns the parts of characters whose asset has loaded or
    /// changed, triggers [`CharacterReady`] and [`CharacterFailed`], applies [`PartOverrides`], and makes worn
    /// characters children of their bodies.
    Spawn,
    /// Advances the controllers of all characters, seen or not, by the delta of `Time`, and looks
    /// up their active clips.
    Advance,
    /// Moves the characters that have [`RootMotion`](struct@RootMotion), unless it only reports.
    RootMotion,
    /// Triggers the animation events of the frame: [`AnimationCallback`], [`AnimationStarted`],
    /// [`AnimationLooped`], [`AnimationFinished`], [`CrossFadeFinished`], and [`StateEntered`].
    Callbacks,
    /// Before culling. Sets each part's `Aabb` from the active clips.
    Bounds,
    /// Before transform propagation. Poses characters that carry or wear something, have
    /// [`PoseOverrides`] or a rig, in view or not, by their clips and overrides; copies the poses
    /// to worn characters.
    EvaluateEarly,
    /// Before transform propagation. Sets the `Transform`s of entities that are [`AttachedTo`] a joint.
    Attach,
    /// Before transform propagation. Asks for the ground under the feet of characters with a
    /// [`FootPlacement`]: answer their [`GroundProbe`]s in this set. Meshes marked as [`Ground`]
    /// are tested for you.
    ProbeGround,
    /// Before transform propagation. Lets rigs act on the poses of their characters: [`LookAt`],
    /// then [`IkGoal`]s, then [`FootPlacement`], then [`SpringBones`]. Attached entities and worn
    /// characters follow, and the boxes of all characters with overrides or a rig are set from
    /// their poses.
    SolveRigs,
    /// After transform propagation and culling. Chooses the level of detail of characters with an
    /// [`AnimationLod`].
    ChooseDetail,
    /// Poses the other characters in view that have a [`ModelPose`], detects jumps, and collects the palettes to write.
    EvaluateLate,
    /// Evaluates each pose that characters share once ([`PoseSharing`]). After this set every [`ModelPose`] is up
    /// to date.
    SharePoses,
    /// After [`EvaluateLate`](Self::EvaluateLate). Blends the morph weights of characters in view, with their
    /// [`Expressions`] and [`IdleEyes`], and gives them to their parts.
    PoseMorphs,
    /// After [`EvaluateLate`](Self::EvaluateLate). Gives parts the mesh variants they need: mirrored, or colored
    /// by weight.
    SwapMeshes,
    /// After [`EvaluateLate`](Self::EvaluateLate). Removes [`Teleported`].
    ClearTeleported,
    /// Poses ordinary characters, those in view whose pose is not needed elsewhere, and writes the
    /// skinning matrices of all characters in view that changed. Runs beside the rendering of the
    /// previous frame.
    PosePalettes,
    /// In the render app's `ExtractSchedule`, after Bevy's `extract_skins`. Writes the skinning
    /// matrices of parts that have just come into view.
    ExtractPalettes,
    /// In the render app's `Render` schedule, before it waits for an image to draw to. Uploads all skinning matrices in
    /// `SkinUniforms`, Bevy's own included. The buffer they were in is empty from then on, until `ExtractSchedule`.
    UploadPalettes,
}

/// The steps of [`CharacterSystems::Spawn`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SpawnStep {
    /// Parts are spawned and despawned.
    Parts,
    /// The last of these: assets that failed to load are reported.
    Report,
    /// Systems that depend on the spawned parts.
    Looks,
    /// Weights replace the looks of parts.
    Weights,
}

/// The steps of [`CharacterSystems::EvaluateEarly`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EarlyStep {
    /// Poses by clips and overrides.
    Pose,
    /// Worn characters take these poses.
    Dress,
}

/// The steps of [`CharacterSystems::SolveRigs`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SolveStep {
    /// The targets of rigs are looked up.
    Aim,
    /// Rigs act.
    Act,
    /// Worn characters take the poses.
    Dress,
    /// Attached entities follow the joints.
    Attach,
    /// Boxes are set from the poses.
    Enclose,
}

/// Orders all sets. Controllers advance in `schedule`.
pub(super) fn configure(app: &mut App, schedule: InternedScheduleLabel) {
    use CharacterSystems::*;
    // Chained: callbacks report where root motion has taken their character.
    app.configure_sets(schedule, (Advance, RootMotion, Callbacks).chain())
        .configure_sets(
            PostUpdate,
            (
                (
                    Spawn,
                    Advance,
                    RootMotion,
                    Callbacks,
                    Bounds,
                    EvaluateEarly,
                    Attach,
                    ProbeGround,
                    SolveRigs,
                )
                    .chain()
                    .after(AssetEventSystems)
                    .before(TransformSystems::Propagate)
                    // Bevy culls by the boxes that are set here.
                    .before(VisibilitySystems::CalculateBounds),
                (ChooseDetail, EvaluateLate, SharePoses, PosePalettes)
                    .chain()
                    .after(TransformSystems::Propagate)
                    .after(VisibilitySystems::MarkNewlyHiddenEntitiesInvisible),
                (PoseMorphs, SwapMeshes, ClearTeleported).after(EvaluateLate),
                // Commands are applied only once in between.
                (SpawnStep::Parts, SpawnStep::Looks).chain().in_set(Spawn),
                SpawnStep::Weights
                    .in_set(Spawn)
                    .after_ignore_deferred(SpawnStep::Looks),
                (EarlyStep::Pose, EarlyStep::Dress)
                    .chain()
                    .in_set(EvaluateEarly),
                (
                    SolveStep::Aim,
                    SolveStep::Act,
                    SolveStep::Dress,
                    SolveStep::Attach,
                    SolveStep::Enclose,
                )
                    .chain()
                    .in_set(SolveRigs),
            ),
        );
}
