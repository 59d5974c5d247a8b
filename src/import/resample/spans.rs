//! The motion from each moment at which a joint has a key to the next, and the frames that it takes.

use super::{
    curve::{Curve, Moment, sample},
    skin::{Motion, MotionScratch, Skin},
};
use crate::{model::JointTransform, numbers::worse};

/// Pieces of one length into which a motion is cut without asking whether a half of it needs fewer.
const FEW_CUTS: usize = 16;

/// How many times a motion is halved at most.
const MOST_HALVINGS: usize = 6;

/// Poses at some moments, and the motion from each to the next.
#[derive(Default)]
pub(super) struct Spans {
    pub(super) moments: Vec<Moment>,
    /// Moment by moment, one transform per curve.
    pub(super) poses: Vec<JointTransform>,
    pub(super) motions: Vec<Motion>,
}

impl Spans {
    pub(super) fn new(
        curves: &[Curve],
        skin: &Skin,
        moments: Vec<Moment>,
        poses: Vec<JointTransform>,
    ) -> Self {
        let mut scratch = MotionScratch::default();
        let pairs = poses
            .windows(2 * curves.len())
            .step_by(curves.len())
            .zip(moments.windows(2));
        let motions = pairs
            .map(|(pair, ends)| {
                motion(
                    curves,
                    skin,
                    pair,
                    [ends[0].time, ends[1].time],
                    &mut scratch,
                )
            })
            .collect();
        Self {
            moments,
            poses,
            motions,
        }
    }

    /// Returns the largest error if each motion is cut into so many pieces, and frames are moved in time by this share of their
    /// distance.
    pub(super) fn error(&self, cuts: &[usize], shift: f64) -> f64 {
        // A frame that is moved in time moves the skin by the same part of its path, on both sides.
        let of =
            |(motion, cuts): (&Motion, &usize)| motion.error(*cuts) + 2.0 * shift * motion.path;
        self.motions.iter().zip(cuts).map(of).fold(0.0, worse)
    }

    /// Halves motions that would be cut into many pieces, again and again: a spline bends here more and there less, and each part
    /// gets as many frames as it takes. Stops at `most` parts.
    pub(super) fn halved(&self, curves: &[Curve], skin: &Skin, bound: f64, most: usize) -> Self {
        let joints = curves.len();
        let (mut out, mut scratch) = (Self::default(), MotionScratch::default());
        let mut keys = vec![0; joints];
        let pairs = self.poses.windows(2 * joints).step_by(joints);
        for ((pair, ends), motion) in pairs.zip(self.moments.windows(2)).zip(&self.motions) {
            let mut pose = |moment: Moment| -> Vec<JointTransform> {
                let at = |(curve, key): (&Curve, &mut usize)| match curve.is_empty() {
                    true => JointTransform::IDENTITY,
                    false => curve.sample(moment, key),
                };
                curves.iter().zip(&mut keys).map(at).collect()
            };
            // Parts to come, the next one last. There are no keys within, so the curves' keys stay where they are.
            let mut parts = vec![([ends[0], ends[1]], pair.to_vec(), *motion, 0)];
            while let Some(([from, to], pair, motion, halvings)) = parts.pop() {
                let is_fine = motion.cuts(bound) <= FEW_CUTS || halvings == MOST_HALVINGS;
                if is_fine || out.motions.len() + parts.len() + 2 >= most {
                    out.moments.push(from);
                    out.poses.extend_from_slice(&pair[..joints]);
                    out.motions.push(motion);
                    continue;
                }
                let middle = Moment {
                    time: from.time.midpoint(to.time),
                    after_step: false,
                };
                let pose = pose(middle);
                for (ends, half) in [
                    ([middle, to], [&pose[..], &pair[joints..]].concat()),
                    ([from, middle], [&pair[..joints], &pose[..]].concat()),
                ] {
                    let times = ends.map(|moment| moment.time);
                    let motion = self::motion(curves, skin, &half, times, &mut scratch);
                    parts.push((ends, half, motion, halvings + 1));
                }
            }
        }
        out.moments.extend(self.moments.last());
        let last = self.poses.len() - joints;
        out.poses.extend_from_slice(&self.poses[last..]);
        out
    }

    /// Returns the frames and their times with those added that cut each motion into `cuts`.
    pub(super) fn cut(self, curves: &[Curve], cuts: &[usize]) -> (Vec<f64>, Vec<JointTransform>) {
        let mut moments = Vec::with_capacity(cuts.iter().sum::<usize>() + 1);
        for (ends, &cuts) in self.moments.windows(2).zip(cuts) {
            let [from, to] = [ends[0].time, ends[1].time];
            moments.push(ends[0]);
            moments.extend((1..cuts).map(|cut| Moment {
                time: from + (to - from) * cut as f64 / cuts as f64,
                after_step: false,
            }));
        }
        moments.extend(self.moments.last());
        let transforms = if moments.len() == self.moments.len() {
            self.poses
        } else {
            sample(curves, &moments)
        };
        (
            moments.iter().map(|moment| moment.time).collect(),
            transforms,
        )
    }
}

/// Measures the motion between two poses that are next to each other.
fn motion(
    curves: &[Curve],
    skin: &Skin,
    pair: &[JointTransform],
    [from, to]: [f64; 2],
    scratch: &mut MotionScratch,
) -> Motion {
    if from >= to {
        return Motion::default();
    }
    let bulge = if curves.iter().any(|curve| curve.spline.is_some()) {
        bulge(curves, skin, pair, [from, to])
    } else {
        0.0
    };
    Motion {
        bulge,
        ..skin.motion(curves, pair, scratch)
    }
}

/// Returns how far splines lead the skin from the straight lines between two frames.
fn bulge(curves: &[Curve], skin: &Skin, pair: &[JointTransform], [begin, end]: [f64; 2]) -> f64 {
    const PIECES: usize = 4;
    let at = |share: f64| {
        skin.pose(curves, |joint| match &curves[joint].spline {
            Some(spline) if 0.0 < share && share < 1.0 => spline(begin + (end - begin) * share),
            _ => pair[joint].between(&pair[curves.len() + joint], share as f32),
        })
    };
    let chord = |piece: usize| {
        let [from, middle, to] =
            [0.0, 0.5, 1.0].map(|half| at((piece as f64 + half) / PIECES as f64));
        let spline = |joint: usize| curves[joint].spline.is_some();
        let halfway = |joint: usize| {
            if spline(joint) {
                from[joint].between(&to[joint], 0.5)
            } else {
                middle[joint]
            }
        };
        skin.apart(&middle, &skin.pose(curves, halfway))
    };
    let worst = (0..PIECES).map(chord).fold(0.0, worse);
    // A chord is off by its square times the bend of a spline, which changes evenly: at an end of the whole it is up to
    // 4/3 of what it is in the middle of the first or last quarter.
    worst * 4.0 / 3.0 * (PIECES * PIECES) as f64
}
