//! Rows without names and kinds: which of them count, sorted, grouped, joined and compacted.
//!
//! [`Rows`] are columns of one length with a secret bit for each row that says whether it counts. All that is done with them is
//! recorded in a [`Program`], and runs in every mix of protocols that sorts: fastest in R, among three parties.
//!
//! ```
//! use madrigal_program::{Everyone, Inputs, Party, Program};
//! use madrigal_tables::Rows;
//! use madrigal_tables::rows::Aggregate;
//!
//! // Who was treated where, and what it cost: clinics hold rows, and only totals are opened.
//! let mut p = Program::new(3);
//! let ward = p.input::<u16>(Party::new(0), [4]);
//! let cost = p.input::<u64>(Party::new(0), [4]);
//! let rows = Rows::new(vec![ward.untyped(), cost.untyped()]);
//! let groups = rows.group(&mut p, &[0], &[Aggregate::Count, Aggregate::Sum(1)], Some(2));
//! let opened = groups.open(&mut p, Everyone);
//! let inputs = Inputs::new().with(([4], vec![7u16, 3, 7, 7])).with(([4], vec![10u64, 20, 30, 40]));
//! let outputs = p.finish()?.simulate(&inputs)?;
//! let table = opened.rows(&outputs).expect("opened to all");
//! assert_eq!(table, [[3, 1, 20], [7, 3, 80]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | operation on n rows | sorts | besides |
//! |---|---|---|
//! | [`filter`](Rows::filter) | 0 | an AND for each row |
//! | [`sort`](Rows::sort) | 1 | |
//! | [`compact`](Rows::compact) | 1, by one bit | |
//! | [`group`](Rows::group) | 2, one by a bit | a comparison for each row and key; for each least or greatest 2 comparisons a row, in 2 log2 n rounds |
//! | [`join`](Rows::join) | 2 of the rows of both, one by a bit | a comparison for each row and key; 2 multiplexers a row and column taken over, in 2 log2 n rounds |

mod group;
mod join;
mod scan;

use std::fmt;

use madrigal_program::{Array, Outputs, Plain, Program, Receivers, Secret, Shape, Tensor, Type};

pub use group::Aggregate;
pub use join::Join;
pub(crate) use scan::{Combine, first_of_group, last_of_group, scan};

/// A column that rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Number of the column.
    pub column: usize,
    /// Whether the greatest values come first.
    pub descending: bool,
}

impl Key {
    /// The least values come first.
    pub const fn up(column: usize) -> Self {
        Self {
            column,
            descending: false,
        }
    }

    /// The greatest values come first.
    pub const fn down(column: usize) -> Self {
        Self {
            column,
            descending: true,
        }
    }
}

/// Secret columns of one length, a public bound, and a secret bit for each row that says whether the row counts.
#[derive(Clone)]
pub struct Rows {
    pub(crate) columns: Vec<Tensor>,
    /// Whether each row counts; all do without it.
    pub(crate) valid: Option<Tensor>,
    pub(crate) count: usize,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns.iter().map(Tensor::element);
        f.debug_struct("Rows")
            .field("count", &self.count)
            .field("columns", &columns.collect::<Vec<_>>())
            .field("all_count", &self.valid.is_none())
            .finish()
    }
}

impl Rows {
    /// Rows that all count.
    ///
    /// # Panics
    /// If there is no column, or columns have several axes or differ in length.
    pub fn new(columns: Vec<Tensor>) -> Self {
        let count = columns
            .first()
            .expect("a table has columns")
            .shape()
            .elements();
        for column in &columns {
            assert_eq!(column.shape().axes(), [count], "columns of one length");
        }
        Self {
            columns,
            valid: None,
            count,
        }
    }

    /// The columns.
    pub fn columns(&self) -> &[Tensor] {
        &self.columns
    }

    /// Whether each row counts; `None` if all do.
    pub const fn valid(&self) -> Option<&Tensor> {
        self.valid.as_ref()
    }

    /// Number of rows, with those that do not count: public.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Rows with other columns, as many as before.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new), or if the length is another one.
    #[must_use]
    pub fn with_columns(&self, columns: Vec<Tensor>) -> Self {
        let made = Self::new(columns);
        assert_eq!(made.count, self.count, "columns of one length");
        Self {
            valid: self.valid.clone(),
            ..made
        }
    }

