//! Reading callback data as types of the game's own.
//!
//! RON values have no variants and no newtypes, and `ron`'s own reader refuses to read types that
//! do. So `"left"` could be read as a `String`, but neither as a `Side::Left` nor as a
//! `Footstep("left")`, which games need.

use super::{Integer, integer};
use ron::value::Value;
use serde::{
    Deserializer,
    de::{
        Error, IntoDeserializer, Unexpected, Visitor,
        value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

/// A value as a source of any type. Names of variants are strings, or the only key of a map, and
/// newtypes are their contents. An `Option` may be written without `Some`, and `()` is `None`, too.
pub(super) struct Data<'v>(pub(super) &'v Value);

impl<'de> Deserializer<'de> for Data<'_> {
    type Error = ron::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ron::Error> {
        match self.0 {
            Value::Unit => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Char(value) => visitor.visit_char(*value),
            Value::Number(number) => match integer(*number) {
                Some(Integer::Positive(n)) => visitor.visit_u64(n),
                Some(Integer::Negative(n)) => visitor.visit_i64(n),
                None => visitor.visit_f64(number.into_f64()),
            },
            Value::String(value) => visitor.visit_str(value),
            Value::Bytes(value) => visitor.visit_bytes(value),
            Value::Option(None) => visitor.visit_none(),
            Value::Option(Some(value)) => visitor.visit_some(Data(value)),
            Value::Seq(values) => {
                let mut values = SeqDeserializer::new(values.iter().map(Data));
                let read = visitor.visit_seq(&mut values)?;
                values.end().map(|()| read)
            }
            Value::Map(map) => {
                let mut pairs =
                    MapDeserializer::new(map.iter().map(|(key, value)| (Data(key), Data(value))));
                let read = visitor.visit_map(&mut pairs)?;
                pairs.end().map(|()| read)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ron::Error> {
        match self.0 {
            Value::Unit => visitor.visit_none(),
            Value::Option(_) => self.deserialize_any(visitor),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ron::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ron::Error> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(variant.as_str().into_deserializer()),
            Value::Map(map) if map.len() == 1 => {
                let pairs = map.iter().map(|(key, value)| (Data(key), Data(value)));
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(pairs)))
            }
            _ => Err(ron::Error::invalid_type(
                Unexpected::Other("no name of a variant"),
                &visitor,
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, ron::Error> for Data<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
#[path = "tests/reader.rs"]
mod tests;
