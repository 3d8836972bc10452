//! Sweeps: rows that go away with time.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use super::{Transaction, tables};
use crate::error::Result;
use crate::submission::Id;

/// How old, in seconds, something is when a sweep takes it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ages {
    /// A submission that was begun and is not whole. Its client may begin it again.
    pub receiving: u64,
    /// Memory of a submission that has ended, counted from its end: until then the same submission is known again, so this is
    /// longer than any client goes on trying.
    pub ended: u64,
    /// Age at which a submission that has ended is forgotten where more than `many` are remembered. None is forgotten earlier.
    pub promised: u64,
    /// Number of submissions that have ended and are remembered from which on the oldest are forgotten early.
    pub many: u64,
    /// A batch that has ended, with its results. The last batch of a kind stays, without its results.
    pub results: u64,
    /// Ages of batches of certain kinds, in the place of `results`.
    pub results_of: BTreeMap<String, u64>,
    /// Kinds of which the newest batch with results stays for good, and each one before it goes at once, whatever their ages are.
    pub newest_of: BTreeSet<String>,
}

/// Numbers of things that a sweep took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Submissions that were begun.
    pub receiving: u64,
    /// Submissions that are not remembered any more.
    pub ended: u64,
    /// Batches.
    pub batches: u64,
    /// Whether there is more: a sweep takes some thousands of each, so that others need not wait long.
    pub more: bool,
}

/// The most rows of each table in a sweep.
const MOST: usize = 4096;

impl Transaction<'_> {
    pub(crate) fn sweep(&mut self, ages: &Ages, now: u64) -> Result<Swept> {
        let mut swept = Swept::default();
        for id in self.older(true, ages.receiving, now, MOST)? {
            let entry = self.entry(&id)?;
            if let Some(entry) = entry {
                self.receiving.remove(&tables::of_time(entry.begun, &id))?;
                self.remove_pieces(&id, &entry)?;
                self.submissions.remove(&id)?;
                self.book
                    .end(&entry.kind, &entry.account, entry.bytes(), false);
                swept.receiving += 1;
            }
        }
        self.forget(ages.ended, now, MOST, &mut swept)?;
        // Where there are too many, the oldest are forgotten earlier, if their time is over that was promised.
        let many = self.book.all().remembered.saturating_sub(ages.many);
        let many = usize::try_from(many).unwrap_or(MOST);
        let left = MOST - swept.ended as usize;
        self.forget(ages.promised, now, many.min(left), &mut swept)?;
        self.sweep_batches(ages, now, &mut swept)?;
        let most = MOST as u64;
        swept.more = swept.receiving == most || swept.ended == most || swept.batches == most;
        Ok(swept)
    }

    /// Forgets what has ended at least so long ago, the oldest first.
    fn forget(&mut self, age: u64, now: u64, most: usize, swept: &mut Swept) -> Result<()> {
        for id in self.older(false, age, now, most)? {
            if let Some(entry) = self.entry(&id)? {
                self.ended.remove(&tables::of_time(entry.ended, &id))?;
                self.submissions.remove(&id)?;
                self.book.change_both(&entry.kind, &entry.account, |usage| {
                    usage.remembered = usage.remembered.saturating_sub(1);
                });
                swept.ended += 1;
            }
        }
        Ok(())
    }

    /// Ids of a table by time that are at least so old.
    fn older(&self, receiving: bool, age: u64, now: u64, most: usize) -> Result<Vec<Id>> {
        let Some(until) = now.checked_sub(age) else {
            return Ok(Vec::new());
        };
        let table = if receiving {
            &self.receiving
        } else {
            &self.ended
        };
        let after = until.saturating_add(1).to_be_bytes();
        let keys = table.keys(&[0; 8], &after, most)?;
        Ok(keys.iter().filter_map(|key| tables::id_of(key)).collect())
    }

    fn sweep_batches(&mut self, ages: &Ages, now: u64, swept: &mut Swept) -> Result<()> {
        let mut kind_from = Vec::new();
        while let Some(first) = self.batches.keys(&kind_from, &[0xff], 1)?.pop() {
            let Some(end) = first.iter().position(|byte| *byte == 0) else {
                return Ok(());
            };
            let kind = String::from_utf8_lossy(&first[..end]).into_owned();
            let prefix = tables::of_kind(&kind);
            let after = tables::after(&prefix);
            kind_from = after.clone();
            let newest = match ages.newest_of.contains(&kind) {
                true => self.newest_done(&kind)?,
                false => None,
            };
            let age = ages.results_of.get(&kind).unwrap_or(&ages.results);
            let until = now.checked_sub(*age);
            if until.is_none() && newest.is_none() {
                continue;
            }
            let keys = self.batches.keys(&first, &after, MOST + 1)?;
            for (i, key) in keys.iter().enumerate() {
                let Some(value) = self.batches.get(self.sealer, key, &kind)? else {
                    continue;
                };
                let row = super::batches::BatchRow::decode(&value);
                let n = key.last_chunk().copied().map_or(0, u64::from_be_bytes);
                if newest == Some(n) {
                    continue;
                }
                let ended = row.filter(|row| row.outcome.is_some());
                let old = ended.is_some_and(|row| {
                    newest.is_some_and(|newest| n < newest)
                        || until.is_some_and(|until| row.ended <= until)
                });
                if !old || swept.batches as usize == MOST {
                    break;
                }
                if i + 1 == keys.len() {
                    // The agreement goes on from the last one.
                    self.remove_runs(&kind, n, 0, u32::MAX)?;
                    self.done.remove(key)?;
                } else {
                    self.forget_batch(&kind, n)?;
                    swept.batches += 1;
                }
            }
        }
        Ok(())
    }

    /// Number of the newest batch of a kind that has results.
    fn newest_done(&self, kind: &str) -> Result<Option<u64>> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let mut rows = self.done.rows.range(&prefix[..]..&after[..])?;
        let newest = rows.next_back().transpose()?;
        Ok(newest.and_then(|row| tables::order_of(row.0.value())))
    }
}
