//! `VRMC_vrm_animation`: clips for any humanoid, by the roles of joints, and for any face, by the names of expressions.

use super::super::json::loose;
use super::{
    Part,
    parts::Map,
    read::Reader,
    v1::{Humanoid, NodeLink},
};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::Arc};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VrmAnimation {
    humanoid: Option<Part<Humanoid>>,
    expressions: Option<Part<Expressions>>,
    look_at: Option<Part<NodeLink>>,
}

#[derive(Deserialize)]
struct Expressions {
    #[serde(default, deserialize_with = "loose")]
    preset: Map<NodeLink>,
    #[serde(default, deserialize_with = "loose")]
    custom: Map<NodeLink>,
}

impl VrmAnimation {
    /// Returns the nodes whose translations are weights of expressions, and the one whose rotation is that of the gaze.
    pub(super) fn read(
        &self,
        place: &str,
        reader: &mut Reader,
    ) -> (BTreeMap<usize, Arc<str>>, Option<usize>) {
        if let Some(humanoid) = &self.humanoid {
            let place = format!("{place}.humanoid");
            if let Some(humanoid) = humanoid.get(&place, reader.report) {
                humanoid.read(&place, reader);
            }
        }
        let mut animated = BTreeMap::new();
        let found = self.expressions.as_ref();
        let found = found.and_then(|part| part.get(&format!("{place}.expressions"), reader.report));
        if let Some(Expressions { preset, custom }) = found {
            for (list, all) in [("preset", preset), ("custom", custom)] {
                for (name, part) in all {
                    let place = format!("{place}.expressions.{list}.{name}");
                    let Some(link) = part.get(&place, reader.report) else {
                        continue;
                    };
                    if let Some(node) = reader.node(link.node, &place) {
                        animated.entry(node).or_insert_with(|| name.as_str().into());
                    }
                }
            }
        }
        let look_at = self.look_at.as_ref();
        let gaze = look_at.and_then(|part| {
            let place = format!("{place}.lookAt");
            let link = part.get(&place, reader.report)?;
            reader.node(link.node, &place)
        });
        (animated, gaze)
    }
}
