//! Vaults of a version that counted less, counted once when they are opened.

use redb::ReadableTable;

use super::batches::BatchRow;
use super::{Transaction, tables};
use crate::agreement::Outcome;
use crate::error::Result;

impl Transaction<'_> {
    /// Counts all submissions of a vault of a version that had neither orders nor accounts, gives orders to those that wait, oldest first, and notes which
    /// batches have results.
    pub(super) fn count_all(&mut self) -> Result<()> {
        for row in self.usage.rows.iter()? {
            let (key, sealed) = row?;
            let kind = String::from_utf8_lossy(key.value()).into_owned();
            let place = self.usage.place(key.value(), &kind);
            let value = self.sealer.open(place, sealed.value())?;
            self.book
                .read(&kind, &value)
                .ok_or_else(|| place.damaged())?;
            self.book.change(&kind, |usage| usage.waiting = 0);
        }
        for key in self.submissions.keys(&[], &[0xff; 33], usize::MAX)? {
            let id = tables::id_of(&key);
            let entry = id.map(|id| self.entry(&id)).transpose()?.flatten();
            if let Some(entry) = entry {
                let (lives, bytes) = (entry.lives(), entry.bytes());
                // Kinds are counted already.
                self.book
                    .change_account(&entry.kind, &entry.account, |usage| {
                        usage.submissions += u64::from(lives);
                        usage.bytes += if lives { bytes } else { 0 };
                        usage.remembered += u64::from(!lives);
                    });
            }
        }
        for key in self.batches.keys(&[], &[0xff], usize::MAX)? {
            let kind = tables::kind_of(&key);
            let value = self.batches.get(self.sealer, &key, &kind)?;
            let row = value.and_then(|value| BatchRow::decode(&value));
            let outcome = row.and_then(|row| row.outcome);
            if let (Some(Outcome::Final { run }), Some(n)) = (outcome, tables::order_of(&key)) {
                self.mark_done(&kind, n, run)?;
            }
        }
        for key in self.accepted.keys(&[], &[0xff], usize::MAX)? {
            let kind = tables::kind_of(&key);
            if let (Some(id), Some(at)) = (tables::id_of(&key), tables::time_of(&key)) {
                let account = self.entry(&id)?.map(|entry| entry.account);
                self.arrive(&kind, &account.unwrap_or_default(), at, &id)?;
            }
        }
        Ok(())
    }
}
