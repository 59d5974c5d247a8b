use super::*;

#[test]
fn the_worse_error_is_nan_if_either_is() {
    assert_eq!([worse(1.0, 2.0), worse(2.0, 1.0)], [2.0; 2]);
    assert!(worse(f64::NAN, 1.0).is_nan() && worse(1.0, f64::NAN).is_nan());
}
