//! A schema proposed for a file.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use arrow::datatypes::DataType;
use madrigal_tables::{Column, Kind};

use super::csv::{Csv, field};
use super::parquet::{Cell, Parquet, cells, columns_of, unread};
use super::read::listed;
use super::schema::{CHOICES, RowCount, Schema};
use super::values::{self, Written};
use super::{FileError, Format, format_of};

/// A schema that a file goes with, and what its owner should know of it.
#[derive(Debug, Clone)]
pub struct Inferred {
    /// The schema.
    pub schema: Schema,
    /// Texts on columns, by their names.
    pub notes: Vec<(String, String)>,
    /// Parts of columns' kinds that follow from values, in words, by the columns' names: a single row may decide on them.
    pub from_values: Vec<(String, String)>,
}

/// Proposes a schema for a file: of Parquet by its types, of CSV by its values. Ranges are those of types, as the data's own ends would tell
/// about it. The values of columns in `choices` are listed, and become known to everybody.
///
/// # Errors
/// [`FileError`]: a file that cannot be read, and a choice among columns that there are not, or of more texts than choices have.
pub fn infer(path: &Path, choices: &[String]) -> Result<Inferred, FileError> {
    let (seen, rows) = match format_of(path)? {
        Format::Csv => see_csv(path, choices)?,
        Format::Parquet => see_parquet(path, choices)?,
    };
    let names: Vec<String> = seen.iter().map(|one| one.name.clone()).collect();
    if let Some(name) = choices.iter().find(|name| !names.contains(name)) {
        return Err(FileError::content(
            path,
            None,
            format!(
                "there is no column {name:?} to list the values of; there are {}",
                listed(&names)
            ),
        ));
    }
    let (mut notes, mut from_values) = (Vec::new(), Vec::new());
    let mut columns = Vec::new();
    for one in seen {
        let (kind, note) = one.kind();
        from_values.extend(one.follows(&kind).map(|words| (one.name.clone(), words)));
        notes.extend(note.map(|note| (one.name.clone(), note)));
        let nullable = one.nulls > 0;
        columns.push(Column {
            nullable,
            ..Column::new(one.name, kind)
        });
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem
        .chars()
        .map(|one| if one.is_alphanumeric() { one } else { '_' })
        .collect();
    let schema = Schema {
        name: if name.is_empty() { "data".into() } else { name },
        rows: RowCount::Exactly(rows),
        unique: Vec::new(),
        least_group: 1,
        columns,
    };
    let inferred = Inferred {
        schema,
        notes,
        from_values,
    };
    let checked = inferred.check();
    checked.map_err(|problem| FileError::content(path, None, problem))?;
    Ok(inferred)
}

impl Inferred {
    /// Checks that the schema can be read again, or it is of no use: names may be odd.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        Schema::parse(&self.schema.to_toml()).map(|_| ())
    }

    /// The schema as a file, with comments on what everybody learns.
    pub fn to_toml(&self) -> String {
        let rows = match self.schema.rows {
            RowCount::Exactly(_) => "the number of rows",
            RowCount::AtMost(_) | RowCount::Hidden(..) => "the bound of the number of rows",
        };
        let mut text = format!(
            "# What all parties know of this table. Hand it to each of them once it says no more than they may know.\n\
             # Names, kinds, ranges, lengths of texts and {rows} become known; values do not, but for what queries tell.\n",
        );
        let mut columns = self.schema.columns.iter();
        let mut is_column = false;
        let is_hidden = matches!(self.schema.rows, RowCount::Hidden(..));
        for line in self.schema.to_toml().lines() {
            // Each column takes a line.
            let column = if is_column { columns.next() } else { None };
            let column = column.map(|column| &column.name);
            let note = self.notes.iter().find(|note| Some(&note.0) == column);
            if let Some((_, note)) = note {
                let _ = writeln!(text, "# {note}");
            }
            let follows = |one: &&(String, String)| is_hidden && Some(&one.0) == column;
            if let Some((_, words)) = self.from_values.iter().find(follows) {
                let _ = writeln!(text, "# This kind follows from the values: {words}.");
            }
            let _ = writeln!(text, "{line}");
            // Columns may have these names too.
            let is = |name: &str| !is_column && line.starts_with(name);
            if is("rows = ") {
                text.push_str(
                    "# In place of rows, at_most = N keeps the number of rows a secret: N rows are computed with.\n",
                );
            }
            if is("noise = ") {
                text.push_str(
                    "# The bound is the number of rows and noise. Keep this file: another one with other noise tells more of the same rows.\n\
                     # The bound alone is private. A kind below that follows from the values may tell of a single row: put one in its place\n\
                     # that you know without the file. That no value of a column is missing follows from the values too.\n",
                );
            }
            if is("rows = ") || is("noise = ") {
                text.push_str(
                    "# unique = [[\"id\"]] tells that no two rows have the same id; joins by it cost less.\n\
                     # least_group = 10 has nothing told of groups of fewer rows.\n",
                );
            }
            if line == "[columns]" {
                is_column = true;
                text.push_str(
                    "# Narrower ranges cost less, and tell more: integer(0..=120), decimal(0.00..=99.95), date(2000-01-01..=2030-12-31),\n\
                     # a list of texts where all of them may be known. What queries may tell of a column:\n\
                     # { kind = \"i32\", right = \"never\" }, or join_key, aggregate, group, shown, which it is unless said otherwise.\n",
                );
            }
        }
        text
    }
}

