//! Moving attached entities with the joints that carry them.

use super::{
    CharacterSystems,
    attachments::{
        AtSocket, AttachedTo, Attachments, ResolvedSocket, SocketPlace, become_child, transform_of,
    },
    components::{CharacterParts, ModelPose, SkinnedCharacter},
    detail::{Detail, rig_acts},
    names::{hint, name_of},
    pose_state::RigsAct,
    rig::{self, RigPose},
    systems::SolveStep,
};
use crate::{asset::Character, rig::RigState};
use bevy::{ecs::name::NameOrEntity, prelude::*};

pub(super) fn plugin(app: &mut App) {
    app.register_type::<AttachedTo>()
        .register_type::<AtSocket>()
        .register_type::<Attachments>()
        .add_systems(
            PostUpdate,
            (
                attach.in_set(CharacterSystems::Attach),
                rig::attach.in_set(SolveStep::Attach),
            )
                .distributive_run_if(any_with_component::<AttachedTo>),
        );
}

/// Sets the transforms of attached entities from the poses; those of rigs before they are solved.
fn attach(
    mut commands: Commands,
    (assets, rigs): (Res<Assets<Character>>, Option<Res<RigsAct>>),
    characters: Query<(
        &SkinnedCharacter,
        &CharacterParts,
        &ModelPose,
        Option<&RigPose>,
        Has<RigState>,
        Option<&Detail>,
    )>,
    mut attached: Query<(
        Entity,
        Ref<AttachedTo>,
        &AtSocket,
        &mut ResolvedSocket,
        &mut Transform,
        Option<&ChildOf>,
    )>,
    parents: Query<&ChildOf>,
    links: Query<&AttachedTo>,
    names: Query<NameOrEntity>,
) {
    for (entity, attached, at, mut resolved, mut transform, parent) in &mut attached {
        let character = attached.0;
        become_child(
            &mut commands,
            entity,
            character,
            parent,
            &parents,
            &links,
            &names,
        );
        if attached.is_changed() || resolved.name != at.socket {
            *resolved = ResolvedSocket::default();
        }
        let Ok((handle, parts, pose, rig, is_rigged, detail)) = characters.get(character) else {
            continue;
        };
        let Some(version) = parts.version else {
            continue;
        };
        if resolved.version != version {
            let Some(asset) = assets.get(handle.id()) else {
                continue;
            };
            let place = if at.socket.is_empty() {
                Some(SocketPlace::Character)
            } else {
                asset.socket(&at.socket).map(SocketPlace::Socket)
            };
            if place.is_none() {
                warn_missing(asset, character, &at.socket, &names);
            }
            *resolved = ResolvedSocket {
                version,
                name: at.socket.clone(),
                place,
            };
        }
        // The stored pose is that of the last frame until the rig has acted.
        let joints = rig
            .filter(|_| rig_acts(is_rigged, rigs.as_deref(), detail))
            .map_or(&pose.joints[..], RigPose::joints);
        if let Some(place) = resolved.place(at, joints) {
            transform.set_if_neq(transform_of(place));
        }
    }
}

/// Returns the end of a message about a socket or joint that a character doesn't have.
pub(super) fn socket_hint(asset: &Character, name: &str) -> String {
    let sockets = asset.sockets.keys().map(String::as_str);
    let joints = asset.skeleton.names().iter().map(|name| &**name);
    hint(name, sockets.chain(joints))
}

fn warn_missing(asset: &Character, character: Entity, socket: &str, names: &Query<NameOrEntity>) {
    let who = name_of(names, character);
    let hint = socket_hint(asset, socket);
    warn!("cannot attach to `{socket}` of {who}: no such socket or joint{hint}");
}
