//! The Hound's paint: a golden coat with a dark saddle, cream below, and the fine relief of hair.

use super::super::{
    bake::{Paint, Texel},
    maths::{mix, noise, smoothstep, wave},
    strokes::{dash, leather, line, spot},
};
use super::{
    head::EYE_AT,
    shape::{CORNER, RISE, part::*},
    skeleton::drawn,
};
use glam::DVec3;

/// The Hound's paint.
pub struct HoundPaint;

const GOLD: DVec3 = DVec3::new(0.80, 0.52, 0.27);
const RUST: DVec3 = DVec3::new(0.38, 0.17, 0.08);
const CREAM: DVec3 = DVec3::new(0.94, 0.86, 0.72);
const DARK: DVec3 = DVec3::new(0.22, 0.13, 0.10);
const INNER_EAR: DVec3 = DVec3::new(0.80, 0.52, 0.44);
const SCARF: DVec3 = DVec3::new(0.84, 0.30, 0.16);
const TRIM: DVec3 = DVec3::new(0.86, 0.72, 0.42);
const TEAL: DVec3 = DVec3::new(0.20, 0.40, 0.36);
const LEATHER: DVec3 = DVec3::new(0.34, 0.21, 0.13);
const BRASS: DVec3 = DVec3::new(0.87, 0.68, 0.30);

impl Paint for HoundPaint {
    fn texel(&self, part: u8, p: DVec3, n: DVec3) -> Texel {
        match part {
            COAT => coat(p, n),
            FACE => face(drawn(p), n, saddle(p, n)),
            EAR => ear(drawn(p), n),
            EYE => eye(drawn(p)),
            NOSE => Texel {
                color: DVec3::new(0.06, 0.05, 0.05) * (1.0 + 0.15 * noise(p * 400.0)),
                height: 0.0003 * noise(p * 500.0),
            },
            CLAW => Texel {
                color: DVec3::new(0.20, 0.16, 0.14),
                height: 0.0,
            },
            KERCHIEF => kerchief(p),
            COLLAR => leather(p, LEATHER),
            GIRTH => girth(p),
            _ => Texel {
                color: BRASS * (1.0 + 0.05 * noise(p * 150.0)),
                height: 0.0,
            },
        }
    }
}

fn hair(p: DVec3) -> (f64, f64) {
    // Short hair that lies back and down.
    let strand = noise(DVec3::new(p.x * 120.0, p.y * 90.0, p.z * 38.0));
    let tuft = noise(DVec3::new(p.x * 40.0, p.y * 30.0, p.z * 14.0));
    (
        1.0 + 0.05 * strand + 0.05 * tuft,
        0.0003 * strand + 0.0002 * tuft,
    )
}

/// Strength of the dark saddle, which runs along the back and fades on flanks and head.
fn saddle(p: DVec3, n: DVec3) -> f64 {
    let wander = 0.018 * noise(p * 11.0) + 0.008 * noise(p * 31.0);
    let high =
        smoothstep(0.56, 0.69, p.y + 3.0 * wander) * smoothstep(-0.05, 0.70, n.y + 5.0 * wander);
    high * mix(1.0, 0.45, smoothstep(-0.24, -0.40, p.z))
}

fn coat(p: DVec3, n: DVec3) -> Texel {
    let (tone, height) = hair(p);
    let wander = 0.018 * noise(p * 11.0) + 0.008 * noise(p * 31.0);
    let mut color = GOLD.lerp(RUST, 0.9 * saddle(p, n));
    // Cream: throat, chest, belly, inside of the legs, and socks.
    let front = smoothstep(0.15, 0.62, -n.z - 0.35 * n.x.abs() + 5.0 * wander);
    let chest = front
        * smoothstep(-0.22, -0.27, p.z)
        * smoothstep(0.075, 0.045, p.x.abs() + wander)
        * smoothstep(0.44, 0.48, p.y);
    let belly = smoothstep(-0.25, -0.80, n.y + 4.0 * wander) * smoothstep(0.36, 0.40, p.y);
    let inside = smoothstep(0.15, 0.75, -n.x * p.x.signum() + 3.0 * wander)
        * smoothstep(0.52, 0.40, p.y)
        * 0.8;
    let sock = smoothstep(0.150, 0.125, p.y + wander * 1.4);
    color = color.lerp(CREAM, chest.max(0.85 * belly).max(inside).max(sock));
    // The tail's tip.
    let tail = p.z > 0.42 && p.y > 0.40;
    if tail {
        color = GOLD
            .lerp(RUST, 0.8 * smoothstep(-0.2, 0.6, n.y))
            .lerp(CREAM, smoothstep(0.635, 0.655, p.z + wander));
    }
    // Paws darken toward the floor.
    color *= mix(0.82, 1.0, smoothstep(0.0, 0.02, p.y));
    let form = form(p);
    Texel {
        color: color * (tone * (1.0 + 0.10 * form)),
        height: height + 0.0022 * form,
    }
}

/// Relief under the short coat, −1..1: ribs behind the elbow, grooves around shoulder and thigh.
fn form(p: DVec3) -> f64 {
    let side = smoothstep(0.05, 0.075, p.x.abs());
    // Ribs slope back and down.
    let along = p.z + 0.30 * (p.y - 0.55);
    let cage = spot((along - 0.005).abs(), 0.075, 0.05) * spot((p.y - 0.545).abs(), 0.075, 0.07);
    let ribs = 0.45 * cage * wave(along / 0.030);
    // Behind the shoulder blade and its muscle; before and across the thigh.
    let groove = |from: DVec3, to: DVec3, width: f64| {
        let (p, way) = (DVec3::new(0.0, p.y, p.z) - from, to - from);
        let t = (p.dot(way) / way.length_squared()).clamp(0.0, 1.0);
        -spot((p - way * t).length(), width * 0.2, width * 1.6)
    };
    let v = |y: f64, z: f64| DVec3::new(0.0, y, z);
    let shoulder = groove(v(0.655, -0.105), v(0.455, -0.110), 0.026).min(groove(
        v(0.610, -0.215),
        v(0.560, -0.190),
        0.018,
    ));
    let thigh = groove(v(0.600, 0.335), v(0.470, 0.275), 0.026).min(groove(
        v(0.640, 0.195),
        v(0.545, 0.180),
        0.022,
    ));
    side * (ribs + 0.8 * shoulder + 0.8 * thigh)
}

