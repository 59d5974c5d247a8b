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
mod tests {
    use crate::model::CallbackData;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    fn data(ron: &str) -> CallbackData {
        ron::from_str::<ron::Value>(ron).unwrap().into()
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Side {
        Left,
        Right,
        Toes(u8),
        Place { x: f32 },
    }

    #[derive(Deserialize, Debug, PartialEq)]
    struct Footstep(Side);

    #[derive(Deserialize, Debug, PartialEq)]
    struct Degrees(f32);

    #[derive(Deserialize, Debug, PartialEq)]
    struct Swing;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Step {
        side: Footstep,
        turns: Vec<Degrees>,
        #[serde(default)]
        loudness: Option<f32>,
    }

    #[test]
    fn variants_and_newtypes_are_read_wherever_they_are() {
        assert_eq!(data("\"left\"").to::<Side>().unwrap(), Side::Left);
        assert_eq!(
            data("\"right\"").to::<Footstep>().unwrap(),
            Footstep(Side::Right)
        );
        assert_eq!(data("{\"toes\": 3}").to::<Side>().unwrap(), Side::Toes(3));
        assert_eq!(
            data("{\"place\": {\"x\": 2}}").to::<Side>().unwrap(),
            Side::Place { x: 2.0 }
        );
        assert_eq!(data("90.0").to::<Degrees>().unwrap(), Degrees(90.0));
        assert_eq!(data("90").to::<Degrees>().unwrap(), Degrees(90.0));
        assert_eq!(data("()").to::<Swing>().unwrap(), Swing);
        let step = data("{\"side\": \"left\", \"turns\": [1, -2.5], \"loudness\": 0.5}")
            .to::<Step>()
            .unwrap();
        let turns = vec![Degrees(1.0), Degrees(-2.5)];
        assert_eq!(
            step,
            Step {
                side: Footstep(Side::Left),
                turns,
                loudness: Some(0.5)
            }
        );
    }

    #[test]
    fn options_are_read_with_and_without_some() {
        for (text, expected) in [
            ("Some(3)", Some(3)),
            ("3", Some(3)),
            ("None", None),
            ("()", None),
        ] {
            assert_eq!(data(text).to::<Option<u8>>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(data("\"up\"").to::<Side>().is_err());
        assert!(data("3").to::<Side>().is_err());
        assert!(data("{\"left\": 1, \"right\": 2}").to::<Side>().is_err());
        assert!(data("\"left\"").to::<Degrees>().is_err());
        assert!(data("300").to::<u8>().is_err());
        assert!(data("-1").to::<u8>().is_err());
        assert!(data("[1, 2, 3]").to::<(u8, u8)>().is_err());
        let all: BTreeMap<String, ron::Value> = data("{\"a\": 1, \"b\": [true]}").to().unwrap();
        assert_eq!(all.len(), 2);
    }
}
