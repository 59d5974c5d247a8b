//! The rig as lines of a manifest.

use super::{super::save::Entry, entry_of, goals::title};
use crate::{
    asset::Character,
    character::{GoalLimb, IkLimb},
    import::{
        ColliderEntry, ConstraintEntry, FeetEntry, GoalEntry, LegEntry, LookAtEntry, Manifest,
        RigEntries, SpringEntry,
    },
    rig::{ColliderKind, ConstraintKind, FeetLimits, GoalAction, Limb, PoleAngle},
};
use glam::Vec3;
use std::{collections::BTreeMap, fmt::Write};

/// Formats a rig for a manifest: `goals: { … },`, `look_at: ( … ),`, `feet: ( … ),`, `constraints: [ … ],`,
/// `springs: [ … ],` and
/// `colliders: { … },`.
///
/// Fields with their default value are left out.
pub fn rig_ron(rig: &RigEntries) -> String {
    let mut text = String::new();
    lines(
        &mut text,
        "goals: {",
        "}",
        rig.goals
            .iter()
            .map(|(name, entry)| format!("{}: {}", quoted(name), goal_text(entry))),
    );
    text.extend(rig.look_at.as_ref().map(look_text));
    text.extend(rig.feet.as_ref().map(feet_text));
    lines(
        &mut text,
        "constraints: [",
        "]",
        rig.constraints.iter().map(constraint_text),
    );
    lines(
        &mut text,
        "springs: [",
        "]",
        rig.springs.iter().map(spring_text),
    );
    let colliders = rig
        .colliders
        .iter()
        .map(|(name, entry)| format!("{}: {}", quoted(name), collider_text(entry)));
    lines(&mut text, "colliders: {", "}", colliders);
    text
}

/// Returns the entries of a rig that have changed since it was loaded and that a manifest doesn't have. Those that are gone stay.
/// What the model's own file says is the same as when it was loaded, and needs no entry.
pub(super) fn changed_entries(
    manifest: &Manifest,
    loaded: &RigEntries,
    rig: &RigEntries,
) -> Vec<Entry> {
    let file = manifest.rig();
    let mut entries: Vec<Entry> = Vec::new();
    let mut set = |path: &[&str], text: String| {
        let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
        // Lines to copy begin with the field's name and end with a comma.
        let value = match path.as_slice() {
            [field] => text.trim_start_matches(&format!("{field}: ")).to_owned(),
            _ => text,
        };
        let value = value.trim_end().trim_end_matches(',').to_owned();
        entries.push((path, Some(value)));
    };
    for (name, goal) in &rig.goals {
        if is_new(Some(goal), loaded.goals.get(name), file.goals.get(name)) {
            set(&["goals", name], goal_text(goal));
        }
    }
    if let Some(look_at) = &rig.look_at
        && is_new(
            Some(look_at),
            loaded.look_at.as_ref(),
            file.look_at.as_ref(),
        )
    {
        set(&["look_at"], look_text(look_at));
    }
    if let Some(feet) = &rig.feet
        && is_new(Some(feet), loaded.feet.as_ref(), file.feet.as_ref())
    {
        set(&["feet"], feet_text(feet));
    }
    let mut list = |field: &str, elements: Vec<String>| {
        let mut text = String::new();
        lines(&mut text, &format!("{field}: ["), "]", elements.into_iter());
        set(&[field], text);
    };
    if is_new(&rig.constraints, &loaded.constraints, &file.constraints) {
        list(
            "constraints",
            rig.constraints.iter().map(constraint_text).collect(),
        );
    }
    if is_new(&rig.springs, &loaded.springs, &file.springs) {
        list("springs", rig.springs.iter().map(spring_text).collect());
    }
    for (name, collider) in &rig.colliders {
        if is_new(
            Some(collider),
            loaded.colliders.get(name),
            file.colliders.get(name),
        ) {
            set(&["colliders", name], collider_text(collider));
        }
    }
    entries
}

