//! A column's values as texts.

use std::io::Write as _;

use madrigal_core::Zeroizing;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use crate::decimal::{self, MOST_SCALE};

/// Meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bytes as they stand.
    Bytes,
    Bool,
    Integer,
    /// Integers without a sign.
    Natural,
    /// Numbers with digits after the point.
    Decimal(u32),
    /// Days since 1970-01-01.
    Date,
    /// Ticks since 1970-01-01, of which a second has 10 to this power.
    Time(u32),
    Float,
}

impl Kind {
    /// Whether it may be a number's text.
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Bytes | Self::Integer | Self::Natural | Self::Decimal(_)
        )
    }

    /// Whether equal values have equal texts, in other files and programs too.
    pub(crate) fn is_exact(self) -> bool {
        !matches!(self, Self::Float | Self::Time(_))
    }
}

/// The meaning of a column's values, and the name of their type.
pub(super) fn kind(column: &ColumnDescriptor) -> (Option<Kind>, String) {
    let physical = column.physical_type();
    let logical = column.logical_type_ref();
    let converted = column.converted_type();
    let told = match (logical, converted) {
        (Some(logical), _) => format!("{logical:?}"),
        (None, ConvertedType::NONE) => physical.to_string(),
        (None, converted) => converted.to_string(),
    };
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return (None, "nested".to_owned());
    }
    let scale = |scale: i32| {
        u32::try_from(scale)
            .ok()
            .filter(|&scale| scale <= MOST_SCALE)
    };
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 3,
        TimeUnit::MICROS => 6,
        TimeUnit::NANOS => 9,
    };
    use Type::{BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64, INT96};
    let kind = match (physical, logical) {
        (INT96, _) => None,
        (
            INT32 | INT64 | BYTE_ARRAY | FIXED_LEN_BYTE_ARRAY,
            Some(LogicalType::Decimal(decimal)),
        ) => scale(decimal.scale).map(Kind::Decimal),
        (INT32 | INT64, Some(LogicalType::Integer(integer))) => Some(match integer.is_signed {
            true => Kind::Integer,
            false => Kind::Natural,
        }),
        (INT32, Some(LogicalType::Date)) => Some(Kind::Date),
        (INT64, Some(LogicalType::Timestamp(time))) => Some(Kind::Time(unit(&time.unit))),
        (BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
            Some(Kind::Bytes)
        }
        (_, Some(_)) => None,
        (_, None) => match (physical, converted) {
            (BOOLEAN, ConvertedType::NONE) => Some(Kind::Bool),
            (FLOAT | DOUBLE, ConvertedType::NONE) => Some(Kind::Float),
            (BYTE_ARRAY | FIXED_LEN_BYTE_ARRAY, ConvertedType::NONE)
            | (BYTE_ARRAY, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => {
                Some(Kind::Bytes)
            }
            (_, ConvertedType::DECIMAL) => scale(column.type_scale()).map(Kind::Decimal),
            (INT32, ConvertedType::DATE) => Some(Kind::Date),
            (INT64, ConvertedType::TIMESTAMP_MILLIS) => Some(Kind::Time(3)),
            (INT64, ConvertedType::TIMESTAMP_MICROS) => Some(Kind::Time(6)),
            (INT32, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32)
            | (INT64, ConvertedType::UINT_64) => Some(Kind::Natural),
            (
                INT32,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32,
            )
            | (INT64, ConvertedType::NONE | ConvertedType::INT_64) => Some(Kind::Integer),
            _ => None,
        },
    };
    (kind, told)
}

/// A reader of values of one type, and the values of some rows that are not NULL.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: DataType> Typed<T> {
    fn new(column: ColumnDescPtr, pages: Box<dyn PageReader>) -> Self {
        Self {
            reader: ColumnReaderImpl::new(column, pages),
            values: Vec::new(),
        }
    }

    /// Reads rows: which of them have a value, and the values.
    fn load(&mut self, rows: usize, levels: &mut Vec<i16>) -> Result<()> {
        levels.clear();
        self.values.clear();
        let (read, ..) = self
            .reader
            .read_records(rows, Some(levels), None, &mut self.values)?;
        match read == rows {
            true => Ok(()),
            false => Err(ParquetError::General(
                "a column ends before the others".to_owned(),
            )),
        }
    }
}

enum Reader {
    Bool(Typed<BoolType>),
    Int32(Typed<Int32Type>),
    Int64(Typed<Int64Type>),
    Float(Typed<FloatType>),
    Double(Typed<DoubleType>),
    Bytes(Typed<ByteArrayType>),
    Fixed(Typed<FixedLenByteArrayType>),
}

/// A column of a group of rows.
pub(super) struct Column {
    kind: Kind,
    reader: Reader,
    levels: Vec<i16>,
    /// Number of the value of each row; none of those that are NULL.
    places: Vec<Option<u32>>,
    /// Texts of values that are no bytes, one after the other, and where each ends.
    text: Zeroizing<Vec<u8>>,
    ends: Vec<usize>,
}

