//! Reads of the last commit.

use std::collections::HashSet;

use madrigal_core::Zeroizing;
use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable};

use super::batches::{BatchRow, read_batch};
use super::book::Book;
use super::entry::{Entry, Stage};
use super::runs::read_length;
use super::tables::{self, Definition};
use crate::agreement::{Batch, Closed, Restored, Waiting};
use crate::error::{Result, VaultError};
use crate::seal::{Place, Sealer};
use crate::submission::{Content, Id, State, Status};
use madrigal_core::chain::PIECE as PIECE_BYTES;

/// A view of the last commit.
pub(crate) struct Reading<'a> {
    transaction: ReadTransaction,
    sealer: &'a Sealer,
}

type Rows = ReadOnlyTable<&'static [u8], &'static [u8]>;

impl<'a> Reading<'a> {
    pub(crate) fn new(database: &Database, sealer: &'a Sealer) -> Result<Self> {
        Ok(Self {
            transaction: database.begin_read()?,
            sealer,
        })
    }

    fn rows(&self, definition: Definition) -> Result<Rows> {
        Ok(self.transaction.open_table(definition)?)
    }

    fn value(
        &self,
        rows: &Rows,
        table: &'static str,
        key: &[u8],
        kind: &str,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let row = ReadableTable::get(rows, key)?;
        row.map(|row| self.sealer.open(Place { table, key, kind }, row.value()))
            .transpose()
    }

    pub(crate) fn book(&self) -> Result<Book> {
        let mut book = Book::default();
        for row in self.rows(tables::USAGE)?.iter()? {
            let (key, sealed) = row?;
            let kind = String::from_utf8_lossy(key.value()).into_owned();
            let place = Place {
                table: "usage",
                key: key.value(),
                kind: &kind,
            };
            let value = self.sealer.open(place, sealed.value())?;
            book.read(&kind, &value).ok_or_else(|| place.damaged())?;
        }
        let arrived = self.rows(tables::ARRIVED)?;
        let kinds: Vec<String> = book.kinds().map(str::to_owned).collect();
        for kind in kinds {
            let prefix = tables::of_kind(&kind);
            let after = tables::after(&prefix);
            let mut rows = ReadableTable::range(&arrived, &prefix[..]..&after[..])?;
            if let Some(last) = rows.next_back().transpose()? {
                book.set_order(&kind, tables::order_of(last.0.value()).unwrap_or(0));
            }
        }
        for row in self.rows(tables::ACCOUNTS)?.iter()? {
            let (key, sealed) = row?;
            let (table, key) = ("accounts", key.value());
            let kind = tables::kind_of(key);
            let place = Place {
                table,
                key,
                kind: &kind,
            };
            let value = self.sealer.open(place, sealed.value())?;
            let number = tables::order_of(key).unwrap_or(0);
            book.read_account(&kind, number, &value)
                .ok_or_else(|| place.damaged())?;
        }
        Ok(book)
    }

    pub(crate) fn note(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let rows = self.rows(tables::NOTES)?;
        self.value(&rows, "notes", name.as_bytes(), "")
    }

    fn entry(&self, rows: &Rows, id: &Id) -> Result<Option<Entry>> {
        let Some(value) = self.value(rows, "submissions", id, "")? else {
            return Ok(None);
        };
        let table = "submissions";
        let (key, kind) = (&id[..], "");
        let damaged = || Place { table, key, kind }.damaged();
        Entry::decode(&value).ok_or_else(damaged).map(Some)
    }

    pub(crate) fn status(&self, id: &Id) -> Result<Option<Status>> {
        let rows = self.rows(tables::SUBMISSIONS)?;
        let Some(entry) = self.entry(&rows, id)? else {
            return Ok(None);
        };
        let accepted = entry.accepted_at();
        let state = match entry.stage {
            Stage::Receiving => State::Receiving {
                offset: entry.received,
            },
            Stage::Accepted => {
                let key = tables::of_accepted(&entry.kind, entry.accepted, id);
                let rows = self.rows(tables::ACCEPTED)?;
                let waits = ReadableTable::get(&rows, &key[..])?.is_some();
                match self.last_batch(&entry.kind)? {
                    Some((n, _)) if !waits => State::InBatch { n },
                    _ => State::Accepted,
                }
            }
            Stage::Counted { n, run } => State::Counted { n, run },
            Stage::Failed { n, reason } => State::Failed { n, reason },
            Stage::Expired => State::Expired,
        };
        Ok(Some(Status {
            state,
            kind: entry.kind,
            client: entry.client,
            length: entry.length,
            digest: entry.digest,
            accepted,
        }))
    }

