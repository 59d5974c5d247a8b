//! Scout's paint: colors, and the fine relief of cloth, leather and hair.

use super::super::{
    bake::{Paint, Texel},
    maths::{mix, noise, smoothstep, wave},
    strokes::{dash, leather, line, spot},
};
use super::face::{at_eye, at_mouth, lids};
use super::shape::part::*;
use super::skeleton::{HEAD_GROWTH, HEAD_PIVOT};
use glam::DVec3;

/// Scout's paint.
pub struct ScoutPaint;

const SKIN: DVec3 = DVec3::new(0.90, 0.67, 0.53);
const BLUSH: DVec3 = DVec3::new(0.86, 0.46, 0.38);
const LIP: DVec3 = DVec3::new(0.78, 0.40, 0.35);
const HAIR_COLOR: DVec3 = DVec3::new(0.42, 0.19, 0.10);
const JACKET_COLOR: DVec3 = DVec3::new(0.20, 0.40, 0.36);
const JACKET_TRIM: DVec3 = DVec3::new(0.86, 0.72, 0.42);
const SCARF_COLOR: DVec3 = DVec3::new(0.84, 0.30, 0.16);
const TROUSER_COLOR: DVec3 = DVec3::new(0.27, 0.27, 0.35);
const ROLL_COLOR: DVec3 = DVec3::new(0.62, 0.55, 0.42);
const LEATHER: DVec3 = DVec3::new(0.42, 0.26, 0.15);
const LEATHER_DARK: DVec3 = DVec3::new(0.27, 0.17, 0.11);
const BRASS: DVec3 = DVec3::new(0.87, 0.68, 0.30);

impl Paint for ScoutPaint {
    fn texel(&self, part: u8, p: DVec3, n: DVec3) -> Texel {
        match part {
            FACE => face(p, drawn(p), n),
            EYE => eye(p),
            MOUTH_INSIDE => mouth(p),
            TEETH => Texel {
                color: DVec3::new(0.93, 0.91, 0.86),
                height: 0.0,
            },
            HAND => hand(p),
            HAIR => hair(drawn(p)),
            JACKET => jacket(p, n),
            SCARF => scarf(p),
            TROUSERS => trousers(p),
            ROLL => roll(p),
            KNEE | CUFF => leather(p, LEATHER * 1.05),
            BOOT => boot(p),
            SOLE => Texel {
                color: DVec3::splat(0.17) + 0.02 * noise(p * 60.0),
                height: 0.0,
            },
            BELT => belt(p),
            STRAP => strap(p),
            _ => pack(p, n),
        }
    }
}

/// Maps a point of the scaled head back to the design.
fn drawn(p: DVec3) -> DVec3 {
    HEAD_PIVOT + (p - HEAD_PIVOT) / HEAD_GROWTH
}

fn face(world: DVec3, p: DVec3, n: DVec3) -> Texel {
    let tone = 1.0 + 0.03 * noise(p * 35.0);
    let mut color = SKIN * tone;
    let mut height = 0.0002 * noise(p * 60.0);
    let side = p.x.abs();
    let front = smoothstep(-0.02, -0.06, p.z);
    let cheek = DVec3::new(side - 0.060, (p.y - 1.590) * 1.2, 0.0).length();
    color = color.lerp(
        BLUSH,
        0.38 * front * (1.0 - smoothstep(0.008, 0.036, cheek)),
    );
    let nose = (p - DVec3::new(0.0, 1.592, -0.148)).length();
    color = color.lerp(BLUSH, 0.35 * (1.0 - smoothstep(0.008, 0.03, nose)));
    color = color.lerp(BLUSH, 0.30 * smoothstep(0.098, 0.115, side));

    if front > 0.0 && n.z < 0.2 {
        let sign = p.x.signum();
        let (x, y) = ((side - 0.0435) * 1000.0, (p.y - 1.6295) * 1000.0); // millimeters from the eye
        let (upper, lower) = lids(x);
        let lash = spot(
            (y - upper).abs(),
            mix(1.1, 2.3, smoothstep(-15.0, 15.0, x)),
            0.9,
        ) * smoothstep(21.0, 18.5, x.abs());
        let under = 0.35 * spot((y - lower).abs(), 0.6, 0.8) * smoothstep(18.5, 15.0, x.abs());
        color = color.lerp(DVec3::new(0.13, 0.07, 0.05), lash.max(under));
        height += 0.0007 * lash;
        let crease =
            0.30 * spot((y - upper - 5.0).abs(), 0.6, 1.2) * smoothstep(17.0, 10.0, x.abs());
        color = color.lerp(BLUSH * 0.75, crease);

        let brow = y - 25.5 - 2.2 * (1.0 - (x / 14.0) * (x / 14.0));
        let thick = mix(3.6, 1.5, smoothstep(-16.0, 20.0, x));
        let hairs = spot(brow.abs(), thick, 1.6) * smoothstep(23.0, 19.5, x.abs());
        color = color.lerp(HAIR_COLOR * 0.85, 0.95 * hairs);
        height += 0.0006 * hairs;

        // Lips, darker where they meet.
        let (mx, my) = at_mouth(world);
        let full = (1.0 - (mx / 21.0) * (mx / 21.0)).max(0.0).sqrt();
        let edge = if my > 0.0 { 4.2 } else { 5.6 } * full;
        let lip = smoothstep(edge + 1.2, edge - 1.2, my.abs()) * smoothstep(21.5, 17.0, mx.abs());
        color = color.lerp(LIP, 0.75 * lip);
        let seam = smoothstep(1.0, 0.1, my.abs()) * smoothstep(22.5, 20.0, mx.abs());
        color = color.lerp(DVec3::new(0.42, 0.16, 0.13), 0.8 * seam);
        height += 0.0006 * lip;
        // Freckles.
        let grid = DVec3::new((x * 0.28).floor(), (y * 0.28).floor(), sign);
        let place = DVec3::new(noise(grid * 7.31), noise(grid * 3.77), 0.0) * 1.3;
        let offset = DVec3::new(x * 0.28, y * 0.28, 0.0)
            - DVec3::new(grid.x + 0.5, grid.y + 0.5, 0.0)
            - place * 0.25;
        let zone = spot(((x + 6.0) * 0.8).abs() + (y + 24.0).abs() * 1.6, 19.0, 12.0);
        color = color.lerp(
            SKIN * DVec3::new(0.74, 0.62, 0.55),
            0.32 * zone * spot(offset.length(), 0.24, 0.2),
        );
    }
    Texel { color, height }
}

