//! Characters that are posed less often than every frame, and moved between in the others.

use super::CharacterParts;
use bevy::prelude::*;
use glam::Affine3A;

/// How often a character in view is posed anew; without this component, every frame.
///
/// In the frames between, its joints go straight from the pose they have to the one last worked out. So it
/// shows what was up to `n − 1` frames ago, and a joint that turned by an angle φ in n frames is drawn up to
/// `1 − cos(φ/2)` too small halfway: a hundredth for a sixth of a turn in a second, posed every fourth of 60
/// frames. Clocks and events do not mind: they are exact in every frame.
///
/// What it saves grows with the number of clips a character blends. With one or two a pose costs hardly more
/// than the way between two that lie in memory (and of many thousands less): there
/// [`PoseSharing`](super::PoseSharing) is what helps a crowd.
///
/// Characters that carry something or are posed by hand are posed every frame all the same.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("scout/scout.character.ron")),
///     AnimationController::playing("walk"),
///     // Every frame while as high as a fifth of the picture, every second at a tenth, every fourth below.
///     UpdateRate::ByScreenSize { full: 0.2, most: 4 },
/// ));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, PartialEq)]
#[require(Steps)]
pub enum UpdateRate {
    /// Every n-th frame; 0 counts as 1.
    Every(u32),
    /// By its size: every frame while it takes up at least the share `full` of the height of some camera's
    /// picture, every second frame at half of that, every third at a third, at least every `most`-th.
    ByScreenSize {
        /// Share of the picture's height, > 0.
        full: f32,
        /// The longest way between two poses, in frames.
        most: u32,
    },
    /// By its distance to the nearest camera: every frame up to `full`, every second frame up to twice as
    /// far, and so on, at least every `most`-th.
    ByDistance {
        /// Distance in units of the world, > 0.
        full: f32,
        /// The longest way between two poses, in frames.
        most: u32,
    },
}

/// The way from one pose to the next.
#[derive(Component, Clone, Debug)]
pub(super) struct Steps {
    /// Frames from one pose to the next, as chosen for this frame; ≥ 1.
    pub(super) every: u32,
    /// Empty where it came from nowhere.
    from: Vec<Affine3A>,
    to: Vec<Affine3A>,
    /// What `to` stands for: [`Playing`](super::Playing)'s stamp; 0 if it holds nothing.
    target: u64,
    /// Frames gone, and frames the way takes.
    gone: u32,
    span: u32,
    /// Frame in which it last went on.
    seen: u32,
}

impl Default for Steps {
    fn default() -> Self {
        Self { every: 1, from: Vec::new(), to: Vec::new(), target: 0, gone: 0, span: 1, seen: 0 }
    }
}

/// What a step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stepped {
    Nothing,
    Interpolated,
    Evaluated,
}

impl Steps {
    /// Goes one frame on; `evaluate` writes the pose of `stamp` when it is time for it. `place` is a number
    /// of the character's own, so that not all of them are posed in the same frame.
    pub(super) fn step(
        &mut self,
        (stamp, joints): (u64, usize),
        (frame, place): (u32, u32),
        evaluate: impl FnOnce(&mut Vec<Affine3A>),
    ) -> Stepped {
        let missed = frame.wrapping_sub(self.seen) != 1;
        self.seen = frame;
        if missed || self.target == 0 || self.to.len() != joints {
            // Nothing to come from: it is there at once.
            evaluate(&mut self.to);
            self.from.clear();
            self.target = stamp;
            (self.gone, self.span) = (place % self.every, self.every);
            return Stepped::Evaluated;
        }
        let arrived = self.arrived();
        self.gone = (self.gone + 1).min(self.span);
        if self.gone < self.span {
            return if arrived { Stepped::Nothing } else { Stepped::Interpolated };
        }
        if stamp == self.target {
            return Stepped::Nothing;
        }
        std::mem::swap(&mut self.from, &mut self.to);
        evaluate(&mut self.to);
        self.target = stamp;
        (self.gone, self.span) = (0, self.every);
        Stepped::Evaluated
    }

    /// Whether it went on in a frame, and is to be drawn where it is on its way.
    pub(super) fn is_on_its_way(&self, frame: u32) -> bool {
        self.every > 1 && self.seen == frame && self.target != 0
    }

    /// What its pose stands for where it has arrived; else 0, which stands for nothing.
    pub(super) fn stamp(&self) -> u64 {
        if self.arrived() { self.target } else { 0 }
    }

    /// Writes where the joints are on their way to `joints`, which takes on their number.
    pub(super) fn write(&self, joints: &mut Vec<Affine3A>) {
        if self.arrived() {
            joints.clone_from(&self.to);
            return;
        }
        let share = (self.gone + 1) as f32 / self.span as f32;
        joints.resize(self.to.len(), Affine3A::IDENTITY);
        let ways = self.from.iter().zip(&self.to);
        joints.iter_mut().zip(ways).for_each(|(joint, (from, to))| *joint = between(from, to, share));
    }

    fn arrived(&self) -> bool {
        self.from.is_empty() || self.gone + 1 >= self.span
    }
}

/// Straight from one matrix to another.
fn between(from: &Affine3A, to: &Affine3A, share: f32) -> Affine3A {
    Affine3A {
        matrix3: from.matrix3 * (1.0 - share) + to.matrix3 * share,
        translation: from.translation * (1.0 - share) + to.translation * share,
    }
}

/// Chooses how often each character is posed.
pub(super) fn choose(
    cameras: Query<(&Camera, &GlobalTransform, &Projection)>,
    mut characters: Query<(&UpdateRate, &CharacterParts, &GlobalTransform, &mut Steps)>,
) {
    let cameras = || cameras.iter().filter(|(camera, ..)| camera.is_active);
    for (rate, parts, transform, mut steps) in &mut characters {
        let affine = transform.affine();
        let center = affine.transform_point3a(parts.center);
        let distance = |camera: &GlobalTransform| camera.affine().translation.distance(center);
        let (frames, most) = match *rate {
            UpdateRate::Every(n) => (n as f32, n),
            UpdateRate::ByDistance { full, most } => {
                let nearest = cameras().map(|(_, camera, _)| distance(camera)).min_by(f32::total_cmp);
                (nearest.map_or(1.0, |nearest| (nearest / full).ceil()), most)
            }
            UpdateRate::ByScreenSize { full, most } => {
                let height = 2.0 * parts.radius * affine.matrix3.x_axis.length();
                let share = |camera: &GlobalTransform, projection: &Projection| match projection {
                    Projection::Perspective(lens) => height / (2.0 * distance(camera) * (0.5 * lens.fov).tan()),
                    Projection::Orthographic(lens) => height / lens.area.height(),
                    Projection::Custom(_) => f32::INFINITY,
                };
                let largest = cameras().map(|(_, camera, lens)| share(camera, lens)).max_by(f32::total_cmp);
                (largest.map_or(1.0, |largest| (full / largest).floor()), most)
            }
        };
        // What is no number counts as 1.
        steps.every = (frames.max(1.0) as u32).clamp(1, most.max(1));
    }
}
