//! A store's header, read and perhaps locked, and what is read by it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::chunks::Reader;
use crate::error::{Result, StoreError};
use crate::files::{self, HEADER, JOURNAL, PARTIAL};
use crate::key::{Keys, StoreKey};
use crate::records::{Header, Marks, Place};
use madrigal_correlations::Kind;

/// Parts of a store that do not change while it is open.
pub(crate) struct Opened {
    pub(crate) directory: PathBuf,
    pub(crate) header: Header,
    pub(crate) keys: Keys,
    /// The header, locked.
    _lock: File,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {}", self.header.id, self.directory.display())
    }
}

impl Opened {
    pub(crate) fn new(directory: &Path, key: &StoreKey, lock: bool) -> Result<Self> {
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

    pub(crate) fn marks(&self) -> Result<Marks> {
        let bytes = files::read(&self.directory, JOURNAL)?;
        let bytes = bytes.ok_or_else(|| StoreError::damaged(JOURNAL, "it is missing"))?;
        Marks::open(&bytes, &self.header, &self.keys)
    }

    pub(crate) fn reader(&self, kind: Kind) -> Result<Reader> {
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
