//! Frames → clip: finds the channels that change and packs their samples.

use super::{ChannelSlot, ClipError, ClipFrames, MorphCurves, RowTracks, SkeletalClip};
use crate::model::{ClipTiming, JointTransform, Reach, Skeleton};
use glam::{Quat, Vec4};
use std::{iter, ops::Range, sync::Arc};

/// The ten vectors of four joints: translation x y z, rotation x y z w, scale x y z.
type RowVectors = [Vec4; 10];

const IDENTITY: RowVectors = {
    let (zero, one) = (Vec4::ZERO, Vec4::ONE);
    [zero, zero, zero, zero, zero, zero, one, one, one, one]
};

/// The range of each channel among these.
const TRANSLATION: Range<usize> = 0..3;
const ROTATION: Range<usize> = 3..7;
const SCALE: Range<usize> = 7..10;

impl SkeletalClip {
    /// Creates a clip of evenly spaced frames, the first at 0 and the last at `timing.duration` seconds.
    ///
    /// # Errors
    /// The frames are not whole, or a number is not finite.
    pub fn new(timing: ClipTiming, frames: &ClipFrames) -> Result<Self, ClipError> {
        Self::subdivided(timing, frames, 1)
    }

    /// Creates a clip whose frames are at `times`, in seconds: one for each frame, from 0 to `timing.duration`, in
    /// order.
    ///
    /// Two frames at one time are a step. At that very time the earlier one counts, except at the end of the clip.
    /// Prefer [`Self::new`] for evenly spaced frames: it needs no search for a time.
    ///
    /// # Errors
    /// As for [`Self::new`], or the times are not as described.
    pub fn at_times(
        timing: ClipTiming,
        frames: &ClipFrames,
        times: &[f64],
    ) -> Result<Self, ClipError> {
        let clip = Self::new(timing, frames)?;
        let (frames, duration) = (clip.frame_count, clip.timing.duration);
        let whole = times.len() == frames && times[0] == 0.0 && times[frames - 1] == duration;
        if !whole || !times.is_sorted() {
            return Err(ClipError::BadTimes {
                clip: clip.timing.name,
                frames,
                duration,
            });
        }
        let times = if frames > 1 {
            times.into()
        } else {
            Arc::default()
        };
        Ok(Self {
            times,
            rate: None,
            ..clip
        })
    }

