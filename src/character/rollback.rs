//! Events of a past that is played again. See decision 063.

use crate::controller::PlaybackEvent;
use bevy::prelude::*;
use std::collections::VecDeque;

/// Lets a game hear each event of a character once, though rollback plays its past again.
///
/// An optional component of a character. When the character [returns](super::WholeCharacterItem::restore) to a snapshot, what was
/// heard since then is in doubt. What happens again, at the same time and with the same name, isn't triggered again; what doesn't
/// is taken back by an [`AnimationRevoked`], as soon as its time has passed.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::{AnimationRevoked, RollbackEvents}, controller::PlaybackEvent, prelude::*};
/// # let mut app = App::new();
/// app.register_required_components::<SkinnedCharacter, RollbackEvents>()
///     .add_observer(|hit: On<AnimationCallback>| info!("{} strikes", hit.entity))
///     .add_observer(|revoked: On<AnimationRevoked>| {
///         if let PlaybackEvent::Callback(callback) = &revoked.event {
///             info!("{} has not come to `{}` after all", revoked.entity, callback.name);
///         }
///     });
/// ```
///
/// Events are compared by what happened, when, and to which clip or state; other tracks have other numbers the second time.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct RollbackEvents {
    /// Seconds of the controller's time for which events are remembered: at least as far as the game rolls back. 1 by default.
    pub seconds: f64,
    /// In the order in which they were heard.
    #[reflect(ignore)]
    heard: VecDeque<Heard>,
}

/// An event that was triggered.
#[derive(Clone, Debug)]
struct Heard {
    event: PlaybackEvent,
    /// The controller's time at the end of the advance in which it happened.
    until: f64,
    /// `true` if the past in which it happened was given up, and it hasn't happened again.
    in_doubt: bool,
}

impl Default for RollbackEvents {
    fn default() -> Self {
        Self {
            seconds: 1.0,
            heard: VecDeque::new(),
        }
    }
}

/// An event of a character that the game has heard didn't happen after all: the past was played again with other inputs.
///
/// Only of characters with [`RollbackEvents`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::AnimationRevoked;
/// # let mut app = App::new();
/// app.add_observer(|revoked: On<AnimationRevoked>| info!("{:?} did not happen", revoked.event));
/// ```
#[derive(EntityEvent, Message, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct AnimationRevoked {
    /// The character.
    pub entity: Entity,
    /// What was heard. Its track may no longer exist.
    pub event: PlaybackEvent,
}

impl RollbackEvents {
    /// Puts in doubt what happened after a time.
    pub(super) fn return_to(&mut self, time: f64) {
        for heard in &mut self.heard {
            heard.in_doubt |= heard.until > time;
        }
    }

    /// Notes an event of an advance that ends at a time. Returns `false` if the game has heard it already.
    pub(super) fn hear(&mut self, event: &PlaybackEvent, until: f64) -> bool {
        let is_same = |heard: &&mut Heard| heard.in_doubt && heard.event.is_again(event);
        if let Some(heard) = self.heard.iter_mut().find(is_same) {
            (heard.in_doubt, heard.until) = (false, until);
            return false;
        }
        self.heard.push_back(Heard {
            event: event.clone(),
            until,
            in_doubt: false,
        });
        true
    }

    /// Returns what was heard and should have happened again by a time, but hasn't. Forgets what is too old.
    pub(super) fn revoked(&mut self, now: f64) -> impl Iterator<Item = PlaybackEvent> + use<> {
        let oldest = now - self.seconds;
        let mut revoked = Vec::new();
        self.heard.retain(|heard| {
            let is_over = heard.in_doubt && heard.until <= now;
            if is_over {
                revoked.push(heard.event.clone());
            }
            // What is in doubt is still to be judged.
            !is_over && (heard.in_doubt || heard.until >= oldest)
        });
        revoked.into_iter()
    }
}
