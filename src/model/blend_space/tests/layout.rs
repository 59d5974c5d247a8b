use super::*;
use fastrand::Rng;

fn random_points(random: &mut Rng, count: usize) -> Vec<DVec2> {
    let grid = random.bool();
    let scale = DVec2::new(0.1 + random.f64() * 9.0, 360.0);
    let one = |random: &mut Rng| match grid {
        // On a grid, many points are on circles and lines.
        true => DVec2::new(
            f64::from(random.u8(..5)) * 0.1,
            f64::from(random.u8(..5)) * 0.1,
        ),
        false => DVec2::new(random.f64(), random.f64()),
    };
    (0..count).map(|_| one(random) * scale).collect()
}

fn dense(layout: &Layout, point: DVec2, count: usize) -> Vec<f64> {
    let mut weights = vec![0.0; count];
    layout
        .weights(layout.nearest(point))
        .iter()
        .for_each(|(index, weight)| weights[*index] += weight);
    weights
}

fn layouts(random: &mut Rng, wanted: usize) -> Vec<(Vec<DVec2>, Layout)> {
    let made = std::iter::repeat_with(|| {
        let count = random.usize(1..14);
        let mut points = random_points(random, count);
        points.sort_by(|a, b| (a.x, a.y).partial_cmp(&(b.x, b.y)).unwrap());
        points.dedup();
        Layout::new(&points).ok().map(|layout| (points, layout))
    });
    made.flatten().take(wanted).collect()
}

#[test]
fn each_point_has_all_the_weight_at_its_own_place() {
    for (points, layout) in layouts(&mut Rng::with_seed(1), 500) {
        for (at, point) in points.iter().enumerate() {
            let weights = dense(&layout, *point, points.len());
            assert!(weights[at] > 1.0 - 1e-6, "{points:?} {at} {weights:?}");
        }
    }
}

#[test]
fn weights_reproduce_the_place_and_sum_to_one() {
    let mut random = Rng::with_seed(2);
    for (points, layout) in layouts(&mut random, 500) {
        for _ in 0..40 {
            let wanted = DVec2::new(
                random.f64() * 1.5 - 0.25,
                (random.f64() * 1.5 - 0.25) * 400.0,
            );
            let place = layout.nearest(wanted);
            let weights = dense(&layout, wanted, points.len());
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let mean: DVec2 = points
                .iter()
                .zip(&weights)
                .map(|(point, weight)| *point * *weight)
                .sum();
            assert!(
                layout.distance(mean, place) < 1e-5,
                "{points:?}: {mean} {place}"
            );
            // A nearest point is its own nearest point.
            assert!(layout.distance(layout.nearest(place), place) < 1e-9);
            let to = |point: DVec2| layout.place(wanted).distance(layout.place(point));
            assert!(points.iter().all(|point| to(*point) > to(place) - 1e-6));
        }
    }
}

#[test]
fn weights_are_continuous_and_bend_only_where_it_says() {
    let mut random = Rng::with_seed(3);
    for (points, layout) in layouts(&mut random, 300) {
        let [from, to] = [0; 2].map(|_| {
            let wanted = DVec2::new(random.f64() * 9.0, random.f64() * 400.0);
            layout.nearest(wanted)
        });
        let mut bends = vec![0.0];
        while let Some(bend) = layout.next_bend(from, to, bends[bends.len() - 1]) {
            bends.push(bend);
            assert!(bends.len() < 300);
        }
        bends.push(1.0);
        let at = |part: f64| dense(&layout, from + (to - from) * part, points.len());
        for pair in bends.windows(2) {
            let [begin, end] = [at(pair[0]), at(pair[1])];
            for _ in 0..8 {
                let share = random.f64();
                let middle = at(pair[0] + (pair[1] - pair[0]) * share);
                for index in 0..points.len() {
                    let even = begin[index] + (end[index] - begin[index]) * share;
                    assert!(
                        (even - middle[index]).abs() < 1e-5,
                        "{points:?} {from} {to} {pair:?} {index}"
                    );
                }
            }
        }
    }
}

#[test]
fn points_on_a_line_of_the_plane_are_a_line() {
    // 0.1 + 0.2 is not 0.3.
    let points = [(0.0, 0.1), (1.0, 0.2), (2.0, 0.3)].map(DVec2::from);
    let layout = Layout::new(&points).unwrap();
    assert!(matches!(layout.shape, Shape::Line { .. }));
    let weights = dense(&layout, DVec2::new(0.5, 0.15), 3);
    assert!(
        (weights[0] - 0.5).abs() < 1e-12 && (weights[1] - 0.5).abs() < 1e-12,
        "{weights:?}"
    );
}

#[test]
fn what_is_far_away_or_odd_has_weights() {
    for (points, layout) in layouts(&mut Rng::with_seed(4), 100) {
        for odd in [1e300, -1e300, f64::MAX, 1e-300] {
            let weights = dense(&layout, DVec2::new(odd, -odd), points.len());
            assert!(
                (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                "{points:?} {odd}"
            );
        }
    }
}
