//! Reading and writing the keywords of states: `Any`, `Back`, `Body`, `End`, and `Never` stand beside names.

use super::{Entering, Exit, Leader, Origins, Then};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
};
use std::{borrow::Cow, collections::BTreeMap, fmt, marker::PhantomData};

/// A name in quotes, or a word without.
// By way of serde's buffer, the one reader for which RON passes on which word it was.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a name in quotes, or a word")]
enum Word {
    Text(String),
}

/// Names, of which a single one needs no brackets.
pub(super) mod one_or_several {
    use super::*;

    #[derive(Deserialize, Serialize)]
    #[serde(
        untagged,
        expecting = "expected the name of a clip or a blend space, or a list of names"
    )]
    enum Form<'n> {
        One(Cow<'n, str>),
        Several(Cow<'n, [String]>),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
        Ok(match Form::deserialize(from)? {
            Form::One(name) => vec![name.into_owned()],
            Form::Several(names) => names.into_owned(),
        })
    }

    pub fn serialize<S: Serializer>(names: &[String], to: S) -> Result<S::Ok, S::Error> {
        match names {
            [name] => Form::One(name.into()),
            names => Form::Several(names.into()),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Exit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Word::Text(text) = Word::deserialize(deserializer)?;
        Ok(match text.as_str() {
            "Anytime" => Self::Anytime,
            "End" => Self::End,
            "Never" => Self::Never,
            _ => Self::Key(text),
        })
    }
}

impl Serialize for Exit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (at, word) = match self {
            Self::Anytime => (0, "Anytime"),
            Self::End => (1, "End"),
            Self::Never => (2, "Never"),
            Self::Key(name) => return name.serialize(serializer),
        };
        serializer.serialize_unit_variant("Exit", at, word)
    }
}

impl<'de> Deserialize<'de> for Then {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Word::Text(text) = Word::deserialize(deserializer)?;
        Ok(if text == "Back" {
            Self::Back
        } else {
            Self::State(text)
        })
    }
}

impl Serialize for Then {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Back => serializer.serialize_unit_variant("Then", 0, "Back"),
            Self::State(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Leader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Word::Text(text) = Word::deserialize(deserializer)?;
        Ok(if text == Self::BODY {
            Self::Body
        } else {
            Self::Layer(text)
        })
    }
}

impl Serialize for Leader {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Body => serializer.serialize_unit_variant("Leader", 0, Self::BODY),
            Self::Layer(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Origins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected `Any`, a list of states such as [\"ground\"], or a map of states to transitions such as {\"ground\": (fade: 0.1)}"
        )]
        enum From {
            Word(String),
            List(Vec<String>),
            // `()` is read as a unit.
            Map(#[serde(deserialize_with = "distinct")] BTreeMap<String, Option<Entering>>),
        }
        let from = From::deserialize(deserializer)?;
        if matches!(&from, From::Word(word) if word == "Any") {
            return Ok(Self::Any);
        }
        let mut these = BTreeMap::new();
        match from {
            From::Word(name) => _ = these.insert(name, Entering::default()),
            From::List(names) => {
                for name in names {
                    these.insert(name, Entering::default());
                }
            }
            From::Map(map) => {
                for (name, how) in map {
                    these.insert(name, how.unwrap_or_default());
                }
            }
        }
        Ok(Self::These(these))
    }
}

impl Serialize for Origins {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => [(); 0].serialize(serializer),
            Self::Any => serializer.serialize_unit_variant("Origins", 0, "Any"),
            Self::These(these) if these.values().all(|how| *how == Entering::default()) => {
                serializer.collect_seq(these.keys())
            }
            Self::These(these) => these.serialize(serializer),
        }
    }
}

/// Reads a map and refuses keys that occur twice, of which serde would silently keep the last.
pub(crate) fn distinct<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, V>, D::Error> {
    struct Distinct<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Distinct<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = BTreeMap::new();
            while let Some(key) = map.next_key::<String>()? {
                if all.contains_key(&key) {
                    return Err(Error::custom(format!("the key `{key}` is given twice")));
                }
                let value = map.next_value()?;
                all.insert(key, value);
            }
            Ok(all)
        }
    }

    deserializer.deserialize_map(Distinct(PhantomData))
}
