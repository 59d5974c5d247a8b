use super::*;
use crate::model::JointTransform;
use crate::pose::simd::{self, Portable, bits_of};
use glam::{Quat, Vec3};

/// The results of every operation and every matrix product, as bits.
fn bits<S: Simd>(s: S, a: &Affine3A, b: &Affine3A, row: &SoaTransform) -> Vec<u32> {
    let mut numbers = Vec::new();
    let (left, right) = (Left::new(s, a), Columns::new(s, b));
    for right in [
        right,
        left.times(s, right),
        left.times(s, right).moved(s, b.translation),
    ] {
        let mut written = [Mat4::NAN; 2];
        left.times(s, right).write::<false>(s, &mut written[0]);
        left.times(s, right).write::<true>(s, &mut written[1]);
        s.fence();
        numbers.extend(written.iter().flat_map(Mat4::to_cols_array));
    }
    let scaled = Elements::new::<true>(s, row);
    let unscaled = Elements::new::<false>(s, row);
    for elements in [scaled, unscaled] {
        numbers.extend(
            left.times_lane::<0>(s, &elements)
                .to_affine(s)
                .to_cols_array(),
        );
        numbers.extend(
            left.times_lane::<3>(s, &elements)
                .to_affine(s)
                .to_cols_array(),
        );
    }
    let (x, y) = (
        s.pair(row.rotation.x, row.rotation.y),
        s.both(row.rotation.z),
    );
    for pair in [
        s.add(x, y),
        s.sub(x, y),
        s.mul(x, y),
        s.fma(x, y, x),
        s.lane::<1>(x),
        s.lane::<2>(x),
    ] {
        numbers.extend(s.rows(pair).iter().flat_map(|row| row.to_array()));
    }
    numbers.extend(
        s.fma_row(row.rotation.x, row.rotation.y, row.rotation.z)
            .to_array(),
    );
    numbers.into_iter().map(bits_of).collect()
}

#[test]
fn every_backend_gives_the_same_bits() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut number = || match random.u32(..8) {
        0 => [0.0, -0.0, 1.0, -1.0][random.usize(..4)],
        1 => (random.f32() - 0.5) * 1e20,
        2 => (random.f32() - 0.5) * 1e-20,
        _ => random.f32() * 4.0 - 2.0,
    };
    for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
        let [a, b] = [0; 2].map(|_| Affine3A::from_cols_array(&[0; 12].map(|_| number())));
        let row = SoaTransform::rows(&[0; 4].map(|_| JointTransform {
            translation: Vec3::from_array([0; 3].map(|_| number())),
            rotation: Quat::from_array([0; 4].map(|_| number())),
            scale: Vec3::from_array([0; 3].map(|_| number())),
        }))[0];
        let portable = bits(Portable, &a, &b, &row);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx) = simd::avx::Avx::detect() {
            assert_eq!(bits(avx, &a, &b, &row), portable);
        }
        let expected = std::array::from_fn(|column| {
            let [x, y, z] = b.to_cols_array_2d()[column];
            let first = a.matrix3.x_axis * x;
            let columns = a.to_cols_array_2d();
            std::array::from_fn::<_, 3, _>(|i| {
                let by_x = if column < 3 {
                    first[i]
                } else {
                    columns[0][i].mul_add(x, columns[3][i])
                };
                columns[2][i].mul_add(z, columns[1][i].mul_add(y, by_x))
            })
        });
        let expected = Mat4::from(Affine3A::from_cols_array_2d(&expected));
        assert_eq!(portable[..16], expected.to_cols_array().map(bits_of));
    }
}
