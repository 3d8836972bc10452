//! Values that are made in blocks and read whole by several tasks: they are put together once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::Value;
use crate::shares::Shares;

/// Values in pieces, each put together once for all tasks that read it whole.
#[derive(Default)]
pub(super) struct Wholes(HashMap<Value, Whole>);

#[derive(Default)]
struct Whole {
    /// Tasks that will read it.
    readers: usize,
    shares: Option<Arc<Shares>>,
}

impl Wholes {
    /// Counts one more task that reads these.
    pub(super) fn read(&mut self, values: Vec<Value>) {
        for value in values {
            self.0.entry(value).or_default().readers += 1;
        }
    }

    /// Forgets values that one task alone reads.
    pub(super) fn keep_shared(&mut self) {
        self.0.retain(|_, whole| whole.readers > 1);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts one task less that reads these, and gives those that another task has put together before.
    pub(super) fn take(&mut self, values: Vec<Value>) -> HashMap<Value, Arc<Shares>> {
        let mut together = HashMap::new();
        for value in values {
            if let Some(whole) = self.0.get_mut(&value) {
                whole.readers -= 1;
                let shares = match whole.readers {
                    0 => whole.shares.take(),
                    _ => whole.shares.clone(),
                };
                together.extend(shares.map(|shares| (value, shares)));
            }
        }
        together
    }

    /// Keeps what was put together, if others will read it and it is new: gives the number of these.
    pub(super) fn put(&mut self, value: Value, shares: &Arc<Shares>) -> Option<usize> {
        let whole = self.0.get_mut(&value)?;
        if whole.readers == 0 || whole.shares.is_some() {
            return None;
        }
        whole.shares = Some(Arc::clone(shares));
        Some(whole.readers)
    }
}
