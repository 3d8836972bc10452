//! The row of a submission.

use madrigal_core::Zeroizing;

use super::fields::{Fields, Read};
use crate::submission::Submission;

/// Bodies up to here stand in the row of their submission: that saves a row, which is most of what a small submission costs.
pub(crate) const INLINE: u64 = 1024;

/// How far a submission has come. That it is in a batch is not written into its row: the row of an accepted submission that no batch has taken is in the table of
/// [`ACCEPTED`](super::tables::ACCEPTED) too, and a batch takes it out of there alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Receiving,
    Accepted,
    Counted { n: u64, run: u32 },
    Failed { n: u64, reason: String },
    Expired,
}

/// A submission as it is stored. What has ended has neither header nor body.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) stage: Stage,
    pub(crate) kind: String,
    pub(crate) client: String,
    /// Account that it counts in.
    pub(crate) account: String,
    pub(crate) length: u64,
    pub(crate) digest: [u8; 32],
    /// When it was begun, accepted (or 0) and ended (or 0), in seconds.
    pub(crate) begun: u64,
    pub(crate) accepted: u64,
    pub(crate) ended: u64,
    /// Bytes of the body that are there, and the chain's value after them.
    pub(crate) received: u64,
    pub(crate) chain: [u8; 32],
    pub(crate) header: Vec<u8>,
    /// The body, up to [`INLINE`] bytes.
    pub(crate) inline: Zeroizing<Vec<u8>>,
}

impl Entry {
    /// A submission of which nothing has come.
    pub(crate) fn begin(submission: Submission, chain: [u8; 32], now: u64) -> Self {
        Self {
            stage: Stage::Receiving,
            kind: submission.kind,
            client: submission.client,
            account: submission.account,
            length: submission.length,
            digest: submission.digest,
            begun: now,
            accepted: 0,
            ended: 0,
            received: 0,
            chain,
            header: submission.header,
            inline: Zeroizing::default(),
        }
    }

    /// A submission that never came, and never may.
    pub(crate) fn barred(now: u64) -> Self {
        Self {
            stage: Stage::Expired,
            kind: String::new(),
            client: String::new(),
            account: String::new(),
            length: 0,
            digest: [0; 32],
            begun: now,
            accepted: 0,
            ended: now,
            received: 0,
            chain: [0; 32],
            header: Vec::new(),
            inline: Zeroizing::default(),
        }
    }

    /// Ends it: what it held goes away.
    pub(crate) fn end(&mut self, stage: Stage, now: u64) {
        self.stage = stage;
        self.ended = now;
        self.header = Vec::new();
        self.inline = Zeroizing::default();
        self.chain = [0; 32];
    }

    /// Whether it has neither ended nor expired.
    pub(crate) fn lives(&self) -> bool {
        matches!(self.stage, Stage::Receiving | Stage::Accepted)
    }

    /// Whether the body stands in the row.
    pub(crate) fn is_inline(&self) -> bool {
        self.length <= INLINE
    }

    /// Bytes, as quotas count them.
    pub(crate) fn bytes(&self) -> u64 {
        crate::limits::Quota::EACH + self.header.len() as u64 + self.length
    }

    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let room = 256 + self.header.len() + self.inline.len();
        let mut fields = Fields(Vec::with_capacity(room + 1024));
        match &self.stage {
            Stage::Receiving => fields.u8(0),
            Stage::Accepted => fields.u8(1),
            Stage::Counted { n, run } => fields.u8(2).u64(*n).u32(*run),
            Stage::Failed { n, reason } => fields.u8(3).u64(*n).bytes(reason.as_bytes()),
            Stage::Expired => fields.u8(4),
        };
        fields
            .bytes(self.kind.as_bytes())
            .bytes(self.client.as_bytes())
            .u64(self.length);
        fields.0.extend(self.digest);
        fields.u64(self.begun).u64(self.accepted).u64(self.ended);
        fields.u64(self.received);
        fields.0.extend(self.chain);
        fields.bytes(&self.header).bytes(&self.inline);
        match &self.account {
            account if account.is_empty() => fields.u8(0),
            account if *account == self.client => fields.u8(1),
            account => fields.u8(2).bytes(account.as_bytes()),
        };
        Zeroizing::new(fields.0)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut read = Read(bytes);
        let read = &mut read;
        let mut entry = Self {
            stage: match read.u8()? {
                0 => Stage::Receiving,
                1 => Stage::Accepted,
                2 => Stage::Counted {
                    n: read.u64()?,
                    run: read.u32()?,
                },
                3 => Stage::Failed {
                    n: read.u64()?,
                    reason: read.text()?,
                },
                4 => Stage::Expired,
                _ => return None,
            },
            kind: read.text()?,
            client: read.text()?,
            account: String::new(),
            length: read.u64()?,
            digest: read.array()?,
            begun: read.u64()?,
            accepted: read.u64()?,
            ended: read.u64()?,
            received: read.u64()?,
            chain: read.array()?,
            header: read.bytes()?.to_vec(),
            inline: Zeroizing::new(read.bytes()?.to_vec()),
        };
        entry.account = match read.0.is_empty() {
            // An older version had no accounts.
            true => entry.client.clone(),
            false => match read.u8()? {
                0 => String::new(),
                1 => entry.client.clone(),
                2 => read.text()?,
                _ => return None,
            },
        };
        read.end()?;
        Some(entry)
    }
}
