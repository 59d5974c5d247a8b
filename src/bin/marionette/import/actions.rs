//! First states of a character, by the names of its clips: a start to change, not a finished game.

use super::{Draft, words::words};
use bevy_marionette::model::{Exit, PlaybackMode, State, Then};
use std::collections::{BTreeMap, BTreeSet};

/// The state in which the character walks.
const GROUND: &str = "ground";
/// The most clips of which a state chooses one.
const MOST: usize = 4;
/// Words of clips that are done in the course of something else.
const ELSEWHERE: [&str; 19] = [
    "walk",
    "walking",
    "run",
    "running",
    "crouch",
    "crouching",
    "block",
    "blocking",
    "sit",
    "sitting",
    "lie",
    "lying",
    "swim",
    "climb",
    "air",
    "pose",
    "ride",
    "riding",
    "dualwield",
];
/// Words of the pieces of a jump.
const PIECES: [&str; 10] = [
    "start", "begin", "up", "idle", "loop", "air", "fall", "falling", "land", "landing",
];

/// What a character does besides walking, with the reason for each state.
pub struct Actions {
    pub states: BTreeMap<String, State>,
    pub notes: BTreeMap<String, String>,
}

impl Actions {
    /// Proposes states, of which the first plays `ground`.
    pub fn new(drafts: &[Draft], ground: &str) -> Self {
        let mut actions = Self {
            states: BTreeMap::new(),
            notes: BTreeMap::new(),
        };
        actions.add(
            GROUND,
            State::playing(ground).start(),
            "Where the character begins, and comes back to.",
        );
        let clips = Clips { drafts };
        actions.add_jump(&clips);
        let attacks = clips.alike(
            &["attack", "slash", "punch", "kick", "swing", "stab", "bite"],
            &["jump", "hit"],
        );
        let attack = |state: State| state.from([GROUND]).then(back_to(GROUND));
        actions.add_all(
            "attack",
            attacks,
            attack,
            "The character goes on when it ends.",
        );
        let dodge = clips.one(
            &["dodge", "roll"],
            &["back", "backward", "left", "right"],
            &[],
        );
        actions.add_all(
            "dodge",
            dodge,
            attack,
            "Does not move the character by itself.",
        );
        let hurt = clips.alike(
            &["hit", "hurt", "damage", "impact", "flinch"],
            &["attack", "death", "die"],
        );
        actions.add_all(
            "hurt",
            hurt,
            |state| state.from_any().then(Then::Back),
            "Interrupts whatever the character does.",
        );
        let death = clips.alike(&["death", "die", "dying", "defeat"], &[]);
        actions.add_all(
            "death",
            death,
            |state| state.from_any().exit(Exit::Never),
            "Nothing leads out of it.",
        );
        actions
    }

    /// A whole jump, or the start of one, and what follows for those who come down later than that.
    fn add_jump(&mut self, clips: &Clips) {
        let whole = ["jump", "leap"].map(|word| clips.one(&[word], &["attack"], &PIECES));
        let is_jump = |words: &[&str]| has(words, &["jump", "leap"]);
        let start = clips.find(|words| is_jump(words) && has(words, &["start", "begin", "up"]));
        let fall = (clips.find(|words| has(words, &["fall", "falling"])))
            .or_else(|| clips.find(|words| is_jump(words) && has(words, &["idle", "loop", "air"])));
        let land = clips.find(|words| has(words, &["land", "landing"]));
        let falls = fall.zip(land);
        let mut before = vec![GROUND];
        if let Some(whole) = whole.into_iter().find(|clips| !clips.is_empty()) {
            let jump = |state: State| state.from([GROUND]).then(back_to(GROUND));
            self.add_all("jump", whole, jump, "Jumps on the spot; steering goes on.");
            before.push("jump");
        } else if let Some(start) = start.filter(|_| falls.is_some()) {
            let jump = State::playing(start).from([GROUND]).then(back_to("fall"));
            self.add("jump", jump, "Leaves the ground.");
            before.push("jump");
        }
        if let Some((fall, land)) = falls {
            let fall = State::playing(fall).from(before);
            self.add("fall", fall, "Lasts until the game says `land`.");
            let land = State::playing(land).from(["fall"]).then(back_to(GROUND));
            self.add("land", land, "Comes down.");
        }
    }

    fn add_all(
        &mut self,
        name: &str,
        clips: Vec<String>,
        made: impl Fn(State) -> State,
        note: &str,
    ) {
        if !clips.is_empty() {
            let note = if clips.len() > 1 {
                "One of these at random."
            } else {
                note
            };
            self.add(
                name,
                made(State {
                    plays: clips,
                    ..State::default()
                }),
                note,
            );
        }
    }

    fn add(&mut self, name: &str, state: State, note: &str) {
        self.states.insert(name.to_owned(), state);
        self.notes.insert(name.to_owned(), note.to_owned());
    }
}

fn back_to(state: &str) -> Then {
    Then::State(state.to_owned())
}

fn has(words: &[&str], any: &[&str]) -> bool {
    words.iter().any(|word| any.contains(word))
}

/// The clips, looked up by their words.
struct Clips<'a> {
    drafts: &'a [Draft],
}

impl Clips<'_> {
    /// The plainest clip whose words are right.
    fn find(&self, is: impl Fn(&[&str]) -> bool) -> Option<String> {
        let is = |draft: &&Draft| is(&words(&draft.name).collect::<Vec<_>>());
        let found = self.drafts.iter().filter(is);
        // Long names are of special cases, and the quicker of two clips is easier to play.
        let plain = found.min_by(|a, b| {
            let [words_a, words_b] = [a, b].map(|draft| words(&draft.name).count());
            let [a, b] = [a, b].map(|draft| draft.clip.timing.duration);
            words_a.cmp(&words_b).then(a.total_cmp(&b))
        });
        plain.map(|draft| draft.name.clone())
    }

    fn one(&self, of: &[&str], not: &[&str], nor: &[&str]) -> Vec<String> {
        let is = |words: &[&str]| {
            has(words, of) && ![not, nor, &ELSEWHERE].iter().any(|no| has(words, no))
        };
        self.find(is).into_iter().collect()
    }

    /// Clips whose names begin as the first of them does, up to the word: `1h_attack_chop` and `1h_attack_stab`.
    fn alike(&self, of: &[&str], not: &[&str]) -> Vec<String> {
        let once = self
            .drafts
            .iter()
            .filter(|draft| draft.verdict.playback == PlaybackMode::Once);
        let mut groups: BTreeMap<(usize, String), BTreeSet<String>> = BTreeMap::new();
        for draft in once {
            let all: Vec<&str> = words(&draft.name).collect();
            let Some(at) = all.iter().position(|word| of.contains(word)) else {
                continue;
            };
            if !has(&all, not) && !has(&all, &ELSEWHERE) {
                let group = all[..=at].join("_");
                groups
                    .entry((at, group))
                    .or_default()
                    .insert(draft.name.clone());
            }
        }
        let first = groups.into_values().next().unwrap_or_default();
        first.into_iter().take(MOST).collect()
    }
}

#[cfg(test)]
#[path = "tests/actions.rs"]
mod tests;
