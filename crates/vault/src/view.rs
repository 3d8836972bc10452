//! A vault as the agreement sees it.

use std::cell::RefCell;

use crate::agreement::{Host, MAX_IDS};
use crate::error::{Result, VaultError};
use crate::store::{Reading, Wanted};
use crate::submission::Id;
use crate::vault::Vault;

/// Policy of a server for the batches of a kind.
pub trait Policy {
    /// The least number of submissions that are computed together.
    fn least(&self) -> u64;
    /// Age in seconds at which an accepted submission that not all servers have is overdue.
    fn overdue(&self) -> u64;
    /// Why this batch is not computed, if so. The answer is written down with the batch.
    fn refuses(&self, n: u64, ids: &[Id]) -> Option<String>;
}

/// The [`Host`] of a kind's machine: a vault, a policy and the time.
///
/// Where the vault cannot be read, the answer is that nothing is there, which the agreement takes for less than there is and never for more; the error
/// is kept ([`error`](Self::error)).
pub struct View<'a> {
    vault: &'a Vault,
    kind: &'a str,
    policy: &'a dyn Policy,
    now: u64,
    error: RefCell<Option<VaultError>>,
}

impl<'a> View<'a> {
    /// A view of the submissions of a kind at a time, in seconds of the clock that they were accepted by.
    pub fn new(vault: &'a Vault, kind: &'a str, policy: &'a dyn Policy, now: u64) -> Self {
        Self {
            vault,
            kind,
            policy,
            now,
            error: RefCell::default(),
        }
    }

    /// The first error of reading, once.
    pub fn error(&self) -> Option<VaultError> {
        self.error.take()
    }

    fn read<T: Default>(&self, read: impl FnOnce(&Reading<'_>) -> Result<T>) -> T {
        self.vault.reading(read).unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            T::default()
        })
    }

    fn is_overdue(&self, at: u64) -> bool {
        at.saturating_add(self.policy.overdue()) <= self.now
    }
}

impl Host for View<'_> {
    fn accepted(&self) -> Vec<(Id, bool)> {
        self.read(|reading| {
            let mut accepted = Vec::new();
            reading.accepted(self.kind, |id, at| {
                accepted.push((*id, self.is_overdue(at)));
                Wanted::unless(accepted.len() == MAX_IDS)
            })?;
            Ok(accepted)
        })
    }

    fn have(&self, ids: &[Id]) -> Vec<bool> {
        let live = self.vault.usage(self.kind).submissions;
        let mut have = self.read(|reading| reading.have(self.kind, ids, live));
        have.resize(ids.len(), false);
        have
    }

    fn overdue(&self, proposed: &dyn Fn(&Id) -> bool, most: usize) -> Vec<Id> {
        self.read(|reading| {
            let mut overdue = Vec::new();
            reading.accepted(self.kind, |id, at| {
                let late = self.is_overdue(at);
                if late && !proposed(id) && overdue.len() < most {
                    overdue.push(*id);
                }
                Wanted::unless(!late || overdue.len() >= most)
            })?;
            Ok(overdue)
        })
    }

    fn least(&self) -> u64 {
        self.policy.least()
    }

    fn refuses(&self, n: u64, ids: &[Id]) -> Option<String> {
        self.policy.refuses(n, ids)
    }
}
