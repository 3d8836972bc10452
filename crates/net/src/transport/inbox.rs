//! Where a transport hands in what arrives.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use madrigal_core::Party;

use crate::frame::{self, Frame, FrameError};

/// A session, as its transport knows it.
pub(crate) trait Listener: Send + Sync {
    /// Says that the session is open, and has this party for a peer. The other calls name only such parties.
    fn listens_to(&self, from: Party) -> bool;

    /// Takes frames in.
    fn deliver(&self, from: Party, frames: Vec<Frame>);

    /// Hears that `from` sent something that is no frame.
    fn damaged(&self, from: Party, problem: FrameError);

    /// Hears that nothing can come from, or go to, `from` any more.
    fn lost(&self, from: Party, reason: &str);
}

/// The receiving end of a session, given to its transport.
#[derive(Clone)]
pub struct Inbox {
    session: Weak<dyn Listener>,
    gate: Option<Gate>,
}

/// Whether what comes from a party is let in.
type Gate = Arc<dyn Fn(Party) -> bool + Send + Sync>;

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inbox")
    }
}

impl Inbox {
    pub(crate) fn new(session: Weak<dyn Listener>) -> Self {
        Self {
            session,
            gate: None,
        }
    }

    /// Makes the same inbox behind a gate: what comes from a party, and the news that it is lost, is
    /// dropped without a word while `open` says no. For transports that wrap another one.
    #[must_use]
    pub fn with_gate(&self, open: impl Fn(Party) -> bool + Send + Sync + 'static) -> Self {
        let before = self.gate.clone();
        let gate: Gate = match before {
            Some(before) => Arc::new(move |from| before(from) && open(from)),
            None => Arc::new(open),
        };
        Self {
            session: Weak::clone(&self.session),
            gate: Some(gate),
        }
    }

    /// The session, if it still lives and takes in what comes from `from`.
    fn session(&self, from: Party) -> Option<Arc<dyn Listener>> {
        let session = self.session.upgrade()?;
        let open = self.gate.as_ref().is_none_or(|open| open(from));
        (open && session.listens_to(from)).then_some(session)
    }

    /// Takes one packet of bytes from `from`. The transport vouches for the sender. A packet that is not a
    /// sound packet ends the session with an error that names the sender.
    pub fn deliver(&self, from: Party, packet: Bytes) {
        match frame::decode_packet(packet) {
            Ok(frames) => self.deliver_frames(from, frames),
            Err(problem) => self.damaged(from, problem),
        }
    }

    /// Takes frames that were never bytes.
    pub fn deliver_frames(&self, from: Party, frames: Vec<Frame>) {
        if let Some(session) = self.session(from) {
            session.deliver(from, frames);
        }
    }

    /// Reports that `from` sent something that is no frame.
    pub fn damaged(&self, from: Party, problem: FrameError) {
        if let Some(session) = self.session(from) {
            session.damaged(from, problem);
        }
    }

    /// Reports that nothing can come from, or go to, `from` any more. Harmless after it took leave.
    pub fn lost(&self, from: Party, reason: &str) {
        if let Some(session) = self.session(from) {
            session.lost(from, reason);
        }
    }
}
