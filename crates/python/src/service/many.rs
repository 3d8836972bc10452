//! Many submissions: rows of arrays, each of a client of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use madrigal_net::roster::is_name;
use madrigal_program::{Array, Shape};
use madrigal_service_client::{ClientError, One, ServiceClient};
use pyo3::prelude::*;

use crate::arrays::Values;
use crate::done::Reason;
use crate::value_error;

/// Names of the clients of many submissions.
pub enum Names {
    /// One client has brought them all.
    One(String),
    /// Names that follow from one, as `office-0`.
    Numbered(String),
    Each(Vec<String>),
}

impl Names {
    pub fn new(
        client: String,
        clients: Option<Vec<String>>,
        numbered: bool,
        count: usize,
    ) -> PyResult<Self> {
        let Some(clients) = clients else {
            return Ok(match numbered {
                true => Self::Numbered(client),
                false => Self::One(client),
            });
        };
        if clients.len() != count {
            let found = clients.len();
            return Err(value_error(format!(
                "{found} clients for {count} submissions: give a name for each"
            )));
        }
        match clients.iter().position(|name| !is_name(name)) {
            None => Ok(Self::Each(clients)),
            Some(at) => Err(value_error(format!(
                "clients[{at}] is no name of 1 to 64 letters, digits, `-`, `_` or `.`"
            ))),
        }
    }

    fn of(&self, place: usize) -> String {
        match self {
            Self::One(name) => name.clone(),
            Self::Numbered(name) => format!("{name}-{place}"),
            Self::Each(names) => names[place].clone(),
        }
    }
}

/// Rows that are submitted one by one, in their order.
pub struct Rows {
    columns: Vec<(String, Array, Shape)>,
    names: Names,
    next: usize,
    count: usize,
}

impl Rows {
    /// Arrays with `count` places along their first axes, each with the shape that one place gets.
    pub fn new(
        given: Vec<(String, PyRef<'_, Values>, Vec<usize>)>,
        names: Names,
        count: usize,
    ) -> PyResult<Self> {
        let column = |(name, values, shape): (String, PyRef<'_, Values>, Vec<usize>)| {
            let array = values.take()?;
            let shape = crate::arrays::shape_of(&shape)?;
            let rows = array.shape().axes().first() == Some(&count);
            match rows && array.shape().elements() == count * shape.elements() {
                true => Ok((name, array, shape)),
                false => Err(value_error(format!(
                    "{name}: {:?} are not {count} times {shape:?}",
                    array.shape()
                ))),
            }
        };
        Ok(Self {
            columns: given.into_iter().map(column).collect::<PyResult<_>>()?,
            names,
            next: 0,
            count,
        })
    }

    fn row(&self, place: usize) -> Option<One> {
        let value = |(name, array, shape): &(String, Array, Shape)| {
            let row = array.rows(place..place + 1)?;
            let row = Array::from_codes(row.element(), shape, row.codes())?;
            Some((name.clone(), row.into()))
        };
        let inputs = self.columns.iter().map(value).collect::<Option<_>>()?;
        Some((self.names.of(place), inputs))
    }
}

impl Iterator for Rows {
    type Item = One;

    fn next(&mut self) -> Option<One> {
        (self.next < self.count).then_some(())?;
        let row = self.row(self.next)?;
        self.next += 1;
        Some(row)
    }
}

/// Text, exit status, and the server at fault.
type Failed = (String, u8, Option<String>);

/// Submissions that were accepted; places of others, with numbers of reasons; the reasons.
pub type Made = (u64, Vec<(usize, usize)>, Vec<Failed>);

/// Submits rows, `at_once` of them side by side; `counted` gets the number of those that are over.
pub async fn submit(
    client: &ServiceClient,
    kind: &str,
    rows: Rows,
    at_once: usize,
    counted: &AtomicU64,
) -> Result<Made, ClientError> {
    let mut failures = Vec::new();
    // Where all fail, they fail for few reasons.
    let mut reasons: Vec<Failed> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let done = client.many(kind, rows, at_once, |place, result, progress| {
        counted.store(progress.accepted + progress.failed, Ordering::Relaxed);
        if let Err(error) = result
            && let Reason::Service {
                text,
                status,
                server,
            } = error.into()
        {
            let at = *known.entry(text).or_insert_with_key(|text| {
                reasons.push((text.clone(), status as u8, server));
                reasons.len() - 1
            });
            failures.push((place, at));
        }
        true
    });
    let accepted = done.await?.accepted;
    failures.sort_unstable();
    Ok((accepted, failures, reasons))
}
