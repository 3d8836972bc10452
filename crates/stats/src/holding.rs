//! One party's part of the table: the columns that are asked for, read from a file.

use madrigal_core::Zeroizing;
use madrigal_core::text::OwnData;

use crate::cell::{Kind, Value, ValueError, is_missing};
use crate::question::{Groups, Held, MOST_ROWS, Question, QuestionError};
use crate::table::{Record, Records, TableError};

/// Reasons why a file cannot be a party's part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldingError {
    /// The file is no table.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A column that is not there.
    #[error("there is no column {name}, but {known}; correct the name, or the first line")]
    Missing {
        /// Name of the column.
        name: String,
        /// Columns that are there.
        known: String,
    },
    /// None of the columns.
    #[error(
        "none of the columns that are asked for is here, but {known}; correct the names, or leave the file out"
    )]
    NoColumn {
        /// Columns that are there.
        known: String,
    },
    /// A column that is there twice.
    #[error("the first line names column {name} twice; rename one")]
    Twice {
        /// Name of the column.
        name: String,
    },
    /// A cell that is no value.
    #[error("line {line}, column {column}: {found} {why}")]
    Value {
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        found: OwnData,
        /// Reason.
        why: ValueError,
    },
    /// A date among numbers, or a number among dates.
    #[error(
        "line {line}, column {column}: {found} is of another kind than the cells above it, which are {expected}"
    )]
    Kind {
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        found: OwnData,
        /// Kind of the cells above.
        expected: Kind,
    },
    /// A value out of the range of its column.
    #[error(
        "line {line}, column {column}: {found} is out of the range of the column, {range}; correct one of them"
    )]
    Range {
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        found: OwnData,
        /// The range in words.
        range: String,
    },
    /// More digits after the point than the column is said to have.
    #[error(
        "line {line}, column {column}: {found} has more digits after the point than the {places} of its column; round it, or say that there are more"
    )]
    Places {
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        found: OwnData,
        /// Digits after the point that the column has.
        places: u32,
    },
    /// A group that is not among those that are named.
    #[error(
        "line {line}, column {column}: {found} is none of the groups {known}; name it, or have others in a group of their own"
    )]
    Group {
        /// The line.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        found: OwnData,
        /// The groups.
        known: String,
    },
    /// More rows than can be.
    #[error(
        "it has more than {most} rows, which is the most for one of {parties} parties; split it"
    )]
    Rows {
        /// The most rows of a party.
        most: usize,
        /// Number of parties.
        parties: usize,
    },
    /// More rows than others are to see.
    #[error("it has {found} rows, and is to be filled up to {pad}; fill up to more")]
    Pad {
        /// Number of rows.
        found: usize,
        /// Number that they are filled up to.
        pad: usize,
    },
    /// A statistic that the column does not have.
    #[error("{0}")]
    Question(#[from] QuestionError),
}

/// One party's part of the table.
pub struct Holding {
    /// Number of rows.
    pub rows: usize,
    /// Lines of the rows in their file, counted from 1.
    lines: Vec<u64>,
    /// Columns that are asked for, in the order of the question; `None` for those that are not here.
    pub columns: Vec<Option<Column>>,
    /// Group of each row, or `u32::MAX` for none; `None` if the column is not here.
    pub groups: Option<Zeroizing<Vec<u32>>>,
}

/// Group of a row that has none.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// A column of numbers or dates.
pub struct Column {
    /// Kind of the values; `None` if there is no value.
    pub kind: Option<Kind>,
    /// The most digits after the point that a value has.
    pub places: u32,
    /// Values in units of their own places; 0 where one is missing.
    units: Zeroizing<Vec<i64>>,
    /// Digits after the point of each value; [`MISSING`] where one is missing.
    own_places: Zeroizing<Vec<u8>>,
}

/// Mark of a missing value.
const MISSING: u8 = u8::MAX;

madrigal_core::opaque!(Holding);
madrigal_core::opaque!(Column);

impl Holding {
    /// The part of a party that holds nothing, and helps to compute.
    pub fn nothing(question: &Question) -> Self {
        Self {
            rows: 0,
            lines: Vec::new(),
            columns: question.columns.iter().map(|_| None).collect(),
            groups: None,
        }
    }

    /// Whether it holds anything.
    pub fn is_nothing(&self) -> bool {
        self.groups.is_none() && self.columns.iter().all(Option::is_none)
    }

