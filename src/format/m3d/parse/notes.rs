//! Warnings given once per cause, with a count.

use crate::format::Reporter;

/// The reason for repairing, ignoring or guessing something. Each cause is one warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause<'a> {
    NotFinite,
    ExtraNumbers,
    NotUtf8,
    UnknownLabel(&'a [u8]),
    UnknownLabels,
    SubsetId,
    FaceRange,
    VertexRange,
    NoVertexCount,
    Weight,
    Parent,
    Cycle,
    KeyOrder,
    KeyCount,
    KeyParts,
    Track,
    TrackAgain,
    Brace,
}

struct Note<'a> {
    cause: Cause<'a>,
    offset: usize,
    times: usize,
    message: String,
}

/// The causes found so far, each with the first place it was found at.
#[derive(Default)]
pub(super) struct Notes<'a>(Vec<Note<'a>>);

impl<'a> Notes<'a> {
    /// Most unknown labels listed one by one.
    const MOST_LABELS: usize = 10;

    /// Counts a warning. The first of each cause gives the message.
    pub(super) fn add(
        &mut self,
        cause: Cause<'a>,
        offset: usize,
        message: impl FnOnce() -> String,
    ) {
        let known = |note: &&mut Note<'_>| note.cause == cause;
        match self.0.iter_mut().find(known) {
            Some(note) => note.times += 1,
            None => self.0.push(Note {
                cause,
                offset,
                times: 1,
                message: message(),
            }),
        }
    }

    /// Counts an unknown label.
    pub(super) fn unknown_label(
        &mut self,
        label: &'a [u8],
        offset: usize,
        message: impl FnOnce() -> String,
    ) {
        let labels = self
            .0
            .iter()
            .filter(|note| matches!(note.cause, Cause::UnknownLabel(_)));
        // A label is listed again only if it is known, so that garbage doesn't fill the list.
        let known = labels
            .clone()
            .any(|note| note.cause == Cause::UnknownLabel(label));
        if known || labels.count() < Self::MOST_LABELS {
            self.add(Cause::UnknownLabel(label), offset, message);
        } else {
            self.add(Cause::UnknownLabels, offset, || {
                "more unknown labels; their lines are ignored".into()
            });
        }
    }

    /// Returns `true` if a warning of this cause was counted.
    pub(super) fn met(&self, cause: Cause<'_>) -> bool {
        self.0.iter().any(|note| note.cause == cause)
    }

    /// Reports the notes as warnings.
    pub(super) fn tell(self, report: &mut Reporter<'_>) {
        for note in self.0 {
            let times = if note.times > 1 {
                format!(" ({} times)", note.times)
            } else {
                String::new()
            };
            report.warning(note.offset, note.message + &times);
        }
    }
}
