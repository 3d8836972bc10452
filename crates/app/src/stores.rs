//! Where a party's correlation store and its key are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use madrigal_core::MAX_PARTIES;
use madrigal_correlations_store::{self as store, Store, StoreError, StoreKey};
use madrigal_engine::{Precomputation, StoreSpec};
use serde::{Deserialize, Serialize};

use crate::failure::{Content, Failure, Result};

/// One party's store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFiles {
    /// Holds the store and nothing else.
    #[serde(with = "crate::paths")]
    pub directory: PathBuf,
    /// The file with the key that it is encrypted under.
    #[serde(with = "crate::paths")]
    pub key: PathBuf,
}

impl StoreFiles {
    /// Gives party `me`'s store in a local run: `DIR/partyI`, with its key beside it. One machine has nobody to hide
    /// the key from.
    pub fn local(directory: &Path, me: usize) -> Self {
        let directory = directory.join(format!("party{me}"));
        Self {
            key: beside(&directory, "key"),
            directory,
        }
    }

    /// Gives a real party's store. The key is where the flag says, or beside the identity, or, without one, beside
    /// the store.
    pub fn remote(directory: &Path, key: Option<&Path>, identity: Option<&Path>) -> Self {
        let key = match (key, identity) {
            (Some(key), _) => key.to_owned(),
            (None, Some(identity)) => beside(identity, "store-key"),
            (None, None) => beside(directory, "key"),
        };
        Self {
            directory: directory.to_owned(),
            key,
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// [`Failure`]: no store is there, its key is another one, or it is damaged.
    pub fn open(&self) -> Result<Store> {
        Store::open(&self.directory, &self.load_key()?).map_err(self.failed())
    }

    /// Makes the directory of a new store.
    ///
    /// # Errors
    /// [`Failure`] in the same cases as [`Precomputation::new`].
    pub fn make(&self, spec: StoreSpec) -> Result<Precomputation> {
        let key = self.load_or_make_key()?;
        Precomputation::new(spec, &self.directory, &key).map_err(self.failed())
    }

    /// Reads the key of a store that is there.
    ///
    /// # Errors
    /// [`Failure`] if the key is missing or damaged.
    pub fn load_key(&self) -> Result<StoreKey> {
        StoreKey::load(&self.key).map_err(|problem| {
            let directory = self.directory.clone();
            match local_parties(&directory) {
                0 => self.failed()(problem),
                parties => Content::Stores { directory, parties }.into(),
            }
        })
    }

    fn load_or_make_key(&self) -> Result<StoreKey> {
        StoreKey::load_or_make(&self.key).map_err(self.failed())
    }

    /// Prepares the directory before a new store is made here.
    pub fn new_store(self) -> Unfinished {
        // A key beside an identity may be that of other stores by then.
        let own_key = beside(&self.directory, "key") == self.key;
        let key = own_key.then(|| self.key.clone());
        let mut new: Vec<PathBuf> = key.into_iter().chain([self.directory.clone()]).collect();
        new.retain(|path| !path.exists());
        let parents = self.directory.ancestors().skip(1);
        let parents = parents.take_while(|parent| !parent.as_os_str().is_empty());
        Unfinished {
            new_parents: parents
                .take_while(|parent| !parent.exists())
                .map(Path::to_owned)
                .collect(),
            new,
            files: self,
        }
    }

    /// Gives a function for `map_err` that names the directory.
    pub fn failed(&self) -> impl FnOnce(StoreError) -> Failure {
        let directory = self.directory.clone();
        move |problem| Content::Store { directory, problem }.into()
    }
}

/// A store that is being made. Dropped before it is complete, all that is new of it is removed, also
/// what a process has left that was killed.
pub struct Unfinished {
    files: StoreFiles,
    /// Paths that were not there before.
    new: Vec<PathBuf>,
    /// Directories above the store's that were not there before, the innermost first.
    new_parents: Vec<PathBuf>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let StoreFiles { directory, key } = &self.files;
        let status = StoreKey::load(key).and_then(|key| store::status(directory, &key, false));
        if status.is_ok() {
            return;
        }
        for path in &self.new {
            let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        }
        // Those that something else is in stay: the other parties' stores are in the same.
        for path in &self.new_parents {
            let _ = fs::remove_dir(path);
        }
    }
}

/// Checks that `directory` holds the stores of `parties` parties on this machine, or none.
///
/// # Errors
/// [`Failure`] if it holds stores of more or fewer parties.
pub fn check_local(directory: &Path, parties: usize) -> Result<()> {
    let found = local_parties(directory);
    if found == 0 || found == parties {
        return Ok(());
    }
    Err(Content::StoreParties {
        directory: directory.to_owned(),
        found,
        parties,
    }
    .into())
}

/// Counts the parties of a local run that have a store here.
fn local_parties(directory: &Path) -> usize {
    let there = |me: &usize| StoreFiles::local(directory, *me).directory.is_dir();
    (0..MAX_PARTIES).take_while(there).count()
}

/// `PATH.extension`, whatever dots the path has.
fn beside(path: &Path, extension: &str) -> PathBuf {
    // A slash at the end would make it a file in the directory.
    let mut name: OsString = path.components().as_path().into();
    name.push(".");
    name.push(extension);
    name.into()
}
