//! Characters with all of Bevy's plugins and several cameras, without a GPU.

use super::support::*;
use bevy::{camera::RenderTarget, prelude::*, window::WindowRef};
use bevy_marionette::{
    character::{CharacterParts, ModelPose},
    prelude::*,
};

#[test]
fn beside_all_of_bevys_plugins_the_systems_find_an_order() {
    let mut app = all_of_bevy(AssetPlugin::default(), None);
    let handle = add_chain(&mut app);
    let entity = app
        .world_mut()
        .spawn((
            SkinnedCharacter(handle),
            AnimationController::playing("walk"),
        ))
        .id();
    (0..3).for_each(|_| app.update());
    assert_eq!(
        app.world()
            .get::<CharacterParts>(entity)
            .unwrap()
            .entities
            .len(),
        1
    );
}

#[test]
fn seen_by_any_camera_in_any_window_it_is_posed() {
    let mut app = all_of_bevy(AssetPlugin::default(), Some(Window::default()));
    let second = app.world_mut().spawn(Window::default()).id();
    let handle = add_chain(&mut app);
    let at = |x: f32| Transform::from_xyz(x, 1.0, 5.0);
    // One camera sees the first, another the second, and none the third.
    app.world_mut().spawn((Camera3d::default(), at(0.0)));
    let window = RenderTarget::Window(WindowRef::Entity(second));
    app.world_mut()
        .spawn((Camera3d::default(), window, at(1000.0)));
    let characters = [0.0, 1000.0, 2000.0].map(|x| {
        let walking = (
            SkinnedCharacter(handle.clone()),
            AnimationController::playing("walk"),
            ModelPose::default(),
        );
        app.world_mut()
            .spawn((walking, Transform::from_xyz(x, 0.0, 0.0)))
            .id()
    });
    (0..5).for_each(|_| {
        app.update();
        std::thread::sleep(std::time::Duration::from_millis(20));
    });
    let rest = chain(&clips()).skeleton.rest_model().to_vec();
    let moved =
        characters.map(|entity| app.world().get::<ModelPose>(entity).unwrap().joints != rest);
    assert_eq!(moved, [true, true, false]);
}
