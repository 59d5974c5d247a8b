//! Transitions from one clip to another.

use super::TransitionCurve;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The way in which a clip takes over from the ones before: a cut, a cross-fade, or a switch.
///
/// See [`play_with`](super::AnimationController::play_with), and the guide on [which to use](super#fade-or-switch).
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, Transition, TransitionCurve};
/// # use std::time::Duration;
/// let quarter = Duration::from_millis(250);
/// let mut controller = AnimationController::playing("walk");
/// controller.play_with("run", Transition::fade(quarter).in_phase());
/// controller.play_with("idle", Transition::fade(quarter).along(TransitionCurve::EaseInEaseOut));
/// controller.play_with("dodge", Transition::switch(quarter));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct Transition {
    pub(super) kind: Kind,
    pub(super) duration: Duration,
    pub(super) curve: TransitionCurve,
    /// If `true`, it starts at the same fraction of its length as the other clip, and stays there.
    pub(super) in_phase: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) enum Kind {
    /// A cut; with a duration, a fade whose end isn't reported.
    #[default]
    Cut,
    Fade,
    /// The clip takes over at once, and only the difference fades.
    Switch,
}

impl Transition {
    /// The clip plays at once, and those before are gone.
    pub const CUT: Self = Self {
        kind: Kind::Cut,
        duration: Duration::ZERO,
        curve: TransitionCurve::Linear,
        in_phase: false,
    };

    /// Fades in the clip while those before fade out. A zero duration is a cut.
    pub const fn fade(duration: Duration) -> Self {
        Self {
            kind: Kind::Fade,
            duration,
            ..Self::CUT
        }
    }

    /// Plays the clip at once, and lets its difference to the pose that was shown decay (*inertialization*).
    ///
    /// No joint jumps, and none changes its speed abruptly: the difference starts with the position and the velocity that
    /// it had, and ends at rest. The clips before are gone: their callbacks no longer fire, and the clip carries the
    /// character by its own root motion from the first moment on. Suits changes that have to be quick, from a run to a
    /// stop or into a hit; a [fade](Self::fade) suits clips that look alike. From 0.1 to 0.3 s is usual.
    ///
    /// From nothing, and with a zero duration, it is a cut. Switches can follow one another at any time, each with a
    /// difference of its own; while eight are decaying, the next one cross-fades. Tracks that you added are blended with
    /// the result, or added to it, as always.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, Transition};
    /// # use std::time::Duration;
    /// # let clips = ["run", "stop"].map(|name| bevy_marionette::model::ClipTiming::new(name, 1.0));
    /// let mut controller = AnimationController::playing("run");
    /// # controller.advance(0.1, &clips, &mut Vec::new())?;
    /// controller.play_with("stop", Transition::switch(Duration::from_millis(200)));
    /// # controller.advance(0.1, &clips, &mut Vec::new())?;
    /// assert!(!controller.is_playing("run"));
    /// assert_eq!(controller.switches().count(), 1);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    pub const fn switch(duration: Duration) -> Self {
        Self {
            kind: Kind::Switch,
            duration,
            ..Self::CUT
        }
    }

    /// Starts the clip at the same fraction of its length as the current one: from a walk to a run without a change of
    /// foot.
    ///
    /// During a fade, the heavier clip sets the pace for both: the outgoing one up to the middle.
    pub const fn in_phase(self) -> Self {
        Self {
            in_phase: true,
            ..self
        }
    }

    /// Sets the curve along which a fade goes; linear by default. Cuts and switches have none.
    pub const fn along(self, curve: TransitionCurve) -> Self {
        Self { curve, ..self }
    }

    /// Returns `true` if the clips before go at once.
    pub(super) fn is_cut(self) -> bool {
        self.kind == Kind::Switch || self.duration.is_zero()
    }
}

impl From<Duration> for Transition {
    /// Returns a linear cross-fade.
    fn from(duration: Duration) -> Self {
        Self::fade(duration)
    }
}