impl Column {
    pub(super) fn new(
        column: ColumnDescPtr,
        kind: Kind,
        pages: Box<dyn PageReader>,
    ) -> Result<Self> {
        let reader = match column.physical_type() {
            Type::BOOLEAN => Reader::Bool(Typed::new(column, pages)),
            Type::INT32 => Reader::Int32(Typed::new(column, pages)),
            Type::INT64 => Reader::Int64(Typed::new(column, pages)),
            Type::FLOAT => Reader::Float(Typed::new(column, pages)),
            Type::DOUBLE => Reader::Double(Typed::new(column, pages)),
            Type::BYTE_ARRAY => Reader::Bytes(Typed::new(column, pages)),
            Type::FIXED_LEN_BYTE_ARRAY => Reader::Fixed(Typed::new(column, pages)),
            Type::INT96 => return Err(ParquetError::NYI("values of 96 bits".to_owned())),
        };
        Ok(Self {
            kind,
            reader,
            levels: Vec::new(),
            places: Vec::new(),
            text: Zeroizing::default(),
            ends: Vec::new(),
        })
    }

    /// Reads the next rows.
    pub(super) fn load(&mut self, rows: usize) -> Result<()> {
        let levels = &mut self.levels;
        let values = match &mut self.reader {
            Reader::Bool(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Int32(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Int64(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Float(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Double(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Bytes(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
            Reader::Fixed(typed) => typed.load(rows, levels).map(|()| typed.values.len()),
        }?;
        self.places.clear();
        match self.levels.is_empty() {
            // A column without NULLs has no levels.
            true => self.places.extend((0..rows as u32).map(Some)),
            false => {
                let mut next = 0;
                self.places.extend(self.levels.iter().map(|&level| {
                    (level > 0).then(|| {
                        next += 1;
                        next - 1
                    })
                }));
            }
        }
        let there = self.places.iter().flatten().count();
        if self.places.len() != rows || there != values {
            return Err(ParquetError::General("values are missing".to_owned()));
        }
        self.texts()
    }

    /// Writes the texts of values that are no bytes.
    fn texts(&mut self) -> Result<()> {
        let (kind, ends) = (self.kind, &mut self.ends);
        let text: &mut Vec<u8> = &mut self.text;
        text.clear();
        ends.clear();
        let mut integer = |value: i128| {
            number(kind, value, text);
            ends.push(text.len());
        };
        match &self.reader {
            Reader::Int32(typed) if kind == Kind::Natural => {
                (typed.values.iter()).for_each(|&value| integer((value as u32).into()));
            }
            Reader::Int64(typed) if kind == Kind::Natural => {
                (typed.values.iter()).for_each(|&value| integer((value as u64).into()));
            }
            Reader::Int32(typed) => typed.values.iter().for_each(|&value| integer(value.into())),
            Reader::Int64(typed) => typed.values.iter().for_each(|&value| integer(value.into())),
            Reader::Bool(typed) => {
                for value in &typed.values {
                    text.extend_from_slice(if *value { b"true" } else { b"false" });
                    ends.push(text.len());
                }
            }
            Reader::Float(typed) => {
                for value in &typed.values {
                    // A vector takes whatever is written to it.
                    let _ = write!(text, "{value}");
                    ends.push(text.len());
                }
            }
            Reader::Double(typed) => {
                for value in &typed.values {
                    let _ = write!(text, "{value}");
                    ends.push(text.len());
                }
            }
            Reader::Bytes(typed) if kind != Kind::Bytes => {
                for value in &typed.values {
                    integer(big_endian(value.data())?);
                }
            }
            Reader::Fixed(typed) if kind != Kind::Bytes => {
                for value in &typed.values {
                    integer(big_endian(value.data())?);
                }
            }
            Reader::Bytes(_) | Reader::Fixed(_) => {}
        }
        Ok(())
    }

    /// The value of one of the rows that were read last; none if it is NULL.
    pub(super) fn value(&self, row: usize) -> Option<&[u8]> {
        let place = self.places[row]? as usize;
        Some(match &self.reader {
            Reader::Bytes(typed) if self.kind == Kind::Bytes => typed.values[place].data(),
            Reader::Fixed(typed) if self.kind == Kind::Bytes => typed.values[place].data(),
            _ => {
                let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
                &self.text[begin..self.ends[place]]
            }
        })
    }
}

/// A number of at most 16 bytes, the most significant first.
fn big_endian(bytes: &[u8]) -> Result<i128> {
    let Some(padding) = 16_usize.checked_sub(bytes.len()) else {
        return Err(ParquetError::NYI(
            "a number of more than 16 bytes".to_owned(),
        ));
    };
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let mut all = [if negative { 0xff } else { 0 }; 16];
    all[padding..].copy_from_slice(bytes);
    Ok(i128::from_be_bytes(all))
}

/// Writes an integer as the text that its meaning has.
fn number(kind: Kind, value: i128, text: &mut Vec<u8>) {
    // A vector takes whatever is written to it.
    let _ = match kind {
        Kind::Decimal(scale) => write!(text, "{}", decimal::format(value, scale)),
        Kind::Date => {
            let (year, month, day) = civil(value as i64);
            write!(text, "{year:04}-{month:02}-{day:02}")
        }
        Kind::Time(power) => {
            let second = 10_i64.pow(power);
            let value = value as i64;
            let (seconds, rest) = (value.div_euclid(second), value.rem_euclid(second));
            let (year, month, day) = civil(seconds.div_euclid(86_400));
            let time = seconds.rem_euclid(86_400);
            let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
            write!(
                text,
                "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{rest:0width$}",
                width = power as usize
            )
        }
        _ => match i64::try_from(value) {
            Ok(value) => write!(text, "{value}"),
            Err(_) => write!(text, "{value}"),
        },
    };
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar. Years begin in March here, so that the day
/// that some lack is their last; an era has 400 years.
fn civil(day: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    // Days since 0000-03-01.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // From March to July and from August to December months have 153 days, and so on.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + 400 * era + i64::from(month <= 2), month, day)
}
