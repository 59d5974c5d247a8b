//! Facial expressions from code, on top of the clips.

use super::{
    components::SkinnedCharacter,
    idle_eyes::IdleEyes,
    morph_pose::forget,
    names::{hint, name_of},
};
use crate::{
    asset::Character,
    model::{MorphIndex, Morphs, OthersLeft, Procedural},
    pose::{MorphMode, MorphOverride},
    record::{ExpressionNote, FadeNote, ShownNote},
    rig::Gaze,
};
use bevy::{ecs::name::NameOrEntity, platform::collections::HashSet, prelude::*};
use smallvec::SmallVec;
use std::{sync::Arc, time::Duration};

/// Expressions that the game sets, on top of the clips.
///
/// An optional component of a character. Names are those of its morph targets, ARKit's blend shapes, VRM's presets, or Oculus'
/// visemes, whichever set the model has: see [`Morphs::expression`](crate::model::Morphs::expression). A name that is set
/// takes the place of what the clips do with the same morph targets; [`release`](Self::release) gives them back. Expressions
/// that the model doesn't have are logged once for each asset.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::Expressions;
/// # use std::time::Duration;
/// # fn react(mut faces: Query<&mut Expressions>) {
/// for mut face in &mut faces {
///     face.fade_to("happy", 1.0, Duration::from_millis(300));
///     face.set("blinkLeft", 1.0);
///     assert_eq!(face.get("blinkLeft"), Some(1.0));
/// }
/// # }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Default)]
#[component(on_remove = forget)]
pub struct Expressions {
    shown: Vec<Expression>,
}

#[derive(Clone, Debug, Reflect)]
#[reflect(Clone)]
struct Expression {
    name: Arc<str>,
    now: Shown,
    fade: Option<Fade>,
    /// The morph targets that show it, with their shares, in this version of the asset.
    #[reflect(ignore)]
    morphs: SmallVec<[(MorphIndex, f32); 2]>,
    /// The expression of the model's file that it is, among [`Morphs::own_expressions`].
    #[reflect(ignore)]
    own: Option<u32>,
    #[reflect(ignore)]
    version: u64,
}

/// The visible state of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
struct Shown {
    weight: f32,
    /// Fraction of the clips' weight that the expression replaces, 0..=1.
    share: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
struct Fade {
    from: Shown,
    to: Shown,
    /// Seconds since its start, and in all.
    elapsed: f64,
    duration: f64,
}

impl Expressions {
    /// Sets an expression's weight, 0..=1 as a rule. It takes the place of what the clips do. A weight that is not finite is
    /// ignored.
    pub fn set(&mut self, name: &str, weight: f32) {
        self.change(name, Some(weight), Duration::ZERO);
    }

    /// Fades an expression to a weight, from where it is. One that is not set fades in from what the clips do.
    pub fn fade_to(&mut self, name: &str, weight: f32, time: Duration) {
        self.change(name, Some(weight), time);
    }

    /// Gives an expression back to the clips, over a time.
    pub fn release(&mut self, name: &str, time: Duration) {
        self.change(name, None, time);
    }

    /// Gives all expressions back to the clips, over a time.
    pub fn release_all(&mut self, time: Duration) {
        let names: Vec<Arc<str>> = self.shown.iter().map(|one| one.name.clone()).collect();
        names.iter().for_each(|name| self.release(name, time));
    }

    /// Returns the weight of an expression, in the middle of a fade, too. `None` if it follows the clips.
    pub fn get(&self, name: &str) -> Option<f32> {
        Some(self.find(name)?.now.weight)
    }

    /// Returns the names and weights of the expressions that are set, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f32)> {
        self.shown.iter().map(|one| (&*one.name, one.now.weight))
    }

    /// Returns `true` if an expression is on its way to another weight.
    pub fn is_fading(&self) -> bool {
        self.shown.iter().any(|one| one.fade.is_some())
    }

    fn find(&self, name: &str) -> Option<&Expression> {
        self.shown.iter().find(|one| &*one.name == name)
    }

