//! Solving rigs: in parallel, except for those that are attached to each other.

use super::{
    super::{
        attachments::{AtSocket, Attachments, ResolvedSocket, transform_of},
        components::{CharacterParts, ModelPose, SkinnedCharacter, Teleported},
        detail::Detail,
        tape_head::TapeHead,
        threads::batches,
        worn::WornBy,
    },
    feet::{FootPlacement, GroundProbe},
    goal::{IkGoals, IkLimb, IkWeight, ResolvedGoal},
    look_at::{LookAt, LookTarget, ResolvedLook},
    places::Places,
    pose::RigPose,
    springs::{SpringBones, SpringGravity},
};
use crate::{
    asset::Character,
    pose::Scratch,
    rig::{
        ChainIk, GoalAction, Ik, LimbJoints, LookAction, RigAction, RigScratch, RigState,
        SpringAction, TwoBoneIk, Wind,
    },
};
use bevy::{
    ecs::{entity::EntityHashSet, query::QueryData, system::SystemParam},
    prelude::*,
    utils::Parallel,
};
use glam::{Affine3A, Quat};

/// The components that a rig acts on.
#[derive(QueryData)]
#[query_data(mutable)]
pub(in crate::character) struct Rigged {
    entity: Entity,
    handle: &'static SkinnedCharacter,
    parts: Ref<'static, CharacterParts>,
    state: &'static mut RigState,
    start: &'static mut RigPose,
    pose: &'static mut ModelPose,
    goals: Option<&'static IkGoals>,
    look: Option<(&'static LookAt, &'static ResolvedLook)>,
    springs: Option<&'static SpringBones>,
    teleported: Has<Teleported>,
    tape: Option<&'static mut TapeHead>,
    feet: Option<(&'static FootPlacement, &'static GroundProbe)>,
    detail: Option<&'static Detail>,
}

/// The inputs of rigs from the rest of the world.
#[derive(SystemParam)]
pub(in crate::character) struct Surroundings<'w, 's> {
    time: Res<'w, Time>,
    wind: Res<'w, Wind>,
    gravity: Res<'w, SpringGravity>,
    assets: Res<'w, Assets<Character>>,
    places: Places<'w, 's>,
    goals: Query<'w, 's, (&'static IkLimb, &'static ResolvedGoal, &'static IkWeight)>,
    rigged: Query<'w, 's, (), (With<RigState>, Without<WornBy>)>,
}

/// The working memory of one thread.
#[derive(Default)]
pub(in crate::character) struct ThreadMemory {
    pose: Scratch,
    rig: RigScratch,
    action: RigAction,
    /// Characters that hang from others with a rig.
    dependent: Vec<Entity>,
}

/// Lets every rig act.
pub(in crate::character) fn solve(
    world: Surroundings,
    mut rigs: Query<Rigged, Without<WornBy>>,
    mut threads: Local<Parallel<ThreadMemory>>,
    mut dependent: Local<Vec<Entity>>,
) {
    let all_threads = &mut *threads;
    rigs.par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
            || all_threads.borrow_local_mut(),
            |thread, mut rig| {
                // In the past, the rig starts from the recorded state and gets the recorded inputs.
                if let Some(shown) = rig.tape.as_ref().and_then(|tape| tape.shown.as_deref()) {
                    rig.state.bypass_change_detection().clone_from(&shown.0);
                    thread.action.clone_from(&shown.1);
                    world.act(&mut rig, thread);
                    return;
                }
                let detail = rig.detail.copied().unwrap_or(Detail::FULL);
                // At rest: small on screen, it stays as it was drawn.
                if detail.rests {
                    return;
                }
                // Its goals may hang from joints that another rig is still about to move.
                if world
                    .waits_for(rig.entity, rig.goals, rig.look.map(|look| look.0))
                    .next()
                    .is_some()
                {
                    thread.dependent.push(rig.entity);
                    return;
                }
                let (own, joints) = (rig.entity, rig.start.joints());
                let (goals, look) = (rig.goals, rig.look);
                let found = world.aim(own, goals, look, &detail, &mut thread.action, |of| {
                    (of == own).then_some(joints)
                });
                if found {
                    world.complete(&rig, &mut thread.action);
                    world.act(&mut rig, thread);
                }
            },
        );
    for thread in threads.iter_mut() {
        dependent.append(&mut thread.dependent);
    }
    if !dependent.is_empty() {
        // The order in which threads found them is chance.
        dependent.sort_unstable();
        solve_in_order(
            &world,
            &mut rigs,
            threads.borrow_local_mut(),
            &mut dependent,
        );
    }
}

