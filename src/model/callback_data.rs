//! What a callback key hands to its listeners.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use std::{ops::Deref, sync::Arc};

/// The data of a callback: any RON value. Cloning shares it.
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
/// # Ok::<(), ron::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[cfg_attr(feature = "bevy", reflect(opaque, Clone, Debug, Default, PartialEq, Serialize, Deserialize))]
pub struct CallbackData(Arc<ron::Value>);

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
            let message = format!("callback data cannot hold the enum variant `{variant}`; use a string or a number");
            return Err(ron::Error::Message(message));
        }
        Ok(Self(Arc::new(ron::from_str(&text)?)))
    }

    /// Returns the data as a type of your own.
    ///
    /// # Errors
    /// If the data does not have the shape of `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, ron::Error> {
        ron::Value::clone(self).into_rust()
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
                let end = rest.find(|c: char| !c.is_alphanumeric() && !"_#".contains(c)).unwrap_or(rest.len());
                let is_literal = matches!(&rest[..end], "true" | "false" | "inf" | "NaN" | "None" | "Some");
                // Byte strings start with a letter too.
                if !is_literal && !rest[end..].starts_with([':', '"']) {
                    return Some(&rest[..end]);
                }
                end
            }
            // Digits may be followed by an exponent or a suffix.
            _ if first.is_ascii_digit() => rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    None
}

impl Default for CallbackData {
    /// `()`: nothing to say.
    fn default() -> Self {
        Self::from(())
    }
}

impl<T: Into<ron::Value>> From<T> for CallbackData {
    fn from(value: T) -> Self {
        Self(Arc::new(value.into()))
    }
}

impl Deref for CallbackData {
    type Target = ron::Value;

    fn deref(&self) -> &ron::Value {
        &self.0
    }
}

// By hand, because serde's feature `rc` is off.
impl Serialize for CallbackData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallbackData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ron::Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_made_of_anything_that_serializes_but_variants() {
        #[derive(Serialize)]
        enum Foot {
            Left,
            Right(f32),
        }
        let value = (1.5e-9_f32, 'L', "a 'quoted\\\" Left", [Some(true), None], f64::INFINITY, -3);
        let back: (f32, char, String, [Option<bool>; 2], f64, i32) = CallbackData::new(&value).unwrap().to().unwrap();
        assert_eq!(back, (value.0, value.1, value.2.to_owned(), value.3, value.4, value.5));
        assert!(CallbackData::new(&Foot::Left).unwrap_err().to_string().contains("`Left`"));
        assert!(CallbackData::new(&[(0, Foot::Right(0.5))]).is_err());
        assert_eq!(CallbackData::from(2.5).to::<f32>().unwrap(), 2.5);
        assert!(CallbackData::default().to::<u8>().is_err());
    }
}
