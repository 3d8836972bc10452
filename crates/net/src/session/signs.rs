//! Signs of life, and the round trips that they measure.

use std::time::Instant;

use super::shared::{Peer, Shared};
use crate::control::{Alive, Control, Message};

impl Shared {
    pub(super) fn ask_for_answer(&self, peer: &Peer) {
        if peer.round_trip.ask(Instant::now()) {
            self.sign(
                peer,
                Alive {
                    asks: true,
                    answers: false,
                },
            );
        }
    }

    pub(super) fn hear_sign(&self, peer: &Peer, alive: &Alive) {
        if alive.asks && peer.round_trip.answer() {
            self.sign(
                peer,
                Alive {
                    asks: false,
                    answers: true,
                },
            );
        }
        if alive.answers {
            peer.round_trip.answered(Instant::now());
            self.ask_for_answer(peer);
        }
    }

    fn sign(&self, peer: &Peer, alive: Alive) {
        self.tell(peer, 0, &Control::new(Message::Alive(alive)));
        self.flush_peer(peer);
    }
}
