//! States as types of the game's own.

use super::{messages::assert_messages, support::*};
use bevy::prelude::*;
use bevy_marionette::{
    character::{AppCharacterExt, StateEntered},
    character_states,
    controller::{CharacterStates, Go},
    model::PlaybackMode,
    prelude::*,
};

character_states! {
    enum Hero {
        Ground = "ground",
        Jump = "jump",
    }
}

character_states! {
    /// With a misspelled name, and one too few.
    enum Other {
        Ground = "ground",
        Jump = "jmup",
    }
}

character_states! {
    enum Arms: "arms" {
        Free = "free",
    }
}

#[derive(Component)]
struct Player;

fn hero(app: &mut TestApp) -> Entity {
    let clips = [
        timing("idle", 1.0, PlaybackMode::Loop, &[]),
        timing("jump", 0.5, PlaybackMode::Once, &[]),
    ];
    let handle = app.add(chain(&clips), &with_ground_and_jump());
    let character = (SkinnedCharacter(handle), AnimationController::default());
    app.app.world_mut().spawn((character, Player)).id()
}

#[derive(Resource, Default)]
struct Seen(Vec<Option<Hero>>);

#[test]
fn states_are_entered_and_read_as_variants_of_an_enum() {
    let mut app = TestApp::new();
    app.app.init_resource::<Seen>();
    app.app
        .add_observer(|entered: On<StateEntered>, mut seen: ResMut<Seen>| {
            seen.0.push(entered.state_as());
            assert_eq!(entered.state_as::<Arms>(), None, "it isn't their layer");
        });
    let entity = hero(&mut app);
    app.app.update();
    let mut world = app.app.world_mut().entity_mut(entity);
    let mut controller = world.get_mut::<AnimationController>().unwrap();
    assert_eq!(controller.state_as(), Some(Hero::Ground));
    assert!(controller.can_go(Hero::Jump));
    assert_eq!(controller.go(Hero::Jump), Ok(Go::Entered));
    assert_eq!(controller.state_as(), Some(Hero::Jump));
    assert_eq!(controller.state_as::<Arms>(), None);
    app.app.update();
    assert_eq!(
        app.app.world().resource::<Seen>().0,
        [Some(Hero::Ground), Some(Hero::Jump)]
    );
    assert_eq!(Hero::ALL, [Hero::Ground, Hero::Jump]);
}

#[test]
fn names_that_differ_from_the_manifest_are_said_once_with_the_nearest() {
    let mut app = TestApp::new();
    app.app
        .add_character_states::<Hero, With<Player>>()
        .add_character_states::<Other, With<Player>>()
        .add_character_states::<Arms, ()>();
    hero(&mut app);
    (0..4).for_each(|_| app.app.update());
    let about = |name: &str| -> Vec<String> {
        let said = logged("`app::typed_states::").into_iter();
        said.filter(|line| line.contains(name)).collect()
    };
    assert_eq!(about("::Hero`"), Vec::<String>::new());
    assert_messages("states of other names", about("::Other`"));
    assert_messages("states of a layer that is not there", about("::Arms`"));
}
