//! Files of a client: read with a bound, written so that a crash leaves the old one or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use madrigal_core::Zeroizing;
use madrigal_core::budget::open_regular;

use crate::error::ClientError;

/// The longest file that is read, in bytes: a receipt of 64 servers has less.
const MAX_FILE: u64 = 1 << 20;

/// Openness of a file to others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Readable by the owner alone.
    Private,
    /// Readable as the user says.
    Usual,
}

pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> ClientError {
    let path = path.to_owned();
    move |source| ClientError::Io {
        path: path.clone(),
        source,
    }
}

/// Reads a file; nothing if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, ClientError> {
    let (mut file, length) = match open_regular(path, MAX_FILE) {
        Ok(opened) => opened,
        Err(error) => {
            let error = io::Error::from(error);
            return match error.kind() {
                io::ErrorKind::NotFound => Ok(None),
                _ => Err(io(path)(error)),
            };
        }
    };
    let mut bytes = Zeroizing::new(Vec::with_capacity(length as usize + 1));
    file.read_to_end(&mut bytes).map_err(io(path))?;
    Ok(Some(bytes))
}

/// Refuses a file with secrets that others may read.
pub(crate) fn check_private(path: &Path) -> Result<(), ClientError> {
    #[cfg(unix)]
    {
        let metadata = fs::metadata(path).map_err(io(path))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(ClientError::File {
                path: path.to_owned(),
                what: format!(
                    "it is open to other users (mode {mode:04o}, expected 0600), and has the seed of shares: remove it and submit anew if others may have read it"
                ),
            });
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Writes or replaces a file. It is on disk when this returns, whole or, after a crash, not at all.
pub(crate) fn write(path: &Path, bytes: &[u8], mode: Mode) -> Result<(), ClientError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = written(&partial, bytes, mode)
        .and_then(|()| fs::rename(&partial, path))
        .and_then(|()| sync_folder(path));
    written.map_err(|error| {
        let _ = fs::remove_file(&partial);
        io(path)(error)
    })
}

fn written(partial: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    // One that a crash has left may be open to others.
    match fs::remove_file(partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if mode == Mode::Private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(partial)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Removes a file, on disk too.
pub(crate) fn remove(path: &Path) -> Result<(), ClientError> {
    match fs::remove_file(path).and_then(|()| sync_folder(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io(path)(error)),
        _ => Ok(()),
    }
}

/// A file's name is on disk once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
