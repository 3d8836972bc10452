//! Results of runs.

use super::fields::Fields;
use super::runs::read_length;
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
}
