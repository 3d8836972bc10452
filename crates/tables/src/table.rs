//! Tables that a query reads: what everybody knows of them.

use std::collections::BTreeSet;

use madrigal_program::Holder;

use crate::column::Column;
use crate::error::Fault;

/// A table as everybody knows it: its owner, its columns, and a number of rows.
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

    /// Declares that no two rows of the table are equal in these columns. Its owner checks that before anything is sent.
    #[must_use]
    pub fn unique(mut self, columns: &[&str]) -> Self {
        self.unique
            .push(columns.iter().map(|&name| name.into()).collect());
        self
    }

    /// The table, of which results tell nothing but of groups of `rows` rows or more: smaller ones are left out before results are opened.
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
