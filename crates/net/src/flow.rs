//! State of one channel: the frames that have come for it, in order, and what either side may still
//! send.
//!
//! Flow control: a sender may be one window ahead of what the receiver has consumed. The window belongs
//! to the channel, so a step that waits never holds up another one. It counts what frames cost whoever
//! keeps them, [`FRAME_COST`] and the payload, so that what a peer can make us keep is bounded whatever
//! it sends: one window for each step that is being received, as far as these have [grown](
//! crate::window) the session's `growth` for all of them together, and its `store` for all that we have
//! not opened.

use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use madrigal_core::Party;

use crate::error::Error;
use crate::frame::{FRAME_COST, Frame, MAX_PAYLOAD};
use crate::window::{MAX_WINDOW, Room, Window};

/// Bytes that a channel which only the peer has addressed counts beside its frames: no less than it
/// costs to keep it.
pub(crate) const CHANNEL_COST: u64 = 1024;

// Beside itself: its place in the map of channels, which has at most seven times as much room as is
// taken while it moves, and the rest of a B-tree's node with a single frame.
const _: () = assert!(
    size_of::<ChannelState>() + 16 + 7 * 32 + 11 * (size_of::<Frame>() + 4) + 32
        <= CHANNEL_COST as usize + FRAME_COST
);

/// The state that frames are delivered into. Shared by the channel's handle and the session.
pub(crate) struct ChannelState {
    /// Window that both directions begin with.
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
    window: Window,
    waker: Option<Waker>,
    /// Time since when a receiver waits, and the bytes that it waits for.
    waiting: Option<(Instant, usize)>,
    /// Whether that wait may last.
    idle: bool,
    progress: Instant,
    /// Nobody will receive what comes.
    closed: bool,
}

struct Sending {
    sequence: u32,
    sent: u64,
    limit: u64,
    /// The last limit of which the peer was told that it holds us up.
    complained: u64,
    waker: Option<Waker>,
    waiting: Option<(Instant, usize)>,
}

/// Reasons why a frame could not be taken.
pub(crate) enum Refused {
    /// A frame beyond the window.
    Flood { allowed: u64 },
    /// A credit for bytes that were never sent.
    Credit,
}

/// Answers to a wish to send a frame.
pub(crate) enum Reserved {
    /// The frame may be sent, with this sequence number.
    Place(u32),
    /// The peer has to take something first; the waker is called then. It is to hear that this limit
    /// holds us up, unless it was told.
    Full { complain: Option<u64> },
    /// The channel has sent all the frames that it may ever send.
    Exhausted,
    /// See [`Inner::given_up`].
    GivenUp,
}

/// Answers to a wish to receive a frame.
pub(crate) enum Taken {
    /// The next one; what it permits the peer to have sent in total, where it is time to say so.
    Frame { frame: Frame, credit: Option<u64> },
    /// The frame is not here yet; the waker is called then.
    Nothing,
    /// See [`Inner::given_up`].
    GivenUp,
}

/// Something that a step has been waiting for.
pub(crate) struct Wait {
    pub(crate) step: String,
    pub(crate) missing: usize,
    pub(crate) since: Instant,
    /// Whether the side waits to send rather than to receive.
    pub(crate) sending: bool,
    /// Whether the wait may last, as long as the peer lives.
    pub(crate) idle: bool,
}

