use super::*;

/// Joints as `name` and parent; a joint that is its own parent is a root.
fn joints(joints: &[(&'static str, usize)]) -> NamedJoints<'static> {
    let parents = joints
        .iter()
        .enumerate()
        .map(|(at, (_, parent))| (at != *parent).then_some(*parent as u32));
    NamedJoints::new(
        joints.iter().map(|(name, _)| *name).collect(),
        Hierarchy::new(parents),
    )
}

fn matched(theirs: &NamedJoints, ours: &NamedJoints) -> Vec<Option<usize>> {
    let mut source = vec![None; ours.names.len()];
    find_sources(theirs, ours, &mut source);
    source
}

#[test]
fn joints_of_one_name_are_told_apart_by_what_they_hang_from() {
    let ours = joints(&[
        ("root", 0),
        ("hand.L", 0),
        ("tip", 1),
        ("tip", 2),
        ("hand.R", 0),
        ("tip", 4),
        ("tip", 5),
    ]);
    let theirs = joints(&[
        ("root", 0),
        ("hand.R", 0),
        ("hand.L", 0),
        ("tip", 1),
        ("tip", 2),
        ("tip", 3),
        ("tip", 4),
    ]);
    assert_eq!(matched(&theirs, &ours), [0, 2, 4, 6, 1, 3, 5].map(Some));
    // With fewer joints on either side.
    let right = joints(&[("root", 0), ("hand.R", 0), ("tip", 1)]);
    assert_eq!(
        matched(&right, &ours),
        [Some(0), None, None, None, Some(1), Some(2), None]
    );
    assert_eq!(matched(&ours, &right), [Some(0), Some(4), Some(5)]);
    let bare = joints(&[("hand.L", 0), ("tip", 0)]);
    assert_eq!(matched(&theirs, &bare), [Some(2), Some(4)]);
}

#[test]
fn a_unique_name_is_found_anywhere_and_the_first_of_two_answers_for_it() {
    let ours = joints(&[("a", 0), ("b", 0), ("c", 1)]);
    let theirs = joints(&[("c", 0), ("b", 0), ("a", 1), ("c", 1)]);
    assert_eq!(matched(&theirs, &ours), [Some(2), Some(1), Some(3)]);
    let strange = joints(&[("b", 0), ("x", 1), ("c", 1), ("c", 2)]);
    assert_eq!(matched(&strange, &ours), [None, Some(0), Some(2)]);
}

#[test]
fn sixty_thousand_joints_of_one_name_take_no_minute() {
    let chain: Vec<(&str, usize)> = (0..60_000_usize)
        .map(|at| ("bone", at.saturating_sub(1)))
        .collect();
    let chain = joints(&chain);
    assert!(
        matched(&chain, &chain)
            .iter()
            .enumerate()
            .all(|(at, found)| *found == Some(at))
    );
}

#[test]
fn the_usual_prefixes_are_left_out() {
    for name in [
        "Hips",
        "mixamorig:Hips",
        "mixamorigHips",
        "mixamorig1:Hips",
        "mixamorig_Hips",
        "Armature|Hips",
    ] {
        assert_eq!(without_prefix(name), "Hips");
    }
    assert_eq!(without_prefix("mixamorig"), "mixamorig");
    assert_eq!(without_prefix("Rig|Body:spine.001"), "spine.001");
}
