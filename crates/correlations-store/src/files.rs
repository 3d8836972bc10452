//! Files that are on disk when a function returns.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::{Result, StoreError};

pub(crate) const HEADER: &str = "header";
/// The header while the store is being made.
pub(crate) const PARTIAL: &str = "header.partial";
pub(crate) const JOURNAL: &str = "journal";
pub(crate) const NEW_JOURNAL: &str = "journal.new";
/// No header and no journal is as long.
const MAX_BYTES: u64 = 1 << 20;

/// Has the names in a directory on disk, where the system can.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}

/// A new file that others cannot read.
pub(crate) fn create(directory: &Path, name: &str) -> Result<File> {
    private()
        .create_new(true)
        .open(directory.join(name))
        .map_err(StoreError::io("make", name))
}

/// For writing what others cannot read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Replaces the journal: after a crash at any moment there is the old one or the new one, whole;
/// after the return there is the new one.
pub(crate) fn replace_journal(directory: &Path, bytes: &[u8]) -> Result<()> {
    let new = directory.join(NEW_JOURNAL);
    let write = || {
        // Remains of a crash are overwritten: nobody has relied on it.
        let mut file = private().create(true).truncate(true).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, directory.join(JOURNAL))?;
        sync_directory(directory)
    };
    write().map_err(StoreError::io("write", JOURNAL))
}

/// A small file, whole; `None` if there is no such file.
pub(crate) fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let file = match File::open(directory.join(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", name)(error)),
    };
    read_from(&file, name).map(Some)
}

pub(crate) fn read_from(file: &File, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(StoreError::io("read", name))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(StoreError::damaged(name, "it is far too long"));
    }
    Ok(bytes)
}
