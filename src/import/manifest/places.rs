//! Places of a manifest's entries in its text.

/// Returns the offset of the last element of a path of field names and map keys, at the end of which may be a text. If the
/// source doesn't have all of the path, returns the offset of the last element that it has. The text at the end may be
/// anywhere in the value before it.
///
/// The text has been parsed before. In one that hasn't, the place may be a wrong one.
pub(super) fn find(source: &[u8], path: &[&str]) -> Option<usize> {
    let mut reader = Reader::new(source);
    reader.skip_attributes();
    let mut best = None;
    reader.find(path, &mut best);
    best
}

/// Goes through a text token by token.
pub(super) struct Reader<'s> {
    source: &'s [u8],
    at: usize,
    /// The end of the last token.
    end: usize,
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s [u8]) -> Self {
        Self {
            source,
            at: 0,
            end: 0,
        }
    }

    /// The end of the last token before the one that comes next.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Goes into a struct, map, or list. Returns the place behind its bracket.
    pub(super) fn open(&mut self) -> Option<usize> {
        self.at_token();
        self.word();
        self.at_token();
        let opens = matches!(self.peek(), Some(b'(' | b'{' | b'['));
        opens.then(|| {
            self.at += 1;
            self.at
        })
    }

    /// Goes past a key and its colon.
    pub(super) fn key_before_colon(&mut self) -> Option<Vec<u8>> {
        let key = self.key()?;
        self.at_token();
        (self.peek() == Some(b':')).then(|| self.at += 1)?;
        Some(key)
    }

    pub(super) fn skip_byte(&mut self) {
        self.at += 1;
    }

    /// Goes through a value. Notes the offset of the last part of the path that is found, and returns `true` if that is the
    /// end of it.
    fn find(&mut self, path: &[&str], best: &mut Option<usize>) -> bool {
        let start = self.at_token();
        let Some((wanted, rest)) = path.split_first() else {
            self.skip_value();
            return true;
        };
        // The name of a struct.
        if self.peek().is_some_and(is_word) {
            self.word();
            self.at_token();
        }
        match self.peek() {
            Some(b'"') => {
                if self.text().is_some_and(|text| text == wanted.as_bytes()) {
                    *best = Some(start);
                    return rest.is_empty();
                }
                false
            }
            Some(b'(' | b'{' | b'[') => {
                let begin = self.at;
                self.at += 1;
                loop {
                    let place = self.at_token();
                    match self.peek() {
                        None | Some(b')' | b'}' | b']') => {
                            self.at += 1;
                            if rest.is_empty() {
                                self.at = begin;
                                let text = self.scan(Some(wanted.as_bytes()));
                                *best = text.or(*best);
                                return text.is_some();
                            }
                            return false;
                        }
                        Some(b',') => {
                            self.at += 1;
                            continue;
                        }
                        _ => {}
                    }
                    let key = self.key();
                    self.at_token();
                    let Some(key) = key.filter(|_| self.peek() == Some(b':')) else {
                        // An element of a list.
                        self.at = place;
                        if self.find(path, best) {
                            return true;
                        }
                        if self.at == place {
                            return false;
                        }
                        continue;
                    };
                    self.at += 1;
                    // A name of states inside states may be written as one.
                    let outer = |parts: usize| {
                        let names = path.iter().take(parts).step_by(2).copied();
                        names.collect::<Vec<_>>().join("/").into_bytes()
                    };
                    let parts = 2 * key.iter().filter(|byte| **byte == b'/').count() + 1;
                    let rest = match key == wanted.as_bytes() {
                        true => Some(rest),
                        false if parts > 1 && outer(parts) == key => path.get(parts..),
                        false => None,
                    };
                    match rest {
                        Some(rest) => {
                            *best = Some(place);
                            // Another element of a list may have the rest.
                            if rest.is_empty() || self.find(rest, best) {
                                return true;
                            }
                        }
                        None => self.skip_value(),
                    }
                }
            }
            _ => {
                self.skip_value();
                false
            }
        }
    }

    /// A key or the name of a field, if there is one here.
    fn key(&mut self) -> Option<Vec<u8>> {
        match self.peek()? {
            b'"' => self.text(),
            byte if is_word(byte) => Some(self.word().to_vec()),
            _ => None,
        }
    }

    /// Goes to the end of a value: to the comma or the bracket behind it.
    pub(super) fn skip_value(&mut self) {
        self.scan(None);
    }

    /// Goes to the end of a value, and returns where a text first is in it.
    fn scan(&mut self, wanted: Option<&[u8]>) -> Option<usize> {
        let (mut depth, mut found) = (0_usize, None);
        loop {
            let place = self.at_token();
            match self.peek() {
                None => return found,
                Some(b'"') => {
                    let text = self.text();
                    if found.is_none() && wanted.is_some() && text.as_deref() == wanted {
                        found = Some(place);
                    }
                }
                Some(b'\'') => self.skip_letter(),
                Some(byte) if is_word(byte) => {
                    self.word();
                    if self.source[..self.at].ends_with(b"r")
                        && matches!(self.peek(), Some(b'"' | b'#'))
                    {
                        self.at -= 1;
                        if self.text().is_none() {
                            self.at += 1;
                        }
                    }
                }
                Some(b'(' | b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b')' | b'}' | b']') if depth == 0 => return found,
                Some(b')' | b'}' | b']') => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',') if depth == 0 => return found,
                Some(_) => self.at += 1,
            }
        }
    }

    /// A text in quotes, plain or raw.
    fn text(&mut self) -> Option<Vec<u8>> {
        if self.peek()? == b'r' {
            let rest = &self.source[self.at + 1..];
            let marks = rest.iter().take_while(|byte| **byte == b'#').count();
            if rest.get(marks) != Some(&b'"') {
                return None;
            }
            let mut end = vec![b'"'];
            end.resize(marks + 1, b'#');
            let body = &rest[marks + 1..];
            let length =
                (body.windows(end.len()).position(|piece| piece == end)).unwrap_or(body.len());
            self.at = (self.at + 1 + marks + 1 + length + end.len()).min(self.source.len());
            return Some(body[..length].to_vec());
        }
        self.at += 1;
        let mut text = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                _ => text.push(byte),
            }
        }
        Some(text)
    }

    /// A letter in quotes.
    fn skip_letter(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'\'' {
                break;
            }
        }
    }

    fn word(&mut self) -> &'s [u8] {
        let begin = self.at;
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        &self.source[begin..self.at]
    }

    /// Goes on to the next token. Returns where that is.
    pub(super) fn at_token(&mut self) -> usize {
        self.end = self.at;
        loop {
            let rest = self.source.get(self.at..).unwrap_or_default();
            if rest.starts_with(b"//") {
                self.at += rest
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.skip_comment();
            } else if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            } else {
                return self.at;
            }
        }
    }

    /// Comments may be nested.
    fn skip_comment(&mut self) {
        let mut depth = 0_usize;
        while let Some(rest) = self.source.get(self.at..).filter(|rest| !rest.is_empty()) {
            let (step, change) = match rest {
                [b'/', b'*', ..] => (2, 1),
                [b'*', b'/', ..] => (2, -1),
                _ => (1, 0),
            };
            self.at += step;
            depth = depth.saturating_add_signed(change);
            if depth == 0 {
                return;
            }
        }
    }

    /// Goes past attributes such as `#![enable(implicit_some)]`.
    pub(super) fn skip_attributes(&mut self) {
        while self.at_token() < self.source.len() && self.source[self.at..].starts_with(b"#!") {
            self.at += 2;
            let rest = &self.source[self.at..];
            self.at += rest
                .iter()
                .position(|byte| *byte == b']')
                .map_or(rest.len(), |at| at + 1);
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }
}

/// Returns `true` for what names and numbers are made of.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-') || byte >= 0x80
}

#[cfg(test)]
#[path = "tests/places.rs"]
mod tests;
