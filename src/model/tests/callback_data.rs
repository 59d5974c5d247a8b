use super::*;
use crate::messages::assert_message;

#[test]
fn data_is_made_of_anything_that_serializes_but_variants() {
    #[derive(Serialize)]
    enum Foot {
        Left,
        Right(f32),
    }
    let value = (
        1.5e-9_f32,
        'L',
        "a 'quoted\\\" Left",
        [Some(true), None],
        f64::INFINITY,
        -3,
    );
    let back: (f32, char, String, [Option<bool>; 2], f64, i32) =
        CallbackData::new(&value).unwrap().to().unwrap();
    assert_eq!(
        back,
        (
            value.0,
            value.1,
            value.2.to_owned(),
            value.3,
            value.4,
            value.5
        )
    );
    let error = CallbackData::new(&Foot::Left).unwrap_err();
    assert_message("callback data: an enum", error);
    assert!(CallbackData::new(&[(0, Foot::Right(0.5))]).is_err());
    assert_eq!(CallbackData::from(2.5).to::<f32>().unwrap(), 2.5);
    assert!(CallbackData::default().to::<u8>().is_err());
}