/// Solves rigs that wait for others, each after those it waits for.
fn solve_in_order(
    world: &Surroundings,
    rigs: &mut Query<Rigged, Without<WornBy>>,
    mut thread: impl std::ops::DerefMut<Target = ThreadMemory>,
    dependent: &mut Vec<Entity>,
) {
    // All rigs that aren't in this list are solved already.
    let mut waiting: EntityHashSet = dependent.iter().copied().collect();
    while !dependent.is_empty() {
        let is_ready = |&entity: &Entity| {
            rigs.get(entity).is_ok_and(|rig| {
                !world
                    .waits_for(entity, rig.goals, rig.look.map(|look| look.0))
                    .any(|other| waiting.contains(&other))
            })
        };
        // In a ring, none is ready, so the first one starts.
        let next = dependent.remove(dependent.iter().position(is_ready).unwrap_or(0));
        waiting.remove(&next);
        let Ok(rig) = rigs.get(next) else { continue };
        let pose_of = |of| {
            let other = rigs.get(of).ok()?;
            // A rig in a ring may not be solved yet. Then its clips have to do.
            let is_solved = other.start.is_solved;
            Some(if is_solved {
                &other.pose.joints[..]
            } else {
                other.start.joints()
            })
        };
        let detail = rig.detail.copied().unwrap_or(Detail::FULL);
        if world.aim(
            next,
            rig.goals,
            rig.look,
            &detail,
            &mut thread.action,
            pose_of,
        ) && let Ok(mut rig) = rigs.get_mut(next)
        {
            world.complete(&rig, &mut thread.action);
            world.act(&mut rig, &mut thread);
        }
    }
}

impl Surroundings<'_, '_> {
    /// The other characters with a rig that must be solved before this one, because its goals or
    /// the character itself are attached to them.
    fn waits_for(
        &self,
        entity: Entity,
        goals: Option<&IkGoals>,
        look: Option<&LookAt>,
    ) -> impl Iterator<Item = Entity> {
        let targets = goals
            .into_iter()
            .flat_map(|goals| goals.iter())
            .flat_map(|goal| {
                // The pole may hang from another character, too.
                let pole = self.goals.get(goal).ok().and_then(|(goal, ..)| goal.pole);
                [Some(goal), pole].into_iter().flatten()
            });
        let seen = look.and_then(|look| match look.target {
            LookTarget::Entity(target) => Some(target),
            LookTarget::Nothing | LookTarget::Point(_) => None,
        });
        let all = [entity].into_iter().chain(targets).chain(seen);
        all.flat_map(|target| self.places.upward(target))
            .filter(move |&above| above != entity && self.rigged.contains(above))
    }

