use super::*;
use glam::DVec3;

#[test]
fn the_integral_of_a_steady_velocity_is_its_arc() {
    let arc = Twist {
        ahead: DVec3::new(0.02, 0.01, -0.1),
        turn: 0.1,
    };
    let (exact, found) = (arc.movement(), integrate([arc; COUNT]));
    assert!(
        found.translation.distance(exact.translation) < 1e-11
            && (found.turn - exact.turn).abs() < 1e-16
    );
}

#[test]
fn the_quadrature_is_exact_for_polynomials_of_the_seventh_degree() {
    for power in 0..8 {
        let sum: f64 = (0..COUNT)
            .map(|node| WEIGHTS[node] * NODES[node].powi(power))
            .sum();
        assert!((sum - 1.0 / f64::from(power + 1)).abs() < 1e-15);
    }
    for (to_node, node) in TO_NODES.iter().zip(NODES) {
        for power in 0..4 {
            let sum: f64 = to_node
                .iter()
                .zip(NODES)
                .map(|(share, node)| share * node.powi(power))
                .sum();
            assert!((sum - node.powi(power + 1) / f64::from(power + 1)).abs() < 1e-15);
        }
    }
}
