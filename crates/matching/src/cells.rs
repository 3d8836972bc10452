//! A list's file as the protocol sees it: its keys are read into cells, and some neighbouring cells are a partition.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_lists::{ListError, Listed, Matches, Part};
use madrigal_psi::List;

/// Cells of every list. Partitions are as many or fewer, so that a list can be read before anybody knows how long both are.
pub(crate) const CELLS: u32 = 256;

/// Keys of a partition, at most, where there are not too many of them for that: some three hundred megabytes of memory.
const KEYS: u64 = 2_500_000;

/// Number of partitions of the longer list's keys, for this many threads: a power of two.
pub(crate) fn partitions(keys: u64, threads: usize) -> usize {
    let wanted = keys.div_ceil(KEYS).max(threads as u64).min(keys.div_ceil(1000));
    wanted.next_power_of_two().clamp(1, CELLS.into()) as usize
}

/// A list, and what is known of its matches.
pub(crate) struct Cells {
    listed: Listed,
    partitions: usize,
    state: Mutex<State>,
}

struct State {
    matches: Matches,
    keys: u64,
    /// Cells of the partitions that are under way; none where nothing will be heard of them.
    open: Option<HashMap<usize, Vec<Arc<Part>>>>,
}

impl Cells {
    /// Cuts a list into this many partitions; `learns` says whether it will hear of matches.
    pub(crate) fn new(listed: Listed, partitions: usize, learns: bool) -> Self {
        let state = State {
            matches: Matches::new(&listed),
            keys: 0,
            open: learns.then(HashMap::new),
        };
        Self {
            listed,
            partitions,
            state: Mutex::new(state),
        }
    }

    /// The list, the rows that match, and the number of different keys among them.
    pub(crate) fn into_matches(self) -> (Listed, Matches, u64) {
        let State { matches, keys, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.listed, matches, keys)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self, partition: usize) -> Result<Vec<Arc<Part>>, ListError> {
        let each = CELLS as usize / self.partitions;
        let cells = partition * each..(partition + 1) * each;
        cells.map(|cell| self.listed.partition(cell as u32)).collect()
    }
}

/// The other party is not told what is wrong with a list.
fn told(error: &ListError) -> String {
    format!("{error}")
}

impl List for Cells {
    fn digests(&self, partition: usize) -> Result<Zeroizing<Vec<Block>>, String> {
        let cells = self.cells(partition).map_err(|error| told(&error))?;
        let len = cells.iter().map(|cell| cell.len()).sum();
        let mut digests = Zeroizing::new(Vec::with_capacity(len));
        cells.iter().for_each(|cell| digests.extend_from_slice(cell.digests()));
        if let Some(open) = &mut self.state().open {
            open.insert(partition, cells);
        }
        Ok(digests)
    }

    fn matched(&self, partition: usize, places: Vec<u32>) -> Result<(), String> {
        let mut state = self.state();
        let State { matches, keys, open } = &mut *state;
        let cells = open.as_mut().and_then(|open| open.remove(&partition));
        let cells = cells.ok_or("matches of a partition that was not begun")?;
        let mut ends = Vec::with_capacity(cells.len());
        let mut end = 0;
        for cell in &cells {
            end += cell.len();
            ends.push(end);
        }
        *keys += places.len() as u64;
        for place in places {
            let place = place as usize;
            let at = ends.partition_point(|&end| end <= place);
            let Some(cell) = cells.get(at) else {
                return Err("a match beyond the last key".to_owned());
            };
            let first = ends[at] - cell.len();
            for &row in cell.rows(place - first) {
                matches.mark(row).map_err(|error| told(&error))?;
            }
        }
        Ok(())
    }
}
