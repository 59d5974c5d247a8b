//! The numbered lines of a mesh: `vert`, `tri` and `weight`, nearly all of an `.md5mesh`.

use super::reader::{Reader, Stop};
use crate::format::{Lexer, Unexpected};

/// Items that carry their own number, such as `vert 12 …`.
///
/// Numbers in order, as nearly every file has them, cost one comparison each; others are sorted at the end.
pub(super) struct Run<T> {
    items: Vec<T>,
    /// Each item's number and its place in the file; only once one was out of order.
    order: Option<Vec<(u32, usize)>>,
    /// Offset of the first item's number.
    pub start: usize,
    /// The number of items that the file's header declares.
    pub declared: Option<u32>,
    broken: bool,
}

impl<T: Copy + Default> Run<T> {
    pub fn new() -> Self {
        Self {
            items: Vec::new(),
            order: None,
            start: 0,
            declared: None,
            broken: false,
        }
    }

    /// Reads items as long as lines start with `keyword`. The first line's keyword has already been
    /// read.
    #[inline(always)]
    pub fn read(
        &mut self,
        reader: &mut Reader,
        keyword: &str,
        item: impl Fn(&mut Lexer) -> Result<T, Unexpected>,
        context: impl Fn(&str) -> String,
    ) -> Result<(), Stop> {
        // A lexer that nothing else can reach stays in registers.
        let mut lexer = reader.lexer.clone();
        loop {
            lexer.skip_space();
            let at = lexer.offset();
            let numbered = lexer
                .u32()
                .and_then(|number| Ok((number, item(&mut lexer)?)));
            match numbered {
                Ok((number, item)) => self.push(number, at, item),
                Err(unexpected) => {
                    let of = self
                        .declared
                        .map_or_else(String::new, |count| format!(" of {count}"));
                    reader.recover(
                        at,
                        &unexpected,
                        context(&format!("{keyword} {}{of}", self.items.len())),
                    );
                    reader.stop_if_full()?;
                    self.push_broken();
                    lexer = reader.lexer.clone();
                }
            }
            if !lexer.eat_word(keyword.as_bytes()) {
                reader.lexer = lexer;
                return Ok(());
            }
        }
    }

    /// Adds the item called `number`, which stands at `offset`.
    #[inline]
    fn push(&mut self, number: u32, offset: usize, item: T) {
        if self.items.is_empty() {
            self.start = offset;
        }
        if self.order.is_some() || number as usize != self.items.len() {
            let so_far = self.items.len() as u32;
            // Offsets of those in order are not known and never asked for: only strays are reported.
            self.order
                .get_or_insert_with(|| (0..so_far).map(|n| (n, 0)).collect())
                .push((number, offset));
        }
        self.items.push(item);
    }

    /// Stands in for an item that could not be read.
    fn push_broken(&mut self) {
        self.broken = true;
        let number = self.items.len() as u32;
        if let Some(order) = &mut self.order {
            order.push((number, 0));
        }
        self.items.push(T::default());
    }

    /// Returns the items by number, or `None` if some are broken or missing. Gaps and numbers beyond the declared
    /// count are errors; repeated numbers and a wrong count are warnings.
    pub fn finish(
        self,
        reader: &mut Reader,
        noun: &str,
        header: &str,
        context: &str,
    ) -> Result<Option<Vec<T>>, Stop> {
        let Self {
            mut items,
            order,
            start,
            declared,
            broken,
        } = self;
        if broken {
            return Ok(None);
        }
        if let Some(order) = order {
            let mut by_number: Vec<usize> = (0..order.len()).collect();
            // Stable, so that the first of several items with the same number is kept.
            by_number.sort_by_key(|&i| order[i].0);
            by_number.dedup_by(|b, a| {
                let same = order[*a].0 == order[*b].0;
                if same {
                    let (number, offset) = order[*b];
                    reader.warn(
                        offset.max(order[*a].1),
                        format!("{noun} {number} is given twice; the first is used"),
                        context,
                    );
                }
                same
            });
            let gap = by_number
                .iter()
                .enumerate()
                .find(|&(n, &i)| order[i].0 as usize != n);
            if let Some((expected, &behind)) = gap {
                // An item beyond the declared count explains a gap better than the item after it.
                let beyond = |&&i: &&usize| declared.is_some_and(|count| order[i].0 >= count);
                let stray = by_number.iter().find(beyond).copied().unwrap_or(behind);
                let (number, offset) = order[stray];
                let offset = if offset > 0 { offset } else { start };
                let message = match declared {
                    Some(count) if number >= count => {
                        format!("{noun} {number} is out of range: `{header}` is {count}")
                    }
                    _ => format!("{noun} {number} is given, but {noun} {expected} is missing"),
                };
                reader.error(offset, message, context, "")?;
                return Ok(None);
            }
            items = by_number.iter().map(|&i| items[i]).collect();
        }
        if let Some(declared) = declared.filter(|&d| d as usize != items.len()) {
            reader.warn(
                start,
                format!("`{header}` is {declared}, but {} follow", items.len()),
                context,
            );
        }
        Ok(Some(items))
    }
}

#[cfg(test)]
#[path = "tests/run.rs"]
mod tests;
