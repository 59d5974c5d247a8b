//! What lives in the ECS: components, systems and events of playing characters.
//!
//! | set | runs in `PostUpdate` | does |
//! | --- | --- | --- |
//! | [`CharacterSystems::Spawn`] | after Bevy's asset events | parts for characters whose asset is there, or changed |
//! | [`CharacterSystems::Advance`] | | every controller's clock, seen or not |
//! | [`CharacterSystems::Callbacks`] | | [`AnimationCallback`] and the other events, to observers and as messages |
//! | [`CharacterSystems::Bounds`] | before culling | each part's `Aabb` from the clips now playing |
//! | [`CharacterSystems::EvaluateEarly`] | before transform propagation | poses of characters that carry or wear something |
//! | [`CharacterSystems::Attach`] | before transform propagation | the carried entities' `Transform`s |
//! | [`CharacterSystems::EvaluateLate`] | after culling | poses of the others in view that keep a [`ModelPose`]; what is to be drawn anew |
//!
//! A pose is worked out when something changed that shapes it, and where it is seen; one that nobody reads
//! where its skin is drawn ([`WritePalettes`](crate::render::WritePalettes)). What is far away can be
//! posed less often ([`UpdateRate`]), what plays the same can be posed once ([`PoseSharing`]), and
//! [`PoseCounts`] says what became of all of them.

mod advance;
mod bounds;
mod components;
mod evaluate;
mod events;
mod masks;
mod part_overrides;
mod pick;
mod playing;
mod rate;
mod redraw;
mod sharing;
mod socket;
mod spawn;
mod weight_view;
mod worn;

pub use components::{CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter, Teleported};
pub use evaluate::PoseCounts;
pub use events::{
    AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CharacterReady, CrossFadeFinished,
};
pub use part_overrides::{PartId, PartOverrides};
pub use pick::{CharacterRayCast, CharacterRayHit};
pub(crate) use playing::Playing;
pub use rate::UpdateRate;
pub(crate) use redraw::{Due, PaletteRange, Poses, Redraw};
pub use sharing::PoseSharing;
pub use socket::{AttachedTo, Attachments, CharacterPoses};
pub use weight_view::{WeightView, influence_count_color, weight_color};
pub use worn::{Wears, WornBy};

use crate::{asset::CharacterAssetPlugin, controller::AnimationController};
use bevy::{asset::AssetEventSystems, camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};

/// When the work on characters happens; all in `PostUpdate`, in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// Spawns parts for characters whose asset arrived or changed.
    Spawn,
    /// Advances every controller by `Time`'s delta.
    Advance,
    /// Hands out the events that came up.
    Callbacks,
    /// Sets each part's `Aabb`.
    Bounds,
    /// Poses characters that carry or wear something, and what they wear.
    EvaluateEarly,
    /// Writes the `Transform`s of what is carried.
    Attach,
    /// Poses the other characters in view that keep a [`ModelPose`], lists what is to be drawn anew, and gives
    /// parts the meshes they are to have.
    EvaluateLate,
}

/// Plays characters: everything but the way to the GPU.
pub struct CharacterPlugin;

impl Plugin for CharacterPlugin {
    fn build(&self, app: &mut App) {
        use CharacterSystems::*;
        if !app.is_plugin_added::<CharacterAssetPlugin>() {
            app.add_plugins(CharacterAssetPlugin);
        }
        app.register_type::<SkinnedCharacter>()
            .register_type::<AnimationController>()
            .register_type::<Teleported>()
            .register_type::<PartOf>()
            .register_type::<WeightView>()
            .add_message::<AnimationCallback>()
            .add_message::<AnimationStarted>()
            .add_message::<AnimationLooped>()
            .add_message::<AnimationFinished>()
            .add_message::<CrossFadeFinished>()
            .register_type::<UpdateRate>()
            .init_resource::<advance::Collected>()
            .init_resource::<PoseSharing>()
            .init_resource::<PoseCounts>()
            .init_resource::<sharing::Shared>()
            .init_resource::<Redraw>()
            .init_resource::<weight_view::MeshVariants>()
            .init_resource::<weight_view::WeightMaterial>()
            .configure_sets(
                PostUpdate,
                (
                    (Spawn, Advance, Callbacks, Bounds, EvaluateEarly, Attach)
                        .chain()
                        .after(AssetEventSystems)
                        .before(TransformSystems::Propagate)
                        .before(VisibilitySystems::CalculateBounds),
                    EvaluateLate
                        .after(TransformSystems::Propagate)
                        .after(VisibilitySystems::MarkNewlyHiddenEntitiesInvisible),
                ),
            )
            .add_observer(socket::adopt)
            .add_systems(PostUpdate, weight_view::foresee_mirrors.before(AssetEventSystems))
            .add_systems(
                PostUpdate,
                (
                    (
                        spawn::follow_lists,
                        spawn::follow_handles,
                        spawn::renew_versions,
                        spawn::follow_assets,
                        part_overrides::apply,
                        spawn::plain_where_texture_failed,
                        worn::put_on,
                    )
                        .chain()
                        .in_set(Spawn),
                    masks::warn_of_unknown.after(Spawn).before(Advance),
                    advance::advance.in_set(Advance),
                    advance::hand_out.in_set(Callbacks),
                    bounds::follow_clips.in_set(Bounds),
                    (evaluate::early, worn::follow_bodies, bounds::follow_pose).chain().in_set(EvaluateEarly),
                    socket::attach.in_set(Attach),
                    (rate::choose, evaluate::late, sharing::share, weight_view::swap_meshes, spawn::forget_teleports)
                        .chain()
                        .in_set(EvaluateLate),
                ),
            );
    }
}
