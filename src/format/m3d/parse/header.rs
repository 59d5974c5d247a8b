//! The header: the numbers of everything that the file claims to hold.
//!
//! The counts are not trusted. They show where a listing should have ended, and there is a warning
//! about those that are wrong.

use super::{
    label,
    reader::{Reader, quote},
    state::{COUNTS, Counted},
};

/// Reads the lines below the header's banner.
pub(super) fn read(reader: &mut Reader<'_>) {
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let label = reader.lexer.label();
        let text = quote(label);
        match label::find(COUNTS, label) {
            Some(what) => match reader.lexer.u32() {
                Ok(count) => {
                    reader.state.header.set(what, count, offset);
                    // Home-made exporters write `#Materials: 1`.
                    reader.state.signs.home_made |= label.ends_with(b":");
                    reader.state.signs.dashes |= !label.starts_with(b"#") && !label.ends_with(b":");
                }
                Err(unexpected) => {
                    let message = format!("{unexpected} after {text}; the data is counted instead");
                    reader.report.warning(unexpected.offset, message);
                }
            },
            None => {
                let warning = reader
                    .report
                    .warning(offset, format!("the header has no label {text}"));
                if let Some(name) = label::nearest(label, COUNTS.iter().map(|&(name, _)| name)) {
                    warning.hint = format!("did you mean `#{name}`?");
                }
            }
        }
        // The rest of the line, unless looking for the count has led to the next one.
        if !reader.lexer.source()[offset..reader.lexer.offset()].contains(&b'\n') {
            reader.lexer.skip_line();
        }
    }
}

/// Warns about every count that does not match the data.
pub(super) fn compare(reader: &mut Reader<'_>, held: impl Fn(Counted) -> usize) {
    for &(name, what) in COUNTS {
        if let Some(count) = reader.state.header.count(what)
            && count as usize != held(what)
            // A skeleton that is missing altogether has been reported.
            && (what != Counted::Bones || held(what) > 0)
        {
            let message = format!(
                "the header says {name} {count}, but the file has {}",
                held(what)
            );
            reader
                .report
                .warning(reader.state.header.offset(what), message);
        }
    }
}
