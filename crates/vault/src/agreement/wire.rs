//! Integers, lists and texts of messages, as bytes.

use std::sync::Arc;

use madrigal_core::Digest256;

use super::bits::{Bits, MessageError};
use super::outcome::{MAX_IDS, MAX_OVERDUE, MAX_REASON, Outcome, shortened};
use crate::submission::Id;

/// Writes a message.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn digest(&mut self, digest: &Digest256) {
        self.0.extend(digest.0);
    }

    pub(super) fn text(&mut self, text: &str) {
        let text = shortened(text);
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    pub(super) fn ids(&mut self, ids: &[Id]) {
        self.u32(ids.len() as u32);
        self.0.extend(ids.as_flattened());
    }

    pub(super) fn bits(&mut self, bits: &Bits) {
        self.u32(bits.len() as u32);
        self.0.extend(bits.bytes());
    }

    pub(super) fn option<T>(&mut self, value: Option<&T>, write: impl FnOnce(&mut Self, &T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(super) fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Final { run } => {
                self.u8(0);
                self.u32(*run);
            }
            Outcome::Failed { reason } => {
                self.u8(1);
                self.text(reason);
            }
        }
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message: what is announced is compared with what is there before memory is taken for it.
pub(super) struct Reader<'a>(&'a [u8]);

type Result<T> = std::result::Result<T, MessageError>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(MessageError("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken
            .try_into()
            .map_err(|_| MessageError("it ends too early"))
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Number of a batch: they begin at 1, and leave room for the next one.
    pub(super) fn number(&mut self) -> Result<u64> {
        match self.u64()? {
            0 | u64::MAX => Err(MessageError("a batch has no such number")),
            n => Ok(n),
        }
    }

    /// Number of a run: they begin at 1.
    pub(super) fn run(&mut self) -> Result<u32> {
        match self.u32()? {
            0 | u32::MAX => Err(MessageError("a run has no such number")),
            run => Ok(run),
        }
    }

    pub(super) fn digest(&mut self) -> Result<Digest256> {
        Ok(Digest256(self.array()?))
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let length = self.u32()? as usize;
        if length > MAX_REASON {
            return Err(MessageError("a reason is too long"));
        }
        let text = std::str::from_utf8(self.take(length)?);
        Ok(text
            .map_err(|_| MessageError("a reason is no text"))?
            .to_owned())
    }

    fn ids(&mut self, most: usize) -> Result<Vec<Id>> {
        let count = self.u32()? as usize;
        if count > most {
            return Err(MessageError("too many ids"));
        }
        let (ids, _) = self.take(32 * count)?.as_chunks::<32>();
        Ok(ids.to_vec())
    }

    /// Ids in ascending order, so that a list has one form.
    pub(super) fn sorted_ids(&mut self) -> Result<Arc<[Id]>> {
        let ids = self.ids(MAX_IDS)?;
        if !ids.is_sorted_by(|a, b| a < b) {
            return Err(MessageError("ids are not in order"));
        }
        Ok(ids.into())
    }

    pub(super) fn overdue_ids(&mut self) -> Result<Vec<Id>> {
        self.ids(MAX_OVERDUE)
    }

    pub(super) fn bits(&mut self) -> Result<Bits> {
        let len = self.u32()? as usize;
        if len > MAX_IDS {
            return Err(MessageError("too many bits"));
        }
        let bytes = self.take(len.div_ceil(8))?.to_vec();
        Bits::from_bytes(len, bytes).ok_or(MessageError("bits past the last one"))
    }

    pub(super) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => Ok(Some(read(self)?)),
            _ => Err(MessageError("neither there nor missing")),
        }
    }

    pub(super) fn outcome(&mut self) -> Result<Outcome> {
        match self.u8()? {
            0 => Ok(Outcome::Final { run: self.run()? }),
            1 => Ok(Outcome::Failed {
                reason: self.text()?,
            }),
            _ => Err(MessageError("an unknown end of a batch")),
        }
    }

    pub(super) fn end(self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(MessageError("bytes after its end"))
        }
    }
}
