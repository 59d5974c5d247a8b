use super::*;
use crate::import::Manifest;

#[test]
fn copied_lines_parse_as_part_of_a_manifest_and_are_unchanged() {
    let mid = |mid: Option<&str>| mid.map(str::to_owned);
    let two = |root: &str, middle, tip: &str| Limb::TwoBone {
        root: root.into(),
        mid: mid(middle),
        tip: tip.into(),
    };
    let entry = |limb, pole_angle, rotate_tip| GoalEntry {
        pole_angle,
        rotate_tip,
        ..GoalEntry::new(limb)
    };
    let goals = BTreeMap::from([
        (
            "left \"hand\"".to_owned(),
            entry(two("arm.L", None, "hand\\L"), PoleAngle::Bend(0.0), true),
        ),
        (
            "foot".into(),
            entry(
                two("thigh", Some("shin"), "foot"),
                PoleAngle::Blender(-90.0),
                false,
            ),
        ),
        (
            "arm".into(),
            entry(two("arm", None, "hand"), PoleAngle::Bend(12.345), false),
        ),
        (
            "tail".into(),
            GoalEntry {
                turn_limit: 2.5,
                ..GoalEntry::new(Limb::chain("tail.1", "tail.5"))
            },
        ),
        (
            "ear".into(),
            GoalEntry {
                turn_limit: f32::INFINITY,
                ..GoalEntry::new(Limb::chain("ear", "tip"))
            },
        ),
    ]);
    let simple = LookAtEntry::new([("neck", 0.3), ("head", 1.0 / 3.0)]);
    let full = LookAtEntry {
        gaze: None,
        eyes: vec!["eye.L".into(), "eye.R".into()],
        yaw: 12.5,
        pitch: 0.0,
        eye: 7.0,
        speed: f32::INFINITY,
        forward: Vec3::new(0.0, 0.5, 1.0),
        up: Vec3::Z,
        ..simple.clone()
    };
    let leg = LegEntry {
        mid: Some("shin.L".into()),
        heel: Some(Vec3::new(0.1, 0.0, 0.05)),
        ..LegEntry::new("thigh.L", "foot.L")
    };
    let legs = [leg, LegEntry::new("thigh.R", "foot.R").toe("toes \"R\"")];
    let feet = FeetEntry::new("hips", legs);
    let limits = FeetLimits {
        slope: 0.5,
        turn: 2.0,
        ..feet.limits
    };
    let limited = FeetEntry {
        limits,
        up: Vec3::Z,
        ..feet.clone()
    };
    let ear = SpringEntry::new(["ear.L", "ear.R"]);
    let braid = SpringEntry {
        frequency: 1.5,
        max_angle: 60.0,
        colliders: vec!["back".into()],
        ..SpringEntry::new(["braid"])
    };
    let sphere = ColliderEntry {
        kind: Default::default(),
        joint: "head".into(),
        center: Vec3::ZERO,
        end: None,
        radius: 0.1,
    };
    let capsule = ColliderEntry {
        center: Vec3::X * 0.1,
        end: Some(Vec3::new(0.0, 0.3, -0.05)),
        ..sphere.clone()
    };
    let colliders = BTreeMap::from([("skull".to_owned(), sphere), ("back".into(), capsule)]);
    let plain = RigEntries {
        goals,
        ..RigEntries::default()
    };
    for rig in [
        RigEntries {
            look_at: Some(simple),
            feet: Some(feet),
            springs: vec![ear.clone()],
            ..plain.clone()
        },
        RigEntries {
            look_at: Some(full),
            feet: Some(limited),
            springs: vec![ear, braid],
            colliders,
            ..plain.clone()
        },
        plain.clone(),
    ] {
        let lines = rig_ron(&rig);
        let text = format!("(model: \"a.md5mesh\",\n{lines})");
        let read = Manifest::parse("a.character.ron", text.as_bytes())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read.rig(), rig, "{lines}");
    }
    assert!(
        rig_ron(&plain)
            .contains("\"arm\": (limb: TwoBone(root: \"arm\", tip: \"hand\"), pole_angle")
    );
    assert_eq!(rig_ron(&RigEntries::default()), "");
}
