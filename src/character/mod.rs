//! Characters in the ECS: their components, systems and events.
//!
//! [`CharacterSystems`] lists what runs in a frame, in order. Poses are only evaluated when something changed
//! that shapes them, and only where they are seen; poses that nobody reads go straight to the GPU. Characters
//! that are far away can be posed less often ([`UpdateRate`]), those that play the same can share a pose
//! ([`PoseSharing`]), and [`PoseCounts`] tells what a frame did.

mod advance;
mod attachments;
mod bounds;
mod components;
mod counts;
mod dirty_palettes;
mod evaluate;
mod events;
mod expressions;
mod hierarchy;
mod idle_eyes;
mod layers;
mod masks;
mod mesh_swap;
mod mesh_variants;
mod morphs;
mod names;
mod part_overrides;
#[cfg(feature = "picking")]
mod picking;
mod pose_state;
mod poses;
mod ray_cast;
mod rig;
mod root_motion;
mod sharing;
mod spawn;
mod tape_head;
mod threads;
mod typed_callbacks;
mod update_rate;
mod weight_view;
mod worn;

pub use attachments::{AtSocket, AttachedTo, Attachments, DetachExt};
pub use components::{
    CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter, Teleported,
};
pub use counts::PoseCounts;
pub use events::{
    AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CallbackMoment,
    CharacterFailed, CharacterReady, CrossFadeFinished,
};
pub use expressions::Expressions;
pub use idle_eyes::IdleEyes;
pub use morphs::MorphPose;
pub use part_overrides::{PartId, PartOverrides};
#[cfg(feature = "picking")]
pub use picking::CharacterPickingPlugin;
pub use poses::CharacterPoses;
pub use ray_cast::{CharacterRayCast, CharacterRayHit};
pub use rig::{
    FootPlacement, GoalLimb, Ground, GroundProbe, IkGoal, IkGoals, IkLimb, IkWeight, LookAt,
    LookTarget, SpringBones, SpringGravity,
};
pub use root_motion::{RootMotion, RootMotionMode};
pub use sharing::PoseSharing;
pub use typed_callbacks::{AppCallbackExt, Callback};
pub use update_rate::UpdateRate;
pub use weight_view::{WeightView, influence_count_color, weight_color};
pub use worn::{Wears, WornBy};

pub(crate) use dirty_palettes::{DirtyPalettes, PaletteJob, PaletteRange};
pub(crate) use morphs::GrownMorphs;
pub(crate) use poses::{FoundPose, Poses};
pub(crate) use rig::RigReplay;
pub(crate) use tape_head::TapeHead;
pub(crate) use threads::trim;

use crate::{
    asset::{Character, CharacterAssetPlugin},
    controller::AnimationController,
    rig::{RigState, Wind},
};
use bevy::{
    asset::{AssetEventSystems, AssetLoadFailedEvent},
    camera::visibility::VisibilitySystems,
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
    transform::TransformSystems,
};