fn eye(p: DVec3) -> Texel {
    let (x, y) = at_eye(p);
    let sign = p.x.signum();
    let (ix, iy) = (x + 1.5, y - 0.8);
    let iris = (ix * ix + iy * iy).sqrt();
    // In the shadow of the upper lid.
    let mut eye = DVec3::new(0.95, 0.94, 0.92) * mix(0.74, 1.0, smoothstep(13.0, 3.0, y));
    let ring =
        DVec3::new(0.10, 0.22, 0.17).lerp(DVec3::new(0.30, 0.60, 0.40), smoothstep(5.0, -8.0, iy));
    eye = eye.lerp(ring, spot(iris, 9.2, 0.7));
    eye = eye.lerp(
        DVec3::new(0.07, 0.13, 0.10),
        spot((iris - 9.0).abs(), 0.8, 0.7),
    );
    eye = eye.lerp(DVec3::splat(0.03), spot(iris, 4.6, 0.6));
    // A highlight at the upper left of both eyes.
    let (gx, gy) = (ix + 3.2 * sign, iy - 3.8);
    eye = eye.lerp(DVec3::ONE, spot((gx * gx + gy * gy).sqrt(), 2.5, 0.6));
    Texel {
        color: eye,
        height: 0.0,
    }
}

fn mouth(p: DVec3) -> Texel {
    let (x, y) = at_mouth(p);
    let dark = DVec3::new(0.30, 0.09, 0.09);
    // The tongue lies at the bottom.
    let tongue = smoothstep(-3.0, -6.0, y) * smoothstep(17.0, 12.0, x.abs());
    Texel {
        color: dark.lerp(DVec3::new(0.80, 0.38, 0.38), tongue),
        height: 0.0,
    }
}

fn hand(p: DVec3) -> Texel {
    let tone = 1.0 + 0.04 * noise(p * 45.0);
    Texel {
        color: SKIN.lerp(BLUSH, 0.14 + 0.08 * noise(p * 28.0)) * tone,
        height: 0.0,
    }
}

fn hair(p: DVec3) -> Texel {
    // Strands run down and back from the crown, and down the ponytail.
    let crown = p - DVec3::new(0.0, 1.70, 0.02);
    let angle = crown.x * 38.0 / (0.04 + crown.length()) + 3.0 * noise(p * 14.0);
    let strand = noise(DVec3::new(
        angle,
        p.y * 9.0,
        p.z * 26.0 + 2.0 * noise(p * 20.0),
    ));
    let fine = noise(DVec3::new(angle * 3.1, p.y * 20.0, p.z * 80.0));
    let band = spot((p - DVec3::new(0.0, 1.698, 0.135)).length(), 0.034, 0.004);
    let color = HAIR_COLOR * (1.0 + 0.28 * strand + 0.12 * fine)
        + DVec3::new(0.10, 0.05, 0.02) * strand.max(0.0);
    Texel {
        color: color.lerp(SCARF_COLOR * 0.9, band),
        height: (0.0016 * strand + 0.0006 * fine) * (1.0 - band),
    }
}

