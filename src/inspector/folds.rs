//! Sections that can be folded.

use bevy_egui::egui::{CollapsingHeader, Ui};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sections that were folded or unfolded, by their names. egui remembers it too, but not from run to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Folds(BTreeMap<String, bool>);

impl Folds {
    /// Shows a section, which is open or folded at first.
    pub(super) fn section(
        &mut self,
        ui: &mut Ui,
        title: &str,
        open: bool,
        contents: impl FnOnce(&mut Ui),
    ) {
        self.named_section(ui, title, title, open, contents);
    }

    /// [`section`](Self::section) whose title changes.
    pub(super) fn named_section(
        &mut self,
        ui: &mut Ui,
        name: &str,
        title: &str,
        open: bool,
        contents: impl FnOnce(&mut Ui),
    ) {
        let is_open = self.0.get(name).copied().unwrap_or(open);
        let header = CollapsingHeader::new(title)
            .id_salt(name)
            .default_open(is_open);
        if !header
            .show_unindented(ui, contents)
            .header_response
            .clicked()
        {
            return;
        }
        match is_open == open {
            true => self.0.insert(name.to_owned(), !is_open),
            false => self.0.remove(name),
        };
    }
}
