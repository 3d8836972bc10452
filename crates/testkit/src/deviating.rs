//! A party that sends other messages than the protocol has: of the right length, in the right place.
//!
//! Others than [`Faulty`](madrigal_net::transport::Faulty), which breaks sessions, deviations let the protocol
//! go on, so that the party that deviates gets to see what the others make of them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::Context as TaskContext;

use madrigal_core::Party;
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::frame::FrameKind;
use madrigal_net::transport::{Closing, Inbox, Packet, Transport};

use crate::recording::Transcript;

/// Replacements of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The message with a few bits flipped.
    Flip,
    /// The message with all bits flipped.
    Complement,
    /// The message with 1 added to each byte.
    Increment,
    /// The message with its bytes in reverse.
    Reverse,
    /// Zeros.
    Zeros,
    /// Random bytes.
    Random,
    /// The message that was sent before, to whomever.
    Previous,
    /// The message that the party itself has received last: an answer that depends on what it sees.
    Reflect,
    /// The sum (XOR) of the message and what the party has received last.
    Mix,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Flip,
        Self::Complement,
        Self::Increment,
        Self::Reverse,
        Self::Zeros,
        Self::Random,
        Self::Previous,
        Self::Reflect,
        Self::Mix,
    ];
}

/// One way to deviate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Replacement of messages.
    pub change: Change,
    /// Number of the only message that is, counted from 0; without one all are.
    pub only: Option<u32>,
    /// Fixes all that is left to chance.
    pub seed: u64,
}

/// A transport whose party may deviate.
#[derive(Debug)]
pub struct Deviating<T: Transport> {
    inner: T,
    deviation: Option<Deviation>,
    /// Messages that the party receives.
    seen: Transcript,
    sent: AtomicU32,
    previous: Mutex<Vec<u8>>,
}

impl<T: Transport> Deviating<T> {
    /// Wraps the transports of all parties; `deviator`, whose transcript is `seen`, deviates.
    pub fn all(
        transports: Vec<T>,
        deviator: Party,
        deviation: Option<Deviation>,
        seen: &Transcript,
    ) -> Vec<Self> {
        let all = Party::all(transports.len()).zip(transports);
        let wrap = |(me, inner)| Self {
            inner,
            deviation: deviation.filter(|_| me == deviator),
            seen: seen.clone(),
            sent: AtomicU32::new(0),
            previous: Mutex::default(),
        };
        all.map(wrap).collect()
    }

    fn change(&self, deviation: Deviation, payload: &[u8]) -> Vec<u8> {
        let number = self.sent.fetch_add(1, Relaxed);
        let mut previous = self.previous.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *previous, payload.to_vec());
        if deviation.only.is_some_and(|only| only != number) {
            return payload.to_vec();
        }
        let length = payload.len();
        let as_long = |bytes: Vec<u8>| -> Vec<u8> {
            let filler = if bytes.is_empty() { vec![0] } else { bytes };
            filler.into_iter().cycle().take(length).collect()
        };
        let mut random = vec![0; length + 8];
        let seed = Block::new(deviation.seed, u64::from(number));
        unmetered(|| Prg::new(seed).fill(&mut random));
        let mut changed = payload.to_vec();
        match deviation.change {
            Change::Flip => {
                for chosen in &random[..4] {
                    let at = usize::from(*chosen) * length / 256;
                    if let Some(byte) = changed.get_mut(at) {
                        *byte ^= 1 << (random[4] % 8);
                    }
                }
            }
            Change::Complement => changed.iter_mut().for_each(|byte| *byte = !*byte),
            Change::Increment => changed
                .iter_mut()
                .for_each(|byte| *byte = byte.wrapping_add(1)),
            Change::Reverse => changed.reverse(),
            Change::Zeros => changed.fill(0),
            Change::Random => changed.copy_from_slice(&random[8..]),
            Change::Previous => changed = as_long(before),
            Change::Reflect => changed = as_long(self.seen.last().unwrap_or_default()),
            Change::Mix => {
                let seen = as_long(self.seen.last().unwrap_or_default());
                changed
                    .iter_mut()
                    .zip(seen)
                    .for_each(|(byte, seen)| *byte ^= seen);
            }
        }
        changed
    }
}

impl<T: Transport> Transport for Deviating<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.inner.meeting(with)
    }

    fn send(&self, to: Party, mut packet: Packet) {
        if let Some(deviation) = self.deviation {
            let data = packet.frames.iter_mut();
            for frame in data.filter(|frame| frame.header.kind == FrameKind::Data) {
                frame.payload = self.change(deviation, &frame.payload).into();
            }
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        self.inner.closing(task)
    }
}
