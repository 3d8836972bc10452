//! Rows on their way to the store.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

use crate::decimal;
use crate::digest::{Digester, join, partition_of};
use crate::error::{ListError, Problem};
use crate::part;
use crate::source::{Empty, Key, Payload, Source};
use crate::store::{Room, Store};
use crate::{MOST_KEY, MOST_ROWS};

/// Reasons why a row is not taken.
pub(crate) enum Refused {
    /// Nothing wrong with the row.
    Error(ListError),
    /// A column of a key, counted over all keys.
    Key(usize, Problem),
    /// The payload.
    Number(Problem),
}

/// Takes rows, one after the other.
pub(crate) struct Sink<'a> {
    source: &'a Source,
    payload: Option<&'a Payload>,
    /// One for each key of a row.
    digesters: Vec<Digester>,
    partitions: u32,
    store: Store,
    taken: Taken,
    joined: Zeroizing<Vec<u8>>,
    room: Zeroizing<Vec<u8>>,
}

/// Numbers of rows and keys that were taken.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) rows: u32,
    /// Rows that were skipped.
    pub(crate) skipped: u32,
    /// Keys of all other rows, each as often as rows have it.
    pub(crate) entries: u64,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(source: &'a Source, salt: &[u8; 32], partitions: u32, room: &Room) -> Self {
        let payload = source.numbers();
        let keys = source.all_keys();
        let entry = part::length(payload.is_some(), keys.len() > 1);
        let digesters = (0_u8..).zip(keys);
        Self {
            source,
            payload,
            digesters: digesters
                .map(|(place, key)| Digester::new(salt, place, key.len() as u8))
                .collect(),
            partitions,
            store: Store::new(entry, partitions, room),
            taken: Taken::default(),
            joined: Zeroizing::default(),
            room: Zeroizing::default(),
        }
    }

    /// Gives what was collected.
    pub(crate) fn finish(mut self) -> Result<(Store, Taken), ListError> {
        self.store.finish()?;
        Ok((self.store, self.taken))
    }

    /// Takes the next row: the values of the keys' columns, key by key, and that of the payload as text.
    #[inline]
    pub(crate) fn add(&mut self, values: &[&[u8]], number: Option<&[u8]>) -> Result<(), Refused> {
        let row = self.taken.rows;
        if row == MOST_ROWS {
            return Err(Refused::Error(ListError::TooManyRows {
                path: self.source.path().to_owned(),
            }));
        }
        self.taken.rows += 1;
        let source = self.source;
        let before = self.taken.entries;
        let mut value = None;
        let mut empty = None;
        let mut first = 0;
        for (place, key) in source.all_keys().iter().enumerate() {
            let of_key = &values[first..first + key.len()];
            match self.digest((place, first), key, of_key)? {
                (digest, None) => self.push(digest, place, &mut value, number)?,
                (_, column) => empty = empty.or(column),
            }
            first += key.len();
        }
        if self.taken.entries > before {
            return Ok(());
        }
        match source.empties() {
            Empty::Match => self.add_empty(values, number),
            Empty::Refuse => Err(Refused::Key(empty.unwrap_or(0), Problem::EmptyKey)),
            Empty::Skip => {
                self.taken.skipped += 1;
                Ok(())
            }
        }
    }

    /// Takes all keys of a row, all of which are empty.
    #[cold]
    fn add_empty(&mut self, values: &[&[u8]], number: Option<&[u8]>) -> Result<(), Refused> {
        let source = self.source;
        let (mut value, mut first) = (None, 0);
        for (place, key) in source.all_keys().iter().enumerate() {
            let of_key = &values[first..first + key.len()];
            let (digest, _) = self.digest((place, first), key, of_key)?;
            self.push(digest, place, &mut value, number)?;
            first += key.len();
        }
        Ok(())
    }

    /// The digest of a row's key at a place, and the first of its columns that is empty; `first` is the number of its first column among those of all keys.
    #[inline]
    fn digest(
        &mut self,
        (place, first): (usize, usize),
        key: &[Key],
        values: &[&[u8]],
    ) -> Result<(Block, Option<usize>), Refused> {
        let digester = &mut self.digesters[place];
        if let ([value], [key]) = (values, key) {
            let value = normal(value, key, &mut self.room)
                .map_err(|problem| Refused::Key(first, problem))?;
            return Ok((digester.digest(value), value.is_empty().then_some(first)));
        }
        let mut empty = None;
        self.joined.clear();
        for (column, (value, key)) in (first..).zip(values.iter().zip(key)) {
            let value = normal(value, key, &mut self.room);
            let value = value.map_err(|problem| Refused::Key(column, problem))?;
            if value.is_empty() {
                empty = empty.or(Some(column));
            }
            join(&mut self.joined, value);
        }
        Ok((digester.digest(&self.joined), empty))
    }

    /// Keeps a key of the row that was taken last. Its number is read with the first key that needs it.
    #[inline]
    fn push(
        &mut self,
        digest: Block,
        place: usize,
        value: &mut Option<i64>,
        number: Option<&[u8]>,
    ) -> Result<(), Refused> {
        if let (Some(payload), Some(number), None) = (self.payload, number, *value) {
            let read = decimal::parse(number, payload.places);
            let read = read.and_then(|read| payload.check(read));
            *value = Some(read.map_err(Refused::Number)?);
        }
        let row = self.taken.rows - 1;
        self.taken.entries += 1;
        let partition = partition_of(digest, self.partitions);
        let entry = part::encode(digest, row, *value, place as u8);
        let length = self.store.entry();
        let pushed = self.store.push(partition, &entry[..length]);
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
