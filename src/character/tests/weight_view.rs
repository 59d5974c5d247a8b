use super::*;

#[test]
fn weights_go_from_blue_over_cyan_green_and_yellow_to_red() {
    let steps = [
        (0.0, [0.16, 0.28, 0.85]),
        (0.25, [0.0, 0.775, 0.775]),
        (0.5, [0.0, 0.85, 0.0]),
        (0.75, [0.925, 0.925, 0.0]),
        (1.0, [1.0, 0.0, 0.0]),
        (7.0, [1.0, 0.0, 0.0]),
        (f32::NAN, [0.16, 0.28, 0.85]),
    ];
    for (weight, color) in steps {
        let found = weight_color(weight).to_srgba().to_f32_array_no_alpha();
        assert!(
            Vec3::from(found).abs_diff_eq(Vec3::from(color), 1e-6),
            "{weight}: {found:?}"
        );
    }
    // No steps: similar weights have similar colors.
    for i in 0..1000 {
        let [a, b] = [i, i + 1].map(|i| weight_color(i as f32 / 1000.0).to_srgba().to_vec3());
        assert!(a.distance(b) < 0.01, "{i}");
    }
}

#[test]
fn each_number_of_influences_has_a_color_of_its_own() {
    let colors = [0, 1, 2, 3, 4, 5].map(|count| influence_count_color(count).to_srgba().to_vec3());
    for (i, a) in colors.iter().enumerate() {
        assert!(colors[..i].iter().all(|b| a.distance(*b) > 0.3));
    }
}