    /// Like [`Self::new`], with each frame cut into `steps`, at least one, along the arcs between rotations.
    pub(crate) fn subdivided(
        timing: ClipTiming,
        frames: &ClipFrames,
        steps: usize,
    ) -> Result<Self, ClipError> {
        let name = || timing.name.clone();
        let joints = frames.joints.len();
        let transforms = frames.transforms.len();
        if (joints == 0 && transforms > 0)
            || (joints > 0 && (transforms == 0 || !transforms.is_multiple_of(joints)))
        {
            return Err(ClipError::NotWholeFrames {
                clip: name(),
                transforms,
                joints,
            });
        }
        if !timing.duration.is_finite() || timing.duration < 0.0 {
            return Err(ClipError::BadDuration {
                clip: name(),
                duration: timing.duration,
            });
        }
        let animated = |joint: usize| {
            frames
                .animated
                .get(joint)
                .copied()
                .unwrap_or(frames.animated.is_empty())
        };
        let still = still_channels(frames, animated, &timing.name)?;
        let first = &frames.transforms[..joints];

        let given = transforms.checked_div(joints).unwrap_or(1);
        let frame_count = (given - 1) * steps + 1;
        // For each frame, the first transform of the given frame at or before it, and the share of the way to the next one.
        let place = |frame| {
            (
                frame / steps * joints,
                (frame % steps) as f32 / steps as f32,
            )
        };
        let places: Vec<(usize, f32)> = (0..frame_count).map(place).collect();
        let get = |joint: usize, &(first, t): &(usize, f32)| {
            let from = &frames.transforms[first + joint];
            if t == 0.0 {
                *from
            } else {
                from.between(&frames.transforms[first + joints + joint], t)
            }
        };
        let rotations = |joint: usize| {
            let mut before = None;
            places.iter().map(move |place| {
                let rotation = unit_near(get(joint, place).rotation, before);
                before = Some(rotation);
                rotation.to_array()
            })
        };

        // First the place of every channel, then the samples: a frame is one run of memory.
        let row_count = joints.div_ceil(4);
        let (mut rows, mut constants, mut sampled) =
            (Vec::with_capacity(row_count), Vec::new(), Vec::new());
        let (mut stride, mut unit_scale) = (0, true);
        for row in 0..row_count {
            let members = || (row * 4..joints.min(row * 4 + 4)).filter(|&joint| animated(joint));
            // Joints that the clip doesn't move stay at the identity, so that they can share a row
            // with others.
            let mut start = IDENTITY;
            for joint in members() {
                let JointTransform {
                    translation,
                    rotation,
                    scale,
                } = first[joint];
                set(&mut start[TRANSLATION], joint, translation.to_array());
                set(
                    &mut start[ROTATION],
                    joint,
                    unit_near(rotation, None).to_array(),
                );
                set(&mut start[SCALE], joint, scale.to_array());
            }
            let mut slot = |channel: Range<usize>, is_constant: bool| {
                let count = channel.len();
                if is_constant {
                    constants.extend_from_slice(&start[channel]);
                    return ChannelSlot::Constant((constants.len() - count) as u32);
                }
                sampled.push((row, stride, channel));
                stride += count;
                ChannelSlot::Sampled((stride - count) as u32)
            };
            // Rotations that differ may be the same once they are normalized.
            let turns = |joint: usize| {
                let first = rotations(joint).next();
                !still[joint][1] && rotations(joint).any(|rotation| Some(rotation) != first)
            };
            let translation = slot(TRANSLATION, members().all(|joint| still[joint][0]));
            let rotation = slot(ROTATION, !members().any(turns));
            let scale = slot(SCALE, members().all(|joint| still[joint][2]));
            unit_scale &=
                matches!(scale, ChannelSlot::Constant(_)) && start[SCALE] == IDENTITY[SCALE];
            // Lanes after the last joint count as moved, so that a row of a clip that moves every joint is like any other.
            let after = (joints.max(row * 4)..row * 4 + 4).map(|lane| lane % 4);
            let moved = members().map(|joint| joint % 4).chain(after);
            let moved = moved.fold(0, |moved, lane| moved | 1 << lane);
            rows.push(RowTracks {
                moved,
                translation,
                rotation,
                scale,
            });
        }
        let mut moved = vec![0; joints.div_ceil(64)];
        (0..joints)
            .filter(|&joint| animated(joint))
            .for_each(|joint| moved[joint / 64] |= 1 << (joint % 64));
        // Collected into place, because a `Vec` would have to be copied into the `Arc`.
        let mut samples: Arc<[Vec4]> = iter::repeat_n(Vec4::ZERO, stride * frame_count).collect();
        let frames_out = Arc::make_mut(&mut samples);
        // Channel by channel: the transforms of one joint are read in order.
        for (row, at, channel) in sampled {
            let lanes = at..at + channel.len();
            frames_out
                .chunks_exact_mut(stride)
                .for_each(|frame| frame[lanes.clone()].copy_from_slice(&IDENTITY[channel.clone()]));
            for joint in (row * 4..joints.min(row * 4 + 4)).filter(|&joint| animated(joint)) {
                let out = frames_out
                    .chunks_exact_mut(stride)
                    .map(|frame| &mut frame[lanes.clone()]);
                match channel {
                    TRANSLATION => out
                        .zip(&places)
                        .for_each(|(out, p)| set(out, joint, get(joint, p).translation.to_array())),
                    ROTATION => out
                        .zip(rotations(joint))
                        .for_each(|(out, rotation)| set(out, joint, rotation)),
                    _ => out
                        .zip(&places)
                        .for_each(|(out, p)| set(out, joint, get(joint, p).scale.to_array())),
                }
            }
        }
        let rate = even_rate(given, timing.duration);
        Ok(Self {
            timing,
            additive: false,
            joints: frames.joints.clone(),
            root_path: None,
            frame_count,
            times: Arc::default(),
            rate,
            rows: rows.into(),
            constants: constants.into(),
            samples,
            stride,
            numbers: Arc::default(),
            rest: Arc::default(),
            quantization: None,
            animates_all: (0..joints).all(animated),
            moved: moved.into(),
            unit_scale,
            morphs: None,
        })
    }

