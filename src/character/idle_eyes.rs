//! Eyes that blink and wander while nothing else happens.

use super::{components::SkinnedCharacter, morph_pose::forget};
use crate::{
    asset::Character,
    model::{MorphIndex, Morphs, OthersLeft, Procedural},
    pose::{MorphMode, MorphOverride},
    random,
    record::EyesNote,
};
use bevy::prelude::*;
use smallvec::SmallVec;

/// Makes a character blink and look around a little, on top of its clips and below its [`Expressions`](super::Expressions).
///
/// An optional component of a character whose model has the expressions `blink`, or `lookLeft`, `lookRight`, `lookUp` and
/// `lookDown`, by any of their [names](crate::model::Morphs::expression); it does what the model can show. Blinks and glances
/// come at irregular times that only depend on the seed and on how long the component has been there, whatever the frame rate.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::IdleEyes, prelude::*};
/// # fn enliven(mut commands: Commands, characters: Query<Entity, With<SkinnedCharacter>>) {
/// for (seed, character) in (0..).zip(&characters) {
///     let mut eyes = IdleEyes::new(seed);
///     eyes.glances = 0.0;
///     commands.entity(character).insert(eyes);
/// }
/// # }
/// ```
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Default)]
#[component(on_remove = forget)]
pub struct IdleEyes {
    /// Characters with different seeds blink at different times.
    pub seed: u64,
    /// Blinks per minute, on average. 0 for none.
    pub blinks: f32,
    /// Glances per minute, on average. 0 for none.
    pub glances: f32,
    /// Largest turn of the eyes to each side, as a weight of `lookLeft` and `lookRight`, 0..=1. Up and down, half of it.
    pub range: f32,
    #[reflect(ignore)]
    state: State,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// Seconds since the component was added.
    time: f64,
    blink: Happening,
    glance: Happening,
    /// Present state of the eyes: closed from 0 to 1, and the direction of the gaze as weights to the right and up.
    closed: f32,
    gaze: Vec2,
    shapes: Shapes,
}

/// The last of a series of happenings at irregular times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Happening {
    /// Its number; none happened before the first.
    number: u64,
    /// Its time in seconds.
    at: f64,
}

/// The morph targets that show what the eyes do, in one version of the asset.
#[derive(Clone, Debug, Default)]
struct Shapes {
    version: u64,
    blink: Shape,
    /// Left, right, down, up.
    look: [Shape; 4],
}

type Shape = SmallVec<[(MorphIndex, f32); 2]>;

/// Seconds that the eyes take to close, stay closed, and open.
const CLOSE: f64 = 0.07;
const CLOSED: f64 = 0.03;
const OPEN: f64 = 0.15;
/// Seconds that a glance takes.
const TURN: f64 = 0.045;
/// Series of random numbers.
const BLINK: u64 = 1;
const GLANCE: u64 = 2;
const SIDE: u64 = 3;
const HEIGHT: u64 = 4;

impl Default for IdleEyes {
    fn default() -> Self {
        Self::new(0)
    }
}

