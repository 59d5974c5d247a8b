//! The data that a callback key gives to its listeners.

mod reader;

use ron::value::{Number, Value};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Visitor},
};
use std::{fmt, ops::Deref, sync::Arc};

/// The data of a callback: any RON value. Cloning shares it.
///
/// RON and binary formats, such as that of recordings, preserve all data. JSON has no `Some`, no
/// `()`, no characters and no bytes, so they come back as texts or lists. Only the values of
/// numbers are kept, not their types: an integer gets the smallest type that holds it, unsigned if
/// possible, and all other numbers are `f64`.
///
/// It is displayed, and formatted for debugging, as RON.
///
/// ```
/// # use bevy_marionette::model::CallbackData;
/// #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
/// struct Step { side: String, loudness: f32 }
///
/// let step = Step { side: "left".into(), loudness: 0.5 };
/// let data = CallbackData::new(&step)?;
/// assert_eq!(data.to::<Step>()?, step);
/// assert_eq!(CallbackData::from("left").to::<String>()?, "left");
/// assert_eq!(CallbackData::new(&("left", Some(2)))?.to_string(), r#"["left",Some(2)]"#);
/// # Ok::<(), ron::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[cfg_attr(
    feature = "bevy",
    reflect(opaque, Clone, Debug, Default, PartialEq, Serialize, Deserialize)
)]
pub struct CallbackData(Arc<Value>);

#[cfg(feature = "bevy")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize, prelude::ReflectDefault};

impl CallbackData {
    /// Makes data of any value that serializes.
    ///
    /// # Errors
    /// If the value does not serialize, or holds a variant of an enum other than `Option`: RON values have no
    /// variants.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, ron::Error> {
        let text = ron::to_string(value)?;
        if let Some(variant) = find_variant(&text) {
            let message = format!(
                "callback data cannot hold the enum variant `{variant}`; use a string or a number"
            );
            return Err(ron::Error::Message(message));
        }
        Ok(Self::of(ron::from_str(&text)?))
    }

    fn of(value: Value) -> Self {
        Self(Arc::new(plain(value)))
    }

    /// Returns the data as a type of your own.
    ///
    /// A variant of an enum is a string, or a map from its name to its contents. A struct around a
    /// single value is that value.
    ///
    /// ```
    /// # use bevy_marionette::model::CallbackData;
    /// #[derive(serde::Deserialize, PartialEq, Debug)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Side { Left, Right }
    ///
    /// assert_eq!(CallbackData::from("left").to::<Side>()?, Side::Left);
    /// # Ok::<(), ron::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the data does not have the shape of `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, ron::Error> {
        T::deserialize(reader::Data(self))
    }
}

/// Finds an identifier in RON text that is neither a field, a literal nor part of an `Option`.
fn find_variant(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => {
                let mut escaped = false;
                let ends = |c: char| {
                    let ends = c == first && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                };
                // A quote as a character needs no escape inside a string, and the reverse.
                rest[1..].find(ends).map_or(rest.len(), |end| end + 2)
            }
            _ if first.is_alphabetic() || first == '_' => {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && !"_#".contains(c))
                    .unwrap_or(rest.len());
                let is_literal = matches!(
                    &rest[..end],
                    "true" | "false" | "inf" | "NaN" | "None" | "Some"
                );
                // Byte strings start with a letter too.
                if !is_literal && !rest[end..].starts_with([':', '"']) {
                    return Some(&rest[..end]);
                }
                end
            }
            // Digits may be followed by an exponent or a suffix.
            _ if first.is_ascii_digit() => rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    None
}

impl fmt::Display for CallbackData {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match ron::to_string(&*self.0) {
            Ok(text) => f.pad(&text),
            // It is nested deeper than RON can be read again.
            Err(_) => f.pad("…"),
        }
    }
}

impl fmt::Debug for CallbackData {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for CallbackData {
    /// Returns `()`: no data.
    fn default() -> Self {
        Self::from(())
    }
}

impl<T: Into<Value>> From<T> for CallbackData {
    fn from(value: T) -> Self {
        Self::of(value.into())
    }
}

impl Deref for CallbackData {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

/// Returns a value with its numbers as RON reads them: a text doesn't hold the types of the numbers
/// that were written.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(plain_number(number)),
        Value::Option(Some(value)) => Value::Option(Some(Box::new(plain(*value)))),
        Value::Seq(values) => Value::Seq(values.into_iter().map(plain).collect()),
        Value::Map(map) => Value::Map(
            map.into_iter()
                .map(|(key, value)| (plain(key), plain(value)))
                .collect(),
        ),
        value => value,
    }
}

fn plain_number(number: Number) -> Number {
    match integer(number) {
        Some(Integer::Positive(n)) => u8::try_from(n)
            .map(Number::U8)
            .or_else(|_| u16::try_from(n).map(Number::U16))
            .or_else(|_| u32::try_from(n).map(Number::U32))
            .unwrap_or(Number::U64(n)),
        Some(Integer::Negative(n)) => i8::try_from(n)
            .map(Number::I8)
            .or_else(|_| i16::try_from(n).map(Number::I16))
            .or_else(|_| i32::try_from(n).map(Number::I32))
            .unwrap_or(Number::I64(n)),
        None if number.into_f64().is_nan() => Number::new(f64::NAN),
        None => Number::new(number.into_f64()),
    }
}

