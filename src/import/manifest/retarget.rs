//! Retargeting in manifests: whose clip it is, and which joint is what.

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// Settings for playing a clip of another humanoid on this character.
///
/// `true` is enough where names tell which joint is what:
///
/// ```ron
/// clips: {
///     "dance": (file: "dance.glb", clip: "mixamo.com", retarget: true),
///     "march": (file: "march.md5anim", retarget: (skeleton: "soldier.md5mesh")),
///     "crawl": (file: "crawl.glb", retarget: (roles: {"hips": "base"}, source_roles: {"toes.L": ""})),
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetargetEntry {
    /// The file with the skeleton that the clip is for, for files that have none, `.md5anim`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<String>,
    /// Joints of this character by their role, where names don't tell: `{"hips": "pelvis"}`. An empty name means that there is
    /// none.
    ///
    /// The roles are `root`, `hips`, `spine.1` (the lowest), `neck.1`, `head`, `clavicle.L`, `upper_arm.L`, `forearm.L`, `hand.L`,
    /// `thumb.1.L`, `index.1.L`, `middle.1.L`, `ring.1.L`, `little.1.L`, `thigh.L`, `shin.L`, `foot.L`, and `toes.L`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, String>,
    /// The same for the skeleton that the clip is for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub source_roles: BTreeMap<String, String>,
}

/// Reads `true`, `false` or the fields.
pub(super) fn switch<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RetargetEntry>, D::Error> {
    struct Switch;

    impl<'de> Visitor<'de> for Switch {
        type Value = Option<RetargetEntry>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("`true` or fields such as `(roles: {\"hips\": \"pelvis\"})`")
        }

        fn visit_bool<E: de::Error>(self, on: bool) -> Result<Self::Value, E> {
            Ok(on.then(RetargetEntry::default))
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(Some(RetargetEntry::default()))
        }

        fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(
            self,
            deserializer: D,
        ) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_any(Self)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            RetargetEntry::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_any(Switch)
}
