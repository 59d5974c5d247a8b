//! Records of labeled numbers: vertices and keys.
//!
//! Files hold thousands of them, all alike. The first is read label by label, which gives the [`Layout`]: the
//! labels as they are spelled there, with the count of numbers behind each. The others are matched with it. What
//! does not match is read label by label too, which alone reports errors.
//!
//! Reading everything label by label takes four times as long (46 ms for 4 MB instead of 13).

use super::{label, reader::Reader};
use crate::format::{Lexer, Unexpected};

/// The most labels and numbers in a record.
const COLUMNS: usize = 6;
const SLOTS: usize = 16;

/// A label and the numbers after it.
pub(super) struct Column {
    /// Spellings, the books' own first. Two columns that share a spelling are distinguished by the
    /// count of numbers after it.
    pub(super) names: &'static [&'static str],
    /// Index of its first number in [`Record::numbers`].
    pub(super) slot: usize,
    /// The fewest and the most numbers.
    pub(super) least: usize,
    pub(super) most: usize,
    /// `true` for whole numbers, which go to [`Record::indices`].
    pub(super) indices: bool,
}

/// The columns of a kind of record.
pub(super) struct Schema {
    pub(super) columns: [Column; COLUMNS],
    /// The number in each slot that no label fills.
    pub(super) blank: [f32; SLOTS],
    /// The section, for reports.
    pub(super) section: &'static str,
    /// `true` if labels of another kind stand between the records and end them.
    pub(super) enclosed: bool,
}

impl Schema {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns
            .iter()
            .flat_map(|column| column.names.iter().copied())
    }

    /// Returns the column that a misspelled label probably names.
    fn nearest(&self, label: &[u8]) -> Option<usize> {
        let name = label::nearest(label, self.names())?;
        self.columns
            .iter()
            .position(|column| column.names.contains(&name))
    }

    /// Returns `true` if the label belongs to the record.
    pub(super) fn knows(&self, label: &[u8]) -> bool {
        self.names().any(|name| label::same(label, name))
    }
}

/// The numbers of one record.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) numbers: [f32; SLOTS],
    /// `u32::MAX` for what indexes nothing.
    pub(super) indices: [u32; 4],
    /// Count of numbers in each column; 0 for a column that is missing.
    pub(super) counts: [u8; COLUMNS],
}

impl Record {
    pub(super) fn blank(schema: &Schema) -> Self {
        Self {
            numbers: schema.blank,
            indices: [0; 4],
            counts: [0; COLUMNS],
        }
    }

    /// Returns `true` if no label was read.
    pub(super) fn is_blank(&self) -> bool {
        self.counts == [0; COLUMNS]
    }

    /// Marks a column that could not be read as read: its next label belongs to the next record.
    fn take(&mut self, schema: &Schema, column: usize) {
        self.counts[column] = self.counts[column].max(schema.columns[column].least as u8);
    }

    /// Returns the `N` numbers from a slot on.
    #[inline]
    pub(super) fn get<const N: usize>(&self, slot: usize) -> [f32; N] {
        std::array::from_fn(|i| self.numbers[slot + i])
    }
}

/// The labels of a record as the file spells them.
#[derive(Default)]
pub(super) struct Layout<'a> {
    steps: Vec<Step<'a>>,
    counts: [u8; COLUMNS],
}

struct Step<'a> {
    label: &'a [u8],
    slot: usize,
    count: usize,
    indices: bool,
}

impl Layout<'_> {
    /// Reads a record spelled like the first. Returns `false` and leaves the lexer in place if it is not.
    #[inline]
    pub(super) fn replay(&self, lexer: &mut Lexer<'_>, record: &mut Record) -> bool {
        let start = lexer.offset();
        let fits = !self.steps.is_empty()
            && self.steps(lexer, record).is_some()
            && self.is_followed_well(lexer);
        if fits {
            record.counts = self.counts;
        } else {
            lexer.seek(start);
        }
        fits
    }

    #[inline]
    fn steps(&self, lexer: &mut Lexer<'_>, record: &mut Record) -> Option<()> {
        for step in &self.steps {
            if !lexer.eat_text(step.label) {
                return None;
            }
            if step.indices {
                for slot in record.indices.get_mut(..step.count)? {
                    *slot = lexer.u32().ok()?;
                }
            } else {
                for slot in record.numbers.get_mut(step.slot..step.slot + step.count)? {
                    *slot = lexer.f32().ok()?;
                }
            }
        }
        Some(())
    }

    /// Returns `true` if another record comes next, or no label: this record may have more labels than the first had, and a
    /// number too many would have to be reported.
    #[inline]
    fn is_followed_well(&self, lexer: &mut Lexer<'_>) -> bool {
        match lexer.peek_byte() {
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => false,
            Some(byte) if byte.is_ascii_alphabetic() => {
                let at = lexer.offset();
                let is_next = lexer.eat_text(self.steps[0].label);
                lexer.seek(at);
                is_next
            }
            _ => true,
        }
    }
}

