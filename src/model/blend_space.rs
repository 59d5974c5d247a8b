//! Blend spaces: clips placed at points of a line or a plane, and blended by parameters, the place
//! between them.
//!
//! ```text
//! line    idle ●────────● walk ──────────● jog           x: speed
//!
//! plane   walk_left ●────● walk ────● walk_right         x: turn, y: speed
//!                    ╲  ╱ ╲        ╱
//!                     ● ── ─ ─ ─ ●
//!                 turn_left     turn_right
//! ```
//!
//! A [`BlendSpace`] has the names and places of clips. [Bound](BlendSpace::bind) to the clips
//! themselves, it becomes a [`BoundBlendSpace`], which tracks play like a clip.

mod bound;
mod layout;
mod warp;
mod weights;

pub use bound::{BoundBlendSpace, SyncMark};

pub(crate) use bound::{Cycle, Member};
pub(crate) use warp::Phase;

use crate::numbers::finite;
use glam::{DVec2, Vec2};
use layout::{Layout, LayoutError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Values of a blend space's parameters: `x`, and `y` if it has two.
///
/// Methods that take a point also take a number, a pair, or a vector.
///
/// ```
/// # use bevy_marionette::{controller::AnimationController, model::BlendPoint};
/// # let mut controller = AnimationController::playing("locomotion");
/// // Keeps the speed, and turns to the left.
/// if let Some(track) = controller.current_track_mut() {
///     track.set_parameters(BlendPoint { y: -20.0, ..track.parameters() });
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct BlendPoint {
    /// The first parameter, in the units of the space, such as meters per second.
    pub x: f64,
    /// The second parameter. A space with one parameter ignores it.
    #[serde(default)]
    pub y: f64,
}

impl BlendPoint {
    /// Creates a point of two parameters.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Returns `true` if both numbers are finite.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }

    fn vector(self) -> DVec2 {
        DVec2::new(self.x, self.y)
    }
}

impl From<f64> for BlendPoint {
    fn from(x: f64) -> Self {
        Self { x, y: 0.0 }
    }
}

impl From<f32> for BlendPoint {
    fn from(x: f32) -> Self {
        Self {
            x: x.into(),
            y: 0.0,
        }
    }
}

impl From<(f64, f64)> for BlendPoint {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y }
    }
}

impl From<(f32, f32)> for BlendPoint {
    fn from((x, y): (f32, f32)) -> Self {
        Self {
            x: x.into(),
            y: y.into(),
        }
    }
}

impl From<DVec2> for BlendPoint {
    fn from(DVec2 { x, y }: DVec2) -> Self {
        Self { x, y }
    }
}

impl From<Vec2> for BlendPoint {
    fn from(Vec2 { x, y }: Vec2) -> Self {
        (x, y).into()
    }
}

/// The way in which the clips of a blend space are kept in phase.
///
/// ```
/// # use bevy_marionette::model::{BlendSpace, BlendSpaceError, BlendSync};
/// // Swimmers don't step: the keys of their strokes keep them in phase.
/// let strokes = BlendSync::Keys(vec!["stroke".into()]);
/// let swim = BlendSpace::line("swim", [("tread_water", 0.0), ("crawl", 1.5)])?.synced(strokes);
/// # Ok::<(), BlendSpaceError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlendSync {
    /// By their feet: every foot lands at the same phase in all clips. The first clip that steps
    /// sets the phase. Clips that step otherwise, and characters without feet, use
    /// [`Fraction`](Self::Fraction).
    #[default]
    Feet,
    /// By callback keys of these names: keys of the same name and data are passed at the same phase
    /// in all clips. The first clip that has any sets the phase. Clips with other keys use
    /// [`Fraction`](Self::Fraction).
    Keys(Vec<String>),
    /// By the fraction of their length.
    Fraction,
}

