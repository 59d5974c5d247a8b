//! Text to be read by people: styles and readable numbers.

use anstyle::{AnsiColor, Style};
use bevy_marionette::{
    format::{Diagnostic, Severity},
    internals::plural::plural,
};
use std::io::{self, BufWriter, IsTerminal, Write};

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const RED: Style = AnsiColor::Red.on_default().bold();
pub const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub const GREEN: Style = AnsiColor::Green.on_default();
pub const CYAN: Style = AnsiColor::Cyan.on_default();

/// Returns standard output, buffered. Styles are removed unless it is a terminal that shows them.
pub fn out() -> BufWriter<anstream::Stdout> {
    BufWriter::with_capacity(1 << 16, anstream::stdout())
}

/// Prints a line on standard error, without control characters. Failures are ignored.
pub fn note(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", printable(line));
}

/// A line on a terminal with the item that is being worked on. Dropping it removes the line.
pub struct Progress {
    items: usize,
    done: usize,
}

impl Progress {
    /// Begins work on a number of items.
    pub fn new(items: usize) -> Self {
        Self { items, done: 0 }
    }

    /// Shows the next item.
    pub fn next(&mut self, item: &str) {
        self.done += 1;
        if self.is_shown() {
            // A longer line would wrap, and only its last row would be cleared.
            let item: String = printable(item).chars().take(60).collect();
            let _ = write!(
                io::stderr(),
                "{CLEAR}  {} of {}: {item}",
                self.done,
                self.items
            );
        }
    }

    /// A few items are done before anybody could read it.
    fn is_shown(&self) -> bool {
        self.items > 4 && io::stderr().is_terminal()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown() {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Back to the start of the line, which becomes empty.
const CLEAR: &str = "\r\x1b[2K";

/// Prints diagnostics on standard error. Failures are ignored.
pub fn complain(diagnostics: &[Diagnostic]) {
    let mut err = anstream::stderr();
    for d in diagnostics {
        let _ = writeln!(err, "{}", diagnostic(d));
    }
}

/// Formats a diagnostic with its place and severity highlighted.
pub fn diagnostic(diagnostic: &Diagnostic) -> String {
    let (severity, style) = match diagnostic.severity {
        Severity::Warning => (": warning: ", YELLOW),
        Severity::Error => (": error: ", RED),
    };
    let text = diagnostic.to_string();
    // The first one is ours. A message may contain the same words.
    match text.split_once(severity) {
        Some((place, rest)) => format!("{BOLD}{place}{BOLD:#}{style}{severity}{style:#}{rest}"),
        None => text,
    }
}

/// `13748` → `13,748`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 joint`, `2 joints`, `3 vertices`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {}", count(number), plural(number, noun))
}

/// `3916112` → `3.7 MiB`.
pub fn size(bytes: u64) -> String {
    match (bytes.max(1).ilog2() / 10).min(4) {
        0 => counted(bytes as usize, "byte"),
        power => {
            let unit = ["KiB", "MiB", "GiB", "TiB"][power as usize - 1];
            format!("{:.1} {unit}", bytes as f64 / 1024_f64.powi(power as i32))
        }
    }
}

/// Seconds to the millisecond: `1.25 s`.
pub fn seconds(seconds: f64) -> String {
    format!("{} s", decimal(seconds, 3))
}

/// A number with at most `places` decimals and no trailing zeros; in scientific notation from 10¹².
pub fn decimal(number: f64, places: usize) -> String {
    if number.abs() >= 1e12 {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A length in unknown units, to about three significant digits.
pub fn length(number: f32) -> String {
    let number = f64::from(number);
    match number.abs() {
        0.0 => "0".to_owned(),
        magnitude if (1e-4..1e6).contains(&magnitude) => decimal(
            number,
            (2 - magnitude.log10().floor() as i32).clamp(0, 6) as usize,
        ),
        _ => format!("{number:.2e}"),
    }
}

/// Replaces control characters, so that names from files cannot control the terminal.
pub fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
#[path = "tests/term.rs"]
mod tests;
