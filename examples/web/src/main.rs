//! The examples as one program for the web. The page's address says which one runs: `?example=terrain`.

#[path = "../../adventure/main.rs"]
mod adventure;
#[path = "../../animation_callbacks.rs"]
mod animation_callbacks;
#[path = "../../attachments.rs"]
mod attachments;
#[path = "../../avatar.rs"]
mod avatar;
#[path = "../../blend_animations.rs"]
mod blend_animations;
#[path = "../../clip_queue.rs"]
mod clip_queue;
#[path = "../../crowd/main.rs"]
mod crowd;
#[path = "../../custom_material.rs"]
mod custom_material;
#[path = "../../dressing/main.rs"]
mod dressing;
#[path = "../../faces.rs"]
mod faces;
#[path = "../../gltf_character.rs"]
mod gltf_character;
#[path = "../../hero.rs"]
mod hero;
#[path = "../../hit_window.rs"]
mod hit_window;
#[path = "../../loading_screen.rs"]
mod loading_screen;
#[path = "../../locomotion.rs"]
mod locomotion;
#[path = "../../many_instances.rs"]
mod many_instances;
#[path = "../../md5_character.rs"]
mod md5_character;
#[path = "../../multi_animation.rs"]
mod multi_animation;
mod page;
#[path = "../../partial_body.rs"]
mod partial_body;
#[path = "../../picking.rs"]
mod picking;
#[path = "../../rig.rs"]
mod rig;
#[path = "../../skinned_mesh.rs"]
mod skinned_mesh;
#[path = "../../terrain.rs"]
mod terrain;
#[path = "../../viewer.rs"]
mod viewer;

fn main() {
    match page::example().as_str() {
        "adventure" => adventure::main(),
        "animation_callbacks" => animation_callbacks::main(),
        "attachments" => attachments::main(),
        "avatar" => avatar::main(),
        "blend_animations" => blend_animations::main(),
        "clip_queue" => clip_queue::main(),
        "crowd" => crowd::main(),
        "custom_material" => custom_material::main(),
        "dressing" => dressing::main(),
        "faces" => faces::main(),
        "gltf_character" => gltf_character::main(),
        "hero" => hero::main(),
        "hit_window" => hit_window::main(),
        "loading_screen" => loading_screen::main(),
        "locomotion" => locomotion::main(),
        "many_instances" => many_instances::main(),
        "md5_character" => md5_character::main(),
        "multi_animation" => multi_animation::main(),
        "partial_body" => partial_body::main(),
        "picking" => picking::main(),
        "rig" => rig::main(),
        "skinned_mesh" => skinned_mesh::main(),
        "terrain" => terrain::main(),
        "viewer" => viewer::main(),
        unknown => page::fail(&format!("there is no example named `{unknown}`")),
    }
}
