//! Characters in an app without a window or a GPU, as on a server.

#[path = "../../src/tests/messages.rs"]
mod messages;
mod support;

mod baked;
mod beside_bevy;
mod bevy_animation_defects;
mod bsn;
mod clips;
mod clock;
mod conventions;
mod crowd;
mod events;
mod faces;
mod feet;
mod fixed_steps;
mod folder;
#[cfg(feature = "gltf")]
mod gltf;
#[cfg(feature = "gltf")]
mod gltf_beside_bevy;
mod life;
mod loading;
mod locomotion;
mod lod;
mod materials;
mod names;
mod parts;
mod picking;
mod random_life;
mod recorder;
mod reload;
mod rig;
mod rollback;
mod root_motion;
mod save;
mod scenes;
mod soak;
mod sockets;
mod springs;
mod steering;
mod typed_callbacks;
mod typed_states;
mod unlisted;
