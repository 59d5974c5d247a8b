//! States in manifests.

use super::Manifest;
use crate::{
    format::Diagnostic,
    model::{StateError, StateLayers},
};
use std::sync::Arc;

impl Manifest {
    /// Returns the machines of the character's states; `None` if it has none. States that make no sense, which
    /// [`parse`](Self::parse) refuses, are left out.
    #[doc(hidden)]
    pub fn resolve_states(&self) -> Option<Arc<StateLayers>> {
        let has_states = !self.states.is_empty() || !self.layers.is_empty();
        let states = has_states.then(|| StateLayers::new(&self.states, &self.layers).ok());
        states.flatten().map(Arc::new)
    }

    /// Returns the mistakes in the states.
    pub(super) fn misstated_states(&self) -> impl Iterator<Item = StateError> {
        let errors = StateLayers::new(&self.states, &self.layers).err();
        errors.into_iter().flatten()
    }

    /// A report of what is wrong or odd about a state, at its place.
    pub(in crate::import) fn report_state(
        &self,
        report: Diagnostic,
        wrong: &StateError,
    ) -> Diagnostic {
        self.place(&wrong.path(), report.with_any_hint(wrong.hint()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::assert_message;
    use crate::model::{Origins, Then};

    fn parse(fields: &str) -> Result<Manifest, String> {
        let text = format!("(model: \"a.glb\",\n {fields})");
        Manifest::parse("a", text.as_bytes()).map_err(|error| error.to_string())
    }

    const STATES: &str = r#"states: {
        "ground": (plays: "locomotion", start: true),
        "jump": (plays: "jump", from: ["ground"], then: "ground", fade: 0.1),
        "hurt": (plays: "hurt", from: Any, then: Back),
    },
    layers: { "arms": (mask: "upper_body", states: {
        "free": (start: true),
        "wave": (plays: "wave", from: ["free"], then: "free"),
    }) }"#;

    #[test]
    fn states_are_read_and_written() {
        let manifest = parse(STATES).unwrap();
        assert_eq!(manifest.states["hurt"].from, Origins::Any);
        assert_eq!(manifest.states["hurt"].then, Some(Then::Back));
        assert_eq!(
            Manifest::parse("again", manifest.to_ron().unwrap().as_bytes()),
            Ok(manifest.clone())
        );
        let states = manifest.resolve_states().unwrap();
        assert_eq!(states.layers().len(), 2);
        assert_eq!(states.layers()[1].mask.as_deref(), Some("upper_body"));
        assert!(parse("").unwrap().resolve_states().is_none());
    }

    #[test]
    fn mistakes_are_errors_at_their_place() {
        let cases = [
            (r#"then: "ground", fade: 0.1"#, r#"then: "gruond""#),
            (r#"from: ["ground"]"#, r#"form: ["ground"]"#),
            (r#"from: ["free"]"#, r#"from: ["fre"]"#),
            (", start: true)", ")"),
            ("from: Any", "from: 7"),
        ];
        for (from, to) in cases {
            let error = parse(&STATES.replacen(from, to, 1)).unwrap_err();
            assert_message(&format!("manifest: states with `{to}`"), error);
        }
    }
}
