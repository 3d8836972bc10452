//! Submissions that wait for a batch, in the order in which they were accepted.
//!
//! An order is a number that grows with each submission of a kind while the vault is open, and is above those of all that wait. So whoever has read up to
//! one has missed nothing, whatever clocks do.

use super::{Transaction, tables};
use crate::error::Result;
use crate::submission::Id;

impl Transaction<'_> {
    /// Notes that a submission waits.
    pub(super) fn arrive(&mut self, kind: &str, account: &str, at: u64, id: &Id) -> Result<()> {
        let order = self.book.order(kind) + 1;
        self.book.set_order(kind, order);
        let key = tables::of_accepted(kind, at, id);
        self.accepted
            .rows
            .insert(&key[..], &order.to_be_bytes()[..])?;
        let (key, row) = (tables::of_arrived(kind, order), tables::of_time(at, id));
        self.arrived.rows.insert(&key[..], &row[..])?;
        self.book
            .change_both(kind, account, |usage| usage.waiting += 1);
        Ok(())
    }

    /// Notes that a submission waits no more, if it did.
    pub(super) fn depart(&mut self, kind: &str, account: &str, at: u64, id: &Id) -> Result<()> {
        let key = tables::of_accepted(kind, at, id);
        let Some(order) = self.accepted.rows.remove(&key[..])? else {
            return Ok(());
        };
        if let Some(order) = tables::order_of(order.value()) {
            self.arrived.remove(&tables::of_arrived(kind, order))?;
        }
        self.book.change_both(kind, account, |usage| {
            usage.waiting = usage.waiting.saturating_sub(1);
        });
        Ok(())
    }
}
