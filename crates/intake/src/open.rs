//! Messages that wait for an answer, as either side counts them.

use std::collections::BTreeMap;

use crate::limits::{MAX_CALLS, MAX_UPLOADS, PIECE};

/// Stage of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `Begin` was sent.
    Begun,
    /// Pieces go on from here.
    At(u64),
    /// `End` was sent.
    Ended,
}

/// A message that has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    Upload { length: u64, stage: Stage },
    Whole,
    Status,
    Wait,
    Fetch { offset: u64 },
}

impl Open {
    const fn is_upload(&self) -> bool {
        matches!(self, Self::Upload { .. })
    }
}

/// All of them by their numbers, and the largest number that was used.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    open: BTreeMap<u64, Open>,
    uploads: usize,
    last: u64,
}

impl Opened {
    /// The largest number that was used.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Uses `count` numbers from `first` on; `false` where one of them was used or passed over.
    pub(crate) fn uses(&mut self, first: u64, count: u64) -> bool {
        let Some(last) = first.checked_add(count - 1).filter(|_| first > self.last) else {
            return false;
        };
        self.last = last;
        true
    }

    /// Whether there is room for another one of this sort.
    pub(crate) fn has_room(&self, open: &Open) -> bool {
        match open.is_upload() {
            true => self.uploads < MAX_UPLOADS,
            false => self.open.len() - self.uploads < MAX_CALLS,
        }
    }

    pub(crate) fn insert(&mut self, number: u64, open: Open) {
        self.uploads += usize::from(open.is_upload());
        self.open.insert(number, open);
    }

    pub(crate) fn get(&self, number: u64) -> Option<Open> {
        self.open.get(&number).copied()
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<Open> {
        let open = self.open.remove(&number)?;
        self.uploads -= usize::from(open.is_upload());
        Some(open)
    }

    /// Changes the stage of an upload; `false` if there is none of that number.
    pub(crate) fn set_stage(&mut self, number: u64, to: Stage) -> bool {
        match self.open.get_mut(&number) {
            Some(Open::Upload { stage, .. }) => {
                *stage = to;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

/// Whether an upload of `length` bytes can go on at an offset.
pub(crate) fn goes_on_at(offset: u64, length: u64) -> bool {
    offset <= length && (offset.is_multiple_of(PIECE as u64) || offset == length)
}

/// Bytes that the next piece has.
pub(crate) fn piece_at(offset: u64, length: u64) -> u64 {
    (length - offset).min(PIECE as u64)
}
