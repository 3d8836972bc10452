//! Results of runs.

use super::fields::Fields;
use super::{Transaction, tables};
use crate::error::{Result, VaultError};
use madrigal_core::chain::PIECE as PIECE_BYTES;

impl Transaction<'_> {
    /// Appends a piece to a result of a run; gives its length afterwards.
    pub(crate) fn result(
        &mut self,
        kind: &str,
        (n, run): (u64, u32),
        name: &str,
        offset: u64,
        piece: &[u8],
    ) -> Result<u64> {
        // Results that a stopped job writes too late would stay for ever.
        self.open_run(kind, n, run)?;
        let key = tables::of_output(kind, n, run, name);
        let expected = match self.outputs.get(self.sealer, &key, kind)? {
            Some(value) => read_length(&value).ok_or_else(|| {
                let place = self.outputs.place(&key, kind);
                place.damaged()
            })?,
            None => 0,
        };
        // A piece that is not whole is the last one.
        if offset != expected || !offset.is_multiple_of(PIECE_BYTES as u64) {
            let came = offset;
            return Err(VaultError::Offset { expected, came });
        }
        let length = offset + piece.len() as u64;
        if !piece.is_empty() {
            let mut place = key.clone();
            place.extend(((offset / PIECE_BYTES as u64) as u32).to_be_bytes());
            self.results.put(self.sealer, &place, kind, piece)?;
        }
        let mut fields = Fields::default();
        fields.u64(length);
        self.outputs.put(self.sealer, &key, kind, &fields.0)?;
        self.book
            .change(kind, |usage| usage.results += piece.len() as u64);
        Ok(length)
    }

    /// Removes the results of runs from one up to another, which is kept.
    pub(super) fn remove_runs(&mut self, kind: &str, n: u64, from: u32, to: u32) -> Result<()> {
        let (from, to) = (tables::of_run(kind, n, from), tables::of_run(kind, n, to));
        let mut removed = 0;
        for key in self.outputs.keys(&from, &to, usize::MAX)? {
            // Of a damaged row the length is not known; its pieces go away all the same.
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
