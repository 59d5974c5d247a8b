//! Characters that are spawned, despawned, reparented, worn, swapped, stripped and reloaded at random: whatever
//! happens, the app goes on, nothing is left behind, and who is left alone is posed as ever.

use super::{crowd::bits, support::*};
use bevy::{
    camera::visibility::{SetViewVisibility, ViewVisibility},
    ecs::{
        schedule::{
            FlattenedDependencies, NodeId, ScheduleBuildError, ScheduleBuildPass, ScheduleGraph,
            Schedules, SystemKey, SystemSetKey, graph::DiGraph,
        },
        system::RunSystemOnce,
    },
    platform::{
        collections::{HashMap, HashSet},
        hash::FixedHasher,
    },
    prelude::*,
};
use bevy_marionette::{
    asset::Character,
    character::{
        AnimationLod, CharacterParts, CharacterRayCast, DetachExt, ModelPose, PartOf, PoseSharing,
        Teleported, WeightView, WornBy,
    },
    model::JointTransform,
    prelude::*,
};
use fastrand::Rng;
use indexmap::IndexSet;
use std::time::Duration;

const FRAMES: usize = 400;

struct Life {
    app: TestApp,
    random: Rng,
    assets: Vec<Handle<Character>>,
    characters: Vec<Entity>,
    carried: Vec<Entity>,
}

impl Life {
    fn new(seed: u64, in_view: bool) -> Self {
        let mut app = TestApp::new();
        if in_view {
            let see = |mut parts: Query<&mut ViewVisibility>| {
                parts.iter_mut().for_each(|mut part| part.set_visible())
            };
            app.app.add_systems(
                PostUpdate,
                see.after(CharacterSystems::Spawn)
                    .before(CharacterSystems::EvaluateLate),
            );
        }
        // Listeners that ask, and that change what plays.
        app.app.add_observer(
            |event: On<AnimationCallback>,
             poses: CharacterPoses,
             mut controllers: Query<&mut AnimationController>| {
                let place = poses.joint_transform_at(&event, "hand");
                assert!(place.is_none_or(|place| place.affine().is_finite()));
                if let Ok(mut controller) = controllers.get_mut(event.entity)
                    && event.name == "land"
                {
                    controller.play("walk");
                }
            },
        );
        let assets = (1..=3)
            .map(|parts| {
                let mut model = chain(&clips());
                model.parts = (0..parts)
                    .map(|part| strip(&format!("strip {part}"), 0))
                    .collect();
                app.add(model, &manifest())
            })
            .collect();
        Self {
            app,
            random: Rng::with_seed(seed),
            assets,
            characters: vec![],
            carried: vec![],
        }
    }

    fn any(&mut self) -> Option<Entity> {
        self.random.choice(&self.characters).copied()
    }

    fn asset(&mut self) -> Handle<Character> {
        self.random.choice(&self.assets).unwrap().clone()
    }

    fn place(&mut self) -> Transform {
        let mut number = || self.random.f32() * 4.0 - 2.0;
        Transform::from_xyz(number(), number(), number()).with_scale(Vec3::new(number(), 1.0, 1.0))
    }

