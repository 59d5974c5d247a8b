//! Scout's face: eyes that close and turn, and a mouth that speaks.
//!
//! The lids and lips are the edges of holes in the skin. Behind them are an eye, a sheet that follows the skin and is larger than
//! its hole, and a mouth with teeth. All lengths here are millimeters of the design.

use super::{
    super::{
        faces::Face,
        field::{Decal, Field},
        maths::{mix, smoothstep},
        regions::Regions,
    },
    shape::part,
    skeleton::{HEAD_GROWTH, HEAD_PIVOT, grown},
};
use glam::DVec3;

/// Scout's face.
pub struct ScoutFace;

/// Half the width of an eye.
const EYE: f64 = 18.5;
/// Half the width of the mouth, and of the slit that the skin is cut with.
const MOUTH: f64 = 21.0;
const SLIT: f64 = 1.3;
/// How far eyes are behind the skin.
const BEHIND: f64 = 1.4;
/// Height of the skin above an eye that the upper lid is made of.
const LID: f64 = 10.0;

/// The holes in the skin.
pub fn holes() -> Vec<Decal> {
    let hole = |part, within| Decal {
        on: part::FACE,
        part,
        within,
    };
    vec![
        hole(part::EYE_HOLE, |p| {
            let (x, y) = at_eye(p);
            let (upper, lower) = lids(x);
            if p.z < -0.05 && x.abs() < EYE {
                (y - upper).max(lower - y)
            } else {
                1.0
            }
        }),
        hole(part::MOUTH_HOLE, |p| {
            let (x, y) = at_mouth(p);
            if p.z < -0.05 && x.abs() < MOUTH {
                y.abs() - SLIT * profile(x)
            } else {
                1.0
            }
        }),
    ]
}

/// A point of the head in its design, in millimeters.
fn drawn(p: DVec3) -> DVec3 {
    (HEAD_PIVOT + (p - HEAD_PIVOT) / HEAD_GROWTH) * 1000.0
}

/// Where a point is seen from the middle of the nearer eye: outward, and up.
pub fn at_eye(p: DVec3) -> (f64, f64) {
    let p = drawn(p);
    (p.x.abs() - 43.5, p.y - 1629.5)
}

/// Where a point is seen from the middle of the line between the lips, which is curved.
pub fn at_mouth(p: DVec3) -> (f64, f64) {
    let p = drawn(p);
    (p.x, p.y - 1555.5 - 0.011 * p.x * p.x)
}

/// The edges of the upper and the lower lid of an open eye.
pub fn lids(x: f64) -> (f64, f64) {
    let arch = (1.0 - (x / EYE) * (x / EYE)).max(0.0).sqrt();
    (13.0 * arch + 0.06 * x, -10.0 * arch + 0.06 * x)
}

/// How far the mouth opens at a point of its width: 1 in the middle, 0 at its corners.
fn profile(x: f64) -> f64 {
    (1.0 - (x / MOUTH) * (x / MOUTH)).max(0.0).sqrt()
}

/// A point of the skin, given as seen from the front.
fn on_skin(field: &Field, x: f64, y: f64) -> DVec3 {
    let from = grown(DVec3::new(x, y, -112.0) / 1000.0);
    field.project(field.project(from, 0.06), 0.03)
}

/// A point behind the skin.
fn behind(field: &Field, x: f64, y: f64, depth: f64) -> DVec3 {
    let p = on_skin(field, x, y);
    p - field.normal(p, 0.006) * (depth * HEAD_GROWTH / 1000.0)
}

/// A point of an eye's sheet: outward and up from the eye's middle.
fn on_eye(field: &Field, side: f64, x: f64, y: f64) -> DVec3 {
    behind(field, side * (x + 43.5), y + 1629.5, BEHIND)
}

/// A point in the mouth: right and up from its middle, and how far behind the lips.
fn in_mouth(field: &Field, x: f64, y: f64, depth: f64) -> DVec3 {
    let skin = on_skin(field, x, 1555.5 + 0.011 * x * x + y);
    skin + DVec3::Z * (depth * HEAD_GROWTH / 1000.0)
}

impl Face for ScoutFace {
    fn is_hole(&self, part: u8) -> bool {
        [part::EYE_HOLE, part::MOUTH_HOLE].contains(&part)
    }

