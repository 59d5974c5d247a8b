//! A machine as text, and as a graph for Graphviz.

use super::{MachineState, Opening, Speed, StateMachine, Successor};
use std::fmt::Write as _;

impl StateMachine {
    /// Returns the machine as text: a line for each state, and one for each way out of it.
    ///
    /// ```text
    /// ground   plays locomotion   (start)
    ///   to attack, jump
    /// attack   plays attack   may be left from the key `recover` on
    ///   to hurt at once
    ///   then ground
    /// ```
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let width = self.states().iter().map(|state| state.name.len());
        let width = width.max().unwrap_or(0).min(24);
        for (at, state) in self.states().iter().enumerate() {
            let exit = match &state.exit {
                Opening::Anytime => String::new(),
                Opening::Key(key) => format!("   may be left from the key `{key}` on"),
                Opening::End => "   may be left at its end".into(),
                Opening::Never => "   is never left".into(),
            };
            let start = if at == self.start() { "   (start)" } else { "" };
            let speed = match &state.speed {
                Speed::Fixed(1.0) => String::new(),
                Speed::Fixed(speed) => format!(" at speed {speed}"),
                Speed::Named(name) => format!(" at the speed `{name}`"),
            };
            let plays = if state.plays.is_empty() {
                "plays nothing".into()
            } else {
                format!("plays {}{speed}", state.plays.join(" or "))
            };
            let _ = writeln!(out, "{:width$}   {plays}{start}{exit}", state.name);
            for (interrupts, suffix) in [(false, ""), (true, " at once")] {
                let ways = state.ways.iter().filter(|way| way.interrupts == interrupts);
                let names: Vec<&str> = ways.map(|way| &*self.states()[way.to].name).collect();
                if !names.is_empty() {
                    let _ = writeln!(out, "  to {}{suffix}", names.join(", "));
                }
            }
            if let Some(then) = self.successor(state) {
                let _ = writeln!(out, "  then {then}");
            }
        }
        out
    }

    /// Returns the machine in Graphviz's language. Solid arrows are ways of the game, bold ones interrupt, and dashed ones
    /// are taken by themselves.
    pub fn to_dot(&self) -> String {
        let mut out = String::from(
            "digraph states {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n",
        );
        for (at, state) in self.states().iter().enumerate() {
            let shape = if at == self.start() {
                ", penwidth=2"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "    {} [label={}{shape}];",
                quoted(&state.name),
                quoted(&format!("{}\n{}", state.name, state.plays.join(" or "))),
            );
        }
        for state in self.states() {
            for way in &state.ways {
                let style = if way.interrupts { " [style=bold]" } else { "" };
                let to = &self.states()[way.to].name;
                let _ = writeln!(out, "    {} -> {}{style};", quoted(&state.name), quoted(to));
            }
            if let Some(then) = self.successor(state) {
                let label = match state.then {
                    Some(Successor::Back) => ", label=\"back\"",
                    _ => "",
                };
                let to = if label.is_empty() { then } else { &state.name };
                let _ = writeln!(
                    out,
                    "    {} -> {} [style=dashed{label}];",
                    quoted(&state.name),
                    quoted(to)
                );
            }
        }
        out.push_str("}\n");
        out
    }

    fn successor<'m>(&'m self, state: &MachineState) -> Option<&'m str> {
        match state.then? {
            Successor::State(to, _) => Some(&*self.states()[to].name),
            Successor::Back => Some("back"),
        }
    }
}

/// Text in quotes, as Graphviz reads it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