/// What values of a column are, as far as they have been seen.
struct Seen {
    name: String,
    /// The kind that the file says.
    known: Option<Kind>,
    is_float: bool,
    values: usize,
    nulls: usize,
    is_bool: bool,
    is_number: bool,
    is_date: bool,
    is_time: bool,
    least: i128,
    greatest: i128,
    /// Digits before the point, and after it.
    whole: u32,
    digits: u32,
    bytes: usize,
    is_ascii: bool,
    texts: Option<BTreeSet<String>>,
}

impl Seen {
    fn new(name: &str, choices: &[String]) -> Self {
        Self {
            name: name.to_owned(),
            known: None,
            is_float: false,
            values: 0,
            nulls: 0,
            is_bool: true,
            is_number: true,
            is_date: true,
            is_time: true,
            least: 0,
            greatest: 0,
            whole: 0,
            digits: 0,
            bytes: 0,
            is_ascii: true,
            texts: choices.iter().any(|one| one == name).then(BTreeSet::new),
        }
    }

    /// Sees a text; of a file without types it may be anything.
    fn text(&mut self, text: &str, is_typed: bool) -> Result<(), String> {
        if text.contains('\0') {
            return Err(format!(
                "column {:?} has a text with a zero byte, which texts cannot hold",
                self.name
            ));
        }
        self.values += 1;
        self.bytes = self.bytes.max(text.len());
        self.is_ascii &= text.is_ascii();
        if let Some(texts) = &mut self.texts
            && !texts.contains(text)
        {
            if texts.len() == CHOICES {
                return Err(format!(
                    "column {:?} has more than {CHOICES} texts, and a choice lists no more",
                    self.name
                ));
            }
            texts.insert(text.to_owned());
        }
        if is_typed {
            return Ok(());
        }
        self.is_bool &= text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
        self.is_date = self.is_date && values::date(text).is_some();
        self.is_time = self.is_time && values::time(text).is_some();
        // Zeros in front are part of a code, and a number would lose them.
        let digits = text.trim_start_matches(['+', '-']).as_bytes();
        let is_code = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
        match values::written(text).filter(|_| self.is_number && !is_code) {
            Some(Written { number, digits }) => {
                self.least = self.least.min(number);
                self.greatest = self.greatest.max(number);
                let all = number
                    .unsigned_abs()
                    .checked_ilog10()
                    .map_or(0, |log| log + 1);
                self.whole = self.whole.max(all.saturating_sub(digits));
                self.digits = self.digits.max(digits);
            }
            None => self.is_number = false,
        }
        Ok(())
    }

    /// The kind, and what its owner should know of it.
    fn kind(&self) -> (Kind, Option<String>) {
        if let Some(texts) = &self.texts {
            let note = "All of these texts become known to everybody.";
            return (Kind::choice(texts.iter().cloned()), Some(note.into()));
        }
        if self.is_float {
            let note = "Binary fractions are rounded to the digits that are declared.";
            return (Kind::decimal(18, 6), Some(note.into()));
        }
        if let Some(kind) = &self.known {
            return (kind.clone(), None);
        }
        let is_typed = self.values > 0;
        match () {
            () if is_typed && self.is_bool => (Kind::Bool, None),
            () if is_typed && self.is_date => (Kind::date(), None),
            () if is_typed && self.is_time => (Kind::time(), None),
            () if is_typed && self.is_number && self.whole + self.digits <= 38 => {
                (self.number(), None)
            }
            () => {
                let bytes = self.bytes.max(1).next_multiple_of(8);
                let ascii = self.is_ascii;
                (Kind::Text { bytes, ascii }, None)
            }
        }
    }