    /// These columns alone, in this order.
    ///
    /// # Panics
    /// If there is no such column, or none is named.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Self {
        self.with_columns(
            columns
                .iter()
                .map(|&column| self.columns[column].clone())
                .collect(),
        )
    }

    /// Rows of which those alone count for which `keep` is true, too: a bit for each row, or one for all.
    ///
    /// # Panics
    /// If there is another number of bits.
    #[must_use]
    pub fn filter(&self, keep: &Secret<bool>) -> Self {
        let keep = match keep.untyped() {
            one if one.shape().rank() == 0 => one.broadcast_to([self.count]),
            each => each,
        };
        assert_eq!(keep.shape().axes(), [self.count], "a bit for each row");
        let valid = match &self.valid {
            Some(valid) => valid.and(&keep),
            None => keep,
        };
        Self {
            valid: Some(valid),
            ..self.clone()
        }
    }

    /// Rows in the order of their keys, those that count first. Rows with equal keys stay in their order.
    #[must_use]
    pub fn sort(&self, keys: &[Key]) -> Self {
        let by: Vec<(usize, bool)> = keys
            .iter()
            .map(|key| (key.column, key.descending))
            .collect();
        self.whole(&by)
    }

    /// All columns in the order of keys; a column that is a key does not move along once more.
    pub(crate) fn whole(&self, keys: &[(usize, bool)]) -> Self {
        let is_key = |column: usize| keys.iter().position(|key| key.0 == column);
        let by: Vec<(Tensor, bool)> = keys
            .iter()
            .map(|&(column, descending)| (self.columns[column].clone(), descending))
            .collect();
        let others: Vec<usize> = (0..self.columns.len())
            .filter(|&column| is_key(column).is_none())
            .collect();
        let moved = others.iter().map(|&column| self.columns[column].clone());
        let sorted = self.moved(&by, moved.collect());
        let place = |column: usize| match is_key(column) {
            Some(key) => key,
            None => {
                keys.len()
                    + others
                        .binary_search(&column)
                        .expect("a column that moves along")
            }
        };
        let columns = (0..self.columns.len()).map(|column| sorted.columns[place(column)].clone());
        Self {
            columns: columns.collect(),
            ..sorted.clone()
        }
    }

    /// Rows with `keys` and `columns` as columns, in the order of the keys; those that count come first.
    pub(crate) fn moved(&self, keys: &[(Tensor, bool)], columns: Vec<Tensor>) -> Self {
        let valid = self.valid.iter().map(|valid| (valid, true));
        let all: Vec<(&Tensor, bool)> = valid
            .chain(keys.iter().map(|(key, descending)| (key, *descending)))
            .collect();
        if all.is_empty() || self.count == 0 {
            let keys = keys.iter().map(|(key, _)| key.clone());
            return Self {
                columns: keys.chain(columns).collect(),
                ..self.clone()
            };
        }
        let mut sorted = Tensor::sort_by(&all, &columns.iter().collect::<Vec<_>>());
        let valid = self.valid.is_some().then(|| sorted.remove(0));
        Self {
            columns: sorted,
            valid,
            count: self.count,
        }
    }

    /// The rows that count, in their order, in a table of `bound` rows, or as many as before if these are fewer. If there are more of them, the program opens nothing, and all
    /// parties learn that.
    #[must_use]
    pub fn compact(&self, p: &mut Program, bound: usize) -> Self {
        if self.valid.is_none() && self.count <= bound {
            return self.clone();
        }
        let moved = self.moved(&[], self.columns.clone());
        moved.cut(p, bound)
    }

    /// The first `bound` of rows of which those that count come first; others must not count.
    pub(crate) fn cut(&self, p: &mut Program, bound: usize) -> Self {
        if bound >= self.count {
            return self.clone();
        }
        let fits = match &self.valid {
            Some(valid) => valid.at(0, bound).not(),
            None => filled(p, false, []),
        };
        p.require_named(&format!("at most {bound} rows"), &fits.typed::<bool>());
        self.first(bound)
    }

    /// The first rows.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn first(&self, rows: usize) -> Self {
        let cut = |column: &Tensor| column.slice(0, ..rows);
        Self {
            columns: self.columns.iter().map(cut).collect(),
            valid: self.valid.as_ref().map(cut),
            count: rows,
        }
    }

    /// The rows of both tables, which have columns of the same types.
    ///
    /// # Panics
    /// If they differ in their number of columns.
    #[must_use]
    pub fn union(&self, p: &mut Program, other: &Self) -> Self {
        let numbers = [self, other].map(|rows| rows.columns.len());
        assert_eq!(numbers[0], numbers[1], "columns of both tables");
        let columns = self.columns.iter().zip(&other.columns);
        let valid = match (&self.valid, &other.valid) {
            (None, None) => None,
            _ => {
                let of = |rows: &Self, p: &mut Program| match &rows.valid {
                    Some(valid) => valid.clone(),
                    None => filled(p, true, [rows.count]),
                };
                let own = of(self, p);
                Some(own.join(&of(other, p), 0))
            }
        };
        Self {
            columns: columns.map(|(one, other)| one.join(other, 0)).collect(),
            valid,
            count: self.count + other.count,
        }
    }

    /// Whether each row is the first of those with its keys; rows are sorted by these.
    pub(crate) fn starts(&self, p: &mut Program, keys: &[Tensor]) -> Tensor {
        let first = filled(p, true, [self.count.min(1)]);
        if self.count <= 1 {
            return first;
        }
        let next = |key: &Tensor| {
            let before = key.slice(0, ..self.count - 1);
            key.slice(0, 1..).equals(&before).not()
        };
        let differ = keys.iter().chain(&self.valid).map(next);
        let starts = differ.reduce(|one, other| one.or(&other));
        // Without keys all rows are one group.
        let starts = starts.unwrap_or_else(|| filled(p, false, [self.count - 1]));
        first.join(&starts, 0)
    }

    /// Opens the rows that count, of others nothing but zeros: which of them count is opened, too.
    pub fn open(&self, p: &mut Program, to: impl Receivers + Clone) -> OpenedRows {
        let valid = self
            .valid
            .as_ref()
            .map(|valid| p.open_tensor(None, valid, to.clone()));
        let columns = self.columns.iter().map(|column| {
            let shown = match &self.valid {
                Some(valid) => valid.select(column, &zeros(p, column.element(), self.count)),
                None => column.clone(),
            };
            p.open_tensor(None, &shown, to.clone())
        });
        OpenedRows {
            columns: columns.collect(),
            valid,
        }
    }
}

