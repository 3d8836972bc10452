//! Use of kinds.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{Fields, Read};
use crate::error::{Result, VaultError};
use crate::limits::{Limits, Usage};

/// Use of each kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    kinds: BTreeMap<String, Usage>,
    changed: BTreeSet<String>,
    /// Order of the last submission of each kind that was accepted since the vault was opened.
    orders: BTreeMap<String, u64>,
}

impl Book {
    pub(crate) fn of(&self, kind: &str) -> Usage {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> Usage {
        let mut all = Usage::default();
        for usage in self.kinds.values() {
            all.submissions += usage.submissions;
            all.waiting += usage.waiting;
            all.bytes += usage.bytes;
            all.remembered += usage.remembered;
            all.results += usage.results;
        }
        all
    }

    pub(crate) fn read(&mut self, kind: &str, value: &[u8]) -> Option<()> {
        let mut read = Read(value);
        let usage = Usage {
            submissions: read.u64()?,
            bytes: read.u64()?,
            remembered: read.u64()?,
            results: read.u64()?,
            // An older version did not count them; they are counted when its vault is opened.
            waiting: read.u64().unwrap_or(0),
        };
        read.end()?;
        self.kinds.insert(kind.to_owned(), usage);
        Some(())
    }

    /// Kinds whose usage changed since the last call, with their values.
    pub(super) fn changed(&mut self) -> Vec<(String, Vec<u8>)> {
        let changed = std::mem::take(&mut self.changed);
        let value = |kind: String| {
            let usage = self.of(&kind);
            let mut fields = Fields::default();
            fields.u64(usage.submissions).u64(usage.bytes);
            fields.u64(usage.remembered).u64(usage.results);
            fields.u64(usage.waiting);
            (kind, fields.0)
        };
        changed.into_iter().map(value).collect()
    }

    /// Order of the last submission of a kind that was accepted, if one was since the vault was opened.
    pub(super) fn order(&self, kind: &str) -> Option<u64> {
        self.orders.get(kind).copied()
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

    /// Adds a submission, if there is room.
    pub(super) fn begin(&mut self, limits: &Limits, kind: &str, bytes: u64) -> Result<()> {
        let all = (self.all(), limits.all, "all kinds".to_owned());
        let own = (self.of(kind), limits.of(kind), format!("kind {kind}"));
        for (usage, quota, whose) in [all, own] {
            let full = |what: &str, limit| VaultError::Full {
                what: format!("the {what} of {whose}"),
                limit,
            };
            if usage.submissions >= quota.submissions {
                return Err(full("number of submissions", quota.submissions));
            }
            if usage.bytes.saturating_add(bytes) > quota.bytes {
                return Err(full("bytes", quota.bytes));
            }
        }
        self.change(kind, |usage| {
            usage.submissions += 1;
            usage.bytes += bytes;
        });
        Ok(())
    }

    /// Takes a submission out; whether it is remembered.
    pub(super) fn end(&mut self, kind: &str, bytes: u64, remembered: bool) {
        self.change(kind, |usage| {
            usage.submissions = usage.submissions.saturating_sub(1);
            usage.bytes = usage.bytes.saturating_sub(bytes);
            usage.remembered += u64::from(remembered);
        });
    }
}
