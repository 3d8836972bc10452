//! Failures of matching alone; the others are in `madrigal_app::failure`.

use std::path::PathBuf;

use madrigal_app::failure::{Failure, Fault, Status};
use madrigal_lists::ListError;
use madrigal_net::{Context, Error};
use madrigal_psi::PsiError;
use madrigal_psi_programs::KeyedError;

use crate::ledger::LedgerError;
use crate::many::TooMany;
use crate::state::StateError;

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
    /// Lists of many parties that are too long.
    #[error(transparent)]
    Many(#[from] TooMany),
    /// A plan for many parties that cannot be made.
    #[error("{0}")]
    Keyed(#[from] KeyedError),
    /// Payloads whose sums may not fit.
    #[error(
        "--payload: a payload is further from 0 than {most} units of the last place, and sums of {keys} of them have 64 bits: give fewer --places, or leave out its row"
    )]
    Payload {
        /// Keys of the list, or its bound.
        keys: u64,
        /// The greatest payload.
        most: i64,
    },
    /// A query that is not answered.
    #[error("--ledger: {0}")]
    Ledger(#[from] LedgerError),
    /// A run that does not go on, or keeps no state.
    #[error("--state {0}")]
    State(#[from] StateError),
    /// A run that was lost, and goes on.
    #[error(
        "{failure}; {kept} in {}: the same command at both parties goes on from there", folder.display()
    )]
    Lost {
        /// Failure of the run.
        failure: Box<Failure>,
        /// Parts of the run that are kept, in words.
        kept: String,
        /// The directory.
        folder: PathBuf,
    },
    /// Flags that do not go together.
    #[error("{0}")]
    Flags(String),
    /// A list that is too long.
    #[error(
        "our list has {keys} different keys, or a --bound of as many, and {most} can be matched at a time: match parts of it"
    )]
    TooLong {
        /// Different keys, or their bound.
        keys: u64,
        /// The most that a list may have.
        most: u64,
    },
    /// A list of the other party's that is longer than is accepted.
    #[error(
        "the other party's list has {keys} different keys, or is said to, and {most} are accepted (--most): have it match parts of it, or raise that"
    )]
    OtherTooLong {
        /// Different keys, or their bound.
        keys: u64,
        /// The most that its list may have.
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
            Self::State(
                StateError::File { .. }
                | StateError::Open { .. }
                | StateError::Content { .. }
                | StateError::Changed { .. },
            ) => Status::File,
            Self::State(StateError::OtherHasNone { .. }) => Status::Peer,
            Self::Lost { failure, .. } => failure.status(),
            Self::Plan(PsiError::Bug(_)) | Self::Keyed(KeyedError::Graph(_)) => Status::Internal,
            _ => Status::Usage,
        }
    }
}

/// Ends the job for both parties. The other one is not told why: it may be about the list.
pub(crate) fn give_up(context: &Context, why: impl Into<Unmatched>) -> Failure {
    context.fail(Error::Ended {
        reason: "its list cannot be matched as it is".to_owned(),
    });
    why.into().into()
}
