use crate::model::CallbackData;
use serde::Deserialize;
use std::collections::BTreeMap;

fn data(ron: &str) -> CallbackData {
    ron::from_str::<ron::Value>(ron).unwrap().into()
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Side {
    Left,
    Right,
    Toes(u8),
    Place { x: f32 },
}

#[derive(Deserialize, Debug, PartialEq)]
struct Footstep(Side);

#[derive(Deserialize, Debug, PartialEq)]
struct Degrees(f32);

#[derive(Deserialize, Debug, PartialEq)]
struct Swing;

#[derive(Deserialize, Debug, PartialEq)]
struct Step {
    side: Footstep,
    turns: Vec<Degrees>,
    #[serde(default)]
    loudness: Option<f32>,
}

#[test]
fn variants_and_newtypes_are_read_wherever_they_are() {
    assert_eq!(data("\"left\"").to::<Side>().unwrap(), Side::Left);
    assert_eq!(
        data("\"right\"").to::<Footstep>().unwrap(),
        Footstep(Side::Right)
    );
    assert_eq!(data("{\"toes\": 3}").to::<Side>().unwrap(), Side::Toes(3));
    assert_eq!(
        data("{\"place\": {\"x\": 2}}").to::<Side>().unwrap(),
        Side::Place { x: 2.0 }
    );
    assert_eq!(data("90.0").to::<Degrees>().unwrap(), Degrees(90.0));
    assert_eq!(data("90").to::<Degrees>().unwrap(), Degrees(90.0));
    assert_eq!(data("()").to::<Swing>().unwrap(), Swing);
    let step = data("{\"side\": \"left\", \"turns\": [1, -2.5], \"loudness\": 0.5}")
        .to::<Step>()
        .unwrap();
    let turns = vec![Degrees(1.0), Degrees(-2.5)];
    assert_eq!(
        step,
        Step {
            side: Footstep(Side::Left),
            turns,
            loudness: Some(0.5)
        }
    );
}

#[test]
fn options_are_read_with_and_without_some() {
    for (text, expected) in [
        ("Some(3)", Some(3)),
        ("3", Some(3)),
        ("None", None),
        ("()", None),
    ] {
        assert_eq!(data(text).to::<Option<u8>>().unwrap(), expected, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(data("\"up\"").to::<Side>().is_err());
    assert!(data("3").to::<Side>().is_err());
    assert!(data("{\"left\": 1, \"right\": 2}").to::<Side>().is_err());
    assert!(data("\"left\"").to::<Degrees>().is_err());
    assert!(data("300").to::<u8>().is_err());
    assert!(data("-1").to::<u8>().is_err());
    assert!(data("[1, 2, 3]").to::<(u8, u8)>().is_err());
    let all: BTreeMap<String, ron::Value> = data("{\"a\": 1, \"b\": [true]}").to().unwrap();
    assert_eq!(all.len(), 2);
}
