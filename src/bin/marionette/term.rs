//! Text for people: where it goes, its colours, and numbers as one reads them.

use bevy_marionette::format::{Diagnostic, Severity};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// Standard output, buffered; once its reader has gone, what is written is dropped without a word.
pub type Out = BufWriter<UntilClosed<Stdout>>;

/// See [`Out`].
pub fn out() -> Out {
    BufWriter::with_capacity(1 << 16, UntilClosed { inner: io::stdout(), closed: false })
}

/// A writer that takes a closed pipe for the end of interest, not for an error.
pub struct UntilClosed<W> {
    inner: W,
    closed: bool,
}

impl<W: Write> UntilClosed<W> {
    fn attempt<T>(&mut self, otherwise: T, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.closed {
            return Ok(otherwise);
        }
        match write(&mut self.inner) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(otherwise)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), W::flush)
    }
}

/// A line on standard error. There is nowhere to tell of a failure to say it.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output.
    pub fn stdout() -> Self {
        Self { on: wants_colour(io::stdout().is_terminal()) }
    }

    /// For standard error.
    pub fn stderr() -> Self {
        Self { on: wants_colour(io::stderr().is_terminal()) }
    }

    /// No colours.
    #[cfg(test)]
    pub fn none() -> Self {
        Self { on: false }
    }

    pub fn bold(self, text: impl AsRef<str>) -> String {
        self.wrap("1", text.as_ref())
    }

    pub fn dim(self, text: impl AsRef<str>) -> String {
        self.wrap("2", text.as_ref())
    }

    pub fn red(self, text: impl AsRef<str>) -> String {
        self.wrap("1;31", text.as_ref())
    }

    pub fn yellow(self, text: impl AsRef<str>) -> String {
        self.wrap("1;33", text.as_ref())
    }

    pub fn green(self, text: impl AsRef<str>) -> String {
        self.wrap("32", text.as_ref())
    }

    pub fn cyan(self, text: impl AsRef<str>) -> String {
        self.wrap("36", text.as_ref())
    }

    /// A diagnostic with its severity in colour.
    pub fn diagnostic(self, diagnostic: &Diagnostic) -> String {
        let text = diagnostic.to_string();
        if !self.on {
            return text;
        }
        let (word, painted) = match diagnostic.severity {
            Severity::Warning => (": warning: ", self.yellow("warning")),
            Severity::Error => (": error: ", self.red("error")),
        };
        // The first place at which the word stands between colons is the report's own, unless the path has it too.
        match text.split_once(word) {
            Some((place, rest)) => format!("{}: {painted}: {rest}", self.bold(place)),
            None => text,
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn wants_colour(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    // Old Windows consoles print escapes as they are; Windows Terminal and its like say who they are.
    let understands = !cfg!(windows) || set("WT_SESSION") || set("TERM");
    terminal && understands && !dumb && !set("NO_COLOR")
}

/// `13748` → `13,748`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
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
    let plural = match noun {
        "vertex" => "vertices".to_owned(),
        noun => format!("{noun}s"),
    };
    format!("{} {}", count(number), if number == 1 { noun } else { &plural })
}

/// `3916112` → `3.7 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes as usize, "byte");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// Seconds to the millisecond: `1.25 s`.
pub fn seconds(seconds: f64) -> String {
    format!("{} s", decimal(seconds, 3))
}

/// A number with at most `places` decimals, and none that say nothing.
pub fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Three or so significant digits, whatever the size: for lengths of unknown unit.
pub fn length(number: f32) -> String {
    let number = f64::from(number);
    let magnitude = number.abs();
    if magnitude == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e6).contains(&magnitude) {
        let places = (2 - magnitude.log10().floor() as i32).clamp(0, 6) as usize;
        decimal(number, places)
    } else {
        format!("{number:.2e}")
    }
}

/// `text` in at least `width` characters; numbers go to the right, names to the left.
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// See [`left`].
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// What a file calls something, fit for one line of a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0, 999, 1000, 13_748, 1_234_567].map(count), ["0", "999", "1,000", "13,748", "1,234,567"]);
        assert_eq!([0, 1, 1023, 1024, 3_916_112].map(size), ["0 bytes", "1 byte", "1,023 bytes", "1.0 KiB", "3.7 MiB"]);
        assert_eq!([1.25, 0.0, -0.0, 0.9583333, 10.0].map(seconds), ["1.25 s", "0 s", "0 s", "0.958 s", "10 s"]);
        assert_eq!([0.0, 74.123, 0.01234, 2.5e-7, 1.5e9].map(length), ["0", "74.1", "0.0123", "2.50e-7", "1.50e9"]);
        assert_eq!(counted(1, "vertex") + " " + &counted(2, "vertex"), "1 vertex 2 vertices");
    }

    #[test]
    fn a_reader_that_left_is_no_error_and_a_full_disk_is() {
        struct Fails(io::ErrorKind);
        impl Write for Fails {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(self.0.into())
            }
        }
        let mut gone = UntilClosed { inner: Fails(io::ErrorKind::BrokenPipe), closed: false };
        assert_eq!(gone.write(b"abc").unwrap(), 3);
        gone.flush().unwrap();
        let mut full = UntilClosed { inner: Fails(io::ErrorKind::StorageFull), closed: false };
        assert!(full.write(b"abc").is_err() && full.flush().is_err());
    }

    #[test]
    fn a_diagnostic_keeps_its_words_in_colour() {
        let diagnostic = Diagnostic::error("a: b.m3d", "expected: error: nothing").with_hint("h");
        assert_eq!(Paint { on: false }.diagnostic(&diagnostic), diagnostic.to_string());
        let painted = Paint { on: true }.diagnostic(&diagnostic);
        let plain = painted.replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(plain, diagnostic.to_string());
    }
}
