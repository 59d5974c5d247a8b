//! Places on the arcs between rotations, four pairs of them at a time.
//!
//! What [`Quat::slerp`](glam::Quat::slerp) comes to on x86, lane by lane, to the last bit, and the same on every
//! other processor. What does not depend on the place is reckoned once for all places of an arc.

use crate::model::dot;
use glam::{BVec4A, Vec4};

/// The short arcs from four rotations to four others, all of unit length or nearly.
pub(super) struct Arcs {
    from: [Vec4; 4],
    /// In the hemisphere of `from`.
    to: [Vec4; 4],
    /// Lanes in which nothing turns.
    still: BVec4A,
    /// Lanes in which the arc is so short that it is a line.
    short: BVec4A,
    angle: Vec4,
    sine: Vec4,
}

impl Arcs {
    pub(super) fn new(from: [Vec4; 4], to: [Vec4; 4]) -> Self {
        let [x, y, z, w] = [0, 1, 2, 3].map(|i| from[i].cmpeq(to[i]));
        let cosine = dot(from, to);
        let turned = cosine.cmplt(Vec4::ZERO);
        let cosine = cosine.abs();
        let angle = arc_cosines(cosine);
        Self {
            from,
            to: to.map(|v| Vec4::select(turned, -v, v)),
            still: x & y & z & w,
            short: cosine.cmpgt(Vec4::splat(1.0 - f32::EPSILON)),
            angle,
            sine: sines(angle),
        }
    }

    /// The rotations at `t` from 0 to 1 on their arcs.
    pub(super) fn at(&self, t: f32) -> [Vec4; 4] {
        let Self { from, to, still, short, angle, sine } = self;
        let end = sines(*angle * t);
        // Halfway both are the same.
        let start = if 1.0 - t == t { end } else { sines(*angle * (1.0 - t)) };
        let mut out = [0, 1, 2, 3].map(|i| (from[i] * start + to[i] * end) / *sine);
        if (*short & !*still).any() {
            let line = [0, 1, 2, 3].map(|i| from[i] * (1.0 - t) + to[i] * t);
            let length = square_roots(dot(line, line));
            out = [0, 1, 2, 3].map(|i| Vec4::select(*short, line[i] / length, out[i]));
        }
        [0, 1, 2, 3].map(|i| Vec4::select(*still, from[i], out[i]))
    }
}

/// Arc cosines of 0 to 1; arguments beyond 1 count as that (DirectXMath's `XMScalarAcos`).
fn arc_cosines(x: Vec4) -> Vec4 {
    // The last is the polynomial's own, a bit below π/2.
    #[allow(clippy::approx_constant)]
    const TERMS: [f32; 8] = [
        -0.001_262_491_1,
        0.006_670_09,
        -0.017_088_126,
        0.030_891_88,
        -0.050_174_303,
        0.088_978_99,
        -0.214_598_8,
        1.570_796_3,
    ];
    polynomial(&TERMS, x) * square_roots((Vec4::ONE - x).max(Vec4::ZERO))
}

/// Sines of 0 to π/2 (DirectXMath's `XMVectorSin`).
fn sines(x: Vec4) -> Vec4 {
    const TERMS: [f32; 6] = [-2.388_985_9e-8, 2.752_556_2e-6, -0.000_198_408_74, 0.008_333_331, -0.166_666_67, 1.0];
    polynomial(&TERMS, x * x) * x
}

/// `terms[0] · xⁿ + … + terms[n]`.
#[inline]
fn polynomial(terms: &[f32], x: Vec4) -> Vec4 {
    terms[1..].iter().fold(Vec4::splat(terms[0]), |sum, &term| sum * x + term)
}

fn square_roots(v: Vec4) -> Vec4 {
    Vec4::new(v.x.sqrt(), v.y.sqrt(), v.z.sqrt(), v.w.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat4, Quat};

    /// Four quaternions as columns to one vector for each component, and back.
    fn turned(q: [Quat; 4]) -> [Vec4; 4] {
        let rows = Mat4::from_cols(q[0].into(), q[1].into(), q[2].into(), q[3].into()).transpose();
        [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis]
    }

    #[test]
    fn each_lane_follows_the_arc_that_glam_does() {
        let mut random = fastrand::Rng::with_seed(4);
        for size in [1e-7, 1e-4, 1e-2, 1.0, 10.0] {
            for _ in 0..1000 {
                let mut number = || random.f32() - 0.5;
                let from = [0; 4].map(|_| Quat::from_xyzw(number(), number(), number(), number()).normalize());
                let mut to =
                    from.map(|q| (q + Quat::from_xyzw(number(), number(), number(), number()) * size).normalize());
                to[0] = from[0];
                to[1] = -to[1];
                let arcs = Arcs::new(turned(from), turned(to));
                for t in [0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 0.75] {
                    let got = turned(arcs.at(t).map(Quat::from_vec4)).map(Quat::from_vec4);
                    for lane in 0..4 {
                        let (from, to, got) = (from[lane], to[lane], got[lane]);
                        let expected = if from == to { from } else { from.slerp(to, t) };
                        assert!(got.abs_diff_eq(expected, 2e-6), "{from} to {to} at {t}: {got}, {expected}");
                        if cfg!(target_arch = "x86_64") {
                            assert_eq!(got, expected, "{from} to {to} at {t}");
                        }
                    }
                }
            }
        }
    }
}
