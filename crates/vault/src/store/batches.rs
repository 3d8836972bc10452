//! Batches: records of the agreement, applied.

use madrigal_core::Digest256;
use redb::ReadableTable;

use super::entry::{Entry, Stage};
use super::fields::{Fields, Read};
use super::{Transaction, tables};
use crate::agreement::{Outcome, Record, batch_digest};
use crate::error::{Result, VaultError};
use crate::submission::Id;

/// Ids of a batch in one row.
pub(super) const PART: usize = 2048;

/// The row of a batch.
#[derive(Debug, Clone)]
pub(crate) struct BatchRow {
    pub(crate) digest: Digest256,
    pub(crate) count: u64,
    pub(crate) refused: Option<String>,
    pub(crate) run: u32,
    pub(crate) broken: u32,
    pub(crate) done: u32,
    pub(crate) outcome: Option<Outcome>,
    /// When it was prepared, and when it ended, or 0.
    pub(crate) prepared: u64,
    pub(crate) ended: u64,
}

impl BatchRow {
    fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.0.extend(self.digest.0);
        fields.u64(self.count);
        match &self.refused {
            None => fields.u8(0),
            Some(reason) => fields.u8(1).bytes(reason.as_bytes()),
        };
        fields.u32(self.run).u32(self.broken).u32(self.done);
        match &self.outcome {
            None => fields.u8(0),
            Some(Outcome::Final { run }) => fields.u8(1).u32(*run),
            Some(Outcome::Failed { reason }) => fields.u8(2).bytes(reason.as_bytes()),
        };
        fields.u64(self.prepared).u64(self.ended);
        fields.0
    }

    pub(crate) fn decode(value: &[u8]) -> Option<Self> {
        let mut read = Read(value);
        let row = Self {
            digest: Digest256(read.array()?),
            count: read.u64()?,
            refused: match read.u8()? {
                0 => None,
                1 => Some(read.text()?),
                _ => return None,
            },
            run: read.u32()?,
            broken: read.u32()?,
            done: read.u32()?,
            outcome: match read.u8()? {
                0 => None,
                1 => Some(Outcome::Final { run: read.u32()? }),
                2 => Some(Outcome::Failed {
                    reason: read.text()?,
                }),
                _ => return None,
            },
            prepared: read.u64()?,
            ended: read.u64()?,
        };
        read.end()?;
        Some(row)
    }
}