    /// Collects the targets of a rig. Returns `false` if the character has no place in the world.
    fn aim<'p>(
        &self,
        entity: Entity,
        goals: Option<&IkGoals>,
        look: Option<(&LookAt, &ResolvedLook)>,
        detail: &Detail,
        action: &mut RigAction,
        pose_of: impl Fn(Entity) -> Option<&'p [Affine3A]>,
    ) -> bool {
        action.goals.clear();
        action.look = None;
        let Some(character) = self.places.world_of(entity, &pose_of) else {
            return false;
        };
        // Solvers work in the character's space.
        let to_character = character.inverse();
        // A character that is scaled to zero has no inverse.
        if !to_character.is_finite() {
            return false;
        }
        action.world = character;
        // Entities attached to joints are placed by this frame's poses, which their transforms don't show
        // yet.
        let place = |entity| Some(to_character * self.places.world_of(entity, &pose_of)?);
        if let Some((look, resolved)) = look
            && resolved.chain.is_some()
            && detail.look_at > 0.0
        {
            let target = match look.target {
                LookTarget::Nothing => None,
                LookTarget::Point(point) => Some(to_character.transform_point3(point)),
                LookTarget::Entity(target) => place(target).map(|place| place.translation.into()),
            };
            let chain = look.joints.as_ref().and(resolved.chain.clone());
            action.look = Some(LookAction {
                target,
                weight: look.weight * detail.look_at,
                chain,
            });
        }
        // Goals that are too small to see are left out, and the limb follows its clips.
        let goals = goals.filter(|_| detail.ik > 0.0);
        for goal in goals.into_iter().flat_map(|goals| goals.iter()) {
            let Ok((of, resolved, weight)) = self.goals.get(goal) else {
                continue;
            };
            let (Some(limb), Some(goal)) = (resolved.limb, place(goal)) else {
                continue;
            };
            let target = goal.translation.into();
            let pole = of.pole.and_then(place).map(|pole| pole.translation.into());
            let tip_rotation = resolved.rotate_tip.then(|| rotation_of(&goal));
            let weight = weight.eased() * detail.ik;
            let ik = match limb {
                LimbJoints::TwoBone(joints) => {
                    let pole_angle = resolved.pole_angle;
                    Ik::TwoBone(TwoBoneIk {
                        pole,
                        pole_angle,
                        tip_rotation,
                        weight,
                        ..TwoBoneIk::new(joints, target)
                    })
                }
                LimbJoints::Chain { tip, bones } => Ik::Chain(ChainIk {
                    pole,
                    tip_rotation,
                    weight,
                    ..ChainIk::new(tip, bones, target)
                }),
            };
            action.goals.push(GoalAction {
                ik,
                turn_limit: resolved.turn_limit,
            });
        }
        true
    }

    /// Adds the inputs that don't depend on other rigs.
    fn complete(&self, rig: &RiggedItem, action: &mut RigAction) {
        let detail = rig.detail.copied().unwrap_or(Detail::FULL);
        action.dt = self.time.delta();
        // Parts change when the character appears, and when its asset is another.
        action.teleported = rig.teleported || rig.parts.is_changed() || detail.returns;
        match rig.feet.filter(|_| detail.feet > 0.0) {
            None => action.feet = None,
            Some((placement, probe)) => {
                let feet = action.feet.get_or_insert_default();
                feet.weight = placement.weight * detail.feet;
                feet.plans.clone_from(&probe.plans);
                feet.ground.clone_from(&probe.hits);
            }
        }
        let springs = rig.springs.filter(|_| detail.springs > 0.0);
        action.springs = springs.map(|bones| SpringAction {
            weight: bones.weight * detail.springs,
            wind: self.wind.at(
                action.world.translation.into(),
                self.time.elapsed_secs_f64(),
            ),
            gravity: self.gravity.0,
        });
    }

    /// Turns and rotates the joints.
    fn act(&self, rig: &mut RiggedItem, thread: &mut ThreadMemory) {
        let Some(character) = self.assets.get(rig.handle.id()) else {
            return;
        };
        let joints = character.skeleton.len();
        // The asset was reloaded after the clips were evaluated.
        if rig.start.joints.len() != joints {
            return;
        }
        if let Some(tape) = &mut rig.tape {
            tape.action = Some(Box::new(thread.action.clone()));
        }
        thread.pose.set(&rig.start.local, &rig.start.joints);
        let mut pose = thread
            .pose
            .pose_mut(&character.skeleton)
            .with_facts(rig.start.facts.clone());
        // Turns are internal to the rig, like the time of a controller, so they don't count as
        // changes.
        let state = rig.state.bypass_change_detection();
        thread
            .action
            .run(&character.rig_joints(), state, &mut thread.rig, &mut pose);
        rig.start.is_solved = true;
        // Compared first, so that a pose that doesn't change isn't marked as changed.
        if rig.pose.joints != thread.pose.model() {
            rig.pose.joints.clear();
            rig.pose.joints.extend_from_slice(thread.pose.model());
        }
        rig.pose.bypass_change_detection().stamp = rig.start.stamp.rigged();
    }
}

fn rotation_of(place: &Affine3A) -> Quat {
    place.to_scale_rotation_translation().1
}

/// Sets the transforms of things attached to characters with a rig, and to worn characters. It does so in every frame, because
/// the pose without the rig has set them in every frame.
pub(in crate::character) fn attach(
    rigs: Query<(&ModelPose, &Attachments), Or<(With<RigState>, With<WornBy>)>>,
    mut attached: Query<(&AtSocket, &ResolvedSocket, &mut Transform)>,
) {
    for (pose, attachments) in &rigs {
        for entity in attachments.iter() {
            let Ok((at, socket, mut transform)) = attached.get_mut(entity) else {
                continue;
            };
            if let Some(place) = socket.place(at, &pose.joints) {
                transform.set_if_neq(transform_of(place));
            }
        }
    }
}
