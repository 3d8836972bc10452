//! Errors of lists: whose file it is, where in it, what was expected, and what to do.
//!
//! No message shows a key or a number of the file: logs are read by others than its owner.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use madrigal_core::budget::{FileError, Size};

use crate::{MOST_FIELDS, MOST_KEY, MOST_PARTITIONS, MOST_RECORD, MOST_ROWS};

/// Reasons why a list cannot be read, or rows not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A file whose name does not tell its format.
    #[error("{}: the name of a list ends in .csv or .parquet: convert the file, or rename it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// A format that was left out when the program was built.
    #[error("{}: this program was built without Parquet: convert the file to CSV", path.display())]
    NoParquet {
        /// The file.
        path: PathBuf,
    },
    /// A file that cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: FileError,
    },
    /// A file that cannot be read to its end.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// A list without columns.
    #[error("no column was named: name at least one whose values are the keys")]
    NoColumn,
    /// More columns than a key may have.
    #[error(
        "{columns} columns were named for one key, and the most are {}",
        crate::MOST_COLUMNS
    )]
    TooManyColumns {
        /// Columns that were named.
        columns: usize,
    },
    /// More keys than a row may have.
    #[error("a row has {} keys at most: leave some out", crate::MOST_KEYS_OF_ROW)]
    TooManyKeys,
    /// A key that a row does not have.
    #[error("key {key} of a row was said to match, and a row has {keys}, counted from 0")]
    Key {
        /// Key that was named.
        key: usize,
        /// Keys of a row.
        keys: usize,
    },
    /// A separator that means something else in CSV.
    #[error("the byte {separator} cannot stand between fields: take a comma, a semicolon or a tab")]
    Separator {
        /// The byte.
        separator: u8,
    },
    /// Numbers with more places than one of 64 bits has.
    #[error("{places} places after the point were asked for, and the most are 18")]
    Places {
        /// Places that were asked for.
        places: u32,
    },
    /// A column that the file lacks, or has twice.
    #[error("{}: {}; it has {there}", path.display(), missing(name, *times))]
    Column {
        /// The file.
        path: PathBuf,
        /// Name that was looked for.
        name: String,
        /// Columns of that name.
        times: usize,
        /// Names that there are.
        there: Names,
    },
    /// Something in the file.
    #[error("{}: {place}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where it is.
        place: Place,
        /// Problem with it.
        problem: Box<Problem>,
    },
    /// More rows than a list may have.
    #[error("{}: it has more than {} rows: divide the file", path.display(), MOST_ROWS)]
    TooManyRows {
        /// The file.
        path: PathBuf,
    },
    /// A number of partitions that is none.
    #[error(
        "{partitions} partitions were asked for: their number is from 1 to {}",
        MOST_PARTITIONS
    )]
    Partitions {
        /// Partitions that were asked for.
        partitions: u32,
    },
    /// A partition that there is not.
    #[error("partition {partition} was asked for, and there are {partitions}, counted from 0")]
    Partition {
        /// Partition that was asked for.
        partition: u32,
        /// Partitions that there are.
        partitions: u32,
    },
    /// A row that there is not.
    #[error("row {row} was said to match, and the list has {rows} rows, counted from 0")]
    Row {
        /// Row that was named.
        row: u32,
        /// Rows of the list.
        rows: u32,
    },
    /// A file that is not the one that was read before.
    #[error("{}: the file has changed while its keys were read, or since: leave it alone while the job runs, and run it again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Disk space for what memory does not hold.
    #[error(
        "cannot use the folder {} for what memory does not hold: {source}; so far it has {}: \
         free some space, name another folder, or allow more memory",
        folder.display(), Size(*written)
    )]
    Spill {
        /// The folder.
        folder: PathBuf,
        /// Bytes that were written to it.
        written: u64,
        /// Message of the system.
        source: io::Error,
    },
    /// Rows that cannot be written.
    #[error("cannot write the rows: {source}")]
    Write {
        /// Message of the system.
        source: io::Error,
    },
    /// Values of a column that was not announced, or none of one that was.
    #[error("rows that match have values exactly if a column for them is written: {}", if *column { "no values were collected" } else { "values were collected and no column was named" })]
    Values {
        /// Whether a column was to be written.
        column: bool,
    },
    /// The caller's function for progress said stop.
    #[error("reading {} was stopped", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
}

/// Where in a file something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line of a CSV file, counted from 1.
    pub line: Option<u64>,
    /// Row of a Parquet file, counted from 1.
    pub row: Option<u64>,
    /// Name of the column.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.row) {
            (Some(line), _) => write!(f, "line {line}")?,
            (None, Some(row)) => write!(f, "row {row}")?,
            (None, None) => f.write_str("the file")?,
        }
        match &self.column {
            Some(column) => write!(f, ", column {column:?}"),
            None => Ok(()),
        }
    }
}

