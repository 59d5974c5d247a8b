//! States as they are written down → a machine: everything is checked, and names become indices.

use super::{
    Entering, Entry, Exit, MachineState, Opening, Origins, Speed, State, StateError, StateMachine,
    StateProblem, Successor, Then, Way,
};
use std::{collections::BTreeMap, ops::Range};

impl StateMachine {
    /// Checks states and makes a machine of them.
    ///
    /// # Errors
    /// All that is wrong, each with the state it is about. What is only odd is among the [warnings](Self::warnings).
    pub fn new(states: &BTreeMap<String, State>) -> Result<Self, Vec<StateError>> {
        let mut builder = Builder::default();
        let start = builder.add(states, "", &Exit::Anytime, Entering::default(), 1);
        if !builder.errors.is_empty() {
            // Without all states and their starts, names cannot be resolved.
            return Err(builder.errors);
        }
        builder.link(start)
    }
}

/// A state that has none inside, as it is written down.
struct Flat<'s> {
    name: String,
    state: &'s State,
    /// Its own, or that of the state around it.
    exit: &'s Exit,
    entering: Entering,
}

/// A state that has others inside.
struct Group<'s> {
    name: String,
    state: &'s State,
    inside: Range<usize>,
    /// The one inside in which it begins.
    start: usize,
}

/// States on their way to a machine.
#[derive(Default)]
struct Builder<'s> {
    flat: Vec<Flat<'s>>,
    groups: Vec<Group<'s>>,
    errors: Vec<StateError>,
}

impl<'s> Builder<'s> {
    /// Adds states and those inside them. Returns the index of the one that a character begins in.
    fn add(
        &mut self,
        states: &'s BTreeMap<String, State>,
        scope: &str,
        exit: &'s Exit,
        entering: Entering,
        level: usize,
    ) -> usize {
        let mut starts = Vec::new();
        for (name, state) in states {
            let full = join(scope, name);
            if self.flat.len() >= StateMachine::MOST_STATES {
                self.wrong(full, StateProblem::TooMany);
                break;
            }
            if name.is_empty() || name.contains('/') || ["Any", "Back"].contains(&name.as_str()) {
                self.wrong(full.clone(), StateProblem::BadName);
            }
            self.check(&full, state);
            // States inside inherit the exit of the one around them.
            let exit = if state.exit == Exit::Anytime {
                exit
            } else {
                &state.exit
            };
            let entering = Entering::of(state).or(entering);
            let first = self.flat.len();
            let begins_in = if state.states.is_empty() {
                self.flat.push(Flat {
                    name: full,
                    state,
                    exit,
                    entering,
                });
                first
            } else if level >= StateMachine::MOST_LEVELS {
                self.wrong(full, StateProblem::TooDeep);
                continue;
            } else {
                // States inside come one after the other, so a group is a range.
                let start = self.add(&state.states, &full, exit, entering, level + 1);
                self.groups.push(Group {
                    name: full,
                    state,
                    inside: first..self.flat.len(),
                    start,
                });
                start
            };
            if state.start {
                starts.push(begins_in);
            }
        }
        match *starts.as_slice() {
            [start] => return start,
            [] => self.wrong(scope.to_owned(), StateProblem::NoStart),
            _ => self.wrong(scope.to_owned(), StateProblem::SeveralStarts),
        }
        // There is an error, so nothing is built from this.
        0
    }

    fn wrong(&mut self, state: String, problem: StateProblem) {
        if self.errors.len() < StateError::MOST {
            self.errors.push(StateError::new(state, problem));
        }
    }

    /// Checks what a state says of itself.
    fn check(&mut self, name: &str, state: &State) {
        let mut wrong = |problem| self.wrong(name.to_owned(), problem);
        let clips = state.plays.len();
        let has_clips = clips > 0;
        if clips > StateMachine::MOST_CLIPS {
            wrong(StateProblem::TooManyClips(clips));
        }
        if !state.states.is_empty() && (has_clips || state.then.is_some()) {
            wrong(StateProblem::PlaysAndStates);
        }
        let lasts = !has_clips || state.speed == Speed::Fixed(0.0);
        if state.states.is_empty() && lasts && (state.then.is_some() || state.exit == Exit::End) {
            wrong(StateProblem::NeverEnds);
        }
        match &state.speed {
            Speed::Fixed(value) if !value.is_finite() => wrong(StateProblem::BadNumber {
                field: "speed",
                value: *value,
            }),
            Speed::Named(name) if name.is_empty() => wrong(StateProblem::NamelessSpeed),
            _ => {}
        }
        let mut entering = vec![Entering::of(state)];
        if let Origins::These(these) = &state.from {
            entering.extend(these.values());
        }
        for entering in entering {
            let times = [
                ("switch", entering.switch),
                ("fade", entering.fade),
                ("at", entering.at),
            ];
            for (field, value) in times {
                let most = StateMachine::LONGEST_TRANSITION;
                if let Some(value) = value.filter(|value| !(0.0..=most).contains(value)) {
                    wrong(StateProblem::BadNumber { field, value });
                }
            }
            if entering.switch.is_some() && entering.fade.is_some() {
                wrong(StateProblem::SwitchAndFade);
            }
        }
    }