    /// Converts the clip to differences from its first frame, to be added to poses of `skeleton`: translation
    /// `t − t₀`, rotation `q₀⁻¹ · q`, scale `s / s₀`, morph weight `w − w₀`. Joints and morph targets are matched by name.
    ///
    /// # Errors
    /// [`ClipError::TooFar`] if the differences could carry the skin beyond what can be computed, such as after a
    /// first frame that is scaled to almost nothing.
    pub fn to_additive(&self, skeleton: &Skeleton) -> Result<Self, ClipError> {
        let mut raw = self.to_raw();
        raw.bind(skeleton);
        raw.subtract_first();
        let clip = raw.build()?;
        Reach::new(skeleton)
            .and_then(|mut reach| reach.admit(skeleton, &clip))
            .map_err(|reason| ClipError::TooFar {
                clip: self.timing.name.clone(),
                reason,
            })?;
        Ok(clip)
    }

    /// Returns the same clip in the joint order of `skeleton`, matched by name.
    ///
    /// Joints that the clip lacks are not animated. Joints that share a name are matched in order,
    /// if there are equally many of that name in the clip as in the skeleton. Otherwise, the first
    /// joint of that name counts.
    pub fn bind(&self, skeleton: &Skeleton) -> Self {
        if self.fits(skeleton) {
            return self.clone();
        }
        let mut raw = self.to_raw();
        raw.bind(skeleton);
        // Without a look at times, because `timing` is public and may have been changed since.
        let (name, duration) = (&self.timing.name, self.timing.duration);
        let morphs = MorphCurves::new(name, duration, &raw.morphs).ok().flatten();
        let bound = Self::new(raw.timing, &raw.frames);
        // Of a clip that has no length anymore, nothing is left.
        let bound = bound.unwrap_or_else(|_| Self {
            rows: Arc::default(),
            moved: Arc::default(),
            joints: skeleton.names().clone(),
            ..self.clone()
        });
        Self {
            additive: raw.additive,
            times: raw.times.into(),
            rate: raw.rate,
            root_path: raw.root_path,
            ..bound.with_curves(morphs)
        }
    }

    /// Returns `true` if the clip is bound to `skeleton`: [`Self::bind`] changes nothing.
    pub(crate) fn fits(&self, skeleton: &Skeleton) -> bool {
        let morphs = self.morphs();
        self.joints == *skeleton.names()
            && (morphs.is_empty() || morphs == skeleton.morphs().names())
    }
}

/// Returns the frames per second of evenly spaced frames. `None` if there is only one, or no time between them.
pub(super) fn even_rate(frames: usize, duration: f64) -> Option<f64> {
    let rate = frames.saturating_sub(1) as f64 / duration;
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Returns, per joint, `true` for each of translation, rotation and scale that is the same in all
/// given frames.
fn still_channels(
    frames: &ClipFrames,
    animated: impl Fn(usize) -> bool,
    clip: &Arc<str>,
) -> Result<Vec<[bool; 3]>, ClipError> {
    let joints = frames.joints.len();
    let mut still = vec![[true; 3]; joints];
    let first = &frames.transforms[..joints];
    for (frame, transforms) in frames.transforms.chunks_exact(joints.max(1)).enumerate() {
        for (joint, (transform, first)) in transforms
            .iter()
            .zip(first)
            .enumerate()
            .filter(|(j, _)| animated(*j))
        {
            if !transform.is_finite() {
                return Err(ClipError::NotFinite {
                    clip: clip.clone(),
                    frame,
                    joint: frames.joints[joint].clone(),
                });
            }
            let [translation, rotation, scale] = &mut still[joint];
            *translation &= transform.translation == first.translation;
            *rotation &= transform.rotation == first.rotation;
            *scale &= transform.scale == first.scale;
        }
    }
    Ok(still)
}

/// Sets a joint's components in the vectors of a channel.
fn set<const N: usize>(vectors: &mut [Vec4], joint: usize, components: [f32; N]) {
    for (vector, component) in vectors[..N].iter_mut().zip(components) {
        vector.as_mut()[joint % 4] = component;
    }
}

/// The unit quaternion of `q`, in the hemisphere of `before`; for a zero quaternion, `before` or the identity.
fn unit_near(q: Quat, before: Option<Quat>) -> Quat {
    let unit = if q.length_squared() > 1e-12 {
        q.normalize()
    } else {
        before.unwrap_or(Quat::IDENTITY)
    };
    if before.is_some_and(|b| b.dot(unit) < 0.0) {
        -unit
    } else {
        unit
    }
}
