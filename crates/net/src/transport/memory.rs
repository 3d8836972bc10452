//! Parties in one process: a packet is delivered by a function call, its payloads are not copied.

use std::sync::{Arc, Mutex, PoisonError};

use madrigal_core::Party;

use super::{Inbox, Packet, Transport};
use crate::frame::Frame;

/// One party's place in a mesh within one process.
#[derive(Debug)]
pub struct MemoryTransport {
    me: Party,
    slots: Arc<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot(Mutex<State>);

#[derive(Debug)]
enum State {
    /// The party's session does not exist yet; what comes waits, and so does the news that a party
    /// is gone (`None`).
    Early(Vec<(Party, Option<Vec<Frame>>)>),
    Attached(Inbox),
    Closed,
}

impl Default for State {
    fn default() -> Self {
        Self::Early(Vec::new())
    }
}

/// The transports of `parties` parties that reach each other in memory.
pub fn mesh(parties: usize) -> Vec<MemoryTransport> {
    let slots: Arc<[Slot]> = (0..parties).map(|_| Slot::default()).collect();
    Party::all(parties)
        .map(|me| MemoryTransport {
            me,
            slots: Arc::clone(&slots),
        })
        .collect()
}

impl Slot {
    /// Hands in what comes from `from`; `None`: nothing any more.
    fn deliver(&self, from: Party, frames: Option<Vec<Frame>>) {
        let inbox = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *state {
                State::Early(waiting) => return waiting.push((from, frames)),
                State::Attached(inbox) => inbox.clone(),
                State::Closed => return,
            }
        };
        hand_in(&inbox, from, frames);
    }

    /// Takes the frames that wait; if none do, all else goes to `inbox` from now on.
    fn early_or_attached(&self, inbox: &Inbox) -> Option<Vec<(Party, Option<Vec<Frame>>)>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::Early(waiting) if !waiting.is_empty() => Some(std::mem::take(waiting)),
            State::Early(_) => {
                *state = State::Attached(inbox.clone());
                None
            }
            State::Attached(_) | State::Closed => None,
        }
    }

    fn swap(&self, new: State) -> State {
        std::mem::replace(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            new,
        )
    }
}

impl Transport for MemoryTransport {
    fn attach(&self, inbox: Inbox) {
        // Frames that come meanwhile wait behind those that came before.
        while let Some(waiting) = self.slots[self.me.index()].early_or_attached(&inbox) {
            for (from, frames) in waiting {
                hand_in(&inbox, from, frames);
            }
        }
    }

    fn send(&self, to: Party, packet: Packet) {
        self.slots[to.index()].deliver(self.me, Some(packet.frames));
    }

    fn close(&self) {
        self.slots[self.me.index()].swap(State::Closed);
        for peer in self.me.others(self.slots.len()) {
            self.slots[peer.index()].deliver(self.me, None);
        }
    }
}

fn hand_in(inbox: &Inbox, from: Party, frames: Option<Vec<Frame>>) {
    match frames {
        Some(frames) => inbox.deliver_frames(from, frames),
        None => inbox.lost(from, "it closed the connection"),
    }
}
