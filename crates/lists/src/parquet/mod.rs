//! Parquet files, row by row: each value as the text that a CSV file would have, so that lists of both kinds match.
//!
//! Columns are read side by side, some thousand rows at a time, without Arrow. Integers become decimal numbers, dates
//! `2024-01-31`; bytes and texts stay as they are. The crate `parquet` trusts files in places and panics where they deceive it: its
//! panics become errors, and sizes that it would allocate at once are looked at before.

mod column;
mod pages;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;

use crate::error::{ListError, Place, Problem};
use crate::source::Source;
use column::Column;
use pages::Checked;

pub(crate) use column::Kind;

/// Rows that are read at once.
const BATCH: usize = 4096;

/// A file whose columns are known.
pub(crate) struct Table<'a> {
    source: &'a Source,
    reader: SerializedFileReader<File>,
    columns: Vec<Named>,
}

/// A column that is no group of columns.
pub(crate) struct Named {
    pub(crate) name: String,
    /// Number among all columns that have values, parts of groups too.
    leaf: usize,
    /// Meaning of its values; none if they are of a type that has no text.
    pub(crate) kind: Option<Kind>,
    /// Name of its type, for errors.
    pub(crate) told: String,
}

impl<'a> Table<'a> {
    pub(crate) fn open(source: &'a Source, file: File) -> Result<Self, ListError> {
        let reader = guarded(source, || SerializedFileReader::new(file))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut columns: Vec<Named> = Vec::new();
        for leaf in 0..schema.num_columns() {
            let root = schema.get_column_root(leaf);
            let (kind, told) = match root.is_primitive() {
                true => column::kind(&schema.column(leaf)),
                false => (None, "nested".to_owned()),
            };
            // A group of columns is one column here, of no type that has a text.
            let first = schema.get_column_root_idx(leaf);
            if leaf > 0 && schema.get_column_root_idx(leaf - 1) == first {
                continue;
            }
            columns.push(Named {
                name: root.name().to_owned(),
                leaf,
                kind,
                told,
            });
        }
        Ok(Self {
            source,
            reader,
            columns,
        })
    }

    pub(crate) fn columns(&self) -> &[Named] {
        &self.columns
    }

    /// Number of rows that the file says it has.
    pub(crate) fn rows(&self) -> u64 {
        let groups = self.reader.metadata().row_groups().iter();
        let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        rows.fold(0, u64::saturating_add)
    }

    /// Calls a function with the values of some columns, row by row. The last argument is the row's number; a value that
    /// is NULL is none.
    pub(crate) fn each(
        &self,
        wanted: &[usize],
        mut see: impl FnMut(u64, &[Option<&[u8]>]) -> Result<(), ListError>,
    ) -> Result<(), ListError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut row = 0;
        for group in 0..self.reader.num_row_groups() {
            let rows = self.reader.metadata().row_group(group).num_rows();
            let mut left = usize::try_from(rows).map_err(|_| self.damaged())?;
            let reader = guarded(self.source, || self.reader.get_row_group(group))?;
            let mut columns = Vec::with_capacity(wanted.len());
            for &place in wanted {
                let Named { leaf, kind, .. } = &self.columns[place];
                // Only columns with a kind are asked for.
                let kind = kind.ok_or_else(|| self.damaged())?;
                let made = guarded(self.source, || {
                    let pages = Checked::new(reader.get_column_page_reader(*leaf)?);
                    Column::new(schema.column(*leaf), kind, Box::new(pages))
                });
                columns.push(made?);
            }
            while left > 0 {
                let batch = left.min(BATCH);
                for column in &mut columns {
                    guarded(self.source, || column.load(batch))?;
                }
                let mut values: Vec<Option<&[u8]>> = Vec::with_capacity(columns.len());
                for at in 0..batch {
                    values.clear();
                    values.extend(columns.iter().map(|column| column.value(at)));
                    see(row, &values)?;
                    row += 1;
                }
                left -= batch;
            }
        }
        Ok(())
    }

    fn damaged(&self) -> ListError {
        damaged(self.source, "its parts contradict each other")
    }
}

fn damaged(source: &Source, problem: impl ToString) -> ListError {
    let problem = Problem::Parquet(problem.to_string());
    ListError::content(source.path(), Place::file(), problem)
}

/// Calls the reader, and makes its panics errors.
fn guarded<T>(
    source: &Source,
    call: impl FnOnce() -> parquet::errors::Result<T>,
) -> Result<T, ListError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(|error| damaged(source, error)),
        Err(_) => Err(damaged(source, "it has what no such file has")),
    }
}
