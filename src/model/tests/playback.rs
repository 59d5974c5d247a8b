use super::*;

#[test]
fn the_remainder_is_that_of_a_euclidean_division_to_the_bit() {
    let mut random = fastrand::Rng::with_seed(5);
    for i in 0..200_000 {
        let period = (random.f64() + 0.01) * 10.0_f64.powi(random.i32(-4..4));
        let rounds = [
            random.f64() * 3.0,
            random.f64() * 2e6,
            f64::from(random.u32(..2000)),
            -random.f64() * 9.0,
        ];
        let near = [0, 1, -1][random.usize(..3)];
        let position = rounds[random.usize(..4)] * period;
        let position = f64::from_bits((position.to_bits() as i64 + near) as u64);
        let expected = position.rem_euclid(period);
        assert_eq!(
            remainder(position, period).to_bits(),
            expected.to_bits(),
            "{i}: {position} in {period}"
        );
    }
}
