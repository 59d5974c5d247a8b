//! The channels of an animation.

use super::glb::Glb;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The channels of an animation, in the open view of a buffer.
pub(super) struct Channels<'a> {
    glb: &'a mut Glb,
    /// Accessors by the bits of their times: most channels have the same.
    inputs: HashMap<Vec<u32>, usize>,
    pub(super) samplers: Vec<Value>,
    pub(super) channels: Vec<Value>,
}

impl<'a> Channels<'a> {
    pub(super) fn new(glb: &'a mut Glb) -> Self {
        Self {
            glb,
            inputs: HashMap::new(),
            samplers: Vec::new(),
            channels: Vec::new(),
        }
    }

    pub(super) fn add<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        times: &[f32],
        values: impl IntoIterator<Item = [f32; N]>,
    ) {
        let key = times.iter().map(|time| time.to_bits()).collect();
        let input = *self.inputs.entry(key).or_insert_with(|| {
            let rows: Vec<[f32; 1]> = times.iter().map(|&time| [time]).collect();
            self.glb.bounded_accessor(&rows)
        });
        let output = self.glb.accessor(values);
        self.channels.push(
            json!({ "sampler": self.samplers.len(), "target": { "node": node, "path": path } }),
        );
        self.samplers
            .push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
    }
}