    /// A submission whose header and body are there.
    fn held(&self, id: &Id) -> Result<Entry> {
        let rows = self.rows(tables::SUBMISSIONS)?;
        let entry = self.entry(&rows, id)?.ok_or(VaultError::NoSubmission)?;
        match entry.stage {
            Stage::Accepted => Ok(entry),
            _ => Err(VaultError::NoBody),
        }
    }

    pub(crate) fn header(&self, id: &Id) -> Result<Vec<u8>> {
        Ok(self.held(id)?.header)
    }

    pub(crate) fn body(&self, id: &Id) -> Result<Zeroizing<Vec<u8>>> {
        let mut entry = self.held(id)?;
        self.body_of(id, &mut entry)
    }

    /// Header and body of what is whole and not accepted.
    pub(crate) fn received(&self, id: &Id) -> Result<Option<Content>> {
        let rows = self.rows(tables::SUBMISSIONS)?;
        let Some(mut entry) = self.entry(&rows, id)? else {
            return Ok(None);
        };
        if entry.stage != Stage::Receiving || entry.received < entry.length {
            return Ok(None);
        }
        let body = self.body_of(id, &mut entry)?;
        Ok(Some((entry.header, body)))
    }

    fn body_of(&self, id: &Id, entry: &mut Entry) -> Result<Zeroizing<Vec<u8>>> {
        if entry.is_inline() {
            return Ok(std::mem::take(&mut entry.inline));
        }
        let rows = self.rows(tables::PIECES)?;
        let mut body = Zeroizing::new(Vec::with_capacity(entry.length as usize));
        while (body.len() as u64) < entry.length {
            let piece = self.piece(&rows, id, entry, body.len() as u64)?;
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// The piece of a body at an offset, which is that of a piece.
    pub(crate) fn body_piece(&self, id: &Id, offset: u64) -> Result<Zeroizing<Vec<u8>>> {
        let mut entry = self.held(id)?;
        let came = offset;
        if offset >= entry.length.max(1) || !offset.is_multiple_of(PIECE_BYTES as u64) {
            let expected = entry.length;
            return Err(VaultError::Offset { expected, came });
        }
        if entry.is_inline() {
            return Ok(std::mem::take(&mut entry.inline));
        }
        self.piece(&self.rows(tables::PIECES)?, id, &entry, offset)
    }

    fn piece(
        &self,
        rows: &Rows,
        id: &Id,
        entry: &Entry,
        offset: u64,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let key = tables::of_piece(id, (offset / PIECE_BYTES as u64) as u32);
        let table = "pieces";
        let piece = self.value(rows, table, &key, &entry.kind)?;
        let expected = (entry.length - offset).min(PIECE_BYTES as u64);
        let (key, kind) = (&key[..], &entry.kind[..]);
        piece
            .filter(|piece| piece.len() as u64 == expected)
            .ok_or_else(|| Place { table, key, kind }.damaged())
    }

    /// Accepted submissions in no batch whose orders are above one, in their order, `most` at most.
    pub(crate) fn waiting(&self, kind: &str, above: u64, most: usize) -> Result<Vec<Waiting>> {
        let Some(first) = above.checked_add(1) else {
            return Ok(Vec::new());
        };
        let first = tables::of_arrived(kind, first);
        let after = tables::after(&tables::of_kind(kind));
        let rows = self.rows(tables::ARRIVED)?;
        let mut waiting = Vec::new();
        for row in ReadableTable::range(&rows, &first[..]..&after[..])?.take(most) {
            let (key, row) = row?;
            if let (Some(order), Some(id), Some(at)) = (
                tables::order_of(key.value()),
                tables::id_of(row.value()),
                tables::time_of(row.value()),
            ) {
                waiting.push(Waiting { id, order, at });
            }
        }
        Ok(waiting)
    }

    /// Tells for each whether it still is accepted and in no batch.
    pub(crate) fn still(&self, kind: &str, waiting: &[Waiting]) -> Result<Vec<bool>> {
        let rows = self.rows(tables::ARRIVED)?;
        let still = |one: &Waiting| -> Result<bool> {
            let row = ReadableTable::get(&rows, &tables::of_arrived(kind, one.order)[..])?;
            Ok(row.is_some_and(|row| tables::id_of(row.value()) == Some(one.id)))
        };
        waiting.iter().map(still).collect()
    }

    /// Accepted submissions in no batch, oldest first, those after a time and an id alone, until `wanted` stops the search.
    pub(crate) fn accepted(
        &self,
        kind: &str,
        past: Option<(u64, Id)>,
        mut wanted: impl FnMut(&Id, u64) -> Wanted,
    ) -> Result<()> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let first = past.map_or(prefix, |(at, id)| {
            let mut key = tables::of_accepted(kind, at, &id);
            key.push(0);
            key
        });
        let rows = self.rows(tables::ACCEPTED)?;
        for row in ReadableTable::range(&rows, &first[..]..&after[..])? {
            let key = row?.0;
            let key = key.value();
            if let (Some(id), Some(at)) = (tables::id_of(key), tables::time_of(key))
                && wanted(&id, at) == Wanted::NoMore
            {
                break;
            }
        }
        Ok(())
    }

    /// Tells for each id whether it is accepted and in no batch. `all` is the number of all that are, about.
    pub(crate) fn have(&self, kind: &str, ids: &[Id], all: u64) -> Result<Vec<bool>> {
        // All rows of a kind are read in less time than a fourth of them by themselves.
        if ids.len() as u64 > all / 4 {
            let mut all = HashSet::new();
            self.accepted(kind, None, |id, _| {
                all.insert(*id);
                Wanted::More
            })?;
            return Ok(ids.iter().map(|id| all.contains(id)).collect());
        }
        let submissions = self.rows(tables::SUBMISSIONS)?;
        let accepted = self.rows(tables::ACCEPTED)?;
        let has = |id: &Id| -> Result<bool> {
            let Some(entry) = self.entry(&submissions, id)? else {
                return Ok(false);
            };
            let key = tables::of_accepted(kind, entry.accepted, id);
            let waits = ReadableTable::get(&accepted, &key[..])?.is_some();
            Ok(waits && entry.kind == kind && entry.stage == Stage::Accepted)
        };
        ids.iter().map(has).collect()
    }

    /// Account of each id; nothing of those that are not known.
    pub(crate) fn accounts(&self, ids: &[Id]) -> Result<Vec<Option<String>>> {
        let rows = self.rows(tables::SUBMISSIONS)?;
        let account = |id: &Id| Ok(self.entry(&rows, id)?.map(|entry| entry.account));
        ids.iter().map(account).collect()
    }

    fn last_batch(&self, kind: &str) -> Result<Option<(u64, BatchRow)>> {
        Ok(self.last_batches(kind, 1)?.pop())
    }

    /// The last batches of a kind, the last one first.
    fn last_batches(&self, kind: &str, most: usize) -> Result<Vec<(u64, BatchRow)>> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let rows = self.rows(tables::BATCHES)?;
        let rows = ReadableTable::range(&rows, &prefix[..]..&after[..])?;
        rows.rev()
            .take(most)
            .map(|row| {
                let (key, sealed) = row?;
                read_batch(self.sealer, kind, key.value(), sealed.value())
            })
            .collect()
    }