/// Rows that a program opens.
#[derive(Debug, Clone)]
pub struct OpenedRows {
    columns: Vec<usize>,
    valid: Option<usize>,
}

impl OpenedRows {
    /// The rows that count, an element for each column as its bits: of numbers in two's complement. Nothing for a party that does not
    /// get them.
    pub fn rows(&self, outputs: &Outputs) -> Option<Vec<Vec<u128>>> {
        let arrays: Vec<Option<&Array>> = outputs.arrays().collect();
        let codes = |place: usize| {
            arrays
                .get(place)
                .copied()
                .flatten()
                .map(|array| array.codes().collect::<Vec<u128>>())
        };
        let columns: Vec<Vec<u128>> = self
            .columns
            .iter()
            .map(|&place| codes(place))
            .collect::<Option<_>>()?;
        let valid = match self.valid {
            Some(place) => codes(place)?,
            None => vec![1; columns[0].len()],
        };
        let rows = (0..valid.len()).filter(|&row| valid[row] == 1);
        Some(
            rows.map(|row| columns.iter().map(|column| column[row]).collect())
                .collect(),
        )
    }
}

/// A public element for each place.
pub(crate) fn filled<T: Plain + Copy, const AXES: usize>(
    p: &mut Program,
    value: T,
    shape: [usize; AXES],
) -> Tensor {
    let elements = vec![value; shape.iter().product()];
    p.constant((shape, elements)).untyped()
}

/// Public zeros of a type.
pub(crate) fn zeros(p: &mut Program, element: Type, count: usize) -> Tensor {
    let shape = Shape::checked(&[count]).expect("a length that a column has");
    let codes = Array::from_codes(element, &shape, std::iter::repeat_n(0, count));
    p.tensor_constant(codes.expect("as many zeros as places"))
}
