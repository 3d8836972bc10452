//! Transports get frames from one party to another. A transport moves packets of whole frames; it may mix
//! up their order. It must not lose or invent them: that is noticed and ends the session.
//!
//! A new transport implements [`Transport`] and hands what arrives to the [`Inbox`] that the session
//! attaches: see `examples/pigeon.rs` for one over something that is no socket.

#[cfg(feature = "sockets")]
mod connection;
mod dice;
mod fault;
mod faulty;
mod inbox;
#[cfg(feature = "sockets")]
mod meet;
mod memory;
mod profile;
#[cfg(feature = "sockets")]
mod queue;
#[cfg(feature = "sockets")]
mod records;
mod shaped;
#[cfg(feature = "sockets")]
mod spent;
#[cfg(feature = "sockets")]
mod tcp;

use std::task::Context as TaskContext;

use madrigal_core::Party;

use crate::frame::Frame;
pub use fault::{Fault, FaultKind, Flood};
pub use faulty::Faulty;
pub use inbox::Inbox;
pub(crate) use inbox::Listener;
#[cfg(feature = "sockets")]
pub use meet::{
    ConnectConfig, ConnectError, HandOn, HandedOn, Incoming, MAX_CONNECTIONS, Meeting, Security,
    connect, handing_on,
};
pub use memory::{MemoryTransport, mesh};
pub use profile::{Profile, ProfileError};
pub use shaped::Shaped;
#[cfg(feature = "sockets")]
pub use tcp::TcpTransport;

/// One or more frames that travel together.
#[derive(Debug, Clone)]
pub struct Packet {
    /// The frames, in the order in which they were sent.
    pub frames: Vec<Frame>,
}

impl Packet {
    /// The packet as bytes: its frames, one after the other. [`Inbox::deliver`] takes them back.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.wire_bytes());
        self.frames
            .iter()
            .for_each(|frame| frame.encode_to(&mut bytes));
        bytes
    }

    /// Length of [`to_bytes`](Packet::to_bytes).
    pub fn wire_bytes(&self) -> usize {
        self.frames.iter().map(Frame::wire_bytes).sum()
    }
}

/// Something that carries packets between parties.
///
/// The calls come from any thread and must not block; what cannot leave yet is queued. Flow control
/// above bounds what is under way: per channel, and so per job.
pub trait Transport: Send + Sync + 'static {
    /// Called once, before anything is sent: everything that arrives from now on goes into `inbox`.
    fn attach(&self, inbox: Inbox);

    /// Sends a packet. A party that cannot be reached is reported through
    /// [`Inbox::lost`]; packets to it are dropped.
    fn send(&self, to: Party, packet: Packet);

    /// Address where we meet `with`: that of the one of us that is dialed, as this side knows it. `None` if
    /// parties are not dialed. A session without a name compares it, so that connections of two sessions
    /// between the same parties cannot be mixed up. A transport that wraps another one passes the
    /// question on.
    fn meeting(&self, _with: Party) -> Option<String> {
        None
    }

    /// Ends the connections once everything queued has left.
    fn close(&self);

    /// Tells the work that is left after [`close`](Transport::close); wakes `task` when there is nothing of
    /// one kind or the other any more.
    fn closing(&self, _task: &mut TaskContext<'_>) -> Closing {
        Closing::default()
    }
}

/// A transport of any kind, for what wraps transports without knowing them.
impl<T: Transport + ?Sized> Transport for Box<T> {
    fn attach(&self, inbox: Inbox) {
        (**self).attach(inbox);
    }

    fn send(&self, to: Party, packet: Packet) {
        (**self).send(to, packet);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        (**self).meeting(with)
    }

    fn close(&self) {
        (**self).close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        (**self).closing(task)
    }
}

/// Work that a transport that was closed still has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Bytes that have not left yet, and 1 for each connection that is not closed behind them.
    pub unsent: usize,
    /// Peers that may not have taken all that has left. Bytes that are given up now may be lost to them:
    /// a socket that is closed with something unread in it takes back what it has sent.
    pub untold: usize,
}
