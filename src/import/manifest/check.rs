//! Checks of a manifest for entries that contradict each other, or mean nothing.

use super::{CallbackEntry, FeetEntry, LookAtEntry, Manifest};
use crate::format::Diagnostic;

/// Errors reported for one manifest.
pub(super) const MOST_ERRORS: usize = 20;

impl Manifest {
    /// The errors in what the manifest says, each at its place in the source.
    pub(super) fn misstatements(&self, file: &str) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if !(self.scale.is_finite() && self.scale > 0.0) {
            let error = Diagnostic::error(
                file,
                format!("`scale` is {}, expected a number above 0", self.scale),
            );
            diagnostics.push(self.place(&["scale"], error));
        }
        if let Some(error) = self
            .clip_error
            .filter(|error| !(error.is_finite() && *error > 0.0))
        {
            let message = format!("`clip_error` is {error}, expected a number above 0");
            diagnostics.push(self.place(&["clip_error"], Diagnostic::error(file, message)));
        }
        if !(self.skin_error.is_finite() && self.skin_error >= 0.0) {
            let message = format!(
                "`skin_error` is {}, expected a share of the model's size, 0 or more",
                self.skin_error
            );
            diagnostics.push(self.place(&["skin_error"], Diagnostic::error(file, message)));
        }
        for (name, clip) in &self.clips {
            if let Some(speed) = clip.ground_speed.filter(|speed| !speed.is_finite())
                && diagnostics.len() < MOST_ERRORS
            {
                let error = Diagnostic::error(
                    file,
                    format!("`ground_speed` is {speed}, expected a number"),
                );
                let error = error.with_context(format!("clip `{name}`"));
                diagnostics.push(self.place(&["clips", name, "ground_speed"], error));
            }
            if let Some(rate) = clip
                .frame_rate
                .filter(|rate| !(rate.is_finite() && *rate > 0.0))
                && diagnostics.len() < MOST_ERRORS
            {
                let error = Diagnostic::error(
                    file,
                    format!("`frame_rate` is {rate}, expected a number above 0"),
                );
                let error = error.with_context(format!("clip `{name}`"));
                diagnostics.push(self.place(&["clips", name, "frame_rate"], error));
            }
            let odd = clip
                .callbacks
                .iter()
                .filter_map(CallbackEntry::misstatement);
            // Placing an error takes a look at the whole file.
            for message in odd.take(MOST_ERRORS.saturating_sub(diagnostics.len())) {
                let error = Diagnostic::error(file, message).with_context(format!("clip `{name}`"));
                diagnostics.push(self.place(&["clips", name, "callbacks"], error));
            }
        }
        for (name, clip) in &self.clips {
            if let Some(message) = clip.misstatement()
                && diagnostics.len() < MOST_ERRORS
            {
                let error = Diagnostic::error(file, message).with_context(format!("clip `{name}`"));
                diagnostics.push(self.place(&["clips", name], error));
            }
        }
        for (name, clip) in &self.clips {
            let odd = |(start, end): &(f64, f64)| !(start < end && (end - start).is_finite());
            let contacts = clip
                .plants
                .iter()
                .flat_map(|(foot, ranges)| ranges.iter().map(move |range| (foot, range)));
            if let Some((foot, (start, end))) = contacts.into_iter().find(|(_, range)| odd(range))
                && diagnostics.len() < MOST_ERRORS
            {
                let message = format!(
                    "a contact of the foot `{foot}` starts at {start} s and ends at {end} s, expected an end after the start"
                );
                let error = Diagnostic::error(file, message).with_context(format!("clip `{name}`"));
                diagnostics.push(self.place(&["clips", name, "plants", foot], error));
            }
        }
        for (name, socket) in &self.sockets {
            let finite = socket.translation.is_finite()
                && socket.euler_degrees.is_finite()
                && socket.scale.is_finite();
            if !finite && diagnostics.len() < MOST_ERRORS {
                let error = Diagnostic::error(
                    file,
                    format!("socket `{name}` contains a number that is not finite"),
                );
                diagnostics.push(self.place(&["sockets", name], error));
            }
        }
        if let Some(message) = self.look_at.as_ref().and_then(LookAtEntry::misstatement) {
            diagnostics.push(self.place(&["look_at"], Diagnostic::error(file, message)));
        }
        if let Some(message) = self.feet.as_ref().and_then(FeetEntry::misstatement) {
            diagnostics.push(self.place(&["feet"], Diagnostic::error(file, message)));
        }
        for (name, wrong) in self
            .goals
            .iter()
            .filter_map(|(name, goal)| Some((name, goal.misstatement()?)))
        {
            if diagnostics.len() < MOST_ERRORS {
                let error = Diagnostic::error(file, format!("goal `{name}` {wrong}"));
                diagnostics.push(self.place(&["goals", name], error));
            }
        }
        for (message, path) in self
            .misstated_blend_spaces()
            .take(MOST_ERRORS.saturating_sub(diagnostics.len()))
        {
            diagnostics.push(self.place(&path, Diagnostic::error(file, message)));
        }
        for wrong in self
            .misstated_states()
            .take(MOST_ERRORS.saturating_sub(diagnostics.len()))
        {
            let error = Diagnostic::error(file, wrong.to_string());
            diagnostics.push(self.report_state(error, &wrong));
        }
        for (message, path) in self
            .misstated_springs()
            .chain(self.misstated_constraints())
            .take(MOST_ERRORS.saturating_sub(diagnostics.len()))
        {
            diagnostics.push(self.place(&path, Diagnostic::error(file, message)));
        }
        diagnostics
    }
}
