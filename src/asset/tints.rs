//! Colors of materials that expressions change.

use crate::model::{Expression, Material, SkinPart};
use bevy::{math::Affine2, prelude::*};

/// What an expression of a character's file does to the material of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tint {
    pub(crate) part: usize,
    /// The expression, among those of the file.
    pub(crate) expression: usize,
    kind: TintKind,
}

#[derive(Clone, Debug, PartialEq)]
enum TintKind {
    Base(Vec4),
    Emissive(Vec3),
    Place { scale: Vec2, offset: Vec2 },
}

impl Tint {
    /// Returns the changes by all expressions, in the order of the parts.
    pub(super) fn all(own: &[Expression], skin: &[SkinPart], materials: &[Material]) -> Vec<Self> {
        let mut all = Vec::new();
        for (part, of) in skin.iter().enumerate() {
            let Some(material) = materials.get(of.material) else {
                continue;
            };
            for (expression, one) in own.iter().enumerate() {
                let colors = one
                    .colors
                    .iter()
                    .filter(|bind| *bind.material == *material.name);
                let colors = colors.filter_map(|bind| match &*bind.property {
                    "color" => Some(TintKind::Base(bind.value)),
                    "emissionColor" => Some(TintKind::Emissive(bind.value.truncate())),
                    _ => None,
                });
                let places = one
                    .textures
                    .iter()
                    .filter(|bind| *bind.material == *material.name);
                let places = places.map(|bind| TintKind::Place {
                    scale: bind.scale,
                    offset: bind.offset,
                });
                all.extend(colors.chain(places).map(|kind| Self {
                    part,
                    expression,
                    kind,
                }));
            }
        }
        all
    }

    /// Adds the change at a weight to a material, from how it is without any.
    pub(crate) fn add(&self, weight: f32, base: &StandardMaterial, to: &mut StandardMaterial) {
        match self.kind {
            TintKind::Base(target) => {
                let [from, now] = [base, to].map(|of| of.base_color.to_linear().to_vec4());
                let [r, g, b, a] = (now + (target - from) * weight).to_array();
                to.base_color = Color::linear_rgba(r, g, b, a);
            }
            TintKind::Emissive(target) => {
                let from = base.emissive.to_vec3();
                let [r, g, b] = (to.emissive.to_vec3() + (target - from) * weight).to_array();
                to.emissive = LinearRgba::rgb(r, g, b);
            }
            TintKind::Place { scale, offset } => {
                let Affine2 {
                    matrix2,
                    translation,
                } = base.uv_transform;
                let from = Vec2::new(matrix2.x_axis.x, matrix2.y_axis.y);
                let more = (scale - from) * weight;
                to.uv_transform.matrix2.x_axis.x += more.x;
                to.uv_transform.matrix2.y_axis.y += more.y;
                to.uv_transform.translation += (offset - translation) * weight;
            }
        }
    }
}
