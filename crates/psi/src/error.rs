//! Errors, all of which are of the plan: what goes wrong on the way is an error of the job.

use madrigal_psi_bins::BinsError;

/// Reasons why lists cannot be matched as asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PsiError {
    /// Partitions have more keys than one can have.
    #[error(
        "{partitions} partitions of up to {keys} keys were asked for, and one has {most} at most: take more partitions"
    )]
    TooLarge {
        /// Keys that a partition would have.
        keys: u64,
        /// Keys that one may have.
        most: u64,
        /// Partitions asked for.
        partitions: usize,
    },
    /// Lists that do not fit into bins.
    #[error(transparent)]
    Bins(#[from] BinsError),
    /// A bug here.
    #[error("a bug in madrigal: {0}")]
    Bug(String),
}
