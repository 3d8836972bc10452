//! Contradictions between servers: what stops a kind.

use madrigal_core::{Digest256, Party};

use super::outcome::Outcome;

/// Contradictions between two servers' disks, which cannot both be right. Nothing is guessed: the kind stands still until an operator has decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// A follower is ahead of the leader.
    #[error(
        "{follower} has ended batch {theirs} of kind {kind}, and this server, which leads, has ended batch {ours} last: this server's vault is older than it was. \
         Restore the newest copy of it; if there is none, all servers begin the kind anew under another name"
    )]
    Ahead {
        /// Kind of jobs.
        kind: String,
        /// Who is ahead.
        follower: Party,
        /// Last batch that it ended.
        theirs: u64,
        /// Last batch that the leader ended.
        ours: u64,
    },
    /// A follower is further behind than a follower can be.
    #[error(
        "{follower} has ended batch {theirs} of kind {kind} last, and this server, which leads, batch {ours}: that server's vault is older than it was. \
         Its operator restores the newest copy of it; if there is none, all servers begin the kind anew under another name"
    )]
    Behind {
        /// Kind of jobs.
        kind: String,
        /// Who is behind.
        follower: Party,
        /// Last batch that it ended.
        theirs: u64,
        /// Last batch that the leader ended.
        ours: u64,
    },
    /// One batch ended in two ways, or consists of two lists.
    #[error(
        "batch {n} of kind {kind} is {theirs} at {follower} and {ours} at this server, which leads: one of the two vaults is not the one that took part. \
         The operators compare copies of both before any server goes on"
    )]
    Differs {
        /// Kind of jobs.
        kind: String,
        /// With whom.
        follower: Party,
        /// Number of the batch.
        n: u64,
        /// State of the batch there.
        theirs: String,
        /// State of the batch here.
        ours: String,
    },
    /// A follower lacks the results of a run that counts.
    #[error(
        "{follower} has no results of run {run} of batch {n} of kind {kind}, which is final at this server, which leads: that server's vault is older than it was. \
         Its operator restores the newest copy of it; if there is none, all servers begin the kind anew under another name"
    )]
    Lost {
        /// Kind of jobs.
        kind: String,
        /// Who lacks them.
        follower: Party,
        /// Number of the batch.
        n: u64,
        /// Run that counts.
        run: u32,
    },
    /// A follower has prepared a batch, or done a run of it, that the leader does not know.
    #[error(
        "{follower} has {what} of kind {kind}, which this server, which leads, never wrote down: this server's vault is older than it was. \
         Restore the newest copy of it; if there is none, all servers begin the kind anew under another name"
    )]
    Unknown {
        /// Kind of jobs.
        kind: String,
        /// Who has it.
        follower: Party,
        /// Batch or results that it has.
        what: String,
    },
    /// A message that no server of this version sends here.
    #[error(
        "{from} sent {came} of kind {kind} where {expected} was expected: the servers do not run the same version, or one of the vaults is not the one that took part. \
         The operators compare versions, then copies of both vaults"
    )]
    Order {
        /// Kind of jobs.
        kind: String,
        /// Sender.
        from: Party,
        /// Name of what came.
        came: String,
        /// Name of what can come.
        expected: String,
    },
    /// A record contradicts the vault of this server.
    #[error(
        "this server's vault does not take the next record of kind {kind}: {reason}. If somebody has changed the vault or put back an older copy, restore the newest one"
    )]
    Disk {
        /// Kind of jobs.
        kind: String,
        /// Reason of the vault.
        reason: String,
    },
    /// Another server stopped the kind.
    #[error("{by} has stopped kind {kind}: {reason}. Its operator decides what happens")]
    Halted {
        /// Kind of jobs.
        kind: String,
        /// Who stopped it.
        by: Party,
        /// Reason of the leader.
        reason: String,
    },
}

/// A batch in words.
pub(super) fn described(digest: &Digest256, outcome: Option<&Outcome>) -> String {
    match outcome {
        None => format!("prepared with submissions {digest}"),
        Some(Outcome::Final { run }) => {
            format!("final by run {run} with submissions {digest}")
        }
        Some(Outcome::Failed { .. }) => format!("failed with submissions {digest}"),
    }
}
