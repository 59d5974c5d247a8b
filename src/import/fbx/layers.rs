//! Properties over time: what the layers of a stack make of them.
//!
//! The library evaluates curves. Its own mix of layers takes the curve of the next element, if a layer moves a property of this
//! element, but not the one in question.

use super::property::{Property, curves};
use glam::DVec3;
use ufbx::{AnimLayer, AnimValue, Element, RotationOrder};

/// The curves of a property in a layer.
#[derive(Clone, Copy)]
pub(super) struct InLayer<'a> {
    pub(super) property: Property,
    pub(super) value: &'a AnimValue,
    pub(super) layer: &'a AnimLayer,
    /// `true` for the lowest layer of its stack, which has nothing to be mixed with.
    pub(super) is_lowest: bool,
    /// The curve of the layer's weight.
    pub(super) weight: Option<&'a AnimValue>,
}

impl InLayer<'_> {
    pub(super) fn has_keys(&self) -> bool {
        curves(self.value).any(|curve| !curve.keyframes.is_empty())
    }

    /// The layer's weight, from 0 to 1.
    fn weight(&self, time: f64) -> f64 {
        let Some(curve) = self.weight.filter(|_| self.layer.weight_is_animated) else {
            return self.layer.weight;
        };
        (ufbx::evaluate_anim_value_real(curve, time) / 100.0).clamp(0.0, 1.0)
    }

    /// Mixes its value at a time into that of the layers below.
    fn mix(&self, below: DVec3, time: f64, order: RotationOrder) -> DVec3 {
        let value = vector(ufbx::evaluate_anim_value_vec3(self.value, time));
        if self.is_lowest || !self.layer.blended {
            return value;
        }
        let weight = self.weight(time);
        match self.property {
            Property::Rotation if self.layer.compose_rotation => {
                let [below, value] =
                    [below, value].map(|v| ufbx::euler_to_quat(from_vector(v), order));
                let mixed = if self.layer.additive {
                    let none = ufbx::Quat {
                        w: 1.0,
                        ..Default::default()
                    };
                    ufbx::quat_mul(below, ufbx::quat_slerp(none, value, weight))
                } else {
                    ufbx::quat_slerp(below, value, weight)
                };
                vector(ufbx::quat_to_euler(mixed, order))
            }
            Property::Scale if self.layer.compose_scale => {
                let below = match self.layer.additive {
                    true => below,
                    false => power(below, 1.0 - weight),
                };
                below * power(value, weight)
            }
            _ if self.layer.additive => below + value * weight,
            _ => below * (1.0 - weight) + value * weight,
        }
    }
}

/// A property of an element, as a stack moves it.
pub(super) struct Layered<'a> {
    /// The value where no layer moves it.
    rest: DVec3,
    layers: Vec<InLayer<'a>>,
}

impl<'a> Layered<'a> {
    /// `layers` are those that move the property, in their order.
    pub(super) fn new(
        element: &Element,
        property: Property,
        layers: impl Iterator<Item = InLayer<'a>>,
    ) -> Self {
        let prop = ufbx::find_prop(&element.props, property.name());
        let rest = prop.map_or(property.default(), |prop| match property {
            Property::RotationOrder => DVec3::splat(prop.value_int as f64),
            _ => DVec3::new(prop.value_vec4.x, prop.value_vec4.y, prop.value_vec4.z),
        });
        Self {
            rest,
            layers: layers.collect(),
        }
    }

    /// Its value at a time. `order` is that of the element's rotations.
    pub(super) fn at(&self, time: f64, order: RotationOrder) -> DVec3 {
        self.layers
            .iter()
            .fold(self.rest, |below, layer| layer.mix(below, time, order))
    }
}

/// Raises numbers to a power, and keeps their signs.
fn power(v: DVec3, exponent: f64) -> DVec3 {
    match exponent {
        ..=0.0 => DVec3::ONE,
        1.0.. => v,
        _ => v.signum() * v.abs().powf(exponent),
    }
}

pub(super) fn vector(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub(super) fn from_vector(v: DVec3) -> ufbx::Vec3 {
    let [x, y, z] = v.to_array();
    ufbx::Vec3 { x, y, z }
}
