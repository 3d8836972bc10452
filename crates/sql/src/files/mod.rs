//! Files of tables: CSV and Parquet in, results out.
//!
//! A table of a file has a [`Schema`] beside it, in TOML, which all parties have: what is known of it, and what may be told of it.
//! [`infer`] proposes one; its owner narrows it and hands it to the others.
//!
//! ```
//! let schema = madrigal_sql::files::Schema::parse(r#"
//! name = "claims"
//! ## Everybody learns the number of rows. With `at_most = 2000` in its place they learn a bound, which may come from [`Noise`].
//! rows = 1200
//! ## Keys that no two rows share: joins by them cost less.
//! unique = [["id"]]
//! ## Nothing is told of groups of fewer rows.
//! least_group = 10
//!
//! [columns]
//! id = "integer(0..=100000)"
//! ward = "text(20, ascii)"
//! flag = ["A", "N", "R"]
//! amount = { kind = "decimal(12, 2)", right = "aggregate" }
//! discharged = { kind = "date(2000-01-01..=2030-12-31)", nullable = true }
//! "#)?;
//! assert_eq!(schema.columns.len(), 5);
//! # Ok::<(), String>(())
//! ```
//!
//! | kind | values | in a CSV file |
//! |---|---|---|
//! | `bool` | true or false | `true`, `false`, `t`, `f`, `1`, `0` |
//! | `integer(0..=120)` | integers in a range, both ends included; `i8` to `i64` and `u8` to `u64` are those of these types | `42` |
//! | `decimal(12, 2)` | 12 digits, 2 of them after the point | `-1.50` |
//! | `decimal(0.00..=99.95)` | decimal numbers in a range, with as many digits as its ends have | `12.5` |
//! | `date`, `date(2000-01-01..=2030-12-31)` | days of the years 1 to 9999, or in a range | `2024-02-29` |
//! | `time` | microseconds of the years 1 to 9999 | `2024-02-29 12:30:00.5` |
//! | `text(20)`, `text(20, ascii)` | texts of at most 20 bytes as UTF-8, or of at most 20 characters of one byte | as it is |
//! | `["A", "N", "R"]` | one of these texts, which everybody learns | as it is |
//!
//! Columns of a file that its schema does not name are not read. An empty field of a CSV file is a missing value in a column that is
//! `nullable`, and else an empty text.

mod csv;
mod infer;
mod noise;
mod parquet;
mod read;
mod schema;
mod values;
mod write;

use std::io;
use std::path::{Path, PathBuf};

pub use infer::{Inferred, infer};
pub use noise::Noise;
pub use read::read;
pub use schema::{RowCount, Schema};
pub use write::{Format, batch, bytes};

/// A file that gives no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system does not give the file.
    #[error("cannot read {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A file whose name says neither of the formats.
    #[error("{}: neither a .csv nor a .parquet file: rename it, or convert it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// A schema that is wrong.
    #[error("{}: {problem}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Line, column and what to write.
        problem: String,
    },
    /// Content that is wrong, or does not go with its schema.
    #[error("{}{}: {problem}", path.display(), at(*line))]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, where lines are known.
        line: Option<u64>,
        /// Row, column and what was expected.
        problem: String,
    },
}

fn at(line: Option<u64>) -> String {
    line.map_or(String::new(), |line| format!(", line {line}"))
}

impl FileError {
    fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    fn content(path: &Path, line: Option<u64>, problem: impl ToString) -> Self {
        Self::Content {
            path: path.to_owned(),
            line,
            problem: problem.to_string(),
        }
    }
}

/// What a file's name says that it holds.
pub(crate) fn format_of(path: &Path) -> Result<Format, FileError> {
    Format::of(path).ok_or_else(|| FileError::Format {
        path: path.to_owned(),
    })
}
