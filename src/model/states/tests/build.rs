use super::*;
use crate::messages::{assert_message, assert_messages};
use crate::model::{PlayedClip, TransitionKind};
use ron::extensions::Extensions;
use std::time::Duration;

fn parse(text: &str) -> BTreeMap<String, State> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(text).unwrap()
}

fn machine(text: &str) -> StateMachine {
    StateMachine::new(&parse(text)).unwrap()
}

fn errors(text: &str) -> Vec<String> {
    let errors = StateMachine::new(&parse(text)).unwrap_err();
    let text = |error: &StateError| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    errors.iter().map(text).collect()
}

const ADVENTURE: &str = r#"{
        "ground": (plays: "locomotion", start: true),
        "jump": (plays: "jump", from: ["ground"], then: "fall"),
        "fall": (plays: "fall", from: ["ground"]),
        "land": (plays: "land", from: {"fall": (fade: 0.05)}, then: "ground", fade: 0.1),
        "attack": (plays: ["slash", "stab"], from: ["ground"], exit: "recover", then: "ground"),
        "hurt": (plays: "hurt", from: Any, then: Back),
        "dead": (plays: "die", from: Any, exit: Never),
    }"#;

#[test]
fn ways_lead_through_other_states() {
    let machine = machine(ADVENTURE);
    let index = |name: &str| machine.index_of(name).unwrap();
    let way = |from: &str, to: &str| -> Vec<&str> {
        let (mut at, to) = (index(from), index(to));
        let mut way = Vec::new();
        while at != to {
            at = machine.step(at, to).unwrap();
            way.push(&*machine.states()[at].name);
        }
        way
    };
    assert_eq!(way("jump", "ground"), ["fall", "land", "ground"]);
    assert_eq!(way("ground", "land"), ["fall", "land"]);
    assert_eq!(way("attack", "hurt"), ["hurt"]);
    assert_eq!(machine.step(index("dead"), index("hurt")), None);
    assert_eq!(machine.step(index("dead"), index("dead")), None);
    assert_eq!(
        machine.step(index("hurt"), index("hurt")),
        Some(index("hurt"))
    );
    assert_eq!(machine.step(index("ground"), index("ground")), None);
    assert!(machine.warnings().is_empty(), "{:?}", machine.warnings());
}

#[test]
fn a_pair_may_have_a_transition_of_its_own() {
    let machine = machine(ADVENTURE);
    let index = |name: &str| machine.index_of(name).unwrap();
    let land = &machine.states()[index("land")];
    assert_eq!(land.entry.duration, Duration::from_millis(100));
    let way = machine.states()[index("fall")].way_to(index("land"));
    assert_eq!(way.unwrap().entry.duration, Duration::from_millis(50));
    assert_eq!(way.unwrap().entry.kind, TransitionKind::Fade);
    let jump = &machine.states()[index("jump")];
    let expected = Entry {
        kind: TransitionKind::Switch,
        duration: Duration::from_millis(200),
        in_phase: false,
        at: 0.0,
    };
    assert_eq!(jump.entry, expected);
}

#[test]
fn what_is_read_is_written_the_same() {
    let states = parse(ADVENTURE);
    let text = ron::ser::to_string(&states).unwrap();
    assert_eq!(parse(&text), states);
    assert!(
        text.contains("then:Back") || text.contains("then:Some(Back)"),
        "{text}"
    );
}

