use super::*;

#[test]
fn vertices_a_rounding_error_apart_share_a_place_and_others_do_not() {
    let mut positions = Vec::new();
    for i in 0..1000 {
        let p = Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.1;
        positions.extend([p, p + 1e-7]);
    }
    let places = Places::new(&positions);
    let parted = places
        .of_vertex
        .chunks(2)
        .filter(|pair| pair[0] != pair[1])
        .count();
    assert_eq!((places.count, parted), (1000, 0));
}

#[test]
fn one_place_none_and_extreme_ones_work() {
    assert_eq!(Places::new(&[]).count, 0);
    assert_eq!(Places::new(&[Vec3::ONE; 5]).count, 1);
    assert_eq!(Places::new(&[Vec3::MAX, Vec3::MIN, Vec3::ZERO]).count, 3);
}
