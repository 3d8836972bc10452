//! Files that are locked, and removed by who holds them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Times that a lock is looked for whose file others remove meanwhile.
const TRIES: usize = 16;

/// Makes a file and locks it; gives nothing if another one holds it. The file may be removed as long as it is held: a lock of a file that is not in its
/// place any more keeps nobody away, and counts for nothing.
///
/// # Errors
/// Errors of the system.
pub(crate) fn take(path: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for _ in 0..TRIES {
        let lock = options.open(path)?;
        match lock.try_lock() {
            Ok(()) if is_at(&lock, path)? => return Ok(Some(lock)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        #[cfg(unix)]
        Ok(found) => {
            use std::os::unix::fs::MetadataExt as _;
            let own = file.metadata()?;
            Ok((own.dev(), own.ino()) == (found.dev(), found.ino()))
        }
        // Systems without such numbers do not remove a file that is open.
        #[cfg(not(unix))]
        Ok(_) => Ok(file.metadata().is_ok()),
    }
}
