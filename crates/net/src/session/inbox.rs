//! Takes in what arrives. `frame.rs` has judged the form of each frame; here is judged what frames say.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use madrigal_core::Party;

use super::greeting::unix_seconds;
use super::shared::{MAX_ANNOUNCED, Peer, Shared, lock};
use crate::control::{self, Message, printable};
use crate::error::Error;
use crate::flow::{CHANNEL_COST, ChannelState, Refused};
use crate::frame::{Frame, FrameError, FrameKind};
use crate::transport::Listener;

/// The most steps that a peer may address before we have opened them.
const MAX_UNOPENED: usize = 1 << 14;

impl Listener for Shared {
    fn listens_to(&self, from: Party) -> bool {
        let known = from != self.me() && from.index() < self.parties();
        known && !self.closed.load(Relaxed)
    }

    fn deliver(&self, from: Party, frames: Vec<Frame>) {
        let peer = self.peer(from);
        peer.heard.store(self.now(), Relaxed);
        if self.check().is_err() {
            return; // nobody will ask for it
        }
        for frame in frames {
            if let Err(error) = self.take(peer, frame) {
                self.fail(error);
                return;
            }
        }
    }

    fn damaged(&self, from: Party, problem: FrameError) {
        self.fail(Error::Frame {
            peer: from,
            problem,
        });
    }

    fn lost(&self, from: Party, reason: &str) {
        let peer = self.peer(from);
        if peer.left.load(Relaxed) {
            // All it ever sent has arrived: a job that it has not finished it never will.
            for job in self.unfinished(peer) {
                self.fail_job(&job, peer.has_left());
            }
            return;
        }
        let wait = peer.longest_wait().filter(|wait| !wait.sending);
        let missing = wait.as_ref().map_or(0, |wait| wait.missing);
        let step = wait.map(|wait| wait.step);
        self.fail(Error::Lost {
            peer: from,
            step,
            missing,
            reason: printable(reason),
        });
    }
}

impl Peer {
    /// Gives the waits for this peer, each with its job.
    pub(super) fn waits(&self) -> impl Iterator<Item = (u32, crate::flow::Wait)> + use<> {
        let channels: Vec<_> = lock(&self.channels)
            .by_address
            .iter()
            .map(|((job, _), channel)| (*job, Arc::clone(channel)))
            .collect();
        channels
            .into_iter()
            .filter_map(|(job, channel)| Some((job, channel.waits()?)))
    }

    /// The wait that has lasted longest.
    pub(super) fn longest_wait(&self) -> Option<crate::flow::Wait> {
        let longest = self.waits().min_by_key(|(_, wait)| wait.since);
        longest.map(|(_, wait)| wait)
    }
}

impl Shared {
    fn take(&self, peer: &Peer, frame: Frame) -> Result<(), Error> {
        let header = frame.header;
        frame.check().map_err(|problem| Error::Frame {
            peer: peer.party,
            problem,
        })?;
        match header.kind {
            FrameKind::Data => {
                let Some(channel) = self.channel_for(peer, header.job, header.step)? else {
                    return Ok(());
                };
                channel
                    .deliver(frame, &peer.early, self.config.store)
                    .map_err(|refused| refused.into_error(peer, &channel))
            }
            FrameKind::Credit | FrameKind::Blocked => {
                let total: [u8; 8] = frame.payload[..].try_into().map_err(|_| Error::Control {
                    peer: peer.party,
                    problem: "a credit, or a wish for one, that has not 8 bytes",
                })?;
                let total = u64::from_le_bytes(total);
                let Some(channel) = self.channel_for(peer, header.job, header.step)? else {
                    return Ok(());
                };
                if header.kind == FrameKind::Blocked {
                    channel.blocked(total);
                    return Ok(());
                }
                let credited = channel.credit(total);
                credited.map_err(|refused| refused.into_error(peer, &channel))
            }
            FrameKind::Control => {
                let message = control::read(&frame.payload).map_err(|problem| Error::Control {
                    peer: peer.party,
                    problem,
                })?;
                self.hear(peer, header.job, message)?;
                self.wake_control();
                Ok(())
            }
        }
    }

