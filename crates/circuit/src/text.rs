//! Lines and tokens of circuit files.

/// Lines that are not blank, with their numbers. A line ends with LF, CR or both.
#[derive(Clone)]
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
    /// Whether a `#` begins a comment, up to the line's end.
    comments: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            number: 0,
            comments: false,
        }
    }

    /// Makes the lines of a text without its comments.
    pub(crate) fn without_comments(text: &'a [u8]) -> Self {
        Self {
            comments: true,
            ..Self::new(text)
        }
    }

    /// Number of the last line given, counted from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| b"\n\r".contains(byte));
            let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let ends = if rest.starts_with(b"\r\n") { 2 } else { 1 };
            self.rest = rest.get(ends..).unwrap_or_default();
            self.number += 1;
            let comment = line.iter().position(|&byte| self.comments && byte == b'#');
            let line = line[..comment.unwrap_or(line.len())].trim_ascii();
            if !line.is_empty() {
                return Some(line);
            }
        }
        None
    }
}

pub(crate) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|token| !token.is_empty())
}

/// A decimal number below 2^32.
pub(crate) fn number(token: &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for &byte in token {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(value)
}

/// A token as a message may show it: short, printable.
pub(crate) fn shown(token: &[u8]) -> String {
    let (head, more) = if token.len() > 24 {
        (&token[..24], "...")
    } else {
        (token, "")
    };
    format!("{}{more}", head.escape_ascii())
}
