//! Bounds on the memory that a file may make us take, and the one way in which files that others wrote are read.
//!
//! A file of a hundred bytes can ask for gigabytes: a tensor of 2^29 elements, one module that is called 2^28 times. So
//! whoever reads a file, and whoever makes something of it, takes the bytes off one [`Budget`] *before* it allocates
//! them; who lets go of what it made gives them back. The bound is on what a file makes of itself; what follows from
//! the user's own flags (a batch, a number of lanes) is bounded where these are read.

use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that any file may make us take, however short it is.
pub const FLOOR: u64 = 16 << 20;

/// Bytes of memory beyond [`FLOOR`] that a file may make us take for each byte of its own. One byte becomes at most a wire
/// or a number of 16 bytes, which planning keeps twice, or a part of a message whose names point into it.
pub const PER_BYTE: u64 = 50;

/// Bytes of memory that may still be taken for one file. Clones draw on the same bytes.
#[derive(Clone, Debug)]
pub struct Budget {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    limit: u64,
    left: AtomicU64,
}

/// A file asks for more memory than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it takes {} of memory, and of {} for this file {} are left", Size(*wanted), Size(*limit), Size(*left))]
pub struct Spent {
    /// Bytes that were asked for.
    pub wanted: u64,
    /// Bytes that were left.
    pub left: u64,
    /// Bytes of the whole budget.
    pub limit: u64,
}

impl Budget {
    /// Makes a budget of `limit` bytes.
    pub fn new(limit: u64) -> Budget {
        Budget {
            state: Arc::new(State {
                limit,
                left: AtomicU64::new(limit),
            }),
        }
    }

    /// Makes the budget of a file of `length` bytes: [`FLOOR`], and [`PER_BYTE`] for each of them.
    pub fn of_file(length: usize) -> Budget {
        Budget::new(FLOOR.saturating_add(PER_BYTE.saturating_mul(length as u64)))
    }

    /// Bytes of the whole budget.
    pub fn limit(&self) -> u64 {
        self.state.limit
    }

    /// Bytes that may still be taken.
    pub fn left(&self) -> u64 {
        self.state.left.load(Ordering::Relaxed)
    }

    /// Takes bytes off, before they are allocated.
    ///
    /// # Errors
    /// [`Spent`] if there are not as many left; then none is taken.
    pub fn take(&self, bytes: u64) -> Result<(), Spent> {
        let state = &self.state;
        let taken = |left: u64| left.checked_sub(bytes);
        let done = (state.left).fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        done.map(drop).map_err(|left| Spent {
            wanted: bytes,
            left,
            limit: state.limit,
        })
    }

    /// Takes the bytes of `count` values of a type side by side.
    ///
    /// # Errors
    /// [`Spent`] in the same cases as [`Budget::take`].
    pub fn take_of<T>(&self, count: usize) -> Result<(), Spent> {
        self.take((count as u64).saturating_mul(size_of::<T>() as u64))
    }

    /// Gives bytes back that were taken and let go of.
    pub fn give_back(&self, bytes: u64) {
        let state = &self.state;
        let more = |left: u64| Some(left.saturating_add(bytes).min(state.limit));
        // It always succeeds: `more` never declines.
        let _ = (state.left).fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

/// Bytes as people read them.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let unit = units.iter().find(|(_, shift)| self.0 >> shift >= 10);
        match unit {
            Some((unit, shift)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// Reasons why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A file that is no regular one: one of another kind may never end, or never begin.
    #[error("it is {0}, and only regular files are read: copy what it has into one")]
    Kind(&'static str),
    /// A file that is longer than it may be.
    #[error("it is longer than {}", Size(*limit))]
    TooLong {
        /// Bytes that it may have.
        limit: u64,
    },
    /// Error of the operating system.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        match error {
            FileError::System(error) => error,
            other => io::Error::other(other.to_string()),
        }
    }
}

/// Names the kind of a file that is no regular one.
fn other(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    Some("of a kind of its own")
}

/// Opens a regular file of at most `limit` bytes, and tells its length.
///
/// # Errors
/// [`FileError`] if it is of another kind (a device, a pipe, a folder), longer, or cannot be opened.
pub fn open_regular(path: &Path, limit: u64) -> Result<(File, u64), FileError> {
    let regular = |found: fs::Metadata| match other(found.file_type()) {
        None => Ok(found.len()),
        Some(kind) => Err(FileError::Kind(kind)),
    };
    // Before it is opened: opening a pipe waits for who writes. Afterwards too: it may be another one by then.
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    let length = regular(file.metadata()?)?;
    match length > limit {
        true => Err(FileError::TooLong { limit }),
        false => Ok((file, length)),
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// [`FileError`] in the same cases as [`open_regular`], or if it cannot be read.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let (file, length) = open_regular(path, limit)?;
    let mut bytes = Vec::new();
    // The system's files have no length and may yet go on; so may a file that grows. One byte more shows that.
    bytes
        .try_reserve_exact(length as usize)
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(FileError::TooLong { limit }),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_draw_on_the_same_bytes() {
        let budget = Budget::new(100);
        let other = budget.clone();
        other.take(60).unwrap();
        let spent = budget.take(50).unwrap_err();
        assert_eq!((spent.wanted, spent.left, spent.limit), (50, 40, 100));
        // Nothing was taken.
        assert_eq!(budget.left(), 40);
        budget.take_of::<u64>(5).unwrap();
        assert!(other.take(1).is_err());
        // No more comes back than there was.
        other.give_back(u64::MAX);
        assert_eq!(budget.left(), 100);
        assert!(budget.take_of::<u64>(usize::MAX).is_err());
    }

    #[test]
    fn a_budget_follows_the_length_of_the_file() {
        assert_eq!(Budget::of_file(0).limit(), FLOOR);
        assert_eq!(Budget::of_file(1000).limit(), FLOOR + 50_000);
        assert_eq!(Budget::of_file(usize::MAX).limit(), u64::MAX);
    }

    #[test]
    fn sizes_are_told_in_units_that_people_read() {
        let spent = Budget::new(1 << 34).take(1 << 40).unwrap_err();
        let text = spent.to_string();
        assert_eq!(
            text,
            "it takes 1024 GiB of memory, and of 16 GiB for this file 16 GiB are left"
        );
        assert_eq!(Size(5000).to_string(), "5000 bytes");
    }

    /// A file that never ends, a folder, and a file that is too long are refused, and not read.
    #[test]
    fn only_regular_files_are_read_and_only_so_far() {
        let own = std::env::current_exe().unwrap();
        assert!(matches!(
            read_regular(&own, 10),
            Err(FileError::TooLong { limit: 10 })
        ));
        let folder = own.parent().unwrap();
        assert!(matches!(
            read_regular(folder, 10),
            Err(FileError::Kind("a folder"))
        ));
        let none = folder.join("there is no such file");
        assert!(matches!(read_regular(&none, 10), Err(FileError::System(_))));
        #[cfg(unix)]
        assert!(matches!(
            read_regular(Path::new("/dev/zero"), 10),
            Err(FileError::Kind("a device"))
        ));
    }

    /// The system's own files are regular and of length 0, and yet not empty.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_a_length_are_bounded_too() {
        let path = Path::new("/proc/self/maps");
        assert!(matches!(
            read_regular(path, 10),
            Err(FileError::TooLong { .. })
        ));
        assert!(!read_regular(path, 1 << 24).unwrap().is_empty());
    }
}