    /// The channel a frame is for: `None` for one of a job that is over. A peer may be ahead of us,
    /// so the channel need not be open here yet; how many of these it can make us keep is bounded.
    fn channel_for(
        &self,
        peer: &Peer,
        job: u32,
        step: u64,
    ) -> Result<Option<Arc<ChannelState>>, Error> {
        let mut channels = lock(&peer.channels);
        if let Some(channel) = channels.by_address.get(&(job, step)) {
            return Ok(Some(Arc::clone(channel)));
        }
        if channels.over.contains(job) {
            return Ok(None);
        }
        let kept = peer.early.fetch_add(CHANNEL_COST, Relaxed) + CHANNEL_COST;
        if channels.unopened >= MAX_UNOPENED || kept > self.config.store {
            return Err(Error::Flood {
                peer: peer.party,
                step: None,
                allowed: self.config.store,
            });
        }
        channels.unopened += 1;
        let channel = Arc::new(ChannelState::new(self.config.window, &peer.room));
        channels
            .by_address
            .insert((job, step), Arc::clone(&channel));
        Ok(Some(channel))
    }

    /// Whether there is no room for what a peer says of this job, beside what it has said of other jobs
    /// that are not open here.
    fn crowded<T>(&self, job: u32, said: &HashMap<u32, T>) -> bool {
        if said.len() < MAX_ANNOUNCED {
            return false;
        }
        let open = lock(&self.jobs);
        let ahead = said.keys().filter(|job| !open.contains_key(job)).count();
        ahead >= MAX_ANNOUNCED && !open.contains_key(&job)
    }

    fn hear(&self, peer: &Peer, job: u32, message: Message) -> Result<(), Error> {
        match message {
            Message::Hello(hello) => {
                let mut control = peer.control();
                if !self.greets_alike(peer, control.hello.as_ref(), &hello) {
                    return Err(Error::Control {
                        peer: peer.party,
                        problem: "a second greeting that differs from the first (was it started again?)",
                    });
                }
                if peer.seed.get().is_none() {
                    if hello.clock > 0 {
                        let ahead = hello.clock.wrapping_sub(unix_seconds()) as i64;
                        let _ = peer.clock_ahead.set(ahead);
                    }
                    control.hello = Some(hello);
                }
            }
            Message::OpenJob(open) => {
                peer.control().announced.remove(&job);
                let Some(mut control) = peer.control_of(job) else {
                    return Ok(());
                };
                if self.crowded(job, &control.opened) {
                    let problem = "more jobs announced than may wait";
                    return Err(Error::Control {
                        peer: peer.party,
                        problem,
                    });
                }
                control.opened.insert(job, open);
            }
            Message::FinishJob(finish) => {
                let Some(mut control) = peer.control_of(job) else {
                    return Ok(());
                };
                if self.crowded(job, &control.finished) {
                    let problem = "more jobs finished than announced";
                    return Err(Error::Control {
                        peer: peer.party,
                        problem,
                    });
                }
                control.finished.insert(job, finish);
            }
            Message::Abort(abort) => {
                // 0 is nobody; a number that is no party is nobody too.
                let culprit = (abort.culprit as usize)
                    .checked_sub(1)
                    .and_then(|index| Party::checked(index, self.parties()).ok());
                let error = Error::Aborted {
                    peer: peer.party,
                    reason: printable(&abort.reason),
                    culprit,
                    network: abort.network,
                };
                if job == 0 {
                    self.fail(error);
                    return Ok(());
                }
                // Noted first and looked up then: a job that is being opened looks in this order
                // too, and so one of the two finds it.
                if let Some(mut control) = peer.control_of(job) {
                    if self.crowded(job, &control.aborted) {
                        let problem = "more jobs given up than announced";
                        return Err(Error::Control {
                            peer: peer.party,
                            problem,
                        });
                    }
                    control.aborted.insert(job, error.clone());
                }
                if let Some(job) = self.find_job(job) {
                    self.fail_job(&job, error);
                }
            }
            Message::Leave(_) => peer.left.store(true, SeqCst),
            Message::Alive(alive) => self.hear_sign(peer, &alive),
        }
        Ok(())
    }
}

impl Refused {
    fn into_error(self, peer: &Peer, channel: &ChannelState) -> Error {
        let peer = peer.party;
        match self {
            Refused::Flood { allowed } => Error::Flood {
                peer,
                step: channel.name(),
                allowed,
            },
            Refused::Credit => Error::Control {
                peer,
                problem: "a credit for bytes that were never sent",
            },
        }
    }
}
