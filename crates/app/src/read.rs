//! Files that flags name. Each is read once, so that it may be a pipe, and up to a limit.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use madrigal_core::budget::Size;

use crate::failure::{Failure, Result};

/// The most bytes that are read of a file.
const MOST: u64 = 1 << 34;

/// Reads a file that the user has named: a regular one, a pipe, or what is typed. A device never ends.
///
/// # Errors
/// [`Failure`]: a file that cannot be read, is of another kind, or is longer than 16 GiB or than what memory is left.
pub fn read_file(action: &'static str, path: &Path) -> Result<Vec<u8>> {
    read_at_most(path, MOST).map_err(Failure::file(action, path))
}

/// Reads standard input to its end, up to the same limit as a file.
pub(crate) fn read_standard_input(action: &'static str) -> Result<Vec<u8>> {
    let read = up_to(&mut io::stdin().lock(), 0, MOST);
    read.map_err(Failure::file(action, Path::new("-")))
}

fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    let mut file = File::open(path)?;
    if is_device(&found) && !file.is_terminal() {
        return Err(io::Error::other(
            "it is a device, and what it gives may never end: copy a part into a file",
        ));
    }
    let length = if found.is_file() { found.len() } else { 0 };
    up_to(&mut file, length, most)
}

#[cfg(unix)]
fn is_device(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = found.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

/// Reads to the end, where `length` bytes are expected, and refuses more than `most`.
fn up_to(from: &mut dyn io::Read, length: u64, most: u64) -> io::Result<Vec<u8>> {
    let long = || {
        let told = format!("it has more than {}: split it", Size(most));
        io::Error::other(told)
    };
    if length > most {
        return Err(long());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize)?;
    from.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(long()),
        false => Ok(bytes),
    }
}