    fn add(&self, field: &Field, regions: &mut Regions, normals: &mut Vec<DVec3>) {
        let mut sheet = |part: u8, columns: u32, rows: u32, at: &dyn Fn(f64, f64) -> DVec3| {
            let (mut positions, mut triangles) = (Vec::new(), Vec::new());
            for j in 0..=rows {
                for i in 0..=columns {
                    let (u, v) = (
                        f64::from(i) / f64::from(columns),
                        f64::from(j) / f64::from(rows),
                    );
                    positions.push(at(2.0 * u - 1.0, 2.0 * v - 1.0));
                }
            }
            for j in 0..rows {
                for i in 0..columns {
                    let a = j * (columns + 1) + i;
                    let (b, c, d) = (a + 1, a + columns + 1, a + columns + 2);
                    // Seen from the front, X points to the left.
                    triangles.extend([[a, c, b], [b, c, d]]);
                }
            }
            let first = regions.mesh.positions.len();
            regions.add(part, &positions, &triangles);
            normals.extend_from_slice(&regions.mesh.normals(&regions.mesh.positions)[first..]);
        };
        for side in [-1.0, 1.0] {
            sheet(part::EYE, 14, 11, &|u, v| {
                on_eye(field, side, 25.0 * u * side, 16.5 * v + 1.5)
            });
        }
        // A bowl that is deepest in its middle.
        sheet(part::MOUTH_INSIDE, 10, 8, &|u, v| {
            let round = (1.0 - 0.5 * v * v).sqrt();
            let deep = (1.0 - u * u) * (1.0 - v * v);
            in_mouth(field, 27.0 * u * round, 13.0 * v - 1.0, 5.0 + 16.0 * deep)
        });
        sheet(part::TEETH, 10, 3, &|u, v| {
            in_mouth(field, 17.0 * u, 5.0 * v + 2.5, 2.6 + 2.0 * u * u + 0.5 * v)
        });
    }

    fn at_rest(&self, part: u8, p: DVec3) -> DVec3 {
        let (x, y) = at_mouth(p);
        if part != part::FACE || p.z > -0.05 || x.abs() >= MOUTH {
            return DVec3::ZERO;
        }
        // Both lips close over half of the slit.
        let half = SLIT * profile(x);
        let by = y.signum() * half * smoothstep(9.0, 0.0, y.abs() - half);
        DVec3::NEG_Y * (by * HEAD_GROWTH / 1000.0)
    }

    fn names(&self) -> &[&'static str] {
        &[
            "blink.L",
            "blink.R",
            "look_left",
            "look_right",
            "look_up",
            "look_down",
            "smile",
            "surprise",
            "aa",
            "ee",
            "ih",
            "oh",
            "ou",
            "mm",
        ]
    }

    fn morph(&self, field: &Field, name: &str, part: u8, p: DVec3) -> DVec3 {
        let gaze = |x, y| look(field, part, p, x, y);
        let mouth = |mouth: Mouth| mouth.at(part, p);
        match name {
            "blink.L" => blink(field, part, p, -1.0),
            "blink.R" => blink(field, part, p, 1.0),
            // Left is −X.
            "look_left" => gaze(-6.0, 0.0),
            "look_right" => gaze(6.0, 0.0),
            "look_up" => gaze(0.0, 4.0),
            "look_down" => gaze(0.0, -4.5),
            "smile" => {
                mouth(Mouth {
                    corners: 5.0,
                    wide: 4.0,
                    ..Mouth::default()
                }) + squint(field, part, p, 3.0)
            }
            "surprise" => {
                mouth(Mouth {
                    open: 11.0,
                    wide: -5.0,
                    upper: 1.5,
                    ..Mouth::default()
                }) + brows(part, p, 6.0)
                    + squint(field, part, p, -1.2)
            }
            "aa" => mouth(Mouth {
                open: 15.0,
                upper: 2.0,
                wide: -1.0,
                ..Mouth::default()
            }),
            "ee" => mouth(Mouth {
                open: 4.5,
                upper: 2.0,
                wide: 5.0,
                corners: 1.5,
                ..Mouth::default()
            }),
            "ih" => mouth(Mouth {
                open: 6.0,
                upper: 2.0,
                wide: 2.0,
                ..Mouth::default()
            }),
            "oh" => mouth(Mouth {
                open: 11.0,
                upper: 2.0,
                wide: -8.0,
                pucker: 3.5,
                ..Mouth::default()
            }),
            "ou" => mouth(Mouth {
                open: 4.5,
                upper: 1.5,
                wide: -8.5,
                pucker: 4.5,
                ..Mouth::default()
            }),
            "mm" => mouth(Mouth {
                press: 1.6,
                wide: 1.0,
                ..Mouth::default()
            }),
            _ => DVec3::ZERO,
        }
    }
}

/// Closes the eye of a side.
fn blink(field: &Field, part: u8, p: DVec3, side: f64) -> DVec3 {
    let (x, y) = at_eye(p);
    if part != part::FACE || p.x * side <= 0.0 || x.abs() >= EYE || p.z > -0.03 {
        return DVec3::ZERO;
    }
    let (upper, lower) = lids(x);
    let middle = 0.5 * (upper + lower);
    let (by, lift) = if y > middle {
        let t = ((y - upper) / LID).clamp(0.0, 1.0);
        // Eased, so that the fold doesn't show an edge.
        let t_after = t * t * (2.0 - t);
        let down = mix(lower + 1.6, upper + LID, t_after) - y;
        (if t < 1.0 { down } else { 0.0 }, 1.0 - t)
    } else {
        let t = smoothstep(9.0, 0.0, lower - y);
        (1.6 * t * ((upper - lower) / 23.0), 0.3 * t)
    };
    let to = field.project(p + DVec3::Y * (by * HEAD_GROWTH / 1000.0), 0.02);
    let out = 0.8 * lift * smoothstep(0.0, 6.0, upper - lower);
    to - p + field.normal(to, 0.006) * (out * HEAD_GROWTH / 1000.0)
}

