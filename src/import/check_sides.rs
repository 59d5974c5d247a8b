//! Warnings about mirrored clips of skeletons whose names don't show the sides.

use crate::{
    format::Diagnostic,
    import::names::listed,
    model::{JointIndex, Sides, Skeleton},
};
use glam::Vec3;

/// Shares of the skeleton's size: the distance from the middle beyond which a joint is on a side,
/// and the error of two joints in mirrored places.
const BESIDE: f32 = 0.03;
const MIRRORED: f32 = 0.02;
/// The most joints that are examined.
const MOST: usize = 2000;

/// Warns if clips to mirror move joints that are on one side, but whose counterpart isn't known.
/// `moves` returns `true` for the joints that they move.
pub(super) fn check_sides(
    file: &str,
    skeleton: &Skeleton,
    moves: impl Fn(usize) -> bool,
) -> Option<Diagnostic> {
    let sides = Sides::new(skeleton);
    let axis = sides.plane().axis();
    let place =
        |joint: JointIndex| Vec3::from(skeleton.rest_model()[usize::from(joint)].translation);
    let is_alone = |joint: &JointIndex| sides.other(*joint) == *joint;
    let paired: Vec<f32> = skeleton
        .joints()
        .filter(|joint| !is_alone(joint))
        .map(|joint| place(joint)[axis])
        .collect();
    let root = || skeleton.joints().next().map(|root| place(root)[axis]);
    let middle = if paired.is_empty() {
        root()?
    } else {
        paired.iter().sum::<f32>() / paired.len() as f32
    };
    let (low, high) = skeleton.joints().map(place).fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), place| (low.min(place), high.max(place)),
    );
    let size = low.distance(high);
    let beside = |joint: &JointIndex| (place(*joint)[axis] - middle).abs() > BESIDE * size;
    // Joints that the manifest puts in the middle are known.
    let is_unknown =
        |joint: &JointIndex| is_alone(joint) && !skeleton.has_side(*joint) && beside(joint);
    let unknown: Vec<JointIndex> = skeleton.joints().filter(is_unknown).take(MOST).collect();

    let mut depths = vec![0_usize; skeleton.len()];
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        depths[joint] = parent.map_or(0, |parent| depths[usize::from(parent)] + 1);
    }
    let steps = |joint: JointIndex| depths[usize::from(joint)];
    let image = |joint: JointIndex| {
        let mut place = place(joint);
        place[axis] = 2.0 * middle - place[axis];
        place
    };
    let mut is_free = vec![true; skeleton.len()];
    let mut pairs: Vec<[JointIndex; 2]> = Vec::new();
    // Models face −Z, so their left is at −X.
    for &left in unknown.iter().filter(|joint| place(**joint)[axis] < middle) {
        let off = |joint: &JointIndex| place(*joint).distance(image(left));
        let candidates = unknown.iter().copied().filter(|right| {
            place(*right)[axis] > middle
                && is_free[usize::from(*right)]
                && off(right) <= MIRRORED * size
        });
        let candidates = candidates.filter(|right| steps(*right) == steps(left));
        if let Some(right) = candidates.min_by(|a, b| off(a).total_cmp(&off(b))) {
            is_free[usize::from(right)] = false;
            pairs.push([left, right]);
        }
    }
    let moved = |joint: &JointIndex| moves(usize::from(*joint));
    let doubted: Vec<JointIndex> = match paired.is_empty() {
        true => unknown.iter().copied().filter(moved).collect(),
        // A single joint beside the middle, such as a pouch's, needs no counterpart.
        false => pairs.iter().flatten().copied().filter(moved).collect(),
    };
    if doubted.is_empty() {
        return None;
    }
    let names = listed(doubted.iter().map(|joint| &**skeleton.name(*joint)));
    let message =
        format!("cannot tell which side joints are on, so clips mirror them in place: {names}");
    let entry = |[left, right]: &[JointIndex; 2]| {
        format!("({:?}, {:?})", skeleton.name(*left), skeleton.name(*right))
    };
    let table: Vec<String> = pairs.iter().map(entry).collect();
    let hint = match table.is_empty() {
        true => "say which joints are each other's mirror image: `sides: [(\"left_arm\", \"right_arm\")]`".to_owned(),
        false => format!("if these are each other's mirror image, say so: `sides: [{}]`", table.join(", ")),
    };
    Some(Diagnostic::warning(file, message).with_hint(hint))
}
