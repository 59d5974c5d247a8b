//! Morph weights of characters in view: from clips and expressions to the parts' [`MeshMorphWeights`].
//!
//! Only characters that have morph targets have a [`MorphPose`]. Their weights are blended while they are in view, and compared
//! with those of the frame before; if none changed, nothing is written. The list of a part ends after the last weight that
//! isn't zero, so a face at rest has none, and the GPU reads nothing for it.

use super::{
    components::{CharacterParts, SkinnedCharacter},
    expressions::{self, Expressions},
    hierarchy::upward,
    idle_eyes::{self, IdleEyes},
    layers::ActiveLayers,
    morph_pose::MorphPose,
    systems::CharacterSystems,
    threads::{batches, trim},
    tinted,
    worn::WornBy,
};
use crate::{
    asset::{Character, CharacterPart},
    controller::AnimationController,
    model::MorphIndex,
    pose::{MorphOverride, MorphScratch},
    rig::RigState,
};
use bevy::{
    camera::visibility::ViewVisibility, mesh::morph::MeshMorphWeights, prelude::*, utils::Parallel,
};
use std::ops::Range;

/// Adds what faces need.
pub(super) fn plugin(app: &mut App) {
    app.register_type::<MorphPose>()
        .register_type::<Expressions>()
        .register_type::<IdleEyes>()
        .init_resource::<GrownMorphs>()
        .add_systems(
            PostUpdate,
            (
                (
                    (expressions::advance, tinted::tint)
                        .chain()
                        .run_if(any_with_component::<Expressions>),
                    idle_eyes::advance.run_if(any_with_component::<IdleEyes>),
                ),
                pose.run_if(any_with_component::<MorphPose>),
                follow_bodies.run_if(any_with_component::<WornBy>),
            )
                .chain()
                .in_set(CharacterSystems::PoseMorphs),
        );
}

/// Parts whose list of weights became longer in this frame. The renderer has no previous weights for all of it.
#[derive(Resource, Default)]
pub(crate) struct GrownMorphs(pub(crate) Vec<Entity>);

/// One thread's working memory, and the weights it found to write.
#[derive(Default)]
pub(super) struct MorphThread {
    scratch: MorphScratch,
    overrides: Vec<MorphOverride>,
    writes: Writes,
}

/// Weights to write to parts, in the order of their meshes.
#[derive(Default)]
pub(super) struct Writes {
    parts: Vec<(Entity, Range<usize>)>,
    weights: Vec<f32>,
}

impl Writes {
    /// Adds the parts of a character.
    fn add(&mut self, character: &Character, entities: &[Entity], weights: &[f32]) {
        for (part, &entity) in character.parts.iter().zip(entities) {
            if part.morphs.is_empty() {
                continue;
            }
            let start = self.weights.len();
            if part.morphs_in_order {
                self.weights.extend_from_slice(weights);
            } else {
                self.weights.extend(in_order(part, weights));
            }
            while self.weights.len() > start && self.weights.last() == Some(&0.0) {
                self.weights.pop();
            }
            self.parts.push((entity, start..self.weights.len()));
        }
    }

    /// Writes them.
    fn run(&mut self, parts: &mut Query<&mut MeshMorphWeights>, grown: &mut Vec<Entity>) {
        for (entity, range) in self.parts.drain(..) {
            let Ok(mut list) = parts.get_mut(entity) else {
                continue;
            };
            // An app that refers to weights of its own means it.
            if let MeshMorphWeights::Value { weights } = &mut *list
                && fill(weights, &self.weights[range])
            {
                grown.push(entity);
            }
        }
        let used = self.weights.len();
        self.weights.clear();
        trim(&mut self.weights, used);
    }
}

/// The weights of a part's targets, in the order of its mesh.
fn in_order(part: &CharacterPart, weights: &[f32]) -> impl Iterator<Item = f32> {
    part.morphs
        .iter()
        .map(|&morph| weights.get(usize::from(morph)).copied().unwrap_or(0.0))
}

/// The list of a part's weights at rest.
pub(super) fn at_rest(part: &CharacterPart, rest: &[f32]) -> Vec<f32> {
    let mut list: Vec<f32> = in_order(part, rest).collect();
    let end = list.iter().rposition(|weight| *weight != 0.0);
    list.truncate(end.map_or(0, |last| last + 1));
    list
}

/// Replaces the weights of a list. Returns `true` if it grew.
///
/// It keeps its length until the face is at rest, because a mouth that speaks would make it longer and shorter all the time,
/// and what is new in a list leaves no motion vectors.
fn fill(list: &mut Vec<f32>, weights: &[f32]) -> bool {
    let before = list.len();
    list.clear();
    list.extend_from_slice(weights);
    if !weights.is_empty() && weights.len() < before {
        list.resize(before, 0.0);
    }
    list.len() > before
}

