//! Blend spaces in manifests.

use super::Manifest;
use crate::{
    model::{
        BlendPoint, BlendSpace, BlendSpaceError, BlendSync, BoundBlendSpace, ClipTiming, SyncMark,
    },
    rig::Plants,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};
use std::{fmt, sync::Arc};

/// A blend space of a [`Manifest`]: clips placed along one parameter, or along two.
///
/// ```ron
/// blend_spaces: {
///     "locomotion": (points: [("idle", 0), ("walk", 1.4), ("jog", 3.2)], smoothing: 0.2),
///     "strafe": (
///         points: [("idle", (0, 0)), ("walk", (0, 1.4)), ("walk_left", (-1.2, 0)), ("walk_right", (1.2, 0))],
///         sync: Keys(["footstep"]),
///     ),
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlendSpaceEntry {
    /// Clips and their places: a number each, or a pair of numbers each. At most
    /// [`BlendSpace::MOST_POINTS`](crate::model::BlendSpace::MOST_POINTS).
    pub points: Vec<(String, BlendPlace)>,
    /// Seconds in which parameters cross the space at most; 0 lets them jump.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub smoothing: f64,
    /// The way in which the clips are kept in phase.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync: BlendSync,
}

/// Place of a clip in a [`BlendSpaceEntry`].
///
/// A tool can write spaces, too:
///
/// ```
/// # use bevy_marionette::import::{BlendPlace, BlendSpaceEntry, Manifest};
/// let mut manifest = Manifest::of_model("hero.glb");
/// let points = [("idle", 0.0), ("walk", 1.4)].map(|(clip, speed)| (clip.to_owned(), BlendPlace::Line(speed)));
/// let space = BlendSpaceEntry { points: points.into(), ..BlendSpaceEntry::default() };
/// manifest.blend_spaces.insert("locomotion".into(), space);
/// println!("{}", manifest.to_ron()?);
/// # Ok::<(), bevy_marionette::ron::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlendPlace {
    /// At a value of one parameter: `1.4`.
    Line(f64),
    /// At values of two parameters: `(1.4, 0)`.
    Plane(f64, f64),
}

/// The most blend spaces of a manifest, and names of keys of one.
const MOST_SPACES: usize = 64;
const MOST_KEYS: usize = 16;

impl BlendSpaceEntry {
    /// Makes the blend space.
    ///
    /// # Errors
    /// If its points or its smoothing make no sense.
    pub fn resolve(&self, name: &str) -> Result<BlendSpace, BlendSpaceError> {
        let line = self.points.iter().map(|(clip, place)| match place {
            BlendPlace::Line(x) => Some((clip.as_str(), *x)),
            BlendPlace::Plane(..) => None,
        });
        let space = match line.collect::<Option<Vec<_>>>() {
            Some(points) => BlendSpace::line(name, points)?,
            None => BlendSpace::plane(
                name,
                self.points
                    .iter()
                    .map(|(clip, place)| (clip.as_str(), place.point())),
            )?,
        };
        Ok(space.smoothed(self.smoothing)?.synced(self.sync.clone()))
    }

    /// Returns the first mistake that can be found without knowing the clips.
    fn misstatement(&self, name: &str) -> Option<String> {
        let planes = self
            .points
            .iter()
            .filter(|(_, place)| matches!(place, BlendPlace::Plane(..)))
            .count();
        if planes != 0 && planes != self.points.len() {
            return Some(
                "some of its points have one parameter and some have two; give all of them the same number"
                    .into(),
            );
        }
        match &self.sync {
            BlendSync::Keys(keys) if keys.is_empty() => {
                Some("its sync names no keys; name some, or leave it out".into())
            }
            BlendSync::Keys(keys) if keys.len() > MOST_KEYS => Some(format!(
                "its sync names {} keys, expected at most {MOST_KEYS}",
                keys.len()
            )),
            _ => self.resolve(name).err().map(|error| error.to_string()),
        }
    }
}

impl BlendPlace {
    fn point(self) -> BlendPoint {
        match self {
            Self::Line(x) => x.into(),
            Self::Plane(x, y) => (x, y).into(),
        }
    }
}

impl Manifest {
    /// Returns the blend spaces, by name. Those that make no sense, which [`parse`](Self::parse) refuses, are left out.
    pub fn resolve_blend_spaces(&self) -> impl Iterator<Item = Arc<BlendSpace>> {
        let spaces = self.blend_spaces.iter().take(MOST_SPACES);
        spaces.filter_map(|(name, entry)| entry.resolve(name).ok().map(Arc::new))
    }

    /// Returns the mistakes in the blend spaces, each with the word of the source it is about.
    pub(super) fn misstated_blend_spaces(&self) -> impl Iterator<Item = (String, Vec<&str>)> {
        let count = self.blend_spaces.len();
        let too_many = (count > MOST_SPACES).then(|| {
            let message =
                format!("the manifest has {count} blend spaces, expected at most {MOST_SPACES}");
            (message, vec!["blend_spaces"])
        });
        let odd = self
            .blend_spaces
            .iter()
            .take(MOST_SPACES)
            .filter_map(|(name, entry)| {
                Some((
                    format!("blend space `{name}`: {}", entry.misstatement(name)?),
                    vec!["blend_spaces", name],
                ))
            });
        too_many.into_iter().chain(odd)
    }
}

/// Binds a blend space to clips, given with when each plants the feet; no plants stand for none.
///
/// # Errors
/// If there is no clip of a point's name.
pub(crate) fn bind_blend_space<'c>(
    space: &Arc<BlendSpace>,
    clips: impl IntoIterator<Item = &'c ClipTiming>,
    plants: &[Arc<Plants>],
) -> Result<BoundBlendSpace, BlendSpaceError> {
    let landings = |clip: usize| -> Vec<SyncMark> {
        plants
            .get(clip)
            .map_or_else(Vec::new, |plants| plants.landings().collect())
    };
    space.bind(clips, landings)
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

fn is_default(sync: &BlendSync) -> bool {
    *sync == BlendSync::default()
}

impl Serialize for BlendPlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Line(x) => x.serialize(serializer),
            Self::Plane(x, y) => (x, y).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BlendPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Place;

        impl<'de> Visitor<'de> for Place {
            type Value = BlendPlace;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number such as `1.4`, or a pair of numbers such as `(1.4, 0)`")
            }

            fn visit_f64<E: de::Error>(self, x: f64) -> Result<BlendPlace, E> {
                Ok(BlendPlace::Line(x))
            }

            // RON reads whole numbers as integers: `0` means `0.0`.
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<BlendPlace, E> {
                Ok(BlendPlace::Line(x as f64))
            }

            fn visit_u64<E: de::Error>(self, x: u64) -> Result<BlendPlace, E> {
                Ok(BlendPlace::Line(x as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<BlendPlace, A::Error> {
                let x = numbers
                    .next_element()?
                    .ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let y = numbers
                    .next_element()?
                    .ok_or_else(|| de::Error::invalid_length(1, &self))?;
                if numbers.next_element::<f64>()?.is_some() {
                    return Err(de::Error::invalid_length(3, &self));
                }
                Ok(BlendPlace::Plane(x, y))
            }
        }

        deserializer.deserialize_any(Place)
    }
}

#[cfg(test)]
#[path = "tests/blend_space.rs"]
mod tests;