/// Problem with what a file has.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another number of fields than the header has.
    #[error(
        "{got} fields, and the first line has {expected}: put fields with separators into quotes"
    )]
    Fields {
        /// Fields of the header.
        expected: usize,
        /// Fields of the record.
        got: usize,
    },
    /// A quote that is never closed.
    #[error(
        "a quote begins a field and none ends it: close it, or double the quotes within the field"
    )]
    OpenQuote,
    /// A record that goes on for too long.
    #[error("a record of more than {}: a closing quote may be missing", Size(MOST_RECORD as u64))]
    LongRecord,
    /// A header of more columns than a file may have.
    #[error("{0} columns, and the most are {most}: leave those out that do not matter", most = MOST_FIELDS)]
    Columns(usize),
    /// A file in UTF-16.
    #[error("a text in UTF-16: save it as UTF-8")]
    Utf16,
    /// A name of a column that is no text.
    #[error("the name of column {0} is not in UTF-8: convert the file")]
    NameNotUtf8(usize),
    /// A key that is too long.
    #[error("a key of more than {}: it is hardly meant as one", Size(MOST_KEY as u64))]
    LongKey,
    /// A row without a key.
    #[error(
        "no key, and rows without one were to be refused: fill it in, or have such rows skipped"
    )]
    EmptyKey,
    /// A text whose normal form was asked for, and which is none.
    #[error(
        "a text that is not in UTF-8, whose letters and spaces cannot be told: convert the file, or leave \"lower\" and \"trim\" out"
    )]
    NotUtf8,
    /// A field that should be a number, and is empty.
    #[error("no number: fill it in, 0 if that is meant")]
    NoNumber,
    /// A field that should be a number.
    #[error(
        "not a number: digits are expected, a minus before them, and a point with at most {places} digits after it"
    )]
    NotANumber {
        /// Digits that it may have after the point.
        places: u32,
    },
    /// A number that is finer than was declared.
    #[error("more than {places} digits after the point: declare more places, or round the number")]
    Places {
        /// Digits that it may have after the point.
        places: u32,
    },
    /// A number that is outside the range that was declared.
    #[error(
        "a number that is not from {low} to {high}: correct it, or declare another range (all parties the same)"
    )]
    Range {
        /// Least number.
        low: String,
        /// Greatest number.
        high: String,
    },
    /// Two rows of one key.
    #[error(
        "the key of {other} again, with a number of its own: leave one of them out, or have the first one or their sum taken"
    )]
    Repeated {
        /// Where the key stands before.
        other: String,
    },
    /// A sum that does not fit.
    #[error(
        "the numbers of this key's rows have a sum outside the range that was declared: declare a wider one, all parties the same"
    )]
    Sum,
    /// A column of a type that no key or number is made of.
    #[error(
        "values of type {found}, and {expected} are expected: cast the column when the file is written"
    )]
    Type {
        /// Type of the column.
        found: String,
        /// Types that are taken.
        expected: &'static str,
    },
    /// A Parquet file that cannot be decoded.
    #[error("no whole Parquet file: {0}: write it again")]
    Parquet(String),
}

/// Names of a file's columns, as far as a message has room for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        /// Characters of a name.
        const LETTERS: usize = 80;
        if self.0.is_empty() {
            return f.write_str("no columns: the first line has their names");
        }
        for (place, name) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let short: String = name.chars().take(LETTERS).collect();
            write!(f, "{comma}{short:?}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn missing(name: &str, times: usize) -> String {
    match times {
        0 => format!("there is no column {name:?}"),
        _ => format!("{times} columns are named {name:?}: rename all but one"),
    }
}

impl ListError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn content(path: &Path, place: Place, problem: Problem) -> Self {
        Self::Content {
            path: path.to_owned(),
            place,
            problem: Box::new(problem),
        }
    }
}

impl Place {
    /// Names a line of a CSV file.
    pub(crate) fn line(line: u64) -> Self {
        Self {
            line: Some(line),
            row: None,
            column: None,
        }
    }

    /// Names a row of a Parquet file, counted from 0.
    pub(crate) fn row(row: u64) -> Self {
        Self {
            line: None,
            row: Some(row + 1),
            column: None,
        }
    }

    /// Names the whole file.
    #[cfg(feature = "parquet")]
    pub(crate) fn file() -> Self {
        Self {
            line: None,
            row: None,
            column: None,
        }
    }

    pub(crate) fn column(mut self, name: &str) -> Self {
        self.column = Some(name.to_owned());
        self
    }
}