impl IdleEyes {
    /// Creates eyes that blink 15 times and glance 25 times a minute.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            blinks: 15.0,
            glances: 25.0,
            range: 0.3,
            state: State::default(),
        }
    }

    /// Returns how far the eyes are closed, 0..=1.
    pub fn closed(&self) -> f32 {
        self.state.closed
    }

    /// Returns where the eyes look: 1 is all the way to the right (x) or up (y).
    pub fn gaze(&self) -> Vec2 {
        self.state.gaze
    }

    /// Returns the eyes as recordings have them.
    pub(crate) fn note(&self) -> EyesNote {
        let last = |of: Happening| (of.number, of.at);
        EyesNote {
            seed: self.seed,
            blinks: self.blinks,
            glances: self.glances,
            range: self.range,
            time: self.state.time,
            blink: last(self.state.blink),
            glance: last(self.state.glance),
            closed: self.state.closed,
            gaze: self.state.gaze,
        }
    }

    /// The eyes of a recording.
    pub(crate) fn of_note(note: &EyesNote) -> Self {
        let last = |(number, at)| Happening { number, at };
        Self {
            seed: note.seed,
            blinks: note.blinks,
            glances: note.glances,
            range: note.range,
            state: State {
                time: note.time,
                blink: last(note.blink),
                glance: last(note.glance),
                closed: note.closed,
                gaze: note.gaze,
                shapes: Shapes::default(),
            },
        }
    }

    /// Looks up the morph targets of this version of the asset. Returns `true` if they were those of another.
    pub(super) fn look_up(&mut self, version: u64, morphs: &Morphs) -> bool {
        let is_new = self.state.shapes.version != version;
        if is_new {
            self.state.shapes = Shapes::new(version, morphs);
        }
        is_new
    }

    /// Goes on. Returns `true` if the eyes moved.
    fn advance(&mut self, seconds: f64) -> bool {
        let before = (self.state.closed, self.state.gaze);
        self.state.time += seconds;
        let time = self.state.time;
        self.state.blink = self.follow(self.state.blink, BLINK, self.blinks, CLOSE + CLOSED + OPEN);
        self.state.glance = self.follow(self.state.glance, GLANCE, self.glances, 2.0 * TURN);
        // Eyes that have stopped glancing don't stay aside.
        let is_aside = !self.state.glance.number.is_multiple_of(2);
        if is_aside && !is_rate(self.glances) && time - self.state.glance.at >= TURN {
            self.state.glance.number += 1;
            self.state.glance.at = time;
        }
        let blink = self.state.blink;
        self.state.closed = if blink.number == 0 {
            0.0
        } else {
            lid(time - blink.at)
        };
        let glance = self.state.glance;
        let turned = smooth((time - glance.at) / TURN);
        let place = |number| self.place(number);
        let (from, to) = (place(glance.number.saturating_sub(1)), place(glance.number));
        self.state.gaze = from.lerp(to, turned);
        before != (self.state.closed, self.state.gaze)
    }

    /// Goes on to the last happening that is due. They are at least `apart` seconds apart, and otherwise anywhere between half
    /// and one and a half times as far as on average.
    fn follow(&self, mut last: Happening, series: u64, per_minute: f32, apart: f64) -> Happening {
        if !is_rate(per_minute) {
            return last;
        }
        let mean = 60.0 / f64::from(per_minute);
        // Time goes on in steps of a frame, so this ends soon; after a long sleep, what was missed is skipped.
        if self.state.time - last.at > 1000.0 * mean.max(apart) {
            last.at = self.state.time;
        }
        loop {
            let wait = mean * (0.5 + f64::from(uniform(self.seed, series, last.number)));
            let at = last.at + wait.max(apart);
            if at > self.state.time {
                return last;
            }
            last = Happening {
                number: last.number + 1,
                at,
            };
        }
    }

    /// Returns the direction of the gaze after a glance. Every other glance comes back to the center.
    fn place(&self, number: u64) -> Vec2 {
        if number.is_multiple_of(2) {
            return Vec2::ZERO;
        }
        let [x, y] = [SIDE, HEIGHT].map(|series| 2.0 * uniform(self.seed, series, number) - 1.0);
        Vec2::new(x, 0.5 * y) * self.range
    }

    /// Adds what the eyes do to the morph targets, of which expressions leave `left`.
    pub(super) fn overrides(&self, left: OthersLeft, out: &mut Vec<MorphOverride>) {
        let State {
            closed,
            gaze,
            shapes,
            ..
        } = &self.state;
        let closed = *closed * left.share(Procedural::Blink);
        let gaze = *gaze * left.share(Procedural::LookAt);
        if closed > 0.0 {
            // Eyes that a clip has closed stay closed.
            out.extend(shapes.blink.iter().map(|&(morph, share)| MorphOverride {
                weight: closed,
                ..MorphOverride::set(morph, share)
            }));
        }
        for (shape, amount) in shapes.look.iter().zip([-gaze.x, gaze.x, -gaze.y, gaze.y]) {
            if amount > 0.0 {
                out.extend(shape.iter().map(|&(morph, share)| MorphOverride {
                    mode: MorphMode::Add,
                    ..MorphOverride::set(morph, amount * share)
                }));
            }
        }
    }
}

impl Shapes {
    fn new(version: u64, morphs: &Morphs) -> Self {
        let of = |name: &str| Shape::from(morphs.expression(name));
        Self {
            version,
            blink: of("blink"),
            look: ["lookLeft", "lookRight", "lookDown", "lookUp"].map(of),
        }
    }
}

/// Goes on with all eyes.
pub(super) fn advance(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    mut all: Query<(&SkinnedCharacter, &mut IdleEyes)>,
) {
    for (handle, mut eyes) in &mut all {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let now = eyes.bypass_change_detection();
        let is_new = now.look_up(character.version, character.skeleton.morphs());
        if now.advance(time.delta_secs_f64()) || is_new {
            eyes.set_changed();
        }
    }
}

/// Returns how far the lids are closed, 0..=1, some seconds after the beginning of a blink.
fn lid(since: f64) -> f32 {
    smooth(since / CLOSE) * (1.0 - smooth((since - CLOSE - CLOSED) / OPEN))
}

/// Returns `true` if something happens at this rate at all.
fn is_rate(per_minute: f32) -> bool {
    per_minute > 0.0 && per_minute.is_finite()
}

fn smooth(t: f64) -> f32 {
    let t = t.clamp(0.0, 1.0) as f32;
    t * t * (3.0 - 2.0 * t)
}

/// A random number in 0..1 for each number of a series.
fn uniform(seed: u64, series: u64, number: u64) -> f32 {
    let bits = seed
        .wrapping_add(series.wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add(number.wrapping_mul(random::STEP));
    // An `f32` holds 24 bits exactly, so nothing is rounded up to 1.
    (random::mix(bits) >> 40) as f32 / (1 << 24) as f32
}

#[cfg(test)]
#[path = "tests/idle_eyes.rs"]
mod tests;