/// What runs in a frame, in this order.
///
/// [`Advance`](Self::Advance), [`RootMotion`](Self::RootMotion) and [`Callbacks`](Self::Callbacks) run in the schedule
/// given to [`CharacterPlugin::new`], `PostUpdate` by default. [`ExtractPalettes`](Self::ExtractPalettes) and
/// [`UploadPalettes`](Self::UploadPalettes) run in the render app, and everything else in `PostUpdate`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// After Bevy's asset events. Spawns, replaces and despawns the parts of characters whose asset has loaded or
    /// changed, triggers [`CharacterReady`] and [`CharacterFailed`], applies [`PartOverrides`], and makes worn
    /// characters children of their bodies.
    Spawn,
    /// Advances the controllers of all characters, seen or not, by the delta of `Time`, and looks up which clips
    /// they play.
    Advance,
    /// Moves the characters that have [`RootMotion`](struct@RootMotion), unless it only reports.
    RootMotion,
    /// Triggers the animation events of the frame: [`AnimationCallback`], [`AnimationStarted`],
    /// [`AnimationLooped`], [`AnimationFinished`] and [`CrossFadeFinished`].
    Callbacks,
    /// Before culling. Sets each part's `Aabb` from the clips that play.
    Bounds,
    /// Before transform propagation. Poses characters that carry or wear something, have [`PoseOverrides`] or a rig,
    /// in view or not, by their clips and overrides; copies the poses to what is worn.
    EvaluateEarly,
    /// Before transform propagation. Sets the `Transform`s of entities that are [`AttachedTo`] a joint.
    Attach,
    /// Before transform propagation. Asks for the ground under the feet of characters with a [`FootPlacement`]: answer
    /// their [`GroundProbe`]s here. Meshes marked as [`Ground`] answer by themselves.
    ProbeGround,
    /// Before transform propagation. Lets rigs act on the poses of their characters: [`LookAt`], then [`IkGoal`]s, then
    /// [`FootPlacement`], then [`SpringBones`]. What is attached to them or worn by them follows, and the boxes of all
    /// characters with overrides or a rig are set from their poses.
    SolveRigs,
    /// After transform propagation and culling. Chooses how often characters with an [`UpdateRate`] are posed.
    UpdateRates,
    /// Poses the other characters in view that have a [`ModelPose`] or an [`UpdateRate`], detects jumps, and
    /// collects the palettes to write.
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
    /// Poses ordinary characters, those in view whose pose nobody else needs, and writes the skinning matrices of
    /// all characters in view that changed. Runs beside the rendering of the previous frame.
    PosePalettes,
    /// In the render app's `ExtractSchedule`, after Bevy's `extract_skins`. Writes the skinning matrices of what has just
    /// come into view.
    ExtractPalettes,
    /// In the render app's `Render` schedule, before it waits for an image to draw to. Uploads all skinning matrices in
    /// `SkinUniforms`, Bevy's own included. The buffer they were in is empty from then on, until `ExtractSchedule`.
    UploadPalettes,
}

/// Plays characters: everything except their way to the GPU, which is
/// [`PalettePlugin`](crate::render::PalettePlugin)'s.
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins).
pub struct CharacterPlugin {
    schedule: InternedScheduleLabel,
}

impl CharacterPlugin {
    /// Advances controllers and triggers animation events in a schedule other than `PostUpdate`.
    ///
    /// In `FixedUpdate` or the like, clocks and events run in fixed steps. Poses then change as often as that
    /// schedule runs.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{character::CharacterPlugin, prelude::*};
    /// App::new()
    ///     .add_plugins(DefaultPlugins)
    ///     .add_plugins(MarionettePlugins.set(CharacterPlugin::new(FixedUpdate)));
    /// ```
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }

    /// The schedule in which controllers advance.
    pub(crate) fn schedule(&self) -> InternedScheduleLabel {
        self.schedule
    }
}

impl Default for CharacterPlugin {
    fn default() -> Self {
        Self::new(PostUpdate)
    }
}

impl Plugin for CharacterPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<CharacterAssetPlugin>() {
            app.add_plugins(CharacterAssetPlugin);
        }
        register_types(app);
        let observed =
            events::CallbacksObserved(events::is_heard::<AnimationCallback>(app.world()));
        app.init_resource::<PoseSharing>()
            .init_resource::<PoseCounts>()
            .init_resource::<advance::PendingEvents>()
            .init_resource::<bounds::OutgrownBoxes>()
            .insert_resource(observed)
            .add_observer(events::note_observers)
            .init_resource::<pose_state::PoseClock>()
            .init_resource::<sharing::SharedPoses>()
            .init_resource::<DirtyPalettes>()
            .init_resource::<GrownMorphs>()
            .init_resource::<mesh_variants::MeshVariants>()
            .init_resource::<weight_view::WeightMaterial>()
            .init_resource::<Wind>()
            .init_resource::<SpringGravity>();
        app.register_required_components::<RigState, ModelPose>();
        app.register_required_components::<RigState, rig::RigPose>();
        self.configure_sets(app);
        self.add_systems(app);
    }
}

