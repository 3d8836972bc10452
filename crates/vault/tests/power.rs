//! A disk that loses power: of what was not synced, any pages and parts of pages survive, in any order.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use madrigal_vault::StorageBackend;

use crate::random::Random;

/// What a disk writes at once; a page of redb has eight of them.
const SECTOR: usize = 512;

#[derive(Debug, Default)]
struct Image {
    /// What was synced.
    synced: Vec<u8>,
    /// What reads see.
    seen: Vec<u8>,
    /// Changes since the sync: a length, or an offset and bytes.
    changes: Vec<Change>,
    /// Calls until the power goes.
    left: Option<u64>,
    calls: u64,
    dead: bool,
    /// Syncs do nothing.
    lies: bool,
}

#[derive(Debug, Clone)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

/// A disk in memory; clones are the same disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Image>>);

impl Disk {
    /// Loses power after this many calls that change or sync.
    pub(crate) fn lose_after(&self, calls: u64) {
        self.0.lock().unwrap().left = Some(calls);
    }

    /// Does nothing when it is to sync, and says that it did.
    pub(crate) fn lie(&self) {
        self.0.lock().unwrap().lies = true;
    }

    /// How many calls have changed or synced it.
    pub(crate) fn calls(&self) -> u64 {
        self.0.lock().unwrap().calls
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().unwrap().seen.len()
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.0.lock().unwrap().dead
    }

    /// The disk after the power is back: with some of the sectors that were not synced, whole or torn.
    pub(crate) fn after(&self, random: &mut Random) -> Disk {
        let image = self.0.lock().unwrap();
        let mut bytes = image.synced.clone();
        // How likely something survives, differently each time.
        let survives = random.below(5);
        let mut changes = image.changes.clone();
        if random.one_in(2) {
            for i in (1..changes.len()).rev() {
                changes.swap(i, random.below(i + 1));
            }
        }
        for change in changes {
            match change {
                Change::Length(length) if random.below(4) < survives => bytes.resize(length, 0),
                Change::Length(_) => {}
                Change::Bytes(offset, with) => {
                    for (i, sector) in with.chunks(SECTOR).enumerate() {
                        if random.below(4) >= survives {
                            continue;
                        }
                        // Torn: the beginning alone.
                        let torn = random.one_in(8);
                        let kept = if torn {
                            random.below(sector.len() + 1)
                        } else {
                            sector.len()
                        };
                        let start = offset + i * SECTOR;
                        let end = (start + kept).min(bytes.len());
                        if start < end {
                            bytes[start..end].copy_from_slice(&sector[..end - start]);
                        }
                    }
                }
            }
        }
        Disk(Arc::new(Mutex::new(Image {
            seen: bytes.clone(),
            synced: bytes,
            ..Image::default()
        })))
    }

    /// A copy of what reads see.
    pub(crate) fn copy(&self) -> Vec<u8> {
        self.0.lock().unwrap().seen.clone()
    }

    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let (seen, synced) = (bytes.clone(), bytes);
        let image = Image {
            seen,
            synced,
            ..Image::default()
        };
        Self(Arc::new(Mutex::new(image)))
    }

    fn change(&self, change: impl FnOnce(&mut Image)) -> io::Result<()> {
        let mut image = self.0.lock().unwrap();
        image.dead |= image.left == Some(0);
        if image.dead {
            return Err(io::Error::other("no power"));
        }
        image.left = image.left.map(|left| left - 1);
        image.calls += 1;
        change(&mut image);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let image = self.0.lock().unwrap();
        let offset = offset as usize;
        let bytes = image.seen.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|image| {
            image.seen.resize(len as usize, 0);
            image.changes.push(Change::Length(len as usize));
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|image| {
            if image.lies {
                return;
            }
            // Changed ranges alone are copied: a sync costs what was written, not the file.
            let length = image.seen.len();
            image.synced.resize(length, 0);
            let mut ranges = BTreeMap::new();
            for change in image.changes.drain(..) {
                match change {
                    Change::Bytes(offset, bytes) => {
                        let end: &mut usize = ranges.entry(offset).or_default();
                        *end = (*end).max(offset + bytes.len());
                    }
                    Change::Length(short) if short < length => {
                        ranges.insert(short, length);
                    }
                    Change::Length(_) => {}
                }
            }
            for (start, end) in ranges {
                let end = end.min(length);
                if start < end {
                    image.synced[start..end].copy_from_slice(&image.seen[start..end]);
                }
            }
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(|image| {
            let offset = offset as usize;
            let end = offset + data.len();
            if end > image.seen.len() {
                image.seen.resize(end, 0);
                image.changes.push(Change::Length(end));
            }
            image.seen[offset..end].copy_from_slice(data);
            image.changes.push(Change::Bytes(offset, data.to_vec()));
        })
    }
}
