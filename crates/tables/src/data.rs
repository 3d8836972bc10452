//! The values of tables, which their owners alone have: checked and packed as they come.

use std::fmt;

use madrigal_core::{Plain as Word, Zeroizing};
use madrigal_program::{Array, Plain, Shape, Type};

use crate::column::{Column, Value};
use crate::error::Fault;
use crate::kind::{Kind, PART};
use crate::table::Table;

/// A value in the clear that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRef<'a> {
    /// A missing one.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, in units of its column.
    Number(i128),
    /// A text.
    Text(&'a str),
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(*number),
            Value::Text(text) => Self::Text(text),
        }
    }
}

/// The values of a table, as its owner has them. `Debug` tells none of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Data {
    pub(crate) columns: Vec<Encoded>,
    pub(crate) valid: Option<Array>,
}

/// A column as its elements, and whether each value is there.
#[derive(Clone, PartialEq, Eq)]
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
        let mut builder = DataBuilder::new(table)?;
        let mut given = columns.into_iter();
        for place in 0..table.columns.len() {
            let values = given.next().ok_or_else(|| {
                Fault::Other(format!(
                    "table {:?} has {} columns, and values are given for {place}",
                    table.name,
                    table.columns.len(),
                ))
            })?;
            for value in values {
                builder.push(place, (&value).into())?;
            }
        }
        builder.finish()
    }

    /// The values of all columns, of which `rows` rows are there, once its keys are found to be unique.
    pub(crate) fn checked(
        table: &Table,
        columns: Vec<Encoded>,
        rows: usize,
    ) -> Result<Self, Fault> {
        let data = Self {
            valid: table.is_padded.then(|| {
                let codes = (0..table.rows).map(|row| u128::from(row < rows));
                array(bool::TYPE, codes)
            }),
            columns,
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
        let key_of = |row: usize| parts.iter().map(move |part| part[row]);
        // Tables often come in the order of a key.
        if (1..rows).all(|row| key_of(row - 1).lt(key_of(row))) {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by(|&a, &b| key_of(a).cmp(key_of(b)));
        let same = order
            .windows(2)
            .find(|pair| key_of(pair[0]).eq(key_of(pair[1])));
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

/// The values of a table, as they come in: row by row, column by column, or in any other order. Each is checked and packed at once, so
/// a table takes no more memory than its elements do. `Debug` tells none of them.
pub struct DataBuilder<'a> {
    table: &'a Table,
    columns: Vec<Filling<'a>>,
}

impl fmt::Debug for DataBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataBuilder")
            .field("columns", &self.columns.len())
            .finish_non_exhaustive()
    }
}