fn is_new<T: PartialEq>(now: T, loaded: T, file: T) -> bool {
    now != loaded && now != file
}

/// Appends a list, one element on each line; nothing if there is none.
fn lines(text: &mut String, open: &str, close: &str, elements: impl Iterator<Item = String>) {
    let elements: String = elements
        .map(|element| format!("    {element},\n"))
        .collect();
    if !elements.is_empty() {
        let _ = write!(text, "{open}\n{elements}{close},\n");
    }
}

fn goal_text(entry: &GoalEntry) -> String {
    let limb = match &entry.limb {
        Limb::TwoBone { root, mid, tip } => {
            let mid = mid
                .as_ref()
                .map(|mid| format!("mid: Some({}), ", quoted(mid)))
                .unwrap_or_default();
            format!("TwoBone(root: {}, {mid}tip: {})", quoted(root), quoted(tip))
        }
        Limb::Chain { root, tip } => format!("Chain(root: {}, tip: {})", quoted(root), quoted(tip)),
    };
    let angle = match entry.pole_angle {
        angle if angle == PoleAngle::default() => String::new(),
        PoleAngle::Bend(degrees) => format!(", pole_angle: Bend({degrees:?})"),
        PoleAngle::Blender(degrees) => format!(", pole_angle: Blender({degrees:?})"),
    };
    let rotate = if entry.rotate_tip {
        ", rotate_tip: true"
    } else {
        ""
    };
    let turn = numbers([("turn_limit", entry.turn_limit, GoalAction::TURN_LIMIT)]);
    format!("(limb: {limb}{angle}{rotate}{turn})")
}

fn look_text(look: &LookAtEntry) -> String {
    let joints = look
        .joints
        .iter()
        .map(|(name, weight)| format!("({}, {weight:?})", quoted(name)));
    let mut text = format!(
        "look_at: (\n    joints: [{}],\n",
        joints.collect::<Vec<_>>().join(", ")
    );
    if !look.eyes.is_empty() {
        let _ = writeln!(text, "    eyes: {}, eye: {:?},", list(&look.eyes), look.eye);
    }
    let _ = writeln!(
        text,
        "    yaw: {:?}, pitch: {:?}, speed: {:?},",
        look.yaw, look.pitch, look.speed
    );
    if let Some(gaze) = &look.gaze {
        let ranges = [
            ("inner", gaze.inner),
            ("outer", gaze.outer),
            ("down", gaze.down),
            ("up", gaze.up),
        ];
        let ranges = ranges.map(|(name, range)| format!("{name}: {range:?}"));
        let (ranges, origin) = (ranges.join(", "), vector(gaze.origin));
        let by = gaze.by_expressions;
        let _ = writeln!(
            text,
            "    gaze: (origin: {origin}, {ranges}, by_expressions: {by}),"
        );
    }
    let default = LookAtEntry::new::<String>([]);
    for (name, axis, usual) in [
        ("forward", look.forward, default.forward),
        ("up", look.up, default.up),
    ] {
        if axis != usual {
            let _ = writeln!(text, "    {name}: {},", vector(axis));
        }
    }
    text.push_str("),\n");
    text
}

fn feet_text(feet: &FeetEntry) -> String {
    let leg = |leg: &LegEntry| {
        let joint = |name: &str, joint: &Option<String>| {
            joint.as_ref().map(|of| format!(", {name}: {}", quoted(of)))
        };
        let heel = leg.heel.map(|heel| format!(", heel: {}", vector(heel)));
        let more = [joint("mid", &leg.mid), joint("toe", &leg.toe), heel];
        let more: String = more.into_iter().flatten().collect();
        format!(
            "        (root: {}, tip: {}{more}),\n",
            quoted(&leg.root),
            quoted(&leg.tip)
        )
    };
    let legs: String = feet.legs.iter().map(leg).collect();
    let mut text = format!(
        "feet: (\n    hips: {},\n    legs: [\n{legs}    ],\n",
        quoted(&feet.hips)
    );
    let FeetLimits {
        height,
        slope,
        stride,
        turn,
    } = feet.limits;
    let default = FeetLimits::default();
    let limits = numbers([
        ("height", height, default.height),
        ("slope", slope, default.slope),
        ("stride", stride, default.stride),
        ("turn", turn, default.turn),
    ]);
    // The list starts with a comma, as it would after other fields.
    if let Some(limits) = limits.strip_prefix(", ") {
        let _ = writeln!(text, "    limits: ({limits}),");
    }
    if feet.up != Vec3::Y {
        let _ = writeln!(text, "    up: {},", vector(feet.up));
    }
    text.push_str("),\n");
    text
}

