//! Connections that come to a party: those of a port of its own, or of one that others share.

use std::io;
use std::net::SocketAddr;

use futures_util::future::pending;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};

/// Connections that may wait to be looked at where a port is shared. Those that come while as many wait are closed: who
/// dials tries again.
const WAITING: usize = 64;

/// Connections that others have made to a party, which [`connect`](super::connect) looks through for the parties'.
#[derive(Debug)]
pub struct Incoming<'a>(Of<'a>);

#[derive(Debug)]
enum Of<'a> {
    Port(TcpListener),
    Shared(&'a mut HandedOn),
}

/// Connections that somebody else has accepted, on a port that serves more than parties. It stays when a session ends, so
/// that parties meet again on it.
#[derive(Debug)]
pub struct HandedOn(Receiver<(TcpStream, SocketAddr)>);

/// Hands connections on to a party.
#[derive(Debug, Clone)]
pub struct HandOn(Sender<(TcpStream, SocketAddr)>);

/// A way to hand connections on.
pub fn handing_on() -> (HandOn, HandedOn) {
    let (hand, handed) = channel(WAITING);
    (HandOn(hand), HandedOn(handed))
}

impl HandOn {
    /// Hands a connection on, of which nothing has been read. It is closed where nobody looks and as many wait as may.
    /// Gives whether somebody may look at it.
    pub fn hand(&self, stream: TcpStream, from: SocketAddr) -> bool {
        match self.0.try_send((stream, from)) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        }
    }
}

impl From<TcpListener> for Incoming<'_> {
    fn from(listener: TcpListener) -> Self {
        Self(Of::Port(listener))
    }
}

impl<'a> From<&'a mut HandedOn> for Incoming<'a> {
    fn from(handed: &'a mut HandedOn) -> Self {
        Self(Of::Shared(handed))
    }
}

impl Incoming<'_> {
    /// Whether parties meet here again and again. On a port of its own a party meets the others once, and whoever comes a second time may
    /// be another process that was started by mistake.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.0, Of::Shared(_))
    }

    /// The next connection. Nothing is lost where this is dropped while it waits.
    pub(super) async fn next(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        match &mut self.0 {
            Of::Port(listener) => listener.accept().await,
            Of::Shared(handed) => match handed.0.recv().await {
                Some(next) => Ok(next),
                // Nobody listens any more, and those that were dialed may still answer.
                None => pending().await,
            },
        }
    }
}
