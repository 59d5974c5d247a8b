use super::*;
use crate::import::ClipRootMotion;

fn manifest(fields: &str) -> Manifest {
    Manifest::parse("a", format!("(model: \"a.glb\", {fields})").as_bytes()).unwrap()
}

#[test]
fn the_manifest_goes_before_the_file() {
    let mut embedded = EmbeddedManifest::of(&manifest(
        "masks: {\"arms\": (roots: [\"chest\"]), \"legs\": (roots: [\"hips\"])},
            states: {\"a\": (plays: \"walk\", start: true)}, springs: [(joints: [\"tail\"])]",
    ));
    let walks = ClipEntry {
        root_motion: Some(ClipRootMotion::default()),
        ground_speed: Some(1.5),
        ..ClipEntry::default()
    };
    for name in ["walk", "Rig|run", "turn", "idle"] {
        embedded.clips.insert(name.to_owned(), walks.clone());
    }
    let own = manifest(
        "masks: {\"arms\": (roots: [\"arm\"])}, states: {\"b\": (plays: \"run\", start: true)},
            clips: {\"run\": (ground_speed: 3), \"stroll\": (clip: \"walk\"), \"turn\": (file: \"b.glb\")}",
    );
    let all = own.with_embedded(&embedded);
    assert_eq!(all.masks["arms"].roots, ["arm"]);
    assert_eq!(all.masks["legs"].roots, ["hips"]);
    assert_eq!(all.states.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(all.springs.len(), 1);
    let names: Vec<_> = all.clips.keys().collect();
    assert_eq!(names, ["idle", "run", "stroll", "turn"]);
    assert_eq!(all.clips["idle"], walks);
    assert_eq!(all.clips["run"].ground_speed, Some(3.0));
    assert!(all.clips["run"].root_motion.is_some());
    assert_eq!(all.clips["stroll"].ground_speed, Some(1.5));
    assert_eq!(all.clips["turn"].ground_speed, None);
    assert_eq!(*all.with_embedded(&embedded), *all);
}

#[test]
fn a_file_that_only_says_how_clips_play_changes_no_manifest() {
    let mut embedded = EmbeddedManifest::default();
    assert!(embedded.is_empty());
    let plays = ClipEntry {
        playback: Some(crate::model::PlaybackMode::Once),
        ..ClipEntry::default()
    };
    embedded.clips.insert("walk".to_owned(), plays);
    assert!(embedded.is_empty());
    let own = manifest("");
    assert!(matches!(own.with_embedded(&embedded), Cow::Borrowed(_)));
}
