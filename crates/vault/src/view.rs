//! A vault as the agreement sees it.

use std::cell::RefCell;

use crate::agreement::{Host, Waiting};
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
    /// Accounts of which each batch has a submission.
    fn awaited(&self) -> Vec<&str> {
        Vec::new()
    }
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
}

impl Host for View<'_> {
    fn waiting(&self, above: u64, most: usize) -> Vec<Waiting> {
        self.read(|reading| reading.waiting(self.kind, above, most))
    }

    fn still(&self, waiting: &[Waiting]) -> Vec<bool> {
        let mut still = self.read(|reading| reading.still(self.kind, waiting));
        still.resize(waiting.len(), false);
        still
    }

    fn is_overdue(&self, at: u64) -> bool {
        at.saturating_add(self.policy.overdue()) <= self.now
    }

    fn have(&self, ids: &[Id]) -> Vec<bool> {
        let all = self.vault.usage(self.kind).waiting;
        let mut have = self.read(|reading| reading.have(self.kind, ids, all));
        have.resize(ids.len(), false);
        have
    }

    fn overdue(
        &self,
        past: Option<(u64, Id)>,
        but: &dyn Fn(&Id) -> bool,
        most: usize,
    ) -> Vec<(u64, Id)> {
        self.read(|reading| {
            let mut overdue = Vec::new();
            reading.accepted(self.kind, past, |id, at| {
                let late = self.is_overdue(at);
                if late && !but(id) && overdue.len() < most {
                    overdue.push((at, *id));
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
        let refuses = self.policy.refuses(n, ids);
        refuses.or_else(|| {
            // An honest leader has seen to it.
            let groups = self.groups(ids).into_iter().zip(self.policy.awaited());
            let missing = groups.filter(|(group, _)| group.is_empty());
            let missing: Vec<&str> = missing.map(|(_, account)| account).collect();
            let names = missing.join(", ");
            (!missing.is_empty()).then(|| {
                format!(
                    "there is no submission of {names}, without whom this server computes no batch"
                )
            })
        })
    }

    fn groups(&self, ids: &[Id]) -> Vec<Vec<usize>> {
        let awaited = self.policy.awaited();
        if awaited.is_empty() {
            return Vec::new();
        }
        let accounts = self.read(|reading| reading.accounts(ids));
        let of = |account: &&str| {
            let mine = accounts.iter().enumerate();
            let mine = mine.filter(|(_, of)| of.as_deref() == Some(*account));
            mine.map(|(i, _)| i).collect()
        };
        awaited.iter().map(of).collect()
    }
}
