//! Messages between servers.

use std::sync::Arc;

use madrigal_core::Digest256;

use super::bits::{Bits, MessageError};
use super::outcome::Outcome;
use super::wire::{Reader, Writer};
use crate::submission::Id;

/// Facts that a follower has on disk about a batch that has not ended there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// Number of the batch.
    pub n: u64,
    /// Digest of its submissions.
    pub digest: Digest256,
    /// Why the follower's policy does not compute it.
    pub refused: Option<String>,
    /// Number of the last run whose results it has, or 0.
    pub done: u32,
}

/// Facts that a follower has on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hello {
    /// The last batch that ended: number, digest, how.
    pub ended: Option<(u64, Digest256, Outcome)>,
    /// The batch after it, if it is prepared.
    pub prepared: Option<Preparation>,
}

/// The submissions of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// These of the proposal with this number.
    Of {
        /// Number of the proposal in its session.
        attempt: u64,
        /// One bit for each id of the proposal.
        bits: Bits,
    },
    /// These, in order.
    Ids(Arc<[Id]>),
}

/// A message. Hello, Have, Prepared, Refused, Done, Broken and Ended go to the leader, Halted to all, the others to a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // fields that the variants name
pub enum Message {
    /// First message of a follower in a session.
    Hello(Hello),
    /// Ids that the leader has accepted, in order; those with a bit in `overdue` are to expire if not all have them.
    Propose {
        attempt: u64,
        n: u64,
        ids: Arc<[Id]>,
        overdue: Bits,
    },
    /// Tells which of the proposed ids the follower has accepted; overdue ones among the others it never will. `overdue` are its own that were not proposed.
    Have {
        attempt: u64,
        n: u64,
        least: u64,
        have: Bits,
        overdue: Vec<Id>,
    },
    /// Ids of a Have that the leader never will accept.
    Barred { ids: Vec<Id> },
    /// The batch, and the digest of its submissions.
    Prepare {
        n: u64,
        digest: Digest256,
        chosen: Chosen,
    },
    /// The batch is on the follower's disk.
    Prepared { n: u64, digest: Digest256 },
    /// The batch is on the follower's disk, and its policy does not compute it.
    Refused {
        n: u64,
        digest: Digest256,
        reason: String,
    },
    /// Compute the batch.
    Run { n: u64, run: u32 },
    /// The results of a run are on the follower's disk.
    Done { n: u64, run: u32 },
    /// The run came to nothing at the follower.
    Broken { n: u64, run: u32, reason: String },
    /// The batch ended.
    End {
        n: u64,
        digest: Digest256,
        outcome: Outcome,
    },
    /// The end is on the follower's disk.
    Ended { n: u64 },
    /// The sender has stopped the kind.
    Halted { reason: String },
}

