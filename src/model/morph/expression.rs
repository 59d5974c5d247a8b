//! Facial expressions as a model's file defines them.

use super::MorphIndex;
use glam::{Vec2, Vec4};
use std::sync::Arc;

/// A facial expression that a model's file defines, as VRM files do: see [`Morphs::own_expressions`](super::Morphs::own_expressions).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    /// Name: one of VRM 1.0's presets, such as `happy` or `aa`, or the artist's own.
    pub name: Arc<str>,
    /// Another name by which the file calls it; empty if there is none.
    pub alias: Arc<str>,
    /// The morph targets that show it, each with its share of the expression's weight.
    pub morphs: Vec<(MorphIndex, f32)>,
    /// The expression is either shown in full, at weights above 0.5, or not at all.
    pub is_binary: bool,
    /// Its effect on blinking.
    pub blink: ExpressionOverride,
    /// Its effect on the gaze, as far as that is shown by expressions.
    pub look_at: ExpressionOverride,
    /// Its effect on the mouth's shapes in speech.
    pub mouth: ExpressionOverride,
    /// Colors of materials that it changes, while `Expressions` show it.
    pub colors: Vec<ColorBind>,
    /// Texture coordinates of materials that it changes, while `Expressions` show it.
    pub textures: Vec<TextureBind>,
}

/// The effect of an [`Expression`] on those that programs generate: blinking, the gaze, and the mouth in speech.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExpressionOverride {
    /// None.
    #[default]
    None,
    /// They aren't shown while it is, however little.
    Block,
    /// They are shown the less, the more it is.
    Blend,
}

/// A color of a material that an [`Expression`] changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorBind {
    /// Name of the material.
    pub material: Arc<str>,
    /// The color, as the file calls it: `color`, `emissionColor`, and so on.
    pub property: Arc<str>,
    /// The color at weight 1.
    pub value: Vec4,
}

/// The place of a material's textures that an [`Expression`] changes.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureBind {
    /// Name of the material.
    pub material: Arc<str>,
    /// The scale of texture coordinates at weight 1.
    pub scale: Vec2,
    /// Their offset at weight 1.
    pub offset: Vec2,
}

/// A kind of expressions that programs generate, and that others override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Procedural {
    Blink,
    LookAt,
    Mouth,
}

impl Expression {
    /// Creates an expression that shows nothing yet.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The kind that the expression is of, by its name.
    pub(crate) fn procedural(&self) -> Option<Procedural> {
        Some(match &*self.name {
            "blink" | "blinkLeft" | "blinkRight" => Procedural::Blink,
            "lookUp" | "lookDown" | "lookLeft" | "lookRight" => Procedural::LookAt,
            "aa" | "ih" | "ou" | "ee" | "oh" => Procedural::Mouth,
            _ => return None,
        })
    }

    /// Returns `true` if it has this effect on others.
    pub(crate) fn overrides(&self, effect: ExpressionOverride) -> bool {
        [self.blink, self.look_at, self.mouth].contains(&effect)
    }

    /// Returns the weight that is shown of one that is set.
    pub(crate) fn output(&self, weight: f32) -> f32 {
        match self.is_binary {
            true => f32::from(u8::from(weight > 0.5)),
            false => weight.clamp(0.0, 1.0),
        }
    }
}

/// The shares of blinking, gaze and mouth shapes that expressions leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OthersLeft([f32; 3]);

impl OthersLeft {
    #[cfg(feature = "bevy")]
    pub(crate) const ALL: Self = Self([1.0; 3]);

    /// Returns what is left while expressions have these weights, given as they are set.
    pub(crate) fn beside<'a>(set: impl IntoIterator<Item = (&'a Expression, f32)>) -> Self {
        let mut taken = [0.0_f32; 3];
        for (one, weight) in set {
            let output = one.output(weight);
            let own = one.procedural();
            let kinds = [
                (Procedural::Blink, one.blink),
                (Procedural::LookAt, one.look_at),
                (Procedural::Mouth, one.mouth),
            ];
            for (taken, (kind, effect)) in taken.iter_mut().zip(kinds) {
                // What it says of its own kind doesn't count.
                *taken += match effect {
                    _ if own == Some(kind) => 0.0,
                    ExpressionOverride::None => 0.0,
                    ExpressionOverride::Block => f32::from(u8::from(output > 0.0)),
                    ExpressionOverride::Blend => output,
                };
            }
        }
        Self(taken.map(|taken| 1.0 - taken.min(1.0)))
    }

    /// Returns the share of a kind that is left.
    pub(crate) fn share(&self, kind: Procedural) -> f32 {
        self.0[kind as usize]
    }

    /// Returns the weight that is shown of an expression that is set to one.
    pub(crate) fn shown(&self, one: &Expression, weight: f32) -> f32 {
        let share = one.procedural().map_or(1.0, |kind| self.share(kind));
        match one.is_binary && share < 1.0 {
            true => 0.0,
            false => one.output(weight) * share,
        }
    }
}
