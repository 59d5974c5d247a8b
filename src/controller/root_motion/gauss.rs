//! Gauss's quadrature of order 8. A share can be the product of two weights that grow from nothing with the square of time, so its
//! first terms are of the fourth to sixth degree, which order 6 would not integrate exactly.

use crate::model::{RootDelta, Twist, turned};

/// How many velocities are taken in a stretch.
pub(super) const COUNT: usize = 4;
/// Times at which velocities are taken, as fractions of the stretch.
pub(super) const NODES: [f64; COUNT] = [
    0.069_431_844_202_973_71,
    0.330_009_478_207_571_87,
    0.669_990_521_792_428_1,
    0.930_568_155_797_026_3,
];
/// Weights of the nodes in the integral; they sum to 1.
pub(super) const WEIGHTS: [f64; COUNT] = [
    0.173_927_422_568_726_92,
    0.326_072_577_431_273_05,
    0.326_072_577_431_273_05,
    0.173_927_422_568_726_92,
];
/// Weights of the nodes in the integral up to each node: the coefficients of the implicit Runge–Kutta method.
const TO_NODES: [[f64; COUNT]; COUNT] = [
    [
        0.086_963_711_284_363_46,
        -0.026_604_180_084_998_794,
        0.012_627_462_689_404_725,
        -0.003_555_149_685_795_683_3,
    ],
    [
        0.188_118_117_499_868_06,
        0.163_036_288_715_636_52,
        -0.027_880_428_602_470_895,
        0.006_735_500_594_538_156,
    ],
    [
        0.167_191_921_974_188_78,
        0.353_953_006_033_743_97,
        0.163_036_288_715_636_52,
        -0.014_190_694_931_141_144,
    ],
    [
        0.177_482_572_254_522_6,
        0.313_445_114_741_868_37,
        0.352_676_757_516_271_87,
        0.086_963_711_284_363_46,
    ],
];

/// Integrates velocities at the nodes, as the character sees them, over a time of 1 (Gauss's method of Runge–Kutta type).
#[inline]
pub(super) fn integrate(rates: [Twist; COUNT]) -> RootDelta {
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
#[path = "tests/gauss.rs"]
mod tests;
