//! Control joints: joints that move other joints and must not move the skin.
//!
//! Exporters weight vertices to every bone whose name is that of a vertex group, whether or not it
//! deforms the mesh in the artist's program. Control joints are removed from finished parts, so
//! that every format is treated alike.

use super::{
    ImportReport, ImportSettings, Imported, Manifest,
    combine::Combiner,
    influences::{VertexWeights, WeightReader},
    names::listed,
    split::with_palettes,
};
use crate::{
    format::Diagnostic,
    model::{CombinedJoints, JointIndex, Model, Skeleton, SkinPart},
    plural::{counted, have},
};
use std::{collections::BTreeSet, mem};

/// Flags the `control_joints` of a manifest and removes them from the skin. `file` is the
/// manifest's name.
pub(super) fn flag(
    file: &str,
    manifest: &Manifest,
    settings: &ImportSettings,
    imported: &mut Imported,
) {
    let entries = &manifest.control_joints;
    if entries.is_empty() {
        return;
    }
    let Imported {
        model,
        warnings,
        report,
        ..
    } = imported;
    let skeleton = &model.skeleton;
    let mut control: Vec<JointIndex> = Vec::new();
    for entry in entries {
        let before = control.len();
        control.extend(
            skeleton
                .joints()
                .filter(|&joint| is_meant(entry, skeleton.name(joint))),
        );
        if control.len() == before {
            let mut warning = Diagnostic::warning(
                file,
                format!("`control_joints`: the model has no joint `{entry}`"),
            );
            if let Some(near) = skeleton.nearest_name(entry) {
                warning = warning.with_hint(format!("did you mean `{near}`?"));
            }
            manifest.warn(warnings, &["control_joints", entry], warning);
        }
    }
    model.skeleton = skeleton.with_control_joints(control);
    let moved = take_off_skin(file, model, settings, report).into_iter();
    warnings.extend(moved.map(|warning| manifest.place(&["control_joints"], warning)));
}

/// Returns `true` if an entry of a manifest is a name, or matches it by its `*`, which stands for
/// any text.
pub(super) fn is_meant(entry: &str, name: &str) -> bool {
    let fits = |(start, end)| {
        // The start is removed first, so that both ends of a pattern can't match the same letters.
        name.strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end))
    };
    entry == name || entry.split_once('*').is_some_and(fits)
}

/// Removes the control joints of a model from the palettes of its parts. Returns warnings about
/// vertices that changed.
///
/// A part that a single joint moves is attached to that joint, and is left alone.
pub(super) fn take_off_skin(
    file: &str,
    model: &mut Model,
    settings: &ImportSettings,
    report: &mut ImportReport,
) -> Vec<Diagnostic> {
    let skeleton = &model.skeleton;
    let is_concerned = |part: &SkinPart| {
        let control = part
            .palette
            .iter()
            .filter(|&&joint| skeleton.is_control(joint))
            .count();
        control > 0 && part.palette.len() > 1
    };
    if skeleton.control_joints().len() == 0 || !model.parts.iter().any(is_concerned) {
        return Vec::new();
    }
    let above = deform_joints_above(skeleton);
    let (mut combiner, mut counts, mut parts) =
        (Combiner::new(settings), Counts::default(), Vec::new());
    for mut part in mem::take(&mut model.parts) {
        if !is_concerned(&part) {
            parts.push(part);
            continue;
        }
        let (before, mut weights, mut reader) = (
            counts.vertices(),
            VertexWeights::default(),
            WeightReader::default(),
        );
        for &influences in &part.influences {
            let all = part.combined_joints.resolve(part.palette.len(), influences);
            let all = all.map(|(slot, weight)| (part.palette[slot], weight));
            let deform = all
                .clone()
                .filter(|(joint, _)| !skeleton.is_control(*joint));
            let control = all
                .clone()
                .map(|(joint, _)| joint)
                .filter(|joint| skeleton.is_control(*joint));
            if control.clone().next().is_none() {
                reader.push(&mut weights, all);
                continue;
            }
            counts.joints.extend(control);
            let stand_ins = all
                .clone()
                .filter_map(|(joint, weight)| Some((above[usize::from(joint)]?, weight)));
            if deform.clone().next().is_some() {
                counts.shared += 1;
                reader.push(&mut weights, deform);
            // A vertex that only control joints move goes to the nearest joint above them.
            } else if stand_ins.clone().next().is_some() {
                counts.moved += 1;
                reader.push(&mut weights, stand_ins);
            } else {
                counts.kept += 1;
                reader.push(&mut weights, all);
            }
        }
        if counts.vertices() > before {
            counts.parts.push(part.name.clone());
        }
        // The palette is made anew, because joints that are no longer used would still take places.
        part.palette.clear();
        part.influences.clear();
        part.combined_joints = CombinedJoints::new();
        parts.append(&mut with_palettes(part, &weights, &mut combiner));
    }
    model.parts = parts;
    // Splitting has combined joints anew.
    report.count_combined_joints(&model.parts);
    counts.warnings(file, &model.skeleton)
}

/// Returns for each joint the nearest deform joint, itself or above.
fn deform_joints_above(skeleton: &Skeleton) -> Vec<Option<JointIndex>> {
    let mut above: Vec<Option<JointIndex>> = Vec::with_capacity(skeleton.len());
    for (joint, parent) in skeleton.joints().zip(skeleton.parents()) {
        // Parents come first, so theirs is known.
        above.push(match (skeleton.is_control(joint), parent) {
            (false, _) => Some(joint),
            (true, Some(parent)) => above[usize::from(*parent)],
            (true, None) => None,
        });
    }
    above
}

/// The vertices that control joints moved.
#[derive(Default)]
struct Counts {
    /// Also moved by deform joints.
    shared: usize,
    /// Given to the nearest deform joint above.
    moved: usize,
    /// Without a deform joint above.
    kept: usize,
    parts: Vec<String>,
    joints: BTreeSet<JointIndex>,
}

impl Counts {
    fn vertices(&self) -> usize {
        self.shared + self.moved + self.kept
    }

    fn warnings(&self, file: &str, skeleton: &Skeleton) -> Vec<Diagnostic> {
        let Self {
            shared,
            moved,
            kept,
            parts,
            joints,
        } = self;
        let parts = listed(parts.iter().map(|part| &**part));
        let joints = listed(joints.iter().map(|&joint| &**skeleton.name(joint)));
        let mut out = Vec::new();
        if shared + moved > 0 {
            let mut now = Vec::new();
            let vertices = |count| counted(count, "vertex");
            if *shared > 0 {
                now.push(format!("to the other joints of {}", vertices(*shared)));
            }
            if *moved > 0 {
                let moved = vertices(*moved);
                now.push(format!("to the nearest deform joint above for {moved}"));
            }
            let message = format!(
                "weights of control joints ({joints}) in {parts} were moved {}",
                now.join(", and ")
            );
            let hint =
                "remove the vertex groups of these joints, or don't mark them as control joints";
            out.push(Diagnostic::warning(file, message).with_hint(hint));
        }
        if *kept > 0 {
            let message = format!(
                "{} of {parts} only {} weights of control joints, which stay",
                counted(*kept, "vertex"),
                have(*kept)
            );
            let hint = "no joint above deforms the skin: weight them to a deform joint, or don't mark these joints";
            out.push(Diagnostic::warning(file, message).with_hint(hint));
        }
        out
    }
}

#[cfg(test)]
#[path = "tests/control.rs"]
mod tests;