    /// Resolves names.
    fn link(mut self, start: usize) -> Result<StateMachine, Vec<StateError>> {
        let states = self.flat.iter().map(|flat| MachineState {
            name: flat.name.as_str().into(),
            plays: flat
                .state
                .plays
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            choose: flat.state.choose,
            speed: flat.state.speed.clone(),
            exit: Opening::of(flat.exit),
            then: None,
            entry: Entry::of(flat.entering),
            ways: Vec::new(),
        });
        let mut states: Vec<MachineState> = states.collect();
        // Groups come first: a way to a state replaces one to the group that begins in it.
        for group in 0..self.groups.len() {
            let Group {
                name,
                state,
                inside,
                start,
            } = &self.groups[group];
            let (name, inside) = (name.clone(), inside.clone());
            self.link_ways(&mut states, *start, &name, state, inside);
        }
        for at in 0..self.flat.len() {
            let Flat { name, state, .. } = &self.flat[at];
            let name = name.clone();
            self.link_ways(&mut states, at, &name, state, 0..0);
        }
        // After the ways, because a successor is entered by the way to it, if there is one.
        for at in 0..self.flat.len() {
            let Flat { name, state, .. } = &self.flat[at];
            states[at].then = match &state.then {
                None => None,
                Some(Then::Back) => Some(Successor::Back),
                Some(Then::State(to)) => match self.resolve(to, scope_of(name)) {
                    Some(found) => {
                        let to = found.start;
                        let entry = states[at]
                            .way_to(to)
                            .map_or(states[to].entry, |way| way.entry);
                        Some(Successor::State(to, entry))
                    }
                    None => {
                        let (state, to) = (name.clone(), to.clone());
                        self.unknown(state, "then", to);
                        None
                    }
                },
            };
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let groups = self.groups.iter();
        let groups = groups.map(|group| (group.name.as_str().into(), group.start));
        Ok(StateMachine::of(states, start, groups.collect()))
    }

    /// Adds the ways that lead to a state. What is `inside` it doesn't count among any others.
    fn link_ways(
        &mut self,
        states: &mut [MachineState],
        to: usize,
        name: &str,
        state: &State,
        inside: Range<usize>,
    ) {
        let entering = Entering::of(state).or(self.flat[to].entering);
        match &state.from {
            Origins::None => {}
            Origins::Any => {
                let way = Way {
                    to,
                    entry: Entry::of(entering),
                    interrupts: true,
                };
                // Not even an interruption leaves a state that is never left, such as a death.
                let others = states.iter_mut().enumerate();
                others
                    .filter(|(at, from)| from.exit != Opening::Never && !inside.contains(at))
                    .for_each(|(_, from)| from.add_way(way));
            }
            Origins::These(these) => {
                for (origin, special) in these {
                    let Some(found) = self.resolve(origin, scope_of(name)) else {
                        self.unknown(name.to_owned(), "from", origin.clone());
                        continue;
                    };
                    let way = Way {
                        to,
                        entry: Entry::of(special.or(entering)),
                        interrupts: false,
                    };
                    states[found.all]
                        .iter_mut()
                        .for_each(|from| from.add_way(way));
                }
            }
        }
    }

    /// Looks up a name as it is meant inside an outer state: the nearest one, going outward.
    fn resolve(&self, name: &str, scope: &str) -> Option<Found> {
        let mut scope = Some(scope);
        while let Some(inner) = scope {
            let full = join(inner, name);
            if let Some(at) = self.flat.iter().position(|flat| flat.name == full) {
                return Some(Found {
                    start: at,
                    all: at..at + 1,
                });
            }
            if let Some(group) = self.groups.iter().find(|group| group.name == full) {
                return Some(Found {
                    start: group.start,
                    all: group.inside.clone(),
                });
            }
            scope = (!inner.is_empty()).then(|| scope_of(inner));
        }
        None
    }

    fn unknown(&mut self, state: String, field: &'static str, name: String) {
        let known = self.flat.iter().map(|flat| &flat.name);
        let known = known.chain(self.groups.iter().map(|group| &group.name));
        let nearest = crate::spelling::nearest(&name, known.map(String::as_str));
        let nearest = nearest.map(str::to_owned);
        self.wrong(
            state,
            StateProblem::UnknownState {
                field,
                name,
                nearest,
            },
        );
    }
}

/// The states that a name stands for: one state, or all that are inside one.
struct Found {
    start: usize,
    all: Range<usize>,
}

impl MachineState {
    /// Adds a way, in place of another to the same state.
    fn add_way(&mut self, way: Way) {
        match self.ways.binary_search_by_key(&way.to, |way| way.to) {
            Ok(at) => self.ways[at] = way,
            Err(at) => self.ways.insert(at, way),
        }
    }
}

impl Entering {
    fn of(state: &State) -> Self {
        Self {
            switch: state.switch,
            fade: state.fade,
            in_phase: state.in_phase.then_some(true),
            at: (state.at != 0.0).then_some(state.at),
        }
    }

    /// Takes from another what this one leaves open. A switch or a fade stands for both.
    fn or(self, other: Self) -> Self {
        let says_kind = self.switch.is_some() || self.fade.is_some();
        let kind = if says_kind { self } else { other };
        Self {
            switch: kind.switch,
            fade: kind.fade,
            in_phase: self.in_phase.or(other.in_phase),
            at: self.at.or(other.at),
        }
    }
}

impl Opening {
    fn of(exit: &Exit) -> Self {
        match exit {
            Exit::Anytime => Self::Anytime,
            Exit::Key(name) => Self::Key(name.as_str().into()),
            Exit::End => Self::End,
            Exit::Never => Self::Never,
        }
    }
}

/// The name of the state around one of this name, or "".
fn scope_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(scope, _)| scope)
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}/{name}")
    }
}

#[cfg(test)]
mod tests {
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
}
