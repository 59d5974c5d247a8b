//! The Hound's head: a long muzzle, pricked ears, eyes and nose.

use super::super::{
    field::{Clip, Layer, Shape, Solid},
    rig::Rig,
    solids::{ROUND, carved, cone, egg, solids, tilted},
};
use super::{
    shape::part,
    skeleton::{HEAD_GROWTH, SIDES, drawn, grown},
};
use glam::{DMat3, DVec3};

/// Center of the right eye.
pub const EYE_AT: DVec3 = DVec3::new(0.036, 0.938, -0.487);

/// Scales solids from the design to the head's size.
fn grow(mut list: Vec<Solid>) -> Vec<Solid> {
    // The fixed point of the scaling.
    let still = grown(DVec3::ZERO) / (1.0 - HEAD_GROWTH);
    for solid in &mut list {
        solid.shape = solid.shape.grown(still, HEAD_GROWTH);
    }
    list
}

pub fn skull(rig: &Rig) -> Layer {
    let (head, jaw) = (rig.find("head"), rig.find("jaw"));
    let v = DVec3::new;
    let mut list = vec![
        tilted(
            egg(head, v(0.0, 0.938, -0.430), v(0.057, 0.052, 0.078)),
            DVec3::X,
            -10.0,
        ),
        egg(head, v(0.0, 0.915, -0.470), v(0.047, 0.046, 0.062)),
        // The muzzle, its bridge and its end.
        cone(
            head,
            v(0.0, 0.917, -0.500),
            0.036,
            v(0.0, 0.893, -0.616),
            0.0240,
            v(0.88, 1.0, 1.0),
        ),
        cone(
            head,
            v(0.0, 0.936, -0.510),
            0.019,
            v(0.0, 0.907, -0.620),
            0.0135,
            ROUND,
        ),
        cone(
            head,
            v(0.0, 0.886, -0.598),
            0.0240,
            v(0.0, 0.892, -0.624),
            0.0200,
            ROUND,
        ),
        // The lower jaw.
        cone(
            jaw,
            v(0.0, 0.888, -0.470),
            0.028,
            v(0.0, 0.866, -0.596),
            0.0150,
            v(0.92, 1.0, 1.0),
        ),
    ];
    for (_, s) in SIDES {
        // Cheeks, lips and brows.
        list.push(egg(
            head,
            v(0.036 * s, 0.905, -0.445),
            v(0.026, 0.034, 0.042),
        ));
        list.push(cone(
            head,
            v(0.017 * s, 0.888, -0.520),
            0.019,
            v(0.012 * s, 0.878, -0.602),
            0.015,
            ROUND,
        ));
        list.push(cone(
            head,
            v(0.022 * s, 0.962, -0.482),
            0.013,
            v(0.046 * s, 0.955, -0.455),
            0.013,
            ROUND,
        ));
        list.push(carved(egg(
            head,
            v(0.045 * s, 0.937, -0.496),
            v(0.014, 0.013, 0.018),
        )));
    }
    solids(part::FACE, 0.022, 0.02, grow(list))
}

/// A leaf shape from `base` to `tip`, with its hollow toward `front`.
fn leaf(bone: usize, base: DVec3, tip: DVec3, wide: f64, thick: f64, front: DVec3) -> Solid {
    let y = (tip - base).normalize();
    let z = front.reject_from_normalized(y).normalize();
    let radii = DVec3::new(wide, base.distance(tip) * 0.5, thick);
    let shape = Shape::Ellipsoid {
        center: (base + tip) * 0.5,
        radii,
        axes: DMat3::from_cols(y.cross(z), y, z),
    };
    Solid {
        shape,
        bone,
        carve: false,
    }
}

/// Pricked, with the tips tipped forward.
pub fn ears(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for (side, s) in SIDES {
        let [low, high] = [1, 2].map(|i| rig.find(&format!("ear.{i}.{side}")));
        let [base, fold] = [low, high].map(|j| drawn(rig.joints[j].position));
        let up = (fold - base).normalize();
        let front = DVec3::new(0.60 * s, 0.0, -1.0).normalize();
        list.push(leaf(
            low,
            base - up * 0.034,
            fold + up * 0.024,
            0.036,
            0.019,
            front,
        ));
        list.push(leaf(
            low,
            base - up * 0.004,
            fold + up * 0.020,
            0.031,
            0.012,
            front,
        ));
        // Over the fold, and down in front.
        let over = fold + up * 0.012 + front * 0.008;
        let tip = over + front * 0.040 - DVec3::Y * 0.030 + DVec3::X * (0.010 * s);
        list.push(leaf(
            high,
            fold - up * 0.006 - front * 0.012,
            tip,
            0.027,
            0.0125,
            up,
        ));
        list.push(cone(
            high,
            over - front * 0.006,
            0.0125,
            over.lerp(tip, 0.85),
            0.0070,
            ROUND,
        ));
        let hollow = front * 0.021;
        list.push(carved(leaf(
            low,
            base - up * 0.004 + hollow,
            fold - up * 0.012 + hollow,
            0.022,
            0.016,
            front,
        )));
    }
    solids(part::EAR, 0.010, 0.016, grow(list))
}

pub fn eyes(rig: &Rig) -> Layer {
    let list = SIDES.map(|(_, s)| {
        egg(
            rig.find("head"),
            EYE_AT * DVec3::new(s, 1.0, 1.0),
            DVec3::new(0.0135, 0.0125, 0.0145),
        )
    });
    solids(part::EYE, 0.001, 0.002, grow(list.to_vec()))
}

/// The upper (`s` = 1) or the lower lids.
pub fn lids(rig: &Rig, s: f64) -> Layer {
    let lid = |(_, side): (&str, f64)| {
        egg(
            rig.find("head"),
            EYE_AT * DVec3::new(side, 1.0, 1.0),
            DVec3::new(0.0152, 0.0145, 0.0162),
        )
    };
    let mut layer = solids(part::FACE, 0.001, 0.004, grow(SIDES.map(lid).to_vec()));
    // Upper lids slope down, outward and back; an almond shape stays open between the two.
    let normal = DVec3::new(0.0, -s, if s > 0.0 { -0.22 } else { 0.10 }).normalize();
    let open = if s > 0.0 { 0.0035 } else { 0.0070 };
    layer.clips.push(Clip {
        normal,
        offset: normal.dot(grown(EYE_AT + DVec3::Y * (open * s))),
    });
    layer
}

pub fn nose(rig: &Rig) -> Layer {
    let head = rig.find("head");
    let v = DVec3::new;
    let mut list = vec![
        egg(head, v(0.0, 0.904, -0.637), v(0.019, 0.0145, 0.0155)),
        cone(
            head,
            v(0.0, 0.901, -0.640),
            0.010,
            v(0.0, 0.888, -0.640),
            0.006,
            ROUND,
        ),
    ];
    for (_, s) in SIDES {
        list.push(carved(egg(
            head,
            v(0.0095 * s, 0.901, -0.654),
            v(0.0048, 0.0042, 0.007),
        )));
    }
    solids(part::NOSE, 0.006, 0.003, grow(list))
}
