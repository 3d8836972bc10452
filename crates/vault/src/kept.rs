//! Batches, results and notes in a vault.

use madrigal_core::chain::PIECE as PIECE_BYTES;
use madrigal_core::{Digest256, Zeroizing};

use crate::agreement::Outcome;
use crate::error::{Result, VaultError};
use crate::pending::Pending;
use crate::submission::{Id, MAX_NAME, fits_note, length};
use crate::vault::Vault;

/// A batch of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchInfo {
    /// Digest of the submissions.
    pub digest: Digest256,
    /// Number of submissions.
    pub count: u64,
    /// When it was prepared, in seconds.
    pub prepared: u64,
    /// How it ended, and when.
    pub ended: Option<(Outcome, u64)>,
}

/// A result of a batch that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputInfo {
    /// Name.
    pub name: String,
    /// Run that it is of.
    pub run: u32,
    /// Bytes.
    pub length: u64,
}

impl Vault {
    /// A batch; nothing if it is not known.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn batch(&self, kind: &str, n: u64) -> Result<Option<BatchInfo>> {
        let row = self.reading(|reading| reading.batch(kind, n))?;
        Ok(row.map(|row| BatchInfo {
            digest: row.digest,
            count: row.count,
            prepared: row.prepared,
            ended: row.outcome.map(|outcome| (outcome, row.ended)),
        }))
    }

    /// Number of the first batch after one that has results which count and are kept.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn next_done(&self, kind: &str, after: u64) -> Result<Option<u64>> {
        self.reading(|reading| reading.next_done(kind, after))
    }

    /// Number of the newest batch of a kind that has results which count and are kept.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn newest_done(&self, kind: &str) -> Result<Option<u64>> {
        self.reading(|reading| reading.newest_done(kind))
    }

    /// Submissions of a batch, in order; none if it is not known.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn members(&self, kind: &str, n: u64) -> Result<Vec<Id>> {
        self.reading(|reading| reading.members(kind, n))
    }

    /// Appends a piece to a result of a run; gives its length afterwards. All pieces but the last have [`PIECE_BYTES`]; an empty one makes an
    /// empty result. The results of a run count when its batch ends so.
    ///
    /// # Errors
    /// The piece is not the next one, or the batch has ended, or a run that is not before this one is done ([`VaultError::Contradiction`]).
    pub fn result(
        &self,
        kind: &str,
        of: (u64, u32),
        name: &str,
        offset: u64,
        piece: Vec<u8>,
    ) -> Pending<u64> {
        let piece = Zeroizing::new(piece);
        let named = length("name of a result", name.len() as u64, 1, MAX_NAME as u64);
        let fits = length("piece", piece.len() as u64, 0, PIECE_BYTES as u64);
        if let Err(error) = named.and(fits) {
            return self.refused(error);
        }
        if name.chars().any(char::is_control) {
            let field = "name of a result";
            return self.refused(VaultError::Name { field });
        }
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.run(piece.len(), move |t| {
            t.result(&kind, of, &name, offset, &piece)
        })
    }

    /// Results of a batch that count; none if it has not ended, failed, or its time is over.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn outputs(&self, kind: &str, n: u64) -> Result<Vec<OutputInfo>> {
        self.reading(|reading| {
            let row = reading.batch(kind, n)?;
            let Some(Outcome::Final { run }) = row.and_then(|row| row.outcome) else {
                return Ok(Vec::new());
            };
            let outputs = reading.outputs(kind, n, run)?.into_iter();
            let outputs = outputs.map(|(name, length)| OutputInfo { name, run, length });
            Ok(outputs.collect())
        })
    }

    /// The piece of a result that counts, at an offset that is a multiple of [`PIECE_BYTES`]; empty at its end.
    ///
    /// # Errors
    /// [`VaultError::NoResult`], [`VaultError::Offset`].
    pub fn output(
        &self,
        kind: &str,
        n: u64,
        name: &str,
        offset: u64,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let outputs = self.outputs(kind, n)?;
        let found = outputs.into_iter().find(|output| output.name == name);
        let missing = || VaultError::NoResult {
            kind: kind.to_owned(),
            n,
            name: name.to_owned(),
        };
        let OutputInfo { run, length, .. } = found.ok_or_else(missing)?;
        if offset == length {
            return Ok(Zeroizing::default());
        }
        if offset > length || !offset.is_multiple_of(PIECE_BYTES as u64) {
            let (expected, came) = (length, offset);
            return Err(VaultError::Offset { expected, came });
        }
        let piece = self.reading(|reading| reading.output_piece(kind, (n, run), name, offset))?;
        piece.ok_or_else(missing)
    }

    /// Writes a small note under a name, or takes it away.
    ///
    /// # Errors
    /// Name or note are too long: twice [`MAX_NAME`], and [`PIECE_BYTES`].
    pub fn note(&self, name: &str, value: Option<Vec<u8>>) -> Pending<()> {
        let value = value.map(Zeroizing::new);
        let bytes = value.as_ref().map_or(0, |value| value.len());
        if let Err(error) = fits_note(name, bytes) {
            return self.refused(error);
        }
        let name = name.to_owned();
        self.run(bytes, move |t| {
            t.note(&name, value.as_ref().map(|value| &value[..]))
        })
    }

    /// The note under a name.
    ///
    /// # Errors
    /// The vault is damaged or has stopped.
    pub fn noted(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>> {
        self.reading(|reading| reading.note(name))
    }

    /// Adds to a counter, which is a note of 8 bytes, little-endian; gives the sum. If that would pass `most`, nothing is added and nothing is given.
    ///
    /// # Errors
    /// The note of this name is no counter.
    pub fn count(&self, name: &str, amount: u64, most: u64) -> Pending<Option<u64>> {
        if let Err(error) = fits_note(name, 8) {
            return self.refused(error);
        }
        let name = name.to_owned();
        self.run(0, move |t| t.count(&name, amount, most))
    }
}