    pub(crate) fn batch(&self, kind: &str, n: u64) -> Result<Option<BatchRow>> {
        let key = tables::of_batch(kind, n);
        let rows = self.rows(tables::BATCHES)?;
        let Some(row) = ReadableTable::get(&rows, &key[..])? else {
            return Ok(None);
        };
        Ok(Some(read_batch(self.sealer, kind, &key, row.value())?.1))
    }

    /// The first batch after one that has results.
    pub(crate) fn next_done(&self, kind: &str, after: u64) -> Result<Option<u64>> {
        let Some(first) = after.checked_add(1) else {
            return Ok(None);
        };
        let (first, end) = (
            tables::of_batch(kind, first),
            tables::after(&tables::of_kind(kind)),
        );
        let rows = self.rows(tables::DONE)?;
        let row = ReadableTable::range(&rows, &first[..]..&end[..])?.next();
        Ok(row
            .transpose()?
            .and_then(|row| tables::order_of(row.0.value())))
    }

    /// Number of the newest batch of a kind that has results.
    pub(crate) fn newest_done(&self, kind: &str) -> Result<Option<u64>> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let rows = self.rows(tables::DONE)?;
        let newest = ReadableTable::range(&rows, &prefix[..]..&after[..])?.next_back();
        let newest = newest.transpose()?;
        Ok(newest.and_then(|row| tables::order_of(row.0.value())))
    }

    /// Ids of a batch, in order.
    pub(crate) fn members(&self, kind: &str, n: u64) -> Result<Vec<Id>> {
        let prefix = tables::of_batch(kind, n);
        let after = tables::after(&prefix);
        let rows = self.rows(tables::MEMBERS)?;
        let mut ids = Vec::new();
        for row in ReadableTable::range(&rows, &prefix[..]..&after[..])? {
            let (key, sealed) = row?;
            let (table, key) = ("members", key.value());
            let part = self
                .sealer
                .open(Place { table, key, kind }, sealed.value())?;
            ids.extend_from_slice(part.as_chunks::<32>().0);
        }
        Ok(ids)
    }

    pub(crate) fn restored(&self, kind: &str) -> Result<Restored> {
        let mut restored = Restored::default();
        for (n, row) in self.last_batches(kind, 2)? {
            let ids: std::sync::Arc<[Id]> = self.members(kind, n)?.into();
            let digest = row.digest;
            match row.outcome {
                None => {
                    restored.open = Some(Batch {
                        n,
                        ids,
                        digest,
                        refused: row.refused,
                        run: row.run,
                        broken: row.broken,
                        done: row.done,
                    });
                }
                Some(outcome) => {
                    restored.closed = Some(Closed {
                        n,
                        ids,
                        digest,
                        outcome,
                    });
                    break;
                }
            }
        }
        Ok(restored)
    }

    /// Names and lengths of the results of a run.
    pub(crate) fn outputs(&self, kind: &str, n: u64, run: u32) -> Result<Vec<(String, u64)>> {
        let prefix = tables::of_run(kind, n, run);
        let after = tables::after(&prefix);
        let rows = self.rows(tables::OUTPUTS)?;
        let mut outputs = Vec::new();
        for row in ReadableTable::range(&rows, &prefix[..]..&after[..])? {
            let (key, sealed) = row?;
            let (table, key) = ("outputs", key.value());
            let place = Place { table, key, kind };
            let length = read_length(&self.sealer.open(place, sealed.value())?);
            let name = key.get(prefix.len()..key.len() - 1).unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            outputs.push((name, length.ok_or_else(|| place.damaged())?));
        }
        Ok(outputs)
    }

    /// The piece of a result at an offset; nothing if there is none.
    pub(crate) fn output_piece(
        &self,
        kind: &str,
        (n, run): (u64, u32),
        name: &str,
        offset: u64,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut key = tables::of_output(kind, n, run, name);
        key.extend(((offset / PIECE_BYTES as u64) as u32).to_be_bytes());
        let rows = self.rows(tables::RESULTS)?;
        self.value(&rows, "results", &key, kind)
    }
}

/// Whether a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    More,
    NoMore,
}

impl Wanted {
    /// Goes on unless it is enough.
    pub(crate) fn unless(enough: bool) -> Self {
        if enough { Self::NoMore } else { Self::More }
    }
}
