//! Feet that adapt to the ground: the heights that the game provides, and the places where it is
//! asked for them.

use super::{
    super::{
        components::{CharacterParts, SkinnedCharacter, Teleported},
        detail::Detail,
        names::name_of,
        threads::batches,
        worn::WornBy,
    },
    places::Places,
    pose::RigPose,
};
use crate::{
    asset::Character,
    controller::{AnimationController, BlendMode},
    rig::{Feet, FootPlan, GroundHit, GroundRay, Landing, RigState},
};
use bevy::{ecs::name::NameOrEntity, prelude::*};

/// Makes a character's legs and hips adapt to uneven ground, and locks its feet to the ground while
/// they are in contact with it in the clips.
///
/// The legs are those of the manifest's `feet`. The game finds the ground in
/// [`CharacterSystems::ProbeGround`](super::super::CharacterSystems::ProbeGround), by answering the
/// rays of [`GroundProbe`]. Meshes with a [`Ground`](super::Ground) component are tested for you.
/// Without any ground, clips play as they are.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::Ground, prelude::*};
/// # fn setup(mut commands: Commands, character: Entity, terrain: Entity) {
/// commands.entity(character).insert(FootPlacement::default());
/// commands.entity(terrain).insert(Ground);
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(RigState, GroundProbe)]
pub struct FootPlacement {
    /// The share of the change that is made, 0..=1. Fade it to switch foot placement on and off.
    pub weight: f32,
}

impl Default for FootPlacement {
    fn default() -> Self {
        Self { weight: 1.0 }
    }
}

/// Asks for the ground under a character's feet, again in each frame.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::GroundProbe, prelude::*, rig::GroundHit};
/// # #[derive(Resource)] struct Hills;
/// # impl Hills { fn height(&self, _: Vec3) -> f32 { 0.0 } fn normal(&self, _: Vec3) -> Vec3 { Vec3::Y } }
/// fn answer(hills: Res<Hills>, mut probes: Query<&mut GroundProbe>) {
///     for mut probe in &mut probes {
///         probe.answer(|ray| {
///             let point = ray.origin.with_y(hills.height(ray.origin));
///             Some(GroundHit { point, normal: hills.normal(point) })
///         });
///     }
/// }
/// # let mut app = App::new();
/// app.add_systems(PostUpdate, answer.in_set(CharacterSystems::ProbeGround));
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct GroundProbe {
    /// The rays of each leg.
    #[reflect(ignore)]
    rays: Vec<[Option<GroundRay>; 3]>,
    #[reflect(ignore)]
    pub(super) hits: Vec<[Option<GroundHit>; 3]>,
    #[reflect(ignore)]
    pub(super) plans: Vec<FootPlan>,
    /// Version of the asset that was last seen without legs.
    #[reflect(ignore)]
    warned: u64,
}

impl GroundProbe {
    /// Calls `hit` with every ray. Of several answers to a ray, the nearest counts; those beyond its end don't.
    pub fn answer(&mut self, mut hit: impl FnMut(&GroundRay) -> Option<GroundHit>) {
        let hits = self.hits.iter_mut().flatten();
        for (ray, slot) in self.rays.iter().flatten().zip(hits) {
            let Some(ray) = ray else { continue };
            // Measured along the ray, so the answer may be any point with that height.
            let far = |hit: &GroundHit| ray.direction.dot(hit.point - ray.origin);
            if let Some(hit) = hit(ray)
                && (0.0..=ray.length).contains(&far(&hit))
                && slot.as_ref().is_none_or(|before| far(&hit) < far(before))
            {
                *slot = Some(hit);
            }
        }
    }

    /// Returns the rays that look for the ground in this frame.
    pub fn rays(&self) -> impl Iterator<Item = &GroundRay> {
        self.rays.iter().flatten().flatten()
    }

    /// Returns the ground that was found under the feet, each with the index of its leg.
    pub fn hits(&self) -> impl Iterator<Item = (usize, &GroundHit)> {
        self.hits
            .iter()
            .enumerate()
            .flat_map(|(leg, hits)| hits.iter().flatten().map(move |hit| (leg, hit)))
    }

