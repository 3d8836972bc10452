//! One channel: the messages between us and one peer in one step of one job. Messages arrive in the
//! order in which they were sent, whatever the transport did to their frames.
//!
//! Flow control: a sender may be [`SessionConfig::window`](crate::SessionConfig::window) bytes (with
//! headers) ahead of what the receiver has consumed. The window belongs to the channel, so a step
//! that waits never holds up another one, and what a peer can make us store is bounded.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use madrigal_core::Party;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::frame::{Frame, HEADER_BYTES, Header, Kind, MAX_PAYLOAD};

/// Frames this many places ahead of the next expected one are held back; a transport that mixes
/// frames up more than that is not one.
const MAX_AHEAD: u32 = 1 << 16;

/// The state that frames are delivered into. Shared by the channel's handle and the session.
pub(crate) struct ChannelState {
    window: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    /// The step's name, once it was opened here.
    name: Option<Arc<str>>,
    rx: Receiving,
    tx: Sending,
    /// A call was dropped while it waited: what comes next may belong to that one.
    given_up: bool,
}

struct Receiving {
    next: u32,
    ready: VecDeque<Frame>,
    early: BTreeMap<u32, Frame>,
    arrived: u64,
    consumed: u64,
    granted: u64,
    waker: Option<Waker>,
    /// Since when a receiver waits, and for how many bytes.
    waiting: Option<(Instant, usize)>,
    /// Whether that wait may last.
    idle: bool,
    progress: Instant,
}

struct Sending {
    sequence: u32,
    sent: u64,
    limit: u64,
    waker: Option<Waker>,
    waiting: Option<(Instant, usize)>,
}

/// Why a frame could not be taken.
pub(crate) enum Refused {
    /// Beyond the window.
    Flood { allowed: u64 },
    /// A credit for bytes that were never sent.
    Credit,
}

/// Something that a step has been waiting for.
pub(crate) struct Wait {
    pub(crate) step: String,
    pub(crate) missing: usize,
    pub(crate) since: Instant,
    /// Whether it waits to send rather than to receive.
    pub(crate) sending: bool,
    /// Whether it may last, as long as the peer lives.
    pub(crate) idle: bool,
}

