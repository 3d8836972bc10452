//! Errors of stores. No message names the directory: some of them go to the other
//! parties, who have no business to know it.

use std::io;
use std::path::PathBuf;

use madrigal_core::Party;
use madrigal_net::{Context, Error};

use crate::id::StoreId;
use madrigal_correlations::Kind;

/// Why a store, or its key, cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} its file `{file}`: {source}; check the directory and its permissions")]
    Io {
        /// Action that was tried.
        action: &'static str,
        /// The file in the store, or `.` for the directory.
        file: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// No header.
    #[error("there is no store in the directory; make one")]
    Missing,
    /// The parties have not all said that they have everything on disk.
    #[error(
        "it is incomplete, because making it did not end; remove the directory at all parties and make a new one"
    )]
    Incomplete,
    /// A new store where something is already.
    #[error("the directory is not empty, and nothing is overwritten; remove it or give another")]
    Exists,
    /// Another process has it open.
    #[error("another job uses this store; wait for its end, or use another store")]
    InUse,
    /// Made by another version.
    #[error("it has format version {found}, this program reads version {ours}; make a new one")]
    Version {
        /// The store's.
        found: u32,
        /// This program's.
        ours: u32,
    },
    /// The header does not authenticate.
    #[error(
        "its file `header` is damaged, or the store key is another than it was made with; give the right key, or make a new store at all parties"
    )]
    Header,
    /// A file is not what was written.
    #[error("its file `{file}` is damaged ({what}); make a new store at all parties")]
    Damaged {
        /// The file in the store.
        file: String,
        /// Damage that was found.
        what: &'static str,
    },
    /// The directory is another than the one that was made.
    #[error(
        "it was copied or restored from elsewhere, so its marks of what is used may be old; make a new one at all parties, and move a store only by renaming its directory"
    )]
    Copied,
    /// Another party's store.
    #[error(
        "it belongs to party {found} of {parties}, and this is party {me} of {session}; give each party the directory that it made"
    )]
    Party {
        /// Party whose store it is.
        found: usize,
        /// Parties it was made by.
        parties: usize,
        /// This party.
        me: usize,
        /// Parties there are.
        session: usize,
    },
    /// The parties do not use the same.
    #[error(
        "{peer} uses store {theirs} and we use {ours}; give each party the directory that it made together with the others"
    )]
    OtherStore {
        /// Who uses another.
        peer: Party,
        /// The store there.
        theirs: StoreId,
        /// The store here.
        ours: StoreId,
    },
    /// The parties do not make the same.
    #[error("{peer} makes another store than we do; ask for the same at all parties")]
    Differs {
        /// Who makes another.
        peer: Party,
    },
    /// Too few items of a kind are left.
    #[error(
        "{needed} `{kind}` are needed and {left} of {made} are left; make a new store that has enough: {kind}={needed}"
    )]
    Few {
        /// The kind.
        kind: Box<Kind>,
        /// Items needed.
        needed: u64,
        /// Items left.
        left: u64,
        /// Items that the store was made with.
        made: u64,
    },
    /// A job asks for more than it has reserved.
    #[error(
        "{asked} `{kind}` are asked for and {left} are left of those that this job has reserved; name all that it uses in the needs that it reserves"
    )]
    Unreserved {
        /// The kind.
        kind: Box<Kind>,
        /// Items asked for.
        asked: u64,
        /// Items left of those reserved.
        left: u64,
    },
    /// A store of nothing, of more than can be counted, or of items that are too large, such as matrices.
    #[error(
        "a store holds from one item to 2^60 bytes of them, and each item has 2^34 bytes at most; ask for another number or smaller ones"
    )]
    Size,
    /// No key file.
    #[error("the store key {} does not exist; it is made with the store; give the right one", path.display())]
    KeyMissing {
        /// The key file.
        path: PathBuf,
    },
    /// Others than the owner can get at the key.
    #[error("the store key {} is open to other users (mode {mode:04o}, expected 0600); run `chmod 600 {}`, and make a new store with a new key if others may have read it", path.display(), path.display())]
    KeyReadable {
        /// The key file.
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// Not a key.
    #[error("{} holds no store key (64 hexadecimal digits); restore it, or take another and make a new store", path.display())]
    KeyDamaged {
        /// The key file.
        path: PathBuf,
    },
    /// The key file cannot be read or written.
    #[error("cannot {action} the store key {}: {source}; check the path and its permissions", path.display())]
    KeyFile {
        /// Action that was tried.
        action: &'static str,
        /// The key file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The cryptographic library refused.
    #[error(
        "the cryptographic library refused to work; this is a fault of this machine or program, not of your input"
    )]
    Cryptography,
}

impl StoreError {
    pub(crate) fn io(action: &'static str, file: &str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io {
            action,
            file,
            source,
        }
    }

    pub(crate) fn damaged(file: &str, what: &'static str) -> Self {
        Self::Damaged {
            file: file.to_owned(),
            what,
        }
    }

    /// Fails the job, and returns the error. Not what the job may have failed with already: where two
    /// parties find the same, one may have left before the other says so.
    pub(crate) fn fail(&self, context: &Context) -> Error {
        let error = self.told();
        context.fail(error.clone());
        error
    }

    /// As an error of a job.
    pub(crate) fn told(&self) -> Error {
        Error::Store {
            problem: self.to_string(),
        }
    }
}

/// Outcome of what concerns one store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;
