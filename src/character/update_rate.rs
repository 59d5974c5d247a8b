//! Characters that are posed less often than every frame, and interpolated in between.

use super::{components::CharacterParts, pose_state::PoseStamp};
use bevy::prelude::*;
use glam::{Affine3A, Vec3A};

/// How often a character in view is posed. Without this component: every frame.
///
/// In the frames between, its joints are interpolated linearly from the pose they have to the one evaluated
/// last. So the character lags by up to `n − 1` frames, and a joint that turns by an angle φ within n frames
/// is drawn up to `1 − cos(φ/2)` too small halfway: a hundredth for a sixth of a turn per second, posed every
/// fourth of 60 frames. Clocks and events are not affected: they are exact in every frame.
///
/// It pays only for characters that blend about ten clips or more, since each clip costs 0.1 µs at 58 joints. With two,
/// interpolating between poses that lie in memory takes longer than evaluating one: a character of a crowd takes 0.5 µs a
/// frame without this component, and 1.0 µs if it is posed every second or every fourth frame, and the two poses take
/// 7.5 kB. There, use [`PoseSharing`](super::PoseSharing).
///
/// Has no effect on characters that carry or wear something or have `PoseOverrides`: those are posed every
/// frame.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("scout/scout.character.ron")),
///     AnimationController::playing("walk"),
///     // Every frame while it fills a fifth of the viewport's height, every second frame at a tenth of it, and
///     // every fourth frame when it is smaller.
///     UpdateRate::ByScreenSize { full: 0.2, most: 4 },
/// ));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, PartialEq)]
#[require(PoseInterpolation)]
pub enum UpdateRate {
    /// Every n-th frame. 0 counts as 1.
    Every(u32),
    /// By size on screen: every frame while the character fills at least the fraction `full` of some camera's
    /// viewport height, every second frame at half of that, every third at a third, but at least every
    /// `most`-th.
    ByScreenSize {
        /// Fraction of the viewport's height, > 0.
        full: f32,
        /// The most frames from one pose to the next.
        most: u32,
    },
    /// By distance to the nearest camera: every frame up to `full`, every second frame up to twice as far, and
    /// so on, but at least every `most`-th.
    ByDistance {
        /// Distance in world units, > 0.
        full: f32,
        /// The most frames from one pose to the next.
        most: u32,
    },
}

/// The state of a character between two poses.
#[derive(Component, Clone, Debug)]
pub(super) struct PoseInterpolation {
    /// Frames from one pose to the next, as chosen for this frame; ≥ 1.
    pub(super) every: u32,
    /// Empty if there is nothing to interpolate from.
    from: Vec<Affine3A>,
    to: Vec<Affine3A>,
    /// What `to` was made from.
    target: PoseStamp,
    /// Frames since `from`, and frames from `from` to `to`.
    elapsed: u32,
    span: u32,
    /// The frame of the last step.
    last_frame: u32,
}

impl Default for PoseInterpolation {
    fn default() -> Self {
        let (from, to, target) = default();
        Self {
            every: 1,
            from,
            to,
            target,
            elapsed: 0,
            span: 1,
            last_frame: 0,
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoseStep {
    Unchanged,
    Interpolated,
    Evaluated,
}

impl PoseInterpolation {
    /// Advances by a frame. When the next pose is due, `evaluate` writes it; `stamp` is what it is made from.
    ///
    /// `offset` is a number of the character's own, so that not all of them are evaluated in the same frame.
    pub(super) fn step(
        &mut self,
        stamp: PoseStamp,
        joints: usize,
        (frame, offset): (u32, u32),
        evaluate: impl FnOnce(&mut Vec<Affine3A>),
    ) -> PoseStep {
        let missed_frames = frame.wrapping_sub(self.last_frame) != 1;
        self.last_frame = frame;
        if missed_frames || self.target == PoseStamp::Never || self.to.len() != joints {
            // There is nothing to interpolate from: jump to the pose.
            evaluate(&mut self.to);
            self.from.clear();
            self.target = stamp;
            (self.elapsed, self.span) = (offset % self.every, self.every);
            return PoseStep::Evaluated;
        }
        let arrived = self.has_arrived();
        self.elapsed = (self.elapsed + 1).min(self.span);
        if self.elapsed < self.span {
            return if arrived {
                PoseStep::Unchanged
            } else {
                PoseStep::Interpolated
            };
        }
        if stamp == self.target {
            return PoseStep::Unchanged;
        }
        std::mem::swap(&mut self.from, &mut self.to);
        evaluate(&mut self.to);
        self.target = stamp;
        (self.elapsed, self.span) = (0, self.every);
        PoseStep::Evaluated
    }

    /// What the current pose is made from.
    pub(super) fn stamp(&self) -> PoseStamp {
        if self.has_arrived() {
            self.target
        } else {
            PoseStamp::Between
        }
    }

    /// Writes the current pose.
    pub(super) fn write(&self, joints: &mut Vec<Affine3A>) {
        if self.has_arrived() {
            joints.clone_from(&self.to);
            return;
        }
        let progress = (self.elapsed + 1) as f32 / self.span as f32;
        joints.resize(self.to.len(), Affine3A::IDENTITY);
        let pairs = self.from.iter().zip(&self.to);
        joints
            .iter_mut()
            .zip(pairs)
            .for_each(|(joint, (from, to))| *joint = lerp(from, to, progress));
    }

    fn has_arrived(&self) -> bool {
        self.from.is_empty() || self.elapsed + 1 >= self.span
    }
}

fn lerp(from: &Affine3A, to: &Affine3A, t: f32) -> Affine3A {
    Affine3A {
        matrix3: from.matrix3 * (1.0 - t) + to.matrix3 * t,
        translation: from.translation * (1.0 - t) + to.translation * t,
    }
}

/// Chooses how often each character is posed, from where the cameras are.
pub(super) fn choose(
    cameras: Query<(&Camera, &GlobalTransform, &Projection)>,
    mut characters: Query<(
        &UpdateRate,
        &CharacterParts,
        &GlobalTransform,
        &mut PoseInterpolation,
    )>,
) {
    let cameras = || cameras.iter().filter(|(camera, ..)| camera.is_active);
    for (rate, parts, transform, mut interpolation) in &mut characters {
        let affine = transform.affine();
        let center = Vec3A::from(affine.transform_point3(parts.center));
        let distance = |camera: &GlobalTransform| camera.affine().translation.distance(center);
        let (frames, most) = match *rate {
            UpdateRate::Every(n) => (n as f32, n),
            UpdateRate::ByDistance { full, most } => {
                let nearest = cameras()
                    .map(|(_, camera, _)| distance(camera))
                    .min_by(f32::total_cmp);
                (nearest.map_or(1.0, |nearest| (nearest / full).ceil()), most)
            }
            UpdateRate::ByScreenSize { full, most } => {
                let height = 2.0 * parts.radius * affine.matrix3.x_axis.length();
                let fraction = |camera: &GlobalTransform, projection: &Projection| match projection
                {
                    Projection::Perspective(lens) => {
                        height / (2.0 * distance(camera) * (0.5 * lens.fov).tan())
                    }
                    Projection::Orthographic(lens) => height / lens.area.height(),
                    Projection::Custom(_) => f32::INFINITY,
                };
                let largest = cameras()
                    .map(|(_, camera, lens)| fraction(camera, lens))
                    .max_by(f32::total_cmp);
                (
                    largest.map_or(1.0, |largest| (full / largest).floor()),
                    most,
                )
            }
        };
        // `max` turns NaN into 1.
        interpolation.every = (frames.max(1.0) as u32).clamp(1, most.max(1));
    }
}