impl ChannelState {
    pub(crate) fn new(window: u64) -> Self {
        let inner = Inner {
            name: None,
            rx: Receiving {
                next: 0,
                ready: VecDeque::new(),
                early: BTreeMap::new(),
                arrived: 0,
                consumed: 0,
                granted: window,
                waker: None,
                waiting: None,
                idle: false,
                progress: Instant::now(),
            },
            tx: Sending {
                sequence: 0,
                sent: 0,
                limit: window,
                waker: None,
                waiting: None,
            },
            given_up: false,
        };
        Self {
            window,
            inner: Mutex::new(inner),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics half-way through a change; a poisoned lock is still sound.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the step its name, and tells how many bytes have come for it until now; `None` if it
    /// had a name.
    pub(crate) fn open(&self, name: &Arc<str>) -> Option<u64> {
        let mut inner = self.lock();
        if inner.name.is_some() {
            return None;
        }
        inner.name = Some(Arc::clone(name));
        Some(inner.rx.arrived)
    }

    pub(crate) fn name(&self) -> Option<String> {
        self.lock().name.as_deref().map(str::to_owned)
    }

    /// Takes in a data frame, in any order, each once. While the step is not open here, its bytes
    /// are counted in `early`, which may not exceed `store`.
    pub(crate) fn deliver(
        &self,
        frame: Frame,
        early: &AtomicU64,
        store: u64,
    ) -> Result<(), Refused> {
        let waker = {
            let mut inner = self.lock();
            let unopened = inner.name.is_none();
            let rx = &mut inner.rx;
            let sequence = frame.header.sequence;
            let ahead = sequence.wrapping_sub(rx.next);
            if sequence < rx.next || rx.early.contains_key(&sequence) {
                return Ok(()); // a duplicate
            }
            let size = frame.wire_bytes() as u64;
            // The last number is never used, so that the next one always exists.
            let ahead_of_all = ahead > MAX_AHEAD || sequence == u32::MAX;
            if ahead_of_all || rx.arrived + size > rx.granted {
                return Err(Refused::Flood {
                    allowed: self.window,
                });
            }
            if unopened && early.fetch_add(size, Relaxed) + size > store {
                return Err(Refused::Flood { allowed: store });
            }
            rx.arrived += size;
            if ahead > 0 {
                rx.early.insert(sequence, frame);
                return Ok(());
            }
            rx.ready.push_back(frame);
            rx.next += 1;
            while let Some(frame) = rx.early.remove(&rx.next) {
                rx.ready.push_back(frame);
                rx.next += 1;
            }
            rx.progress = Instant::now();
            rx.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Takes in the peer's permission to have sent `limit` bytes in total.
    pub(crate) fn credit(&self, limit: u64) -> Result<(), Refused> {
        let waker = {
            let mut inner = self.lock();
            let tx = &mut inner.tx;
            if limit > tx.sent + self.window {
                return Err(Refused::Credit);
            }
            tx.limit = tx.limit.max(limit);
            tx.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Wakes whoever waits here, so that it sees that its job has failed.
    pub(crate) fn wake(&self) {
        let (receiver, sender) = {
            let mut inner = self.lock();
            (inner.rx.waker.take(), inner.tx.waker.take())
        };
        receiver.into_iter().chain(sender).for_each(Waker::wake);
    }

    /// What waits on this channel, and since when without any progress. Who has what it waits for,
    /// but has not looked yet, waits no more.
    pub(crate) fn waits(&self) -> Option<Wait> {
        let inner = self.lock();
        let step = inner.name.as_deref().unwrap_or("?").to_owned();
        if let Some((since, missing)) = inner.rx.waiting
            && inner.rx.ready.is_empty()
        {
            let since = since.max(inner.rx.progress);
            return Some(Wait {
                step,
                missing,
                since,
                sending: false,
                idle: inner.rx.idle,
            });
        }
        let (since, missing) = inner.tx.waiting?;
        let next = (missing.min(MAX_PAYLOAD) + HEADER_BYTES) as u64;
        if inner.tx.sent + next <= inner.tx.limit {
            return None;
        }
        Some(Wait {
            step,
            missing,
            since,
            sending: true,
            idle: false,
        })
    }
}

/// Our end of the messages between us and one peer in one step: both directions, which can be used
/// one after the other through the channel or side by side through its halves.
#[derive(Debug)]
pub struct Channel {
    /// To the peer.
    pub tx: Sender,
    /// From the peer.
    pub rx: Receiver,
}

/// The sending half of a [`Channel`].
#[derive(Debug)]
pub struct Sender(End);

/// The receiving half of a [`Channel`].
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

impl Channel {
    pub(crate) fn new(context: Context, peer: Party, step: u64, state: Arc<ChannelState>) -> Self {
        let end = End {
            context,
            peer,
            step,
            state,
        };
        Self {
            tx: Sender(end.clone()),
            rx: Receiver(end),
        }
    }

    /// The other end.
    pub fn peer(&self) -> Party {
        self.tx.0.peer
    }

    /// The bytes that may be under way each way before a receiver has to take some.
    pub fn window(&self) -> usize {
        self.tx.0.state.window as usize
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

    /// Whether a message of so many bytes, framed, takes at most half of the window. All parties can
    /// send each other one such message before they receive any, once they have received all that came
    /// before: a receiver may hold back its permission for just less than half of the window.
    pub fn fits_half_window(&self, bytes: usize) -> bool {
        let frames = bytes.div_ceil(MAX_PAYLOAD).max(1);
        let framed = frames.saturating_mul(HEADER_BYTES).saturating_add(bytes);
        framed as u64 <= self.tx.0.state.window / 2
    }

    /// [`Receiver::refuse`].
    pub fn refuse(&self, problem: impl std::fmt::Display) -> Error {
        self.rx.refuse(problem)
    }
}

impl Sender {
    /// As [`Channel::count_in`], of what is sent alone: where that does not wait for what comes.
    pub fn count_in(&mut self, context: &Context) {
        self.0.context = context.clone();
    }

    /// Sends one message. It travels with everything else that is ready when this party next waits
    /// for something, or at once when much has gathered. A call that is dropped while it waits may have
    /// sent a part of the message: see [`Receiver::recv`].
    ///
    /// # Errors
    /// The job's failure, if it has failed.
    pub async fn send(&mut self, message: impl Into<Bytes>) -> Result<()> {
        let mut rest: Bytes = message.into();
        let end = &self.0;
        let _wait = Waiting { end, sending: true };
        let round = end.context.clock().load(Relaxed).saturating_add(1);
        end.context.count_sent(rest.len(), round);
        loop {
            let payload = rest.split_to(rest.len().min(MAX_PAYLOAD));
            let last = rest.is_empty();
            let sequence =
                poll_fn(|task| end.poll_reserve(task, payload.len(), rest.len())).await?;
            let header = Header {
                kind: Kind::Data,
                last,
                job: end.context.job_id(),
                step: end.step,
                sequence,
                round,
            };
            end.context.post(end.peer, Frame { header, payload });
            if last {
                return Ok(());
            }
        }
    }
}

impl Receiver {
    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    /// As [`Channel::count_in`], of what is received alone.
    pub fn count_in(&mut self, context: &Context) {
        self.0.context = context.clone();
    }

    /// Receives the next message, which must have exactly `expected` bytes. A call that is dropped
    /// while it waits may have taken a part of the message, and the next one would take what was meant
    /// for it: so the channel cannot be used after that.
    ///
    /// # Errors
    /// [`Error::Length`] if it has not, [`Error::Ended`] if an earlier call was dropped (both fail the
    /// job for all parties); else the job's failure.
    pub async fn recv(&mut self, expected: usize) -> Result<Bytes> {
        self.receive(expected, false).await
    }

    /// As [`recv`](Self::recv), for a party that has nothing to do until the peer wants something of
    /// it: the wait for the message's beginning does not count as a stall. Silence of the peer and
    /// the job's deadline end it all the same.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_idle(&mut self, expected: usize) -> Result<Bytes> {
        self.receive(expected, true).await
    }

    async fn receive(&mut self, expected: usize, idle: bool) -> Result<Bytes> {
        let mut parts: Vec<Bytes> = Vec::new();
        let mut got = 0;
        let end = &self.0;
        let _wait = Waiting {
            end,
            sending: false,
        };
        loop {
            let missing = expected.saturating_sub(got);
            let idle = idle && parts.is_empty();
            let frame = poll_fn(|task| end.poll_frame(task, missing, idle)).await?;
            got += frame.payload.len();
            let last = frame.header.last;
            if got > expected || (last && got < expected) {
                let step = end.context.path().to_owned();
                return Err(end.context.fail(Error::Length {
                    peer: end.peer,
                    step,
                    expected,
                    got,
                }));
            }
            if last {
                let round = frame.header.round;
                end.context.clock().fetch_max(round, Relaxed);
                end.context.count_received(expected, round);
                if parts.is_empty() {
                    return Ok(frame.payload);
                }
                parts.push(frame.payload);
                let mut whole = BytesMut::with_capacity(expected);
                parts.iter().for_each(|part| whole.extend_from_slice(part));
                return Ok(whole.freeze());
            }
            parts.push(frame.payload);
        }
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

/// A call that may wait. However it ends, by an error or by being dropped too, nothing waits after
/// it.
struct Waiting<'a> {
    end: &'a End,
    sending: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut inner = self.end.state.lock();
        let (waiting, waker) = if self.sending {
            let tx = &mut inner.tx;
            (tx.waiting.take(), tx.waker.take())
        } else {
            let rx = &mut inner.rx;
            (rx.waiting.take(), rx.waker.take())
        };
        // Who came to his end waits no more; an error is the job's.
        inner.given_up |= waiting.is_some();
        drop(inner);
        drop(waker);
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
        let size = (bytes + HEADER_BYTES) as u64;
        let mut inner = self.state.lock();
        if inner.given_up {
            drop(inner);
            return Poll::Ready(Err(self.out_of_step()));
        }
        let tx = &mut inner.tx;
        if tx.sent + size > tx.limit {
            tx.waker = Some(task.waker().clone());
            tx.waiting.get_or_insert((Instant::now(), bytes + after));
            drop(inner);
            self.context.flush();
            self.context.check()?;
            return Poll::Pending;
        }
        let sequence = tx.sequence;
        let Some(next) = sequence.checked_add(1) else {
            drop(inner);
            let reason = format!("step `{}` sent 2^32 frames", self.context.path());
            return Poll::Ready(Err(self.context.fail(Error::Ended { reason })));
        };
        tx.sequence = next;
        tx.sent += size;
        tx.waiting = None;
        Poll::Ready(Ok(sequence))
    }

    fn poll_frame(
        &self,
        task: &mut TaskContext<'_>,
        missing: usize,
        idle: bool,
    ) -> Poll<Result<Frame>> {
        self.context.check()?;
        let mut inner = self.state.lock();
        if inner.given_up {
            drop(inner);
            return Poll::Ready(Err(self.out_of_step()));
        }
        let rx = &mut inner.rx;
        let Some(frame) = rx.ready.pop_front() else {
            rx.waker = Some(task.waker().clone());
            rx.waiting.get_or_insert((Instant::now(), missing));
            rx.idle = idle;
            drop(inner);
            self.context.flush();
            // The failure may have come between the check and the waker.
            self.context.check()?;
            return Poll::Pending;
        };
        rx.waiting = None;
        rx.consumed += frame.wire_bytes() as u64;
        let allowed = rx.consumed + self.state.window;
        let grant = (allowed - rx.granted >= self.state.window / 2).then_some(allowed);
        if let Some(allowed) = grant {
            rx.granted = allowed;
        }
        drop(inner);
        if let Some(allowed) = grant {
            let header = Header {
                kind: Kind::Credit,
                last: true,
                job: self.context.job_id(),
                step: self.step,
                sequence: 0,
                round: 0,
            };
            let payload = Bytes::copy_from_slice(&allowed.to_le_bytes());
            self.context.post(self.peer, Frame { header, payload });
        }
        Poll::Ready(Ok(frame))
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

impl Wait {
    pub(crate) fn into_error(self, peer: Party, after: Duration) -> Error {
        let Wait {
            step,
            missing,
            sending,
            ..
        } = self;
        if sending {
            Error::Backlog {
                peer,
                step,
                missing,
                after,
            }
        } else {
            Error::Stalled {
                peer,
                step,
                missing,
                after,
            }
        }
    }
}