    fn change(&mut self, name: &str, weight: Option<f32>, time: Duration) {
        if weight.is_some_and(|weight| !weight.is_finite()) {
            return;
        }
        let at = self.shown.iter().position(|one| &*one.name == name);
        let at = match (at, weight) {
            (Some(at), _) => at,
            (None, Some(weight)) => {
                self.shown.push(Expression {
                    name: name.into(),
                    now: Shown { weight, share: 0.0 },
                    fade: None,
                    morphs: SmallVec::new(),
                    own: None,
                    version: 0,
                });
                self.shown.len() - 1
            }
            (None, None) => return,
        };
        let one = &mut self.shown[at];
        let to = Shown {
            weight: weight.unwrap_or(one.now.weight),
            share: if weight.is_some() { 1.0 } else { 0.0 },
        };
        one.fade = Some(Fade {
            from: one.now,
            to,
            elapsed: 0.0,
            duration: time.as_secs_f64(),
        });
        if time.is_zero() {
            one.advance(0.0);
            self.drop_released();
        }
    }

    fn drop_released(&mut self) {
        self.shown
            .retain(|one| one.fade.is_some() || one.now.share > 0.0);
    }

    /// Returns the expressions as recordings have them.
    pub(crate) fn note(&self) -> Vec<ExpressionNote> {
        let note = |one: &Expression| ExpressionNote {
            name: (*one.name).into(),
            now: one.now.note(),
            fade: one.fade.map(|fade| FadeNote {
                from: fade.from.note(),
                to: fade.to.note(),
                elapsed: fade.elapsed,
                duration: fade.duration,
            }),
        };
        self.shown.iter().map(note).collect()
    }

    /// The expressions of a recording.
    pub(crate) fn of_note(note: &[ExpressionNote]) -> Self {
        let shown = |one: &ExpressionNote| Expression {
            name: one.name.as_str().into(),
            now: Shown::of_note(one.now),
            fade: one.fade.map(|fade| Fade {
                from: Shown::of_note(fade.from),
                to: Shown::of_note(fade.to),
                elapsed: fade.elapsed,
                duration: fade.duration,
            }),
            morphs: SmallVec::new(),
            own: None,
            version: 0,
        };
        Self {
            shown: note.iter().map(shown).collect(),
        }
    }

    /// Looks up the morph targets of expressions that have none of this version of the asset. Calls `unknown` with the names
    /// that mean nothing to the model.
    pub(super) fn look_up(
        &mut self,
        version: u64,
        morphs: &Morphs,
        mut unknown: impl FnMut(&Arc<str>),
    ) {
        for one in self.shown.iter_mut().filter(|one| one.version != version) {
            one.morphs = morphs.expression(&one.name).into();
            one.own = morphs.own_expression(&one.name).map(|own| own as u32);
            one.version = version;
            if !morphs.is_known_expression(&one.name) {
                unknown(&one.name);
            }
        }
    }

    /// Returns how much expressions of the model's file leave of blinking, gaze, and speech. What fades in or out counts by its
    /// share.
    fn left_of_others(&self, morphs: &Morphs) -> OthersLeft {
        let own = morphs.own_expressions();
        let set = self.shown.iter();
        OthersLeft::beside(set.filter_map(|one| {
            let of_file = own.get(one.own? as usize)?;
            Some((of_file, one.now.weight * one.now.share))
        }))
    }

    /// Returns the weight that is shown of an expression of the model's file.
    pub(super) fn weight_of(&self, own: usize, morphs: &Morphs) -> f32 {
        let set = self.shown.iter();
        let mut set = set.filter(|one| one.own == Some(own as u32));
        let (Some(one), Some(of_file)) = (set.next(), morphs.own_expressions().get(own)) else {
            return 0.0;
        };
        self.left_of_others(morphs).shown(of_file, one.now.weight) * one.now.share
    }

