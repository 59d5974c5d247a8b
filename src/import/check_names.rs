//! Warnings about names in a manifest that nothing in the model has.

use super::{Imported, Manifest, bind_blend_space, control::is_meant};
use crate::{
    format::Diagnostic,
    model::{BlendSpaceError, ClipTiming, PlayedClip},
    spelling::did_you_mean,
};
use std::{collections::HashMap, sync::Arc};

/// Warns about blend spaces whose clips are missing, and those whose name is a clip's.
pub(super) fn check_blend_spaces(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let Imported {
        model, warnings, ..
    } = imported;
    let timings = || model.clips.iter().map(|clip| &clip.timing);
    for space in manifest.resolve_blend_spaces() {
        let name = space.name();
        if let Err(error) = bind_blend_space(&space, timings(), &[]) {
            let warning =
                Diagnostic::warning(file, format!("blend space `{name}` is left out: {error}"));
            let near = match &error {
                BlendSpaceError::NoClip(clip) => {
                    did_you_mean(clip, timings().map(|timing| &*timing.name))
                }
                _ => None,
            };
            let mut path = vec!["blend_spaces", name];
            if let BlendSpaceError::NoClip(clip) = &error {
                path.extend(["points", clip]);
            }
            manifest.warn(warnings, &path, warning.with_any_hint(near));
        }
        // Clips go first wherever names are looked up.
        if timings().any(|timing| timing.name == *name) {
            let message =
                format!("blend space `{name}` has the name of a clip, which plays in its place");
            let warning = Diagnostic::warning(file, message).with_hint("rename one of them");
            manifest.warn(warnings, &["blend_spaces", name], warning);
        }
    }
}

/// Warns about states that play clips or blend spaces that don't exist, and about other oddities.
pub(super) fn check_states(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let Some(states) = manifest.resolve_states() else {
        return;
    };
    let timings = || imported.model.clips.iter().map(|clip| &clip.timing);
    let keys = |timing: &'_ ClipTiming| -> Vec<_> {
        timing
            .callbacks
            .iter()
            .map(|key| key.name.clone())
            .collect()
    };
    let mut played: HashMap<&str, (Option<f64>, Vec<Arc<str>>)> = HashMap::new();
    for (name, space) in &manifest.blend_spaces {
        let of_point = |clip: &str| timings().find(|timing| *timing.name == *clip);
        let points = space.points.iter().filter_map(|(clip, _)| of_point(clip));
        played.insert(name, (None, points.flat_map(keys).collect()));
    }
    // After the spaces: a clip takes the place of a space of its name.
    for timing in timings() {
        played.insert(&timing.name, (Some(timing.duration), keys(timing)));
    }
    // Sorted, so that suggestions are the same in each run.
    let mut names: Vec<&str> = played.keys().copied().collect();
    names.sort_unstable();
    let find = |name: &str| {
        let (length, keys) = played.get(name)?;
        Some(PlayedClip {
            length: *length,
            keys: keys.iter().map(|key| &**key).collect(),
        })
    };
    let mut warnings = Vec::new();
    for layer in states.layers() {
        if let Some(mask) = layer
            .mask
            .as_deref()
            .filter(|mask| !manifest.masks.contains_key(*mask))
        {
            let message = format!("layer `{}`: there is no mask `{mask}`", layer.name);
            let warning = Diagnostic::warning(file, message);
            let known = manifest.masks.keys().map(String::as_str);
            let hint = did_you_mean(mask, known).unwrap_or_else(|| "add it to `masks`".to_owned());
            let path = ["layers", &layer.name, "mask"];
            manifest.warn(&mut warnings, &path, warning.with_hint(hint));
        }
    }
    for problem in (states.check_clips(&names, find).into_iter()).chain(states.warnings()) {
        let warning = Diagnostic::warning(file, problem.to_string());
        warnings.push(manifest.report_state(warning, &problem));
    }
    imported.warnings.extend(warnings);
}

