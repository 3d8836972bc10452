//! Tables of numbers (`.csv`): a line for each input of a batch, numbers separated by commas.
//!
//! Read is text in UTF-8, with or without a byte order mark, whose lines end in `\n` or `\r\n` and have as many numbers
//! each: decimal ones with a point, as `-0.5` and `3e2`. Spaces around numbers, and empty lines at the end, mean nothing.
//! There are no names of columns and no quotes; lines and commas are those of RFC 4180.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use madrigal_core::text::OwnData;

use crate::graph::Type;
use crate::tensor::{Data, Element, HeldError, Tensor, elements, own_number, sizes};

/// Reasons why a text is no table, or none that can be read. Lines and columns are counted from 1; a column is a place
/// between commas.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// A text without lines.
    #[error("it is empty; expected a line of numbers for each input")]
    Empty,
    /// A byte that is no text.
    #[error(
        "line {line}, column {column}: this is no text, for the byte {byte:#04x} is not UTF-8; \
         expected a text in UTF-8 of numbers separated by commas"
    )]
    Text {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The byte.
        byte: u8,
    },
    /// Text between two commas that is no number.
    #[error(
        "line {line}, column {column}: {found} is no number; expected numbers separated by commas{}",
        header(*.line)
    )]
    Number {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// Beginning of the text.
        found: OwnData,
    },
    /// A number that is not finite, or beyond what `f64` holds.
    #[error(
        "line {line}, column {column}: {found} is infinite, or no number to compute with; \
         expected numbers between -1.79e308 and 1.79e308"
    )]
    Infinite {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// Beginning of the text.
        found: OwnData,
    },
    /// A line with fewer numbers than the first, or more.
    #[error("line {line}: it has {found} numbers; expected {expected}, as line 1 has")]
    Ragged {
        /// The line.
        line: usize,
        /// Numbers that the first line has.
        expected: usize,
        /// Numbers that this one has.
        found: usize,
    },
    /// A number that the input's elements do not have.
    #[error(
        "line {line}, column {column}: {found} is no {element}, which the model's input takes; expected integers of \
         that type"
    )]
    Held {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The number.
        found: OwnData,
        /// The input's elements.
        element: Element,
    },
    /// Another number of lines or of columns than an input takes.
    #[error(
        "it has {lines} lines of {columns} numbers; expected for the model's input {name:?} {}",
        wanted(.shape)
    )]
    Fit {
        /// Number of lines.
        lines: usize,
        /// Numbers that each line has.
        columns: usize,
        /// The input's name.
        name: String,
        /// The input's dimensions, the batch first.
        shape: Vec<usize>,
    },
}

impl CsvError {
    /// The line that is wrong, counted from 1; none if the whole table is.
    pub fn line(&self) -> Option<usize> {
        match *self {
            Self::Text { line, .. }
            | Self::Number { line, .. }
            | Self::Infinite { line, .. }
            | Self::Held { line, .. }
            | Self::Ragged { line, .. } => Some(line),
            Self::Empty | Self::Fit { .. } => None,
        }
    }
}

/// The usual reason why the first line has no numbers.
fn header(line: usize) -> &'static str {
    match line == 1 {
        true => "; if this line names the columns, take it out",
        false => "",
    }
}

/// Writes the numbers that a shape wants, as in 1 of 784 (1 x 28 x 28).
fn wanted(shape: &[usize]) -> String {
    let one = shape.get(1..).unwrap_or(&[]);
    let lines = shape.first().unwrap_or(&1);
    match (elements(one), one.len()) {
        (Some(columns), 0 | 1) => format!("{lines} of {columns}"),
        (Some(columns), _) => format!("{lines} of {columns} ({})", sizes(one)),
        (None, _) => format!("{lines} of {}", sizes(one)),
    }
}

/// A table: at least one line, of as many numbers each, all of them finite.
#[derive(Clone, PartialEq)]
pub struct Table {
    columns: usize,
    numbers: Vec<f64>,
    /// Integers that floats may not have, by their places among the numbers.
    integers: BTreeMap<usize, i128>,
}

/// Number from which on integers are not all floats.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Shows how large the table is; the numbers may be secret.
impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (lines, columns) = (self.lines(), self.columns);
        write!(f, "Table({lines} lines of {columns} numbers)")
    }
}