impl CharacterPlugin {
    fn configure_sets(&self, app: &mut App) {
        use CharacterSystems::*;
        app.configure_sets(
            self.schedule,
            (Advance, CharacterSystems::RootMotion, Callbacks).chain(),
        )
        .configure_sets(
            PostUpdate,
            (
                (
                    Spawn,
                    Advance,
                    CharacterSystems::RootMotion,
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
                    .before(VisibilitySystems::CalculateBounds),
                (UpdateRates, EvaluateLate, SharePoses, PosePalettes)
                    .chain()
                    .after(TransformSystems::Propagate)
                    .after(VisibilitySystems::MarkNewlyHiddenEntitiesInvisible),
                (PoseMorphs, SwapMeshes, ClearTeleported).after(EvaluateLate),
            ),
        );
    }

    fn add_systems(&self, app: &mut App) {
        use CharacterSystems::*;
        // Skipping a system costs next to nothing. Running one that finds nothing to do costs microseconds, because Bevy hands
        // it to a thread all the same.
        app.add_systems(
            self.schedule,
            (
                masks::warn_of_unknown
                    .after(Spawn)
                    .before(Advance)
                    .run_if(any_with_component::<SkinnedCharacter>),
                advance::advance
                    .in_set(Advance)
                    .run_if(any_with_component::<SkinnedCharacter>),
                root_motion::apply
                    .in_set(CharacterSystems::RootMotion)
                    .run_if(any_with_component::<root_motion::RootMotion>),
                advance::dispatch_events.in_set(Callbacks),
            ),
        )
        .add_systems(
            PostUpdate,
            (
                // New meshes reach the GPU in this frame if they are made before Bevy's asset events.
                mesh_swap::prepare_mirrored_meshes
                    .before(AssetEventSystems)
                    .run_if(any_with_component::<SkinnedCharacter>),
                // Commands are applied only once in between, because overrides need the new parts.
                (
                    (
                        spawn::warn_of_stripped_parts.run_if(any_with_component::<PartOf>),
                        spawn::follow_lists.run_if(
                            any_component_removed::<CharacterParts>
                                .or_else(any_match_filter::<Added<PartOf>>),
                        ),
                        spawn::renew_versions.run_if(on_message::<AssetEvent<Character>>),
                        (
                            spawn::follow_handles,
                            spawn::follow_assets,
                            spawn::report_failures,
                        )
                            .chain_ignore_deferred()
                            .run_if(
                                any_match_filter::<Changed<SkinnedCharacter>>
                                    .or_else(any_component_removed::<SkinnedCharacter>)
                                    .or_else(on_message::<AssetEvent<Character>>)
                                    .or_else(on_message::<AssetLoadFailedEvent<Character>>),
                            ),
                        worn::put_on.run_if(any_with_component::<WornBy>),
                    )
                        .chain_ignore_deferred(),
                    (
                        part_overrides::apply.run_if(
                            any_match_filter::<
                                Or<(Changed<PartOverrides>, Changed<WeightView>, Added<PartOf>)>,
                            >
                                .or_else(any_component_removed::<PartOverrides>)
                                .or_else(any_component_removed::<WeightView>),
                        ),
                        spawn::drop_failed_textures.run_if(
                            on_message::<AssetLoadFailedEvent<Image>>
                                .or_else(on_message::<AssetEvent<Character>>),
                        ),
                        rig::add_springs.run_if(
                            any_match_filter::<Or<(Changed<CharacterParts>, Changed<SpringBones>)>>
                                .or_else(on_message::<AssetEvent<Character>>),
                        ),
                    )
                        .chain_ignore_deferred(),
                )
                    .chain()
                    .in_set(Spawn),
                bounds::follow_clips
                    .in_set(Bounds)
                    .run_if(any_with_component::<SkinnedCharacter>),
                (
                    evaluate::early,
                    rig::pose_clips.run_if(any_with_component::<RigState>),
                    worn::follow_bodies::<Without<RigState>>.run_if(any_with_component::<WornBy>),
                )
                    .chain()
                    .in_set(EvaluateEarly),
                attachments::attach
                    .in_set(Attach)
                    .run_if(any_with_component::<AttachedTo>),
                rig::place_rays
                    .after(Attach)
                    .before(ProbeGround)
                    .run_if(any_with_component::<FootPlacement>),
                rig::probe_meshes
                    .in_set(ProbeGround)
                    .run_if(any_with_component::<Ground>.or_else(on_message::<AssetEvent<Mesh>>)),
                (
                    (
                        rig::fade_weights.run_if(any_with_component::<IkWeight>),
                        rig::resolve_goals.run_if(any_with_component::<IkGoal>),
                        rig::resolve_looks.run_if(any_with_component::<LookAt>),
                    ),
                    rig::solve.run_if(any_with_component::<RigState>),
                    worn::follow_bodies::<With<RigState>>.run_if(any_with_component::<WornBy>),
                    rig::attach.run_if(any_with_component::<AttachedTo>),
                    bounds::follow_pose.run_if(any_with_component::<ModelPose>),
                )
                    .chain()
                    .in_set(SolveRigs),
                update_rate::choose
                    .in_set(UpdateRates)
                    .run_if(any_with_component::<UpdateRate>),
                evaluate::late.in_set(EvaluateLate),
                sharing::share
                    .in_set(SharePoses)
                    .run_if(not(resource_equals(PoseSharing::Off))),
                (
                    (
                        expressions::advance.run_if(any_with_component::<Expressions>),
                        idle_eyes::advance.run_if(any_with_component::<IdleEyes>),
                    ),
                    morphs::pose.run_if(any_with_component::<MorphPose>),
                    morphs::follow_bodies.run_if(any_with_component::<WornBy>),
                )
                    .chain()
                    .in_set(PoseMorphs),
                mesh_swap::swap_meshes.in_set(SwapMeshes),
                spawn::clear_teleported
                    .in_set(ClearTeleported)
                    .run_if(any_with_component::<Teleported>),
            ),
        );
    }
}

/// Registers every component, resource and event, so that scenes can hold them and editors can show them.
///
/// All in one place, because Bevy's `reflect_auto_register` is a feature that an app may not have.
fn register_types(app: &mut App) {
    app.register_type::<SkinnedCharacter>()
        .register_type::<AnimationController>()
        .register_type::<CharacterParts>()
        .register_type::<PartOf>()
        .register_type::<ModelPose>()
        .register_type::<RootMotion>()
        .register_type::<PoseOverrides>()
        .register_type::<Teleported>()
        .register_type::<MorphPose>()
        .register_type::<Expressions>()
        .register_type::<IdleEyes>()
        .register_type::<AttachedTo>()
        .register_type::<AtSocket>()
        .register_type::<Attachments>()
        .register_type::<WornBy>()
        .register_type::<Wears>()
        .register_type::<PartOverrides>()
        .register_type::<UpdateRate>()
        .register_type::<RigState>()
        .register_type::<IkGoal>()
        .register_type::<IkLimb>()
        .register_type::<IkGoals>()
        .register_type::<IkWeight>()
        .register_type::<LookAt>()
        .register_type::<SpringBones>()
        .register_type::<SpringGravity>()
        .register_type::<Wind>()
        .register_type::<FootPlacement>()
        .register_type::<GroundProbe>()
        .register_type::<Ground>()
        .register_type::<WeightView>()
        .register_type::<PoseSharing>()
        .register_type::<PoseCounts>()
        .register_type::<AnimationCallback>()
        .register_type::<AnimationStarted>()
        .register_type::<AnimationLooped>()
        .register_type::<AnimationFinished>()
        .register_type::<CrossFadeFinished>()
        .register_type::<CharacterReady>()
        .register_type::<CharacterFailed>();
}
