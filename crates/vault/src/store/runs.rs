//! Results of whole runs, taken away.

use super::{Transaction, tables};
use crate::error::Result;

impl Transaction<'_> {
    /// Removes the results of runs from one up to another, which is kept.
    pub(super) fn remove_runs(&mut self, kind: &str, n: u64, from: u32, to: u32) -> Result<()> {
        let (from, to) = (tables::of_run(kind, n, from), tables::of_run(kind, n, to));
        let mut removed = 0;
        for key in self.outputs.keys(&from, &to, usize::MAX)? {
            // A damaged row does not tell its length; its pieces go away all the same.
            let length = self.outputs.get(self.sealer, &key, kind).ok().flatten();
            removed += length.and_then(|value| read_length(&value)).unwrap_or(0);
        }
        self.outputs.remove_range(&from, &to)?;
        self.results.remove_range(&from, &to)?;
        if removed > 0 {
            self.book.change(kind, |usage| {
                usage.results = usage.results.saturating_sub(removed);
            });
        }
        Ok(())
    }
}

/// Length of a result.
pub(super) fn read_length(value: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(value.try_into().ok()?))
}
