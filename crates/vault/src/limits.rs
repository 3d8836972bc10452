//! Limits of a vault, and what is used of them.

use std::collections::BTreeMap;

/// Bounds of what is kept at once. What has ended counts no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The most submissions.
    pub submissions: u64,
    /// The most bytes of headers and bodies, each submission with [`Quota::EACH`] more. Bodies count whole from when they are begun.
    pub bytes: u64,
}

impl Quota {
    /// Bytes that a submission counts beside header and body: about what it takes on disk.
    pub const EACH: u64 = 512;

    /// No bounds.
    pub const ANY: Self = Self {
        submissions: u64::MAX,
        bytes: u64::MAX,
    };
}

/// Bounds of what submissions of some accounts take up at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// For each account.
    pub each: Quota,
    /// For all together that have no account.
    pub strangers: Quota,
}

impl Shares {
    /// No bounds.
    pub const ANY: Self = Self {
        each: Quota::ANY,
        strangers: Quota::ANY,
    };

    /// Bounds of an account.
    pub(crate) fn of(&self, account: &str) -> Quota {
        match account.is_empty() {
            true => self.strangers,
            false => self.each,
        }
    }
}

/// Bounds of a vault.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For all kinds together.
    pub all: Quota,
    /// For each kind that is not in `kinds`.
    pub kind: Quota,
    /// For certain kinds.
    pub kinds: BTreeMap<String, Quota>,
    /// For accounts, in all kinds together.
    pub shares: Shares,
    /// For accounts in certain kinds.
    pub shares_of: BTreeMap<String, Shares>,
    /// The most bytes of results with which submissions are still taken. Those of batches that are under way come on top.
    pub results: u64,
    /// The most submissions that have ended and are remembered with which others are still taken; a quarter of them of one account, and half of them
    /// of those who have none.
    pub remembered: u64,
    /// The most operations that wait for the disk; callers wait for room beyond that.
    pub waiting: usize,
    /// The most bytes that operations that wait have with them.
    pub waiting_bytes: usize,
    /// Memory for pages of the file, in bytes.
    pub cache_bytes: usize,
}

impl Default for Limits {
    /// 10 million submissions and 64 GiB, any share of which may be of one account, no bounds of results and of what is remembered, 4096 operations
    /// and 64 MiB waiting, a cache of 64 MiB.
    fn default() -> Self {
        let all = Quota {
            submissions: 10_000_000,
            bytes: 64 << 30,
        };
        Self {
            all,
            kind: all,
            kinds: BTreeMap::new(),
            shares: Shares::ANY,
            shares_of: BTreeMap::new(),
            results: u64::MAX,
            remembered: u64::MAX,
            waiting: 4096,
            waiting_bytes: 64 << 20,
            cache_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// Bounds of a kind.
    pub(crate) fn of(&self, kind: &str) -> Quota {
        self.kinds.get(kind).copied().unwrap_or(self.kind)
    }

    /// Bounds of an account in a kind.
    pub(crate) fn of_account(&self, kind: &str, account: &str) -> Quota {
        let shares = self.shares_of.get(kind).unwrap_or(&Shares::ANY);
        shares.of(account)
    }

    /// The most submissions of an account that have ended and are remembered.
    pub(crate) fn remembered_of(&self, account: &str) -> u64 {
        match account.is_empty() {
            true => self.remembered / 2,
            false => self.remembered / 4,
        }
    }
}

/// Use of a kind, or of all kinds together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Submissions that are received, accepted or in a batch.
    pub submissions: u64,
    /// Their bytes, as a [`Quota`] counts them.
    pub bytes: u64,
    /// Submissions that have ended and are remembered.
    pub remembered: u64,
    /// Bytes of results.
    pub results: u64,
    /// Submissions that are accepted and in no batch.
    pub waiting: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, other: &Self) {
        self.submissions += other.submissions;
        self.bytes += other.bytes;
        self.remembered += other.remembered;
        self.results += other.results;
        self.waiting += other.waiting;
    }
}