#[test]
fn states_inside_states_share_what_is_said_outside() {
    let machine = machine(
        r#"{
            "ground": (plays: "walk", start: true, from: ["combat"]),
            "combat": (from: ["ground"], exit: End, fade: 0.3, states: {
                "aim": (plays: "aim", start: true, from: ["shoot"]),
                "shoot": (plays: "shoot", from: ["aim"], then: "aim", exit: "recover"),
            }),
        }"#,
    );
    let names: Vec<&str> = machine.states().iter().map(|state| &*state.name).collect();
    assert_eq!(names, ["combat/aim", "combat/shoot", "ground"]);
    assert_eq!(machine.index_of("combat"), Some(0));
    let [aim, shoot, ground] = [0, 1, 2].map(|at| &machine.states()[at]);
    assert_eq!(
        (&aim.exit, &shoot.exit),
        (&Opening::End, &Opening::Key("recover".into()))
    );
    let to = |state: &MachineState| state.ways.iter().map(|way| way.to).collect::<Vec<_>>();
    assert_eq!(
        [to(aim), to(shoot), to(ground)],
        [vec![1, 2], vec![0, 2], vec![0]]
    );
    assert_eq!(aim.entry.duration, Duration::from_millis(300));
    assert_eq!(ground.ways[0].entry.duration, Duration::from_millis(300));
}

#[test]
fn mistakes_are_said_with_what_to_do() {
    let cases = [
        r#"{"a": (plays: "x")}"#,
        r#"{"a": (plays: "x", start: true), "b": (plays: "x", start: true)}"#,
        r#"{"ground": (plays: "x", start: true), "b": (plays: "x", from: ["gruond"])}"#,
        r#"{"ground": (plays: "x", start: true, then: "grond")}"#,
        r#"{"a": (start: true, then: "a")}"#,
        r#"{"a": (plays: "x", start: true, speed: 0, exit: End)}"#,
        r#"{"a": (plays: "x", start: true, fade: 0.1, switch: 0.1)}"#,
        r#"{"a": (plays: "x", start: true, fade: -0.1)}"#,
        r#"{"a": (plays: "x", start: true, speed: NaN)}"#,
        r#"{"a/b": (plays: "x", start: true)}"#,
        r#"{"a": (plays: "x", start: true, states: {"b": (plays: "y", start: true)})}"#,
    ];
    for text in cases {
        let errors = errors(text);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_messages(&format!("states: {text}"), errors);
    }
    let many = (0..200).map(|at| format!("\"s{at}\": (plays: \"x\"),"));
    let many = format!("{{{}}}", many.collect::<String>());
    assert_messages("states: more than 128", errors(&many));
}

#[test]
fn what_is_odd_is_a_warning() {
    let machine = machine(
        r#"{
            "a": (plays: "x", start: true, from: ["c"]),
            "b": (plays: "x", from: ["a"]),
            "c": (plays: "x", from: ["c"]),
        }"#,
    );
    let warnings: Vec<String> = machine.warnings().iter().map(|w| w.to_string()).collect();
    assert_messages("states: no way leads to them, or out of them", &warnings);
}

#[test]
fn clips_and_keys_are_looked_up() {
    let machine = machine(ADVENTURE);
    let names = [
        "locomotion",
        "jump",
        "fall",
        "land",
        "slash",
        "stab",
        "hurt",
        "dei",
    ];
    let find = |name: &str| {
        names.contains(&name).then(|| PlayedClip {
            length: Some(1.0),
            keys: vec!["recovers"],
        })
    };
    let errors = machine.check_clips(&names, find);
    let text: Vec<String> = errors
        .iter()
        .map(|error| format!("{error}; {}", error.hint().unwrap()))
        .collect();
    assert_messages("states: clips and keys that do not exist", text);
}

#[test]
fn machines_are_drawn_as_text_and_as_a_graph() {
    let machine = machine(ADVENTURE);
    assert_message("states: a machine as text", machine.to_text());
    let dot = machine.to_dot();
    assert!(dot.starts_with("digraph states {") && dot.ends_with("}\n"));
    assert!(
        dot.contains("\"fall\" -> \"land\";")
            && dot.contains("\"ground\" -> \"hurt\" [style=bold];")
    );
    assert!(
        dot.contains("\"jump\" -> \"fall\" [style=dashed];"),
        "{dot}"
    );
    assert!(
        dot.contains("\"hurt\" -> \"hurt\" [style=dashed, label=\"back\"];"),
        "{dot}"
    );
}