    /// Adds what they do to the morph targets. Expressions that share a target add up. `left` is what they leave of each other.
    fn overrides(&self, morphs: &Morphs, left: OthersLeft, out: &mut Vec<MorphOverride>) {
        let own = morphs.own_expressions();
        let first = out.len();
        for one in &self.shown {
            let of_file = one.own.and_then(|at| own.get(at as usize));
            let weight = one.now.weight;
            let weight = of_file.map_or(weight, |of_file| left.shown(of_file, weight));
            for &(morph, share) in &one.morphs {
                let value = weight * share;
                match out[first..].iter_mut().find(|other| other.morph == morph) {
                    Some(other) => {
                        other.value += value;
                        other.weight = other.weight.max(one.now.share);
                    }
                    None => out.push(MorphOverride {
                        morph,
                        value,
                        weight: one.now.share,
                        mode: MorphMode::Set,
                    }),
                }
            }
        }
    }
}

/// Adds what a face does to the morph targets on top of its clips. As the model's file says, expressions leave less of blinking,
/// gaze, and speech.
pub(super) fn overrides(
    morphs: &Morphs,
    eyes: Option<&IdleEyes>,
    gaze: Option<(&Gaze, Vec2)>,
    expressions: Option<&Expressions>,
    out: &mut Vec<MorphOverride>,
) {
    let left = expressions.map_or(OthersLeft::ALL, |face| face.left_of_others(morphs));
    quiet(morphs, left, out);
    if let Some(eyes) = eyes {
        eyes.overrides(left, out);
    }
    for (shape, weight) in gaze.iter().flat_map(|(gaze, turn)| gaze.shown(*turn)) {
        let weight = weight * left.share(Procedural::LookAt);
        out.extend(shape.iter().map(|&(morph, share)| MorphOverride {
            mode: MorphMode::Add,
            ..MorphOverride::set(morph, weight * share)
        }));
    }
    if let Some(expressions) = expressions {
        expressions.overrides(morphs, left, out);
    }
}

/// Adds what expressions take from blinking and speech in clips, of which they leave `left`.
fn quiet(morphs: &Morphs, left: OthersLeft, out: &mut Vec<MorphOverride>) {
    for one in morphs.own_expressions() {
        let taken = one.procedural().map_or(0.0, |kind| 1.0 - left.share(kind));
        for &(morph, _) in one.morphs.iter().filter(|_| taken > 0.0) {
            if out.iter().all(|other| other.morph != morph) {
                out.push(MorphOverride {
                    weight: taken,
                    ..MorphOverride::set(morph, 0.0)
                });
            }
        }
    }
}

impl Shown {
    fn note(self) -> ShownNote {
        let Self { weight, share } = self;
        ShownNote { weight, share }
    }

    fn of_note(ShownNote { weight, share }: ShownNote) -> Self {
        Self { weight, share }
    }
}

impl Expression {
    /// Goes on with the fade.
    fn advance(&mut self, seconds: f64) {
        let Some(fade) = &mut self.fade else {
            return;
        };
        fade.elapsed += seconds;
        if fade.elapsed >= fade.duration {
            self.now = fade.to;
            self.fade = None;
            return;
        }
        let t = (fade.elapsed / fade.duration) as f32;
        self.now = Shown {
            weight: fade.from.weight + (fade.to.weight - fade.from.weight) * t,
            share: fade.from.share + (fade.to.share - fade.from.share) * t,
        };
    }
}

/// Advances fades, and looks up the morph targets of new expressions.
pub(super) fn advance(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    names: Query<NameOrEntity>,
    mut said: Local<HashSet<(u64, Arc<str>)>>,
    mut faces: Query<(Entity, &SkinnedCharacter, &mut Expressions)>,
) {
    for (entity, handle, mut face) in &mut faces {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        if face.is_fading() {
            face.shown
                .iter_mut()
                .for_each(|one| one.advance(time.delta_secs_f64()));
            face.drop_released();
        }
        let is_old = |one: &Expression| one.version != character.version;
        if !face.shown.iter().any(is_old) {
            continue;
        }
        let morphs = character.skeleton.morphs();
        face.look_up(character.version, morphs, |name| {
            // However often it is set, and by however many characters.
            if said.insert((character.version, name.clone())) {
                warn!(
                    "{} cannot show `{name}`: no such expression or morph target{}",
                    name_of(&names, entity),
                    hint(name, morphs.names().iter().map(|name| &**name))
                );
            }
        });
    }
}

#[cfg(test)]
#[path = "tests/expressions.rs"]
mod tests;
