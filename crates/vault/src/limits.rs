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
    /// The most operations that wait for the disk; callers wait for room beyond that.
    pub waiting: usize,
    /// The most bytes that operations that wait have with them.
    pub waiting_bytes: usize,
    /// Memory for pages of the file, in bytes.
    pub cache_bytes: usize,
}

impl Default for Limits {
    /// 10 million submissions and 64 GiB, 4096 operations and 64 MiB waiting, a cache of 64 MiB.
    fn default() -> Self {
        let all = Quota {
            submissions: 10_000_000,
            bytes: 64 << 30,
        };
        Self {
            all,
            kind: all,
            kinds: BTreeMap::new(),
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
