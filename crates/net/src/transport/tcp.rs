//! TCP, in the clear or under TLS 1.3: one connection or several for each pair of parties.
//!
//! A send writes to the socket in the caller's thread and queues only what the socket does not take;
//! what arrives is read by a task of the surrounding tokio runtime for each connection. On a
//! single-threaded runtime a round thus costs one system call each way and one wake-up of the thread.
//!
//! Several connections let the threads of a party send side by side, and what they send be read side by
//! side. A packet takes the first of them that is free, so that whoever sends alone stays on one. Packets with control
//! frames stay on the first connection in any case, and so in their order: of what a peer says of a job or of the
//! session the last word comes last. Data and credit may overtake each other and them, as `flow.rs`
//! expects.
//!
//! A peer is over when all its connections have ended, as the data of one may come after another's end. Where
//! one ends, so do the others: we close our sides of them and go on reading for as long as something comes.
//!
//! `schema/WIRE.md` says how two parties meet, and the bytes of it.

use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::Context as TaskContext;
use std::time::Duration;

use madrigal_core::Party;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::connection::{Connection, Met, pieces};
use super::{Closing, Inbox, Packet, Transport};
use crate::frame::FrameKind;

/// Pause between two looks at what still comes from a peer one of whose connections has ended.
const LOOK: Duration = Duration::from_secs(1);
/// Number of such looks, one after the other, at which nothing has come, after which the peer is given up.
const QUIET_LOOKS: u32 = 5;

/// Connections to all other parties. Made by [`connect`](super::connect), in whose runtime its tasks
/// live: that must go on running until the session is closed.
#[derive(Debug)]
pub struct TcpTransport {
    me: Party,
    links: Vec<Arc<Link>>,
    runtime: Handle,
}

/// All connections with one party, and the address at which the one of the two that is dialed is reached, as we
/// know it.
pub(super) struct MetParty {
    pub(super) peer: Party,
    pub(super) meeting: String,
    /// One or several, by their numbers.
    pub(super) connections: Vec<Met>,
}

impl MetParty {
    /// Whether the other side has closed a connection.
    pub(super) fn is_cut(&self) -> bool {
        self.connections.iter().any(Met::is_cut)
    }
}

/// All connections with one party.
struct Link {
    peer: Party,
    meeting: String,
    connections: Vec<Connection>,
    /// Number of packets that found all connections busy: each begins with another one to compare them.
    turn: AtomicUsize,
    inbox: OnceLock<Inbox>,
    /// Number of connections from which something may come.
    open: AtomicUsize,
    /// Reason why the first of them ended.
    reason: OnceLock<String>,
    /// Told when all have ended.
    over: Notify,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let connections = self.connections.len();
        write!(f, "Link(to {}, {connections} connections)", self.peer)
    }
}

impl TcpTransport {
    /// Called in the runtime that the streams belong to.
    pub(super) fn new(me: Party, met: Vec<MetParty>) -> Self {
        let link = |met: MetParty| {
            Arc::new(Link {
                peer: met.peer,
                meeting: met.meeting,
                open: AtomicUsize::new(met.connections.len()),
                connections: met.connections.into_iter().map(Connection::new).collect(),
                turn: AtomicUsize::new(0),
                inbox: OnceLock::new(),
                reason: OnceLock::new(),
                over: Notify::new(),
            })
        };
        Self {
            me,
            links: met.into_iter().map(link).collect(),
            runtime: Handle::current(),
        }
    }

    /// Number of connections with `peer`: the smaller of the numbers that the two have offered; 0 with ourselves.
    pub fn connections(&self, peer: Party) -> usize {
        let link = self.links.iter().find(|link| link.peer == peer);
        link.map_or(0, |link| link.connections.len())
    }

    fn all(&self) -> impl Iterator<Item = &Connection> {
        self.links.iter().flat_map(|link| &link.connections)
    }
}

impl Transport for TcpTransport {
    fn attach(&self, inbox: Inbox) {
        for link in &self.links {
            let _ = link.inbox.set(inbox.clone());
            for number in 0..link.connections.len() {
                self.runtime.spawn(Arc::clone(link).read(number));
                let link = Arc::clone(link);
                self.runtime
                    .spawn(async move { link.connections[number].write().await });
            }
        }
    }

    fn send(&self, to: Party, packet: Packet) {
        self.links[to.index() - usize::from(to > self.me)].send(packet);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        let link = self.links.iter().find(|link| link.peer == with)?;
        Some(link.meeting.clone())
    }

    fn close(&self) {
        self.all().for_each(Connection::close);
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        let mut closing = Closing::default();
        self.all()
            .for_each(|connection| connection.closing(&mut closing, task.waker()));
        closing
    }
}

impl Link {
    fn send(&self, packet: Packet) {
        let first = &self.connections[0];
        let control = |frame: &crate::frame::Frame| frame.header.kind == FrameKind::Control;
        let one = self.connections.len() == 1 || packet.frames.iter().any(control);
        let mut pieces = pieces(packet, first.checked());
        if one {
            return first.send(pieces);
        }
        for connection in &self.connections {
            match connection.try_send(pieces) {
                Ok(()) => return,
                Err(back) => pieces = back,
            }
        }
        // Connections that are as busy as each other are taken in turn.
        let turn = self.turn.fetch_add(1, Relaxed) % self.connections.len();
        let (before, after) = self.connections.split_at(turn);
        let least = after.iter().chain(before).min_by_key(|one| one.queued());
        least.unwrap_or(first).send(pieces);
    }

    async fn read(self: Arc<Self>, number: usize) {
        let Some(inbox) = self.inbox.get() else {
            return;
        };
        let connection = &self.connections[number];
        let mut reason = connection.read(self.peer, inbox).await;
        let all = self.connections.len();
        if all > 1 {
            reason = format!("{reason} (connection {} of {all})", number + 1);
        }
        let first = self.reason.set(reason).is_ok();
        if first {
            let others = self.connections.iter().enumerate();
            let others = others.filter(|&(other, _)| other != number);
            others.for_each(|(_, other)| other.close());
        }
        let last = self.open.fetch_sub(1, AcqRel) == 1;
        if last {
            let reason = self.reason.get().map_or("", |reason| reason);
            inbox.lost(self.peer, reason);
        }
        connection.end();
        if last {
            self.over.notify_one();
        } else if first {
            self.wait_for_others().await;
        }
    }

    /// Waits until all connections have ended, and ends them when nothing comes any more: where one is cut, the
    /// peer may not know of it, and the others could stay open.
    async fn wait_for_others(&self) {
        let came = || self.connections.iter().map(Connection::came).sum::<u64>();
        let (mut before, mut quiet) = (came(), 0);
        while timeout(LOOK, self.over.notified()).await.is_err() {
            let now = came();
            quiet = if now == before { quiet + 1 } else { 0 };
            before = now;
            if quiet == QUIET_LOOKS {
                self.connections.iter().for_each(Connection::cut);
            }
        }
    }
}
