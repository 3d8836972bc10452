//! A follower as the leader sees it in a session.

use madrigal_core::Party;

use super::contradiction::{Contradiction, described};
use super::message::{Hello, Message};
use super::outcome::Outcome;
use super::types::{Batch, Closed};

/// Facts that the leader has heard of one follower since the session began.
#[derive(Debug, Default)]
pub(super) struct Peer {
    /// The first message, until it is compared.
    pub(super) hello: Option<Hello>,
    /// Whether the first message was compared: nothing is sent before.
    pub(super) known: bool,
    /// The last batch that it has ended, or 0.
    pub(super) ended: u64,
    /// Whether it has prepared the batch after that.
    pub(super) prepared: bool,
    /// Why it does not compute that batch.
    pub(super) refused: Option<String>,
    /// Last run of that batch of which it has results, or 0.
    pub(super) done: u32,
    /// Whether that batch was sent to it in this session.
    pub(super) sent_batch: bool,
    /// Whether the end of that batch was sent to it in this session.
    pub(super) sent_end: bool,
}

impl Peer {
    /// Compares what a follower has on disk with what the leader has.
    pub(super) fn greet(
        &mut self,
        kind: &str,
        who: Party,
        hello: Hello,
        closed: Option<&Closed>,
        open: Option<&Batch>,
    ) -> Result<(), Contradiction> {
        let kind = || kind.to_owned();
        let ours = closed.map_or(0, |closed| closed.n);
        let theirs = hello.ended.as_ref().map_or(0, |ended| ended.0);
        let follower = who;
        if theirs > ours {
            return Err(Contradiction::Ahead {
                kind: kind(),
                follower,
                theirs,
                ours,
            });
        }
        // The next batch is begun when all have ended the last one.
        if theirs + 1 < ours || open.is_some() && theirs < ours {
            return Err(Contradiction::Behind {
                kind: kind(),
                follower,
                theirs,
                ours,
            });
        }
        if let (Some((n, digest, outcome)), Some(closed)) = (&hello.ended, closed)
            && *n == closed.n
            && (*digest != closed.digest || *outcome != closed.outcome)
        {
            return Err(Contradiction::Differs {
                kind: kind(),
                follower,
                n: *n,
                theirs: described(digest, Some(outcome)),
                ours: described(&closed.digest, Some(&closed.outcome)),
            });
        }
        // The batch that the follower is in, as the leader has it.
        let current = match (open, closed) {
            (Some(open), _) => Some((open.n, &open.digest, open.run, None)),
            (None, Some(closed)) if theirs < ours => {
                // A run that counts is the last one; which were begun of a batch that failed is not kept.
                let run = match closed.outcome {
                    Outcome::Final { run } => run,
                    Outcome::Failed { .. } => u32::MAX,
                };
                Some((closed.n, &closed.digest, run, Some(&closed.outcome)))
            }
            _ => None,
        };
        if let Some(theirs) = &hello.prepared {
            let Some((n, digest, run, outcome)) = current.filter(|current| current.0 == theirs.n)
            else {
                return Err(Contradiction::Unknown {
                    kind: kind(),
                    follower,
                    what: format!("prepared batch {}", theirs.n),
                });
            };
            if theirs.digest != *digest {
                return Err(Contradiction::Differs {
                    kind: kind(),
                    follower,
                    n,
                    theirs: described(&theirs.digest, None),
                    ours: described(digest, outcome),
                });
            }
            if theirs.done > run {
                return Err(Contradiction::Unknown {
                    kind: kind(),
                    follower,
                    what: format!("results of run {} of batch {n}", theirs.done),
                });
            }
            self.prepared = true;
            self.refused.clone_from(&theirs.refused);
            self.done = theirs.done;
        }
        // A batch is final when all have written its results.
        if let (Some(Closed { n, outcome, .. }), true) = (closed, theirs < ours)
            && let Outcome::Final { run } = *outcome
            && self.done != run
        {
            return Err(Contradiction::Lost {
                kind: kind(),
                follower,
                n: *n,
                run,
            });
        }
        self.ended = theirs;
        self.known = true;
        Ok(())
    }

    /// Whether the end of batch `n` can be sent: it has the batch.
    pub(super) fn holds(&self) -> bool {
        self.prepared || self.refused.is_some()
    }

    /// Notes that the follower ended batch `n`.
    pub(super) fn end(&mut self, n: u64) {
        *self = Self {
            known: true,
            ended: n,
            ..Self::default()
        };
    }
}

/// The error of a message that cannot come now.
pub(super) fn out_of_order(
    kind: &str,
    from: Party,
    message: &Message,
    expected: impl Into<String>,
) -> Contradiction {
    Contradiction::Order {
        kind: kind.to_owned(),
        from,
        came: message.name().to_owned(),
        expected: expected.into(),
    }
}