/// Reads a table. Memory follows the text's length: eight bytes for a number, which has at least two with its comma.
///
/// # Errors
/// [`CsvError`] if it is no text, is empty, has anything but finite numbers, or lines of different length.
pub fn read(file: &[u8]) -> Result<Table, CsvError> {
    let text = std::str::from_utf8(file).map_err(|error| {
        let (before, rest) = file.split_at(error.valid_up_to());
        let count = |bytes: &[u8], what| bytes.iter().filter(|&&byte| byte == what).count();
        let last = before.rsplit(|&byte| byte == b'\n').next();
        CsvError::Text {
            line: 1 + count(before, b'\n'),
            column: 1 + count(last.unwrap_or_default(), b','),
            byte: rest.first().copied().unwrap_or_default(),
        }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut numbers = Vec::new();
    let mut integers = BTreeMap::new();
    let mut expected = None;
    for (line, parts) in (1..).zip(text.trim_end().lines()) {
        let before = numbers.len();
        for (column, part) in (1..).zip(parts.split(',')) {
            let part = part.trim();
            let found = || OwnData::new("what stands there", part);
            let number: f64 = part.parse().map_err(|_| CsvError::Number {
                line,
                column,
                found: found(),
            })?;
            if !number.is_finite() {
                return Err(CsvError::Infinite {
                    line,
                    column,
                    found: found(),
                });
            }
            if let (true, Ok(integer)) = (number.abs() >= EXACT, part.parse()) {
                integers.insert(numbers.len(), integer);
            }
            numbers.push(number);
        }
        let found = numbers.len() - before;
        let expected = *expected.get_or_insert(found);
        if found != expected {
            return Err(CsvError::Ragged {
                line,
                expected,
                found,
            });
        }
    }
    let columns = expected.ok_or(CsvError::Empty)?;
    Ok(Table {
        columns,
        numbers,
        integers,
    })
}

impl Table {
    /// Number of lines, at least 1.
    pub fn lines(&self) -> usize {
        self.numbers.len() / self.columns
    }

    /// Number of numbers of each line, at least 1.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers, line by line.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The numbers for an input of this name and type, whose first dimension is the batch: a line for each of the
    /// batch, with all its elements, the last dimension's side by side. Integers are exact.
    ///
    /// # Errors
    /// [`CsvError`] if there are more lines or columns, or fewer, or a number is none of the input's elements.
    pub fn into_input(self, name: &str, ty: &Type) -> Result<Tensor, CsvError> {
        let shape = &ty.shape[..];
        let lines = shape.first().copied().unwrap_or(1);
        let columns = elements(shape.get(1..).unwrap_or(&[]));
        if (self.lines(), Some(self.columns)) != (lines, columns) {
            return Err(CsvError::Fit {
                lines: self.lines(),
                columns: self.columns,
                name: name.to_owned(),
                shape: shape.to_owned(),
            });
        }
        let wrong = |place: usize, found: OwnData| CsvError::Held {
            line: 1 + place / self.columns,
            column: 1 + place % self.columns,
            found,
            element: ty.element,
        };
        let made = Tensor::made(Element::F64, shape.to_owned(), Data::F64(self.numbers));
        if !ty.element.is_integer() || self.integers.is_empty() {
            let held = made.converted(ty.element);
            return held.map_err(|HeldError { place, found, .. }| wrong(place, found));
        }
        let (least, greatest) = ty.element.range();
        let mut values = Vec::with_capacity(made.len());
        for (place, number) in made.to_f64().into_iter().enumerate() {
            let integer = match self.integers.get(&place) {
                Some(&integer) => integer,
                None if number.fract() == 0.0 => number as i128,
                None => return Err(wrong(place, own_number(number))),
            };
            if !(least..=greatest).contains(&integer) {
                return Err(wrong(place, own_number(integer)));
            }
            values.push(integer as i64);
        }
        Ok(Tensor::made(
            ty.element,
            shape.to_owned(),
            Data::Int(values),
        ))
    }
}

/// Writes a tensor as a table: a line for each place along its first axis. Floats have as few digits as tell them
/// apart, Booleans are 0 and 1. Numbers that are not finite are written, too, but not read.
pub fn write(tensor: &Tensor) -> String {
    let texts: Vec<String> = match tensor.data() {
        Data::F32(numbers) => numbers.iter().map(f32::to_string).collect(),
        Data::F64(numbers) => numbers.iter().map(f64::to_string).collect(),
        Data::Int(numbers) if tensor.element() == Element::U64 => {
            numbers.iter().map(|&v| (v as u64).to_string()).collect()
        }
        Data::Int(numbers) => numbers.iter().map(i64::to_string).collect(),
        Data::Bool(bits) => bits.iter().map(|&v| u8::from(v).to_string()).collect(),
    };
    // A tensor without elements has no text to be cut, whatever the columns.
    let columns: usize = tensor.shape().get(1..).unwrap_or(&[]).iter().product();
    let mut text = String::new();
    for row in texts.chunks(columns.max(1)) {
        let written = writeln!(text, "{}", row.join(","));
        written.expect("a string takes everything");
    }
    text
}
