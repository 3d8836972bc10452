//! Use of kinds, and of accounts in them.
//!
//! The thread that writes has a book of its own; others read a copy, to which changes are handed after each commit.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{Fields, Read};
use crate::error::{Result, VaultError};
use crate::limits::{Limits, Usage};

/// A kind, and an account in it.
pub(super) type Whose = (String, String);

/// Use of an account in a kind, and the number by which its row is found: names of accounts are sealed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Account {
    pub(super) number: u64,
    pub(super) usage: Usage,
}

/// Use of each kind, and of each account in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    kinds: BTreeMap<String, Usage>,
    accounts: BTreeMap<String, BTreeMap<String, Account>>,
    changed: BTreeSet<String>,
    changed_accounts: BTreeSet<Whose>,
    /// Number of the last account that was made.
    last_account: u64,
    /// Order of the last submission of each kind that was accepted since the vault was opened, or that waited then: whoever has read of those is told of all
    /// that come.
    orders: BTreeMap<String, u64>,
}

impl Book {
    pub(crate) fn of(&self, kind: &str) -> Usage {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    pub(crate) fn all(&self) -> Usage {
        let mut all = Usage::default();
        self.kinds.values().for_each(|usage| all.add(usage));
        all
    }

    /// Use of an account in a kind; of results none is counted.
    pub(crate) fn of_account(&self, kind: &str, account: &str) -> Usage {
        let accounts = self.accounts.get(kind);
        let account = accounts.and_then(|accounts| accounts.get(account));
        account.map(|account| account.usage).unwrap_or_default()
    }

    fn all_of_account(&self, account: &str) -> Usage {
        let mut all = Usage::default();
        for accounts in self.accounts.values() {
            if let Some(account) = accounts.get(account) {
                all.add(&account.usage);
            }
        }
        all
    }

    pub(crate) fn read(&mut self, kind: &str, value: &[u8]) -> Option<()> {
        let mut read = Read(value);
        let mut usage = read_usage(&mut read)?;
        // An older version did not count them; they are counted when its vault is opened.
        usage.waiting = read.u64().unwrap_or(0);
        read.end()?;
        self.kinds.insert(kind.to_owned(), usage);
        Some(())
    }

    /// Reads the row of an account.
    pub(crate) fn read_account(&mut self, kind: &str, number: u64, value: &[u8]) -> Option<()> {
        let mut read = Read(value);
        let name = read.text()?;
        let mut usage = read_usage(&mut read)?;
        usage.waiting = read.u64()?;
        read.end()?;
        let accounts = self.accounts.entry(kind.to_owned()).or_default();
        accounts.insert(name, Account { number, usage });
        self.last_account = self.last_account.max(number);
        Some(())
    }

    /// Kinds whose usage changed, with their values.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.changed.iter().map(|kind| {
            let mut fields = Fields::default();
            put_usage(&mut fields, &self.of(kind));
            (&**kind, fields.0)
        })
    }

    /// Accounts whose usage changed: kind, number, and value, or nothing where the account uses nothing.
    pub(super) fn account_rows(&self) -> impl Iterator<Item = (&str, u64, Option<Vec<u8>>)> {
        self.changed_accounts.iter().filter_map(|(kind, name)| {
            let Account { number, usage } = *self.accounts.get(kind)?.get(name)?;
            let used = usage != Usage::default();
            let value = used.then(|| {
                let mut fields = Fields::default();
                fields.bytes(name.as_bytes());
                put_usage(&mut fields, &usage);
                fields.0
            });
            Some((&**kind, number, value))
        })
    }

    /// Hands what has changed to a copy.
    pub(crate) fn publish(&mut self, copy: &mut Self) {
        for kind in std::mem::take(&mut self.changed) {
            copy.kinds.insert(kind.clone(), self.of(&kind));
        }
        for (kind, name) in std::mem::take(&mut self.changed_accounts) {
            let Some(accounts) = self.accounts.get_mut(&kind) else {
                continue;
            };
            let account = accounts.get(&name).copied().unwrap_or_default();
            let copied = copy.accounts.entry(kind).or_default();
            match account.usage == Usage::default() {
                true => {
                    accounts.remove(&name);
                    copied.remove(&name);
                }
                false => drop(copied.insert(name, account)),
            }
        }
    }

    /// Order of the last submission of a kind that was accepted since the vault was opened, or that waited then.
    pub(super) fn order(&self, kind: &str) -> u64 {
        self.orders.get(kind).copied().unwrap_or(0)
    }

    pub(super) fn set_order(&mut self, kind: &str, order: u64) {
        match self.orders.get_mut(kind) {
            Some(last) => *last = order,
            None => drop(self.orders.insert(kind.to_owned(), order)),
        }
    }

    pub(super) fn change(&mut self, kind: &str, change: impl FnOnce(&mut Usage)) {
        if !self.changed.contains(kind) {
            self.changed.insert(kind.to_owned());
        }
        match self.kinds.get_mut(kind) {
            Some(usage) => change(usage),
            None => change(self.kinds.entry(kind.to_owned()).or_default()),
        }
    }

    /// Changes the use of a kind and that of an account in it.
    pub(super) fn change_both(&mut self, kind: &str, account: &str, change: impl Fn(&mut Usage)) {
        self.change(kind, &change);
        self.change_account(kind, account, change);
    }

    pub(super) fn change_account(
        &mut self,
        kind: &str,
        account: &str,
        change: impl Fn(&mut Usage),
    ) {
        let whose = (kind.to_owned(), account.to_owned());
        let accounts = self.accounts.entry(whose.0.clone()).or_default();
        let next = self.last_account + 1;
        let found = accounts.entry(whose.1.clone()).or_insert_with(|| {
            self.last_account = next;
            let usage = Usage::default();
            Account {
                number: next,
                usage,
            }
        });
        change(&mut found.usage);
        self.changed_accounts.insert(whose);
    }

    /// Adds a submission, if there is room.
    pub(super) fn begin(
        &mut self,
        limits: &Limits,
        kind: &str,
        account: &str,
        bytes: u64,
    ) -> Result<()> {
        let all = self.all();
        let whole = [
            (all, limits.all, "all kinds".to_owned()),
            (self.of(kind), limits.of(kind), format!("kind {kind}")),
        ];
        for (usage, quota, whose) in whole {
            let full = |what: &str, limit| full(format!("the {what} of {whose}"), limit);
            if usage.submissions >= quota.submissions {
                return Err(full("number of submissions", quota.submissions));
            }
            if usage.bytes.saturating_add(bytes) > quota.bytes {
                return Err(full("bytes", quota.bytes));
            }
        }
        if all.results >= limits.results {
            let what = "the bytes of results that are not old enough to go".to_owned();
            return Err(full(what, limits.results));
        }
        let ended = "number of submissions that have ended and must be remembered";
        if all.remembered >= limits.remembered {
            return Err(full(format!("the {ended}"), limits.remembered));
        }
        let mine = self.all_of_account(account);
        let parts = [
            (mine, limits.shares.of(account), String::new()),
            (
                self.of_account(kind, account),
                limits.of_account(kind, account),
                format!(" in kind {kind}"),
            ),
        ];
        let share = |what: String, limit| VaultError::Share {
            account: account.to_owned(),
            what,
            limit,
        };
        for (usage, quota, place) in parts {
            if usage.submissions >= quota.submissions {
                let what = format!("number of submissions that wait{place}");
                return Err(share(what, quota.submissions));
            }
            if usage.bytes.saturating_add(bytes) > quota.bytes {
                let what = format!("bytes of submissions that wait{place}");
                return Err(share(what, quota.bytes));
            }
        }
        let most = limits.remembered_of(account);
        if mine.remembered >= most {
            return Err(share(ended.to_owned(), most));
        }
        self.add(kind, account, bytes);
        Ok(())
    }

    /// Adds a submission.
    pub(super) fn add(&mut self, kind: &str, account: &str, bytes: u64) {
        self.change_both(kind, account, |usage| {
            usage.submissions += 1;
            usage.bytes += bytes;
        });
    }

    /// Takes a submission out; whether it is remembered.
    pub(super) fn end(&mut self, kind: &str, account: &str, bytes: u64, remembered: bool) {
        self.change_both(kind, account, |usage| {
            usage.submissions = usage.submissions.saturating_sub(1);
            usage.bytes = usage.bytes.saturating_sub(bytes);
            usage.remembered += u64::from(remembered);
        });
    }
}

fn full(what: String, limit: u64) -> VaultError {
    VaultError::Full { what, limit }
}

fn read_usage(read: &mut Read<'_>) -> Option<Usage> {
    Some(Usage {
        submissions: read.u64()?,
        bytes: read.u64()?,
        remembered: read.u64()?,
        results: read.u64()?,
        waiting: 0,
    })
}

fn put_usage(fields: &mut Fields, usage: &Usage) {
    fields.u64(usage.submissions).u64(usage.bytes);
    fields.u64(usage.remembered).u64(usage.results);
    fields.u64(usage.waiting);
}