fn jacket(p: DVec3, n: DVec3) -> Texel {
    let folds = noise(DVec3::new(p.x * 16.0, p.y * 30.0, p.z * 16.0)) + 0.5 * noise(p * 42.0);
    let mut color = JACKET_COLOR * (1.0 + 0.07 * folds + 0.03 * noise(p * 150.0));
    let mut height = 0.0022 * folds;
    // Everything below the ends of the sleeves is the skirt, however wide it flares.
    let torso = (p.x.abs() < 0.19 && p.y < 1.40) || p.y < 0.99;
    let mut trim = 0.0f64;
    let mut stitch = 0.0f64;
    if torso {
        // A hem, a front closure with buttons, two breast pockets.
        trim = trim.max(spot((p.y - 0.850).abs(), 0.022, 0.003));
        if n.z < 0.1 {
            let placket = spot((p.x - 0.012).abs(), 0.020, 0.002);
            height += 0.0012 * placket;
            color *= 1.0 - 0.06 * placket;
            stitch = stitch.max(line((p.x - 0.012).abs() - 0.0185, 0.0022) * dash(p.y));
            let button = ((p.y - 0.90) / 0.075).round() * 0.075 + 0.90;
            let at = DVec3::new(p.x - 0.012, p.y - button, 0.0).length();
            let brass = spot(at, 0.0085, 0.0015);
            color = color.lerp(BRASS * (1.0 - 0.3 * spot(at, 0.003, 0.002)), brass);
            height += 0.002 * brass;
            for side in [-1.0, 1.0] {
                let (x, y) = (p.x * side - 0.098, p.y - 1.245);
                let edge = (x.abs() - 0.036).max(y.abs() - 0.034);
                let flap = (x.abs() - 0.038)
                    .max((y - 0.024).abs() - 0.014 - 0.25 * (0.038 - x.abs()).min(0.02));
                height += 0.0016 * spot(edge, 0.0, 0.003) + 0.0012 * spot(flap, 0.0, 0.003);
                color *= 1.0 - 0.25 * line(edge, 0.0022) - 0.3 * line(flap, 0.0026);
                stitch = stitch.max(line(flap + 0.005, 0.002) * dash(p.x));
            }
        }
    } else {
        // Elbow patches and a stripe round the upper arm.
        let s = p.x.signum();
        let elbow = (p - DVec3::new(0.352 * s, 1.192, 0.085)).length();
        let patch = spot(elbow, 0.052, 0.003);
        color = color.lerp(LEATHER * (1.0 + 0.1 * noise(p * 90.0)), patch);
        stitch = stitch.max(line(elbow - 0.047, 0.0022) * dash(p.y + p.x) * 0.8);
        height += 0.0010 * patch;
        let along =
            (p - DVec3::new(0.168 * s, 1.385, 0.012)).dot(DVec3::new(0.686 * s, -0.728, 0.0));
        trim = trim
            .max(line(along - 0.125, 0.020))
            .max(line(along - 0.153, 0.006));
    }
    color = color.lerp(
        JACKET_TRIM * (1.0 + 0.05 * noise(p * 120.0)),
        trim.max(0.85 * stitch),
    );
    Texel {
        color,
        height: height + 0.0006 * trim,
    }
}

fn scarf(p: DVec3) -> Texel {
    let folds = noise(DVec3::new(p.x * 9.0, p.y * 60.0, p.z * 9.0)) + 0.5 * noise(p * 50.0);
    let tail = smoothstep(0.165, 0.17, -p.x) * smoothstep(1.30, 1.20, p.y);
    let stripes = (line(p.y - 1.150, 0.012) + line(p.y - 1.126, 0.012)) * tail;
    let color = SCARF_COLOR * (1.0 + 0.12 * folds + 0.04 * noise(p * 170.0));
    Texel {
        color: color.lerp(JACKET_TRIM, 0.9 * stripes.min(1.0)),
        height: 0.0024 * folds,
    }
}

fn trousers(p: DVec3) -> Texel {
    let folds = noise(DVec3::new(p.x * 14.0, p.y * 26.0, p.z * 14.0)) + 0.6 * noise(p * 36.0);
    let seam = line(p.z - 0.004, 0.004) * smoothstep(0.13, 0.15, p.x.abs());
    let color = TROUSER_COLOR * (1.0 + 0.09 * folds + 0.03 * noise(p * 160.0) - 0.25 * seam);
    Texel {
        color,
        height: 0.0026 * folds - 0.0006 * seam,
    }
}

