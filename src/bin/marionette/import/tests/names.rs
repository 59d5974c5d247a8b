use super::*;

#[test]
fn names_lose_what_exporters_add() {
    for (name, model, tidied) in [
        ("walk", "hero", Some("walk")),
        ("CharacterArmature|Run_Left", "hero", Some("run_left")),
        ("Armature|mixamo.com|Layer0", "hero", None),
        ("mixamo.com", "hero", None),
        ("Take 001", "hero", None),
        ("Take1", "soldier", None),
        ("redPawnWalk", "redPawn", Some("walk")),
        ("characterwave", "character", Some("characterwave")),
        ("dogged", "dog", Some("dogged")),
        ("DogIdle", "dog", Some("idle")),
        ("Dog_Walk", "dog", Some("walk")),
        ("dog sit", "dog", Some("sit")),
        ("Armature|dog-run", "dog", Some("run")),
        ("dog", "dog", Some("dog")),
        ("slash", "s", Some("slash")),
        ("hero", "hero", Some("hero")),
        (
            "1H_Melee_Attack_Chop",
            "knight",
            Some("1h_melee_attack_chop"),
        ),
        ("blaster_delta", "body", Some("blaster_delta")),
        ("FBXRun (1)", "x", Some("fbx_run_1")),
        ("Walking2Idle", "x", Some("walking2_idle")),
        ("ÜberSprung", "x", Some("über_sprung")),
        ("running", "run", Some("running")),
        ("|||", "x", None),
    ] {
        assert_eq!(tidy(name, model).as_deref(), tidied, "{name}");
    }
}

#[test]
fn clips_lose_the_name_of_their_model_and_armature() {
    for (clips, model, tidied) in [
        (
            ["RatArmature|Rat_Walk", "RatArmature|Rat_Run"],
            "enemy",
            ["walk", "run"],
        ),
        (
            ["Armature|TRex_Walk", "Armature|TRex_Run_Fast"],
            "quaternius_trex",
            ["walk", "run_fast"],
        ),
        (
            ["TankArmature|Tank_Forward", "TankArmature|Tank"],
            "tank_rigid",
            ["tank_forward", "tank"],
        ),
        (
            ["walk_left", "walk_right"],
            "walk_robot",
            ["walk_left", "walk_right"],
        ),
        (["rat_walk", "run"], "rat_2", ["rat_walk", "run"]),
        (
            ["dodge_left", "dodge_right"],
            "knight",
            ["dodge_left", "dodge_right"],
        ),
    ] {
        assert_eq!(
            tidy_all(&clips, model),
            tidied.map(|name| Some(name.to_owned())),
            "{clips:?}"
        );
    }
    assert_eq!(
        tidy_all(&["Rig|mixamo.com", "rat_run"], "rat_1"),
        [None, Some("rat_run".to_owned())]
    );
}
