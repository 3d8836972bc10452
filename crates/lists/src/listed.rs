//! The keys of a list that was read.

use std::sync::Arc;

use crate::error::{ListError, Place, Problem};
use crate::file::{Stamp, Watch, line, open, records, tell, wrong};
use crate::part::{self, Clash, Part};
use crate::sink::Taken;
use crate::source::{Format, Source};
use crate::store::Store;

/// The keys of a list, in partitions.
pub struct Listed {
    pub(crate) source: Source,
    pub(crate) stamp: Stamp,
    pub(crate) rows: u32,
    skipped: u32,
    /// Keys of rows that were not skipped, each as often as rows have it.
    entries: u64,
    left_out: Vec<String>,
    keys: Vec<u32>,
    sum: [u64; 2],
    store: Store,
    /// All partitions in order, if memory has room for them.
    parts: Vec<Arc<Part>>,
}

madrigal_core::opaque!(Listed);

impl Listed {
    /// Takes what was read: the store, and the numbers of rows and keys.
    pub(crate) fn new(
        source: &Source,
        stamp: Stamp,
        left_out: Vec<String>,
        (store, taken): (Store, Taken),
        watch: Watch<'_>,
    ) -> Result<Self, ListError> {
        let mut listed = Self {
            source: source.clone(),
            stamp,
            rows: taken.rows,
            skipped: taken.skipped,
            entries: taken.entries,
            left_out,
            keys: Vec::with_capacity(store.partitions() as usize),
            sum: [0; 2],
            store,
            parts: Vec::new(),
        };
        listed.settle(watch)?;
        Ok(listed)
    }

    /// Sorts all partitions, finds what is wrong with keys that have several rows, and keeps what memory holds.
    fn settle(&mut self, watch: Watch<'_>) -> Result<(), ListError> {
        let all = match self.source.format() {
            Format::Csv => self.stamp.length(),
            Format::Parquet => self.rows.into(),
        };
        let spilled = self.store.spilled() > 0;
        for partition in 0..self.partitions() {
            let part = self.sorted(partition)?;
            self.keys.push(part.len() as u32);
            part.add_to(&mut self.sum);
            if !spilled {
                self.store.clear(partition);
                self.parts.push(Arc::new(part));
            }
            // It can be stopped here, too.
            tell(&self.source, watch, all, all)?;
        }
        Ok(())
    }

    fn sorted(&self, partition: u32) -> Result<Part, ListError> {
        let payload = self.source.numbers();
        match part::sorted(&self.store, partition, payload) {
            Ok(part) => Ok(part),
            Err(Clash::Error(error)) => Err(error),
            Err(Clash::Rows(first, second, problem)) => {
                let problem = match problem {
                    Problem::Repeated { .. } => Problem::Repeated {
                        other: self.place(first)?.to_string(),
                    },
                    other => other,
                };
                let place = self.place(second)?;
                let place = match payload {
                    Some(payload) => place.column(&payload.column),
                    None => place,
                };
                Err(ListError::content(self.source.path(), place, problem))
            }
        }
    }

    /// Finds a row in the file.
    fn place(&self, row: u32) -> Result<Place, ListError> {
        if self.source.format() == Format::Parquet {
            return Ok(Place::row(row.into()));
        }
        let (file, stamp) = open(&self.source)?;
        if stamp != self.stamp {
            return Err(ListError::Changed {
                path: self.source.path().to_owned(),
            });
        }
        let fault = |fault| wrong(&self.source, fault);
        let (mut records, _) = records(&self.source, &file)?;
        for _ in 0..row {
            records.next().map_err(fault)?;
        }
        let span = records.next().map_err(fault)?;
        let offset = span.map_or(stamp.length(), |span| records.offset(span.body.start));
        Ok(Place::line(line(&self.source, offset)?))
    }

    /// The keys of a partition, in order.
    ///
    /// # Errors
    /// [`ListError::Partition`] if there is none of that number, [`ListError::Spill`] if the disk fails.
    pub fn partition(&self, partition: u32) -> Result<Arc<Part>, ListError> {
        let partitions = self.partitions();
        if partition >= partitions {
            return Err(ListError::Partition {
                partition,
                partitions,
            });
        }
        match self.parts.get(partition as usize) {
            Some(part) => Ok(part.clone()),
            None => self.sorted(partition).map(Arc::new),
        }
    }

    /// Number of partitions.
    pub fn partitions(&self) -> u32 {
        self.store.partitions()
    }

    /// Number of rows, those without a key among them.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of rows that were skipped because their keys, all of them, are empty.
    pub fn skipped(&self) -> u32 {
        self.skipped
    }

    /// Number of different keys, those in other places of a row being different.
    pub fn keys(&self) -> u64 {
        self.keys.iter().map(|&keys| u64::from(keys)).sum()
    }

    /// Sum over digests and payloads of all keys: that of another list under the same salt is another one, but for a chance of 2^-64. It does not depend on the
    /// order of rows, nor on other columns. Whoever knows the salt finds lists of one sum.
    pub fn sum(&self) -> [u64; 2] {
        self.sum
    }

    /// Number of different keys of each partition.
    pub fn keys_of_partitions(&self) -> &[u32] {
        &self.keys
    }

    /// Number of rows beyond the first of their key. Of rows with several keys, each counts for as many of them as rows before have.
    pub fn repeated(&self) -> u64 {
        self.entries - self.keys()
    }

    /// Columns of a Parquet file that [`Listed::write_rows`] leaves out, because their values have no text: nested ones, for one.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Bytes that were put into a file because memory did not hold them.
    pub fn spilled(&self) -> u64 {
        self.store.spilled()
    }

    /// The list that was read.
    pub fn source(&self) -> &Source {
        &self.source
    }
}
