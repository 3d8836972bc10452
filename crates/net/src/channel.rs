//! One channel: the messages between us and one peer in one step of one job. Messages arrive in the
//! order in which they were sent, whatever the transport did to their frames; how far a sender may be
//! ahead of its receiver is in `flow.rs`.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::{Bytes, BytesMut};
use madrigal_core::Party;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::flow::{ChannelState, Reserved, Taken};
use crate::frame::{Frame, FrameKind, Header, MAX_PAYLOAD, message_cost};

/// Our end of the messages between us and one peer in one step: both directions, which can be used
/// one after the other through the channel or side by side through its halves.
#[derive(Debug)]
pub struct Channel {
    /// Sender to the peer.
    pub tx: Sender,
    /// Receiver from the peer.
    pub rx: Receiver,
}

/// The sending half of a [`Channel`].
#[derive(Debug)]
pub struct Sender(End);

/// The receiving half of a [`Channel`]. When it is dropped, what still comes is dropped too.
#[derive(Debug)]
pub struct Receiver(End);

#[derive(Clone)]
struct End {
    context: Context,
    peer: Party,
    step: u64,
    state: Arc<ChannelState>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {}", self.context.path(), self.peer)
    }
}

impl Context {
    /// Opens the channel to `peer` for this step.
    ///
    /// # Errors
    /// [`Error::Reused`] if this step already has one; the job's failure.
    pub fn channel(&self, peer: Party) -> Result<Channel> {
        let (step, state) = self.open(peer)?;
        let end = End {
            context: self.clone(),
            peer,
            step,
            state,
        };
        Ok(Channel {
            tx: Sender(end.clone()),
            rx: Receiver(end),
        })
    }

    /// Opens the channels to all peers for this step, in the order of [`peers`](Context::peers).
    ///
    /// # Errors
    /// [`Error`] in the same cases as [`channel`](Context::channel).
    pub fn channels(&self) -> Result<Vec<Channel>> {
        self.peers().map(|peer| self.channel(peer)).collect()
    }
}

impl Channel {
    /// The other end.
    pub fn peer(&self) -> Party {
        self.tx.0.peer
    }

    /// Counts the rounds of what is sent and received from now on in `context` (one
    /// [`beside`](Context::beside) this channel's): a channel may carry the messages of several
    /// pieces of work that do not wait for each other.
    pub fn count_in(&mut self, context: &Context) {
        self.tx.count_in(context);
        self.rx.count_in(context);
    }

    /// [`Sender::send`].
    pub async fn send(&mut self, message: impl Into<Bytes>) -> Result<()> {
        self.tx.send(message).await
    }

    /// [`Receiver::recv`].
    pub async fn recv(&mut self, expected: usize) -> Result<Bytes> {
        self.rx.recv(expected).await
    }

    /// [`Receiver::recv_idle`].
    pub async fn recv_idle(&mut self, expected: usize) -> Result<Bytes> {
        self.rx.recv_idle(expected).await
    }

    /// [`Sender::fits_half_window`].
    pub fn fits_half_window(&self, bytes: usize) -> bool {
        self.tx.fits_half_window(bytes)
    }

    /// [`Receiver::refuse`].
    pub fn refuse(&self, problem: impl std::fmt::Display) -> Error {
        self.rx.refuse(problem)
    }
}

impl Sender {
    /// Counts as [`Channel::count_in`] does, messages that are sent alone: where sending does not wait for what comes.
    pub fn count_in(&mut self, context: &Context) {
        self.0.context = context.clone();
    }

    /// Whether a message of this many bytes takes at most half of the window, as [`message_cost`] counts
    /// it; where the window has grown, of what it was at first. All parties can send each other one such
    /// message before they receive any, once they have received all that came before: a receiver never
    /// holds back permission for as much.
    pub fn fits_half_window(&self, bytes: usize) -> bool {
        message_cost(bytes) as u64 <= self.0.state.window() / 2
    }

