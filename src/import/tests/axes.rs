use super::*;
use std::f32::consts::FRAC_PI_2;

fn bases() -> Vec<Basis> {
    let mut out = Vec::new();
    for up in [UpAxis::Y, UpAxis::Z] {
        for right_handed in [false, true] {
            let settings = ImportSettings {
                scale: 0.5,
                up,
                ..ImportSettings::default()
            };
            out.push(Basis::new("f", &settings, right_handed, UpAxis::Y).unwrap());
        }
    }
    out
}

fn transform() -> JointTransform {
    JointTransform {
        translation: Vec3::new(1.0, -2.0, 3.0),
        rotation: Quat::from_xyzw(0.1, 0.7, -0.3, 0.4).normalize(),
        scale: Vec3::new(1.0, 2.0, 0.5),
    }
}

#[test]
fn forward_up_and_right_land_on_bevys() {
    let settings = ImportSettings::default();
    let basis =
        |right, up| Basis::new("f", &ImportSettings { up, ..settings }, right, UpAxis::Y).unwrap();
    let (forward, up, right) = (Vec3::NEG_Z, Vec3::Y, Vec3::X);
    let md5 = basis(true, UpAxis::Z);
    assert_eq!(
        [Vec3::X, Vec3::Z, Vec3::NEG_Y].map(|v| md5.point(v)),
        [forward, up, right]
    );
    let d3d = basis(false, UpAxis::Auto);
    assert_eq!(
        [Vec3::Z, Vec3::Y, Vec3::X].map(|v| d3d.point(v)),
        [forward, up, right]
    );
    let left_z = basis(false, UpAxis::Z);
    assert_eq!(
        [Vec3::X, Vec3::Z, Vec3::Y].map(|v| left_z.point(v)),
        [forward, up, right]
    );
    assert_eq!([md5, d3d, left_z].map(|b| b.mirrors()), [false, true, true]);
    assert_eq!(
        md5.point(Vec3::new(1.0, 2.0, 3.0)),
        Vec3::new(-2.0, 3.0, -1.0)
    );
}

#[test]
fn a_changed_transform_moves_a_changed_point_to_the_changed_place() {
    let (transform, point) = (transform(), Vec3::new(0.3, 5.0, -7.0));
    let moved = transform.to_affine().transform_point3(point);
    for basis in bases() {
        let expected = basis.point(moved);
        let got = basis
            .transform(transform)
            .to_affine()
            .transform_point3(basis.point(point));
        assert!(
            (got - expected).length() < 1e-5,
            "{basis:?}: {got} {expected}"
        );
        let got = basis
            .affine(transform.to_affine())
            .transform_point3(basis.point(point));
        assert!(
            (got - expected).length() < 1e-5,
            "{basis:?}: {got} {expected}"
        );
    }
}

#[test]
fn the_inverse_undoes_everything() {
    for basis in bases() {
        let back = basis.inverse();
        let there = basis.transform(transform());
        assert_eq!(back.transform(there), transform());
        assert_eq!(
            back.affine(basis.affine(transform().to_affine())),
            transform().to_affine()
        );
        assert_eq!(basis.mirrors(), back.mirrors());
    }
}

#[test]
fn a_mirror_turns_the_sense_of_a_rotation_around() {
    let d3d = bases()[0];
    let turned = d3d.rotation(Quat::from_rotation_y(FRAC_PI_2));
    assert_eq!(turned, Quat::from_rotation_y(-FRAC_PI_2));
    assert_eq!(
        d3d.rotation(Quat::from_rotation_z(1.0)),
        Quat::from_rotation_z(1.0)
    );
}

#[test]
fn a_scale_that_is_not_positive_and_finite_is_an_error() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let settings = ImportSettings {
            scale,
            ..ImportSettings::default()
        };
        assert!(
            Basis::new("f", &settings, true, UpAxis::Y).is_err(),
            "{scale}"
        );
    }
}