fn face(p: DVec3, n: DVec3, saddle: f64) -> Texel {
    let (tone, height) = hair(p * 1.6);
    let wander = 0.008 * noise(p * 30.0);
    let side = p.x.abs();
    let mut color = GOLD.lerp(RUST, 0.9 * saddle);
    // A dark mask toward the nose, a cream blaze, cheeks and chin.
    let cheek = smoothstep(0.925, 0.895, p.y + wander) * smoothstep(-0.60, -0.52, p.z);
    color = color.lerp(CREAM, 0.85 * cheek);
    let mask = smoothstep(-0.520, -0.590, p.z + 2.0 * wander);
    color = color.lerp(DARK, 0.88 * mask);
    let chin = smoothstep(-0.1, -0.7, n.y) * smoothstep(-0.64, -0.60, p.z);
    color = color.lerp(CREAM, 0.6 * chin * (1.0 - mask));
    let blaze = spot(side + wander * 0.6, 0.0085, 0.005)
        * smoothstep(0.3, 0.6, n.y)
        * smoothstep(-0.605, -0.585, p.z)
        * smoothstep(-0.40, -0.44, p.z);
    color = color.lerp(CREAM, blaze);
    // Dark rims around the eyes, with a streak toward the ear.
    let d = (DVec3::new(side, p.y, p.z) - EYE_AT) * DVec3::new(0.6, 1.0, 1.0);
    let rim = spot((d - DVec3::new(0.0, 0.0, -0.002)).length(), 0.0150, 0.005);
    color = color.lerp(DARK * 0.8, 0.9 * rim);
    // The mouth's line.
    let lip = p.y - 0.872 - 0.12 * (p.z + 0.60).max(0.0) - 0.35 * (p.z + 0.515).max(0.0);
    let mouth =
        line(lip, 0.0030) * smoothstep(-0.640, -0.630, p.z) * smoothstep(-0.492, -0.500, p.z);
    color = color.lerp(DARK * 0.45, 0.9 * mouth);
    Texel {
        color: color * tone,
        height: height * 0.7 - 0.0012 * mouth,
    }
}

fn ear(p: DVec3, n: DVec3) -> Texel {
    let (tone, height) = hair(p * 1.4);
    let wander = 0.006 * noise(p * 40.0);
    let s = p.x.signum();
    let front = n.dot(DVec3::new(0.45 * s, 0.0, -0.9));
    let mut color = RUST.lerp(DARK, smoothstep(1.00, 1.045, p.y + wander));
    let hollow = smoothstep(0.45, 0.85, front)
        * smoothstep(1.05, 1.03, p.y + wander)
        * smoothstep(0.955, 0.975, p.y);
    color = color.lerp(INNER_EAR, 0.8 * hollow);
    Texel {
        color: color * tone,
        height,
    }
}

fn eye(p: DVec3) -> Texel {
    let s = p.x.signum();
    let look = DVec3::new(0.62 * s, 0.05, -0.80).normalize();
    let d = (p - EYE_AT * DVec3::new(s, 1.0, 1.0)).normalize_or(look);
    let off = (d - look).length();
    let mut color = DVec3::new(0.16, 0.09, 0.06);
    color = color.lerp(DVec3::new(0.62, 0.34, 0.10), spot(off, 0.62, 0.12));
    color = color.lerp(
        DVec3::new(0.80, 0.52, 0.18),
        spot(
            (d - look - DVec3::new(0.0, -0.20, 0.0)).length(),
            0.30,
            0.30,
        ),
    );
    color = color.lerp(DVec3::splat(0.02), spot(off, 0.34, 0.08));
    let glint = (d - look - DVec3::new(-0.16, 0.24, 0.0)).length();
    color = color.lerp(DVec3::ONE, spot(glint, 0.15, 0.06));
    Texel { color, height: 0.0 }
}

fn kerchief(p: DVec3) -> Texel {
    let folds = noise(DVec3::new(p.x * 14.0, p.y * 46.0, p.z * 46.0)) + 0.5 * noise(p * 60.0);
    // A trim along the sides that rise from the corner.
    let edge = line(p.y - CORNER - 0.024 - RISE * p.x.abs(), 0.010) * smoothstep(-0.30, -0.31, p.z);
    let color = SCARF * (1.0 + 0.10 * folds + 0.04 * noise(p * 190.0));
    Texel {
        color: color.lerp(TRIM, 0.9 * edge),
        height: 0.0016 * folds,
    }
}

fn girth(p: DVec3) -> Texel {
    let mut texel = leather(p, LEATHER);
    let along = DVec3::new(0.0, 0.16, 1.0).normalize();
    let x = p.dot(along) - DVec3::new(0.0, 0.55, -0.030).dot(along);
    texel.color = texel.color.lerp(TEAL, spot(x.abs(), 0.0125, 0.002));
    let stitch = line(x.abs() - 0.0155, 0.0022) * dash(p.y + p.x * 0.5);
    texel.color = texel.color.lerp(TRIM, 0.85 * stitch);
    texel
}
