//! Gauss's quadrature of order 6.

use crate::model::{RootDelta, Twist, turned};

const ROOT_15: f64 = 3.872_983_346_207_417;
/// Times at which velocities are taken, as fractions of the stretch.
pub(super) const NODES: [f64; 3] = [0.5 - ROOT_15 / 10.0, 0.5, 0.5 + ROOT_15 / 10.0];
/// Weights of the nodes in the integral; they sum to 1.
pub(super) const WEIGHTS: [f64; 3] = [5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0];
/// Weights of the nodes in the integral up to each node: the coefficients of the implicit Runge–Kutta method.
const TO_NODES: [[f64; 3]; 3] = [
    [
        5.0 / 36.0,
        2.0 / 9.0 - ROOT_15 / 15.0,
        5.0 / 36.0 - ROOT_15 / 30.0,
    ],
    [
        5.0 / 36.0 + ROOT_15 / 24.0,
        2.0 / 9.0,
        5.0 / 36.0 - ROOT_15 / 24.0,
    ],
    [
        5.0 / 36.0 + ROOT_15 / 30.0,
        2.0 / 9.0 + ROOT_15 / 15.0,
        5.0 / 36.0,
    ],
];

/// Integrates velocities at the nodes, as the character sees them, over a time of 1 (Gauss's method of Runge–Kutta type).
#[inline]
pub(super) fn integrate(rates: [Twist; 3]) -> RootDelta {
    let mut movement = RootDelta::IDENTITY;
    for ((rate, weight), to_node) in rates.iter().zip(WEIGHTS).zip(TO_NODES) {
        let heading: f64 = rates
            .iter()
            .zip(to_node)
            .map(|(rate, share)| rate.turn * share)
            .sum();
        movement.translation += turned(rate.ahead, heading) * weight;
        movement.turn += rate.turn * weight;
    }
    movement
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn the_integral_of_a_steady_velocity_is_its_arc() {
        let arc = Twist {
            ahead: DVec3::new(0.02, 0.01, -0.1),
            turn: 0.1,
        };
        let (exact, found) = (arc.movement(), integrate([arc; 3]));
        assert!(
            found.translation.distance(exact.translation) < 1e-11
                && (found.turn - exact.turn).abs() < 1e-16
        );
    }

    #[test]
    fn the_quadrature_is_exact_for_polynomials_of_the_fifth_degree() {
        for power in 0..6 {
            let sum: f64 = (0..3)
                .map(|node| WEIGHTS[node] * NODES[node].powi(power))
                .sum();
            assert!((sum - 1.0 / f64::from(power + 1)).abs() < 1e-15);
        }
        for (to_node, node) in TO_NODES.iter().zip(NODES) {
            for power in 0..3 {
                let sum: f64 = to_node
                    .iter()
                    .zip(NODES)
                    .map(|(share, node)| share * node.powi(power))
                    .sum();
                assert!((sum - node.powi(power + 1) / f64::from(power + 1)).abs() < 1e-15);
            }
        }
    }
}