    fn happen(&mut self) {
        let what = self.random.u8(..26);
        let (asset, place) = (self.asset(), self.place());
        let clip = *self
            .random
            .choice(&["walk", "jump", "swing", "pose", "idle", "no such clip"])
            .unwrap();
        if what < 3 || self.characters.len() < 3 {
            let entity = self.app.spawn(&asset, clip);
            self.app.world().entity_mut(entity).insert(place);
            self.characters.push(entity);
            return;
        }
        let (Some(one), Some(other)) = (self.any(), self.any()) else {
            return;
        };
        if !self.app.is_alive(one) || !self.app.is_alive(other) {
            return;
        }
        let part = self.app.parts(one).first().copied();
        let world = self.app.world();
        match what {
            3 => drop(world.despawn(one)),
            4 | 5 => drop(world.entity_mut(one).insert(ChildOf(other))),
            6 => drop(world.entity_mut(one).remove::<ChildOf>()),
            7 | 8 => drop(world.entity_mut(one).insert(WornBy(other))),
            9 => drop(world.entity_mut(one).remove::<(WornBy, ChildOf)>()),
            10 | 11 => self
                .carried
                .push(world.spawn((AttachedTo(one), AtSocket::new("hand"))).id()),
            12 => drop(
                world
                    .entity_mut(one)
                    .insert((AttachedTo(other), AtSocket::new("elbow"))),
            ),
            13 => drop(world.entity_mut(one).detach_in_place()),
            14 | 15 => drop(
                world
                    .entity_mut(one)
                    .insert((SkinnedCharacter(asset), place)),
            ),
            16 => drop(world.entity_mut(one).remove::<SkinnedCharacter>()),
            17 => drop(
                world
                    .entity_mut(one)
                    .remove_with_requires::<SkinnedCharacter>(),
            ),
            18 => {
                if let Some(part) = part
                    && let Ok(mut part) = world.get_entity_mut(part)
                {
                    if place.translation.x > 0.0 {
                        part.despawn();
                    } else {
                        part.clear();
                    }
                }
            }
            19 => {
                let character = build(world, chain(&clips()), &manifest());
                drop(
                    world
                        .resource_mut::<Assets<Character>>()
                        .insert(&asset, character),
                );
            }
            20 => drop(
                world
                    .resource_mut::<Assets<Character>>()
                    .get_mut(&asset)
                    .map(|mut c| c.parts.rotate_left(1)),
            ),
            21 => {
                let mut overrides = PoseOverrides::default();
                overrides.set(1, JointTransform::new(place.translation, Quat::IDENTITY));
                world
                    .entity_mut(one)
                    .insert((overrides, PartOverrides::default().hide(0)));
            }
            22 => drop(world.entity_mut(one).remove::<(
                PoseOverrides,
                PartOverrides,
                WeightView,
                AnimationLod,
            )>()),
            23 => drop(
                world
                    .entity_mut(one)
                    .insert((WeightView::InfluenceCount, Teleported)),
            ),
            24 => drop(world.entity_mut(one).insert(AnimationLod::default())),
            _ => {
                if let Some(mut controller) = world.get_mut::<AnimationController>(one) {
                    controller.cross_fade(clip, Duration::from_millis(200));
                }
            }
        }
    }

    fn check(&mut self, frame: usize) {
        let world = self.app.world();
        let mut lists = world.query::<(Entity, &CharacterParts)>();
        let listed: usize = lists
            .iter(world)
            .map(|(_, parts)| parts.entities.len())
            .sum();
        let parts: Vec<(Entity, PartOf)> = world
            .query::<(Entity, &PartOf)>()
            .iter(world)
            .map(|(part, of)| (part, *of))
            .collect();
        assert!(
            parts.len() <= listed,
            "frame {frame}: {} parts, {listed} of them on lists",
            parts.len()
        );
        for (part, PartOf { character, .. }) in parts {
            let list = world
                .get::<CharacterParts>(character)
                .expect("its character is there");
            assert!(list.entities.contains(&part), "frame {frame}");
        }
        for pose in world.query::<&ModelPose>().iter(world) {
            assert!(
                pose.joints.iter().all(|joint| joint.is_finite()),
                "frame {frame}"
            );
        }
    }

    /// Lets things happen, and runs a frame.
    fn advance(&mut self, frame: usize) {
        for _ in 0..self.random.usize(..4) {
            self.happen();
        }
        let sharing = [
            PoseSharing::Off,
            PoseSharing::Lossless,
            PoseSharing::Steps(10.0),
        ][frame / 40 % 3];
        self.app.world().insert_resource(sharing);
        let dt = self.random.f64() * 0.1;
        self.app.update(dt);
        self.check(frame);
        let app = &self.app;
        self.characters.retain(|&entity| app.is_alive(entity));
    }

    /// What became of every character in the last frame: its pose and place, to the bit, and what was heard of it.
    fn seen(&mut self) -> Vec<Seen> {
        let heard = std::mem::take(&mut self.app.world().resource_mut::<Heard>().observed);
        let world = self.app.world();
        let of = |entity: &Entity| Seen {
            joints: world
                .get::<ModelPose>(*entity)
                .map(|pose| bits(&pose.joints)),
            place: world
                .get::<GlobalTransform>(*entity)
                .map(|place| bits(&[place.affine()])),
            heard: heard
                .iter()
                .filter(|fact| fact.entity == *entity)
                .map(|fact| (fact.word.clone(), fact.clip.clone()))
                .collect(),
        };
        self.characters.iter().map(of).collect()
    }
}

#[derive(Debug, PartialEq)]
struct Seen {
    joints: Option<Vec<[u32; 12]>>,
    place: Option<Vec<[u32; 12]>>,
    heard: Vec<(String, String)>,
}

/// Puts the systems of a schedule into one of the orders that it allows, chosen at random.
#[derive(Debug)]
struct Shuffle(Rng);

impl ScheduleBuildPass for Shuffle {
    type EdgeOptions = ();

    fn add_dependency(&mut self, _: NodeId, _: NodeId, _: Option<&()>) {}

    fn collapse_set(
        &mut self,
        _: SystemSetKey,
        _: &IndexSet<SystemKey, FixedHasher>,
        _: &DiGraph<NodeId>,
    ) -> impl Iterator<Item = (NodeId, NodeId)> {
        std::iter::empty()
    }

