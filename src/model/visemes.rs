//! Speech: shapes of the mouth at times, as a clip.

use super::{ClipError, ClipFrames, ClipTiming, MorphFrames, Morphs, PlaybackMode, SkeletalClip};
use std::sync::Arc;

/// A shape of the mouth at a time in the speech.
///
/// ```
/// # use bevy_marionette::model::Viseme;
/// /// Reads a line of Rhubarb's output: a time and a letter.
/// fn viseme(line: &str) -> Option<Viseme> {
///     let (time, letter) = line.split_once('\t')?;
///     Some(Viseme::new(time.parse().ok()?, letter, 1.0))
/// }
/// assert_eq!(viseme("0.35\tF"), Some(Viseme::new(0.35, "F", 1.0)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Viseme {
    /// Seconds from the start.
    pub time: f64,
    /// Name of a morph target or expression: see [`Morphs::expression`].
    pub shape: String,
    /// Weight, 0..=1 as a rule.
    pub weight: f32,
}

impl Viseme {
    /// Creates a viseme.
    pub fn new(time: f64, shape: impl Into<String>, weight: f32) -> Self {
        Self {
            time,
            shape: shape.into(),
            weight,
        }
    }
}

impl SkeletalClip {
    /// Makes a clip of visemes, in any order, that moves nothing but the morph targets that they use.
    ///
    /// At its time, each shape has its weight, and all others that the clip uses are at 0; in between, weights change
    /// evenly. Shapes at one time are shown together. Lip-sync tools such as Rhubarb write such lists. Names are those of
    /// [`Morphs::expression`], but `A` and `E` are Rhubarb's if others of its shapes are in the list and no other vowels. A
    /// viseme that the model has nothing for closes the mouth; those whose time is not a positive number are left out.
    ///
    /// # Errors
    /// If a weight is not finite.
    pub fn from_visemes(
        name: impl Into<Arc<str>>,
        visemes: &[Viseme],
        morphs: &Morphs,
    ) -> Result<Self, ClipError> {
        let mut order: Vec<&Viseme> = visemes
            .iter()
            .filter(|viseme| viseme.time >= 0.0 && viseme.time.is_finite())
            .collect();
        order.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut names: Vec<&str> = visemes.iter().map(|viseme| &*viseme.shape).collect();
        names.sort_unstable();
        names.dedup();
        let shapes = morphs.expressions(&names);
        let count = morphs.len();
        let (mut times, mut weights, mut animated) = (Vec::new(), Vec::new(), vec![false; count]);
        // A mouth that is silent at first.
        if order.first().is_none_or(|first| first.time > 0.0) {
            times.push(0.0);
            weights.resize(count, 0.0);
        }
        for together in order.chunk_by(|a, b| a.time == b.time) {
            times.push(together[0].time);
            let start = weights.len();
            weights.resize(start + count, 0.0);
            for viseme in together {
                let shape = names.binary_search(&&*viseme.shape);
                let shape = shape.ok().and_then(|at| shapes[at].as_ref());
                for &(morph, share) in shape.into_iter().flatten() {
                    weights[start + usize::from(morph)] += viseme.weight * share;
                    animated[usize::from(morph)] = true;
                }
            }
        }
        let duration = times.last().copied().unwrap_or_default();
        let timing = ClipTiming {
            playback: PlaybackMode::Once,
            ..ClipTiming::new(name, duration)
        };
        let frames = MorphFrames {
            names: morphs.names().into(),
            animated,
            weights,
            times,
        };
        Self::new(timing, &ClipFrames::default())?.with_morphs(&frames)
    }
}

#[cfg(test)]
#[path = "tests/visemes.rs"]
mod tests;
