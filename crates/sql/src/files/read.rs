//! The values of a table, from its file.

use std::path::Path;

use madrigal_program::Holder;
use madrigal_tables::{Column, Data, DataBuilder, Fault, Kind, Table, Unit, ValueRef};

use super::csv::{Csv, field};
use super::parquet::{Cell, Parquet, cells, columns_of};
use super::schema::Schema;
use super::values::{self, DAY};
use super::{FileError, Format, format_of};

/// Reads a table's file, whose owner is this party: what everybody knows of it, and its values. A file of any length is read in pieces,
/// and takes the memory that its elements do.
///
/// # Errors
/// [`FileError`]: a file that cannot be read, or does not go with its schema.
pub fn read(
    path: &Path,
    schema: &Schema,
    owner: impl Into<Holder>,
) -> Result<(Table, Data), FileError> {
    let table = schema.table(owner);
    let fault = |fault: Fault| FileError::content(path, None, fault);
    let mut builder = DataBuilder::new(&table).map_err(fault)?;
    match format_of(path)? {
        Format::Csv => read_csv(path, &table, &mut builder)?,
        Format::Parquet => read_parquet(path, &table, &mut builder)?,
    }
    let data = builder.finish().map_err(fault)?;
    Ok((table, data))
}

/// The places in a file of a table's columns.
fn places(path: &Path, table: &Table, names: &[String]) -> Result<Vec<usize>, FileError> {
    let place = |column: &Column| {
        let mut found = (0..names.len()).filter(|&at| names[at] == column.name);
        match (found.next(), found.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(FileError::content(
                path,
                None,
                format!(
                    "two columns are named {:?}: rename one of them",
                    column.name
                ),
            )),
            (None, _) => Err(FileError::content(
                path,
                None,
                format!(
                    "there is no column {:?}, which the schema of {:?} names; there are {}",
                    column.name,
                    table.name(),
                    listed(names)
                ),
            )),
        }
    };
    table.columns().iter().map(place).collect()
}

pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

fn read_csv(path: &Path, table: &Table, builder: &mut DataBuilder<'_>) -> Result<(), FileError> {
    let file = Csv::open(path)?;
    let places = places(path, table, file.names())?;
    let mut row = 0_usize;
    file.each(|record| {
        row += 1;
        for (at, (column, place)) in table.columns().iter().zip(&places).enumerate() {
            let text = field(record, *place, &column.name)?;
            let value = of_text(text, column).map_err(|problem| wrong(row, column, &problem))?;
            builder.push(at, value).map_err(|fault| fault.to_string())?;
        }
        Ok(())
    })
}

fn read_parquet(
    path: &Path,
    table: &Table,
    builder: &mut DataBuilder<'_>,
) -> Result<(), FileError> {
    let file = Parquet::open(path)?;
    let schema = file.schema();
    let names: Vec<String> = schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let mut places = places(path, table, &names)?;
    places.sort_unstable();
    let mut before = 0;
    file.each(&places, |batch| {
        for (at, column) in table.columns().iter().enumerate() {
            let mut row = before;
            cells(&columns_of(batch, &column.name)?, |cell| {
                row += 1;
                let value =
                    of_cell(cell, &column.kind).map_err(|problem| wrong(row, column, problem))?;
                builder.push(at, value).map_err(|fault| fault.to_string())
            })
            .map_err(|problem| match problem.starts_with("values of the type") {
                true => format!("column {:?} has {problem}", column.name),
                false => problem,
            })?;
        }
        before += batch.num_rows();
        Ok(())
    })
}

/// An error that names the place and the kind, not the value.
fn wrong(row: usize, column: &Column, problem: &str) -> String {
    format!(
        "row {row} of column {:?}, {}, has {problem}",
        column.name, column.kind
    )
}

/// The value that a field of a CSV file stands for.
fn of_text<'a>(text: &'a str, column: &Column) -> Result<ValueRef<'a>, String> {
    if text.is_empty() && column.nullable {
        return Ok(ValueRef::Null);
    }
    match &column.kind {
        Kind::Text { .. } | Kind::Choice(_) => Ok(ValueRef::Text(text)),
        _ if text.trim().is_empty() => {
            Err("no value: declare the column nullable, or fill it in".into())
        }
        Kind::Bool => match values::truth(text.trim()) {
            Some(value) => Ok(ValueRef::Bool(value)),
            None => Err("neither true nor false".into()),
        },
        Kind::Number(number) => values::in_unit(text.trim(), number.unit).map(ValueRef::Number),
        Kind::Ratio(..) => Err("a ratio, which files do not hold".into()),
    }
}

/// The value that a value of a Parquet file stands for.
fn of_cell<'a>(cell: Cell<'a>, kind: &Kind) -> Result<ValueRef<'a>, &'static str> {
    let unit = kind.number().map(|number| number.unit);
    let digits = unit.and_then(Unit::digits).map(u32::from);
    match (cell, kind, digits) {
        (Cell::Null, ..) => Ok(ValueRef::Null),
        (Cell::Bool(value), Kind::Bool, _) => Ok(ValueRef::Bool(value)),
        (Cell::Text(text), Kind::Text { .. } | Kind::Choice(_), _) => Ok(ValueRef::Text(text)),
        (Cell::Number(number, own), _, Some(digits)) => values::rescaled(number, own, digits)
            .map(ValueRef::Number)
            .ok_or("a number with more digits after the point than are declared: declare more, or round it"),
        (Cell::Float(number), _, Some(digits)) => {
            let units = (number * 10_f64.powi(digits as i32)).round();
            // All floats up to here are numbers of 128 bits.
            match units.abs() < 1e38 {
                true => Ok(ValueRef::Number(units as i128)),
                false => Err("a number that is too large, or none"),
            }
        }
        (Cell::Day(day), ..) if unit == Some(Unit::Day) => Ok(ValueRef::Number(day.into())),
        (Cell::Day(day), ..) if unit == Some(Unit::Microsecond) => {
            Ok(ValueRef::Number(i128::from(day) * DAY))
        }
        (Cell::Time(time, second), ..) if unit == Some(Unit::Microsecond) => {
            let micros = i128::from(time) * 1_000_000;
            match micros % i128::from(second) {
                0 => Ok(ValueRef::Number(micros / i128::from(second))),
                _ => Err("a time that is finer than microseconds: round it"),
            }
        }
        (Cell::Time(time, second), ..) if unit == Some(Unit::Day) => {
            let day = i128::from(second) * (DAY / 1_000_000);
            match i128::from(time).rem_euclid(day) {
                0 => Ok(ValueRef::Number(i128::from(time).div_euclid(day))),
                _ => Err("a time of the day: declare the column as time, or round it"),
            }
        }
        _ => Err("a value of another kind: declare the column as the file has it, or cast it there"),
    }
}
