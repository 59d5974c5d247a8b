//! Checks of what states play against the clips that a character has.

use super::{Opening, PlayedClip, StateError, StateMachine, StateProblem};
use crate::spelling::nearest;

impl StateMachine {
    /// Checks what the states play against what the character has. `find` looks up a clip or a blend space by name, and
    /// `names` are those of all.
    pub fn check_clips<'c>(
        &self,
        names: &[&str],
        find: impl Fn(&str) -> Option<PlayedClip<'c>>,
    ) -> Vec<StateError> {
        let mut errors = Vec::new();
        for state in self.states() {
            let mut wrong = |problem| errors.push(StateError::new(&*state.name, problem));
            let mut keys = Vec::new();
            let mut is_known = true;
            for name in &state.plays {
                let Some(clip) = find(name) else {
                    is_known = false;
                    wrong(StateProblem::UnknownClip {
                        name: name.to_string(),
                        nearest: nearest(name, names.iter().copied()).map(str::to_owned),
                    });
                    continue;
                };
                let at = state.entry.at;
                if let Some(length) = clip.length.filter(|length| at > *length) {
                    wrong(StateProblem::BeginsAfterEnd {
                        clip: name.to_string(),
                        length,
                    });
                }
                keys.extend(clip.keys);
            }
            // A missing clip may be the one that has the key.
            if let Opening::Key(key) = &state.exit
                && is_known
                && !keys.contains(&&**key)
            {
                wrong(StateProblem::ExitNeverOpens {
                    key: key.to_string(),
                    nearest: nearest(key, keys).map(str::to_owned),
                });
            }
        }
        errors.truncate(StateError::MOST);
        errors
    }
}