impl Message {
    /// The message's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Propose { .. } => "Propose",
            Self::Have { .. } => "Have",
            Self::Barred { .. } => "Barred",
            Self::Prepare { .. } => "Prepare",
            Self::Prepared { .. } => "Prepared",
            Self::Refused { .. } => "Refused",
            Self::Run { .. } => "Run",
            Self::Done { .. } => "Done",
            Self::Broken { .. } => "Broken",
            Self::End { .. } => "End",
            Self::Ended { .. } => "Ended",
            Self::Halted { .. } => "Halted",
        }
    }

    /// Bytes of the message, which have one reading. Integers are little-endian; a list has its length before it.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Hello(hello) => {
                w.u8(1);
                w.option(hello.ended.as_ref(), |w, (n, digest, outcome)| {
                    w.u64(*n);
                    w.digest(digest);
                    w.outcome(outcome);
                });
                w.option(hello.prepared.as_ref(), |w, prepared| {
                    w.u64(prepared.n);
                    w.digest(&prepared.digest);
                    w.option(prepared.refused.as_ref(), |w, reason| w.text(reason));
                    w.u32(prepared.done);
                });
            }
            Self::Propose {
                attempt,
                n,
                ids,
                overdue,
            } => {
                w.u8(2);
                w.u64(*attempt);
                w.u64(*n);
                w.ids(ids);
                w.bits(overdue);
            }
            Self::Have {
                attempt,
                n,
                least,
                have,
                overdue,
            } => {
                w.u8(3);
                w.u64(*attempt);
                w.u64(*n);
                w.u64(*least);
                w.bits(have);
                w.ids(overdue);
            }
            Self::Barred { ids } => {
                w.u8(4);
                w.ids(ids);
            }
            Self::Prepare { n, digest, chosen } => {
                w.u8(5);
                w.u64(*n);
                w.digest(digest);
                match chosen {
                    Chosen::Of { attempt, bits } => {
                        w.u8(0);
                        w.u64(*attempt);
                        w.bits(bits);
                    }
                    Chosen::Ids(ids) => {
                        w.u8(1);
                        w.ids(ids);
                    }
                }
            }
            Self::Prepared { n, digest } => {
                w.u8(6);
                w.u64(*n);
                w.digest(digest);
            }
            Self::Refused { n, digest, reason } => {
                w.u8(7);
                w.u64(*n);
                w.digest(digest);
                w.text(reason);
            }
            Self::Run { n, run } => {
                w.u8(8);
                w.u64(*n);
                w.u32(*run);
            }
            Self::Done { n, run } => {
                w.u8(9);
                w.u64(*n);
                w.u32(*run);
            }
            Self::Broken { n, run, reason } => {
                w.u8(10);
                w.u64(*n);
                w.u32(*run);
                w.text(reason);
            }
            Self::End { n, digest, outcome } => {
                w.u8(11);
                w.u64(*n);
                w.digest(digest);
                w.outcome(outcome);
            }
            Self::Ended { n } => {
                w.u8(12);
                w.u64(*n);
            }
            Self::Halted { reason } => {
                w.u8(13);
                w.text(reason);
            }
        }
        w.done()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`] for all bytes that [`encode`](Self::encode) does not write. Memory is bounded by the length of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut r = Reader::new(bytes);
        let message = match r.u8()? {
            1 => Self::Hello(Hello {
                ended: r.option(|r| Ok((r.number()?, r.digest()?, r.outcome()?)))?,
                prepared: r.option(|r| {
                    Ok(Preparation {
                        n: r.number()?,
                        digest: r.digest()?,
                        refused: r.option(Reader::text)?,
                        done: r.u32()?,
                    })
                })?,
            }),
            2 => {
                let (attempt, n, ids) = (r.u64()?, r.number()?, r.sorted_ids()?);
                let overdue = r.bits()?;
                if overdue.len() != ids.len() {
                    return Err(MessageError("a bit is missing, or one too many"));
                }
                Self::Propose {
                    attempt,
                    n,
                    ids,
                    overdue,
                }
            }
            3 => Self::Have {
                attempt: r.u64()?,
                n: r.number()?,
                least: r.u64()?,
                have: r.bits()?,
                overdue: r.overdue_ids()?,
            },
            4 => Self::Barred {
                ids: r.overdue_ids()?,
            },
            5 => Self::Prepare {
                n: r.number()?,
                digest: r.digest()?,
                chosen: match r.u8()? {
                    0 => Chosen::Of {
                        attempt: r.u64()?,
                        bits: r.bits()?,
                    },
                    1 => Chosen::Ids(r.sorted_ids()?),
                    _ => return Err(MessageError("an unknown form of a batch")),
                },
            },
            6 => Self::Prepared {
                n: r.number()?,
                digest: r.digest()?,
            },
            7 => Self::Refused {
                n: r.number()?,
                digest: r.digest()?,
                reason: r.text()?,
            },
            8 => Self::Run {
                n: r.number()?,
                run: r.run()?,
            },
            9 => Self::Done {
                n: r.number()?,
                run: r.run()?,
            },
            10 => Self::Broken {
                n: r.number()?,
                run: r.run()?,
                reason: r.text()?,
            },
            11 => Self::End {
                n: r.number()?,
                digest: r.digest()?,
                outcome: r.outcome()?,
            },
            12 => Self::Ended { n: r.number()? },
            13 => Self::Halted { reason: r.text()? },
            _ => return Err(MessageError("an unknown message")),
        };
        r.end()?;
        Ok(message)
    }
}
