//! Tables as CSV (RFC 4180), strictly: what could be read in two ways is refused, with its line.
//!
//! A reader that takes whatever comes loses rows without a word where a quote is not closed, and where a table of one column
//! has an empty line: a wrong answer that nobody sees.

use madrigal_core::Zeroizing;

/// Reasons why a text is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A text without lines.
    #[error("it is empty; expected a line with the names of the columns, then a line for each row")]
    Empty,
    /// A byte that is no text.
    #[error(
        "line {line}: this is no text, for the byte {byte:#04x} is not UTF-8; save the table as UTF-8"
    )]
    Text {
        /// The line.
        line: u64,
        /// The byte.
        byte: u8,
    },
    /// A carriage return that ends no line.
    #[error(
        "line {line}: a carriage return without a line feed; save the table with line ends of Unix or Windows"
    )]
    Return {
        /// The line.
        line: u64,
    },
    /// A quote that is not closed.
    #[error(
        "line {line}, column {column}: the quote that begins this cell is not closed; close it, and write a quote within as \"\""
    )]
    Unclosed {
        /// The line where the cell begins.
        line: u64,
        /// The column, counted from 1.
        column: usize,
    },
    /// Text behind a quote.
    #[error(
        "line {line}, column {column}: there is text behind the quote that ends the cell; write a quote within as \"\""
    )]
    AfterQuote {
        /// The line.
        line: u64,
        /// The column, counted from 1.
        column: usize,
    },
    /// A line with another number of cells than the first.
    #[error(
        "line {line}: it has {found} cells, and the first line names {expected} columns; if cells are separated by something else than {delimiter:?}, say so"
    )]
    Ragged {
        /// The line.
        line: u64,
        /// Columns that the first line names.
        expected: usize,
        /// Cells of this line.
        found: usize,
        /// Character that separates cells.
        delimiter: char,
    },
    /// Several lines where one is expected.
    #[error("it has several lines; write one")]
    Lines,
    /// An empty line between others.
    #[error(
        "line {line}: it is empty, and others follow; write NA for a missing value, or take the line out"
    )]
    EmptyLine {
        /// The line.
        line: u64,
    },
}

/// Reads records one after the other. Memory is that of one record.
pub struct Records<'a> {
    rest: &'a str,
    delimiter: char,
    /// Line where the next record begins, counted from 1.
    line: u64,
}

/// The cells of a line, in order; without quotes around them, and without spaces around those that have no quotes.
pub struct Record {
    /// Line where it begins, counted from 1.
    pub line: u64,
    text: Zeroizing<String>,
    ends: Vec<usize>,
}

impl Record {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A cell.
    pub fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// The cells.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

impl<'a> Records<'a> {
    /// The records of a text, whose byte order mark, if it has one, counts for nothing.
    ///
    /// # Errors
    /// [`TableError::Text`] if it is not UTF-8.
    pub fn new(bytes: &'a [u8], delimiter: char) -> Result<Self, TableError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let (before, rest) = bytes.split_at(error.valid_up_to());
            let ends = before.iter().filter(|&&byte| byte == b'\n').count();
            TableError::Text {
                line: 1 + ends as u64,
                byte: rest.first().copied().unwrap_or_default(),
            }
        })?;
        Ok(Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            delimiter,
            line: 1,
        })
    }

    /// Character that separates cells.
    pub fn delimiter(&self) -> char {
        self.delimiter
    }

    /// The next record, unless nothing but empty lines is left.
    ///
    /// # Errors
    /// [`TableError`] for a line that cannot be read in one way alone.
    pub fn read(&mut self) -> Result<Option<Record>, TableError> {
        if self.rest.starts_with(['\n', '\r']) {
            let more = self.rest.trim_start_matches(['\n', '\r', ' ', '\t']);
            if more.is_empty() {
                self.rest = "";
            } else {
                return Err(TableError::EmptyLine { line: self.line });
            }
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut record = Record {
            line: self.line,
            text: Zeroizing::new(String::with_capacity(
                self.rest.find('\n').unwrap_or(self.rest.len()),
            )),
            ends: Vec::new(),
        };
        loop {
            let quoted = self.rest.trim_start_matches(self.blank()).strip_prefix('"');
            match quoted {
                Some(within) => self.quoted(within, &mut record)?,
                None => self.unquoted(&mut record)?,
            }
            record.ends.push(record.text.len());
            if let Some(rest) = self.rest.strip_prefix(self.delimiter) {
                self.rest = rest;
                continue;
            }
            let rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
            self.rest = rest.strip_prefix('\n').unwrap_or(rest);
            self.line += 1;
            return Ok(Some(record));
        }
    }

    /// Characters that mean nothing around cells.
    fn blank(&self) -> impl FnMut(char) -> bool + Copy + use<> {
        let tab = self.delimiter != '\t';
        move |one| one == ' ' || one == '\t' && tab
    }

    /// Takes a cell up to its delimiter or line end.
    fn unquoted(&mut self, record: &mut Record) -> Result<(), TableError> {
        let end = self.rest.find([self.delimiter, '\n', '\r']);
        let (cell, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if rest.starts_with('\r') && !rest.starts_with("\r\n") {
            return Err(TableError::Return { line: self.line });
        }
        record.text.push_str(cell.trim_matches(self.blank()));
        self.rest = rest;
        Ok(())
    }

    /// Takes a cell from behind its first quote.
    fn quoted(&mut self, mut within: &'a str, record: &mut Record) -> Result<(), TableError> {
        let column = record.ends.len() + 1;
        let line = self.line;
        loop {
            let Some((cell, rest)) = within.split_once('"') else {
                return Err(TableError::Unclosed { line, column });
            };
            self.line += cell.bytes().filter(|&byte| byte == b'\n').count() as u64;
            record.text.push_str(cell);
            match rest.strip_prefix('"') {
                Some(rest) => {
                    record.text.push('"');
                    within = rest;
                }
                None => {
                    self.rest = rest.trim_start_matches(self.blank());
                    break;
                }
            }
        }
        let ends = [self.delimiter, '\n'];
        match self.rest.is_empty() || self.rest.starts_with(ends) || self.rest.starts_with("\r\n") {
            true => Ok(()),
            false => Err(TableError::AfterQuote {
                line: self.line,
                column,
            }),
        }
    }
}

/// Names in a list, with commas between them; one that has a comma itself is in quotes, as in a table.
///
/// # Errors
/// [`TableError`] for a list that has quotes in the wrong places, or several lines.
pub fn names(text: &str) -> Result<Vec<String>, TableError> {
    let mut records = Records::new(text.as_bytes(), ',')?;
    let Some(record) = records.read()? else {
        return Ok(Vec::new());
    };
    match records.read()? {
        None => Ok(record.cells().map(ToOwned::to_owned).collect()),
        Some(_) => Err(TableError::Lines),
    }
}
