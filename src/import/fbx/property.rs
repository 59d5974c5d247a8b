//! Properties that animations move.

use glam::DVec3;
use ufbx::{AnimCurve, AnimValue};

/// A property that a transform or the weight of blend shapes depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Property {
    Translation,
    Rotation,
    Scale,
    PreRotation,
    PostRotation,
    RotationOrder,
    RotationOffset,
    RotationPivot,
    ScalingOffset,
    ScalingPivot,
    /// Of a channel of blend shapes, in percent.
    ShapeWeight,
}

impl Property {
    /// Those of a node's transform.
    pub(super) const OF_TRANSFORMS: [Self; 10] = [
        Self::Translation,
        Self::Rotation,
        Self::Scale,
        Self::PreRotation,
        Self::PostRotation,
        Self::RotationOrder,
        Self::RotationOffset,
        Self::RotationPivot,
        Self::ScalingOffset,
        Self::ScalingPivot,
    ];

    /// The number of properties.
    pub(super) const COUNT: usize = Self::OF_TRANSFORMS.len() + 1;

    /// Those around which a node turns and is scaled.
    pub(super) const PIVOTS: [Self; 4] = [
        Self::RotationOffset,
        Self::RotationPivot,
        Self::ScalingOffset,
        Self::ScalingPivot,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Translation => "Lcl Translation",
            Self::Rotation => "Lcl Rotation",
            Self::Scale => "Lcl Scaling",
            Self::PreRotation => "PreRotation",
            Self::PostRotation => "PostRotation",
            Self::RotationOrder => "RotationOrder",
            Self::RotationOffset => "RotationOffset",
            Self::RotationPivot => "RotationPivot",
            Self::ScalingOffset => "ScalingOffset",
            Self::ScalingPivot => "ScalingPivot",
            Self::ShapeWeight => "DeformPercent",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::OF_TRANSFORMS.into_iter().chain([Self::ShapeWeight]);
        all.find(|property| property.name() == name)
    }

    /// Its value in an element without it.
    pub(super) fn default(self) -> DVec3 {
        match self {
            Self::Scale => DVec3::ONE,
            _ => DVec3::ZERO,
        }
    }
}

pub(super) fn curves(value: &AnimValue) -> impl Iterator<Item = &AnimCurve> {
    value.curves.iter().flatten().map(|curve| &**curve)
}