/// Warns about joints and morph targets that the manifest names and the skeleton lacks.
pub(super) fn check_joints(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let skeleton = &imported.model.skeleton;
    let masks = manifest.masks.iter().flat_map(|(mask, entry)| {
        let joints = entry.roots.iter().chain(&entry.joints);
        joints.map(move |joint| {
            (
                format!("mask `{mask}`"),
                vec!["masks", mask],
                joint.as_str(),
            )
        })
    });
    let sockets = manifest.sockets.iter().map(|(name, entry)| {
        let path = vec!["sockets", name];
        (format!("socket `{name}`"), path, entry.joint.as_str())
    });
    let goals = manifest.goals.iter().flat_map(|(goal, entry)| {
        entry
            .limb
            .joints()
            .map(move |joint| (format!("goal `{goal}`"), vec!["goals", goal, "limb"], joint))
    });
    let looks = manifest
        .look_at
        .iter()
        .flat_map(|entry| entry.names())
        .map(|joint| ("`look_at`".to_owned(), vec!["look_at"], joint));
    let springs = manifest.springs.iter().flat_map(|entry| {
        entry
            .joints
            .iter()
            .map(|joint| ("`springs`".into(), vec!["springs", "joints"], &**joint))
    });
    let constraints = manifest.constraints.iter().flat_map(|entry| {
        let joints = [("joint", &entry.joint), ("source", &entry.source)];
        joints.map(|(field, joint)| ("`constraints`".into(), vec!["constraints", field], &**joint))
    });
    let colliders = manifest.colliders.iter().map(|(name, entry)| {
        (
            format!("collider `{name}`"),
            vec!["colliders", name],
            &*entry.joint,
        )
    });
    let feet = manifest
        .feet
        .iter()
        .flat_map(|entry| entry.names())
        .map(|joint| ("`feet`".to_owned(), vec!["feet"], joint));
    let named = masks
        .chain(sockets)
        .chain(goals)
        .chain(looks)
        .chain(feet)
        .chain(constraints)
        .chain(springs)
        .chain(colliders);
    let missing: Vec<_> = named
        .filter(|(_, _, joint)| skeleton.joint(joint).is_none())
        .collect();
    let morphs = skeleton.morphs().names();
    let named = manifest
        .masks
        .iter()
        .flat_map(|(mask, entry)| entry.morphs.iter().map(move |name| (mask, name)));
    for (mask, name) in named.filter(|(_, name)| !morphs.iter().any(|morph| is_meant(name, morph)))
    {
        let message = format!("mask `{mask}`: the model has no morph target `{name}`");
        let warning = Diagnostic::warning(file, message);
        let near = did_you_mean(name, morphs.iter().map(|morph| &**morph));
        let path = ["masks", mask, "morphs", name];
        manifest.warn(&mut imported.warnings, &path, warning.with_any_hint(near));
    }
    let are_known = missing.is_empty();
    for (user, mut path, joint) in missing {
        let mut diagnostic =
            Diagnostic::warning(file, format!("{user}: the model has no joint `{joint}`"));
        if let Some(near) = skeleton.nearest_name(joint) {
            diagnostic = diagnostic.with_hint(format!("did you mean `{near}`?"));
        }
        path.push(joint);
        manifest.warn(&mut imported.warnings, &path, diagnostic);
    }
    // A limb with a missing joint would be reported a second time.
    if are_known {
        check_rig(file, manifest, imported);
    }
}

/// Warns about limbs and chains whose joints exist but do not hang from each other.
fn check_rig(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let skeleton = &imported.model.skeleton;
    for (name, goal) in &manifest.goals {
        if let Err(error) = goal.limb.resolve(skeleton) {
            let warning = Diagnostic::warning(file, format!("goal `{name}`: {error}"));
            let path = ["goals", name, "limb"];
            manifest.warn(&mut imported.warnings, &path, warning);
        }
    }
    if manifest
        .feet
        .as_ref()
        .is_some_and(|entry| entry.resolve(skeleton, &[]).is_none())
    {
        let warning =
            Diagnostic::warning(file, "`feet`: the joints do not form legs below the hips");
        let hint = "name each leg's first joint and its foot, and the joint above all legs";
        manifest.warn(&mut imported.warnings, &["feet"], warning.with_hint(hint));
    }
    let legs = manifest
        .feet
        .iter()
        .flat_map(|feet| &feet.legs)
        .map(|leg| leg.tip.as_str());
    let keyed = manifest
        .clips
        .iter()
        .flat_map(|(clip, entry)| entry.plants.keys().map(move |foot| (clip, foot)));
    for (clip, foot) in keyed.filter(|(_, foot)| !legs.clone().any(|tip| tip == *foot)) {
        let warning = Diagnostic::warning(
            file,
            format!("`plants` of clip `{clip}`: no leg of `feet` has the foot `{foot}`"),
        );
        let hint =
            did_you_mean(foot, legs.clone()).unwrap_or_else(|| "add the leg to `feet`".to_owned());
        let path = ["clips", clip, "plants", foot];
        manifest.warn(&mut imported.warnings, &path, warning.with_hint(hint));
    }
    if manifest
        .look_at
        .as_ref()
        .is_some_and(|entry| entry.resolve(skeleton).is_none())
    {
        let warning = Diagnostic::warning(file, "look_at: the joints do not form a chain");
        let hint = "list them parents first, and eyes below the last of them";
        manifest.warn(
            &mut imported.warnings,
            &["look_at"],
            warning.with_hint(hint),
        );
    }
    for joint in manifest.resolve_constraints(skeleton).circular() {
        let joint = skeleton.name(*joint);
        let message =
            format!("constraints: joint `{joint}` follows itself by way of others, so it stays");
        let path = ["constraints", "joint", joint];
        let warning = Diagnostic::warning(file, message);
        manifest.warn(&mut imported.warnings, &path, warning);
    }
    let springs = manifest.resolve_springs(skeleton);
    let known = || manifest.colliders.keys().map(String::as_str);
    for entry in &manifest.springs {
        for joint in entry
            .joints
            .iter()
            .filter(|joint| !skeleton.joint(joint).is_some_and(|j| springs.contains(j)))
        {
            let message = format!("springs: joint `{joint}` has no bone that could swing");
            let hint = "a bone goes from a joint to the one below, or continues the one above";
            let warning = Diagnostic::warning(file, message).with_hint(hint);
            let path = ["springs", "joints", joint];
            manifest.warn(&mut imported.warnings, &path, warning);
        }
        for name in entry
            .colliders
            .iter()
            .filter(|name| !manifest.colliders.contains_key(*name))
        {
            let warning = Diagnostic::warning(file, format!("springs: no collider `{name}`"));
            let hint = did_you_mean(name, known());
            let warning = warning.with_hint(hint.unwrap_or_else(|| "add it to `colliders`".into()));
            let path = ["springs", "colliders", name];
            manifest.warn(&mut imported.warnings, &path, warning);
        }
    }
}
