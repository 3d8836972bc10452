//! Tables of secret rows.
#![allow(clippy::unwrap_used)] // helpers of tests

mod costs;
mod faults;
mod frames;
mod messages;
mod pairs;
mod quantiles;
mod random;
mod rows;
mod windows;

use madrigal_program::Everyone;
use madrigal_program::lower::Mix;
use madrigal_tables::{Data, Frame, Query, Value};

/// A table's name and its values.
type Given<'a> = (&'a str, &'a Data);

/// The rows of a query by its program's meaning, in some order.
fn simulated(frame: &Frame, data: &[Given<'_>]) -> Result<Vec<Vec<Value>>, String> {
    let query = Query::new(frame, 3, Everyone).unwrap();
    let inputs = query.inputs(data.iter().copied());
    let outputs = query.computation().simulate(&inputs);
    let outputs = outputs.map_err(|error| error.to_string())?;
    Ok(in_order(query.result(&outputs).unwrap().rows))
}

/// The rows of a query among three parties, in some order.
fn run(frame: &Frame, data: &[Given<'_>]) -> Vec<Vec<Value>> {
    let query = Query::new(frame, 3, Everyone).unwrap();
    let inputs = query.inputs(data.iter().copied());
    let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
    let ended = planned.run_locally(query.computation(), &inputs).unwrap();
    let mut results = ended.iter().map(|party| query.result(&party.outputs));
    let first = results.next().flatten().unwrap();
    for other in results {
        assert_eq!(other.as_ref(), Some(&first));
    }
    in_order(first.rows)
}

fn in_order(mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    rows.sort_by_key(|row| format!("{row:?}"));
    rows
}

/// A number, or nothing.
fn maybe(value: Option<i128>) -> Value {
    value.map_or(Value::Null, Value::Number)
}
