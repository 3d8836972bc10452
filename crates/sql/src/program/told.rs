//! Results and what is learnt of tables, for people and for scripts.

use std::fmt::Write as _;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::json_text;
use madrigal_app::numbers::{counted, table};
use madrigal_core::text::plain;
use madrigal_sql::files::{RowCount, Schema};
use madrigal_tables::{Answer, Kind, Query, Unit, Value};
use serde_json::Value as Json;

/// The largest integer of which a number of JSON's holds all below.
const EXACT: u64 = 1 << 53;

/// What parties learn of the tables and of the result.
pub fn learnt(tables: &[(&Schema, String)], query: &Query, to: &str, most: usize) -> String {
    let mut text = String::from(
        "All parties learn the query, and of each table its columns' names and kinds, and:\n",
    );
    for (schema, owner) in tables {
        let rows = match schema.rows {
            RowCount::Exactly(rows) => format!("it has {}", counted(rows as u64, "row")),
            RowCount::AtMost(rows) => format!("it has {} at most", counted(rows as u64, "row")),
            RowCount::Hidden(rows, noise) => format!(
                "it has {} at most, by a bound that is, as its owner says, ({}, {:e})-differentially private for {}",
                counted(rows as u64, "row"),
                noise.epsilon(),
                noise.delta(),
                counted(noise.each(), "row"),
            ),
        };
        let least = match schema.least_group {
            0 | 1 => String::new(),
            least => format!("; nothing is told of groups of fewer than {least} rows"),
        };
        let _ = writeln!(text, "  {} of {owner}: {rows}{least}", plain(&schema.name));
    }
    let columns: Vec<_> = query
        .columns()
        .iter()
        .map(|column| plain(&column.name))
        .collect();
    let _ = writeln!(
        text,
        "{to} the result, {} at most:\n  {}",
        counted(most as u64, "row"),
        columns.join(", ")
    );
    text
}

/// The result for people.
pub fn shown(answer: &Answer) -> String {
    let names: Vec<_> = answer
        .columns
        .iter()
        .map(|column| plain(&column.name))
        .collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut rows = table(&names);
    for row in 0..answer.rows.len() {
        let cells = (0..answer.columns.len()).map(|column| {
            let text = answer.text(row, column);
            plain(&text).into_owned()
        });
        rows.add_row(cells.collect::<Vec<_>>());
    }
    format!("{rows}\n{}\n", counted(answer.rows.len() as u64, "row"))
}

/// The report of a run with the result in it: `columns` with their names and kinds, `rows` with a list of values for each. Integers above
/// 2^53 and decimals are texts.
pub fn json(report: &str, answer: Option<&Answer>) -> Result<String> {
    let mut report: Json = serde_json::from_str(report).map_err(Failure::bug)?;
    if let (Some(object), Some(answer)) = (report.as_object_mut(), answer) {
        let columns = answer.columns.iter().map(
            |column| serde_json::json!({ "name": column.name, "kind": column.kind.to_string() }),
        );
        object.insert("columns".into(), columns.collect());
        object.insert("rows".into(), rows(answer));
        object.remove("outputs");
    }
    json_text(&report)
}

/// The rows as JSON has them.
pub fn rows(answer: &Answer) -> Json {
    let row = |at: usize| -> Json {
        let values = answer.rows[at].iter().zip(&answer.columns).enumerate();
        let values = values.map(|(place, (value, column))| match (value, &column.kind) {
            (Value::Null, _) => Json::Null,
            (Value::Bool(value), _) => (*value).into(),
            (Value::Number(value), Kind::Number(number))
                if number.unit == Unit::One && value.unsigned_abs() <= EXACT.into() =>
            {
                (*value as i64).into()
            }
            _ => answer.text(at, place).into(),
        });
        values.collect()
    };
    (0..answer.rows.len()).map(row).collect()
}