fn constraint_text(constraint: &ConstraintEntry) -> String {
    let ConstraintEntry {
        joint,
        source,
        kind,
        weight,
    } = constraint;
    let kind = match kind {
        ConstraintKind::Roll(axis) => format!("Roll({})", vector(*axis)),
        ConstraintKind::Aim(axis) => format!("Aim({})", vector(*axis)),
        ConstraintKind::Rotation => "Rotation".to_owned(),
    };
    let weight = numbers([("weight", *weight, 1.0)]);
    let [joint, source] = [joint, source].map(|name| quoted(name));
    format!("(joint: {joint}, source: {source}, kind: {kind}{weight})")
}

fn spring_text(spring: &SpringEntry) -> String {
    let default = SpringEntry::new::<String>([]);
    let numbers = numbers([
        ("frequency", spring.frequency, default.frequency),
        ("damping", spring.damping, default.damping),
        ("gravity", spring.gravity, default.gravity),
        ("drag", spring.drag, default.drag),
        ("radius", spring.radius, default.radius),
        ("max_angle", spring.max_angle, default.max_angle),
    ]);
    let colliders = match &*spring.colliders {
        [] => String::new(),
        colliders => format!(", colliders: {}", list(colliders)),
    };
    format!("(joints: {}{numbers}{colliders})", list(&spring.joints))
}

fn collider_text(collider: &ColliderEntry) -> String {
    let center = Some(collider.center).filter(|center| *center != Vec3::ZERO);
    let [center, end] = [("center", center), ("end", collider.end)].map(|(name, point)| {
        point
            .map(|point| format!(", {name}: {}", vector(point)))
            .unwrap_or_default()
    });
    let (kind, usual) = match collider.kind {
        ColliderKind::Outside => ("", f32::NAN),
        ColliderKind::Inside => (", kind: Inside", f32::NAN),
        ColliderKind::Plane => (", kind: Plane", 0.0),
    };
    let radius = numbers([("radius", collider.radius, usual)]);
    format!(
        "(joint: {}{kind}{center}{end}{radius})",
        quoted(&collider.joint)
    )
}

/// The numbers that don't have their default, each after a comma.
fn numbers<const N: usize>(numbers: [(&str, f32, f32); N]) -> String {
    let changed = numbers
        .iter()
        .filter(|(_, number, default)| number != default);
    changed
        .map(|(name, number, _)| format!(", {name}: {number:?}"))
        .collect()
}

fn vector(Vec3 { x, y, z }: Vec3) -> String {
    format!("({x:?}, {y:?}, {z:?})")
}

fn list(names: &[String]) -> String {
    format!(
        "[{}]",
        names
            .iter()
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn quoted(name: &str) -> String {
    // Escaped by RON: names may contain quotes and backslashes.
    ron::to_string(name).unwrap_or_default()
}

/// Returns the manifest's goals with what the shown goals change, and those that it lacks.
pub(super) fn goal_entries<'a>(
    character: &Character,
    shown: impl Iterator<Item = &'a IkLimb>,
) -> BTreeMap<String, GoalEntry> {
    let mut all = character.rig().goals.clone();
    for goal in shown {
        let Some(entry) = entry_of(goal, character) else {
            continue;
        };
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
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains_key(name))
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "tests/lines.rs"]
mod tests;