fn roll(p: DVec3) -> Texel {
    let around = DVec3::new(0.0, p.y - 1.085, p.z - 0.160).length();
    let end = smoothstep(0.148, 0.153, p.x.abs());
    let spiral = wave(around / 0.013) * end;
    let buckle = (line(p.x.abs() - 0.085, 0.022)) * (1.0 - end);
    let color =
        ROLL_COLOR * (1.0 + 0.10 * noise(p * 30.0) + 0.04 * noise(p * 140.0) + 0.16 * spiral);
    Texel {
        color: color.lerp(LEATHER_DARK, buckle),
        height: 0.0012 * noise(p * 40.0) + 0.0008 * spiral + 0.0014 * buckle,
    }
}

fn boot(p: DVec3) -> Texel {
    let mut texel = leather(p, LEATHER);
    let top = smoothstep(0.314, 0.316, p.y);
    texel.color = texel.color.lerp(texel.color * 1.25, top);
    // Laces up the front of the shaft, a strap over the instep, a toe cap.
    let s = p.x.signum();
    let across = p.x - 0.113 * s;
    let front =
        smoothstep(-0.01, -0.03, p.z) * smoothstep(0.12, 0.13, p.y) * smoothstep(0.312, 0.306, p.y);
    let rung = ((p.y / 0.032).fract() - 0.5) * 0.032;
    let lace = front * line(rung - across.abs() * 0.25, 0.006) * spot(across.abs(), 0.024, 0.003);
    let tongue = front * spot(across.abs(), 0.022, 0.003);
    texel.color = texel
        .color
        .lerp(LEATHER_DARK, 0.75 * tongue)
        .lerp(JACKET_TRIM, 0.9 * lace);
    texel.height += 0.0016 * lace - 0.0008 * tongue;
    let strap =
        line(p.y - 0.118 - 0.10 * (p.z - 0.02), 0.024) * smoothstep(0.09, 0.092, p.y + 0.06);
    texel.color = texel.color.lerp(LEATHER_DARK * 1.15, strap * 0.9);
    texel.height += 0.0014 * strap;
    let buckle = (p - DVec3::new(0.172 * s, 0.118, 0.012)).length();
    texel.color = texel.color.lerp(
        BRASS,
        spot(buckle, 0.013, 0.002) - spot(buckle, 0.007, 0.002),
    );
    let cap = spot((p.z + 0.137).abs(), 0.002, 0.003) * smoothstep(0.02, 0.03, p.y);
    texel.color *= 1.0 - 0.45 * cap;
    texel.height -= 0.0008 * cap;
    texel
}

fn belt(p: DVec3) -> Texel {
    let mut texel = leather(p, LEATHER_DARK * 1.15);
    let (x, y) = (p.x.abs(), (p.y - 1.007).abs());
    if p.z < -0.10 && x < 0.034 && y < 0.026 {
        let frame = (x - 0.022).abs().min((y - 0.016).abs());
        let metal = spot(frame, 0.0045, 0.001).max(line(p.x - 0.004, 0.005));
        texel.color = texel.color.lerp(BRASS, metal);
        texel.height += 0.0015 * metal;
    }
    if p.y < 0.99 {
        // Pouches: a flap with a stud.
        let flap = line(p.y - 0.955, 0.0025);
        texel.color *= 1.0 - 0.45 * flap;
        texel.color *= if p.y > 0.955 { 1.22 } else { 1.38 };
        texel.height -= 0.001 * flap;
        let right = (p - DVec3::new(0.149, 0.962, -0.080)).length();
        let left = (p - DVec3::new(-0.184, 0.962, -0.016)).length();
        texel.color = texel.color.lerp(BRASS, spot(right.min(left), 0.007, 0.002));
    }
    texel
}

fn strap(p: DVec3) -> Texel {
    let mut texel = leather(p, LEATHER_DARK * 1.25);
    let buckle = DVec3::new(0.0, p.y - 1.21, 0.0).length();
    if p.z < 0.0 {
        let metal = spot((buckle - 0.012).abs(), 0.004, 0.001);
        texel.color = texel.color.lerp(BRASS, metal);
        texel.height += 0.0015 * metal;
    }
    texel
}

fn pack(p: DVec3, n: DVec3) -> Texel {
    let mut texel = leather(p, DVec3::new(0.50, 0.35, 0.20));
    let flap = line(p.y - 1.252, 0.003);
    texel.color *= 1.0 - 0.5 * flap;
    texel.height -= 0.0012 * flap;
    if p.y > 1.252 {
        texel.color *= 1.1;
    }
    let belts = line(p.x.abs() - 0.055, 0.020) * smoothstep(1.11, 1.12, p.y);
    texel.color = texel.color.lerp(LEATHER_DARK, belts * 0.95);
    texel.height += 0.0014 * belts;
    if n.z > 0.5 {
        let buckle = DVec3::new(p.x.abs() - 0.055, p.y - 1.262, 0.0).abs();
        let edge = (buckle.x - 0.010).max(buckle.y - 0.008);
        texel.color = texel.color.lerp(BRASS, spot(edge.abs(), 0.0028, 0.001));
    }
    texel
}
