//! States of a submission at a server.

use crate::check::{shortened, words};
use crate::error::WireError;
use crate::limits::MAX_BODY;
use crate::schema;

/// State of a submission at one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The server has no such submission.
    Unknown,
    /// It is being uploaded.
    Receiving {
        /// Bytes that have come.
        offset: u64,
    },
    /// It is on the server's disk.
    Accepted,
    /// It is on the server's disk, and a server's policy lets no batch begin now.
    Held {
        /// Reason in words, with the server's number.
        reason: String,
    },
    /// It is in a batch whose job has not ended.
    InBatch {
        /// Number of the batch.
        batch: u64,
    },
    /// A job has counted it.
    Counted {
        /// Number of the batch.
        batch: u64,
    },
    /// The job that counted on it failed.
    Failed {
        /// Number of the batch.
        batch: u64,
        /// Reason in words.
        reason: String,
    },
    /// It was not complete at all servers in time.
    Expired,
}

impl State {
    /// Whether it stays as it is.
    pub const fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Counted { .. } | Self::Failed { .. } | Self::Expired
        )
    }

    pub(crate) fn checked(state: schema::State) -> Result<Self, WireError> {
        let batch = state.batch;
        Ok(match (state.state, batch) {
            (1, 0) => Self::Unknown,
            (2, 0) if state.offset <= MAX_BODY => Self::Receiving {
                offset: state.offset,
            },
            (3, 0) if state.reason.is_empty() => Self::Accepted,
            (3, 0) => Self::Held {
                reason: words(state.reason, "words that are too long or cannot be shown")?,
            },
            (4, 1..) => Self::InBatch { batch },
            (5, 1..) => Self::Counted { batch },
            (6, 1..) => Self::Failed {
                batch,
                reason: words(state.reason, "words that are too long or cannot be shown")?,
            },
            (7, 0) => Self::Expired,
            _ => return Err(WireError::Field("a state that no submission has")),
        })
    }

    pub(crate) fn sent(&self, number: u64) -> schema::State {
        let (state, batch) = match self {
            Self::Unknown => (1, 0),
            Self::Receiving { .. } => (2, 0),
            Self::Accepted | Self::Held { .. } => (3, 0),
            Self::InBatch { batch } => (4, *batch),
            Self::Counted { batch } => (5, *batch),
            Self::Failed { batch, .. } => (6, *batch),
            Self::Expired => (7, 0),
        };
        schema::State {
            number,
            state,
            batch,
            offset: match self {
                Self::Receiving { offset } => *offset,
                _ => 0,
            },
            reason: match self {
                Self::Failed { reason, .. } | Self::Held { reason } => shortened(reason),
                _ => String::new(),
            },
        }
    }
}