    /// Sends one message. It travels with everything else that is ready when this party next waits
    /// for something, or at once when much has gathered. A call that is dropped while it waits may have
    /// sent a part of the message: see [`Receiver::recv`].
    ///
    /// # Errors
    /// [`Error`]: the job's failure, if it has failed.
    pub async fn send(&mut self, message: impl Into<Bytes>) -> Result<()> {
        let mut rest: Bytes = message.into();
        let end = &self.0;
        let _wait = Waiting { end, sending: true };
        let round = end.context.clock().load(Relaxed).saturating_add(1);
        end.context.count_sent(rest.len(), round);
        poll_fn(|task| end.poll_send(task, &mut rest, round)).await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.state.close();
    }
}

impl Receiver {
    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    /// The other end.
    pub fn peer(&self) -> Party {
        self.0.peer
    }

    /// Says that messages of `bytes` bytes in all will come, as [`message_cost`] counts them, and that they
    /// need not wait for each other: over a line with a long round trip, more than a first window may then be
    /// under way from the beginning. Nothing needs to be said where messages are few or go to and fro.
    pub fn expect(&self, bytes: u64) {
        let end = &self.0;
        if let Some(round_trip) = end.context.round_trip(end.peer)
            && let Some(allowed) = end.state.expect(bytes, round_trip)
        {
            end.tell(FrameKind::Credit, allowed);
        }
    }

    /// Counts as [`Channel::count_in`] does, messages that are received alone.
    pub fn count_in(&mut self, context: &Context) {
        self.0.context = context.clone();
    }

    /// Receives the next message, which must have exactly `expected` bytes. A call that is dropped
    /// while it waits may have taken a part of the message, and the next one would take what was meant
    /// for it: so the channel cannot be used after that.
    ///
    /// # Errors
    /// [`Error::Length`] for any other length, [`Error::Ended`] if an earlier call was dropped (both fail the
    /// job for all parties); else the job's failure.
    pub async fn recv(&mut self, expected: usize) -> Result<Bytes> {
        self.receive(expected, false).await
    }

    /// Receives as [`recv`](Self::recv) does, for a party that has nothing to do until the peer wants something of
    /// it: the wait for the message's beginning does not count as a stall. Silence of the peer and
    /// the job's deadline end it all the same.
    ///
    /// # Errors
    /// [`Error`] in the same cases as [`recv`](Self::recv).
    pub async fn recv_idle(&mut self, expected: usize) -> Result<Bytes> {
        self.receive(expected, true).await
    }

    async fn receive(&mut self, expected: usize, idle: bool) -> Result<Bytes> {
        let mut parts = Vec::new();
        let end = &self.0;
        let _wait = Waiting {
            end,
            sending: false,
        };
        poll_fn(|task| end.poll_receive(task, &mut parts, expected, idle)).await
    }

    /// Fails the job because a message, though of the right length, cannot be: an invalid group
    /// element, padding that is not zero. Returns the error to pass on.
    pub fn refuse(&self, problem: impl std::fmt::Display) -> Error {
        let end = &self.0;
        let step = end.context.path().to_owned();
        end.context.fail(Error::Content {
            peer: end.peer,
            step,
            problem: problem.to_string(),
        })
    }
}

