use super::{super::loops::Verdict, *};
use bevy_marionette::{
    import::ClipEntry,
    model::{ClipFrames, ClipTiming, JointTransform, SkeletalClip},
};

/// Clips that last as many seconds as they have letters.
fn drafts(names: &[(&str, PlaybackMode)]) -> Vec<Draft> {
    let frames = ClipFrames {
        joints: ["root".into()].into(),
        animated: Vec::new(),
        transforms: vec![JointTransform::IDENTITY],
    };
    let draft = |&(name, playback): &(&str, PlaybackMode)| Draft {
        name: name.to_owned(),
        entry: ClipEntry::default(),
        clip: SkeletalClip::new(ClipTiming::new(name, name.len() as f64), &frames).unwrap(),
        verdict: Verdict {
            playback,
            why: String::new(),
        },
    };
    names.iter().map(draft).collect()
}

fn plays(actions: &Actions) -> Vec<(&str, String)> {
    let states = actions.states.iter();
    states
        .map(|(name, state)| (name.as_str(), state.plays.join(", ")))
        .collect()
}

#[test]
fn states_are_proposed_by_the_names_of_clips() {
    use PlaybackMode::{Loop, Once};
    let names = [
        ("jump_full_long", Once),
        ("jump_full_short", Once),
        ("jump_idle", Loop),
        ("jump_land", Once),
        ("jump_start", Once),
        ("block_attack", Once),
        ("block_hit", Once),
        ("2h_melee_attack_chop", Once),
        ("1h_melee_attack_stab", Once),
        ("1h_melee_attack_chop", Once),
        ("attacking", Loop),
        ("dodge_backward", Once),
        ("dodge_forward", Once),
        ("hit_a", Once),
        ("hit_b", Once),
        ("death_a", Once),
        ("death_a_pose", Loop),
    ];
    let actions = Actions::new(&drafts(&names), "locomotion");
    let expected = [
        ("attack", "1h_melee_attack_chop, 1h_melee_attack_stab"),
        ("death", "death_a"),
        ("dodge", "dodge_forward"),
        ("fall", "jump_idle"),
        ("ground", "locomotion"),
        ("hurt", "hit_a, hit_b"),
        ("jump", "jump_full_long"),
        ("land", "jump_land"),
    ];
    assert_eq!(
        plays(&actions),
        expected.map(|(name, plays)| (name, plays.to_owned()))
    );
    assert!(actions.notes.keys().eq(actions.states.keys()));
}

#[test]
fn the_pieces_of_a_jump_follow_each_other() {
    use PlaybackMode::{Loop, Once};
    let names = [
        ("jump_start", Once),
        ("jump_loop", Loop),
        ("jump_land", Once),
    ];
    let actions = Actions::new(&drafts(&names), "idle");
    let expected = [
        ("fall", "jump_loop"),
        ("ground", "idle"),
        ("jump", "jump_start"),
        ("land", "jump_land"),
    ];
    assert_eq!(
        plays(&actions),
        expected.map(|(name, plays)| (name, plays.to_owned()))
    );
    assert_eq!(
        actions.states["jump"].then,
        Some(Then::State("fall".to_owned()))
    );
    let actions = Actions::new(&drafts(&names[..2]), "idle");
    assert_eq!(plays(&actions), [("ground", "idle".to_owned())]);
}
