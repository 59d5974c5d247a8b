//! A node's transform over time, from its properties.

use super::{
    layers::{Layered, from_vector, vector},
    property::Property,
    times::Moved,
};
use glam::{DQuat, DVec3};
use ufbx::{Node, RotationOrder, Transform};

/// A node's motion in a stack.
pub(super) struct Moving<'a> {
    node: &'a Node,
    /// In the order of [`Property::OF_TRANSFORMS`].
    properties: [Layered<'a>; Property::OF_TRANSFORMS.len()],
    /// Scales that the library moved from the nodes above to helpers: that of the parent, and those that it ignores in turn.
    parent: Option<Layered<'a>>,
    above: Vec<Layered<'a>>,
}

impl<'a> Moving<'a> {
    pub(super) fn new(moved: &Moved<'a>, node: &'a Node) -> Self {
        let parent = node.parent.as_deref();
        let scale = |node: &'a Node| {
            let helper = node.scale_helper.as_deref()?;
            Some(moved.layered(&helper.element, Property::Scale))
        };
        let first = parent.and_then(|parent| parent.inherit_scale_node.as_deref());
        let above = std::iter::successors(first, |above| above.inherit_scale_node.as_deref());
        Self {
            node,
            properties: Property::OF_TRANSFORMS
                .map(|property| moved.layered(&node.element, property)),
            parent: parent.and_then(scale),
            above: above.map_while(scale).collect(),
        }
    }

    /// The node's transform below its parent.
    pub(super) fn at(&self, time: f64) -> Transform {
        let node = self.node;
        let of = |property: Property, order: RotationOrder| {
            self.properties[property as usize].at(time, order)
        };
        let order = order(of(Property::RotationOrder, RotationOrder::Xyz).x);
        let [translation, rotation, scale] =
            [Property::Translation, Property::Rotation, Property::Scale]
                .map(|property| of(property, order));
        let of = |property| of(property, order);
        let above = |layered: &Layered| layered.at(time, order);
        let factor: DVec3 = self.above.iter().map(above).product();
        let parent = self
            .parent
            .as_ref()
            .map_or(DVec3::ONE, |parent| above(parent) * factor);

        // From the mesh outward: T * Roff * Rp * Rpre * R * Rpost⁻¹ * Rp⁻¹ * Soff * Sp * S * Sp⁻¹, within what the library adds to
        // change axes and units.
        let mut out = Placed::default();
        if node.has_adjust_transform {
            out.rotate(quat(node.adjust_post_rotation));
            out.scale(DVec3::splat(node.adjust_post_scale));
        }
        let pivot = of(Property::ScalingPivot);
        out.translation -= pivot;
        out.scale(scale);
        out.translation += pivot + of(Property::ScalingOffset);
        let pivot = of(Property::RotationPivot);
        out.translation -= pivot;
        let turned = |angles: DVec3, order| quat(ufbx::euler_to_quat(from_vector(angles), order));
        if node.use_rotation_space {
            let [before, after] = [Property::PreRotation, Property::PostRotation]
                .map(|property| turned(of(property), RotationOrder::Xyz));
            out.rotate(before * turned(rotation, order) * after.conjugate());
        } else {
            out.rotate(turned(rotation, RotationOrder::Xyz));
        }
        out.translation += pivot + of(Property::RotationOffset) + translation * parent;
        if node.has_adjust_transform {
            out.translation += vector(node.adjust_pre_translation);
            out.rotate(quat(node.adjust_pre_rotation));
            out.scale(DVec3::splat(node.adjust_pre_scale));
            out.translation *= node.adjust_translation_scale;
        }
        if node.is_scale_helper {
            out.scale *= factor;
        }
        let DQuat { x, y, z, w } = out.rotation;
        Transform {
            translation: from_vector(out.translation),
            rotation: ufbx::Quat { x, y, z, w },
            scale: from_vector(out.scale),
        }
    }
}

/// A translation, rotation, and scale, to which others are applied.
struct Placed {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

impl Default for Placed {
    fn default() -> Self {
        Self {
            translation: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            scale: DVec3::ONE,
        }
    }
}

impl Placed {
    fn rotate(&mut self, by: DQuat) {
        self.rotation = by * self.rotation;
        self.translation = by * self.translation;
    }

    fn scale(&mut self, by: DVec3) {
        self.translation *= by;
        self.scale *= by;
    }
}

fn order(number: f64) -> RotationOrder {
    match number as i64 {
        1 => RotationOrder::Xzy,
        2 => RotationOrder::Yzx,
        3 => RotationOrder::Yxz,
        4 => RotationOrder::Zxy,
        5 => RotationOrder::Zyx,
        6 => RotationOrder::Spheric,
        _ => RotationOrder::Xyz,
    }
}

fn quat(q: ufbx::Quat) -> DQuat {
    DQuat::from_xyzw(q.x, q.y, q.z, q.w)
}
