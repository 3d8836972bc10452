//! Tables that a query reads: what everybody knows of them, and their values, which their owner alone has.

use std::collections::BTreeSet;
use std::fmt;

use madrigal_program::{Array, Holder, Plain, Shape, Type};

use crate::column::{Column, Value};
use crate::error::Fault;
use crate::expression::codes_of_text;
use crate::kind::Kind;

/// What everybody knows of a table: its owner, its columns, and a number of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) owner: Holder,
    pub(crate) rows: usize,
    pub(crate) is_padded: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) unique: Vec<Vec<String>>,
    pub(crate) least_group: usize,
}

impl Table {
    /// A table of `rows` rows that all count.
    pub fn new(
        name: impl Into<String>,
        owner: impl Into<Holder>,
        rows: usize,
        columns: Vec<Column>,
    ) -> Self {
        Self {
            name: name.into(),
            owner: owner.into(),
            rows,
            is_padded: false,
            columns,
            unique: Vec::new(),
            least_group: 1,
        }
    }

    /// The table with a number of rows that is a bound: its owner fills it up with rows that do not count, and how many do is a secret.
    #[must_use]
    pub fn padded(self) -> Self {
        Self {
            is_padded: true,
            ..self
        }
    }

    /// The table, of which no two rows are equal in these columns. Its owner checks that before anything is sent.
    #[must_use]
    pub fn unique(mut self, columns: &[&str]) -> Self {
        self.unique.push(columns.iter().map(|&name| name.into()).collect());
        self
    }

    /// The table, of which results tell nothing but of groups of so many rows or more: smaller ones are left out before results are opened.
    #[must_use]
    pub fn with_least_group(self, rows: usize) -> Self {
        Self {
            least_group: rows.max(1),
            ..self
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who has the values.
    pub const fn owner(&self) -> &Holder {
        &self.owner
    }

    /// Number of rows, or the bound of it.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Checks names and keys.
    pub(crate) fn checked(&self) -> Result<(), Fault> {
        let mut seen = BTreeSet::new();
        for column in &self.columns {
            if !seen.insert(&column.name) {
                return Err(Fault::TwoColumns {
                    name: column.name.clone(),
                });
            }
        }
        for name in self.unique.iter().flatten() {
            let column = crate::expression::find(&self.columns, name)?;
            if column.nullable {
                return Err(Fault::Other(format!(
                    "column {name:?} of table {:?} is a unique key and may have missing values: a key has none",
                    self.name
                )));
            }
        }
        Ok(())
    }
}

/// The values of a table, as its owner has them. `Debug` tells none of them.
#[derive(Clone)]
pub struct Data {
    pub(crate) columns: Vec<Encoded>,
    pub(crate) valid: Option<Array>,
}

/// A column as its elements, and whether each value is there.
#[derive(Clone)]
pub(crate) struct Encoded {
    pub(crate) parts: Vec<Array>,
    pub(crate) present: Option<Array>,
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data")
            .field("columns", &self.columns.len())
            .finish_non_exhaustive()
    }
}

impl Data {
    /// The values of a table's columns, in their order: as many in each, and no more than the table has rows.
    ///
    /// # Errors
    /// A value that its column does not hold, columns of different lengths, and two rows that are equal in a unique key.
    pub fn new<C>(table: &Table, columns: impl IntoIterator<Item = C>) -> Result<Self, Fault>
    where
        C: IntoIterator<Item = Value>,
    {
        table.checked()?;
        let mut encoded = Vec::new();
        let mut given = columns.into_iter();
        let mut rows: Option<usize> = None;
        for column in &table.columns {
            let values = given.next().ok_or_else(|| {
                Fault::Other(format!(
                    "table {:?} has {} columns, and values are given for {}",
                    table.name,
                    table.columns.len(),
                    encoded.len()
                ))
            })?;
            let (made, length) = encode(table, column, values)?;
            if rows.is_some_and(|rows| rows != length) {
                return Err(Fault::Other(format!(
                    "column {:?} of table {:?} has {length} values, and the one before it has {}",
                    column.name,
                    table.name,
                    rows.unwrap_or(0)
                )));
            }
            rows = Some(length);
            encoded.push(made);
        }
        let rows = rows.unwrap_or(0);
        if rows > table.rows || rows < table.rows && !table.is_padded {
            return Err(Fault::Other(format!(
                "table {:?} is declared to have {}{} rows, and {rows} are given",
                table.name,
                if table.is_padded { "at most " } else { "" },
                table.rows
            )));
        }
        let data = Self {
            valid: table.is_padded.then(|| {
                let codes = (0..table.rows).map(|row| u128::from(row < rows));
                array(bool::TYPE, codes)
            }),
            columns: encoded,
        };
        for key in &table.unique {
            data.check_unique(table, key, rows)?;
        }
        Ok(data)
    }

