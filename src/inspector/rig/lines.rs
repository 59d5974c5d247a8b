//! The rig as lines of a manifest.

use super::{entry_of, goals::title};
use crate::{
    asset::Character,
    character::{GoalLimb, IkGoal},
    import::{GoalEntry, LookAtEntry},
    rig::{Limb, PoleAngle},
};
use std::{collections::BTreeMap, fmt::Write};

/// Formats goals and the joints that look at something for a manifest: `goals: { … },` and `look_at: ( … ),`.
///
/// What has its default is left out.
pub fn rig_ron(goals: &BTreeMap<String, GoalEntry>, look_at: Option<&LookAtEntry>) -> String {
    let mut text = String::new();
    if !goals.is_empty() {
        text.push_str("goals: {\n");
        for (name, entry) in goals {
            let _ = writeln!(text, "    {}: {},", quoted(name), goal_text(entry));
        }
        text.push_str("},\n");
    }
    if let Some(look) = look_at {
        text.push_str(&look_text(look));
    }
    text
}

fn goal_text(entry: &GoalEntry) -> String {
    let limb = match &entry.limb {
        Limb::TwoBone { root, mid, tip } => {
            let mid = mid.as_ref().map(|mid| format!("mid: Some({}), ", quoted(mid))).unwrap_or_default();
            format!("TwoBone(root: {}, {mid}tip: {})", quoted(root), quoted(tip))
        }
        Limb::Chain { root, tip } => format!("Chain(root: {}, tip: {})", quoted(root), quoted(tip)),
    };
    let angle = match entry.pole_angle {
        angle if angle == PoleAngle::default() => String::new(),
        PoleAngle::Bend(degrees) => format!(", pole_angle: Bend({degrees:?})"),
        PoleAngle::Blender(degrees) => format!(", pole_angle: Blender({degrees:?})"),
    };
    let rotate = if entry.rotate_tip { ", rotate_tip: true" } else { "" };
    format!("(limb: {limb}{angle}{rotate})")
}

fn look_text(look: &LookAtEntry) -> String {
    let joints = look.joints.iter().map(|(name, weight)| format!("({}, {weight:?})", quoted(name)));
    let mut text = format!("look_at: (\n    joints: [{}],\n", joints.collect::<Vec<_>>().join(", "));
    if !look.eyes.is_empty() {
        let eyes = look.eyes.iter().map(|name| quoted(name)).collect::<Vec<_>>();
        let _ = writeln!(text, "    eyes: [{}], eye: {:?},", eyes.join(", "), look.eye);
    }
    let _ = writeln!(text, "    yaw: {:?}, pitch: {:?}, speed: {:?},", look.yaw, look.pitch, look.speed);
    let default = LookAtEntry::new::<String>([]);
    for (name, axis, usual) in [("forward", look.forward, default.forward), ("up", look.up, default.up)] {
        if axis != usual {
            let [x, y, z] = axis.to_array();
            let _ = writeln!(text, "    {name}: ({x:?}, {y:?}, {z:?}),");
        }
    }
    text.push_str("),\n");
    text
}

fn quoted(name: &str) -> String {
    ron::to_string(name).unwrap_or_default()
}

/// Returns the manifest's goals with what the shown goals change, and those that it lacks.
pub(super) fn goal_entries<'a>(
    character: &Character,
    shown: impl Iterator<Item = &'a IkGoal>,
) -> BTreeMap<String, GoalEntry> {
    let mut all = character.goals.clone();
    for goal in shown {
        let Some(entry) = entry_of(goal, character) else { continue };
        let name = match &goal.limb {
            GoalLimb::Named(name) => name.clone(),
            // A limb that the manifest has under a name of its own keeps it.
            GoalLimb::Joints(limb) => {
                let same = all.iter().find(|(_, entry)| entry.limb == *limb);
                same.map_or_else(|| unused(title(&goal.limb), &all), |(name, _)| name.clone())
            }
        };
        all.insert(name, entry);
    }
    all
}

/// Returns the name, with a number if it is taken.
fn unused(name: &str, taken: &BTreeMap<String, GoalEntry>) -> String {
    let numbered = (2..).map(|number| format!("{name} {number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains_key(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Manifest;
    use glam::Vec3;

    #[test]
    fn copied_lines_parse_as_part_of_a_manifest_and_are_unchanged() {
        let mid = |mid: Option<&str>| mid.map(str::to_owned);
        let two =
            |root: &str, middle, tip: &str| Limb::TwoBone { root: root.into(), mid: mid(middle), tip: tip.into() };
        let entry = |limb, pole_angle, rotate_tip| GoalEntry { limb, pole_angle, rotate_tip };
        let goals = BTreeMap::from([
            ("left \"hand\"".to_owned(), entry(two("arm.L", None, "hand\\L"), PoleAngle::Bend(0.0), true)),
            ("foot".into(), entry(two("thigh", Some("shin"), "foot"), PoleAngle::Blender(-90.0), false)),
            ("arm".into(), entry(two("arm", None, "hand"), PoleAngle::Bend(12.345), false)),
            ("tail".into(), entry(Limb::chain("tail.1", "tail.5"), PoleAngle::default(), false)),
        ]);
        let simple = LookAtEntry::new([("neck", 0.3), ("head", 1.0 / 3.0)]);
        let full = LookAtEntry {
            eyes: vec!["eye.L".into(), "eye.R".into()],
            yaw: 12.5,
            pitch: 0.0,
            eye: 7.0,
            speed: f32::INFINITY,
            forward: Vec3::new(0.0, 0.5, 1.0),
            up: Vec3::Z,
            ..simple.clone()
        };
        for look in [None, Some(&simple), Some(&full)] {
            let lines = rig_ron(&goals, look);
            let text = format!("(model: \"a.md5mesh\",\n{lines})");
            let read = Manifest::parse("a.character.ron", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!((&read.goals, read.look_at.as_ref()), (&goals, look), "{lines}");
        }
        assert!(rig_ron(&goals, None).contains("\"arm\": (limb: TwoBone(root: \"arm\", tip: \"hand\"), pole_angle"));
        assert_eq!(rig_ron(&BTreeMap::new(), None), "");
    }
}
