//! What a game has changed in a controller, as the calls it has made.

use crate::{controller::AnimationController, model::BlendPoint};

/// A call that changes a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Paused(bool),
    TimeScale(f64),
    /// A speed that states name, by its place among them.
    StateSpeed(u8, f64),
    /// A layer and a state, by their places.
    Go(u8, u8),
    /// The parameters of the current clip's blend space.
    Parameters(BlendPoint),
}

/// Returns the calls that make one controller of another; `None` if none of these do.
pub(super) fn between(
    before: &AnimationController,
    now: &AnimationController,
) -> Option<Vec<Change>> {
    let mut found = Found {
        calls: Vec::new(),
        controller: before.clone(),
    };
    if before.paused != now.paused {
        found.add(Change::Paused(now.paused))?;
    }
    if before.time_scale.to_bits() != now.time_scale.to_bits() {
        found.add(Change::TimeScale(now.time_scale))?;
    }
    // Before it goes elsewhere, and after it.
    found.follow_parameters(now)?;
    let machines = now.states().machines();
    if machines != before.states().machines() {
        return None;
    }
    let mut asked = Vec::new();
    if let Some(machines) = machines {
        for (at, name) in machines.speeds().enumerate() {
            let speed = now.states().speed(name);
            if let Some(speed) = speed.filter(|_| speed != found.controller.states().speed(name)) {
                found.add(Change::StateSpeed(u8::try_from(at).ok()?, speed))?;
            }
        }
        for (at, layer) in machines.layers().iter().enumerate() {
            let destination = now.states().layer(&layer.name).destination();
            let Some(state) = destination.and_then(|state| layer.machine.index_of(state)) else {
                continue;
            };
            if layer.sync.is_some() {
                continue;
            }
            let go = Change::Go(u8::try_from(at).ok()?, u8::try_from(state).ok()?);
            if place(&found.controller, &layer.name) == place(now, &layer.name) {
                // Maybe it was entered again.
                asked.push(go);
            } else {
                found.add(go)?;
            }
        }
    }
    found.follow_parameters(now)?;
    if found.controller == *now {
        return Some(found.calls);
    }
    asked.into_iter().find_map(|go| {
        let mut found = found.clone();
        found.add(go)?;
        (found.controller == *now).then_some(found.calls)
    })
}

/// Where a character is on a layer, where it goes, and since when it is there.
fn place<'a>(
    controller: &'a AnimationController,
    layer: &'a str,
) -> (Option<&'a str>, Option<&'a str>, Option<f64>) {
    let states = controller.states().layer(layer);
    (states.current(), states.destination(), states.seconds())
}

/// Calls so far, and what they have made.
#[derive(Clone)]
struct Found {
    calls: Vec<Change>,
    controller: AnimationController,
}

impl Found {
    fn add(&mut self, call: Change) -> Option<()> {
        call.apply(&mut self.controller).ok()?;
        self.calls.push(call);
        Some(())
    }

    /// Sets the parameters of the current clip to those that the same track has in another controller.
    fn follow_parameters(&mut self, now: &AnimationController) -> Option<()> {
        let Some(track) = self.controller.current_track() else {
            return Some(());
        };
        let other = now.track(track.id()).map(|track| track.parameters());
        match other.filter(|point| *point != track.parameters()) {
            Some(point) => self.add(Change::Parameters(point)),
            None => Some(()),
        }
    }
}

impl Change {
    /// Makes the call.
    pub(super) fn apply(self, controller: &mut AnimationController) -> Result<(), String> {
        let states = || controller.states().machines().cloned();
        match self {
            Self::Paused(paused) => controller.paused = paused,
            Self::TimeScale(scale) => controller.time_scale = scale,
            Self::StateSpeed(at, speed) => {
                let states = states().ok_or("it has no states")?;
                let name = states.speeds().nth(at.into()).ok_or("no such speed")?;
                controller
                    .set_state_speed(name, speed)
                    .map_err(|error| error.to_string())?;
            }
            Self::Go(layer, state) => {
                let states = states().ok_or("it has no states")?;
                let layer = states
                    .layers()
                    .get(usize::from(layer))
                    .ok_or("no such layer")?;
                let state = layer.machine.states().get(usize::from(state));
                let state = state.ok_or("no such state")?;
                controller
                    .go((&*layer.name, &*state.name))
                    .map_err(|error| error.to_string())?;
            }
            Self::Parameters(point) => controller.set_parameters(point),
        }
        Ok(())
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Paused(paused) => out.extend([0, u8::from(paused)]),
            Self::TimeScale(scale) => {
                out.push(1);
                out.extend(scale.to_le_bytes());
            }
            Self::StateSpeed(at, speed) => {
                out.extend([2, at]);
                out.extend(speed.to_le_bytes());
            }
            Self::Go(layer, state) => out.extend([3, layer, state]),
            Self::Parameters(BlendPoint { x, y }) => {
                // Sticks and keys give no more.
                let few = [x as f32, y as f32];
                if few.map(f64::from) == [x, y] {
                    out.push(4);
                    few.iter().for_each(|value| out.extend(value.to_le_bytes()));
                } else {
                    out.push(5);
                    [x, y]
                        .iter()
                        .for_each(|value| out.extend(value.to_le_bytes()));
                }
            }
        }
    }

    /// Takes a change from the beginning of bytes.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let [kind] = take(from)?;
        Some(match kind {
            0 => Self::Paused(take(from)? != [0]),
            1 => Self::TimeScale(f64::from_le_bytes(take(from)?)),
            2 => {
                let [at] = take(from)?;
                Self::StateSpeed(at, f64::from_le_bytes(take(from)?))
            }
            3 => {
                let [layer, state] = take(from)?;
                Self::Go(layer, state)
            }
            4 => {
                let [x, y] = [
                    f32::from_le_bytes(take(from)?),
                    f32::from_le_bytes(take(from)?),
                ];
                Self::Parameters(BlendPoint::new(x.into(), y.into()))
            }
            5 => {
                let [x, y] = [
                    f64::from_le_bytes(take(from)?),
                    f64::from_le_bytes(take(from)?),
                ];
                Self::Parameters(BlendPoint::new(x, y))
            }
            _ => return None,
        })
    }
}

/// Takes a number of bytes from the beginning of others.
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*taken)
}
