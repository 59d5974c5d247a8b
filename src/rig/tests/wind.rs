use super::*;

#[test]
fn gusts_come_and_go_smoothly_and_travel_with_the_wind() {
    let wind = Wind {
        velocity: Vec3::new(3.0, 0.0, 4.0),
        gusts: 0.5,
        gust_length: 10.0,
    };
    let speeds: Vec<f32> = (0..1000)
        .map(|i| wind.at(Vec3::ZERO, f64::from(i) * 0.01).length())
        .collect();
    let (least, most) = speeds
        .iter()
        .fold((f32::MAX, 0.0_f32), |(a, b), &s| (a.min(s), b.max(s)));
    assert!(
        (2.5..3.5).contains(&least) && most <= 7.5 && most > 6.5,
        "{least} {most}"
    );
    assert!(
        speeds
            .windows(2)
            .all(|pair| (pair[0] - pair[1]).abs() < 0.2)
    );
    let later = wind.at(wind.velocity * 2.0, 12.0);
    assert!(later.distance(wind.at(Vec3::ZERO, 10.0)) < 1e-3);
    assert_eq!(
        Wind { gusts: 0.0, ..wind }.at(Vec3::ONE, 7.0),
        wind.velocity
    );
    assert_eq!(Wind::default().at(Vec3::ONE, 7.0), Vec3::ZERO);
}

#[test]
fn odd_numbers_are_still_a_velocity() {
    for odd in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let wind = Wind {
            velocity: Vec3::X,
            gusts: odd,
            gust_length: odd,
        };
        assert!(wind.at(Vec3::splat(1e9), 1e9).is_finite(), "{odd}");
    }
}