    fn build(
        &mut self,
        _: &mut World,
        _: &mut ScheduleGraph,
        mut dependencies: FlattenedDependencies<'_>,
    ) -> Result<(), ScheduleBuildError> {
        let graph = dependencies.graph();
        let mut waits: HashMap<SystemKey, usize> = graph.nodes().map(|node| (node, 0)).collect();
        for (_, to) in graph.all_edges() {
            *waits.entry(to).or_default() += 1;
        }
        let mut ready: Vec<SystemKey> = graph.nodes().filter(|node| waits[node] == 0).collect();
        let mut order = Vec::new();
        while !ready.is_empty() {
            let next = ready.swap_remove(self.0.usize(..ready.len()));
            order.push(next);
            for to in graph.neighbors(next) {
                let left = waits.entry(to).or_default();
                *left -= 1;
                if *left == 0 {
                    ready.push(to);
                }
            }
        }
        for pair in order.windows(2) {
            dependencies.add_edge(pair[0], pair[1]);
        }
        Ok(())
    }
}

fn shuffle(world: &mut World, order: u64) {
    let mut schedules = world.resource_mut::<Schedules>();
    for (_, schedule) in schedules.iter_mut() {
        schedule.add_build_pass(Shuffle(Rng::with_seed(order)));
        // So that it is built again.
        schedule.add_systems(|| ());
    }
}

#[test]
fn whatever_happens_to_characters_the_app_goes_on_and_leaves_nothing_behind() {
    for (seed, in_view) in [(1, true), (2, false), (3, true)] {
        let mut life = Life::new(seed, in_view);
        for frame in 0..FRAMES {
            life.advance(frame);
            if frame % 20 == 0 {
                let ray = Ray3d::new(Vec3::new(0.1, 0.5, 5.0), Dir3::NEG_Z);
                life.app
                    .world()
                    .run_system_once(move |ray_cast: CharacterRayCast| ray_cast.pick(ray))
                    .unwrap();
            }
        }
        // Who is spawned after all that is posed as in an empty world.
        let asset = {
            let character = build(life.app.world(), chain(&clips()), &manifest());
            life.app
                .world()
                .resource_mut::<Assets<Character>>()
                .add(character)
        };
        life.app.world().insert_resource(PoseSharing::Off);
        let calm = life.app.spawn(&asset, "idle");
        life.app
            .world()
            .entity_mut(calm)
            .insert(PoseOverrides::default());
        life.app.update(1.5);
        let hand = life.app.world().get::<ModelPose>(calm).unwrap().joints[2].translation;
        assert!(
            hand.abs_diff_eq(Vec3::new(1.5, 2.0, 0.75).into(), 1e-5),
            "{hand}"
        );
        for entity in life
            .characters
            .clone()
            .into_iter()
            .chain(life.carried.clone())
            .chain([calm])
        {
            if life.app.is_alive(entity) {
                life.app.world().despawn(entity);
            }
        }
        life.app.update(0.1);
        let world = life.app.world();
        assert_eq!(world.query::<&PartOf>().iter(world).count(), 0);
        assert_eq!(world.query::<&AttachedTo>().iter(world).count(), 0);
    }
}

/// `MARIONETTE_ORDERS=100` tries more orders.
#[test]
fn the_order_of_systems_that_nothing_orders_makes_no_difference() {
    let orders = std::env::var("MARIONETTE_ORDERS").map_or(4, |n| n.parse().unwrap());
    let mut seen_orders = HashSet::new();
    let mut live = |order: u64| -> Vec<Vec<Seen>> {
        let mut life = Life::new(4, true);
        let note = |who: u8| move |mut order: ResMut<Order>| order.0.push(who);
        life.app.app.init_resource::<Order>();
        life.app
            .app
            .add_systems(Update, (note(1), note(2), note(3), note(4)));
        if order > 0 {
            shuffle(life.app.world(), order);
        }
        let frames = 0..FRAMES / 2;
        let history = frames.map(|frame| {
            life.advance(frame);
            life.seen()
        });
        let history = history.collect();
        seen_orders.insert(life.app.world().resource::<Order>().0[..4].to_vec());
        history
    };
    let usual = live(0);
    assert!(usual.iter().flatten().any(|seen| !seen.heard.is_empty()));
    for order in 1..=orders {
        for (frame, (usual, shuffled)) in usual.iter().zip(live(order)).enumerate() {
            assert_eq!(*usual, shuffled, "order {order}, frame {frame}");
        }
    }
    assert!(seen_orders.len() > 1, "nothing was shuffled");
}

/// The order in which systems ran that nothing orders.
#[derive(Resource, Default)]
struct Order(Vec<u8>);
