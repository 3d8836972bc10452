//! The one place where text goes to a terminal, or to the log that it is read in later: what is written to standard output
//! and standard error for people passes through [`Plain`]. Much of it is foreign (names out of models, circuits, lists of
//! parties, paths, what another machine says), and none of it may control the terminal or look like this program's own text.

use std::fmt;
use std::io::{self, Stderr, Write};

use madrigal_core::text::{is_plain, own_data_was_kept};

/// Forms in which a character that is not plain is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Escapes as in `\u{1b}`.
    Text,
    /// Escapes as in `\u001b`, which JSON's texts say the same with; elsewhere in JSON there are no such characters.
    Json,
}

/// Writes text, and escapes what is not plain in it but ends of lines and tabs. Bytes that are no UTF-8 become as in `\xff`.
/// The bytes that a write leaves within a character are written with the next one, or when it is flushed.
pub struct Plain<W> {
    to: W,
    form: Form,
    /// The beginning of a character.
    begun: Vec<u8>,
}

/// Gives standard error, for people.
pub fn stderr() -> Plain<Stderr> {
    Plain::new(io::stderr())
}

/// Gives the text of a failure, without the name of the program. Lines after the first are indented: only lines of
/// this program itself begin at the left.
pub fn sentence(failure: &impl fmt::Display) -> String {
    let text = failure.to_string().replace('\n', "\n  ");
    match own_data_was_kept() {
        true => text + " (--show-values tells the value)",
        false => text,
    }
}

/// Tells on standard error what went wrong. Nobody is left to tell if that is gone.
pub fn failed(name: &str, failure: &impl fmt::Display) {
    let _ = writeln!(stderr(), "{name}: {}", sentence(failure));
}

impl<W: Write> Plain<W> {
    /// Writes text for people.
    pub fn new(to: W) -> Self {
        Self {
            to,
            form: Form::Text,
            begun: Vec::new(),
        }
    }

    /// Writes JSON, which keeps its meaning.
    pub fn json(to: W) -> Self {
        Self {
            form: Form::Json,
            ..Self::new(to)
        }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, character) in text.char_indices() {
            if is_plain(character) || matches!(character, '\n' | '\t') {
                continue;
            }
            self.to.write_all(&text.as_bytes()[plain..at])?;
            plain = at + character.len_utf8();
            match self.form {
                Form::Text => write!(self.to, "{}", character.escape_unicode())?,
                Form::Json => {
                    for half in character.encode_utf16(&mut [0; 2]) {
                        write!(self.to, "\\u{half:04x}")?;
                    }
                }
            }
        }
        self.to.write_all(&text.as_bytes()[plain..])
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes
            .iter()
            .try_for_each(|byte| write!(self.to, "\\x{byte:02x}"))
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let usual = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if self.begun.is_empty() && text.iter().all(usual) {
            self.to.write_all(text)?;
            return Ok(text.len());
        }
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend_from_slice(text);
        let mut rest = &whole[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text)?;
                    break;
                }
                Err(error) => {
                    let (valid, other) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(valid).unwrap_or_default())?;
                    let Some(length) = error.error_len() else {
                        self.begun = other.to_vec();
                        break;
                    };
                    let (invalid, more) = other.split_at(length);
                    self.bytes(invalid)?;
                    rest = more;
                }
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.bytes(&begun)?;
        self.to.flush()
    }
}
