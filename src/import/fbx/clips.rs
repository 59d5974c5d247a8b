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
        ImportLimits,
        axes::Basis,
        names::named,
        nodes::Rig,
        report::Report,
        resample::Curve,
        scene::{Bare, Clips, FileClips, SceneClip},
    },
};
use ufbx::Scene;

/// Degrees that a joint may turn from one key to the next: beyond half a turn, a key says nothing about the way.
const MOST_DEGREES: f64 = 100.0;

/// Keys that are added between two keys of the file at most.
const MOST_ADDED: f64 = 256.0;

/// Reads the animation stacks of a file.
pub(super) struct StackReader<'a> {
    pub(super) scene: &'a Scene,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    pub(super) shapes: &'a FileShapes<'a>,
}

/// Movement of the joints in a stack.
struct Motion {
    curves: Vec<Curve>,
    keyed: Vec<[bool; 3]>,
    /// Keys in the file. The curves have more, where the file's turn far or bend sharply.
    keys: usize,
    /// Joints that are mirrored at some time, unlike at rest.
    mirrored: Vec<usize>,
}

impl StackReader<'_> {
    /// Imports the clips for a model, whose skeleton and parts are complete.
    pub(super) fn run(
        &self,
        bare: &mut Bare,
        limits: &ImportLimits,
        file_bytes: usize,
        report: &mut Report,
    ) -> Result<FileClips, FormatError> {
        let stacks = &self.scene.anim_stacks;
        if stacks.count == 0 {
            return Ok(FileClips::default());
        }
        let mut points = most_points(file_bytes);
        let mut clips = Clips::new("", bare, limits);
        for (at, stack) in stacks.into_iter().enumerate() {
            let name = named([Some(stack.element.name.trim())], "clip", at);
            let moved = Moved::new(stack);
            // Each stack is looked through for every joint.
            let Some(left) = points.checked_sub(self.rig.joints.len()) else {
                clips.leave_out_large(name);
                continue;
            };
            points = left;
            let nodes = || joint_nodes(self.scene, self.rig).flatten();
            // A stack that moves no joint may still move a camera.
            let Some(span) = moved.span(nodes(), self.shapes.channels()) else {
                clips.leave_out_empty(name);
                continue;
            };
            let Some(motion) = self.motion(&moved, span, clips.size(), &mut points) else {
                clips.leave_out_large(name);
                continue;
            };
            for joint in motion.mirrored {
                clips.mirrored.add(&name, &self.rig.joints[joint].name);
            }
            let seconds = span[1] - span[0];
            let clip = SceneClip {
                place: name.clone(),
                name,
                curves: motion.curves,
                keyed: motion.keyed,
                weights: self.shapes.curves(at).clone(),
                keys: motion.keys,
                end: seconds,
                duration: Some(seconds),
                ..SceneClip::default()
            };
            // One at a time, because curves take more memory than what they are read from.
            clips.add(vec![clip], report)?;
        }
        Ok(clips.finish(report))
    }

    /// Reads how the joints move in a span of time. `points` is how many points of curves may still be read. `None` if it is used
    /// up.
    fn motion<'a>(
        &'a self,
        moved: &Moved<'a>,
        span: [f64; 2],
        size: f64,
        points: &mut usize,
    ) -> Option<Motion> {
        let mut out = Motion {
            curves: Vec::with_capacity(self.rig.joints.len()),
            keyed: Vec::with_capacity(self.rig.joints.len()),
            keys: 0,
            mirrored: Vec::new(),
        };
        let nodes = joint_nodes(self.scene, self.rig);
        for (index, (joint, node)) in self.rig.joints.iter().zip(nodes).enumerate() {
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
            let curve = curves::read(&times, at, size, &mut own)?;
            *points -= (before - own) * cost;
            if is_mirrored && joint.rest.scale.element_product() > 0.0 {
                out.mirrored.push(index);
            }
            out.curves.push(curve);
        }
        Some(out)
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