impl Transaction<'_> {
    /// Applies a record of the agreement of a kind. Gives the ids that a bar holds for.
    pub(crate) fn record(&mut self, kind: &str, record: Record, now: u64) -> Result<Vec<Id>> {
        match record {
            Record::Prepare { n, ids, refused } => self.prepare(kind, n, &ids, refused, now)?,
            Record::Run { n, run, broken } => {
                let mut row = self.open_batch(kind, n)?;
                if run <= row.run {
                    let why = format!("run {run} of batch {n} was begun before");
                    return Err(contradiction(kind, why));
                }
                (row.run, row.broken) = (run, broken);
                self.put_batch(kind, n, &row)?;
            }
            Record::RunDone { n, run } => {
                let mut row = self.open_batch(kind, n)?;
                row.done = row.done.max(run);
                self.remove_runs(kind, n, 0, row.done)?;
                self.put_batch(kind, n, &row)?;
            }
            Record::End { n, outcome } => self.end_batch(kind, n, outcome, now)?,
            Record::Bar { ids } => return self.bar(ids, now),
            Record::Expire { ids } => self.expire(ids, now)?,
        }
        Ok(Vec::new())
    }

    fn put_batch(&mut self, kind: &str, n: u64, row: &BatchRow) -> Result<()> {
        let key = tables::of_batch(kind, n);
        self.batches.put(self.sealer, &key, kind, &row.encode())
    }

    /// The last batch of a kind: its number and its row.
    fn last_batch(&self, kind: &str) -> Result<Option<(u64, BatchRow)>> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let mut rows = self.batches.rows.range(&prefix[..]..&after[..])?;
        let Some(row) = rows.next_back() else {
            return Ok(None);
        };
        let (key, sealed) = row?;
        read_batch(self.sealer, kind, key.value(), sealed.value()).map(Some)
    }

    /// A batch that has not ended.
    fn open_batch(&self, kind: &str, n: u64) -> Result<BatchRow> {
        match self.last_batch(kind)? {
            Some((last, row)) if last == n && row.outcome.is_none() => Ok(row),
            last => {
                let last = last.map_or(0, |last| last.0);
                let why = format!("batch {n} is not prepared; the last batch is {last}");
                Err(contradiction(kind, why))
            }
        }
    }

    /// Checks that a run may still give results.
    pub(super) fn open_run(&self, kind: &str, n: u64, run: u32) -> Result<()> {
        let done = self.open_batch(kind, n)?.done;
        if run <= done || run == u32::MAX {
            let why = format!("run {run} of batch {n} comes after run {done} was done");
            return Err(contradiction(kind, why));
        }
        Ok(())
    }

    fn prepare(
        &mut self,
        kind: &str,
        n: u64,
        ids: &[Id],
        refused: Option<String>,
        now: u64,
    ) -> Result<()> {
        let last = self.last_batch(kind)?;
        let next = last.as_ref().map_or(1, |last| last.0 + 1);
        if n != next || last.is_some_and(|(_, row)| row.outcome.is_none()) {
            let why = format!("batch {n} comes where the end of batch {} does", next - 1);
            return Err(contradiction(kind, why));
        }
        // All are checked before anything is written.
        let mut taken = Vec::with_capacity(ids.len());
        for id in ids {
            let entry = self.entry(id)?;
            let entry = entry.filter(|entry| entry.kind == kind);
            let waits = entry.as_ref().map(|entry| self.waits(id, entry));
            match (entry, waits.transpose()?) {
                (Some(entry), Some(true)) => taken.push((entry.accepted, entry.account)),
                _ => {
                    let id = Digest256(*id);
                    let why = format!("submission {id} of batch {n} is not accepted here");
                    return Err(contradiction(kind, why));
                }
            }
        }
        for (id, (at, account)) in ids.iter().zip(taken) {
            self.depart(kind, &account, at, id)?;
        }
        for (part, ids) in (0_u32..).zip(ids.chunks(PART)) {
            let mut key = tables::of_batch(kind, n);
            key.extend(part.to_be_bytes());
            self.members
                .put(self.sealer, &key, kind, ids.as_flattened())?;
        }
        let row = BatchRow {
            digest: batch_digest(kind, n, ids),
            count: ids.len() as u64,
            refused,
            run: 0,
            broken: 0,
            done: 0,
            outcome: None,
            prepared: now,
            ended: 0,
        };
        self.put_batch(kind, n, &row)
    }

    fn end_batch(&mut self, kind: &str, n: u64, outcome: Outcome, now: u64) -> Result<()> {
        let mut row = self.open_batch(kind, n)?;
        let (stage, run) = match &outcome {
            Outcome::Final { run } => (Stage::Counted { n, run: *run }, *run),
            Outcome::Failed { reason } => {
                let reason = reason.clone();
                (Stage::Failed { n, reason }, 0)
            }
        };
        if run != 0 && run != row.done {
            let why = format!("there are no results of run {run} of batch {n}");
            return Err(contradiction(kind, why));
        }
        let key = tables::of_batch(kind, n);
        let parts = self.members.keys(&key, &tables::after(&key), usize::MAX)?;
        for part in parts {
            let ids = self.members.get(self.sealer, &part, kind)?;
            let ids = ids.unwrap_or_default();
            for id in ids.as_chunks::<32>().0 {
                // A row that is damaged holds up no others: its end is written over it.
                let entry = match self.entry(id) {
                    Err(VaultError::Damaged { .. }) => None,
                    entry => entry?,
                };
                let entry = match entry {
                    Some(entry) => entry,
                    None => {
                        self.pieces.remove_prefix(id)?;
                        let (kind, stage) = (kind.to_owned(), Stage::Accepted);
                        let barred = Entry::barred(now);
                        Entry {
                            kind,
                            stage,
                            ..barred
                        }
                    }
                };
                self.end_entry(id, entry, stage.clone(), now)?;
            }
        }
        self.remove_runs(kind, n, 0, run)?;
        self.remove_runs(kind, n, run + 1, u32::MAX)?;
        row.outcome = Some(outcome);
        row.ended = now;
        self.mark_done(kind, n, run)?;
        self.put_batch(kind, n, &row)
    }

    /// Notes that a batch has results of a run, if it has.
    pub(super) fn mark_done(&mut self, kind: &str, n: u64, run: u32) -> Result<()> {
        let outputs = tables::of_run(kind, n, run);
        let has = !self
            .outputs
            .keys(&outputs, &tables::after(&outputs), 1)?
            .is_empty();
        match has && run > 0 {
            true => self.done.mark(&tables::of_batch(kind, n)),
            false => Ok(()),
        }
    }

    /// Forgets a batch, with its results.
    pub(super) fn forget_batch(&mut self, kind: &str, n: u64) -> Result<()> {
        self.remove_runs(kind, n, 0, u32::MAX)?;
        let key = tables::of_batch(kind, n);
        self.members.remove_prefix(&key)?;
        self.done.remove(&key)?;
        self.batches.remove(&key)
    }
}

/// A batch of a row.
pub(super) fn read_batch(
    sealer: &crate::seal::Sealer,
    kind: &str,
    key: &[u8],
    sealed: &[u8],
) -> Result<(u64, BatchRow)> {
    let table = "batches";
    let place = crate::seal::Place { table, key, kind };
    let value = sealer.open(place, sealed)?;
    let n = key.last_chunk().copied().map_or(0, u64::from_be_bytes);
    let row = BatchRow::decode(&value).ok_or_else(|| place.damaged())?;
    Ok((n, row))
}

fn contradiction(kind: &str, reason: String) -> VaultError {
    let kind = kind.to_owned();
    VaultError::Contradiction { kind, reason }
}
