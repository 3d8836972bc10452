//! Results as files.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, Field, Schema};
use arrow::error::ArrowError;
use madrigal_tables::{Answer, Kind, Number, Unit, Value};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// A format of files of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, with names in the first line.
    Csv,
    /// Parquet.
    Parquet,
}

impl Format {
    /// The format that a file's name says.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        match () {
            () if ending.eq_ignore_ascii_case("csv") => Some(Self::Csv),
            () if ending.eq_ignore_ascii_case("parquet") => Some(Self::Parquet),
            () => None,
        }
    }
}

/// A result as a file of a format.
///
/// # Errors
/// A result that Parquet does not hold.
pub fn bytes(answer: &Answer, format: Format) -> Result<Vec<u8>, ArrowError> {
    match format {
        Format::Csv => Ok(answer.to_string().into_bytes()),
        Format::Parquet => {
            let batch = batch(answer)?;
            let how = WriterProperties::builder().set_compression(Compression::SNAPPY);
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(how.build()))?;
            writer.write(&batch)?;
            Ok(writer.into_inner()?)
        }
    }
}

/// A result as columns of Arrow: truth values, integers of 64 bits, decimals of 38 digits, dates, times in microseconds, and texts.
///
/// # Errors
/// A result whose columns have different lengths.
pub fn batch(answer: &Answer) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    for (place, column) in answer.columns.iter().enumerate() {
        let values = answer
            .rows
            .iter()
            .map(|row| row.get(place).unwrap_or(&Value::Null));
        let array = array(&column.kind, values)?;
        fields.push(Field::new(&column.name, array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn array<'a>(kind: &Kind, values: impl Iterator<Item = &'a Value>) -> Result<ArrayRef, ArrowError> {
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let array: ArrayRef = match kind {
        Kind::Bool => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        }))),
        Kind::Text { .. } | Kind::Choice(_) => {
            Arc::new(StringArray::from_iter(values.map(|value| match value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            })))
        }
        Kind::Number(Number {
            unit: Unit::Day, ..
        }) => {
            let days = values.map(|value| number(value).and_then(|day| i32::try_from(day).ok()));
            Arc::new(Date32Array::from_iter(days))
        }
        Kind::Number(Number {
            unit: Unit::Microsecond,
            ..
        }) => {
            let times = values.map(|value| number(value).and_then(|time| i64::try_from(time).ok()));
            Arc::new(TimestampMicrosecondArray::from_iter(times))
        }
        Kind::Number(of) if of.unit == Unit::One && is_long(of) => {
            let numbers = values.map(|value| number(value).and_then(|one| i64::try_from(one).ok()));
            Arc::new(Int64Array::from_iter(numbers))
        }
        Kind::Number(_) | Kind::Ratio(..) => {
            let digits = kind.number().and_then(|of| of.unit.digits()).unwrap_or(0);
            let scale = i8::try_from(digits).unwrap_or(i8::MAX);
            let numbers = Decimal128Array::from_iter(values.map(number));
            Arc::new(numbers.with_precision_and_scale(DECIMAL128_MAX_PRECISION, scale)?)
        }
    };
    Ok(array)
}

fn is_long(number: &Number) -> bool {
    number.least >= i64::MIN.into() && number.greatest <= i64::MAX.into()
}