    /// Reads the part of one of `parties` parties from CSV.
    ///
    /// # Errors
    /// [`HoldingError`] for the first thing that is wrong, with its line and column.
    pub fn read(
        question: &Question,
        parties: usize,
        bytes: &[u8],
        delimiter: char,
    ) -> Result<Self, HoldingError> {
        let mut records = Records::new(bytes, delimiter)?;
        let header = records.read()?.ok_or(TableError::Empty)?;
        let columns = question.columns.iter().map(|one| &one.name);
        let by = question.by.as_ref();
        let places = columns
            .chain(by.map(|by| &by.column))
            .map(|name| place(&header, name, question.held))
            .collect::<Result<Vec<_>, _>>()?;
        if places.iter().all(Option::is_none) && !places.is_empty() {
            let known = listed(header.cells());
            return Err(HoldingError::NoColumn { known });
        }
        let most = match question.held {
            Held::Rows => MOST_ROWS / parties.max(1),
            Held::Columns => MOST_ROWS,
        };
        // At least a byte and a line end for each row: nothing grows, and leaves what it had behind.
        let room = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let room = room.min(most + 1);
        let mut held = Self {
            rows: 0,
            lines: Vec::with_capacity(room),
            columns: (0..question.columns.len())
                .map(|at| places[at].map(|_| Column::with_room(room)))
                .collect(),
            groups: by
                .and_then(|_| places.last().copied().flatten())
                .map(|_| Zeroizing::new(Vec::with_capacity(room))),
        };
        while let Some(record) = records.read()? {
            if record.len() != header.len() {
                return Err(HoldingError::Table(TableError::Ragged {
                    line: record.line,
                    expected: header.len(),
                    found: record.len(),
                    delimiter,
                }));
            }
            if held.rows == most {
                return Err(HoldingError::Rows { most, parties });
            }
            held.take(question, &places, &record)?;
        }
        for (at, column) in held.columns.iter().enumerate() {
            if let Some(kind) = column.as_ref().and_then(|column| column.kind) {
                question.check_kind(at, kind)?;
            }
        }
        match question.pad.filter(|&pad| held.rows > pad) {
            Some(pad) => Err(HoldingError::Pad {
                found: held.rows,
                pad,
            }),
            None => Ok(held),
        }
    }

    /// Takes the cells of a line.
    fn take(
        &mut self,
        question: &Question,
        places: &[Option<usize>],
        record: &Record,
    ) -> Result<(), HoldingError> {
        let cell = |at: usize| places[at].and_then(|place| record.get(place));
        let line = record.line;
        for (at, column) in self.columns.iter_mut().enumerate() {
            if let (Some(column), Some(cell)) = (column.as_mut(), cell(at)) {
                column.take(question, at, line, cell)?;
            }
        }
        if let (Some(groups), Some(by)) = (&mut self.groups, &question.by) {
            let cell = cell(question.columns.len()).unwrap_or_default();
            groups.push(group(by, cell).ok_or_else(|| HoldingError::Group {
                line,
                column: by.column.clone(),
                found: OwnData::new("the cell", cell),
                known: listed(by.names.iter().map(String::as_str)),
            })?);
        }
        self.lines.push(line);
        self.rows += 1;
        Ok(())
    }

    /// The values of a column in units of 10^-`places`, 0 where one is missing, and whether each is there.
    ///
    /// # Errors
    /// [`HoldingError::Range`] for a value that is out of `range` in these units.
    pub(crate) fn values(
        &self,
        question: &Question,
        at: usize,
        places: u32,
        range: (i64, i64),
    ) -> Result<Values, HoldingError> {
        let Some(column) = &self.columns[at] else {
            return Ok(Values::default());
        };
        let mut values = Values {
            units: Zeroizing::zeros(self.rows),
            present: Zeroizing::zeros(self.rows),
        };
        let own = column
            .units
            .iter()
            .zip(column.own_places.iter())
            .zip(&self.lines);
        for (row, ((&units, &own), &line)) in own.enumerate() {
            if own == MISSING {
                continue;
            }
            let own = crate::cell::Decimal {
                units,
                places: u32::from(own),
            };
            let units = own
                .scaled(places)
                .filter(|units| (range.0..=range.1).contains(units));
            let Some(units) = units else {
                let kind = column.kind.unwrap_or(Kind::Number);
                return Err(out_of_range(
                    question,
                    at,
                    line,
                    Value::Number(own),
                    (kind, places),
                    range,
                ));
            };
            (values.units[row], values.present[row]) = (units, 1);
        }
        Ok(values)
    }
}

