//! Characters in `bsn!`: assets by path, and entities of the scene by name.

use super::{
    loading::{MANIFEST, folder, write},
    support::*,
};
use bevy::{prelude::*, scene::ScenePlugin};
use bevy_marionette::{
    asset::Character,
    character::{Attachments, IkLimb, LookAt, ModelPose, Wears, WornBy},
    prelude::*,
};

/// The entity of this name.
fn named(app: &mut TestApp, name: &str) -> Entity {
    let mut names = app.world().query::<(Entity, &Name)>();
    let mut found = names
        .iter(app.app.world())
        .filter(|(_, of)| of.as_str() == name);
    let (entity, _) = found.next().expect("it is in the scene");
    assert_eq!(found.count(), 0, "{name}");
    entity
}

#[test]
fn a_scene_has_characters_by_path_and_what_belongs_to_them_by_name() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    let mut app = TestApp::with_files(folder.path());
    app.app.add_plugins(ScenePlugin);
    app.world()
        .spawn_scene(bsn! {
            #Body
            SkinnedCharacter("one.character.ron")
            LookAt { target: #Lantern }
            // One entity to a list: Bevy 0.19 and 0.20 separate several in different ways.
            Attachments [
                #Sword AtSocket { socket: "grip" }
            ]
            Wears [
                #Armor SkinnedCharacter("one.character.ron")
            ]
            Children [
                #Lantern Transform
                Children [
                    #Mug IkGoal(#Body) IkLimb { pole: #Lantern }
                ]
            ]
        })
        .unwrap();
    let [body, sword, armor, lantern, mug] =
        ["Body", "Sword", "Armor", "Lantern", "Mug"].map(|name| named(&mut app, name));
    // Entities that are there already.
    let shield = bsn! { #Shield AttachedTo(body) AtSocket { socket: "hand" } };
    let helmet = bsn! { #Helmet SkinnedCharacter("one.character.ron") WornBy(body) };
    let shield = app.world().spawn_scene(shield).unwrap().id();
    let helmet = app.world().spawn_scene(helmet).unwrap().id();
    let handle = app.world().get::<SkinnedCharacter>(body).unwrap().0.clone();
    app.wait_for::<Character>(&handle);
    app.update(0.1);
    app.update(0.1);

    let world = app.world();
    let look = world.get::<LookAt>(body).unwrap();
    assert_eq!(*look, LookAt::entity(lantern), "with its default weight");
    assert_eq!(world.get::<IkGoal>(mug), Some(&IkGoal(body)));
    assert_eq!(world.get::<IkLimb>(mug).unwrap().pole, Some(lantern));
    let held: Vec<Entity> = world.get::<Attachments>(body).unwrap().iter().collect();
    assert!(held.contains(&sword) && held.contains(&shield), "{held:?}");
    let worn: Vec<Entity> = world.get::<Wears>(body).unwrap().iter().collect();
    assert!(worn.contains(&armor) && worn.contains(&helmet), "{worn:?}");
    assert_eq!(world.get::<SkinnedCharacter>(armor).unwrap().0, handle);

    let hand = world.get::<ModelPose>(body).unwrap().joints[2].translation;
    let place = |entity| world.get::<Transform>(entity).unwrap().translation;
    assert!(place(shield).distance(hand.into()) < 1e-5);
    // The grip is half a meter from the hand.
    assert!((place(sword).distance(hand.into()) - 0.5).abs() < 1e-5);
}
