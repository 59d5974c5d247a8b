//! Clips of other rigs.

use crate::open::OpenModel;
use bevy_marionette::{
    import::FileKind,
    internals::{
        import::{Retarget, open_model_with},
        model::{Role, Roles, Side},
    },
    model::{JointIndex, SkeletalClip, Skeleton},
};
use std::borrow::Cow;

/// Returns the clips of a file, retargeted to the model, if they need it: if both are humanoids,
/// and corresponding joints have different names. `bound` are the clips matched by names, if any
/// name matches.
pub fn retargeted<'s>(
    file: &str,
    source: &[u8],
    model: &OpenModel,
    bound: Option<&[SkeletalClip]>,
    read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Option<Vec<SkeletalClip>> {
    let (skeleton, settings) = (&model.model.skeleton, &model.settings);
    let roles = Roles::infer(skeleton);
    // A .md5anim has no rest pose.
    if FileKind::of_name(file) == Some(FileKind::Md5Anim) || !is_humanoid(skeleton, &roles) {
        return None;
    }
    let moves = |clips: &[SkeletalClip], joint: JointIndex| {
        clips.iter().any(|clip| clip.animates(usize::from(joint)))
    };
    let moved_of = |joints: &[JointIndex]| {
        bound.map_or(0, |bound| {
            joints.iter().filter(|&&joint| moves(bound, joint)).count()
        })
    };
    let all: Vec<JointIndex> = roles.iter().map(|(_, joint)| joint).collect();
    if 2 * moved_of(&all) >= all.len() {
        return None;
    }
    let donor = open_model_with(file, source, settings, read).ok()?.model;
    let theirs = Roles::infer(&donor.skeleton);
    if donor.clips.is_empty() || !is_humanoid(&donor.skeleton, &theirs) {
        return None;
    }
    // A clip may move few joints, and those may well match.
    let moved = theirs
        .iter()
        .filter(|(_, joint)| moves(&donor.clips, *joint));
    let moved: Vec<JointIndex> = moved.filter_map(|(role, _)| roles.joint(role)).collect();
    if bound.is_some() && 2 * moved_of(&moved) >= moved.len() {
        return None;
    }
    let retarget = Retarget::new(&donor.skeleton, &theirs, skeleton, &roles).ok()?;
    donor
        .clips
        .iter()
        .map(|clip| retarget.run(clip, &settings.limits).ok())
        .collect()
}

/// Returns the manifest's fields for clips that match no joint of the model to be retargeted; `None` if they are no clips of another
/// rig. `file` is the name that the manifest has for it.
pub fn needed<'s>(
    file: &str,
    name: &str,
    source: &[u8],
    model: &OpenModel,
    read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Option<String> {
    let donor = open_model_with(file, source, &model.settings, read)
        .ok()?
        .model;
    if donor.clips.is_empty() {
        return None;
    }
    let ours = &model.model.skeleton;
    let table = |skeleton: &Skeleton, field: &str| {
        let roles = Roles::infer(skeleton);
        let is_missing = |role: &Role| roles.joint(*role).is_none();
        let missing: Vec<String> = NEEDED
            .into_iter()
            .filter(is_missing)
            .map(|role| format!("\"{role}\": \"…\""))
            .collect();
        (!missing.is_empty()).then(|| {
            (
                format!("{field}: {{{}}}", missing.join(", ")),
                joints(skeleton),
            )
        })
    };
    let (theirs, own) = (table(&donor.skeleton, "source_roles"), table(ours, "roles"));
    let what = [&theirs, &own]
        .into_iter()
        .flatten()
        .map(|(table, _)| table.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let retarget = if what.is_empty() {
        "true".to_owned()
    } else {
        format!("({what})")
    };
    let mut hint = format!(
        "if both are humanoids, say in a manifest which joints do what, and the clips are retargeted: \
         `clips: {{\"{name}\": (file: \"{file}\", retarget: {retarget})}}`"
    );
    for (whose, table) in [("the clips' skeleton", theirs), ("the model", own)] {
        if let Some((_, joints)) = table {
            hint += &format!("; {whose} has {joints}");
        }
    }
    Some(hint)
}

/// Without these, a body can't be recognized as a humanoid's.
const NEEDED: [Role; 13] = {
    use Side::{Left, Right};
    [
        Role::Hips,
        Role::UpperArm(Left),
        Role::Forearm(Left),
        Role::Hand(Left),
        Role::UpperArm(Right),
        Role::Forearm(Right),
        Role::Hand(Right),
        Role::Thigh(Left),
        Role::Shin(Left),
        Role::Foot(Left),
        Role::Thigh(Right),
        Role::Shin(Right),
        Role::Foot(Right),
    ]
};

/// The names of a skeleton's joints; no more than people read.
fn joints(skeleton: &Skeleton) -> String {
    const MOST: usize = 40;
    let names = skeleton
        .names()
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"));
    let more = skeleton.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("{more} more"));
    names.chain(more).collect::<Vec<_>>().join(", ")
}

/// Returns `true` if hips, arms and legs are known, and the arms are above the hips: animals have joints of the same names.
pub fn is_humanoid(skeleton: &Skeleton, roles: &Roles) -> bool {
    let limbs = [Role::Forearm as fn(Side) -> Role, Role::Thigh, Role::Shin];
    let has_limbs = limbs.iter().all(|limb| {
        [Side::Left, Side::Right]
            .iter()
            .all(|side| roles.joint(limb(*side)).is_some())
    });
    let place = |role| {
        roles
            .joint(role)
            .map(|joint| skeleton.rest_model()[usize::from(joint)].translation)
    };
    let arms = place(Role::UpperArm(Side::Left)).zip(place(Role::UpperArm(Side::Right)));
    let is_upright = arms
        .zip(place(Role::Hips))
        .is_some_and(|((left, right), hips)| {
            let up = 0.5 * (left + right) - hips;
            up.y > up.x.hypot(up.z)
        });
    has_limbs && is_upright
}
