//! Saving to the manifest's file.

use super::harness::Harness;
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::LookAt,
    import::{LookAtEntry, Manifest},
    inspector::{Inspector, InspectorTab},
    prelude::*,
};
use std::{fs, path::PathBuf, thread, time::Duration};
use tempfile::TempDir;

/// A manifest as its author wrote it.
const TEXT: &str = "\
// The pup of the neighbors.
(
    model: \"pup.glb\",
    clips: {
        \"walk\": (ground_speed: 0.5), // not too fast
    },
    look_at: (joints: [(\"head\", 1)], yaw: 60), /* shy */
)
";

/// The open inspector, with a pup from a folder of its own, and the file of its manifest.
fn pup(tab: InspectorTab) -> (Harness, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/pup/pup.glb");
    fs::copy(model, folder.path().join("pup.glb")).unwrap();
    let file = folder.path().join("pup.character.ron");
    fs::write(&file, TEXT).unwrap();
    let mut harness = Harness::in_folder(folder.path());
    let world = harness.app.world_mut();
    let handle: Handle<Character> = world.resource::<AssetServer>().load("pup.character.ron");
    let parts = (
        SkinnedCharacter(handle.clone()),
        AnimationController::playing("walk"),
    );
    harness.character = world.spawn(parts).id();
    *world.resource_mut::<Inspector>() = Inspector {
        tab,
        character: Some(harness.character),
        ..Inspector::opened()
    };
    for _ in 0..2000 {
        harness.frames(1);
        if harness
            .app
            .world()
            .resource::<Assets<Character>>()
            .contains(&handle)
        {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    harness.frames(4);
    (harness, folder, file)
}

fn parse(text: &str) -> Manifest {
    Manifest::parse("pup.character.ron", text.as_bytes()).unwrap()
}

#[test]
fn callback_keys_are_saved_undone_and_saved_again_and_comments_stay() {
    let (mut harness, _folder, file) = pup(InspectorTab::Timeline);
    harness.click("Pause");
    harness.frames(2);
    harness.click("Add key");
    harness.frames(2);
    harness.type_text("bark");
    harness.frames(2);
    harness.click("Save keys");
    harness.frames(2);
    let saved = fs::read_to_string(&file).unwrap();
    let keys = &parse(&saved).clips["walk"].callbacks;
    assert_eq!(
        keys.iter().filter(|key| key.name == "bark").count(),
        1,
        "{saved}"
    );
    // Those of the model's own file are not repeated.
    assert_eq!(keys.len(), 1, "{saved}");
    for comment in [
        "// The pup of the neighbors.",
        "// not too fast",
        "/* shy */",
    ] {
        assert!(saved.contains(comment), "{saved}");
    }
    assert!(
        harness.shows("saved to pup.character.ron"),
        "{:?}",
        harness.texts()
    );

    harness.click("Undo save");
    harness.frames(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
    harness.click("Redo save");
    harness.frames(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), saved);

    // What somebody else wrote meanwhile is theirs.
    fs::write(&file, format!("// mine\n{saved}")).unwrap();
    harness.click("Undo save");
    harness.frames(2);
    assert!(
        harness.shows("pup.character.ron has changed since; nothing was undone"),
        "{:?}",
        harness.texts()
    );
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("// mine\n{saved}")
    );
}

#[test]
fn what_is_tuned_of_a_rig_is_saved_and_nothing_else() {
    let (mut harness, _folder, file) = pup(InspectorTab::Rig);
    let tuned = LookAtEntry {
        yaw: 75.0,
        ..LookAtEntry::new([("head", 1.0)])
    };
    let look = LookAt {
        joints: Some(tuned.clone()),
        ..LookAt::default()
    };
    let character = harness.character;
    harness.app.world_mut().entity_mut(character).insert(look);
    harness.frames(2);
    harness.click("Save");
    harness.frames(2);
    let saved = fs::read_to_string(&file).unwrap();
    let expected = Manifest {
        look_at: Some(tuned),
        ..parse(TEXT)
    };
    assert_eq!(parse(&saved), expected, "{saved}");
    assert!(
        saved.starts_with(&TEXT[..TEXT.find("look_at").unwrap()]),
        "{saved}"
    );
    harness.click("Save");
    harness.frames(2);
    assert!(
        harness.shows("pup.character.ron says so already"),
        "{:?}",
        harness.texts()
    );
}

#[test]
fn a_character_without_a_manifest_says_what_to_do() {
    let mut harness = super::opened(InspectorTab::Rig);
    harness.click("Save");
    harness.frames(2);
    let said = "this character has no manifest to save to: write one with `marionette import`";
    assert!(harness.shows(said), "{:?}", harness.texts());
}