/// An error in making or binding a blend space.
///
/// ```
/// # use bevy_marionette::model::{BlendSpace, BlendSpaceError};
/// match BlendSpace::line("locomotion", [("walk", 1.4), ("stroll", 1.4)]) {
///     // An editor marks both points.
///     Err(BlendSpaceError::TooClose(first, second)) => assert_eq!((&*first, &*second), ("walk", "stroll")),
///     Err(error) => println!("{error}"),
///     Ok(space) => println!("{} clips", space.points().len()),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BlendSpaceError {
    /// There is no point.
    #[error("it has no points; place at least one clip")]
    Empty,
    /// There are too many points.
    #[error("it has {0} points, expected at most {most}; split it into several", most = BlendSpace::MOST_POINTS)]
    TooMany(usize),
    /// A point's place is not finite, or at a number of more than a hundred digits.
    #[error(
        "`{0}` is at a place that is not a finite number, or too large to compute with; give it another one"
    )]
    NotFinite(Arc<str>),
    /// Two points are in the same place, or nearer than a thousandth of the space's size, or than numbers can tell apart.
    #[error(
        "`{0}` and `{1}` are in the same place, or too close together; move one of them, or remove it"
    )]
    TooClose(Arc<str>, Arc<str>),
    /// Three points are almost on one line.
    #[error(
        "`{0}`, `{1}` and `{2}` are almost, but not quite, on a line; put all three on a line, or one of them farther off it"
    )]
    Sliver(Arc<str>, Arc<str>, Arc<str>),
    /// The smoothing is negative or not finite.
    #[error("its smoothing is {0} s, expected 0 or more, and finite; leave it out for none")]
    Smoothing(f64),
    /// A point's clip doesn't exist.
    #[error("there is no clip `{0}`; add it, or remove its point")]
    NoClip(Arc<str>),
}

/// Clips placed along one parameter or two, such as speed and turn.
///
/// Between its points, the clips nearby are blended: two of them in a space with one parameter, and in one with two the
/// three at the corners of a triangle (of Delaunay's triangulation, with both parameters scaled to the space's size).
/// Weights are continuous. Parameters beyond the outermost points count as the nearest ones within.
///
/// ```
/// # use bevy_marionette::model::{BlendSpace, BlendSpaceError};
/// let space = BlendSpace::line("locomotion", [("idle", 0.0), ("walk", 1.4), ("jog", 3.2)])?.smoothed(0.3)?;
/// let weights: Vec<_> = space.weights(0.7).collect();
/// assert_eq!(weights, [("idle", 0.5), ("walk", 0.5)]);
/// # Ok::<(), BlendSpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlendSpace {
    name: Arc<str>,
    points: Box<[(Arc<str>, BlendPoint)]>,
    is_plane: bool,
    /// Seconds, finite and ≥ 0.
    smoothing: f64,
    sync: BlendSync,
    layout: Layout,
}

impl BlendSpace {
    /// The most points of a blend space.
    pub const MOST_POINTS: usize = 64;
    /// The most landings of feet by which a clip is kept in phase. Clips with more use
    /// [`BlendSync::Fraction`].
    pub const MOST_LANDINGS: usize = 512;

    /// Creates a space with one parameter, of clips and their places, in any order.
    ///
    /// # Errors
    /// If there are no points or too many, if a place is not finite, or if two are the same or nearly so.
    pub fn line<C: Into<Arc<str>>>(
        name: impl Into<Arc<str>>,
        points: impl IntoIterator<Item = (C, f64)>,
    ) -> Result<Self, BlendSpaceError> {
        let points = points.into_iter().map(|(clip, x)| (clip.into(), x.into()));
        Self::new(name.into(), points.collect(), false)
    }

    /// Creates a space with two parameters, of clips and their places, in any order.
    ///
    /// Points that are all on one line make a space that only goes along it.
    ///
    /// # Errors
    /// As for [`line`](Self::line), and if points are almost, but not quite, on one line.
    pub fn plane<C: Into<Arc<str>>, P: Into<BlendPoint>>(
        name: impl Into<Arc<str>>,
        points: impl IntoIterator<Item = (C, P)>,
    ) -> Result<Self, BlendSpaceError> {
        let points = points
            .into_iter()
            .map(|(clip, at)| (clip.into(), at.into()));
        Self::new(name.into(), points.collect(), true)
    }

