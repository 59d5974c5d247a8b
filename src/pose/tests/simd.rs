use super::*;

#[test]
fn an_emulated_fma_rounds_once() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut number = || match random.u32(..6) {
        0 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ][random.usize(..8)],
        // Few digits: sums that lie halfway between two numbers, or almost.
        1 => (1.0 + random.u32(..8) as f32 * f32::EPSILON) * f32::powi(2.0, random.i32(-30..30)),
        2 => f32::from_bits(random.u32(..)),
        3 => f32::from_bits(random.u32(..1 << 24)),
        _ => random.f32() * 4.0 - 2.0,
    };
    for _ in 0..if cfg!(miri) { 1000 } else { 2_000_000 } {
        let [a, b, c] = [number(), number(), number()];
        assert_eq!(
            bits_of(emulated_fma(a, b, c)),
            bits_of(a.mul_add(b, c)),
            "{a:e} {b:e} {c:e}"
        );
    }
}
