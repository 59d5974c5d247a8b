//! Animation stacks → clips.

use super::{
    curves,
    nodes::joint_nodes,
    scene::local,
    shapes::FileShapes,
    times::{Moved, most_points},
    transforms::Moving,
};
use crate::{
    format::FormatError,
    import::{
        Limits,
        axes::Basis,
        limits::ClipTotals,
        names::{UniqueNames, listed},
        nodes::{Rig, whole::KeyedClips},
        report::Report,
        resample::{Budget, Curve, MIRRORS, SAME_TIMES, Sampled, Skin, mirrored_joints, resample},
        weights::{MorphSizes, weight_frames},
    },
    model::{ClipError, Model, Reach, SkeletalClip},
};
use std::collections::BTreeSet;
use ufbx::Scene;

/// Degrees that a joint may turn from one key to the next: beyond half a turn, a key says nothing about the way.
const MOST_DEGREES: f64 = 100.0;

/// Keys that are added between two keys of the file at most.
const MOST_ADDED: f64 = 256.0;

/// Imports the clips of a file.
pub(super) struct Importer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) shapes: &'a FileShapes<'a>,
    pub(super) limits: &'a Limits,
    pub(super) file_bytes: usize,
}

/// Movement of the joints in a stack.
struct Motion {
    curves: Vec<Curve>,
    keyed: Vec<[bool; 3]>,
    /// Keys in the file. The curves have more, where the file's turn far or bend sharply.
    keys: usize,
    seconds: f64,
    /// Joints that are mirrored at some time, unlike at rest.
    mirrored: BTreeSet<String>,
}

/// The names of clips that warnings are about, which are told together.
#[derive(Default)]
struct Doubts {
    too_large: Vec<String>,
    empty: Vec<String>,
    doubled: Vec<String>,
    mirroring: BTreeSet<String>,
    /// The joints that they mirror.
    mirrored: BTreeSet<String>,
}

impl Importer<'_> {
    /// Imports the clips in the joint order of `model`, whose skeleton and parts are complete. Beside each, it says of which
    /// properties each joint has keys.
    pub(super) fn run(
        &self,
        model: &Model,
        reach: &mut Reach,
        report: &mut Report,
    ) -> Result<KeyedClips, FormatError> {
        let stacks = &self.scene.anim_stacks;
        if stacks.count == 0 {
            return Ok(Default::default());
        }
        let (skin, sizes) = (Skin::new(model), MorphSizes::new(model));
        let mut points = most_points(self.file_bytes);
        let (mut budget, mut totals) = (Budget::default(), ClipTotals::default());
        let (mut names, mut doubts) = (UniqueNames::default(), Doubts::default());
        let (mut clips, mut keyed) = (Vec::new(), Vec::new());
        for (at, stack) in stacks.into_iter().enumerate() {
            let wanted = match stack.element.name.trim() {
                "" => format!("clip{at}"),
                name => name.to_owned(),
            };
            let moved = Moved::new(stack);
            // Each stack is looked through for every joint.
            let Some(left) = points.checked_sub(self.rig.joints.len()) else {
                doubts.too_large.push(wanted);
                continue;
            };
            points = left;
            let nodes = || joint_nodes(self.scene, self.rig).flatten();
            // A stack that moves no joint may still move a camera.
            let Some(span) = moved.span(nodes(), self.shapes.channels()) else {
                doubts.empty.push(wanted);
                continue;
            };
            let name = names.add(wanted.clone());
            if name != wanted {
                doubts.doubled.push(name.clone());
            }
            let Some(mut motion) = self.motion(&moved, span, &skin, &mut points) else {
                doubts.too_large.push(name);
                continue;
            };
            doubts.mirrors(&name, std::mem::take(&mut motion.mirrored));
            // Copies of joints follow and don't move.
            motion
                .curves
                .resize_with(model.skeleton.len(), Curve::default);
            budget.add_keys(motion.keys);
            let Some(sampled) = resample(&motion.curves, motion.seconds, &skin, &mut budget) else {
                doubts.too_large.push(name);
                continue;
            };
            if let Some((message, hint)) = sampled.doubts(&name, &motion.curves, &skin) {
                report.warn(&name, message, hint);
            }
            let clip = self.clip(at, &name, model, &sizes, (sampled, &motion), report);
            let clip = clip.map_err(|error| error.to_string());
            let clip = clip.and_then(|clip| reach.admit(&model.skeleton, &clip).map(|()| clip));
            match clip {
                Ok(clip) => {
                    self.limits.check_clip(report.file, &clip)?;
                    totals.add(&clip);
                    self.limits.check_totals(report.file, &totals)?;
                    clips.push(clip);
                    keyed.push(motion.keyed);
                }
                Err(message) => {
                    let message = format!("a clip is left out: {message}");
                    report.warn(&name, message, "export it again");
                }
            }
        }
        doubts.tell(report);
        Ok((clips, keyed))
    }

    /// Makes the clip of a stack of its frames, and of the weights of blend shapes that the stack moves.
    fn clip(
        &self,
        stack: usize,
        name: &str,
        model: &Model,
        sizes: &MorphSizes,
        (mut sampled, motion): (Sampled, &Motion),
        report: &mut Report,
    ) -> Result<SkeletalClip, ClipError> {
        sampled.finish(motion.seconds);
        let mut raw = sampled.into_clip(name.to_owned(), model.skeleton.names(), &motion.curves);
        let weights = self.shapes.curves(stack);
        if !weights.is_empty() {
            let made = weight_frames(model, sizes, weights, raw.timing.duration);
            if let Some(times) = made.thinned {
                let message = format!(
                    "weights of blend shapes have keys at {times} different times, which are too many"
                );
                report.warn(name, message, "they are at even times");
            }
            raw.morphs = made.frames;
        }
        raw.build()
    }

    /// Reads how the joints move in a span of time. `points` is how many points of curves may still be read. `None` if it is used
    /// up.
    fn motion<'a>(
        &'a self,
        moved: &Moved<'a>,
        span: [f64; 2],
        skin: &Skin,
        points: &mut usize,
    ) -> Option<Motion> {
        let mut out = Motion {
            curves: Vec::with_capacity(self.rig.joints.len()),
            keyed: Vec::with_capacity(self.rig.joints.len()),
            keys: 0,
            seconds: span[1] - span[0],
            mirrored: BTreeSet::new(),
        };
        for (joint, node) in self
            .rig
            .joints
            .iter()
            .zip(joint_nodes(self.scene, self.rig))
        {
            let keyed = node.map_or([false; 3], |node| moved.keyed(node));
            out.keyed.push(keyed);
            let Some(node) = node.filter(|_| keyed.contains(&true)) else {
                out.curves.push(Curve::default());
                continue;
            };
            let times = moved.times(node, span, points)?;
            out.keys += times.len();
            let cost = moved.cost(node);
            *points = points.checked_sub(times.len().saturating_mul(cost) / 8)?;
            let times = with_turns(times, |pair| moved.turn(node, pair), *points)?;
            let (mut is_mirrored, moving) = (false, Moving::new(moved, node));
            let at = |time: f64| {
                let local = joint.frame.local(local(&moving.at(time), self.basis));
                // The sign of the product: two mirrored axes are a rotation.
                is_mirrored |= local.scale.element_product() < 0.0;
                local
            };
            // Nodes in many layers take longer.
            let cost = cost.div_ceil(8);
            let mut own = *points / cost;
            let before = own;
            let curve = curves::read(&times, at, skin.size(), &mut own)?;
            *points -= (before - own) * cost;
            if is_mirrored && joint.rest.scale.element_product() > 0.0 {
                out.mirrored.insert(joint.name.clone());
            }
            out.curves.push(curve);
        }
        Some(out)
    }
}

