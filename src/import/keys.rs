//! Keys as files have them: values over time, and how one leads to the next.

use std::ops::{Add, Mul, Sub};

/// The interpolation between two keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Between {
    /// A straight line, or the shorter arc between rotations.
    Linear,
    /// The value of the earlier key.
    Step,
    /// A cubic Hermite spline through three values per key: tangent in, value, tangent out.
    Cubic,
}

/// Values over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyTrack<V> {
    /// Seconds of each key, at least one, in order. Two at one time are a jump; of more, the first and the last count.
    pub(super) times: Vec<f64>,
    /// One per time, or three for splines: tangent in, per second, value, tangent out.
    pub(super) values: Vec<V>,
    pub(super) between: Between,
}

impl<V: Copy + Add<Output = V> + Sub<Output = V> + Mul<f64, Output = V>> KeyTrack<V> {
    fn value(&self, key: usize) -> V {
        match self.between {
            Between::Cubic => self.values[key * 3 + 1],
            _ => self.values[key],
        }
    }

    /// Returns the key after a time, or after a step right there.
    pub(super) fn next(&self, time: f64, after_step: bool) -> usize {
        self.times
            .partition_point(|&key| key < time || (after_step && key == time))
    }

    /// Returns the value at a time, before or after a step right there. Before the first key it is the first value, and after the
    /// last key the last one. `next` is the first key that isn't past by then, and `line` leads from a value to another.
    pub(super) fn sample(
        &self,
        next: usize,
        time: f64,
        after_step: bool,
        line: impl FnOnce(V, V, f64) -> V,
    ) -> V {
        let is_step = self.between == Between::Step;
        if !after_step && !is_step && self.times.get(next) == Some(&time) {
            return self.value(next);
        }
        // Nothing has to be computed for the time of a key, at which almost all values are wanted.
        if next == 0 || next == self.times.len() || is_step || self.times[next - 1] == time {
            return self.value(next.saturating_sub(1));
        }
        let Piece {
            length,
            values: [from, to],
            rates: [leaving, arriving],
        } = self.piece(next);
        let t = (time - self.times[next - 1]) / length;
        if self.between == Between::Linear {
            return line(from, to, t);
        }
        let hermite = hermite(t);
        from * hermite[0]
            + leaving * length * hermite[1]
            + to * hermite[2]
            + arriving * length * hermite[3]
    }

    /// Returns what leads to a key, which isn't the first. Only splines have rates.
    pub(super) fn piece(&self, key: usize) -> Piece<V> {
        let values = [self.value(key - 1), self.value(key)];
        Piece {
            length: self.times[key] - self.times[key - 1],
            values,
            rates: match self.between {
                Between::Cubic => [self.values[key * 3 - 1], self.values[key * 3]],
                _ => values,
            },
        }
    }
}

/// What leads from one key to the next.
pub(super) struct Piece<V> {
    /// Seconds.
    pub(super) length: f64,
    pub(super) values: [V; 2],
    /// Of a spline: how fast it leaves the earlier key and arrives at the later one, per second.
    pub(super) rates: [V; 2],
}

/// Returns the Hermite basis functions at a share of the time between two keys: the factors of the earlier key's value and of the
/// tangent that leaves it, and of the later key's value and of the tangent that arrives there.
fn hermite(t: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        2.0 * t3 - 3.0 * t2 + 1.0,
        t3 - 2.0 * t2 + t,
        3.0 * t2 - 2.0 * t3,
        t3 - t2,
    ]
}
