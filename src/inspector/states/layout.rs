//! Layout of a machine's graph: its states on a ring, so that no arrow passes behind another state.

use crate::model::{StateMachine, Successor};
use bevy_egui::egui::{Pos2, Rect, Vec2, pos2, vec2};

/// The arrows of a machine, and the order of its states on the ring.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    /// The states, clockwise from the top.
    order: Vec<usize>,
    pub(super) arrows: Vec<Arrow>,
}

/// A way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// It is taken at the end of what plays. The game may take it, too, if `is_way`.
    pub(super) follows: bool,
    pub(super) is_way: bool,
}

/// Machines with more states keep the order of a walk along their ways.
const MOST_SORTED: usize = 24;
/// The height of a row of states.
const ROW: f32 = 52.0;

impl Layout {
    /// Arranges a machine. The same machine is always arranged in the same way.
    pub(super) fn of(machine: &StateMachine) -> Self {
        let arrows = arrows(machine);
        let mut order = walk(machine);
        if order.len() <= MOST_SORTED {
            shorten(&mut order, &arrows);
        }
        Self { order, arrows }
    }

    /// Returns the center of each state and the height of all, within a width. `half` is the widest state's half.
    pub(super) fn places(&self, width: f32, half: f32) -> (Vec<Pos2>, f32) {
        let count = self.order.len();
        let (middle, reach) = (width / 2.0, (width / 2.0 - half).max(0.0));
        // Rows between the top and the bottom one, which is empty if the number of states is odd.
        let rows = count.saturating_sub(1) / 2;
        let last = if count.is_multiple_of(2) { 1.0 } else { 0.65 };
        let height = rows as f32 + last;
        let side = |row: usize, sign: f32| {
            let along = row as f32 / height * 2.0 - 1.0;
            vec2(sign * (1.0 - along * along).max(0.0).sqrt(), row as f32)
        };
        let mut places = vec![Pos2::ZERO; count];
        for (at, &state) in self.order.iter().enumerate() {
            let place = match at {
                0 if count == 2 => vec2(-0.6, 0.0),
                1 if count == 2 => vec2(0.6, 0.0),
                0 => Vec2::ZERO,
                _ if at <= rows => side(at, 1.0),
                _ if at == rows + 1 && count.is_multiple_of(2) => vec2(0.0, height),
                _ => side(count - at, -1.0),
            };
            places[state] = pos2(middle + place.x * reach, (place.y + 0.5) * ROW);
        }
        let lowest = places.iter().map(|place| place.y).fold(0.0, f32::max);
        (places, lowest + ROW / 2.0)
    }
}

/// The arrows that are drawn. Ways from any state are not: there would be one from each.
fn arrows(machine: &StateMachine) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (from, state) in machine.states().iter().enumerate() {
        let then = match state.then {
            Some(Successor::State(to, _)) => Some(to),
            _ => None,
        };
        let ways = state.ways.iter().filter(|way| !way.interrupts);
        arrows.extend(ways.map(|way| Arrow {
            from,
            to: way.to,
            follows: then == Some(way.to),
            is_way: true,
        }));
        if let Some(to) = then
            && !arrows
                .iter()
                .any(|arrow| (arrow.from, arrow.to) == (from, to))
        {
            arrows.push(Arrow {
                from,
                to,
                follows: true,
                is_way: false,
            });
        }
    }
    // A state that may be entered again needs no arrow to itself.
    arrows.retain(|arrow| arrow.from != arrow.to);
    arrows
}

/// The states in the order of a walk that begins at the start and prefers what follows by itself.
fn walk(machine: &StateMachine) -> Vec<usize> {
    let mut order = Vec::new();
    let mut stack: Vec<usize> = (0..machine.states().len()).rev().collect();
    stack.push(machine.start());
    while let Some(state) = stack.pop() {
        if order.contains(&state) {
            continue;
        }
        order.push(state);
        let of = &machine.states()[state];
        let ways = of.ways.iter().rev().filter(|way| !way.interrupts);
        stack.extend(ways.map(|way| way.to));
        if let Some(Successor::State(to, _)) = of.then {
            stack.push(to);
        }
    }
    order
}

/// Swaps states on the ring for as long as that makes the arrows shorter. The start stays at the top.
fn shorten(order: &mut [usize], arrows: &[Arrow]) {
    let count = order.len();
    let cost = |order: &[usize]| -> usize {
        let mut at = vec![0; count];
        for (place, &state) in order.iter().enumerate() {
            at[state] = place;
        }
        let length = |arrow: &Arrow| {
            let apart = at[arrow.from].abs_diff(at[arrow.to]);
            let around = apart.min(count - apart);
            around * around * if arrow.follows { 2 } else { 1 }
        };
        arrows.iter().map(length).sum()
    };
    let mut best = cost(order);
    // Each pass makes it shorter, so this ends by itself; the limit bounds how long that takes.
    for _ in 0..8 {
        let before = best;
        for a in 1..count {
            for b in a + 1..count {
                order.swap(a, b);
                let new = cost(order);
                if new < best {
                    best = new;
                } else {
                    order.swap(a, b);
                }
            }
        }
        if best == before {
            break;
        }
    }
}

/// The curve of an arrow between two states, from border to border.
pub(super) fn curve(from: Rect, to: Rect, center: Pos2) -> Vec<Pos2> {
    const POINTS: usize = 32;
    let (a, b) = (from.center(), to.center());
    let middle = a + (b - a) * 0.5;
    // It bows inward, past the states between, and to the left, beside the arrow that goes back.
    let aside = (b - a).rot90().normalized() * -9.0;
    let control = middle + (center - middle) * 0.8 + aside;
    let point = |i: usize| {
        let t = i as f32 / POINTS as f32;
        let [left, right] = [a + (control - a) * t, control + (b - control) * t];
        left + (right - left) * t
    };
    let (from, to) = (from.expand(1.0), to.expand(3.0));
    (0..=POINTS)
        .map(point)
        .skip_while(|point| from.contains(*point))
        .take_while(|point| !to.contains(*point))
        .collect()
}

#[cfg(test)]
#[path = "tests/layout.rs"]
mod tests;