impl ChannelState {
    pub(crate) fn new(window: u64, room: &Arc<Room>) -> Self {
        let inner = Inner {
            name: None,
            rx: Receiving {
                next: 0,
                ready: VecDeque::new(),
                early: BTreeMap::new(),
                arrived: 0,
                consumed: 0,
                window: Window::new(window, room),
                waker: None,
                waiting: None,
                idle: false,
                progress: Instant::now(),
                closed: false,
            },
            tx: Sending {
                sequence: 0,
                sent: 0,
                limit: window,
                complained: 0,
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

    /// Gives the step its name, and tells how much has been kept for it until now; `None` if it had a
    /// name.
    pub(crate) fn open(&self, name: &Arc<str>) -> Option<u64> {
        let mut inner = self.lock();
        if inner.name.is_some() {
            return None;
        }
        inner.name = Some(Arc::clone(name));
        Some(CHANNEL_COST + inner.rx.arrived)
    }

    pub(crate) fn name(&self) -> Option<String> {
        self.lock().name.as_deref().map(str::to_owned)
    }

    /// Takes in a data frame, in any order, each once. While the step is not open here, what it costs
    /// is counted in `early`, which may not exceed `store`.
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
            if rx.closed || sequence < rx.next || rx.early.contains_key(&sequence) {
                return Ok(()); // nobody asks for it, or it is a duplicate
            }
            let size = frame.cost();
            // The sender has sent `sequence + 1` frames, if it sent this one; the last number is never used, so that the
            // next one always exists.
            let sent = (u64::from(sequence) + 1) * FRAME_COST as u64;
            let granted = rx.window.granted();
            let too_many = sent > granted || sequence == u32::MAX;
            if too_many || rx.arrived + size > granted {
                return Err(Refused::Flood {
                    allowed: rx.window.bytes(),
                });
            }
            if unopened && early.fetch_add(size, Relaxed) + size > store {
                return Err(Refused::Flood { allowed: store });
            }
            let now = Instant::now();
            rx.window.arrives(size, rx.arrived, now);
            rx.arrived += size;
            if sequence > rx.next {
                rx.early.insert(sequence, frame);
                return Ok(());
            }
            rx.ready.push_back(frame);
            rx.next += 1;
            while let Some(frame) = rx.early.remove(&rx.next) {
                rx.ready.push_back(frame);
                rx.next += 1;
            }
            rx.progress = now;
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
            if limit > tx.sent + MAX_WINDOW.max(self.window) {
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

    /// Takes in that the peer would send more, but for this limit.
    pub(crate) fn blocked(&self, limit: u64) {
        let rx = &mut self.lock().rx;
        let waiting = rx.waiting.is_some() && rx.ready.is_empty();
        rx.window
            .blocked(limit, rx.arrived, waiting, Instant::now());
    }

    /// Expects `bytes` bytes more than are consumed. Gives the permission that the peer is to be told.
    pub(crate) fn expect(&self, bytes: u64, round_trip: Duration) -> Option<u64> {
        let rx = &mut self.lock().rx;
        rx.window.expect(bytes, rx.consumed, round_trip)
    }

    /// Makes room for a frame with `payload` bytes, of a message of which `after` more will follow.
    pub(crate) fn reserve(&self, waker: &Waker, payload: usize, after: usize) -> Reserved {
        let size = (payload + FRAME_COST) as u64;
        let mut inner = self.lock();
        if inner.given_up {
            return Reserved::GivenUp;
        }
        let tx = &mut inner.tx;
        if tx.sent + size > tx.limit {
            tx.waker = Some(waker.clone());
            tx.waiting.get_or_insert((Instant::now(), payload + after));
            let complain = (tx.complained < tx.limit).then_some(tx.limit);
            tx.complained = tx.limit;
            return Reserved::Full { complain };
        }
        let sequence = tx.sequence;
        let Some(next) = sequence.checked_add(1) else {
            return Reserved::Exhausted;
        };
        tx.sequence = next;
        tx.sent += size;
        tx.waiting = None;
        Reserved::Place(sequence)
    }

    /// The next frame in order, for a receiver that still misses `missing` bytes and, if there is none,
    /// waits; it may be `idle` then.
    pub(crate) fn take(&self, waker: &Waker, missing: usize, idle: bool) -> Taken {
        let mut inner = self.lock();
        if inner.given_up {
            return Taken::GivenUp;
        }
        let rx = &mut inner.rx;
        let Some(frame) = rx.ready.pop_front() else {
            rx.waker = Some(waker.clone());
            if rx.waiting.is_none() {
                let now = Instant::now();
                rx.waiting = Some((now, missing));
                rx.window.waits(now);
            }
            rx.idle = idle;
            return Taken::Nothing;
        };
        rx.waiting = None;
        rx.consumed += frame.cost();
        let credit = rx.window.consumed(rx.consumed);
        Taken::Frame { frame, credit }
    }

    /// A call that may have waited is over, by an error or by being dropped too.
    pub(crate) fn end_wait(&self, sending: bool) {
        let mut inner = self.lock();
        let (waiting, waker) = if sending {
            let tx = &mut inner.tx;
            (tx.waiting.take(), tx.waker.take())
        } else {
            let rx = &mut inner.rx;
            (rx.waiting.take(), rx.waker.take())
        };
        // A side that came to its end waits no more; an error is the job's.
        inner.given_up |= waiting.is_some();
        drop(inner);
        drop(waker);
    }

    /// Nobody will receive any more: what has come is dropped, and what comes.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.rx.closed = true;
        inner.rx.window.close();
        let kept = (take(&mut inner.rx.ready), take(&mut inner.rx.early));
        drop(inner);
        drop(kept);
    }

    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Wakes whoever waits here, so that it sees that its job has failed.
    pub(crate) fn wake(&self) {
        let (receiver, sender) = {
            let mut inner = self.lock();
            (inner.rx.waker.take(), inner.tx.waker.take())
        };
        receiver.into_iter().chain(sender).for_each(Waker::wake);
    }

    /// Gives the wait on this channel, and since when it makes no progress. A side that has what
    /// it waits for, but has not looked yet, no longer counts as waiting.
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
        let next = (missing.min(MAX_PAYLOAD) + FRAME_COST) as u64;
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