impl Doubts {
    /// Takes note of joints that a clip mirrors.
    fn mirrors(&mut self, clip: &str, joints: BTreeSet<String>) {
        // Enough for a message. A file may mirror every joint in every clip.
        const ENOUGH: usize = 100;
        if !joints.is_empty() && self.mirrored.len() < ENOUGH {
            self.mirrored.extend(joints);
            self.mirroring.insert(clip.to_owned());
        }
    }

    fn tell(self, report: &mut Report) {
        for (clips, what, hint) in [
            (
                self.too_large,
                "clips that take too much memory for the few keys of the file are left out",
                SAME_TIMES,
            ),
            (
                self.empty,
                "clips that move nothing are left out",
                "export only the character's own animations",
            ),
            (
                self.doubled,
                "clips that share a name with another got a number",
                "",
            ),
        ] {
            if !clips.is_empty() {
                let clips = listed(clips.iter().map(String::as_str));
                report.warn("", format!("{what}: {clips}"), hint);
            }
        }
        if !self.mirrored.is_empty() {
            let message =
                mirrored_joints("in clips but not at rest", [self.mirrored, self.mirroring]);
            report.warn("", message, MIRRORS);
        }
    }
}

/// Adds times where a joint turns far from one to the next. `None` if there would be more than `most` in all.
fn with_turns(times: Vec<f64>, turn: impl Fn([f64; 2]) -> f64, most: usize) -> Option<Vec<f64>> {
    let mut out = Vec::with_capacity(times.len());
    for pair in times.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        out.push(from);
        let pieces = (turn([from, to]) / MOST_DEGREES).ceil().min(MOST_ADDED) as usize;
        // In equal steps of time, which is close enough to equal turns.
        let added = (1..pieces).map(|piece| from + (to - from) * piece as f64 / pieces as f64);
        out.extend(added);
        if out.len() > most {
            return None;
        }
    }
    out.extend(times.last());
    Some(out)
}
