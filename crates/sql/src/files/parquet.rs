//! Parquet files, batch by batch.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, SchemaRef, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::FileError;

/// Rows that are read at once.
const BATCH: usize = 8192;

/// A file whose types are known.
pub(super) struct Parquet<'a> {
    path: &'a Path,
    builder: ParquetRecordBatchReaderBuilder<File>,
}

/// A value as a file has it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    /// A number in units of its last digit, and how many digits are after the point.
    Number(i128, u32),
    Float(f64),
    /// Days since 1970-01-01.
    Day(i64),
    /// Ticks since 1970-01-01, and their number in a second.
    Time(i64, i64),
    Text(&'a str),
}

impl<'a> Parquet<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, FileError> {
        let file = File::open(path).map_err(FileError::read(path))?;
        let open = || ParquetRecordBatchReaderBuilder::try_new(file);
        let builder = guarded(open).map_err(|problem| {
            FileError::content(path, None, format!("no Parquet file: {problem}"))
        })?;
        Ok(Self { path, builder })
    }

    /// Names and types of the columns.
    pub(super) fn schema(&self) -> SchemaRef {
        self.builder.schema().clone()
    }

    /// Calls a function with each batch of these columns, which are in the order of the file.
    pub(super) fn each(
        self,
        columns: &[usize],
        mut see: impl FnMut(&RecordBatch) -> Result<(), String>,
    ) -> Result<(), FileError> {
        let Self { path, builder } = self;
        let wrong = |problem: String| FileError::content(path, None, problem);
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let mut reader = guarded(|| builder.build()).map_err(wrong)?;
        loop {
            match guarded(|| reader.next().transpose()).map_err(wrong)? {
                None => return Ok(()),
                Some(batch) => see(&batch).map_err(wrong)?,
            }
        }
    }
}

/// Calls the reader. It trusts files in places, and panics where they deceive it.
fn guarded<T, E: ToString>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("the file is damaged: write it again".into()),
    }
}

/// Calls a function with each value of a column.
pub(super) fn cells(
    array: &ArrayRef,
    mut each: impl FnMut(Cell<'_>) -> Result<(), String>,
) -> Result<(), String> {
    macro_rules! integers {
        ($type:ty) => {
            array.as_primitive::<$type>().iter().try_for_each(|value| {
                each(value.map_or(Cell::Null, |value| Cell::Number(value.into(), 0)))
            })
        };
    }
    macro_rules! others {
        ($type:ty, $cell:expr) => {
            array
                .as_primitive::<$type>()
                .iter()
                .try_for_each(|value| each(value.map_or(Cell::Null, $cell)))
        };
    }
    match array.data_type() {
        DataType::Null => (0..array.len()).try_for_each(|_| each(Cell::Null)),
        DataType::Boolean => array
            .as_boolean()
            .iter()
            .try_for_each(|value| each(value.map_or(Cell::Null, Cell::Bool))),
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        DataType::Float32 => others!(Float32Type, |value| Cell::Float(value.into())),
        DataType::Float64 => others!(Float64Type, Cell::Float),
        DataType::Decimal128(_, scale) if *scale >= 0 => {
            let digits = u32::from(scale.unsigned_abs());
            others!(Decimal128Type, |value| Cell::Number(value, digits))
        }
        DataType::Date32 => others!(Date32Type, |day| Cell::Day(day.into())),
        DataType::Date64 => others!(Date64Type, |time| Cell::Day(time.div_euclid(86_400_000))),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => others!(TimestampSecondType, |time| Cell::Time(time, 1)),
            TimeUnit::Millisecond => {
                others!(TimestampMillisecondType, |time| Cell::Time(time, 1000))
            }
            TimeUnit::Microsecond => {
                others!(TimestampMicrosecondType, |time| Cell::Time(time, 1_000_000))
            }
            TimeUnit::Nanosecond => {
                others!(TimestampNanosecondType, |time| Cell::Time(
                    time,
                    1_000_000_000
                ))
            }
        },
        DataType::Utf8 => array
            .as_string::<i32>()
            .iter()
            .try_for_each(|value| each(value.map_or(Cell::Null, Cell::Text))),
        DataType::LargeUtf8 => array
            .as_string::<i64>()
            .iter()
            .try_for_each(|value| each(value.map_or(Cell::Null, Cell::Text))),
        DataType::Utf8View => array
            .as_string_view()
            .iter()
            .try_for_each(|value| each(value.map_or(Cell::Null, Cell::Text))),
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => {
            let flat = cast(array, values).map_err(|error| error.to_string())?;
            cells(&flat, each)
        }
        other => Err(unread(other)),
    }
}

/// An error for a type that no kind of column is.
pub(super) fn unread(kind: &DataType) -> String {
    format!(
        "values of the type {kind}, which no column of a table has: cast them to a number, a text, a date or a time"
    )
}

/// The places of columns among a batch's, which are those of the file in its order.
pub(super) fn columns_of(batch: &RecordBatch, name: &str) -> Result<Arc<dyn Array>, String> {
    let column = batch.column_by_name(name);
    column
        .cloned()
        .ok_or_else(|| format!("there is no column {name:?}"))
}
