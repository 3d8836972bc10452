//! A transport that is as slow as a given network: latency, bandwidth and packets that overtake
//! each other, on any other transport.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Waker};
use std::time::{Duration, Instant};

use madrigal_core::{MAX_PARTIES, Party};

use super::dice::Dice;
use super::{Closing, Inbox, Packet, Profile, Transport};

/// The system wakes a thread some tens of microseconds late: we have it woken this much early, and
/// yield until the time has come.
const EARLY: Duration = Duration::from_micros(50);

/// Delays what goes out through `T` as a network of the given [`Profile`] would. Packets that come in were
/// delayed by their sender.
#[derive(Debug)]
pub struct Shaped<T: Transport> {
    line: Arc<SlowNetwork<T>>,
}

#[derive(Debug)]
struct SlowNetwork<T> {
    inner: T,
    links: Vec<Profile>,
    /// Time from which all links have another profile, and that profile.
    later: Option<(Instant, Profile)>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    under_way: BinaryHeap<Reverse<Delivery>>,
    /// Time until which the link to each party is busy.
    busy: Vec<Instant>,
    dice: Dice,
    count: u64,
    closing: bool,
    drained: bool,
    waker: Option<Waker>,
}

/// A packet and when it arrives.
#[derive(Debug)]
struct Delivery {
    at: Instant,
    number: u64,
    to: Party,
    packet: Packet,
}

impl<T: Transport> Shaped<T> {
    /// Shapes all links of `inner` alike.
    pub fn new(inner: T, profile: Profile) -> Self {
        Self::with_links(inner, |_| profile)
    }

    /// Shapes all links alike, and otherwise once `after` has passed. A packet that is on the line by then
    /// arrives as it would have; what still waits for the line does not.
    pub fn changing(inner: T, first: Profile, after: Duration, then: Profile) -> Self {
        Self::start(inner, |_| first, Some((Instant::now() + after, then)))
    }

    /// Shapes each link as `profile` says for the party at its other end.
    ///
    /// # Panics
    /// If the system has no room for a thread.
    pub fn with_links(inner: T, profile: impl Fn(Party) -> Profile) -> Self {
        Self::start(inner, profile, None)
    }

    fn start(
        inner: T,
        profile: impl Fn(Party) -> Profile,
        later: Option<(Instant, Profile)>,
    ) -> Self {
        let line = Arc::new(SlowNetwork {
            inner,
            links: Party::all(MAX_PARTIES).map(profile).collect(),
            later,
            state: Mutex::new(State {
                under_way: BinaryHeap::new(),
                busy: vec![Instant::now(); MAX_PARTIES],
                dice: Dice::new(0, 0),
                count: 0,
                closing: false,
                drained: false,
                waker: None,
            }),
            changed: Condvar::new(),
        });
        let postman = Arc::clone(&line);
        std::thread::Builder::new()
            .name("madrigal shaped".into())
            .spawn(move || postman.run())
            .expect("the system has room for one thread per shaped transport");
        Self { line }
    }
}

impl<T: Transport> SlowNetwork<T> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers each packet when its time has come; closes the inner transport after the last.
    fn run(&self) {
        while let Some(Delivery { to, packet, .. }) = self.next_due() {
            self.inner.send(to, packet);
        }
        self.inner.close();
        let waker = {
            let mut state = self.lock();
            state.drained = true;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    fn next_due(&self) -> Option<Delivery> {
        let mut state = self.lock();
        loop {
            let Some(Reverse(first)) = state.under_way.peek() else {
                if state.closing {
                    return None;
                }
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = first.at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return state.under_way.pop().map(|Reverse(due)| due);
            }
            if left > EARLY {
                let (next, _) = self
                    .changed
                    .wait_timeout(state, left - EARLY)
                    .unwrap_or_else(PoisonError::into_inner);
                state = next;
            } else {
                drop(state);
                std::thread::yield_now();
                state = self.lock();
            }
        }
    }

    fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_one();
    }
}

impl<T: Transport> Transport for Shaped<T> {
    fn attach(&self, inbox: Inbox) {
        self.line.inner.attach(inbox);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.line.inner.meeting(with)
    }

    fn send(&self, to: Party, packet: Packet) {
        let now = Instant::now();
        let mut state = self.line.lock();
        if state.closing {
            return;
        }
        let begins = state.busy[to.index()].max(now);
        let link = match &self.line.later {
            Some((at, later)) if begins >= *at => later,
            _ => &self.line.links[to.index()],
        };
        let free = begins + link.busy(packet.wire_bytes());
        state.busy[to.index()] = free;
        let at = free + link.latency + state.dice.within(link.jitter);
        let number = state.count;
        state.count += 1;
        let first = state.under_way.peek().is_none_or(|first| first.0.at > at);
        state.under_way.push(Reverse(Delivery {
            at,
            number,
            to,
            packet,
        }));
        drop(state);
        if first {
            self.line.changed.notify_one();
        }
    }

    fn close(&self) {
        self.line.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        {
            let mut state = self.line.lock();
            if !state.drained {
                state.waker = Some(task.waker().clone());
                let under_way = state.under_way.iter();
                let bytes = under_way.map(|Reverse(due)| due.packet.wire_bytes());
                return Closing {
                    unsent: 1 + bytes.sum::<usize>(),
                    untold: 0,
                };
            }
        }
        self.line.inner.closing(task)
    }
}

/// Packets that are under way still arrive.
impl<T: Transport> Drop for Shaped<T> {
    fn drop(&mut self) {
        self.line.close();
    }
}

impl Delivery {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Delivery {}

impl PartialOrd for Delivery {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delivery {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
