//! Our glTF loader beside Bevy's: both read one file, and their materials are the same.

use super::{
    gltf,
    loading::write,
    support::{all_of_bevy, asset_folder},
};
use bevy::{gltf::Gltf, image::ImageSampler, prelude::*};
use bevy_marionette::asset::Character;
use std::time::Duration;

fn load<A: Asset>(app: &mut App, path: &'static str) -> Handle<A> {
    let server = app.world().resource::<AssetServer>().clone();
    let handle = server.load::<A>(path);
    for _ in 0..2000 {
        app.update();
        if server.is_loaded_with_dependencies(&handle) {
            return handle;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{path}: {:?}", server.load_state(&handle));
}

fn asset<'a, A: Asset>(app: &'a App, handle: &Handle<A>) -> &'a A {
    app.world().resource::<Assets<A>>().get(handle).unwrap()
}

#[test]
fn materials_are_those_of_bevys_own_loader() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", gltf::glb(&gltf::model()));
    let mut app = all_of_bevy(asset_folder(folder.path()), None);
    let character: Handle<Character> = load(&mut app, "chain.glb");
    // Bevy's own labels stay reachable beside it.
    let scene: Handle<Gltf> = load(&mut app, "chain.glb");
    assert_eq!(
        asset(&app, &scene).animations.len(),
        asset(&app, &character).clips.len()
    );
    for (part, label) in [
        (0, "chain.glb#Material0/std"),
        (1, "chain.glb#Material1/std"),
    ] {
        let theirs: Handle<StandardMaterial> = load(&mut app, label);
        let ours = asset(&app, &asset(&app, &character).parts[part].material);
        let theirs = asset(&app, &theirs);
        // Every field but the textures, whose handles differ.
        let without_textures = |material: &StandardMaterial| {
            let mut material = material.clone();
            for texture in textures_mut(&mut material) {
                *texture = None;
            }
            // These have no effect: emitted light has no alpha, and there is no clear coat.
            material.emissive.alpha = 1.0;
            material.clearcoat_perceptual_roughness = 0.0;
            format!("{material:#?}").replace("-0.0,", "0.0,")
        };
        assert_eq!(without_textures(ours), without_textures(theirs), "{label}");
        for (ours, theirs) in textures_mut(&mut ours.clone())
            .into_iter()
            .zip(textures_mut(&mut theirs.clone()))
        {
            assert_eq!(ours.is_some(), theirs.is_some());
            let (Some(ours), Some(theirs)) = (ours, theirs) else {
                continue;
            };
            let (ours, theirs) = (asset(&app, ours), asset(&app, theirs));
            assert_eq!(ours.size(), theirs.size());
            assert_eq!(
                ours.texture_descriptor.format,
                theirs.texture_descriptor.format
            );
            let sampler = |image: &Image| match &image.sampler {
                ImageSampler::Descriptor(sampler) => (
                    sampler.address_mode_u,
                    sampler.address_mode_v,
                    sampler.mag_filter,
                    sampler.min_filter,
                ),
                ImageSampler::Default => panic!("the file states a sampler"),
            };
            assert_eq!(sampler(ours), sampler(theirs));
        }
    }
}

fn textures_mut(material: &mut StandardMaterial) -> [&mut Option<Handle<Image>>; 5] {
    [
        &mut material.base_color_texture,
        &mut material.normal_map_texture,
        &mut material.metallic_roughness_texture,
        &mut material.occlusion_texture,
        &mut material.emissive_texture,
    ]
}
