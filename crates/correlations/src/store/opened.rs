//! A store's header, read and perhaps locked, and what is read by it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::chunks::Reader;
use super::error::{Result, StoreError};
use super::files::{self, HEADER, JOURNAL, PARTIAL};
use super::key::{Keys, StoreKey};
use super::records::{Header, Marks, Place};
use crate::kind::Kind;

/// What does not change while a store is open.
pub(super) struct Opened {
    pub(super) directory: PathBuf,
    pub(super) header: Header,
    pub(super) keys: Keys,
    /// The header, locked.
    _lock: File,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {}", self.header.id, self.directory.display())
    }
}

impl Opened {
    pub(super) fn new(directory: &Path, key: &StoreKey, lock: bool) -> Result<Self> {
        let file = open_header(directory, lock)?;
        if lock {
            file.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => StoreError::InUse,
                TryLockError::Error(source) => StoreError::io("lock", HEADER)(source),
            })?;
        }
        let (header, keys) = Header::open(&files::read_from(&file, HEADER)?, key)?;
        let place = Place::of(directory).map_err(StoreError::io("read", "."))?;
        if place != header.place {
            return Err(StoreError::Copied);
        }
        Ok(Self {
            directory: directory.into(),
            header,
            keys,
            _lock: file,
        })
    }

    pub(super) fn marks(&self) -> Result<Marks> {
        let bytes = files::read(&self.directory, JOURNAL)?;
        let bytes = bytes.ok_or_else(|| StoreError::damaged(JOURNAL, "it is missing"))?;
        Marks::open(&bytes, &self.header, &self.keys)
    }

    pub(super) fn reader(&self, kind: Kind) -> Result<Reader> {
        let count = self.header.holds.of(kind) as u64;
        Reader::new(&self.directory, &self.header, &self.keys, kind, count)
    }
}

/// The header, writable where it is to be locked: some network file systems ask for that.
fn open_header(directory: &Path, lock: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(lock).open(directory.join(HEADER));
    opened.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound if directory.join(PARTIAL).exists() => StoreError::Incomplete,
        io::ErrorKind::NotFound => StoreError::Missing,
        _ => StoreError::io("read", HEADER)(source),
    })
}
