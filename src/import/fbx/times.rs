//! The nodes that animations move, and the times of their keys.

use super::{
    layers::{InLayer, Layered},
    property::{Property, curves},
};
use std::collections::HashMap;
use ufbx::{AnimCurve, AnimStack, AnimValue, BlendChannel, Element, ExtrapolationMode, Node};

/// Returns how many points of curves may be read of a file: of joints, and as many again of blend shapes.
pub(super) const fn most_points(file_bytes: usize) -> usize {
    const FEW: usize = 1 << 20;
    const PER_BYTE: usize = 16;
    FEW.saturating_add(file_bytes.saturating_mul(PER_BYTE))
}

/// The properties that an animation stack moves.
pub(super) struct Moved<'a> {
    pub(super) stack: &'a AnimStack,
    /// Per element, the curves of its properties in all layers.
    of_element: HashMap<u32, Vec<InLayer<'a>>>,
    /// The curves of the layers' weights.
    weights: Vec<&'a AnimValue>,
}

impl<'a> Moved<'a> {
    pub(super) fn new(stack: &'a AnimStack) -> Self {
        let mut out = Self {
            stack,
            of_element: HashMap::new(),
            weights: Vec::new(),
        };
        for (at, layer) in stack.layers.into_iter().enumerate() {
            let props = || layer.anim_props.into_iter();
            let weight = props().find(|prop| {
                prop.element.element_id == layer.element.element_id && &*prop.prop_name == "Weight"
            });
            let weight: Option<&'a AnimValue> = weight.map(|prop| prop.anim_value.as_ref());
            out.weights.extend(weight);
            for prop in props() {
                let Some(property) = Property::of_name(&prop.prop_name) else {
                    continue;
                };
                let all = out.of_element.entry(prop.element.element_id).or_default();
                let is_known = |other: &InLayer| {
                    other.property == property && std::ptr::eq(other.layer, layer)
                };
                // Those of one layer are behind one another.
                if !all.iter().rev().take(Property::COUNT).any(is_known) {
                    all.push(InLayer {
                        property,
                        value: prop.anim_value.as_ref(),
                        layer,
                        is_lowest: at == 0,
                        weight,
                    });
                }
            }
        }
        out
    }

    /// What several stacks move, together. `None` if there are none.
    pub(super) fn all(stacks: &[Self]) -> Option<Self> {
        let mut all = Self {
            stack: stacks.first()?.stack,
            of_element: HashMap::new(),
            weights: Vec::new(),
        };
        for stack in stacks {
            for (element, values) in &stack.of_element {
                all.of_element.entry(*element).or_default().extend(values);
            }
        }
        Some(all)
    }

    /// Returns the times of the keys of a node's scale.
    pub(super) fn scale_keys(&self, node: &'a Node) -> impl Iterator<Item = f64> + '_ {
        let scales = self
            .of_node(node)
            .filter(|(property, _)| *property == Property::Scale);
        let curves = scales.flat_map(|(_, value)| curves(value));
        curves.flat_map(|curve| curve.keyframes.iter().map(|key| key.time))
    }

    /// A property of an element, as the stack moves it.
    pub(super) fn layered(&self, element: &Element, property: Property) -> Layered<'a> {
        let own = self.of_element.get(&element.element_id);
        let own = own.into_iter().flatten().copied();
        // Those without keys hold a value.
        Layered::new(
            element,
            property,
            own.filter(|own| own.property == property),
        )
    }

