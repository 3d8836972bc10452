//! The tests of this crate, in one executable: linking many takes longer than running them.

mod csv_files;
mod lists;
mod normal;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet_files;
mod refused;
mod rows;
mod several_keys;

use std::ops::ControlFlow;
use std::path::PathBuf;

use madrigal_kernels::{Block, Prg};
use madrigal_lists::{ListError, Listed, Progress, Room, Source, read};
use tempfile::TempDir;

const SALT: [u8; 32] = [7; 32];
/// Bytes of memory in which all lists of the tests fit.
const PLENTY: u64 = 1 << 30;

/// A folder for a test's files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    fn room(&self, memory: u64) -> Room {
        Room {
            memory,
            folder: self.0.path().into(),
        }
    }

    fn names(&self) -> usize {
        std::fs::read_dir(self.0.path()).expect("a folder").count()
    }

    /// Reads a list in memory.
    fn read(&self, source: &Source, partitions: u32) -> Result<Listed, ListError> {
        read(source, &SALT, partitions, &self.room(PLENTY), &mut go)
    }

    /// Reads a CSV file of these bytes whose keys are in the column `k`.
    fn keys(&self, bytes: impl AsRef<[u8]>) -> Result<Listed, ListError> {
        let path = self.file("keys.csv", bytes);
        self.read(&Source::new(path, ["k"])?, 3)
    }
}

fn go(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Random choices.
struct Random(Prg);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Prg::new(Block::new(seed, 3)))
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_block().lo() % end as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    fn word(&mut self) -> u64 {
        self.0.next_block().lo()
    }
}
