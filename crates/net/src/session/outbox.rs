//! Frames that we send: they gather for each peer and leave together.

use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

use madrigal_core::Party;

use super::shared::{Gathered, Peer, Shared, lock};
use crate::control::Control;
use crate::frame::{Frame, FrameKind, Header};
use crate::transport::Packet;

/// Frames gather until this many bytes wait for one peer, or until the party waits for something.
const FLUSH_BYTES: usize = 64 * 1024;

/// Bytes of work that gathers side by side that are worth a packet of their own: they travel while the
/// rest is computed.
const LONG_BYTES: usize = 8 * 1024;

/// A thread with something to say that is not sent yet: nobody closes the transport before.
pub(crate) struct Speaking<'a>(&'a Shared);

impl Drop for Speaking<'_> {
    fn drop(&mut self) {
        self.0.speaking.fetch_sub(1, SeqCst);
    }
}

impl Shared {
    /// Gathers a frame for `peer`; it leaves at the next [`flush`](Shared::flush), or when enough
    /// have gathered.
    pub(crate) fn post(&self, peer: Party, frame: Frame) {
        self.post_to(self.peer(peer), frame);
    }

    fn post_to(&self, peer: &Peer, frame: Frame) {
        let full = {
            let mut gathered = lock(&peer.gathered);
            gathered.bytes += frame.wire_bytes();
            gathered.frames.push(frame);
            gathered.bytes >= FLUSH_BYTES
        };
        if full {
            self.flush_peer(peer);
        } else {
            self.dirty.store(true, Release);
        }
    }

    /// Sends off what has gathered for all peers.
    pub(crate) fn flush(&self) {
        if !self.dirty.load(SeqCst) {
            return;
        }
        // Whoever finds nothing gathered any more must see that it is on its way.
        let _speaking = self.speak();
        if self.dirty.swap(false, SeqCst) {
            self.peers.iter().for_each(|peer| self.flush_peer(peer));
        }
    }

    /// Sends off what has gathered for those peers for whom it is much.
    pub(crate) fn flush_long(&self) {
        for peer in &self.peers {
            let long = lock(&peer.gathered).bytes >= LONG_BYTES;
            if long {
                self.flush_peer(peer);
            }
        }
    }

    pub(super) fn flush_peer(&self, peer: &Peer) {
        let _speaking = self.speak();
        let Gathered { frames, bytes } = std::mem::take(&mut *lock(&peer.gathered));
        if !frames.is_empty() {
            peer.sent.store(self.now(), Relaxed);
            self.wire_bytes_sent.fetch_add(bytes as u64, Relaxed);
            self.transport.send(peer.party, Packet { frames });
        }
    }

    /// Marks this thread as one that speaks: held from before others can see that there is something to say until it is sent.
    pub(crate) fn speak(&self) -> Speaking<'_> {
        // Sequentially consistent: whoever finds nothing gathered, or a failure, also sees that we
        // are at it.
        self.speaking.fetch_add(1, SeqCst);
        Speaking(self)
    }

    /// Tells each peer what is for it.
    pub(crate) fn tell_each(&self, job: u32, control: impl Fn(Party) -> Control) {
        self.peers
            .iter()
            .for_each(|peer| self.tell(peer, job, &control(peer.party)));
    }

    pub(super) fn tell(&self, peer: &Peer, job: u32, control: &Control) {
        let header = Header {
            kind: FrameKind::Control,
            last: true,
            job,
            step: 0,
            sequence: 0,
            round: 0,
        };
        self.post_to(
            peer,
            Frame {
                header,
                payload: control.to_bytes(),
            },
        );
    }
}
