//! Submissions that wait for a batch, in the order in which they were accepted.
//!
//! An order is a number that grows with each submission of a kind while the vault is open, and is above those of all that wait. So whoever has read up to
//! one has missed nothing, whatever clocks do.

use redb::ReadableTable;

use super::{Transaction, tables};
use crate::error::Result;
use crate::submission::Id;

/// Bytes of a row: time and id.
pub(super) type Arrived = [u8; 40];

impl Transaction<'_> {
    /// Notes that a submission waits.
    pub(super) fn arrive(&mut self, kind: &str, at: u64, id: &Id) -> Result<()> {
        let last = match self.book.order(kind) {
            Some(last) => last,
            None => self.last_order(kind)?,
        };
        let order = last + 1;
        self.book.set_order(kind, order);
        let key = tables::of_accepted(kind, at, id);
        self.accepted
            .rows
            .insert(&key[..], &order.to_be_bytes()[..])?;
        let (key, row) = (tables::of_arrived(kind, order), tables::of_time(at, id));
        self.arrived.rows.insert(&key[..], &row[..])?;
        self.book.change(kind, |usage| usage.waiting += 1);
        Ok(())
    }

    /// Notes that a submission waits no more, if it did.
    pub(super) fn depart(&mut self, kind: &str, at: u64, id: &Id) -> Result<()> {
        let key = tables::of_accepted(kind, at, id);
        let Some(order) = self.accepted.rows.remove(&key[..])? else {
            return Ok(());
        };
        if let Some(order) = tables::order_of(order.value()) {
            self.arrived.remove(&tables::of_arrived(kind, order))?;
        }
        self.book.change(kind, |usage| {
            usage.waiting = usage.waiting.saturating_sub(1);
        });
        Ok(())
    }

    fn last_order(&self, kind: &str) -> Result<u64> {
        let prefix = tables::of_kind(kind);
        let after = tables::after(&prefix);
        let mut rows = self.arrived.rows.range(&prefix[..]..&after[..])?;
        let last = rows.next_back().transpose()?;
        Ok(last
            .and_then(|(key, _)| tables::order_of(key.value()))
            .unwrap_or(0))
    }

    /// Gives orders to all that wait in a vault of a version that had none, oldest first.
    pub(super) fn order_all(&mut self) -> Result<()> {
        for row in self.usage.rows.iter()? {
            let (key, sealed) = row?;
            let kind = String::from_utf8_lossy(key.value()).into_owned();
            let place = self.usage.place(key.value(), &kind);
            let value = self.sealer.open(place, sealed.value())?;
            self.book
                .read(&kind, &value)
                .ok_or_else(|| place.damaged())?;
        }
        for key in self.accepted.keys(&[], &[0xff], usize::MAX)? {
            let end = key.iter().position(|byte| *byte == 0).unwrap_or(0);
            let kind = String::from_utf8_lossy(&key[..end]).into_owned();
            if let (Some(id), Some(at)) = (tables::id_of(&key), tables::time_of(&key)) {
                self.arrive(&kind, at, &id)?;
            }
        }
        Ok(())
    }
}