/// Values of a column in common units.
#[derive(Default)]
pub(crate) struct Values {
    /// The values, 0 where one is missing.
    pub(crate) units: Zeroizing<Vec<i64>>,
    /// 1 where there is a value, else 0.
    pub(crate) present: Zeroizing<Vec<u8>>,
}

impl Column {
    fn with_room(room: usize) -> Self {
        Self {
            kind: None,
            places: 0,
            units: Zeroizing::new(Vec::with_capacity(room)),
            own_places: Zeroizing::new(Vec::with_capacity(room)),
        }
    }

    /// Takes a cell of column `at`.
    fn take(
        &mut self,
        question: &Question,
        at: usize,
        line: u64,
        cell: &str,
    ) -> Result<(), HoldingError> {
        if is_missing(cell) {
            self.units.push(0);
            self.own_places.push(MISSING);
            return Ok(());
        }
        let asked = &question.columns[at];
        let column = || asked.name.clone();
        let found = || OwnData::new("the cell", cell);
        let value = Value::read(cell).map_err(|why| HoldingError::Value {
            line,
            column: column(),
            found: found(),
            why,
        })?;
        let kind = value.kind();
        let expected = *self.kind.get_or_insert(kind);
        if kind != expected {
            return Err(HoldingError::Kind {
                line,
                column: column(),
                found: found(),
                expected,
            });
        }
        let places = value.places();
        if let Some(most) = asked
            .places
            .filter(|&most| places > most.max(question.places(at)))
        {
            return Err(HoldingError::Places {
                line,
                column: column(),
                found: found(),
                places: most,
            });
        }
        if let Some((least, most)) = asked.range {
            let places = places.max(question.places(at));
            let (least, most, own) = (least.units(places), most.units(places), value.units(places));
            let inside = matches!((least, most, own), (Some(least), Some(most), Some(own)) if (least..=most).contains(&own));
            if !inside && kind == asked.range.map_or(kind, |(least, _)| least.kind()) {
                let range = question.range(at, kind, places);
                return Err(out_of_range(
                    question,
                    at,
                    line,
                    value,
                    (kind, places),
                    range,
                ));
            }
        }
        self.places = self.places.max(places);
        self.units.push(value.units(places).unwrap_or_default());
        self.own_places.push(places as u8);
        Ok(())
    }
}

fn out_of_range(
    question: &Question,
    at: usize,
    line: u64,
    value: Value,
    (kind, places): (Kind, u32),
    (least, most): (i64, i64),
) -> HoldingError {
    let told = |units: i64| match kind {
        Kind::Number => crate::cell::decimal(units.into(), places),
        Kind::Date => crate::cell::Day(units).to_string(),
    };
    let found = match value {
        Value::Number(number) => crate::cell::decimal(number.units.into(), number.places),
        Value::Date(days) => crate::cell::Day(days).to_string(),
    };
    HoldingError::Range {
        line,
        column: question.columns[at].name.clone(),
        found: OwnData::new("the value", &found),
        range: format!("{} to {}", told(least), told(most)),
    }
}

/// The group of a cell, [`NO_GROUP`] for a missing one; nothing for a name that is none of the groups.
fn group(by: &Groups, cell: &str) -> Option<u32> {
    match by.names.iter().position(|name| name == cell) {
        Some(group) => Some(group as u32),
        None if is_missing(cell) => Some(NO_GROUP),
        None => by.other.then_some(by.names.len() as u32),
    }
}

/// Place of a column among those that the first line names.
fn place(header: &Record, name: &str, held: Held) -> Result<Option<usize>, HoldingError> {
    let mut places = header.cells().enumerate().filter(|(_, cell)| *cell == name);
    let place = places.next().map(|(place, _)| place);
    if places.next().is_some() {
        return Err(HoldingError::Twice {
            name: name.to_owned(),
        });
    }
    match (place, held) {
        (None, Held::Rows) => Err(HoldingError::Missing {
            name: name.to_owned(),
            known: listed(header.cells()),
        }),
        (place, _) => Ok(place),
    }
}

/// The first names of a list.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const TOLD: usize = 12;
    let names: Vec<&str> = names.collect();
    let mut text = names[..names.len().min(TOLD)].join(", ");
    if names.len() > TOLD {
        text += &format!(" and {} more", names.len() - TOLD);
    }
    text
}