/// Raises the lower lids by `by`, or both lids apart if negative.
fn squint(field: &Field, part: u8, p: DVec3, by: f64) -> DVec3 {
    let (x, y) = at_eye(p);
    if part != part::FACE || x.abs() >= EYE || p.z > -0.03 {
        return DVec3::ZERO;
    }
    let (upper, lower) = lids(x);
    let open = (upper - lower) / 23.0;
    let up = if y < 0.5 * (upper + lower) {
        by * open * smoothstep(12.0, 0.0, lower - y)
    } else if by < 0.0 {
        -1.2 * by * open * smoothstep(9.0, 0.0, y - upper)
    } else {
        0.0
    };
    let to = field.project(p + DVec3::Y * (up * HEAD_GROWTH / 1000.0), 0.01);
    to - p + field.normal(to, 0.006) * (0.2 * up.abs() * HEAD_GROWTH / 1000.0)
}

/// Raises the brows.
fn brows(part: u8, p: DVec3, by: f64) -> DVec3 {
    let (x, y) = at_eye(p);
    if part != part::FACE || p.z > -0.03 {
        return DVec3::ZERO;
    }
    let near =
        smoothstep(15.0, 31.0, y) * smoothstep(58.0, 32.0, y) * smoothstep(44.0, 22.0, x.abs());
    DVec3::new(0.0, 1.0, -0.3) * (by * near * HEAD_GROWTH / 1000.0)
}

/// Turns the eyes by shifting their sheets.
fn look(field: &Field, part: u8, p: DVec3, x: f64, y: f64) -> DVec3 {
    if part != part::EYE {
        return DVec3::ZERO;
    }
    let from = drawn(p);
    let at = |x: f64, y: f64| behind(field, x, y, BEHIND);
    at(from.x + x, from.y + y) - at(from.x, from.y)
}

/// A shape of the mouth.
#[derive(Default)]
struct Mouth {
    /// How far the lower lip and the jaw go down.
    open: f64,
    /// How far the upper lip goes up.
    upper: f64,
    /// How far the corners go apart, each.
    wide: f64,
    /// How far the lips come forward.
    pucker: f64,
    /// How far the corners go up.
    corners: f64,
    /// How far the lips are pressed together.
    press: f64,
}

impl Mouth {
    fn at(&self, part: u8, p: DVec3) -> DVec3 {
        let (x, y) = at_mouth(p);
        let ahead = smoothstep(-0.015, -0.055, p.z);
        let by = match part {
            part::FACE => {
                let mut by = DVec3::ZERO;
                let lip = profile(x);
                if y < 0.0 {
                    let jaw = smoothstep(66.0, 8.0, x.abs());
                    let far = smoothstep(0.0, 16.0, -y);
                    let below = mix(lip, jaw, far) * smoothstep(-66.0, -36.0, y);
                    by.y -= self.open * below;
                    by.z += 0.22 * self.open * far * jaw * smoothstep(-66.0, -36.0, y);
                } else {
                    by.y += self.upper * lip * smoothstep(17.0, 2.0, y);
                }
                let wide = smoothstep(52.0, 14.0, x.abs()) * smoothstep(30.0, 4.0, y.abs());
                by.x += self.wide * (x / MOUTH).clamp(-1.3, 1.3) * wide;
                by.z += 0.12 * self.wide.max(0.0) * smoothstep(6.0, 22.0, x.abs()) * wide;
                let lips = smoothstep(24.0, 4.0, x.abs()) * smoothstep(17.0, 3.0, y.abs());
                by.z -= self.pucker * lips;
                let corner = smoothstep(4.0, 21.0, x.abs())
                    * smoothstep(48.0, 24.0, x.abs())
                    * smoothstep(28.0, 3.0, y.abs());
                by.y += self.corners * corner;
                by.z += 0.25 * self.corners * corner;
                let cheek = smoothstep(26.0, 6.0, distance(x.abs() - 44.0, y - 26.0));
                by += DVec3::new(0.0, 0.45, -0.45) * (self.corners * cheek);
                let press = lip * smoothstep(6.0, 0.0, y.abs());
                by.y -= self.press * 0.35 * y.signum() * press * smoothstep(0.4, 2.5, y.abs());
                by.z += self.press * press;
                by
            }
            // The bowl's lower half follows the jaw, and its sides the corners.
            part::MOUTH_INSIDE => DVec3::new(
                self.wide * (x / MOUTH),
                -self.open * smoothstep(5.0, -11.0, y),
                0.3 * self.open * smoothstep(0.0, -12.0, y),
            ),
            part::TEETH => DVec3::new(self.wide * (x / MOUTH), 0.0, 0.0),
            _ => DVec3::ZERO,
        };
        by * (ahead * HEAD_GROWTH / 1000.0)
    }
}

fn distance(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