    fn new(
        name: Arc<str>,
        points: Box<[(Arc<str>, BlendPoint)]>,
        is_plane: bool,
    ) -> Result<Self, BlendSpaceError> {
        if points.is_empty() {
            return Err(BlendSpaceError::Empty);
        }
        if points.len() > Self::MOST_POINTS {
            return Err(BlendSpaceError::TooMany(points.len()));
        }
        // Numbers beyond this leave no room to compute with.
        let is_sound =
            |point: BlendPoint| [point.x, point.y].iter().all(|number| number.abs() < 1e100);
        if let Some(odd) = points.iter().find(|(_, at)| !is_sound(*at)) {
            return Err(BlendSpaceError::NotFinite(odd.0.clone()));
        }
        let places: Vec<DVec2> = points.iter().map(|(_, at)| at.vector()).collect();
        let clip = |at: usize| points[at].0.clone();
        let layout = Layout::new(&places).map_err(|error| match error {
            LayoutError::TooClose(a, b) => BlendSpaceError::TooClose(clip(a), clip(b)),
            LayoutError::Sliver([a, b, c]) => BlendSpaceError::Sliver(clip(a), clip(b), clip(c)),
        })?;
        Ok(Self {
            name,
            points,
            is_plane,
            smoothing: 0.0,
            sync: BlendSync::default(),
            layout,
        })
    }

    /// Makes parameters approach their new values at a steady speed: across the whole size of the
    /// space in this many seconds. 0, the default, sets them at once.
    ///
    /// # Errors
    /// If the time is negative or not finite.
    pub fn smoothed(self, seconds: f64) -> Result<Self, BlendSpaceError> {
        let is_sound = seconds.is_finite() && seconds >= 0.0;
        if is_sound {
            Ok(Self {
                smoothing: seconds,
                ..self
            })
        } else {
            Err(BlendSpaceError::Smoothing(seconds))
        }
    }

    /// Sets how the clips are kept in phase.
    pub fn synced(self, sync: BlendSync) -> Self {
        Self { sync, ..self }
    }

    /// Returns the name, by which tracks play it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the clips and the places at which only they play, in the order they were given. A clip may be at several.
    pub fn points(&self) -> &[(Arc<str>, BlendPoint)] {
        &self.points
    }

    /// Returns the number of parameters, 1 or 2.
    pub fn dimensions(&self) -> usize {
        1 + usize::from(self.is_plane)
    }

    /// Returns the shortest time that parameters take to cross the space, in seconds.
    pub fn smoothing(&self) -> f64 {
        self.smoothing
    }

    /// Returns how the clips are kept in phase.
    pub fn sync(&self) -> &BlendSync {
        &self.sync
    }

    /// Returns the place in the space for some parameters: their own within the outermost points,
    /// and the nearest one beyond these, measured in parts of the space's size. Numbers that are
    /// not finite count as 0.
    pub fn nearest(&self, point: impl Into<BlendPoint>) -> BlendPoint {
        let BlendPoint { x, y } = point.into();
        self.layout.nearest(DVec2::new(finite(x), finite(y))).into()
    }

    /// Returns the clips with non-zero weight at a point, at most three, with weights above 0 that
    /// sum to 1.
    pub fn weights(&self, point: impl Into<BlendPoint>) -> impl Iterator<Item = (&str, f64)> {
        let weights = self.layout.weights(self.nearest(point).vector());
        let counting = weights.into_iter().filter(|(_, weight)| *weight > 0.0);
        counting.map(|(at, weight)| (&*self.points[at].0, weight))
    }

    /// Returns how long parameters take from one place of the space to another, in seconds.
    #[inline]
    pub(crate) fn seconds_between(&self, from: BlendPoint, to: BlendPoint) -> f64 {
        self.smoothing * self.layout.distance(from.vector(), to.vector())
    }

    /// Returns the first part, in `0..=1`, of the straight way between two places of the space after `after` at which
    /// the weights may change their course.
    pub(crate) fn next_bend(&self, from: BlendPoint, to: BlendPoint, after: f64) -> Option<f64> {
        self.layout.next_bend(from.vector(), to.vector(), after)
    }
}

/// Two spaces are equal if they were given the same.
impl PartialEq for BlendSpace {
    fn eq(&self, other: &Self) -> bool {
        let given = |space: &Self| {
            (
                space.name.clone(),
                space.is_plane,
                space.smoothing,
                space.sync.clone(),
            )
        };
        self.points == other.points && given(self) == given(other)
    }
}

#[cfg(test)]
#[path = "tests/blend_space.rs"]
mod tests;