impl<'a> DataBuilder<'a> {
    /// No values yet.
    ///
    /// # Errors
    /// A table whose columns or keys are wrong, and one that memory has no room for.
    pub fn new(table: &'a Table) -> Result<Self, Fault> {
        table.checked()?;
        let columns = table.columns.iter();
        Ok(Self {
            table,
            columns: columns
                .map(|column| Filling::new(table, column))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Appends a value to a column, by its place among the table's.
    ///
    /// # Errors
    /// A value that the column does not hold, and more values than the table has rows.
    pub fn push(&mut self, column: usize, value: ValueRef<'_>) -> Result<(), Fault> {
        let count = self.columns.len();
        let filling = self.columns.get_mut(column).ok_or_else(|| {
            Fault::Other(format!(
                "table {:?} has {count} columns, and a value is given for another one",
                self.table.name
            ))
        })?;
        filling.push(self.table, value)
    }

    /// The values, once all are there.
    ///
    /// # Errors
    /// Columns of different lengths, another number of rows than the table has, and two rows that are equal in a unique key.
    pub fn finish(self) -> Result<Data, Fault> {
        let Self { table, columns } = self;
        let rows = columns.first().map_or(0, |column| column.rows);
        for pair in columns.windows(2) {
            if pair[0].rows != pair[1].rows {
                return Err(Fault::Other(format!(
                    "column {:?} of table {:?} has {} values, and the one before it has {}",
                    pair[1].column.name, table.name, pair[1].rows, pair[0].rows
                )));
            }
        }
        if rows < table.rows && !table.is_padded {
            return Err(Fault::Other(format!(
                "table {:?} is declared to have {} rows, and {rows} are given",
                table.name, table.rows
            )));
        }
        // Each column's own copy goes before the next one is made.
        let encoded = columns.into_iter().map(|column| column.finish(table.rows));
        Data::checked(table, encoded.collect(), rows)
    }
}

/// A column that is filled.
struct Filling<'a> {
    column: &'a Column,
    elements: Vec<Type>,
    parts: Vec<Packed>,
    present: Option<Packed>,
    rows: usize,
}

impl<'a> Filling<'a> {
    fn new(table: &Table, column: &'a Column) -> Result<Self, Fault> {
        let elements = column.kind.elements();
        let packed = |element: Type| {
            Packed::with_room(element, table.rows).ok_or_else(|| {
                Fault::Other(format!(
                    "table {:?} of {} rows does not fit into memory: declare fewer rows, or shorter texts",
                    table.name, table.rows
                ))
            })
        };
        Ok(Self {
            column,
            parts: elements
                .iter()
                .map(|element| packed(*element))
                .collect::<Result<_, _>>()?,
            present: match column.nullable {
                true => Some(packed(bool::TYPE)?),
                false => None,
            },
            elements,
            rows: 0,
        })
    }

    fn push(&mut self, table: &Table, value: ValueRef<'_>) -> Result<(), Fault> {
        if self.rows >= table.rows {
            return Err(Fault::Other(format!(
                "table {:?} is declared to have {}{} rows, and column {:?} has more",
                table.name,
                if table.is_padded { "at most " } else { "" },
                table.rows,
                self.column.name
            )));
        }
        if let Err(problem) = self.put(value) {
            // The error names the place and the kind, not the value.
            return Err(Fault::Other(format!(
                "row {} of column {:?} of table {:?}, {}, {problem}",
                self.rows + 1,
                self.column.name,
                table.name,
                self.column.kind
            )));
        }
        if let Some(present) = &mut self.present {
            present.push((value != ValueRef::Null).into());
        }
        self.rows += 1;
        Ok(())
    }

    fn put(&mut self, value: ValueRef<'_>) -> Result<(), &'static str> {
        let code = match (value, &self.column.kind) {
            (ValueRef::Null, _) if self.present.is_none() => {
                return Err("is missing, and the column is not declared nullable");
            }
            (ValueRef::Null, _) => {
                self.parts.iter_mut().for_each(|part| part.push(0));
                return Ok(());
            }
            (ValueRef::Bool(value), Kind::Bool) => value.into(),
            (ValueRef::Number(value), Kind::Number(number)) => match number.contains(value) {
                true => value as u128,
                false => return Err("has a number beyond the column's range"),
            },
            (ValueRef::Text(text), Kind::Choice(texts)) => {
                match texts.binary_search_by(|one| one.as_str().cmp(text)) {
                    Ok(place) => place as u128,
                    Err(_) => return Err("has a text that is not one of them"),
                }
            }
            (ValueRef::Text(text), Kind::Text { bytes, ascii }) => {
                if text.len() > *bytes {
                    return Err("has a longer text");
                }
                if *ascii && !text.is_ascii() {
                    return Err("has a character that takes several bytes");
                }
                if text.contains('\0') {
                    return Err("has a text with a zero byte, which texts cannot hold");
                }
                self.put_text(text.as_bytes());
                return Ok(());
            }
            _ => return Err("has a value of another kind"),
        };
        self.parts[0].push(code);
        Ok(())
    }

    /// Each element has its bytes from the highest to the lowest, so that texts are ordered as numbers are.
    fn put_text(&mut self, text: &[u8]) {
        for (at, (part, element)) in self.parts.iter_mut().zip(&self.elements).enumerate() {
            let size = (element.bits() / 8) as usize;
            let rest = text.get(at * PART..).unwrap_or(&[]);
            let own = &rest[..rest.len().min(size)];
            let mut bytes = [0; PART];
            bytes[..own.len()].copy_from_slice(own);
            part.push(u128::from_be_bytes(bytes) >> (8 * (PART - size)));
        }
    }

    /// The elements, with zeros for rows that do not count.
    fn finish(self, rows: usize) -> Encoded {
        Encoded {
            parts: (self.parts.into_iter().zip(self.elements))
                .map(|(part, element)| part.finish(element, rows))
                .collect(),
            present: self.present.map(|present| present.finish(bool::TYPE, rows)),
        }
    }
}

/// Codes of elements in the narrowest words that hold them. There is room for all of them, so none is left behind where words are moved.
enum Packed {
    W8(Zeroizing<Vec<u8>>),
    W16(Zeroizing<Vec<u16>>),
    W32(Zeroizing<Vec<u32>>),
    W64(Zeroizing<Vec<u64>>),
    W128(Zeroizing<Vec<u128>>),
}

impl Packed {
    fn with_room(element: Type, rows: usize) -> Option<Self> {
        fn room<T: Word>(rows: usize) -> Option<Zeroizing<Vec<T>>> {
            let mut words = Vec::new();
            words.try_reserve_exact(rows).ok()?;
            Some(Zeroizing::new(words))
        }
        Some(match element.bits() {
            ..=8 => Self::W8(room(rows)?),
            9..=16 => Self::W16(room(rows)?),
            17..=32 => Self::W32(room(rows)?),
            33..=64 => Self::W64(room(rows)?),
            _ => Self::W128(room(rows)?),
        })
    }

    fn push(&mut self, code: u128) {
        match self {
            Self::W8(words) => words.push(code as u8),
            Self::W16(words) => words.push(code as u16),
            Self::W32(words) => words.push(code as u32),
            Self::W64(words) => words.push(code as u64),
            Self::W128(words) => words.push(code),
        }
    }

    fn finish(mut self, element: Type, rows: usize) -> Array {
        macro_rules! array {
            ($words:ident) => {{
                $words.resize(rows, 0);
                array(element, $words.iter().map(|&word| u128::from(word)))
            }};
        }
        match &mut self {
            Self::W8(words) => array!(words),
            Self::W16(words) => array!(words),
            Self::W32(words) => array!(words),
            Self::W64(words) => array!(words),
            Self::W128(words) => array!(words),
        }
    }
}

/// Elements in a row.
pub(crate) fn array(element: Type, codes: impl ExactSizeIterator<Item = u128>) -> Array {
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    Array::from_codes(element, &shape, codes).expect("as many elements")
}