    fn check_unique(&self, table: &Table, key: &[String], rows: usize) -> Result<(), Fault> {
        let parts: Vec<Vec<u128>> = key
            .iter()
            .filter_map(|name| table.columns.iter().position(|column| column.name == *name))
            .flat_map(|column| &self.columns[column].parts)
            .map(|part| part.codes().collect())
            .collect();
        let mut order: Vec<usize> = (0..rows).collect();
        let key_of = |row: usize| parts.iter().map(move |part| part[row]);
        order.sort_unstable_by(|&a, &b| key_of(a).cmp(key_of(b)));
        let same = order.windows(2).find(|pair| key_of(pair[0]).eq(key_of(pair[1])));
        match same {
            None => Ok(()),
            Some(pair) => Err(Fault::Other(format!(
                "rows {} and {} of table {:?} are equal in {}, which is declared to be unique",
                pair[0].min(pair[1]) + 1,
                pair[0].max(pair[1]) + 1,
                table.name,
                key.join(", ")
            ))),
        }
    }
}

fn array(element: Type, codes: impl ExactSizeIterator<Item = u128>) -> Array {
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    Array::from_codes(element, &shape, codes).expect("as many elements")
}

/// A column's values as elements, and how many there are.
fn encode(
    table: &Table,
    column: &Column,
    values: impl IntoIterator<Item = Value>,
) -> Result<(Encoded, usize), Fault> {
    let elements = column.kind.elements();
    let mut parts: Vec<Vec<u128>> = vec![Vec::new(); elements.len()];
    let mut present: Vec<bool> = Vec::new();
    for (row, value) in values.into_iter().enumerate() {
        if row >= table.rows {
            return Err(Fault::Other(format!(
                "table {:?} is declared to have {} rows, and column {:?} has more",
                table.name, table.rows, column.name
            )));
        }
        // The error names the place and the kind, not the value.
        let wrong = |problem: &str| {
            Fault::Other(format!(
                "row {} of column {:?} of table {:?}, {}, {problem}",
                row + 1,
                column.name,
                table.name,
                column.kind
            ))
        };
        let is_null = value == Value::Null;
        if is_null && !column.nullable {
            return Err(wrong("is missing, and the column is not declared nullable"));
        }
        present.push(!is_null);
        match (&value, &column.kind) {
            (Value::Null, _) => parts.iter_mut().for_each(|part| part.push(0)),
            (Value::Bool(value), Kind::Bool) => parts[0].push((*value).into()),
            (Value::Number(value), Kind::Number(number)) => match number.contains(*value) {
                true => parts[0].push(*value as u128),
                false => return Err(wrong("has a number beyond the column's range")),
            },
            (Value::Text(text), Kind::Choice(texts)) => match texts.binary_search(text) {
                Ok(place) => parts[0].push(place as u128),
                Err(_) => return Err(wrong("has a text that is not one of them")),
            },
            (Value::Text(text), Kind::Text { bytes, ascii }) => {
                if text.len() > *bytes {
                    return Err(wrong("has a longer text"));
                }
                if *ascii && !text.is_ascii() {
                    return Err(wrong("has a character that takes several bytes"));
                }
                if text.contains('\0') {
                    return Err(wrong("has a text with a zero byte, which texts cannot hold"));
                }
                let codes = codes_of_text(text, &column.kind);
                parts.iter_mut().zip(codes).for_each(|(part, code)| part.push(code));
            }
            _ => return Err(wrong("has a value of another kind")),
        }
    }
    let rows = present.len();
    let filled = |codes: Vec<u128>, element: Type| {
        let more = table.rows.saturating_sub(rows);
        let codes: Vec<u128> = codes.into_iter().chain(std::iter::repeat_n(0, more)).collect();
        array(element, codes.into_iter())
    };
    let encoded = Encoded {
        present: column.nullable.then(|| {
            let codes = present.into_iter().map(u128::from).collect();
            filled(codes, bool::TYPE)
        }),
        parts: parts
            .into_iter()
            .zip(elements)
            .map(|(codes, element)| filled(codes, element))
            .collect(),
    };
    Ok((encoded, rows))
}
