//! Goals that limbs reach for.

use super::{
    super::{
        components::{CharacterParts, ModelPose, SkinnedCharacter},
        names::{hint, name_of},
    },
    look_at::optional_entity,
    pose::RigPose,
};
use crate::{
    asset::Character,
    rig::{GoalAction, Limb, LimbJoints, PoleAngle, RigState},
};
use bevy::{
    ecs::{
        name::NameOrEntity,
        template::{
            EntityTemplate, FromTemplate, SpecializeFromTemplate, Template, TemplateContext,
        },
    },
    prelude::*,
};
use std::time::Duration;

/// Makes a limb of a character reach for this entity.
///
/// The entity is like any other: give it a `Transform`, move it, make it a child of something, or attach it to a joint
/// of another character ([`AttachedTo`](super::super::AttachedTo)) to put a hand on its shoulder. The limb follows it
/// in the same frame. If it is too far away, the limb points straight at it. Despawn it, or fade
/// its [`IkWeight`], to let the limb follow its clips again.
///
/// When a goal appears, jumps or disappears, the limb's joints turn only as fast as the character
/// moves elsewhere: see [`turn_limit`](IkLimb::turn_limit). A goal that exists when the character
/// appears is reached from the first frame on.
///
/// The limb and its settings are in [`IkLimb`], which can be changed at any time.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::IkLimb, prelude::*};
/// # fn reach(mut commands: Commands, character: Entity, elbow: Entity) {
/// commands.spawn((
///     IkGoal(character),
///     IkLimb::two_bone("upper_arm.R", "hand.R").pole(elbow).rotate_tip(true),
///     Transform::from_xyz(0.4, 1.2, 0.5),
/// ));
/// // A limb that the manifest describes under `goals`:
/// commands.spawn((IkGoal(character), IkLimb::named("left_hand"), Transform::from_xyz(-0.4, 1.2, 0.5)));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect, FromTemplate)]
#[reflect(Component, Clone, PartialEq)]
#[relationship(relationship_target = IkGoals)]
#[require(IkLimb, Transform, IkWeight, ResolvedGoal)]
pub struct IkGoal(#[entities] pub Entity);

/// The limb that reaches for an [`IkGoal`], and its settings.
///
/// ```
/// # use bevy_marionette::{character::IkLimb, rig::PoleAngle};
/// let arm = IkLimb::two_bone("upper_arm.R", "hand.R").rotate_tip(true).turn_limit(2.0);
/// let tail = IkLimb::chain("tail.1", "tail.8");
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct IkLimb {
    /// The joints that reach for the entity.
    pub limb: GoalLimb,
    /// An entity that the limb bends toward; `None` if it keeps bending the way it does in the pose.
    #[entities]
    pub pole: Option<Entity>,
    /// The angle at which the limb faces its pole, in radians; `None` takes that of the manifest,
    /// or exactly toward the pole. Has no effect on chains.
    pub pole_angle: Option<PoleAngle>,
    /// `true` if the tip takes this entity's rotation; `None` takes the setting of the manifest, or
    /// `false`.
    pub rotate_tip: Option<bool>,
    /// The largest speed of the limb's joints when the goal comes, goes or jumps, as a multiple of
    /// the fastest they turn in any clip, at least 1; `None` takes that of the manifest, or 1.4.
    /// With [`f32::INFINITY`], the limb reaches the goal at once, wherever it is.
    pub turn_limit: Option<f32>,
}

/// An [`IkLimb`] in `bsn!`, where the pole is an entity of the scene: `IkLimb { pole: #Elbow }`.
#[derive(Default)]
pub struct IkLimbTemplate {
    /// See [`IkLimb::limb`].
    pub limb: GoalLimb,
    /// The entity that the limb bends toward; [`EntityTemplate::None`] for none.
    pub pole: EntityTemplate,
    /// See [`IkLimb::pole_angle`].
    pub pole_angle: Option<PoleAngle>,
    /// See [`IkLimb::rotate_tip`].
    pub rotate_tip: Option<bool>,
    /// See [`IkLimb::turn_limit`].
    pub turn_limit: Option<f32>,
}

impl FromTemplate for IkLimb {
    type Template = IkLimbTemplate;
}

impl Template for IkLimbTemplate {
    type Output = IkLimb;

    fn build_template(&self, context: &mut TemplateContext) -> Result<IkLimb> {
        Ok(IkLimb {
            limb: self.limb.clone(),
            pole: optional_entity(&self.pole, context)?,
            pole_angle: self.pole_angle,
            rotate_tip: self.rotate_tip,
            turn_limit: self.turn_limit,
        })
    }

    fn clone_template(&self) -> Self {
        Self {
            limb: self.limb.clone(),
            ..*self
        }
    }
}

// A type with a default is its own template otherwise.
impl Unpin for IkLimb where for<'a> [()]: SpecializeFromTemplate {}

/// The joints of an [`IkLimb`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::{GoalLimb, IkLimb};
/// # #[derive(Component)]
/// # struct DoorHandle;
/// /// Opens the door with the other hand.
/// fn change_hands(mut door: Single<&mut IkLimb, With<DoorHandle>>) {
///     door.limb = GoalLimb::Named("left_hand".into());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Reflect)]
pub enum GoalLimb {
    /// A limb that the manifest describes under `goals`.
    Named(String),
    /// A limb by the names of its joints.
    Joints(Limb),
}

/// On a character: the goals its limbs reach for. Maintained by [`IkGoal`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::{IkGoals, IkWeight};
/// # use std::time::Duration;
/// /// Makes a character let go of all that its limbs reach for.
/// fn let_go(character: Entity, reaching: &Query<&IkGoals>, weights: &mut Query<&mut IkWeight>) {
///     for goal in reaching.get(character).iter().flat_map(|goals| goals.iter()) {
///         if let Ok(mut weight) = weights.get_mut(goal) {
///             weight.fade_to(0.0, Duration::from_millis(300));
///         }
///     }
/// }
/// ```
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[relationship_target(relationship = IkGoal)]
#[require(ModelPose, RigState, RigPose)]
pub struct IkGoals(Vec<Entity>);

/// The share of the way that a limb goes from its clips to its [`IkGoal`]: 0 is none, 1 is all of
/// it.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::IkWeight;
/// # use std::time::Duration;
/// fn let_go(mut goals: Query<&mut IkWeight>) {
///     for mut weight in &mut goals {
///         weight.fade_to(0.0, Duration::from_millis(300));
///     }
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct IkWeight {
    /// The weight now, 0..=1.
    pub weight: f32,
    /// The weight it fades to, 0..=1.
    pub target: f32,
    /// The speed of the fade, per second.
    pub rate: f32,
}

impl Default for IkWeight {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl IkWeight {
    /// Creates a weight that stays as it is.
    pub const fn new(weight: f32) -> Self {
        Self {
            weight,
            target: weight,
            rate: 0.0,
        }
    }

    /// Fades to a weight, 0..=1, over a time from now; zero sets it at once. A weight that is not finite is ignored.
    pub fn fade_to(&mut self, target: f32, time: Duration) {
        if !target.is_finite() {
            return;
        }
        let seconds = time.as_secs_f32();
        // At this rate, the fade ends in time wherever the weight is now.
        self.target = target;
        if seconds > 0.0 {
            self.rate = (target - self.weight).abs() / seconds;
        } else {
            self.weight = target;
        }
    }

    /// The weight with a soft start and end of a fade.
    pub(super) fn eased(self) -> f32 {
        let weight = self.weight.clamp(0.0, 1.0);
        weight * weight * (3.0 - 2.0 * weight)
    }
}

impl IkLimb {
    /// Creates a limb of two bones, from shoulder to hand or from hip to foot, by the names of its first and last
    /// joint.
    pub fn two_bone(root: impl Into<String>, tip: impl Into<String>) -> Self {
        Limb::two_bone(root, tip).into()
    }

    /// Creates a chain of any number of bones, by the names of its first and last joint.
    pub fn chain(root: impl Into<String>, tip: impl Into<String>) -> Self {
        Limb::chain(root, tip).into()
    }

    /// Creates a limb that the manifest describes under `goals`.
    pub fn named(name: impl Into<String>) -> Self {
        GoalLimb::Named(name.into()).into()
    }

    /// Bends the limb toward an entity.
    pub fn pole(self, pole: Entity) -> Self {
        Self {
            pole: Some(pole),
            ..self
        }
    }

    /// Sets how the limb faces its pole.
    pub fn pole_angle(self, angle: PoleAngle) -> Self {
        Self {
            pole_angle: Some(angle),
            ..self
        }
    }

    /// Sets whether the tip takes the goal's rotation.
    pub fn rotate_tip(self, rotate: bool) -> Self {
        Self {
            rotate_tip: Some(rotate),
            ..self
        }
    }

    /// Sets how fast the limb's joints turn at most.
    pub fn turn_limit(self, limit: f32) -> Self {
        Self {
            turn_limit: Some(limit),
            ..self
        }
    }
}

impl From<GoalLimb> for IkLimb {
    fn from(limb: GoalLimb) -> Self {
        Self {
            limb,
            ..Self::default()
        }
    }
}

impl From<Limb> for IkLimb {
    fn from(limb: Limb) -> Self {
        GoalLimb::Joints(limb).into()
    }
}

impl Default for GoalLimb {
    fn default() -> Self {
        Self::Named(String::new())
    }
}

/// A goal, looked up in one version of a character's asset.
#[derive(Component, Clone, Copy, Debug, Default)]
pub(in crate::character) struct ResolvedGoal {
    /// 0 until the first look-up; no asset has that version.
    version: u64,
    pub(super) limb: Option<LimbJoints>,
    pub(super) pole_angle: PoleAngle,
    pub(super) rotate_tip: bool,
    pub(super) turn_limit: f32,
}

/// Advances weights that fade.
pub(in crate::character) fn fade_weights(time: Res<Time>, mut weights: Query<&mut IkWeight>) {
    let dt = time.delta_secs();
    for mut fading in &mut weights {
        let IkWeight {
            weight,
            target,
            rate,
        } = *fading;
        // Most weights don't fade, and must not count as changed.
        if weight == target || rate <= 0.0 || dt <= 0.0 {
            continue;
        }
        let step = rate * dt;
        // Exactly there, so that the fade ends.
        fading.weight = if (target - weight).abs() <= step {
            target
        } else {
            weight + step.copysign(target - weight)
        };
    }
}

/// Looks up the joints of goals whose component or asset changed.
pub(in crate::character) fn resolve_goals(
    assets: Res<Assets<Character>>,
    characters: Query<(&SkinnedCharacter, &CharacterParts)>,
    mut goals: Query<(Ref<IkGoal>, Ref<IkLimb>, &mut ResolvedGoal)>,
    names: Query<NameOrEntity>,
) {
    for (goal, limb, mut resolved) in &mut goals {
        let Ok((handle, parts)) = characters.get(goal.0) else {
            continue;
        };
        // A goal is looked up anew when it, its limb, or the character's asset has changed.
        if !goal.is_changed() && !limb.is_changed() && parts.version == Some(resolved.version) {
            continue;
        }
        let Some(character) = assets
            .get(handle.id())
            .filter(|asset| parts.version == Some(asset.version))
        else {
            continue;
        };
        *resolved = resolve(&limb, character, || name_of(&names, goal.0));
    }
}

fn resolve(goal: &IkLimb, character: &Character, who: impl Fn() -> String) -> ResolvedGoal {
    let entry = match &goal.limb {
        GoalLimb::Joints(_) => None,
        GoalLimb::Named(name) => {
            let entry = character.rig().goals.get(name);
            if entry.is_none() {
                let hint = hint(name, character.rig().goals.keys().map(String::as_str));
                warn!("cannot find goal `{name}` of {}: no such goal{hint}", who());
            }
            entry
        }
    };
    let limb = match &goal.limb {
        // A limb in code goes without the manifest.
        GoalLimb::Joints(limb) => Some(limb),
        GoalLimb::Named(_) => entry.map(|entry| &entry.limb),
    };
    let joints = limb.and_then(|limb| {
        let joints = limb.resolve(&character.skeleton);
        joints
            // The warning comes once per look-up, not in every frame.
            .inspect_err(|error| warn!("a goal of {} has no effect: {error}", who()))
            .ok()
    });
    ResolvedGoal {
        version: character.version,
        limb: joints,
        // Fields of the component go before those of the manifest.
        pole_angle: goal
            .pole_angle
            .or(entry.map(|entry| entry.pole_angle()))
            .unwrap_or_default(),
        rotate_tip: goal
            .rotate_tip
            .or(entry.map(|entry| entry.rotate_tip))
            .unwrap_or(false),
        turn_limit: goal
            .turn_limit
            .or(entry.map(|entry| entry.turn_limit))
            .unwrap_or(GoalAction::TURN_LIMIT),
    }
}