// The work of a call is in plain functions: an `async fn` is compiled again in every crate that awaits
// it, these are compiled here.
impl End {
    /// Sends what is left of a message, as far as the window has room.
    fn poll_send(
        &self,
        task: &mut TaskContext<'_>,
        rest: &mut Bytes,
        round: u32,
    ) -> Poll<Result<()>> {
        loop {
            let size = rest.len().min(MAX_PAYLOAD);
            let sequence = ready!(self.poll_reserve(task, size, rest.len() - size))?;
            let payload = rest.split_to(size);
            let last = rest.is_empty();
            let header = Header {
                kind: FrameKind::Data,
                last,
                job: self.context.job_id(),
                step: self.step,
                sequence,
                round,
            };
            self.context.post(self.peer, Frame { header, payload });
            if last {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Receives what is missing of a message, after `parts` of it.
    fn poll_receive(
        &self,
        task: &mut TaskContext<'_>,
        parts: &mut Vec<Bytes>,
        expected: usize,
        idle: bool,
    ) -> Poll<Result<Bytes>> {
        let mut got = parts.iter().map(Bytes::len).sum::<usize>();
        loop {
            let missing = expected.saturating_sub(got);
            let idle = idle && parts.is_empty();
            let frame = ready!(self.poll_frame(task, missing, idle))?;
            got += frame.payload.len();
            let last = frame.header.last;
            if got > expected || (last && got < expected) {
                let step = self.context.path().to_owned();
                return Poll::Ready(Err(self.context.fail(Error::Length {
                    peer: self.peer,
                    step,
                    expected,
                    got,
                })));
            }
            if last {
                let round = frame.header.round;
                self.context.clock().fetch_max(round, Relaxed);
                self.context.count_received(expected, round);
                if parts.is_empty() {
                    return Poll::Ready(Ok(frame.payload));
                }
                parts.push(frame.payload);
                let mut whole = BytesMut::with_capacity(expected);
                parts.iter().for_each(|part| whole.extend_from_slice(part));
                return Poll::Ready(Ok(whole.freeze()));
            }
            parts.push(frame.payload);
        }
    }
}

/// A call that may wait. However it ends, by an error or by being dropped too, nothing waits after
/// it.
struct Waiting<'a> {
    end: &'a End,
    sending: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.end.state.end_wait(self.sending);
    }
}

impl End {
    fn poll_reserve(
        &self,
        task: &mut TaskContext<'_>,
        bytes: usize,
        after: usize,
    ) -> Poll<Result<u32>> {
        self.context.check()?;
        match self.state.reserve(task.waker(), bytes, after) {
            Reserved::Place(sequence) => Poll::Ready(Ok(sequence)),
            Reserved::Full { complain } => {
                if let Some(limit) = complain {
                    self.tell(FrameKind::Blocked, limit);
                }
                self.wait()
            }
            Reserved::Exhausted => {
                let reason = format!("step `{}` sent 2^32 frames", self.context.path());
                Poll::Ready(Err(self.context.fail(Error::Ended { reason })))
            }
            Reserved::GivenUp => Poll::Ready(Err(self.out_of_step())),
        }
    }

    fn poll_frame(
        &self,
        task: &mut TaskContext<'_>,
        missing: usize,
        idle: bool,
    ) -> Poll<Result<Frame>> {
        self.context.check()?;
        let (frame, credit) = match self.state.take(task.waker(), missing, idle) {
            Taken::Frame { frame, credit } => (frame, credit),
            Taken::Nothing => return self.wait(),
            Taken::GivenUp => return Poll::Ready(Err(self.out_of_step())),
        };
        if let Some(allowed) = credit {
            self.tell(FrameKind::Credit, allowed);
        }
        Poll::Ready(Ok(frame))
    }

    /// Tells the peer a total of bytes.
    fn tell(&self, kind: FrameKind, total: u64) {
        let header = Header {
            kind,
            last: true,
            job: self.context.job_id(),
            step: self.step,
            sequence: 0,
            round: 0,
        };
        let payload = Bytes::copy_from_slice(&total.to_le_bytes());
        self.context.post(self.peer, Frame { header, payload });
    }

    /// Sends off what has gathered: who waits keeps nothing back.
    fn wait<T>(&self) -> Poll<Result<T>> {
        self.context.flush_to_wait();
        // The failure may have come between the check and the waker.
        self.context.check()?;
        Poll::Pending
    }

    /// Fails the job because a call on this channel was given up.
    fn out_of_step(&self) -> Error {
        let reason = format!(
            "a send or receive in step `{}` was given up before its end, and the step used again; start a new job",
            self.context.path()
        );
        self.context.fail(Error::Ended { reason })
    }
}
