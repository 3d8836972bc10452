//! Failures of matching alone; the others are in `madrigal_app::failure`.

use madrigal_app::failure::{Fault, Status};
use madrigal_lists::ListError;
use madrigal_matched::PayloadError;
use madrigal_psi::PsiError;

use crate::ledger::LedgerError;

/// Reasons why lists are not matched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unmatched {
    /// A list that cannot be read, or written.
    #[error(transparent)]
    List(#[from] ListError),
    /// A plan that cannot be made.
    #[error("{0}")]
    Plan(#[from] PsiError),
    /// Payloads whose sums may not fit.
    #[error("--payload: {0}")]
    Payload(#[from] PayloadError),
    /// A query that is not answered.
    #[error("--ledger: {0}")]
    Ledger(#[from] LedgerError),
    /// Flags that do not go together.
    #[error("{0}")]
    Flags(String),
    /// A list that is too long.
    #[error(
        "a list of {keys} different keys, or a --bound of as many: the most are {most}; match parts of it"
    )]
    TooLong {
        /// Different keys, or their bound.
        keys: u64,
        /// The most that a list may have.
        most: u64,
    },
    /// A list that is longer than it was said to be.
    #[error(
        "--bound {bound}: the list has {keys} different keys; give a larger bound, the other party learns it in place of the number of keys"
    )]
    Bound {
        /// Different keys.
        keys: u64,
        /// Bound that was given.
        bound: u64,
    },
}

impl Fault for Unmatched {
    fn status(&self) -> Status {
        match self {
            Self::List(_)
            | Self::Ledger(LedgerError::File { .. } | LedgerError::Content { .. }) => Status::File,
            Self::Plan(PsiError::Bug(_)) => Status::Internal,
            _ => Status::Usage,
        }
    }
}