/// Reads a record label by label. It ends in front of a label that it already has, and at the end of the section.
/// A record without labels is blank.
///
/// A record without errors sets the layout, and another one clears it.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    schema: &Schema,
    layout: &mut Layout<'a>,
    context: impl Fn(&Reader<'a>) -> String,
) -> Record {
    let mut record = Record::blank(schema);
    let mut learnt = Layout::default();
    let mut sound = true;
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let label = reader.lexer.label();
        if !schema.knows(label) {
            reader.lexer.seek(offset);
            let meant = schema.nearest(label).filter(|_| !reader.at_number());
            // A misspelled label may open the next record, and between keys an unknown one does.
            let next = meant.is_some_and(|at| record.counts[at] > 0);
            if next || (schema.enclosed && meant.is_none() && !reader.at_number()) {
                break;
            }
            if let Some(at) = meant {
                record.take(schema, at);
            }
            sound = false;
            let context = context(reader);
            reader.unknown_label(schema.names(), schema.section, context);
            continue;
        }
        let column = match values(reader, schema, label, &mut record) {
            Ok(Some((at, count, extra))) => {
                let column = &schema.columns[at];
                learnt.steps.push(Step {
                    label,
                    slot: column.slot,
                    count,
                    indices: column.indices,
                });
                sound &= !extra;
                at
            }
            // The label is taken: the next record has begun.
            Ok(None) => {
                reader.lexer.seek(offset);
                break;
            }
            Err(unexpected) => {
                sound = false;
                let context = context(reader);
                reader.recover(offset, &unexpected, context);
                continue;
            }
        };
        let spelling = schema.columns[column]
            .names
            .iter()
            .position(|name| label::same(label, name));
        reader.state.signs.home_made |= spelling.is_some_and(|at| at > 0);
    }
    if !record.is_blank() {
        learnt.counts = record.counts;
        // Numbers of a record that isn't sound may be in slots that the layout doesn't fill, and would stay there.
        *layout = if sound { learnt } else { Layout::default() };
    }
    record
}

/// Reads the numbers behind `label` into its column. Returns `None` if the record already has that column.
fn values(
    reader: &mut Reader<'_>,
    schema: &Schema,
    label: &[u8],
    record: &mut Record,
) -> Result<Option<(usize, usize, bool)>, Unexpected> {
    reader.lexer.skip_space();
    let offset = reader.lexer.offset();
    let named = |column: &Column| column.names.iter().any(|name| label::same(label, name));
    let mut candidates = (0..COLUMNS).filter(|&at| named(&schema.columns[at]));
    let Some(first) = candidates.next() else {
        return Ok(None);
    };
    let second = candidates.next();
    // If the label is not shared, a column that was already read need not be read again.
    if second.is_none() && record.counts[first] > 0 {
        return Ok(None);
    }
    let mut numbers = [0.0; 4];
    let mut indices = [0; 4];
    let mut count = 0;
    let column = &schema.columns[first];
    let least = second.map_or(column.least, |second| {
        schema.columns[second].least.min(column.least)
    });
    while count < 4 && (count < least || reader.at_number()) {
        let read = if column.indices {
            reader.index().map(|index| indices[count] = index)
        } else {
            reader.number().map(|number| numbers[count] = number)
        };
        read.inspect_err(|_| record.take(schema, first))?;
        count += 1;
    }
    // A shared spelling means the second column only if the count of numbers fits nothing else.
    let fits = |at: &usize| (schema.columns[*at].least..=schema.columns[*at].most).contains(&count);
    let at = second
        .filter(|second| !fits(&first) && fits(second))
        .unwrap_or(first);
    let column = &schema.columns[at];
    if record.counts[at] > 0 {
        return Ok(None);
    }
    let extra = count > column.most || reader.at_number();
    if extra {
        reader.skip_extra_numbers(offset);
        count = count.min(column.most);
    }
    if column.indices {
        record.indices[..count].copy_from_slice(&indices[..count]);
    } else {
        record.numbers[column.slot..column.slot + count].copy_from_slice(&numbers[..count]);
    }
    record.counts[at] = count as u8;
    Ok(Some((at, count, extra)))
}
