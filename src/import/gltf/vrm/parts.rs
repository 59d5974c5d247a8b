//! Pieces of JSON that are read one by one, so that a mistake in one takes no other with it.

use super::super::json::{Raw, message};
use crate::import::report::Report;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// The most entries of one list that are read. Avatars have hundreds.
const MOST: usize = 1 << 16;

/// End of messages about what can't be read.
pub(super) const LEFT_OUT: &str = "it was left out: export the file again";

/// A piece that was read, or what is wrong with it.
pub(super) struct Part<T>(Result<Box<T>, Box<str>>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(parse(raw.get())))
    }
}

fn parse<T: DeserializeOwned>(json: &str) -> Result<Box<T>, Box<str>> {
    // A list would be taken for the fields in order.
    if !json.starts_with('{') {
        return Err("expected an object".into());
    }
    let parsed = serde_json::from_str(json);
    parsed.map(Box::new).map_err(|error| message(&error).into())
}

impl<T> Part<T> {
    /// Returns the piece; what is wrong with one is said.
    pub(super) fn get(&self, place: &str, report: &mut Report) -> Option<&T> {
        match &self.0 {
            Ok(part) => Some(part),
            Err(error) => {
                report.warn(
                    place,
                    format!("this part of VRM cannot be read: {error}"),
                    LEFT_OUT,
                );
                None
            }
        }
    }
}

/// Reads an extension, or what is wrong with it is said.
pub(super) fn extension<T: DeserializeOwned>(
    raw: &Raw,
    place: &str,
    report: &mut Report,
) -> Option<Box<T>> {
    let raw = raw.as_ref().filter(|raw| raw.get() != "null")?;
    match parse(raw.get()) {
        Ok(read) => Some(read),
        Err(error) => {
            report.warn(
                place,
                format!("this part of VRM cannot be read: {error}"),
                LEFT_OUT,
            );
            None
        }
    }
}

/// A list of pieces.
pub(super) struct List<T> {
    items: Vec<Part<T>>,
    /// There is something else in its place, or there is more than is read.
    is_wrong: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            is_wrong: false,
        }
    }
}

impl<T> List<T> {
    /// Returns the pieces that can be read, with their index and place.
    pub(super) fn each<'l>(
        &'l self,
        place: &str,
        report: &mut Report,
    ) -> Vec<(usize, String, &'l T)> {
        if self.is_wrong {
            let message = format!("expected a list of at most {MOST} objects");
            report.warn(place, message, "the rest was left out");
        }
        let items = self.items.iter().enumerate();
        let read = items.filter_map(|(at, part)| {
            let place = format!("{place}[{at}]");
            let part = part.get(&place, report)?;
            Some((at, place, part))
        });
        read.collect()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if raw.get() == "null" {
            return Ok(Self::default());
        }
        let few = serde_json::from_str::<Few<Part<T>>>(raw.get());
        Ok(few.map_or_else(
            |_| Self {
                items: Vec::new(),
                is_wrong: true,
            },
            |Few { items, is_cut }| Self {
                items,
                is_wrong: is_cut,
            },
        ))
    }
}

/// The first entries of a list.
struct Few<T> {
    items: Vec<T>,
    is_cut: bool,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Few<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
                let mut items = Vec::new();
                while items.len() < MOST {
                    match list.next_element()? {
                        Some(item) => items.push(item),
                        None => {
                            return Ok(Few {
                                items,
                                is_cut: false,
                            });
                        }
                    }
                }
                let mut is_cut = false;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    is_cut = true;
                }
                Ok(Few { items, is_cut })
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// Indices of a list. Those that aren't whole numbers of 0 or more are none.
#[derive(Default)]
pub(super) struct Indices(pub(super) Vec<Link>);

impl<'de> Deserialize<'de> for Indices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let few = serde_json::from_str::<Few<Link>>(raw.get());
        Ok(Self(few.map_or_else(|_| Vec::new(), |few| few.items)))
    }
}

/// An index that may be missing. Exporters of VRM 0 write −1 for none.
#[derive(Clone, Copy, Default)]
pub(super) struct Link(pub(super) Option<usize>);

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let number: Option<f64> = serde_json::from_str(raw.get()).unwrap_or_default();
        let is_index = |number: &f64| *number >= 0.0 && *number < 1e9 && number.fract() == 0.0;
        Ok(Self(number.filter(is_index).map(|number| number as usize)))
    }
}

/// A finite number, or none.
#[derive(Clone, Copy, Default)]
pub(super) struct Number(pub(super) Option<f32>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let number: Option<f32> = serde_json::from_str(raw.get()).unwrap_or_default();
        Ok(Self(number.filter(|number| number.is_finite())))
    }
}

impl Number {
    /// Returns the number within bounds, or a default one.
    pub(super) fn within(self, least: f32, most: f32, usual: f32) -> f32 {
        self.0.unwrap_or(usual).clamp(least, most)
    }
}

/// Entries by name.
pub(super) type Map<T> = BTreeMap<String, Part<T>>;