enum Integer {
    Positive(u64),
    Negative(i64),
}

fn integer(number: Number) -> Option<Integer> {
    let signed = match number {
        Number::I8(n) => i64::from(n),
        Number::I16(n) => n.into(),
        Number::I32(n) => n.into(),
        Number::I64(n) => n,
        Number::U8(n) => return Some(Integer::Positive(n.into())),
        Number::U16(n) => return Some(Integer::Positive(n.into())),
        Number::U32(n) => return Some(Integer::Positive(n.into())),
        Number::U64(n) => return Some(Integer::Positive(n)),
        // Fractions, and the types of features that are off.
        _ => return None,
    };
    Some(u64::try_from(signed).map_or(Integer::Negative(signed), Integer::Positive))
}

// By hand, because serde's feature `rc` is off, and because binary formats such as CBOR have one
// null for `()` and `None`, and leave out `Some`: there, each value states its type.
impl Serialize for CallbackData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(serializer)
        } else {
            Tagged(&self.0).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for CallbackData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Value::deserialize(deserializer).map(Self::of);
        }
        TaggedForm::deserialize(deserializer).map(|form| Self::of(form.into()))
    }
}

/// A value that states its type.
struct Tagged<'v>(&'v Value);

/// The same, as it is read.
#[derive(Deserialize)]
#[serde(rename = "CallbackData")]
enum TaggedForm {
    Unit,
    Bool(bool),
    Char(char),
    Integer(u64),
    Negative(i64),
    Float(f64),
    String(String),
    Bytes(Bytes),
    None,
    Some(Box<TaggedForm>),
    Seq(Vec<TaggedForm>),
    Map(Vec<(TaggedForm, TaggedForm)>),
}

/// Bytes, as binary formats have them.
struct Bytes(Vec<u8>);

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Raw<'b>(&'b [u8]);

        impl Serialize for Raw<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(self.0)
            }
        }

        const NAME: &str = "CallbackData";
        let to = serializer;
        match self.0 {
            Value::Unit => to.serialize_unit_variant(NAME, 0, "Unit"),
            Value::Bool(value) => to.serialize_newtype_variant(NAME, 1, "Bool", value),
            Value::Char(value) => to.serialize_newtype_variant(NAME, 2, "Char", value),
            Value::Number(number) => match integer(*number) {
                Some(Integer::Positive(n)) => to.serialize_newtype_variant(NAME, 3, "Integer", &n),
                Some(Integer::Negative(n)) => to.serialize_newtype_variant(NAME, 4, "Negative", &n),
                None => to.serialize_newtype_variant(NAME, 5, "Float", &number.into_f64()),
            },
            Value::String(value) => to.serialize_newtype_variant(NAME, 6, "String", value),
            Value::Bytes(value) => to.serialize_newtype_variant(NAME, 7, "Bytes", &Raw(value)),
            Value::Option(None) => to.serialize_unit_variant(NAME, 8, "None"),
            Value::Option(Some(value)) => {
                to.serialize_newtype_variant(NAME, 9, "Some", &Tagged(value))
            }
            Value::Seq(values) => {
                let values: Vec<_> = values.iter().map(Tagged).collect();
                to.serialize_newtype_variant(NAME, 10, "Seq", &values)
            }
            Value::Map(map) => {
                let pairs: Vec<_> = map
                    .iter()
                    .map(|(key, value)| (Tagged(key), Tagged(value)))
                    .collect();
                to.serialize_newtype_variant(NAME, 11, "Map", &pairs)
            }
        }
    }
}

impl From<TaggedForm> for Value {
    fn from(form: TaggedForm) -> Self {
        match form {
            TaggedForm::Unit => Self::Unit,
            TaggedForm::Bool(value) => Self::Bool(value),
            TaggedForm::Char(value) => Self::Char(value),
            TaggedForm::Integer(n) => Self::Number(n.into()),
            TaggedForm::Negative(n) => Self::Number(n.into()),
            TaggedForm::Float(x) => Self::Number(x.into()),
            TaggedForm::String(value) => Self::String(value),
            TaggedForm::Bytes(Bytes(value)) => Self::Bytes(value),
            TaggedForm::None => Self::Option(None),
            TaggedForm::Some(value) => Self::Option(Some(Box::new((*value).into()))),
            TaggedForm::Seq(values) => Self::Seq(values.into_iter().map(Self::from).collect()),
            TaggedForm::Map(pairs) => Self::Map(
                pairs
                    .into_iter()
                    .map(|(key, value)| (Self::from(key), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_byte_buf(Read)
    }
}

#[cfg(test)]
#[path = "tests/callback_data.rs"]
mod tests;