    fn clear(&mut self) {
        self.rays.clear();
        self.hits.clear();
        self.plans.clear();
    }
}

/// Places the rays of all probes.
pub(in crate::character) fn place_rays(
    assets: Res<Assets<Character>>,
    places: Places,
    names: Query<NameOrEntity>,
    mut characters: Query<
        (
            Entity,
            &SkinnedCharacter,
            &CharacterParts,
            &AnimationController,
            &RigPose,
            &mut RigState,
            &mut GroundProbe,
            &FootPlacement,
            Has<Teleported>,
            Option<&Detail>,
        ),
        Without<WornBy>,
    >,
) {
    characters.par_iter_mut().batching_strategy(batches()).for_each(
        |(entity, handle, parts, controller, pose, mut state, mut probe, placement, is_teleported, detail)| {
            let probe = probe.bypass_change_detection();
            probe.clear();
            // While an asset is being replaced, legs and joints may be those of different versions.
            let Some(character) = assets.get(handle.id()).filter(|asset| parts.version == Some(asset.version)) else {
                return;
            };
            let Some(feet) = &character.feet else {
                // Once per version of the asset, not in every frame.
                if probe.warned != character.version {
                    probe.warned = character.version;
                    let who = name_of(&names, entity);
                    warn!("the feet of {who} don't adapt to the ground: its manifest has no `feet`; add it");
                }
                return;
            };
            let state = state.bypass_change_detection();
            if is_teleported {
                // Now, because the rays depend on it.
                state.feet.clear();
            }
            let is_seen = detail.is_none_or(|detail| detail.feet > 0.0);
            let is_on = is_seen && placement.weight > 0.0 && pose.joints.len() == character.skeleton.len();
            let Some(world) = places.world_of(entity, |_| None).filter(|_| is_on) else { return };
            for leg in 0..feet.len() {
                let plan = plan(controller, character, feet, leg);
                probe.plans.push(plan);
                probe.rays.push(feet.rays(leg, &plan, &world, &state.feet, &pose.joints));
                // One slot for the answer to each ray.
                probe.hits.push([None; 3]);
            }
        },
    );
}

/// Returns the combined plan of all active clips for a foot: each by its weight at the foot.
fn plan(
    controller: &AnimationController,
    character: &Character,
    feet: &Feet,
    leg: usize,
) -> FootPlan {
    let Some([.., tip]) = feet.joints(leg) else {
        return FootPlan::default();
    };
    let (mut planted, mut sum, mut heaviest) = (0.0, 0.0, 0.0);
    let mut landing = None;
    for layer in controller.layers(character) {
        // Differences don't say where a foot stands.
        let is_additive = layer.mode == BlendMode::Additive
            || character
                .clips
                .get(layer.clip)
                .is_some_and(|clip| clip.additive);
        let Some(plants) = character.plants.get(layer.clip).filter(|_| !is_additive) else {
            continue;
        };
        // The mask's weight at the foot, because that is the joint that the plan is about.
        let reach = layer.mask.map_or(1.0, |mask| {
            character
                .masks
                .get(&**mask)
                .map_or(0.0, |m| m.get(usize::from(tip)))
        });
        let weight = layer.weight * reach;
        if weight > 0.0 {
            let plan = plants.plan(leg, layer.time);
            planted += plan.weight * weight;
            sum += weight;
            // Times of different clips don't mix, so the landing is that of the clip with the
            // largest weight.
            if weight > heaviest {
                heaviest = weight;
                let speed = layer.speed as f32;
                let at_speed = |landing: Landing| Landing {
                    // The clip's time runs at the track's speed.
                    seconds: landing.seconds / speed,
                    ..landing
                };
                landing = plan.landing.filter(|_| speed > 0.0).map(at_speed);
            }
        }
    }
    FootPlan {
        weight: if sum > 0.0 { planted / sum } else { 0.0 },
        landing,
    }
}
