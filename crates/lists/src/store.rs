//! Entries of fixed length in partitions: in memory as long as they fit a budget, then in one file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use madrigal_core::Zeroizing;

use crate::error::ListError;

/// Bytes of the largest piece.
const MOST_PIECE: usize = 64 << 10;
/// Bytes of the smallest piece that goes to the file.
const LEAST_PIECE: usize = 4 << 10;
/// Bytes that a partition begins with.
const FIRST_PIECE: usize = 512;

/// Memory and disk space for what is made of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Bytes of memory for digests and payloads, of all rows together. What does not fit goes to a file. One partition at a time takes
    /// more than that, and the file is read and written through buffers of 2 MB.
    pub memory: u64,
    /// Folder for that file. The file has no name there, or is removed as soon as nobody has it open; its owner alone may read it. As
    /// much as 28 bytes for each row is written.
    pub folder: PathBuf,
}

/// Part of a partition.
enum Piece {
    Memory(Zeroizing<Vec<u8>>),
    Disk { at: u64, bytes: usize },
}

#[derive(Default)]
struct Partition {
    /// The piece that entries are added to.
    open: Zeroizing<Vec<u8>>,
    pieces: Vec<Piece>,
    entries: u64,
}

/// Partitions of entries of one length.
pub(crate) struct Store {
    entry: usize,
    piece: usize,
    partitions: Vec<Partition>,
    room: Room,
    /// Bytes of pieces in memory.
    memory: u64,
    file: Option<Mutex<File>>,
    /// Bytes in the file.
    written: u64,
}

impl Store {
    pub(crate) fn new(entry: usize, partitions: u32, room: &Room) -> Self {
        // Half of the memory is for open pieces.
        let share = (room.memory / 2 / u64::from(partitions)).min(MOST_PIECE as u64) as usize;
        let piece = share.max(LEAST_PIECE) / entry * entry;
        let partitions = (0..partitions).map(|_| Partition::default()).collect();
        Self {
            entry,
            piece,
            partitions,
            room: room.clone(),
            memory: 0,
            file: None,
            written: 0,
        }
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, partition: u32, entry: &[u8]) -> Result<(), ListError> {
        let of = &mut self.partitions[partition as usize];
        if of.open.len() + entry.len() > of.open.capacity() {
            self.make_room(partition)?;
        }
        let of = &mut self.partitions[partition as usize];
        of.open.extend_from_slice(entry);
        of.entries += 1;
        Ok(())
    }

    /// Makes room for one entry more in an open piece.
    #[cold]
    fn make_room(&mut self, partition: u32) -> Result<(), ListError> {
        let open = &mut self.partitions[partition as usize].open;
        if open.capacity() < self.piece {
            let larger = (2 * open.capacity()).clamp(FIRST_PIECE.min(self.piece), self.piece);
            let mut larger = Zeroizing::new(Vec::with_capacity(larger));
            larger.extend_from_slice(open);
            self.memory += (larger.capacity() - open.capacity()) as u64;
            *open = larger;
            return Ok(());
        }
        if self.file.is_none() && self.memory + self.piece as u64 <= self.room.memory {
            let new = Zeroizing::new(Vec::with_capacity(self.piece));
            self.memory += new.capacity() as u64;
            let of = &mut self.partitions[partition as usize];
            let full = std::mem::replace(&mut of.open, new);
            of.pieces.push(Piece::Memory(full));
            return Ok(());
        }
        let done = match self.file {
            None => self.spill(),
            Some(_) => self.flush(partition as usize),
        };
        done.map_err(|source| self.failed(source))
    }

    /// Opens the file, and puts everything there that is in memory.
    fn spill(&mut self) -> io::Result<()> {
        self.file = Some(Mutex::new(tempfile::tempfile_in(&self.room.folder)?));
        for at in 0..self.partitions.len() {
            for piece in 0..self.partitions[at].pieces.len() {
                if let Piece::Memory(bytes) = &self.partitions[at].pieces[piece] {
                    let moved = append(&self.file, &mut self.written, bytes)?;
                    self.partitions[at].pieces[piece] = moved;
                }
            }
            self.flush(at)?;
        }
        self.memory = 0;
        Ok(())
    }

    /// Puts an open piece into the file.
    fn flush(&mut self, partition: usize) -> io::Result<()> {
        let of = &mut self.partitions[partition];
        if !of.open.is_empty() {
            of.pieces
                .push(append(&self.file, &mut self.written, &of.open)?);
            of.open.clear();
        }
        Ok(())
    }

    /// Says that all entries are there: those in a file leave memory.
    pub(crate) fn finish(&mut self) -> Result<(), ListError> {
        if self.file.is_some() {
            for at in 0..self.partitions.len() {
                self.flush(at).map_err(|source| self.failed(source))?;
                self.partitions[at].open = Zeroizing::default();
            }
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> ListError {
        ListError::Spill {
            folder: self.room.folder.clone(),
            written: self.written,
            source,
        }
    }

    /// Calls a function with the entries of a partition, piece by piece, in the order in which they came.
    pub(crate) fn each(&self, partition: u32, mut see: impl FnMut(&[u8])) -> Result<(), ListError> {
        let of = &self.partitions[partition as usize];
        let mut room = Zeroizing::<Vec<u8>>::default();
        for piece in &of.pieces {
            match piece {
                Piece::Memory(bytes) => see(bytes),
                Piece::Disk { at, bytes } => {
                    if room.len() < *bytes {
                        room = Zeroizing::zeros((*bytes).max(self.piece));
                    }
                    let room = &mut room[..*bytes];
                    self.load(*at, room).map_err(|source| self.failed(source))?;
                    see(room);
                }
            }
        }
        see(&of.open);
        Ok(())
    }

    fn load(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        if let Some(file) = &self.file {
            // One that panicked left no more than the place in the file behind.
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(into)?;
        }
        Ok(())
    }

    /// Forgets a partition's entries.
    pub(crate) fn clear(&mut self, partition: u32) {
        self.partitions[partition as usize] = Partition::default();
    }

    /// Entries of a partition.
    pub(crate) fn entries(&self, partition: u32) -> u64 {
        self.partitions[partition as usize].entries
    }

    /// Partitions that there are.
    pub(crate) fn partitions(&self) -> u32 {
        self.partitions.len() as u32
    }

    /// Bytes of an entry.
    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    /// Bytes that went to a file.
    pub(crate) fn spilled(&self) -> u64 {
        self.written
    }
}

/// Writes bytes at the end of the file.
fn append(file: &Option<Mutex<File>>, written: &mut u64, bytes: &[u8]) -> io::Result<Piece> {
    let at = *written;
    if let Some(file) = file {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)?;
        *written += bytes.len() as u64;
    }
    let bytes = bytes.len();
    Ok(Piece::Disk { at, bytes })
}
