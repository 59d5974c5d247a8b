//! Values of glTF's JSON that may be missing, of another type, or written in another way.

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// A value as it is written, to be parsed when its type is known.
pub(in super::super) type Raw = Option<Box<RawValue>>;

/// A whole number of 0 or more, which may be written as `2.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Whole(pub(in super::super) u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of 0 or more")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Whole, E> {
                Ok(Whole(number))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Whole, E> {
                match number >= 0.0 && number < (1u64 << 53) as f64 && number.fract() == 0.0 {
                    true => Ok(Whole(number as u64)),
                    false => Err(E::invalid_value(de::Unexpected::Float(number), &self)),
                }
            }
        }

        deserializer.deserialize_any(Number)
    }
}

/// An index into one of the document's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "Whole")]
pub(in super::super) struct Index(usize);

impl From<Whole> for Index {
    fn from(Whole(number): Whole) -> Self {
        Self(usize::try_from(number).unwrap_or(usize::MAX))
    }
}

impl Index {
    pub(in super::super) fn value(self) -> usize {
        self.0
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An object that is only parsed when it is used.
pub(in super::super) struct Lazy<T>(Result<T, Box<str>>);

impl<T> Lazy<T> {
    /// Returns the object, or the error in it.
    pub(in super::super) fn get(&self) -> Result<&T, &str> {
        self.0.as_ref().map_err(|error| &**error)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lazy<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        // Each item takes memory, and only the number of objects is limited: see `document.rs`.
        if !raw.get().starts_with('{') {
            return Err(de::Error::custom("invalid type: expected an object"));
        }
        Ok(Self(
            serde_json::from_str(raw.get()).map_err(|error| message(&error).into()),
        ))
    }
}

/// Returns the message of an error, without the place, and in JSON's words instead of Serde's.
pub(in super::super) fn message(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "it ends too early".to_owned();
    }
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    match message {
        "expected value" => "expected a value".to_owned(),
        "expected ident" => "expected `true`, `false` or `null`".to_owned(),
        _ => message
            .replace("invalid type: sequence", "invalid type: array")
            .replace("invalid type: map", "invalid type: object")
            .replace("expected a sequence", "expected an array")
            .replace("expected a map", "expected an object"),
    }
}

/// Reads a value, or the default for `null`.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a value, or the default for `null` and anything of the wrong type.
pub(in super::super) fn loose<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str::<Option<T>>(raw.get())
        .ok()
        .flatten()
        .unwrap_or_default())
}

/// Reads one of several values; `None` for any other. `null` means the default.
pub(super) fn known<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str::<Option<T>>(raw.get())
        .ok()
        .map(Option::unwrap_or_default))
}

/// One of several words.
pub(super) trait Word: Sized {
    /// `None` for an unknown word.
    fn of_name(name: &str) -> Option<Self>;
}

/// Reads a word; `None` for any other value.
///
/// As [`loose`] would, but in one pass: clips have tens of thousands of such words.
pub(super) fn word_or_none<'de, D: Deserializer<'de>, T: Word>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(WordVisitor { null: None })
}

/// Reads a word, in one pass; `None` for any other value. `null` means the default.
pub(super) fn known_word<'de, D: Deserializer<'de>, T: Word + Default>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(WordVisitor {
        null: Some(T::default()),
    })
}

struct WordVisitor<T> {
    /// What `null` means.
    null: Option<T>,
}

impl<'de, T: Word> Visitor<'de> for WordVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Option<T>, E> {
        Ok(T::of_name(name))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
        Ok(self.null)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<T>, A::Error> {
        IgnoredAny.visit_seq(list)?;
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        IgnoredAny.visit_map(map)?;
        Ok(None)
    }
}

pub(super) fn usual<T: Default>() -> Option<T> {
    Some(T::default())
}

/// Returns `true` whatever is there, other than `null`.
pub(in super::super) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<bool, D::Error> {
    Option::<IgnoredAny>::deserialize(deserializer).map(|any| any.is_some())
}

/// The names of morph targets in the extras of a mesh; `None` for each entry that is not a name.
pub(super) fn target_names<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Option<String>>, D::Error> {
    #[derive(Default, Deserialize)]
    struct Extras {
        #[serde(default, rename = "targetNames", deserialize_with = "loose")]
        names: Vec<serde_json::Value>,
    }
    let raw = <&RawValue>::deserialize(deserializer)?;
    let Extras { names } = serde_json::from_str(raw.get()).unwrap_or_default();
    let name = |value: serde_json::Value| value.as_str().map(str::to_owned);
    Ok(names.into_iter().map(name).collect())
}

#[cfg(test)]
#[path = "tests/values.rs"]
mod tests;
