use super::*;

#[test]
fn a_turn_names_its_sides() {
    assert_eq!(turned(Vec2::new(0.5, -0.25)), "28.6° left, 14.3° down");
    assert_eq!(turned(Vec2::new(-0.1, 0.0)), "5.7° right, 0.0° up");
}
