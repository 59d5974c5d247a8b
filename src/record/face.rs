//! Inputs that a game gives to a face, as tapes store them.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// Inputs of a face beside its clips: expressions that the game set, and eyes that blink and wander.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaceNote {
    /// The expressions that are set, in the order in which they were first set.
    pub expressions: Vec<ExpressionNote>,
    /// Eyes that move by themselves; `None` if they don't.
    pub eyes: Option<EyesNote>,
}

/// An expression that the game set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpressionNote {
    /// Its name.
    pub name: String,
    /// Its present weight and share.
    pub now: ShownNote,
    /// On its way to another weight.
    pub fade: Option<FadeNote>,
}

/// Visible state of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownNote {
    /// Its weight.
    pub weight: f32,
    /// Fraction of the clips' weight that it replaces, 0..=1.
    pub share: f32,
}

/// A fade of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FadeNote {
    /// Its state at the start.
    pub from: ShownNote,
    /// Its state at the end.
    pub to: ShownNote,
    /// Seconds since the start.
    pub elapsed: f64,
    /// Seconds that it takes.
    pub duration: f64,
}

/// Eyes that blink and wander by themselves, when they moved last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EyesNote {
    /// Seed of their irregular times.
    pub seed: u64,
    /// Blinks per minute.
    pub blinks: f32,
    /// Glances per minute.
    pub glances: f32,
    /// Largest turn, as a weight of `lookLeft` and the others.
    pub range: f32,
    /// Seconds since they began.
    pub time: f64,
    /// Number and time of the last blink.
    pub blink: (u64, f64),
    /// Number and time of the last glance.
    pub glance: (u64, f64),
    /// Closure of the lids, 0..=1.
    pub closed: f32,
    /// Direction of the gaze, as weights to the right and up.
    pub gaze: Vec2,
}

impl FaceNote {
    /// About how many bytes it has allocated.
    pub(super) fn bytes(&self) -> usize {
        let names = self.expressions.iter().map(|one| one.name.len());
        size_of_val(&self.expressions[..]) + names.sum::<usize>()
    }

    /// Returns `true` if all numbers of a note that was read from a file are finite, and its times are in order.
    pub(super) fn is_sound(&self) -> bool {
        let eyes = self.eyes.is_none_or(|eyes| {
            let times = [eyes.time, eyes.blink.1, eyes.glance.1];
            times.iter().all(|time| (0.0..1e12).contains(time))
                && eyes.blink.0.max(eyes.glance.0) < 1 << 48
                && eyes.closed.is_finite()
                && eyes.gaze.is_finite()
        });
        eyes && self.expressions.iter().all(ExpressionNote::is_sound)
    }
}

impl ExpressionNote {
    fn is_sound(&self) -> bool {
        let fade = self.fade.is_none_or(|fade| {
            let times = 0.0 <= fade.elapsed && fade.elapsed < fade.duration;
            times && fade.duration.is_finite() && fade.from.is_finite() && fade.to.is_finite()
        });
        fade && self.now.is_finite()
    }
}

impl ShownNote {
    fn is_finite(self) -> bool {
        self.weight.is_finite() && self.share.is_finite()
    }
}
