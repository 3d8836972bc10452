//! A list's file as the protocol sees it: its keys are read into cells, and some neighbouring cells are a partition.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_lists::{ListError, Listed, Matches, Part, Room};
use madrigal_psi::{List, ListFailed, Matched};

use crate::failure::Unmatched;
pub use crate::partitions::MOST;
pub(crate) use crate::partitions::{CELLS, KEYS, partitions};
use crate::state::Kept;

/// Result that a list will hear.
#[derive(Clone, Copy)]
pub(crate) enum Learns<'a> {
    Nothing,
    /// Keys that match.
    Keys,
    /// Keys that match and the payload of each. What memory does not hold of them goes to a file.
    Payloads(&'a Room),
}

/// A list, and what is known of its matches.
pub(crate) struct Cells {
    listed: Listed,
    partitions: usize,
    /// Answers on the disk.
    kept: Option<Kept>,
    state: Mutex<State>,
}

struct State {
    matches: Matches,
    keys: u64,
    /// Reason why the list failed, which the other party is not told.
    failed: Option<Unmatched>,
    /// Cells of the partitions that are under way; none where nothing will be heard of them.
    open: Option<HashMap<usize, Vec<Arc<Part>>>>,
}

impl Cells {
    /// Cuts a list into this many partitions.
    pub(crate) fn new(
        listed: Listed,
        partitions: usize,
        learns: Learns<'_>,
        kept: Option<Kept>,
    ) -> Self {
        let state = State {
            matches: match learns {
                Learns::Payloads(room) => Matches::with_values(&listed, room),
                Learns::Nothing | Learns::Keys => Matches::new(&listed),
            },
            keys: 0,
            failed: None,
            open: (!matches!(learns, Learns::Nothing)).then(HashMap::new),
        };
        Self {
            listed,
            partitions,
            kept,
            state: Mutex::new(state),
        }
    }

    /// Ends writing to the disk: threads that still compute for a run that has failed must not write beside the next one.
    pub(crate) fn close(&self) {
        if let Some(kept) = &self.kept {
            kept.close();
        }
    }

    /// Takes the answers of an earlier run.
    pub(crate) fn recall(&self) -> Result<(), Unmatched> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        kept.each(|partition, matched| {
            let cells = self.cells(partition)?;
            self.mark(&cells, &matched).map_err(|failed| {
                // The list is the one that it was.
                let _: ListFailed = failed;
                self.failure().unwrap_or_else(|| kept.damaged().into())
            })
        })
    }

    /// The list, the rows that match, the number of different keys among them, and what is on the disk.
    pub(crate) fn into_matches(self) -> (Listed, Matches, u64, Option<Kept>) {
        let State { matches, keys, .. } = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        (self.listed, matches, keys, self.kept)
    }

    /// Reason why the list failed, if it has.
    pub(crate) fn failure(&self) -> Option<Unmatched> {
        self.state().failed.take()
    }

    /// Keeps the reason why the list failed.
    fn keep(&self, error: impl Into<Unmatched>) -> ListFailed {
        self.state().failed.get_or_insert(error.into());
        ListFailed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self, partition: usize) -> Result<Vec<Arc<Part>>, ListError> {
        let each = CELLS as usize / self.partitions;
        let cells = partition * each..(partition + 1) * each;
        cells
            .map(|cell| self.listed.partition(cell as u32))
            .collect()
    }
}

impl List for Cells {
    fn digests(&self, partition: usize) -> Result<Zeroizing<Vec<Block>>, ListFailed> {
        let cells = self.cells(partition).map_err(|error| self.keep(error))?;
        let len = cells.iter().map(|cell| cell.len()).sum();
        let mut digests = Zeroizing::new(Vec::with_capacity(len));
        cells
            .iter()
            .for_each(|cell| digests.extend_from_slice(cell.digests()));
        if let Some(open) = &mut self.state().open {
            open.insert(partition, cells);
        }
        Ok(digests)
    }

    fn payloads(&self, partition: usize) -> Result<Zeroizing<Vec<u64>>, ListFailed> {
        let cells = self.cells(partition).map_err(|error| self.keep(error))?;
        let mut payloads = Zeroizing::new(Vec::new());
        for cell in &cells {
            let values = cell.values().ok_or(ListFailed)?;
            payloads.extend(values.iter().map(|&value| value as u64));
        }
        Ok(payloads)
    }

    fn matched(&self, partition: usize, matched: Matched) -> Result<(), ListFailed> {
        let cells = (self.state().open.as_mut()).and_then(|open| open.remove(&partition));
        let cells = cells.ok_or(ListFailed)?;
        if let Some(kept) = &self.kept {
            if kept.has(partition) {
                // The other party lacked it, and it was recalled here.
                return Ok(());
            }
            let added = kept.add(partition, &matched);
            added.map_err(|error| self.keep(error))?;
        }
        self.mark(&cells, &matched)
    }
}

impl Cells {
    /// Marks the rows of keys that match, by their places in some cells.
    fn mark(&self, cells: &[Arc<Part>], matched: &Matched) -> Result<(), ListFailed> {
        let mut state = self.state();
        let State {
            matches,
            keys,
            failed,
            ..
        } = &mut *state;
        let mut ends = Vec::with_capacity(cells.len());
        let mut end = 0;
        for cell in cells {
            end += cell.len();
            ends.push(end);
        }
        *keys += matched.places.len() as u64;
        for (i, &place) in matched.places.iter().enumerate() {
            let place = place as usize;
            let at = ends.partition_point(|&end| end <= place);
            let Some(cell) = cells.get(at) else {
                return Err(ListFailed);
            };
            let within = place + cell.len() - ends[at];
            let key = cell.key_of_row(within);
            for &row in cell.rows(within) {
                let marked = match matched.payloads.get(i) {
                    Some(&payload) => matches.set_by(row, key, payload as i64),
                    None => matches.mark_by(row, key),
                };
                if let Err(error) = marked {
                    failed.get_or_insert(error.into());
                    return Err(ListFailed);
                }
            }
        }
        Ok(())
    }
}
