//! A list: its file, and which columns are its keys and its payload.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::decimal::{self, MOST_PLACES};
use crate::error::ListError;
use crate::normal::Normal;

/// Formats of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with separators, and the names of the columns in the first line.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// A column of the key, and the normal form of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Name of the column.
    pub column: String,
    /// Normal form of its values.
    pub normal: Normal,
}

/// Treatment of rows whose key is empty, in its normal form. A key of several columns is empty if any of them is, as NULL equals
/// nothing in SQL. Of several keys those that are empty are left out, and this is about rows all of whose keys are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Empty {
    /// The list is refused.
    Refuse,
    /// The row matches nothing. Their number is told.
    #[default]
    Skip,
    /// The row is taken as any other: empty keys match each other. Rows that have a key match by that alone.
    Match,
}

/// Payload of a key with several rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The list is refused, with the lines of two such rows. This is the default: whichever number is taken, somebody counts on the
    /// other.
    #[default]
    Refuse,
    /// The first row's.
    First,
    /// The sum of all rows'.
    Sum,
}

/// A column of numbers that belong to the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Name of the column.
    pub column: String,
    /// Digits after the point, at most 18. Numbers are integers in units of the last of them.
    pub places: u32,
    /// Least and greatest number that may occur, in those units; sums of a key's rows too.
    pub range: RangeInclusive<i64>,
    /// Number of a key with several rows.
    pub duplicates: Duplicates,
}

impl Payload {
    /// Integers of any size that 64 bits hold, one row for a key.
    pub fn integers(column: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            places: 0,
            range: i64::MIN..=i64::MAX,
            duplicates: Duplicates::default(),
        }
    }

    /// Writes a number as the file has it, with the point.
    pub fn text(&self, value: i64) -> String {
        decimal::format(value, self.places)
    }

    /// Checks that a number is in the range.
    pub(crate) fn check(&self, value: i128) -> Result<i64, crate::Problem> {
        decimal::check(value, self.places, &self.range)
    }
}

/// A file, and the columns of it that matter: those of a row's key, or of several that are tried in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    format: Format,
    /// Keys of a row, one at least, each of its columns.
    keys: Vec<Vec<Key>>,
    payload: Option<Payload>,
    empty: Empty,
    separator: u8,
}

/// Checks the columns of a key.
fn check(key: &[Key]) -> Result<(), ListError> {
    match key.len() {
        0 => Err(ListError::NoColumn),
        1..=crate::MOST_COLUMNS => Ok(()),
        columns => Err(ListError::TooManyColumns { columns }),
    }
}

impl Source {
    /// Names a file and the columns whose values together are a row's key, as they stand. The file's name tells its format, by
    /// `.csv` or `.parquet` in letters of any size.
    ///
    /// # Errors
    /// [`ListError::Format`], [`ListError::NoParquet`], [`ListError::NoColumn`] or [`ListError::TooManyColumns`].
    pub fn new<C: Into<String>>(
        path: impl Into<PathBuf>,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Self, ListError> {
        let key = |column: C| Key {
            column: column.into(),
            normal: Normal::default(),
        };
        Self::with_keys(path, columns.into_iter().map(key).collect())
    }

    /// Does what [`Source::new`] does, with a normal form for each column.
    ///
    /// # Errors
    /// [`ListError`] in the same cases as [`Source::new`].
    pub fn with_keys(path: impl Into<PathBuf>, keys: Vec<Key>) -> Result<Self, ListError> {
        let path = path.into();
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let format = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => Format::Csv,
            Some("parquet") if cfg!(feature = "parquet") => Format::Parquet,
            Some("parquet") => return Err(ListError::NoParquet { path }),
            _ => return Err(ListError::Format { path }),
        };
        check(&keys)?;
        Ok(Self {
            path,
            format,
            keys: vec![keys],
            payload: None,
            empty: Empty::default(),
            separator: b',',
        })
    }

    /// Adds a key that a row has besides: it matches by the first of its keys that the other list has in the same place.
    ///
    /// # Errors
    /// [`ListError::NoColumn`], [`ListError::TooManyColumns`] or [`ListError::TooManyKeys`].
    pub fn or(mut self, key: Vec<Key>) -> Result<Self, ListError> {
        check(&key)?;
        if self.keys.len() == crate::MOST_KEYS_OF_ROW {
            return Err(ListError::TooManyKeys);
        }
        self.keys.push(key);
        Ok(self)
    }

    /// Gives all columns of all keys one normal form.
    #[must_use]
    pub fn normal(mut self, normal: &Normal) -> Self {
        for key in self.keys.iter_mut().flatten() {
            key.normal = normal.clone();
        }
        self
    }

    /// Adds a column of numbers.
    ///
    /// # Errors
    /// [`ListError::Places`] if it has too many digits after the point.
    pub fn payload(mut self, payload: Payload) -> Result<Self, ListError> {
        let places = payload.places;
        if places > MOST_PLACES {
            return Err(ListError::Places { places });
        }
        self.payload = Some(payload);
        Ok(self)
    }

    /// Says what becomes of rows with empty keys.
    #[must_use]
    pub fn empty(mut self, empty: Empty) -> Self {
        self.empty = empty;
        self
    }

    /// Says which byte stands between the fields of a CSV file, if it is no comma.
    ///
    /// # Errors
    /// [`ListError::Separator`] for a quote, the end of a line, and bytes that are parts of characters.
    pub fn separator(mut self, separator: u8) -> Result<Self, ListError> {
        if matches!(separator, b'"' | b'\n' | b'\r' | 0) || !separator.is_ascii() {
            return Err(ListError::Separator { separator });
        }
        self.separator = separator;
        Ok(self)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Columns of the first key.
    pub fn keys(&self) -> &[Key] {
        &self.keys[0]
    }

    /// Keys of a row in the order in which they are tried, each of its columns.
    pub fn all_keys(&self) -> &[Vec<Key>] {
        &self.keys
    }

    /// Name of a key: those of its columns, with commas between them.
    pub fn name_of_key(&self, key: usize) -> String {
        let columns = self.keys.get(key).into_iter().flatten();
        let columns: Vec<&str> = columns.map(|key| key.column.as_str()).collect();
        columns.join(",")
    }

    /// The column of numbers, if there is one.
    pub fn numbers(&self) -> Option<&Payload> {
        self.payload.as_ref()
    }

    /// Treatment of rows with empty keys.
    pub fn empties(&self) -> Empty {
        self.empty
    }

    /// Name of a column of the keys, counted over all of them.
    pub(crate) fn column(&self, number: usize) -> Option<&str> {
        let key = self.keys.iter().flatten().nth(number);
        key.map(|key| key.column.as_str())
    }

    pub(crate) fn between(&self) -> u8 {
        self.separator
    }

    /// The keys' normal forms, column by column, with semicolons between them and "or" between keys: a fact that all parties must have in
    /// common. Names of columns may differ.
    pub fn normal_text(&self) -> String {
        let mut text = String::new();
        for (number, key) in self.keys.iter().enumerate() {
            for (place, column) in key.iter().enumerate() {
                let between = match (number, place) {
                    (0, 0) => "",
                    (_, 0) => " or ",
                    _ => ";",
                };
                // A string takes whatever is written to it.
                let _ = write!(text, "{between}{}", column.normal);
            }
        }
        text
    }

    /// Names of the columns that are read, none twice.
    pub(crate) fn columns(&self) -> Vec<&str> {
        let payload = self.payload.iter().map(|payload| &payload.column);
        let keys = self.keys.iter().flatten().map(|key| &key.column);
        let mut names: Vec<&str> = Vec::new();
        for name in keys.chain(payload) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}
