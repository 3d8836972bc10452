//! Submissions, and how one stands in a vault.

use crate::error::{Result, VaultError};
use madrigal_core::Zeroizing;
use madrigal_core::chain::{Chain, PIECE as PIECE_BYTES};

/// Name of a submission: 32 random bytes that its client drew, the same at all servers.
pub type Id = [u8; 32];

/// Header and body of a submission.
pub type Content = (Vec<u8>, Zeroizing<Vec<u8>>);

/// The most bytes of a header.
pub const MAX_HEADER: usize = 16 << 10;
/// The most bytes of the name of a kind or of a client.
pub const MAX_NAME: usize = 64;
/// The most bytes of a body: pieces have numbers of 32 bits.
const MAX_LENGTH: u64 = PIECE_BYTES as u64 * u32::MAX as u64;

/// Announcement of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Name, drawn by the client.
    pub id: Id,
    /// Kind of jobs, 1 to [`MAX_NAME`] bytes.
    pub kind: String,
    /// Name of the client, [`MAX_NAME`] bytes at most.
    pub client: String,
    /// Account that the submission counts in, [`MAX_NAME`] bytes at most. It is empty for clients that have proved nothing, who share one.
    pub account: String,
    /// Public facts about the body, [`MAX_HEADER`] bytes at most.
    pub header: Vec<u8>,
    /// Bytes of the body.
    pub length: u64,
    /// Digest of header and body: [`Chain`].
    pub digest: [u8; 32],
}

impl Submission {
    /// The announcement of a body that is there as a whole, in the account of its client.
    pub fn new(id: Id, kind: &str, client: &str, header: Vec<u8>, body: &[u8]) -> Self {
        let digest = Chain::digest(&header, body).0;
        Self {
            id,
            kind: kind.to_owned(),
            client: client.to_owned(),
            account: client.to_owned(),
            header,
            length: body.len() as u64,
            digest,
        }
    }

    /// Checks all bounds.
    pub(crate) fn check(&self) -> Result<()> {
        let name = |field, text: &str, least| {
            length(field, text.len() as u64, least, MAX_NAME as u64)?;
            if text.chars().any(char::is_control) {
                return Err(VaultError::Name { field });
            }
            Ok(())
        };
        name("kind", &self.kind, 1)?;
        name("client", &self.client, 0)?;
        name("account", &self.account, 0)?;
        length("header", self.header.len() as u64, 0, MAX_HEADER as u64)?;
        length("body", self.length, 0, MAX_LENGTH)
    }
}

pub(crate) fn length(field: &'static str, came: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&came) {
        return Ok(());
    }
    Err(VaultError::Length {
        field,
        came,
        least,
        most,
    })
}

/// How a submission stands at this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Pieces of it have come.
    Receiving {
        /// Offset of the next piece.
        offset: u64,
    },
    /// It is whole and on disk, and waits for a batch.
    Accepted,
    /// It is in a batch that has not ended.
    InBatch {
        /// Number of the batch.
        n: u64,
    },
    /// It is in the results of a batch. Its body is gone.
    Counted {
        /// Number of the batch.
        n: u64,
        /// Run whose results count.
        run: u32,
    },
    /// It was in a batch that failed. Its body is gone.
    Failed {
        /// Number of the batch.
        n: u64,
        /// Reason, in words.
        reason: String,
    },
    /// It never counts: one of the servers has not accepted it in time, and never will.
    Expired,
}

/// Facts about a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// How it stands.
    pub state: State,
    /// Kind of jobs; empty if the submission never came here.
    pub kind: String,
    /// Name of the client.
    pub client: String,
    /// Bytes of the body.
    pub length: u64,
    /// Digest of header and body.
    pub digest: [u8; 32],
    /// When it was accepted, in seconds of the caller's clock.
    pub accepted: Option<u64>,
}

/// How a submission goes on that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The next piece is the one at this offset; at the end of the body, [`Vault::accept`](crate::Vault::accept) is next.
    At(u64),
    /// It is accepted, since this moment, whatever became of it after that.
    Accepted {
        /// In seconds of the caller's clock.
        at: u64,
    },
}

/// Checks the lengths of a note and its name, which may be that of a kind with words before it.
pub(crate) fn fits_note(name: &str, bytes: usize) -> Result<()> {
    length("name of a note", name.len() as u64, 1, 2 * MAX_NAME as u64)?;
    length("note", bytes as u64, 0, PIECE_BYTES as u64)
}
