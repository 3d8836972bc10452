//! How batches end, and how long what is told of them may be.

/// The most ids of a proposal.
pub const MAX_IDS: usize = 1_000_000;
/// The most overdue ids that a follower tells of at once; the others wait for the next proposal.
pub const MAX_OVERDUE: usize = 4096;
/// The most bytes of a reason.
pub const MAX_REASON: usize = 1024;

/// How a batch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The results of this run count, at all servers.
    Final {
        /// Number of the run, from 1.
        run: u32,
    },
    /// There are no results, and there will be none.
    Failed {
        /// Reason, in words; [`MAX_REASON`] bytes at most.
        reason: String,
    },
}

/// A reason of [`MAX_REASON`] bytes at most: cut between two characters if it is longer.
pub fn shortened(reason: &str) -> String {
    let mut end = reason.len().min(MAX_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].to_owned()
}
