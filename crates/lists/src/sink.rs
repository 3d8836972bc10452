//! Rows on their way to the store.

use madrigal_core::Zeroizing;

use crate::decimal;
use crate::digest::{Digester, join, partition_of};
use crate::error::{ListError, Problem};
use crate::part::{self, ENTRY, LONG_ENTRY};
use crate::source::{Empty, Key, Payload, Source};
use crate::store::{Room, Store};
use crate::{MOST_KEY, MOST_ROWS};

/// Reasons why a row is not taken.
pub(crate) enum Refused {
    /// Nothing wrong with the row.
    Error(ListError),
    /// A column of the key.
    Key(usize, Problem),
    /// The payload.
    Number(Problem),
}

/// Takes rows, one after the other.
pub(crate) struct Sink<'a> {
    source: &'a Source,
    payload: Option<&'a Payload>,
    digester: Digester,
    partitions: u32,
    store: Store,
    rows: u32,
    skipped: u32,
    joined: Zeroizing<Vec<u8>>,
    room: Zeroizing<Vec<u8>>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(source: &'a Source, salt: &[u8; 32], partitions: u32, room: &Room) -> Self {
        let payload = source.numbers();
        let entry = if payload.is_some() { LONG_ENTRY } else { ENTRY };
        Self {
            source,
            payload,
            digester: Digester::new(salt, source.keys().len() as u8),
            partitions,
            store: Store::new(entry, partitions, room),
            rows: 0,
            skipped: 0,
            joined: Zeroizing::default(),
            room: Zeroizing::default(),
        }
    }

    /// Gives what was collected: the store, the number of rows, and that of rows that were skipped.
    pub(crate) fn finish(mut self) -> Result<(Store, u32, u32), ListError> {
        self.store.finish()?;
        Ok((self.store, self.rows, self.skipped))
    }

    /// Takes the next row: the values of the key's columns, and that of the payload as text.
    #[inline]
    pub(crate) fn add(&mut self, values: &[&[u8]], number: Option<&[u8]>) -> Result<(), Refused> {
        let row = self.rows;
        if row == MOST_ROWS {
            return Err(Refused::Error(ListError::TooManyRows {
                path: self.source.path().to_owned(),
            }));
        }
        self.rows += 1;
        let keys = self.source.keys();
        let mut empty = None;
        let digest = match (values, keys) {
            ([value], [key]) => {
                let value = normal(value, key, &mut self.room)
                    .map_err(|problem| Refused::Key(0, problem))?;
                empty = value.is_empty().then_some(0);
                self.digester.digest(value)
            }
            _ => {
                self.joined.clear();
                for (place, (value, key)) in values.iter().zip(keys).enumerate() {
                    let value = normal(value, key, &mut self.room);
                    let value = value.map_err(|problem| Refused::Key(place, problem))?;
                    if value.is_empty() {
                        empty = empty.or(Some(place));
                    }
                    join(&mut self.joined, value);
                }
                self.digester.digest(&self.joined)
            }
        };
        if let Some(place) = empty {
            match self.source.empties() {
                Empty::Match => {}
                Empty::Refuse => return Err(Refused::Key(place, Problem::EmptyKey)),
                Empty::Skip => {
                    self.skipped += 1;
                    return Ok(());
                }
            }
        }
        let partition = partition_of(digest, self.partitions);
        let pushed = match (self.payload, number) {
            (Some(payload), Some(number)) => {
                let value = decimal::parse(number, payload.places);
                let value = value.and_then(|value| payload.check(value));
                let value = value.map_err(Refused::Number)?;
                let entry = part::encode(digest, row, value);
                self.store.push(partition, &entry)
            }
            _ => {
                let entry = part::encode(digest, row, 0);
                self.store.push(partition, &entry[..ENTRY])
            }
        };
        pushed.map_err(Refused::Error)
    }
}

/// Gives a value's normal form.
#[inline]
fn normal<'v>(
    value: &'v [u8],
    key: &Key,
    room: &'v mut Zeroizing<Vec<u8>>,
) -> Result<&'v [u8], Problem> {
    if value.len() > MOST_KEY {
        return Err(Problem::LongKey);
    }
    key.normal.apply(value, room)
}
