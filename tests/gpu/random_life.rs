//! Characters that are spawned, despawned, reparented, worn, given another asset, stripped and reloaded at random while
//! they are drawn: the renderer goes on, and every part in view has the matrices of its character in that frame.

use super::{arm::arm, harness::Harness, offscreen::character};
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, PartOf, PartOverrides, PoseSharing, Teleported, WeightView, WornBy},
    model::JointTransform,
    prelude::*,
};
use fastrand::Rng;
use std::time::Duration;

const FRAMES: usize = 150;
const MOST: usize = 12;

struct Life {
    harness: Harness,
    random: Rng,
    assets: Vec<Handle<Character>>,
    characters: Vec<Entity>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let mut harness = Harness::new();
        let assets = (1..=2).map(|parts| harness.add(of_parts(parts))).collect();
        Self {
            harness,
            random: Rng::with_seed(seed),
            assets,
            characters: vec![],
        }
    }

    fn place(&mut self) -> Transform {
        let mut number = || self.random.f32() * 2.0 - 1.0;
        let turn = Quat::from_rotation_y(number());
        let scale = Vec3::new(
            0.5 + number().abs(),
            1.0,
            if number() < -0.5 { -1.0 } else { 1.0 },
        );
        Transform::from_xyz(number(), number(), number())
            .with_rotation(turn)
            .with_scale(scale)
    }

    fn happen(&mut self) {
        let (asset, place, what) = (
            self.random.choice(&self.assets).unwrap().clone(),
            self.place(),
            self.random.u8(..20),
        );
        if self.characters.len() < 3 || what < 3 && self.characters.len() < MOST {
            let clip = *self.random.choice(&["bend", "reach"]).unwrap();
            let world = self.harness.world();
            let entity = world
                .spawn((
                    SkinnedCharacter(asset),
                    AnimationController::playing(clip),
                    place,
                ))
                .id();
            self.characters.push(entity);
            return;
        }
        let one = *self.random.choice(&self.characters).unwrap();
        let other = *self.random.choice(&self.characters).unwrap();
        let replacement = (what == 12).then(|| {
            let parts = self.random.usize(1..=2);
            self.harness.add(of_parts(parts))
        });
        let world = self.harness.world();
        match what {
            3 => drop(world.despawn(one)),
            4 => drop(world.entity_mut(one).insert(ChildOf(other))),
            5 => drop(world.entity_mut(one).remove::<ChildOf>()),
            6 => drop(world.entity_mut(one).insert(WornBy(other))),
            7 => drop(world.entity_mut(one).remove::<(WornBy, ChildOf)>()),
            8 => drop(world.spawn((AttachedTo(one), AtSocket::new("hand")))),
            9 => drop(
                world
                    .entity_mut(one)
                    .insert((SkinnedCharacter(asset), place)),
            ),
            10 => drop(
                world
                    .entity_mut(one)
                    .remove_with_requires::<SkinnedCharacter>(),
            ),
            11 => {
                let mut parts = world.query::<(Entity, &PartOf)>();
                let part = parts
                    .iter(world)
                    .find(|(_, part)| part.character == one)
                    .map(|(part, _)| part);
                if let Some(part) = part {
                    if place.translation.x > 0.0 {
                        world.despawn(part);
                    } else {
                        world.entity_mut(part).clear();
                    }
                }
            }
            12 => {
                let mut characters = world.resource_mut::<Assets<Character>>();
                let reloaded = characters.remove(&replacement.unwrap()).unwrap();
                characters.insert(&asset, reloaded).unwrap();
            }
            13 => {
                let mut overrides = PoseOverrides::default();
                overrides.set(1, JointTransform::new(place.translation, Quat::IDENTITY));
                world
                    .entity_mut(one)
                    .insert((overrides, PartOverrides::default().hide(0)));
            }
            14 => drop(world.entity_mut(one).remove::<(
                PoseOverrides,
                PartOverrides,
                WeightView,
                AnimationLod,
            )>()),
            15 => drop(
                world
                    .entity_mut(one)
                    .insert((WeightView::InfluenceCount, Teleported)),
            ),
            16 => drop(world.entity_mut(one).insert(AnimationLod {
                poses: 0.0,
                ..AnimationLod::default()
            })),
            17 => drop(world.entity_mut(one).insert(Visibility::Hidden)),
            18 => drop(world.entity_mut(one).insert(Visibility::Inherited)),
            _ => {
                if let Some(mut controller) = world.get_mut::<AnimationController>(one) {
                    controller.cross_fade("bend", Duration::from_millis(200));
                }
            }
        }
        // Despawning a parent despawns its children.
        let alive = |entity: &Entity| world.get_entity(*entity).is_ok();
        self.characters.retain(alive);
    }

    /// Compares every part in view with its character's pose. Returns the number of parts.
    fn check(&mut self, frame: usize) -> usize {
        let world = self.harness.world();
        let mut parts = world.query_filtered::<(Entity, &PartOf, &ViewVisibility), With<Mesh3d>>();
        let in_view: Vec<(Entity, PartOf)> = parts
            .iter(world)
            .filter(|(.., view)| view.get())
            .map(|(part, of, _)| (part, *of))
            .collect();
        for &(
            part,
            PartOf {
                character,
                part: index,
            },
        ) in &in_view
        {
            let world = self.harness.world();
            let expected = character::palette(world, character, index);
            let found = self.harness.buffers.current(part);
            let size = expected
                .iter()
                .flat_map(Mat4::to_cols_array)
                .fold(1.0, |size: f32, x| size.max(x.abs()));
            let same = found
                .iter()
                .zip(&expected)
                .all(|(a, b)| a.abs_diff_eq(*b, 1e-5 * size));
            assert!(
                same && found.len() == expected.len(),
                "frame {frame}, {character} part {index}: {found:?}, not {expected:?}"
            );
        }
        in_view.len()
    }
}

/// The arm with its first parts only.
fn of_parts(count: usize) -> bevy_marionette::model::Model {
    let mut model = arm();
    model.parts.truncate(count);
    model
}

#[test]
fn whatever_happens_to_characters_in_view_they_are_drawn_as_they_are_posed() {
    for seed in [1, 2] {
        let mut life = Life::new(seed);
        let mut compared = 0;
        for frame in 0..FRAMES {
            (0..life.random.usize(..4)).for_each(|_| life.happen());
            let sharing = [
                PoseSharing::Off,
                PoseSharing::Lossless,
                PoseSharing::Steps(10.0),
            ][frame / 30 % 3];
            life.harness.world().insert_resource(sharing);
            life.harness.update();
            compared += life.check(frame);
        }
        assert!(
            compared > FRAMES * 2,
            "hardly anything was in view: {compared} parts in {FRAMES} frames"
        );
    }
}
