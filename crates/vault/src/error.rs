//! Errors of vaults.

use std::io;
use std::path::PathBuf;

use madrigal_core::chain::PIECE as PIECE_BYTES;

/// Errors of a vault. An operation that gives an error has changed nothing, unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// There is no key file.
    #[error("there is no key of the vault at {}: make one, `(umask 077; openssl rand -hex 32 > {})`, and keep a copy where the vault is not", path.display(), path.display())]
    KeyMissing {
        /// The file.
        path: PathBuf,
    },
    /// Others than the owner can read the key file.
    #[error("the key of the vault, {}, can be read by others than its owner (mode {mode:o}): `chmod 600` it, and think whether somebody has read it", path.display())]
    KeyReadable {
        /// The file.
        path: PathBuf,
        /// Mode of the file.
        mode: u32,
    },
    /// The key file holds no key.
    #[error("{} holds no key of a vault, which is 32 bytes or 64 hexadecimal digits: `openssl rand -hex 32` prints one", path.display())]
    KeyDamaged {
        /// The file.
        path: PathBuf,
    },
    /// The key file cannot be read or written.
    #[error("the key of the vault, {}, cannot be read or written: {source}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Reason of the operating system.
        source: io::Error,
    },
    /// The vault is under another key.
    #[error(
        "the vault was made under another key: give the key file that it was made with; without that, what it holds is lost"
    )]
    WrongKey,
    /// The file is no vault of this version.
    #[error(
        "the file is no vault of this version (it says {found}, and 1 is expected): give another file, or the version of Madrigal that made it"
    )]
    Version {
        /// Version that the file says.
        found: String,
    },
    /// Another process has the file.
    #[error(
        "another process has the vault open: one server uses it, and no other program meanwhile"
    )]
    InUse,
    /// A value was changed, moved or damaged.
    #[error(
        "a value of the vault is damaged, or was changed or moved ({table}, {key}): restore a copy of the vault"
    )]
    Damaged {
        /// Table of the file.
        table: &'static str,
        /// Key, in hexadecimal digits.
        key: String,
    },
    /// The disk gave an error, and the vault has stopped: what it has acknowledged is there when it is opened again.
    #[error(
        "the vault has stopped: {reason}. See to the disk (space, permissions, health), then start again; what was acknowledged is kept"
    )]
    Stopped {
        /// Reason of the disk or the file.
        reason: String,
    },
    /// The operating system gave no randomness, or the library for ciphers refused.
    #[error(
        "the cryptographic library failed: restart, and if that does not help, repair the system"
    )]
    Cryptography,
    /// A submission breaks a bound.
    #[error("the {field} of a submission has {came} bytes, and {least} to {most} are allowed")]
    Length {
        /// Name of the field.
        field: &'static str,
        /// Bytes that came.
        came: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A name has characters that none has.
    #[error("the {field} of a submission has control characters: names are printable text")]
    Name {
        /// Name of the field.
        field: &'static str,
    },
    /// Another submission has this id.
    #[error(
        "there is a submission with this id whose {field} is another: an id is drawn anew for each submission"
    )]
    Conflict {
        /// Name of the first field that differs.
        field: &'static str,
    },
    /// There is no such submission.
    #[error("there is no submission with this id: begin it first")]
    NoSubmission,
    /// The submission expired, or never may come: one server lacks it, or it was begun too long ago.
    #[error("the submission has expired: submit the values again under a new id")]
    Expired,
    /// A piece does not go on where the body ends.
    #[error("a piece at offset {came} came, and the body goes on at {expected}")]
    Offset {
        /// Offset of the next piece.
        expected: u64,
        /// Offset that came.
        came: u64,
    },
    /// A piece is too short or too long.
    #[error(
        "a piece of {came} bytes came where one of {expected} is next: all but the last have {PIECE_BYTES}"
    )]
    PieceLength {
        /// Bytes of the next piece.
        expected: u64,
        /// Bytes that came.
        came: u64,
    },
    /// The body is not complete.
    #[error("the body has {received} of its {length} bytes: send the rest first")]
    Incomplete {
        /// Bytes that are there.
        received: u64,
        /// Bytes of the whole.
        length: u64,
    },
    /// The body has another digest than was announced. What came of the body is dropped.
    #[error(
        "header and body have another digest than was announced: send the body again from offset 0"
    )]
    Digest,
    /// There is no room.
    #[error(
        "the vault has no room for this submission: {what} would pass {limit}. Try again later, or ask the server's operator"
    )]
    Full {
        /// Name of what would be too many.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// An account has its share.
    #[error(
        "{} would have more than {limit} as the {what}, and that is the most here: bring more once some of these have been computed on, or ask the server's operator for more room", of_account(.account)
    )]
    Share {
        /// The account, or nothing for all that have none.
        account: String,
        /// Name of what would be too many.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A record of the agreement contradicts the vault.
    #[error("a record of kind {kind} does not fit the vault: {reason}")]
    Contradiction {
        /// Kind of jobs.
        kind: String,
        /// Reason, in words.
        reason: String,
    },
    /// There is no such result.
    #[error(
        "there is no result {name} of batch {n} of kind {kind}: it has not ended, it failed, or its time is over"
    )]
    NoResult {
        /// Kind of jobs.
        kind: String,
        /// Number of the batch.
        n: u64,
        /// Name of the output.
        name: String,
    },
    /// The body of a submission is gone.
    #[error(
        "the body of the submission is not there: it is not complete yet, or the submission has ended"
    )]
    NoBody,
}

/// An account, in words.
fn of_account(account: &str) -> String {
    match account.is_empty() {
        true => "clients that are not known by a key or a token".to_owned(),
        false => format!("client {account}"),
    }
}

impl VaultError {
    /// The disk's errors, and those of the file.
    pub(crate) fn stopped(error: impl Into<redb::Error>) -> Self {
        let reason = error.into().to_string();
        Self::Stopped { reason }
    }

    /// Reasons why a file is not opened.
    pub(crate) fn not_opened(error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Self::InUse,
            other => Self::stopped(other),
        }
    }

    /// Whether the transaction that it came from is not to be committed.
    pub(crate) fn stops(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }
}

macro_rules! from_redb {
    ($($error:ident)*) => {$(
        impl From<redb::$error> for VaultError {
            fn from(error: redb::$error) -> Self {
                Self::stopped(error)
            }
        }
    )*};
}
from_redb!(StorageError TableError TransactionError CommitError CompactionError);

pub(crate) type Result<T> = std::result::Result<T, VaultError>;