    /// The properties that a node's transform depends on, with their curves.
    fn of_node(&self, node: &'a Node) -> impl Iterator<Item = (Property, &'a AnimValue)> + '_ {
        let own = std::iter::once((&node.element, None));
        let of_helpers = helpers(node);
        own.chain(of_helpers.map(|(element, as_property)| (element, Some(as_property))))
            .flat_map(|(element, as_property)| {
                let curves = self.of_element.get(&element.element_id);
                let keyed = curves.into_iter().flatten().filter(|own| own.has_keys());
                keyed.map(move |own| (as_property.unwrap_or(own.property), own.value))
            })
    }

    /// Returns `true` for each of a node's translation, rotation, and scale that has keys.
    pub(super) fn keyed(&self, node: &'a Node) -> [bool; 3] {
        let mut keyed = [false; 3];
        if self.of_node(node).next().is_none() {
            return keyed;
        }
        let turns_around_pivot = Property::PIVOTS
            .into_iter()
            .filter_map(|property| ufbx::find_prop(&node.element.props, property.name()))
            .any(|prop| [prop.value_vec4.x, prop.value_vec4.y, prop.value_vec4.z] != [0.0; 3]);
        for (property, _) in self.of_node(node) {
            keyed[0] |= property != Property::Translation && turns_around_pivot;
            match property {
                Property::Translation => keyed[0] = true,
                Property::Rotation => keyed[1] = true,
                Property::Scale => keyed[2] = true,
                // Pivots and the like, on which translation and rotation depend.
                _ => keyed = [true, true, keyed[2]],
            }
        }
        keyed
    }

    /// Returns `true` if the weight of a channel of blend shapes has keys.
    pub(super) fn moves_shape(&self, channel: &BlendChannel) -> bool {
        self.of_channel(channel).next().is_some()
    }

    /// The time span of the stack: its own, or that of the keys of `nodes` and of the weights of `channels` if it has no span, or
    /// one without keys. `None` if nothing moves.
    pub(super) fn span(
        &self,
        nodes: impl Iterator<Item = &'a Node>,
        channels: impl Iterator<Item = &'a BlendChannel>,
    ) -> Option<[f64; 2]> {
        let mut span: Option<[f64; 2]> = None;
        let of_nodes = nodes.flat_map(|node| self.of_node(node));
        let of_channels = channels.flat_map(|channel| self.of_channel(channel));
        for value in of_nodes.map(|(_, value)| value).chain(of_channels) {
            for curve in curves(value).filter(|curve| !curve.keyframes.is_empty()) {
                let [from, to] = span.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
                span = Some([from.min(curve.min_time), to.max(curve.max_time)]);
            }
        }
        let [first, last] = span?;
        let [begin, end] = [self.stack.time_begin, self.stack.time_end];
        let is_sound = begin < end && (end - begin).is_finite() && first <= end && begin <= last;
        let span = if is_sound {
            [begin, end]
        } else {
            [first, last]
        };
        (span[1] - span[0]).is_finite().then_some(span)
    }

    /// The times within a span at which a node's curves may have a corner or a step, and both ends of the span, in order.
    /// `budget` is how many may still be looked at. `None` if it is used up.
    pub(super) fn times(
        &self,
        node: &'a Node,
        [from, to]: [f64; 2],
        budget: &mut usize,
    ) -> Option<Vec<f64>> {
        let own = self.of_node(node).map(|(_, value)| value);
        self.times_of(own, [from, to], budget)
    }

    /// The same for the weight of a channel of blend shapes.
    pub(super) fn shape_times(
        &self,
        channel: &BlendChannel,
        span: [f64; 2],
        budget: &mut usize,
    ) -> Option<Vec<f64>> {
        self.times_of(self.of_channel(channel), span, budget)
    }

    fn of_channel(
        &self,
        channel: &BlendChannel,
    ) -> impl Iterator<Item = &'a AnimValue> + use<'_, 'a> {
        let own = self.of_element.get(&channel.element.element_id);
        let keyed = own.into_iter().flatten().filter(|own| own.has_keys());
        keyed.map(|own| own.value)
    }

    fn times_of(
        &self,
        own: impl Iterator<Item = &'a AnimValue>,
        [from, to]: [f64; 2],
        budget: &mut usize,
    ) -> Option<Vec<f64>> {
        let mut times = vec![from, to];
        for value in own.chain(self.weights.iter().copied()) {
            for curve in curves(value) {
                *budget = budget.checked_sub(curve.keyframes.len())?;
                let keys = curve.keyframes.iter().map(|key| key.time);
                times.extend(keys.filter(|time| from < *time && *time < to));
                for is_before in [true, false] {
                    repeat(curve, is_before, [from, to], &mut times, budget)?;
                }
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        Some(times)
    }

    /// Returns the length of a node's rotation curves between two times, in degrees, summed over all axes and layers. It is an
    /// upper bound if the curves bend no more than once.
    pub(super) fn turn(&self, node: &'a Node, [from, to]: [f64; 2]) -> f64 {
        let rotations = self
            .of_node(node)
            .filter(|(property, _)| *property == Property::Rotation);
        let curves = rotations.flat_map(|(_, value)| curves(value));
        curves
            .map(|curve| {
                let at = |share: f64| ufbx::evaluate_curve(curve, from + (to - from) * share, 0.0);
                let [a, b, c] = [0.0, 0.5, 1.0].map(at);
                (b - a).abs() + (c - b).abs()
            })
            .sum()
    }

    /// Estimates the number of curves that a node's transform is computed from.
    pub(super) fn cost(&self, node: &'a Node) -> usize {
        self.stack.layers.count + self.of_node(node).count()
    }
}

/// Other elements that a node's transform depends on, and what it is of the node that their scale moves: the nodes that the library
/// puts in between to undo a scale.
fn helpers(node: &Node) -> impl Iterator<Item = (&Element, Property)> {
    let parent = node.parent.as_deref();
    let of_parent = parent.and_then(|parent| parent.scale_helper.as_ref());
    let of_parent = of_parent
        .filter(|helper| helper.element.element_id != node.element.element_id)
        .map(|helper| (&helper.element, Property::Translation));
    let above = parent.and_then(|parent| parent.inherit_scale_node.as_ref());
    let above = std::iter::successors(above.map(|above| &**above), |above| {
        above.inherit_scale_node.as_deref()
    });
    let what = if node.is_scale_helper {
        Property::Scale
    } else {
        Property::Translation
    };
    // Chains are as long as the file's nodes are deep.
    let of_chain = above.filter_map(|above| above.scale_helper.as_ref());
    of_parent
        .into_iter()
        .chain(of_chain.map(move |helper| (&helper.element, what)))
}

/// Adds the times of a curve's keys as they are repeated before the first or after the last one.
fn repeat(
    curve: &AnimCurve,
    is_before: bool,
    [from, to]: [f64; 2],
    times: &mut Vec<f64>,
    budget: &mut usize,
) -> Option<()> {
    let [first, last] = [curve.min_time, curve.max_time];
    let extrapolation = if is_before {
        &curve.pre_extrapolation
    } else {
        &curve.post_extrapolation
    };
    let (mode, repeat_count) = (extrapolation.mode, extrapolation.repeat_count);
    let length = last - first;
    let is_outside = if is_before { from < first } else { last < to };
    let repeats = matches!(
        mode,
        ExtrapolationMode::Repeat | ExtrapolationMode::Mirror | ExtrapolationMode::RepeatRelative
    );
    if !is_outside || curve.keyframes.is_empty() {
        return Some(());
    }
    // Where it begins to be extrapolated.
    let edge = if is_before { first } else { last };
    if from < edge && edge < to {
        times.push(edge);
    }
    if !repeats || length <= 0.0 {
        return Some(());
    }
    let most = if repeat_count < 0 {
        i32::MAX
    } else {
        repeat_count
    };
    // Between the keys and the span, there may be any number of rounds.
    let before_span = if is_before { first - to } else { from - last };
    let skipped = (before_span / length).floor().clamp(0.0, f64::from(most)) as i32;
    for round in skipped.saturating_add(1)..=most {
        let begin = if is_before {
            first - f64::from(round) * length
        } else {
            last + f64::from(round - 1) * length
        };
        let is_past = if is_before {
            begin + length <= from
        } else {
            begin >= to
        };
        if is_past {
            break;
        }
        *budget = budget.checked_sub(curve.keyframes.len() + 1)?;
        let is_mirrored = mode == ExtrapolationMode::Mirror && round % 2 == 1;
        let keys = curve.keyframes.iter().map(|key| {
            let into = key.time - first;
            begin + if is_mirrored { length - into } else { into }
        });
        times.extend(keys.filter(|time| from < *time && *time < to));
    }
    Some(())
}