    /// The parts of the kind that follow from the values; nothing where the file's types say all.
    fn follows(&self, kind: &Kind) -> Option<String> {
        let mut parts = match kind {
            _ if self.texts.is_some() => vec!["its list of texts"],
            _ if self.known.is_some() || self.is_float => Vec::new(),
            Kind::Text { .. } => vec!["its length", "whether all of it is ASCII"],
            Kind::Number(_) => vec!["what it counts", "its range and digits"],
            _ => vec!["what it is"],
        };
        if self.nulls > 0 {
            parts.push("that some are missing");
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The kind of numbers that were seen.
    fn number(&self) -> Kind {
        if self.digits == 0 {
            let fits = |kind: &Kind| {
                let number = kind.number();
                number.is_some_and(|one| one.contains(self.least) && one.contains(self.greatest))
            };
            let types = [
                Kind::of::<i8>(),
                Kind::of::<i16>(),
                Kind::of::<i32>(),
                Kind::of::<i64>(),
            ];
            if let Some(kind) = types.into_iter().find(fits) {
                return kind;
            }
        }
        // As many digits as fit into 16, 32, 64 and 128 bits.
        let precision = self.whole + self.digits;
        // With 28 digits there is room for sums of 10^10 rows.
        let precision = [4, 9, 18, 28].into_iter().find(|&most| precision <= most);
        Kind::decimal(precision.unwrap_or(38), self.digits as u8)
    }
}

fn see_csv(path: &Path, choices: &[String]) -> Result<(Vec<Seen>, usize), FileError> {
    let file = Csv::open(path)?;
    let mut seen: Vec<Seen> = file
        .names()
        .iter()
        .map(|name| Seen::new(name, choices))
        .collect();
    let mut rows = 0;
    file.each(|record| {
        rows += 1;
        for (place, one) in seen.iter_mut().enumerate() {
            let text = field(record, place, &one.name)?;
            match text.is_empty() {
                true => one.nulls += 1,
                false => one.text(text, false)?,
            }
        }
        Ok(())
    })?;
    Ok((seen, rows))
}

fn see_parquet(path: &Path, choices: &[String]) -> Result<(Vec<Seen>, usize), FileError> {
    let file = Parquet::open(path)?;
    let schema = file.schema();
    let mut seen = Vec::new();
    for field in schema.fields() {
        let mut one = Seen::new(field.name(), choices);
        let mut kind = field.data_type();
        if let DataType::Dictionary(_, values) = kind {
            kind = &**values;
        }
        one.known = known(kind).map_err(|problem| {
            FileError::content(path, None, format!("column {:?} has {problem}", one.name))
        })?;
        one.is_float = matches!(kind, DataType::Float32 | DataType::Float64);
        if one.texts.is_some() && (one.known.is_some() || one.is_float) {
            return Err(FileError::content(
                path,
                None,
                format!(
                    "column {:?} has {kind}, and choices are of texts: leave out --choice",
                    one.name
                ),
            ));
        }
        // A column of nulls alone says nothing of what it could hold.
        one.is_bool = false;
        one.is_number = false;
        one.is_date = false;
        one.is_time = false;
        seen.push(one);
    }
    let all: Vec<usize> = (0..seen.len()).collect();
    let mut rows = 0;
    file.each(&all, |batch| {
        rows += batch.num_rows();
        for one in &mut seen {
            let array = columns_of(batch, &one.name)?;
            one.nulls += array.logical_null_count();
            if one.known.is_none() && !one.is_float {
                cells(&array, |cell| match cell {
                    Cell::Text(text) => one.text(text, true),
                    _ => Ok(()),
                })?;
            }
        }
        Ok(())
    })?;
    Ok((seen, rows))
}

/// The kind that a type says; none for texts, whose lengths are to be seen.
fn known(kind: &DataType) -> Result<Option<Kind>, String> {
    Ok(Some(match kind {
        DataType::Boolean => Kind::Bool,
        DataType::Int8 => Kind::of::<i8>(),
        DataType::Int16 => Kind::of::<i16>(),
        DataType::Int32 => Kind::of::<i32>(),
        DataType::Int64 => Kind::of::<i64>(),
        DataType::UInt8 => Kind::of::<u8>(),
        DataType::UInt16 => Kind::of::<u16>(),
        DataType::UInt32 => Kind::of::<u32>(),
        DataType::UInt64 => Kind::of::<u64>(),
        DataType::Decimal128(precision, scale) if *scale >= 0 && *precision <= 38 => {
            Kind::decimal((*precision).into(), scale.unsigned_abs())
        }
        DataType::Date32 | DataType::Date64 => Kind::date(),
        DataType::Timestamp(..) => Kind::time(),
        DataType::Null
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Float32
        | DataType::Float64 => return Ok(None),
        other => return Err(unread(other)),
    }))
}
