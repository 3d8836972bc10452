//! Directories in which runs keep what they have found, so that one whose line was lost goes on where it was.
//!
//! # Why it is safe to go on
//! Sets and salt are those of the first session, so digests are; all else is drawn anew in each session: VOLE, seeds of stores, keys of hashes. A partition that is matched again
//! gives the same answer, and messages that hide as much as those of the first time: each party's view of either is simulated from its own list, both sizes and that answer, as
//! that of a single run is ([`madrigal_psi`]). Beyond that a party learns which partitions the other one has finished, which follows from when the line was lost.
//!
//! The salt is known to both parties now, before the list is read again. Keys that somebody chose by it could have one digest, so a list must have the keys that it
//! had: a sum over its digests says whether it does, and others do not know the salt.
//!
//! # Queries that a ledger counts
//! A run has a name in its party's ledger, a hash of salt and question, and is counted where the ledger does not have it. It is on the disk before the ledger counts it, and the ledger counts it
//! before the list's size is told: wherever a run is lost, it is counted once. A run that begins anew keeps the name if it had not come to sizes; after that it is another query, as
//! the other party may have had its answer.
//!
//! It holds for parties that follow the protocol. One that does not could say that it has finished nothing, and bring other keys: a query more that no ledger counts.

mod error;
mod file;
mod lock;
mod parties;
mod sizes;
mod sums;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::of_party::OfParty;

pub use error::StateError;
use error::failed;
pub(crate) use file::{Header, Kept};
pub(crate) use parties::{Going, begin};
pub(crate) use sizes::Cut;
pub(crate) use sums::id;

/// Keys of a partition, at most, of lists of up to 64 million keys: as many are matched again after a lost line, on each thread. Padding makes less than 2 % of them.
pub(crate) const KEYS: u64 = 250_000;

/// Where a run keeps its state.
#[derive(Args, Debug, Default)]
pub struct StateArgs {
    /// Keep what was found in this directory, which its owner alone can read, until the answer has been written: if the line is lost or a party ends, the
    /// same command at both parties goes on from there. With --local of each party, as 0=a-state; both parties give it
    #[arg(long, value_name = "[PARTY=]DIR", conflicts_with_all = ["size", "sum", "shares"], help_heading = "Resources")]
    pub state: Vec<OfParty<PathBuf>>,
}

/// A directory in which a run keeps its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The directory, which is made if it is not there.
    pub folder: PathBuf,
    /// Keys of a partition, at most, as far as there may be that many partitions; the same at both parties.
    pub keys: u64,
}

impl State {
    /// Takes the directory for this run, and reads the state of an earlier one if it has one.
    ///
    /// # Errors
    /// [`StateError`]: a directory that cannot be used, that others can read, or another run uses; a state of another question.
    pub(crate) fn open(&self, question: &[(String, String)]) -> Result<Folder, StateError> {
        let folder = Folder::new(&self.folder)?;
        let mut kept = Kept::read(&folder.path)?;
        // A run that has told nothing binds nobody to its question.
        kept =
            kept.filter(|kept| kept.of_lists().is_some() || kept.check_question(question).is_ok());
        if let Some(kept) = &mut kept {
            kept.check_question(question)?;
            kept.cut()?;
        }
        Ok(Folder { kept, ..folder })
    }

    /// Partitions that the directory has the answers of, and all of them; none if it has no state.
    pub(crate) fn done(&self) -> Option<(usize, usize)> {
        let kept = Kept::read(&self.folder).ok()??;
        let partitions = kept.of_lists()?.partitions;
        Some((kept.done().filter(|&done| done).count(), partitions))
    }
}

/// A directory that this run has for itself.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// State of an earlier run, or of this one.
    pub(crate) kept: Option<Kept>,
    /// Others wait for it, or go.
    _lock: File,
}

impl Folder {
    fn new(path: &Path) -> Result<Self, StateError> {
        let failed = |source| failed(path, source);
        let mut tries = 0..TRIES;
        loop {
            let is_last = tries.next().is_none();
            match fs::metadata(path) {
                Ok(found) if found.is_dir() => is_private(path, &found)?,
                Ok(_) => return Err(failed(io::ErrorKind::NotADirectory.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let mut builder = fs::DirBuilder::new();
                    #[cfg(unix)]
                    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                    match builder.create(path) {
                        // Another run has just made it.
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !is_last => {
                            continue;
                        }
                        made => made.map_err(failed)?,
                    }
                }
                Err(error) => return Err(failed(error)),
            }
            let path = path.to_owned();
            return match lock::take(&path.join(LOCK)) {
                Ok(Some(lock)) => Ok(Self {
                    path,
                    kept: None,
                    _lock: lock,
                }),
                Ok(None) => Err(StateError::Used { path }),
                // Another run has just removed the directory.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_last => continue,
                Err(error) => Err(failed(error)),
            };
        }
    }

    /// Begins a state in place of what there was.
    pub(crate) fn begin(&mut self, header: Header) -> Result<(), StateError> {
        self.kept = None;
        self.kept = Some(Kept::begin(&self.path, header)?);
        Ok(())
    }

    /// Gives it back its state.
    pub(crate) fn with(self, kept: Option<Kept>) -> Self {
        Self { kept, ..self }
    }

    /// Removes the state, and the directory if nothing else is in it.
    pub(crate) fn remove(self) -> Result<(), StateError> {
        drop(self.kept);
        for name in [file::NAME, file::PART, LOCK] {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path, error));
                }
                _ => {}
            }
        }
        // It stays if its owner has put something there.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// The file by which runs at the same time know of each other. Whoever removes it holds it.
const LOCK: &str = "lock";
/// Times that a directory is made anew which others remove meanwhile.
const TRIES: usize = 16;

/// Checks that the owner of a directory alone can use it.
fn is_private(path: &Path, found: &fs::Metadata) -> Result<(), StateError> {
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
        return Err(StateError::Open {
            path: path.to_owned(),
        });
    }
    let _ = (path, found);
    Ok(())
}