/// Blends the weights of characters in view, and writes those that changed to their parts.
pub(super) fn pose(
    assets: Res<Assets<Character>>,
    mut threads: Local<Parallel<MorphThread>>,
    mut grown: ResMut<GrownMorphs>,
    mut characters: Query<
        (
            &SkinnedCharacter,
            Ref<AnimationController>,
            &mut ActiveLayers,
            &CharacterParts,
            &mut MorphPose,
            Option<Ref<Expressions>>,
            Option<Ref<IdleEyes>>,
            Option<&RigState>,
        ),
        Without<WornBy>,
    >,
    shown: Query<&ViewVisibility, With<MeshMorphWeights>>,
    mut parts: Query<&mut MeshMorphWeights>,
) {
    grown.0.clear();
    let all_threads = &mut *threads;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
            || all_threads.borrow_local_mut(),
            |thread, (handle, controller, mut layers, list, mut pose, expressions, eyes, rig)| {
                let Some(character) = assets.get(handle.id()) else {
                    return;
                };
                let layers = layers.bypass_change_detection();
                layers.catch_up(character, &controller);
                // No matter how time passes, clips that move no weight leave a face as it is.
                let revision = if layers.move_morphs(character) {
                    layers.revision()
                } else {
                    0
                };
                if pose.of_body.is_some() {
                    // It has been taken off, and its weights are those of the body.
                    let pose = pose.bypass_change_detection();
                    pose.of_body = None;
                    pose.forget();
                }
                let made_from = (revision, character.version);
                let look = character
                    .look_at
                    .as_ref()
                    .and_then(|chain| chain.gaze.as_ref());
                let look = look.filter(|gaze| gaze.shapes.is_some());
                let turn = look.and(rig).map_or(Vec2::ZERO, |rig| rig.look.gaze);
                let by_hand = expressions.as_ref().is_some_and(Ref::is_changed)
                    || pose.gaze != turn
                    || eyes.as_ref().is_some_and(Ref::is_changed);
                if pose.made_from == made_from && !by_hand {
                    return;
                }
                let is_shown = |part: &Entity| shown.get(*part).is_ok_and(|shown| shown.get());
                if expressions.is_none() && !list.entities.iter().any(is_shown) {
                    // What changes unseen shows when the character comes into view, whether or not it changes again.
                    if by_hand {
                        pose.bypass_change_detection().forget();
                    }
                    return;
                }
                pose.bypass_change_detection().made_from = made_from;
                pose.bypass_change_detection().gaze = turn;
                let MorphThread {
                    scratch,
                    overrides,
                    writes,
                } = &mut **thread;
                overrides.clear();
                expressions::overrides(
                    character.skeleton.morphs(),
                    eyes.as_deref(),
                    look.map(|gaze| (gaze, turn)),
                    expressions.as_deref(),
                    overrides,
                );
                layers.evaluate_morphs(character, overrides, scratch, |weights| {
                    let weights = weights.unwrap_or(character.skeleton.morphs().rest());
                    if update(&mut pose, weights) {
                        writes.add(character, &list.entities, weights);
                    }
                });
            },
        );
    for thread in threads.iter_mut() {
        thread.writes.run(&mut parts, &mut grown.0);
    }
}

/// Gives characters that are worn the weights of the outermost body, matched by name.
pub(super) fn follow_bodies(
    assets: Res<Assets<Character>>,
    mut writes: Local<Writes>,
    mut grown: ResMut<GrownMorphs>,
    links: Query<&WornBy>,
    mut worn: Query<(Entity, &SkinnedCharacter, &CharacterParts, &mut MorphPose), With<WornBy>>,
    bodies: Query<(&SkinnedCharacter, Ref<MorphPose>), Without<WornBy>>,
    mut parts: Query<&mut MeshMorphWeights>,
) {
    let mut weights = Vec::new();
    for (entity, handle, list, mut pose) in &mut worn {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let outermost = upward(entity, |entity| Some(links.get(entity).ok()?.0)).last();
        let found = outermost.and_then(|body| Some((body, bodies.get(body).ok()?)));
        let Some((outermost, (of, body))) = found else {
            continue;
        };
        let Some(of) = assets.get(of.id()) else {
            continue;
        };
        let now = (outermost, character.version, of.version);
        let is_new = pose.of_body.as_ref().is_none_or(|(known, _)| *known != now);
        if !is_new && !body.is_changed() {
            continue;
        }
        let morphs = character.skeleton.morphs();
        if is_new {
            let names = morphs.names().iter();
            let found = names.map(|name| of.skeleton.morphs().morph(name)).collect();
            pose.bypass_change_detection().of_body = Some((now, found));
        }
        let found = pose.of_body.as_ref().map_or(&[][..], |(_, found)| found);
        let of_body = |found: &Option<MorphIndex>| found.and_then(|morph| body.weight(morph));
        weights.clear();
        weights.extend(
            morphs
                .rest()
                .iter()
                .zip(found)
                .map(|(rest, found)| of_body(found).unwrap_or(*rest)),
        );
        if update(&mut pose, &weights) {
            writes.add(character, &list.entities, &weights);
        }
    }
    writes.run(&mut parts, &mut grown.0);
}

/// Replaces the weights of a pose. Returns `true` if one of them changed.
fn update(pose: &mut Mut<MorphPose>, weights: &[f32]) -> bool {
    let mine = &mut pose.bypass_change_detection().weights;
    let changed = if mine.len() == weights.len() {
        // Compared and copied at once, without a way out, so that it's done many at a time.
        mine.iter_mut()
            .zip(weights)
            .fold(0, |changed, (mine, &weight)| {
                changed | (std::mem::replace(mine, weight).to_bits() ^ weight.to_bits())
            })
            != 0
    } else {
        mine.clear();
        mine.extend_from_slice(weights);
        true
    };
    if changed {
        pose.set_changed();
    }
    changed
}

#[cfg(test)]
#[path = "tests/morphs.rs"]
mod tests;
