//! Submissions: begun, received, accepted.

use super::entry::{Entry, Stage};
use super::{Transaction, tables};
use crate::error::{Result, VaultError};
use crate::submission::{Begun, Id, Submission};
use madrigal_core::chain::{Chain, PIECE as PIECE_BYTES};

impl Transaction<'_> {
    pub(super) fn entry(&self, id: &Id) -> Result<Option<Entry>> {
        let Some(value) = self.submissions.get(self.sealer, id, "")? else {
            return Ok(None);
        };
        let damaged = || self.submissions.place(id, "").damaged();
        Entry::decode(&value).ok_or_else(damaged).map(Some)
    }

    pub(super) fn put_entry(&mut self, id: &Id, entry: &Entry) -> Result<()> {
        self.submissions.put(self.sealer, id, "", &entry.encode())
    }

    /// Begins a submission, or finds it.
    pub(crate) fn begin(&mut self, submission: Submission, now: u64) -> Result<Begun> {
        if let Some(entry) = self.entry(&submission.id)? {
            return found(&entry, &submission);
        }
        let id = submission.id;
        let chain = Chain::begin(&submission.header, submission.length).link().0;
        let entry = Entry::begin(submission, chain, now);
        self.book
            .begin(self.limits, &entry.kind, &entry.account, entry.bytes())?;
        self.put_entry(&id, &entry)?;
        self.receiving.mark(&tables::of_time(now, &id))?;
        Ok(Begun::At(0))
    }

    /// Takes the next piece; gives the offset after it.
    pub(crate) fn piece(&mut self, id: &Id, offset: u64, piece: &[u8]) -> Result<u64> {
        let mut entry = self.receiving_entry(id)?;
        let expected = entry.received;
        if offset != expected {
            let came = offset;
            return Err(VaultError::Offset { expected, came });
        }
        let expected = (entry.length - offset).min(PIECE_BYTES as u64);
        let came = piece.len() as u64;
        if came != expected || came == 0 {
            return Err(VaultError::PieceLength { expected, came });
        }
        let mut chain = Chain::from_link(entry.chain.into());
        chain.piece(piece);
        entry.chain = chain.link().0;
        entry.received += came;
        if entry.is_inline() {
            entry.inline = piece.to_vec().into();
        } else {
            let key = tables::of_piece(id, (offset / PIECE_BYTES as u64) as u32);
            self.pieces.put(self.sealer, &key, &entry.kind, piece)?;
        }
        self.put_entry(id, &entry)?;
        Ok(entry.received)
    }

    /// Checks that a body is whole and has its digest; gives since when the submission is accepted, if it is. What came of a body with another digest
    /// is dropped.
    pub(crate) fn whole(&mut self, id: &Id) -> Result<Option<u64>> {
        let entry = self.entry(id)?.ok_or(VaultError::NoSubmission)?;
        if entry.accepted_at().is_some() {
            return Ok(Some(entry.accepted));
        }
        let mut entry = self.receiving_entry(id)?;
        let (received, length) = (entry.received, entry.length);
        if received < length {
            return Err(VaultError::Incomplete { received, length });
        }
        if entry.chain != entry.digest {
            self.remove_pieces(id, &entry)?;
            entry.received = 0;
            entry.chain = Chain::begin(&entry.header, length).link().0;
            entry.inline = Vec::new().into();
            self.put_entry(id, &entry)?;
            return Err(VaultError::Digest);
        }
        Ok(None)
    }

    /// Accepts a whole submission; gives since when it is.
    pub(crate) fn accept(&mut self, id: &Id, now: u64) -> Result<u64> {
        if let Some(at) = self.whole(id)? {
            return Ok(at);
        }
        let entry = self.receiving_entry(id)?;
        self.keep(id, entry, now)?;
        Ok(now)
    }

    /// Takes a submission with its body, which has one piece and the announced digest.
    pub(crate) fn submit(
        &mut self,
        submission: Submission,
        body: &[u8],
        now: u64,
    ) -> Result<Begun> {
        let id = submission.id;
        let entry = match self.entry(&id)? {
            Some(entry) => {
                if let accepted @ Begun::Accepted { .. } = found(&entry, &submission)? {
                    return Ok(accepted);
                }
                entry
            }
            None => {
                let entry = Entry::begin(submission, [0; 32], now);
                self.book
                    .begin(self.limits, &entry.kind, &entry.account, entry.bytes())?;
                entry
            }
        };
        let mut entry = Entry {
            received: entry.length,
            ..entry
        };
        if entry.is_inline() {
            entry.inline = body.to_vec().into();
        } else {
            let key = tables::of_piece(&id, 0);
            self.pieces.put(self.sealer, &key, &entry.kind, body)?;
        }
        self.keep(&id, entry, now)?;
        Ok(Begun::Accepted { at: now })
    }

    /// Notes that a submission is accepted.
    fn keep(&mut self, id: &Id, mut entry: Entry, now: u64) -> Result<()> {
        self.receiving.remove(&tables::of_time(entry.begun, id))?;
        entry.stage = Stage::Accepted;
        entry.accepted = now;
        self.arrive(&entry.kind, &entry.account, now, id)?;
        self.put_entry(id, &entry)
    }

    /// A submission of which pieces are to come.
    fn receiving_entry(&self, id: &Id) -> Result<Entry> {
        let entry = self.entry(id)?.ok_or(VaultError::NoSubmission)?;
        match entry.stage {
            Stage::Receiving => Ok(entry),
            Stage::Expired => Err(VaultError::Expired),
            // Nothing is missing of what was accepted.
            _ => Err(VaultError::Offset {
                expected: entry.length,
                came: 0,
            }),
        }
    }

    pub(super) fn remove_pieces(&mut self, id: &Id, entry: &Entry) -> Result<()> {
        if !entry.is_inline() {
            self.pieces.remove_prefix(id)?;
        }
        Ok(())
    }

    /// Ends a submission that was accepted, or begun: what it held goes away, a trace of it stays.
    pub(super) fn end_entry(
        &mut self,
        id: &Id,
        mut entry: Entry,
        stage: Stage,
        now: u64,
    ) -> Result<()> {
        match entry.stage {
            Stage::Receiving => self.receiving.remove(&tables::of_time(entry.begun, id))?,
            _ => self.depart(&entry.kind, &entry.account, entry.accepted, id)?,
        }
        self.remove_pieces(id, &entry)?;
        self.book
            .end(&entry.kind, &entry.account, entry.bytes(), true);
        entry.end(stage, now);
        self.ended.mark(&tables::of_time(now, id))?;
        self.put_entry(id, &entry)
    }

    /// Whether a submission is accepted and no batch has it.
    pub(super) fn waits(&self, id: &Id, entry: &Entry) -> Result<bool> {
        let key = tables::of_accepted(&entry.kind, entry.accepted, id);
        Ok(entry.stage == Stage::Accepted && self.accepted.has(&key)?)
    }

    /// Bars ids: those that are not accepted never will be. Gives those.
    pub(super) fn bar(&mut self, ids: Vec<Id>, now: u64) -> Result<Vec<Id>> {
        let mut barred = Vec::new();
        for id in ids {
            match self.entry(&id)? {
                None => {
                    let entry = Entry::barred(now);
                    self.book.change_both("", "", |usage| usage.remembered += 1);
                    self.ended.mark(&tables::of_time(now, &id))?;
                    self.put_entry(&id, &entry)?;
                }
                Some(entry) if entry.stage == Stage::Receiving => {
                    self.end_entry(&id, entry, Stage::Expired, now)?;
                }
                Some(entry) if entry.stage == Stage::Expired => {}
                Some(_) => continue,
            }
            barred.push(id);
        }
        Ok(barred)
    }

    /// Lets those of the ids expire that are accepted and in no batch.
    pub(super) fn expire(&mut self, ids: Vec<Id>, now: u64) -> Result<()> {
        for id in ids {
            if let Some(entry) = self.entry(&id)?
                && self.waits(&id, &entry)?
            {
                self.end_entry(&id, entry, Stage::Expired, now)?;
            }
        }
        Ok(())
    }
}

/// How a submission stands that is there already; all fields must be as they were.
fn found(entry: &Entry, submission: &Submission) -> Result<Begun> {
    if entry.stage == Stage::Expired {
        return Err(VaultError::Expired);
    }
    let differs = [
        ("kind", entry.kind != submission.kind),
        ("client", entry.client != submission.client),
        ("length", entry.length != submission.length),
        ("digest", entry.digest != submission.digest),
        // The digest of what has ended vouches for its header.
        ("header", entry.lives() && entry.header != submission.header),
    ];
    if let Some((field, _)) = differs.iter().find(|(_, differs)| *differs) {
        return Err(VaultError::Conflict { field });
    }
    Ok(match entry.accepted_at() {
        Some(at) => Begun::Accepted { at },
        None => Begun::At(entry.received),
    })
}

impl Entry {
    /// Since when it is accepted. An expired one is not: nothing follows from its receipt.
    pub(super) fn accepted_at(&self) -> Option<u64> {
        match self.stage {
            Stage::Receiving | Stage::Expired => None,
            _ => Some(self.accepted),
        }
    }
}
